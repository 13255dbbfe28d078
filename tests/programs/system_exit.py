# exit: 42
"""SystemExit through frames and finally, with atexit functions that still run."""

import atexit
import sys


@atexit.register
def last():
    print("last", [i * i for i in range(4)])


def deep(n):
    try:
        if not n:
            sys.exit(42)
        deep(n - 1)
    finally:
        print("unwinding", n)


deep(3)
