#!/usr/bin/env python3
"""A report of a part of a recording: by code, thread, function, task.

    test_selection.py [--python PY]... [--only TEXT]

What is selected must be what the whole recording says of it: calls as the source makes them, a function's total time as the time of
a report of that function. Both decoders must select the same events.
"""

import json
import os
import re

import recording

SOURCE = """
import asyncio, threading
import helper
def leaf(n):
    return sum(range(n))
def busy(n):
    return [leaf(100) for _ in range(n)] and helper.help(leaf)
def work(n):
    for _ in range(n):
        busy(5)
async def inner():
    await asyncio.sleep(0)
    busy(2)
async def first():
    await inner()
async def second():
    busy(7)
    await asyncio.sleep(0)
async def main():
    await asyncio.gather(first(), second(), first())
busy(1)
threads = [threading.Thread(target=work, args=(n,), name="worker-%d" % n) for n in (3, 4)]
for t in threads: t.start()
for t in threads: t.join()
asyncio.run(main())
"""
HELPER = "def help(function):\n    return function(1)\n"


def by_source(*numbers):
    """Calls of busy, leaf and help that busy(n) for each of the numbers makes."""
    return len(numbers), sum(numbers) + len(numbers), len(numbers)


THREADS, TASKS = (5,) * 7, (2, 2, 7)
CALLS = {
    "thread=worker-3": by_source(5, 5, 5),
    "thread=worker-*": by_source(*THREADS),
    "function=work": by_source(*THREADS),
    "function=app.py:busy": by_source(1, *THREADS, *TASKS),
    "task=first": by_source(2, 2),
    "task=second": by_source(7),
    "task=main": (0, 0, 0),
    "include=app": (*by_source(1, *THREADS, *TASKS)[:2], 0),
    "exclude=helper": (*by_source(1, *THREADS, *TASKS)[:2], 0),
    "include=helper.py": (0, 0, by_source(1, *THREADS, *TASKS)[2]),
}


def recorded(python, folder):
    for name, text in (("app.py", SOURCE), ("helper.py", HELPER)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    done = recording.record(os.path.join(folder, "rec"), [python, "app.py"], recording.traced_environment("adaptive"), cwd=folder)
    assert done.returncode == 0, done.stderr


def by_ocular_pt(folder, *words):
    done = recording.run([os.path.join(recording.BUILD, "bin", "ocular-pt"), *words, os.path.join(folder, "rec", "perf.data")])
    assert done.returncode == 0, done.stderr
    return done.stdout


def summary(folder, *words):
    return json.loads(by_ocular_pt(folder, "summary=-", *words))


def function(found, name):
    rows = [row for row in found["functions"] if row["qualname"] == name]
    assert len(rows) <= 1, rows
    return rows[0] if rows else {"calls": 0}


def test_calls(python, folder):
    recorded(python, folder)
    problems = []
    for word, wanted in CALLS.items():
        found = summary(folder, word)
        told = tuple(function(found, name)["calls"] for name in ("busy", "leaf", "help"))
        if told != wanted:
            problems.append(f"{word}: {told}, by the source {wanted}")
    return problems


def test_times(python, folder):
    """A function's own report has its total time, and its CPU time; and it has nothing else."""
    recorded(python, folder)
    whole = summary(folder)
    problems = []
    for name in ("busy", "work", "leaf"):
        row, part = function(whole, name), summary(folder, f"function={name}")
        if part["trace"]["traced_ns"] != row["total_ns"] or part["trace"]["cpu_ns"] != row["total_cpu_ns"]:
            problems.append(f"{name}: {part['trace']} of {row}")
        if part["trace"]["outside_ns"] or part["losses"]["gaps"]:
            problems.append(f"{name}: {part['trace']} {part['losses']}")
    return problems


def test_decoders(python, folder):
    recorded(python, folder)
    problems = []
    for word in ("function=busy", "task=first", "thread=worker-4", "exclude=helper"):
        words = ("events=-", "console=never", word)
        if recording.report(os.path.join(folder, "rec"), *words) != by_ocular_pt(folder, *words):
            problems.append(word)
    return problems


def test_nothing(python, folder):
    """One line says that nothing fits; a report of nothing would look like a program that did nothing."""
    recorded(python, folder)
    done = recording.run([recording.WRAPPER, "report", "--function", "none", "rec"], cwd=folder, env=recording.plain_environment())
    said = "ocular-pt: nothing in this recording fits function=none: see the names in a report of all of it\n"
    return [] if (done.returncode, done.stdout, done.stderr) == (1, "", said) else [done.returncode, done.stdout, done.stderr]


def test_commands(python, folder):
    """Options of `run` for both: recorded so, then reported; those of `report` may be repeated."""
    recorded(python, folder)
    environment = recording.plain_environment()
    done = recording.run([recording.WRAPPER, "run", "-q", "--python", python, "--include", "helper", "--include", "app.py", "--function",
                          "work", "--summary", "run.json", "-o", "again", "app.py"], cwd=folder, env=environment)
    twice = recording.run([recording.WRAPPER, "report", "--include", "helper", "--include", "app.py", "--function", "work",
                           "--summary", "report.json", "rec"], cwd=folder, env=environment)
    assert done.returncode == twice.returncode == 0, done.stderr + twice.stderr
    told = []
    for name in "run.json", "report.json":
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            found = json.load(f)
        told.append({row["qualname"]: row["calls"] for row in found["functions"] if row["calls"]})
    wanted = {"work": 2, "busy": 7, "leaf": 42, "help": 7}
    return [each for each in told if {name: n for name, n in each.items() if "<" not in name} != wanted]


FORKS = """
import os, sys
def work():
    total = 0
    for i in range(20000):
        total += i
    return total
work()
for n in (2, 3):
    pid = os.fork()
    if not pid:
        for _ in range(n):
            work()
        os._exit(0)
    print(pid, n)
    os.waitpid(pid, 0)
print(os.getpid(), 1)
"""


def rows_of(text, head, name):
    """{label: calls} of a function's rows in the table whose head ends so."""
    lines = re.split(re.sub(" +", " +", head) + "\n", text, maxsplit=1)[-1].splitlines()
    found = {}
    for line in lines[:next((i for i, each in enumerate(lines) if not each), len(lines))]:
        numbers = re.match(r" *(?:[\d.]+%|-)(?: +(?:[\d.]+ [mun]?s|-))+ +([\d.]+[kM]?)  +(.*?)  +" + re.escape(name) + ", ", line)
        if numbers:
            found[numbers[2]] = numbers[1]
    return found


def test_by_process(python, folder):
    """Forks run code that is in their parent's table. Summed it is one row of three processes."""
    with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as f:
        f.write(FORKS)
    done = recording.record(os.path.join(folder, "rec"), [python, "app.py"], recording.traced_environment("adaptive"), cwd=folder)
    wanted = dict(line.split() for line in done.stdout.splitlines())
    report = by_ocular_pt(folder, "console=always", "color=never", "by=process")
    found = rows_of(report, "pid    function, by self CPU time", "work")
    summed = by_ocular_pt(folder, "console=always", "color=never")
    one = re.search(r" 6 +3  work, app.py:3$", summed, re.M)
    loops = dict(re.findall(r"^.* (\d+)(?: +\S+ \S+){2}  (\d+)  work, app.py:5$", report.split("  loop, by own CPU time\n")[-1], re.M))
    if {pid: int(trips) for trips, pid in loops.items()} != {pid: 20000 * int(n) for pid, n in wanted.items()}:
        return [f"trips {loops}, forked {wanted}", report[:4000]]
    return [] if found == wanted and one else [f"{found}, forked {wanted}", report[:2500], summed[:2500]]


def test_by_thread_and_task(python, folder):
    recorded(python, folder)
    problems = []
    for by, part, wanted in (("thread", "function=busy", {"worker-3": 3, "worker-4": 4, "": 4}),
                             ("task", "task=*", {"first": 2, "second": 1})):
        report = by_ocular_pt(folder, "console=always", "color=never", f"by={by}", part, "all=yes")
        head = re.search(rf"{by} +function, by self .*time$", report, re.M)
        found = rows_of(report, head[0], "busy")
        if {re.sub(r"^\d+ ?", "", label): int(calls) for label, calls in found.items()} != wanted:
            problems += [f"{by}: {found}, by the source {wanted}", report[:3000]]
    return problems


def cases(python, options):
    version = recording.version(python)
    yield f"{version} calls", test_calls, python
    yield f"{version} times", test_times, python
    yield f"{version} both decoders", test_decoders, python
    yield f"{version} by process", test_by_process, python
    yield f"{version} by thread and task", test_by_thread_and_task, python
    yield f"{version} nothing", test_nothing, python
    yield f"{version} run and report", test_commands, python


if __name__ == "__main__":
    recording.run_cases(cases)
