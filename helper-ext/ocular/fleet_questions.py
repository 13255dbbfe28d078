# SPDX-License-Identifier: MIT
"""What can be asked of a fleet store: `sql`, `top`, `show`, `slower` (docs/fleet.md)."""

import math

from . import fleet_tables as tables
from .fleet_store import TRIES, Refused, Store, duckdb, identifier, quoted

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import Any

    Answer = tuple[list[str], list[tuple[Any, ...]]]
    Side = tuple[int, float, float]  # recordings, and the mean and the variance of the logarithms of what they have

FEWEST = 3        # recordings a side, without which there is no spread
CHANCE = 0.001    # of any false alarm in one question
READS = ("SELECT", "EXPLAIN")


def ask(store: Store, query: str) -> "Answer":
    """Names of columns, and rows. Refused with DuckDB's reason."""
    module = duckdb()
    for left in reversed(range(TRIES)):
        try:
            connection = store.reader()
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type.name not in READS:
                raise Refused("one SELECT at a time, and nothing else: questions do not change a store")
            found = connection.execute(query)
            return [column[0] for column in found.description], found.fetchall()
        except module.IOException as e:  # it was compacted meanwhile: its files are others
            if not left:
                raise Refused("cannot read the store '%s': %s" % (store.shown, _line(e))) from None
        except module.Error as e:
            raise Refused(_line(e)) from None
    raise AssertionError


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def labels_of(store: Store) -> list[str]:
    """Names of the columns of labels."""
    return [name for name in ask(store, "SELECT * FROM recording LIMIT 0")[0] if name.startswith(tables.LABEL)]


def top(store: Store, rows: int) -> "Answer":
    """Functions by self time in all recordings."""
    return ask(store, """
        SELECT key, count(DISTINCT recording) AS recordings, sum(calls)::BIGINT AS calls, sum(self_ns)::BIGINT AS self_ns,
            sum(total_ns)::BIGINT AS total_ns,
            CASE WHEN count(self_cpu_ns) = count(*) THEN sum(self_cpu_ns)::BIGINT END AS self_cpu_ns,
            round(sum(self_ns) / nullif(sum(activations), 0), 1) AS self_ns_per_activation
        FROM function GROUP BY key ORDER BY self_ns DESC, key LIMIT %d""" % rows)


def show(store: Store, function: str, rows: int) -> "Answer":
    """One function in each recording, where it was slowest first. Refused if no recording has it."""
    labels = "".join(", any_value(r.%s) AS %s" % (identifier(name), identifier(name)) for name in labels_of(store))
    found = ask(store, """
        SELECT f.key, f.recording, any_value(r.start) AS start, any_value(r.host) AS host%s, sum(f.calls)::BIGINT AS calls,
            sum(f.self_ns)::BIGINT AS self_ns, sum(f.total_ns)::BIGINT AS total_ns,
            round(sum(f.self_ns) / nullif(sum(f.activations), 0), 1) AS self_ns_per_activation
        FROM function f JOIN recording r USING (recording) WHERE f.key = %s OR f.qualname = %s
        GROUP BY f.key, f.recording ORDER BY self_ns_per_activation DESC NULLS LAST, f.key, f.recording LIMIT %d"""
                % (labels, quoted(function), quoted(function), rows))
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


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8)."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(abs(1 - (a + b) * x / (a + 1)), tiny)
    value = d
    for m in range(1, 1000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def chance_of(t: float, freedom: float) -> float:
    """How likely a value of Student's t at least that far from 0 is, where there is no difference."""
    return _beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def compared(a: "Side", b: "Side") -> tuple[float, float, float]:
    """Welch's test of the logarithms: the change of B as a fraction of A, its standard error, and how likely it is by chance."""
    parts = [side[2] / side[0] for side in (a, b)]
    error, change = math.sqrt(sum(parts)), b[1] - a[1]
    if error <= 1e-12:  # counted, not timed: the emulated processor
        return math.expm1(change), 0.0, float(abs(change) <= 1e-12)
    freedom = sum(parts) ** 2 / sum(part ** 2 / (side[0] - 1) for part, side in zip(parts, (a, b)))
    return math.expm1(change), math.exp(change) * error, chance_of(change / error, freedom)


def _sides(store: Store, label: str, sides: tuple[str, str]) -> str:
    """The label's column. Refused if these sides cannot be compared."""
    column = tables.LABEL + label
    if column not in labels_of(store):
        raise Refused("no recording in '%s' has a label '%s'" % (store.shown, label))
    for side in sides:
        found = ask(store, "SELECT mode, clock FROM recording WHERE %s = %s" % (identifier(column), quoted(side)))[1]
        if len(found) < FEWEST:
            raise Refused("%s=%s has %d recordings in '%s', and a comparison needs %d a side" % (label, side, len(found), store.shown, FEWEST))
    kinds = ask(store, "SELECT DISTINCT mode, clock FROM recording WHERE %s IN (%s)" % (identifier(column), ", ".join(map(quoted, sides))))[1]
    if len(kinds) != 1:
        raise Refused("these recordings are of different modes or clocks, whose times cannot be compared: %s" % ", ".join(
            sorted("%s by %s" % kind for kind in kinds)))
    return column


def slower(store: Store, label: str, a: str, b: str, share: float, everything: bool) -> "Answer":
    """Functions whose self time per activation is larger in the recordings of side B, by more than the noise between recordings."""
    if a == b:
        raise Refused("'%s' is compared with itself" % a)
    column = _sides(store, label, (a, b))
    rows = ask(store, """
        WITH ours AS (SELECT recording, %(column)s = %(b)s AS later FROM recording WHERE %(column)s IN (%(a)s, %(b)s)),
        each AS (SELECT key, recording, later, sum(self_ns) AS self_ns, sum(self_cpu_ns) AS cpu, count(self_cpu_ns) = count(*) AS known,
                     sum(activations) AS activations FROM function JOIN ours USING (recording) GROUP BY ALL),
        sums AS (SELECT later, sum(self_ns) AS all_ns FROM each GROUP BY later),
        shares AS (SELECT key, max(ns / all_ns) AS share FROM
                     (SELECT key, later, sum(self_ns) AS ns FROM each GROUP BY ALL) JOIN sums USING (later) GROUP BY key),
        hot AS (SELECT * FROM each JOIN shares USING (key) WHERE share >= %(share)r AND activations > 0),
        clock AS (SELECT bool_and(known) AS by_cpu FROM hot),
        timed AS (SELECT key, later, by_cpu, CASE WHEN by_cpu THEN cpu ELSE self_ns END / activations AS value FROM hot, clock)
        SELECT key, later, by_cpu, count(*), avg(ln(value)), var_samp(ln(value)) FROM timed WHERE value > 0 GROUP BY ALL
        HAVING count(*) >= %(fewest)d ORDER BY key"""
               % {"column": identifier(column), "a": quoted(a), "b": quoted(b), "share": share / 100, "fewest": FEWEST})[1]
    values: dict[str, dict[bool, Side]] = {}
    for key, later, _, *side in rows:
        values.setdefault(key, {})[later] = (side[0], side[1], side[2])
    judged = {key: (sides[False], sides[True]) for key, sides in values.items() if len(sides) == 2}
    unit = "cpu_ns" if rows and rows[0][2] else "self_ns"
    names = ["verdict", "key", "change_percent", "error_percent", "a_" + unit, "b_" + unit, "a_recordings", "b_recordings", "chance"]
    answer = []
    for key, (one, other) in judged.items():
        change, error, chance = compared(one, other)
        chance = min(1.0, chance * len(judged))
        verdict = "noise" if chance >= CHANCE else "slower" if change > 0 else "faster"
        if everything or verdict == "slower":
            answer.append((verdict, key, round(100 * change, 2), round(100 * error, 2), round(math.exp(one[1]), 1),
                           round(math.exp(other[1]), 1), one[0], other[0], float("%.3g" % chance)))
    return names, sorted(answer, key=lambda row: (row[0] != "slower", row[0], -abs(row[2])))
