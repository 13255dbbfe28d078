#!/usr/bin/env python3
"""Compares two event texts, one by one and in order in each thread: Ocular's and the witness's.

    compare.py OCULAR.txt TRUTH.txt...

How the streams of a (pid, tid) are aligned:
- Events in the witness's, its hook's and Ocular's own files are dropped on both sides.
- The witness calls `begin` when it has begun in an interpreter and `end` before it ends; both tools see the
  calls. They cut a stream into parts that must be equal, whatever is in them: the program, the library, the
  import system.
- Ocular begins first in an interpreter. A part that ends with `begin` must begin with what the witness saw
  (in a sub-interpreter: what went before in the same thread); the rest of it is what Ocular alone saw of the
  start-up, and is dropped.
- Threads and forked processes that start while both tools are at work are compared from their first event.
A GAP or FOREIGN line never equals anything, with one exception: the recording ends with the program it began
with, so a process that lives on (multiprocessing's resource tracker) is compared up to where its events end,
with or without a GAP. One at least must be there if it began before.

Objects: which generator, coroutine or asynchronous generator an event is of is a number in both, but not the same one: each of the
witness's must be one of Ocular's in that process, and no other one.

Times: both tools are called for one event one after the other, so an event's time in Ocular must lie
between the witness's times of the event before and the event after, give or take CLOCK_ERROR_NS.
"""

import collections
import functools
import itertools
import sys

HEADER = "# ocular events 1"
CLOCK_ERROR_NS = 1_000_000  # the maximum error of the TSC's calibration in one run

Event = collections.namedtuple("Event", "event file qualname firstlineno where destination callee time object")
EQUAL = Event._fields.index("time")  # the columns before it
FILE = Event._fields.index("file")
BLOCK = 256  # lines that are looked at together
new = functools.partial(tuple.__new__, Event)


class Owned(dict):
    """file: is it in one of the folders? Each is asked about a hundred thousand times."""

    def __init__(self, folders):
        super().__init__()
        self.folders = folders

    def __missing__(self, file):
        owned = self[file] = file.startswith(self.folders)
        return owned


class Owner:
    """The files that are not the program's: `folders` with the columns' escapes; the witness's is the first."""

    def __init__(self, *folders):
        self.folders = tuple(folder.rstrip("/") + "/" for folder in folders)
        self.owned = Owned(self.folders)

    def mark(self, event):
        """`begin`, `end`, or None."""
        return event.qualname if self.is_mark(event.event, event.file, event.qualname) else None

    def is_mark(self, event, file, qualname):
        return event == "PY_START" and qualname in ("begin", "end") and file.startswith(self.folders[0])


def columns_of(text, number, line):
    """(pid, tid), the columns before the time, the object: of what a line has behind its time. None: no event."""
    fields = text.rstrip("\n").split("\t")
    if len(fields) not in (8, 9, 10, 11):
        raise ValueError(f"line {number} has {len(fields) + 1} fields: {line!r}")
    if fields[2] == "EXTENSION":  # when, and how long, the thread was on a CPU
        return None
    callee, number = (fields[8:10] + ["", ""])[:2]
    return (int(fields[0]), int(fields[1])), (*fields[2:8], callee), number


def read(lines):
    """{(pid, tid): [Event]}; ValueError names the first line that is not an event."""
    streams, known = collections.defaultdict(list), {}
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        time, _, text = line.partition("\t")
        # There are a hundred thousand of one program, and most of them are equal but for their time.
        if text not in known:
            known[text] = columns_of(text, number, line)
        if known[text]:
            thread, columns, which = known[text]
            streams[thread].append(new((*columns, int(time), which)))  # Event(...) takes twice as long
    return dict(streams)


def read_ocular(lines):
    lines = iter(lines)
    if next(lines, "").rstrip("\n") != HEADER:
        raise ValueError(f"first line is not {HEADER!r}")
    return read(lines)


def parts(events, owner):
    """A stream without what is not the program's, cut after each mark."""
    cut = [[]]
    for event in events:
        if not owner.owned[event[FILE]]:
            cut[-1].append(event)
        elif owner.mark(event):
            cut[-1].append(event)
            cut.append([])
    return cut


def needed(lines, truth, owner):
    """Ocular's lines without those that no comparison needs: when a part has as many events as the truth's and a few to
    show, that is enough. Nearly all of the others are of a start-up, and to read them takes longer than all else.
    """
    rooms = {(str(pid), str(tid)): iter([len(part) + 4 for part in parts(events, owner)])
             for (pid, tid), events in truth.items()}
    left = {thread: next(room) for thread, room in rooms.items()}
    known = {}  # like that of read()
    full = None  # the columns of a thread that has nothing left, which most lines of a start-up are of
    lines = iter(lines)
    while block := list(itertools.islice(lines, BLOCK)):
        if full and are_of(full, block):
            continue
        for line in block:
            text = line[line.find("\t") + 1:]
            if text not in known:
                known[text] = place_of(text, owner)
            thread, is_mark, is_needed = known[text]
            if is_mark:
                full = None
                if thread in left:
                    left[thread] = next(rooms[thread], 4)
            elif thread in left:
                if not left[thread]:
                    full = full or "\t".join(("", *thread, ""))
                    continue
                if not is_needed:
                    continue
                left[thread] -= 1
            yield line


def are_of(thread, block):
    """Are all lines of the thread with these columns, none a mark? A place with the same two numbers counts as one more."""
    text = "".join(block)
    return text.count(thread) == len(block) and "\tbegin\t" not in text and "\tend\t" not in text


def place_of(text, owner):
    """Of what a line has behind its time: (pid, tid); is it a mark; is it an event of the program?"""
    if text.startswith("#"):
        return None, False, False
    pid, tid, event, file, qualname = text.split("\t", 5)[:5]
    owned = owner.owned[file]
    return (pid, tid), owned and owner.is_mark(event, file, qualname), not owned and event != "EXTENSION"


def aligned(ours, truth, owner):
    """Both streams without what the rules above leave out."""
    kept, wanted = [], []
    for a, b in itertools.zip_longest(parts(ours, owner), parts(truth, owner), fillvalue=[]):
        if b and a and owner.mark(a[-1]) == "begin":
            a = a[:min(len(a), len(b)) - 1] + a[-1:]
        elif b and owner.mark(b[-1]) == "begin":
            a = a[:len(b) - 1]  # cut off while starting up
        kept += a
        wanted += b
    return kept, wanted


def same(ours, truth):
    return ours[:EQUAL] == truth[:EQUAL]


def show(event):
    return " ".join(event[:EQUAL]) if event else "(the stream ends here)"


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


class Objects:
    """Which number of Ocular's is which of the witness's; how many events were compared, and right; of resumptions the same."""

    def __init__(self):
        self.theirs, self.ours = {}, {}  # (pid, number) -> number
        self.events, self.resumptions, self.problems = [0, 0], [0, 0], []

    def add(self, pid, mine, wanted):
        """Of one event, the number that each has; "": none."""
        right = bool(mine.object and wanted.object
                     and self.ours.setdefault((pid, wanted.object), mine.object) == mine.object
                     and self.theirs.setdefault((pid, mine.object), wanted.object) == wanted.object)
        for counts in (self.events, self.resumptions)[:1 + (wanted.event in ("PY_RESUME", "PY_THROW"))]:
            counts[0] += 1
            counts[1] += right
        if not right:
            self.problems.append(f"pid {pid}: the witness's object {wanted.object or 'none'} is {mine.object or 'none'}, not "
                                 f"{self.ours.get((pid, wanted.object))}, which is {self.theirs.get((pid, mine.object))}: {show(wanted)}")


def pairs(ours, truth, owner):
    """{(pid, tid): both streams aligned}"""
    return {key: aligned(ours.get(key, ()), truth.get(key, ()), owner) for key in sorted(ours.keys() | truth.keys())}


def compare_objects(pairs):
    """Of streams that are equal otherwise."""
    found = Objects()
    for (pid, _), (ours, truth) in pairs.items():
        for mine, wanted in zip(ours, truth):
            if mine.object or wanted.object:
                found.add(pid, mine, wanted)
    return found


def end_of_program(truth):
    """When the process that began first was seen last."""
    first = min(truth, key=lambda key: truth[key][0].time)[0]
    return max(events[-1].time for (pid, _), events in truth.items() if pid == first)


def cut_short(ours, truth):
    """The truth up to the end of a recording that ended before the process did."""
    if ours and ours[-1].event == "GAP":
        ours = ours[:-1]
    return ours, truth[:len(ours)]


def compare_pairs(pairs, ended):
    """[] if all streams agree; else lines with the first difference of each stream."""
    found = []
    for key, (a, b) in pairs.items():
        if b and b[-1].time > ended:
            began = b[0].time
            a, b = cut_short(a, b)
            if not b and began < ended:
                found.append(f"pid {key[0]} tid {key[1]}: no event of what lives on")
        difference = compare_events(a, b) or compare_times(a, b)
        if difference:
            found += [f"pid {key[0]} tid {key[1]}: {difference[0]}", *difference[1:]]
    return found


def compared(ours, truth, owner):
    """The problems, as lines, and what was found of objects."""
    both = pairs(ours, truth, owner)
    objects = compare_objects(both)
    return compare_pairs(both, end_of_program(truth)) or objects.problems[:5], objects


def compare(ours, truth, owner):
    return compared(ours, truth, owner)[0]


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
