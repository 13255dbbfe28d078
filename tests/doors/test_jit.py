#!/usr/bin/env python3
"""How long each loop ran as machine code of CPython's JIT, on the emulated processor.

    test_jit.py [--python PY]... [--only TEXT]

The witnesses: `sys._jit.is_active()`, which the program asks in its loops; arithmetic: what a loop costs grows with its
trips, and two loops with equal trips have costs of their own; the lines of the source; and sums that must add up.
"""

import ast
import json
import os

import recording

SLOW = 500  # seconds for a recording: the emulator takes a few
TRIPS = 40000

PROGRAM = """
import sys
active = getattr(getattr(sys, "_jit", None), "is_active", bool)

def asks(n):
    seen = 0
    for i in range(n):
        seen += active()
    return seen

def adds(n):
    total = 0
    for i in range(n):
        total ^= i & 7
    return total

def two(n):
    a = b = 0
    for i in range(n):
        a ^= i & 7
    for i in range(3 * n):
        b ^= i & 7
    return a, b

def key(x):
    return x

def calls(n):
    total = 0
    for i in range(n):
        total += len(sorted((3, 1, 2), key=key))
    return total

def once(n):
    for i in range(n):
        pass

n = int(sys.argv[1])
print(asks(n), adds(n), two(n), calls(n // 5), once(3))
"""


def line_of(function, nth=0):
    """Of its nth loop, by the source."""
    tree = next(node for node in ast.walk(ast.parse(PROGRAM)) if isinstance(node, ast.FunctionDef) and node.name == function)
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.For)][nth]


class Recorded:
    """A run: what it printed, its summary, the report."""

    def __init__(self, python, folder, n, mode="calls", jit="1", *options):
        program, data = os.path.join(folder, "program.py"), os.path.join(folder, f"data-{n}-{mode}-{jit}")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = recording.run([recording.WRAPPER, "record", "-q", "-o", data, "--backend", "qemu", "--mode", mode, "--python",
                              python, "--", program, str(n)], env=recording.plain_environment(PYTHON_JIT=jit), timeout=SLOW)
        assert not done.returncode, done.stderr
        self.printed, self.said = done.stdout, done.stderr
        summary = os.path.join(folder, "summary.json")
        done = recording.run([os.path.join(recording.BUILD, "bin", "ocular-pt"), f"summary={summary}", "console=always",
                              *options, os.path.join(data, "perf.data")])
        assert not done.returncode, done.stderr
        self.report = done.stdout
        with open(summary, encoding="utf-8") as file:
            self.summary = json.load(file)

    def rows(self, function):
        """{line: (runs, ns)} of a function's loops."""
        return {row["line"]: (row["count"], row["ns"]) for row in self.summary["compiled"] or ()
                if row["qualname"] == function}

    def own(self, function):
        return next(row["self_ns"] for row in self.summary["functions"] if row["qualname"] == function)

    def head(self):
        return next((line for line in self.report.splitlines() if line.startswith("JIT")), None)


def ns_of(recorded, function):
    return sum(ns for _, ns in recorded.rows(function).values())


def check_calls(python, folder):
    one, two, three = (Recorded(python, folder, n * TRIPS) for n in (1, 2, 3))
    problems = []
    seen = int(one.printed.split()[0])
    if seen < 0.8 * TRIPS:
        return [f"is_active() in {seen} of {TRIPS} trips only: nothing to measure"]
    lines = list(one.rows("asks")) + list(one.rows("adds"))
    if lines != [line_of("asks"), line_of("adds")]:
        problems.append(f"asks and adds are at lines {lines}")
    # At least as many trips were compiled as the program saw, and a trip costs no more compiled than interpreted.
    if not seen / TRIPS * 0.9 < ns_of(one, "asks") / one.own("asks") <= 1:
        problems.append(f"asks: {ns_of(one, 'asks')} of {one.own('asks')} ns, is_active() in {seen} of {TRIPS} trips")
    # A trip more costs what a trip costs.
    first, then = (ns_of(b, "adds") - ns_of(a, "adds") for a, b in ((one, two), (two, three)))
    if not 0 < abs(first - then) + 1 <= 1 + first / 1000:
        problems.append(f"adds: {TRIPS} trips cost {first} ns, and then {then}")
    # If both executors are there at the end, each loop has its own row; else they share one.
    rows, more = one.rows("two"), two.rows("two")
    if set(rows) == set(more) == {line_of("two", 0), line_of("two", 1)}:
        short, long = (more[line_of("two", i)][1] - rows[line_of("two", i)][1] for i in (0, 1))
        if not 2.99 < long / short < 3.01:
            problems.append(f"two: {rows}, then {more}")
    elif 0 not in {*rows, *more}:
        problems.append(f"two: {rows}, then {more}")
    if one.rows("once"):
        problems.append(f"three trips are compiled: {one.rows('once')}")
    # Python functions that compiled code calls are not its time.
    for function in ("asks", "adds", "two", "calls"):
        if not 0 < ns_of(one, function) <= one.own(function):
            problems.append(f"{function}: {ns_of(one, function)} of {one.own(function)} ns")
    share = sum(row["ns"] for row in one.summary["compiled"]) / one.summary["trace"]["traced_ns"]
    if one.head() != f"JIT      on; {100 * share:.1f}% of the time was in compiled code":
        problems.append(f"the head says {one.head()!r}, it is {share}")
    place = f"asks, program.py:{line_of('asks')}"
    if not any(line.endswith(place) for line in one.report.partition("\nCompiled code, of the time of all threads\n")[2].splitlines()):
        problems.append(f"no row of {place}")
    if ("156319" in one.said) != (recording.version(python) == "3.14"):
        problems.append(f"it is not warned of 3.14, or of another: {one.said!r}")
    return problems


def check_off(python, folder):
    off = Recorded(python, folder, TRIPS, "calls", "0")
    if off.head() or "compiled" in off.summary or "\nCompiled code" in off.report or off.printed.split()[0] != "0":
        return [f"{off.head()}, {off.summary.get('compiled')}, {off.printed}"]
    return []


def check_loops(python, folder):
    """With events of back-edges nothing runs compiled."""
    loops = Recorded(python, folder, TRIPS // 10, "adaptive")
    if loops.head() != "JIT      on; the events of this mode keep loops interpreted" or loops.summary["compiled"] is not None:
        return [f"{loops.head()!r}, {loops.summary['compiled']}"]
    return [] if loops.printed.split()[0] == "0" else [f"is_active() in {loops.printed.split()[0]} trips"]


def check_window(python, folder):
    """What is known only for the whole is not shown for a part."""
    part = Recorded(python, folder, TRIPS, "calls", "1", "time=0,1")
    if part.head() != "JIT      on; how much of the time was compiled code is unknown" or part.summary["compiled"] is not None:
        return [f"{part.head()!r}, {part.summary['compiled']}"]
    return []


def has_jit(python):
    return recording.run([python, "-c", "import sys; print(sys._jit.is_available())"]).stdout == "True\n"


def check_none(python, folder):
    """A CPython without a JIT does not mention one."""
    none = Recorded(python, folder, 10)
    return [none.head()] if none.head() or "compiled" in none.summary else []


def cases(python, _):
    version = recording.version(python)
    if not has_jit(python):
        yield f"{version} has no JIT", check_none, python
        return
    for name, function in (("which loop, how long", check_calls), ("switched off", check_off),
                           ("with events of loops", check_loops), ("of a time span", check_window)):
        yield f"{version} {name}", function, python


if __name__ == "__main__":
    recording.need_qemu()
    recording.run_cases(cases)
