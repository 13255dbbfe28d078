#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tasks are those that the program itself counts, and a request's time went where the program planted it.

The witness of tasks is a sys.monitoring tool in the program that asks asyncio.current_task() whenever a coroutine runs, and a context
variable, which a new task inherits from the one that makes it. That of requests is the program's own clock."""

import collections
import itertools
import json
import os
import re
import sys

import recording
import telemetry

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden"))
import otlp_profile  # noqa: E402

COMMON = """
import asyncio, contextvars, functools, json, random, sys, threading, time
rnd = random.Random(int(sys.argv[1]))
parent = contextvars.ContextVar("parent", default=None)
rows = []  # of each task: coroutine, resumptions, whether it ended, names of the task and of the one that made it
running = {}  # frame of a task's coroutine -> row

def started(code, offset):
    begin(code, sys._getframe(1))

def begin(code, frame):
    task = code.co_flags & 0x80 and current()
    if task and task.get_coro().cr_frame is frame:
        running[id(frame)] = row = [called(code), 0, False, task, parent.get()]
        rows.append(row)
        parent.set(row)

def called(code):
    return code.co_qualname

def current():
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs here
        return None

def resumed(code, offset, *rest):
    row = running.get(id(sys._getframe(1)))
    if row:
        row[1] += 1

def thrown(code, offset, exception):
    row = running.get(id(sys._getframe(1)))
    if row:
        row[1] += 1
    else:  # cancelled before it has begun
        begin(code, sys._getframe(1))

def ended(code, offset, *rest):
    row = running.pop(id(sys._getframe(1)), None)
    if row:
        row[2] = True

events = sys.monitoring.events
sys.monitoring.use_tool_id(3, "witness")
for name, function in (("PY_START", started), ("PY_RESUME", resumed), ("PY_THROW", thrown), ("PY_RETURN", ended),
                       ("PY_UNWIND", ended)):
    sys.monitoring.register_callback(3, getattr(events, name), function)
sys.monitoring.set_events(3, events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_RETURN | events.PY_UNWIND)

async def leaf(n):
    for i in range(n):
        await asyncio.sleep(rnd.choice((0, 0, .0005)))
    return n

async def fails():
    await asyncio.sleep(0)
    raise KeyError
"""

ENDING = """
def text(row):
    return row and row[3].get_name()
sys.monitoring.set_events(3, 0)
json.dump([row[:3] + [text(row), text(row[4])] for row in rows], open(sys.argv[2], "w"))
"""

# Tasks that make tasks, have names and new names, fail, are cancelled, wait for each other by all that asyncio has.
CROWD = """
async def consumer(queue, n):
    asyncio.current_task().set_name("consumer of %d" % n)
    for i in range(n):
        await queue.get()

async def producer(queue, n):
    for i in range(n):
        await asyncio.sleep(0)
        queue.put_nowait(i)

async def parent_of(n, lock, gate):
    async with lock:
        await asyncio.sleep(0)
    await gate.wait()
    made = [asyncio.create_task(leaf(rnd.randrange(4)), name=rnd.choice((None, "leaf", "own name"))) for i in range(n)]
    if rnd.random() < .2:
        made[0].cancel()
    if rnd.random() < .2:
        await asyncio.sleep(0)
        made[-1].cancel()
    await asyncio.gather(*made, fails(), return_exceptions=True)

async def group(n):
    async with asyncio.TaskGroup() as tasks:
        for i in range(n):
            tasks.create_task(leaf(i), name="in group %d" % i)
    try:
        await asyncio.wait_for(asyncio.sleep(9), .001)
    except TimeoutError:
        pass

async def main():
    queue, lock, gate = asyncio.Queue(), asyncio.Lock(), asyncio.Event()
    first = [asyncio.create_task(parent_of(1 + i % 4, lock, gate), name="parent %d" % i) for i in range(40)]
    second = asyncio.gather(consumer(queue, 30), producer(queue, 30), *(group(i % 5) for i in range(10)))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*first)
    await second
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(asyncio.to_thread(time.sleep, .001) for i in range(5)), loop.run_in_executor(None, sum, (1, 2)))
asyncio.run(main())
"""

# The same with tasks of asyncio that are written in Python.
PYTHON = """
if sys.version_info >= (3, 14):  # asyncio's own answers for tasks in C only
    asyncio.current_task = asyncio.tasks.current_task = asyncio.tasks._py_current_task
_old = asyncio.run
def run(main):
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_task_factory(lambda loop, coro, **more: asyncio.tasks._PyTask(coro, loop=loop, **more))
        runner.run(main)
asyncio.run = run
"""

# The own coroutine of each task is a decorator's, in which the program's own is awaited; or a function's that is left out. Of one that is
# cancelled before it has begun the program's own coroutine never is.
DECORATED = """
{decorator}
def called(code):
    qualname = asyncio.current_task().get_coro().__qualname__
    return None if code.co_name == "call" and sys._getframe(2).f_code is thrown.__code__ else qualname
leaf, fails = decorate(leaf), decorate(fails)
"""
OURS = "import ocular\ndecorate = ocular.span('decorated')"
ANOTHERS = """
import types
outside = types.ModuleType("outside")
exec('''
import functools
def decorate(function):
    @functools.wraps(function)
    async def call(*args, **kwargs):
        return await function(*args, **kwargs)
    return call
''', outside.__dict__)
decorate = outside.decorate
"""


def decorated(decorator, source):
    for name in ("consumer", "producer", "parent_of", "group", "worker", "main"):
        source = source.replace(f"async def {name}(", f"@decorate\nasync def {name}(")
    return DECORATED.format(decorator=decorator) + source


# Two loops in two threads, which hand each other coroutines and calls.
THREADS = """
async def asks(other, n):
    for i in range(n):
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(leaf(i % 3), other))

async def serve(ready, done):
    ready.set_result(asyncio.get_running_loop())
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    done.append(lambda: loop.call_soon_threadsafe(stop.set))
    await stop.wait()

async def main():
    import concurrent.futures
    ready, done = concurrent.futures.Future(), []
    thread = threading.Thread(target=contextvars.copy_context().run, args=(lambda: asyncio.run(serve(ready, done)),))
    thread.start()
    other = ready.result()
    await asyncio.gather(*(asks(other, 8) for i in range(4)))
    done[0]()
    thread.join()
asyncio.run(main())
"""

# Tasks that run where they are made until they wait: as the constructor makes them, and all others. Of those that never wait nothing is told.
EAGER = """
_old_main = main
async def eager(n):
    await leaf(n % 3)
async def main():
    loop = asyncio.get_running_loop()
    made = [asyncio.Task(eager(i), loop=loop, eager_start=True, name=rnd.choice((None, "eager"))) for i in range(40)]
    await asyncio.gather(*made)
    loop.set_task_factory(asyncio.eager_task_factory)
    await asyncio.gather(*(asyncio.create_task(eager(i), name="by factory %d" % i) for i in range(40)))
    loop.set_task_factory(None)
    await _old_main()
asyncio.run(main())
"""

PROGRAMS = {"eager": CROWD.replace("asyncio.run(main())", "") + EAGER,
            "decorated": decorated(OURS, CROWD), "decorated, tasks in Python": PYTHON + decorated(OURS, CROWD),
            "crowd": CROWD, "tasks in Python": PYTHON + CROWD, "two loops": THREADS}

# One request. The program notes both sides of each of its parts, and when its loop first had others to run in it.
REQUEST = """
import asyncio, json, sys, threading, time
import ocular
notes, now = {}, time.perf_counter_ns

def note(name):
    notes[name] = now()

def note_others(name):
    asyncio.get_running_loop().call_soon(note, name + " others")

def burn(name, seconds):
    note(name + " begins")
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass
    note(name + " ends")

def nap(seconds):
    note("thread begins")
    time.sleep(seconds)
    note("thread ends")

async def sleeps(name, seconds):
    note_others(name)
    note(name + " begins")
    await asyncio.sleep(seconds)

async def holds(lock):
    async with lock:
        await sleeps("holder", .08)

async def handler(lock):
    note("all before")
    with ocular.request("GET /"):
        note("all begins")
        await sleeps("sleep", .03)
        note_others("lock")
        async with lock:
            pass
        note_others("thread")
        await asyncio.to_thread(nap, .04)
        burn("burn", .02)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(sleeps("short", .01), name="short")
            tasks.create_task(sleeps("long", .025), name="long")
        note_others("executor")
        await asyncio.get_running_loop().run_in_executor(None, burn, "executor", .015)
        note("all ends")
    note("all after")

async def main():
    lock = asyncio.Lock()
    holder = asyncio.create_task(holds(lock), name="holder")
    await asyncio.sleep(0)
    await asyncio.create_task(handler(lock), name="handler")
    await holder
    with ocular.request("POST /"):
        pass
asyncio.run(main())
json.dump(notes, open(sys.argv[2], "w"))
"""


def planted(notes):
    """In their order: what has part of the request's time, and the least of it, ns; however busy the machine is.

    A timer is due so long after it was made, and its task has it from when that is suspended: the loop's others come later. A job is
    waited for from when its task is suspended; it may have begun before."""
    def sleep(name, ns, others):
        return notes[name + " begins"] + ns - notes[others + " others"]

    def job(name):
        return notes[name + " ends"] - max(notes[name + " begins"], notes[name + " others"])

    return (("awaiting", "sleep", "handler", sleep("sleep", 30_000_000, "sleep")),
            ("awaiting", "sleep", "holder", sleep("holder", 80_000_000, "lock")),
            ("running", "nap", None, job("thread")),
            ("running", "handler", "handler", notes["burn ends"] - notes["burn begins"]),
            ("awaiting", "sleep", "long", sleep("long", 25_000_000, "long")),
            ("running", "burn", None, job("executor")))


# What another library would: it runs the program's coroutines in some of its own, and has one that it awaits.
LIBRARY = """
import asyncio
async def drive(f, *args):
    return await inside(f, *args)
async def inside(f, *args):
    return await f(*args)
async def waits():
    await asyncio.sleep(.03)
def guards(f, *args):
    return made(f, *args)
made = eval("lambda f, *args: calls(f, *args)")
def calls(f, *args):
    return f(*args)
"""
NAMED = """
import asyncio, json, os, sys, threading
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
import library
import ocular
async def helper():
    await library.waits()
async def other(handle):
    await library.waits()
    await helper()
async def handler():
    with ocular.request("GET"):
        await library.drive(library.waits)
        await helper()
        await asyncio.create_task(library.drive(other, 1), name="other")
        await asyncio.create_task(library.waits(), name="nobody's")
        await job(library.guards, outer, inner)
        await job(library.guards, library.guards, inner)
        await job(library.guards, threading.Event.wait)
        await job(inner)
async def job(*functions):
    suspended = threading.Event()  # the job ends when the task that waits for it is
    asyncio.get_running_loop().call_soon(suspended.set)
    await asyncio.to_thread(*functions, suspended)
def outer(f, suspended):
    f(suspended)
def inner(suspended):
    suspended.wait()
asyncio.run(library.drive(handler))
json.dump([], open(sys.argv[2], "w"))
"""


DIFFERS = .999, 1.001  # Ocular's clock may differ from the program's by a thousandth


def recorded(python, folder, source, *options, seed=1, **more):
    path, record, truth = (os.path.join(folder, name) for name in ("program.py", "rec", "truth.json"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    env = dict(recording.traced_environment("calls", **more))
    done = recording.record(record, [python, path, str(seed), truth], env, *options)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    with open(truth, encoding="utf-8") as file:
        return json.load(file), recording.summary(record)


def counted(rows, told):
    """Names, coroutines, resumptions, ends and makers of all tasks that began: those of the program's own, and those that are told."""
    names = ("coroutine", "resumptions", "ended", "name", "created_by")
    return (collections.Counter(tuple(row) for row in rows),
            collections.Counter(tuple(t[name] for name in names) for t in told if t["running_ns"]))


def tell_counts(rows, told):
    wanted, found = counted(rows, told)
    right = list((wanted & found).elements())
    print(f"# tasks compared {len(rows)}, right {len(right)}; resumptions compared {sum(row[1] for row in rows)}, "
          f"right {sum(row[1] for row in right)}")


def compare(rows, told):
    wanted, found = counted(rows, told)
    problems = [f"not there: {row}, {n} times" for row, n in (wanted - found).items()]
    return (problems + [f"never was: {row}, {n} times" for row, n in (found - wanted).items()])[:20]


# An event loop that is no Python code; of tasks made by its own create_task() asyncio's functions tell nothing.
UVLOOP = """
import uvloop
async def worker(n):
    for i in range(n):
        await leaf(1 + i % 3)
    await asyncio.sleep(0)

async def main():
    loop = asyncio.get_running_loop()
    first = [loop.create_task(worker(i % 5), name=rnd.choice((None, "own name"))) for i in range(150)]
    async with asyncio.TaskGroup() as tasks:
        for i in range(5):
            tasks.create_task(leaf(2), name="in group %d" % i)
    await asyncio.gather(*first, fails(), return_exceptions=True)
    loop.create_task(worker(1)).set_name("renamed")
    at_once = [loop.create_task(leaf(0), name="at once") for i in range(20)]
    contexts = [contextvars.copy_context() for i in range(10)]
    held = [loop.create_task(leaf(0), name="in a context that is held", context=context) for context in contexts]
    await asyncio.sleep(.05)
uvloop.run(main())
"""


def test_uvloop(python, source, folder):
    rows, summary = recorded(python, folder, COMMON + source + ENDING)
    told = [t for t in summary["tasks"] if is_own(t["coroutine"], False)]
    rows = [row for row in rows if is_own(row[0], False)]
    tell_counts(rows, told)
    older = sum(t["older"] for t in told)
    return compare(rows, told) + [f"{older} older ones"] * bool(older) + ([] if len(rows) > 150 else [f"only {len(rows)} tasks"])


def is_own(coroutine, filtered):
    """asyncio.run() makes tasks after the program has ended; of functions that are left out there is no event."""
    return coroutine and not coroutine.startswith("BaseEventLoop.") and not (filtered and coroutine == "to_thread")


def test_tasks(python, source, seed, more, folder):
    rows, summary = recorded(python, folder, COMMON + source + ENDING, seed=seed, **more)
    told, rows = [t for t in summary["tasks"] if is_own(t["coroutine"], more)], [r for r in rows if is_own(r[0], more)]
    if "eager_task_factory" in source:  # of what ended where it was made nothing is told
        told, rows = [t for t in told if t["resumptions"]], [row for row in rows if row[1]]
    tell_counts(rows, told)
    problems = compare(rows, told) + ([] if len(rows) > 30 else [f"only {len(rows)} tasks"])
    for t in told:
        if t["running_ns"] + t["waiting_ns"] != t["end_ns"] - t["start_ns"]:
            problems.append(f"does not add up: {t}")
    for group in summary["task_groups"]:
        same = [t for t in summary["tasks"] if (t["coroutine"], t["file"]) == (group["coroutine"], group["file"])]
        for key in ("running_ns", "waiting_ns", "resumptions"):
            if sum(t[key] for t in same) != group[key] or len(same) != group["tasks"]:
                problems.append(f"{group['coroutine']}: {group}")
    return problems[:20]


# The handler's task has a coroutine that is left out: the decorator's, or any other. The program notes its task's beginning and end.
DECORATED_REQUEST = REQUEST.replace("""async def handler(lock):
    note("all before")
    with ocular.request("GET /"):
""", """@ocular.request("GET /")
async def handler(lock):
    if True:
""").replace("""    note("all after")
""", "").replace("""    await asyncio.create_task(handler(lock), name="handler")
""", """    note("all before")
    await asyncio.create_task(handler(lock), name="handler")
    note("all after")
""").replace("async def main", "@ocular.span('main')\nasync def main").replace("async def holds", "@ocular.span('holds')\nasync def holds")


def planted_own(notes):
    """Where only the program's own code is seen: it awaits what is left out."""
    return [(kind, "sleeps" if what == "sleep" else what, *rest) for kind, what, *rest in planted(notes)]


def work_of(piece):
    """Its kind, and whose it is: what a thread waited for is part of what it worked."""
    return ("running", piece["awaited_by"] or piece["what"]) if piece["kind"] == "blocked" else (piece["kind"], piece["what"])


def compare_groups(summary):
    """All requests have paths here: those of a name add up to its row."""
    problems = []
    for group in summary["request_groups"]:
        ns, waits = collections.Counter(), collections.Counter()
        for p in (p for r in summary["requests"] if r["name"] == group["name"] for p in r["path"]):
            ns[p["kind"]] += p["ns"]
            waits[p["what"]] += p["ns"] * (p["kind"] in ("awaiting", "blocked"))
        told = {kind: group[kind + "_ns"] for kind in ("running", "ready", "awaiting", "blocked", "unknown") if group[kind + "_ns"]}
        if told != +ns or +waits != {w["where"]: w["ns"] for w in group["waits"]} or group["wall_ns"] != sum(ns.values()):
            problems.append(f"{group}: {ns}, {waits}")
    return problems


def test_request(python, source, more, rows_of, folder):
    """Each part of a request has at least the time that it must have had by the program's notes, and no more than all had; in order."""
    notes, summary = recorded(python, folder, source, **more)
    requests = summary["requests"]
    if [r["name"] for r in requests] != ["GET /", "POST /"]:
        return [str(requests)]
    path, wall = requests[0]["path"], requests[0]["end_ns"] - requests[0]["start_ns"]
    problems = compare_groups(summary) + ([] if sum(p["ns"] for p in path) == wall else ["the pieces do not add up"])
    if not DIFFERS[0] * (notes["all ends"] - notes["all begins"]) <= wall <= DIFFERS[1] * (notes["all after"] - notes["all before"]):
        problems.append(f"{wall} ns: {notes}")
    at, places = 0, collections.defaultdict(list)
    for p in path:
        places[(*work_of(p), p["task"])].append((at, p["ns"]))
        at += p["ns"]
    last = 0
    for *key, least in rows_of(notes):
        pieces = places[tuple(key)]
        if sum(ns for _, ns in pieces) < DIFFERS[0] * least:
            problems.append(f"{key}: {pieces}, at least {least} ns")
        if least > 0 and key[1] not in ("handler", "answer"):  # that is between all others
            problems += [f"{key} comes too early: {pieces}"] * (pieces[0][0] < last)
            last = pieces[0][0]
    return problems


# The request begins before its task is known. Its job is a C function, and ends when the task is suspended.
EAGER_REQUEST = """
import asyncio, json, sys, threading
import ocular
async def handler():
    with ocular.request("GET /"):
        await asyncio.sleep(.03)
        lock = threading.Lock()
        lock.acquire()
        asyncio.get_running_loop().call_soon(lock.release)
        await asyncio.to_thread(lock.acquire)
async def main():
    await asyncio.Task(handler(), loop=asyncio.get_running_loop(), eager_start=True, name="eager")
asyncio.run(main())
json.dump([], open(sys.argv[2], "w"))
"""


def test_eager_request(python, folder):
    """Nothing of it is unknown, from its beginning on; what does the job is named, not what is called when that is done."""
    _, summary = recorded(python, folder, EAGER_REQUEST)
    path = summary["requests"][0]["path"]
    problems = [f"{p}" for p in path if p["kind"] == "unknown"]
    at = next((i for i, p in enumerate(path) if (p["kind"], p["what"], p["awaited_by"], p["task"]) == ("awaiting", "sleep", "handler", "eager")), 0)
    due = sum(p["ns"] for p in path[:at + 1])
    if due < 29e6 or path[0]["task"] != "Task-1" or not any((p["kind"], p["what"]) == ("running", "_WorkItem.run") for p in path):
        problems.append(f"it can go on after {due}: {path}")
    task, = (t for t in summary["tasks"] if t["name"] == "eager")
    if task["created_by"] != "Task-1" or task["older"] or task["resumptions"] != 2:
        problems.append(f"{task}")
    return problems


def test_named(python, folder):
    """Pieces have the names of the program's own coroutines: the outermost one where it runs, the innermost one where it waits. A job has that
    of the program's own outermost function, else of the one that was handed over."""
    os.mkdir(os.path.join(folder, "site-packages"))
    with open(os.path.join(folder, "site-packages", "library.py"), "w", encoding="utf-8") as file:
        file.write(LIBRARY)
    _, summary = recorded(python, folder, NAMED)
    path = summary["requests"][0]["path"]
    jobs = [p["what"] for p in path if p["kind"] == "running" and p["what"] in ("outer", "inner", "guards", "<lambda>", "calls")]
    jobs = [name for name, _ in itertools.groupby(jobs)]  # each may have waited meanwhile
    found = {(p["task"], p["kind"], p["what"], p["awaited_by"]) for p in path if p["task"] and p["kind"] != "blocked"}
    waits = [(p["task"], p["what"], p["awaited_by"]) for p in path if p["kind"] == "awaiting"]
    main = "Task-1"
    wanted = {(main, "running", "handler", None), (main, "ready", "handler", None), (main, "awaiting", "sleep", "handler"),
              (main, "awaiting", "sleep", "helper"), ("other", "running", "other", None), ("other", "ready", "other", None),
              ("other", "awaiting", "sleep", "other"), ("other", "awaiting", "sleep", "helper"), ("nobody's", "running", "waits", None),
              ("nobody's", "ready", "waits", None), ("nobody's", "awaiting", "sleep", None)}
    order = [(main, "sleep", "handler"), (main, "sleep", "helper"), ("other", "sleep", "other"), ("other", "sleep", "helper"),
             ("nobody's", "sleep", None)]
    said = recording.report(os.path.join(folder, "rec"), "request=GET")
    problems = [f"not so: {row}" for row in sorted(found ^ wanted, key=str)] + ([] if waits == order else [f"{waits}"])
    problems += [f"jobs: {jobs}"] * (jobs != ["outer", "inner", "guards", "inner"])
    return problems + ([] if "awaiting  helper: sleep in other" in said and "running   handler in Task-1" in said else [said])


def slices_of(record, name):
    """Of the time line, those of that name: {(process, thread): [(begin, end)]}, ns."""
    path = os.path.join(record, "trace.json")
    recording.report(record, f"perfetto={path}")
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    named = {(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] in ("process_name", "thread_name")}
    processes = {pid: text for (what, pid, _), text in named.items() if what == "process_name"}
    threads = {(pid, tid): text for (what, pid, tid), text in named.items() if what == "thread_name"}
    found = collections.defaultdict(list)
    for e in events:
        if e["ph"] in ("B", "E") and e["name"] == name:
            found[processes.get(e["pid"]), threads.get((e["pid"], e["tid"]))].append(round(e["ts"] * 1000))
    return {where: list(zip(times[::2], times[1::2])) for where, times in found.items()}


SHOWN = """
import asyncio, json, os, sys
import ocular
def work():
    pass
async def handler(i):
    with ocular.request("GET /%d" % i):
        for n in range(i):
            await asyncio.sleep(0)
        if i == 4:
            os._exit(0)
async def main():
    await asyncio.gather(*(asyncio.create_task(handler(i), name="task %d" % i) for i in range(4)))
    with ocular.request("in main"):
        work()
    await asyncio.create_task(handler(4), name="task 4")
open(sys.argv[2], "w").write("[]")
with ocular.request("of no task"):
    work()
asyncio.run(main())
"""


def test_shown(python, source, folder):
    """Below its task's row a request is as long as the summary says; in the thread it has a slice for each time its coroutine ran."""
    _, summary = recorded(python, folder, source)
    record, problems = os.path.join(folder, "rec"), []
    wall = {r["name"]: r["end_ns"] - r["start_ns"] for r in summary["requests"]}
    for name, task, times in (*((f"GET /{i}", f"task {i}", i + 1) for i in range(5)), ("in main", "Task-1", 1), ("of no task", None, 1)):
        rows = slices_of(record, name)
        whole = [row for (process, thread), row in rows.items() if process and process.startswith("tasks of") and thread == f"spans of {task}"]
        parts = [row for (process, _), row in rows.items() if not (process or "").startswith("tasks of")]
        if len(parts) != 1 or len(parts[0]) != times or len(rows) != 1 + bool(task):
            problems.append(f"{name}: {rows}")
        elif task and (len(whole) != 1 or len(whole[0]) != 1 or not whole[0][0][0] <= parts[0][0][0] <= parts[0][-1][1] <= whole[0][0][1] + 1):
            problems.append(f"{name}: {rows}")
        elif task and name in wall and whole[0][0][1] - whole[0][0][0] != wall[name]:
            problems.append(f"{name}: {wall[name]} ns, {rows}")
    if sorted(wall) != ["GET /0", "GET /1", "GET /2", "GET /3", "in main", "of no task"] or summary["spans"]:
        problems.append(f"{wall}, {summary['spans']}")
    path = os.path.join(folder, "collapsed.txt")
    recording.report(record, f"collapsed={path}")
    with open(path, encoding="utf-8") as file:
        frames = [line.rpartition(" ")[0].split(";") for line in file]
    if not any(a.startswith("main ") and b == "in main" and c.startswith("work ") for f in frames for a, b, c in zip(f, f[1:], f[2:])):
        problems.append(f"not in a stack: {frames}")
    return problems + ([] if slices_of(record, "GET /4") and is_marked(record) else ["no mark of an end that is missing"])


def is_marked(record):
    with open(os.path.join(record, "trace.json"), encoding="utf-8") as file:
        return [e["name"] for e in json.load(file) if e["ph"] == "i" and e.get("cat") == "loss"] == ["NO END"]


# One is longer than another because it is around it, however busy the machine is.
RARE = """
import asyncio, json, sys
import ocular
async def often(gate):
    with ocular.request("often"):
        await gate.wait()
async def main():
    gate = asyncio.Event()
    tasks = [asyncio.create_task(often(gate)) for i in range(150)]
    await asyncio.sleep(0)
    with ocular.request("rare"):
        with ocular.request("rare"):
            await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*tasks)
asyncio.run(main())
json.dump([], open(sys.argv[2], "w"))
"""


def test_any(python, folder):
    """Of any request the path can be asked for, by number and by name; not only of the 100 slowest."""
    _, summary = recorded(python, folder, RARE)
    problems = [f"{r}" for r in summary["requests"] if r["name"] != "often"]
    for wanted, titles in (("rare", ["request 151: rare"]), ("152", ["request 152: rare"]), ("7", ["request 7: often"]),
                           ("slowest", [f"request {summary['requests'][0]['number']}: often"]), ("never", [])):
        said = recording.report(os.path.join(folder, "rec"), f"request={wanted}")
        found = re.findall(r"(?m)^[\d.]+ \ws, (request \d+: \w+)$", said)
        if found != titles or ("No request never has ended, of 152 that began." in said) != (not titles):
            problems.append(f"{wanted}: {said}")
    return problems


# The same with uvloop, whose create_task() makes the handler's task: the request is another one's, which waits for it, as a middleware does.
BEHIND = REQUEST.replace("""async def handler(lock):
    note("all before")
    with ocular.request("GET /"):
        note("all begins")
""", """async def handler(lock):
    if True:
""").replace("""        note("all ends")
    note("all after")
""", "").replace("async def main():\n", """async def middleware(lock):
    note("all before")
    with ocular.request("GET /"):
        note("all begins")
        answered = asyncio.Event()
        task = asyncio.get_running_loop().create_task(answer(lock, answered), name="handler")
        await answered.wait()
        await task
        note("all ends")
    note("all after")

async def answer(lock, answered):
    await handler(lock)
    answered.set()

async def main():
""").replace('create_task(handler(lock), name="handler")', 'create_task(middleware(lock), name="middleware")').replace(
    "asyncio.run(main())", "import uvloop\nuvloop.run(main())")


def planted_behind(notes):
    """The outermost coroutine has the handler's name."""
    return [(kind, "answer" if what == "handler" else what, *rest) for kind, what, *rest in planted_on_uvloop(notes)]


# Whatever lets a request go on computes first. By all that asyncio has, and by what a program does itself.
WAYS = """
import asyncio, contextvars, json, sys, threading, time
import ocular
took, kept = {}, []
def burn(name):
    since, until = time.perf_counter_ns(), time.thread_time() + .003
    while time.thread_time() < until:
        pass
    took[name] = time.perf_counter_ns() - since
async def works(name, then=lambda: None):
    await asyncio.sleep(0)
    burn(name)
    then()
def task(name, *then):
    kept.append(asyncio.create_task(works(name, *then), name=name))
    return kept[-1]
async def notifies(name, condition):
    async with condition:
        burn(name)
        condition.notify()
def called(future):
    burn("called")
    future.set_result(None)
def called_later(future):
    burn("called_later")
    future.set_result(None)
def called_in_context(future):
    burn("called_in_context")
    future.set_result(None)
def added(future):
    burn("added")
    kept[-1].set_result(None)
def in_thread(loop, future, waits):
    waits.wait()
    burn("in_thread")
    loop.call_soon_threadsafe(future.set_result, None)
async def tasks():
    await asyncio.gather(task("gather"))
    await asyncio.wait([task("wait")])
    async with asyncio.TaskGroup() as group:
        group.create_task(works("group"), name="group")
    async with asyncio.timeout(9):
        await task("timeout")
    await asyncio.wait_for(task("wait_for"), 9)
    await asyncio.shield(task("shield"))
    for first in asyncio.as_completed([task("as_completed")]):
        await first
    await asyncio.get_running_loop().create_task(works("loop's"), name="loop's")
    await asyncio.create_task(works("own context"), name="own context", context=contextvars.copy_context())
    shared = contextvars.copy_context()
    await asyncio.gather(asyncio.create_task(asyncio.sleep(0), context=shared),
                         asyncio.create_task(works("shared context"), name="shared context", context=shared))
async def locks():
    event, lock, queue, semaphore, condition, barrier = (asyncio.Event(), asyncio.Lock(), asyncio.Queue(), asyncio.Semaphore(0),
                                                         asyncio.Condition(), asyncio.Barrier(2))
    task("event", event.set)
    await event.wait()
    await lock.acquire()
    task("lock", lock.release)
    await lock.acquire()
    task("queue", lambda: queue.put_nowait(1))
    await queue.get()
    task("semaphore", semaphore.release)
    await semaphore.acquire()
    async with condition:
        kept.append(asyncio.create_task(notifies("condition", condition), name="condition"))
        await condition.wait()
    kept.append(asyncio.create_task(arrives("barrier", barrier), name="barrier"))
    await barrier.wait()
async def arrives(name, barrier):
    await asyncio.sleep(0)
    burn(name)
    await barrier.wait()
async def futures():
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    task("future", lambda: future.set_result(None))
    await future
    failed = loop.create_future()
    task("fails", lambda: failed.set_exception(KeyError()))
    await asyncio.wait([failed])
    failed.exception()
    waits = threading.Event()
    for call in (lambda f: loop.call_soon(called, f), lambda f: loop.call_later(.002, called_later, f),
                 lambda f: loop.call_soon(called_in_context, f, context=contextvars.copy_context()),
                 lambda f: threading.Thread(target=in_thread, args=(loop, f, waits)).start() or loop.call_soon(waits.set)):
        f = loop.create_future()
        call(f)
        await f
    done = loop.create_future()
    done.add_done_callback(added)
    task("callback", lambda: done.set_result(None))
    kept.append(loop.create_future())
    await kept[-1]
async def handler():
    with ocular.request("GET /"):
        await tasks()
        await locks()
        await futures()
asyncio.run(handler())
json.dump(took, open(sys.argv[2], "w"))
"""


def test_ways(python, source, folder):
    """However the request was let go on: what did it has its time."""
    took, summary = recorded(python, folder, source)
    request, = summary["requests"]
    found = collections.Counter()
    for p in request["path"]:
        kind, what = work_of(p)
        found[p["task"] or what] += p["ns"] * (kind == "running")
    problems = [f"{name}: {found[name]} ns, at least {ns}" for name, ns in took.items() if found[name] < DIFFERS[0] * ns]
    if sum(p["ns"] for p in request["path"]) != request["end_ns"] - request["start_ns"] or len(took) != 24:
        problems.append(f"{len(took)} ways; {request}")
    return problems


# A request without an event loop: in each part its thread waits for something else. What the parts took by the program's own clock, and,
# of waits that another thread ends, when that was.
BLOCKED = """
import concurrent.futures, json, os, sys, threading, time
import ocular
now, notes = time.perf_counter_ns, []
def holder(lock, held, note):
    with lock:
        held.set()
        time.sleep(.03)
        note["lock ended"] = now()
def writer(fd, note):
    time.sleep(.02)
    note["read ended"] = now()
    os.write(fd, b"x")
def job(note):
    time.sleep(.025)
    note["job ended"] = now()
def part(name, note, function, *args):
    note[name + " begins"] = now()
    function(*args)
    note[name + " ends"] = now()
def locked(lock):
    with lock: pass
def handler(pool, ends, note):
    lock, held = threading.Lock(), threading.Event()
    with ocular.request("GET /"):
        note["all begins"] = now()
        pool.submit(holder, lock, held, note)
        held.wait()
        part("lock", note, locked, lock)
        part("sleep", note, time.sleep, .02)
        pool.submit(writer, ends[1], note)
        part("read", note, os.read, ends[0], 1)
        future = pool.submit(job, note)
        part("job", note, future.result)
        note["all ends"] = now()
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    ends = os.pipe()
    for i in range(8):
        notes.append({})
        handler(pool, ends, notes[-1])
json.dump(notes, open(sys.argv[2], "w"))
"""
# wait, what, awaited_by of each part: of the last one it is the job that waits
PARTS = {"lock": ("lock", "locked", None), "sleep": ("sleep", "part", None), "read": ("read", "part", None), "job": ("sleep", "job", None)}


def blocked_by_notes(note, name):
    """The least that a part's thread can have waited, if it was not kept from beginning to: a sleep is as long as it was said to be."""
    begins = note[name + " begins"]
    return 20_000_000 if name == "sleep" else note[name + " ended"] - begins


def test_blocked(python, folder):
    """What the thread of a request waits for is told, by where; never more than the part took, and what it must have been in at least one
    of the eight: on a busy machine the other thread may be ready before the wait has begun."""
    notes, summary = recorded(python, folder, BLOCKED)
    requests = sorted(summary["requests"], key=lambda r: r["number"])
    problems, shares = compare_groups(summary), collections.defaultdict(list)
    for note, request in zip(notes, requests, strict=True):
        told = collections.Counter()
        for p in request["path"]:
            told[p["kind"] == "blocked" and (p["wait"], p["what"], p["awaited_by"])] += p["ns"]
        if sum(told.values()) != request["end_ns"] - request["start_ns"]:
            problems.append(f"the pieces of {request['number']} do not add up")
        for name, key in PARTS.items():
            if told[key] > (note[name + " ends"] - note[name + " begins"]) * DIFFERS[1]:
                problems.append(f"{name} took {note}: {told}")
            least = blocked_by_notes(note, name)
            shares[name] += [told[key] / least] * (least > 5_000_000)
    return problems + [f"{name}: {shares[name]}" for name in PARTS if max(shares[name], default=0) < 0.9]


# A request whose thread waits for jobs: each of them sleeps. What a part took is by the program's own clock.
FOLLOWED = """
import asyncio, concurrent.futures, json, sys, threading, time
import ocular
now, notes = time.perf_counter_ns, []
def job_of_result(): time.sleep(.02)
def job_of_exception():
    time.sleep(.02)
    raise KeyError
def job_of_map(n): time.sleep(.01)
def job_of_join(): time.sleep(.02)
def job_inside(): time.sleep(.02)
def job_outside(pool): pool.submit(job_inside).result()
def job_first(): time.sleep(.02)
def job_behind(): pass
def job_late(): time.sleep(.05)
def setter(future):
    time.sleep(.02)
    future.set_result(None)
def canceller(future):
    time.sleep(.02)
    future.cancel()
def job_of_event(event):
    time.sleep(.02)
    event.set()
    event.set()
def job_of_wait(): time.sleep(.02)
def job_completed(n): time.sleep(.01)
async def coroutine(): await asyncio.sleep(.02)
def joined():
    thread = threading.Thread(target=job_of_join)
    thread.start()
    thread.join()
def behind(pool):
    pool.submit(job_first)
    pool.submit(job_behind).result()
def own(function, wait):
    future = concurrent.futures.Future()
    thread = threading.Thread(target=function, args=(future,))
    thread.start()
    wait(future)
    thread.join()
def event(pool):
    event = threading.Event()
    pool.submit(job_of_event, event)
    event.wait()
def completed(pool):
    for future in concurrent.futures.as_completed([pool.submit(job_completed, n) for n in range(2)]):
        future.result()
def is_cancelled(future):
    try:
        future.result()
    except concurrent.futures.CancelledError:
        pass
def times_out(future):
    try:
        future.result(.02)
    except concurrent.futures.TimeoutError:
        pass
def part(name, note, function, *args):
    begins = now()
    function(*args)
    note[name] = now() - begins
def handler(pool, other, loop, note):
    with ocular.request("GET /"):
        part("result", note, pool.submit(job_of_result).result)
        part("exception", note, pool.submit(job_of_exception).exception)
        part("map", note, list, pool.map(job_of_map, range(2)))
        part("join", note, joined)
        part("nested", note, other.submit(job_outside, pool).result)
        part("behind", note, behind, pool)
        part("own future", note, own, setter, concurrent.futures.Future.result)
        part("event", note, event, pool)
        part("wait", note, concurrent.futures.wait, [pool.submit(job_of_wait)])
        part("completed", note, completed, pool)
        part("cancelled", note, own, canceller, is_cancelled)
        part("loop", note, lambda: asyncio.run_coroutine_threadsafe(coroutine(), loop).result())
        future = pool.submit(job_late)
        part("times out", note, times_out, future)
        part("late", note, future.result)
loop = asyncio.new_event_loop()
thread = threading.Thread(target=loop.run_forever)
thread.start()
with concurrent.futures.ThreadPoolExecutor(1) as pool, concurrent.futures.ThreadPoolExecutor(1) as other:
    for i in range(8):
        notes.append({})
        handler(pool, other, loop, notes[-1])
loop.call_soon_threadsafe(loop.stop)
thread.join()
json.dump(notes, open(sys.argv[2], "w"))
"""
# kind, wait, what, awaited_by of each part, and what it is at least, ms: it sleeps for so long.
FOLLOWED_PARTS = {"result": ("blocked", "sleep", "job_of_result", None, 20), "exception": ("blocked", "sleep", "job_of_exception", None, 20),
                  "map": ("blocked", "sleep", "job_of_map", None, 10), "join": ("blocked", "sleep", "job_of_join", None, 20),
                  "nested": ("blocked", "sleep", "job_inside", None, 20), "behind": ("ready", None, "job_behind", None, 20),
                  "own future": ("blocked", "sleep", "setter", None, 20), "loop": ("awaiting", None, "sleep", "coroutine", 20),
                  "event": ("blocked", "sleep", "job_of_event", None, 20), "wait": ("blocked", "sleep", "job_of_wait", None, 20),
                  "completed": ("blocked", "sleep", "job_completed", None, 10),
                  "cancelled": ("blocked", "lock", "Condition.wait", "is_cancelled", 20),
                  "times out": ("blocked", "lock", "Condition.wait", "times_out", 20), "late": ("blocked", "sleep", "job_late", None, 20)}
# The standard library's own functions are left out.
FOLLOWED_OWN = {name: (kind, wait, by or what, None, ms) for name, (kind, wait, what, by, ms) in FOLLOWED_PARTS.items()}


def test_followed(python, parts, more, folder):
    """What a request's thread waits for is what the job does for which it waits: never for longer than the part took, and all of it in at
    least one of the eight. What it does not get, as a wait that times out, or that nobody is known to have ended, stays its own."""
    notes, summary = recorded(python, folder, FOLLOWED, **more)
    requests = sorted(summary["requests"], key=lambda r: r["number"])
    problems, most = [], collections.Counter()
    for note, request in zip(notes, requests, strict=True):
        told = collections.Counter()
        for p in request["path"]:
            told[p["kind"], p["wait"], p["what"], p["awaited_by"]] += p["ns"]
        if sum(told.values()) != request["end_ns"] - request["start_ns"]:
            problems.append(f"the pieces of {request['number']} do not add up")
        for name, (*key, _) in parts.items():
            most[name] = max(most[name], told[tuple(key)])
            if told[tuple(key)] > note[name] * DIFFERS[1]:
                problems.append(f"{name} took {note}: {told}")
    return problems + [f"{name}: {most[name]} ns" for name, (*_, ms) in parts.items() if most[name] < 900_000 * ms]


# Programs that nobody here wrote: Flask's development server with more clients than its pool has threads, and FastAPI with a handler that is
# no coroutine. How long each job slept, and at most how long each request took, is by the program's own clock.
FLASK = """
import concurrent.futures, json, sys, threading, time, urllib.request
import flask, ocular
from werkzeug.serving import make_server
now, slept, took = time.perf_counter_ns, {}, {}
app, pool = flask.Flask("shop"), concurrent.futures.ThreadPoolExecutor(3)
def price(n):
    begins = now()
    time.sleep(.01)
    slept[n] = now() - begins
    return n
@app.get("/<int:n>")
def view(n):
    begins = now()
    with ocular.request("GET /%d" % n):
        if n % 2:
            text = str(pool.submit(price, n).result())
        else:
            text = "".join(map(str, pool.map(price, [n])))
    took[n] = now() - begins
    return text
def client(numbers):
    for n in numbers:
        with urllib.request.urlopen("http://127.0.0.1:%d/%d" % (server.port, n)) as answer:
            assert answer.read() == b"%d" % n
server = make_server("127.0.0.1", 0, app, threaded=True)
serves = threading.Thread(target=server.serve_forever)
serves.start()
clients = [threading.Thread(target=client, args=(range(i, 40, 8),)) for i in range(8)]
for c in clients: c.start()
for c in clients: c.join()
server.shutdown()
serves.join()
json.dump([slept, took], open(sys.argv[2], "w"))
"""
FASTAPI = """
import asyncio, json, sys, time
import fastapi, ocular
now, slept, took = time.perf_counter_ns, {}, {}
app = fastapi.FastAPI()
@app.get("/{n}")
def view(n: int):
    price(n)
def price(n):
    begins = now()
    time.sleep(.01)
    slept[n] = now() - begins
async def receive(): return {"type": "http.request", "body": b"", "more_body": False}
async def send(message): assert message.get("status", 200) == 200
async def request(n):
    begins = now()
    with ocular.request("GET /%d" % n):
        await app({"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http", "root_path": "",
                   "path": "/%d" % n, "raw_path": b"/%d" % n, "query_string": b"", "headers": [], "client": ("127.0.0.1", 1),
                   "server": ("127.0.0.1", 80)}, receive, send)
    took[n] = now() - begins
async def main():
    for n in range(10):
        await request(n)
    await asyncio.gather(*(request(n) for n in range(10, 40)))
asyncio.run(main())
json.dump([slept, took], open(sys.argv[2], "w"))
"""


def test_service(python, source, job, names, others, folder):
    """A request has of its job what that slept, or less, where it began to wait later; in at least one of forty nearly all. It has all its
    time; no job that runs the program's own functions is called by a library's, as those are that start a thread or tell of its end."""
    (slept, took), summary = recorded(python, folder, source)
    problems, most, jobs = [], 0, set()
    if len(summary["requests"]) != 40:
        return [f"{len(summary['requests'])} requests"]
    for r in summary["requests"]:
        n = r["name"].removeprefix("GET /")
        found = sum(p["ns"] for p in r["path"] if (p["wait"], p["what"], p["awaited_by"]) == ("sleep", "price", job))
        jobs |= {p["what"] for p in r["path"] if p["kind"] == "running" and not p["task"] and p["what"]}
        most = max(most, found / slept[n])
        wall = r["end_ns"] - r["start_ns"]
        if found > slept[n] * DIFFERS[1] or wall > took[n] * DIFFERS[1] or sum(p["ns"] for p in r["path"]) != wall:
            problems.append(f"{r['name']}: {found}, by its own clock {slept[n]} of {took[n]}: {r['path']}")
    return problems + [f"the job has {most}"] * (most < .9) + [f"{jobs}"] * (not names <= jobs <= names | others)


# Jobs of anyio's threads, one after another in each: of each, its name, and how long it took.
WORKERS = """
import anyio, asyncio, json, sys, time
import ocular
took = {}
def job_a(n): work(n, .005)
def job_b(n): work(n, .01)
def work(n, seconds):
    since = time.perf_counter_ns()
    time.sleep(seconds)
    took[n] = time.perf_counter_ns() - since
async def handler(n):
    with ocular.request("GET /%d" % n):
        await anyio.to_thread.run_sync((job_a, job_b)[n % 2], n)
async def main():
    for n in range(6):
        await handler(n)
    async with anyio.create_task_group() as group:
        for n in range(6, 12):
            group.start_soon(handler, n)
asyncio.run(main())
json.dump(took, open(sys.argv[2], "w"))
"""


def test_workers(python, source, folder):
    """Each request's job is its own, in a thread that does many."""
    took, summary = recorded(python, folder, source)
    problems = [] if len(summary["requests"]) == len(took) == 12 else [f"{len(summary['requests'])} requests, {len(took)} jobs"]
    for r in summary["requests"]:
        n = r["name"].removeprefix("GET /")
        found = {what: sum(p["ns"] for p in r["path"] if work_of(p) == ("running", what)) for what in ("job_a", "job_b")}
        mine, other = ("job_b", "job_a") if int(n) % 2 else ("job_a", "job_b")
        if found[mine] < took[n] or found[other] or sum(p["ns"] for p in r["path"]) != r["end_ns"] - r["start_ns"]:
            problems.append(f"{r['name']}: {found}, by its own clock {took[n]}: {r['path']}")
    return problems


TRIO = """
import json, sys, trio
class Counts(trio.abc.Instrument):
    tasks = steps = 0
    def task_spawned(self, task):
        self.tasks += 1
    def after_task_step(self, task):
        self.steps += 1
async def leaf(n):
    for i in range(n):
        await trio.sleep(0)
async def main():
    async with trio.open_nursery() as nursery:
        for i in range(300):
            nursery.start_soon(leaf, i % 7)
counts = Counts()
trio.run(main, instruments=[counts])
json.dump([counts.tasks, counts.steps], open(sys.argv[2], "w"))
"""


def test_trio(python, folder):
    """As many tasks and steps as trio itself counts; all have ended, also in their first step."""
    (tasks, steps), summary = recorded(python, folder, TRIO)
    found = collections.Counter((t["coroutine"] or "").rsplit(".")[-1] for t in summary["tasks"])
    ran = len(summary["tasks"]) + sum(t["resumptions"] for t in summary["tasks"])
    good = (len(summary["tasks"]), ran) == (tasks, steps) and found == {"leaf": 300, "main": 1, "init": 1, "task": 1}
    unfinished = [t for t in summary["tasks"] if not t["ended"]]
    return [] if good and not unfinished else [f"{tasks} tasks, {steps} steps: {ran}, {found}, {len(unfinished)} unfinished"]


# What lets a request of trio's go on: the end of a task, a job in a thread, a task that the job asks for, a timer. Its task begins with it.
TRIO_WAYS = """
import json, sys, threading, time, ocular, trio
worked = []
def work():
    begun = time.perf_counter_ns()
    while time.perf_counter_ns() < begun + 4_000_000:
        pass
    worked.append(time.perf_counter_ns() - begun)
def job():
    work()
    trio.from_thread.run(back)
    work()
async def back():
    await trio.sleep(.004)
async def child():
    await trio.sleep(.004)
async def grouped():
    with ocular.request("grouped"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(child, name="child")
async def threaded():
    with ocular.request("threaded"):
        await trio.to_thread.run_sync(job)
async def timed():
    with ocular.request("timed"):
        await trio.sleep(.004)
async def main():
    for f in grouped, threaded, timed:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(f, name=f.__name__)
def in_thread():
    trio.run(main)
in_thread()
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
json.dump(worked, open(sys.argv[2], "w"))
"""

# Kind, what, task of the pieces that must be there, in that order; and all that may be `awaiting`.
TRIO_PATHS = {
    "grouped": [("awaiting", "child")],
    "threaded": [("running", "job"), ("awaiting", "threaded"), ("running", "job")],
    "timed": [("awaiting", "timed")],
}
# Where trio is left out, nothing tells what a task's end or a job lets go on.
OWN_TRIO_PATHS = {name: [("awaiting", name)] for name in TRIO_PATHS}


def without_starts(path):
    """Without what a thread that is left out does until it has started: what starts it waits for that, and is `blocked` at the end of it."""
    kept, waits = [], False
    for p in reversed(path):
        nameless = not (p["what"] or p["task"])
        kept += [] if waits and nameless else [p]
        waits = p["task"] and p["wait"] == "lock" or waits and nameless
    return kept[::-1]


def told_in_trio(request):
    """The pieces that are no step of an event loop's, nor a mere checkpoint, as TRIO_PATHS has them; those in a row once."""
    checkpoints = "CapacityLimiter.acquire_on_behalf_of", "Run.run"
    named = [(kind, what if what == "job" else p["task"]) for (kind, what), p in ((work_of(p), p) for p in without_starts(request["path"]))
             if (kind == "awaiting" and what not in checkpoints) or kind == "unknown" or what in ("job", "in_thread")
             or not (what or p["task"])]
    return [name for name, _ in itertools.groupby(name for name in named if name != ("ready", "job"))]


def test_trio_ways(python, folder):
    worked, summary = recorded(python, folder, TRIO_WAYS)
    problems = compare_paths(summary, TRIO_PATHS)
    ran = sum(p["ns"] for r in summary["requests"] for p in r["path"] if work_of(p) == ("running", "job"))
    by = collections.Counter(t["created_by"] for t in summary["tasks"] if t["name"] == "child")
    lacking = [t for t in summary["tasks"] if not t["ended"] or not t["coroutine"]]
    return problems + ([] if ran >= DIFFERS[0] * sum(worked) and by == {"grouped": 2} and not lacking
                       else [f"ran {ran} of {sum(worked)}, {by}, {lacking}"])


def test_own_trio(python, folder):
    return compare_paths(recorded(python, folder, TRIO_WAYS, OCULAR_INCLUDE="__main__")[1], OWN_TRIO_PATHS)


def compare_paths(summary, paths):
    requests = sorted(summary["requests"], key=lambda r: r["number"])
    problems = [] if [r["name"] for r in requests] == list(paths) * 2 else [str([r["name"] for r in requests])]
    for r in requests:
        if told_in_trio(r) != paths.get(r["name"]) or sum(p["ns"] for p in r["path"]) != r["end_ns"] - r["start_ns"]:
            problems.append(f"{r['name']}: {told_in_trio(r)} of {r['path']}")
    return problems


# Tasks that are cancelled while what they await catches that and goes on, or ends; their own coroutine may be left out.
CATCHES = """
import asyncio, json, sys
{decorator}
async def inner(n, ends):
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        if ends:
            return
    for i in range(n):
        await asyncio.sleep(0)
@decorate
async def outer(n, ends):
    await inner(n, ends)
    return n
async def main():
    tasks = [asyncio.create_task(outer(i % 4, i < 4), name=f"{{i}}") for i in range(8)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    assert await asyncio.gather(*tasks) == [0, 1, 2, 3] * 2
asyncio.run(main())
json.dump([], open(sys.argv[2], "w"))
"""


def test_catches(python, source, more, folder):
    """Each of these tasks ends, and its own steps are the first one, that of the cancellation, and those of the sleeps after it."""
    _, summary = recorded(python, folder, source, **more)
    found = {t["name"]: (t["ended"], t["resumptions"]) for t in summary["tasks"] if t["name"].isdigit()}
    wanted = {f"{i}": (True, 1 + (0 if i < 4 else i % 4)) for i in range(8)}
    return [] if found == wanted else [f"{found}, not {wanted}"]


LATE = """
import asyncio, json, sys, time
import ocular
async def handler():
    with ocular.request("GET /"):
        await asyncio.sleep(.01)
async def main():
    task = asyncio.create_task(handler(), name="handler")
    await asyncio.sleep(0)
    until = time.perf_counter() + .05
    while time.perf_counter() < until:
        pass
    await task
asyncio.run(main())
json.dump([], open(sys.argv[2], "w"))
"""


def test_late(python, source, folder):
    """A timer is due while the loop is busy: from there on the request could go on. However busy this machine is."""
    _, summary = recorded(python, folder, source)
    path = summary["requests"][0]["path"]
    found = {kind: sum(p["ns"] for p in path if p["kind"] == kind) for kind in ("awaiting", "ready")}
    task, = (t for t in summary["tasks"] if t["name"] == "handler")
    good = 0 < found["awaiting"] < 25e6 < found["ready"] and task["waiting_ns"] > 49.8e6
    return [] if good else [f"{found}, {task}, {path}"]


MANY = """
import asyncio, json, sys
async def child(i):
    await asyncio.sleep(0)
async def main():
    for i in range(12):
        await asyncio.gather(*(child(n) for n in range(1000)))
asyncio.run(main())
json.dump([], open(sys.argv[2], "w"))
"""


def test_kept(python, folder):
    """The summary of many tasks: 10,000 have rows, all are in their coroutine's."""
    _, summary = recorded(python, folder, MANY)
    groups = {g["coroutine"]: g for g in summary["task_groups"]}
    child = groups["child"]
    if (len(summary["tasks"]), child["tasks"], child["resumptions"], child["unfinished"]) != (10000, 12000, 12000, 0):
        return [f"{len(summary['tasks'])} rows, {child}"]
    rest = sum(g["count"] for g in groups.values())
    return [] if rest == sum(g["tasks"] for g in groups.values()) - 10000 else [f"{rest} without rows"]


def test_size(python, folder):
    """Rows of 12,000 tasks, names, states and arrows take less of a time line than all of its calls and returns do."""
    sizes = []
    for name, more in (("with", {}), ("without", {"OCULAR_ALSO": "no_identity"})):
        inside = os.path.join(folder, name)
        os.mkdir(inside)
        _, summary = recorded(python, inside, MANY, **more)
        path = os.path.join(inside, "trace.pftrace")
        recording.report(os.path.join(inside, "rec"), f"perfetto={path}")
        sizes.append(os.path.getsize(path))
        if bool(summary["task_groups"]) == bool(more):
            return [f"{name}: {summary['task_groups']}"]
    print(f"# time line of 12,000 tasks: {sizes[0]} bytes, without identity {sizes[1]}")
    return [] if sizes[1] < sizes[0] < 2 * sizes[1] else [f"{sizes} bytes"]


OLDER = """
import asyncio, sys, json
sys.path.insert(0, {path!r})
import ocular
async def worker():
    for i in range(8):
        await asyncio.sleep(0)
async def starter():
    await asyncio.sleep(0)
    ocular.start_tracing(output={record!r}, mode="calls", perfetto=None, console=False)
async def main():
    await asyncio.gather(starter(), *(asyncio.create_task(worker(), name="older %d" % i) for i in range(3)))
    await asyncio.create_task(worker(), name="new")
    ocular.stop_tracing()
asyncio.run(main())
"""


def test_older(python, folder):
    """Tasks that are older than the recording are told when they are woken; nothing is taken for them."""
    record = os.path.join(folder, "rec")
    source = OLDER.format(path=os.path.join(recording.BUILD, "python"), record=record)
    done = recording.run([python, "-c", source], env=recording.plain_environment())
    if done.returncode:
        return [done.stderr]
    summary = recording.summary(record)
    found = {t["name"]: (t["coroutine"], t["older"], t["ended"], t["created_by"]) for t in summary["tasks"]}
    new, main = found.pop("new", None), found.pop("Task-1", None)
    older = {name: row for name, row in found.items() if name.startswith("older")}
    groups = {g["coroutine"] for g in summary["task_groups"]}
    good = (new == ("worker", False, True, "Task-1") and main and main[1]
            and older == {f"older {i}": ("worker", True, True, None) for i in range(3)}
            and groups <= {"worker", "starter", "main", None})
    return [] if good else [f"{found}, new {new}, main {main}, {groups}"]


def test_unidentified(python, folder):
    """Where nothing tells which coroutine is resumed there are no tasks, and a request is as long as it was."""
    _, summary = recorded(python, folder, REQUEST, OCULAR_ALSO="no_identity")
    requests = summary["requests"]
    walls = [r["end_ns"] - r["start_ns"] for r in requests]
    sums = [sum(p["ns"] for p in r["path"]) for r in requests]
    return [] if not summary["tasks"] and len(walls) == 2 and walls == sums else [f"{summary['tasks']}, {requests}"]


TELLS = """
import asyncio, json, os, sys, types
from opentelemetry.sdk.trace import Span
async def handler(i):
    context = (None, (2 ** 127 + i, 2 ** 63 + i, False), (0, 0), (i, i, 0, 0, 0), ("no", "numbers"))[i]
    root = Span("GET /%d" % i, (None, types.SimpleNamespace(is_remote=True))[i % 2], context)
    inner = Span("inner", types.SimpleNamespace(is_remote=False))
    root.start()
    inner.start()
    await asyncio.sleep(.001)
    inner.end()
    root.end()
async def main():
    await asyncio.gather(*(handler(i) for i in range(5)))
asyncio.run(main())
json.dump([], open(sys.argv[2], "w"))
"""


def check_links(folder, wanted):
    """The profile's samples of what each handler did since its span began are linked to that: sleep(), and what follows."""
    file = os.path.join(folder, "otlp")
    recording.report(os.path.join(folder, "rec"), f"otlp={file}")
    found = otlp_profile.linked(file)
    wrong = [each for each in found.values() if each["calls"]["sleep"] != 1 or not each["wall"]["handler"] or each["calls"]["handler"]]
    return [f"{found}"] if found.keys() != set(wanted.values()) or wrong else []


def test_telemetry(python, folder):
    """Spans of OpenTelemetry that begin in this process are requests, with its numbers if it has any."""
    telemetry.make_package(folder)
    _, summary = recorded(python, folder, TELLS)
    found = sorted(r["name"] for r in summary["requests"])
    rows = slices_of(os.path.join(folder, "rec"), "GET /0")
    if found != [f"GET /{i}" for i in range(5)] or [thread for _, thread in rows] != ["spans of Task-2"]:
        return [str(found), str(rows)]
    numbers = {r["name"]: (r["trace_id"], r["span_id"]) for r in summary["requests"]}
    wanted = {"GET /1": (f"{2 ** 127 + 1:032x}", f"{2 ** 63 + 1:016x}"), "GET /3": (f"{3:032x}", f"{3:016x}")}
    if numbers != {name: wanted.get(name, (None, None)) for name in found}:
        return [str(numbers)]
    problems = check_links(folder, wanted)
    if problems:
        return problems
    asked = recording.report(os.path.join(folder, "rec"), f"request={wanted['GET /1'][0]}", "console=always")
    if f"GET /1\ntrace id {wanted['GET /1'][0]}\n" not in asked:
        return [asked]
    return [f"{r}" for r in summary["requests"] if r["end_ns"] - r["start_ns"] < 1e6
            or sum(p["ns"] for p in r["path"]) != r["end_ns"] - r["start_ns"]]


FLIGHT = """
import asyncio, json, sys, time
import ocular
notes = {}
def note(name):
    notes[name] = time.perf_counter_ns()
def job():
    note("begins")
    time.sleep(.04)
    note("ends")
async def handler(i):
    with ocular.request("GET /%d" % i):
        await asyncio.sleep(0)
        if i == 30:
            asyncio.get_running_loop().call_soon(note, "others")
            await asyncio.to_thread(job)
async def slow():
    await asyncio.sleep(.05)
async def main():
    for i in range(60):
        await handler(i)
    await asyncio.create_task(slow(), name="worker-7")
asyncio.run(main())
json.dump(notes, open(sys.argv[2], "w"))
"""


def test_snapshot(python, folder):
    """The slow request, and the slow task, make a snapshot each; all of the request is in it, in both threads."""
    trigger = "task GET * > 30ms\ntask worker-? > 40ms\ntask GET /4 > 10s\ntask nobody > 1ms"
    notes, summary = recorded(python, folder, FLIGHT, "--flight", "5s", OCULAR_TRIGGER=trigger)
    labels = [(s["trigger"], s["label"]) for s in summary["snapshots"]]
    slowest = summary["requests"][0]
    wall = slowest["end_ns"] - slowest["start_ns"]
    job = sum(p["ns"] for p in slowest["path"] if work_of(p) == ("running", "job"))
    least = notes["ends"] - max(notes["begins"], notes["others"])  # the job may begin while the main thread still starts its thread
    problems = [] if sum(p["ns"] for p in slowest["path"]) == wall else ["the pieces do not add up"]
    if labels != [("slow task", "GET /30"), ("slow task", "worker-7")] or slowest["name"] != "GET /30" or job < DIFFERS[0] * least:
        problems.append(f"{labels}, {notes}, {slowest}")
    if [m["pattern"] for m in summary.get("matched_nothing", ())] != ["nobody"]:
        problems.append(str(summary.get("matched_nothing")))
    return problems


ON_UVLOOP = """
import asyncio, functools, uvloop
asyncio.run = functools.partial(asyncio.run, loop_factory=uvloop.new_event_loop)
asyncio.Runner = functools.partial(asyncio.Runner, loop_factory=uvloop.new_event_loop)
"""


def planted_on_uvloop(notes):
    """Its timers know milliseconds only."""
    return [(kind, what, task, ns - 2_000_000 * (kind == "awaiting")) for kind, what, task, ns in planted(notes)]


def uvloop_cases(python, anyio):
    for name, source in PROGRAMS.items():
        if name == "eager":  # uvloop's create_task() hands on what CPython 3.12's and 3.13's factory does not take
            continue
        yield f"{name} on uvloop", test_tasks, python, ON_UVLOOP + source, 1, {}
    yield ("the tasks' own coroutines are left out on uvloop", test_tasks, python,
           ON_UVLOOP + decorated(ANOTHERS, CROWD), 4, {"OCULAR_EXCLUDE": "outside"})
    yield "uvloop, a request, part by part", test_request, python, ON_UVLOOP + REQUEST, {}, planted_on_uvloop
    yield "uvloop, a request whose handler is decorated", test_request, python, ON_UVLOOP + DECORATED_REQUEST, {}, planted_on_uvloop
    yield "uvloop, whatever lets a request go on", test_ways, python, ON_UVLOOP + WAYS
    for how, decorator, more in (("", "decorate = lambda f: f", {}), (", decorated", OURS, {}),
                                 (", left out", ANOTHERS, {"OCULAR_EXCLUDE": "outside"})):
        yield f"uvloop, what is cancelled goes on{how}", test_catches, python, ON_UVLOOP + CATCHES.format(decorator=decorator), more
    yield "uvloop, a timer is late", test_late, python, ON_UVLOOP + LATE
    yield "uvloop, requests are shown", test_shown, python, ON_UVLOOP + SHOWN
    yield "uvloop, threads of anyio", test_workers, anyio, ON_UVLOOP + WORKERS


def cases(python, _):
    version = recording.version(python)
    for name, source in PROGRAMS.items():
        for seed in (1, 2):
            yield f"{version} {name}, {seed}", test_tasks, python, source, seed, {}
    for seed in (4, 5):
        yield (f"{version} the tasks' own coroutines are left out, {seed}", test_tasks, python, decorated(ANOTHERS, CROWD), seed,
               {"OCULAR_EXCLUDE": "outside"})
    yield f"{version} crowd, only the program's own code", test_tasks, python, CROWD, 3, {"OCULAR_INCLUDE": "__main__"}
    yield f"{version} a request, part by part", test_request, python, REQUEST, {}, planted
    yield f"{version} a request, only own code", test_request, python, REQUEST, {"OCULAR_INCLUDE": "__main__"}, planted_own
    yield f"{version} a request whose handler is decorated", test_request, python, DECORATED_REQUEST, {}, planted
    yield (f"{version} a decorated request, only the program's own code", test_request, python, DECORATED_REQUEST,
           {"OCULAR_INCLUDE": "__main__"}, planted_own)
    yield f"{version} a request of an eager task", test_eager_request, python
    yield f"{version} requests are shown", test_shown, python, SHOWN
    yield f"{version} the program's own coroutines are named", test_named, python
    yield f"{version} any request can be asked for", test_any, python
    yield f"{version} what a request's thread waits for", test_blocked, python
    yield f"{version} what a request's thread waits for is followed", test_followed, python, FOLLOWED_PARTS, {}
    yield (f"{version} the same, only the program's own code", test_followed, python, FOLLOWED_OWN, {"OCULAR_INCLUDE": "__main__"})
    yield (f"{version} the same without futures' code", test_followed, python, FOLLOWED_PARTS, {"OCULAR_EXCLUDE": "concurrent.futures"})
    for name, package, *case in (("Flask with a pool", "flask", FLASK, None, {"view", "price"}, {"_worker"}),
                                ("FastAPI's threads", "fastapi", FASTAPI, "view", {"view"}, {"WorkerThread.run", "WorkerThread._report_result"})):
        fetched = recording.venv(python, package) if version in ("3.12", "3.13") else None  # newer ones may have to compile it
        yield f"{version} {name}", *((test_service, fetched, *case) if fetched else (recording.NO_VENV,))
    yield f"{version} a timer is late", test_late, python, LATE
    for how, decorator, more in (("", "decorate = lambda f: f", {}), (", decorated", OURS, {}),
                                 (", left out", ANOTHERS, {"OCULAR_EXCLUDE": "outside"})):
        yield f"{version} what is cancelled goes on{how}", test_catches, python, CATCHES.format(decorator=decorator), more
    yield f"{version} whatever lets a request go on", test_ways, python, WAYS
    fetched = recording.venv(python, "trio", "anyio")
    for name, test, *source in (("trio, as it counts itself", test_trio), ("trio, whatever lets a request go on", test_trio_ways),
                                ("trio, only the program's own code", test_own_trio), ("threads of anyio", test_workers, WORKERS)):
        yield f"{version} {name}", *((test, fetched, *source) if fetched else (recording.NO_VENV,))
    fetched = recording.venv(python, "uvloop")
    for name, source in (("uvloop", UVLOOP), ("uvloop, decorated", decorated(OURS, UVLOOP))):
        yield f"{version} {name}", *((test_uvloop, fetched, source) if fetched else (recording.NO_VENV,))
    anyio = recording.venv(python, "anyio", "uvloop")
    for name, *case in uvloop_cases(fetched, anyio):
        yield f"{version} {name}", *(case if fetched and anyio else (recording.NO_VENV,))
    yield (f"{version} uvloop, a request behind a middleware",
           *((test_request, fetched, BEHIND, {}, planted_behind) if fetched else (recording.NO_VENV,)))
    if version == "3.12":  # its methods are of another kind
        old = recording.venv(python, "uvloop==0.20.0")
        for name, *case in (("crowd on an old uvloop", test_tasks, old, ON_UVLOOP + CROWD, 1, {}),
                            ("an old uvloop, whatever lets a request go on", test_ways, old, ON_UVLOOP + WAYS)):
            yield f"{version} {name}", *(case if old else (recording.NO_VENV,))
    yield f"{version} tasks older than the recording", test_older, python
    yield f"{version} without identity", test_unidentified, python
    yield f"{version} requests of OpenTelemetry", test_telemetry, python
    yield f"{version} snapshots of slow ones", test_snapshot, python
    yield f"{version} more tasks than have rows", test_kept, python
    yield f"{version} the size of the time line of many tasks", test_size, python


if __name__ == "__main__":
    recording.run_cases(cases)
