#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Garbage collections are those that CPython itself counted, generation by generation, and took as long as callbacks of the
program's own saw."""

import json
import os

import recording

# Nothing is collected where tracing begins and ends, so that gc.get_stats() is of what is traced.
PROGRAM = """
import gc, json, os, sys, threading, time
class Node:
    pass
class Finalized:
    def __del__(self):
        spin()
def spin():
    end = time.perf_counter_ns() + 200000
    while time.perf_counter_ns() < end:
        pass
pauses, times = {}, {}
def before(phase, info):
    times["before", phase] = time.perf_counter_ns()
def after(phase, info):
    times["after", phase] = time.perf_counter_ns()
    if phase == "stop":
        row = pauses.setdefault(info["generation"], [0, 0, 0])
        row[0] += 1
        row[1] += times["before", "stop"] - times["after", "start"]
        row[2] += times["after", "stop"] - times["before", "start"]
def churn(n):
    for i in range(n):
        a, b = Node(), Node()
        a.x, b.x = b, a
def finalize():
    a, b = Finalized(), Finalized()
    a.x, b.x = b, a
    del a, b
    gc.collect()
def stats():
    return [(s["collections"], s["collected"]) for s in gc.get_stats()]
def main():
    gc.callbacks.insert(0, before)
    counted = stats()
    gc.enable()
    churn(20000)
    gc.collect(0), gc.collect(1), gc.collect()
    finalize()
    thread = threading.Thread(target=churn, args=(3000,))
    thread.start()
    thread.join()
    gc.disable()
    return [[b - a for a, b in zip(x, y)] for x, y in zip(counted, stats())]
gc.disable()
gc.callbacks.append(after)
{start}
truth = main()
{stop}
json.dump([truth, pauses], sys.stdout)
"""
TRACED = PROGRAM.replace("{start}", "").replace("{stop}", "")


def recorded(python, folder, source, *options, mode="adaptive"):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    record = os.path.join(folder, "rec")
    done = recording.record(record, [python, path], recording.traced_environment(mode), *options)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), recording.summary(record)


def test_counts(python, mode, folder):
    """To the last one. The program has a callback that is called before ours and one after it: so it knows the least and the most time."""
    os.makedirs(folder, exist_ok=True)
    path, record = (os.path.join(folder, name) for name in ("program.py", "rec"))
    start = f"sys.path.insert(0, {os.path.join(recording.BUILD, 'python')!r})\nimport ocular\nocular.start_tracing(output={record!r}, mode={mode!r}, perfetto=None, console=False)"
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM.replace("{start}", start).replace("{stop}", "ocular.stop_tracing()"))
    done = recording.run([python, path], env=recording.plain_environment(), cwd=folder)
    if done.returncode:
        raise RuntimeError(done.stderr)
    (truth, pauses), found = json.loads(done.stdout[done.stdout.index("[[["):]), recording.summary(record)
    rows = {c["generation"]: c for c in found["collections"]}
    problems = [] if sum(count for count, _ in truth) > 5 else [f"hardly any collection: {truth}"]
    for generation, (count, collected) in enumerate(truth):
        row = rows.get(generation, {"count": 0, "collected": 0, "ns": 0})
        times, least, most = pauses.get(str(generation), (0, 0, 0))
        if [row["count"], row["collected"]] != [count, collected] or times != count:
            problems.append(f"generation {generation}: {row}, not {count} with {collected} objects; {times} by its own callback")
        # The kernel slews its clock by 500 ppm at most, but not the processor's; and each time is rounded.
        if not least * 0.9995 - 1000 * count <= row["ns"] <= most * 1.0005 + 1000 * count:
            problems.append(f"generation {generation}: {row}, not {least} to {most} ns")
    return problems


def test_times(python, folder):
    """The time of a collection is its own, that of a finalizer is the finalizer's, and the sum is the whole."""
    _, found = recorded(python, folder, TRACED)
    functions = {f["qualname"]: f for f in found["functions"]}
    all_ns = sum(c["ns"] for c in found["collections"])
    problems = [] if functions["spin"]["total_ns"] >= 400_000 else ["finalizers took no time"]
    if not functions["churn"]["self_ns"] < functions["churn"]["total_ns"]:
        problems.append(f"no collection inside {functions['churn']}")
    for key, whole in (("self_ns", "traced_ns"), ("self_cpu_ns", "cpu_ns"), ("self_waiting_ns", "waiting_ns")):
        rows = found["functions"] + found["c_functions"] + found["collections"]
        if found["trace"][whole] is not None and rows[0][key] is not None:
            parts = sum(row[key] for row in rows) + found["trace"][key.replace("self", "outside")]
            problems += [] if parts == found["trace"][whole] else [f"{key}: {parts} and not {found['trace'][whole]}"]
    return problems + ([] if all_ns >= functions["spin"]["total_ns"] else ["finalizers are not inside collections"])


def test_taken_out(python, folder):
    """The program takes the callback out: what comes after it is not recorded, and nothing else happens."""
    (_, found) = recorded(python, folder, """
import gc, sys
gc.collect()
assert len(gc.callbacks) == 1, gc.callbacks
gc.callbacks.clear()
gc.collect()
sys.stdout.write("0")
""")
    rows = {c["generation"]: c["count"] for c in found["collections"]}
    return [] if rows.get(2) == 1 else [f"{rows}"]


def cases(python, options):
    version = recording.version(python)
    for mode in "adaptive", "calls":
        yield f"{version} counts, mode {mode}", test_counts, python, mode
    yield f"{version} times", test_times, python
    yield f"{version} taken out", test_taken_out, python


if __name__ == "__main__":
    recording.run_cases(cases)
