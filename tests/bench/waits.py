#!/usr/bin/env python3
"""What is told of waits and CPU times beside what programs measure, as Markdown.

    waits.py [--python PY]...

The programs are those of tests/doors/test_waits.py and test_cpu.py. strace, where it can be had, is a witness of its own:
the same program without Ocular, and the time of its system calls as the kernel's tracer sees them.
"""

import json
import os
import re
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "doors"))

import recording  # noqa: E402
import test_cpu  # noqa: E402
import test_waits  # noqa: E402

# By which system calls each kind waits.
CALLS = {
    "sleep": "clock_nanosleep,nanosleep",
    "lock": "futex",
    "poll": "select,pselect6,poll,ppoll,epoll_wait,epoll_pwait",
    "read": "read,recvfrom",
    "write": "write",
    "accept": "accept,accept4",
    "connect": "connect",
    "process": "wait4,waitid",
    "other": "flock",
}
# Each on a CPU of its own: of two on one CPU, the one that gives up the GIL is preempted before it waits for it.
FIGHT = """
import json, os, sys, threading, time
start, end = threading.Barrier(2), []
def fight(cpu):
    os.sched_setaffinity(0, {cpu})
    start.wait()
    end.append(time.perf_counter() + 1)
    while time.perf_counter() < end[0]:
        pass
    end.append(time.perf_counter())
threads = [threading.Thread(target=fight, args=(cpu,)) for cpu in sorted(os.sched_getaffinity(0))[-2:]]
for t in threads: t.start()
for t in threads: t.join()
json.dump((max(end) - end[0] + 1) * 1e9, sys.stdout)
"""


def percent(told, true):
    return f"{(told - true) / true * 100:+.2f} %"


def ms(ns):
    return f"{ns / 1e6:.2f}"


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def witness(python, folder, name):
    """What strace says of the program's own thread without Ocular: (what it measured, the kernel's time), in ns."""
    if not shutil.which("strace"):
        return "-", "-"
    path, log = (os.path.join(folder, f) for f in ("program.py", "strace"))
    command = ["strace", "-f", "-T", "-o", log, "-e", "trace=execve," + CALLS[name.split(",")[0]], python, path]
    done = recording.run(command, env=recording.plain_environment())
    if done.returncode:
        return "failed", done.stderr.strip()[-60:].replace("\n", " ")
    truth = json.loads(done.stdout)
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    own = lines[0].split()[0]
    times = [float(m[1]) for line in lines[1:] if line.split()[0] == own and (m := re.search(r"<(\d+\.\d+)>$", line))]
    seen = sum(sorted(times)[-truth["n"]:]) * 1e9
    return ms(truth["ns"]), f"{ms(seen)} ({percent(seen, truth['ns'])})"


def waits(python, version):
    for name in test_waits.PROGRAMS:
        with recording.scratch() as folder:
            source = test_waits.PRELUDE + test_waits.PROGRAMS[name] + test_waits.END
            truth, found = test_waits.recorded(python, folder, source)
            count, ns, _ = test_waits.told(found).get(name.split(",")[0], (0, 0, 0))
            row(version, name, f"{ms(truth['ns'])} in {truth['n']}", f"{ms(ns)} in {count}", percent(ns, truth["ns"]),
                *witness(python, folder, name))


def ring(python, version):
    with recording.scratch() as folder:
        truth, found = test_waits.recorded(python, folder, test_waits.RING)
        ns = max((w["longest_ns"] for w in found["waits"] if w["kind"] == "ring"), default=0)
        row(version, "ring", ms(truth["ns"]), ms(ns), percent(ns, truth["ns"]), "", "")


def gil(python, version):
    """The median of five."""
    if recording.is_free(python):
        return
    runs = []
    for _ in range(5):
        with recording.scratch() as folder:
            truth, found = test_waits.recorded(python, folder, FIGHT)
            runs.append((test_waits.told(found, "fight")["gil"][1] / truth, truth))
    runs.sort()
    shares = f"{percent(runs[0][0], 1)} to {percent(runs[-1][0], 1)}"
    share, truth = runs[2]
    row(version, "gil, two threads", ms(truth), ms(truth * share), f"{percent(share, 1)} ({shares})", "", "")


def cpu(python, version):
    for name in test_cpu.PROGRAMS:
        with recording.scratch() as folder:
            truth, found = test_cpu.recorded(python, folder, test_cpu.program(name))
            rows = test_cpu.functions(found)
            true = sum(r[0] for r in truth.values())
            told = sum(rows[qualname]["total_cpu_ns"] for qualname in truth)
            row(version, name, ms(true), ms(told), percent(told, true))
    with recording.scratch() as folder:
        true, found = test_cpu.recorded(python, folder, test_cpu.PROCESS)
        told = test_cpu.process_cpu(found)
        row(version, "a process of four threads, getrusage", ms(true), ms(told), percent(told, true))


def table(title, *columns):
    print(f"\n{title}\n")
    row(*columns)
    row(*["---"] * len(columns))


def main():
    recording.need_built()
    pythons = [(python, recording.version(python) + "t" * recording.is_free(python)) for python in recording.pythons()]
    table("Waits, in ms.", "Python", "program", "measured", "told", "error", "under strace: measured", "seen by strace")
    for part in waits, ring, gil:
        for python, version in pythons:
            part(python, version)
    table("CPU time, in ms.", "Python", "program", "measured", "told", "error")
    for python, version in pythons:
        cpu(python, version)


if __name__ == "__main__":
    main()
