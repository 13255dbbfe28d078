# SPDX-License-Identifier: MIT
"""start_tracing(), stop_tracing(), tracing() and @traced are guests: whatever fails around them, nothing is raised into the program.

Each row of FAULTS is a program in which one thing goes wrong, before tracing starts or while it is on. It must print its
own results, raise nothing, end as it would, and be told in as many OcularWarnings as the row says.
"""

import json
import os
import subprocess
import sys
import tempfile

import rec

PACKAGE = os.path.join(rec.BUILD, "python")

# What a program would do, with each call of Ocular's guarded, so that all exceptions are seen.
PROGRAM = """
import json, os, signal, sys, threading, time, warnings
told, raised = [], []
warnings.simplefilter("always")
warnings.showwarning = lambda message, category, file, line, *rest: told.append(
    [category.__name__, os.path.basename(file), str(message)])
import ocular
def guarded(call, *args, **kwargs):
    try:
        return call(*args, **kwargs)
    except Exception as e:
        raised.append(type(e).__name__ + ": " + str(e))
def work(n):
    total = 0
    for i in range(n):
        total += i
    return total
def recorder():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/" + pid + "/cmdline", errors="replace") as f:  # of any program
                words = f.read().split("\\0")
        except OSError:
            continue
        if words[0].endswith("ocular-record") and os.getcwd() + "/ocular.data" in words:
            return int(pid)
def kill(signal):
    pid = recorder()
    os.kill(pid, signal)
    while recorder() == pid:  # a zombie has no command line
        time.sleep(0.01)
def fill():
    with open("full/theirs", "wb", 0) as f:
        try:
            while True:
                f.write(bytes(4096))
        except OSError:
            pass
def forked(body):
    pid = os.fork()
    if not pid:
        body()
        with open("child", "w") as f:
            json.dump([raised, told], f)
        os._exit(0)
    os.waitpid(pid, 0)
    with open("child") as f:
        more = json.load(f)
    raised.extend(more[0]), told.extend(more[1])
out = sys.stdout
BEFORE
guarded(ocular.start_tracing, **dict(dict(perfetto="t.json", console=False), **OPTIONS))
one = work(100)
WITHIN
two = work(1000)
guarded(ocular.stop_tracing)
json.dump({"results": [one, two], "raised": raised, "told": told}, out)
"""

# name: (before, options of start_tracing, within, warnings and a piece of their text)
NOT = "this is not traced: "
FAULTS = {
    "nothing is wrong": ("", {}, "", []),
    "recorder killed": ("", {}, "kill(signal.SIGKILL)", ["its recorder ended early"]),
    "recorder ended": ("", {}, "kill(signal.SIGTERM)", ["its recorder ended early"]),
    "folder removed": ("", {}, "import shutil; shutil.rmtree('ocular.data')", ["no recording"]),
    "folder moved": ("", {}, "os.rename('ocular.data', 'other')", ["no recording"]),
    "folder closed": ("drop()", {}, "os.chmod('ocular.data', 0)", ["the recording in"]),
    "a file where the folder is to be": ("open('ocular.data', 'w').close()", {}, "", [NOT + "the recorder did not start"]),
    "something else in the folder": ("os.mkdir('ocular.data'); open('ocular.data/x', 'w').close()", {}, "",
                                     ["holds something other than a recording"]),
    "no folder above": ("", {"output": "/nowhere/data"}, "", [NOT + "the recorder did not start"]),
    "no rights": ("drop(); os.chmod('.', 0o500)", {}, "", [NOT + "the recorder did not start"]),
    "no current folder": ("os.mkdir('x'); os.chdir('x'); os.rmdir('../x')", {}, "", [NOT + "No such file or directory"]),
    "trace on a full disk": ("", {"perfetto": "/dev/full"}, "", ["cannot report on it"]),
    "trace where there is no folder": ("", {"perfetto": "/nowhere/t.json"}, "", ["/nowhere/t.json"]),
    "maximum size": ("full_disk(b'size=20m')", {"output": "full/ocular.data"}, "work(1000000)", ["maximum size, a tenth of the free disk"]),
    "disk full": ("full_disk(b'size=8m')", {"output": "full/ocular.data"},
                  "fill(); work(50000)", ["its recorder could not complete it: No space left on device"]),
    "disk full for the trace": ("full_disk()", {"perfetto": "full/t.json"}, "work(100000)", ["No space left on device"]),
    "stopping fails": ("", {}, "from ocular import calibrate; calibrate.measure = None", ["tracing did not stop as it should"]),
    "no disk for files of this size": ("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
                                       "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)", {}, "", None),
    "stdout full": ("sys.stdout = open('/dev/full', 'w')", {"console": True}, "", []),
    "stdout closed": ("sys.stdout = open('/dev/null', 'w'); sys.stdout.close()", {"console": True}, "", []),
    "no stdout": ("sys.stdout = None", {"console": True}, "", []),
    "stdout in ASCII": ("sys.stdout = open('ascii', 'w', encoding='ascii')", {"console": True}, "", []),
    "no file descriptors": ("", {}, "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))",
                            ["Too many open files"]),
    "children reap themselves": ("signal.signal(signal.SIGCHLD, signal.SIG_IGN)", {}, "", []),
    "no PATH": ("os.environ['PATH'] = ''", {}, "", []),
    "no recorder there": ("os.environ['PATH'] = ''; from ocular import tools; tools.PARTS = '/nowhere'", {}, "",
                          ["cannot find ocular-record"]),
    "no reader there": ("", {}, "from ocular import tools; tools.PARTS = '/nowhere'", ["its commands are not beside"]),
    "not Ocular's backend": ("os.environ['OCULAR_BACKEND'] = 'none'", {}, "", ["unknown backend 'none'"]),
    "no folder of the environment's": ("os.environ['OCULAR_DIR'] = '/nowhere'", {}, "", [NOT]),
    "a mode for another machine": ("os.environ['OCULAR_BACKEND'] = 'software'", {"mode": "opcodes"}, "", ["mode opcodes needs"]),
    "tool ids taken": ("[sys.monitoring.use_tool_id(i, 'tool') for i in range(6)]", {}, "", ["no tool id"]),
    "two starts": ("", {}, "guarded(ocular.start_tracing)", ["already tracing into"]),
    "two stops": ("", {}, "guarded(ocular.stop_tracing)", ["not tracing"]),
    "a stop without a start": ("guarded(ocular.stop_tracing)", {}, "", ["not tracing"]),
    "fork in between": ("", {}, "forked(lambda: work(10))", []),
    "stop in a forked child": ("", {}, "forked(lambda: guarded(ocular.stop_tracing))", []),
    "start in a forked child": ("", {}, "forked(lambda: guarded(ocular.start_tracing))", ["already tracing into"]),
    "another recording in a forked child": (
        "", {}, "forked(lambda: (guarded(ocular.stop_tracing), guarded(ocular.start_tracing, output='c', perfetto=False, console=False), "
        "guarded(ocular.stop_tracing)))", []),
    "the same folder in a forked child": (
        "", {}, "forked(lambda: (guarded(ocular.stop_tracing), guarded(ocular.start_tracing), guarded(ocular.stop_tracing)))",
        ["is being recorded into"]),
    "stop in another thread": ("", {}, "t = threading.Thread(target=guarded, args=[ocular.stop_tracing]); t.start(); t.join()",
                               ["not tracing"]),
    "a block that fails": ("", {"output": "/nowhere/data"}, """
def block():
    with ocular.tracing(output="/nowhere/data"):
        return work(3)
assert guarded(block) == 3""", [NOT, NOT]),
    "a decorated function that fails": ("", {"output": "/nowhere/data"}, """
assert guarded(ocular.traced(output="/nowhere/data")(work), 3) == 3""", [NOT, NOT]),
}

DROP = """
def drop():  # rights of files count for root, too
    import ctypes
    for capability in 1, 2:  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP: for the recorder
"""


MOUNT = """
def full_disk(size=b"size=400k"):  # in a mount namespace of its own
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    os.mkdir("full")
    root = os.geteuid() == 0
    around = os.getcwd()
    while not os.path.ismount(around):  # of a chroot "/" is none
        around = os.path.dirname(around)
    for done in (libc.unshare(0x20000 | (0 if root else 0x10000000)),  # CLONE_NEWNS, CLONE_NEWUSER
                 root and libc.mount(None, os.fsencode(around), None, 1 << 18, None),  # MS_PRIVATE
                 libc.mount(b"tmpfs", b"full", b"tmpfs", 0, size)):
        if done:
            raise SystemExit("no namespace of mounts here: %d" % ctypes.get_errno())
"""


def run(row, path=PACKAGE):
    before, options, within, wanted = row
    source = PROGRAM.replace("BEFORE", DROP + MOUNT + before).replace("OPTIONS", repr(options)).replace("WITHIN", within)
    with tempfile.TemporaryDirectory(prefix="ocular-guest-") as temp:
        with open(temp + "/program.py", "w") as f:
            f.write(source)
        done = subprocess.run([sys.executable, temp + "/program.py"], cwd=temp, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, env=dict(os.environ, PYTHONPATH=path))
        subprocess.run(["chmod", "-R", "u+rwx", temp])
    assert done.returncode == 0 and done.stdout, done.stderr
    return json.loads(done.stdout), done.stderr


def wrong(row):
    found, err = run(row)
    problems = ["raised " + each for each in found["raised"]]
    if found["results"] != [4950, 499500]:
        problems.append("results %r" % found["results"])
    told, wanted = found["told"], row[3]
    problems += ["%s at %s" % (each[0], each[1]) for each in told if each[:2] != ["OcularWarning", "program.py"]]
    if wanted is None:
        wanted = [""] * min(len(told), 1)
    if len(told) != len(wanted) or any(text not in each[2] for text, each in zip(wanted, told)):
        problems.append("told %r" % [each[2] for each in told])
    if err:
        problems.append("stderr: " + err)
    return problems


def test_fault_matrix():
    failed = {name: problems for name, row in FAULTS.items() if (problems := wrong(row))}
    assert not failed, "\n".join("%s: %s" % each for each in failed.items())


FORGOTTEN = """
import ocular, os
ocular.start_tracing(perfetto=False, console=False)
ocular.stop_tracing()
ocular.start_tracing()
if not os.fork():
    raise SystemExit
os.wait()
"""


def test_a_forgotten_stop_is_told():
    with tempfile.TemporaryDirectory() as temp:
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORGOTTEN], cwd=temp, capture_output=True, text=True,
                              timeout=120, env=dict(os.environ, PYTHONPATH=PACKAGE))
        folder = os.path.join(os.path.realpath(temp), "ocular.data")
        rec.equal((done.returncode, done.stdout), (0, ""))
        rec.equal(done.stderr, "ocular: stop_tracing() was not called. To see what was recorded: ocular report %s\n" % folder)


STEPS = """
import asyncio, inspect, json, os, sys, types, warnings
warnings.simplefilter("error")
import ocular
def work(n):
    for i in range(n):
        pass
    return ocular.is_tracing()
quiet = dict(perfetto=False, console=False)
seen = {}
@ocular.traced(output="function", **quiet)
def function(n, *, deep=1):
    "Says what it does."
    work(n)
    return function(n, deep=deep - 1) if deep else ocular.is_tracing()
seen["function"] = function(3), function.__name__, function.__doc__, ocular.is_tracing()
@ocular.traced(output="generator", **quiet)
def generator():
    got = yield work(5)
    try:
        yield got
    except KeyError as e:
        yield repr(e)
    return "end"
def through():
    g = generator()
    before = ocular.is_tracing()
    one, two, three = next(g), g.send("sent"), g.throw(KeyError(1))
    try:
        next(g)
    except StopIteration as e:
        return before, one, two, three, e.value, ocular.is_tracing()
seen["generator"] = through()
closed = generator()
next(closed), closed.close()
seen["closed"] = ocular.is_tracing()
@ocular.traced(output="awaitable", **quiet)
@types.coroutine
def awaitable():
    return (yield), work(3)
class Service:
    @ocular.traced(output="coroutine", **quiet)
    async def coroutine(self, n):
        await asyncio.sleep(0.01)
        return work(n)
    @ocular.traced(output="asynchronous", **quiet)
    async def asynchronous(self):
        got = yield work(7)
        try:
            yield got
        except KeyError as e:
            yield repr(e)
    @staticmethod
    @ocular.traced(output="static", **quiet)
    def static(n): return work(n)
    @ocular.traced(output="class", **quiet)
    @classmethod
    def of_class(cls, n): return cls.__name__, work(n)
async def main():
    service = Service()
    seen["tasks"] = await asyncio.gather(*(service.coroutine(n) for n in (1, 2, 3)))
    a = service.asynchronous()
    seen["asynchronous"] = await anext(a), await a.asend("sent"), await a.athrow(KeyError(1)), await anext(a, "end")
    b = service.asynchronous()
    await anext(b), await b.aclose()
    seen["awaitable"] = await awaitable()
    seen["after"] = ocular.is_tracing()
    seen["kinds"] = inspect.iscoroutinefunction(service.coroutine), inspect.isasyncgenfunction(service.asynchronous), \
        inspect.isgeneratorfunction(generator)
    seen["methods"] = service.static(2), Service.of_class(2)
asyncio.run(main())
@ocular.traced(output="fails", **quiet)
def fails(): raise LookupError("mine")
try:
    fails()
except LookupError as e:
    seen["fails"] = str(e), ocular.is_tracing()
for wrong in 7, Service:
    try:
        ocular.traced(wrong)
    except TypeError:
        seen["wrong"] = seen.get("wrong", 0) + 1
print(json.dumps(seen))
"""


def test_traced_functions_of_every_kind():
    with tempfile.TemporaryDirectory() as temp:
        done = subprocess.run([sys.executable, "-c", STEPS], cwd=temp, capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, PYTHONPATH=PACKAGE))
        rec.equal((done.returncode, done.stderr), (0, ""))
        rec.equal(json.loads(done.stdout), {
            "function": [True, "function", "Says what it does.", False],
            "generator": [False, True, "sent", "KeyError(1)", "end", False], "closed": False,
            "tasks": [True] * 3, "asynchronous": [True, "sent", "KeyError(1)", "end"], "awaitable": [None, True], "after": False,
            "kinds": [True] * 3, "methods": [True, ["Service", True]], "fails": ["mine", False], "wrong": 2})
        rec.equal(sum(e.name == "JUMP" for e in rec.Recording(temp + "/function", done).events("work")), 6)
        rec.equal(sum(e.name == "JUMP" for e in rec.Recording(temp + "/coroutine", done).events("work")), 6)


def test_a_recording_ends_with_the_last_block_inside():
    with tempfile.TemporaryDirectory() as temp:
        done = subprocess.run([sys.executable, "-W", "error", "-c", """
import ocular, threading
def work(n):
    for i in range(n):
        pass
inside, go_on = threading.Event(), threading.Event()
def other():
    with ocular.tracing(output="b"):
        inside.set()
        go_on.wait()
        work(20)
with ocular.tracing(output="a", perfetto=False, console=False):
    t = threading.Thread(target=other)
    t.start()
    inside.wait()
work(3)
go_on.set()
t.join()
work(1000)
print(ocular.is_tracing())
with ocular.tracing(output="c", perfetto=False, console=False):
    ocular.stop_tracing()
"""], cwd=temp, capture_output=True, text=True, timeout=120, env=dict(os.environ, PYTHONPATH=PACKAGE))
        rec.equal((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))
        rec.equal(sorted(os.listdir(temp)), ["a", "c"])
        rec.equal(sum(e.name == "JUMP" for e in rec.Recording(temp + "/a", done).events("work")), 23)


def test_a_warning_that_the_program_made_an_error_leaves_tracing_off():
    with tempfile.TemporaryDirectory() as temp:
        done = subprocess.run([sys.executable, "-W", "error", "-c", """
import ocular
for start in {"output": "/nowhere/x"}, {"perfetto": "/nowhere/x"}:
    try:
        ocular.start_tracing(console=False, **start)
        ocular.stop_tracing()
    except ocular.OcularWarning as e:
        print("told", ocular.is_tracing())
with ocular.tracing(perfetto=False, console=False):
    pass
"""], cwd=temp, capture_output=True, text=True, timeout=120, env=dict(os.environ, PYTHONPATH=PACKAGE))
        rec.equal((done.returncode, done.stdout, done.stderr), (0, "told False\ntold False\n", ""))


if __name__ == "__main__":
    rec.run(globals())
