#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Greenlets: each has a stack and a time of its own. The programs keep their own clocks around each switch, and a log of switches
by a greenlet.settrace() in Python, which shares the place with Ocular's."""

import json
import os

import recording

# What a greenlet ran is at least what its own clock has, from when it goes on to when it switches, and at most what is left
# when the others' clocks are taken away.
CLOCKS = """
import collections, json, random, sys, threading, time
import greenlet
clock = time.perf_counter_ns
class Clocks:
    '''Of one thread.'''
    def __init__(self):
        self.inner, self.outer = collections.Counter(), collections.Counter()
        self.on = self.since = self.left = None
    def go_on(self, name):
        now = clock()
        if self.on: self.outer[self.on] += now - self.since_outer
        self.on, self.since, self.since_outer = name, now, self.left or now
    def leave(self):
        self.left = clock()
        self.inner[self.on] += self.left - self.since
    def switch(self, to, *args):
        name = self.on
        self.leave()
        try: return to.switch(*args)
        finally: self.go_on(name)
    def run(self, function):
        '''A greenlet of this function, which has its name.'''
        def begin(*args):
            self.go_on(function.__name__)
            try: return function(*args)
            finally: self.leave()
        begin.__qualname__ = "of_" + function.__name__
        begin.__code__ = begin.__code__.replace(co_qualname=begin.__qualname__, co_name=begin.__qualname__)
        return greenlet.greenlet(begin)
def spin(ms):
    end = clock() + int(ms * 1e6)
    while clock() < end: pass
switches, before = collections.Counter(), None
def log(event, args):
    switches[id(args[1])] += 1
    if before: before(event, args)
def write(**more):
    with open(OUT, "w") as file: json.dump(more, file)
"""

TWO = CLOCKS + """
def sixty():
    for _ in range(6): spin(10); clocks.switch(main)
def seventy():
    for _ in range(7): spin(10); clocks.switch(main)
clocks, main = Clocks(), greenlet.getcurrent()
a, b = clocks.run(sixty), clocks.run(seventy)
clocks.go_on("main")
while not (a.dead and b.dead):
    for each in a, b:
        if not each.dead: clocks.switch(each)
write(inner=clocks.inner, outer=clocks.outer)
"""

# Two that are in spans of one name, in turns. Notes both sides of each span, and what each greenlet ran in its own.
SAID = CLOCKS + """
import ocular
inside, around, ran = collections.Counter(), collections.Counter(), collections.Counter()
def turn(name):
    begun = clock()
    spin(1)
    ran[name] += clock() - begun
    clocks.switch(main)
def one():
    before = clock()
    with ocular.span("said", greenlet=1):
        begun = clock()
        for _ in range(3): turn("one")
        inside["said"] += clock() - begun
    around["said"] += clock() - before
def two():
    before = clock()
    with ocular.span("said", greenlet=2):
        begun = before_inner = clock()
        with ocular.span("inner"):
            begun_inner = clock()
            for _ in range(5): turn("two")
            inside["inner"] += clock() - begun_inner
        around["inner"] += clock() - before_inner
        inside["said"] += clock() - begun
    around["said"] += clock() - before
clocks, main = Clocks(), greenlet.getcurrent()
a, b = clocks.run(one), clocks.run(two)
clocks.go_on("main")
while not (a.dead and b.dead):
    for each in a, b:
        if not each.dead: clocks.switch(each)
write(outer=clocks.outer, ran=ran, spans=dict(inner=inside, outer=around))
"""

# Workers of a name of their own, which call each other's functions, run generators, raise, throw into one another, and are
# forgotten in the middle.
RANDOM = CLOCKS + """
random.seed(7)
N = 12
def numbers(clocks, main, n):
    for i in range(n):
        if random.random() < 0.4: clocks.switch(main)
        yield i
def deep(clocks, main, n):
    if n: return deep(clocks, main, n - 1)
    for _ in range(3): spin(0.02)
    clocks.switch(main)
    if random.random() < 0.2: raise KeyError(n)
def body(clocks, main):
    total = 0
    for i in numbers(clocks, main, 12):
        try: deep(clocks, main, random.randrange(4))
        except KeyError: total += 1
        spin(0.05)
    return total
def thread(t):
    clocks, main = Clocks(), greenlet.getcurrent()
    clocks.go_on(f"main{t}")
    workers, made = [], []
    for n in range(N):
        space = {"body": body, "clocks": clocks, "main": main}
        exec(f"def w{t}_{n}(): return body(clocks, main)", space)
        workers.append(clocks.run(space[f"w{t}_{n}"]))
    while workers:
        each = random.choice(workers)
        if random.random() < 0.02 and each:
            workers.remove(each) # is thrown GreenletExit into when it is forgotten
            clocks.leave(); del each; clocks.go_on(f"main{t}")
            continue
        clocks.switch(each)
        if each.dead: workers.remove(each)
    all_clocks.append(clocks)
all_clocks = []
early = [threading.Thread(target=thread, args=(t,)) for t in range(1, 3)]
if THREADS:
    for e in early: e.start()
    for e in early: e.join()
before = greenlet.settrace(log)
thread(0)
greenlet.settrace(before)
inner, outer = collections.Counter(), collections.Counter()
for c in all_clocks: inner.update(c.inner); outer.update(c.outer)
write(inner=inner, outer=outer, switches=sum(switches.values()))
"""


# As gevent does it: a greenlet that only switches, to those whose time has come.
GEVENT = CLOCKS + """
from gevent import monkey
monkey.patch_all()
import gevent, queue
def work(n):
    for _ in range(4): spin(0.5); time.sleep(0.001)
def produce(q):
    for i in range(20): q.put(i); gevent.sleep(0)
def consume(q):
    for _ in range(20): spin(0.1); q.get()
def stopped():
    while True: spin(0.1); gevent.sleep(0.001)
q = queue.Queue(3)
jobs = [gevent.spawn(work, i) for i in range(10)] + [gevent.spawn(produce, q), gevent.spawn(consume, q)]
late = gevent.spawn(stopped)
gevent.joinall(jobs)
late.kill()
try:
    with gevent.Timeout(0.01): time.sleep(10)
except gevent.Timeout: pass
t = threading.Thread(target=work, args=(3,)); t.start(); t.join()
gevent.get_hub().threadpool.apply(work, (2,))
write()
"""

# A bridge from coroutines to functions and back (SQLAlchemy's greenlet_spawn), in tasks.
BRIDGE = CLOCKS + """
import asyncio
def await_only(awaitable): return greenlet.getcurrent().parent.switch(awaitable)
async def greenlet_spawn(function, *args):
    context = greenlet.greenlet(function)
    result = context.switch(*args)
    while not context.dead:
        try: value = await result
        except BaseException: result = context.throw(*sys.exc_info())
        else: result = context.switch(value)
    return result
async def fetch(n):
    spin(1)
    await asyncio.sleep(0.001)
    if n == 3: raise KeyError(n)
    return n
def function(n):
    total = 0
    for i in range(5):
        spin(2)
        try: total += await_only(fetch(i))
        except KeyError: total += 100
    return total
async def request(n): return await greenlet_spawn(function, n)
async def main(): return await asyncio.gather(*[request(n) for n in range(4)])
write(results=asyncio.run(main()))
"""

# Threads that run already when greenlet is loaded, by code that is known by then: the first event of each after that tells.
LATE = """
import json, sys, threading
loaded, done = threading.Event(), []
def work(n):
    total = 0
    for i in range(n): total += leaf(i)
    return total
def leaf(i): return i
def thread():
    work(3)
    loaded.wait()
    leaf(0)
    import greenlet
    main = greenlet.getcurrent()
    def inner():
        for i in range(4): work(i); main.switch()
    a, b = greenlet.greenlet(inner), greenlet.greenlet(inner)
    while not (a.dead and b.dead):
        for each in a, b: each.dead or each.switch()
    done.append(1)
threads = [threading.Thread(target=thread) for _ in range(3)]
for t in threads: t.start()
import greenlet
loaded.set()
for t in threads: t.join()
with open(OUT, "w") as file: json.dump(len(done), file)
"""

# Sessions beside a tracer of the program's own, which is called all the time and is there afterwards, as it was.
SHARED = """
import json, sys
sys.path.insert(0, FOLDER)
import greenlet, ocular
seen = []
def tracer(event, args): seen.append((event, args[1] is greenlet.getcurrent()))
def body():
    greenlet.getcurrent().parent.switch()
    raise KeyError
def once():
    g = greenlet.greenlet(body)
    g.switch()
    try: g.switch()
    except KeyError: pass
greenlet.settrace(tracer)
once()
wanted, places = list(seen), []
def session(n, inside):
    ocular.start_tracing(output=OUT + str(n), perfetto=None, console=False)
    inside()
    ocular.stop_tracing()
    places.append(greenlet.gettrace() is tracer)
def other():
    # one that comes later, calls the one before, and goes
    before = greenlet.settrace(lambda *args: before(*args))
    once()
    greenlet.settrace(before)
def stays():
    before = greenlet.settrace(lambda *args: before(*args))
    once()
def in_greenlet():
    g = greenlet.greenlet(lambda: session(4, once))
    g.switch()
session(1, once); session(2, other); in_greenlet(); session(3, stays)
once()
same = all(seen[i:i + len(wanted)] == wanted for i in range(0, len(wanted) * 3, len(wanted)))
with open(OUT, "w") as file: json.dump([places, len(seen), len(wanted), same], file)
"""

# What a package of that name without settrace() looks like.
UNTOLD = """
import json, os, sys, types
package, module = types.ModuleType("greenlet"), types.ModuleType("greenlet._greenlet")
sys.modules["greenlet"], sys.modules["greenlet._greenlet"] = package, module
def f(): pass
f()
import colorsys
with open(OUT, "w") as file: json.dump(1, file)
"""


def recorded(python, folder, source, *options, **settings):
    """The summary of a program's recording, and what it wrote."""
    os.makedirs(folder, exist_ok=True)
    program, out, data = (os.path.join(folder, name) for name in ("program.py", "out.json", "data"))
    with open(program, "w", encoding="utf-8") as file:
        file.write(source.replace("OUT", repr(out)))
    environment = recording.traced_environment(settings.pop("mode", "calls"), **settings)
    done = recording.record(data, [python, program], environment, *options, cwd=folder)
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(out, encoding="utf-8") as file:
        return data, recording.summary(data), json.load(file)


def losses(summary):
    """What must be 0: nothing is lost, and each return has its call."""
    found = summary["losses"]
    return [f"{key} {found[key]}" for key in ("markers", "gaps", "unmatched", "mismatches", "skipped") if found.get(key)]


def misfits(figures, truth):
    """Figures by name, against both of the program's clocks; Ocular's clock may differ by a thousandth."""
    low, high = truth["inner"], truth["outer"]
    return [f"{name}: {figures.get(name)} is not from {low[name]} to {high.get(name)}" for name in low
            if not low[name] * 0.999 <= figures.get(name, -1) <= high.get(name, 1 << 63) * 1.001]


def totals(summary):
    """{name: ns} of the functions that greenlets run, and how long greenlets ran, by their function."""
    functions = {f["qualname"][3:]: f["total_ns"] for f in summary["functions"] if f["qualname"].startswith("of_")}
    greenlets = {}
    for g in summary["greenlets"]:
        name = (g["function"] or "")[3:]
        greenlets[name] = greenlets.get(name, 0) + g["running_ns"]
    return functions, greenlets


def check_two(python, mode, folder):
    _, summary, truth = recorded(python, folder, TWO, mode=mode, OCULAR_ALSO="c_calls" if mode == "lines" else "")
    del truth["inner"]["main"]
    problems = losses(summary)
    for figures in totals(summary):
        problems += misfits(figures, truth)
    return problems


def check_random(python, threads, folder):
    _, summary, truth = recorded(python, folder, RANDOM.replace("THREADS", str(threads)), OCULAR_ALSO="c_calls" if threads else "")
    mains = [name for name in truth["inner"] if name.startswith("main")]
    for name in mains:
        del truth["inner"][name]
    functions, greenlets = totals(summary)
    problems = losses(summary) + misfits(functions, truth) + misfits(greenlets, truth)
    if len(truth["inner"]) != (36 if threads else 12) or len(summary["greenlets"]) != len(truth["inner"]) + len(mains):
        problems.append(f"{len(summary['greenlets'])} greenlets of {len(truth['inner'])} and {len(mains)}")
    switches = sum(g["switches"] for g in summary["greenlets"])
    if switches != truth["switches"] and not threads:
        problems.append(f"{switches} switches, not {truth['switches']}")
    return problems


def calls(summary):
    return {f["qualname"]: f["calls"] for f in summary["functions"] if f["origin"] == "own"}


def check_gevent(python, also, folder):
    _, summary, _ = recorded(python, folder, GEVENT, OCULAR_ALSO=also)
    told, wanted = calls(summary), {"work": 12, "produce": 1, "consume": 1, "stopped": 1}
    own = {f["qualname"]: f for f in summary["functions"] if f["origin"] == "own"}
    problems = losses(summary) + [f"{told}"] * any(told.get(name) != n for name, n in wanted.items())
    problems += [f"{f} not ended" for f in wanted if own[f]["unfinished"]]
    # Each spins for at least so long; what the others spin meanwhile is not in it: all of them together have no more than spin().
    for name, ms in {"work": 12 * 4 * 0.5, "consume": 2}.items():
        if own[name]["total_ns"] < ms * 1e6:
            problems.append(f"{name}: {own[name]['total_ns']}")
    spun = sum(own[name]["total_ns"] - own[name]["self_ns"] for name in wanted if name in own)
    if own["spin"]["total_ns"] > spun:
        problems.append(f"spin: {own['spin']['total_ns']} of {spun}")
    return problems


def check_bridge(python, folder):
    _, summary, truth = recorded(python, folder, BRIDGE)
    own = {f["qualname"]: f for f in summary["functions"] if f["origin"] == "own"}
    least = {"function": 4 * 5 * 2e6, "fetch": 4 * 5 * 1e6, "spin": 4 * 5 * 3e6}
    problems = losses(summary) + [f"{name}: {own[name]['total_ns']}" for name, ns in least.items() if own[name]["total_ns"] < ns]
    # On a CPU: what else runs on the machine meanwhile is in no function's time.
    total, self = ({name: f[key] for name, f in own.items()} for key in ("total_cpu_ns", "self_cpu_ns"))
    both, parts = total["function"] + total["fetch"], total["spin"] + sum(ns for name, ns in self.items() if name != "spin")
    if both > parts + 2e6:
        problems.append(f"{both} of {parts}")
    tasks = [t for t in summary["tasks"] if t["coroutine"] == "request"]
    if truth["results"] != [107] * 4 or len(tasks) != 4 or any(t["running_ns"] < 15e6 for t in tasks):
        problems.append(f"{truth} {tasks}")
    return problems


def check_late(python, include, folder):
    _, summary, done = recorded(python, folder, LATE, **include)
    told = calls(summary)
    found = [g["switches"] for g in summary["greenlets"]]
    wanted = [5] * 6 + [10] * 3 # each inner() ends after 4 switches of its own, to which its end comes
    problems = losses(summary) + [f"{found}"] * (sorted(found) != wanted)
    return problems + [f"{told} {done}"] * (done != 3 or told["thread.<locals>.inner"] != 6 or told["work"] != 27)


def check_shared(python, folder):
    out = os.path.join(folder, "out")
    path = os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SHARED.replace("FOLDER", repr(os.path.join(recording.BUILD, "python"))).replace("OUT", repr(out)))
    done = recording.run([python, path], env=recording.plain_environment())
    if done.returncode:
        return [done.stderr]
    with open(out, encoding="utf-8") as file:
        places, seen, wanted, same = json.load(file)
    problems = [done.stderr] * bool(done.stderr)
    problems += [f"{places} {seen} {wanted} {same}"] * (places != [True, True, True, False] or seen != 6 * wanted + 2 or not same)
    for n in range(1, 5):
        summary = recording.summary(out + str(n))
        found = sorted(g["switches"] for g in summary["greenlets"])
        problems += losses(summary) + [f"session {n}: {found}"] * (found != [2, 2])
    return problems


def check_untold(python, folder):
    data, summary, _ = recorded(python, folder, UNTOLD)
    said = "Switches of greenlets are not told, for lack of settrace()"
    text = recording.run([recording.WRAPPER, "report", data], env=recording.plain_environment()).stdout
    return [text] * (said not in text or summary["processes"][0].get("greenlets_told") is not False)


def check_selected(python, folder):
    data, summary, _ = recorded(python, folder, TWO)
    part = recording.summary(data, "function=of_sixty")
    told, times = calls(part), [{f["qualname"]: f["total_ns"] for f in s["functions"]}["of_sixty"] for s in (summary, part)]
    return losses(part) + [f"{told} {times}"] * (told.get("spin") != 6 or "of_seventy" in told or times[0] != times[1])


def check_tracks(python, folder):
    data, _, _ = recorded(python, folder, TWO)
    path = os.path.join(folder, "timeline.json")
    recording.report(data, f"perfetto={path}")
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    stacks, on, problems = {}, {}, []
    for e in events:
        stack = stacks.setdefault(e["tid"], [])
        if e["ph"] == "B":
            on.setdefault(e["name"], set()).add(names.get(e["tid"]))
            stack.append(e["name"])
        elif e["ph"] == "E" and (not stack or stack.pop() != e["name"]):
            problems.append(f"{e} closes another slice")
    wanted = {"sixty": {"greenlet 2: of_sixty"}, "seventy": {"greenlet 3: of_seventy"}, "<module>": {"MainThread"},
              "spin": {"greenlet 2: of_sixty", "greenlet 3: of_seventy"}}
    return problems + [f"{name}: {on.get(name)}" for name in wanted if on.get(name) != wanted[name]]


def check_said(python, folder):
    """A span is shown while its greenlet runs, on that one's track, and in the summary from its beginning to its end."""
    data, _, truth = recorded(python, folder, SAID)
    path = os.path.join(folder, "timeline.json")
    spans = {row["name"]: row for row in recording.summary(data, f"perfetto={path}")["spans"]}
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    names = {e["tid"]: e["args"]["name"].split(":")[0] for e in events if e["name"] == "thread_name"}
    begun, pieces, ns = {}, {}, {}
    for e in events:
        key = names.get(e.get("tid")), e["name"]
        if e["ph"] == "B" and e.get("cat") == "span":
            begun[key] = e["ts"]
            pieces[key] = pieces.get(key, 0) + 1
        elif e["ph"] == "E" and key in begun:
            ns[key] = ns.get(key, 0) + 1000 * (e["ts"] - begun.pop(key))
    wanted = {("greenlet 2", "said"): 4, ("greenlet 3", "said"): 6, ("greenlet 3", "inner"): 6}
    problems = [f"{pieces}"] * (pieces != wanted or bool(begun))
    for key, name in (("greenlet 2", "said"), "one"), (("greenlet 3", "said"), "two"):
        problems += misfits({name: ns.get(key, 0)}, {"inner": {name: truth["ran"][name]}, "outer": truth["outer"]})
    if (spans["said"]["count"], spans["inner"]["count"]) != (2, 1):
        problems.append(f"{spans}")
    return problems + misfits({name: row["total_ns"] for name, row in spans.items()}, truth["spans"])


def cases(python, _):
    version = recording.version(python) + "t" * recording.is_free(python)
    yield f"{version} without settrace()", check_untold, python
    free, python, gevent = recording.is_free(python), recording.venv(python, "greenlet"), python
    if not python:
        yield f"{version} greenlets", recording.NO_VENV
        return
    for mode in recording.MODES:
        yield f"{version} {mode}: 60 and 70 ms", check_two, python, mode
    yield f"{version} at random", check_random, python, False
    yield f"{version} at random, in threads", check_random, python, True
    yield f"{version} loaded late", check_late, python, {}
    yield f"{version} loaded late, by code that is left out", check_late, python, {"OCULAR_INCLUDE": "*/program.py"}
    yield f"{version} beside the program's own tracer", check_shared, python
    yield f"{version} from coroutines", check_bridge, python
    yield f"{version} on the timeline", check_tracks, python
    yield f"{version} spans", check_said, python
    yield f"{version} one of them", check_selected, python
    gevent = None if free else recording.venv(gevent, "gevent")
    for also in ("", "c_calls") if gevent else ():
        yield f"{version} gevent {also}", check_gevent, gevent, also


if __name__ == "__main__":
    recording.run_cases(cases)
