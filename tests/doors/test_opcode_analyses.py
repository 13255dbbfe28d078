#!/usr/bin/env python3
"""What is made of a recording in mode `opcodes`: a build that fails by `ocular diff`.

    test_opcode_analyses.py [--python PY]... [--only TEXT]
"""

import json
import os

import recording
from tap import Plan

SLOW = 500  # seconds for a recording: the emulator takes a few

# 9 bytecodes a trip (3.12, 3.13), and some 4,500 around them: 200 trips more are 3 % of all.
TRIPS, PLANTED = 6000, 200
COUNTED = """
import sys
def work(n):
    total = 0
    for i in range(n):
        total += i * 3
    return total
work(int(sys.argv[1]))
"""


def stat(python, folder, name, program, *arguments):
    """`ocular stat`: its recording and its summary."""
    data, summary = os.path.join(folder, name), os.path.join(folder, name + ".json")
    done = recording.run([recording.WRAPPER, "stat", "--python", python, "-o", data, "--summary", summary, "--", program,
                          *map(str, arguments)], env=recording.plain_environment(), timeout=SLOW)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[-2000:]}")
    return data, summary


def diff(a, b, *options):
    return recording.run([recording.WRAPPER, "diff", "--fail-over", "2%", *options, a, b],
                         env=recording.plain_environment(), timeout=SLOW)


def opcodes_of(summary):
    with open(summary, encoding="utf-8") as file:
        return json.load(file)["opcodes"]


def trip_length(summary):
    with open(summary, encoding="utf-8") as file:
        return next(loop["uops"] for loop in json.load(file)["loops"] if loop["qualname"] == "work")


def judged(name, done, status, line):
    """[] if the comparison ended so, with that line on stderr about what is over, or without one."""
    told = [text for text in done.stderr.splitlines() if text.startswith("ocular-diff:")]
    if done.returncode != status or told != line:
        return [f"{name}: exit status {done.returncode}, not {status}; told {told}, not {line}", done.stderr[-1000:]]
    return []


def failing(comparison):
    """The line that a failing comparison (JSON) has to end with."""
    what = ["%s %+.2f%%" % ({"traced_cycles": "cycles", "instructions": "bytecodes"}[key], 100 * total["change"])
            for key, total in comparison["totals"].items() if total["over"]]
    for kind in ("loop", "function"):
        n = sum(pair["over"] for pair in comparison[kind + "s"])
        what += [f"{n} {kind}{'s' * (n > 1)}"] * (n > 0)
    return "ocular-diff: over --fail-over 2%: " + ", ".join(what)


def check_fail_over(python, folder):
    """The same program twice counts the same and passes, 3 % more bytecodes fail: recordings as well as summaries."""
    program = os.path.join(folder, "counted.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(COUNTED)
    (a, a_json), (b, b_json) = (stat(python, folder, name, program, TRIPS) for name in "ab")
    c, c_json = stat(python, folder, "c", program, TRIPS + PLANTED)
    one, same, more = (opcodes_of(summary) for summary in (a_json, b_json, c_json))
    rows = [{(row["opcode"], row["specialized"]): row["count"] for row in each["rows"]} for each in (one, same)]
    if rows[0] != rows[1] or ("FOR_ITER", "FOR_ITER_RANGE") not in rows[0]:
        return [f"the same program ran {rows}"]
    planted = more["count"] - one["count"]
    if planted != round(trip_length(a_json) * PLANTED) or not 0.025 < planted / one["count"] < 0.035:
        return [f"{planted} bytecodes of {one['count']} were planted, by {PLANTED} trips"]
    found = []
    for kind, before, again, after in (("summaries", a_json, b_json, c_json), ("recordings", a, b, c)):
        found += judged(f"{kind}, the same", diff(before, again, "--decoder", "libipt"), 0, [])
        done = diff(before, after, "--json", "--decoder", "libipt")
        line = failing(json.loads(done.stdout))
        found += judged(f"{kind}, planted", done, 1, [line])
        if not line.startswith("ocular-diff: over --fail-over 2%%: bytecodes +%.2f%%" % (100 * planted / one["count"])):
            found.append(f"{kind}: {line}")
    return found


def cases(python):
    version = recording.version(python)
    yield f"{version} a planted regression", check_fail_over, python


def main():
    options = recording.options()
    options.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    options = options.parse_args()
    recording.need_built()
    with Plan() as plan:
        for python in recording.pythons(options):
            for name, function, *arguments in cases(python):
                if options.only in name:
                    with recording.scratch() as folder:
                        plan.case(name, function, *arguments, folder)


if __name__ == "__main__":
    main()
