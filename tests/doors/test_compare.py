#!/usr/bin/env python3
"""The comparer must be able to fail: one event dropped, added, swapped or changed is noticed.

A real program's events, written by the witness alone, are compared with a copy of themselves: equal. Then
each kind of damage is done to one event of the copy, at several places, and must be found where it is.
"""

import os
import random

import compare
import recording
from tap import Plan

PLACES = 12  # events tried for each kind of damage


def drop(events, i):
    del events[i]


def double(events, i):
    events.insert(i, events[i])


def swap(events, i):
    """Swapped with the next event that differs."""
    j = next(j for j in range(i + 1, len(events)) if not compare.same(events[i], events[j]))
    events[i], events[j] = events[j], events[i]


def cut(events, i):
    del events[i:]


def changed(field, value):
    def change(events, i):
        events[i] = events[i]._replace(**{field: value})
    return change


DAMAGE = {
    "drop": drop, "double": double, "swap": swap, "cut": cut,
    "event": changed("event", "PY_THROW"),
    "file": changed("file", "other.py"),
    "qualname": changed("qualname", "other"),
    "first line": changed("firstlineno", "99999"),
    "offset": changed("where", "99999"),
    "destination": changed("destination", "99999"),
    "an object": lambda events, i: events.__setitem__(i, events[i]._replace(object="99999")),
    "gap": changed("event", "GAP"),
    "time": changed("time", 1),
}


def witnessed(python, folder, program, mode):
    environment = recording.plain_environment(PYTHONPATH=recording.WITNESS_HOOK, TRUTH_DIR=folder, TRUTH_MODE=mode)
    recording.run([python, os.path.join(recording.PROGRAMS, program)], env=environment, cwd=folder)
    return recording.truth(folder)


def unnoticed(truth, key, damage, owner):
    """Places where damage to the stream `key` went unnoticed."""
    stream = compare.aligned(truth[key], truth[key], owner)[0]
    found = []
    for i in random.Random(1).sample(range(1, len(stream) - 20), PLACES):
        copy = list(stream)
        damage(copy, i)
        if not compare.compare({**truth, key: copy}, truth, owner):
            found.append(f"unnoticed at event {i}: {compare.show(stream[i])}")
    return found


def lost_stream(truth, owner):
    return [f"stream {key} missing unnoticed" for key in truth
            if not compare.compare({k: v for k, v in truth.items() if k != key}, truth, owner)]


def start_up(truth, key, owner):
    """What Ocular alone sees before `begin` must not count; what comes after must, and what is lost before."""
    ours = list(truth[key])
    begin = next(i for i, event in enumerate(ours) if owner.mark(event) == "begin")
    before = [event for event in ours[begin:] if not owner.owned[event.file]][:3]
    extra = [event._replace(qualname="found") for event in before]
    other = [ours[begin]._replace(time=0)]  # as in a thread that goes on into a sub-interpreter
    wanted = {**truth, key: before + other + ours[begin + 1:]}
    cases = {"start-up counted": before + extra + other + ours[begin + 1:],
             "lost before `begin`": before[1:] + extra + other + ours[begin + 1:],
             "added after `begin`": before + other + extra + ours[begin + 1:]}
    found = {name: bool(compare.compare_events(*compare.aligned(case, wanted[key], owner)))
             for name, case in cases.items()}
    return [name for name in found if found[name] != (name != "start-up counted")]


def lives_on(truth, key, owner):
    """A process may end where the recording ended, with a GAP or without one, but only if it did live on.

    It must have begun, too, if it is older than that end.
    """
    def differs(later, damage, first=None):
        """Shifts the child's events by this much; the first half may get another shift."""
        half = len(truth[key]) // 2
        wanted = [event._replace(time=event.time + (later if first is None or i >= half else first))
                  for i, event in enumerate(truth[key])]
        ours = list(wanted)
        damage(ours)
        return bool(compare.compare({**truth, (1, 1): ours}, {**truth, (1, 1): wanted}, owner))

    def cut_at_gap(events):
        events[-100:] = [events[-100]._replace(event="GAP")]

    def cut_without_gap(events):
        del events[-100:]

    def cut_and_changed(events):
        cut_at_gap(events)
        events[-50] = events[-50]._replace(where="99999")

    day = 86_400_000_000_000
    cases = {"lived on, cut": not differs(day, cut_at_gap), "ended, cut": differs(0, cut_at_gap),
             "lived on, cut, no GAP": not differs(day, cut_without_gap), "ended, cut, no GAP": differs(0, cut_without_gap),
             "lived on, cut and changed": differs(day, cut_and_changed),
             "lived on, nothing there": differs(day, list.clear, 0), "began afterwards": not differs(day, list.clear)}
    return [name for name, right in cases.items() if not right]


def unread(truth, owner):
    """What is left out unread is of a start-up: no verdict depends on it, and whatever is too much is found."""
    key, first, at = next((key, events, i) for key, events in truth.items()
                          for i, event in enumerate(events) if owner.mark(event) == "begin")
    of_start_up = [first[at]._replace(file="lib.py", qualname=f"f{i}") for i in range(100)]

    def lines(ours):
        return [compare.HEADER, *(f"{event.time}\t{pid}\t{tid}\t" + "\t".join(event[:compare.EQUAL] + event[compare.EQUAL + 1:])
                                  for (pid, tid), events in ours.items() for event in events)]

    def read(ours):
        kept = list(compare.needed(lines(ours), truth, owner))
        return len(kept), bool(compare.compare(compare.read_ocular(kept), truth, owner))

    whole = {**truth, key: of_start_up + first}
    own = [first[at]._replace(file=owner.folders[1] + "callback.py")] * 100
    among = {**truth, key: [*first[:at + 1], *own, *first[at + 1:]]}
    late = {**truth, key: [*first[:at + 1], *of_start_up, *first[at + 1:]]}
    never = {**truth, key: of_start_up + first[at + 1:]}
    unknown = {**truth, (1, 1): of_start_up}
    most = len(lines(truth)) + 10
    found = [f"{name}: {kept} lines of {most}, differs: {differs}" for name, ours, wrong in (
        ("a start-up", whole, False), ("the tools' own files", among, False), ("more behind the start-up", late, True),
        ("no begin", never, True)) for kept, differs in [read(ours)] if kept > most or differs != wrong]
    return found + ["an unknown thread is left out"] * (not read(unknown)[1])


def malformed():
    bad = (["1\t2\n"], ["# ocular events 2\n"], [], [compare.HEADER + "\n", "x\t1\t1\ta\tb\tc\t1\t2\t\n"])
    accepted = []
    for lines in bad:
        try:
            compare.read_ocular(lines)
            accepted.append(f"accepted: {lines}")
        except ValueError:
            pass
    return accepted


def main():
    python, owner = recording.pythons()[0], recording.owner()
    with Plan() as plan, recording.scratch() as folder:
        truth = witnessed(python, folder, "threads.py", "lines")
        longest = max(truth, key=lambda key: len(truth[key]))
        plan.result("nine threads witnessed", [] if len(truth) == 9 else [f"{len(truth)} streams"])
        plan.case("equal to itself", compare.compare, truth, truth, owner)
        for name, damage in DAMAGE.items():
            plan.case(f"notices: {name}", unnoticed, truth, longest, damage, owner)
        plan.case("notices: a stream lost", lost_stream, truth, owner)
        plan.case("start-up is not compared", start_up, truth, longest, owner)
        plan.case("what is left out unread", unread, truth, owner)
        plan.case("a process that lives on", lives_on, truth, longest, owner)
        plan.case("refuses what is no events text", malformed)


if __name__ == "__main__":
    main()
