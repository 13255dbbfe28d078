#!/usr/bin/env python3
"""The PYPYLOG of loops, read by the rules of PyPy's log parser, against the shares in the report.

    test_pypylog.py [--python PY]...

The time between the sections, without what came after each loop's last back-edge, adds up to each loop's own
share. PyPy's parser itself needs Python 2; the rules here are strictly its own.
"""

import collections
import json
import os
import re

import recording
from tap import Plan

PROGRAM = """
import threading

def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total

def tail():
    for i in range(3):
        if i == 2:
            inner(9)        # in the last trip of this loop, which no back-edge ends
            break

def outer(n):
    for i in range(n):
        inner(i)
        tail()
        j = 0
        while j < i:
            j += 1
            if j == 5:
                break
    for i in range(n):
        pass

def tree(depth):
    for i in range(3):
        if depth:
            tree(depth - 1)

def numbers(n):
    for i in range(n):
        for j in range(3):
            pass
        yield i

def work():
    outer(12)
    tree(4)
    for n in numbers(5):
        for _ in range(n):
            inner(n)

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

START = re.compile(r"\[([0-9a-f]+)\] \{([\w-]+)$")
STOP = re.compile(r"\[([0-9a-f]+)\] ([\w-]+)\}$")
Section = collections.namedtuple("Section", "name start stop lines")


def parse(path):
    """The sections of a log; anything that PyPy's parser would not accept, or a line outside, is an error."""
    sections, now = [], None
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            line = line.rstrip("\n")
            start, stop = START.match(line), STOP.match(line)
            if start:
                assert now is None, f"{line} in {now}"
                now = Section(start[2], int(start[1], 16), None, [])
            elif stop:
                assert now and now.name == stop[2], f"{line} ends {now}"
                sections.append(now._replace(stop=int(stop[1], 16)))
                now = None
            else:
                assert now, f"outside of sections: {line}"
                now.lines.append(line)
    assert now is None, f"{now} has no end"
    return sections


class Thread:
    """What a thread was in, from the sections in their order. A loop that is entered anew is a new object."""

    def __init__(self):
        self.open, self.segments, self.since = [], [], None

    def passed(self, now):
        assert self.since is None or now >= self.since, "time runs backwards"
        if self.open:
            self.segments.append([self.open[-1], self.since, now])
        self.since = now

    def left(self, name, at):
        """The time after the last back-edge belongs to the enclosing loop."""
        loop = self.open.pop()
        assert loop[0] == name, f"left {name} while in {loop[0]}"
        around = self.open[-1] if self.open else None
        for segment in [s for s in self.segments if s[0] is loop and s[2] > at]:
            if segment[1] < at:
                self.segments.append([around, at, segment[2]])
                segment[2] = at
            else:
                segment[0] = around

    def section(self, section):
        name, _, *rest = section.lines
        self.passed(section.start)
        again, resumed = (rest[:1] == [word] for word in ("again", "resumed"))
        for line in rest[again or resumed:]:
            _, loop, _, at = line.split(" ")
            self.left(loop, int(at, 16))
        if section.name == "jit-profile-exit":
            assert not self.open, f"exit into {self.open}"
        elif again:
            assert self.open[-1][0] == name, f"again in {name}, but it is {self.open[-1]}"
        else:
            self.open.append([name])


def own_times(sections):
    threads = collections.defaultdict(Thread)
    for section in sections:
        if section.name == "jit-profile-bridge":
            continue
        threads[section.lines[1]].section(section)
    times = collections.Counter()
    for thread in threads.values():
        assert not thread.open, f"never left: {thread.open}"
        for loop, start, stop in thread.segments:
            if loop:
                times[loop[0]] += stop - start
    return times


def record(python, mode, folder, also=""):
    """(sections but the last, {loopN: its fields}, summary) of a run."""
    data, log = os.path.join(folder, "data"), os.path.join(folder, "log")
    done = recording.record(data, [python, "-c", PROGRAM], recording.traced_environment(mode, OCULAR_ALSO=also))
    if done.returncode:
        raise RuntimeError(done.stderr)
    recording.report(data, f"pypylog={log}")
    *sections, table = parse(log)
    assert table.name == "jit-profile-loops", table.name
    loops = {line.split(" ")[0]: dict(re.findall(r" (\w+)=(\S+)", line)) for line in table.lines}
    return sections, loops, recording.summary(data)


def entered(sections):
    return collections.Counter(section.lines[0] for section in sections if section.name == "jit-profile-enter"
                               and not {"again", "resumed"} & {*section.lines})


def check_resumed(python, mode, folder):
    """A trip in which a generator was suspended is not in the log; but its loop is, from then on, and it is no new entry."""
    sections, loops, _ = record(python, mode, folder)
    times, found = own_times(sections), entered(sections)
    wanted = {name: int(row["entries"]) for name, row in loops.items()}
    resumed = sum("resumed" in section.lines for section in sections)
    problems = [] if found == wanted else [f"entered {found}, wanted {wanted}"]
    return problems + ([] if resumed and times else [f"{resumed} resumed, {times}"])


def check(python, mode, folder):
    sections, loops, summary = record(python, mode, folder, "no_identity")
    traced = summary["trace"]["traced_ns"]
    found = own_times(sections)
    problems = [f"{name}: {found[name]} ns in the log, {float(row['own']) * traced} told" for name, row in loops.items()
                if abs(found[name] - float(row["own"]) * traced) > 1e-9 * traced + 1]
    told = sorted((row["share"], row["own_share"], row["iterations"], row["entries"]) for row in summary["loops"])
    logged = sorted((float(row["share"]), float(row["own"]), int(row["trips"]), int(row["entries"]))
                    for row in loops.values())
    if [row[2:] for row in told] != [row[2:] for row in logged]:
        problems.append(f"loops: {logged}, the summary has {told}")
    if any(own > share + 1e-9 for share, own, *_ in told):
        problems.append(f"more of its own than all: {told}")
    if sum(row[1] for row in told) > 1 + 1e-9:
        problems.append(f"more than the whole: {told}")
    wanted, found = {name: int(row["entries"]) for name, row in loops.items()}, entered(sections)
    return problems + ([] if found == wanted else [f"entered {found}, wanted {wanted}"])


WAYS = """
def f(n):
    a = b = c = 0
    for i in range(n):
        if i % 3 == 0:
            a += 1
        elif i % 7 == 0:
            b += 1
            continue
        else:
            for j in range(i % 3):
                c += j
        try:
            if i == 50:
                raise ValueError
        except ValueError:
            c += 1
    return a, b, c

f(100)
"""


def ways_of(n):
    """{lines: trips} of the outer loop of WAYS, by what the program says; the lines in the order they are reached."""
    ways = collections.Counter()
    for i in range(n):
        if i % 3 == 0:
            way = 4, 5, 6, 13, 14
        elif i % 7 == 0:
            way = 4, 5, 7, 8, 9
        else:
            way = 4, 5, 7, 11, 13, 14
        ways[way + (15, 16, 17) * (i == 50)] += 1
    return dict(ways)


def check_bridges(python, mode, folder):
    """How many trips took which path; what other trips of the inner loop ran is not part of the outer one's path."""
    data, log = os.path.join(folder, "data"), os.path.join(folder, "log")
    program = os.path.join(folder, "ways.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(WAYS)
    recording.record(data, [python, program], recording.traced_environment(mode, OCULAR_INCLUDE="ways.py"))
    path = os.path.join(folder, "summary.json")
    console = recording.report(data, f"pypylog={log}", f"summary={path}", "bridges=yes", "console=always")
    with open(path, encoding="utf-8") as file:
        outer, inner = sorted(json.load(file)["loops"], key=lambda row: row["line"])
    if mode == "adaptive":
        told = "paths through the body are not known" in console
        return [] if told and outer["paths"] is None else [f"told: {told}; {outer['paths']}"]
    found = {tuple(row["lines"]): row["trips"] for row in outer["paths"]["rows"]}
    within = {tuple(row["lines"]): row["trips"] for row in inner["paths"]["rows"]}
    bridges = sum(section.name == "jit-profile-bridge" for section in parse(log))
    problems = [] if found == ways_of(100) else [f"ways {found}", f"wanted {ways_of(100)}"]
    wanted = {(11, 12): sum(i % 3 for i in range(100) if i % 3 and i % 7)}
    problems += [] if within == wanted else [f"inner {within}, wanted {wanted}"]
    first = next(iter(ways_of(100).values()))  # of the first trip: the loop itself, all others are bridges
    return problems + ([] if bridges == 100 - first else [f"{bridges} bridges in the log, wanted {100 - first}"])


def main():
    pythons = recording.pythons()
    recording.need_built()
    with Plan() as plan:
        for python in pythons:
            for mode in ("adaptive", "precise", "full"):
                with recording.scratch() as folder:
                    plan.case(f"{recording.version(python)} {mode}, ways through a loop", check_bridges, python, mode,
                              folder)
            for mode in ("adaptive", "precise"):
                with recording.scratch() as folder:
                    plan.case(f"{recording.version(python)} {mode}, own times from the log", check, python, mode, folder)
                with recording.scratch() as folder:
                    plan.case(f"{recording.version(python)} {mode}, resumed loops", check_resumed, python, mode, folder)


if __name__ == "__main__":
    main()
