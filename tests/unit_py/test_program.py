# SPDX-License-Identifier: MIT
"""What a command line of Python starts, and what was installed with it."""

import os
import sys
import tempfile

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import program  # noqa: E402

STARTED = [  # by the manual of python(1): options with values, joined options, the end of options
    ("app.py", ("", "app.py")), ("-X dev app.py -m x", ("", "app.py")), ("-Xdev -W error app.py", ("", "app.py")),
    ("-m black -q", ("-m", "black")), ("-mblack", ("-m", "black")), ("-Im black", ("-m", "black")),
    ("-uWdefault -m a.b", ("-m", "a.b")), ("-c pass", ("-c", "pass")), ("-", ("", "-")), ("", ("", "")),
    ("--check-hash-based-pycs never -m x", ("-m", "x")), ("-m", ("-m", "")), ("-X", ("", "")),
]
SCRIPT = "#!/usr/bin/python3\nimport sys\nfrom %s import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
RECORD = "../../../bin/x-tool,,\ntool/__init__.py,,\n_impl.py,,\n_fast.cpython-313.so,,\ntool-1.dist-info/RECORD,,\n__pycache__/_impl.pyc,,\n"


def put(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def test_started():
    for line, expected in STARTED:
        equal(program._started(line.split()), expected, line)


def test_packages():
    with tempfile.TemporaryDirectory() as folder:
        put(folder, "X_Tool-1.dist-info/RECORD", "")  # of another one
        put(folder, "tool-1.dist-info/RECORD", RECORD)
        script = put(folder, "bin/x-tool", SCRIPT % "tool.cli")
        own = put(folder, "tool.py", SCRIPT % "tool.cli")
        large = put(folder, "bin/large", SCRIPT % "tool.cli" + "#" * 3000)
        kept, sys.path = sys.path, [folder, *sys.path]
        try:
            every = ["_fast", "_impl", "tool"]
            for args, expected in ((["-m", "tool"], every), (["-m", "tool.sub"], every), ([script], every), (["-m", "other"], ["other"]),
                                   ([own], []), ([large], []), (["-c", "import tool"], []), ([folder + "/bin/none"], []), ([], [])):
                equal(program.packages(args), expected, args)
        finally:
            sys.path = kept


def test_described():
    """It imports nothing that a Python does not have at its start."""
    found = program.described("/nowhere")
    equal(sorted(found), ["folder", "packages", "stdlib"])
    equal(found["folder"], os.getcwd())
    assert os.path.exists(os.path.join(found["stdlib"], "json", "__init__.py")), found


def test_started_by_the_program():
    """What a recorded process starts by `-m` is a part of that one's program."""
    with tempfile.TemporaryDirectory() as folder:
        kept, sys.orig_argv = sys.orig_argv, [sys.executable, "-m", "tool"]
        try:
            equal(program.described(folder)["packages"], ["tool"])
            put(folder, "codes-%d.jsonl" % os.getpid(), "")
            equal(program.described(folder)["packages"], ["tool"])
            put(folder, "codes-%d.jsonl" % os.getppid(), "")
            equal(program.described(folder)["packages"], [])
        finally:
            sys.orig_argv = kept


if __name__ == "__main__":
    rec.run(globals())
