#!/usr/bin/env python3
"""ocular fleet in a bucket: the same rows as in a folder, each recording once whoever adds it and whoever is killed, bad input refused.

The server is moto's, of PyPI. By --server it is another one (make test-stores): versitygw or fake-gcs-server, which the Go module proxy has, and
whose building takes two minutes of CPU time the first time; azurite, of npm; HDFS, of Maven. Only those refuse half a file, so only there writers
are killed.
"""

import contextlib
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import forks  # noqa: E402
import recording  # noqa: E402
import stores  # noqa: E402
from test_fleet import WRITERS, Fleet, come_together, tree, wrong_events  # noqa: E402

TABLES = ("recording", "function", "edges", "loops", "waits", "events")
QUESTIONS = (("top",), ("show", "price"), ("durations", "price", "--by", "release"), ("callers", "price"))
# Of the libraries by which a store is read, beside S3's, which has its servers in recording.FLEET.
PACKAGES = {"fake-gcs-server": ("duckdb", "pyarrow", "gcsfs"), "azurite": ("duckdb", "pyarrow", "adlfs"), "hdfs": ("duckdb", "pyarrow", "hdfs-native")}
# Sums by pyarrow.
READER = """
import fsspec, json, sys
import pyarrow.dataset as ds
there, top = fsspec.url_to_fs(sys.argv[1])
rows = ds.dataset(top + "/function", format="parquet", filesystem=there).to_table(columns=["calls", "self_ns"]).to_pylist()
print(json.dumps([sum(row["calls"] for row in rows), sum(row["self_ns"] for row in rows)]))
"""
# And by ClickHouse, of a bucket of S3's.
READERS = """
import json, os, sys
import chdb, pyarrow.dataset as ds, pyarrow.fs
place, key, secret = os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
there = pyarrow.fs.S3FileSystem(endpoint_override=place.partition("://")[2], scheme="http", region="us-east-1")
rows = ds.dataset(sys.argv[1] + "/function", format="parquet", filesystem=there).to_table(columns=["calls", "self_ns"]).to_pylist()
query = "SELECT sum(calls), sum(self_ns) FROM s3('%s/%s/function/**/*.parquet', '%s', '%s', 'Parquet')" % (place, sys.argv[1], key, secret)
print(json.dumps([sum(row["calls"] for row in rows), sum(row["self_ns"] for row in rows), *map(int, str(chdb.query(query)).split(","))]))
"""


class Bucketed(Fleet):
    """A store in a bucket, called `store` by the tests that it shares with a folder's."""

    def __init__(self, python, duck, server, bucket, folder):
        super().__init__(python, duck, folder)
        self.server, self.bucket = server, server.make(bucket)
        self.store = self.bucket + "/of/runs"
        self.more = {**server.settings(), "XDG_STATE_HOME": os.path.join(folder, "state"), "TMPDIR": folder}  # also of those that are killed
        os.environ.update(self.more)  # of the process that answers questions

    def environment(self):
        return {**super().environment(), **self.more}

    def command(self, *words):
        return super().command(*self.named(words))

    def named(self, words):
        return [self.store if word == "store" else word for word in words]

    def objects(self):
        """Paths, and hash and time of each."""
        return json.loads(self.server.run(stores.LIST, self.store))

    def files(self):
        return sorted(self.objects())


def unequal(fleet, one="store", other="plain"):
    """Tables whose rows are not the same in both; or that have none."""
    rows = {name: [fleet.sql(f"SELECT * FROM {table} ORDER BY ALL", name) for table in TABLES] for name in (one, other)}
    return [f"{table}: {len(a)} rows, {len(b)}" for table, a, b in zip(TABLES, rows[one], rows[other]) if a != b or not a]


def equal(fleet):
    """Row for row, before and after compact, also partitioned; ClickHouse and pyarrow have the same sums. Added again, nothing changes."""
    for name in ("a", "b"):
        fleet.record(name, 20)
    recording.run([recording.WRAPPER, "pack", "-q", "--remove", "b", "-o", "b.ocular"], cwd=fleet.folder)
    problems = []
    for name, release in (("a", "1.3"), ("b.ocular", "1 4")):
        for store in ("store", "plain"):
            fleet.must("add", store, name, "--label", f"release={release}", "--events", "--partition", "release")
    before = fleet.objects()
    said = fleet.must("add", "store", "a", "--label", "release=1.3", "--events")
    problems += [f"added again: {said}"] * ("already" not in said or fleet.objects() != before)
    for _ in range(2):
        problems += unequal(fleet) + wrong_events(fleet, 2)
        is_s3 = fleet.store.startswith("s3://")
        done = recording.run([fleet.duck, "-c", READERS if is_s3 else READER, fleet.store.removeprefix("s3://")], env=fleet.environment())
        wanted = (1 + is_s3) * list(fleet.sql("SELECT sum(calls)::BIGINT AS calls, sum(self_ns)::BIGINT AS ns FROM function")[0].values())
        problems += [f"pyarrow, ClickHouse: {done.stdout}{done.stderr}, not {wanted}"] * (done.returncode != 0 or json.loads(done.stdout) != wanted)
        found = answers(fleet, [(words[0], store, *words[1:]) for words in QUESTIONS for store in ("store", "plain")], {})
        problems += [f"{words}: {one}, {other}" for words, one, other in zip(QUESTIONS, found[::2], found[1::2]) if one != other or one[0]]
        problems += [f"compact: {each}" for each in answers(fleet, [("compact", "store"), ("compact", "plain")], {}) if each[0]]
    left = [path for path in fleet.files() if path.endswith(".parquet") and "/pack-" not in path and "/events/" not in path]
    said = fleet.must("add", "store", "b.ocular", "--label", "release=1 4", "--events")
    return problems + [f"left: {left}"] * bool(left) + [f"added after compact: {said}"] * ("already" not in said)


def writers(fleet):
    """Different recordings and the same one, by WRITERS processes at the same time, where no store is yet; compacted by two at a time."""
    names = [fleet.record(f"r{n}", 20) for n in range(WRITERS)]
    problems = at_once(fleet, *(("add", "store", name, names[0]) for name in names))
    wanted = sum(sum(row["calls"] for row in recording.summary(os.path.join(fleet.folder, name))["functions"]) for name in names)
    for what in ("before", "after"):
        found = fleet.value("SELECT count(*) FROM recording"), fleet.value("SELECT sum(calls)::BIGINT FROM function")
        problems += [f"{what} compact: {found}, not {(WRITERS, wanted)}"] * (found != (WRITERS, wanted))
        said = at_once(fleet, *([("compact", "store")] * 2)) if what == "before" else []
        problems += [each for each in said if "is being compacted by process" not in each or each.count("\n") != 1]
    return problems


def at_once(fleet, *commands):
    """What those said that failed."""
    running = [subprocess.Popen(fleet.command(*words), cwd=fleet.folder, env=fleet.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for words in commands]
    said = [process.communicate(timeout=recording.LIMIT)[1] for process in running]
    return [f"exit {process.returncode}: {each}" for process, each in zip(running, said) if process.returncode or each]


def killed(fleet):
    """With kill -9 while each further file is on its way: what is not whole is not seen, and comes when it is added again."""
    fleet.must("add", "store", fleet.record("first", 20))
    name, problems, halves = fleet.record("a", 20), [], 0
    first = fleet.value("SELECT sum(calls)::BIGINT FROM function")
    each = fleet.server.kind.each  # steps of a file
    for nth in range(1, 9 * each):
        died = stores.Deadly(fleet.server, nth).run(fleet.command("add", "store", name, "--events"), cwd=fleet.folder, env=fleet.environment()) < 0
        found = fleet.value("SELECT count(*) FROM recording"), fleet.value("SELECT sum(calls)::BIGINT FROM function") == first
        problems += [f"file {nth}: {found}"] * (found != (1 + (not died), died))
        problems += [f"file {nth}: {each}" for each in wrong_events(fleet, int(not died))]
        halves += died
        if not died:
            break
    problems += [f"killed {halves} times"] * (not 4 * each <= halves < 8 * each)
    return problems + [f"added again: {said}" for said in [fleet.must("add", "store", name, "--events")] if "already" not in said]


def compact_killed(fleet):
    """Each recording counts once; what the one that was killed has locked is told in a line, and a day later is nobody's."""
    fleet.must("add", "store", fleet.record("a", 20), fleet.record("b", 20))
    wanted = fleet.value("SELECT sum(calls)::BIGINT FROM function")
    rows = [fleet.sql(f"SELECT * FROM {table} ORDER BY ALL") for table in TABLES[:-1]]
    problems, each, died = [], fleet.server.kind.each, True
    nth = each + 1  # the first file is the lock
    while died:
        died = stores.Deadly(fleet.server, nth).run(fleet.command("compact", "store"), cwd=fleet.folder, env=fleet.environment()) < 0
        found = fleet.value("SELECT count(*) FROM recording"), fleet.value("SELECT sum(calls)::BIGINT FROM function")
        problems += [f"file {nth}: {found}"] * (found != (2, wanted))
        if died:
            done = fleet.run("compact", "store")
            problems += [f"locked: {done.stderr}"] * (done.returncode != 1 or done.stderr.count("\n") != 1 or "if that was killed, remove" not in done.stderr)
            fleet.server.remove(fleet.store + "/.compact.lock")
        nth += 1
    problems += [f"killed {nth - each - 2} times"] * (nth < 5 * each + 1)
    return problems + ["other rows"] * (rows != [fleet.sql(f"SELECT * FROM {table} ORDER BY ALL") for table in TABLES[:-1]])


# What no server here can show: a lock that is a day old, and a file system without whole writes. fsspec's own in memory has both.
MEMORY = """
import datetime, os, sys
from ocular import fleet_files
files = fleet_files.Tree("memory://some/store")
def write(path):
    with open(path, "wb") as file:
        file.write(b"text")
for _ in range(2):
    files.put("table/day=1/a.parquet", write)
assert list(files.below("table")) == ["table/day=1/a.parquet"] and files.read("table/day=1/a.parquet") == b"text"
files = fleet_files.Bucket("memory://some/store")
def compacts():
    try:
        with files.locked("lock"):
            return True
    except BlockingIOError as e:
        return str(os.getpid()) in fleet_files.reason(e)
assert compacts() is True and not files.is_there("lock")
files.create("lock", b"by process %d" % os.getpid())
assert compacts() is True and files.is_there("lock")
files.fs.store["/some/store/lock"].created -= datetime.timedelta(seconds=fleet_files.ABANDONED + 60)
assert compacts() is True and not files.is_there("lock")
files.remove(["table/day=1/a.parquet", "nothing"])
assert not list(files.below("table"))
"""


def memory(fleet):
    done = recording.run([fleet.duck, "-c", MEMORY], env=recording.plain_environment(PYTHONPATH=os.path.join(recording.BUILD, "python")))
    return [done.stderr] * (done.returncode != 0)


def put(fleet, path, content):
    name = os.path.join(fleet.folder, "content")
    with open(name, "w", encoding="utf-8") as file:
        file.write(content)
    fleet.server.put(path, name)


# `ocular fleet` for each list of words, without a new process.
ASK = """
import contextlib, io, json, sys
from ocular import fleet
for words in json.load(sys.stdin):
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        status = fleet.main(words)
    print(json.dumps([status, out.getvalue(), said.getvalue()]))
"""


def answers(fleet, words, more):
    """Exit status, output, and what is said, of each."""
    environment = {**fleet.environment(), **more, "PYTHONPATH": os.path.join(recording.BUILD, "python")}
    asked = json.dumps([fleet.named(each) for each in words]).encode()
    if environment["PYTHON"] == fleet.duck:
        done = forks.run(fleet.duck, ASK, [], fleet.folder, environment, asked)
    else:
        done = recording.run([environment["PYTHON"], "-c", ASK], input=asked, stdin=None, cwd=fleet.folder, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(fleet):
    """One line, not 0, and nothing else touched."""
    fleet.must("add", "store", fleet.record("a", 20), "--label", "release=1.3")
    fleet.record("b", 20)
    for path, content in (("newer/ocular-fleet.json", '{"schema": 2}'), ("odd/ocular-fleet.json", '{"schema":'), ("other/file", "mine")):
        put(fleet, f"{fleet.bucket}/{path}", content)
    kind, here = fleet.server.kind, fleet.bucket
    missing, (nobody, no_right) = kind.address + "not-there/runs", kind.nobody
    rows = (
        *(((("add", missing, "b"), {}, kind.no_bucket), (("top", missing), {}, "not-there")) if kind.no_bucket else
          ((("add", here + "/other/file/runs", "b"), {}, "other/file"), (("top", here + "/other/file/runs"), {}, "other/file"))),
        (("top", here + "/nothing"), {}, "there is no fleet store"),
        (("top", here + "/newer"), {}, "schema version 2"),
        (("add", here + "/newer", "b"), {}, "schema version 2"),
        (("top", here + "/odd"), {}, "is damaged"),
        (("add", here + "/other", "b"), {}, "not a fleet store, and not empty"),
        (("add", "store", "none"), {}, "no recording 'none'"),
        *(((words, nobody, no_right) for words in (("add", "store", "b"), ("top", "store"))) if nobody else ()),
        (("add", "store", "a", "--label", "release=1.4"), {}, "already, with other labels: release=1.3"),
        (("sql", "store", f"SELECT * FROM read_text('{here}/other/file')"), {}, here + "/other/file"),
        (("sql", "store", "SELECT * FROM read_text('app.py')"), {}, "app.py"),
        (("top", "nothing://bucket/runs"), {}, "but not at 'nothing://bucket/runs'"),
        (("add", "memory://runs", "b"), {}, "a store may be in a folder, or at abfs://"),
        (("top", "store"), {"PYTHON": fleet.python}, f'pip install "ocular-trace[{kind.no_library}]"'))
    before, objects, problems = tree(fleet.folder), fleet.server.run(stores.LIST, fleet.bucket), []
    for more in ({}, *([nobody] if nobody else []), {"PYTHON": fleet.python}):
        ours = [(words, text) for words, environment, text in rows if environment == more]
        for (words, text), (status, out, said) in zip(ours, answers(fleet, [words for words, _ in ours], more)):
            if status != 1 or text not in said or said.count("\n") != 1 or out:
                problems.append(f"{words}: exit {status}: {out}{said}")
    problems += [f"touched: {each}" for each in sorted(set(before.items()) ^ set(tree(fleet.folder).items()))]
    problems += ["objects were touched"] * (objects != fleet.server.run(stores.LIST, fleet.bucket))
    return problems + damaged(fleet)


def damaged(fleet):
    """An object that is no whole Parquet file; and one that is not there any more."""
    name = next(path for path in fleet.files() if "/function/" in path)
    put(fleet, name, "text" * 99)
    done = fleet.run("top", "store")
    problems = [f"damaged: {done.stderr}"] * (done.returncode != 1 or "take that file out of the store" not in done.stderr or done.stderr.count("\n") != 1)
    fleet.server.remove(name)
    return problems + [f"half a recording: {done.stderr}" for done in [fleet.run("top", "store")] if done.returncode or done.stderr]


FLIGHT = """
import ocular
def work(n):
    return sum([i * i for i in range(n)])
for number in range(3):
    work(50)
    ocular.take_snapshot("number %d" % number)
"""


def programs(fleet):
    """record --fleet, also when it is told to end; the agent, its budget and that it takes nothing twice; trace fetches what the agent has kept."""
    done = fleet.traced("record", "--fleet", fleet.store, "--events", "--label", "release=1.4", "-o", "e", "--", "app.py", "3")
    problems = [f"record: exit {done.returncode}: {done.stderr}"] * (done.returncode != 0 or f"added to '{fleet.store}'" not in done.stderr)
    problems += wrong_events(fleet, 1)
    code = "import os, signal, time\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)"
    done = fleet.traced("record", "-q", "--fleet", fleet.store, "--label", "release=1.5", "-o", "t", "--", "-c", code)
    found = fleet.value("SELECT count(*) FROM recording WHERE label_release = '1.5'")
    problems += [f"SIGTERM: exit {done.returncode}, {found}: {done.stderr}"] * (done.returncode not in (-15, 143) or found != 1 or done.stderr != "")
    return problems + agent(fleet)


def agent(fleet):
    done = fleet.traced("record", "-q", "--flight", "10s", "-o", "flight", "--", "-c", FLIGHT)
    if done.returncode:
        return [done.stderr]
    words = [recording.WRAPPER, "agent", "--store", fleet.store, "--host", "h1", "--once", "web=flight/"]
    problems, query = [], "SELECT recording, path FROM recording WHERE path LIKE '%.ocular'"
    for _ in range(2):  # the second time there is nothing new
        done = recording.run(words, cwd=fleet.folder, env=fleet.environment())
        problems += [f"agent: exit {done.returncode}: {done.stderr}"] * (done.returncode != 0)
    rows = fleet.sql(query)
    packed = [path for path in fleet.files() if path.endswith(".ocular")]
    problems += [f"{rows}, {packed}"] * (len(rows) != 1 or [row["path"] for row in rows] != packed)
    state = [path for path in tree(fleet.folder) if path.startswith(fleet.more["XDG_STATE_HOME"])]
    problems += [f"left: {path}" for path in state if "/spool/" in path or path.endswith(".ocular")]
    fleet.record("a", 20)
    recording.run([recording.WRAPPER, "pack", "-q", "a", "-o", "a.ocular"], cwd=fleet.folder)
    fleet.server.put(packed[0], os.path.join(fleet.folder, "a.ocular"))
    done = fleet.run("trace", "store", rows[0]["recording"])
    problems += [f"trace: {done.stderr}"] * (done.returncode != 1 or "has another recording now" not in done.stderr or done.stderr.count("\n") != 1)
    done = recording.run([*words[:-2], "--budget", "1", "--once", "web=flight/"], cwd=fleet.folder, env=fleet.environment())
    problems += [f"budget: {done.stderr}{fleet.sql(query)}"] * (fleet.sql(query) != [] or any(path.endswith(".ocular") for path in fleet.files()))
    return problems


def together(fleet):
    return come_together(fleet)


CASES = (
    ("rows are those of a folder's store, and stay so", equal), ("added together", together), ("an old lock, and writes that are not whole", memory),
    ("bad input is refused in a line", refused), ("record --fleet, agent and trace", programs))
MORE = (("8 writers at a time", writers), ("kill -9 in the middle", killed), ("a compact that was killed", compact_killed))


def cases(python, chosen):
    """One server has a bucket for each."""
    with contextlib.ExitStack() as stack:
        server = None
        for name, function, *values in recording.of_fleets(python, chosen, CASES + MORE * (chosen.server != "moto"), PACKAGES.get(chosen.server)):
            if isinstance(function, str):
                yield name, function
                continue
            server = server or stack.enter_context(stores.Server(values[1], stack.enter_context(recording.scratch()), chosen.server))
            yield name, lambda *more, function=function: function(Bucketed(*more)), *values[:2], server, function.__name__.replace("_", "-")


if __name__ == "__main__":
    options = recording.options()
    options.add_argument("--server", choices=stores.KINDS, default="moto", help="another one than moto's: all cases (default: %(default)s)")
    recording.run_cases(cases, options)
