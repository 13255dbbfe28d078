#!/usr/bin/env python3
"""`ocular stat`: two runs tell the same, to the byte; what is counted is the program's alone; memory does not grow.

The witness of counts is callgrind, on the same program untraced. What a program does between two marks is compared, so
that neither side's start and end count, and all programs run in one process, for starting it takes both sides most of the time. It keeps to programs that do little in C: there callgrind's processor has other
features than the emulated one, and the C library other code for each (docs/emulator.md).
"""

import concurrent.futures
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import recording

LIBRARY = os.path.join(recording.HERE, "qemu", "library.py")
# In its order.
PROGRAMS = ("fractions", "statistics", "shlex", "regex", "paths", "patterns", "queens", "urls", "addresses", "dates")
FEW, MORE = 20, 40
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
    """Who reads a file first in 24 hours gives it another time of access (relatime), and os.stat() takes longer for other times: 208 instructions."""
    problems = []
    for command in (["-c", WORK], [LIBRARY, "1", "0"]):
        recording.run([python, *command], env=recording.plain_environment())
        first, second = (stat(python, folder, *command)[:3] for _ in range(2))
        for name, a, b in zip(("console", "summary", "events"), first, second):
            lines = zip(a.split("\n"), b.split("\n"))
            problems += next(([f"{command[0]}: {name}, line {n}", x[:200], y[:200]]
                              for n, (x, y) in enumerate(lines, 1) if x != y), [])
            if len(a) != len(b) or len(a) < 500:
                problems.append(f"{command[0]}: {name}: {len(a)} and {len(b)} characters")
        if "callbacks, of the time" in first[0] or any(p["callback_cycles"] for p in json.loads(first[1])["processes"]):
            problems.append("callbacks are told, in the clock of the machine that emulates")
        if "nothing that runs only because of tracing" not in first[0]:
            problems.append("not told what is counted")
    return problems


def moved(layout):
    return {f"LAYOUT_OF_NAMES_{i}": "x" * 13 for i in range(layout)}


def between(values):
    """{program: the difference of its two marks}"""
    assert len(values) == 2 * len(PROGRAMS), f"{len(values)} marks"
    return {name: end - begin for name, begin, end in zip(PROGRAMS, values[::2], values[1::2])}


def instructions(python, folder, layout):
    events = stat(python, folder, LIBRARY, str(FEW), str(MORE), **moved(layout))[2]
    rows = (line.split("\t", 7) for line in events.split("\n") if "\tPY_START\t" in line and "\tmark\t" in line)
    return between([int(row[0]) for row in rows if row[4] == LIBRARY])


def by_callgrind(python, folder, layout):
    """It begins another file of counts at each mark, and the last one without a number at the end."""
    out = os.path.join(folder, f"callgrind-{layout}")
    recording.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-before=getpgid", python, LIBRARY,
                   str(FEW), str(MORE)], env=recording.plain_environment(PYTHONHASHSEED="0", **moved(layout)))
    counts = []
    for number in range(1, 2 * len(PROGRAMS) + 1):
        with open(f"{out}.{number}", encoding="utf-8") as file:
            counts.append(int(re.search(r"^totals: (\d+)", file.read(), re.MULTILINE)[1]))
    return between(list(itertools.accumulate(counts)))


def program_alone(python, folder):
    """What differs must be the same with another layout, of which some suit each program."""
    problems = {name: [] for name in PROGRAMS}
    for layout in LAYOUTS:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ours, truth = (pool.submit(count, python, folder, layout) for count in (instructions, by_callgrind))
            ours, truth = ours.result(), truth.result()
        for name in list(problems):
            error = ours[name] / truth[name] - 1
            problems[name].append(f"{name}: {ours[name]} instructions, callgrind counts {truth[name]}: {error:+.2%}")
            if abs(error) <= LEAST:
                del problems[name]
        if not problems:
            break
    return sum(problems.values(), [])


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
