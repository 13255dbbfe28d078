# SPDX-License-Identifier: MIT
"""What `ocular top` knows: rows of functions, loops, threads and so on, of the last second and since the start.

It adds up the lines of `ocular report --follow` (docs/live.md) and knows nothing of terminals.
"""

import os
import re

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import Any

SECOND = 10 ** 9


class View:
    """A table of the screen: the array of a line that its rows come from, the keys that name a row, and what is added up.

    fields: (key, heading), the one to sort by first. A key of a time ends in _ns.
    """

    def __init__(self, title: str, source: str, names: "tuple[str, ...]", *fields: "tuple[str, str]") -> None:
        self.title, self.source, self.names, self.fields = title, source, names, fields

    def columns(self) -> "list[tuple[str, str, bool]]":
        """(key, heading, of the last second?) in the order of the screen."""
        return [(key, heading + "/s" * latest, latest) for key, heading in self.fields for latest in (True, False)]


PLACE = "qualname", "file", "line"
TIMES = ("cpu_ns", "cpu"), ("waiting_ns", "wait"), ("gil_ns", "gil")
VIEWS = (
    View("functions", "functions", PLACE, ("self_cpu_ns", "cpu"), ("self_ns", "self"), ("calls", "calls")),
    View("loops", "loops", PLACE, ("own_cpu_ns", "cpu"), ("own_ns", "own"), ("iterations", "iters"), ("entries", "runs")),
    View("threads", "threads", ("name", "pid", "tid"), *TIMES),
    View("processes", "threads", ("pid", "argv"), *TIMES),
    View("tasks", "tasks", PLACE, ("running_ns", "run"), ("resumptions", "steps"), ("made", "made"), ("ended", "ended")),
    View("waits", "waits", ("kind",), ("ns", "time"), ("count", "count")),
    View("gc", "gc", ("generation",), ("ns", "time"), ("count", "count"), ("collected", "objs")),
)
CALLS = ("total_ns", "total"), ("self_ns", "self"), ("calls", "calls")
CALLERS = View("callers", "callers", PLACE, *CALLS)
ONLY = View("functions of it", "only_functions", PLACE, *CALLS)  # of one thread or process
ASKED = {CALLERS.title: "callers_of", ONLY.title: "only"}  # keys of what was asked for, in a line
IDLE = "idle workers"
NOISY = 0.1  # preempted: from then on wall times are noisy, as in the report (report.h: PREEMPTED_NOISY)


def apart(waits: "list[dict[str, Any]] | None") -> "list[dict[str, Any]] | None":
    """Waits of a pool's workers for their next job are no waits for a lock, or whatever they are made of: nobody waits for them."""
    if waits is None:
        return None
    rows = [{"kind": row["kind"], "ns": row["ns"] - row["idle_ns"], "count": row["count"] - row["idle_count"]} for row in waits]
    idle = {"kind": IDLE, "ns": sum(row["idle_ns"] for row in waits), "count": sum(row["idle_count"] for row in waits)}
    return [row for row in [*rows, idle] if row["ns"] or row["count"]]


def preempted(functions: "list[dict[str, Any]]") -> float:
    """Of what is known; what has no CPU by its own will waits."""
    known = [row for row in functions if row["self_cpu_ns"] is not None and row["self_waiting_ns"] is not None]
    cpu = sum(row["self_cpu_ns"] for row in known)
    off = sum(max(row["self_ns"] - row["self_cpu_ns"] - row["self_waiting_ns"], 0) for row in known)
    return off / (cpu + off) if cpu + off else 0.0


class Row:
    """One row: what it is, and its numbers by key, of the last second and of all."""

    __slots__ = ("name", "latest", "total", "unknown")

    def __init__(self, name: "tuple[Any, ...]") -> None:
        self.name = name
        self.latest: dict[str, int] = {}
        self.total: dict[str, int] = {}
        self.unknown: set[str] = set()  # keys that were null the last time

    def add(self, fields: "tuple[tuple[str, str], ...]", told: "dict[str, Any]") -> None:
        """A second more. What is null is not known, and not added."""
        for key, _ in fields:
            more = told[key]
            (self.unknown.add if more is None else self.unknown.discard)(key)
            if more is not None:
                self.latest[key] = self.latest.get(key, 0) + more
                self.total[key] = self.total.get(key, 0) + more

    def value(self, key: str, latest: bool) -> "int | None":
        """A number; None: not known."""
        return None if key in self.unknown else (self.latest if latest else self.total).get(key, 0)

    def text(self) -> str:
        """What it is called: `search  app.py:11`."""
        if len(self.name) == 1:
            return "generation %d" % self.name[0] if isinstance(self.name[0], int) else str(self.name[0])
        if isinstance(self.name[0], int):
            return "%d  %s" % (self.name[0], self.name[1] or "")
        if isinstance(self.name[1], int):
            name, pid, tid = self.name
            return "%s  %s of %s" % (name or ("main thread" if pid == tid else "thread"), tid, pid)
        qualname, file, line = self.name
        return "%s  %s:%s" % (qualname, os.path.basename(str(file)), line) if qualname else "none that is known"


class Totals:
    """All rows of all views."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[tuple[Any, ...], Row]] = {view.title: {} for view in (*VIEWS, CALLERS, ONLY)}
        self.asked: dict[str, Any] | None = None  # whose callers, or functions
        self.untold: set[str] = set()  # titles of what the program does not tell
        self.events = self.lost = self.damaged = self.latest_events = self.most_events = 0
        self.began_ns = self.time_ns = 0
        self.length_ns = SECOND  # of the last line, at least a second
        self.coarse = 0  # the time was read for one marker of so many; 0: for each
        self.preempted = 0.0  # in it: the part of the time in which functions could run that they had no CPU

    def add(self, line: "dict[str, Any]") -> None:
        """A line: what happened in one second."""
        before = self.time_ns or line["time_ns"] - SECOND
        self.began_ns = self.began_ns or before
        self.time_ns = line["time_ns"]
        self.length_ns = max(self.time_ns - before, SECOND)
        self.latest_events = line["events"]
        self.most_events = max(self.most_events, self.per_second(line["events"]))
        self.events += line["events"]
        self.lost += line["lost"]
        self.damaged += line["damaged"]
        self.coarse = line.get("coarse", 0)
        self.preempted = preempted(line["functions"])
        for view in VIEWS:
            self._add(view, apart(line["waits"]) if view.source == "waits" else line[view.source])
        for view in (CALLERS, ONLY):
            if self.asked and line[ASKED[view.title]] == self.asked:
                self._add(view, line[view.source])

    def _add(self, view: View, told: "list[dict[str, Any]] | None") -> None:
        rows = self.rows[view.title]
        (self.untold.add if told is None else self.untold.discard)(view.title)
        for row in rows.values():
            row.latest.clear()
        for each in told or ():
            name = tuple(each[key] for key in view.names)
            row = rows.get(name) or rows.setdefault(name, Row(name))
            row.add(view.fields, each)

    def ask(self, name: "tuple[Any, ...] | None") -> None:
        """Whose callers are counted from now on: a function's, by its row's name."""
        self._ask(dict(zip(PLACE, name)) if name else None)

    def ask_only(self, pid: int, tid: "int | None") -> None:
        """Whose functions are counted from now on: those of a thread, or of a whole process."""
        self._ask({"pid": pid, "tid": tid})

    def _ask(self, asked: "dict[str, Any] | None") -> None:
        self.asked = asked
        for view in (CALLERS, ONLY):
            self.rows[view.title].clear()

    def per_second(self, n: int) -> int:
        """A number of the last line. One of less than a second, the last of a program, is not made more than it is."""
        return round(n * SECOND / self.length_ns)

    def latest(self, title: str, key: str, *name: object) -> "int | None":
        """What the rows of a view have of it a second: all rows, or the one of that name. None: not known."""
        values = [row.value(key, True) for row in self.rows[title].values() if not name or row.name == name]
        return None if None in values or title in self.untold else self.per_second(sum(value or 0 for value in values))

    def ranked(self, view: View, column: int, pattern: "re.Pattern[str] | None" = None) -> "list[Row]":
        """The rows whose text has the pattern, most of that column first; where equal, by the others in order."""
        order = [view.columns()[column], *view.columns()]
        rows = [row for row in self.rows[view.title].values() if not pattern or pattern.search(row.text())]
        return sorted(rows, key=lambda row: (*[-(row.value(key, latest) or 0) for key, _, latest in order], row.text()))
