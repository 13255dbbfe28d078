# SPDX-License-Identifier: MIT
"""What programs call while they run, where Ocular cannot record: not built, or an older Python. It does nothing.

Old Pythons, 2.7 too, must get through this file: nothing in it needs a new one, nor have types a syntax.
"""


def take_snapshot(label, **data):
    # type: (object, **object) -> bool
    """None is taken."""
    return False


def heard():
    # type: () -> bool
    """Nobody records."""
    return False


def instant(name, **data):
    # type: (object, **object) -> None
    """Nobody sees it."""


def counter(name, value):
    # type: (object, object) -> None
    """Nobody sees it."""


class span(object):
    """Nobody sees it; what is in it runs."""

    def __init__(self, name, **data):
        # type: (object, **object) -> None
        pass

    def __enter__(self):
        # type: () -> object
        return self

    def __exit__(self, *exc):
        # type: (*object) -> None
        pass

    def __call__(self, function):
        # type: (object) -> object
        return function


class request(span):
    """Nobody sees it, either."""
