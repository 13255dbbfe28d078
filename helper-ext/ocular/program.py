# SPDX-License-Identifier: MIT
"""What the user ran: the report shows its code first, and sums up libraries (docs/report.md).

It runs before the program does, so it imports nothing that is not there yet, and reads files only for programs that are
installed packages: `python -m black`, or the script that pip wrote to bin/black.
"""
import os
import sys

SCRIPT_MOST = 2000  # bytes: what pip writes to bin/ has 200 to 300


def _started(args: "list[str]") -> "tuple[str, str]":
    """What a command line of python starts, without argv[0]: ("-m", module), ("-c", code), ("", script)."""
    rest = iter(args)
    for arg in rest:
        if arg == "--check-hash-based-pycs":
            next(rest, "")
        elif not arg.startswith("-") or arg == "-":
            return "", arg
        elif not arg.startswith("--"):
            for i, letter in enumerate(arg[1:], 2):
                if letter in "cm":
                    return "-" + letter, arg[i:] or next(rest, "")
                if letter in "WX":
                    if not arg[i:]:
                        next(rest, "")
                    break
    return "", ""


def _called(script: str) -> str:
    """The module that a script of pip's calls: `from MODULE import main`. "" if it is another one."""
    try:
        with open(script, "rb") as f:
            text = f.read(SCRIPT_MOST + 1)
    except OSError:
        return ""
    if len(text) > SCRIPT_MOST or not text.startswith(b"#!") or b"sys.exit(" not in text:
        return ""
    for line in text.split(b"\n"):
        words = line.split()
        if len(words) > 3 and words[0] == b"from" and words[2] == b"import":
            return words[1].decode("utf-8", "replace")
    return ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def _record(folder: str, package: str) -> str:
    """The list of the files of the distribution of that name in a folder of sys.path, "" if there is none."""
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return ""
    for name in names:
        if name.endswith(".dist-info") and _plain(name.partition("-")[0]) == _plain(package):
            try:
                with open(os.path.join(folder, name, "RECORD"), encoding="utf-8", errors="replace") as f:
                    return f.read()
            except OSError:
                return ""
    return ""


def _siblings(package: str) -> "list[str]":
    """The package, and what was installed with it: pytest has _pytest, black has blib2to3."""
    found = {package}
    for folder in sys.path:
        record = _record(folder, package)
        for line in record.split("\n"):
            top = line.partition(",")[0].partition("/")[0]
            if top and top != ".." and top != "__pycache__" and not top.endswith(".dist-info"):
                found.add(top.partition(".")[0])
        if record:
            break
    return sorted(found)


def packages(args: "list[str]") -> "list[str]":
    """The top-level modules and packages of what that command line of python starts, if it is installed."""
    how, what = _started(args)
    if how != "-m":
        what = _called(what) if not how and os.path.basename(os.path.dirname(what)) == "bin" else ""
    package = what.partition(".")[0]
    return _siblings(package) if package else []


def _is_started(recording: str) -> bool:
    """Whether a process that is recorded, too, has started this one: it is a part of that program, as joblib's workers
    (`-m joblib.externals…`) and Jupyter's kernels are, and its command line is none of the user's."""
    return os.path.exists(os.path.join(recording, "codes-%d.jsonl" % os.getppid()))


def described(recording: str) -> "dict[str, object]":
    """For the header of the code table in that recording."""
    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    return {"folder": folder, "stdlib": getattr(sys, "_stdlib_dir", None) or os.path.dirname(os.__file__),
            "packages": [] if _is_started(recording) else packages(sys.orig_argv[1:])}
