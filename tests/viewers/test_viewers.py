#!/usr/bin/env python3
"""The Perfetto trace in the viewers people use: Perfetto's own engine, catapult's importer, speedscope.

A threaded, generator-heavy program is recorded with the witness of tests/doors beside it; what the viewers
find in the worker threads (calls by name, depth, loop trips, names) must be what the witness saw. The viewers
come from npm, pinned in package-lock.json, into build/viewers. Without npm and node: skipped, but not in CI.
"""

import collections
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

PROGRAM = """
import threading

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

threads = [threading.Thread(target=work, args=(20 + n,), name=f"worker-{n}") for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

PUSH, POP = ("PY_START", "PY_RESUME", "PY_THROW"), ("PY_RETURN", "PY_YIELD", "PY_UNWIND")
INSTANTS = "('loop', 'exception', 'code', 'loss')"  # categories; all other slices are calls
OF_THREAD = ("from slice s join thread_track t on s.track_id = t.id join thread using (utid) "
             "where thread.name like 'worker-%'")
QUERIES = {
    "trouble": "select name, severity, value from stats where severity in ('error', 'data_loss') and value > 0",
    "calls": f"select tid, s.name, count(*) {OF_THREAD} and ifnull(s.category, '') not in {INSTANTS} group by 1, 2",
    "open": f"select tid, s.name {OF_THREAD} and s.dur < 0",
    "depth": f"select tid, max(depth) + 1 {OF_THREAD} and ifnull(s.category, '') not in {INSTANTS} group by 1",
    "threads": "select tid, thread.name from thread where thread.name like 'worker-%' order by 2",
    "process": "select pid, name from process where name is not null",
    "trips": f"select tid, count(*) {OF_THREAD} and s.category = 'loop' group by 1",
    "uops": "select count(*) from slice s join args a using (arg_set_id) "
            "where s.category = 'loop' and a.key = 'args.uOps' and a.int_value > 0",
    "cycles": "select count(*) from slice s join args a using (arg_set_id) "
              "where s.category = 'loop' and a.key = 'args.Hardware Cycles' and a.int_value >= 0",
    "loops": "select count(*) from slice where category = 'loop'",
    "slices": f"select tid, count(*) {OF_THREAD} group by 1",
}


class Truth:
    """What the witness saw in one thread: calls by name, deepest stack, trips of loops that can be timed."""

    def __init__(self, events):
        self.calls, self.deepest, self.trips = collections.Counter(), 0, 0
        stack = []
        for event in events:
            if event.event in PUSH:
                self.calls[event.qualname] += 1
                stack.append(set())
                self.deepest = max(self.deepest, len(stack))
            elif event.event in POP:
                stack.pop()
            elif event.event == "JUMP":
                self.jump(stack[-1], int(event.destination))

    def jump(self, begun, head):
        """A loop's first trip is not timed: nothing says when it began. A jump ends all loops inside."""
        self.trips += head in begun
        begun.difference_update([inner for inner in begun if inner > head])
        begun.add(head)


class Trace:
    """The program's trace, what the witness saw of its threads, and what each viewer makes of the trace."""

    def __init__(self, python, packages, folder):
        self.packages, self.folder = packages, folder
        self.path = os.path.join(folder, "trace.json")
        data = os.path.join(folder, "data")
        environment = recording.traced_environment("adaptive", recording.WITNESS_HOOK, TRUTH_DIR=folder,
                                                   TRUTH_MODE="adaptive")
        done = recording.record(data, [python, "-c", PROGRAM], environment)
        if done.returncode:
            raise RuntimeError(done.stderr)
        recording.report(data, f"perfetto={self.path}")
        threads = recording.truth(folder)
        self.pid = next(iter(threads))[0]
        self.truth = {tid: Truth(events) for (pid, tid), events in threads.items() if tid != pid}
        self.queries = os.path.join(folder, "queries.json")
        with open(self.queries, "w", encoding="utf-8") as file:
            json.dump(QUERIES, file)

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
    found = dict(trace.perfetto["trips"])
    wanted = {tid: truth.trips for tid, truth in trace.truth.items()}
    (loops,), (uops,), (cycles,) = (trace.perfetto[name][0] for name in ("loops", "uops", "cycles"))
    return differs(found, wanted) + differs((uops, cycles), (loops, loops))


def names(trace):
    threads = [name for tid, name in trace.perfetto["threads"] if tid in trace.truth]
    processes = [pid for pid, _ in trace.perfetto["process"]]
    return differs((threads, processes), ([f"worker-{n}" for n in range(4)], [trace.pid]))


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
    """An E with another's name, one without a time: the queries and logs above must be able to tell."""
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
    "Perfetto: names of threads and process": names,
    "catapult imports it without a warning": Trace.ask_catapult,
    "catapult: threads and slices": catapult_threads,
    "speedscope opens it without complaint": Trace.ask_speedscope,
    "speedscope: calls and depth of threads": speedscope_threads,
    "all notice a broken trace": broken,
}


def install():
    """Folder of the packages, installed from the lock file where they are not yet."""
    target = os.path.join(recording.BUILD, "viewers")
    lock = os.path.join(HERE, "package-lock.json")
    stamp = os.path.join(target, "installed")
    os.makedirs(target, exist_ok=True)
    if not os.path.exists(stamp) or os.path.getmtime(stamp) < os.path.getmtime(lock):
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
    missing = [tool for tool in ("node", "npm") if not shutil.which(tool)]
    if missing:
        print(f"no {' and no '.join(missing)} here: scripts/setup --for test installs them")
        sys.exit(1 if os.environ.get("CI") else 77)
    packages = install()
    with Plan() as plan:
        for python in pythons:
            version = recording.version(python)
            with recording.scratch() as folder:
                trace = Trace(python, packages, folder)
                for name, function in CASES.items():
                    plan.case(f"{version} {name}", function, trace)


if __name__ == "__main__":
    main()
