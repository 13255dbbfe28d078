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

Range = tuple[int, int, str]  # offset in the file, bytes, path


def _mappings() -> "Iterator[tuple[int, int, int, str]]":
    """(start, end, offset in the file, path) of executable mappings."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            addresses, rights, offset, _, _, *path = line.split(maxsplit=5)
            if "x" in rights and path and path[0].startswith("/"):
                start, end = (int(address, 16) for address in addresses.split("-"))
                yield start, end, int(offset, 16), path[0].rstrip("\n")


def ranges() -> list[Range]:
    """[(offset, size, path)]; RuntimeError if the handlers or their functions are not found."""
    code = opcodes.dispatch()["code"]
    if not code:
        raise RuntimeError("ocular: the interpreter's file does not say where its functions end")
    found = [(a - start + offset, b - a, path) for a, b in code for start, end, offset, path in _mappings()
             if start <= a and b <= end]
    return found + [(offset, end - start, path) for start, end, offset, path in _mappings() if path == _core.__file__]


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
    show(*map(int, sys.argv[1:]))
