#!/usr/bin/env python3
"""The second decoder against the first: ocular-pt and stock perf must report the same for every recording.

Of programs recorded by the software emitter; of recordings put together packet by packet, with clocks, CPUs
and faults that no machine here has; of real hardware's. Where they may differ (damage, which perf steps over
byte by byte) ocular-pt must lose no more than up to the next PSB, and say so.
"""

import itertools
import os
import shutil
import struct
import subprocess
from functools import partial

import perffile
import ptmade
import recording
from tap import Plan

PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
CAPTURES = os.environ.get("OCULAR_CAPTURES", "")  # a folder; it is not in the repository (docs/hardware.md)
PROGRAMS = ("loops.py", "threads.py", "generators.py", "exceptions.py", "forks.py", "multiprocessing_spawn.py",
            "subinterpreters.py", "code_dies.py")
SEEDS = range(12)
# What later_words() makes of its words; by marker version.
VERSIONS = {1: ["FOREIGN 1", "GAP 1", "PY_START f100001", *["FOREIGN 1"] * 4, "GAP 3", "PY_START f100002"],
            2: ["PY_START f100001", "PY_START f100001", "FOREIGN 1", "EXTENSION 9", "PY_START f100001", "PY_START f100002"]}


def ocular_pt(path, *arguments):
    return recording.run([PT, *arguments, path], env=recording.plain_environment())


def read(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def difference(first, second):
    """The first difference of two texts, in a line; empty if there is none."""
    if first == second:
        return []
    a, b = first.split("\n"), second.split("\n")
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return [f"line {at + 1}: perf {a[at:at + 1]}, ocular-pt {b[at:at + 1]} ({len(a)} and {len(b)} lines)"]


def compare(folder, least=1, summaries=True):
    """Both decoders' events of a recording and, if the clock is the same, its summary. And the timeline: beside a file
    that wants a sample of each event, or alone, where most events come without."""
    out = {name: os.path.join(folder, name)
           for name in ("events.perf", "events.pt", "summary.perf", "summary.pt", "timeline.beside", "timeline.alone")}
    recording.report(folder, f"events={out['events.perf']}", f"summary={out['summary.perf']}")
    done = ocular_pt(folder, "as_perf=yes", f"events={out['events.pt']}", f"summary={out['summary.pt']}",
                     f"perfetto={out['timeline.beside']}")
    if done.returncode:
        return [f"ocular-pt: exit status {done.returncode}: {done.stderr}"]
    problems = difference(read(out["events.perf"]), read(out["events.pt"]))
    ocular_pt(folder, "as_perf=yes", f"perfetto={out['timeline.alone']}")
    if read(out["timeline.beside"]) != read(out["timeline.alone"]):
        problems.append("the timeline is another one if no other file is written")
    if summaries:
        problems += difference(read(out["summary.perf"]), read(out["summary.pt"]))
    if read(out["events.pt"]).count("\n") <= least:
        problems.append("hardly any event")
    return problems


def recorded(python, program, mode):
    with recording.scratch() as folder:
        data = os.path.join(folder, "data")
        recording.record(data, [python, os.path.join(recording.PROGRAMS, program)], recording.traced_environment(mode))
        return compare(data, 50)


def every_output(python, mode):
    """All files that a report can write, and the console with all its tables, are the same bytes."""
    table = [row.split("\t") for row in recording.run([PT, "options"]).stdout.splitlines()]
    coarse = mode in ("calls", "lines")
    sinks = [row[0] for row in table if row[2] == "file" and not (coarse and row[0].startswith("opcode_"))]
    words = ["console=always", "color=never", "counts=5", "loops=9", "by=thread", "all=yes", "iterations=slices"]
    words += [] if coarse else ["opcodes=calls:9", "opcodes=chains:3"]
    with recording.scratch() as folder:
        data, out = os.path.join(folder, "data"), {}
        recording.record(data, [python, os.path.join(recording.PROGRAMS, "loops.py")], recording.traced_environment(mode))
        for reader in "perf", "pt":
            os.mkdir(os.path.join(folder, reader))
            files = [f"{sink}={os.path.join(folder, reader, sink)}" for sink in sinks]
            console = recording.report(data, *words, *files) if reader == "perf" else ocular_pt(data, *words, *files).stdout
            out[reader] = {name: read_bytes(os.path.join(folder, reader, name)) for name in sinks}
            out[reader]["console"] = console
    return [f"{name}: not the same" for name, text in out["perf"].items() if not text or text != out["pt"][name]]


def made(file, folder):
    """Writes a made recording into the folder."""
    file.write(os.path.join(folder, "perf.data"))
    with open(os.path.join(folder, "codes-100.jsonl"), "w", encoding="utf-8") as table:
        table.write(ptmade.code_table())
    return folder


def made_alike(make):
    problems = []
    for seed in SEEDS:
        with recording.scratch() as folder:
            found = compare(made(make(seed), folder), 200, summaries=False)
            problems += [f"seed {seed}: {line}" for line in found]
    return problems


def events_of(folder, *arguments):
    done = ocular_pt(folder, "events=-", *arguments)
    return done.stdout.split("\n")[1:-1], done


def events_of_file(file):
    with recording.scratch() as folder:
        return events_of(made(file, folder))


# --- what only ocular-pt can be asked ---------------------------------------------------------------------


def core_cycles():
    """Each event's cycles are the sum of the CYC packets before it: seen in a function's total."""
    with recording.scratch() as folder:
        setup = ptmade.Setup(ptmade.random.Random(1), cyc=1, mtc=0, fup_on_ptw=False)
        file = ptmade.File(setup)
        file.comm(100, 100)
        start, end = 4 << 59 | 1 << 52 | 100_001 << 28, 6 << 59 | 2 << 52 | 100_001 << 28
        packets = [ptmade.PSB, ptmade.tsc(1000000), ptmade.cbr(7), ptmade.PSBEND, ptmade.cyc(1000),
                   ptmade.ptw(1 << 59 | 0x4F434C << 28 | 1), ptmade.cyc(77), ptmade.ptw(start),
                   ptmade.cyc(123456789), ptmade.ptw(end)]
        file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, b"".join(packets))
        summary = recording.json.loads(ocular_pt(made(file, folder), "summary=-").stdout)
        function = summary["functions"][0]
        if summary["clock"]["cycles"] != "core" or function["total_cycles"] != 123456789:
            return [f"{summary['clock']}, {function}"]
        return []


def later_words(version, expected):
    """Extensions and words of 32 bits, by both decoders; in a trace of version 1 they are other software's."""
    def number(seq, n):
        return ptmade.ptw(29 << 59 | seq << 52 | 1 << 48 | n)

    def short(seq, n):
        return ptmade.ptw4(seq << 25 | 0x16 << 20 | n)

    def start(seq, code):
        return ptmade.ptw(4 << 59 | seq << 52 | 100_000 + code << 28)

    words = [ptmade.ptw(1 << 59 | 0x4F434C << 28 | version), number(1, 7), start(2, 1), short(3, 7), ptmade.ptw4(7),
             ptmade.ptw(29 << 59 | 4 << 52 | 9 << 48 | 1234), ptmade.ptw(30 << 59 | 5 << 52 | 7), start(6, 2)]
    with recording.scratch() as folder:
        file = ptmade.File(ptmade.Setup(ptmade.random.Random(1), cyc=1, mtc=0, fup_on_ptw=False))
        file.comm(100, 100)
        packets = [ptmade.PSB, ptmade.tsc(1000000), ptmade.cbr(7), ptmade.PSBEND,
                   *(packet for word in words for packet in (ptmade.cyc(1000), word))]
        file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, b"".join(packets))
        problems = compare(made(file, folder), 2, summaries=False)
        found = [line.split("\t")[3:8] for line in events_of(folder)[0]]
    found = [f"{event} {name or count}" for event, _, name, _, count in found]
    return problems + ([] if found == expected else [str(found)])


def follows_migrations():
    """A thread's core cycles add up over the CPUs it ran on; the report says how many the trace does not assign."""
    with recording.scratch() as folder:
        made(ptmade.cpus(5, cyc=1, count=2000), folder)
        done = ocular_pt(folder, f"summary={folder}/summary", "console=always")
        summary = recording.json.loads(read(f"{folder}/summary"))
        clock, cycles = summary["clock"], summary["trace"]["traced_cycles"]
        told = f"; {clock.get('shared')} of them divided by time, where threads changed CPU\n" in done.stdout
        good = clock["cycles"] == "core" and told and 0 < clock["shared"] < cycles
        return [] if good else [str(clock), str(cycles), done.stdout]


def overflows_told():
    """OVF packets are counted on stderr."""
    file = ptmade.threads(3, faults=0.05)
    count = sum(record.count(ptmade.OVF) for record in file.body)
    done = events_of_file(file)[1]
    return [] if count and f" {count} overflows" in done.stderr else [f"{count} in the file: {done.stderr!r}"]


def truncation_told():
    """AUX records with the truncated flag are counted on stderr."""
    file = ptmade.threads(3)
    file.side(ptmade.AUX, struct.pack("<QQQ", 0, 100, 1), 100, 100, 0)
    file.side(ptmade.AUX, struct.pack("<QQQ", 0, 100, 0), 100, 100, 0)
    _, done = events_of_file(file)
    return [] if "1 trace buffers were full" in done.stderr else [done.stderr]


# --- losses, counted to the last word through both decoders ------------------------------------------------


def one_thread():
    """(file, words, some): a recording of thread 100; some(n, psb) is its next n words in packets."""
    rng = ptmade.random.Random(11)
    setup = ptmade.Setup(rng, cyc=1, mtc=0, fup_on_ptw=False)
    file, words, clock = ptmade.File(setup), ptmade.Words(100), ptmade.Clock(rng, 1000000, setup)
    file.comm(100, 100)

    def some(count, psb=True, between=b""):
        packets = [clock.psb()] if psb else []
        for _ in range(count):
            packets.append(clock.go_on(50) + clock.cyc() + ptmade.ptw(words.next()) + between)
        return b"".join(packets)

    return file, words, some


def told(file, kinds, **losses):
    """Both decoders must write the same events, of these [(kind, number)], and count these losses."""
    with recording.scratch() as folder:
        problems = compare(made(file, folder), sum(number for _, number in kinds) - 1, summaries=False)
        if problems:
            return problems
        rows = [line.split("\t") for line in read(os.path.join(folder, "events.pt")).split("\n")[1:-1]]
        found = [row[3] for row in rows]
        if found != [kind for kind, number in kinds for _ in range(number)]:
            problems.append(f"{[(kind, len(list(group))) for kind, group in itertools.groupby(found)]} and not {kinds}")
        for name in ("perf", "pt"):
            counted = recording.json.loads(read(os.path.join(folder, "summary." + name)))["losses"]
            problems += [f"{name}: {key}: {counted[key]} and not {n}" for key, n in losses.items() if counted[key] != n]
        # the codes of the words are consecutive, with a gap's words in between
        at = None
        for row in rows:
            if row[3] == "GAP":
                at += int(row[7])
            elif row[3] == "PY_START":
                code = int(row[5][1:])
                if at is not None and code != at + 1:
                    return problems + [f"f{code} after f{at}"]
                at = code
        return problems


def lost_aux():
    """AUX data lost in the middle: the buffer was full, a truncated AUX record says so, 100 words are missing."""
    file, _, some = one_thread()
    before = some(200)
    some(100)
    after = some(150)
    size = file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, before)
    file.side(ptmade.AUX, struct.pack("<QQQ", 0, size, 1), 100, 100, 0)
    file.auxtrace(0, 100, ptmade.ANY, size, 1000000, after)
    return told(file, [("PY_START", 199), ("GAP", 1), ("PY_START", 150)], markers=100, gaps=1, foreign=0)


def cut_psb():
    """A PSB of which only the first bytes were written: what should follow it is lost, the rest is there."""
    problems = []
    for left in (1, 2, 7, 8, 15):
        file, _, some = one_thread()
        packets = some(200) + some(60)[:left]
        size = file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, packets)
        file.auxtrace(0, 100, ptmade.ANY, size, 1000000, some(150))
        found = told(file, [("PY_START", 199), ("GAP", 1), ("PY_START", 150)], markers=60, gaps=1, foreign=0)
        problems += [f"{left} bytes left: {line}" for line in found]
    return problems


def beheaded_psb():
    """A PSB without its first bytes: perf tries on and finds its words, ocular-pt counts them as a gap."""
    problems = []
    for cut in (1, 2, 7):
        file, _, some = one_thread()
        size = file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, some(200))
        file.auxtrace(0, 100, ptmade.ANY, size + 4096, 1000000, some(60)[cut:] + some(150))
        with recording.scratch() as folder:
            lines, done = events_of(made(file, folder))
            recording.report(folder, f"events={folder}/events.perf")
            by_perf = read(f"{folder}/events.perf").count("\tPY_START\t")
        if by_perf != 409:
            problems.append(f"{cut} bytes cut off: {by_perf} events by perf")
        kinds = [line.split("\t")[3] for line in lines]
        if kinds != ["PY_START"] * 199 + ["GAP"] + ["PY_START"] * 150 or lines[199].split("\t")[7] != "60":
            problems.append(f"{cut} bytes cut off: {len(kinds)} events, {lines[199:200]}")
        if "1 damaged places" not in done.stderr:
            problems.append(f"{cut} bytes cut off: {done.stderr!r}")
    return problems


def interleaved():
    """Another program's PTWRITEs between ours: each of them is foreign, none of ours is lost."""
    problems = []
    for value in (0, 0xDEADBEEF, 0x7F3A12345678, (1 << 64) - 1):
        for each in (1, 2):
            file, _, some = one_thread()
            packets = some(50) + some(300, False, ptmade.ptw(value) * each) + some(50, False)
            file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, packets)
            found = told(file, [("PY_START", 49), *[("PY_START", 1), ("FOREIGN", each)] * 300, ("PY_START", 50)],
                         markers=0, gaps=0, foreign=300 * each)
            problems += [f"{each} of {value:#x}: {line}" for line in found]
    return problems


def moving():
    """A thread that moves to another CPU every three words, where an overflow swallows seven each tenth time."""
    rng = ptmade.random.Random(13)
    setup = ptmade.Setup(rng, cyc=1, mtc=0, fup_on_ptw=False, cpus=2, switches=3)
    file, words = ptmade.File(setup), ptmade.Words(100)
    clocks = [ptmade.Clock(rng, 1000000, setup) for _ in range(2)]
    pieces = [[(clock.psb(), clock.now)] for clock in clocks]
    file.comm(100, 100)
    sides, lost, kinds = [], 0, []
    for turn in range(200):
        clock, other, packets = clocks[turn % 2], clocks[1 - turn % 2], pieces[turn % 2]
        packets.append((clock.go_on(max(1000, other.now + 1000 - clock.now)), clock.now))
        sides.append((ptmade.ns(int(clock.now) - 500), turn % 2, 0))
        for word in range(3):
            if turn % 10 == 9 and word == 1:
                lost += 7
                kinds.append("GAP")
                words.count += 7
                packets.append((clock.cyc() + ptmade.OVF + clock.go_on(100) + clock.psb(), clock.now))
            packets.append((clock.go_on(40) + clock.cyc() + ptmade.ptw(words.next()), clock.now))
            if turn or word:
                kinds.append("PY_START")
        sides.append((ptmade.ns(int(clock.now) + 300), turn % 2, ptmade.SWITCH_OUT))
    for time, cpu, misc in sides:
        file.side(ptmade.SWITCH_WIDE, struct.pack("<II", 0, 0), 100, 100, time, cpu, misc)
    file.plain(ptmade.FINISHED_ROUND, b"")
    for cpu in range(2):
        file.chunks(cpu, ptmade.ANY, cpu, pieces[cpu], 1000)
    return told(file, [(kind, 1) for kind in kinds], markers=lost, gaps=20, foreign=0)


# --- damage ------------------------------------------------------------------------------------------------


def damage():
    """Bytes that are not packets: everything before them and from the next PSB on is read, the rest is a gap."""
    rng = ptmade.random.Random(7)
    setup = ptmade.Setup(rng, cyc=1, mtc=0, fup_on_ptw=False)
    problems = []
    for hurt in (b"\x02\xff", b"\x02\x82\x02", b"\xad", b"\x99\xff"):
        file, words, clock = ptmade.File(setup), ptmade.Words(100), ptmade.Clock(rng, 1000000, setup)
        file.comm(100, 100)

        def some(count, words=words, clock=clock):
            return clock.psb() + b"".join(clock.go_on(50) + clock.cyc() + ptmade.ptw(words.next()) for _ in range(count))

        packets = some(40) + hurt + some(0)[18:] + b"".join(ptmade.ptw(words.next()) for _ in range(9)) + some(30)
        file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, packets)
        lines, done = events_of_file(file)
        kinds = [line.split("\t")[3] for line in lines]
        if kinds != ["PY_START"] * 39 + ["GAP"] + ["PY_START"] * 30 or lines[39].split("\t")[7] != "9":
            problems.append(f"{hurt}: {kinds}")
        if "1 damaged places" not in done.stderr:
            problems.append(f"{hurt}: {done.stderr!r}")
    return problems


def noise():
    """Flipped bytes anywhere: decoding ends without a crash, and events are still events."""
    problems = []
    for seed in SEEDS:
        rng = ptmade.random.Random(seed)
        with recording.scratch() as folder:
            path = os.path.join(made(ptmade.cpus(seed), folder), "perf.data")
            data = bytearray(open(path, "rb").read())
            for _ in range(40):
                data[rng.randrange(104, len(data))] = rng.randrange(256)
            with open(path, "wb") as out:
                out.write(data)
            done = ocular_pt(folder, "events=-", "summary=/dev/null")
            if done.returncode not in (0, 1) or done.returncode and done.stderr.count("ocular-pt:") < 1:
                problems.append(f"seed {seed}: exit status {done.returncode}: {done.stderr[-300:]}")
    return problems


def cut_anywhere():
    """A file that ends early: as much as perf reads of it after a repair, without one."""
    problems = []
    with recording.scratch() as folder:
        path = os.path.join(made(ptmade.threads(4, count=1500), folder), "perf.data")
        whole = open(path, "rb").read()
        for size in range(4096, len(whole), 11_003):  # no multiple of a page: cuts differ in where they lie in one
            with open(path, "wb") as out:
                out.write(whole[:size])
            lines, done = events_of(folder)
            repair = recording.run([recording.FSCK, path])
            if repair.returncode == 2:
                if done.returncode != 1 or not done.stderr:
                    problems.append(f"{size}: unusable, but ocular-pt says {done.returncode} {done.stderr!r}")
                continue
            if "was cut" not in done.stderr:
                problems.append(f"{size}: does not say so: {done.stderr!r}")
            recording.report(folder, f"events={folder}/events.perf")
            problems += difference(read(f"{folder}/events.perf").split("\n", 1)[1], "\n".join([*lines, ""]))
    return problems


def compressed():
    """The same records in zstd: the same events."""
    zstd = shutil.which("zstd")
    if not zstd:
        return None

    def pack(data):
        return subprocess.run([zstd, "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout

    problems = []
    for seed in SEEDS:
        plain, packed = ptmade.cpus(seed), ptmade.cpus(seed)
        packed.compress(pack)
        problems += difference("\n".join(events_of_file(plain)[0]), "\n".join(events_of_file(packed)[0]))
        packed.body[-1] = packed.body[-1][:8] + b"\xff" * (len(packed.body[-1]) - 8)
        done = events_of_file(packed)[1]
        if done.returncode != 1 or "compressed" not in done.stderr:
            problems.append(f"seed {seed}: damaged zstd: {done.returncode} {done.stderr!r}")
    return problems


def capture():
    """Real PTWRITEs of another program. Of the 98,931 packets in its samples 85,915 come after the sample's
    first PSB, and 56 of these are in two samples: what is left is what perf finds."""
    path = os.path.join(CAPTURES, "memgaze-ptwrite.perf.data")
    with recording.scratch() as folder:
        shutil.copy(path, os.path.join(folder, "perf.data"))
        problems = compare(folder, 80000)
        text = read(os.path.join(folder, "events.pt"))
        foreign = text.count("\tFOREIGN\t")
        for done in (recording.perf(folder), recording.run([PT, folder], env=recording.plain_environment())):
            if "other software's: no Python was traced" not in done.stderr or "85859  PTWRITEs" not in done.stdout:
                problems.append(f"{done.args[0]} says {done.stderr!r}")
        if recording.perf(folder, "events=-").stdout != text:
            problems.append("standard output has more than the events")
    if foreign != 85859 or text.count("\n") != foreign + 1:
        problems.append(f"{foreign} foreign PTWRITEs")
    return problems


def alone():
    """perf's messages about errors in the trace are not in the output on standard output."""
    problems = []
    with recording.scratch() as folder:
        made(ptmade.threads(3, faults=0.05), folder)
        for sink in ("events", "summary", "perfetto", "collapsed", "console"):
            file = os.path.join(folder, "out")
            wanted = f"{sink}={file}" if sink != "console" else "console=always"
            by_hand = recording.perf(folder, f"{sink}=-" if sink != "console" else wanted)
            if sink != "console":
                recording.report(folder, wanted)
                if by_hand.stdout != read(file):
                    problems.append(f"{sink}: not what the file has")
            if " trace error" in by_hand.stdout or "instruction trace error" not in by_hand.stderr:
                problems.append(f"{sink}: {by_hand.stdout[-200:]!r} {by_hand.stderr[-200:]!r}")
            option = ["--" + sink, "-"] if sink != "console" else []
            done = recording.run([recording.WRAPPER, "report", folder, "--decoder", "perf", *option])
            if done.returncode or done.stdout != by_hand.stdout or done.stderr.count("instruction trace error") != 1:
                problems.append(f"ocular report, {sink}: {done.returncode} {done.stderr[-300:]!r}")
        done = recording.run([recording.WRAPPER, "report", folder, "--decoder", "both", "-q"])
        if done.returncode or "same events" not in done.stderr:
            problems.append(f"both: {done.returncode} {done.stderr[-300:]!r}")
    return problems


def without(bit):
    """A setup whose event lacks a config bit."""
    setup = ptmade.Setup(ptmade.random.Random(1))
    config = setup.config() & ~bit
    setup.config = lambda: config
    return setup


def refused(why, *arguments):
    done = recording.run([PT, *arguments], env=recording.plain_environment())
    line = done.stderr.strip()
    if done.returncode != 1 or line.count("\n") or why not in line or not line.startswith("ocular-pt: "):
        return [f"exit status {done.returncode}: {done.stderr!r}"]
    return []


def refuses():
    """What cannot be read is refused in one line."""
    problems = refused("usage") + refused("No such file", "/proc/nowhere")
    with recording.scratch() as folder:
        path = os.path.join(folder, "perf.data")
        problems += refused("unknown argument", "speed=9", folder)
        for data, why in ((b"", "not a perf.data"), (b"PERFILE2" + bytes((16,)) + bytes(99), "pipe"),
                          (perffile.without_intel_pt(), "no Intel PT")):
            with open(path, "wb") as out:
                out.write(data)
            problems += refused(why, folder)
        made(ptmade.File(without(ptmade.CONFIG_TSC)), folder)
        problems += refused("without times", path)
        setup = ptmade.Setup(ptmade.random.Random(1), switches=1, cpus=1)
        made(ptmade.File(setup), folder)
        problems += refused("sched_switch", folder)
        made(ptmade.threads(1), folder)
        problems += refused("/proc/nowhere/x", "events=/proc/nowhere/x", folder)
    return problems


def without_ptwrite():
    """perf record -e intel_pt// writes no PTW packets: both decoders say which event does."""
    problems = []
    for bits, words in ((0, ()), (ptmade.CONFIG_BRANCH, ("backend emulated",))):
        setup = without(ptmade.CONFIG_PTW)
        config = setup.config() | bits
        setup.config = lambda config=config: config
        file = ptmade.File(setup)
        file.comm(100, 100)
        file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, ptmade.PSB + ptmade.tsc(1000000) + ptmade.PSBEND)
        with recording.scratch() as folder:
            made(file, folder)
            said = recording.run([PT, folder], env=recording.plain_environment()).stderr
            said_by_perf = recording.perf(folder).stderr
        problems += [said for word in ("intel_pt/ptw", *words) if word not in said]
        problems += [said_by_perf] if "intel_pt/ptw,cyc,branch=0/u" not in said_by_perf else []
    return problems


def main():
    recording.need_built()
    python = recording.pythons()[0]
    with Plan() as plan:
        for program in PROGRAMS:
            for mode in ("adaptive", "full") if program == "loops.py" else ("adaptive",):
                plan.case(f"{program}, {mode}: both decoders agree", recorded, python, program, mode)
        for mode in "calls", "adaptive", "lines", "precise", "full":
            plan.case(f"mode {mode}: every output is the same", every_output, python, mode)
        for make in (ptmade.threads, ptmade.cpus, ptmade.snapshots):
            plan.case(f"made of packets: {make.__name__}", made_alike, make)
        for make in (ptmade.threads, ptmade.cpus):
            plan.case(f"made of packets: {make.__name__}, with overflows", made_alike, partial(make, faults=0.03))
        for function in (core_cycles, follows_migrations, overflows_told, truncation_told, alone, lost_aux, cut_psb,
                         beheaded_psb, interleaved, moving, damage, noise, cut_anywhere, refuses, without_ptwrite):
            plan.case((function.__doc__ or function.__name__.replace("_", " ")).split("\n")[0], function)
        for version, expected in VERSIONS.items():
            plan.case(f"made of packets: words of version 2 in a trace of version {version}", later_words, version, expected)
        if shutil.which("zstd"):
            plan.case("compressed records", compressed)
        else:
            plan.missing("compressed records", "zstd")
        if CAPTURES:
            plan.case("a capture of real hardware", capture)
        else:
            plan.skip("a capture of real hardware", "no OCULAR_CAPTURES")


if __name__ == "__main__":
    main()
