# SPDX-License-Identifier: MIT
"""A fleet store: a folder of Parquet files, STORE/TABLE/day=YYYY-MM-DD/RECORDING.parquet, read and written by DuckDB.

Whatever is written gets its name when it is whole. A recording's files count from when its file in the table `recording` is
there, which is the last one: what was left by a writer that was killed is seen by no question, and replaced when the
recording is added again. `ocular fleet compact` makes packs of many recordings' files by the same rule, and a recording
that is in a pack is read from there, whether its own files are still there or not.
"""

import contextlib
import importlib
import json
import os
import secrets
import sys
import urllib.parse

from . import fleet_tables as tables

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

MARK = "ocular-fleet.json"  # what makes a folder a store
NO_DAY = "__HIVE_DEFAULT_PARTITION__"  # of recordings without a start: null, for Hive, Spark and DuckDB
PACK = "pack-"
END = ".parquet"
NO_DUCKDB = 'ocular fleet needs DuckDB, which %s does not have: pip install "ocular-trace[fleet]"' % (sys.executable or "Python")
LEVEL = 9  # of zstd: a twelfth less than DuckDB's own, and 10 ms more a recording
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


def reason(error: Exception) -> str:
    """DuckDB's, in a line, and what to do about a file that is no Parquet file, or not all of one."""
    line = str(error).strip().splitlines()[0]
    damaged = END in line and isinstance(error, (duckdb().InvalidInputException, duckdb().SerializationException))
    return line + (": take that file out of the store, and add its recordings again" if damaged else "")


def _sync(path: str) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _name_once(beside: str, path: str) -> None:
    """Gives a file its name, unless another writer was the first."""
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.rename(beside, path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)


class Store:
    """A store that is there. Refused if it is not, or is of another schema version."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        self.shown = folder
        mark = os.path.join(self.folder, MARK)
        try:
            with open(mark, encoding="utf-8") as file:
                found = json.load(file)
            schema = found["schema"]
        except FileNotFoundError:
            raise Refused("there is no fleet store '%s': make one with ocular fleet add" % folder) from None
        except NotADirectoryError:
            raise Refused("'%s' is not a folder" % folder) from None
        except OSError as e:
            raise Refused("cannot read '%s': %s" % (mark, e.strerror)) from None
        except (ValueError, KeyError, TypeError):
            raise Refused("'%s' is damaged: it does not say which schema version the store has" % mark) from None
        self.partition = [str(name) for name in found.get("partition", ())]
        if schema != tables.SCHEMA:
            raise Refused("'%s' has schema version %s, and this Ocular knows version %d: use the Ocular that made it, or another store"
                          % (folder, json.dumps(schema), tables.SCHEMA))

    @classmethod
    def made(cls, folder: str, partition: "list[str] | None" = None) -> "Store":
        """The same, and makes it if there is nothing, or an empty folder. Refused if it is there and partitioned by other labels than those given."""
        mark = os.path.join(folder, MARK)
        try:
            if not os.path.exists(mark):
                os.makedirs(folder, exist_ok=True)
                there = [name for name in os.listdir(folder) if name != MARK and not name.startswith("." + MARK)]
                if there and not os.path.exists(mark):
                    raise Refused("'%s' is not a fleet store, and not empty: name another folder" % folder)
                beside = os.path.join(folder, ".%s.%s" % (MARK, secrets.token_hex(8)))
                with open(beside, "w", encoding="utf-8") as file:
                    json.dump({"schema": tables.SCHEMA, **({"partition": partition} if partition else {})}, file)
                _name_once(beside, mark)
        except OSError as e:
            raise Refused("cannot make the store '%s': %s" % (folder, e.strerror)) from None
        store = cls(folder)
        if partition is not None and partition != store.partition:
            raise Refused("'%s' is partitioned by %s, which stays so: leave --partition out, or use another store" % (
                folder, ", ".join(["day", *store.partition])))
        return store

    def place(self, day: str, labels: "dict[str, str]") -> str:
        """Where a recording's files are, below day= of each table."""
        return "/".join([day, *("%s%s=%s" % (tables.LABEL, name, urllib.parse.quote(labels[name], safe="") if name in labels else NO_DAY)
                                for name in self.partition)])

    def path(self, table: str, day: str, stem: str) -> str:
        """Of a file."""
        return os.path.join(self.folder, table, "%s=%s" % (tables.DAY, day), stem + END)

    def files(self, table: str) -> dict[tuple[str, str], str]:
        """(day, stem): path of all files that are whole."""
        found = {}
        top = os.path.join(self.folder, table)
        try:
            days = os.listdir(top) if os.path.isdir(top) else []
            for name in days:
                if name.startswith(tables.DAY + "="):
                    for day, file in _files(os.path.join(top, name), name[len(tables.DAY) + 1:], len(self.partition)):
                        found[day, os.path.basename(file)[:-len(END)]] = file
        except OSError as e:
            raise Refused("cannot read the store '%s': %s" % (self.shown, e.strerror)) from None
        return found

    def packed(self, connection: "Any", there: dict[tuple[str, str], str]) -> set[str]:
        """The recordings in packs, of what `files` of the table `recording` found."""
        packs = [path for (_, stem), path in there.items() if stem.startswith(PACK)]
        if not packs:
            return set()
        return {row["recording"] for row in self.rows(connection, "SELECT recording FROM read_parquet(?, hive_partitioning = false)", packs)}

    def rows(self, connection: "Any", query: str, *values: object) -> "list[dict[str, Any]]":
        """The answer to a query that reads some of the store's files. Refused if they cannot be read."""
        try:
            found = connection.execute(query, values)
            names = [column[0] for column in found.description]
            return [dict(zip(names, row)) for row in found.fetchall()]
        except duckdb().Error as e:
            raise Refused("cannot read the store '%s': %s" % (self.shown, reason(e))) from None

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
        for at, path in there.items():
            if at[1].startswith(PACK) and self.rows(connection, "SELECT 1 FROM read_parquet(?, hive_partitioning = false) WHERE recording = ?", path, recording):
                return at
        return None

    def write(self, connection: "Any", query: str, table: str, day: str, stem: str) -> None:
        """A file with the answer to a query."""
        self.put(table, day, stem, lambda path: connection.execute(
            "COPY (%s) TO %s (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL %d, KV_METADATA {ocular_fleet_schema: '%d'})"
            % (query, quoted(path), LEVEL, tables.SCHEMA)))

    def put(self, table: str, day: str, stem: str, write: "Callable[[str], object]") -> None:
        """A file that is written under another name, and has its own when it is whole. Refused if it cannot be written."""
        path = self.path(table, day, stem)
        beside = os.path.join(os.path.dirname(path), ".%s.%s.tmp" % (stem, secrets.token_hex(8)))
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(beside)
            _sync(beside)
            os.rename(beside, path)
            _sync(os.path.dirname(path))
        except (OSError, duckdb().Error) as e:
            raise Refused("cannot write '%s': %s" % (path, e.strerror if isinstance(e, OSError) else reason(e))) from None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(beside)

    def reader(self) -> "Any":
        """A connection with a view of each table; it can read the store and nothing else, and write nothing."""
        connection = connect()
        seen = self.seen(connection)
        for table in tables.all_tables():
            there = self.files(table)
            found = self._events_seen(connection, there) if table == tables.EVENTS else seen
            _view(connection, table, [there[at] for at in sorted(found) if at in there], self.partition)
        connection.execute("SET allowed_directories = [%s]" % quoted(self.folder + "/"))
        connection.execute("SET enable_external_access = false")
        return connection


def _files(folder: str, day: str, deeper: int) -> "Iterator[tuple[str, str]]":
    """Day and labels, and path, of the files in folders that are so much deeper."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if deeper and name.startswith(tables.LABEL) and "=" in name:
            yield from _files(path, "%s/%s" % (day, name), deeper - 1)
        elif not deeper and name.endswith(END) and not name.startswith("."):
            yield day, path


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
