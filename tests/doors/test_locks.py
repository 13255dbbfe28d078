#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which lock threads wait for: the line that made it, as the source text has it, and how long, as the program measures."""

import json
import os

import recording

# Threads wait for these, too: until they have begun, for work.
BESIDE = {"pool", "thread"}
# A line with MADE makes one; the waits for it are noted under what follows.
PROGRAM = '''
import concurrent.futures, json, os, queue, resource, sys, threading, time
told = {}
class Store:
    def __init__(self):
        self.lock = threading.Lock()  # MADE lock
class Own(threading.Condition):
    pass
store = Store()
rlock = threading.RLock()  # MADE rlock
condition = Own()  # MADE condition
things = queue.Queue()  # MADE queue
event = threading.Event()  # MADE event
semaphore = threading.Semaphore(0)  # MADE semaphore
barrier = threading.Barrier(2)  # MADE barrier
pair = [threading.Lock(), threading.Lock()]  # MADE pair
pool = concurrent.futures.ThreadPoolExecutor(1)  # MADE pool

def takes(lock):
    lock.acquire()
    lock.release()

def waits():
    with condition:
        condition.wait()

def notifies():
    with condition:
        condition.notify()

def measured(name, wait):
    begin = time.monotonic_ns()
    wait()
    told.setdefault(name, []).append(time.monotonic_ns() - begin)

def meets(name, wait, wake):
    thread = threading.Thread(target=measured, args=(name, wait))  # MADE thread
    thread.start()
    time.sleep(0.02)
    wake()
    thread.join()

def all_of_them():
    for name, lock in ("lock", store.lock), ("rlock", rlock), ("pair", pair[0]), ("pair", pair[1]):
        lock.acquire()
        meets(name, lambda: takes(lock), lock.release)
    meets("condition", waits, notifies)
    meets("queue", lambda: things.get(timeout=5), lambda: things.put(1))
    meets("event", event.wait, event.set)
    meets("semaphore", semaphore.acquire, semaphore.release)
    meets("barrier", barrier.wait, barrier.wait)
    future = pool.submit(time.sleep, 0.02)  # MADE future
    measured("future", future.result)

def many():
    """Locks come and go: the table of those that are there does not grow."""
    for _ in range(20000):
        threading.Lock()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200000):
        threading.Lock()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024, "memory grows"

'''
MAIN = PROGRAM + """
all_of_them()
many()
receives, sends = os.pipe()
if os.fork():
    told["lock"].append(int(os.read(receives, 64)))
    os.wait()
    json.dump(told, sys.stdout)
else:
    told = {}
    store.lock.acquire()
    meets("lock", lambda: takes(store.lock), store.lock.release)
    os.write(sends, b"%d" % told["lock"][0])
    os._exit(0)
"""
# Tracing begins when the locks are there already.
LATE = PROGRAM + """
sys.path.insert(0, FOLDER)
import ocular
ocular.start_tracing(output=OUTPUT, perfetto=None, console=False)
all_of_them()
ocular.stop_tracing()
json.dump(told, sys.stdout)
"""


def lines():
    """{line: name} of those that the program makes."""
    return {n: line.split("MADE ")[1] for n, line in enumerate(PROGRAM.splitlines(), 1) if "MADE " in line}


def write(folder, source):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    return path


def seen(python):
    """Those that are semaphores: no byte in the object itself, which threads wait for on a semaphore of their own."""
    words = "import _thread, sys; print(type(_thread.allocate_lock()).__basicsize__ - object.__basicsize__, sys.version_info < (3, 14))"
    size, old = recording.run([python, "-c", words], env=recording.plain_environment()).stdout.split()
    return set() if old == "False" else {*lines().values()} if int(size) > 8 else {"rlock"}


def test_places(python, folder):
    path, record = write(folder, MAIN), os.path.join(folder, "rec")
    done = recording.record(record, [python, path], recording.traced_environment("calls"))
    if done.returncode:
        return [done.stderr]
    told, summary = json.loads(done.stdout), recording.summary(record)
    rows = [row for row in summary["locks"] if row["file"] == path]
    return compare({name: ns for name, ns in told.items() if name in seen(python)}, rows, summary)


def compare(told, rows, summary):
    made, problems, cpu_known = lines(), [], summary["threads"][0]["cpu_ns"] is not None
    found = {}
    for row in rows:
        name = made.get(row["line"], f"line {row['line']}")
        found.setdefault(name, [0, 0])
        found[name] = [found[name][0] + row["count"], found[name][1] + row["ns"]]
    problems += [f"not told: {name}" for name in told.keys() - found.keys()]
    problems += [f"told: {name}, {found[name]}" for name in found.keys() - told.keys() - BESIDE]
    for name in told.keys() & found.keys():
        count, ns = found[name]
        longest = sum(told[name]) + 1000000 * len(told[name])
        if name == "future": # its thread waits for the same condition, too
            longest = ns
        if count < len(told[name]) or ns > longest or (cpu_known and 4 * ns < sum(told[name])):
            problems.append(f"{name}: {count} waits of {ns} ns, the program measured {told[name]}")
    return problems


def test_made_before(python, folder):
    """What was made before is not known, and nothing is guessed."""
    record = os.path.join(folder, "rec")
    source = LATE.replace("FOLDER", repr(os.path.join(recording.BUILD, "python"))).replace("OUTPUT", repr(record))
    path = write(folder, source)
    done = recording.run([python, path], env=recording.plain_environment())
    if done.returncode:
        return [done.stderr]
    rows = [row for row in recording.summary(record)["locks"] if row["file"] == path]
    names = {lines().get(row["line"]) for row in rows}
    return [f"told {rows}"] * (names - BESIDE != {"future"} & seen(python))


# They have it for 0.1 s. A thread that starts another waits, too, until that runs: for 6 ms on a busy machine.
HELD_NS = 50_000_000
# What must not be told wrong: {file: text}, the line that made the lock, or None: not known.
SURE = {
    "remade in a child": ({"app.py": """
import os, threading, time
lock, other = threading.Lock(), threading.Lock()
os.register_at_fork(after_in_child=lock._at_fork_reinit)
def take(l):
    l.acquire(), l.release()
def meet(l):
    l.acquire()
    t = threading.Thread(target=take, args=(l,))
    t.start(), time.sleep(0.1), l.release(), t.join()
def forks():
    return os.fork()
if forks():
    os.wait()
else:
    meet(lock)
    os._exit(0)
"""}, None),
    "the program's own queue.py": ({"app.py": """
import threading, time
from pkg import queue
def take(l):
    l.acquire(), l.release()
lock = queue.make()
lock.acquire()
t = threading.Thread(target=take, args=(lock,))
t.start(), time.sleep(0.1), lock.release(), t.join()
""", "pkg/__init__.py": "", "pkg/queue.py": "import threading\ndef make():\n    return threading.Lock()\n"}, ("pkg/queue.py", 3)),
    "further than a word can say": ({"app.py": "import threading, time\ndef take(l):\n    l.acquire(), l.release()\n" + "\n" * 70000 + """
lock = threading.Lock()
lock.acquire()
t = threading.Thread(target=take, args=(lock,))
t.start(), time.sleep(0.1), lock.release(), t.join()
"""}, None),
}


def test_sure(python, texts, place, folder):
    for name, text in texts.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    record = os.path.join(folder, "rec")
    done = recording.record(record, [python, os.path.join(folder, "app.py")], recording.traced_environment("calls"))
    rows = [(os.path.relpath(row["file"], folder), row["line"]) for row in recording.summary(record)["locks"] if row["longest_ns"] > HELD_NS]
    wanted = [place] * (place is not None and "lock" in seen(python))
    return [done.stderr, f"told {rows}, not {wanted}"] * (rows != wanted)


# Tracing begins inside f(): what ran before has no id, and its caller has not made the lock.
MID = """
import sys, time, threading
sys.path.insert(0, FOLDER)
import ocular
def take(l):
    l.acquire(), l.release()
def g(n):
    if n:
        return f()
def f():
    ocular.start_tracing(output=OUTPUT, perfetto=None, console=False)
    g(0)
    lock = threading.Lock()
    lock.acquire()
    t = threading.Thread(target=take, args=(lock,))
    t.start(), time.sleep(0.1), lock.release(), t.join()
    ocular.stop_tracing()
g(1)
"""


def test_in_the_middle(python, folder):
    record = os.path.join(folder, "rec")
    path = write(folder, MID.replace("FOLDER", repr(os.path.join(recording.BUILD, "python"))).replace("OUTPUT", repr(record)))
    done = recording.run([python, path], env=recording.plain_environment())
    rows = [row for row in recording.summary(record)["locks"] if row["longest_ns"] > HELD_NS]
    return [done.stderr, f"told {rows}"] * bool(rows)


def cases(python, _):
    version = recording.version(python) + "t" * recording.is_free(python)
    yield f"{version} places", test_places, python
    yield f"{version} made before tracing", test_made_before, python
    for name, (texts, place) in SURE.items():
        yield f"{version} {name}", test_sure, python, texts, place
    yield f"{version} tracing begins in the function", test_in_the_middle, python


if __name__ == "__main__":
    recording.run_cases(cases)
