# SPDX-License-Identifier: MIT
"""This interpreter's opcodes, asked from its own modules, as the extension wants them."""

import sys

_MODULES = ("opcode", "_opcode", "_opcode_metadata")


def _opcode():
    """The module opcode, without leaving it in sys.modules if the program has not imported it."""
    absent = [m for m in _MODULES if m not in sys.modules]
    import opcode
    for m in absent:
        sys.modules.pop(m, None)
    return opcode


def _specialized(opcode):
    """{name: number} of what specialization puts in; 3.12 gives them the free numbers, in order."""
    if hasattr(opcode, "_specialized_opmap"):
        return opcode._specialized_opmap
    free = (i for i, name in enumerate(opcode.opname) if i and name.startswith("<"))
    return dict(zip(opcode._specialized_instructions, free))


def _caches(opcode):
    entries = opcode._inline_cache_entries
    if hasattr(entries, "items"):  # 3.13: a dict; 3.15: a frozendict; 3.12: a list
        entries = {opcode.opmap[name]: n for name, n in entries.items()}
        return bytes(entries.get(op, 0) for op in range(256))
    return bytes(entries[op] for op in range(256))


def _jump(opcode, names):
    """Direction of the relative jumps: 1, or -1 as a byte. END_ASYNC_FOR names its loop's head."""
    def direction(op):
        if op not in opcode.hasjrel and op not in getattr(opcode, "hasjump", ()):
            return 0
        return 255 if "BACKWARD" in names[op] or names[op] == "END_ASYNC_FOR" else 1
    return bytes(direction(op) for op in range(256))


def tables():
    """(names, arguments of _core.set_opcodes)."""
    opcode = _opcode()
    numbers = {name: op for name, op in opcode.opmap.items() if op < 256}
    numbers.update(_specialized(opcode))
    names = [None] * 256
    for name, op in numbers.items():
        names[op] = name
    instrumented = bytes(bool(n) and n.startswith("INSTRUMENTED_") for n in names)
    return names, (
        _caches(opcode), _jump(opcode, names), instrumented, opcode.EXTENDED_ARG,
        names.index("INSTRUMENTED_LINE"), names.index("INSTRUMENTED_INSTRUCTION"))
