#!/usr/bin/env python3
"""One loop of the source is one loop of the report, at the line of its `while` or `for`: in the whole standard library.

    test_loops.py [--python PY]... [--only TEXT]    (a part of "3.12 json")

Every code object of the library with back-edges goes through the analysis with each of them taken once. The syntax
tree says which loop of the source it repeats (statements.py). Known exceptions are counted, and may not grow: a
`finally` is compiled twice, and so is a loop in it; a test or target that begins on another line than its `while` or
`for`; up to 3.12, jumps back out of handlers within handlers.
"""

import ast
import collections
import json
import os

import recording

TABLE = os.path.join(recording.HERE, "statements_table.py")
FEED = os.path.join(recording.BUILD, "bin", "ocular-feed")
# Of 14,500 loops: those counted twice, those at another line; code objects, most of them tests of the compiler.
MOST = {"3.12": (59, 0, 7), "3.13": (62, 2, 1)}
MOST_OF_OTHERS = 80, 12, 7
SLOW = 600  # seconds


def library(python):
    code = "import sysconfig, json, glob; print(json.dumps(sorted(glob.glob(sysconfig.get_path('stdlib') + '/**/*.py'," \
           " recursive=True))))"
    found = json.loads(recording.run([python, "-c", code]).stdout)
    return [path for path in found if "site-packages" not in path]


def rows_of(folder):
    done = recording.run([FEED, f"codes={folder}", f"summary={folder}/summary.json", f"{folder}/events.txt"])
    if done.returncode:
        raise RuntimeError(done.stderr)
    rows = collections.defaultdict(dict)
    with open(f"{folder}/summary.json", encoding="utf-8") as file:
        for loop in json.load(file)["loops"]:
            row = rows[loop["qualname"]].setdefault(loop["line"], [0, 0])
            row[0] += 1
            row[1] += loop["iterations"]
    return rows


def check(python, version, folder):
    most_twice, most_other, most_wrong = MOST.get(version, MOST_OF_OTHERS)
    done = recording.run([python, TABLE, folder, *library(python)], timeout=SLOW)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    rows, counts = rows_of(folder), ast.literal_eval(done.stdout)
    with open(f"{folder}/truth.txt", encoding="utf-8") as file:
        truth = ast.literal_eval(file.read())
    wrong, twice, other = [], 0, 0
    for name, wanted in truth.items():
        got = rows.get(name, {})
        if got == wanted:
            continue
        if {line: n for line, (_, n) in got.items()} == {line: n for line, (_, n) in wanted.items()}:
            twice += sum(row[0] - wanted[line][0] for line, row in got.items())
        elif sorted(got.values()) == sorted(wanted.values()):
            other += sum(line not in wanted for line in got)
        else:
            wrong.append(f"{name}: {got}, in the source {wanted}")
    print(f"# {counts}: {len(wrong)} code objects wrong, {twice} loops told twice, {other} at another line")
    problems = wrong[:20] if len(wrong) > most_wrong else []
    if counts["edges"] < 15000 or counts["undecidable"] > counts["edges"] // 50:
        problems.append(f"not looked at: {counts}")
    if twice > most_twice or other > most_other:
        problems.append(f"{twice} told twice, {other} at another line")
    return problems


def cases(python, _):
    version = recording.version(python)
    yield f"{version} the standard library", check, python, version


if __name__ == "__main__":
    recording.run_cases(cases)
