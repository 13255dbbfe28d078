# SPDX-License-Identifier: MIT
"""The possible values of an option, to pick from: one line each, with a name, a tab, and where it is.

    python -m ocular.choices functions [-C FOLDER] PROGRAM [ARGS]
                                                  of the program and of the modules beside it
    python -m ocular.choices symbols [PID]        C functions of what that process, or this one, has mapped

Sources are parsed, nothing of them runs. Libraries are read by their symbol tables (System V gABI, chapter 4).
"""

import ast
import os
import struct
import sys
from collections.abc import Iterator, Sequence

FILES_MOST = 5000  # nobody finds anything in a larger tree
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef


def _walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    """(qualified name, line) of each function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield prefix + child.name, child.lineno
            yield from _walk(child, prefix + child.name + ".<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _walk(child, prefix + child.name + ".")
        else:
            yield from _walk(child, prefix)


def functions_of(path: str, module: str) -> list[tuple[str, str]]:
    """[(MODULE:QUALNAME, PATH:LINE)]; empty for a file that is not Python."""
    try:
        with open(path, "rb") as f:
            tree = ast.parse(f.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    return [("%s:%s" % (module, name), "%s:%d" % (path, line)) for name, line in _walk(tree, "")]


def sources(top: str, package: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """(path, module) of the Python files below a folder; not of hidden folders and virtual environments."""
    left = FILES_MOST
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(f for f in folders if f.isidentifier() and f != "__pycache__"
                            and not os.path.exists(os.path.join(folder, f, "pyvenv.cfg")))
        packages = [*package, *(os.path.relpath(folder, top).split(os.sep) if folder != top else ())]
        for name in sorted(f for f in files if f.endswith(".py")):
            module = ".".join(packages + [name[:-3]]).removesuffix(".__init__")
            yield os.path.join(folder, name), module
            left -= 1
            if not left:
                return


def _find(module: str, folders: list[str]) -> tuple[str, str] | None:
    """(file, folder that it is found from) of a module that python -m would run, or None."""
    inside = module.replace(".", "/")
    for folder in folders:
        for path in (os.path.join(folder, inside, "__main__.py"), os.path.join(folder, inside + ".py")):
            if os.path.isfile(path):
                return path, folder
    return None


def _program(words: Sequence[str], folder: str) -> tuple[str | None, str, str, Sequence[str]]:
    """(file, its module's name, folder of the modules beside it, the package that this folder is)"""
    if words[0] == "-m" and len(words) > 1:
        found = _find(words[1], [folder] + [p for p in sys.path if p])
        path, found_in = found or (None, folder)
        package = words[1].partition(".")[0]
        if found_in != folder and os.path.isdir(os.path.join(found_in, package)):
            return path, words[1], os.path.join(found_in, package), (package,)
        return path, words[1], folder, ()
    if words[0].startswith("-"):
        return None, "", folder, ()
    path = os.path.join(folder, words[0])
    return path, os.path.basename(path).removesuffix(".py"), os.path.dirname(path), ()


def functions(words: Sequence[str], folder: str = ".") -> list[tuple[str, str]]:
    """The program's own first."""
    path, module, beside, package = _program(words or ["-"], folder)
    found = functions_of(path, module) if path else []
    for other, name in sources(beside or ".", package):
        if not path or not os.path.exists(path) or not os.path.samefile(other, path):
            found += functions_of(other, name)
    return found


def _symbols(data: bytes) -> Iterator[str]:
    """Names of the functions that an ELF file defines: 64 bits, little-endian."""
    if data[:6] != b"\x7fELF\2\1":
        return
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3a)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
    for _, kind, _, _, start, length, link, _, _, entry in sections:
        if kind not in (2, 11) or not entry:  # SHT_SYMTAB, SHT_DYNSYM
            continue
        names = sections[link][4]
        for symbol in range(start, start + length, entry):
            name, info, _, section, _, _ = struct.unpack_from("<IBBHQQ", data, symbol)
            if info & 15 == 2 and section:  # STT_FUNC, defined here
                yield data[names + name:data.index(b"\0", names + name)].decode(errors="replace")


def symbols(pid: str = "self") -> Iterator[tuple[str, str]]:
    """(OBJECT:NAME, path) of the functions in each object that the process has mapped; OSError."""
    with open("/proc/%s/maps" % pid) as maps:
        fields = [line.rstrip("\n").split(None, 5) for line in maps]
    for path in dict.fromkeys(f[5] for f in fields if len(f) == 6 and f[5].startswith("/") and "x" in f[1]):
        try:
            with open("/proc/%s/root%s" % (pid, path), "rb") as f:
                names = sorted(set(_symbols(f.read())))
        except (OSError, struct.error, IndexError, ValueError):
            continue  # not readable, or not an ELF file after all
        yield from (("%s:%s" % (os.path.basename(path), name), path) for name in names)


def main(what: str, *words: str) -> None:
    """Print what was asked for."""
    folder = "."
    if words[:1] == ("-C",):
        folder, words = words[1], words[2:]
    for row in functions(words, folder) if what == "functions" else symbols(*words[:1]):
        print("%s\t%s" % row)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the user has picked
    except OSError as e:
        sys.exit("ocular: %s" % e)
