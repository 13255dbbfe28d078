#!/usr/bin/env python3
"""Memory does not grow with a trace: each sink's peak after fifty times as many events is what it was before.

The events are an endless program of four threads: calls, recursion, generators, loops, exceptions. For what
needs code tables they are those of a golden case, again and again.
"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

FEW, MANY = 20_000, 1_000_000
MAY_GROW_KB = 1024  # a buffer of 1 MB that is filled for the first time: a byte an event
CODES = {name: f"/src/app.py\t{name}\t{line}" for line, name in enumerate("main work leaf gen fails".split(), 1)}
ROUND = [  # one of a thread: event, code, offset, destination
    ("PY_START", "work", 0, ""), ("PY_START", "leaf", 0, ""), ("PY_RETURN", "leaf", 8, ""), ("JUMP", "work", 60, 20),
    ("PY_START", "work", 0, ""), ("JUMP", "work", 60, 20), ("JUMP", "work", 60, 20), ("PY_RETURN", "work", 70, ""),
    ("PY_START", "gen", 0, ""), ("PY_YIELD", "gen", 36, ""), ("JUMP", "work", 60, 20), ("PY_RESUME", "gen", 38, ""),
    ("PY_RETURN", "gen", 50, ""), ("PY_START", "fails", 0, ""), ("PY_UNWIND", "fails", 4, ""),
    ("PY_RETURN", "work", 70, ""),
]
SINKS = {
    "none": (),
    "Perfetto JSON": ("perfetto={}.json",),
    "loops as slices": ("perfetto={}.json", "iterations=slices"),
    "gzip": ("perfetto={}.json.gz",),
    "protobuf": ("perfetto={}.pftrace",),
    "protobuf, from 1 us": ("perfetto={}.pftrace", "min_duration=1us", "iterations=slices"),
    "a full file": ("perfetto={}.pftrace", "max_size=32K"),
    "summary": ("summary={}",),
    "summary for diff --html": ("summary={}", "for_diff=yes"),
    "summary for a fleet": ("summary={}", "for_fleet=yes"),
    "html": ("html={}",),
    "pstats": ("pstats={}",),
    "collapsed": ("collapsed={}",),
    "speedscope": ("speedscope={}",),
    "pprof": ("pprof={}",),
    "firefox": ("firefox={}",),
    "otlp": ("otlp={}",),
    "callgrind": ("callgrind={}",),
    "events": ("events={}",),
    "pypylog": ("pypylog={}",),
    "console": ("console=always",),
    "events by code": ("console=always", "counts=5"),
}
GOLDEN = ("opcodes_derived", "opcodes_measured", "branches")


def write(path, events):
    """So many events, and a few."""
    time = 1_000_000
    with open(path, "w", encoding="utf-8") as file:
        file.write("# ocular events 1\n")
        for n in range(0, events, len(ROUND) * 4):
            for event, code, offset, destination in ROUND:
                for tid in range(10, 14):
                    time += 37 + n % 11
                    file.write(f"{time}\t10\t{tid}\t{event}\t{CODES[code]}\t{offset}\t{destination}\n")


def repeat(path, case, events):
    """At least this many."""
    with open(os.path.join(HERE, case, "events.txt"), encoding="utf-8") as file:
        rows = [line.split("\t", 1) for line in file if not line.startswith("#")]
    first, last = int(rows[0][0]), int(rows[-1][0])
    with open(path, "w", encoding="utf-8") as file:
        file.write("# ocular events 1\n")
        for n in range(events // len(rows) + 1):
            file.writelines(f"{int(time) + n * (last - first + 100)}\t{what}" for time, what in rows)


def peak(text, words):
    """Peak resident KB of ocular-feed over a text."""
    feed = os.path.join(recording.BUILD, "bin", "ocular-feed")
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(feed, [feed, "console=never", *words, text], os.environ, file_actions=silent)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{words}: status {status}")
    return usage.ru_maxrss


def flat(words, folder):
    peaks = [peak(os.path.join(folder, text), [word.format(os.path.join(folder, "out")) for word in words])
             for text in ("few", "many")]
    return [f"{peaks[0]} KB, then {peaks[1]} KB"] if peaks[1] > peaks[0] + MAY_GROW_KB else []


def main():
    with tempfile.TemporaryDirectory(prefix="ocular-test-") as folder, Plan() as plan:
        write(os.path.join(folder, "few"), FEW)
        write(os.path.join(folder, "many"), MANY)
        for name, words in SINKS.items():
            plan.case(f"memory is flat: {name}", flat, words, folder)
        for case in GOLDEN:
            repeat(os.path.join(folder, "few"), case, FEW)
            repeat(os.path.join(folder, "many"), case, MANY)
            with open(os.path.join(HERE, case, "args"), encoding="utf-8") as file:
                words = (f"codes={os.path.join(HERE, case)}", "console=always", *file.read().split())
            plan.case(f"memory is flat: {case}", flat, words, folder)


if __name__ == "__main__":
    main()
