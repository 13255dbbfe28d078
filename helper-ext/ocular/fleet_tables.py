# SPDX-License-Identifier: MIT
"""The tables of a fleet store (docs/fleet.md): their columns, and the rows that a recording has in them.

A column is its name, its type in Parquet, and the field of the summary's row that it is (docs/summary.md); a field of an object in
there has a dot, and `key` is that of what has `file` and `qualname`. A change of these tables that is more than a further column, or a further
field of a struct, makes SCHEMA one more.
"""

import json
import os
import re
import struct

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = dict[str, Any]

SCHEMA = 1
LABEL = "label_"
DAY = "day"  # the partition: STORE/TABLE/day=YYYY-MM-DD/

BUCKETS = "STRUCT(low BIGINT, n BIGINT)[]"  # of a summary's [[low, n], ...]
KINDS = "MAP(VARCHAR, BIGINT)"

_WHERE = (("key", "VARCHAR", "key"), ("file", "VARCHAR", "file"), ("qualname", "VARCHAR", "qualname"))
_TIMES = tuple((name, "BIGINT", name) for name in (
    "self_ns", "total_ns", "self_cycles", "total_cycles", "self_cpu_ns", "total_cpu_ns", "self_waiting_ns", "total_waiting_ns", "gil_held_ns"))
_COUNTS = tuple((name, "BIGINT", name) for name in ("calls", "recursive_calls", "resumes", "activations", "unfinished"))
_DEVIATION = (("self_cycles_deviation", "DOUBLE", "self_cycles_deviation"),)
_DURATIONS = (("durations", BUCKETS, "durations"),)
_PID = (("pid", "BIGINT", "pid"),)

# Of each row of the summary's list of that name.
TABLES = {
    "function": ("functions", _WHERE + (("line", "BIGINT", "firstlineno"),) + _PID + (("origin", "VARCHAR", "origin"),)
                 + _COUNTS + _TIMES + _DEVIATION + _DURATIONS + (
                     ("waiting_by_kind", KINDS, "waiting_by_kind"), ("bytecode", "BIGINT", "bytecode"))),
    "c_function": ("c_functions", (("name", "VARCHAR", "name"), ("qualname", "VARCHAR", "qualname")) + _PID + _COUNTS + _TIMES + _DEVIATION
                   + _DURATIONS),
    "edges": ("edges", (
        ("caller_key", "VARCHAR", "caller.key"), ("caller_line", "BIGINT", "caller.firstlineno"), ("caller_pid", "BIGINT", "caller.pid"),
        ("callee_key", "VARCHAR", "callee.key"), ("callee_line", "BIGINT", "callee.firstlineno"), ("callee_pid", "BIGINT", "callee.pid"),
        ("calls", "BIGINT", "calls"), ("recursive_calls", "BIGINT", "recursive_calls"), ("self_ns", "BIGINT", "self_ns"),
        ("total_ns", "BIGINT", "total_ns"))),
    "loops": ("loops", _WHERE + (("line", "BIGINT", "line"), ("head_offset", "BIGINT", "head_offset")) + _PID + (
        ("origin", "VARCHAR", "origin"), ("entries", "BIGINT", "entries"), ("iterations", "BIGINT", "iterations"),
        ("timed", "BIGINT", "timed"), ("cycles_mean", "DOUBLE", "cycles.mean"), ("cycles_deviation", "DOUBLE", "cycles.deviation"),
        ("cycles_median", "BIGINT", "cycles.median"), ("cycles_p99", "BIGINT", "cycles.p99"), ("cycles_min", "BIGINT", "cycles.min"),
        ("cycles_max", "BIGINT", "cycles.max"), ("cycles_exact", "BOOLEAN", "cycles.exact"), ("share", "DOUBLE", "share"),
        ("own_share", "DOUBLE", "own_share"), ("self_cpu_ns", "BIGINT", "self_cpu_ns"), ("total_cpu_ns", "BIGINT", "total_cpu_ns"),
        ("self_waiting_ns", "BIGINT", "self_waiting_ns"), ("total_waiting_ns", "BIGINT", "total_waiting_ns"),
        ("cycles_buckets", BUCKETS, "cycles_buckets"))),
    "waits": ("waits", (("kind", "VARCHAR", "kind"),) + _WHERE + (("line", "BIGINT", "line"),) + _PID + (
        ("count", "BIGINT", "count"), ("ns", "BIGINT", "ns"), ("longest_ns", "BIGINT", "longest_ns"))),
    "tasks": ("tasks", (("name", "VARCHAR", "name"), ("coroutine", "VARCHAR", "coroutine"), ("file", "VARCHAR", "file")) + _PID + (
        ("created_by", "VARCHAR", "created_by"), ("start_ns", "BIGINT", "start_ns"), ("end_ns", "BIGINT", "end_ns"),
        ("ended", "BOOLEAN", "ended"), ("running_ns", "BIGINT", "running_ns"), ("waiting_ns", "BIGINT", "waiting_ns"),
        ("resumptions", "BIGINT", "resumptions"))),
    "requests": ("requests", (("number", "BIGINT", "number"), ("name", "VARCHAR", "name")) + _PID + (
        ("trace_id", "VARCHAR", "trace_id"), ("span_id", "VARCHAR", "span_id"),
        ("start_ns", "BIGINT", "start_ns"), ("end_ns", "BIGINT", "end_ns"),
        ("path", "STRUCT(kind VARCHAR, what VARCHAR, awaited_by VARCHAR, wait VARCHAR, task VARCHAR, tid BIGINT, ns BIGINT)[]", "path"))),
    "snapshots": ("snapshots", (("number", "BIGINT", "number"), ("from_ns", "BIGINT", "from_ns"), ("at_ns", "BIGINT", "at_ns")) + _PID + (
        ("tid", "BIGINT", "tid"), ("trigger", "VARCHAR", "trigger"), ("label", "VARCHAR", "label"))),
}

# A row for each event, on request: fleet_events.py. Names that docs/events.md has mean the same.
EVENTS = "events"
EVENTS_COLUMNS = (
    ("recording", "VARCHAR"), ("time_ns", "BIGINT"), ("pid", "INTEGER"), ("tid", "INTEGER"), ("event", "VARCHAR"), ("key", "VARCHAR"),
    ("offset", "BIGINT"), ("destination", "BIGINT"), ("what", "VARCHAR"), ("object", "BIGINT"), ("duration_ns", "BIGINT"), ("self_ns", "BIGINT"))

# The one row of the recording itself, which is written last. More columns: label_NAME.
RECORDING = "recording"
RECORDING_COLUMNS = (
    ("recording", "VARCHAR"), ("program", "VARCHAR"), ("argv", "VARCHAR"), ("host", "VARCHAR"), ("start", "TIMESTAMP"), ("python", "VARCHAR"),
    ("mode", "VARCHAR"), ("backend", "VARCHAR"), ("clock", "VARCHAR"), ("clock_hz", "BIGINT"), ("wall_ns", "BIGINT"), ("traced_ns", "BIGINT"),
    ("outside_ns", "BIGINT"), ("cpu_ns", "BIGINT"), ("waiting_ns", "BIGINT"), ("processes", "BIGINT"), ("threads", "BIGINT"),
    ("events", "BIGINT"), ("lost", "BIGINT"), ("complete", "BOOLEAN"), ("summary_revision", "BIGINT"), ("path", "VARCHAR"), ("commit", "VARCHAR"))

_WHOLE = {EVENTS: EVENTS_COLUMNS, RECORDING: RECORDING_COLUMNS}


def columns(table: str) -> list[tuple[str, str]]:
    """Names and types, without the partition's and the labels'."""
    if table in _WHOLE:
        return list(_WHOLE[table])
    return [("recording", "VARCHAR")] + [(name, kind) for name, kind, _ in TABLES[table][1]]


def all_tables() -> list[str]:
    """In the order in which they are written."""
    return [*TABLES, EVENTS, RECORDING]


def _within(file: str, folder: str | None) -> str | None:
    """The rest of a path below a folder, or None."""
    folder = (folder or "").rstrip("/")
    return file[len(folder) + 1:] if folder and file.startswith(folder + "/") else None


class Names:
    """Names files as they are called wherever the program is installed, by the header of a code table."""

    def __init__(self, header: "Row") -> None:
        self.stdlib = header.get("stdlib")
        script = program(header)
        self.folders = [header.get("folder")]
        if script and script.endswith(".py"):
            self.folders.append(os.path.dirname(os.path.join(header.get("folder") or "", script)))

    def file(self, file: str) -> str:
        """From the folder on that its package is in; what lies nowhere known keeps its path."""
        site = re.search(r"/(?:site|dist)-packages/(.+)$", file)
        if site:
            return site[1]
        library = _within(file, self.stdlib)
        if library is not None:
            return library
        rests = [rest for rest in (_within(file, folder) for folder in self.folders) if rest is not None]
        return min(rests, key=len) if rests else file

    def key(self, file: str | None, qualname: str | None) -> str | None:
        """Of a function; None outside of all functions."""
        return None if file is None or qualname is None else self.file(file) + ":" + qualname


def program(header: "Row") -> str | None:
    """What was run: its script as it was named, or the module; None: the header does not tell."""
    words = iter([str(word) for word in header.get("argv") or ()][1:])
    for word in words:
        if word == "-m":
            return next(words, None)
        if word in ("-X", "-W"):
            next(words, None)
        elif word == "-c" or not word.startswith("-") or word == "-":
            return word
    return None


def _field(row: "Row", path: str, names: Names) -> "Any":
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = names.key(value.get("file"), value.get("qualname")) if name == "key" else value.get(name)
    return value


def _shaped(value: "Any", kind: str) -> "Any":
    if kind == "DOUBLE" and value is not None:  # means, deviations and shares: noise that no file can make smaller would follow
        return struct.unpack("f", struct.pack("f", value))[0]
    return [{"low": low, "n": n} for low, n in value or ()] if kind == BUCKETS else value


def with_waiting(summary: "Row") -> "Row":
    """Its functions also have how long they waited, by kind; null: not known."""
    found: dict[tuple[Any, ...], dict[str, int]] = {}
    for wait in summary.get("waits") or ():
        found.setdefault((wait["file"], wait["qualname"], wait["line"], wait["pid"]), {})[wait["kind"]] = wait["ns"]
    for row in summary.get("functions") or () if "waits" in summary else ():
        row["waiting_by_kind"] = found.get((row["file"], row["qualname"], row["firstlineno"], row["pid"]), {})
    return summary


def rows(table: str, recording: str, summary: "Row", names: Names) -> "Iterator[Row]":
    """Of one of TABLES."""
    field, described = TABLES[table]
    for row in summary.get(field) or ():
        yield {"recording": recording, **{name: _shaped(_field(row, path, names), kind) for name, kind, path in described}}


def recording_row(summary: "Row", **known: "Any") -> "Row":
    """The row of the recording; what the summary does not say is given: recording, program, host, start, path."""
    trace, clock, losses = summary["trace"], summary["clock"], summary["losses"]
    first = (summary.get("processes") or [{}])[0]
    ends = trace.get("start_ns"), trace.get("end_ns")
    return {
        **known,
        **{name: trace.get(name) for name in ("traced_ns", "outside_ns", "cpu_ns", "waiting_ns", "processes", "threads")},
        **{name: first.get(name) for name in ("argv", "python", "mode", "backend")},
        "clock": clock.get("cycles"), "clock_hz": clock.get("hz"),
        "wall_ns": None if None in ends else ends[1] - ends[0],
        "events": sum(summary["events"].values()), "lost": losses["markers"], "complete": not any(losses.values()),
        "summary_revision": summary.get("revision", 1)}


def as_json(made: "list[Row]") -> str:
    """For DuckDB, which makes columns of it."""
    return json.dumps(made, ensure_ascii=True, separators=(",", ":"))
