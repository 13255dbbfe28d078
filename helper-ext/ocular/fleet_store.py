# SPDX-License-Identifier: MIT
"""A fleet store: Parquet files in a folder or a bucket, STORE/TABLE/day=YYYY-MM-DD/RECORDING.parquet, read and written by DuckDB.

Whatever is written gets its name when it is whole. A recording's files count from when its file in the table `recording` is
there, which is the last one: what was left by a writer that was killed is seen by no question, and replaced when the
recording is added again. `ocular fleet compact` makes packs of many recordings' files by the same rule, and a recording
that is in a pack is read from there, whether its own files are still there or not.
"""

import contextlib
import importlib
import json
import os
import re
import shutil
import sys
import urllib.parse

from . import fleet_files, tools
from . import fleet_tables as tables
from .fleet_files import reason as why

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

MARK = "ocular-fleet.json"  # what makes a folder a store
NO_DAY = "__HIVE_DEFAULT_PARTITION__"  # of recordings without a start: null, for Hive, Spark and DuckDB
PACK = "pack-"
END = ".parquet"
NO_DUCKDB = 'ocular fleet needs DuckDB, which %s does not have: pip install "ocular-trace[fleet]"' % (sys.executable or "Python")
LEVEL = 9  # of zstd: a twelfth less than DuckDB's own, and 10 ms more a recording; 19 would be a thirtieth less, and 200 ms more
# DuckDB adds Bloom filters, 2 % of a file, by its version 1.3 a fifth. What is asked for by name is sorted by it, so the least and most of a row group tell as much. That they are
# not wanted at all it takes only lately, but that they may be useless, and so a few bytes, always.
BLOOM = 0.999  # of what is not there is not excluded
CATALOG = re.compile("information_schema|duckdb_|pragma|pg_catalog|sqlite_|show|query", re.IGNORECASE)  # what has tables without naming them
TRIES = 5  # of a question while the store is compacted, which takes files away


class Refused(Exception):
    """Bad input or a store that cannot be used: one line for the user."""


def duckdb() -> "Any":
    """The module. Refused if this Python does not have it."""
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        raise Refused(NO_DUCKDB) from None


def connect() -> "Any":
    """A database of its own. It shows no progress: DuckDB would do so on standard output, among the answer, of what takes two seconds."""
    connection = duckdb().connect()
    connection.execute("SET enable_progress_bar = false")
    return connection


def quoted(text: str) -> str:
    """As a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """As a name in SQL."""
    return '"' + name.replace('"', '""') + '"'


class Store:
    """A store that is there. Refused if it is not, or is of another schema version."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.at = _at(shown)
        mark = self.at.path(MARK)
        try:
            found = json.loads(self.at.read(MARK).decode("utf-8"))
            schema = found["schema"]
        except FileNotFoundError:
            raise Refused("there is no fleet store '%s': make one with ocular fleet add" % shown) from None
        except NotADirectoryError:
            raise Refused("'%s' is not a folder" % shown) from None
        except OSError as e:
            raise Refused("cannot read '%s': %s" % (mark, why(e))) from None
        except (ValueError, KeyError, TypeError):
            raise Refused("'%s' is damaged: it does not say which schema version the store has" % mark) from None
        self.partition = [str(name) for name in found.get("partition", ())]
        if schema != tables.SCHEMA:
            raise Refused("'%s' has schema version %s, and this Ocular knows version %d: use the Ocular that made it, or another store"
                          % (shown, json.dumps(schema), tables.SCHEMA))

    @classmethod
    def made(cls, shown: str, partition: "list[str] | None" = None) -> "Store":
        """The same, and makes it if there is nothing, or an empty folder. Refused if it is there and partitioned by other labels than those given."""
        at = _at(shown)
        try:
            if not at.is_there(MARK):
                there = [name for name in at.names() if name != MARK and not name.startswith("." + MARK)]
                if there and not at.is_there(MARK):
                    raise Refused("'%s' is not a fleet store, and not empty: name another folder" % shown)
                at.create(MARK, json.dumps({"schema": tables.SCHEMA, **({"partition": partition} if partition else {})}).encode())
        except OSError as e:
            raise Refused("cannot make the store '%s': %s" % (shown, why(e))) from None
        store = cls(shown)
        if partition is not None and partition != store.partition:
            raise Refused("'%s' is partitioned by %s, which stays so: leave --partition out, or use another store" % (
                shown, ", ".join(["day", *store.partition])))
        return store

    def connect(self) -> "Any":
        """DuckDB, which can read the store."""
        connection = connect()
        self.at.shown_to(connection)
        return connection

    def place(self, day: str, labels: "dict[str, str]") -> str:
        """Where a recording's files are, below day= of each table."""
        return "/".join([day, *("%s%s=%s" % (tables.LABEL, name, urllib.parse.quote(labels[name], safe="") if name in labels else NO_DAY)
                                for name in self.partition)])

    def name(self, table: str, day: str, stem: str) -> str:
        """Of a file, in the store."""
        return "%s/%s=%s/%s%s" % (table, tables.DAY, day, stem, END)

    def path(self, table: str, day: str, stem: str) -> str:
        """Of a file."""
        return self.at.path(self.name(table, day, stem))

    def files(self, table: str) -> dict[tuple[str, str], str]:
        """(day, stem): path of all files that are whole."""
        found = {}
        try:
            for name in self.at.below(table):
                _, *folders, file = name.split("/")
                if _is_place(folders, len(self.partition)) and file.endswith(END) and not file.startswith("."):
                    found["/".join(folders)[len(tables.DAY) + 1:], file[:-len(END)]] = self.at.path(name)
        except OSError as e:
            raise Refused("cannot read the store '%s': %s" % (self.shown, why(e))) from None
        return found

    def has_file(self, table: str, day: str, stem: str) -> bool:
        """Is it there, and whole?"""
        try:
            return self.at.is_there(self.name(table, day, stem))
        except OSError as e:
            raise Refused("cannot read the store '%s': %s" % (self.shown, why(e))) from None

    @contextlib.contextmanager
    def here(self, path: str) -> "Iterator[str]":
        """A path on this machine of a file that may be in the store's bucket: a copy of it, meanwhile."""
        if not isinstance(self.at, fleet_files.Bucket) or not path.startswith(self.at.path("")):
            yield path
            return
        made = tools.working_folder("ocular.")
        try:
            copy = os.path.join(made, os.path.basename(path))
            with contextlib.suppress(FileNotFoundError):
                content = self.at.read(path[len(self.at.path("")):])
                with open(copy, "wb") as file:
                    file.write(content)
            yield copy
        except OSError as e:
            raise Refused("cannot read '%s': %s" % (path, why(e))) from None
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def packed(self, connection: "Any", there: dict[tuple[str, str], str]) -> set[str]:
        """The recordings in packs, of what `files` of the table `recording` found."""
        packs = [path for (_, stem), path in there.items() if stem.startswith(PACK)]
        if not packs:
            return set()
        return {row["recording"] for row in self.rows(connection, "SELECT recording FROM read_parquet(?, hive_partitioning = false)", packs)}

    def rows(self, connection: "Any", query: str, *values: object) -> "list[dict[str, Any]]":
        """The answer to a query that reads some of the store's files. Refused if they cannot be read."""
        self.at.shown_to(connection)
        try:
            found = connection.execute(query, values)
            names = [column[0] for column in found.description]
            return [dict(zip(names, row)) for row in found.fetchall()]
        except duckdb().Error as e:
            raise Refused("cannot read the store '%s': %s" % (self.shown, self.reason(e))) from None

    def reason(self, error: Exception) -> str:
        """DuckDB's, in a line, and what to do about a file that is no Parquet file, or not all of one."""
        trouble = self.at.trouble()
        line = why(trouble) if trouble else str(error).strip().splitlines()[0]
        damaged = END in line and isinstance(error, (duckdb().InvalidInputException, duckdb().SerializationException))
        return line + (": take that file out of the store, and add its recordings again" if damaged else "")

    def is_changed(self, error: Exception) -> bool:
        """Was a question not answered because files went away, or were replaced, meanwhile?"""
        trouble = self.at.trouble()
        return isinstance(trouble, FileNotFoundError) or type(trouble).__name__ == "FileExpired" if trouble else isinstance(error, duckdb().IOException)

    def seen(self, connection: "Any") -> set[tuple[str, str]]:
        """(day, stem) of the files that questions read: those that have a row in `recording`, each recording once."""
        there = self.files(tables.RECORDING)
        packed = self.packed(connection, there)
        single: dict[str, tuple[str, str]] = {}
        for day, stem in there:
            if not stem.startswith(PACK) and stem not in packed:
                single[stem] = max(single.get(stem, (day, stem)), (day, stem))
        return {at for at in there if at[1].startswith(PACK)} | set(single.values())

    def _events_seen(self, connection: "Any", there: "dict[tuple[str, str], str]") -> "set[tuple[str, str]]":
        """The same in the table `events`, whose files are in no packs: those of recordings that have a row."""
        if not there:
            return set()
        recordings = self.files(tables.RECORDING)
        stems = self.packed(connection, recordings) | {stem for _, stem in recordings}
        return {at for at in there if at[1] in stems}

    def has(self, connection: "Any", recording: str) -> "tuple[str, str] | None":
        """Where it is: day and stem, or None."""
        there = self.files(tables.RECORDING)
        for at in there:
            if at[1] == recording:
                return at
        packs = {path: at for at, path in there.items() if at[1].startswith(PACK)}
        found = packs and self.rows(connection, "SELECT filename FROM read_parquet(?, hive_partitioning = false, filename = true) WHERE recording = ?",
                                    list(packs), recording)
        return packs[found[0]["filename"]] if found else None

    def write(self, connection: "Any", query: str, table: str, day: str, stem: str) -> None:
        """A file with the answer to a query."""
        self.put(table, day, stem, lambda path: connection.execute(
            "COPY (%s) TO %s (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL %d, BLOOM_FILTER_FALSE_POSITIVE_RATIO %s,"
            " KV_METADATA {ocular_fleet_schema: '%d'})" % (query, quoted(path), LEVEL, BLOOM, tables.SCHEMA)))

    def put(self, table: str, day: str, stem: str, write: "Callable[[str], object]") -> None:
        """A file that is written under another name, and has its own when it is whole. Refused if it cannot be written."""
        try:
            self.at.put(self.name(table, day, stem), write)
        except (OSError, duckdb().Error) as e:
            raise Refused("cannot write '%s': %s" % (self.path(table, day, stem), why(e) if isinstance(e, OSError) else self.reason(e))) from None

    def reader(self, query: str) -> "Any":
        """A connection with a view of each table that a question names; it can read the store and nothing else, and write nothing."""
        connection = self.connect()
        seen, paths = self.seen(connection), {}
        for table in _named(query):
            there = self.files(table)
            found = self._events_seen(connection, there) if table == tables.EVENTS else seen
            paths[table] = [there[at] for at in sorted(found) if at in there]
        try:
            self.at.ahead(path for each in paths.values() for path in each)
        except OSError as e:
            raise Refused("cannot read the store '%s': %s" % (self.shown, why(e))) from None
        for table, each in paths.items():
            _view(connection, table, each, self.partition)
        connection.execute("SET allowed_directories = [%s]" % quoted(self.at.path("")))
        connection.execute("SET enable_external_access = false")
        return connection


def _at(shown: str) -> "fleet_files.Folder | fleet_files.Bucket":
    try:
        return fleet_files.at(shown)
    except fleet_files.Unknown as e:
        raise Refused(str(e)) from None


def _is_place(folders: "list[str]", labels: int) -> bool:
    """day=.../label_NAME=.../..., with so many labels."""
    return len(folders) == 1 + labels and folders[0].startswith(tables.DAY + "=") and all(
        each.startswith(tables.LABEL) and "=" in each for each in folders[1:])


def _named(query: str) -> list[str]:
    """Tables: a view looks into all files that it has, so there is none that nobody asks for."""
    everything = CATALOG.search(query)
    return [table for table in tables.all_tables() if everything or re.search(r"\b%s\b" % table, query, re.IGNORECASE)]


def _view(connection: "Any", table: str, paths: "list[str]", partition: "list[str]") -> None:
    """Of some of a table's files. Columns that none of them has are null."""
    columns = tables.columns(table)
    nothing = "SELECT %s, NULL::DATE AS %s WHERE false" % (
        ", ".join("NULL::%s AS %s" % (kind, identifier(name)) for name, kind in columns), tables.DAY)
    if paths:
        kinds = ["'%s': DATE" % tables.DAY, *("'%s%s': VARCHAR" % (tables.LABEL, name) for name in partition)]
        nothing += (" UNION ALL BY NAME SELECT * FROM read_parquet([%s], union_by_name = true, hive_partitioning = true,"
                    " hive_types = {%s})" % (", ".join(map(quoted, paths)), ", ".join(kinds)))
    connection.execute("CREATE VIEW %s AS %s" % (identifier(table), nothing))


def made_of(connection: "Any", columns: "Iterable[tuple[str, str]]", text: str) -> str:
    """A query of the rows that a JSON list has; it is good until the next one on this connection."""
    shape = json.dumps([dict(columns)])
    connection.execute("CREATE OR REPLACE TEMP TABLE made AS SELECT unnest(from_json(?, ?), max_depth := 2)", [text, shape])
    return "SELECT * FROM made"
