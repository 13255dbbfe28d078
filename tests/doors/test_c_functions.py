#!/usr/bin/env python3
"""C functions by name: what programs called, how often and in what, against what they counted themselves.

    test_c_functions.py [--python PY]... [--only TEXT]

The witness of names and counts is the program's text and, in test_exports.py, cProfile. What is made with Cython and
pybind11 is built here, with the versions that pip finds.
"""

import glob
import json
import os
import subprocess

import recording
from tap import Plan

PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
BINDINGS = os.path.join(recording.HERE, "bindings")


def record(python, folder, source, mode="calls", also="c_calls", options=(), **more):
    """(recording, what the program printed)"""
    program, data = os.path.join(folder, "program.py"), os.path.join(folder, "data")
    with open(program, "w", encoding="utf-8") as file:
        file.write(source)
    environment = recording.traced_environment(mode, OCULAR_ALSO=also, **more)
    done = recording.record(data, [python, program], environment, *options, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return data, done.stdout


def lost(summary):
    return [f"{name}: {n}" for name, n in summary["losses"].items() if n]


def rows(summary, *names):
    """{qualname: calls} of those C functions; all of them if none is named. A name twice is a fault."""
    found = {}
    for row in summary["c_functions"]:
        if not names or row["qualname"] in names:
            assert row["qualname"] not in found, row
            found[row["qualname"]] = row["calls"]
    return found


def differ(found, wanted):
    return [f"{key}: {found.get(key)}, wanted {wanted.get(key)}"
            for key in sorted({*found, *wanted}) if found.get(key) != wanted.get(key)]


def both_decoders(data):
    """The summary, which perf with the plugin and ocular-pt must agree upon."""
    theirs = recording.summary(data)
    path = os.path.join(data, "pt.json")
    subprocess.run([PT, f"summary={path}", os.path.join(data, "perf.data")],
                   check=True, stdin=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        ours = json.load(file)
    assert ours["c_functions"] == theirs["c_functions"] and ours["losses"] == theirs["losses"]
    return ours


def build(python, folder):
    """Compiles what is in BINDINGS for that interpreter, which has Cython and pybind11."""
    say = "import sysconfig, pybind11; print(sysconfig.get_path('include'), pybind11.get_include(), " \
          "sysconfig.get_config_var('EXT_SUFFIX'))"
    include, headers, suffix = recording.run([python, "-c", say]).stdout.split()
    shared = ["-O1", "-w", "-shared", "-fPIC", "-I", include]
    commands = (
        [python, "-m", "cython", "-3", os.path.join(BINDINGS, "tiny.pyx"), "-o", os.path.join(folder, "tiny.c")],
        ["cc", *shared, os.path.join(folder, "tiny.c"), "-o", os.path.join(folder, "tiny" + suffix)],
        ["c++", *shared, "-std=c++17", "-I", headers, os.path.join(BINDINGS, "bound.cc"), "-o",
         os.path.join(folder, "bound" + suffix)])
    for command in commands:
        done = recording.run(command)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")


CYTHON = """
import tiny
def key(x): pass
for n in range(5): tiny.twice(n)
tiny.each(key, [1, 2, 3])
for n in range(2):
    try: tiny.fails()
    except ValueError: pass
list(tiny.generator(3))
counter = tiny.Counter()
counter.add(2), counter.add(), counter(), counter(), counter(), tiny.Counter.zero(), tiny.Counter.made()
tiny.Plain().method()
"""
OF_CYTHON = {"tiny.twice": 5, "tiny.each": 1, "tiny.fails": 2, "tiny.generator": 1, "tiny.Counter": 1, "tiny.Counter.add": 2,
             "tiny.Counter.__call__": 3, "tiny.Counter.zero": 1, "tiny.Counter.made": 1, "tiny.Plain": 1,
             "tiny.Plain.method": 1}
PYBIND11 = """
import bound
def key(x): pass
for n in range(5): bound.twice(n)
for n in range(3): bound.thrice(n)
bound.each(key, [1, 2])
for n in range(2):
    try: bound.fails()
    except ValueError: pass
counter, other = bound.Counter(), bound.Other()
counter.add(2), counter.add(3), other.add(1), bound.Counter.zero(), bound.Counter.add(counter, 1)
"""
# A static method's type is nowhere to be found.
OF_PYBIND11 = {"bound.twice": 5, "bound.thrice": 3, "bound.each": 1, "bound.fails": 2, "bound.Counter": 1, "bound.Other": 1,
               "bound.Counter.add": 3, "bound.Other.add": 1, "bound.zero": 1}


def check_bindings(python, folder):
    """Those of Cython and pybind11 are told apart, though all of one kind have one type or one C function."""
    build(python, folder)
    problems = []
    for source, module, wanted in ((CYTHON, "tiny", OF_CYTHON), (PYBIND11, "bound", OF_PYBIND11)):
        with recording.scratch() as inner:
            data, _ = record(python, inner, f"import sys; sys.path.insert(0, {folder!r})\n" + source)
            summary = both_decoders(data)
        found = {name: n for name, n in rows(summary).items() if name.startswith(module + ".")}
        # Of the function that Python called from C there is a row among those of Python.
        called = {f["qualname"]: f["calls"] for f in summary["functions"]}["key"]
        problems += differ(found, wanted) + lost(summary) + ([] if called == len("123" if module == "tiny" else "12") else ["key"])
    return problems


# Functions whose time is known: they sleep, C functions that call them do little themselves.
NESTED = """
import functools, itertools, threading, time
def key(n): time.sleep(0.01); return -n
def inner(n): return sorted([n, n + 1], key=key)
def outer(n): return max(map(inner, range(n)), key=len)
begin = time.perf_counter_ns()
outer(3)
functools.reduce(lambda a, b: (time.sleep(0.01), 0)[1], [1, 2, 3, 4])
partial = functools.partial(key, 1)
partial(), partial()
print(time.perf_counter_ns() - begin)
"""
SLEEP = 10_000_000


def check_times(python, mode, folder):
    """C -> Python -> C and so on: own time is without what was called, total with it, of recursions once."""
    data, out = record(python, folder, NESTED, mode, OCULAR_INCLUDE="*/program.py")
    summary = both_decoders(data)
    found = {row["qualname"]: row for row in summary["c_functions"]}
    problems = lost(summary) + differ({name: found[name]["calls"] for name in found if name in (
        "max", "sorted", "time.sleep", "_functools.reduce", "functools.partial.__call__", "map")},
        {"max": 1, "sorted": 3, "time.sleep": 11, "_functools.reduce": 1, "functools.partial.__call__": 2, "map": 1})
    for name, sleeps in (("max", 6), ("sorted", 6), ("time.sleep", 11), ("_functools.reduce", 3),
                         ("functools.partial.__call__", 2)):
        row = found[name]
        if not sleeps * SLEEP <= row["total_ns"] <= int(out):
            problems.append(f"{name}: {row['total_ns']} ns in all, of {sleeps} times {SLEEP}, of {out}")
        if name != "time.sleep" and row["self_ns"] > row["total_ns"] - sleeps * SLEEP:
            problems.append(f"{name}: {row['self_ns']} ns its own of {row['total_ns']}")
    if summary["trace"]["cpu_ns"] is not None:
        own = sum(row["self_cpu_ns"] for row in summary["functions"] + summary["c_functions"] + summary["collections"])
        if own + summary["trace"]["outside_cpu_ns"] != summary["trace"]["cpu_ns"]:
            problems.append(f"{own} ns on a CPU in functions, of {summary['trace']['cpu_ns']}")
        if found["time.sleep"]["self_waiting_ns"] < 11 * SLEEP:
            problems.append(f"time.sleep waited {found['time.sleep']['self_waiting_ns']} ns")
    if found["time.sleep"]["self_ns"] != found["time.sleep"]["total_ns"]:
        problems.append("time.sleep has callees")
    return problems


SLICES = """
import zlib
def work():
    zlib.compress(b"x" * 1000)
    return sorted([3, 1], key=lambda n: zlib.crc32(b""))
work()
"""


def check_slices(python, folder):
    """On the timeline they begin and end within their caller, and around what they call."""
    data, _ = record(python, folder, SLICES)
    path = os.path.join(folder, "trace.json")
    recording.report(data, f"perfetto={path}")
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    names, stacks = [], {}
    for event in trace["traceEvents"] if isinstance(trace, dict) else trace:
        stack = stacks.setdefault((event.get("pid"), event.get("tid")), [])
        if event["ph"] in ("B", "X"):
            stack.append(event["name"])
            if "work" in stack:
                names.append("/".join(stack[stack.index("work"):]))
        if event["ph"] == "E":
            stack.pop()
    key = "work/sorted/work.<locals>.<lambda>"
    wanted = ["work", "work/zlib.compress", "work/sorted", key, key + "/zlib.crc32", key, key + "/zlib.crc32"]
    return [] if names == wanted else [f"{names}"]


THREADS = """
import asyncio, math, os, sys, threading, zlib
def thread(n):
    for _ in range(n): zlib.crc32(b"")
def child():
    for _ in range(7): math.hypot(1, 2)
async def task(n):
    for _ in range(n):
        zlib.adler32(b"")
        await asyncio.sleep(0)
async def main(): await asyncio.gather(*(task(n) for n in range(5)))
threads = [threading.Thread(target=thread, args=(n,)) for n in range(1, 9)]
for t in threads: t.start()
for t in threads: t.join()
asyncio.run(main())
pid = os.fork()
child()
if not pid: sys.exit()
os.waitpid(pid, 0)
def fails():
    for n in range(9):
        try: math.sqrt(-1)
        except ValueError: pass
def generator():
    for n in range(6): yield math.floor(n)
    raise RuntimeError
def consume():
    try: sum(generator())
    except RuntimeError: pass
fails(), consume()
"""


def check_threads(python, mode, folder):
    """Threads, tasks and processes at once; exceptions; generators that C functions resume."""
    data, _ = record(python, folder, THREADS, mode, OCULAR_INCLUDE="*/program.py")
    summary = both_decoders(data)
    found = {}
    for row in summary["c_functions"]:
        found[row["qualname"]] = found.get(row["qualname"], 0) + row["calls"]
    wanted = {"zlib.crc32": 36, "zlib.adler32": 10, "math.hypot": 14, "math.sqrt": 9, "math.floor": 6, "sum": 1}
    problems = lost(summary) + differ({name: found.get(name) for name in wanted}, wanted)
    path = os.path.join(folder, "events")
    recording.report(data, f"events={path}")
    with open(path, encoding="utf-8") as file:
        raised = sum("\tC_RAISE\t" in line and "\tfails\t" in line for line in file)
    return problems + ([] if raised == 9 else [f"{raised} C_RAISE, not 9"])


# What dies is never kept alive, nor is anything kept for it.
MANY = """
import gc, resource, sys, types
def methods(n):
    for _ in range(n):
        [].append(1)
        method = [].append
        method(1)
def modules(n):
    for _ in range(n):
        types.ModuleType("m").__dir__()
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
methods(1000), modules(1000)
gc.collect()
append, before, blocks = sys.getrefcount(list.append), peak(), sys.getallocatedblocks()
methods(500_000), modules(50_000)
gc.collect()
print(sys.getrefcount(list.append) - append, peak() - before, sys.getallocatedblocks() - blocks)
"""


def check_nothing_is_kept(python, folder):
    """Without a GIL Python itself frees later: what counts is what is more than in a run without C functions."""
    with recording.scratch() as inner:
        _, out = record(python, inner, MANY, also="", OCULAR_INCLUDE="*/program.py")
    without = [*map(int, out.split())]
    data, out = record(python, folder, MANY, OCULAR_INCLUDE="*/program.py")
    references, kib, blocks = (n - less for n, less in zip(map(int, out.split()), without))
    summary = both_decoders(data)
    problems = lost(summary)
    if references or kib > 4096 or blocks > 1000 and not recording.is_free(python):
        problems.append(f"{references} references, {kib} KiB, {blocks} blocks")
    with open(next(path for path in glob.glob(os.path.join(data, "codes-*.jsonl"))), encoding="utf-8") as file:
        lines = sum('"kind":"c_function"' in line for line in file)
    if lines > 500:
        problems.append(f"{lines} C functions in the code table")
    return problems + differ(rows(summary, "list.append"), {"list.append": 1_002_000})


PIECES = """
import zlib
def work(n):
    for _ in range(n): zlib.crc32(b"")
work(200_000)
"""


def check_pieces(python, folder):
    """A recording in pieces: what is in each is named, and they add up."""
    data, _ = record(python, folder, PIECES, options=("--switch-output", "1M"), OCULAR_INCLUDE="*/program.py")
    summaries = [json.loads(recording.run([PT, "summary=-", piece]).stdout)
                 for piece in glob.glob(os.path.join(data, "perf.data*"))]
    found = sum(sum(rows(summary, "zlib.crc32").values()) for summary in summaries)
    return [line for summary in summaries for line in lost(summary) if not line.startswith(("unstopped", "unmatched"))] + (
        [] if len(summaries) > 2 and found == 200_000 else [f"{found} calls in {len(summaries)} pieces"])


LOST = """
import math, zlib
def work(n):
    for _ in range(n): zlib.crc32(b""), math.floor(1.5)
work(300_000)
"""


def check_lost(python, folder):
    """What a ring has no room for is counted, and what is left of it has its names."""
    data, _ = record(python, folder, LOST, options=("--wait-ms", "0", "--ring-records", "256"), OCULAR_INCLUDE="*/program.py")
    summary = both_decoders(data)
    found, events = rows(summary), sum(summary["events"].values())
    other = sorted(found.keys() - {"zlib.crc32", "math.floor", "range", "exec", "__import__"})
    every = summary["losses"]["markers"] + events
    return [f"{other} was called"] * bool(other) + (
        [] if summary["losses"]["markers"] > 1000 and 1_200_000 <= every <= 1_200_100 and found["zlib.crc32"] > 100 else
        [f"{summary['losses']['markers']} lost of {every}, {found}"])


FLIGHT = """
import ocular, zlib
def work(n):
    for _ in range(n): zlib.crc32(b"")
work(100_000)
work(1000)
ocular.take_snapshot("there")
"""


def check_flight(python, folder):
    """A snapshot holds no beginning: what is called there is named by the code table."""
    data, _ = record(python, folder, FLIGHT, options=("--flight", "20ms"), OCULAR_INCLUDE="*/program.py")
    done = recording.run([PT, "summary=-", data])
    found = rows(json.loads(done.stdout))
    return [] if found.get("zlib.crc32", 0) >= 1000 and not any("code " in name for name in found) else [str(found)]


def check_commands(python, folder):
    """Each command takes the option, and its report has the table and says what the events cost."""
    env = recording.plain_environment(PYTHON=python, PYTHONPATH=os.path.join(recording.BUILD, "python"))
    problems = []
    for number, command in enumerate(([recording.WRAPPER, "record"], [recording.WRAPPER, "run"], [python, "-m", "ocular"])):
        data = os.path.join(folder, f"data{number}")
        done = recording.run([*command, "--c-calls", "--mode", "calls", "--backend", "software", "-o", data, "-c",
                              "import zlib; zlib.crc32(bytes(10**8))"], env=env)
        report = recording.run([recording.WRAPPER, "report", data], env=env)
        missing = [text for text in (" C function, by self", "  zlib.crc32\n", "unspecialized; each CALL and C_RETURN adds ")
                   if text not in report.stdout]
        problems += [f"{command}: {done.returncode}, {done.stderr}", *missing] if done.returncode or missing else []
    done = recording.run([recording.WRAPPER, "record", "--c-calls", "--mode", "opcodes", "--backend", "qemu", "-o", data, "-c",
                          "1"], env=env)
    if not done.returncode or "mode opcodes records no more than it says: leave out --c-calls" not in done.stderr:
        problems.append(f"opcodes: {done.returncode}, {done.stderr}")
    return problems


def cases(python):
    version = recording.version(python)
    for mode in ("calls", "full"):
        yield f"{version} own and total time, {mode}", check_times, python, mode
        yield f"{version} threads, tasks, processes, exceptions, {mode}", check_threads, python, mode
    yield f"{version} on the timeline", check_slices, python
    yield f"{version} nothing is kept", check_nothing_is_kept, python
    yield f"{version} by command", check_commands, python
    yield f"{version} in pieces", check_pieces, python
    yield f"{version} with losses", check_lost, python
    yield f"{version} in flight", check_flight, python
    yield f"{version} Cython and pybind11", check_bindings, recording.venv(python, "cython", "pybind11")


def main():
    parser = recording.options()
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    chosen = parser.parse_args()
    recording.need_built()
    with Plan() as plan:
        for python in recording.pythons(chosen):
            for name, function, *arguments in cases(python):
                if chosen.only not in name:
                    continue
                with recording.scratch() as folder:
                    if arguments[0]:
                        plan.case(name, function, *arguments, folder)
                    else:
                        plan.missing(name, "Cython and pybind11")


if __name__ == "__main__":
    main()
