# SPDX-License-Identifier: MIT
"""The events of each mode, from the list of modes (options.py): names of PEP 669 events."""

from . import options

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterable

MODES: "dict[str, list[str]]" = {}  # none: every kind that the interpreter has
for _name, _, _words in options.table("modes"):
    MODES[_name] = [name for word in _words.replace("*", "").split() for name in MODES.get(word, [word])]

ALSO = {name: words.replace("-", "").split() for name, _, words in options.table("also")}
ABOUT = {name: text for name, text, _ in options.table("also")}

DEFAULT = "adaptive"

# From any other kind, returning DISABLE raises ValueError in the traced program (3.12 to 3.14).
CAN_DISABLE = frozenset((
    "PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "CALL", "LINE", "INSTRUCTION",
    "JUMP", "BRANCH", "BRANCH_LEFT", "BRANCH_RIGHT", "STOP_ITERATION"))

# Reported by exception handling, not by an instruction: 3.12 and 3.13 may give an invalid offset.
EXCEPTIONS = frozenset((
    "PY_UNWIND", "PY_THROW", "STOP_ITERATION", "RAISE", "RERAISE", "EXCEPTION_HANDLED"))


def events_of(mode: str, also: "Iterable[str]", known: "Iterable[str]", available: object) -> list[str]:
    """The names to switch on: those of `mode` and of keys of ALSO that have an op and exist in the interpreter."""
    names = [*(MODES[mode] or known)]
    names += [n for key in also for n in ALSO[key] if n not in names]
    names = [n for n in names if hasattr(available, n)]
    if "BRANCH_LEFT" in names:
        names.remove("BRANCH")  # 3.14: BRANCH is these two in one
    return names
