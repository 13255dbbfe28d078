# SPDX-License-Identifier: MIT
"""`ocular fleet spark`: recordings from any Hadoop file system, analysed by Spark's executors, a recording a task, large ones in parts where
these add up to the whole (docs/fleet.md).

An executor adds a recording to a store of its own, which has nothing else, as `ocular fleet add` does, and hands over that store's
files; of a part it hands over the summary, and the driver puts those of all parts together. The driver alone writes into the user's
store, by the same rule as ever: the recording's row comes last. So a task that is lost, or runs twice, changes nothing.
"""

import contextlib
import importlib
import json
import os
import shutil
import sys
import tempfile
import zlib

from . import __version__, fleet_add, fleet_compact, fleet_split, progress, stderr, tools
from . import fleet_tables as tables
from .fleet_store import Refused, Store, duckdb

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

NO_SPARK = 'ocular fleet spark needs PySpark, which %s does not have: pip install "ocular-trace[fleet-spark]", and Java 17' % (sys.executable or "Python")
DATA = "perf.data"
NEEDED = ("perf.data", "codes-")  # what names of a recording's files begin with
MOST = (1 << 31) - 1  # bytes: Spark reads a file into an array of Java's
SPLIT = "spark.ocular.split"  # our setting among Spark's: one with so many bytes in its perf.data is split
SPLIT_AT = "512m"
PACKING = 10  # a packed recording is a sixth to a thirtieth of that (docs/pack.md)
TASKS = 8  # for each core in one job: what the driver holds at a time


class Recording:
    """One that is to be read: its path, and those of its files."""

    def __init__(self, path: str, files: "list[tuple[str, int]]") -> None:
        self.path, self.files = path, [name for name, _ in files]
        self.packed = path.endswith(tools.PACKED)
        self.size = sum(size for name, size in files) * (PACKING if self.packed else 1)
        self.tasks = 1
        large = [name for name, size in files if size > MOST]
        if large:
            raise Refused("'%s' is larger than 2 GB, which is what Spark reads at a time: use ocular pack first, or ocular fleet add" % large[0])

    def shown(self) -> str:
        """As a user of this machine knows it, where it is on this machine."""
        return self.path.removeprefix("file:") if self.path.startswith("file:/") else self.path


# --- in an executor


def task(settings: "dict[str, Any]") -> "Callable[[Iterable[Any]], Iterator[Any]]":
    """What runs there: it is sent as code, because there may be no such module yet."""
    def analyse(rows: "Iterable[Any]") -> "Iterator[Any]":
        import sys
        try:
            import ocular
        except ImportError:
            sys.path.insert(0, settings["package"])
            import ocular
        from ocular import fleet_spark
        if ocular.__version__ != settings["version"]:
            return iter([(None, "the executors have Ocular %s, and this is %s" % (ocular.__version__, settings["version"]), [], [], None)])
        return fleet_spark.analysed(rows, settings)
    return analyse


class Part:
    """Of a recording: number `at` of `of`. summary None: it cannot be had by itself."""

    def __init__(self, at: int, of: int, shown: str, known: "fleet_add.Known | None", summary: "dict[str, Any] | None") -> None:
        self.at, self.of, self.shown, self.known = at, of, shown, known
        self.packed = zlib.compress(json.dumps(summary).encode(), 1)

    def summary(self) -> "dict[str, Any] | None":
        """As it was."""
        found: "dict[str, Any] | None" = json.loads(zlib.decompress(self.packed))
        return found


def analysed(rows: "Iterable[tuple[tuple[int, int], Iterable[tuple[str, Any]]]]", settings: "dict[str, Any]") -> "Iterator[Any]":
    """(number, why not, ids, [(table, place, stem, bytes)], part) of each recording, which is a number, and the number of a task of its; names
    and contents of files."""
    for (number, at), files in rows:
        made = tools.working_folder("ocular.spark.")
        try:
            yield number, *_analysed(made, files, number, at, settings)
        except (Refused, RuntimeError) as e:
            reason = str(e).removeprefix("ocular: ")
            for name in ("data" + tools.PACKED, "data"):  # it has no such name for whoever reads this
                reason = reason.replace(os.path.join(made, name), settings["paths"][number])
            yield number, reason, [], [], None
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _analysed(made: str, files: "Iterable[tuple[str, Any]]", number: int, at: int, settings: "dict[str, Any]") -> "tuple[str, list[str], list[Any], Any]":
    path, tasks = settings["paths"][number], settings["tasks"][number]
    recording = os.path.join(made, "data")
    if path.endswith(tools.PACKED):
        recording += tools.PACKED
    else:
        os.mkdir(recording)
    for name, content in files:
        with open(recording if path.endswith(tools.PACKED) else os.path.join(recording, name), "wb") as file:
            file.write(content)
    with tools.unpacked(recording) as folder:
        parts = {part: fleet_add.content_id(part) for part in fleet_add.parts(folder)}
        if settings["known"].issuperset(parts.values()):
            return "", list(parts.values()), [], None
        names = {part: path if path.endswith(tools.PACKED) else path + part.removeprefix(folder) for part in parts}
        shares = fleet_split.shares(folder, tasks) if len(parts) == 1 and tasks > 1 else []
        if at < len(shares):
            return "", [], [], _part(shares, at, names, parts)
        if shares or at >= len(parts):  # there are fewer parts than tasks
            return "", [], [], None
        store = Store.made(os.path.join(made, "store"), settings["partition"] or None)
        fleet_add.add(store, folder, settings["labels"], shown=lambda part: names[part], share=slice(at, None, tasks))
    return "", [], list(_files(store)), None


def _part(shares: list[str], at: int, names: dict[str, str], ids: dict[str, str]) -> Part:
    """Of the only file."""
    (file, shown), = names.items()
    summary = fleet_split.part(file, shares[at])
    return Part(at, len(shares), shown, fleet_add.Known(file, ids[file], summary) if summary else None, summary)


def _files(store: Store) -> "Iterator[tuple[str, str, str, bytes]]":
    for table in tables.all_tables():
        for (place, stem), path in sorted(store.files(table).items()):
            with open(path, "rb") as file:
                yield table, place, stem, file.read()


# --- in the driver


def modules() -> "Any":
    """PySpark's. Refused if this Python does not have it, or DuckDB."""
    duckdb()
    try:
        return importlib.import_module("pyspark.sql")
    except ImportError:
        raise Refused(NO_SPARK) from None


@contextlib.contextmanager
def _stderr_into(log: str) -> "Iterator[None]":
    """What is started meanwhile says what it says there, for as long as it lives: Java warns of itself, and Spark tells each task that it lost."""
    ours = os.dup(2)
    number = os.open(log, os.O_WRONLY | os.O_APPEND)
    try:
        os.dup2(number, 2)
        yield
    finally:
        os.dup2(ours, 2)
        os.close(number)
        os.close(ours)


def session(options: "argparse.Namespace", log: str) -> "Any":
    """Spark, as its own configuration says, and the command line. Refused with its reason."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = modules().SparkSession.builder.appName("ocular fleet spark").config("spark.ui.showConsoleProgress", "false").config("spark.ui.enabled", "false")
    if options.master:
        builder = builder.master(options.master)
    for word in options.conf:
        name, equals, value = word.partition("=")
        if not equals:
            raise Refused("--conf is NAME=VALUE, not '%s'" % word)
        builder = builder.config(name, value)
    try:
        with _stderr_into(log):
            made = builder.getOrCreate()
    except Exception as e:  # PySpark's and py4j's have no base of their own
        raise Refused("Spark does not start: %s; what it said is in %s" % (_reason(e), log)) from None
    made.conf.set("spark.sql.files.maxPartitionBytes", "1")  # a file a task
    made.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", str(TASKS * made.sparkContext.defaultParallelism))  # not a path a task
    return made


def _reason(error: Exception) -> str:
    """Spark's, without the stacks of Java and Python."""
    java = getattr(error, "java_exception", None)
    lines = str(java.toString() if java is not None else error).strip().splitlines() or [type(error).__name__]
    return lines[0]


class Listing:
    """What is in folders of a Hadoop file system."""

    def __init__(self, spark: "Any") -> None:
        self.jvm, self.conf = spark.sparkContext._jvm, spark.sparkContext._jsc.hadoopConfiguration()

    def _statuses(self, path: "Any") -> "list[Any]":
        return list(path.getFileSystem(self.conf).listStatus(path))

    def recordings(self, text: str) -> "list[Recording]":
        """Those that a path of the command line means: itself, or what is in that folder. Refused if that is none."""
        try:
            path = self.jvm.org.apache.hadoop.fs.Path(text)
            matched = list(path.getFileSystem(self.conf).globStatus(path) or [])
            found = [each for status in matched for each in self._of(status, True)]
        except Exception as e:
            raise Refused("cannot read '%s': %s" % (text, _reason(e))) from None
        if not found:
            raise Refused("no recording '%s'" % text)
        return found

    def _of(self, status: "Any", deeper: bool) -> "Iterator[Recording]":
        path = status.getPath()
        if not status.isDirectory():
            if path.getName().endswith(tools.PACKED):
                yield Recording(path.toString(), [(path.toString(), status.getLen())])
            return
        inside = self._statuses(path)
        files = [(each.getPath().toString(), each.getLen()) for each in inside if each.isFile() and each.getPath().getName().startswith(NEEDED)]
        if any(name.rpartition("/")[2].startswith(DATA) for name, _ in files):
            yield Recording(path.toString(), files)
        elif deeper:
            for each in sorted(inside, key=lambda each: str(each.getPath().toString())):
                yield from self._of(each, False)


def _escaped(path: str) -> str:
    """For Spark, which takes a path for a pattern."""
    return "".join("\\" + c if c in "\\{}[]*?," else c for c in path)


def _read(spark: "Any", recordings: "dict[int, Recording]") -> "Any":
    """An RDD of ((number, task), [(name, content)]), a partition each. Each task reads the files itself."""
    parts = []
    for at in range(max(each.tasks for each in recordings.values())):
        for packed in (True, False):
            chosen = {number: each for number, each in recordings.items() if each.packed == packed and at < each.tasks}
            if chosen:
                parts.append(_read_files(spark, chosen, at, packed))
    return spark.sparkContext.union(parts)


def _read_files(spark: "Any", recordings: "dict[int, Recording]", at: int, packed: bool) -> "Any":
    numbers = {name: number for number, each in recordings.items() for name in each.files}
    rows = spark.read.format("binaryFile").load([_escaped(name) for name in numbers]).select("path", "content").rdd.map(_row(numbers, at))
    return rows.map(lambda row: (row[0], [row[1]])) if packed else rows.groupByKey(len(recordings))  # the files of one recording come together


def _row(numbers: "dict[str, int]", at: int) -> "Callable[[Any], tuple[tuple[int, int], tuple[str, Any]]]":
    def row(found: "Any") -> "tuple[tuple[int, int], tuple[str, Any]]":
        path = found["path"]
        return (numbers[path], at), (path.rpartition("/")[2], bytes(found["content"]))
    return row


def _set_tasks(spark: "Any", recordings: "list[Recording]") -> None:
    """Of how many tasks each is."""
    try:
        most = max(spark.sparkContext._jsc.sc().conf().getSizeAsBytes(SPLIT, SPLIT_AT), 1)
    except Exception as e:
        raise Refused("--conf %s is a number of bytes, as %s: %s" % (SPLIT, SPLIT_AT, _reason(e))) from None
    for each in recordings:
        each.tasks = max(min(-(-each.size // most), spark.sparkContext.defaultParallelism), 1)


def known(store: Store) -> set[str]:
    """Ids of all recordings in the store."""
    there = store.files(tables.RECORDING)
    return {stem for _, stem in there} | store.packed(store.connect(), there)


class Writer:
    """Takes what executors hand over."""

    def __init__(self, store: Store, recordings: "list[Recording]", given: dict[str, str]) -> None:
        self.store, self.recordings, self.given = store, recordings, given
        self.status = 0
        self.added: "set[str]" = set()
        self.line = progress.Line()
        self.left = {number: each.tasks for number, each in enumerate(recordings)}
        self.parts: "dict[int, list[Part]]" = {}
        self.whole: "dict[int, Recording]" = {}  # whose parts do not add up
        self.said: "set[tuple[int, str]]" = set()  # tasks of one recording may say the same

    def take(self, number: "int | None", reason: str, ids: list[str], files: "list[tuple[str, str, str, bytes]]", part: "Part | None") -> None:
        """One recording's; says what became of it."""
        if number is None:
            raise Refused(reason)
        self.left[number] -= 1
        self.line.show("[ ocular: %d of %d recordings ]" % (sum(not left for left in self.left.values()), len(self.recordings)))
        shown = self.recordings[number].shown()
        try:
            if reason:
                raise Refused(reason)
            said = self._join(number, part) if part else self._write(shown, ids, files)
        except Refused as e:
            self.status, said = 1, []
            self._say(number, "ocular: " + str(e), stderr.say)
        for text in said:
            self._say(number, text, lambda line: stderr.show(line, sys.stdout))

    def _say(self, number: int, text: str, say: "Callable[[str], object]") -> None:
        if (number, text) not in self.said:
            self.said.add((number, text))
            self.line.clear()
            say(stderr.printable(text))

    def _join(self, number: int, part: Part) -> "list[str]":
        """The last one makes them a recording."""
        parts = self.parts.setdefault(number, [])
        parts.append(part)
        if len(parts) < part.of:
            return []
        del self.parts[number]
        summaries = [each.summary() for each in sorted(parts, key=lambda each: each.at)]
        known = [summary for summary in summaries if summary]
        joined = fleet_split.joined(known) if len(known) == len(parts) else None
        if joined is None or part.known is None:
            self.whole[number] = self.recordings[number]
            return []
        connection = self.store.connect()
        if fleet_add.there(connection, self.store, part.known.name, self.given, part.shown):
            return ["%s  is in the store already" % part.shown]
        fleet_add.write(connection, self.store, part.known, tables.with_waiting(joined), self.given, part.shown)
        self.added.add(part.known.name)
        return ["%s  %s" % (part.known.name, part.shown)]

    def _write(self, shown: str, ids: list[str], files: "list[tuple[str, str, str, bytes]]") -> "list[str]":
        connection = self.store.connect()
        stems = sorted({stem for table, _, stem, _ in files if table == tables.RECORDING})
        there = {stem for stem in [*ids, *stems] if fleet_add.there(connection, self.store, stem, self.given, shown)}
        for table, place, stem, content in files:
            if stem not in there:
                self.store.put(table, place, stem, lambda path, content=content: _save(path, content))  # type: ignore[misc]
        new = [stem for stem in stems if stem not in there]
        self.added.update(new)
        return ["%s  %s" % (stem, shown) for stem in new] or ["%s  is in the store already" % shown] * bool(there)


def _save(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def run(store: Store, paths: "list[str]", options: "argparse.Namespace") -> int:
    """Adds what the paths have; 1 if something could not be added."""
    given = fleet_add.labels(options.label)
    number, log = tempfile.mkstemp(prefix="ocular.spark.", suffix=".log")
    os.close(number)
    try:
        with contextlib.ExitStack() as stack:
            spark = session(options, log)
            stack.callback(spark.stop)
            status = _run(spark, store, paths, given, log)
    except Refused as e:
        if log not in str(e):
            os.unlink(log)
        raise
    os.unlink(log)
    return status


def _run(spark: "Any", store: Store, paths: "list[str]", given: dict[str, str], log: str) -> int:
    listing = Listing(spark)
    recordings = [each for path in paths for each in listing.recordings(path)]
    _set_tasks(spark, recordings)
    writer = Writer(store, recordings, given)
    tasks = [each.tasks for each in recordings]
    settings: "dict[str, Any]" = {"package": os.path.dirname(tools.PACKAGE), "version": __version__, "labels": given, "partition": store.partition,
                "known": known(store), "paths": [each.shown() for each in recordings], "tasks": tasks}
    _run_all(spark.sparkContext, _read(spark, dict(enumerate(recordings))).mapPartitions(task(settings)), writer, log)
    if writer.whole:
        for number, each in writer.whole.items():
            each.tasks = tasks[number] = writer.left[number] = 1
        _run_all(spark.sparkContext, _read(spark, writer.whole).mapPartitions(task(settings)), writer, log)
    writer.line.clear()
    fleet_compact.together(store, writer.added)
    return writer.status


def _run_all(context: "Any", rdd: "Any", writer: Writer, log: str) -> None:
    """A job for so many recordings, because the driver holds what a job gives."""
    n, step = rdd.getNumPartitions(), max(TASKS * context.defaultParallelism, 1)
    for at in range(0, n, step):
        try:
            found = context.runJob(rdd, lambda rows: list(rows), list(range(at, min(at + step, n))))
        except Exception as e:
            raise Refused("Spark gave up: %s; what it said is in %s" % (_reason(e), log)) from None
        for result in found:
            writer.take(*result)
