#!/usr/bin/env python3
"""ocular fleet: sums as the summary has them, each recording once whoever adds it and whoever is killed, bad input refused, and
which function got slower. DuckDB comes from PyPI.
"""

import csv
import html.parser
import io
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import forks  # noqa: E402
import recording  # noqa: E402

GENERATOR = os.path.join(os.path.dirname(HERE), "bench", "fleet.py")
WRITERS = 8
# price() does `work` steps; all else is the same in every release.
PROGRAM = """
import sys, threading, time
def price(work):
    total = 0
    for i in range(work):
        total += i
    return total
def search(n):
    return sum([i * i for i in range(n)])
def serve(work):
    for _ in range(300):
        price(work)
        search(200)
serve(int(sys.argv[1]))
thread = threading.Thread(target=time.sleep, args=(0.01,))
thread.start()
thread.join()
"""
# Of which table's column is which sum of the summary.
SUMS = (("function", "functions", ("calls", "self_ns", "total_ns", "activations", "self_cycles", "self_cpu_ns")),
        ("edges", "edges", ("calls", "recursive_calls", "self_ns", "total_ns")), ("loops", "loops", ("entries", "iterations", "timed")), ("waits", "waits", ("count", "ns")))


# `ocular fleet sql` for each line of input, as JSON, without a new process: starting one takes longer than to answer.
SQL = """
import contextlib, io, json, sys
from ocular import fleet
for line in sys.stdin:
    out, status = io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            status = fleet.main(["sql", *json.loads(line), "--format", "json"])
        except SystemExit as e:
            status = e.code
    print(json.dumps([status, out.getvalue()]), flush=True)
"""


class Fleet:
    """A folder with recordings and a store, and a Python that has DuckDB."""

    def __init__(self, python, duck, folder):
        self.python, self.duck, self.folder = python, duck, folder
        self.store = os.path.join(folder, "store")
        self.asked = None  # a process, once there is a question
        with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def record(self, name, work=200):
        done = recording.run([recording.WRAPPER, "record", "-q", "-o", name, "--python", self.python, "--", "app.py", str(work)],
                             cwd=self.folder, env=recording.plain_environment())
        if done.returncode:
            raise RuntimeError(done.stderr)
        return name

    def command(self, *words):
        return [recording.WRAPPER, "fleet", *words]

    def environment(self):
        return recording.plain_environment(PYTHON=self.duck)

    def started(self, *words, **more):
        """The command itself."""
        return recording.run(self.command(*words), cwd=self.folder, env={**self.environment(), **more})

    def run(self, *words):
        """The same in a fork of a process that has its libraries."""
        return forks.run(self.duck, forks.COMMAND, self.named(words), self.folder, self.environment())

    def named(self, words):
        return list(words)

    def traced(self, command, *words):
        """ocular record --fleet, or run; the program is last."""
        return recording.run([recording.WRAPPER, command, "--python", self.python, *words], cwd=self.folder, env=self.environment())

    def must(self, *words):
        done = self.run(*words)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    def sql(self, query, store="store"):
        if not self.asked:
            self.asked = forks.Session(self.duck, SQL, self.folder, self.environment())
        status, said = json.loads(self.asked.ask(json.dumps([*self.named([store]), query])))
        if status:
            raise RuntimeError(f"{query}: {said}")
        return json.loads(said)

    def value(self, query):
        (row,), = [list(row.values()) for row in self.sql(query)]
        return row

    def files(self):
        return sorted(os.path.join(at, name) for at, _, names in os.walk(self.store) for name in names)


def wrong_parts(fleet, summary):
    """What one table says must be what another one does: callers' parts of a function, its distribution, its waits by kind."""
    trace, problems = summary["trace"], []
    for query, wanted in (
            ("SELECT sum(self_ns)::BIGINT FROM edges", trace["traced_ns"] - trace["outside_ns"]),
            ("SELECT sum(calls)::BIGINT FROM edges WHERE callee_key = 'app.py:price' AND caller_key = 'app.py:serve'", 300),
            ("SELECT count(*) FROM edges WHERE callee_key = 'app.py:serve' AND caller_key <> 'app.py:<module>'", 0),
            ("SELECT sum(list_sum([each.n FOR each IN durations]))::BIGINT FROM function WHERE key = 'app.py:price'", 300),
            ("SELECT count(*) FROM function WHERE list_sum([each.n * each.low FOR each IN durations]) > total_ns AND NOT recursive_calls", 0),
            ("SELECT sum(list_sum(map_values(waiting_by_kind)))::BIGINT FROM function",
             sum(row["ns"] for row in summary["waits"] if row["file"] is not None)),
            ("SELECT sum(waiting_by_kind['lock'])::BIGINT FROM function", sum(row["ns"] for row in summary["waits"] if row["kind"] == "lock")),
            ("SELECT sum(list_sum([each.n FOR each IN cycles_buckets]))::BIGINT FROM loops", sum(row["timed"] for row in summary["loops"])),
            ("SELECT bytecode FROM function WHERE key = 'app.py:price'",
             next(row["bytecode"] for row in summary["functions"] if row["qualname"] == "price"))):
        found = fleet.value(query)
        problems += [f"{query}: {found}, not {wanted}"] * (found != wanted)
    return problems


def wrong_sums(fleet, name):
    """What the store says of the only recording that it has, beside the summary."""
    summary = recording.summary(os.path.join(fleet.folder, name), "for_fleet=yes")
    problems = wrong_parts(fleet, summary)
    for table, field, columns in SUMS:
        for column in columns:
            wanted, found = sum(row[column] for row in summary[field]), fleet.value(f"SELECT sum({column})::BIGINT FROM {table}")
            if wanted != found:
                problems.append(f"{table}.{column} adds up to {found}, the summary's to {wanted}")
        wanted, found = len(summary[field]), fleet.value(f"SELECT count(*) FROM {table}")
        problems += [f"{table} has {found} rows of {wanted}"] * (wanted != found)
    row, = fleet.sql("SELECT events, lost, wall_ns, program, complete, label_release FROM recording")
    wanted = {"events": sum(summary["events"].values()), "lost": 0, "program": "app.py", "complete": True, "label_release": "1.3",
              "wall_ns": summary["trace"]["end_ns"] - summary["trace"]["start_ns"]}
    return problems + [f"the recording's row is {row}, not {wanted}"] * (row != wanted)


def sums(python, duck, folder):
    """Before and after compact; and what was there stays as it was when it is added again."""
    fleet = Fleet(python, duck, folder)
    fleet.record("a")
    fleet.must("add", "store", "a", "--label", "release=1.3")
    problems = wrong_sums(fleet, "a") + ["an answer that takes long has DuckDB's progress in it"] * fleet.value("SELECT current_setting('enable_progress_bar')")
    before = fleet.files()
    shutil.copytree(os.path.join(folder, "a"), os.path.join(folder, "copy"))
    said = fleet.must("add", "store", "copy", "a", "--label", "release=1.3")
    if fleet.files() != before or said.count("in the store already") != 2:
        problems.append(f"adding it again: {said}")
    fleet.must("compact", "store")
    problems += wrong_sums(fleet, "a")
    said = fleet.must("add", "store", "copy", "--label", "release=1.3")
    problems += ["added again after compact"] * ("in the store already" not in said)
    for key in fleet.sql("SELECT key FROM function WHERE key LIKE 'app.py:%' ORDER BY key"):
        if key["key"] not in ("app.py:<module>", "app.py:price", "app.py:search", "app.py:serve", "app.py:search.<locals>.<listcomp>"):
            problems.append(f"key {key}")
    start, day = fleet.sql("SELECT epoch(start) AS start, day::VARCHAR AS day FROM recording")[0].values()
    made = os.path.getmtime(os.path.join(folder, "a", "perf.data"))
    problems += [f"it began at {start}, and its file is of {made}"] * (not 0 <= made - start < recording.LIMIT)
    return problems + [f"day {day}"] * (day != time.strftime("%Y-%m-%d", time.gmtime(start)))


UNEQUAL = """
    SELECT * FROM
        (SELECT recording, key, sum(calls) AS calls, sum(self_ns) AS self_ns FROM function WHERE recording IN (SELECT recording FROM events) GROUP BY ALL)
    FULL JOIN
        (SELECT recording, key, count(*) FILTER (event = 'PY_START') AS of_events, coalesce(sum(self_ns), 0) AS self_of_events
         FROM events WHERE key IS NOT NULL AND what IS NULL GROUP BY ALL)
    USING (recording, key) WHERE calls IS DISTINCT FROM of_events OR self_ns IS DISTINCT FROM self_of_events"""


def wrong_events(fleet, wanted, store="store"):
    """The table `events` has that many recordings, and the same calls and self times as `function`, and as many rows as events."""
    problems = fleet.sql(UNEQUAL, store)
    found = fleet.sql("SELECT recording, count(*) FILTER (key IS NOT NULL AND event <> 'LEAVE') AS n FROM events GROUP BY 1", store)
    events = {row["recording"]: row["events"] for row in fleet.sql("SELECT recording, events FROM recording", store)}
    problems += [f"{row}, not {events}" for row in found if row["n"] != events.get(row["recording"])]
    return problems + [f"events of {len(found)} recordings"] * (len(found) != wanted)


def writers(python, duck, folder):
    """Different recordings and the same one, by WRITERS processes at the same time, into a store that is not there yet."""
    fleet = Fleet(python, duck, folder)
    names = [fleet.record(f"r{n}") for n in range(WRITERS)]
    running = [subprocess.Popen(fleet.command("add", "store", name, names[0], *["--events"] * (n % 2 == 0)), cwd=folder, env=fleet.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for n, name in enumerate(names)]
    problems = []
    for process in running:
        said = process.communicate(timeout=recording.LIMIT)[1]
        problems += [f"exit {process.returncode}: {said}"] * (process.returncode != 0 or said != "")
    wanted = sum(sum(row["calls"] for row in recording.summary(os.path.join(folder, name))["functions"]) for name in names)
    for what in ("before", "after"):
        found = fleet.value("SELECT count(*) FROM recording"), fleet.value("SELECT sum(calls)::BIGINT FROM function")
        problems += [f"{what} compact: {found}, not {(WRITERS, wanted)}"] * (found != (WRITERS, wanted))
        problems += [f"{what} compact: {each}" for each in wrong_events(fleet, WRITERS // 2)]
        fleet.must("compact", "store")
    packed = [path for path in fleet.files() if "/recording/" in path]
    return problems + [f"left: {packed}"] * (len(packed) > 2)  # two, if it became midnight meanwhile


def killed(python, duck, folder):
    """With kill -9 as soon as each further file is there: what is not whole is not seen, and comes when it is added again."""
    fleet = Fleet(python, duck, folder)
    fleet.must("add", "store", fleet.record("first"))
    name = fleet.record("a")
    first, problems, halves = fleet.value("SELECT sum(calls)::BIGINT FROM function"), [], 0
    before = fleet.files()
    for more in range(1, 6):
        process = subprocess.Popen(fleet.command("add", "store", name, "--events"), cwd=folder, env=fleet.environment(), start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(fleet.files()) < len(before) + more:
            time.sleep(0.0005)
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.wait()
        there = any("/recording/" in path and not os.path.basename(path).startswith(".") for path in set(fleet.files()) - set(before))
        halves += not there
        found = fleet.value("SELECT count(*) FROM recording"), fleet.value("SELECT sum(calls)::BIGINT FROM function") == first
        problems += [f"{more} files: {found}"] * (found != (1 + there, not there))
        problems += [f"{more} files: {each}" for each in wrong_events(fleet, int(there))]
        if there:
            break
    problems += ["no run was killed in the middle"] * (not halves)
    fleet.must("add", "store", name, "--events")
    wanted = sum(sum(row["calls"] for row in recording.summary(os.path.join(folder, each))["functions"]) for each in ("first", "a"))
    found = fleet.value("SELECT sum(calls)::BIGINT FROM function")
    return problems + wrong_events(fleet, 1) + [f"added again: {found} calls of {wanted}"] * (found != wanted)


def together(python, duck, folder):
    return come_together(Fleet(python, duck, folder))


def come_together(fleet):
    """Recordings that one command adds come into one file a table, with the rows that they have in files of their own; a further one does not."""
    names = [fleet.record(f"t{n}", 20 + n) for n in range(WRITERS)]
    for name in names:
        fleet.must("add", "alone", name)
    said = fleet.must("add", "store", *names)
    problems = [f"{said}"] * (said.count("\n") != WRITERS)
    for table in ("recording", "function", "edges", "loops", "waits"):
        rows = [fleet.sql(f"SELECT * FROM {table} ORDER BY ALL", store) for store in ("alone", "store")]
        problems += [f"{table}: {len(rows[0])} and {len(rows[1])} rows"] * (rows[0] != rows[1] or not rows[0])
        there = [path for path in fleet.files() if f"/{table}/" in path]
        problems += [f"{there}"] * (len(there) != 1)
    before = fleet.files()
    again = fleet.must("add", "store", *names)
    problems += [again] * (again.count("in the store already") != WRITERS or fleet.files() != before)
    fleet.must("add", "store", fleet.record("more", 50), names[0])
    return problems + [f"{fleet.files()}"] * (len([path for path in fleet.files() if "/recording/" in path]) != 2)


def copies(fleet, name, start_ns, numbers):
    """Of a recording, each with a start of its own: other recordings, therefore."""
    for number in numbers:
        made = os.path.join(fleet.folder, f"{name}{number}")
        shutil.copytree(os.path.join(fleet.folder, name), made)
        path, = [os.path.join(made, file) for file in os.listdir(made) if file.startswith("codes-")]
        with open(path, encoding="utf-8") as file:
            text = re.sub('"realtime_ns":[0-9]+', f'"realtime_ns":{start_ns + number}', file.read(), count=1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        yield os.path.basename(made)


def singles(fleet, day=""):
    return [path for path in fleet.files() if f"/recording/day={day}" in path and os.path.basename(path)[0] not in ".p"]


def age(fleet, seconds):
    for path in singles(fleet):
        os.utime(path, (time.time() - seconds,) * 2)


def one_by_one(python, duck, folder):
    """What is added one by one is packed when a day has a pile of it, or is over and quiet; also if who does so is killed. The agent's is not."""
    fleet = Fleet(python, duck, folder)
    fleet.record("a", 20)
    calls = sum(row["calls"] for row in recording.summary(os.path.join(folder, "a"))["functions"])
    now = time.time_ns()
    today, before = copies(fleet, "a", now, range(34)), copies(fleet, "a", now - 3 * 86400 * 10**9, range(34, 40))
    for _ in range(5):  # fewer at a time than one command packs
        fleet.must("add", "store", *itertools.islice(today, 6))
    fleet.must("add", "store", next(today))
    problems = [f"{len(singles(fleet))} of 31"] * (len(singles(fleet)) != 31)
    last, day = next(today), time.strftime("%Y-%m-%d", time.gmtime(now / 10**9 - 3 * 86400))
    for more in range(2, 30, 2):  # killed as soon as so many further files are there
        there = len(fleet.files())
        process = subprocess.Popen(fleet.command("add", "store", last), cwd=folder, env=fleet.environment(), start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(set(fleet.files())) < there + more and not any("/pack-" in path for path in fleet.files()):
            time.sleep(0.0005)
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.wait()
        found = fleet.value("SELECT count(*) FROM recording"), fleet.value("SELECT sum(calls)::BIGINT FROM function")
        problems += [f"{more}: {found}"] * (found not in ((31, 31 * calls), (32, 32 * calls)))
        if any("/pack-" in path for path in fleet.files()):
            break
    fleet.must("add", "store", next(today))
    problems += [f"left: {singles(fleet)}"] * (len(singles(fleet)) > 1)
    fleet.must("add", "store", *itertools.islice(before, 2))
    problems += [f"old: {len(singles(fleet, day))}"] * (len(singles(fleet, day)) != 2)
    age(fleet, 7 * 3600)
    done = fleet.traced("record", "-q", "-o", "new", "--fleet", "store", "app.py", "20")
    problems += [f"{done.stderr} {singles(fleet)}"] * (done.returncode or len(singles(fleet, day)) != 0)
    fleet.must("add", "store", *itertools.islice(before, 2), *(word for name in ("service", "host", "trigger") for word in ("--label", f"{name}=x")))
    fleet.must("add", "store", *before)
    age(fleet, 7 * 3600)
    fleet.must("add", "store", next(today))
    problems += [f"the agent's: {len(singles(fleet, day))}"] * (len(singles(fleet, day)) != 2)
    return problems + [f"{found}" for found in [fleet.value("SELECT count(*) FROM recording")] if found != 41]


def events(python, duck, folder):
    """Each event as a row, of a recording that is there already, too, and after compact; once, however often it is asked for."""
    fleet = Fleet(python, duck, folder)
    fleet.record("a")
    fleet.record("b")
    fleet.must("add", "store", "a", "b")
    problems = [f"before: {each}" for each in wrong_events(fleet, 0)]
    fleet.must("add", "store", "a", "--events")
    problems += wrong_events(fleet, 1)
    fleet.must("compact", "store")
    problems += [f"after compact: {each}" for each in wrong_events(fleet, 1)]
    said, before = fleet.must("add", "store", "b", "--events"), fleet.files()
    again = fleet.must("add", "store", "b", "--events")
    problems += wrong_events(fleet, 2) + [f"{said}{again}"] * ("already" in said or "already" not in again or fleet.files() != before)
    fleet.must("compact", "store")
    problems += [f"compacted again: {each}" for each in wrong_events(fleet, 2)]
    found = fleet.value("SELECT count(*) FROM events WHERE key = 'app.py:price' AND duration_ns >= self_ns AND event = 'PY_RETURN'")
    problems += [f"{found} returns of price"] * (found != 2 * 300)
    return problems


# As docs/fleet.md says for pyarrow and ClickHouse: calls by release, and the recordings' own columns.
READERS = """
import json, sys
import chdb, pyarrow as pa, pyarrow.compute as pc, pyarrow.dataset as ds
kind = ds.partitioning(pa.schema([("day", pa.date32()), ("label_release", pa.string()), ("label_host", pa.string())]), flavor="hive")
def table(name):
    return ds.dataset(sys.argv[1] + "/" + name, format="parquet", partitioning=kind).to_table()
rows = sorted((row["label_release"], row["calls"]) for row in table("function").to_pylist())
own = sorted((row["label_release"], row["label_host"] or "") for row in table("recording").to_pylist())
query = "SELECT sum(calls) FROM file('%s/function/**/*.parquet', Parquet)" % sys.argv[1]
print(json.dumps([sum(calls for release, calls in rows if release == "14"), own, int(str(chdb.query(query)))]))
"""


def partitioned(python, duck, folder):
    """By a label as well as by day: the same answers as without, and only files of that label are needed for it."""
    fleet = Fleet(python, duck, folder)
    rows = (("a", "1.3", "web1"), ("b", "14", "a b+c:d@e"), ("c", "14", None))
    for name, release, host in rows:
        labels = ["--label", f"release={release}", *(["--label", f"host={host}"] if host else [])]
        fleet.record(name)
        fleet.must("add", "plain", name, *labels, "--events")
        fleet.must("add", "store", name, *labels, "--events", "--partition", "release,host")
    problems = [f"added again: {said}" for said in [fleet.must("add", "store", "c", "--label", "release=14", "--events")] if "already" not in said]
    for _ in range(2):  # and after compact
        for query in ("SELECT recording, key, file, qualname, calls, self_ns, total_ns, day FROM function ORDER BY ALL",
                      "SELECT recording, program, host, start, wall_ns, events, lost, label_release, label_host, day FROM recording ORDER BY ALL",
                      "SELECT recording, event, key, count(*) AS n, sum(self_ns)::BIGINT AS ns FROM events GROUP BY ALL ORDER BY ALL"):
            problems += [query] * (fleet.sql(query) != fleet.sql(query, "plain"))
        problems += wrong_events(fleet, 3)
        found = fleet.sql("SELECT label_release, label_host, count(DISTINCT recording) AS n FROM function GROUP BY ALL ORDER BY ALL")
        wanted = [{"label_release": release, "label_host": host, "n": 1} for _, release, host in rows]
        problems += [f"function: {found}"] * (found != wanted)
        for table in ("function", "recording", "events"):
            places = {os.path.relpath(os.path.dirname(path), os.path.join(fleet.store, table)).split("/", 1)[1] for path in fleet.files()
                      if f"/{table}/" in path}
            problems += [f"{table}: {places}"] * (places != {
                "label_release=1.3/label_host=web1", "label_release=14/label_host=a%20b%2Bc%3Ad%40e", "label_release=14/label_host=__HIVE_DEFAULT_PARTITION__"})
        fleet.must("compact", "store")
    done = recording.run([duck, "-c", READERS, fleet.store])
    wanted = [fleet.value("SELECT sum(calls)::BIGINT FROM function WHERE label_release = '14'"), sorted([release, host or ""] for _, release, host in rows),
              fleet.value("SELECT sum(calls)::BIGINT FROM function")]
    problems += [f"pyarrow, ClickHouse: {done.stdout}{done.stderr}, not {wanted}"] * (done.returncode != 0 or json.loads(done.stdout) != wanted)
    for words, text in ((("--partition", "host"), "is partitioned by day, release, host"), (("--partition", "a,../b"), "--partition is LABEL"),
                        (("--partition", "a,a"), "--partition is LABEL"), (("--partition", ""), "--partition is LABEL")):
        done = fleet.run("add", "store", "a", *words)
        problems += [f"{words}: {done.stderr}"] * (done.returncode != 1 or text not in done.stderr or done.stderr.count("\n") != 1)
    return problems


def half_compacted(python, duck, folder):
    """A compact that was killed before it took the single files away: each recording counts once. The next one takes them away."""
    fleet = Fleet(python, duck, folder)
    fleet.must("add", "store", fleet.record("a"), fleet.record("b"))
    shutil.copytree(fleet.store, os.path.join(folder, "before"))
    wanted = fleet.value("SELECT sum(calls)::BIGINT FROM function")
    fleet.must("compact", "store")
    shutil.copytree(os.path.join(folder, "before"), fleet.store, dirs_exist_ok=True)
    problems = [f"{found} calls of {wanted}" for found in [fleet.value("SELECT sum(calls)::BIGINT FROM function")] if found != wanted]
    fleet.must("compact", "store")
    left = [path for path in fleet.files() if path.endswith(".parquet") and "/pack-" not in path]
    return problems + [f"left: {left}"] * bool(left)


# `ocular fleet trace`, up to what it becomes, which tests/viewers/test_view.py shows.
TRACE = """
import json, os, sys
from ocular import fleet
def became(path, words):
    sys.exit(print(json.dumps(words[1:])))
os.execv = became
sys.exit(fleet.main(["trace", "store", sys.argv[1], "--no-browser"]))
"""


def traced(python, duck, folder):
    """Of several recordings it opens the one, packed or not, by the beginning of its id; not if that is another one now, or gone."""
    fleet = Fleet(python, duck, folder)
    for name in ("a", "b"):
        fleet.record(name, 20)
    recording.run([recording.WRAPPER, "pack", "-q", "--remove", "b", "-o", "b.ocular"], cwd=folder)
    fleet.must("add", "store", "a", "b.ocular")
    ids = {os.path.basename(row["path"]): row["recording"] for row in fleet.sql("SELECT path, recording FROM recording")}

    def trace(name):
        return recording.run([duck, "-c", TRACE, ids[name][:8]], cwd=folder, env=recording.plain_environment(
            PYTHON=duck, PYTHONPATH=os.path.join(recording.BUILD, "python")))
    problems = []
    for name in ids:
        done, wanted = trace(name), ["view", "--perfetto", "--no-browser", os.path.join(folder, name)]
        problems += [f"{name}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or json.loads(done.stdout) != wanted)
    os.rename(os.path.join(folder, "b.ocular"), os.path.join(folder, "c.ocular"))
    shutil.rmtree(os.path.join(folder, "a"))
    fleet.record("a", 30)
    for name, text in (("a", "has another recording now than"), ("b.ocular", "where it is not any more")):
        done = trace(name)
        problems += [f"{name}: {done.stdout}{done.stderr}"] * (done.returncode != 1 or text not in done.stderr or done.stderr.count("\n") != 1)
    return problems


def durations_of(folder):
    """Of price(), which calls nothing, by the list of events."""
    for events in recording.events(folder).values():
        times = [int(each.time) for each in events if each.qualname == "price" and each.event in ("PY_START", "PY_RETURN")]
        yield from (end - begin for begin, end in zip(times[::2], times[1::2]))


def wrong_durations(fleet, names):
    """Quantiles of the calls of all recordings of release 1.3 together, where a bucket is exact to a 16th."""
    wanted = sorted(each for name in names for each in durations_of(os.path.join(fleet.folder, name)))
    row = next(row for row in json.loads(fleet.must("durations", "store", "price", "--by", "release", "--format", "json")) if row["label_release"] == "1.3")
    problems = [f"{len(wanted)} calls: {row}"] * ((row["activations"], row["recordings"]) != (len(wanted), len(names)))
    for name, share in (("median_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99), ("p999_ns", 0.999), ("longest_ns", 1)):
        exact = wanted[math.ceil(len(wanted) * share) - 1]
        problems += [f"{name} is {exact}: {row}"] * (abs(row[name] - exact) > exact / 16)
    return problems


def releases(python, duck, folder):
    """price() got slower in release 1.4, and nothing from 1.2 to 1.3."""
    fleet = Fleet(python, duck, folder)
    for n in range(6):  # in turn, so that the machine's other load meets all
        for release, work in (("1.2", 200), ("1.3", 200), ("1.4", 3200)):
            fleet.must("add", "store", fleet.record(f"{release}-{n}", work), "--label", f"release={release}", "--label", f"host=web{n % 4}")
    slower = json.loads(fleet.must("slower", "store", "--by", "release", "1.3", "1.4", "--format", "json"))
    same = json.loads(fleet.must("slower", "store", "--by", "release", "1.2", "1.3", "--format", "json"))
    problems = [f"1.3 to 1.4: {slower}"] * ("app.py:price" not in [row["key"] for row in slower])
    problems += [f"1.2 to 1.3: {same}"] * ("app.py:price" in [row["key"] for row in same])
    shown = json.loads(fleet.must("show", "store", "price", "--format", "json"))
    problems += [f"show: {shown[:2]}"] * (len(shown) != 18 or shown[0]["label_release"] != "1.4")
    problems += wrong_durations(fleet, [f"1.3-{n}" for n in range(6)])
    callers, = json.loads(fleet.must("callers", "store", "price", "--format", "json"))
    found = callers["caller_key"], callers["callee_key"], callers["recordings"], callers["calls"], callers["recursive_calls"]
    problems += [f"callers: {callers}"] * (found != ("app.py:serve", "app.py:price", 18, 18 * 300, 0))
    found = fleet.sql("SELECT label_host, count(*) AS n FROM recording GROUP BY 1 ORDER BY 1")
    return problems + [f"hosts: {found}"] * ([row["n"] for row in found] != [6, 6, 3, 3])


def refused(python, duck, folder):
    """One line, not 0, and nothing else touched."""
    fleet = Fleet(python, duck, folder)
    fleet.must("add", "store", fleet.record("a"), "--label", "release=1.3")
    for name, data in (("damaged", b"PERFILE2" + b"\xff" * 5000), ("text", b"hello")):
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "perf.data"), "wb") as file:
            file.write(data)
    for name, text in (("newer", '{"schema": 2}'), ("odd", '{"schema":'), ("other", None)):
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "ocular-fleet.json" if text else "file"), "w", encoding="utf-8") as file:
            file.write(text or "mine")
    rows = (
        (("add", "store", "damaged"), 1, "'damaged' was not added"),
        (("add", "store", "text"), 1, "'text' was not added"),
        (("add", "store", "none"), 1, "no recording 'none'"),
        (("add", "fresh", "none"), 1, "no recording 'none'"),
        (("add", "store", "other"), 1, "it has no perf.data"),
        (("add", "store"), 2, "name a recording"),
        (("add", "other", "a"), 1, "not a fleet store, and not empty"),
        (("add", "newer", "a"), 1, "schema version 2"),
        (("add", "app.py", "a"), 1, "app.py"),
        (("add", "store", "a", "--label", "host=../up"), 1, "the value of label"),
        (("add", "store", "a", "--label", "../host=up"), 1, "is not NAME=VALUE"),
        (("add", "store", "a", "--label", "host=a\nb"), 1, "the value of label"),
        (("add", "store", "a", "--label", "host"), 1, "is not NAME=VALUE"),
        (("add", "store", "a", "--label", "release=1.4"), 1, "already, with other labels: release=1.3"),
        (("sql", "newer", "SELECT 1"), 1, "schema version 2"),
        (("sql", "odd", "SELECT 1"), 1, "is damaged"),
        (("sql", "none", "SELECT 1"), 1, "no fleet store 'none'"),
        (("sql", "store", "SELECT nothing FROM recording"), 1, "nothing"),
        (("sql", "store", "COPY recording TO 'out.csv'"), 1, "one SELECT"),
        (("sql", "store", "SELECT * FROM read_text('app.py')"), 1, "app.py"),
        (("slower", "store", "--by", "release", "1.3", "1.4"), 1, "3 a side"),
        (("slower", "store", "--by", "hosts", "1.3", "1.4"), 1, "has a label 'hosts'"),
        (("slower", "store", "1.3", "1.4"), 2, "--by LABEL"),
        (("show", "store", "nothing"), 1, "has a function 'nothing'"),
        (("durations", "store", "nothing"), 1, "has a function 'nothing'"),
        (("durations", "store", "price", "--by", "hosts"), 1, "has a label 'hosts'"),
        (("callers", "store", "nothing"), 1, "has a function 'nothing'"),
        (("trace", "store", "zzz"), 1, "begins with 'zzz'"),
        (("nonsense", "store"), 2, "nonsense"),
        (("top", "store", "--format", "xml"), 2, "xml"),
        ((), 2, "please"))
    before, problems = tree(folder), []
    for words, status, text in rows:
        is_odd = status == 2 or any("\n" in word for word in words)  # the wrapper hands it on as it is, or refuses it itself
        done = (fleet.started if is_odd else fleet.run)(*words)
        if done.returncode != status or text not in done.stderr or done.stderr.count("\n") != 1 or done.stdout:
            problems.append(f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}")
    done = fleet.started("top", "store", PYTHON=python)
    if done.returncode != 1 or 'pip install "ocular-trace[fleet]"' not in done.stderr or done.stderr.count("\n") != 1:
        problems.append(f"without DuckDB: exit {done.returncode}: {done.stderr}")
    return problems + [f"touched: {each}" for each in sorted(set(before.items()) ^ set(tree(folder).items()))]


ODD = "SELECT 1 AS n, '<b>&\"' AS odd, NULL AS nothing, [1, 2] AS list, 'a' || chr(10) || 'b' || chr(27) AS lines"


class Cells(html.parser.HTMLParser):
    """The text of each th and td."""

    def __init__(self, page):
        super().__init__()
        self.found, self.inside = [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag in ("th", "td"):
            self.found.append("")
        self.inside = tag in ("th", "td")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.found[-1] += data.rstrip("\n")


def formats(python, duck, folder):
    """The same answer in all four; a terminal gets no escape sequences, a page no markup."""
    fleet = Fleet(python, duck, folder)
    fleet.must("add", "store", fleet.record("a"))
    names = ["n", "odd", "nothing", "list", "lines"]
    table, made, sheet, page = (fleet.must("sql", "store", ODD, "--format", form) for form in ("table", "json", "csv", "html"))
    problems = [f"table: {table!r}"] * (table.splitlines()[1].split() != ["1", '<b>&"', "-", "1,", "2", "a?b?"])
    problems += [f"json: {made}"] * (json.loads(made) != [dict(zip(names, [1, '<b>&"', None, [1, 2], "a\nb\x1b"]))])
    problems += [f"csv: {sheet}"] * (list(csv.reader(io.StringIO(sheet))) != [names, ["1", '<b>&"', "", "1, 2", "a\nb\x1b"]])
    problems += [f"html: {page}"] * (Cells(page).found != [*names, "1", '<b>&"', "", "1, 2", "a?b?"])
    problems += ["html has another file"] * ("src=" in page or "href=" in page or "url(" in page)
    functions = {form: fleet.must("top", "store", "--format", form) for form in ("json", "csv", "html")}
    rows = json.loads(functions["json"])
    cells = [str(value) for row in rows for value in row.values()]
    problems += ["top: csv"] * ([value for row in list(csv.reader(io.StringIO(functions["csv"])))[1:] for value in row] != cells)
    return problems + ["top: html"] * (Cells(functions["html"]).found[len(rows[0]):] != cells)


def made_up(python, duck, folder):
    """5,000 recordings of a generator that keeps their truth: 2 % of one function on one host of 50 is found, and where there is none, nothing."""
    fleet = Fleet(python, duck, folder)
    problems = []
    for name, words, wanted in (("slow", ("--slower", "7,31,2"), [("shop/f7.py:f7", "h31", 50, 50)]), ("same", (), [])):
        done = recording.run([duck, GENERATOR, os.path.join(folder, name), "--recordings", "5000", "--releases", "2", "--functions", "20", *words],
                             env=recording.plain_environment())
        truth = json.loads(done.stdout)
        found = json.loads(fleet.must("slower", name, "--by", "release", "1.0", "1.1", "--format", "json"))
        if [(row["key"], row["host"], row["a_recordings"], row["b_recordings"]) for row in found] != wanted:
            problems.append(f"{name}: {found}")
        shown = json.loads(fleet.must("slower", name, "--by", "release", "1.0", "1.1", "--format", "json", "--all"))
        problems += [f"{name}: {len(shown)} comparisons"] * (len(shown) != 20 * 51)
        found, = fleet.sql("SELECT sum(self_ns)::BIGINT AS self_ns, count(DISTINCT recording) AS recordings FROM function", name)
        problems += [f"{name}: {found}, not {truth}"] * (found != {key: truth[key] for key in found})
        for row in json.loads(fleet.must("durations", name, "f0", "--by", "release", "--format", "json")):
            problems += [f"{name}: {row}"] * (row["p99_ns"] != middle(at_share(truth["buckets"][row["label_release"]], 0.99)))
    return problems


def at_share(buckets, share):
    """The bucket that so many are in or below."""
    left = math.ceil(share * sum(buckets.values()))
    for low in sorted(map(int, buckets)):
        left -= buckets[str(low)]
        if left <= 0:
            return low
    raise AssertionError(buckets)


def middle(low):
    return low + ((1 << max(0, low.bit_length() - 4)) - 1) // 2


def recorded(python, duck, folder):
    """record --fleet and run --fleet: output, status and signals are the program's, and the recording is in the store."""
    fleet = Fleet(python, duck, folder)
    problems, rows = [], (
        ("record", "print('out'); exit(3)", 3, "out\n"),
        ("record", "import os; os.kill(os.getpid(), 9)", 128 + 9, ""),
        ("run", "print('out')", 0, None))
    for n, (command, code, status, out) in enumerate(rows):
        done = fleet.traced(command, "-q", "--fleet", "store", "--label", "release=1.4", "--label", f"n={n}", "-o", f"r{n}", "--", "-c", code)
        found = fleet.value("SELECT count(*) FROM recording WHERE label_release = '1.4' AND program = '-c'")
        problems += [f"{command} {code}: events" for rows in [fleet.sql("SELECT * FROM events LIMIT 1")] if rows]
        status = status if status < 128 or done.returncode > 0 else 128 - status  # as the kernel says it, or the shell
        if (done.returncode, found) != (status, n + 1) or done.stderr or out not in (None, done.stdout) or not done.stdout.startswith(out or ""):
            problems.append(f"{command} {code}: exit {done.returncode}, {found} recordings: {done.stdout[-500:]}{done.stderr}")
    return problems + recorded_events(fleet)


# Until its recording has enough of them.
MANY_FILES = f"""
import glob
def down(n):
    return n and down(n - 1)
while len(glob.glob('p/perf.data.[0-9]*')) < {WRITERS}:
    down(50)
"""


def recorded_events(fleet):
    """record --fleet --events: the rows of add --events; run --events FILE is the report's, as it was."""
    done = fleet.traced("record", "--fleet", "with", "--events", "-o", "e", "--", "app.py", "3")
    problems = [f"record --events: exit {done.returncode}: {done.stderr}"] * (done.returncode != 0 or "added to 'with'" not in done.stderr)
    problems += wrong_events(fleet, 1, "with")
    done = fleet.traced("record", "-q", "--fleet", "pieces", "--switch-output", "64K", "-o", "p", "--", "-c", MANY_FILES)
    found = fleet.sql("SELECT count(*) AS n FROM recording", "pieces")[0]["n"], [path for path in tree(fleet.folder) if "/pieces/recording/" in path]
    problems += [f"pieces: exit {done.returncode}, {found}: {done.stderr}"] * (done.returncode != 0 or found[0] < WRITERS or len(found[1]) != 1)
    done = fleet.traced("run", "-q", "--fleet", "store", "--label", "release=1.5", "--events", "e.txt", "-o", "f", "--", "app.py", "3")
    with open(os.path.join(fleet.folder, "e.txt"), encoding="utf-8") as file:
        problems += ["run --events"] * (done.returncode != 0 or "PY_START" not in file.read())
    return problems + ["run: events in the store"] * (fleet.sql("SELECT * FROM events LIMIT 1") != [])


def passed_on(python, duck, folder):
    """A signal to ocular record alone reaches the program."""
    fleet = Fleet(python, duck, folder)
    problems = []
    for name, wanted, said in (("SIGINT", 5, "interrupted\n"), ("SIGTERM", -signal.SIGTERM, "")):
        code = "import time\nprint('ready', flush=True)\ntry: time.sleep(600)\nexcept KeyboardInterrupt: print('interrupted'); exit(5)"
        process = subprocess.Popen([recording.WRAPPER, "record", "-q", "--python", python, "--fleet", "store", "--label", f"by={name}", "-o", name,
                                    "--", "-c", code], cwd=folder, env=fleet.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=recording.LIMIT)
        found = fleet.value(f"SELECT count(*) FROM recording WHERE label_by = '{name}'")
        problems += [f"{name}: exit {process.returncode}, {found} recordings: {out}{err}"] * ((process.returncode, out, err, found) != (wanted, said, "", 1))
    return problems


def not_added(python, duck, folder):
    """What can be known before the program runs is said before; a recording that cannot be added is kept, and that is said."""
    fleet = Fleet(python, duck, folder)
    fleet.must("add", "store", fleet.record("old"))
    before, problems = tree(folder), []
    for words, status, text in (
            (("--fleet", "store", "--label", "host=../up"), 1, "the value of label"), (("--fleet", "app.py"), 1, "app.py"),
            (("--fleet", "old"), 1, "not a fleet store, and not empty"), (("--label", "host=a"), 2, "--label needs --fleet"),
            (("--events",), 2, "--events needs --fleet")):
        done = fleet.traced("record", "-q", *words, "-o", "old", "--", "-c", "open('ran', 'w')")
        if done.returncode != status or text not in done.stderr or done.stderr.count("\n") != 1:
            problems.append(f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}")
    problems += [f"touched: {each}" for each in sorted(set(before.items()) ^ set(tree(folder).items()))]
    code = "import shutil; shutil.rmtree('store/function'); open('store/function', 'w')"
    for status in (0, 3):
        done = fleet.traced("record", "-q", "--fleet", "store", "-o", "kept", "--", "-c", f"{code}; exit({status})")
        code = "0"
        if done.returncode != (status or 1) or done.stderr.count("\n") != 1 or "the recording is 'kept'" not in done.stderr:
            problems.append(f"a store that cannot be written: exit {done.returncode}: {done.stderr}")
    os.unlink(os.path.join(fleet.store, "function"))
    return problems + [f"added later: {said}" for said in [fleet.must("add", "store", "kept")] if "kept" not in said]


def damaged_store(python, duck, folder):
    """A file that is not a whole Parquet file: whoever needs it says so in a line, and all that is there stays."""
    fleet = Fleet(python, duck, folder)
    fleet.must("add", "store", fleet.record("a"), fleet.record("b"))
    fleet.record("c")
    shutil.copytree(fleet.store, os.path.join(folder, "single"))
    fleet.must("compact", "store")
    os.rename(fleet.store, os.path.join(folder, "packed"))
    problems = []
    for kind, table, how in itertools.product(("single", "packed"), ("function", "recording"), (b"", b"text" * 99, None)):
        shutil.rmtree(fleet.store, ignore_errors=True)
        shutil.copytree(os.path.join(folder, kind), fleet.store)
        path = next(path for path in fleet.files() if f"/{table}/" in path)
        with open(path, "r+b") as file:
            file.truncate(len(how) if how is not None else os.path.getsize(path) // 2)
            file.write(how or b"")
        before = tree(fleet.store)
        for words, statuses in ((("top", "store"), {1}), (("compact", "store"), {0, 1} if kind == "packed" else {1}), (("add", "store", "c"), {0, 1})):
            done = fleet.run(*words)
            if done.returncode not in statuses or done.stderr.count("\n") != done.returncode or \
                    done.returncode and "take that file out of the store" not in done.stderr:
                problems.append(f"{kind} {table} {how}: {words[0]}: exit {done.returncode}: {done.stderr}")
        problems += [f"{kind} {table} {how}: touched: {each}" for each in sorted(set(before.items()) - set(tree(fleet.store).items()))]
    return problems


REQUESTS = """
import ocular, threading, time
lock = threading.Lock()
def hold():
    with lock:
        time.sleep(0.02)
def serve():
    with lock:
        sum(range(1000))
thread = threading.Thread(target=hold)
thread.start()
time.sleep(0.005)
for n in range(3):
    with ocular.request("GET /%d" % n):
        serve()
thread.join()
"""
OLDER = """
import sys, duckdb
path = sys.argv[1]
duckdb.sql(f"CREATE TABLE old AS SELECT * REPLACE ([{{'kind': p.kind, 'what': p.what, 'task': p.task, 'tid': p.tid, 'ns': p.ns}} FOR p IN path] AS path) FROM '{path}'")
duckdb.sql(f"COPY old TO '{path}' (FORMAT parquet)")
"""
PIECES = "SELECT recording, name, unnest(path, recursive := true) FROM requests"


def requests(python, duck, folder):
    """Each piece of a request's path is the summary's; one by an earlier version, whose pieces had fewer fields, is read beside it, also in a pack."""
    fleet, wanted = Fleet(python, duck, folder), []
    with open(os.path.join(folder, "requests.py"), "w", encoding="utf-8") as file:
        file.write(REQUESTS)
    for name in ("older", "newer"):
        done = fleet.traced("record", "-q", "-o", name, "--", "requests.py")
        if done.returncode:
            return [done.stderr]
        number = fleet.must("add", "store", name).split()[0]
        for row in recording.summary(os.path.join(folder, name))["requests"]:
            wanted += [{"recording": number, "name": row["name"], **piece, **({"awaited_by": None, "wait": None} if name == "older" else {})}
                       for piece in row["path"]]
        if name == "older":
            path, = (path for path in fleet.files() if "/requests/" in path)
            done = recording.run([duck, "-c", OLDER, path])
            if done.returncode:
                return [done.stderr]
    problems = ["nothing waited for the lock"] * (not any(piece["wait"] == "lock" for piece in wanted))
    for _ in range(2):
        found = fleet.sql(PIECES)
        problems += [f"found  {found}", f"wanted {wanted}"] * (sorted(found, key=by_value) != sorted(wanted, key=by_value))
        fleet.must("compact", "store")
    return problems


def by_value(row):
    return sorted((key, str(value)) for key, value in row.items())


def kinds(python, duck, folder):
    """A flight recording, a duty cycle, several files; cut off, damaged, without code tables, in the end with nothing: events as the summary has them."""
    fleet = Fleet(python, duck, folder)
    for name, words in (("flight", ("--flight", "50ms")), ("duty", ("--duty", "50%", "--duty-window", "10ms")), ("files", ("--switch-output", "100K")),
                        ("whole", ())):
        done = fleet.traced("record", "-q", "-o", name, *words, "--", "app.py", "200")
        if done.returncode:
            raise RuntimeError(done.stderr)
    older = len(os.listdir(os.path.join(folder, "files"))) - 2  # codes and perf.data
    for name in ("cut", "damaged", "tableless"):
        shutil.copytree(os.path.join(folder, "whole"), os.path.join(folder, name))
    os.truncate(os.path.join(folder, "cut", "perf.data"), os.path.getsize(os.path.join(folder, "whole", "perf.data")) - 50000)
    with open(os.path.join(folder, "damaged", "perf.data"), "r+b") as file:
        file.seek(os.path.getsize(file.name) // 2)
        file.write(b"\xa5" * 999)
    os.unlink(next(entry.path for entry in os.scandir(os.path.join(folder, "tableless")) if entry.name.startswith("codes-")))
    os.mkfifo(os.path.join(folder, "fifo"))
    names = ("flight", "duty", "files", "cut", "damaged", "tableless")
    problems = [f"{older} files"] * (older < 2)
    for name in names:
        done = fleet.run("add", "store", name, "--label", f"kind={name}")
        lost = name in ("cut", "damaged")
        problems += [f"{name}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or done.stderr != "" or lost != ("are missing" in done.stdout))
    problems += [f"a FIFO: {done.stderr}" for done in [fleet.run("add", "store", "fifo")] if done.returncode != 1 or done.stderr.count("\n") != 1]
    found = {row["kind"]: row for row in fleet.sql("SELECT label_kind AS kind, sum(events)::BIGINT AS events, bool_and(complete) AS complete, count(*) AS n"
                                                  " FROM recording GROUP BY 1")}
    problems += [f"several files: {found['files']}, not {older + 1}"] * (found["files"]["n"] != older + 1)
    for name in names:
        each = [entry.path for entry in os.scandir(os.path.join(folder, name)) if entry.name.startswith("perf.data")]
        wanted = sum(sum(events_of(path).values()) for path in each)
        problems += [f"{name}: {found[name]}, the summary has {wanted}"] * (found[name]["events"] != wanted)
        problems += [f"{name}: {found[name]}"] * (found[name]["complete"] and name in ("cut", "damaged", "tableless"))
    problems += ["no snapshot"] * (not fleet.value("SELECT count(*) FROM snapshots"))
    return problems


def events_of(path):
    done = recording.run([recording.WRAPPER, "report", "-q", "--summary", "-", path])
    return json.loads(done.stdout)["events"]


def tree(folder):
    """Path and size of what is there."""
    return {os.path.join(at, name): os.path.getsize(os.path.join(at, name)) for at, folders, names in os.walk(folder) for name in names + folders
            if not os.path.isdir(os.path.join(at, name)) or name == "fresh"}


CASES = (
    ("sums are the summary's; adding again changes nothing", sums), ("8 writers at a time", writers),
    ("kill -9 in the middle", killed), ("a compact that was killed", half_compacted),
    ("added together", together), ("added one by one", one_by_one), ("trace opens the one recording", traced), ("each event as a row", events),
    ("a store that is partitioned by labels", partitioned),
    ("a planted regression of one release is found", releases), ("bad input is refused in a line", refused),
    ("answers as a table, JSON, CSV and a page", formats),
    ("2 % on one host of 50 is found", made_up),
    ("what a request waited for", requests), ("a damaged store", damaged_store), ("recordings of all kinds, also damaged", kinds),
    ("record --fleet adds what it recorded", recorded), ("record --fleet passes signals on", passed_on),
    ("record --fleet keeps what cannot be added", not_added))


def cases(python, chosen):
    return recording.of_fleets(python, chosen, CASES)


if __name__ == "__main__":
    recording.run_cases(cases)
