#!/usr/bin/env python3
"""Compares two event texts, one by one and in order in each thread: Ocular's and the witness's.

    compare.py OCULAR.txt TRUTH.txt...

How the streams of a (pid, tid) are aligned:
- The witness calls `begin` when it has begun in an interpreter and `end` before it ends; both tools see the
  calls. Everything between must be equal, whatever it is: the program, the library, the import system.
- Ocular begins first. From its own first event in an interpreter up to `begin` there is nothing to compare
  with: dropped.
- Events in the witness's, its hook's and Ocular's own files are dropped on both sides.
- Threads and forked processes that start while both tools are at work are compared from their first event;
  what the process's main thread does after `end` is Ocular's own stop.
A GAP or FOREIGN line never equals anything.

Times: both tools are called for one event one after the other, so an event's time in Ocular must lie
between the witness's times of the event before and the event after, give or take CLOCK_ERROR_NS.
"""

import collections
import sys

HEADER = "# ocular events 1"
CLOCK_ERROR_NS = 1_000_000  # what the TSC's calibration may be wrong by in one run

Event = collections.namedtuple("Event", "event file qualname firstlineno where destination time")


class Owner:
    """Whose file is it? `witness` and `ocular` are folders, with the columns' escapes."""

    def __init__(self, witness, ocular):
        self.witness = tuple(f.rstrip("/") + "/" for f in witness)
        self.ocular = tuple(f.rstrip("/") + "/" for f in ocular)

    def owns(self, event):
        return event.file.startswith(self.witness) or event.file.startswith(self.ocular)

    def mark(self, event):
        """`begin`, `end`, or None."""
        if event.event == "PY_START" and event.qualname in ("begin", "end") and event.file.startswith(self.witness):
            return event.qualname
        return None


def read(lines):
    """{(pid, tid): [Event]}; ValueError names the first line that is not an event."""
    streams = collections.defaultdict(list)
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        fields = line.rstrip("\n").split("\t")
        if len(fields) != 9:
            raise ValueError(f"line {number} has {len(fields)} fields: {line!r}")
        time, pid, tid, *what = fields
        streams[int(pid), int(tid)].append(Event(*what, int(time)))
    return streams


def read_ocular(lines):
    lines = iter(lines)
    if next(lines, "").rstrip("\n") != HEADER:
        raise ValueError(f"first line is not {HEADER!r}")
    return read(lines)


def comparable(events, owner):
    """What is left of a stream after the rules above."""
    kept, setting_up, ending = [], False, False
    for event in events:
        mark = owner.mark(event)
        if mark:
            kept.append(event)
            setting_up, ending = False, mark == "end"
        elif owner.owns(event):
            setting_up = setting_up or not ending and event.file.startswith(owner.ocular)
        elif not setting_up:
            kept.append(event)
            ending = False
    return kept


def same(ours, truth):
    return ours[:-1] == truth[:-1]


def show(event):
    return " ".join(event[:-1]) if event else "(the stream ends here)"


def context(ours, truth, at):
    """The lines around the first difference, as a list of strings."""
    lines = [f"    {i:>7}   {show(truth[i])}" for i in range(max(0, at - 4), at)]
    for i in range(at, at + 3):
        lines.append(f"    {i:>7} ocular {show(ours[i] if i < len(ours) else None)}")
        lines.append(f"    {i:>7} truth  {show(truth[i] if i < len(truth) else None)}")
    return lines


def compare_events(ours, truth):
    """[] or the first difference as lines."""
    common = min(len(ours), len(truth))
    at = next((i for i in range(common) if not same(ours[i], truth[i])), common)
    if at == len(ours) == len(truth):
        return []
    return [f"event {at} of {len(truth)} differs (ocular has {len(ours)})", *context(ours, truth, at)]


def compare_times(ours, truth):
    """[] or the first event whose time is not between its neighbours' in the truth."""
    for i, event in enumerate(ours):
        early = i and truth[i - 1].time - CLOCK_ERROR_NS > event.time
        late = i + 1 < len(truth) and truth[i + 1].time + CLOCK_ERROR_NS < event.time
        if early or late:
            return [f"event {i} is {'early' if early else 'late'} by the witness's clock: "
                    f"{event.time} against {truth[i].time}: {show(event)}"]
    return []


def compare(ours, truth, owner):
    """[] when all streams agree; else lines that say where the first difference of each stream is."""
    found = []
    for key in sorted(ours.keys() | truth.keys()):
        a, b = (comparable(side.get(key, ()), owner) for side in (ours, truth))
        difference = compare_events(a, b) or compare_times(a, b)
        if difference:
            found += [f"pid {key[0]} tid {key[1]}: {difference[0]}", *difference[1:]]
    return found


def main(argv):
    if len(argv) < 3:
        sys.exit(__doc__)
    import recording
    with open(argv[1], encoding="utf-8", newline="\n") as file:
        ours = read_ocular(file)
    found = compare(ours, recording.read_truth(argv[2:]), recording.owner())
    print("\n".join(found) or "equal")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv)
