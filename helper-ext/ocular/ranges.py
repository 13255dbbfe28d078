# SPDX-License-Identifier: MIT
"""Which code an IP filter has to let through for mode opcodes: the evaluation function, and our markers.

`python -c "from ocular import ranges; ranges.show()"` prints one OFFSET/SIZE@FILE a line (hexadecimal, bytes of the
file), as `perf record --filter 'filter …'` and `ocular-qemu -s filter=…` take them.
"""

from . import _core, opcodes


def _mappings():
    """(start, end, offset in the file, path) of what is executable."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            addresses, rights, offset, _, _, *path = line.split(maxsplit=5)
            if "x" in rights and path and path[0].startswith("/"):
                start, end = (int(address, 16) for address in addresses.split("-"))
                yield start, end, int(offset, 16), path[0].rstrip("\n")


def ranges():
    """[(offset, size, path)]; RuntimeError where the handlers or their functions are not to be found."""
    code = opcodes.dispatch()["code"]
    if not code:
        raise RuntimeError("ocular: the interpreter's file does not say where its functions end")
    found = [(a - start + offset, b - a, path) for a, b in code for start, end, offset, path in _mappings()
             if start <= a and b <= end]
    return found + [(offset, end - start, path) for start, end, offset, path in _mappings() if path == _core.__file__]


def show():
    for offset, size, path in ranges():
        print("%x/%x@%s" % (offset, size, path))
