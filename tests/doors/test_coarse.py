#!/usr/bin/env python3
"""`ocular record --clock coarse`: all events, in order, with times that are interpolated, and reports that say so.

    test_coarse.py [--python PY]... [--only TEXT]

The programs of other tests run once more, with their own truths: what a witness saw, and what the kernel's clocks say.
"""

import collections
import glob
import gzip
import json
import os
import re

import recording
import test_cpu
import test_truth

COARSE = ("--clock", "coarse")
PT = os.path.join(recording.BUILD, "bin", "ocular-pt")


def truth(python, mode, path, folder):
    """Times are not those of the witness; each is in order all the same."""
    problems = test_truth.check(python, test_truth.Program(path), mode, folder, *COARSE)
    return [line for line in problems if "by the witness's clock" not in line]


def cpu(name, python, folder):
    return test_cpu.test_truth(name, python, folder, *COARSE)


def flight(python, folder):
    return test_cpu.test_flight(python, folder, *COARSE)


def recorded(python, folder, source, *options, mode="adaptive"):
    """What the program printed."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    done = recording.record(os.path.join(folder, "rec"), [python, path], recording.traced_environment(mode), *COARSE, *options)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return done.stdout


def decoded(folder, *arguments):
    done = recording.run([PT, *arguments, os.path.join(folder, "rec", "perf.data")])
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def rows_of(folder):
    """{(pid, tid): [[time, pid, tid, event, qualname, ...]]}"""
    found = collections.defaultdict(list)
    for line in decoded(folder, "events=-").splitlines()[1:]:
        row = line.split("\t")
        found[row[1], row[2]].append([int(row[0]), *row[1:]])
    return found


def in_order(folder, ignored=()):
    """Time never goes back; no word is missing."""
    problems, last = [], {}
    for line in decoded(folder, "events=-").splitlines()[1:]:
        time, pid, tid, _ = line.split("\t", 3)  # no more: a recording has hundreds of thousands
        if last.get((pid, tid), 0) > int(time):
            problems.append(f"{last[pid, tid]} and then {line}")
        last[pid, tid] = int(time)
    losses = json.loads(decoded(folder, "summary=-"))["losses"]
    return problems[:3] + [f"{key} {n}" for key, n in losses.items() if n and key not in ignored]


# Long and short in turn: what lasts longer than 16 markers is known to some of their time, a round of the recorder at most.
LONG = """
import json, sys, time
truth = {}
def short():
    pass
def many(n):
    for i in range(n):
        short()
def long(n):
    began = time.perf_counter_ns()
    many(n)
    truth.setdefault("long", []).append(time.perf_counter_ns() - began)
def native(n):
    began = time.perf_counter_ns()
    sum(range(n))  # no event, no wait: 10 to 100 ms
    truth.setdefault("native", []).append(time.perf_counter_ns() - began)
def sleeps():
    began = time.perf_counter_ns()
    time.sleep(0.01)
    truth.setdefault("sleeps", []).append(time.perf_counter_ns() - began)
for i in range(20):
    long(20000), short(), native(1000000), short(), short(), sleeps(), short()
json.dump(truth, sys.stdout)
"""
ROUND = 5_000_000  # ns: a nap of a millisecond, on a machine where others work, too


def long(python, folder):
    measured = json.loads(recorded(python, folder, LONG))
    found = {f["qualname"]: f for f in json.loads(decoded(folder, "summary=-"))["functions"]}
    problems = in_order(folder)
    for name, times in measured.items():
        told, true = found[name]["total_ns"], sum(times)
        if found[name]["calls"] != len(times) or abs(told - true) > true / 100 + ROUND:
            problems.append(f"{name}: {told / 1e6} ms in {found[name]['calls']} calls, measured {true / 1e6} in {len(times)}")
    sleeps = found["sleeps"]
    if abs(sleeps["total_waiting_ns"] - sum(measured["sleeps"])) > 20 * 500_000:
        problems.append(f"waits {sleeps}")
    return problems


FORKS = """
import os, signal
def work(n):
    for i in range(n):
        step()
def step():
    pass
def child(n):
    work(n)
    os.kill(os.getpid(), signal.SIGKILL) if n % 2 else os._exit(0)
for n in range(1000, 1008):
    pid = os.fork()
    if not pid:
        child(n)
    os.waitpid(pid, 0)
"""


def forks(python, folder):
    """Children that end without a last word: what they wrote is all there."""
    recorded(python, folder, FORKS, mode="calls")
    calls = [sum(row[3] == "PY_START" and "step" in row for row in rows) for rows in rows_of(folder).values()]
    wanted = [0, *range(1000, 1008)]
    return in_order(folder, ("unstopped",)) + ([] if sorted(calls) == wanted else [f"calls {sorted(calls)}"])


PIECES = """
def work(n):
    for i in range(n):
        step()
def step():
    pass
work(200000)
"""
FEW = PIECES.replace("200000", "2000")


def files(python, folder):
    """A file ends at any word: the rest is in the next one."""
    recorded(python, folder, PIECES, "--switch-output", "100K", mode="calls")
    files = glob.glob(os.path.join(folder, "rec", "perf.data*"))
    calls = 0
    for file in files:
        done = recording.run([PT, "summary=-", file])
        calls += sum(f["calls"] for f in json.loads(done.stdout)["functions"] if f["qualname"] == "step")
    return [f"{len(files)} files"] * (len(files) < 3) + [f"{calls} calls"] * (calls != 200000)


def losses(python, folder):
    """A ring that is too small, and nobody waits: what is missing is told to the word."""
    recorded(python, folder, PIECES, "--ring-records", "256", "--wait-ms", "0", mode="calls")
    rows, = rows_of(folder).values()
    found = json.loads(decoded(folder, "summary=-"))
    (table,) = glob.glob(os.path.join(folder, "rec", "codes-*.jsonl"))
    with open(table, encoding="utf-8") as file:
        lost = sum(line.get("lost", 0) for line in map(json.loads, file) if line["kind"] == "stop")
    problems = [f"{a} and then {b}" for a, b in zip(rows, rows[1:]) if a[0] > b[0]][:3]
    return problems + ([] if lost and found["losses"]["markers"] == lost else [f"{lost} lost, told {found['losses']}"])


SNAPSHOTS = """
import ocular
def work(n):
    for i in range(n):
        step(i)
def step(i):
    pass
for i in range(5):
    work(1000 + i)
    ocular.take_snapshot("number %d" % i)
"""


def snapshots(python, folder):
    """Each has the last words before it, and begins behind the one before."""
    recorded(python, folder, SNAPSHOTS, "--flight", "10s", mode="calls")
    rows, = rows_of(folder).values()
    steps, calls = [], 0
    for row in rows:
        calls += row[3] == "PY_START" and "step" in row
        if row[3] == "SNAPSHOT":
            steps += [calls] * (calls > 0)
            calls = 0
    return in_order(folder) + ([] if steps == [1000, 1001, 1002, 1003, 1004] else [f"steps in snapshots: {steps}"])


def decoders(python, folder):
    """Stock perf reads it, and both decoders say the same, of a packed recording, too."""
    recorded(python, folder, PIECES)
    rec, packed = os.path.join(folder, "rec"), os.path.join(folder, "one.ocular")
    wrapper = [recording.WRAPPER, "report", "--decoder", "both", "--events", os.path.join(folder, "events.txt"), rec]
    problems = [done.stderr for done in [recording.run(wrapper, env=recording.plain_environment())] if done.returncode]
    first = decoded(folder, "summary=-")
    with open(os.path.join(rec, "perf.data"), "rb") as file:
        data = file.read()
    for command in (["pack", rec, "-o", packed], ["unpack", "--force", packed, rec]):
        done = recording.run([recording.WRAPPER, *command], env=recording.plain_environment())
        problems += [done.stderr] * (done.returncode != 0)
    with open(os.path.join(rec, "perf.data"), "rb") as file:
        problems += ["other bytes after unpack"] * (file.read() != data)
    return problems + ["another summary after unpack"] * (decoded(folder, "summary=-") != first)


def told(python, folder):
    """By everything that shows times; and not of a recording with an exact clock."""
    found = []
    for options in ((), ("--clock", "exact")):
        recorded(python, folder + options[-1] if options else folder, FEW, *options)
        made = folder + options[-1] if options else folder
        page, trace, pprof, otlp = (os.path.join(made, name) for name in ("page.html", "trace.json", "pprof.gz", "otlp"))
        console = decoded(made, "console=always", f"html={page}", f"perfetto={trace}", f"pprof={pprof}", f"otlp={otlp}")
        second = recording.run([recording.WRAPPER, "report", "--follow", os.path.join(made, "rec")], env=recording.plain_environment())
        with open(page, encoding="utf-8") as file:
            html = file.read()
        with open(trace, encoding="utf-8") as file:
            labels = [e["args"]["labels"] for e in json.load(file) if e.get("name") == "process_labels" and e["pid"]]
        with gzip.open(pprof) as file:
            comments = file.read()
        with open(otlp, "rb") as file:
            attributes = file.read()
        summary = json.loads(decoded(made, "summary=-"))
        found.append({
            "pprof": b"times are interpolated" in comments,
            "otlp": b"ocular.clock.coarse" in attributes,
            "follow": [json.loads(line).get("coarse") for line in second.stdout.splitlines()][:1] == [16],
            "console": "times between are interpolated" in console and "Counts, order and waits are exact." in console,
            "median": re.search(r" mean +~median", console) is not None,
            "page": "id=interpolated" in html and "~median" in html,
            "timeline": any("interpolated" in label for label in labels),
            "summary": summary["clock"].get("coarse") == 16,
            "loops": not any(loop["cycles"]["exact"] for loop in summary["loops"]),
        })
    wanted = [True, False]
    return [f"{key}: {[row[key] for row in found]}" for key in found[0] if [row[key] for row in found] != wanted and key != "loops"] + (
        [] if found[0]["loops"] else ["exact loops"])


def cases(python, options):
    del options
    version = recording.version(python)
    for name in PROGRAMS:
        for mode in ("adaptive", "full"):
            yield f"{version} {mode} {name}", truth, python, mode, os.path.join(recording.PROGRAMS, name + ".py")
    for name in test_cpu.PROGRAMS:
        yield f"{version} CPU: {name}", cpu, name, python
    yield f"{version} CPU: both, in a flight recorder", flight, python
    for test in long, forks, files, losses, snapshots, decoders, told:
        yield f"{version} {test.__name__}", test, python


# Of tests/programs: whose words are many, of several threads, interpreters and processes, or end without a last one.
PROGRAMS = ("exceptions", "fork_in_thread", "forks", "generators", "kill_self", "os_exit", "subinterpreters", "thread_pool", "threads")

if __name__ == "__main__":
    recording.run_cases(cases)
