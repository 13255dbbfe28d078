# SPDX-License-Identifier: MIT
"""Words at the ring's end: those that take two, and those that a thread begins with in another's ring.

The rings are small and the recorder is stopped again and again: a thread that is wrong about the room in its ring
overwrites unread words. Each function goes its lines in one way, so that it is known how many there are.
"""

import collections
import json
import os
import subprocess

import rec

SOURCE = """
import os, subprocess, threading

# Lines from 1,100,000 on need a word before their own.
scope = {}
exec(compile("\\n" * 1_100_000 + "def f_far(n):\\n  for i in range(n):\\n    x = i\\n  return n", __file__, "exec"), scope)
f_far = scope["f_far"]

def f_near(n):
    for i in range(n):
        x = i
    return n

def f_work(i):
    for k in range(10):
        f_far(1)
        f_near(10 + (i + k) % 5)

stopper = subprocess.Popen(["sh", "-c", "trap 'kill -CONT %d; exit' TERM; while kill -STOP %d; do sleep 0.004; "
                            "kill -CONT %d; sleep 0.001; done" % ((os.getppid(),) * 3)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for i in range(600):
        t = threading.Thread(target=f_work, args=(i,))
        t.start()
        t.join()
finally:
    stopper.terminate()
    stopper.wait()
"""

# Markers of n turns of a loop that go to the scratch lane, by the lane's own count.
SCRATCH = """
from ocular import _core, calibrate
code, function = calibrate.PROGRAMS["LINE"]
print([_core.measure(code, function, n)[1] for n in (1, 100, 200, 3000, 10000)])
"""


# The kernel's word for the memory of each ring: of threads that do little, and of one that fills its ring.
MEMORY = """
import threading

def work(n):
    for i in range(n):
        pass

def rings():
    found, ring = [], False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            words = line.split()
            if "-" in words[0]:
                ring = "memfd:ocular-ring" in line
            elif ring and words[0] == "Rss:":
                found.append(int(words[1]))
    return sorted(found)

def wait():
    for i in range(20):
        work(0)
    ready.release()
    done.wait()

ready, done = threading.Semaphore(0), threading.Event()
threads = [threading.Thread(target=wait) for _ in range(100)]
for t in threads:
    t.start()
for t in threads:
    ready.acquire()
before = rings()
work(300_000)
print([before, rings()])
done.set()
"""


def lines_of(base, n):
    return [base + 1] + [base + 2, base + 1] * n + [base + 3]


def wanted(i):
    return [(name, line) for k in range(10)
            for name, line in [("f_far", line) for line in lines_of(1_100_001, 1)] +
                              [("f_near", line) for line in lines_of(9, 10 + (i + k) % 5)]]


def check(*recorder):
    with rec.recording(SOURCE, mode="lines", recorder=recorder) as r:
        rec.equal((r.code, r.out, r.err), (0, "", ""))
        threads = collections.defaultdict(list)
        for e in r.events():
            assert e.name not in ("GAP", "FOREIGN"), e
            if e.qualname in ("f_far", "f_near") and e.name == "LINE":
                threads[e.tid].append((e.qualname, int(e.offset)))
        rec.equal(len(threads), 600)
        for i, lines in enumerate(threads.values()):
            rec.equal(collections.Counter(lines), collections.Counter(wanted(i)), i)
            rec.equal(lines, wanted(i), i)


def test_the_smallest_rings():
    check("--ring-records", "256", "--wait-ms", "30000")


def test_rings_that_grow():
    check("--ring-records", "16384", "--wait-ms", "30000")


def test_memory_of_rings_follows_use():
    with rec.recording(MEMORY) as r:
        rec.equal((r.code, r.err), (0, ""))
        before, after = json.loads(r.out)
        rec.equal((len(before), len(after)), (101, 101))
        assert 0 < before[0] and before[99] <= 64, before
        assert before[99] == after[99] and after[100] == 2048 + 4, after


def test_a_scratch_lane_s_end():
    with rec.recording(SCRATCH, mode="full") as r:
        rec.equal((r.code, r.err), (0, ""))
        one, *some = json.loads(r.out)
        turn = (some[0] - one) // 99
        assert turn > 4 and 3000 * turn > 2 * 4096, turn
        rec.equal(some, [one + turn * (n - 1) for n in (100, 200, 3000, 10000)])


# Passes as calibrate's, of a machine that is disturbed in most of them, differently for each figure; no clock.
LEAST = """
import random
from ocular import calibrate
def disturbed(true):
    return true * r.choice((2, 2, 1.5, 1.1)) + r.randrange(100)
r = random.Random(1)
passes = [{name: (disturbed(1000 * n), disturbed(1000 * n + 200 * n * 10), 200) for n, name in enumerate("abc", 1)}
          for _ in range(31)]
quiet = {name: (1000 * n, 1000 * n + 200 * n * 10, 200) for n, name in enumerate("abc", 1)}
for at in 0, 15, 31:
    print(calibrate.least(passes[:at] + [quiet] + passes[at:]) == {"a": 10, "b": 20, "c": 30})
halves = [{"a": (1000, 9999, 200)}, {"a": (5000, 3000, 200)}]  # quiet at another time for each figure
print(calibrate.least(halves), calibrate.least([{"a": (10, 5, 2), "b": (1, 2, 0)}]), calibrate.least([]))

# Without the event it was never quiet at stop, and with it it was at no time but that: each figure is as large as it was then.
start, stop = {"a": (1000, 3000, 200)}, {"a": (2900, 3400, 200), "b": (7, 9, 0)}
print(calibrate.at_each(start, stop), calibrate.at_each({}, start), calibrate.cycles(stop))

class Core:
    calls = 0
    def measure(self, code, function, rounds):
        self.calls += 1
        return 100, 0
for in_memory in True, False:
    core = Core()
    print(calibrate.measure(core, 0, [], in_memory), core.calls)
"""


def test_the_least_of_all_passes_counts():
    with rec.recording(LEAST) as r:
        rec.equal((r.code, r.err), (0, ""))
        rec.equal(r.out.splitlines(), ["True"] * 3 + ["{'a': 10} {'a': 0} {}"] +
                  ["[{'a': 10}, {'a': 12}] [{}, {'a': 10}] {'a': 2}"] + ["{} 0"] * 2)


def test_what_a_callback_costs_is_measured_again_at_stop():
    """Of the events that were measured at start, with nothing of it in the recording; not under a debugger."""
    for mode in "adaptive", "full", "calls":
        with rec.recording("def work(n):\n    for _ in range(n): pass\nwork(5)\n", mode=mode) as r:
            (header,), (line,) = r.lines("header"), r.lines("callbacks")
            start, stop = line["cycles"]
            rec.equal((start.keys(), stop.keys()), (header["callback_cycles"].keys(),) * 2)
            assert all(start[name] >= header["callback_cycles"][name] for name in start), (header, line)
            rec.equal([x for x in r.lines("code") if "calibrate" in x["file"]], [])
            done = subprocess.run([os.path.join(rec.BUILD, "bin", "ocular-pt"), "console=never", "summary=-", r.folder],
                                  capture_output=True, check=True)
            (process,) = json.loads(done.stdout)["processes"]
            found = {name: [n for n in (start[name], stop[name]) if n] for name in start}  # 0: it could not be told
            least = {name: min(both) for name, both in found.items() if both}
            most = {name: max(both) for name, both in found.items() if len(set(both)) > 1}
            rec.equal((process["callback_cycles"], process.get("callback_cycles_most", {})), (least, most))
    for spoil in "sys.settrace(lambda *_: None)", "sys.setprofile(lambda *_: None)":
        with rec.recording(spoil.join(("import sys\n", "\n"))) as r:
            rec.equal((r.code, r.err, r.lines("callbacks")), (0, "", []))


if __name__ == "__main__":
    rec.run(globals())
