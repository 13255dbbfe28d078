# SPDX-License-Identifier: MIT
"""Record a piece of Python with this interpreter, read it back through perf and the plugin; speak TAP."""

import collections
import contextlib
import glob
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("OCULAR_BUILD") or os.path.join(ROOT, "build")
RECORDER = os.path.join(BUILD, "bin", "ocular-record")
PLUGIN = os.path.join(BUILD, "perf", "ocular.so")
HOOK = os.path.join(BUILD, "python", "hook")

Event = collections.namedtuple("Event", "time pid tid name file qualname first offset dest object", defaults=[""])


class Recording:
    def __init__(self, folder, done):
        self.folder = folder
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def events(self, qualname=None):
        """Decoded events in perf's order, of the program's own file only unless a name is asked for."""
        done = subprocess.run(
            ["perf", "script", "-i", self.folder + "/perf.data", "--itrace=we", "--dlfilter", PLUGIN,
             "--dlarg", "events=-"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
        found = [Event(int(r[0]), int(r[1]), int(r[2]), r[3], r[4], r[5], *r[6:9], r[10]) for r in rows]
        if qualname:
            return [e for e in found if e.qualname == qualname]
        return [e for e in found if e.file.endswith("program.py") or e.name in ("GAP", "FOREIGN")]

    def tables(self):
        """{pid: lines of its code table}"""
        found = {}
        for path in glob.glob(self.folder + "/codes-*.jsonl"):
            with open(path) as f:
                found[int(path.split("-")[-1][:-6])] = [json.loads(line) for line in f]
        return found

    def whole_lines(self, kind):
        """lines() of tables that are still being written."""
        found = []
        for path in glob.glob(self.folder + "/codes-*.jsonl"):
            with open(path) as f:
                found += [json.loads(line) for line in f if line.endswith("\n")]
        return [x for x in found if x["kind"] == kind]

    def lines(self, kind):
        return [x for table in self.tables().values() for x in table if x["kind"] == kind]

    def code_of(self, qualname):
        return [x for x in self.lines("code") if x["qualname"] == qualname]


@contextlib.contextmanager
def recording(source, mode="adaptive", recorder=(), python=(), args=(), **environment):
    """Run `source` as program.py under the recorder; environment: OCULAR_* and others."""
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as temp:
        program, folder = os.path.join(temp, "program.py"), os.path.join(temp, "rec")
        with open(program, "w") as f:
            f.write(source)
        env = dict(os.environ, PYTHONPATH=HOOK, OCULAR_MAIN="1", OCULAR_MODE=mode, **environment)
        done = subprocess.run(
            [RECORDER, "-q", "-o", folder, *recorder, "--", sys.executable, *python, program, *args],
            env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
        yield Recording(folder, done)


def wait_for(found, what, seconds=60):
    """What found() returns as soon as it is something: no fixed time is long enough for every machine."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "in vain for %s" % what
        time.sleep(0.01)
    return value


@contextlib.contextmanager
def under_way(*options):
    """A program that calls f() until it is stopped, under the recorder: (folder, recorder, stop), once f is known."""
    source = """
import os, sys, time
def f(): pass
recorder = os.getppid()
while os.getppid() == recorder and not os.path.exists(sys.argv[1]):
    f()
    time.sleep(0.01)
"""
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as temp:
        program, folder, end = (os.path.join(temp, name) for name in ("program.py", "rec", "end"))
        with open(program, "w") as f:
            f.write(source)
        run = subprocess.Popen([RECORDER, "-q", "-o", folder, *options, "--", sys.executable, program, end],
                               env=dict(os.environ, PYTHONPATH=HOOK, OCULAR_MAIN="1"), stdin=subprocess.DEVNULL)
        r = Recording(folder, subprocess.CompletedProcess([], 0, "", ""))

        def stop(snapshots):
            """Waits until that many are taken; nothing requested before is still under way then."""
            wait_for(lambda: sum(x["trigger"] != "baseline" for x in r.whole_lines("snapshot")) >= snapshots, "%d snapshots" % snapshots)
            open(end, "w").close()
            equal(run.wait(60), 0)
            return r

        try:
            wait_for(lambda: any(c["qualname"] == "f" for c in r.whole_lines("code")), "the function f")
            yield folder, run, stop
        finally:
            run.kill()
            run.wait()


def equal(got, wanted, what=""):
    assert got == wanted, "%s\n  got    %r\n  wanted %r" % (what, got, wanted)


class Skip(Exception):
    """Raised by a test that cannot run here, with the reason."""


def missing(tool):
    """For want of what scripts/setup --for test installs; so in CI it is a failure."""
    raise (AssertionError if os.environ.get("CI") else Skip)("no %s here" % tool)


HAS_GIL = not sysconfig.get_config_var("Py_GIL_DISABLED")


def need_specializing():
    """Free-threaded CPython specialises nothing before 3.14."""
    if not HAS_GIL and sys.version_info < (3, 14):
        raise Skip("this Python does not specialise")


def old_python():
    for path in ["/usr/bin/python3", *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))]:
        probe = "import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 12))"
        if os.path.exists(path) and subprocess.run([path, "-c", probe]).returncode == 0:
            return path
    raise Skip("no older Python here")


def run(namespace):
    """Run every test_* of a module and print TAP, in an environment that says nothing to Python and Ocular."""
    for name in [n for n in os.environ if n.startswith(("OCULAR", "PYTHON")) and n != "OCULAR_BUILD"]:
        del os.environ[name]
    tests = [(n[5:].replace("_", " "), f) for n, f in namespace.items() if n.startswith("test_")]
    print("1..%d" % len(tests), flush=True)
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print("ok %d - %s" % (number, name), flush=True)
        except Skip as e:
            print("ok %d - %s # SKIP %s" % (number, name, e), flush=True)
        except Exception as e:
            failed += 1
            print("not ok %d - %s" % (number, name))
            what = "".join(traceback.format_exception_only(e)) + traceback.format_exc()  # a log may be cut behind it
            print("# " + what.rstrip().replace("\n", "\n# "), flush=True)
    sys.exit(bool(failed))
