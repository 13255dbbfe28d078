# SPDX-License-Identifier: MIT
"""What of a recording may be analysed in parts, and what becomes of their summaries; the rows themselves: tests/wrapper/test_fleet_split.py."""

import copy
import json
import os
import sys
import tempfile

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import fleet_split  # noqa: E402


def header(**more):
    return {"kind": "header", "ocular": 1, **more}


def stop(markers):
    return {"kind": "stop", "markers": [[1, markers], [2, 1]], "lost": 0}


def folder_of(tables):
    made = tempfile.TemporaryDirectory()
    for pid, lines in tables.items():
        with open(os.path.join(made.name, f"codes-{pid}.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return made


def families(tables):
    with folder_of(tables) as folder:
        return fleet_split.families(folder)


GOOD = {10: [header(), stop(100)], 11: [header(parent=10), stop(40)], 12: [header(), stop(500)], 13: [header(parent=11), stop(7)],
        14: [header(), stop(1), header(parent=12), stop(2)]}  # the last one began anew: its first header counts


def test_families():
    """Who forked from whom stays together, with the number of all markers."""
    equal(families(GOOD), [(501, [12]), (150, [10, 11, 13]), (5, [14])])
    equal(families({10: [header(parent=99), stop(3)], 11: [header(parent=99), stop(3)]}), [(8, [10, 11])])  # whose table is not there
    equal(families({10: [header(parent=11), stop(3)], 11: [header(parent=10), stop(3)]})[0][0], 4)  # a damaged one must end, too


def test_not_to_be_split():
    """What the parts could not tell of the whole."""
    for lines in ([header()], [stop(3)], [header(), stop(3), header()], [header(flight=True), stop(3)],
                  [header(duty={"period_ns": 1}), stop(3)], [header(dispatch=[1]), stop(3)],
                  [header(), stop(3), {"kind": "piece", "number": 1}], [header(), {"kind": "stop"}], []):
        equal(families({**GOOD, 20: lines}), [])
    equal(len(families({**GOOD, 20: [header(), stop(3), {"kind": "piece", "number": 0}]})), 4)
    with folder_of(GOOD) as folder:
        with open(os.path.join(folder, "codes-20.jsonl"), "wb") as file:
            file.write(b'{"kind":"header", and no more')
        equal(fleet_split.families(folder), [])


def test_shares():
    """Each process is in one; the first also has those that nobody knows of."""
    with folder_of(GOOD) as folder:
        equal(fleet_split.shares(folder, 1), [])
        equal(fleet_split.shares(folder, 2), ["^10,11,13,14", "10,11,13,14"])
        equal(fleet_split.shares(folder, 3), ["^10,11,13,14", "10,11,13", "14"])
        equal(fleet_split.shares(folder, 9), ["^10,11,13,14", "10,11,13", "14"])
    with folder_of({10: GOOD[10], 11: GOOD[11]}) as folder:
        equal(fleet_split.shares(folder, 3), [])


def summary(**more):
    trace = {"traced_ns": 300, "outside_ns": 3, "cpu_ns": 30, "waiting_ns": 7, "threads": 2, "processes": 5, "start_ns": 50, "end_ns": 350}
    return {"revision": 9, "clock": {"cycles": "tsc", "hz": 10}, "processes": [{"pid": 1}], "losses": {"markers": 0}, "snapshots": [],
            "events": {"PY_START": 5}, "functions": [{"f": 1}], "c_functions": [], "edges": [], "loops": [], "requests": [], "tasks": [],
            "waits": [], **more, "trace": {**trace, **more.get("trace", {})}}


def wait(kind, n, longest, file=None):
    return {"kind": kind, "file": file, "count": n, "ns": 10 * n, "longest_ns": longest}


def test_joined():
    loop = {"total_ns": 100, "self_ns": 50, "share": 0.3, "own_share": 0.1}
    one = summary(loops=[loop], waits=[wait("sleep", 1, 9), wait("lock", 2, 8, "a.py")])
    other = summary(functions=[{"f": 2}], events={"PY_START": 2, "LINE": 1}, waits=[wait("sleep", 3, 4), wait("io", 1, 1)],
                    trace={"start_ns": 40, "end_ns": 300, "traced_ns": 400})
    made = fleet_split.joined(copy.deepcopy([one, other]))
    equal(made["trace"], {"traced_ns": 700, "outside_ns": 6, "cpu_ns": 60, "waiting_ns": 14, "threads": 4, "processes": 5, "start_ns": 40, "end_ns": 350})
    equal(made["functions"], [{"f": 1}, {"f": 2}])
    equal(made["events"], {"PY_START": 7, "LINE": 1})
    equal(made["loops"], [{**loop, "share": 0.142857143, "own_share": 0.0714285714}])
    equal(sorted(made["waits"], key=str), sorted([wait("lock", 2, 8, "a.py"), wait("sleep", 4, 9), wait("io", 1, 1)], key=str))


def test_unknown():
    """What is not known of one part is not known of all; a part in which nothing ran says nothing."""
    equal(fleet_split.joined([summary(), summary(trace={"cpu_ns": None})])["trace"]["cpu_ns"], None)
    empty = summary(events={}, functions=[], clock={"cycles": "ns", "hz": 0},
                    trace={"start_ns": 0, "end_ns": 0, "traced_ns": 0, "threads": 0, "outside_ns": 0, "cpu_ns": 0, "waiting_ns": 0})
    equal(fleet_split.joined([summary(), empty]), fleet_split.joined([summary()]))


def test_not_joined():
    """Other clocks; requests in two, whose numbers and the slowest of which only the whole knows; more tasks than are kept."""
    equal(fleet_split.joined([summary(), summary(clock={"cycles": "core", "hz": 10})]), None)
    equal(fleet_split.joined([summary(requests=[{}]), summary(requests=[{}])]), None)
    equal(fleet_split.joined([summary(requests=[{"number": 1}]), summary()])["requests"], [{"number": 1}])
    equal(fleet_split.joined([summary(tasks=[{}] * 5000), summary(tasks=[{}] * 5000)]), None)


rec.run(globals())
