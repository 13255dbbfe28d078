#!/usr/bin/env python3
"""What is made of a recording in mode `opcodes`: a build that fails by `ocular diff`; specialisation over time, ways
and trips of loops, costs by line, instructions of a window, all from one recording, compared with other runs of the program.

    test_opcode_analyses.py [--python PY]... [--only TEXT]
"""

import collections
import glob
import json
import os
import zlib

import recording
import test_opcodes
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
    what = ["%s %+.2f%%" % ({"traced_cycles": "cycles traced", "instructions": "bytecodes"}[key], 100 * total["change"])
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
        over = line.removeprefix("ocular-diff: over --fail-over 2%: ").split(", ")  # cycles are exact, too, and may be over
        if "bytecodes +%.2f%%" % (100 * planted / one["count"]) not in over:
            found.append(f"{kind}: {line}")
    return found


# --- one recording, many analyses ------------------------------------------------------------------------

PROGRAM = test_opcodes.program("changing")
LEAVES = ("add", "less", "attribute", "store", "item", "unpack")  # the functions that changing.py observes


def code_table(data):
    (path,) = glob.glob(os.path.join(data, "codes-*.jsonl"))
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Recorded:
    """A recording of changing.py, what ocular-pt makes of it, and what its code tables say."""

    def __init__(self, python, folder):
        self.python = python
        self.data = test_opcodes.record(python, folder, [PROGRAM], *test_opcodes.filters(python))
        self.summary, self.callgrind = (os.path.join(folder, name) for name in ("summary.json", "callgrind.out"))
        self.recovered = test_opcodes.recover(self.data, f"summary={self.summary}", f"callgrind={self.callgrind}",
                                              "bridges=yes")
        with open(self.summary, encoding="utf-8") as file:
            self.summed = json.load(file)
        self.codes, self.names = {}, []
        self.eventless, self.passed = test_opcodes.special(self.data)
        for line in code_table(self.data):
            if line["kind"] == "header":
                self.names, able = line["opnames"], line["specializable"]
                self.able = {self.names[number] for number in able}
            if line["kind"] == "code" and line["file"] == PROGRAM:
                self.codes[line["qualname"]] = line
        heard = test_opcodes.between_marks(test_opcodes.heard(python, [PROGRAM])[0])
        self.truth = [row for row in heard if row[0] == "INSTRUCTION" and row[1] == PROGRAM and row[1:5] not in self.passed]

    def more(self, qualname=None):
        """Our instructions, as rows, that CPython has no event for, and those that it passes over mostly (NOT_TAKEN)."""
        return [row for rows in self.recovered.events.values() for row in test_opcodes.between_marks(rows)
                if row[0] == "INSTRUCTION" and row[1] == PROGRAM and qualname in (None, row[2])
                and row[1:5] in self.eventless | self.passed]

    def instructions(self, qualname):
        """{offset: (line, name, target)}"""
        return {row[0]: (row[1], self.names[row[2]], row[3]) for row in self.codes[qualname]["instructions"]}

    def line(self, qualname, offset):
        """The line as in exports: the function's if an instruction has none."""
        line = self.instructions(qualname)[int(offset)][0]
        return line if line > 0 else self.codes[qualname]["firstlineno"]


COUNTS = ("specialized", "base", "gained", "changed", "lost", "failed", "missed")


def turn(before, after, asked):
    """The name of the change from one form to another; forms are (name, is specialised)."""
    if asked and before[1] and after[1]:
        return "changed"
    if before[1] != after[1]:
        return "gained" if after[1] else "lost"
    return "failed" if asked else None


def observed(python, folder, recorded):
    """{(qualname, offset): Counter} of a plain run that looks at the code's bytes before and after each call.

    CPython's counter goes down when an instruction ran in its base form, or missed, and up when the specialiser has
    been asked.
    """
    path = os.path.join(folder, "observed.txt")
    done = recording.run([python, PROGRAM], env=test_opcodes.environment(OBSERVED=path))
    names = recording.run([python, "-c", "import dis; print(*dis._all_opname)"], env=test_opcodes.environment())
    names, found = names.stdout.split(), collections.defaultdict(collections.Counter)
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(path, encoding="utf-8") as file:
        for qualname, *both in map(str.split, file):
            before, after = map(bytes.fromhex, both)
            for offset, (_, base, _) in recorded.instructions(qualname).items():
                if base not in recorded.able or base == "RESUME":
                    continue
                form = [(names[code[offset]], names[code[offset]] != base) for code in (before, after)]
                counter = [int.from_bytes(code[offset + 2:offset + 4], "little") for code in (before, after)]
                asked = counter[1] > counter[0] or form[0] != form[1]
                count = found[qualname, offset]
                count["specialized" if form[1][1] else "base"] += 1
                count[turn(*form, asked)] += 1
                count["missed"] += asked and form[0][1]
                count["every miss"] += counter[1] != counter[0] and form[0][1]
    return found


def check_forms(recorded, folder):
    """How often each instruction ran specialised, and how it changed, according to CPython's own bytes, call by call."""
    truth, found = observed(recorded.python, folder, recorded), []
    forms = recorded.summed["forms"]
    ours = {(row["qualname"], row["offset"]): row for row in forms["instructions"] if row["file"] == PROGRAM}
    for where, wanted in truth.items():
        changed = wanted["missed"] or wanted["failed"] or wanted["lost"] or wanted["changed"] or wanted["gained"] > 1
        got = ours.get(where)
        if bool(got) != bool(changed):
            found.append(f"{where}: {got}, wanted {dict(wanted)}")
        elif got and [got[key] for key in COUNTS] != [wanted[key] for key in COUNTS]:
            found.append(f"{where}: {[got[key] for key in COUNTS]}, wanted {[wanted[key] for key in COUNTS]} {COUNTS}")
        elif got and sum(got["forms"].values()) != got["specialized"] + got["base"]:
            found.append(f"{where}: {got['forms']}")
    total = sum((wanted for wanted in truth.values()), collections.Counter())
    if min(total["missed"], total["changed"], 2 * total["failed"]) < 10 or total["every miss"] < 500:
        found.append(f"hardly anything changed: {total}")
    for key in COUNTS:
        if sum(bucket[key] for bucket in forms["buckets"]) != forms[key] or forms[key] < total[key]:
            found.append(f"{key}: {forms[key]} in all, {total[key]} in the program")
    if not 16 <= len(forms["buckets"]) <= 64:
        found.append(f"{len(forms['buckets'])} buckets")
    return found


def trips_of(recorded, qualname, head):
    """[[offset, ...]] of each trip of the loop at head, by the witness: from one arrival at head to the next."""
    offsets = [int(row[4]) for row in recorded.truth if row[2] == qualname]
    code = recorded.instructions(qualname)
    back = {offset for offset, (_, name, target) in code.items() if name.startswith("JUMP_BACKWARD") and target == head}
    trips, trip = [], None
    for offset, following in zip(offsets, offsets[1:] + [None]):
        if offset == head and trip is None:
            trip = []
        if trip is not None:
            trip.append(offset)
        if offset in back:
            trips.append(trip)
            trip = None
        elif following is not None and following > max(back):
            trip = None
    return trips


def lines_of(recorded, qualname, trip):
    code, lines = recorded.instructions(qualname), []
    for offset in trip:
        if not lines or lines[-1] != code[offset][0]:
            lines.append(code[offset][0])
    return tuple(lines)


def check_loops(recorded, folder):
    """Trips of nested loops, their paths by lines, and their bytecodes."""
    del folder
    loops = [loop for loop in recorded.summed["loops"] if loop["file"] == PROGRAM and loop["qualname"] == "paths"]
    found = [] if len(loops) == 2 else [f"{len(loops)} loops"]
    for loop in loops:
        trips = trips_of(recorded, "paths", loop["head_offset"])
        if loop["iterations"] != len(trips):
            found.append(f"line {loop['line']}: {loop['iterations']} trips, not {len(trips)}")
        wanted = collections.Counter(lines_of(recorded, "paths", trip) for trip in trips)
        got = collections.Counter()
        for row in loop["paths"]["rows"]:
            got[tuple(row["lines"])] += row["trips"]
        if max(map(len, wanted)) < 12 and (got != wanted or loop["paths"]["known"] != len(trips)):
            found.append(f"line {loop['line']}: ways {got}, not {wanted}")
    return found


def check_uops(recorded, folder):
    """Bytecodes of timed trips: all but the first of each entry."""
    del folder
    found = []
    for loop in recorded.summed["loops"]:
        if loop["file"] != PROGRAM or loop["qualname"] != "paths" or not loop["timed"]:
            continue
        trips = trips_of(recorded, "paths", loop["head_offset"])
        entries = loop["entries"]
        first = {0}  # where the head comes without a back-edge before it
        offsets = [int(row[4]) for row in recorded.truth if row[2] == "paths"]
        code = recorded.instructions("paths")
        number, after_jump = -1, False
        first = set()
        for offset in offsets:
            if offset == loop["head_offset"]:
                if not after_jump:
                    first.add(number + 1)
            after_jump = code[offset][1].startswith("JUMP_BACKWARD") and code[offset][2] == loop["head_offset"]
            number += after_jump
        timed = [len(trip) for i, trip in enumerate(trips) if i not in first]
        passed = sum(row[1:5] in recorded.passed for row in recorded.more("paths"))
        if len(timed) != loop["timed"] or not -1e-3 <= loop["uops"] * len(timed) - sum(timed) <= passed + 1e-3:
            found.append(f"line {loop['line']}: {loop['uops']} bytecodes in {loop['timed']} trips of {entries} entries, "
                         f"not {sum(timed) / len(timed)} in {len(timed)}")
    return found


def callgrind_counts(path):
    """({(file, function, address): n}, {(file, function, line): n}) of executed instructions, by the format."""
    by_address, by_line, files, functions = collections.Counter(), collections.Counter(), {}, {}
    called = False
    file = function = None
    with open(path, encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            if line.startswith(("fl=", "fn=")):
                number, _, name = line[3:].partition(" ")
                table = files if line.startswith("fl=") else functions
                table.setdefault(number, name)
                file, function = (table[number], function) if table is files else (file, table[number])
            elif line.startswith("calls="):
                called = True
            elif line[:1] in "0123456789" and line[:1]:
                at, number, *costs = line.split()
                if not called:
                    by_address[file, function, int(at, 16)] += int(costs[2])
                    by_line[file, function, int(number)] += int(costs[2])
                called = False
    return by_address, by_line


def check_callgrind(recorded, folder):
    """How often each line's instructions ran, in the callgrind file, is what the witness saw."""
    del folder
    wanted, found = collections.Counter(), []
    for _, file, qualname, first, offset in recorded.truth:
        if (file, qualname, first, offset) not in recorded.eventless:
            wanted[qualname, recorded.line(qualname, offset)] += 1
    by_address, by_line = callgrind_counts(recorded.callgrind)
    got = collections.Counter({(name.rpartition(":")[0], line): n for (file, name, line), n in by_line.items()
                               if file == PROGRAM})
    extra = collections.Counter()  # that CPython has no event for: by our own text
    for row in recorded.more():
        extra[row[2], recorded.line(row[2], row[4])] += 1
    for where in wanted.keys() | got.keys():
        if got[where] - extra[where] != wanted[where]:
            found.append(f"{where}: {got[where]} instructions, {extra[where]} of them without event, not {wanted[where]}")
    if len(wanted) < 40 or sum(wanted.values()) < 20000 or not by_address:
        found.append(f"hardly anything ran: {sum(wanted.values())} instructions of {len(wanted)} lines")
    return found[:5]


# --- a window of the timeline ------------------------------------------------------------------------------

def window_of(recorded, qualname):
    """Times, in ns, of the function's only activation."""
    with open(os.path.join(recorded.data, "events.txt"), encoding="utf-8", newline="\n") as lines:
        rows = [line.split("\t") for line in lines if f"\t{qualname}\t" in line]
    (begin,) = (int(row[0]) for row in rows if row[3] == "PY_START" and row[4] == PROGRAM)
    (end,) = (int(row[0]) for row in rows if row[3] == "PY_RETURN" and row[4] == PROGRAM)
    return begin, end


def timeline(recorded, path, begin, end):
    window = ",".join("@%d.%09d" % divmod(ns, 10**9) for ns in (begin, end))
    done = recording.run([test_opcodes.PT, f"perfetto={path}", "console=never", f"time={window}", recorded.data])
    if done.returncode:
        raise RuntimeError(done.stderr)


def fields(message):
    """[(field, value)] of a protobuf message: numbers, and bytes."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        key = varint()
        number = varint()
        if key & 7 == 2:
            found.append((key >> 3, message[at:at + number]))
            at += number
        else:
            found.append((key >> 3, number))
    return found


def packets(message):
    """TracePackets, those in compressed ones too (fields 1 and 50, perfetto's trace_packet.proto)."""
    for _, packet in fields(message):
        packed = dict(fields(packet)).get(50)
        if packed is None:
            yield packet
        else:
            yield from packets(zlib.decompress(packed))


def opcodes_of_pftrace(path):
    """[(name, function, offset, line, cycles, ns)] of slices of category "opcode" (track_event.proto)."""
    clocks, found, open_slice = collections.Counter(), [], {}
    with open(path, "rb") as file:
        for packet in packets(file.read()):
            members = dict(fields(packet))
            if 11 not in members:
                continue
            track, event = members[10], fields(members[11])
            clocks[track] += members[8] if 58 not in members else 0
            given = dict(event)
            if given.get(22) == b"opcode":
                annotations = [dict(fields(value)) for field, value in event if field == 4]
                values = {each.get(10, b"cycles").decode(): each.get(4, each.get(6)) for each in annotations}
                open_slice[track] = (given[23].decode(), values["function"].decode(), values["offset"], values["line"],
                                     values["cycles"], clocks[track])
            elif given.get(9) == 2 and track in open_slice:
                *slice_, begin = open_slice.pop(track)
                found.append((*slice_, clocks[track] - begin))
    return found


def opcodes_of_json(path):
    with open(path, encoding="utf-8") as file:
        events = [event for event in json.load(file) if event.get("cat") == "opcode"]
    return [(event["name"], *(event["args"][key] for key in ("function", "offset", "line", "cycles")),
             int(event["dur"] * 1000)) for event in events], events


def check_timeline(recorded, folder):
    """The instructions of a window, slice by slice: offsets as the witness saw them, names, lines and times."""
    begin, end = window_of(recorded, "paths")
    paths = [os.path.join(folder, "window" + suffix) for suffix in (".json", ".pftrace")]
    for path in paths:
        timeline(recorded, path, begin, end + 1)
    (by_json, events), by_pftrace = opcodes_of_json(paths[0]), opcodes_of_pftrace(paths[1])
    truth = [int(row[4]) for row in recorded.truth if row[2] == "paths"][:-1]  # the last one ends beyond the window
    eventless = {int(row[4]) for row in recorded.more("paths")}
    found = [] if len(truth) > 5000 else [f"hardly anything ran: {len(truth)}"]
    if [row[2] for row in by_json if row[2] not in eventless] != truth:
        found.append(f"{len(by_json)} slices, {len(truth)} instructions heard")
    if by_json != by_pftrace:
        found.append(f"{len(by_json)} slices in the JSON, {len(by_pftrace)} in the protobuf: "
                     f"{[pair for pair in zip(by_json, by_pftrace) if pair[0] != pair[1]][:2]}")
    code = recorded.instructions("paths")
    wrong = [row for row in by_json if row[1] != "paths" or row[3] != code[row[2]][0] or
             not row[0].removeprefix("INSTRUMENTED_").startswith(code[row[2]][1])]
    if wrong:
        found.append(f"name, function or line are not of that place: {wrong[:3]}")
    starts = [round(event["ts"] * 1000) for event in events]
    if any(now + row[5] != then for now, row, then in zip(starts, by_json, starts[1:])):
        found.append("a slice does not end where the next begins")
    if len({event["tid"] for event in events}) != 1 or events[0]["tid"] == events[0]["pid"]:
        found.append("they are on no line of their own")
    return found


ANALYSES = {"specialisation over time": check_forms, "ways through loops": check_loops, "bytecodes of a trip": check_uops,
            "callgrind, by line": check_callgrind, "timeline of a window": check_timeline}


def cases(python):
    version = recording.version(python)
    yield f"{version} a planted regression", check_fail_over, python


def main():
    options = recording.options()
    options.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    options = options.parse_args()
    recording.need_built()
    recording.need_qemu()
    with Plan() as plan:
        for python in recording.pythons(options):
            for name, function, *arguments in cases(python):
                if options.only in name:
                    with recording.scratch() as folder:
                        plan.case(name, function, *arguments, folder)
            with recording.scratch() as folder:
                recorded = Recorded(python, folder)
                for name, function in ANALYSES.items():
                    if options.only in name:
                        plan.case(f"{recording.version(python)} {name}", function, recorded, folder)


if __name__ == "__main__":
    main()
