#!/usr/bin/env python3
"""ocular fleet spark: in Spark's local-cluster mode, two workers that are processes of their own, the store is what ocular fleet add makes of the
same recordings, row for row, also when an executor is killed in the middle. PySpark and DuckDB come from PyPI; Java 17 must be there.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "doors"), os.path.join(os.path.dirname(HERE), "wrapper")]
import recording  # noqa: E402
from test_fleet import Fleet, tree  # noqa: E402
from test_fleet_split import FORKS, PROGRAM, REQUESTS, record  # noqa: E402

CORES = 2
CLUSTER = f"local-cluster[{CORES},1,1024]"
MINUTES = 600  # s: a machine with two cores that does other things, too
FETCHING = 1800  # s: PySpark is 450 MB
PACKAGES = ("duckdb", "pyspark")
LABELS = ("--label", "release=1.4", "--label", "host=web1")
# Reads the files itself: how many rows of each table are in one of two stores only, and in both.
COMPARE = """
import duckdb, json, os, sys
duckdb.execute("SET enable_progress_bar = false")
one, other, address = sys.argv[1:]  # of the other's recordings, before the path
found = {}
for table in sorted({name for store in (one, other) for name in os.listdir(store) if os.path.isdir(os.path.join(store, name))}):
    rows = ["(SELECT COLUMNS(*)::VARCHAR FROM read_parquet('%s/%s/**/*.parquet', union_by_name = true, hive_partitioning = true))" % (store, table)
            for store in (one, other)]
    if table == "recording":
        rows[1] = "(SELECT * REPLACE (replace(path, '%s', '') AS path) FROM %s)" % (address, rows[1])
    found[table] = [duckdb.execute("SELECT count(*) FROM (SELECT * FROM %s a %s ALL SELECT * FROM %s b)" % (a, how, b)).fetchone()[0]
                    for a, how, b in ((rows[0], "EXCEPT", rows[1]), (rows[1], "EXCEPT", rows[0]), (rows[0], "INTERSECT", rows[1]))]
print(json.dumps(found))
"""


def spark_python(python):
    """An interpreter with PySpark, fetched once; None: no pip, or no Java."""
    if not shutil.which("java"):
        return None
    before, recording.LIMIT = recording.LIMIT, FETCHING
    try:
        return recording.venv(python, *PACKAGES)
    finally:
        recording.LIMIT = before


def environment(fleet):
    """TMPDIR: where executors work."""
    scratch = os.path.join(fleet.folder, "tmp")
    os.makedirs(scratch, exist_ok=True)
    return {**fleet.environment(), "TMPDIR": scratch, "SPARK_LOCAL_DIRS": scratch, "SPARK_LOCAL_IP": "127.0.0.1"}


def spark(fleet, *words, master=CLUSTER):
    return recording.run(fleet.command("spark", *words, "--master", master), cwd=fleet.folder, env=environment(fleet), timeout=MINUTES)


def unequal(fleet, store, address=""):
    """Tables of which not all rows are those of the store that fleet add made, of recordings whose paths there do not begin with that address."""
    done = recording.run([fleet.duck, "-c", COMPARE, os.path.join(fleet.folder, "one"), os.path.join(fleet.folder, store), address])
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    problems = [f"{store}: {table}: {rows}" for table, rows in found.items() if rows[:2] != [0, 0] or not rows[2]]
    return problems + [f"{store}: tables {sorted(found)}"] * (not {"recording", "function", "edges", "loops", "waits"} <= set(found))


def recorded(fleet):
    """Of all forms, in the folder `all`: folders, packed ones, one that was cut off, a flight recorder's, and several files of one."""
    os.mkdir(os.path.join(fleet.folder, "all"))
    for n in range(4):
        fleet.record(f"all/r{n}", 100 + n)
    for n in (0, 1):
        recording.run([recording.WRAPPER, "pack", "-q", "--remove", f"all/r{n}", "-o", f"all/p {n}.ocular"], cwd=fleet.folder)
    data = os.path.join(fleet.folder, "all/r3/perf.data")
    os.truncate(data, os.path.getsize(data) - 5000)
    for name, words in (("flight", ("--flight", "50ms")), ("files", ("--switch-output", "64K"))):
        done = fleet.traced("record", "-q", "-o", f"all/{name}", *words, "--", "app.py", "100")
        if done.returncode:
            raise RuntimeError(done.stderr)
    return sorted(os.listdir(os.path.join(fleet.folder, "all")))


def equal(python, duck, folder):
    """What fleet add makes, and what Spark makes; again; and what cannot be read is told, and the rest added."""
    fleet = Fleet(python, duck, folder)
    names = recorded(fleet)
    shutil.copytree(os.path.join(folder, "all/r3"), os.path.join(folder, "kept"))  # fleet add repairs what was cut off
    shutil.copytree(os.path.join(folder, "all"), os.path.join(folder, "unrepaired"))
    os.rename(os.path.join(folder, "all"), os.path.join(folder, "away"))
    os.rename(os.path.join(folder, "unrepaired"), os.path.join(folder, "all"))
    done = spark(fleet, "many", "all", *LABELS)
    problems = [f"exit {done.returncode}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or done.stderr != "" or "  " not in done.stdout)
    shutil.rmtree(os.path.join(folder, "all"))
    os.rename(os.path.join(folder, "away"), os.path.join(folder, "all"))
    fleet.must("add", "one", *(f"all/{name}" for name in names), *LABELS)
    problems += unequal(fleet, "many")
    before = tree(os.path.join(folder, "many"))
    rows = [path for path in before if "/recording/" in path]
    problems += [f"not in one pack: {rows}"] * (len(rows) != 1 or "/pack-" not in rows[0])
    done = spark(fleet, "many", f"file://{folder}/all", *LABELS)
    problems += [f"again: exit {done.returncode}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or done.stdout.count("in the store already") != len(names))
    with open(os.path.join(folder, "all", "bad.ocular"), "wb") as file:
        file.write(b"nothing that anybody could read")
    done = spark(fleet, "many", "all/bad.ocular", "all/r2", "--label", "release=2")
    problems += [f"bad: exit {done.returncode}: {done.stderr}"] * (
        done.returncode != 1 or done.stderr.count("\n") != 2 or "with other labels" not in done.stderr or "bad" not in done.stderr)
    return problems + ["touched"] * (tree(os.path.join(folder, "many")) != before)


def event_log(folder):
    """Options that have Spark write one, and what reads it."""
    os.mkdir(os.path.join(folder, "log"))
    words = [word for option in ("enabled=true", f"dir=file:{folder}/log", "compress=false", "rolling.enabled=false") for word in ("--conf", "spark.eventLog." + option)]
    return words, lambda: [json.loads(line) for path in tree(os.path.join(folder, "log")) if not path.endswith(".crc") for line in open(path, encoding="utf-8")]


def split(python, duck, folder):
    """Large recordings, of several tasks each: by processes, by files, as a whole after all, because the parts do not add up, or at once."""
    fleet = Fleet(python, duck, folder)
    os.mkdir(os.path.join(folder, "all"))
    for name, source, options in (("processes", PROGRAM, ()), ("pack", PROGRAM, ("--c-calls",)), ("requests", REQUESTS, ()), ("forks", FORKS, ()),
                                  ("files", FORKS, ("--switch-output", "256K"))):
        os.rename(record(python, folder, source, *options), os.path.join(folder, "all", name))
    recording.run([recording.WRAPPER, "pack", "-q", "--remove", "all/pack"], cwd=folder)
    names = sorted(os.listdir(os.path.join(folder, "all")))
    fleet.must("add", "one", *(f"all/{name}" for name in names), *LABELS)
    words, log = event_log(folder)
    done = spark(fleet, "many", "all", *LABELS, "--conf", "spark.ocular.split=10k", *words)
    problems = [f"exit {done.returncode}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or done.stderr != "" or "pack.ocular" not in done.stdout)
    events = log()  # Spark also has tasks of its own, that look for files
    stages = {event["Stage Info"]["Stage ID"] for event in events if event["Event"] == "SparkListenerStageCompleted" and "PythonRDD" in event["Stage Info"]["Stage Name"]}
    results = [event for event in events if event["Event"] == "SparkListenerTaskEnd" and event["Task Type"] == "ResultTask" and event["Stage ID"] in stages]
    tasks = CORES * len(names) + 1  # `requests` once more
    problems += [f"{len(results)} tasks, not {tasks}"] * (len(results) != tasks)
    done = spark(fleet, "many", "all", *LABELS, "--conf", "spark.ocular.split=10k", master="local[2]")
    problems += [f"again: exit {done.returncode}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or done.stdout.count("in the store already") != len(names))
    done = spark(fleet, "many", "all", "--conf", "spark.ocular.split=much", master="local[1]")
    problems += [f"exit {done.returncode}: {done.stderr}"] * (done.returncode != 1 or done.stderr.count("\n") != 1 or "is a number of bytes" not in done.stderr)
    return problems + unequal(fleet, "many")


def parents():
    """pid: (parent, command line) of all processes."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{name}/cmdline", "rb") as line, open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                found[int(name)] = int(stat.read().rpartition(")")[2].split()[1]), line.read().decode(errors="replace")
    return found


def executor_at_work(folder):
    """pid of an executor below which something reads a recording now; None: there is none."""
    there = parents()
    for pid, (_, command) in there.items():
        if f"{folder}/tmp/ocular.spark." not in command:
            continue
        while pid in there:
            if "CoarseGrainedExecutorBackend" in there[pid][1]:
                return pid
            pid = there[pid][0]
    return None


def killed(python, duck, folder):
    """An executor, while it reads a recording: another one does its work, and the store is the same."""
    fleet = Fleet(python, duck, folder)
    names = recorded(fleet)
    fleet.must("add", "one", *(f"all/{name}" for name in names), *LABELS)
    options, log = event_log(folder)
    words = ("many", "all", *LABELS, "--master", CLUSTER, *options)
    with subprocess.Popen(fleet.command("spark", *words), cwd=folder, env=environment(fleet), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        victim = None
        while victim is None and process.poll() is None:
            victim = executor_at_work(folder)
            time.sleep(0.002)
        before = [path for path in tree(os.path.join(folder, "many")) if "/recording/" in path]
        if victim:
            os.kill(victim, signal.SIGKILL)
        out, err = process.communicate(timeout=MINUTES)
    problems = ["no executor was at work"] * (not victim) + [f"too late: {before}"] * bool(before)
    problems += [f"exit {process.returncode}: {out}{err}"] * (process.returncode != 0 or err != "")
    events = log()
    lost = [event for event in events if event["Event"] == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] != "Success"]
    removed = [event for event in events if event["Event"] == "SparkListenerExecutorRemoved"]
    return problems + unequal(fleet, "many") + [f"{len(lost)} tasks and {len(removed)} executors were lost"] * (not lost or not removed)


def refused(python, duck, folder):
    """Bad input: a line, and no store is made."""
    fleet = Fleet(python, duck, folder)
    fleet.record("a", 3)
    before, problems = tree(folder), []
    for words, status, text in ((("spark", "store"), 2, "name recordings"), (("spark", "store", "a", "--events"), 2, "totals only"),
                                (("spark", "store", "a", "--label", "x"), 1, "is not NAME=VALUE"), (("spark", "a", "a"), 1, "is not a fleet store")):
        done = fleet.run(*words)
        problems += [f"{words}: exit {done.returncode}: {done.stderr}"] * (done.returncode != status or text not in done.stderr or done.stderr.count("\n") != 1)
    problems += [f"touched: {each}" for each in sorted(set(before.items()) ^ set(tree(folder).items()))]
    for words, text in ((("nowhere",), "no recording 'nowhere'"), (("nofs://a/b",), "cannot read 'nofs://a/b'"), (("a", "--conf", "x"), "--conf is NAME=VALUE")):
        done = spark(fleet, "store", *words, master="local[1]")
        problems += [f"{words}: exit {done.returncode}: {done.stderr}"] * (done.returncode != 1 or text not in done.stderr or done.stderr.count("\n") != 1)
    done = recording.run(fleet.command("spark", "store", "a"), cwd=folder, env=recording.plain_environment(PYTHON=python))
    return problems + [f"without PySpark: {done.stderr}"] * (done.returncode != 1 or done.stderr.count("\n") != 1 or "needs" not in done.stderr)


def cases(python, chosen):
    if python != recording.pythons(chosen)[-1]:
        return
    duck = spark_python(python)
    for name, function in (("the store is that of fleet add, row for row", equal), ("large recordings are split", split),
                           ("an executor is killed in the middle", killed), ("bad input is refused in a line", refused)):
        if duck:
            yield name, function, python, duck
        else:
            yield name, "no PySpark here: this Python has no venv, pip is offline, or there is no Java"


if __name__ == "__main__":
    recording.run_cases(cases)
