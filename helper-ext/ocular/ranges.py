# SPDX-License-Identifier: MIT
"""The code that an IP filter must admit for mode opcodes: the evaluation function, and our markers.

`python -c "from ocular import ranges; ranges.show()"` prints one 0xOFFSET/0xSIZE@FILE a line (bytes of the file), as
`perf record --filter 'filter …'` and `ocular-qemu -s filter=…` take them. `show(N)`: no more than N of them.
"""

import sys

from . import _core, opcodes

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

Range = tuple[int, int, str]  # offset in the file, bytes, path


def _mappings() -> "Iterator[tuple[int, int, int, str]]":
    """(start, end, offset in the file, path) of executable mappings."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            addresses, rights, offset, _, _, *path = line.split(maxsplit=5)
            if "x" in rights and path and path[0].startswith("/"):
                start, end = (int(address, 16) for address in addresses.split("-"))
                yield start, end, int(offset, 16), path[0].rstrip("\n")


def _evaluation(dispatch: "dict[str, Any]") -> list[Range]:
    """The evaluation function in all its parts."""
    if not dispatch["code"]:
        raise RuntimeError("ocular: the interpreter's file does not say where its functions end")
    return [(a - start + offset, b - a, path) for a, b in dispatch["code"] for start, end, offset, path in _mappings()
            if start <= a and b <= end]


def _extension() -> list[Range]:
    return [(offset, end - start, path) for start, end, offset, path in _mappings() if path == _core.__file__]


def ranges() -> list[Range]:
    """[(offset, size, path)]; RuntimeError if the handlers or their functions are not found."""
    return _evaluation(opcodes.dispatch()) + _extension()


# What the events of mode opcodes instrument, and what CPython runs in its place; "": nothing, it is skipped.
_INSTEAD = {
    "RESUME": "RESUME_CHECK" if sys.version_info >= (3, 13) else "RESUME",
    "NOT_TAKEN": "",
    **{name: name for name in ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")},
}


def _rules(names: list[str | None]) -> "Iterator[list[str]]":
    """Names of handlers: one that runs because the program is traced; as which it counts; behind which."""
    for name, instead in _INSTEAD.items():
        if "INSTRUMENTED_" + name in names:
            yield ["INSTRUMENTED_" + name, instead]
    for form in names:  # 3.12's super-instructions, which any event switches off
        if form and "__" in form:
            first, second = form.split("__")
            yield [second, form, first]


def emulated() -> None:
    """Print the settings of ocular-qemu with which a program of mode opcodes counts as many instructions as it has
    untraced (helper-ext/qemu/own.h), a line each."""
    dispatch, names = opcodes.dispatch(), opcodes.tables()[0]
    for offset, size, path in at_most(8, _evaluation(dispatch)):
        print("filter=%#x/%#x@%s" % (offset, size, path))
    for offset, size, path in _extension():
        print("tool=%#x/%#x@%s" % (offset, size, path))
    numbers = {name: op for op, name in enumerate(names)}
    for rule in _rules(names):
        found = [_in_file(dispatch["targets"][numbers[name]]) if name else (0, "") for name in rule]
        print("handler=%s@%s" % ("/".join("%#x" % offset for offset, _ in found), found[0][1]))


def _in_file(address: int) -> tuple[int, str]:
    """(offset in the file, path)"""
    for start, end, offset, path in _mappings():
        if start <= address < end:
            return address - start + offset, path
    raise RuntimeError("ocular: the opcode handlers are in no file")


def at_most(most: int, found: list[Range]) -> list[Range]:
    """As many ranges as a processor has registers for: neighbours in a file become one, the nearest first.

    [] if that is not possible: the interpreter and the extension are two files.
    """
    found = sorted(found, key=lambda each: (each[2], each[0]))
    while len(found) > most:
        gaps = [(b[0] - a[0] - a[1], i) for i, (a, b) in enumerate(zip(found, found[1:])) if a[2] == b[2]]
        if not gaps:
            return []
        i = min(gaps)[1]
        (start, _, path), (last, size, _) = found[i:i + 2]
        found[i:i + 2] = [(start, last + size - start, path)]
    return found


def show(most: int | None = None) -> None:
    """Print the ranges, at most so many, a line each."""
    found = ranges()
    for offset, size, path in found if most is None else at_most(most, found):
        print("%#x/%#x@%s" % (offset, size, path))


if __name__ == "__main__":
    if sys.argv[1:] == ["emulated"]:
        emulated()
    else:
        show(*map(int, sys.argv[1:]))
