# SPDX-License-Identifier: MIT
"""What can be asked of a fleet store: `sql`, `top`, `show`, `slower` (docs/fleet.md)."""

import math

from . import fleet_slower
from . import fleet_tables as tables
from .fleet_store import TRIES, Refused, Store, duckdb, identifier, quoted

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import Any

    Answer = tuple[list[str], list[tuple[Any, ...]]]

ALL = "(all)"  # no label's value
CPU = "CASE WHEN count(f.self_cpu_ns) = count(*) THEN sum(f.self_cpu_ns) END"  # null where one of them is not known
READS = ("SELECT", "EXPLAIN")


def ask(store: Store, query: str) -> "Answer":
    """Names of columns, and rows. Refused with DuckDB's reason."""
    module = duckdb()
    for left in reversed(range(TRIES)):
        try:
            connection = store.reader(query)
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type.name not in READS:
                raise Refused("one SELECT at a time, and nothing else: questions do not change a store")
            found = connection.execute(query)
            return [column[0] for column in found.description], found.fetchall()
        except module.Error as e:
            changed = store.is_changed(e)  # it was compacted meanwhile: its files are others
            if not changed or not left:
                raise Refused("%s%s" % ("cannot read the store '%s': " % store.shown if changed or store.at.trouble() else "", store.reason(e))) from None
    raise AssertionError


def labels_of(store: Store) -> list[str]:
    """Names of the columns of labels."""
    return [name for name in ask(store, "SELECT * FROM recording LIMIT 0")[0] if name.startswith(tables.LABEL)]


def top(store: Store, rows: int) -> "Answer":
    """Functions by their own CPU time in all recordings, or self time where that is not known."""
    return ask(store, """
        SELECT key, count(DISTINCT recording) AS recordings, sum(calls)::BIGINT AS calls, %s::BIGINT AS self_cpu_ns, sum(self_ns)::BIGINT AS self_ns,
            sum(total_ns)::BIGINT AS total_ns, round(sum(self_ns) / nullif(sum(activations), 0), 1) AS self_ns_per_activation
        FROM function f GROUP BY key ORDER BY coalesce(%s, sum(self_ns)) DESC, key LIMIT %d""" % (CPU, CPU, rows))


def show(store: Store, function: str, rows: int) -> "Answer":
    """One function in each recording, where it was slowest first. Refused if no recording has it."""
    labels = "".join(", any_value(r.%s) AS %s" % (identifier(name), identifier(name)) for name in labels_of(store))
    found = ask(store, """
        SELECT f.key, f.recording, any_value(r.start) AS start, any_value(r.host) AS host%s, sum(f.calls)::BIGINT AS calls,
            sum(f.self_ns)::BIGINT AS self_ns, sum(f.total_ns)::BIGINT AS total_ns,
            %s::BIGINT AS self_cpu_ns, round(sum(f.self_ns) / nullif(sum(f.activations), 0), 1) AS self_ns_per_activation,
            round(%s / nullif(sum(f.activations), 0), 1) AS self_cpu_ns_per_activation
        FROM function f JOIN recording r USING (recording) WHERE f.key = %s OR f.qualname = %s
        GROUP BY f.key, f.recording ORDER BY coalesce(self_cpu_ns_per_activation, self_ns_per_activation) DESC NULLS LAST, f.key, f.recording LIMIT %d"""
                % (labels, CPU, CPU, quoted(function), quoted(function), rows))
    if not found[1]:
        raise _no_function(store, function)
    return found


SHARES = (("median_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99), ("p999_ns", 0.999))


def _middle(low: str) -> str:
    """Of the bucket that begins there (filter/model/stat.h)."""
    return "%s + CASE WHEN %s < 16 THEN 0 ELSE ((1::BIGINT << (floor(log2(%s))::INTEGER - 3)) - 1) // 2 END" % (low, low, low)


def durations(store: Store, function: str, label: str | None) -> "Answer":
    """How long its activations took, by the label's values, or by recording: of all their buckets together."""
    by = tables.LABEL + label if label else "recording"
    if label and by not in labels_of(store):
        raise Refused("no recording in '%s' has a label '%s'" % (store.shown, label))
    found = ask(store, """
        WITH ours AS (SELECT f.key, r.%(by)s AS side, r.recording AS recording, unnest(f.durations, max_depth := 2)
                      FROM function f JOIN recording r USING (recording) WHERE f.key = %(function)s OR f.qualname = %(function)s),
        buckets AS (SELECT key, side, low, sum(n) AS n FROM ours GROUP BY ALL),
        seen AS (SELECT *, sum(n) OVER (PARTITION BY key, side ORDER BY low) AS seen, sum(n) OVER (PARTITION BY key, side) AS everything FROM buckets),
        recordings AS (SELECT key, side, count(DISTINCT recording) AS recordings FROM ours GROUP BY ALL)
        SELECT key, side AS %(by)s%(recordings)s, any_value(everything)::BIGINT AS activations, %(shares)s,
            %(most)s AS longest_ns
        FROM seen JOIN recordings USING (key, side) GROUP BY key, side, recordings ORDER BY key, side"""
                % {"by": identifier(by), "function": quoted(function), "recordings": ", recordings" if label else "", "most": _middle("max(low)"),
                   "shares": ", ".join("%s AS %s" % (_middle("(min(low) FILTER (seen >= ceil(%r * everything)))" % share), name)
                                       for name, share in SHARES)})
    if not found[1]:
        raise _no_function(store, function)
    return found


def _no_function(store: Store, function: str) -> Refused:
    return Refused("no recording in '%s' has a function '%s': give a qualname, or a key as `ocular fleet top` prints it" % (store.shown, function))


def callers(store: Store, function: str, rows: int) -> "Answer":
    """Who called one function, in all recordings. Refused if no recording has it."""
    found = ask(store, """
        SELECT caller_key, callee_key, count(DISTINCT recording) AS recordings, sum(calls)::BIGINT AS calls, sum(recursive_calls)::BIGINT AS recursive_calls,
            sum(self_ns)::BIGINT AS self_ns, sum(total_ns)::BIGINT AS total_ns
        FROM edges WHERE callee_key = %(function)s OR ends_with(callee_key, ':' || %(function)s)
        GROUP BY ALL ORDER BY total_ns DESC, calls DESC, caller_key LIMIT %(rows)d""" % {"function": quoted(function), "rows": rows})
    if not found[1]:
        raise _no_function(store, function)
    return found


def recording_at(store: Store, beginning: str) -> tuple[str, str]:
    """Id and path of the recording whose id begins so. Refused if there is none, or are several."""
    found = ask(store, "SELECT recording, path FROM recording WHERE starts_with(recording, %s) LIMIT 2" % quoted(beginning))[1]
    if len(found) != 1 or not beginning:
        raise Refused("%s in '%s' begins with '%s'" % ("more than one recording" if found else "no recording", store.shown, beginning))
    return found[0][0], found[0][1]


def _sides(store: Store, label: str, sides: tuple[str, str]) -> str:
    """The label's column. Refused if these sides cannot be compared."""
    column = tables.LABEL + label
    if column not in labels_of(store):
        raise Refused("no recording in '%s' has a label '%s'" % (store.shown, label))
    for side in sides:
        found = ask(store, "SELECT mode, clock FROM recording WHERE %s = %s" % (identifier(column), quoted(side)))[1]
        if len(found) < fleet_slower.FEWEST:
            raise Refused("%s=%s has %d recordings in '%s', and a comparison needs %d a side" % (label, side, len(found), store.shown, fleet_slower.FEWEST))
    kinds = ask(store, "SELECT DISTINCT mode, clock FROM recording WHERE %s IN (%s)" % (identifier(column), ", ".join(map(quoted, sides))))[1]
    if len(kinds) != 1:
        raise Refused("these recordings are of different modes or clocks, whose times cannot be compared: %s" % ", ".join(
            sorted("%s by %s" % kind for kind in kinds)))
    return column


def _host(store: Store, each: str | None) -> str:
    """What says on which host a recording was made, in SQL: a label, or what the recording says itself."""
    there = labels_of(store)
    column = tables.LABEL + (each or "host")
    if each and column not in there:
        raise Refused("no recording in '%s' has a label '%s'" % (store.shown, each))
    if each:
        return identifier(column)
    return "coalesce(%s)" % ", ".join([identifier(name) for name in (column,) if name in there] + ["host"])


def _cells(store: Store, sides: "tuple[str, str, str]", host: str, share: float) -> "Answer":
    """Self time of an activation: key, host, later (side B), by CPU time, and the cell (fleet_slower.py), of functions with that share."""
    label, a, b = sides
    return ask(store, """
        WITH ours AS (SELECT recording, %(label)s = %(b)s AS later, coalesce(%(host)s, '') AS host FROM recording WHERE %(label)s IN (%(a)s, %(b)s)),
        each AS (SELECT key, recording, later, ours.host, sum(self_ns) AS self_ns, sum(self_cpu_ns) AS cpu, count(self_cpu_ns) = count(*) AS known,
                     sum(activations) AS activations FROM function JOIN ours USING (recording) GROUP BY ALL),
        clock AS (SELECT coalesce(sum(self_ns) FILTER (NOT known), 0) < %(share)r * sum(self_ns) AS by_cpu FROM each),
        timed AS (SELECT *, CASE WHEN by_cpu THEN cpu ELSE self_ns END AS ns FROM each, clock),
        sums AS (SELECT later, sum(ns) AS all_ns FROM timed GROUP BY later),
        shares AS (SELECT key, max(ns / all_ns) AS share FROM
                     (SELECT key, later, sum(ns) AS ns FROM timed GROUP BY ALL) JOIN sums USING (later) GROUP BY key)
        SELECT key, host, later, by_cpu, count(*), avg(ln(ns / activations)), coalesce(var_samp(ln(ns / activations)), 0)
        FROM timed JOIN shares USING (key) WHERE share >= %(share)r AND ns > 0 AND activations > 0 GROUP BY ALL
        ORDER BY ALL""" % {"label": identifier(label), "host": host, "a": quoted(a), "b": quoted(b), "share": share / 100})


def slower(store: Store, label: str, a: str, b: str, share: float, everything: bool, each: str | None) -> "Answer":
    """Functions whose self time per activation is larger in the recordings of side B, by more than the noise between recordings."""
    if a == b:
        raise Refused("'%s' is compared with itself" % a)
    rows = _cells(store, (_sides(store, label, (a, b)), a, b), _host(store, each), share)[1]
    cells: dict[str, dict[str, list[fleet_slower.Side | None]]] = {}
    for key, host, later, _, *cell in rows:
        cells.setdefault(key, {}).setdefault(host, [None, None])[later] = (cell[0], cell[1], cell[2])
    found = fleet_slower.findings(cells)
    on: dict[str, list[str]] = {}  # hosts
    for one in found:
        if one.host is not None and one.verdict == "slower":
            on.setdefault(one.key, []).append(one.host)
    # A host by itself only if its function is not slower on the whole.
    told = {one.key for one in found if one.host is None and one.verdict == "slower"}
    shown = [one for one in found if everything or one.verdict == "slower" and (one.host is None or one.key not in told)]
    unit = "cpu_ns" if rows and rows[0][3] else "self_ns"
    return ["verdict", "key", each or "host", "change_percent", "error_percent", "a_" + unit, "b_" + unit, "a_recordings", "b_recordings", "chance",
            "slower_on"], [_row(one, on) for one in sorted(shown, key=lambda one: one.order)]


def _row(one: fleet_slower.Finding, on: dict[str, list[str]]) -> "tuple[Any, ...]":
    return (one.verdict, one.key, ALL if one.host is None else one.host, round(100 * one.change, 2), round(100 * one.error, 2),
            round(math.exp(one.a[1]), 1), round(math.exp(one.b[1]), 1), one.a[0], one.b[0], float("%.3g" % one.chance),
            on.get(one.key, []) if one.host is None else [])
