# SPDX-License-Identifier: MIT
"""The screen of `ocular top`: what it shows of the rows, and what its keys do. Drawn by curses, without colours."""

import copy
import curses
import re
import unicodedata

from .figures import duration, figure
from .top_rows import CALLERS, IDLE, NOISY, ONLY, SECOND, VIEWS, Row, Totals, View

NUMBER = 8  # columns of one, a blank before it
ALL_CODE = " (all code)"  # in the head of functions and loops: libraries are not folded, as the report folds them
NAME = 24  # columns that a row's name has at least: numbers that do not fit then are not shown
HEADS = 5  # lines above the rows
KEYS = (
    ("q", "quit: let go of the program"),
    ("Tab, 1 to 7", "the next table, or that one"),
    ("<  >", "sort by the column to the left, to the right"),
    ("up down, page up ...", "choose a row; Home: the first one again"),
    ("Enter", "count who calls the chosen function, or what the chosen"),
    ("", "thread or process runs; Esc ends that"),
    ("/", "only rows with a text or regular expression; Esc: all"),
    ("Space", "hold the screen still, or go on; nothing is missed"),
)
HELP = """\
Every number is counted, not sampled. Columns with /s are of the last second,
those beside them of all time since the start.
Times of all threads are added up, so one second may have more than a second.
self: functions without what they call; own: loops without loops inside them;
runs: how often a loop was begun; steps: how often a task went on.
cpu: of that on a processor; wait: off it by its own will; gil: waiting for it.
noisy: it had no processor in so much of the time it could run (10% or more):
self and own times then say more of the machine than of the program.
all code: that of libraries, too, which the report folds into a row.
idle: workers of a pool that wait for their next job. A dash: not known here.
""".splitlines()
ENTER = 10, 13, curses.KEY_ENTER
ESCAPE = 27


def plain(text: str) -> str:
    """What a terminal would interpret is shown as '?'."""
    return "".join(c if c.isprintable() else "?" for c in text)


def wide(text: str) -> int:
    """How many columns it takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, room: int) -> str:
    """To so many columns, with '~' at its end if it is longer."""
    if wide(text) <= room:
        return text
    while text and wide(text) >= room:
        text = text[:-1]
    return text + "~" if room > 0 else ""


class Screen:
    """What is chosen, and how it is drawn into a curses window."""

    def __init__(self, window: "curses.window", title: str) -> None:
        self.window, self.title, self.totals = window, title, Totals()
        self.held: Totals | None = None  # as it was then
        self.view, self.first = VIEWS[0], 0
        self.chosen: tuple[object, ...] | None = None  # the name of that row; None: the first one
        self.columns = {view.title: 0 for view in (*VIEWS, CALLERS, ONLY)}
        self.before, self.of = VIEWS[0], ""  # the table that Esc goes back to, and the row of it that was chosen
        self.filter, self.typing, self.helping = "", False, False
        self.words = ""  # about the program: that it has ended
        window.keypad(True)
        window.nodelay(True)
        for ask in (lambda: curses.curs_set(0), curses.use_default_colors):
            try:
                ask()
            except curses.error:  # the cursor is always there; there are no colours
                pass

    # Keys.

    def key(self, code: int) -> bool:
        """A key was pressed. False: it ends all."""
        if self.typing:
            self._type(code)
        elif self.helping and code != curses.KEY_RESIZE:
            self.helping = False
        elif code in (ord("q"), ord("Q")):
            return False
        else:
            self._act(code)
        return True

    def _type(self, code: int) -> None:
        if code in ENTER:
            self.typing = False
        elif code == ESCAPE:
            self.typing, self.filter = False, ""
        elif code in (curses.KEY_BACKSPACE, 127, 8):
            self.filter = self.filter[:-1]
        elif 32 <= code < 127:
            self.filter += chr(code)

    def _act(self, code: int) -> None:
        page = max(self._height() - 1, 1)
        steps = {curses.KEY_UP: -1, curses.KEY_DOWN: 1, curses.KEY_PPAGE: -page, curses.KEY_NPAGE: page, curses.KEY_END: 10 ** 9}
        acts = {ord("/"): self._begin_filter, ord(" "): self._hold, ord("?"): self._help, ESCAPE: self._back,
                curses.KEY_HOME: self._home, ord("<"): lambda: self._sort(-1), ord(">"): lambda: self._sort(1),
                ord("\t"): lambda: self._turn(1), curses.KEY_BTAB: lambda: self._turn(-1), **dict.fromkeys(ENTER, self._ask)}
        if code in steps:
            self._move(steps[code])
        elif code in acts:
            acts[code]()
        elif ord("1") <= code < ord("1") + len(VIEWS):
            self._show(VIEWS[code - ord("1")])

    def _begin_filter(self) -> None:
        self.typing, self.filter = True, ""

    def _hold(self) -> None:
        self.held = None if self.held else copy.deepcopy(self.totals)

    def _help(self) -> None:
        self.helping = True

    def _home(self) -> None:
        self.chosen = None

    def _turn(self, step: int) -> None:
        at = VIEWS.index(self.view) if self.view in VIEWS else 0
        self._show(VIEWS[(at + step) % len(VIEWS)])

    def _show(self, view: View) -> None:
        self.view, self.chosen, self.first = view, None, 0

    def _sort(self, step: int) -> None:
        title = self.view.title
        self.columns[title] = (self.columns[title] + step) % len(self.view.columns())

    def _rows(self) -> "tuple[list[Row], int]":
        """The rows that the view has now, and which of them is chosen."""
        rows = (self.held or self.totals).ranked(self.view, self.columns[self.view.title], self._pattern())
        return rows, next((n for n, row in enumerate(rows) if row.name == self.chosen), 0)

    def _move(self, step: int) -> None:
        rows, chosen = self._rows()
        if rows:
            self.chosen = rows[max(0, min(chosen + step, len(rows) - 1))].name

    def _ask(self) -> None:
        """Who calls the chosen function, or the chosen caller; or what the chosen thread or process runs."""
        rows, chosen = self._rows()
        row = rows[chosen] if rows else None
        if row and self.view in (VIEWS[0], CALLERS, ONLY) and row.name[0]:
            self.totals.ask(row.name)
            self._show_asked(CALLERS, VIEWS[0], row)
        elif row and self.view.source == "threads":
            ids = row.name[1:] if self.view is VIEWS[2] else (row.name[0], None)
            self.totals.ask_only(*ids)
            self._show_asked(ONLY, self.view, row)

    def _show_asked(self, view: View, before: View, row: Row) -> None:
        self.held, self.filter = None, ""
        self.before, self.of = before, row.text()
        self._show(view)

    def _back(self) -> None:
        """From callers to functions, from what a thread runs to threads; else all rows are shown again."""
        if self.view in (CALLERS, ONLY):
            self.totals.ask(None)
            self._show(self.before)
        self.filter = ""

    # Drawing.

    def _height(self) -> int:
        """Rows that there is room for, between the lines above and the one below."""
        return max(self.window.getmaxyx()[0] - HEADS - 1, 0)

    def _line(self, y: int, text: str, how: int = 0) -> None:
        height, width = self.window.getmaxyx()
        if 0 <= y < height:
            text = cut(plain(text), width - 1)  # a character in the last corner would scroll
            self.window.addstr(y, 0, text + " " * (width - 1 - wide(text) if how & curses.A_REVERSE else 0), how)

    def draw(self) -> None:
        """The whole screen."""
        totals = self.held or self.totals
        self.window.erase()
        if self.helping:
            self._draw_help()
        else:
            self._draw_head(totals)
            self._draw_table(totals)
            self._draw_foot()
        self.window.refresh()

    def clear(self) -> None:
        """For what comes next: not all terminals have a second screen to go back to."""
        self.window.erase()
        self.window.refresh()

    def _draw_help(self) -> None:
        self._line(0, "ocular top", curses.A_REVERSE)
        for y, (key, words) in enumerate(KEYS, 2):
            self._line(y, "  %-21s %s" % (key, words))
        for y, words in enumerate(HELP, len(KEYS) + 3):
            self._line(y, words)
        self._line(len(KEYS) + len(HELP) + 4, "Any key goes back.")

    def _draw_head(self, totals: Totals) -> None:
        seconds = (totals.time_ns - totals.began_ns) // SECOND
        noise = "noisy: preempted %.0f%%  " % (100 * totals.preempted) if totals.preempted >= NOISY else ""
        interpolated = "times interpolated  " if totals.coarse else ""
        self._line(0, "ocular top  %d s  %s%s%s%s%s" % (seconds, self.words and self.words + "  ", "held still  " if self.held else "",
                                                       noise, interpolated, self.title), curses.A_BOLD)
        lost = figure(totals.lost) + " lost" + ", %s places unreadable" % figure(totals.damaged) * bool(totals.damaged)
        self._line(1, "%s events/s (most %s/s), %s in all, %s" % (
            figure(totals.per_second(totals.latest_events)), figure(totals.most_events), figure(totals.events), lost),
                   curses.A_BOLD if totals.lost or totals.damaged else 0)
        idle = totals.latest("waits", "ns", IDLE)
        cpu, waiting, gil, gc = ("-" if ns is None else duration(ns) for ns in (
            totals.latest("threads", "cpu_ns"), totals.latest("threads", "waiting_ns"), totals.latest("threads", "gil_ns"),
            totals.latest("gc", "ns")))
        self._line(2, "last second: CPU %s, waiting %s%s, for the GIL %s, gc %s" % (
            cpu, waiting, idle and " (%s idle)" % duration(idle) or "", gil, gc))
        if self.view in (CALLERS, ONLY) and totals.asked:
            what = "callers" if self.view is CALLERS else "functions"
            self._line(3, "%s of %s, since they were asked for (Esc: %s)" % (what, self.of, self.before.title))
        else:
            self._line(3, "".join(("[%d %s]" if view is self.view else " %d %s ") % (n, view.title) for n, view in enumerate(VIEWS, 1)))

    def _shown(self) -> "list[tuple[str, str, bool]]":
        """The columns that there is room for; always the one that is sorted by."""
        columns = self.view.columns()
        room = max((self.window.getmaxyx()[1] - 1 - NAME) // NUMBER, 1)
        return columns[:room] if self.columns[self.view.title] < room else [*columns[:room - 1], columns[self.columns[self.view.title]]]

    def _pattern(self) -> "re.Pattern[str] | None":
        try:
            return re.compile(self.filter, re.IGNORECASE) if self.filter else None
        except re.error:  # it may become one with the next key
            return re.compile(re.escape(self.filter), re.IGNORECASE)

    def _draw_table(self, totals: Totals) -> None:
        by, room = self.columns[self.view.title], self._height()
        rows, chosen = self._rows()
        self.first = max(min(self.first, chosen), chosen - room + 1, 0)
        heads = "".join(("*" * (column == self.view.columns()[by]) + column[1]).rjust(NUMBER) for column in self._shown())
        self._line(HEADS - 1, " " + heads + "  " + self.view.title + ALL_CODE * (self.view in VIEWS[:2]), curses.A_REVERSE)
        for y, row in enumerate(rows[self.first:self.first + room], HEADS):
            is_chosen = y - HEADS + self.first == chosen
            self._line(y, (">" if is_chosen else " ") + self._cells(row, totals) + "  " + row.text(), curses.A_BOLD if is_chosen else 0)
        if not rows:
            self._line(HEADS + 1, "  " + ("none has '%s'" % self.filter if self.filter else "the program does not tell"
                                          if self.view.title in totals.untold else "none yet"))

    def _cells(self, row: Row, totals: Totals) -> str:
        cells = []
        for key, _, latest in self._shown():
            value = row.value(key, latest)
            if value is None:
                cells.append("-")
            else:
                cells.append((duration if key == "ns" or key.endswith("_ns") else figure)(totals.per_second(value) if latest else value))
        return "".join(cell.rjust(NUMBER) for cell in cells)

    def _draw_foot(self) -> None:
        bottom = self.window.getmaxyx()[0] - 1
        if self.typing:
            self._line(bottom, "show rows with: %s_" % self.filter, curses.A_REVERSE)
        else:
            words = "q quit  Tab table  < > sort  / filter  Enter callers  Space hold  ? help"
            self._line(bottom, ("with '%s'  " % self.filter if self.filter else "") + words, curses.A_REVERSE)
