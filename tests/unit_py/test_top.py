# SPDX-License-Identifier: MIT
"""What ocular top makes of the lines that it is told, and how it writes names and numbers. Its screen: tests/wrapper/test_top.py."""

import os
import re
import sys
import types

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import figures, top, top_rows, top_screen  # noqa: E402
from ocular.top_rows import CALLERS, ONLY, VIEWS, Totals  # noqa: E402

FUNCTIONS = VIEWS[0]


def function(qualname, calls, self_ns, cpu_ns, waiting_ns=0):
    return {"file": "/shop/app.py", "qualname": qualname, "line": 7, "calls": calls, "self_ns": self_ns, "self_cpu_ns": cpu_ns,
            "self_waiting_ns": waiting_ns}


def line(time_ns, *functions, **more):
    return {"time_ns": time_ns, "events": 10, "lost": 0, "damaged": 0, "functions": functions, "loops": (), "tasks": (), "threads": (),
            "waits": None, "gc": (), "callers_of": None, "callers": None, "only": None, "only_functions": None, **more}


def shown(totals, view, column=0, pattern=None):
    return [(row.name[0], [row.value(key, latest) for key, _, latest in view.columns()])
            for row in totals.ranked(view, column, pattern)]


def test_the_last_second_and_all():
    totals = Totals()
    totals.add(line(5 * 10 ** 9, function("f", 2, 100, 90), function("g", 1, 300, 80)))
    totals.add(line(6 * 10 ** 9, function("f", 3, 50, 50)))
    equal(shown(totals, FUNCTIONS), [("f", [50, 140, 50, 150, 3, 5]), ("g", [0, 80, 0, 300, 0, 1])])
    equal([name for name, _ in shown(totals, FUNCTIONS, 3)], ["g", "f"])
    equal([name for name, _ in shown(totals, FUNCTIONS, 0, re.compile("g .*app"))], ["g"])
    equal((totals.events, totals.time_ns - totals.began_ns), (20, 2 * 10 ** 9))


def test_more_than_a_second_is_scaled_and_less_is_not():
    totals = Totals()
    totals.add(line(5 * 10 ** 9))
    totals.add(line(5 * 10 ** 9 + 11 * 10 ** 6, events=100))  # of 11 ms, then of no time at all
    equal((totals.per_second(totals.latest_events), totals.most_events), (100, 100))
    totals.add(line(5 * 10 ** 9 + 11 * 10 ** 6, events=3))
    equal(totals.per_second(totals.latest_events), 3)
    totals.add(line(7 * 10 ** 9 + 11 * 10 ** 6, events=300))
    equal((totals.per_second(totals.latest_events), totals.most_events), (150, 150))


def test_preempted_of_the_time_it_could_run():
    totals = Totals()
    totals.add(line(10 ** 9, function("f", 1, 100, 60, 20), function("g", 1, 90, None, None), function("h", 1, 20, 20)))
    equal(totals.preempted, 0.2)
    totals.add(line(2 * 10 ** 9, function("f", 1, 50, 0, 50)))
    equal(totals.preempted, 0)


def test_what_is_not_known():
    totals = Totals()
    thread = {"pid": 1, "tid": 1, "name": None, "argv": "app", "cpu_ns": None, "waiting_ns": None, "gil_ns": 4}
    totals.add(line(10 ** 9, threads=[thread]))
    equal(shown(totals, VIEWS[2]), [(None, [None, None, None, None, 4, 4])])
    equal((totals.latest("threads", "cpu_ns"), totals.latest("threads", "gil_ns"), totals.latest("waits", "ns")), (None, 4, None))
    totals.add(line(2 * 10 ** 9, threads=[{**thread, "cpu_ns": 7, "waiting_ns": 0}]))
    equal(shown(totals, VIEWS[2]), [(None, [7, 7, 0, 0, 4, 8])])


def test_callers_of_another_function_are_not_taken():
    totals = Totals()
    asked = {"qualname": "f", "file": "/shop/app.py", "line": 7}
    caller = {"file": "/shop/app.py", "qualname": "main", "line": 1, "calls": 4, "total_ns": 9, "self_ns": 8}
    totals.ask(("f", "/shop/app.py", 7))
    totals.add(line(10 ** 9, callers_of={**asked, "qualname": "before"}, callers=[caller]))
    equal(shown(totals, CALLERS), [])
    totals.add(line(2 * 10 ** 9, callers_of=asked, callers=[caller]))
    equal(shown(totals, CALLERS), [("main", [9, 9, 8, 8, 4, 4])])
    totals.ask(None)
    equal(shown(totals, CALLERS), [])


def test_functions_of_a_thread_or_a_process():
    totals = Totals()
    row = {"qualname": "f", "file": "/shop/app.py", "line": 7, "calls": 4, "total_ns": 9, "self_ns": 8}
    for tid, others in ((12, None), (None, 12)):
        totals.ask_only(11, tid)
        totals.add(line(10 ** 9, only={"pid": 11, "tid": others}, only_functions=[row]))
        equal(shown(totals, ONLY), [])
        totals.add(line(2 * 10 ** 9, only={"pid": 11, "tid": tid}, only_functions=[row]))
        equal(shown(totals, ONLY), [("f", [9, 9, 8, 8, 4, 4])])
    totals.ask(("f", "/shop/app.py", 7))
    equal(shown(totals, ONLY), [])


def test_idle_workers_are_apart():
    totals, waits = Totals(), VIEWS[5]
    lock = {"kind": "lock", "count": 3, "ns": 100, "idle_count": 2, "idle_ns": 90}
    read = {"kind": "read", "count": 1, "ns": 50, "idle_count": 1, "idle_ns": 50}
    totals.add(line(10 ** 9, waits=[lock, read]))
    equal(shown(totals, waits), [("idle workers", [140, 140, 3, 3]), ("lock", [10, 10, 1, 1])])
    equal((totals.latest("waits", "ns", top_rows.IDLE), totals.latest("waits", "ns")), (140, 150))
    totals.add(line(2 * 10 ** 9, waits=[]))
    equal((totals.latest("waits", "ns", top_rows.IDLE), shown(totals, waits)), (0, [("idle workers", [0, 140, 0, 3]), ("lock", [0, 10, 0, 1])]))


def test_a_python_without_curses():
    class Terminal:
        isatty = staticmethod(lambda: True)
    top.sys, kept = types.SimpleNamespace(stdin=Terminal, stdout=Terminal, executable="/opt/python3"), sys.modules.pop("curses")
    sys.modules["curses"] = None
    try:
        top.need_terminal()
    except top.Failed as e:
        assert re.match("top needs Python's module curses, which /opt/python3 does not have: set PYTHON .*report --follow", str(e)), e
    else:
        raise AssertionError("it goes on")
    finally:
        top.sys, sys.modules["curses"] = sys, kept


def test_numbers_fit_their_columns():
    for n in [0, 1, 9999999] + [10 ** k - 1 for k in range(20)] + [10 ** k for k in range(20)]:
        for text in (figures.figure(n), figures.duration(n)):
            assert len(text) < top_screen.NUMBER or n >= 10 ** 13, (n, text)
    equal([figures.figure(n) for n in (0, 9999999, 12345678, 4560000000)], ["0", "9999999", "12.3M", "4.56G"])
    equal([figures.duration(n) for n in (0, 999, 1500, 2_500_000, 12_000_000_000)], ["0", "999 ns", "1.50 us", "2.50 ms", "12.0 s"])
    equal([figures.duration(n) for n in (99_949, 99_960, 999_499, 999_600, 884_000_000)], ["99.9 us", "100 us", "999 us", "1.00 ms", "884 ms"])
    for view in (*VIEWS, CALLERS):
        assert all(len(heading) < top_screen.NUMBER for _, heading, _ in view.columns()), view.title
    equal(80 - 2 - len(VIEWS[0].columns()) * top_screen.NUMBER - 2, 28)  # columns for names where a terminal has 80, with all numbers
    assert (80 - 1 - top_screen.NAME) // top_screen.NUMBER >= len(VIEWS[0].columns())


def test_names_fit_and_are_no_commands():
    equal(top_screen.plain("f\x1b[2J\u202eg\n"), "f?[2J?g?")
    equal([top_screen.cut(text, 5) for text in ("price", "prices", "日本", "日本語")], ["price", "pric~", "日本", "日本~"])
    equal(top_screen.cut("price", 0), "")
    equal(top_rows.Row(("f", "/a/b.py", 3)).text(), "f  b.py:3")


rec.run(globals())
