#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every resumption is that of the generator, coroutine or asynchronous generator which the program itself says it was.

In the programs each object has a number of its own, and calls tell() with it, and those of all objects that wait for it, whenever
it runs again: so whatever was resumed last and has not ended before that call must be these, one for one, in the events text."""

import json
import os

import recording

COMMON = """
import asyncio, gc, itertools, queue, random, sys, threading
rnd = random.Random(int(sys.argv[1]))
numbers = itertools.count()
def tell(chain):
    return chain
def mark(chain):
    log.setdefault(threading.get_native_id(), []).append(chain)
    tell(chain)
log = {}
"""

# Some end by themselves, some are closed, thrown into or only forgotten: their addresses are used again.
INTERLEAVED = COMMON + """
def simple(n):
    me = (next(numbers),)
    mark(me)
    for i in range(n):
        try:
            yield i
        except ValueError:
            pass
        mark(me)
def plain(n):
    me = (next(numbers),)
    mark(me)
    while n:
        yield
        mark(me)
        n -= 1
def expression(n):
    me = (next(numbers),)
    return (mark(me) for i in range(n))
alive = []
for step in range(6000):
    choice = rnd.random()
    if choice < .15 or not alive:
        alive.append(rnd.choice((simple, plain, expression))(rnd.randrange(12)))
        continue
    g = alive[rnd.randrange(len(alive))]
    if choice < .2:
        alive.remove(g)
        del g
        continue
    try:
        if choice < .25:
            g.close()
        elif choice < .3:
            g.throw(ValueError)
        else:
            next(g)
    except (StopIteration, ValueError):
        alive.remove(g)
"""

CHAINS = COMMON + """
def leaf(chain, n):
    me = chain + (next(numbers),)
    mark(me)
    for i in range(n):
        yield i
        mark(me)
def chained(chain, depth, n):
    me = chain + (next(numbers),)
    mark(me)
    for i in range(rnd.randrange(1, 4)):
        if depth:
            yield from chained(me, depth - 1, n)
        else:
            yield from leaf(me, n)
        mark(me)
def walk(chain, depth):
    me = chain + (next(numbers),)
    mark(me)
    if depth:
        yield from walk(me, depth - 1)
        mark(me)
        yield from walk(me, depth - 1)
        mark(me)
    yield depth
    mark(me)
alive = [chained((), i % 5, 3) for i in range(30)] + [walk((), 5) for i in range(8)]
while alive:
    g = rnd.choice(alive)
    for i in range(rnd.randrange(5)):
        if next(g, None) is None:
            alive.remove(g)
            break
"""

TASKS = COMMON + """
async def inner(chain, n):
    me = chain + (next(numbers),)
    mark(me)
    for i in range(n):
        await asyncio.sleep(0)
        mark(me)
async def task(n):
    me = (next(numbers),)
    mark(me)
    while n:
        await asyncio.sleep(0)
        mark(me)
        await inner(me, n % 3)
        mark(me)
        n -= 1
async def main():
    every = [asyncio.create_task(task(i % 3)) for i in range(10000)]
    await asyncio.sleep(0)
    for t in every[::50]:
        t.cancel()
    await asyncio.gather(*every, return_exceptions=True)
    del every
    await asyncio.gather(*[task(rnd.randrange(4)) for i in range(300)])
asyncio.run(main())
"""

# Asynchronous generators that wait themselves: used up, closed, thrown into, or, where `scope` is something, cancelled.
# Task.cancel() throws into the innermost: those that wait for it go on when it has ended (docs/limits.md). trio sends what raises.
GENERATORS = COMMON + """
class Wanted(Exception):
    pass
async def source(chain, n):
    me = chain + (next(numbers),)
    mark(me)
    for i in range(n):
        try:
            if i % 3 == 2:
                await sleep(0)
                mark(me)
            yield i
        except Wanted:
            pass
        except asyncio.CancelledError:
            me = me[-1:]
            raise
        finally:
            mark(me)
async def used(how, n):
    me = (next(numbers),)
    mark(me)
    g = source(me, n)
    with scope() as cancelled:
        try:
            async for i in g:
                mark(me)
                if i % 4 == 3 and how:
                    if how == 3:
                        cancelled.cancel()
                    elif how == 1:
                        await g.aclose()
                        mark(me)
                        break
                    else:
                        try:
                            await g.athrow(Wanted())
                        except StopAsyncIteration:
                            pass
                        mark(me)
                if rnd.random() < .5:
                    await sleep(0)
                    mark(me)
        finally:
            await g.aclose()
            mark(me)
    mark(me)
"""

ASYNCHRONOUS = GENERATORS + """
import contextlib
sleep, scope = asyncio.sleep, contextlib.nullcontext
async def main():
    await asyncio.gather(*[used(i % 3, i % 9) for i in range(200)])
asyncio.run(main())
"""

TRIO = GENERATORS + """
import trio
sleep, scope = trio.sleep, trio.CancelScope
async def main():
    async with trio.open_nursery() as nursery:
        for i in range(200):
            nursery.start_soon(used, i % 4, i % 9)
trio.run(main)
"""

ANYIO = GENERATORS + """
import anyio
sleep, scope = anyio.sleep, anyio.CancelScope
async def main():
    async with anyio.create_task_group() as group:
        for i in range(200):
            group.start_soon(used, i % 4, i % 9)
anyio.run(main)
"""

THREADS = COMMON + """
def passed(n):
    me = (next(numbers),)
    mark(me)
    for i in range(n):
        yield
        mark(me)
def work():
    while True:
        g = jobs.get()
        if g is None:
            return
        try:
            next(g)
        except StopIteration:
            continue
        jobs.put(g)
jobs = queue.Queue()
numbers = iter(list(range(400)))
for i in range(200):
    jobs.put(passed(i % 13))
threads = [threading.Thread(target=work, name=str(i)) for i in range(4)]
for t in threads:
    t.start()
while jobs.qsize() > 0:
    pass
import time
time.sleep(.2)
for t in threads:
    jobs.put(None)
for t in threads:
    t.join()
while not jobs.empty():
    g = jobs.get()
    for i in g or ():
        pass
"""

# Five take turns, with eight trips each; at random, which only the numbers tell apart.
LOOPS = COMMON + """
def trips(n):
    for i in range(n):
        yield i
    return
async def awaits(n):
    while n:
        n -= 1
        await asyncio.sleep(0)
async def main():
    await asyncio.gather(*[awaits(8) for i in range(5)])
alive = [trips(8) for i in range(5)]
while alive:
    g = rnd.choice(alive)
    if next(g, None) is None:
        alive.remove(g)
asyncio.run(main())
"""

# Nested loops that yield and await anywhere, in an order that only chance knows; left by break, exception, return, close() and throw().
# Each counts its own trips. CPython 3.12 and 3.13 copy the test of a `while` to its end: the last one needs no jump back.
FUZZED = COMMON + """
counts = {}
class Counted:
    def __init__(self, name, tested_twice=False):
        self.name, self.trips, self.last = name, 0, tested_twice and sys.version_info < (3, 14)
    def trip(self):
        self.trips += 1
    def __enter__(self):
        return self
    def __exit__(self, *exception):
        counts.setdefault(self.name, []).append(self.trips - (self.last and not exception[0]))
def generates(n):
    with Counted("generates outer") as outer:
        for i in range(n):
            with Counted("generates inner") as inner:
                for j in range(rnd.randrange(6)):
                    if rnd.random() < .5:
                        yield j
                    if rnd.random() < .05:
                        break
                    try:
                        if rnd.random() < .1:
                            raise KeyError
                    except KeyError:
                        yield None
                    inner.trip()
            yield from delegates(rnd.randrange(5))
            if rnd.random() < .05:
                return
            outer.trip()
def delegates(n):
    with Counted("delegates", tested_twice=True) as loop:
        while n:
            n -= 1
            yield n
            loop.trip()
async def awaits(n):
    with Counted("awaits outer") as outer:
        for i in range(n):
            with Counted("awaits inner") as inner:
                async for j in produces(rnd.randrange(5)):
                    await asyncio.sleep(0)
                    inner.trip()
            if rnd.random() < .1:
                raise KeyError
            outer.trip()
async def produces(n):
    with Counted("produces") as loop:
        for i in range(n):
            if rnd.random() < .5:
                await asyncio.sleep(0)
            yield i
            loop.trip()
async def main():
    await asyncio.gather(*[awaits(rnd.randrange(6)) for i in range(60)], return_exceptions=True)
alive = [generates(rnd.randrange(1, 8)) for i in range(80)]
while alive:
    g = rnd.choice(alive)
    try:
        if rnd.random() < .02:
            g.throw(ValueError)
        elif rnd.random() < .02:
            g.close()
            alive.remove(g)
        else:
            next(g)
    except (StopIteration, ValueError):
        alive.remove(g)
asyncio.run(main())
log = counts
"""
LOOPS_OF = {"generates": ("generates outer", "generates inner"), "delegates": ("delegates",), "produces": ("produces",),
            "awaits": ("awaits outer", "awaits inner")}

PROGRAMS = {"interleaved": INTERLEAVED, "chains": CHAINS, "10,000 tasks": TASKS, "asynchronous generators": ASYNCHRONOUS,
            "between threads": THREADS}
LIBRARIES = {"trio": TRIO, "anyio": ANYIO}
ENDING = """
import json
json.dump(log, open(sys.argv[2], "w"))
"""

PID_MOST = 4194304  # of Linux; tracks of something else have larger ones (docs/perfetto.md)
PUSH, POP = ("PY_START", "PY_RESUME", "PY_THROW"), ("PY_YIELD", "PY_RETURN", "PY_UNWIND")
COLLECTION = "6"  # docs/marker.md: the kind of word
ENDS = {"PY_RETURN": "returned", "PY_UNWIND": "raised"}


def recorded(python, folder, source, *options, seed=1, mode="calls"):
    path, record, truth = (os.path.join(folder, name) for name in ("program.py", "rec", "truth.json"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(source + ENDING)
    command = [python, path, str(seed), truth]
    env = dict(recording.traced_environment(mode), **dict(o.split("=") for o in options))
    done = recording.record(record, command, env)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    with open(truth, encoding="utf-8") as file:
        return json.load(file), record


def events(record):
    """(ns, tid, event, qualname, object or None) of each event of the program's code; and of collections, as calls."""
    found, path = [], os.path.join(record, "events.txt")
    recording.report(record, f"events={path}")
    with open(path, encoding="utf-8") as file:
        for line in file:
            at = line.rstrip("\n").split("\t")
            if len(at) > 8 and at[3] == "EXTENSION" and at[7] == COLLECTION:
                found.append((int(at[0]), at[2], "PY_START" if int(at[8]) >> 47 else "PY_RETURN", "(collection)", None))
            if len(at) > 5 and at[3] in PUSH + POP:
                found.append((int(at[0]), at[2], at[3], at[5], int(at[10]) if at[10] else None))
    return found


def told(lines):
    """For each thread, in their order: the numbers of the objects that are on its stack at each call of tell()."""
    stacks, found = {}, {}
    for _, tid, event, name, number in lines:
        stack = stacks.setdefault(tid, [])
        if event in PUSH:
            stack.append((name, number))
            if name == "tell":
                found.setdefault(tid, []).append([n for _, n in stack if n is not None])
        elif stack:
            stack.pop()
    return found


def matched(truth, found, problems):
    """How many objects were compared, and how many right: each of the program's is one of the recording's."""
    ours, theirs, compared, right = {}, {}, 0, 0
    for tid, calls in truth.items():
        for chain, numbers in zip(calls, found[tid]):
            compared += len(chain)
            for mine, number in zip(chain, numbers[-len(chain):]):
                good = ours.setdefault(mine, number) == number and theirs.setdefault(number, mine) == mine
                right += good
                if not good and len(problems) < 5:
                    problems.append(f"object {mine} is {ours[mine]}, and {number} is {theirs.get(number)}")
    return compared, right


def test_resumptions(python, source, seed, folder):
    problems = []
    truth, record = recorded(python, folder, source, seed=seed)
    found = told(events(record))
    calls, seen = ({tid: len(of[tid]) for tid in of} for of in (truth, found))
    if calls != seen:
        return [f"tell() was called {calls} times, recorded {seen}"]
    compared, right = matched(truth, found, problems)
    print(f"# resumptions compared {compared}, right {right}")
    if not compared or compared != right:
        problems.append(f"{compared} compared, {right} right")
    return problems


def test_loops(python, folder):
    """Five entries of eight trips, however often they are suspended in between."""
    _, record = recorded(python, folder, LOOPS, mode="adaptive")
    found = {loop["qualname"]: loop for loop in recording.summary(record)["loops"]}
    problems = []
    for name, trips in (("trips", 8), ("awaits", 8)):
        loop = found[name]
        was = loop["entries"], loop["iterations"], loop["timed"], loop["trips"]["entries"], loop["trips"]["max"]
        least = trips - (name == "awaits")  # the last test of a while needs no jump back
        if was not in ((5, 5 * n, 5 * (n - 1), 5, n) for n in (trips, least)):
            problems.append(f"{name}: entries, trips, timed, entries seen whole, most of one: {was}")
        if not loop["suspended_ns"]:
            problems.append(f"{name}: it was never suspended")
        if loop["own_share"] > loop["share"] or loop["share"] > 1:
            problems.append(f"{name}: {loop['own_share']} of {loop['share']}")
    return problems


def test_fuzzed(python, seed, folder):
    """Entries, trips, and how many of one entry, as the program itself counts them. What had none is no entry."""
    truth, record = recorded(python, folder, FUZZED, seed=seed, mode="adaptive")
    found, problems = {}, []
    for loop in recording.summary(record)["loops"]:
        found.setdefault(loop["qualname"], []).append(loop)
    for function, names in LOOPS_OF.items():
        loops = sorted(found[function], key=lambda loop: loop["line"])
        for name, loop in zip(names, loops, strict=True):
            wanted = sorted(trips for trips in truth[name] if trips > 0)
            told = sorted(low for low, high, entries in loop["trips"]["distribution"] for _ in range(entries) if low == high)
            was = loop["entries"], loop["iterations"], loop["timed"]
            print(f"# {name}: entries compared {len(wanted)}, trips {sum(wanted)}")
            if was != (len(wanted), sum(wanted), sum(wanted) - len(wanted)) or told != wanted or not loop["suspended_ns"]:
                problems.append(f"{name}: {was}, {told}, not {len(wanted)} entries, {sum(wanted)} trips, {wanted}")
    return problems


def by_arithmetic(lines):
    """Of the objects of each function: how many, how often resumed, and how long suspended, from the events' times."""
    found, since = {}, {}
    for ns, _, event, name, number in lines:
        if number is None:
            continue
        row = found.setdefault(name, [set(), 0, 0])
        row[0].add(number)
        if event == "PY_YIELD":
            since[number] = ns
        elif event in ("PY_RESUME", "PY_THROW"):
            row[1] += 1
            row[2] += ns - since.get(number, ns)
    return {name: [len(row[0]), *row[1:]] for name, row in found.items()}


def test_times(python, source, folder):
    _, record = recorded(python, folder, source)
    problems, truth = [], by_arithmetic(events(record))
    for name in ("objects", "resumptions", "suspended_ns"):
        at = ("objects", "resumptions", "suspended_ns").index(name)
        want, found = {}, {}
        for f in recording.summary(record)["functions"]:
            if name in f:
                found[f["qualname"]] = found.get(f["qualname"], 0) + f[name]
        want = {qualname: row[at] for qualname, row in truth.items()}
        problems += [f"{q}: {name} {found.get(q)}, by arithmetic {want[q]}" for q in want if found.get(q) != want[q]][:3]
    return problems


def lives(lines):
    """{number: [begun, ended, how it ended, total, self, suspended, suspensions]} of each object, from the events' times."""
    stacks, found = {}, {}
    for ns, tid, event, _, number in lines:
        stack = stacks.setdefault(tid, [])
        if event in PUSH:
            stack.append([ns, 0])
            life = found.get(number)
            if number and not life:
                found[number] = [ns, ns, "suspended", 0, 0, 0, 0]
            elif number:
                life[5] += ns - life[1]
            continue
        if not stack:
            continue
        start, inside = stack.pop()
        if stack:
            stack[-1][1] += ns - start
        if number:
            life = found[number]
            life[1:3] = ns, ENDS.get(event, "suspended")
            life[3] += ns - start
            life[4] += ns - start - inside
            life[6] += event == "PY_YIELD"
    return found


def test_objects(python, source, folder):
    """Each in a line of its own."""
    _, record = recorded(python, folder, source)
    path = os.path.join(folder, "objects.tsv")
    recording.report(record, f"objects={path}")
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][2:]
    found = {int(row[1]): [int(row[6]), int(row[7]), row[8], *map(int, row[9:13])] for row in rows}
    wanted = lives(events(record))
    problems = [f"object {n}: {found.get(n)}, by arithmetic {wanted[n]}" for n in wanted if found.get(n) != wanted[n]][:3]
    return problems + ([] if len(rows) == len(found) == len(wanted) > 30 else [f"{len(rows)} lines, {len(found)} objects of {len(wanted)}"])


def test_arrows(python, source, folder):
    """One to each resumption of something that was seen to yield."""
    _, record = recorded(python, folder, source)
    path, since, want = os.path.join(folder, "trace.json"), set(), 0
    recording.report(record, f"perfetto={path}")
    for _, _, event, _, number in events(record):
        if event in ("PY_RESUME", "PY_THROW"):
            want += number in since
        if event == "PY_YIELD":
            since.add(number)
    with open(path, encoding="utf-8") as file:
        found = sum(event["ph"] == "f" and event["pid"] <= PID_MOST for event in json.load(file))  # not tasks' rows
    return [] if found == want > 1000 else [f"{found} arrows, {want} resumptions"]


OLDER = """
import sys
sys.path.insert(0, {path!r})
import ocular
def older():
    yield 1
    yield 2
    yield 3
a, b, never = older(), older(), older()
next(a), next(b)
ocular.start_tracing(output={record!r}, mode="calls", perfetto=None, console=False)
next(a), next(b), next(a)
try:
    never.throw(ValueError)
except ValueError:
    pass
c = older()
next(c), next(c)
ocular.stop_tracing()
"""


def test_older(python, folder):
    """What began before the trace is told as such. What is thrown into before it begins is as new as what begins."""
    record = os.path.join(folder, "rec")
    source = OLDER.format(path=os.path.join(recording.BUILD, "python"), record=record)
    done = recording.run([python, "-c", source], env=recording.plain_environment(), cwd=folder)
    if done.returncode:
        raise RuntimeError(done.stderr)
    f = next(f for f in recording.summary(record)["functions"] if f["qualname"] == "older")
    was = [f[key] for key in ("objects", "older_objects", "resumptions")]
    return [] if was == [4, 2, 5] else [f"objects, older ones, resumptions: {was}"]


def test_left_out(python, folder):
    """--no-identity: as before there were numbers."""
    _, record = recorded(python, folder, INTERLEAVED, "OCULAR_ALSO=no_identity")
    lines = events(record)
    problems = [f"it has one: {line}" for line in lines if line[4] is not None][:3]
    problems += [f"a key of {f['qualname']}" for f in recording.summary(record)["functions"] if "objects" in f][:3]
    return problems if lines else ["no events"]


ONE = COMMON + """
def one(n):
    for i in range(n):
        yield i
for i in one(20000):
    pass
"""


def words(record):
    table, = (name for name in os.listdir(record) if name.startswith("codes-"))
    with open(os.path.join(record, table), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return sum(n for line in lines if line["kind"] == "stop" for _, n in line["markers"])


def test_said_once(python, folder):
    """Where one generator is resumed again and again, it is not said again and again: hardly any word is added."""
    found = []
    for also in ("", "no_identity"):
        os.makedirs(os.path.join(folder, also or "told"))
        found.append(words(recorded(python, os.path.join(folder, also or "told"), ONE, f"OCULAR_ALSO={also}")[1]))
    told, less = found
    return [] if 40000 < less < told < 1.01 * less else [f"{told} words, {less} without"]


def cases(python, chosen):
    version = recording.version(python)
    for name, source in PROGRAMS.items():
        for seed in (1, 2) if name in ("interleaved", "chains") else (1,):
            yield f"{version} {name}, seed {seed}", test_resumptions, python, source, seed
    fetched = recording.venv(python, *LIBRARIES)
    for name, source in LIBRARIES.items():
        test = (test_resumptions, fetched, source, 1) if fetched else (recording.NO_VENV,)
        yield f"{version} asynchronous generators under {name}", *test
    yield f"{version} loops go on", test_loops, python
    for seed in range(1, 5):
        yield f"{version} loops at random, {seed}", test_fuzzed, python, seed
    for name in ("interleaved", "asynchronous generators", "between threads"):
        yield f"{version} times, {name}", test_times, python, PROGRAMS[name]
        yield f"{version} each object, {name}", test_objects, python, PROGRAMS[name]
    yield f"{version} arrows", test_arrows, python, INTERLEAVED
    yield f"{version} arrows of asynchronous generators", test_arrows, python, ASYNCHRONOUS
    yield f"{version} what is older", test_older, python
    yield f"{version} left out", test_left_out, python
    yield f"{version} said once", test_said_once, python


if __name__ == "__main__":
    recording.run_cases(cases)
