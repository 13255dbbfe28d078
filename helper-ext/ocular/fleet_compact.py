# SPDX-License-Identifier: MIT
"""`ocular fleet compact`: few large files instead of a file for each recording and table.

A pack has a day's recordings that are in no pack yet, or those of them that were added by one command. Its rows in the table `recording` are written last, and count from then on;
only then are the recordings' own files taken away. Whoever adds meanwhile is not in it, and comes into the next one.
"""

import contextlib
import hashlib
import time

from . import fleet_files
from . import fleet_tables as tables
from .fleet_store import END, PACK, Refused, Store, quoted

LOCK = ".compact.lock"
TOGETHER = 8  # recordings by one command: of fewer a pack would gain little, and keep them from a larger one
OLD = 24 * 60 * 60  # s: what is still half written then was left by a writer that was killed


class Busy(Refused):
    """Somebody else is at it."""


def together(store: Store, added: "set[str]") -> None:
    """A pack of recordings that were added by one command, if they are enough. They are there anyhow: who is at it meanwhile may take them, or the next one."""
    if len(added) >= TOGETHER:
        with contextlib.suppress(Busy):
            compact(store, added)


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
