#!/usr/bin/env python3
"""Ocular imports nothing from the current folder: a user in /tmp does not run what others put there.

In the folder there is a file for every module of the standard library, and more, which notes who imported it.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
OCULAR = os.path.join(ROOT, "scripts", "ocular")
PACKAGE = os.path.join(recording.BUILD, "python")
PYTHON = recording.pythons()[-1]
MODULES = set(subprocess.check_output([PYTHON, "-I", "-c", "import sys; print(*sys.stdlib_module_names)"], text=True).split())
BESIDES = {"ocular", "_core", "sitecustomize", "usercustomize", "gdb", "pip", "setuptools"}
PLANTED = """\
with open({log!r}, "a") as log, open("/proc/self/cmdline") as who:
    log.write("{name}: " + who.read().replace(chr(0), " ") + chr(10))
"""
# Imports nothing: what it finds in its own folder is its own.
APP = "total = 0\nfor i in range(100):\n    total += i\n"


def plant(folder, log):
    for name in MODULES | BESIDES:
        with open(os.path.join(folder, name + ".py"), "w") as f:
            f.write(PLANTED.format(log=log, name=name))
    with open(os.path.join(folder, "app.py"), "w") as f:
        f.write(APP)
    with open(os.path.join(folder, "imports.py"), "w") as f:
        f.write("import colorsys\n")


def read(path):
    with contextlib.suppress(FileNotFoundError), open(path) as f:
        return f.read().splitlines()
    return []


class Planted:
    """A folder full of traps, which is the current one of everything that is run."""

    def __init__(self, temp):
        self.folder, self.log = os.path.join(temp, "planted"), os.path.join(temp, "log")
        os.mkdir(self.folder)
        plant(self.folder, self.log)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "OCULAR"))}
        self.env.update(OCULAR_BUILD=recording.BUILD, PYTHON=PYTHON)

    def run(self, *command, **env):
        return subprocess.run(command, cwd=self.folder, env={**self.env, **env}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=300)

    def problems(self, status, *command, **env):
        """Of a command that is to end with that status: who imported what was planted, and what it said."""
        done = self.run(*command, **env)
        found = read(self.log)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.log)
        if status is not None and done.returncode != status:
            found.append("status %d: %s" % (done.returncode, done.stderr[-800:]))
        return found


@contextlib.contextmanager
def target(*options):
    """A program elsewhere that can be attached to."""
    code = "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.001)"
    env = dict(os.environ, PYTHONPATH=PACKAGE)
    run = subprocess.Popen([PYTHON, *options, "-c", code], cwd="/", env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE)
    try:
        run.stdout.readline()
        yield str(run.pid)
    finally:
        run.kill()
        run.wait()
        run.stdout.close()


def attach(planted, *options):
    with target(*options) as pid:
        return planted.problems(0, OCULAR, "attach", pid, "--for", "50ms", "-q", "-o", "attached")


# What a user does, in this order: the later ones read what the earlier ones recorded.
COMMANDS = [
    ("ps", 0, ["ps"]),
    ("attach to nobody", 1, ["attach", "4194305"]),
    ("attach to what is no number", 2, ["attach", "me"]),
    ("check", None, ["check"]),
    ("record", 0, ["record", "-q", "-o", "a", "app.py"]),
    ("record with triggers", 0, ["record", "-q", "-o", "b", "--flight", "1s", "--trigger-exception", "ValueError", "--trigger",
                                 "__main__:f > 1s", "app.py"]),
    ("record in mode opcodes, which asks the interpreter for its ranges", None,
     ["record", "-q", "-o", "c", "--mode", "opcodes", "--backend", "qemu", "app.py"]),
    ("record what a pattern does not match", 0, ["record", "-q", "-o", "g", "--include", "jsn", "app.py"]),
    ("report", 0, ["report", "a", "--html", "a.html", "--perfetto", "a.json"]),
    ("diff", 0, ["diff", "a", "a"]),
    ("run", 0, ["run", "-o", "d", "app.py"]),
    ("an interpreter that is none", 1, ["run", "--python", "false", "app.py"]),
]


def own_program(planted):
    """What the program itself imports is found as without Ocular: beside the script."""
    done = planted.run(OCULAR, "record", "-q", "-o", "e", "imports.py")
    found = [line.split(":")[0] for line in read(planted.log)]
    os.unlink(planted.log)
    return [] if found == ["colorsys"] and not done.returncode else ["%s %s" % (found, done.stderr)]


def other_users_python():
    """Root does not run the interpreter of somebody else's process to find out what it is."""
    with tempfile.TemporaryDirectory(prefix="ocular-planted-") as temp:
        os.chmod(temp, 0o755)
        python = os.path.join(temp, "python3")
        shutil.copy(shutil.which("sleep"), python)
        other = subprocess.Popen([python, "60"], user=65534, group=65534, extra_groups=[])
        try:
            done = subprocess.run([OCULAR, "attach", str(other.pid)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        finally:
            other.kill()
            other.wait()
    told = "ocular: process %d belongs to another user: attach as that user (sudo -u '#65534' ocular attach %d)\n" % (other.pid, other.pid)
    return [] if (done.returncode, done.stderr) == (1, told) else [done.stderr]


def by_module(planted):
    """Here Python itself looks in the current folder first, for ocular and what it needs itself: the rest is Ocular's."""
    for name in MODULES | BESIDES:
        if name not in ("subprocess", "shutil", "json", "re", "select", "signal", "threading", "tempfile", "_core"):
            os.unlink(os.path.join(planted.folder, name + ".py"))
    return planted.problems(0, PYTHON, "-m", "ocular", "-o", "f", "app.py", PYTHONPATH=PACKAGE)


def main():
    with Plan() as plan, tempfile.TemporaryDirectory(prefix="ocular-planted-") as temp:
        planted = Planted(temp)
        plan.case("the traps work", lambda: [] if planted.problems(0, PYTHON, "-c", "import json, colorsys") else ["silent"])
        for name, status, words in COMMANDS:
            plan.case(name, planted.problems, status, OCULAR, *words)
        plan.case("find-pythons", planted.problems, 0, os.path.join(ROOT, "scripts", "find-pythons"))
        plan.case("find-pythons, of one", planted.problems, 0, os.path.join(ROOT, "scripts", "find-pythons"), PYTHON)
        plan.case("attach by the agent", attach, planted, "-m", "ocular", "--listen")
        if shutil.which("gdb"):
            plan.case("attach by gdb, or sys.remote_exec", attach, planted)
        else:
            plan.missing("attach by gdb", "gdb")
        plan.case("the program's own imports", own_program, planted)
        plan.case("python -m ocular", by_module, planted)
        if os.geteuid() == 0:
            plan.case("another user's interpreter", other_users_python)
        else:
            plan.skip("another user's interpreter", "needs root")


if __name__ == "__main__":
    main()
