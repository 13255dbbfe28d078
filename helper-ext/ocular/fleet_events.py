# SPDX-License-Identifier: MIT
"""The table `events` of a fleet store: what `ocular report --event-columns` writes, as Parquet (docs/fleet.md, docs/exports.md).

Numbers are in memory that both share: a row group of columns, which pyarrow writes without looking at single rows in Python, while
the other one is being filled. What was written to a file is read into such memory.
"""

import contextlib
import importlib
import json
import mmap
import os
import subprocess
import sys
import tempfile

from . import fleet_tables as tables
from . import tools
from .fleet_store import Refused, Store

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import Any, BinaryIO

VERSION = 1  # of the columns
GROUP = 1 << 18  # rows of a row group: of two that many bytes are in the processor's cache
COMPRESSION = "lz4"  # Events are many, and what is sorted by time is small already: zstd's first level makes a sixth less of it, in a sixth more time.
KEEPS = ("MIMALLOC_PURGE_DELAY", "-1")  # Arrow's memory goes to the next row group, not back to the kernel, which would have to clear it again.
NO_ARROW = 'events in a fleet store need pyarrow, which %s does not have: pip install "ocular-trace[fleet-events]"' % (sys.executable or "Python")
ENCODED = {**dict.fromkeys(("time_ns", "duration_ns", "self_ns", "object"), "DELTA_BINARY_PACKED"),  # Not of a few values each, as the other columns.
           **dict.fromkeys(("pid", "tid"), "PLAIN")}  # Nearly always the one of the row before: nothing to look up, and nothing left of it.


def arrow() -> "tuple[Any, Any]":
    """pyarrow and its writer. Refused if this Python does not have them."""
    os.environ.setdefault(*KEEPS)  # before it is loaded
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise Refused(NO_ARROW) from None


class Damaged(Exception):
    """The columns are not whole: whoever wrote them has ended before the end, and said why."""


class Column:
    """The elements of one column in a row group; `valid`: a bit for each, or None. Both are the first bytes of `memory` that are not taken yet."""

    def __init__(self, name: str, width: int, nullable: bool, rows: int, memory: memoryview) -> None:
        self.name, self.width = name, width
        self.size = rows * width + (rows // 8 if nullable else 0)
        self.valid = memory[:rows // 8] if nullable else None
        self.cells = memory[self.size - rows * width:self.size]

    def known(self, rows: int) -> bool:
        """Is any of them not null?"""
        return self.valid is None or bytes(self.valid[:(rows + 7) // 8]).count(0) < (rows + 7) // 8

    def places(self, at: int, rows: int) -> "list[memoryview]":
        """Where a block's bytes belong, in their order; `at` is a multiple of 64."""
        found = [] if self.valid is None else [self.valid[at // 8:at // 8 + (rows + 63) // 64 * 8]]
        return [*found, self.cells[at * self.width:(at + rows) * self.width]]


def _laid(columns: "list[tuple[str, int, bool]]", rows: int, memory: memoryview) -> "dict[str, Column]":
    """One after the other."""
    found, at = {}, 0
    for name, width, nullable in columns:
        found[name] = Column(name, width, nullable, rows, memory[at:])
        at += found[name].size
    return found


class Shared:
    """Memory that who writes the columns fills, half by half, and where it is told that one may be filled again."""

    def __init__(self, rows: int = GROUP) -> None:
        self.rows = rows
        self.memory = os.memfd_create("ocular-events", os.MFD_CLOEXEC)
        self.free, self.freed = os.pipe()

    def option(self) -> str:
        """What --event-memory is given."""
        return "%d,%d,%d" % (self.memory, self.free, self.rows)

    def halves(self) -> "list[memoryview]":
        """It has its size since the first line was written."""
        whole = memoryview(mmap.mmap(self.memory, 0))
        return [whole[:len(whole) // 2], whole[len(whole) // 2:]]

    def release(self) -> None:
        """The half that came last, but for one, is not needed any more."""
        with contextlib.suppress(BrokenPipeError):  # it has ended, and needs no more
            os.write(self.freed, b"\0")

    def close(self) -> None:
        """Whoever waits for a half does so no longer."""
        for number in (self.memory, self.free, self.freed):
            os.close(number)


class Columns:
    """What was written, row group after row group. `rows` of them are there, until the next one."""

    def __init__(self, file: "BinaryIO", shared: "Shared | None" = None) -> None:
        self.file, self.shared = file, shared
        head = self._line()
        if head.get("ocular_event_columns") != VERSION:
            raise Damaged
        self.block = int(head["block"])
        self.events: list[str] = head["events"]
        self.room = self.block if shared else max(GROUP // self.block, 1) * self.block
        size = self.room * sum(8 * width + nullable for _, width, nullable in head["columns"]) // 8
        self.halves = [_laid(head["columns"], self.room, half) for half in (shared.halves() if shared else [memoryview(bytearray(size))])]
        self.columns = self.halves[0]
        self.codes: list[tuple[str | None, str, int | None]] = []
        self.rows = 0
        self.ended = False

    def _line(self) -> "dict[str, Any]":
        try:
            found = json.loads(self.file.readline().decode("utf-8", "replace"))
        except ValueError:
            raise Damaged from None
        if not isinstance(found, dict):
            raise Damaged
        return found

    def _fill(self, place: memoryview) -> None:
        done = 0
        while done < len(place):
            n = self.file.readinto(place[done:])  # type: ignore[attr-defined]
            if not n:
                raise Damaged
            done += n

    def group(self) -> bool:
        """Reads the next row group; False: there is none."""
        if self.shared and self.rows:
            self.shared.release()
        self.rows = 0
        while not self.ended and self.rows < self.room:
            self._block(self._line())
        return bool(self.rows)

    def _block(self, line: "dict[str, Any]") -> None:
        """All blocks but the last one are full."""
        rows = int(line["rows"])
        self.ended = not rows
        self.codes += map(tuple, line.get("codes", ()))
        if rows:
            self.columns = self.halves[line.get("half", 0)]
        for column in self.columns.values() if rows and not self.shared else ():
            for place in column.places(self.rows, rows):
                self._fill(place)
        self.rows += rows


class Texts:
    """A text of each code object so far. A Parquet dictionary has each once: Arrow finds the different ones, and renumbers what points to them."""

    def __init__(self) -> None:
        self.of: list[str] = []
        self.told: Any = None  # the same, for Arrow

    def array(self, indices: "Any") -> "Any":
        """The column, of code objects' numbers."""
        pa, _ = arrow()
        if indices.null_count == len(indices):
            return pa.nulls(len(indices), pa.dictionary(pa.int32(), pa.string()))
        if self.told is None or len(self.told) != len(self.of):
            self.told = pa.array(self.of, pa.string())
        none = pa.DictionaryArray.from_arrays(indices[:0], self.told[:0])  # one chunk alone is taken as it is
        column = pa.DictionaryArray.from_arrays(indices, self.told, safe=False)  # they are of objects that were told
        return pa.chunked_array([none, column]).unify_dictionaries().chunk(1)


class Rows:
    """A recording's row groups, as Arrow has them."""

    def __init__(self, columns: Columns, names: tables.Names, recording: str) -> None:
        pa, _ = arrow()
        self.columns, self.names = columns, names
        zeros = pa.Array.from_buffers(pa.int8(), columns.room, [None, pa.py_buffer(bytes(columns.room))])
        self.recording = pa.DictionaryArray.from_arrays(zeros, pa.array([recording]))  # of a full row group
        self.keys, self.whats = Texts(), Texts()
        self.events = ["%d" % n if not name else name for n, name in enumerate(columns.events)]

    def _numbers(self, name: str) -> "Any":
        pa, _ = arrow()
        column, rows = self.columns.columns[name], self.columns.rows
        kind = {1: pa.int8(), 4: pa.int32(), 8: pa.int64()}[column.width]
        if column.valid is None:
            return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(column.cells)])
        if not column.known(rows):
            return pa.nulls(rows, kind)
        return pa.Array.from_buffers(kind, rows, [pa.py_buffer(column.valid), pa.py_buffer(column.cells)])

    def _column(self, name: str) -> "Any":
        pa, _ = arrow()
        if name == "recording":
            return self.recording.slice(0, self.columns.rows)
        if name == "event":
            return pa.DictionaryArray.from_arrays(self._numbers(name), pa.array(self.events), safe=False)
        if name == "key":
            return self.keys.array(self._numbers("code"))
        return self.whats.array(self._numbers(name)) if name == "what" else self._numbers(name)

    def group(self) -> "dict[str, Any]":
        """The columns of the table."""
        for file, qualname, _ in self.columns.codes[len(self.keys.of):]:
            self.keys.of.append(self.names.key(file or "", qualname) or "")
            self.whats.of.append(qualname)
        return {name: self._column(name) for name, _ in tables.EVENTS_COLUMNS}

    def schema(self, group: "dict[str, Any]") -> "Any":
        """What is never null takes less time to write."""
        pa, _ = arrow()
        nullable = {name for name, column in self.columns.columns.items() if column.valid is not None} | {"key"}
        return pa.schema([pa.field(name, column.type, name in nullable) for name, column in group.items()])


def _pages(parquet: "Any") -> "dict[str, int]":
    """Without a limit of their own for rows: each page has a cost. Older ones of pyarrow have none."""
    name = "max_rows_per_page"
    return {name: GROUP} if name in parquet.ParquetWriter.__init__.__code__.co_varnames else {}


def write(columns: Columns, path: str, names: tables.Names, recording: str) -> None:
    """As a Parquet file. Raises Damaged if the columns end too early."""
    pa, parquet = arrow()
    rows = Rows(columns, names, recording)
    there = rows.columns.group()  # a recording without events has a table without rows
    group = rows.group()
    schema = rows.schema(group)
    few = [name for name in group if name not in ENCODED]
    with parquet.ParquetWriter(path, schema, compression=COMPRESSION, use_dictionary=few, write_statistics=["time_ns"], column_encoding=ENCODED,
                               write_batch_size=GROUP, store_schema=False, **_pages(parquet)) as writer:
        while there:
            writer.write_table(pa.table(list(group.values()), schema=schema), row_group_size=rows.columns.rows)
            there = rows.columns.group()
            group = rows.group() if there else group


def from_recording(recording: str, path: str, names: tables.Names, name: str) -> None:
    """Reads the recording, and writes what is in it. Refused with the reason of whoever could not read it."""
    ours, theirs = os.pipe()
    shared = Shared()
    with tempfile.TemporaryFile() as said, open(ours, "rb") as file:
        command = [tools.front_end(), "report", "--quiet", "--event-columns", "/dev/fd/%d" % theirs,
                   "--event-memory", shared.option(), recording]
        try:
            running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                       pass_fds=[theirs, shared.memory, shared.free])
        finally:
            os.close(theirs)
        whole = _written(file, shared, path, names, name)
        file.close()  # so that it does not wait for a reader
        shared.close()
        if running.wait() or not whole:
            said.seek(0)
            raise Refused("the events of '%s' were not added: %s" % (recording, tools.reason(said.read(), running.returncode)))


def _written(file: "BinaryIO", shared: Shared, path: str, names: tables.Names, name: str) -> bool:
    """False: not all of it came."""
    pa, _ = arrow()
    try:
        write(Columns(file, shared), path, names, name)
    except Damaged:
        return False
    except pa.ArrowException as e:
        raise Refused("cannot write the events of recording %s: %s" % (name, str(e).splitlines()[0])) from None
    return True


def add(store: Store, recording: str, at: "tuple[str, str]", names: tables.Names) -> None:
    """The file in `events` of a recording at that place in the store."""
    arrow()
    store.put(tables.EVENTS, *at, lambda path: from_recording(recording, path, names, at[1]))
