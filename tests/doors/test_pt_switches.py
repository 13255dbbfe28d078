#!/usr/bin/env python3
"""CPU time in recordings with Intel PT: ocular-pt reads the kernel's switch records beside the trace.

Recordings are put together packet by packet (ptmade.py), with markers and switches at known times. How long each function
was on a CPU, and waited, then follows by subtraction.
"""

import os
import struct

import ptmade
import recording
from tap import Plan

PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
PID, TICK = 100, 10_000  # a step of the tables below, in TSC ticks
PREEMPTED = 1 << 14
LOST = 2
START, RETURN, JUMP = 4, 6, 15
HELLO = 1 << 59 | 0x4F434C << 28 | 2


def by_ocular_pt(folder, *arguments):
    done = recording.run([PT, *arguments, folder], env=recording.plain_environment())
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done


def ns_of(step):
    return ptmade.ns(int(step * TICK))


class Made:
    """A recording of what `steps` say: (time, CPU, thread, what). What is a marker, hello, +N and -N (function N is called,
    returns), loop N (its loop comes round again), or missing N: so many were lost; or a switch, out, preempted, in; or lost:
    the kernel dropped records."""

    def __init__(self, steps, switches=2, cpus=2, per_thread=False):
        self.setup = ptmade.Setup(ptmade.random.Random(1), cyc=0, mtc=0, fup_on_ptw=False, cpus=0 if per_thread else cpus,
                                  switches=0 if per_thread else switches)
        self.file, self.seq, self.per_thread, self.wide = ptmade.File(self.setup), {}, per_thread, switches == 3
        self.setup.switches = switches  # whether the event asks for them
        self.queues, self.sides = {}, []
        for tid in sorted({step[2] for step in steps}):
            self.file.comm(PID if tid < 900 else tid, tid)
        for step in steps:
            self.take(*step)
        for time, kind, body, tid, cpu, misc in self.sides:
            self.file.side(kind, body, PID if tid < 900 else tid, tid, time, cpu, misc)
        self.file.plain(ptmade.FINISHED_ROUND, b"")
        for i, ((cpu, tid), packets) in enumerate(sorted(self.queues.items())):
            self.file.auxtrace(i, tid, cpu, 0, 1_000_000, packets)

    def take(self, at, cpu, tid, what):
        if what in ("in", "out", "preempted", "lost"):
            self.switch(at, cpu, tid, what)
            return
        if what.startswith("missing"):
            self.seq[tid] += int(what.split()[1])
            return
        queue = (ptmade.ANY, tid) if self.per_thread else (cpu, ptmade.ANY)
        if queue not in self.queues:
            self.queues[queue] = ptmade.PSB + ptmade.tsc(TICK) + ptmade.cbr(21) + ptmade.PSBEND
        self.queues[queue] += ptmade.tsc(int(at * TICK)) + ptmade.ptw(self.word(tid, what))

    def switch(self, at, cpu, tid, what):
        misc = {"in": 0, "out": ptmade.SWITCH_OUT, "preempted": ptmade.SWITCH_OUT | PREEMPTED, "lost": 0}[what]
        kind = LOST if what == "lost" else ptmade.SWITCH_WIDE if self.wide else ptmade.SWITCH
        body = struct.pack("<QQ", ptmade.EVENT_ID, 3) if kind == LOST else struct.pack("<II", 0, 0) if self.wide else b""
        self.sides.append((ns_of(at), kind, body, tid, cpu, misc))

    def word(self, tid, what):
        seq = self.seq[tid] = self.seq.get(tid, -1) + 1
        if what == "hello":
            return HELLO | (seq & 127) << 52
        kind, number = (what.split() if " " in what else (what[0], what[1:]))
        op = {"+": START, "-": RETURN, "loop": JUMP}[kind]
        place = 20 << 8 | 256 - 10 if op == JUMP else 0
        return op << 59 | (seq & 127) << 52 | (100_000 + int(number)) << 28 | place

    def write(self, folder):
        self.file.write(os.path.join(folder, "perf.data"))
        with open(os.path.join(folder, f"codes-{PID}.jsonl"), "w", encoding="utf-8") as table:
            table.write(ptmade.code_table().replace('"ocular": 1', '"ocular": 1, "markers": 2'))

    def summary(self):
        with recording.scratch() as folder:
            self.write(folder)
            return recording.json.loads(by_ocular_pt(folder, "summary=-").stdout)

    def said(self, *arguments):
        with recording.scratch() as folder:
            self.write(folder)
            return by_ocular_pt(folder, *arguments).stderr


def ns(*spans):
    """The length of spans [from, to) of steps. One that is not a span is none."""
    return sum(ns_of(end) - ns_of(begin) for begin, end in spans)


def figures(summary):
    """{name: (CPU time, waiting)} of functions by name, loops as lN, threads by number, and of all."""
    found = {f["qualname"][-1]: (f["self_cpu_ns"], f["self_waiting_ns"]) for f in summary["functions"]}
    found |= {"l" + loop["qualname"][-1]: (loop["total_cpu_ns"], loop["total_waiting_ns"]) for loop in summary["loops"]}
    found |= {str(t["tid"]): (t["cpu_ns"], t["waiting_ns"]) for t in summary["threads"]}
    return found | {"all": (summary["trace"]["cpu_ns"], summary["trace"]["waiting_ns"])}


def of(steps, expected, **how):
    """Problems, unless the figures are these: by name, a list of spans on a CPU and one of waits; None: not known."""
    found = figures(Made(steps, **how).summary())
    expected = {name: (None, None) if spans is None else (ns(*spans[0]), ns(*spans[1])) for name, spans in expected.items()}
    return [f"{name}: {found.get(name)}, not {figure}" for name, figure in expected.items() if found.get(name) != figure]


def on_one_cpu(thread, cpu=0):
    """It comes to the CPU; hello at 1, f1 from 2 to 30."""
    return [(0.1, cpu, thread, "in"), (1, cpu, thread, "hello"), (2, cpu, thread, "+1")], [(30, cpu, thread, "-1")]


def merged(*parts):
    return sorted((step for part in parts for step in part), key=lambda step: step[0])


BEGIN, END = on_one_cpu(100)
# name: steps, what must be known, what else the recording has
CASES = {
    "it never leaves its CPU": (
        [*BEGIN, *END], {"1": ([(2, 30)], []), "100": ([(2, 30)], []), "all": ([(2, 30)], [])}, {}),
    "a wait, of its own will": (
        [*BEGIN, (10, 0, 100, "out"), (15, 0, 100, "in"), *END],
        {"1": ([(2, 10), (15, 30)], [(10, 15)]), "100": ([(2, 10), (15, 30)], [(10, 15)])}, {}),
    "it is preempted": (
        [*BEGIN, (10, 0, 100, "preempted"), (15, 0, 100, "in"), *END],
        {"1": ([(2, 10), (15, 30)], []), "all": ([(2, 10), (15, 30)], [])}, {}),
    "in a callee": (
        [*BEGIN, (5, 0, 100, "+2"), (8, 0, 100, "out"), (11, 0, 100, "in"), (12, 0, 100, "preempted"), (14, 0, 100, "in"),
         (20, 0, 100, "-2"), (22, 0, 100, "out"), (27, 0, 100, "in"), *END],
        {"2": ([(5, 8), (11, 12), (14, 20)], [(8, 11)]), "1": ([(2, 5), (20, 22), (27, 30)], [(22, 27)]),
         "all": ([(2, 8), (11, 12), (14, 22), (27, 30)], [(8, 11), (22, 27)])}, {}),
    "in a loop": (
        [*BEGIN, (5, 0, 100, "loop 1"), (6, 0, 100, "out"), (9, 0, 100, "in"), (10, 0, 100, "loop 1"), (12, 0, 100, "loop 1"), *END],
        {"l1": ([(5, 6), (9, 12)], [(6, 9)]), "1": ([(2, 6), (9, 30)], [(6, 9)])}, {}),
    "before the first marker and behind the last one": (
        [(0, 0, 100, "in"), (0.05, 0, 100, "out"), *BEGIN, (10, 0, 100, "out"), (15, 0, 100, "in"), *END,
         (33, 0, 100, "out"), (35, 0, 100, "in"), (36, 0, 100, "out")],
        {"1": ([(2, 10), (15, 30)], [(10, 15)]), "all": ([(2, 10), (15, 30)], [(10, 15)])}, {}),
    "between its HELLO and its first event": (
        [*BEGIN[:2], (1.2, 0, 100, "out"), (1.4, 0, 100, "in"), *BEGIN[2:], *END], {"1": ([(2, 30)], [])}, {}),
    "two threads on one CPU": (
        merged(*on_one_cpu(100), [(10, 0, 100, "preempted"), (10, 0, 101, "in"), (11, 0, 101, "hello"), (12, 0, 101, "+2"),
                                  (18, 0, 101, "out"), (18, 0, 100, "in"), (20, 0, 100, "preempted"), (20, 0, 101, "in"),
                                  (24, 0, 101, "-2"), (25, 0, 101, "out"), (25, 0, 100, "in")]),
        {"1": ([(2, 10), (18, 20), (25, 30)], []), "2": ([(12, 18), (20, 24)], [(18, 20)]),
         "100": ([(2, 10), (18, 20), (25, 30)], []), "101": ([(12, 18), (20, 24)], [(18, 20)]),
         "all": ([(2, 10), (18, 20), (25, 30), (12, 18), (20, 24)], [(18, 20)])}, {}),
    "it goes to another CPU": (
        [*BEGIN, (10, 0, 100, "preempted"), (13, 1, 100, "in"), (16, 1, 100, "+2"), (19, 1, 100, "out"), (21, 0, 100, "in"),
         (25, 0, 100, "-2"), *END],
        {"1": ([(2, 10), (13, 16), (25, 30)], []), "2": ([(16, 19), (21, 25)], [(19, 21)])}, {}),
    "both while it runs nowhere that is traced": (
        [*BEGIN, (10, 0, 100, "out"), (12, 1, 100, "in"), (14, 1, 100, "out"), (18, 0, 100, "in"), *END],
        {"1": ([(2, 10), (12, 14), (18, 30)], [(10, 12), (14, 18)])}, {}),
    "switches of a program without markers": (
        [*BEGIN, (10, 0, 100, "out"), (10, 0, 999, "in"), (12, 0, 999, "out"), (15, 0, 100, "in"), *END],
        {"1": ([(2, 10), (15, 30)], [(10, 15)]), "999": "none"}, {}),
    "between two words of which the first may be another program's": (
        [*BEGIN, (3, 0, 100, "missing 9"), (5, 0, 100, "+2"), (10, 0, 100, "out"), (15, 0, 100, "in"), (20, 0, 100, "-2"), *END],
        {"2": ([(5, 10), (15, 20)], [(10, 15)])}, {}),
    "the trace of a thread, not of a CPU": (
        [*BEGIN, (10, 0, 100, "out"), (15, 1, 100, "in"), *END], {"1": ([(2, 10), (15, 30)], [(10, 15)])}, {"per_thread": True}),
    "switches are lost": (
        [*BEGIN, (4, 0, 100, "+2"), (5, 0, 100, "out"), (6, 0, 100, "in"), (7, 0, 100, "-2"), (8, 0, 100, "+3"),
         (9, 0, 100, "out"), (10, 0, 100, "in"), (20, 0, 100, "lost"), (22, 0, 100, "-3"), (23, 0, 100, "+4"),
         (25, 0, 100, "out"), (26, 0, 100, "in"), (28, 0, 100, "-4"), *END],
        {"2": ([(4, 5), (6, 7)], [(5, 6)]), "3": None, "4": None, "1": None, "100": None, "all": None}, {}),
    "what ended between the last switch and the loss": (
        [*BEGIN, (4, 0, 100, "out"), (5, 0, 100, "in"), (6, 0, 100, "+2"), (7, 0, 100, "-2"), (20, 0, 100, "lost"), *END],
        {"1": None, "2": None}, {}),
    "switches are lost on another CPU": (
        [*BEGIN, (3, 0, 100, "+3"), (4, 0, 100, "-3"), (5, 1, 999, "in"), (6, 0, 100, "+2"), (7, 0, 100, "-2"),
         (9, 0, 100, "out"), (12, 0, 100, "in"), (20, 1, 998, "lost"), *END],
        {"1": None, "2": None, "3": ([(3, 4)], []), "100": None}, {}),
    "switches of a thread are lost, whose records have a buffer of their own": (
        merged(*on_one_cpu(100, 1), [(3, 1, 100, "+3"), (4, 1, 100, "-3"), (5, 1, 100, "out"), (6, 1, 100, "in"),
                                     (7, 1, 100, "+2"), (8, 1, 100, "-2"), (9, 1, 101, "in"), (20, 1, 100, "lost")]),
        {"1": None, "2": None, "3": ([(3, 4)], [])}, {"per_thread": True}),
    "switches are lost before the first": (
        [*BEGIN, (20, 0, 100, "lost"), (21, 0, 100, "out"), (22, 0, 100, "in"), *END], {"1": None, "100": None, "all": None}, {}),
}


def case(name):
    steps, expected, how = CASES[name]
    problems = []
    for switches in (2, 3):
        known = {key: spans for key, spans in expected.items() if spans != "none"}
        found = of(steps, known, switches=switches, **how)
        found += [f"{key} is there" for key in expected.keys() - known if key in figures(Made(steps, **how).summary())]
        problems += [f"switch records of kind {switches}: {line}" for line in found]
    said = Made(steps, **how).said("summary=/dev/null")
    if ("CPU times are not known" in said) != (None in expected.values()):
        problems.append(f"stderr: {said}")
    return problems


def kind_of(record):
    return struct.unpack_from("<I", record)[0]


WAITS = CASES["a wait, of its own will"][0]


def not_asked_for():
    """Without switch records only wall time is known."""
    return of([step for step in WAITS if step[3] not in ("in", "out")], {"1": None, "100": None, "all": None}, switches=0,
              per_thread=True)


def as_perf():
    """perf does not pass switches on to plugins: it knows no CPU time, and ocular-pt as_perf=yes tells the same."""
    with recording.scratch() as folder:
        Made(WAITS).write(folder)
        text, summary = os.path.join(folder, "events"), os.path.join(folder, "summary")
        recording.report(folder, f"events={text}", f"summary={summary}")
        done = by_ocular_pt(folder, "as_perf=yes", "events=-")
        problems = [] if done.stdout == open(text, encoding="utf-8").read() else [done.stdout]
        found = figures(recording.json.load(open(summary, encoding="utf-8")))
        problems += [] if found["1"] == (None, None) == found["all"] else [str(found)]
        done = recording.run([recording.WRAPPER, "report", folder, "--decoder", "both", "-q"])
        return problems + ([] if not done.returncode else [done.stderr])


def events():
    """The events text has them as it has those of rings, at their times."""
    with recording.scratch() as folder:
        Made(CASES["it goes to another CPU"][0]).write(folder)
        done = by_ocular_pt(folder, "events=-")
    found = [(int(row[0]), *map(int, row[7:9])) for row in (line.split("\t") for line in done.stdout.splitlines()) if len(row) > 8
             and row[3] == "EXTENSION"]
    switched_in = 1 << 47
    expected = [(1, switched_in), (10, 1 << 46), (13, switched_in | 1), (19, 1), (21, switched_in)]
    expected = [(ns_of(at), 5, payload) for at, payload in expected]
    return [] if found == expected else [f"{found}, not {expected}"]


def in_the_report():
    """It ranks by CPU time: a function that waits comes after one that is shorter, but runs."""
    steps = [*BEGIN, (3, 0, 100, "out"), (20, 0, 100, "in"), (21, 0, 100, "-1"),
             (22, 0, 100, "+2"), (30, 0, 100, "-2")]
    with recording.scratch() as folder:
        Made(steps).write(folder)
        text = recording.run([recording.WRAPPER, "report", folder]).stdout
    problems = [] if "waiting, 0 ns preempted" in text and "by self CPU time" in text else [text]
    return problems + ([] if 0 < text.find("f100002") < text.find("f100001") else [text])


def cut_short():
    """In a file that was cut, only what perf had read two rounds before is known."""
    made = Made([*BEGIN, (3, 0, 100, "+2"), (4, 0, 100, "out"), (5, 0, 100, "in"), (5.5, 0, 100, "-2"), (6, 0, 100, "out"),
                 (7, 0, 100, "in"), (8, 0, 100, "+3"), (9, 0, 100, "-3"), (11, 0, 100, "out"), (12, 0, 100, "in"), *END])
    *head, trace = [record for record in made.file.body if kind_of(record) not in (ptmade.SWITCH, ptmade.FINISHED_ROUND)]
    sides = [record for record in made.file.body if kind_of(record) == ptmade.SWITCH]
    done = [record for record in made.file.body if kind_of(record) == ptmade.FINISHED_ROUND]
    made.file.body = [*head, trace, *sides[:5], *done, sides[5], *done, sides[6]]
    with recording.scratch() as folder:
        made.write(folder)
        path = os.path.join(folder, "perf.data")
        os.truncate(path, os.path.getsize(path) - 8)
        done = by_ocular_pt(folder, "summary=-")
    found = figures(recording.json.loads(done.stdout))
    problems = [] if "was cut" in done.stderr and "CPU times are not known" in done.stderr else [done.stderr]
    expected = {"2": (ns((3, 4), (5, 5.5)), ns((4, 5))), "3": (None, None), "1": (None, None), "100": (None, None)}
    return problems + [f"{name}: {found[name]}, not {figure}" for name, figure in expected.items() if found[name] != figure]


def add_up():
    """Made at random, with overflows and words of a wrong thread: CPU times add up, and none is more than its time."""
    problems = []
    for seed in range(8):
        with recording.scratch() as folder:
            ptmade.cpus(seed, count=1000, faults=seed % 2 / 20).write(os.path.join(folder, "perf.data"))
            with open(os.path.join(folder, f"codes-{PID}.jsonl"), "w", encoding="utf-8") as table:
                table.write(ptmade.code_table())
            summary = recording.json.loads(by_ocular_pt(folder, "summary=-").stdout)
        trace, functions = summary["trace"], summary["functions"]
        for key in ("cpu_ns", "waiting_ns"):
            of_all = sum(f["self_" + key] for f in functions) + trace["outside_" + key]
            if not of_all == trace[key] == sum(t[key] for t in summary["threads"]) > 0:
                problems.append(f"seed {seed}: {key}: {of_all} of functions, {trace[key]} of all")
        problems += [f"seed {seed}: {f['qualname']}" for f in functions for of in ("self", "total")
                     if min(f[of + "_cpu_ns"], f[of + "_waiting_ns"]) < 0
                     or f[of + "_cpu_ns"] + f[of + "_waiting_ns"] > f[of + "_ns"]]
    return problems


def main():
    recording.need_built()
    with Plan() as plan:
        for name in CASES:
            plan.case(name, case, name)
        for function in (not_asked_for, as_perf, events, in_the_report, cut_short, add_up):
            plan.case((function.__doc__ or "").split("\n")[0], function)


if __name__ == "__main__":
    main()
