# SPDX-License-Identifier: MIT
"""`ocular fleet compact`: few large files instead of a file for each recording and table.

A pack has a day's recordings that are in no pack yet, or those of them that were added by one command. Whoever adds sees to it that no day stays
without one. Its rows in the table `recording` are written last, and count from then on;
only then are the recordings' own files taken away. Whoever adds meanwhile is not in it, and comes into the next one.
"""

import contextlib
import datetime
import hashlib
import time

from . import fleet_files
from . import fleet_tables as tables
from .fleet_store import END, NO_DAY, PACK, Refused, Store, quoted

LOCK = ".compact.lock"
TOGETHER = 8  # recordings by one command: of fewer a pack would gain little, and keep them from a larger one
PILE = 32  # recordings of a day that are in no pack: a service that adds one an hour has fewer, and its day comes into one pack
QUIET = 6 * 60 * 60  # s since the last one was added to a day that is over: its rest is not waited for any longer
AGENT = {tables.LABEL + name for name in ("service", "host", "trigger")}  # what the agent adds, it counts and takes out file by file
OLD = 24 * 60 * 60  # s: what is still half written then was left by a writer that was killed


class Busy(Refused):
    """Somebody else is at it."""


def together(store: Store, added: "set[str]") -> None:
    """After recordings were added by one command: a pack of them, if they are enough, else of what was left by other commands, if it is time.
    All are there anyhow: who is at it meanwhile may take them, or the next one.
    """
    with contextlib.suppress(Busy):
        if len(added) >= TOGETHER:
            compact(store, added)
        elif added and len(left := _left(store)) > 1:
            compact(store, left)


def _is_due(place: str, written: "list[float]", now: float) -> bool:
    """Of recordings in files of their own, of one day, and when these were written."""
    day = place.split("/")[0]
    over = day == NO_DAY or day < datetime.datetime.fromtimestamp(now, datetime.timezone.utc).date().isoformat()
    return len(written) >= PILE or over and len(written) > 1 and now - max(written) > QUIET


def _left(store: Store) -> "set[str]":
    """Recordings that have waited for a pack long enough."""
    days: "dict[str, dict[str, float]]" = {}
    try:
        sizes = store.at.sizes([tables.RECORDING])
    except OSError as e:
        raise Refused("cannot read the store '%s': %s" % (store.shown, fleet_files.reason(e))) from None
    for day, stem in store.files(tables.RECORDING):
        if not stem.startswith(PACK):
            days.setdefault(day, {})[stem] = sizes.get(store.name(tables.RECORDING, day, stem), (0, time.time()))[1]
    due = {(day, stem) for day, stems in days.items() if _is_due(day, list(stems.values()), time.time()) for stem in stems}
    return {stem for _, stem in due} - _agents(store, due) if due else set()


def _agents(store: Store, found: "set[tuple[str, str]]") -> "set[str]":
    """Those of them that `ocular agent` added."""
    paths = [store.path(tables.RECORDING, *each) for each in sorted(found)]
    store.at.ahead(paths)
    rows = store.rows(store.connect(), "SELECT * FROM read_parquet(?, union_by_name = true, hive_partitioning = false)", paths)
    return {row["recording"] for row in rows if all(row.get(label) is not None for label in AGENT)}


def compact(store: Store, only: "set[str] | None" = None) -> int:
    """How many recordings came into packs, of all or of some. Busy if somebody else is at it."""
    connection = store.connect()
    try:
        with store.at.locked(LOCK):
            days: dict[str, list[str]] = {}
            for day, stem in sorted(store.seen(connection)):
                if not stem.startswith(PACK) and (only is None or stem in only):
                    days.setdefault(day, []).append(stem)
            for day, stems in days.items():
                _pack(connection, store, day, stems)
            _sweep(connection, store)
    except BlockingIOError as e:
        raise Busy("'%s' is being compacted %s" % (store.shown, fleet_files.reason(e))) from None
    except OSError as e:
        raise Refused("cannot compact '%s': %s" % (store.shown, fleet_files.reason(e))) from None
    return sum(map(len, days.values()))


def order(table: str) -> str:
    """Of a pack's rows: what is alike lies together, which is smaller, and less to read for one function."""
    alike = [column for column, _ in tables.columns(table) if column == "name" or column.endswith(("key", "line", "head_offset"))]
    return ", ".join([*sorted(alike, key=lambda column: not column.startswith("callee")), "recording"])


def _pack(connection: object, store: Store, day: str, stems: list[str]) -> None:
    name = PACK + hashlib.sha256("".join(stems).encode()).hexdigest()[:32]
    for table in [*tables.TABLES, tables.RECORDING]:  # events stay in files of their own: they are large already
        there = store.files(table)
        paths = [there[day, stem] for stem in stems if (day, stem) in there]
        if paths:
            store.at.ahead(paths)
            store.write(connection, "SELECT * FROM read_parquet([%s], union_by_name = true, hive_partitioning = false) ORDER BY %s"
                        % (", ".join(map(quoted, paths)), order(table)), table, day, name)


def _sweep(connection: object, store: Store) -> None:
    """Files of recordings that are in packs, and what killed writers left."""
    packed = store.packed(connection, store.files(tables.RECORDING))
    for table in [tables.RECORDING, *tables.TABLES, tables.EVENTS]:
        left = []
        for name, (_, written) in store.at.sizes([table]).items():
            file = name.rpartition("/")[2]
            half = file.startswith(".") and file.endswith(".tmp") and time.time() - written > OLD
            if half or table != tables.EVENTS and file.removesuffix(END) in packed:
                left.append(name)
        store.at.remove(left)
