# SPDX-License-Identifier: MIT
"""Threads, forks, executed programs, sub-interpreters: each has its own stream, complete."""

import collections
import os
import subprocess
import sys
import tempfile

import rec

WORK = """
def work(n):
    for i in range(n):
        pass
"""


def jumps_by(events, *keys):
    return collections.Counter(tuple(getattr(e, k) for k in keys) for e in events if e.name == "JUMP")


def no_losses(r):
    rec.equal([e for e in r.events() if e.name in ("GAP", "FOREIGN")], [])
    rec.equal([s["lost"] for s in r.lines("stop")].count(0), len(r.lines("stop")))


def test_threads_at_the_same_time():
    with rec.recording(WORK + """
import threading
started = threading.Barrier(8)
def body(n):
    started.wait()
    work(n)
threads = [threading.Thread(target=body, args=(1000 + i,), name="T%d" % i) for i in range(8)]
for t in threads: t.start()
for t in threads: t.join()
""") as r:
        rec.equal(r.code, 0, r.err)
        counts = jumps_by(r.events("work"), "tid")
        rec.equal(sorted(counts.values()), [1000 + i for i in range(8)])
        names = {t["tid"]: t["name"] for t in r.lines("thread")}
        rec.equal({names[tid]: n for (tid,), n in counts.items()}, {"T%d" % i: 1000 + i for i in range(8)})
        no_losses(r)


def test_a_thread_s_name_may_stop_tracing():
    """It is asked for within the thread's first event, and may be a property."""
    for how in ("monitor.stop()", "monitor.stop(); monitor.start(os.environ['OCULAR_DIR'], backend='software')",
                "for name in events: monitoring.register_callback(tool, getattr(monitoring.events, name), None)"):
        with rec.recording("""
import os, sys, threading
from sys import monitoring
from ocular import monitor
class Stops(threading.Thread):
    @property
    def _name(self):
        exec(sys.argv[1])
        asked.append(self)
        return "a property"
    @_name.setter
    def _name(self, value):
        pass
    def run(self):
        pass
asked = []
tool = next(i for i in range(6) if monitoring.get_tool(i) == "ocular")
events = list(monitor._session.events)
thread = Stops()
thread.start()
thread.join()
print(asked != [])
""", args=[how]) as r:
            rec.equal((r.code, r.out, r.err), (0, "True\n", ""), how)


def test_forks_of_forks_know_their_code():
    """Whoever is between may have traced nothing, as where a program makes itself a daemon: then it has no code table."""
    f = """
import os
def f():
    pass
for i in range(10): f()
"""
    for what, source, forks in (
            ("daemon", "if not os.fork():\n    if not os.fork():\n        for i in range(1000): f()\n    os._exit(0)\n", 2),
            ("three forks", "if not (os.fork() or os.fork() or os.fork()):\n    for i in range(1000): f()\n", 3),
            ("new code between", "if not os.fork():\n    exec('def g(): pass\\ng()')\n    if not os.fork():\n"
             "        exec('def h(): pass\\nh()')\n        for i in range(1000): f()\n", 2),
            ("in a thread", """
import threading
def twice():
    if not os.fork():
        if not os.fork():
            for i in range(1000): f()
        os._exit(0)
t = threading.Thread(target=twice)
t.start()
t.join()
""", 2),
            ("multiprocessing", """
import multiprocessing
def inner():
    for i in range(1000): f()
def outer():
    p = context.Process(target=inner)
    p.start()
    p.join()
context = multiprocessing.get_context("fork")
p = context.Process(target=outer)
p.start()
p.join()
""", 2)):
        with rec.recording(f + source) as r:
            rec.equal(r.code, 0, what + r.err)
            events = r.events("f")
            calls = collections.Counter(e.pid for e in events if e.name == "PY_START")
            rec.equal(sorted(calls.values()), [10, 1000], what)
            rec.equal([e for e in r.events("?") if e.file == "?"], [], what)
            tables = r.tables()
            for pid, lines in tables.items():
                parent = lines[0].get("parent")
                assert parent is None or parent in tables, (what, pid, parent)
            if what.startswith("new"):
                rec.equal([len(r.events(name)) for name in "gh"], [2, 2], what)


def test_200_short_threads_hand_rings_on():
    with rec.recording(WORK + """
import threading
for i in range(200):
    t = threading.Thread(target=work, args=(i + 1,)); t.start(); t.join()
""") as r:
        rec.equal(r.code, 0, r.err)
        rec.equal(sorted(jumps_by(r.events("work"), "tid").values()), list(range(1, 201)))
        no_losses(r)


def test_fork_has_its_own_stream_and_table():
    with rec.recording(WORK + """
import os
work(10)
pid = os.fork()
if not pid:
    work(20)
    def fresh(): pass
    fresh()
    os._exit(0)
os.waitpid(pid, 0)
work(30)
""") as r:
        rec.equal(r.code, 0, r.err)
        counts = jumps_by(r.events("work"), "pid")
        rec.equal(sorted(counts.values()), [20, 40])
        child = min(counts, key=counts.get)[0]
        parent = max(counts, key=counts.get)[0]
        header = r.tables()[child][0]
        rec.equal((header["kind"], header["pid"], header["parent"]), ("header", child, parent))
        fresh = [x for x in r.tables()[child] if x.get("qualname") == "fresh"]
        assert fresh and fresh[0]["id"] >= header["first_id"]
        no_losses(r)


def test_children_of_children_that_run_their_parents_code_have_a_table():
    with rec.recording(WORK + """
import os
def fork(depth):
    pid = os.fork()
    if not pid:
        work(10 + depth)
        if depth:
            fork(depth - 1)
        os._exit(0)
    os.waitpid(pid, 0)
fork(2)
work(30)
""") as r:
        rec.equal(r.code, 0, r.err)
        by_pid = {n: pid for (pid,), n in jumps_by(r.events("work"), "pid").items()}
        rec.equal(sorted(by_pid), [10, 11, 12, 30])
        line = [by_pid[n] for n in (30, 12, 11, 10)]
        rec.equal([r.tables()[pid][0].get("parent") for pid in line], [None, *line[:-1]])
        no_losses(r)


def test_threads_and_forks_together():
    with rec.recording(WORK + """
import os, threading
stop = threading.Event()
def noise(): # millions of events would take Python minutes to read
    while not stop.wait(0.0005): work(100)
threads = [threading.Thread(target=noise) for _ in range(3)]
for t in threads: t.start()
pids = []
for i in range(20):
    pid = os.fork()
    if not pid:
        work(7)
        os._exit(0)
    pids.append(pid)
codes = [os.waitpid(p, 0)[1] for p in pids]
stop.set()
for t in threads: t.join()
assert not any(codes), codes
""", python=["-Wignore"]) as r:
        rec.equal(r.code, 0, r.err)
        counts = jumps_by(r.events("work"), "pid")
        rec.equal(sorted(counts.values())[:20], [7] * 20)
        no_losses(r)


def test_exec_in_the_same_process():
    with rec.recording(WORK + """
import os, sys
work(3)
if len(sys.argv) == 1:
    os.execv(sys.executable, [sys.executable, __file__, "again"])
""") as r:
        rec.equal(r.code, 0, r.err)
        rec.equal(list(jumps_by(r.events("work"), "pid").values()), [6])
        table, = r.tables().values()
        headers = [x for x in table if x["kind"] == "header"]
        rec.equal(len(headers), 2)
        ids = [x["id"] for x in table if x["kind"] == "code"]
        rec.equal(len(ids), len(set(ids)), "an id came twice")
        assert headers[1]["first_id"] > max(i for i in ids if i < headers[1]["first_id"])


def test_children_that_are_executed():
    with rec.recording(WORK + """
import subprocess, sys
if len(sys.argv) == 1:
    for n in (5, 6):
        subprocess.run([sys.executable, __file__, str(n)], check=True)
else:
    work(int(sys.argv[1]))
""") as r:
        rec.equal(r.code, 0, r.err)
        rec.equal(sorted(jumps_by(r.events("work"), "pid").values()), [5, 6])


def test_spawned_multiprocessing_children():
    with rec.recording(WORK + """
import multiprocessing
if __name__ == "__main__":
    ctx = multiprocessing.get_context("spawn")
    p = ctx.Process(target=work, args=(9,)); p.start(); p.join()
""") as r:
        rec.equal(r.code, 0, r.err)
        rec.equal(list(jumps_by(r.events("work"), "pid").values()), [9])


def test_old_child_is_noted_not_disturbed():
    with rec.recording("""
import subprocess, sys
sys.exit(subprocess.run([sys.argv[1], "-c", "print(1)"]).returncode)
""", args=[rec.old_python()]) as r:
        rec.equal((r.code, r.out, r.err), (0, "1\n", ""))
        note, = r.lines("untraced")
        assert "3.12 or newer" in note["reason"], note


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
    make = interpreters.create
except ImportError:
    import _xxsubinterpreters as interpreters
    make = lambda: interpreters.create(isolated=%s)
def run_inner(i):
    interpreters.run_string(i, '''
def inner(n):
    for i in range(n):
        pass
inner(11)
''')
"""


def subinterpreters(isolated):
    with rec.recording(WORK + SUBINTERPRETER % isolated + """
work(4)
a, b = make(), make()
for i in (a, b):
    run_inner(i)
work(5)
interpreters.destroy(a)
interpreters.destroy(b)
work(6)
""") as r:
        rec.equal((r.code, r.err), (0, ""))
        rec.equal(sum(jumps_by(r.events("work"), "pid").values()), 15)
        rec.equal(sum(jumps_by(r.events("inner"), "pid").values()), 22)
        rec.equal(len(r.code_of("inner")), 2)
        rec.equal(len(r.lines("stop")), 1)
        no_losses(r)


def test_sub_interpreters_with_their_own_gil():
    subinterpreters(True)


def test_sub_interpreters_that_the_end_of_python_destroys():
    """After the main interpreter has left: what the process keeps is no interpreter's, whose memory it would be."""
    source = WORK + SUBINTERPRETER % True + """
ids = [make(), make()]
for i in ids:
    run_inner(i)
work(5)
"""
    plain = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    with rec.recording(source) as r:
        rec.equal((r.code, r.err), (plain.returncode, plain.stderr))  # CPython from 3.14 on warns of them
        rec.equal(plain.returncode, 0)
        rec.equal(sum(jumps_by(r.events("work"), "pid").values()), 5)
        rec.equal(sum(jumps_by(r.events("inner"), "pid").values()), 22)
        no_losses(r)


def test_sub_interpreters_sharing_the_gil():
    if sys.version_info >= (3, 13):
        raise rec.Skip("3.13's _interpreters.create() makes isolated ones only")
    subinterpreters(False)


def test_a_sub_interpreter_that_starts_itself():
    """Into the recording of the process, or not at all."""
    with tempfile.TemporaryDirectory() as temp:
        done = subprocess.run([sys.executable, "-c", WORK + SUBINTERPRETER % True + """
import ocular, os
code = '''
import ocular, warnings
def inner(n):
    for i in range(n):
        pass
with warnings.catch_warnings(record=True) as told, ocular.tracing(output=%r, perfetto=False, console=False):
    if ocular.is_tracing():
        inner(7)
for w in told:
    print(w.message, flush=True)
'''
i = make()
with ocular.tracing(output="a", perfetto=False, console=False):
    work(3)
    interpreters.run_string(i, code % "b")
    interpreters.run_string(i, code % "a")
    work(3)
print(os.listdir("."), flush=True)
interpreters.run_string(i, code % "b")
"""], cwd=temp, env=dict(os.environ, PYTHONPATH=os.path.dirname(rec.HOOK)), capture_output=True, text=True, timeout=120)
        folder = os.path.realpath(temp) + "/"
        rec.equal((done.returncode, done.stdout), (0, "ocular: this is not traced: already tracing into %sa\n['a']\n" % folder), done.stderr)
        for name, jumps in ("a", {"work": 6, "inner": 7}), ("b", {"inner": 7}):
            r = rec.Recording(folder + name, done)
            for function, n in jumps.items():
                rec.equal(sum(e.name == "JUMP" for e in r.events(function)), n)
            rec.equal((len(r.lines("stop")), r.lines("stop")[0]["lost"]), (1, 0))


def test_sub_interpreters_in_threads_of_their_own():
    with rec.recording(SUBINTERPRETER % True + """
import threading
code = '''
def inner(n):
    for i in range(n):
        pass
inner(20000)
'''
ids = [make() for _ in range(3)]
threads = [threading.Thread(target=interpreters.run_string, args=(i, code)) for i in ids]
for t in threads: t.start()
for t in threads: t.join()
for i in ids: interpreters.destroy(i)
""") as r:
        rec.equal((r.code, r.err), (0, ""))
        rec.equal(sorted(jumps_by(r.events("inner"), "tid").values()), [20000] * 3)
        no_losses(r)


def test_forced_small_ring_loses_nothing_when_it_may_wait():
    with rec.recording(WORK + "work(300000)\n", recorder=["--ring-records", "256", "--wait-ms", "10000"]) as r:
        rec.equal(sum(jumps_by(r.events("work"), "pid").values()), 300000)
        no_losses(r)


def test_overrun_is_counted_exactly():
    with rec.recording(WORK + "work(300000)\n", recorder=["--ring-records", "256", "--wait-ms", "0"]) as r:
        rec.equal(r.code, 0, r.err)
        stop, = r.lines("stop")
        events = r.events("work")
        seen = sum(e.name == "JUMP" for e in events)
        assert stop["lost"] > 0, "the ring was meant to overrun"
        assert seen + stop["lost"] >= 300000 and seen < 300000, (seen, stop)


def test_no_descriptor_stays_open():
    with rec.recording("""
import os
print(sorted(os.listdir("/proc/self/fd"), key=int)[:-1])
""") as r:
        rec.equal(r.out, "['0', '1', '2']\n", r.err)


if __name__ == "__main__":
    rec.run(globals())
