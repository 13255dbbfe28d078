# SPDX-License-Identifier: MIT
"""This interpreter's opcodes, from its own modules, in the form that the extension takes."""

import sys

from . import _core

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import Any

_MODULES = ("opcode", "_opcode", "_opcode_metadata")


def _opcode() -> "Any":
    """The module opcode, without leaving it in sys.modules if the program has not imported it."""
    absent = [m for m in _MODULES if m not in sys.modules]
    import opcode
    for m in absent:
        sys.modules.pop(m, None)
    return opcode


def _specialized(opcode: "Any") -> dict[str, int]:
    """{name: number} of specialised opcodes; 3.12 gives them the free numbers, in order."""
    if hasattr(opcode, "_specialized_opmap"):
        return dict(opcode._specialized_opmap)
    free = (i for i, name in enumerate(opcode.opname) if i and name.startswith("<"))
    return dict(zip(opcode._specialized_instructions, free))


def _caches(opcode: "Any") -> bytes:
    entries = opcode._inline_cache_entries
    if hasattr(entries, "items"):  # 3.13: a dict; 3.15: a frozendict; 3.12: a list
        entries = {opcode.opmap[name]: n for name, n in entries.items()}
        return bytes(entries.get(op, 0) for op in range(256))
    return bytes(entries[op] for op in range(256))


def _jump(opcode: "Any", names: list[str | None]) -> bytes:
    """Direction of relative jumps: 1, or -1 as a byte. END_ASYNC_FOR names its loop's head."""
    def direction(op: int) -> int:
        name = names[op] or ""
        if op not in opcode.hasjrel and op not in getattr(opcode, "hasjump", ()):
            return 0
        return 255 if "BACKWARD" in name or name == "END_ASYNC_FOR" else 1
    return bytes(direction(op) for op in range(256))


def _specializable(opcode: "Any") -> list[int]:
    """Numbers of the base opcodes with specialised forms. 3.12's A__B are two instructions, not a form of A."""
    return sorted(opcode.opmap[name] for name, forms in opcode._specializations.items()
                  if any("__" not in form for form in forms))


def tables() -> tuple[list[str | None], list[int], tuple[bytes, bytes, bytes, int, int, int, int]]:
    """(names, numbers of those that specialize, arguments of _core.set_opcodes)."""
    opcode = _opcode()
    numbers = {name: op for name, op in opcode.opmap.items() if op < 256}
    numbers.update(_specialized(opcode))
    names: list[str | None] = [None] * 256
    for name, op in numbers.items():
        names[op] = name
    instrumented = bytes(n is not None and n.startswith("INSTRUMENTED_") for n in names)
    return names, _specializable(opcode), (
        _caches(opcode), _jump(opcode, names), instrumented, opcode.EXTENDED_ARG,
        names.index("INSTRUMENTED_LINE"), names.index("INSTRUMENTED_INSTRUCTION"),
        names.index("INSTRUMENTED_CALL_FUNCTION_EX"))


# Handlers that run the next instruction too; 3.12's super-instructions have both names joined by "__".
# CPython 3.15 has none.
_PAIRS = ("BINARY_OP_INPLACE_ADD_UNICODE", "CALL_LIST_APPEND", "CALL_NO_KW_LIST_APPEND")


def _is_pair(name: str) -> bool:
    return "__" in name or (name in _PAIRS and sys.version_info < (3, 15))


def _bases(names: list[str | None], specializations: dict[str, list[str]]) -> list[int]:
    """The compiler's opcode for each one that may be in its place."""
    number = {name: op for op, name in enumerate(names) if name}
    bases = list(range(256))
    for base, family in specializations.items():
        for name in family:
            bases[number[name]] = number[base]
    for name, op in number.items():
        if name.startswith("INSTRUMENTED_"):
            bases[op] = number.get(name.removeprefix("INSTRUMENTED_"), op)
    return bases


def _check_distinct(targets: list[int], names: list[str | None], bases: list[int]) -> None:
    """A handler may serve two forms of one instruction, not two instructions: compilers can merge equal code."""
    first: dict[int, int] = {}
    for op, name in enumerate(names):
        other = first.setdefault(targets[op], op)
        if name and bases[other] != bases[op]:
            raise RuntimeError("%s and %s have one opcode handler" % (names[other], name))


def dispatch() -> "dict[str, Any]":
    """The header's `dispatch` (docs/marker.md); RuntimeError says why it is not known."""
    names = tables()[0]
    found = _core.find_dispatch(bytes(name is not None for name in names))
    bases = _bases(names, _opcode()._specializations)
    _check_distinct(found["targets"], names, bases)
    return {**found, "base": bases,
            "pairs": [op for op, name in enumerate(names) if name and _is_pair(name)]}


# The effect of an instruction on control flow: enum ambiguous_flow of ext/ambiguous.h.
_NEXT, _JUMP, _BRANCH, _FOR, _END, _CALL, _SKIPPED = range(7)
_FLOWS = (
    (("JUMP_FORWARD", "JUMP_BACKWARD"), _JUMP),
    (("POP_JUMP_IF_", "SEND"), _BRANCH),
    (("FOR_ITER",), _FOR),
    (("RETURN_", "YIELD_VALUE", "RAISE_VARARGS", "RERAISE"), _END),
    (("CALL",), _CALL),
    (("NOT_TAKEN",), _SKIPPED),
)


def flow() -> tuple[bytes, int]:
    """Arguments of _core.set_flow: the flow of each base opcode, and what an exhausted FOR_ITER skips."""
    names = tables()[0]
    flows = bytes(next((way for starts, way in _FLOWS if name and name.startswith(starts)), _NEXT)
                  for name in names)
    # 3.12 continues after END_FOR, 3.13 after the POP_TOP behind it, 3.14 at the POP_ITER behind it.
    return flows, 2 if sys.version_info[:2] == (3, 13) else 1
