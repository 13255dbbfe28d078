# SPDX-License-Identifier: MIT
"""Garbage collections: who is told when they begin and end.

The program sees the callback in gc.callbacks, and may take it out: then collections after that are not recorded.
"""

import sys

from . import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal
    Callbacks = list[Callable[[Literal["start", "stop"], dict[str, int]], object]]


def _callbacks() -> "Callbacks":
    """gc.callbacks, without a trace in sys.modules if the program has not imported gc."""
    there = "gc" in sys.modules
    import gc
    if not there:
        del sys.modules["gc"]
    return gc.callbacks


# Found once: an import that is traced would be in the recording.
CALLBACKS = _callbacks()


def listen() -> None:
    """As the first: what others do when a collection begins and ends is a part of it."""
    CALLBACKS.insert(0, _core.collector)


def unlisten() -> None:
    """It is not an error if the program has taken it out."""
    if _core.collector in CALLBACKS:
        CALLBACKS.remove(_core.collector)
