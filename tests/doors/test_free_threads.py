#!/usr/bin/env python3
"""Many threads at once: each thread's events are what the thread itself counted, exactly, with and without a GIL.

    test_free_threads.py [--python PY]... [--only TEXT]

The witness is the program: every thread counts its own calls in a local variable and says so at the end. On a
free-threaded Python the threads run at the same time; the same programs must be right under a GIL.
"""

import collections
import glob
import json
import os
import struct
import subprocess

import recording

PROGRAM = """
import os, sys, threading

THREADS = 8
counts = {}  # (tid, function): calls

def leaf():
    pass

def run(target, threads=THREADS):
    \"\"\"target(i, calls, meet) in each of so many threads; it counts in calls, {function: n}, and all begin at once.\"\"\"
    meet = threading.Barrier(threads)
    def body(i):
        calls = {}
        target(i, calls, meet)
        for name, n in calls.items():
            counts[threading.get_native_id(), name] = n
    pool = [threading.Thread(target=body, args=(i,)) for i in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()

{body}

with open("counts", "w") as file:
    for (tid, name), n in counts.items():
        print(tid, name, n, file=file)
"""


ENDS = ("PY_START", "PY_RETURN")


class Recording:
    """Of a Python that is free-threaded or not; what is made of it goes to `folder`."""

    def __init__(self, folder, data, free):
        self.folder, self.data, self.free = folder, data, free

    def events(self, names):
        """(tid, event, function, ns) of the calls and returns of the functions with these names, by time."""
        path = os.path.join(self.folder, "events.txt")
        recording.report(self.data, f"events={path}")
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                fields = line.split("\t")
                if len(fields) > 5 and fields[3] in ENDS and fields[5] in names:
                    yield int(fields[2]), fields[3], fields[5], int(fields[0])

    def count(self, names):
        """{(tid, function): [PY_START events, PY_RETURN events]}"""
        found = collections.defaultdict(lambda: [0, 0])
        for tid, event, name, _ in self.events(names):
            found[tid, name][ENDS.index(event)] += 1
        return found

    def table(self):
        """The code tables' lines."""
        for path in glob.glob(os.path.join(self.data, "codes-*.jsonl")):
            with open(path, encoding="utf-8") as file:
                yield from map(json.loads, file)

    def losses(self, *expected):
        """What is missing or uncertain; ends without a beginning only where CPython tells all beginnings."""
        excused = expected + (("unmatched", "mismatches") if self.free else ())
        return {name: n for name, n in recording.summary(self.data)["losses"].items() if n and name not in excused}


class Run(Recording):
    """A program of this file that was recorded in mode calls, in a folder."""

    def __init__(self, folder, python, body, *options, mode="calls", **environment):
        super().__init__(folder, os.path.join(folder, "data"), recording.is_free(python))
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM.replace("{body}", body))
        done = recording.record(self.data, [python, *options, path], recording.traced_environment(mode, **environment),
                                cwd=folder)
        self.out, self.status = done.stdout, done.returncode
        self.problems = [f"exit status {done.returncode}"] if done.returncode else []
        self.problems += [f"stderr: {line}" for line in done.stderr.splitlines()]

    def told(self):
        """{(tid, function): calls}, as the program counted."""
        with open(os.path.join(self.folder, "counts"), encoding="utf-8") as file:
            rows = [line.split() for line in file]
        return {(int(tid), name): int(n) for tid, name, n in rows}

    def right(self, told, starts, ends):
        """Free-threaded CPython 3.13 may leave out a PY_START when two threads come to new code at once, also without
        Ocular (docs/limits.md). Never a PY_RETURN, and no thread comes to the same new code twice."""
        return ends == told and told - self.free <= starts <= told

    def compared(self, *expected):
        """Problems: what each thread counted against what the recording has, and losses."""
        told = self.told()
        found = self.count({name for _, name in told})
        wrong = [f"thread {key[0]} called {key[1]} {told.get(key, 0)} times, the recording has {found[key]}"
                 for key in sorted({*told, *found}) if not self.right(told.get(key, 0), *found[key])]
        losses = self.losses(*expected)
        return self.problems + wrong[:10] + ([f"losses: {losses}"] if losses else [])


COUNTED = """
def work(i, calls, meet):
    meet.wait()
    n = 0
    for _ in range(20000 + i):
        leaf()
        n += 1
    calls["leaf"] = n

run(work)
"""


def check_counts(python, folder):
    return Run(folder, python, COUNTED).compared()


def check_told(python, free, folder):
    """`ocular check`, the code table and the report say which Pythons are free-threaded."""
    done = Run(folder, python, COUNTED)
    (header,) = (row for row in done.table() if row["kind"] == "header")
    listed = recording.run([recording.WRAPPER, "check"], env=recording.plain_environment(PYTHON=python)).stdout
    executable = recording.run([python, "-c", "import sys; print(sys.executable)"]).stdout.strip()
    (line,) = (row for row in listed.splitlines() if row.split()[1:2] == ["Python"] and row.endswith(f" {executable}"))
    said = recording.report(done.data)
    (head,) = (row for row in said.splitlines() if row.startswith("Python "))
    got = header["free_threaded"], "free-threaded" in line, "free-threading" in head
    return done.problems + ([] if got == (free,) * 3 else [f"{got}, not {free}: {line!r}, {head!r}"])


GIL = COUNTED + """
print(sys._is_gil_enabled(), "ocular._core" in sys.modules)
"""


def check_gil(python, option, folder):
    """With Ocular's extension in the process the GIL stays off, and nothing warns of it."""
    done = Run(folder, python, GIL, *option)
    return done.compared() + ([] if done.out == "False True\n" else [f"GIL, extension: {done.out}"])


NEW = """
ROUNDS = 3000
source = "".join(f"def new_{n}(): pass\\n" for n in range(ROUNDS))
exec(source)
functions = [globals()[f"new_{n}"] for n in range(ROUNDS)]
steps = [threading.Barrier(THREADS) for _ in range(ROUNDS // 100)]

def work(i, calls, meet):
    meet.wait()
    for n, function in enumerate(functions):
        if n % 100 == 0:
            steps[n // 100].wait()
        function()
    for function in functions:
        calls[function.__name__] = 1

run(work)
"""


def check_new_code(python, folder):
    """Threads that meet a new code object at once agree on one id, and it has one line in the code table."""
    done = Run(folder, python, NEW)
    lines = collections.Counter(row["qualname"] for row in done.table() if row["kind"] == "code")
    many = {name: n for name, n in lines.items() if name.startswith("new_") and n != 1}
    return done.compared() + ([f"{len(many)} functions with several lines in the table"] if many else [])


DYING = """
def work(i, calls, meet):
    meet.wait()
    for n in range(1500):
        space = {}
        exec("def short_%d(again):\\n    return again and short_%d(again - 1)" % (i, i), space)
        shared[i] = space.pop("short_%d" % i)
        space.clear()
        other = shared[(i + 1) % THREADS]  # may be the last reference to it, and another thread may be inside
        space["short_%d" % ((i + 1) % THREADS)] = other
        leaf()
        if other:
            other(0)
            name = other.__name__
            calls[name] = calls.get(name, 0) + 1
        del other
    calls["leaf"] = 1500

shared = [None] * THREADS
run(work)
"""


def check_dying_code(python, folder):
    """Code objects die in one thread while another was inside a moment ago: no id stands for two of them."""
    done = Run(folder, python, DYING)
    ids = collections.Counter(row["id"] for row in done.table() if row["kind"] == "code")
    many = {number: n for number, n in ids.items() if n != 1}
    return done.compared() + ([f"{len(many)} ids with several lines in the table"] if many else [])


SWITCHES = COUNTED.replace("run(work)", "") + """
monitoring = sys.monitoring
monitoring.use_tool_id(2, "another tool")
monitoring.register_callback(2, monitoring.events.LINE, lambda code, line: None)
go_on = True

def switch():
    while go_on:
        monitoring.set_events(2, monitoring.events.LINE)
        monitoring.set_events(2, 0)
        monitoring.restart_events()

switcher = threading.Thread(target=switch)
switcher.start()
run(work)
go_on = False
switcher.join()
"""


def check_switches(python, folder):
    """The program switches events of another tool, and restarts them, while its threads emit."""
    return Run(folder, python, SWITCHES).compared()


SESSIONS = """
import time
exec("".join(f"def ring_{n}(): pass\\n" for n in range(16)))
functions = [globals()[f"ring_{n}"] for n in range(16)]
go_on = True

def work():
    while go_on:
        for _ in range(4):
            for function in functions:
                function()
        time.sleep(0.001)

pool = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in pool:
    thread.start()
"""
STARTS = SESSIONS + """
from ocular import monitor
for _ in range(ROUNDS):
    monitor.stop()
    monitor.start(os.environ["OCULAR_DIR"], "calls", include=["__main__"], backend="software")
go_on = False
for thread in pool:
    thread.join()
"""


RING = {f"ring_{n}": n for n in range(16)}


def broken(events, most):
    """Problems: threads whose returns are not in a circle, more often than that, and threads that are missing."""
    last, breaks = {}, collections.Counter()
    for tid, event, name, _ in events:
        if event == "PY_RETURN":
            breaks[tid] += tid in last and RING[name] != (last[tid] + 1) % 16
            last[tid] = RING[name]
    problems = [f"thread {tid}: {n} breaks" for tid, n in breaks.items() if n > most]
    return problems + ([] if len(last) == 8 else [f"{len(last)} threads in the recording"])


def check_sessions(python, rounds, folder):
    """Tracing stops and starts while threads emit: inside a session each thread's returns are in their order without a
    gap. A thread calls ring_0 to ring_15 in a circle, so what is missing shows."""
    done = Run(folder, python, STARTS.replace("ROUNDS", str(rounds)))
    problems = broken(done.events(RING), rounds)
    stops = sum(row["kind"] == "stop" for row in done.table())
    problems += [f"{stops} sessions ended in the table, not {rounds + 1}"] if stops != rounds + 1 else []
    return done.problems + problems + ([f"losses: {done.losses()}"] if done.losses() else [])


ATTACHED = PROGRAM.replace("{body}", SESSIONS) + """
print("ready", flush=True)
sys.stdin.read()
go_on = False
for thread in pool:
    thread.join()
print(getattr(sys, "_is_gil_enabled", lambda: True)(), [sys.monitoring.get_tool(i) for i in range(6)])
"""


def check_attach(python, free, rounds, folder):
    """Somebody attaches while threads emit, several times: each recording has all threads' returns without a gap."""
    package = os.path.dirname(recording.HOOK)
    program = subprocess.Popen([python, "-c", ATTACHED], text=True, cwd=folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=recording.plain_environment(PYTHONPATH=recording.HOOK, OCULAR_LISTEN="1"))
    try:
        program.stdout.readline()
        problems = []
        for n in range(rounds):
            data = os.path.join(folder, str(n))
            done = recording.run([python, "-m", "ocular.attach", str(program.pid), "-o", data, "--for", "200ms"],
                                 env=recording.plain_environment(PYTHONPATH=package))
            run = Recording(folder, data, free)
            problems += [done.stderr] if done.returncode else broken(run.events(RING), 0)
            problems += [f"losses: {run.losses()}"] if run.losses() else []
        said = program.communicate("")
    finally:
        program.kill()
        program.wait()
    wanted = f"{not free} [None, None, None, None, None, None]\n", ""
    return problems + ([] if said == wanted else [f"{said}, not {wanted}"])


STALE = """
from ocular import monitor

class Spec:  # of the main module: who finds out about new code asks it for its name
    @property
    def name(self):
        if threading.current_thread() is late and not inside.is_set():
            inside.set()
            go_on.wait()
        return "program"

def stale():
    for _ in range(10):
        leaf()

__spec__ = Spec()
inside, go_on = threading.Event(), threading.Event()
late = threading.Thread(target=stale)
late.start()
inside.wait()
monitor.stop()
monitor.start(os.environ["OCULAR_DIR"], "calls", backend="software")
go_on.set()
late.join()
print(late.native_id)
"""


def check_stale(python, folder):
    """A callback is still finding out about a code object when its session ends, which excludes it, and another begins,
    which does not: the beginning of that call belongs to neither, all that follows to the second."""
    done = Run(folder, python, STALE, OCULAR_EXCLUDE="__main__")
    found = done.count({"stale", "leaf"})
    late = int(done.out)
    wanted = {(late, "stale"): [0, 1], (late, "leaf"): [10, 10]}
    return done.problems + ([] if found == wanted else [f"{dict(found)}, not {wanted}"])


OTHER_SLOT = """
import ctypes
api = ctypes.pythonapi
api.PyUnstable_Code_SetExtra.argtypes = ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p
exec("".join(f"def some_{n}(): pass\\n" for n in range(200)))
functions = [globals()[f"some_{n}"] for n in range(200)]
go_on = True

def work(i, calls, meet):
    meet.wait()
    rounds = 0
    while go_on:
        for function in functions:
            function()
        rounds += 1
    for function in functions:
        calls[function.__name__] = rounds

for function in functions:
    function()
emitting = threading.Thread(target=run, args=(work, 4))
emitting.start()
for _ in range(6):
    slot = api.PyUnstable_Eval_RequestCodeExtraIndex(None)
    for function in functions:
        assert not api.PyUnstable_Code_SetExtra(function.__code__, slot, 1)
go_on = False
emitting.join()
for function in functions:
    counts[os.getpid(), function.__name__] = 1
"""


def check_other_slot(python, folder):
    """Another tool comes later and puts something of its own into the code objects that threads are running."""
    return Run(folder, python, OTHER_SLOT, PYTHONMALLOC="debug").compared()


# What is freed is overwritten with PYTHONMALLOC=debug, so that who still reads it fails.
CHANGING = """
import ocular, threading
rows, names = [], {}
go_on = True

def change(i):
    while go_on:
        rows[:] = [f"row {n}" for n in range(i, i + 40)]
        rows.clear()
        for n in range(40):
            names[n] = [n, f"name {n}"]
        names.clear()

pool = [threading.Thread(target=change, args=(i,)) for i in range(4)]
for thread in pool:
    thread.start()
for _ in range(10000):
    ocular.take_snapshot("now", rows=rows, names=names)
go_on = False
for thread in pool:
    thread.join()
print("done")
"""


def check_changing(python, folder):
    """A snapshot is taken of a list and a dict that other threads are changing."""
    done = recording.record(os.path.join(folder, "data"), [python, "-c", CHANGING],
                            recording.traced_environment("calls", OCULAR_EXCLUDE="*.py", PYTHONMALLOC="debug"),
                            "--flight", "1s", "--max-snapshots", "10")
    return [] if (done.returncode, done.stdout) == (0, "done\n") else [f"{done.returncode}: {done.stdout}{done.stderr}"]


RENAMED = """
import threading
space = {}
go_on = True

def rename(i):
    n = 0
    while go_on:
        n += 1
        space["__name__"] = f"module_{i}_{n}"

pool = [threading.Thread(target=rename, args=(i,)) for i in range(2)]
for thread in pool:
    thread.start()
for _ in range(50000):
    exec(compile("def f(): pass\\nf()", "file.py", "exec"), space)
go_on = False
for thread in pool:
    thread.join()
print("done")
"""


def check_renamed(python, folder):
    """New code runs in a module whose name other threads are changing."""
    done = recording.record(os.path.join(folder, "data"), [python, "-c", RENAMED],
                            recording.traced_environment("calls", OCULAR_INCLUDE="none:of:these", PYTHONMALLOC="debug"))
    return [] if (done.returncode, done.stdout) == (0, "done\n") else [f"{done.returncode}: {done.stdout}{done.stderr}"]


FORKS = COUNTED.replace("run(work)", "") + """
class Main(threading.Thread):
    def run(self):
        run(work)

emitting = Main()
emitting.start()
while emitting.is_alive() or len(children) < 20:
    pid = os.fork()
    if not pid:
        for _ in range(100):
            leaf()
        os._exit(0)
    children.append(pid)
    os.waitpid(pid, 0)
emitting.join()
for pid in children:
    counts[pid, "leaf"] = 100
"""


def check_forks(python, folder):
    """The main thread forks while the others emit: the children's calls and the threads' are all there."""
    return Run(folder, python, FORKS.replace("class Main", "children = []\n\nclass Main", 1), "-W", "ignore").compared("unstopped")


INTERPRETERS = COUNTED.replace("run(work)", "") + """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
emitting = threading.Thread(target=run, args=(work,))
emitting.start()
rounds = 0
while emitting.is_alive() or rounds < 5:
    interpreter = interpreters.create()
    interpreters.run_string(interpreter, "def inner(): pass\\nfor _ in range(50): inner()")
    interpreters.destroy(interpreter)
    rounds += 1
emitting.join()
counts[os.getpid(), "inner"] = 50 * rounds
"""


def check_interpreters(python, folder):
    """Interpreters come and go in one thread while the others emit."""
    return Run(folder, python, INTERPRETERS, "-W", "ignore").compared()


# What each thread has counted is in memory that outlives the process: at most the last call is not in it yet.
SHARED = """
import mmap, struct, time
file = open("shared", "w+b")
file.truncate(4096)
shared = mmap.mmap(file.fileno(), 4096)

def work(i):
    struct.pack_into("Q", shared, 16 * i, threading.get_native_id())
    n = 0
    while True:
        leaf()
        n += 1
        struct.pack_into("Q", shared, 16 * i + 8, n)

for i in range(THREADS):
    threading.Thread(target=work, args=(i,), daemon=True).start()
while min(struct.unpack_from("16Q", shared)[1::2]) < 2000:
    time.sleep(0.001)
"""
ENDINGS = {
    "exec": "os.execv(sys.executable, [sys.executable, '-c', 'pass'])",
    "os._exit": "os._exit(0)",
    "a signal": "os.kill(os.getpid(), 9)",
    "its end": "sys.exit()",
}


def check_ending(python, ending, folder):
    """The process ends, or becomes another program, while 8 threads emit: all calls are there until then."""
    done = Run(folder, python, SHARED + ENDINGS[ending])
    with open(os.path.join(folder, "shared"), "rb") as file:
        words = struct.unpack("16Q", file.read(128))
    told = dict(zip(words[::2], words[1::2]))
    found = {tid: starts for (tid, _), (starts, _) in done.count({"leaf"}).items()}
    # Tracing stops before the threads do where Python ends; a free-threaded 3.13 may leave out one beginning.
    problems = [f"thread {tid} called leaf {n} times, the recording has {found.get(tid)}" for tid, n in told.items()
                if not (2000 if ending == "its end" else n) - done.free <= found.get(tid, 0) <= n + 1]
    if ending == "a signal":
        done.problems = [] if done.status == -9 or done.status == 137 else done.problems
    return done.problems + problems


TOKEN = """
locks = [threading.Semaphore(0) for _ in range(THREADS)]

def token():
    pass

def work(i, calls, meet):
    calls["token"] = ROUNDS // THREADS
    meet.wait()
    for _ in range(ROUNDS // THREADS):
        locks[i].acquire()
        token()
        locks[(i + 1) % THREADS].release()

locks[0].release()
run(work)
"""


def check_order(python, rounds, folder):
    """Threads pass a token round: by the times of all threads' events, who had it when is right, from first to last."""
    done = Run(folder, python, TOKEN.replace("ROUNDS", str(rounds)), OCULAR_INCLUDE="__main__")
    circle, problems, at, last = [], [], 0, 0
    for tid, event, _, time in done.events({"token"}):
        if len(circle) < 8 and event == "PY_START":
            circle.append(tid)
        wanted = circle[at // 2 % 8] if at // 2 % 8 < len(circle) else None
        if (tid, event) != (wanted, ENDS[at % 2]) or time < last:
            problems.append(f"event {at} at {time} ns is {event} of thread {tid}, not {ENDS[at % 2]} of {wanted}")
        at, last = at + 1, time
    return done.compared() + problems[:5] + ([] if at == 2 * rounds else [f"{at} events, not {2 * rounds}"])


def cases(python, _):
    """(name, function and its arguments but for the folder)."""
    free = recording.is_free(python)
    version = recording.version(python) + "t" * free
    yield f"{version} each thread's calls are what it counted", check_counts, python
    yield f"{version} it is told what kind of Python it is", check_told, python, free
    yield f"{version} threads meet new code at once", check_new_code, python
    yield f"{version} code dies while threads run", check_dying_code, python
    yield f"{version} the program switches events", check_switches, python
    yield f"{version} tracing stops and starts 200 times", check_sessions, python, 200
    yield f"{version} somebody attaches 10 times", check_attach, python, free, 10
    yield f"{version} a callback outlives its session", check_stale, python
    yield f"{version} another tool's slot in code objects", check_other_slot, python
    yield f"{version} a snapshot of what others change", check_changing, python
    yield f"{version} modules are renamed", check_renamed, python
    yield f"{version} forks", check_forks, python
    yield f"{version} interpreters", check_interpreters, python
    for ending in ENDINGS:
        yield f"{version} ends by {ending}", check_ending, python, ending
    yield f"{version} a token goes round 20,000 times", check_order, python, 20_000
    if free:
        yield f"{version} the GIL stays off", check_gil, python, ()
        yield f"{version} the GIL stays off with -X gil=0", check_gil, python, ("-X", "gil=0")


if __name__ == "__main__":
    recording.run_cases(cases)
