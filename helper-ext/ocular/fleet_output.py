# SPDX-License-Identifier: MIT
"""The answer to a question of a fleet store: as a table for a terminal, JSON, CSV, or one HTML page that needs no other file."""

import csv
import datetime
import html
import json
import os
import shutil
import sys

from . import stderr
from .figures import duration

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Rows = Sequence[Sequence[Any]]

WIDEST = 80  # characters of a table's cell
NARROWEST = 24  # of a column of texts, in a terminal that is too narrow for the table
TIME = "_ns"  # in the name of a column of times
# Colours are those of the report's page (filter/report/report.css).
PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>%(title)s</title>
<style>
:root { --back: #fbfaf8; --ink: #1d1b19; --soft: #6d6862; --line: #e6e1da; --accent: #b4460f; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
	:root { --back: #171614; --ink: #e9e5df; --soft: #a09a92; --line: #35322d; --accent: #f08a4b; }
}
body { margin: 2rem 1.5rem; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font: 600 1.1rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; color: var(--accent); overflow-wrap: anywhere; }
p { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: var(--back); color: var(--soft); font-size: .8rem; text-align: left; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
.n { text-align: right; }
td.n { white-space: nowrap; }
</style>
<h1>%(title)s</h1>
<p>%(rows)s</p>
<table>
%(table)s
</table>
</html>
"""


def _plain(value: object) -> object:
    """For JSON."""
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    return value if value is None or isinstance(value, (str, int, float, bool, list, dict)) else str(value)


def _text(value: object) -> str:
    """For people and spreadsheets."""
    if isinstance(value, list) and not any(isinstance(each, (list, dict)) for each in value):
        return ", ".join(map(str, value))
    return json.dumps(value, default=str) if isinstance(value, (list, dict)) else str(_plain(value))


def _cell(value: object) -> str:
    text = stderr.printable("-" if value is None else _text(value))
    return text if len(text) <= WIDEST else text[:WIDEST - 1] + "…"


def _numbers(names: "Sequence[str]", rows: "Rows") -> list[bool]:
    """Of each column, whether it has any: those go to the right."""
    return [any(isinstance(row[i], (int, float)) for row in rows) for i in range(len(names))]


def _with_units(names: "Sequence[str]", rows: "Rows") -> "tuple[list[str], Rows]":
    """Times as people read them; their unit is in each, not in the column's name."""
    times = [TIME in name for name in names]
    return ([name.replace(TIME, "") for name in names],
            [[duration(value) if time and isinstance(value, (int, float)) else value for time, value in zip(times, row)] for row in rows])


def _terminal() -> int:
    """Its columns; 0: it is none, or not known."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit():
        return int(asked)
    return shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0


def _cut(text: str, most: int) -> str:
    """In its first half: the end tells more, of a path and of a name."""
    return text if len(text) <= most else text[:most // 3] + "…" + text[len(text) - most + most // 3 + 1:]


def _fit(cells: list[list[str]], right: list[bool], columns: int) -> list[list[str]]:
    """The widest texts are cut so that lines fit, or as far as no two that differ become alike."""
    widths = [max(map(len, column)) for column in zip(*cells)]
    texts = [i for i in range(len(widths)) if not right[i]]
    at = max(texts, key=lambda i: widths[i]) if texts else 0
    most = max(widths[at] - (sum(widths) + 2 * (len(widths) - 1) - columns), NARROWEST)
    different = {line[at] for line in cells}
    if not columns or not texts:
        return cells
    while most < widths[at] and len({_cut(text, most) for text in different}) < len(different):
        most += 1
    return [[*line[:at], _cut(line[at], most), *line[at + 1:]] for line in cells]


def _table(names: "Sequence[str]", rows: "Rows", title: str) -> str:
    return _aligned(names, rows, _numbers(names, rows))


def _table_with_units(names: "Sequence[str]", rows: "Rows") -> str:
    right = _numbers(names, rows)
    return _aligned(*_with_units(names, rows), right)


def _aligned(names: "Sequence[str]", rows: "Rows", right: list[bool]) -> str:
    cells = _fit([list(map(_cell, names))] + [list(map(_cell, row)) for row in rows], right, _terminal())
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join("  ".join(text.rjust(width) if to_right else text.ljust(width) for text, width, to_right in
                               zip(line, widths, right)).rstrip() for line in cells)


def _json(names: "Sequence[str]", rows: "Rows", title: str) -> str:
    return json.dumps([dict(zip(names, map(_plain, row))) for row in rows], indent=1, default=str)


class _Lines(list[str]):
    """What csv.writer writes to."""

    write = list.append


def _csv(names: "Sequence[str]", rows: "Rows", title: str) -> str:
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value is None else _text(value) for value in row] for row in rows)
    return "".join(lines)


def _html(names: "Sequence[str]", rows: "Rows", title: str) -> str:
    kinds = ["" if not number else ' class="n"' for number in _numbers(names, rows)]
    lines = ["<tr>%s" % "".join("<th%s>%s" % (kind, html.escape(name)) for kind, name in zip(kinds, names))]
    lines += ["<tr>%s" % "".join("<td%s>%s" % (kind, html.escape(stderr.printable("" if value is None else _text(value))))
                                 for kind, value in zip(kinds, row)) for row in rows]
    return PAGE % {"title": html.escape(stderr.printable(title)), "rows": "1 row" if len(rows) == 1 else "%d rows" % len(rows), "table": "\n".join(lines)}


FORMATS: "dict[str, Callable[[Sequence[str], Rows, str], str]]" = {"table": _table, "json": _json, "csv": _csv, "html": _html}


def show(names: "Sequence[str]", rows: "Rows", form: str, title: str, units: bool) -> None:
    """On standard output. `form` is one of FORMATS; a table has times as people read them if `units`."""
    text = _table_with_units(names, rows) if units and form == "table" else FORMATS[form](names, rows, title)
    if form == "table":
        stderr.show(text, sys.stdout)
    else:
        sys.stdout.write(text.rstrip("\n") + "\n")
