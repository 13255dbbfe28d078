# exit: 1
"""An exception that nobody catches."""

import sys


def fail(n):
    if n:
        fail(n - 1)
    raise LookupError("uncaught")


def hook(kind, error, traceback):
    print("hook", kind.__name__, error)


sys.excepthook = hook
fail(4)
