# SPDX-License-Identifier: MIT
"""What can be picked: functions by their sources, against the interpreter's own names; symbols, against nm's."""

import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import types

import rec
from rec import equal

APP = """
import sys
def f():
    def inner(): return lambda: 0
    return inner
class A:
    @property
    def size(self): return 1
    class B:
        async def go(self): pass
if sys:
    def conditional(): pass
"""


def listed(*words, **kw):
    done = subprocess.run([sys.executable, "-I", "-c",
                           "import sys, runpy; sys.path.insert(0, sys.argv.pop(1)); "
                           "runpy.run_module('ocular.choices', run_name='__main__', alter_sys=True)",
                           os.path.join(rec.BUILD, "python"), *words], capture_output=True, text=True, **kw)
    equal((done.returncode, done.stderr), (0, ""))
    return [line.split("\t") for line in done.stdout.splitlines()]


def codes(code):
    """Qualified names of all functions, as the compiler makes them."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_flags & 2 and not const.co_name.startswith("<"):  # CO_NEWLOCALS: no class body
                yield const.co_qualname
            yield from codes(const)


def test_functions_of_a_program():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("app.py", APP), ("pack/__init__.py", "def p(): pass"), ("pack/low.py", "def q(): pass"),
                           ("bad.py", "def ("), ("env/pyvenv.cfg", ""), ("env/hidden.py", "def h(): pass"),
                           (".git/hook.py", "def h(): pass"), ("pack/__main__.py", "def run(): pass")):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        own = ["app:" + name for name in codes(compile(APP, "app.py", "exec"))]
        others = ["pack.__main__:run", "pack.low:q", "pack:p"]
        for words in (["app.py"], ["-C", folder, "app.py", "--its", "own"]):
            got = [name for name, _ in listed("functions", *words, cwd=folder)]
            equal(sorted(got[:len(own)]), sorted(own))
            equal(sorted(got[len(own):]), others)
        equal([name for name, _ in listed("functions", "-m", "pack", cwd=folder)][0], "pack:run")
        equal(dict(listed("functions", "app.py", cwd=folder))["app:A.B.go"], "./app.py:10")


def test_functions_of_a_module():
    got = {name for name, _ in listed("functions", "-m", "json.tool", cwd="/")}
    for name in "json.tool", "json", "json.decoder":
        path = importlib.util.find_spec(name).origin
        with open(path) as f:
            wanted = {name + ":" + q for q in codes(compile(f.read(), path, "exec"))}
        assert wanted <= got, wanted - got


def test_symbols():
    nm = shutil.which("nm") or rec.missing("nm")
    library = max(glob.glob("/lib/x86_64-linux-gnu/libc.so.6") + glob.glob("/lib64/libc.so.6"))
    said = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    wanted = {line.split()[2].partition("@")[0] for line in said.splitlines() if line.split()[1] in "TtW"}
    got = {name.partition(":")[2] for name, path in listed("symbols") if name.startswith("libc.so.6:")}
    assert wanted <= got, sorted(wanted - got)[:9]
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        assert any(name.endswith(":fsync") for name, _ in listed("symbols", str(sleeper.pid)))
    finally:
        sleeper.kill()
        sleeper.wait()


rec.run(globals())
