# SPDX-License-Identifier: MIT
"""A large recording in parts, each analysed by itself, whose summaries together are that of the whole (docs/fleet.md).

A row of a store's tables is of one process, or of one and its forks, which run the code of its table; the row of the recording has sums.
So processes that did not fork from one another have no row in common. Time is no such border: what is open on the stacks there would
be needed. Wherever not all is known of the parts, the answer is None: then it is analysed as a whole.
"""

import glob
import json
import os
import subprocess

from . import tools

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Summary = dict[str, Any]

TASKS = 10000  # a summary has so many at most (filter/model/async_tasks.h)
DIGITS = "%.9g"  # of a real number in a summary (filter/report/sink_summary.c)
SUMS = ("traced_ns", "outside_ns", "cpu_ns", "waiting_ns", "threads")
LISTS = ("functions", "c_functions", "edges", "loops", "requests", "tasks")  # whose rows are of one process each


class _Table:
    """What a code table says of its process, line by line."""

    def __init__(self) -> None:
        self.parent: "int | None" = None  # which it was forked from
        self.markers = 0
        self.begun = self.stopped = False
        self.partial = False  # there is more, or less, to it than what the process did

    def header(self, line: "dict[str, Any]") -> None:
        """Its first one, or that of a program that it became."""
        self.parent = self.parent if self.begun else line.get("parent")
        self.begun, self.stopped = True, False
        self.partial |= any(bool(line.get(name)) for name in ("flight", "duty", "dispatch"))

    def stop(self, line: "dict[str, Any]") -> None:
        """It ended in order."""
        self.markers += sum(n for _, n in line["markers"])
        self.stopped = True

    def piece(self, line: "dict[str, Any]") -> None:
        """Of the recording, a file that was completed."""
        self.partial |= bool(line["number"])


KINDS = {b'{"kind":"%s"' % name.encode(): getattr(_Table, name) for name in ("header", "stop", "piece")}


def _table(path: str) -> "_Table | None":
    """None: the process did not stop in order, or not all that it did is there, or more."""
    table = _Table()
    with open(path, "rb") as file:
        for line in file:
            read = KINDS.get(line.partition(b",")[0])
            try:
                if read:
                    read(table, json.loads(line))
            except (ValueError, KeyError, TypeError):
                return None
    return table if table.begun and table.stopped and not table.partial else None


def families(folder: str) -> "list[tuple[int, list[int]]]":
    """Processes that share no code with those of other lists, with the number of their markers; most first. Empty: that is not known."""
    found: "dict[int, _Table]" = {}
    for path in glob.glob(os.path.join(glob.escape(folder), "codes-*.jsonl")):
        number = os.path.basename(path)[len("codes-"):-len(".jsonl")]
        table = _table(path) if number.isdigit() else None
        if table is None:
            return []
        found[int(number)] = table
    made: "dict[int, tuple[int, list[int]]]" = {}
    for pid in sorted(found):
        first = _first(found, pid)
        had, pids = made.get(first, (0, []))
        made[first] = had + found[pid].markers, [*pids, pid]
    return sorted(made.values(), key=lambda each: (-each[0], each[1]))


def _first(tables: "dict[int, _Table]", pid: int) -> int:
    """Whom its parents lead to, of whom there may be no table."""
    for _ in tables:
        parent = tables[pid].parent if pid in tables else None
        if parent is None:
            break
        pid = parent
    return pid


def shares(folder: str, most: int) -> list[str]:
    """What `processes=` takes for each part, as even as they can be: each process is in one of them. One or none: it is not split."""
    loads = [[0, number, []] for number in range(most)]  # type: list[Any]
    for markers, pids in families(folder):
        least = min(loads)
        least[0] += markers
        least[2] += pids
    rest = [",".join(map(str, pids)) for _, _, pids in loads[1:] if pids]
    return ["^" + ",".join(rest), *rest] if rest else []  # the first one also has those without a table


def part(folder: str, processes: str) -> "Summary | None":
    """The summary of those processes. None: it cannot be had by itself."""
    done = subprocess.run([tools.analyser(), "leave_to_perf=yes", "summary=-", "for_fleet=yes", "progress=never", "processes=" + processes, folder],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        found = json.loads(done.stdout.decode("utf-8", "replace")) if not done.returncode else None
    except ValueError:
        found = None
    return found if isinstance(found, dict) and found.get("schema") == 1 and not any(found["losses"].values()) and not found["snapshots"] else None


def _trace(all_of: "list[Summary]") -> "Summary":
    traces = [each["trace"] for each in all_of]
    made = {name: None if any(each[name] is None for each in traces) else sum(each[name] for each in traces) for name in SUMS}
    return {**made, "processes": traces[0]["processes"], "start_ns": min(each["start_ns"] for each in traces),
            "end_ns": max(each["end_ns"] for each in traces)}


def _waits(all_of: "list[Summary]") -> "Iterator[Summary]":
    """Those outside of all functions are of no process."""
    outside: "dict[str, Summary]" = {}
    for row in (row for each in all_of for row in each.get("waits", ())):
        if row["file"] is not None:
            yield row
            continue
        had = outside.setdefault(row["kind"], {**row, "count": 0, "ns": 0, "longest_ns": 0})
        had.update(count=had["count"] + row["count"], ns=had["ns"] + row["ns"], longest_ns=max(had["longest_ns"], row["longest_ns"]))
    yield from outside.values()


def _share(ns: int, of: int) -> float:
    """As the summary of the whole has it."""
    return float(DIGITS % (float(ns) / float(of))) if of else 0.0


def joined(parts: "list[Summary]") -> "Summary | None":
    """As far as the tables are made of it, the summary of all. None: it cannot be made of these."""
    ran = [each for each in parts if sum(each["events"].values())] or parts[:1]
    first = ran[0]
    made = {name: [row for each in ran for row in each.get(name, ())] for name in LISTS}
    if any((each["clock"]["cycles"], each["clock"]["hz"]) != (first["clock"]["cycles"], first["clock"]["hz"]) for each in ran):
        return None
    if len(made["tasks"]) >= TASKS or sum(bool(each.get("requests")) for each in ran) > 1:  # requests have numbers, and the slowest count
        return None
    trace = _trace(ran)
    for loop in made["loops"]:
        loop.update(share=_share(loop["total_ns"], trace["traced_ns"]), own_share=_share(loop["self_ns"], trace["traced_ns"]))
    if any("waits" in each for each in ran):
        made["waits"] = list(_waits(ran))
    events: "dict[str, int]" = {}
    for each in ran:
        for name, n in each["events"].items():
            events[name] = events.get(name, 0) + n
    return {**{name: first[name] for name in ("revision", "clock", "processes", "losses", "snapshots")}, **made, "trace": trace, "events": events}
