#!/usr/bin/env python3
"""What slows the traced program is told: CPython's own work for LINE events, and a recorder that does not read.

    test_slow.py [--python PY]... [--only TEXT]

The witnesses: how long the functions are; and how long the recorder was stopped.
"""

import json
import os
import re

import recording

LINES = (10, 100, 130, 200, 300, 400)

# Each function takes a comparable time without tracing. Its lines take longer than a LINE event's callback.
LONG = """
import json, sys, time
def make(lines):
    source = f"def lines{lines}(big=1 << 20000):\\n" + "    x = -big\\n" * lines
    names = {}
    exec(compile(source, __file__, "exec"), names)
    return names[f"lines{lines}"]
truth = {}
functions = [(lines, make(lines)) for lines in %r]
for i in range(20):
    for lines, function in functions:
        begin = time.perf_counter_ns()
        for j in range(1200 // lines):
            function()
        took = time.perf_counter_ns() - begin
        truth[lines] = min(took, truth.get(lines, took))
json.dump(truth, sys.stdout)
""" % (LINES,)


def recorded(python, folder, source, mode, *options):
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    done = recording.record(os.path.join(folder, "rec"), [python, path], recording.traced_environment(mode), *options)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), recording.summary(os.path.join(folder, "rec"))


def times(found):
    """{lines: (self time, that of it which is told to be CPython's)}"""
    rows = [f for f in found["functions"] if re.fullmatch(r"lines\d+", f["qualname"])]
    return {int(f["qualname"][5:]): (f["self_cpu_ns"] or f["self_ns"], f.get("line_lookup_ns", 0)) for f in rows}


def test_lines(python, folder):
    """Look-ups are told of the functions that are long enough to need them, and of no others: on 3.12 always, from 3.14 on
    never, on 3.13 it depends. What they took is an estimate (docs/limits.md): printed, not judged.
    """
    _, found = recorded(python, folder, LONG, "lines")
    plain = recording.run([python, os.path.join(folder, "program.py")], env=recording.plain_environment())
    truth = {int(lines): ns for lines, ns in json.loads(plain.stdout).items()}
    told = times(found)
    for lines, (ns, lookup) in told.items():
        print(f"# {lines} lines: {ns / truth[lines]:.2f} of the time without tracing, {(ns - lookup) / truth[lines]:.2f} after the note")
    version = tuple(map(int, recording.version(python).split(".")))
    looks_up = sorted(lines for lines, (_, lookup) in told.items() if lookup)
    wanted = [lines for lines in LINES if lines >= 200]
    may = [wanted] if version < (3, 13) else [wanted, []] if version < (3, 14) else [[]]
    problems = [] if looks_up in may else [f"told of functions of {looks_up} lines: {told}"]
    problems += [f"{lines} lines: more than all: {row}" for lines, row in told.items() if row[1] > row[0]]
    text = recording.report(os.path.join(folder, "rec"))
    if bool(looks_up) != ("to find the lines of LINE events" in text):
        problems.append(f"the report: {text[:2500]}")
    return problems


# The program stops its recorder for a known time, and sees how long it stood meanwhile.
RING = """
import json, os, signal, subprocess, sys, threading, time
truth = {"longest": 0}
def nothing():
    pass
def waits():
    last = begin = time.perf_counter_ns()
    while last < begin + 700000000:
        nothing()
        now = time.perf_counter_ns()
        truth["longest"] = max(truth["longest"], now - last)
        last = now
recorder = os.getppid()
child = subprocess.Popen(["/bin/sh", "-c", "sleep 0.5; kill -CONT %d" % recorder])
os.kill(recorder, signal.SIGSTOP)
waits()
child.wait()
json.dump(truth, sys.stdout)
"""
WAIT_MS = {"for a while": 100, "not at all": 0}


def test_policy(wait, python, folder):
    """With less patience than the recorder needs, what was waited is told, and what was lost."""
    truth, found = recorded(python, folder, RING, "adaptive", "--ring-records", "4096", "--wait-ms", str(WAIT_MS[wait]))
    rows = [w for w in found["waits"] if w["kind"] == "ring"]
    total, lost = sum(w["ns"] for w in rows), found["losses"]["markers"]
    problems = [] if lost else ["no marker was lost"]
    if not WAIT_MS[wait]:
        return problems + [f"{row}" for row in rows]
    # The wait in vain comes first; those that follow are short.
    return problems + ([] if min(truth["longest"], WAIT_MS[wait] * 1_000_000) * 0.95 <= total else
                       [f"{total} in all, the longest stand was {truth['longest']}: {rows}"])


def cases(python, options):
    version = recording.version(python)
    yield f"{version} lines", test_lines, python
    for wait in WAIT_MS:
        yield f"{version} waits {wait}", test_policy, wait, python


if __name__ == "__main__":
    recording.run_cases(cases)
