#!/usr/bin/env python3
"""`ocular stat`: two runs tell the same, to the byte; what is counted is the program's alone; memory does not grow.

The witness of counts is callgrind, on the same program untraced. What a program does N times more is compared, so that
neither side's start and end count. It keeps to programs that do little in C: there callgrind's processor has other
features than the emulated one, and the C library other code for each (docs/emulator.md).
"""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

import recording

LIBRARY = os.path.join(recording.HERE, "qemu", "library.py")
PROGRAMS = ("fractions", "statistics", "shlex", "regex", "paths", "patterns", "queens", "urls", "addresses", "dates")
FEW, MANY = 20, 60
LEAST = 0.005  # of the instructions
# Numbers of more variables of the environment. Names lie elsewhere on the heap with each, and CPython's cache of type
# attributes goes by their addresses: two that share a place miss it every time, traced or not (`addresses` on 3.12: 0.6 %).
LAYOUTS = 0, 10, 50, 200
BYTES = 16  # a bytecode
GROWTH = 4096  # KiB

WORK = """
import sys
def inner(i): return i * i
def work(n): return sum(inner(i) for i in range(n))
work(100)
try:
    raise ValueError
except ValueError:
    work(10)
"""


def stat(python, folder, *command, **env):
    """(console, summary, events, the recording) of a run."""
    data, summary = os.path.join(folder, "data"), os.path.join(folder, "summary")
    shutil.rmtree(data, ignore_errors=True)
    done = recording.run([recording.WRAPPER, "stat", "--python", python, "-o", data, "--summary", summary, *command],
                         env=recording.plain_environment(**env))
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[-1000:]}")
    events = recording.run([os.path.join(recording.BUILD, "bin", "ocular-pt"), "events=-", "console=never", data])
    with open(summary, encoding="utf-8") as file:
        return done.stdout, file.read(), events.stdout, data


def twice(python, folder):
    problems = []
    for command in (["-c", WORK], [LIBRARY, "all", "1"]):
        first, second = (stat(python, folder, *command)[:3] for _ in range(2))
        for name, a, b in zip(("console", "summary", "events"), first, second):
            lines = zip(a.split("\n"), b.split("\n"))
            problems += next(([f"{command[0]}: {name}, line {n}", x[:200], y[:200]]
                              for n, (x, y) in enumerate(lines, 1) if x != y), [])
            if len(a) != len(b) or len(a) < 500:
                problems.append(f"{command[0]}: {name}: {len(a)} and {len(b)} characters")
        if "their callbacks" in first[0] or any(p["callback_cycles"] for p in json.loads(first[1])["processes"]):
            problems.append("callbacks are told, in the clock of the machine that emulates")
        if "nothing that runs only because of tracing" not in first[0]:
            problems.append("not told what is counted")
    return problems


def moved(layout):
    return {f"LAYOUT_OF_NAMES_{i}": "x" * 13 for i in range(layout)}


def instructions(python, folder, name, n, layout):
    summary = json.loads(stat(python, os.path.join(folder, name), LIBRARY, name, str(n), **moved(layout))[1])
    return summary["trace"]["end_ns"] - summary["trace"]["start_ns"]


def by_callgrind(python, name, n, layout):
    done = recording.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", python, LIBRARY, name, str(n)],
                         env=recording.plain_environment(PYTHONHASHSEED="0", **moved(layout)))
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def compare(python, folder, name):
    os.mkdir(os.path.join(folder, name))
    problems = []
    for layout in LAYOUTS:
        ours = instructions(python, folder, name, MANY, layout) - instructions(python, folder, name, FEW, layout)
        truth = by_callgrind(python, name, MANY, layout) - by_callgrind(python, name, FEW, layout)
        if abs(ours / truth - 1) <= LEAST:
            return []
        problems.append(f"{name}: {ours} instructions, callgrind counts {truth}: {ours / truth - 1:+.2%}")
    return problems


def program_alone(python, folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(lambda name: compare(python, folder, name), PROGRAMS), [])


def peak(python, folder, n):
    """(KiB that the largest process took, bytes of the recording, bytecodes) of a loop of n trips."""
    data, summary = os.path.join(folder, "peak"), os.path.join(folder, "peak.json")
    shutil.rmtree(data, ignore_errors=True)
    with subprocess.Popen([recording.WRAPPER, "stat", "--python", python, "-o", data, "--summary", summary, "-c",
                           f"def f(i): return i + 1\nfor i in range({n}): f(i)"], env=recording.plain_environment(),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    with open(summary, encoding="utf-8") as file:
        count = json.load(file)["events"]["INSTRUCTION"]
    return usage.ru_maxrss, os.path.getsize(os.path.join(data, "perf.data")), count


def room(python, folder):
    (small, _, _), (large, size, count) = peak(python, folder, 50_000), peak(python, folder, 300_000)
    problems = [] if large < small + GROWTH else [f"{small} KiB for 50,000 trips, {large} for 300,000"]
    return problems if size < BYTES * count else problems + [f"{size} bytes for {count} bytecodes"]


def cases(python, _):
    version = recording.version(python)
    yield f"{version} two runs", twice, python
    yield f"{version} the program's instructions alone", program_alone, python
    yield f"{version} memory and disk", room, python


if __name__ == "__main__":
    recording.need_qemu()
    sys.exit(recording.run_cases(cases))
