# SPDX-License-Identifier: MIT
"""What a flight recorder costs the program: how long a snapshot holds a thread up, and what a call costs.

    flight.py stall SNAPSHOTS    under `ocular record --flight 10ms`
    flight.py call CALLS         without a recorder; ocular and ocular_empty on the path

`stall`: eight threads fill their rings with 10 ms of history; seven of them wait, and the eighth goes round
a loop and sees how long the longest gap between two iterations is: a snapshot is asked for in every second
round, in the middle of the loop, and the call itself is such a gap. Prints one line of JSON.
"""
import itertools
import json
import statistics
import sys
import threading
import time

import ocular

THREADS = 8
HISTORY = 0.010  # seconds
WATCHED = 3_000_000  # ns
SLICE = 10_000  # calls


def work():
    pass


def history(end):
    while time.perf_counter() < end:
        work()


def longest_gap(take):
    """ns, while going round for WATCHED; `take`: with a snapshot early on."""
    now = time.perf_counter_ns
    begin = last = now()
    longest = 0
    while last - begin < WATCHED:
        if take and last - begin > WATCHED // 10:
            ocular.take_snapshot("stall")
            take = False
        time_ = now()
        longest = time_ - last if time_ - last > longest else longest
        last = time_
    return longest


def stall(snapshots):
    """{with, without}: the longest gap of each round, ns."""
    begin, end = threading.Barrier(THREADS), threading.Barrier(THREADS)
    running, gaps = True, {True: [], False: []}

    def other():
        while True:
            begin.wait()
            if not running:
                return
            history(time.perf_counter() + HISTORY)
            end.wait()

    threads = [threading.Thread(target=other) for _ in range(THREADS - 1)]
    for thread in threads:
        thread.start()
    sys.setswitchinterval(0.0005)
    for take in itertools.islice(itertools.cycle((True, False)), 2 * snapshots):
        begin.wait()
        history(time.perf_counter() + HISTORY)
        end.wait()
        time.sleep(0.002)  # the others are at the barrier by then
        gaps[take].append(longest_gap(take))
    running = False
    begin.wait()
    for thread in threads:
        thread.join()
    return {"with" if take else "without": rows for take, rows in gaps.items()}


def percentiles(rows):
    rows = sorted(rows)
    return {"median": rows[len(rows) // 2], "p99": rows[-(-99 * len(rows) // 100) - 1], "max": rows[-1], "n": len(rows)}


def call_ns(function, calls):
    times = itertools.repeat(None, calls)
    begin = time.thread_time_ns()  # the processor's, so that others on the machine matter less
    for _ in times:
        function("label", number=1)
    return (time.thread_time_ns() - begin) / calls


def call(calls):
    """ns a call: of take_snapshot() while nobody listens, of an empty C function, and quartiles of the difference.

    By turns, in slices shorter than what the kernel gives another program at a time."""
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
    if sys.argv[1] == "stall":
        print(json.dumps({name: percentiles(rows) for name, rows in stall(int(sys.argv[2])).items()}))
    else:
        print(json.dumps(call(int(sys.argv[2]))))
