# SPDX-License-Identifier: MIT
"""What a flight recorder costs the program: how long a snapshot holds a thread up, and what a call costs.

    flight.py stall SNAPSHOTS    under `ocular record --flight 10ms`
    flight.py call CALLS         without a recorder; ocular and ocular_empty on the path

`stall`: eight threads fill their rings with 10 ms of history; seven of them wait, and the eighth goes round
a loop and sees how long the longest gap between two iterations is: a snapshot is asked for in every second
round, in the middle of the loop, and the call itself is such a gap. Prints the rounds as JSON.

Each gap is taken apart by what the kernel knows of the thread: the processor's time it had, the time it was ready
to run and something else ran (run delay, /proc/PID/schedstat), and the rest, when the virtual machine itself was
away. What the recorder ran meanwhile is taken off the run delay: that much of the gap may be the snapshot's. What is left,
with the time the machine was away, is *others'*: rounds with much of it tell nothing.
"""
import gc
import itertools
import json
import os
import resource
import statistics
import sys
import threading
import time
from collections import namedtuple

import ocular

THREADS = 8
HISTORY = 0.010  # seconds
PAUSE = 0.003  # seconds at most between the history and the snapshot
WATCHED = 3_000_000  # ns
LEAST = 20_000  # ns: a gap that is analysed
SLICE = 10_000  # calls

Moment = namedtuple("Moment", "wall cpu delay waits recorder")
Gap = namedtuple("Gap", "length others")


def work():
    pass


def history(end):
    while time.perf_counter() < end:
        work()


class Account:
    """What the kernel knows of this thread, and of the recorder, its parent."""

    def __init__(self):
        self.files = [os.open(path, os.O_RDONLY) for path in ("/proc/thread-self/schedstat", "/proc/%d/schedstat" % os.getppid())]

    def schedstat(self, file):
        """ns run, ns ready to run."""
        return [int(word) for word in os.pread(file, 64, 0).split()[:2]]

    def recorder(self):
        return self.schedstat(self.files[1])[0]

    def now(self):
        return Moment(time.perf_counter_ns(), time.thread_time_ns(), self.schedstat(self.files[0])[1],
                      resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, self.recorder())


def taken_apart(length, before, after):
    d = Moment(*(b - a for a, b in zip(before, after)))
    away = 0 if d.waits else max(0, d.wall - d.cpu - d.delay)  # not for a thread that waited of its own accord
    return Gap(length, away + max(0, d.delay - d.recorder))


def watch(account, take):
    """The gaps while going round for WATCHED; `take`: with a snapshot early on."""
    now = time.perf_counter_ns
    gaps, moment = [], account.now()
    begin = last = now()
    while last - begin < WATCHED:
        if take and last - begin > WATCHED // 10:
            moment = account.now()
            last = now()
            ocular.take_snapshot("stall")
            take = False
        time_ = now()
        if time_ - last > LEAST:
            after = account.now()
            gaps.append(taken_apart(time_ - last, moment, after))
            moment, time_ = after, now()
        last = time_
    return gaps


def settle(account):
    """Until the recorder has written what was asked for before."""
    before = None
    while (ran := account.recorder()) != before:
        before = ran
        time.sleep(0.002)


def stall(snapshots):
    """{with, without: the gaps of each round}."""
    begin, end = threading.Barrier(THREADS), threading.Barrier(THREADS)
    running, rounds, account = True, {"with": [], "without": []}, Account()

    def other():
        while True:
            begin.wait()
            if not running:
                return
            history(time.perf_counter() + HISTORY)
            end.wait()

    def fill():
        """False: it took so long to come back that the history is too old."""
        begin.wait()
        history(time.perf_counter() + HISTORY)
        end.wait()
        filled = time.perf_counter()
        time.sleep(0.002)  # the others are at the barrier by then
        return time.perf_counter() < filled + PAUSE

    threads = [threading.Thread(target=other) for _ in range(THREADS - 1)]
    for thread in threads:
        thread.start()
    sys.setswitchinterval(0.0005)
    fill()  # all rings are known to the recorder then
    for take in itertools.islice(itertools.cycle(("with", "without")), 2 * snapshots):
        settle(account)
        while not fill():
            pass
        rounds[take].append(watch(account, take == "with"))
    running = False
    begin.wait()
    for thread in threads:
        thread.join()
    return rounds


def call_ns(function, calls):
    times = itertools.repeat(None, calls)
    begin = time.thread_time_ns()  # the processor's, so that others on the machine matter less
    for _ in times:
        function("label", number=1)
    return (time.thread_time_ns() - begin) / calls


def call(calls):
    """ns a call: of take_snapshot() without a flight recorder, of an empty C function, and quartiles of the difference.

    Interleaved, in slices shorter than the kernel's time slice for other programs."""
    import ocular_empty
    both = ocular.take_snapshot, ocular_empty.function
    rows = []
    for turn in range(calls // SLICE):
        ns = {f: call_ns(f, SLICE) for f in (both if turn % 2 else both[::-1])}
        rows.append([ns[f] for f in both])
    low, over, high = statistics.quantiles([taken - empty for taken, empty in rows], n=4)
    return {"take_snapshot": statistics.median(r[0] for r in rows), "empty": statistics.median(r[1] for r in rows),
            "over": over, "low": low, "high": high}


if __name__ == "__main__":
    kind = {"stall": stall, "call": call}[sys.argv[1]]
    print(json.dumps(kind(int(sys.argv[2]))))
