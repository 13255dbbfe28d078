#!/usr/bin/env python3
"""The Perfetto trace in the viewers people use: Perfetto's own engine, catapult's importer, speedscope.

A threaded, generator-heavy program is recorded with the witness of tests/doors beside it; what the viewers
find in the worker threads (calls by name, depth, loop trips, names) must be what the witness saw, and the arrows
between slices must be where the program itself saw a generator go on. The protobuf must give the same answers as
the JSON in every way a timeline can be written. The viewers come from npm, pinned in package-lock.json, into build/viewers. Without npm and node: skipped, but not in CI.
"""

import collections
import fcntl
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

PROGRAM = """
import asyncio
import gc
import os
import sys
import threading

gc.disable()  # a collection is a slice, too

# Who goes on? A generator's frame object is the same one as long as it lives, and its id is nobody else's.
running, suspended, numbers_of, arrows, addresses = {}, {}, {}, [], {}

def begins(code, offset, *rest):
    frame = id(sys._getframe(1))
    addresses[code.co_qualname] = id(code)
    key = threading.get_native_id(), code.co_qualname
    numbers_of[key] = numbers_of.get(key, -1) + 1
    running[frame] = (*key, numbers_of[key])
    if frame in suspended:
        arrows.append((suspended.pop(frame), running[frame]))

def yields(code, offset, value):
    frame = id(sys._getframe(1))
    suspended[frame] = running.pop(frame)

def ends(code, offset, *rest):
    running.pop(id(sys._getframe(1)), None)

events = sys.monitoring.events
sys.monitoring.use_tool_id(3, "arrows")
for name, function in (("PY_START", begins), ("PY_RESUME", begins), ("PY_THROW", begins), ("PY_YIELD", yields),
                       ("PY_RETURN", ends), ("PY_UNWIND", ends)):
    sys.monitoring.register_callback(3, getattr(events, name), function)
sys.monitoring.set_events(3, events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_YIELD
                          | events.PY_RETURN | events.PY_UNWIND)

def numbers(n):
    for i in range(n):
        yield i

def tree(depth):
    if depth:
        yield from tree(depth - 1)
        yield depth
        yield from tree(depth - 1)

def fails(n):
    if n:
        fails(n - 1)
    raise ValueError(n)

def closed():
    for i in numbers(9):
        if i == 3:
            break

def alone(n):
    for i in range(n):
        yield i

async def ticker(n):
    for i in range(n):
        await asyncio.sleep(0)

async def crowd(n):
    for i in range(n):
        await asyncio.sleep(0)

async def waits():
    await asyncio.gather(ticker(9), crowd(3), crowd(5), crowd(8))
    cancelled = asyncio.ensure_future(crowd(1))  # it has not begun when it is thrown into
    other = asyncio.ensure_future(crowd(1))
    await asyncio.sleep(0)
    late = asyncio.ensure_future(crowd(4))
    late.cancel()
    await asyncio.gather(cancelled, other, late, return_exceptions=True)

def waiting():
    sum(alone(30))
    thrown = alone(3)
    next(thrown)
    try:
        thrown.throw(KeyError)
    except KeyError:
        pass
    asyncio.run(waits())

def work(rounds):
    total = 0
    for i in range(rounds):
        for j in numbers(4):
            total += j
        for value in tree(4):
            while value > 2:
                value -= 1
        try:
            fails(5)
        except ValueError:
            closed()
    return total

threads = [threading.Thread(target=work, args=(8 + n,), name=f"worker-{n}") for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
thread = threading.Thread(target=waiting, name="worker-waiting")
thread.start()
thread.join()
sys.monitoring.set_events(3, 0)
with open(os.path.join(os.environ["TRUTH_DIR"], "arrows"), "w") as file:
    for (tid, name, number), (to_tid, to_name, to_number) in arrows:
        print(tid, name, number, to_tid, to_name, to_number, file=file, sep="\\t")
with open(os.path.join(os.environ["TRUTH_DIR"], "addresses"), "w") as file:
    for name in ("work", "tree", "numbers", "fails", "closed"):
        print(name, hex(addresses[name]), file=file)
"""

PUSH, POP = ("PY_START", "PY_RESUME", "PY_THROW"), ("PY_RETURN", "PY_YIELD", "PY_UNWIND")
INSTANTS = "('loop', 'exception', 'code', 'loss', 'limit', 'state')"  # categories; all other slices are calls
OF_THREAD = ("from slice s join thread_track t on s.track_id = t.id join thread using (utid) "
             "where thread.name like 'worker-%'")
OF_TASK = ("from slice s join thread_track t on s.track_id = t.id join thread using (utid) "
           "join process using (upid) where process.name like 'tasks of %'")
ADDRESSES = ("select s.name, string_value as address, count(*) from slice s "
             "join args using (arg_set_id) where category is not 'code' and flat_key like '%.code_ptr' "
             "group by 1, 2 order by 1, 2")

# A key with a + is no index: by a slice's set of args a thousand times fewer rows are looked at than by the key for each slice.
QUERIES = {
    "trouble": "select name, severity, value from stats where severity in ('error', 'data_loss') and value > 0",
    "calls": f"select tid, s.name, count(*) {OF_THREAD} and ifnull(s.category, '') not in {INSTANTS} group by 1, 2",
    "open": f"select tid, s.name {OF_THREAD} and s.dur < 0",
    "depth": f"select tid, max(depth) + 1 {OF_THREAD} and ifnull(s.category, '') not in {INSTANTS} group by 1",
    "threads": "select tid, thread.name from thread where thread.name like 'worker-%' order by 2",
    "process": "select pid, name from process where name is not null and name not like '% of process %'",
    "addresses": ADDRESSES,
    "trips": "select tid, thread.name, count(*) from slice s join thread_track t on s.track_id = t.id join thread using (utid) "
             "where (thread.name like 'worker-%' or thread.name like 'loop %, thread %') and s.category = 'loop' group by 1, 2",
    "nested": "select s.name from slice s join thread_track t on s.track_id = t.id join thread using (utid) "
              "where thread.name like 'loop %' and (s.depth > 0 or s.dur < 0 or s.category is not 'loop')",
    "uops": "select count(*) from slice s join args a using (arg_set_id) "
            "where s.category = 'loop' and +a.key = 'args.uOps' and a.int_value > 0",
    "cycles": "select count(*) from slice s join args a using (arg_set_id) "
              "where s.category = 'loop' and +a.key = 'args.TSC Cycles' and a.int_value >= 0",
    "loops": "select count(*) from slice where category = 'loop'",
    "slices": f"select tid, count(*) {OF_THREAD} group by 1",
    "order": f"select s.id, tid, s.name {OF_THREAD} and ifnull(s.category, '') not in {INSTANTS} order by s.ts, s.id",
    "states": "select thread.name, s.name, sum(s.dur) from slice s join thread_track t on s.track_id = t.id "
              "join thread using (utid) where s.category = 'state' group by 1, 2",
    "arrows": f"select slice_out, slice_in from flow where slice_in not in (select s.id {OF_TASK})",
    "tasks": f"select thread.name, substr(s.name, 1, 8), sum(s.dur) {OF_TASK} group by 1, 2",
    "wakes": f"select count(*) from flow where slice_in in (select s.id {OF_TASK} and s.name = 'running')",
    "runs": f"select count(*) {OF_TASK} and s.name = 'running'",
}

# Whatever the format, a trace gives the same answers to these. Keys of args have a prefix in each.
SAME = {
    "trouble": QUERIES["trouble"],
    "all": "select count(*), sum(ts), sum(dur), min(dur), max(depth) from slice",
    "slices": "select tid, category, s.name, s.ts, s.dur, s.depth from slice s join thread_track t on s.track_id = t.id "
              "join thread using (utid) where s.category is not 'code' order by tid, s.ts, s.depth, s.dur, s.name",
    "parents": "select p.name, s.name, count(*) from slice s join slice p on s.parent_id = p.id group by 1, 2 order by 1, 2",
    "codes": "select s.name, count(*), sum(ts) from slice s where category = 'code' group by 1 order by 1",
    "args": "select s.name, substr(flat_key, instr(flat_key, '.') + 1) as k, count(*), sum(int_value) from slice s "
            "join args using (arg_set_id) where category is not 'code' and k is not 'code_ptr' and flat_key not like 'source%' group by 1, 2 order by 1, 2",
    "addresses": ADDRESSES,
    "flows": "select a.name, a.ts, b.name, b.ts from flow f join slice a on f.slice_out = a.id "
             "join slice b on f.slice_in = b.id order by 2, 4, 1, 3",
    "counters": "select t.name, t.type, process.pid, c.ts, c.value from counter c join process_counter_track t "
                "on c.track_id = t.id join process using (upid) order by 1, c.ts, c.value",
    "threads": "select tid, name from thread where tid > 0 order by 1, 2",
    "processes": "select pid, name from process where pid > 0 order by 1",
}
# How a timeline can be written.
WAYS = {
    "plain": (),
    "loops as slices": ("iterations=slices",),
    "from 20 us": ("min_duration=20us", "iterations=slices"),
    "within 40 KB": ("max_size=40K",),
}
SMALLER = 5  # times, at least, that the protobuf must be smaller than the JSON


class Truth:
    """What the witness saw of the program in one thread: calls by name, deepest stack, trips of loops that can
    be timed, also over suspensions. The libraries are not recorded: engines take seconds for each MB."""

    def __init__(self, events, tid, resumed):
        """resumed: {activation: the one that it goes on with}, both as arrows() has them."""
        self.calls, self.deepest, self.trips = collections.Counter(), 0, 0
        stack, suspended = [], {}
        for event in events:
            if event.file != "<string>" or event.qualname == "<lambda>":  # that is collections.namedtuple's
                continue
            if event.event in PUSH:
                this = tid, event.qualname, self.calls[event.qualname]
                self.calls[event.qualname] += 1
                goes_on = event.event != "PY_START" and resumed.get(this)
                stack.append((this, suspended.pop(goes_on, set())))
                self.deepest = max(self.deepest, len(stack))
            elif event.event in POP:
                this, begun = stack.pop()
                suspended[this] = begun
            elif event.event == "JUMP":
                self.jump(stack[-1][1], int(event.destination))

    def jump(self, begun, head):
        """A loop's first trip is not timed: nothing says when it began. A jump ends all loops inside."""
        self.trips += head in begun
        begun.difference_update([inner for inner in begun if inner > head])
        begun.add(head)


def arrows(folder):
    """[(activation that yields, the one that goes on)], each as (thread, name, number), as the program saw them."""
    with open(os.path.join(folder, "arrows"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [((int(a), b, int(c)), (int(d), e, int(f))) for a, b, c, d, e, f in rows]


class Trace:
    """The program's trace, what the witness saw of its threads, and what each viewer makes of the trace."""

    def __init__(self, python, packages, folder):
        self.python, self.packages, self.folder = python, packages, folder
        self.path = os.path.join(folder, "trace.json")
        data = os.path.join(folder, "data")
        environment = recording.traced_environment("adaptive", recording.WITNESS_HOOK, TRUTH_DIR=folder,
                                                   TRUTH_MODE="adaptive", OCULAR_INCLUDE="__main__")
        done = recording.record(data, [python, "-c", PROGRAM], environment)
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.data = data
        recording.report(data, f"perfetto={self.path}")
        threads = recording.truth(folder)
        self.pid = next(iter(threads))[0]
        resumed = {into: out for out, into in arrows(folder)}
        self.truth = {tid: Truth(events, tid, resumed) for (pid, tid), events in threads.items() if tid != pid}
        self.queries = self.write_queries("queries.json", QUERIES)
        self.answers = {}
        self.same = self.write_queries("same.json", SAME)

    def write_queries(self, name, queries):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(queries, file)
        return path

    def written(self, way, end):
        """The trace written in one of WAYS, in the format that the end of a name means."""
        path = os.path.join(self.folder, "way" + end)
        recording.report(self.data, f"perfetto={path}", *WAYS[way])
        return path

    def ask(self, viewer, *arguments, path=None):
        done = recording.run(["node", os.path.join(HERE, viewer), self.packages, path or self.path, *arguments])
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        return json.loads(done.stdout)

    def ask_perfetto(self):
        self.perfetto = self.ask("perfetto.js", self.queries)
        return [] if self.perfetto.keys() == QUERIES.keys() else [str(self.perfetto.keys())]

    def ask_catapult(self):
        self.catapult = self.ask("catapult.js")
        return self.catapult["warnings"][:20]

    def ask_speedscope(self):
        self.speedscope = self.ask("speedscope.js")
        return [line for line in self.speedscope["said"] if not line.startswith("Importing as")][:20]


def differs(found, wanted):
    return [] if found == wanted else [f"found  {found}", f"wanted {wanted}"]


def empty(trace, query):
    return [str(row) for row in trace.perfetto[query]]


def calls(trace):
    found = {(tid, name): count for tid, name, count in trace.perfetto["calls"]}
    wanted = {(tid, name): count for tid, truth in trace.truth.items() for name, count in truth.calls.items()}
    return differs(found, wanted)


def depth(trace):
    return differs(dict(trace.perfetto["depth"]), {tid: truth.deepest for tid, truth in trace.truth.items()})


def trips(trace):
    found = collections.Counter()
    for tid, name, count in trace.perfetto["trips"]:  # a dense loop has a track of its own, "loop NAME:LINE, thread TID"
        found[int(name.rpartition("thread ")[2]) if name.startswith("loop ") else tid] += count
    found = dict(found)
    wanted = {tid: truth.trips for tid, truth in trace.truth.items() if truth.trips}
    (loops,), (uops,), (cycles,) = (trace.perfetto[name][0] for name in ("loops", "uops", "cycles"))
    return differs(found, wanted) + differs((uops, cycles), (loops, loops)) + empty(trace, "nested")


def addresses(trace):
    """Each slice of a function has the address of its code object, which is the one that the program saw."""
    found = {(name, address): count for name, address, count in trace.perfetto["addresses"]}
    counts = collections.Counter()
    for truth in trace.truth.values():
        counts.update(truth.calls)
    with open(os.path.join(trace.folder, "addresses"), encoding="utf-8") as file:
        wanted = {tuple(line.split()): counts[line.split()[0]] for line in file}
    return differs({key: found.get(key) for key in wanted}, wanted)


def names(trace):
    threads = [name for tid, name in trace.perfetto["threads"] if tid in trace.truth]
    processes = [[pid, name] for pid, name in trace.perfetto["process"] if name != "CPUs"]
    return differs((threads, processes), ([f"worker-{n}" for n in range(4)] + ["worker-waiting"], [[trace.pid, "-c"]]))


def catapult_threads(trace):
    """Names, all slices closed, and as many as Perfetto has."""
    found = {row["tid"]: (row["name"].startswith("worker-"), row["slices"], row["unfinished"])
             for row in trace.catapult["threads"] if row["tid"] in trace.truth}
    return differs(found, {tid: (True, count, 0) for tid, count in trace.perfetto["slices"]})


def speedscope_threads(trace):
    found = {}
    for row in trace.speedscope["profiles"]:
        tid = int(row["name"].rpartition("tid ")[2].rstrip(")"))
        if tid in trace.truth:
            found[tid] = row["calls"], row["depth"]
    return differs(found, {tid: (sum(t.calls.values()), t.deepest) for tid, t in trace.truth.items()})


def resumptions(trace):
    """Every arrow is one that the program saw; and all of code that has one generator at a time are there."""
    number, slices = collections.Counter(), {}
    for slice_id, tid, name in trace.perfetto["order"]:
        slices[slice_id] = tid, name, number[tid, name]
        number[tid, name] += 1
    found = {(slices.get(out), slices.get(into)) for out, into in trace.perfetto["arrows"]
             if out in slices or into in slices}
    seen = {pair for pair in arrows(trace.folder) if pair[0][0] in trace.truth}
    single = {pair for pair in seen if pair[0][1] in ("alone", "ticker", "waits")}
    wrong = [f"not so: {pair}" for pair in sorted(found - seen, key=str)]
    missing = [f"not there: {pair}" for pair in sorted(single - found)]
    few = [f"only {len(single)} to be found"] if len(single) < 30 + 1 + 9 else []
    return (wrong + missing + few)[:20]


def states(trace):
    """What threads did: in all as in the summary, on their lines and on those of CPUs."""
    found = collections.Counter()
    for line, name, ns in trace.perfetto["states"]:
        found[line.split()[0], name.split(":")[0].split(" ")[0]] += ns
    told = recording.summary(trace.data)["threads"]
    if any(t["cpu_ns"] is None for t in told):
        return []  # the kernel tells nothing here: test_cpu.py
    ran, waited = (sum(t[key] for t in told) for key in ("cpu_ns", "waiting_ns"))
    # The lines go on until the thread ends, its time in the summary until its last event.
    least = {("state", "running"): ran, ("state", "waiting"): waited}
    wrong = [f"{key}: {found[key]} ns, {ns} in the summary" for key, ns in least.items() if not ns - ns / 100 - 1000000 <= found[key] <= ns + ns / 20 + 5000000]
    return wrong + ([] if 0.9 * ran < found["CPU", "thread"] <= found["state", "running"] and found["GIL", "thread"]
                    else [f"{dict(found)}"])


def tasks(trace):
    """Each task's row is as the summary has it: how long it ran, waited and was ready; something let each step begin."""
    found, wanted = collections.Counter(), collections.Counter()
    for name, what, ns in trace.perfetto["tasks"]:
        found[name, what if what == "running" else "else"] += ns
    told = recording.summary(trace.data)["tasks"]
    for task in told:
        wanted[task["name"], "running"] += task["running_ns"]
        wanted[task["name"], "else"] += task["waiting_ns"] if task["resumptions"] or task["running_ns"] else 0
    wrong = [f"{key}: {found[key]} ns, {wanted[key]} in the summary" for key in found | wanted
             if abs(found[key] - wanted[key]) > 2 * len(told)]
    (wakes,), (runs,) = trace.perfetto["wakes"][0], trace.perfetto["runs"][0]
    enough = len(told) >= 8 and runs >= 30 and wakes == runs
    return wrong + ([] if enough else [f"{len(told)} tasks, {runs} steps, {wakes} arrows"])


def same_answers(way):
    """Through Perfetto's engine; the other viewers must be content with the JSON."""
    def compare(trace):
        paths = [trace.written(way, end) for end in (".json", ".pftrace")]
        answers = [trace.ask("perfetto.js", trace.same, path=path) for path in paths]
        trace.answers[way] = answers[0]
        found = [f"{name}: {first} is not {second}"[:500] for name in SAME
                 for first, second in itertools.zip_longest(*(answer[name] for answer in answers)) if first != second]
        sizes = [os.path.getsize(path) for path in paths]
        if "max_size" not in str(WAYS[way]) and sizes[0] < SMALLER * sizes[1]:
            found.append(f"{sizes[0]} bytes of JSON, {sizes[1]} of protobuf")
        found += [str(row) for row in answers[0]["trouble"]]
        found += trace.ask("catapult.js", path=paths[0])["warnings"]
        found += trace.ask("speedscope.js", path=paths[0])["said"][1:]
        return found[:20]
    return compare


def bounded(trace):
    """A full file is not larger than allowed, and says what is missing."""
    sql = trace.write_queries("left.json", {
        "left": "select sum(int_value) from slice s join args using (arg_set_id) "
                "where category = 'limit' and flat_key like '%.slices'",
        "calls": f"select count(*) from slice where category not in {INSTANTS}"})
    path = trace.written("within 40 KB", ".pftrace")
    found = [] if os.path.getsize(path) <= 40 << 10 else [f"{os.path.getsize(path)} bytes"]
    answer, plain = trace.ask("perfetto.js", sql, path=path), trace.ask("perfetto.js", sql)
    (shown,), (left,), (every,) = answer["calls"][0], answer["left"][0], plain["calls"][0]
    return found + ([] if left and shown + left == every else [f"{shown} shown, {left} left out of {every}"])


def compressed(trace):
    """.gz of either format is the same trace."""
    answers = [trace.ask("perfetto.js", trace.same, path=trace.written("plain", end))
               for end in (".json.gz", ".pftrace.gz")]
    return [name for answer in answers for name in SAME if answer[name] != trace.answers["plain"][name]]


# Names that a program may have: what JSON, SQL, HTML, terminals and UTF-8 stumble on, and a long one.
ODD = ['say "hi"', r"back\\slash", r"two\nlines\r", r"tab\there", "\x07\x1b[31mred", "caf\u00e9 \u4e2d \U0001f40d", "' or 1=1 --",
       "</script><script>alert(1)</script>", "%s%n", '"' * 5000, "long." * 2048]


def odd_names(trace):
    """JSON is JSON for Python, too, and the engine finds in both formats the names that were meant."""
    text = os.path.join(trace.folder, "odd.txt")
    broken_utf8 = [b"cut \xf0\x9f\x90", b"lone \xed\xa0\x80 surrogate", b"\xff\xfe"]
    names = [name.encode() for name in ODD] + broken_utf8
    with open(text, "wb") as file:
        file.write(b"# ocular events 1\n")
        for n, name in enumerate(names * 3):
            for step, event in enumerate((b"PY_START", b"PY_RETURN")):
                file.write(b"%d\t10\t%d\t%s\t/src/%s.py\t%s\t%d\t0\t\n" % (
                    1000 + 100 * n + 30 * step, 10 + n % 3, event, name[:50].replace(b"/", b""), name, n + 1))
    answers = []
    for end in (".json", ".pftrace"):
        path = os.path.join(trace.folder, "odd" + end)
        done = recording.run([os.path.join(recording.BUILD, "bin", "ocular-feed"), f"perfetto={path}", text])
        if done.returncode:
            return [done.stderr]
        answers.append(trace.ask("perfetto.js", trace.same, path=path))
    with open(os.path.join(trace.folder, "odd.json"), "rb") as file:
        begun = collections.Counter(event["name"] for event in json.loads(file.read()) if event["ph"] == "B")
    meant = {name.replace(r"\\", "\\").replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\t", "\t") for name in ODD}
    found = [f"not there: {name[:80]!r}" for name in meant if begun[name] != 3]
    found += [] if sum(begun.values()) == 3 * len(names) else [f"{sum(begun.values())} begun"]
    shown = collections.Counter(row[2] for row in answers[0]["slices"])
    found += [f"Perfetto: {name[:80]!r}" for name in begun if shown[name] != begun[name]]
    return found + [f"differs: {name}" for name in SAME if answers[0][name] != answers[1][name]]


FLIGHT = r"""
import ocular, time
def work():
    for i in range(50):
        time.sleep(0)
for i in range(3):
    work()
    ocular.take_snapshot('number %d of "three"\n' % i, count=i, part=i / 2, words=["a", {"b": "\u4e2d"}])
    time.sleep(0.001)
"""


def snapshots(trace):
    """Each is a slice of a track of its own, as long as it was, with what its trigger knew; in both formats."""
    data = os.path.join(trace.folder, "flight")
    environment = recording.traced_environment("adaptive", OCULAR_INCLUDE="__main__")
    done = recording.record(data, [trace.python, "-c", FLIGHT], environment, "--flight", "1s")
    if done.returncode:
        return [done.stderr]
    (table,) = (name for name in os.listdir(data) if name.startswith("codes-"))
    with open(os.path.join(data, table), encoding="utf-8") as file:
        told = [line for line in map(json.loads, file) if line["kind"] == "snapshot"]
    wanted = [[t["label"], t["at_ns"] - t["from_ns"], "snapshots", t["trigger"], t["number"], t["threads"], t["tid"],
               t["data"]["count"], t["data"]["part"], t["data"]["words"][1]["b"], t["stack"][0]] for t in told]
    args = ("trigger", "number", "threads", "tid", "data.count", "data.part", "data.words[1].b", "stack[0]")
    of = "(select coalesce(string_value, int_value, real_value) from args where arg_set_id = s.arg_set_id and key like '%%.%s')"
    sql = trace.write_queries("snapshots.json", {**SAME, "snapshots": (
        "select s.name, s.dur, thread.name, %s from slice s join thread_track t on s.track_id = t.id "
        "join thread using (utid) where s.category = 'snapshot' order by ts" % ", ".join(of % key for key in args))})
    paths = [os.path.join(trace.folder, "flight" + end) for end in (".json", ".pftrace")]
    answers = []
    for path in paths:
        recording.report(data, f"perfetto={path}")
        answers.append(trace.ask("perfetto.js", sql, path=path))
    found = [] if len(wanted) == 3 else [f"{len(wanted)} were taken"]
    for answer in answers:
        # A trace begins with its first event; words that are none, which the first snapshot begins with, come before.
        first = answer["snapshots"][0]
        if 0 < first[1] <= wanted[0][1]:
            first[1] = wanted[0][1]
        found += differs(answer["snapshots"], wanted)
    found += [f"differs: {name}" for name in SAME if answers[0][name] != answers[1][name]]
    found += [str(row) for row in answers[0]["trouble"]]
    return found + trace.ask("catapult.js", path=paths[0])["warnings"] + trace.ask("speedscope.js", path=paths[0])["said"][1:]


def nothing(trace):
    """A recording without an event is a trace without one, in both formats, and not an error."""
    text = os.path.join(trace.folder, "nothing.txt")
    with open(text, "w", encoding="utf-8") as file:
        file.write("# ocular events 1\n")
    found = []
    for end in (".json", ".pftrace"):
        path = os.path.join(trace.folder, "nothing" + end)
        recording.run([os.path.join(recording.BUILD, "bin", "ocular-feed"), f"perfetto={path}", text])
        answer = trace.ask("perfetto.js", trace.same, path=path)
        found += [end] if answer["all"][0][0] or answer["trouble"] else []
    return found


def greenlets(trace):
    """Each has a track, on which it ran as long as it did; in both formats."""
    text = os.path.join(recording.ROOT, "tests", "golden", "greenlets", "events.txt")
    sql = trace.write_queries("of_greenlets.json", {**SAME, "greenlets": (
        "select thread.name, s.name, count(*), sum(s.dur) from slice s join thread_track t on s.track_id = t.id "
        "join thread using (utid) where s.depth = 0 and s.dur > 0 group by 1, 2 order by 1, 2")})
    # In a gap it is not known which one runs: a call behind it is on the thread's track.
    wanted = [["MainThread", "app.py", 6, 280], ["MainThread", "f", 1, 5], ["greenlet 2: a", "a", 3, 55], ["greenlet 3: b", "b", 3, 79],
              ["greenlet 4: f", "f", 1, 9], ["greenlet 5: b", "b", 1, 6]]
    answers = []
    for end in (".json", ".pftrace"):
        path = os.path.join(trace.folder, "greenlets" + end)
        recording.run([os.path.join(recording.BUILD, "bin", "ocular-feed"), f"perfetto={path}", text])
        answers.append(trace.ask("perfetto.js", sql, path=path))
    found = [line for answer in answers for line in differs(answer["greenlets"], wanted)]
    return found + [f"differs: {name}" for name in SAME if answers[0][name] != answers[1][name]] + [str(r) for a in answers for r in a["trouble"]]


def imports(trace):
    """Each is called by what it imports, and bodies of modules by their files; the protobuf tells where a function is."""
    case = os.path.join(recording.ROOT, "tests", "golden", "imports")
    sql = trace.write_queries("of_imports.json", {
        "imports": "select name, count(*), sum(dur) from slice where category = 'import' group by 1 order by 1",
        "modules": "select distinct name from slice where category is not 'code' and name like '%.py' order by 1",
        "source": "select distinct s.name, f.string_value, l.int_value from slice s join args f using (arg_set_id) "
                  "join args l using (arg_set_id) where f.key = 'source.file_name' and l.key = 'source.line_number' "
                  "and s.name like 'compile%'"})
    wanted = {"imports": [["import nope", 2, 120], ["import shop", 1, 1190], ["import shop.web", 2, 640], ["import zlib", 1, 80]],
              "modules": [["app.py"], ["shop/__init__.py"], ["web.py"]]}
    found = []
    for end, source in ((".json", []), (".pftrace", [["compile_routes", "/src/shop/web.py", 7]])):
        path = os.path.join(trace.folder, "imports" + end)
        recording.run([os.path.join(recording.BUILD, "bin", "ocular-feed"), f"perfetto={path}", f"codes={case}", case + "/events.txt"])
        found += differs(trace.ask("perfetto.js", sql, path=path), {**wanted, "source": source})
    return found + source_links(trace, case, sql, path, wanted)


def source_links(trace, case, sql, path, wanted):
    """With --source-url the program's own files have addresses; the trace is told which folder is the program's."""
    tables, link = os.path.join(trace.folder, "linked"), "https://example.com/{file}#L{line}"
    os.mkdir(tables)
    for name in (name for name in os.listdir(case) if name.startswith("codes-")):
        with open(os.path.join(case, name)) as source, open(os.path.join(tables, name), "w") as to:
            to.write(source.read().replace('"kind": "header",', '"kind": "header", "folder": "/src",', 1))
    recording.run([os.path.join(recording.BUILD, "bin", "ocular-feed"), f"perfetto={path}", f"source_url={link}", f"codes={tables}",
                   case + "/events.txt"], check=True)
    wanted = {**wanted, "modules": [], "source": [["compile_routes", link.format(file="shop/web.py", line=7), 7]]}  # modules: by their names
    return differs(trace.ask("perfetto.js", sql, path=path), wanted)


DENSE = """
import threading
def busy():
    for i in range(1000):
        pass
def again(n):
    for i in range(400):
        if n and i == 300:
            again(n - 1)
busy()
again(2)
thread = threading.Thread(target=busy)
thread.start()
thread.join()
"""


def dense(trace):
    """Loops whose trips are dense have a track of their own, as slices that do not overlap; all trips are shown, in both formats."""
    data = os.path.join(trace.folder, "dense")
    done = recording.record(data, [trace.python, "-c", DENSE], recording.traced_environment("adaptive", OCULAR_INCLUDE="__main__"))
    if done.returncode:
        return [done.stderr]
    of = "from slice s join thread_track t on s.track_id = t.id join thread using (utid) where s.category = 'loop'"
    sql = trace.write_queries("of_dense.json", {
        **SAME, "rows": f"select rtrim(thread.name, '0123456789') || case when thread.name like '%thread%' then '' else substr(s.name, 1 + length(rtrim(s.name, '0123456789'))) end, s.name, count(*), max(depth) {of} and thread.name like 'loop %' group by 1, 2",
        "trips": f"select s.name, count(*) {of} group by 1 order by 1",
        "overlap": f"select count(*) from (select s.ts - lag(s.ts + s.dur) over (partition by s.track_id order by s.ts, s.id) as d {of} "
                   "and thread.name like 'loop %') where d < 0",
        "loops": "select count(*) from thread join process using (upid) where thread.name like 'loop %' and process.name like 'loops of process %'",
        "tracks": "select distinct t.name from slice s join track t on s.track_id = t.id where s.category = 'code'"})
    answers, found = [], []
    for end in (".json", ".pftrace"):
        path = os.path.join(trace.folder, "dense" + end)
        recording.report(data, f"perfetto={path}")
        answers.append(trace.ask("perfetto.js", sql, path=path))
    for answer in answers:
        # An outer trip of again() began before those of the inner call, and is a point.
        rows = [row[:2] for row in answer["rows"]]
        found += differs(rows, [["loop again:7", "loop again:7"], ["loop busy:4", "loop busy:4"], ["loop busy:4, thread ", "loop busy:4"]])
        found += differs(answer["trips"], [["loop again:7", 3 * 399], ["loop busy:4", 2 * 999]]) + differs(answer["overlap"], [[0]])
        found += differs(answer["loops"], [[3]])
        found += [str(row) for row in answer["rows"] if "busy" in row[0] and not 0 < row[2] <= 999 - 200]
    found += differs(answers[1]["tracks"], [["code objects, when first seen"]])
    found += [f"differs: {name}" for name in SAME if answers[0][name] != answers[1][name]] + [str(r) for a in answers for r in a["trouble"]]
    return found + trace.ask("catapult.js", path=os.path.join(trace.folder, "dense.json"))["warnings"]


TWO_LOOPS = """
import asyncio, sys, threading
import ocular
async def step(n):
    for i in range(n):
        with ocular.span("step", i=i):
            await asyncio.sleep(0)
async def handler(n):
    with ocular.request("GET /%d" % n):
        await step(n)
        await asyncio.gather(*(asyncio.create_task(step(2), name="child of %d" % n) for i in range(2)))
async def main(numbers, tids):
    tids.append(threading.get_native_id())
    await asyncio.gather(*(asyncio.create_task(handler(n), name="handler %d" % n) for n in numbers))
tids = []
thread = threading.Thread(target=lambda: asyncio.run(main((4, 5, 6), tids)))
asyncio.run(main((1, 2, 3), tids))
thread.start()
thread.join()
print(*tids, file=sys.stderr)
"""


def loops(trace):
    """Tasks are grouped by the thread that runs their loop; below them are their requests and spans; the same in both formats."""
    data = os.path.join(trace.folder, "two_loops")
    done = recording.record(data, [trace.python, "-c", TWO_LOOPS], recording.traced_environment("calls", OCULAR_INCLUDE="__main__"))
    if done.returncode:
        return [done.stderr]
    main, thread = map(int, done.stderr.split())
    of = "from slice s join thread_track t on s.track_id = t.id join thread using (utid) join process using (upid)"
    whole = f"{of} where process.name like 'tasks of thread %' and thread.name like 'spans%'"
    sql = trace.write_queries("of_loops.json", {
        **SAME, "handlers": f"select distinct process.name, thread.name {of} where thread.name like 'handler %' order by 2",
        "groups": f"select process.name, count(distinct thread.name) {of} where process.name like 'tasks of %' and thread.name like '%child of%' "
                  "and thread.name not like 'spans%' group by 1 order by 1",
        "requests": f"select s.name, thread.name, s.category, count(*) {whole} and s.name like 'GET%' group by 1, 2, 3 order by 1",
        "steps": f"select thread.name, count(*) {whole} and s.name = 'step' and s.category = 'span' and thread.name not like '% of child%' group by 1 order by 1",
        "whole": f"select s.name, s.dur {whole} and s.name like 'GET%' order by 1",
        # Arrows from slices of a coroutine that has a request in it: all of its resumptions but the first have one.
        "arrows": "select b.name, count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id "
                  "where a.name = 'handler' and b.name = 'handler' group by 1"})
    answers, found = [], []
    for end in (".json", ".pftrace"):
        path = os.path.join(trace.folder, "two_loops" + end)
        recording.report(data, f"perfetto={path}")
        answers.append(trace.ask("perfetto.js", sql, path=path))
    summary = recording.summary(data)
    group = {n: f"tasks of thread {thread if n > 3 else main} of process {main}" for n in range(1, 7)}
    handlers = [t["resumptions"] for t in summary["tasks"] if t["coroutine"] == "handler"]
    for answer in answers:
        found += differs(answer["handlers"], [[group[n], f"handler {n}"] for n in group])
        found += differs(sorted(answer["groups"]), sorted([name, 3] for name in set(group.values())))
        found += differs(answer["requests"], [[f"GET /{n}", f"spans of handler {n}", "request", 1] for n in group])
        found += differs(answer["steps"], [[f"spans 2 of handler {n}", n] for n in group])
        found += differs(answer["whole"], sorted([r["name"], r["end_ns"] - r["start_ns"]] for r in summary["requests"]))
        found += differs(answer["arrows"], [["handler", sum(handlers)]])
    found += [f"differs: {name}: {answers[0][name]} is not {answers[1][name]}"[:500] for name in SAME if answers[0][name] != answers[1][name]]
    found += [str(r) for a in answers for r in a["trouble"]] + ([] if main != thread else ["one thread"])
    return found + trace.ask("catapult.js", path=os.path.join(trace.folder, "two_loops.json"))["warnings"]


VIEWS = """
import asyncio, threading, time
import ocular
def leaf(n):
    t = 0
    for i in range(n):
        t += i
    return t
def nested(n):
    return n and nested(n - 1) + leaf(20)
def work():
    for i in range(300):
        nested(5)
    time.sleep(.02)
async def handler(n):
    with ocular.request("GET /%d" % n):
        for i in range(3):
            await asyncio.sleep(.001)
            leaf(n)
async def main():
    await asyncio.gather(*(handler(n) for n in range(4)))
threads = [threading.Thread(target=work) for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
asyncio.run(main())
"""


def statements():
    """{name: SQL} of docs/ocular.sql: this engine runs one at a time, today's viewer all at once."""
    with open(os.path.join(recording.ROOT, "docs", "ocular.sql"), encoding="utf-8") as file:
        return dict(re.findall(r"^(create view \w+) (as\n.*?;)$", file.read(), re.MULTILINE | re.DOTALL))


def metrics():
    """[(id, its dimensions, its values, its view)] of docs/ocular-metrics.textproto, which only later engines than this one can read."""
    with open(os.path.join(recording.ROOT, "docs", "ocular-metrics.textproto"), encoding="utf-8") as file:
        specs = re.split(r"^metric_(?:template_)?spec \{$", file.read(), flags=re.MULTILINE)[1:]
    def found(key, spec):
        return re.findall(rf'\b(?:{key}): "(\w+)"', spec)
    return [(*found("id|id_prefix", spec), found("dimensions", spec), found("value|value_column_specs: { name", spec), *found("table_name", spec))
            for spec in specs]


def metric_queries():
    """{id: SQL} that gives the rows of each metric, as an engine that can read the file makes them."""
    return {f"metric {name}": f"select {', '.join(dimensions + values)} from {view}" for name, dimensions, values, view in metrics()}


def metric_problems(answer):
    """Each has rows, a row for each set of dimensions, and numbers or nothing as values."""
    found = []
    for name, dimensions, values, _ in metrics():
        rows, of = answer[f"metric {name}"], [tuple(row[:len(dimensions)]) for row in answer[f"metric {name}"]]
        wrong = [row for row in rows for value in row[len(dimensions):] if not isinstance(value, (int, type(None)))]
        found += [f"no row of {name}"] * (not rows) + [f"{name}: {row}" for row in wrong] + differs((name, len(set(of))), (name, len(of)))
        found += [f"no values of {name}"] * (not values)
    return found


def examples():
    """{its beginning: SQL} of each query that docs/perfetto.md shows."""
    with open(os.path.join(recording.ROOT, "docs", "perfetto.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```sql\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    return {f"example {n}": query.strip() for n, query in enumerate("".join(blocks).split(";\n")) if query.strip()}


def views(trace):
    """The views of docs/ocular.sql have the summary's figures, in both formats: each is there, and asked. So are the metrics of them, and the queries of docs/perfetto.md."""
    data = os.path.join(trace.folder, "views")
    done = recording.record(data, [trace.python, "-c", VIEWS], recording.traced_environment("adaptive", OCULAR_INCLUDE="__main__"))
    if done.returncode:
        return [done.stderr]
    summary = recording.summary(data)
    rows = {"function": [[f["qualname"], f["activations"], f["self_ns"], f["self_cpu_ns"], f["self_waiting_ns"]]
                         for f in summary["functions"]],
            "loop": [[f"{row['qualname']}:{row['line']}", row["timed"]] for row in summary["loops"]],
            "task": [[t["name"], t["running_ns"], t["waiting_ns"]] for t in summary["tasks"] if t["running_ns"]],
            "request": [[r["name"], r["end_ns"] - r["start_ns"]] for r in summary["requests"]]}
    asked = {"function": "select name, calls, self_ns, self_cpu_ns, self_waiting_ns from ocular_function where place <> 'C function'",
             "loop": "select name, trips from ocular_loop",
             "task": "select name, running_ns, ready_ns + awaiting_ns from ocular_task",
             "request": "select name, dur from ocular_request",
             "call": "select tid, sum(dur) from ocular_call where parent_id is null group by 1",
             # Each has one caller, and both threads slept.
             "caller": "select count(distinct id), count(*) from ocular_caller join ocular_call using (id) where ocular_call.name = 'leaf'",
             "wait": "select count(distinct tid) from ocular_wait where kind = 'waiting: sleep' and longest_ns > 0"}
    made = {" ".join(("create view", "ocular_" + name)) for name in asked}
    found = differs(set(statements()), made) + differs({view for *_, view in metrics()} - {"ocular_" + name for name in asked}, set())
    sql = trace.write_queries("of_views.json", {**{name: f"{name} {body}" for name, body in statements().items()}, **asked, **metric_queries(), **examples()})
    whole = sum(row["self_ns"] for row in summary["functions"] + summary["collections"])
    told = None not in [f["self_cpu_ns"] for f in summary["functions"]]  # else the kernel tells nothing here, or not of all threads
    for end in (".json", ".pftrace"):
        path = os.path.join(trace.folder, "views" + end)
        recording.report(data, f"perfetto={path}")
        answer = trace.ask("perfetto.js", sql, path=path)
        if not told:
            answer["function"], rows["function"] = ([row[:3] for row in table] for table in (answer["function"], rows["function"]))
        for name, wanted in rows.items():
            found += differs((end, name, sorted(answer[name])), (end, name, sorted(wanted)))
        found += metric_problems(answer)
        found += [f"no row: {query}" for name, query in examples().items() if end == ".pftrace" and not answer[name]]
        calls = 2 * 300 * 5 + 4 * 3
        found += differs((len(answer["call"]), sum(ns for _, ns in answer["call"])), (3, whole))
        found += differs(answer["caller"], [[calls, calls]]) + differs(answer["wait"], [[2]])
    return found


def damaged(trace, change):
    """A copy of the trace with one E of a worker thread changed."""
    with open(trace.path, encoding="utf-8") as file:
        events = json.load(file)
    change([event for event in events if event["ph"] == "E" and event["tid"] in trace.truth][10])
    path = os.path.join(trace.folder, "damaged.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(events, file)
    return path


def broken(trace):
    """An E with another's name, one without a time: the queries and logs above must notice."""
    path = damaged(trace, lambda event: event.update(name="another"))
    noticed = {"catapult": trace.ask("catapult.js", path=path)["warnings"],
               "speedscope": trace.ask("speedscope.js", path=path)["said"][1:]}
    path = damaged(trace, lambda event: event.pop("ts"))
    noticed["perfetto"] = trace.ask("perfetto.js", trace.queries, path=path)["trouble"]
    return [f"{viewer} noticed nothing" for viewer, words in noticed.items() if not words]


CASES = {
    "Perfetto loads it": Trace.ask_perfetto,
    "Perfetto: no error, no data loss": lambda trace: empty(trace, "trouble"),
    "Perfetto: nothing left open": lambda trace: empty(trace, "open"),
    "Perfetto: calls by thread and name": calls,
    "Perfetto: depth of threads": depth,
    "Perfetto: loop trips and their args": trips,
    "Perfetto: code_ptr of slices": addresses,
    "Perfetto: names of threads and process": names,
    "catapult imports it without a warning": Trace.ask_catapult,
    "catapult: threads and slices": catapult_threads,
    "speedscope opens it without complaint": Trace.ask_speedscope,
    "speedscope: calls and depth of threads": speedscope_threads,
    "Perfetto: what threads did": states,
    "Perfetto: arrows from yields to resumptions": resumptions,
    "Perfetto: tasks": tasks,
}
# These do not depend on the Python that was recorded.
ONCE = {
    "all notice a broken trace": broken,
    **{f"protobuf and JSON agree: {way}": same_answers(way) for way in WAYS if way != "within 40 KB"},
    "a full file says so": bounded,
    "compressed ones are the same": compressed,
    "odd names": odd_names,
    "no event": nothing,
    "snapshots have a track": snapshots,
    "greenlets have tracks": greenlets,
    "modules and imports by name": imports,
    "dense loops have tracks": dense,
    "tasks are grouped by loop": loops,
    "views of docs/ocular.sql": views,
}


def install():
    """Folder of the packages, installed from the lock file where they are not yet; by one test at a time. Ends the test without npm."""
    missing = [tool for tool in ("node", "npm") if not shutil.which(tool)]
    if missing:
        print(f"no {' and no '.join(missing)} here: scripts/setup --for test installs them")
        sys.exit(1 if os.environ.get("CI") else 77)
    target = os.path.join(recording.BUILD, "viewers")
    wanted = os.path.join(HERE, "package-lock.json")
    stamp = os.path.join(target, "installed")
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(stamp) or os.path.getmtime(stamp) < os.path.getmtime(wanted):
            for name in ("package.json", "package-lock.json"):
                shutil.copy(os.path.join(HERE, name), target)
            subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=target, check=True,
                           stdout=subprocess.DEVNULL, timeout=recording.LIMIT)
            with open(stamp, "w", encoding="utf-8"):
                pass
    return os.path.join(target, "node_modules")


def main():
    pythons = recording.pythons()
    recording.need_built()
    packages = install()
    with Plan() as plan:
        for python in pythons:
            version = recording.version(python)
            with recording.scratch() as folder:
                trace = Trace(python, packages, folder)
                last = python == pythons[-1]
                for name, function in (CASES | ONCE if last else CASES).items():
                    plan.case(f"{version} {name}", function, trace)


if __name__ == "__main__":
    main()
