"""Recording a program and reading it back the way a user does: ocular-record, then stock perf script.

Everything made goes to a folder of its own that `scratch` removes afterwards.
"""

import argparse
import contextlib
import fcntl
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import compare
from tap import Plan

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("OCULAR_BUILD", os.path.join(ROOT, "build")))
PROGRAMS = os.path.join(ROOT, "tests", "programs")
RECORDER = os.path.join(BUILD, "bin", "ocular-record")
FSCK = os.path.join(BUILD, "bin", "ocular-fsck")
PLUGIN = os.path.join(BUILD, "perf", "ocular.so")
HOOK = os.path.join(BUILD, "python", "hook")
WRAPPER = os.path.join(ROOT, "scripts", "ocular")
SMALL = os.path.join(HERE, "opcodes", "small")  # of a pyperf that runs pyperformance's benchmarks once
WITNESS_HOOK = os.path.join(HERE, "hook")
MODES = ("calls", "adaptive", "lines", "precise", "full")
LIMIT = 120  # seconds for one command


def options():
    """An argument parser with --python PY, which may be repeated."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", action="append", metavar="PY", help="interpreter to test; may be repeated")
    return parser


def pythons(chosen=None):
    """Interpreters to test: those of --python, else those the extension is built for."""
    chosen = chosen or options().parse_args()
    if chosen.python:
        return chosen.python
    return list(found_pythons())


@functools.cache
def found_pythons():
    """They do not change while a test runs, and each candidate on PATH is started to find them: 1.6 s where pyenv has ten."""
    command = [os.path.join(ROOT, "scripts", "find-pythons")]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[:-1]


def run_cases(cases, parser=None):
    """Runs the rows (name, function, *arguments) of cases(python, options) for each interpreter.

    The function gets a scratch folder after its arguments, and returns a list of problems. A text instead of it says why the case is skipped.
    """
    parser = parser or options()
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    chosen = parser.parse_args()
    need_built()
    with Plan() as plan:
        for python in pythons(chosen):
            for name, function, *arguments in cases(python, chosen):
                if chosen.only not in name:
                    continue
                if isinstance(function, str):
                    plan.skip(name, function)
                else:
                    with scratch() as folder:
                        plan.case(name, function, *arguments, folder)


def version(python):
    """`3.12` of an interpreter."""
    return subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def is_free(python):
    """Was it built without a GIL?"""
    words = "import sysconfig; print(bool(sysconfig.get_config_var('Py_GIL_DISABLED')))"
    return subprocess.run([python, "-c", words], stdout=subprocess.PIPE, text=True, check=True).stdout == "True\n"


@contextlib.contextmanager
def scratch():
    folder = tempfile.mkdtemp(prefix="ocular-test-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def plain_environment(**more):
    """This process's environment without variables that would change a Python's behaviour."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "OCULAR", "TRUTH", "COLUMNS"))}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **more}


def traced_environment(mode, *hooks, **more):
    """What makes a Python under ocular-record trace itself."""
    return plain_environment(OCULAR_MODE=mode, PYTHONPATH=os.pathsep.join((HOOK, *hooks)), **more)


NO_VENV = "no environment with it here: this Python has no venv, or pip is offline"


FLEET = ("duckdb", "pyarrow", "chdb", "s3fs", "moto", "flask", "flask-cors", "py-partiql-parser", "pyyaml")  # one environment for all that write and read a fleet store, and for its S3 server


def venv(python, *packages):
    """An interpreter that has them, fetched once. None: a distribution's Python may have no venv, and pip may be offline."""
    folder = os.path.join(BUILD, "-".join((*packages, version(python) + "t" * is_free(python))))
    with open(folder + ".lock", "w", encoding="utf-8") as lock:  # another test may want the same
        fcntl.flock(lock, fcntl.LOCK_EX)
        there = os.path.exists(os.path.join(folder, "fetched")) or fetch(python, folder, packages)
    return os.path.join(folder, "bin", "python") if there else None


def fetch(python, folder, packages):
    """Whether they are there now."""
    # A pip of its own, which only installs these, would take five seconds of CPU time.
    has_pip = run([python, "-c", "import pip"], env=plain_environment()).returncode == 0
    pip = [python, "-m", "pip", "--python", os.path.join(folder, "bin", "python")] if has_pip else [os.path.join(folder, "bin", "pip")]
    for command in ([python, "-m", "venv", "--clear", *["--without-pip"] * has_pip, folder],
                    [*pip, "install", "-q", "--no-compile", "--disable-pip-version-check", *packages]):
        if run(command, env=plain_environment()).returncode:
            return False
    # Many processes import them: their bytecode is written once.
    for name in filter(str.isidentifier, packages):
        run([os.path.join(folder, "bin", "python"), "-c", f"import {name}"], env=plain_environment(PYTHONDONTWRITEBYTECODE=""))
    with open(os.path.join(folder, "fetched"), "w", encoding="utf-8"):
        return True


def of_fleets(python, chosen, cases, packages=None):
    """Of (name, function), with the newest Python and one that has what fleets need, or these; cases for run_cases()."""
    if python != pythons(chosen)[-1]:
        return
    duck = venv(python, *(packages or FLEET))
    for name, function in cases:
        yield (name, function, python, duck) if duck else (name, NO_VENV)


def benchmarks(folder):
    """(name, file) of those of pyperformance's benchmarks, anywhere below it, that SMALL has a size for."""
    paths = glob.glob(os.path.join(os.path.abspath(folder), "**", "bm_*", "run_benchmark.py"), recursive=True)
    with open(os.path.join(SMALL, "pyperf.py"), encoding="utf-8") as file:
        known = re.findall('^    "(bm_.*?)":', file.read(), re.MULTILINE)
    found = {os.path.basename(os.path.dirname(path)): path for path in paths}
    if not found.keys() & set(known):
        raise SystemExit(f"'{folder}' has none of pyperformance's benchmarks")
    return [(name, found[name]) for name in known if name in found]


def run(command, **kw):
    """subprocess.run with a limit; output as text in bytes-safe UTF-8."""
    kw = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": LIMIT, **kw}
    done = subprocess.run(command, **kw)
    for name in ("stdout", "stderr"):
        if getattr(done, name) is not None:
            setattr(done, name, getattr(done, name).decode(errors="backslashreplace"))
    return done


def record(folder, command, environment, *options, **kw):
    """ocular-record -o FOLDER OPTIONS -- COMMAND; its CompletedProcess."""
    return run([RECORDER, "-q", "-o", folder, *options, "--", *command], env=environment, **kw)


def perf(folder, *arguments):
    """Stock perf script with the plugin; arguments are `key=value`."""
    command = ["perf", "script", "-i", os.path.join(folder, "perf.data"), "--itrace=we", "--dlfilter", PLUGIN]
    for argument in arguments:
        command += ["--dlarg", argument]
    return run(command, env=plain_environment())


def report(folder, *arguments):
    """perf() that must succeed according to the plugin; returns its stdout."""
    status = os.path.join(folder, "status")
    with open(status, "wb") as file:
        command = ["perf", "script", "-i", os.path.join(folder, "perf.data"), "--itrace=we", "--dlfilter", PLUGIN]
        for argument in (*arguments, f"status={file.fileno()}"):
            command += ["--dlarg", argument]
        done = run(command, env=plain_environment(), pass_fds=[file.fileno()])
    with open(status, encoding="utf-8", errors="replace") as file:
        said = file.read().strip()
    if said != "ok" or done.returncode:
        raise RuntimeError(f"perf script: exit status {done.returncode}, plugin says {said!r}: {done.stderr[-2000:]}")
    return done.stdout


def events(folder, needed=iter):
    """{(pid, tid): [Event]} of a recording; `needed`: which of the lines to read."""
    path = os.path.join(folder, "events.txt")
    report(folder, f"events={path}")
    with open(path, encoding="utf-8", newline="\n") as file:
        return compare.read_ocular(needed(file))


def needed(folder, truth):
    """The events of a recording that compare.py compares."""
    return events(folder, lambda lines: compare.needed(lines, truth, owner()))


def compared(folder, truth):
    """The problems that compare.py finds in a recording."""
    return compare.compare(needed(folder, truth), truth, owner())


def summary(folder, *arguments):
    path = os.path.join(folder, "summary.json")
    report(folder, f"summary={path}", *arguments)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def owner():
    return compare.Owner(*(folder.replace("\\", "\\\\") for folder in (HERE, os.path.join(BUILD, "python"))))


def read_truth(paths):
    streams = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            streams.update(compare.read(file))
    return streams


def truth(folder):
    """{(pid, tid): [Event]} of what the witness wrote into a folder."""
    return read_truth(glob.glob(os.path.join(folder, "truth-*.txt")))


def need_qemu():
    """Ends a test of the emulated processor if no QEMU loads the plugin: skipped, but in CI a failure."""
    emulator = shutil.which("qemu-x86_64")
    if not emulator or "\n-plugin" not in run([emulator, "-help"]).stdout:
        print("no qemu-x86_64 with plugins here: Debian 12's qemu-user is one")
        sys.exit(1 if os.environ.get("CI") else 77)


def need_built():
    """Ends the test with one line when there is nothing to test."""
    missing = [path for path in (RECORDER, FSCK, PLUGIN, HOOK) if not os.path.exists(path)]
    if missing:
        sys.exit(f"not built: {' '.join(missing)}: run make")
