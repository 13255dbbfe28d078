#!/usr/bin/env python3
"""Python on the emulated processor: recording by PTWRITE gives what the software emitter gives.

One program by rings, by PTWRITE without and with branches, and by emulated PTWRITE: the same events one by
one in each thread and the same calls and loops, through both decoders where both can read them. And cycles are
instructions: a loop's cycles in the report are exactly what the emulator counted between the markers.
"""

import collections
import glob
import math
import os
import shutil
import sys

import recording
from tap import Plan
from test_ocular_pt import ocular_pt, read
from test_qemu import QEMU, Truth, emulate, in_snapshots

sys.path.insert(0, os.path.join(recording.ROOT, "tests/unit/helper-ext/record"))
import ptread  # noqa: E402

ALL_WAYS = ("loops.py", "generators.py")
WAITING = ("threads.py", "forks.py", "subprocesses.py")
PROGRAMS = (*WAITING, "coroutines.py", "recursion.py")
SCRATCH = 31  # words of the calibration, before the first marker
PY_START, JUMP = 4, 15  # event.h: ops


def environment(**more):
    """The same in every way; a program's hashes are the same in every run."""
    return recording.traced_environment("adaptive", PYTHONHASHSEED="0", OCULAR_INCLUDE=recording.PROGRAMS + "/*.py", **more)


def threads_of(path):
    """Events of each thread, without what differs from run to run: sorted, for threads come in any order. Only rings say
    when a thread was on a CPU."""
    threads = {}
    for line in read(path).split("\n")[1:-1]:
        _, pid, tid, *what = line.split("\t")
        if what[0] == "EXTENSION":
            continue
        threads.setdefault((pid, tid), []).append(what)
    return sorted(threads.values())


def without_cycles(value):
    """A summary without what counts cycles."""
    if isinstance(value, dict):
        return {key: without_cycles(inner) for key, inner in value.items() if "cycles" not in key}
    return [without_cycles(inner) for inner in value] if isinstance(value, list) else value


def differing(first, second, where=""):
    """Keys whose values are not the same in two summaries."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return [line for key in first for line in differing(first[key], second[key], f"{where}.{key}")]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [line for a, b in zip(first, second) for line in differing(a, b, where)]
    return [] if first == second else [f"{where}: {first} and {second}"]


def decoded(data, decoders, same_cycles=True):
    """Events and summary by each of the decoders, which must be the same; (threads, summary, problems).

    The clock has another name in each. ocular-pt counts core cycles and perf nanoseconds: they differ
    while the core stops and time does not (a thread waits in the kernel), nor where cycles are not
    counted (outside of an address filter).
    """
    paths = {name: (os.path.join(data, "events." + name), os.path.join(data, "summary." + name)) for name in decoders}
    if "perf" in paths:
        recording.report(data, "events=%s" % paths["perf"][0], "summary=%s" % paths["perf"][1])
    problems = []
    if "pt" in paths:
        done = ocular_pt(data, "events=%s" % paths["pt"][0], "summary=%s" % paths["pt"][1])
        problems = [] if not done.stderr else [done.stderr]
    texts = [read(events) for events, _ in paths.values()]
    if len(set(texts)) != 1:
        problems.append(f"{' and '.join(paths)} differ")
    summaries = [recording.json.loads(read(summary)) for _, summary in paths.values()]
    for summary in summaries:
        del summary["clock"]
    if not same_cycles:
        summaries = [without_cycles(summary) for summary in summaries]
    problems += differing(summaries[0], summaries[-1])[:5]
    return threads_of(next(iter(paths.values()))[0]), summaries[0], problems


def counts(summary):
    """What a summary counts, times left out: events, losses, calls, loops; sorted, for time orders them."""
    functions = [[f[key] for key in ("file", "qualname", "firstlineno", "calls", "recursive_calls", "resumes", "activations",
                                     "unfinished")] for f in summary["functions"]]
    loops = [[f[key] for key in ("file", "qualname", "line", "head_offset", "entries", "iterations", "timed", "trips")]
             for f in summary["loops"]]
    losses = {name: n for name, n in summary["losses"].items() if name != "unstopped"}
    return {"events": summary["events"], "losses": losses, "functions": sorted(functions, key=str),
            "loops": sorted(loops, key=str)}


def unstopped(data, summary, known):
    """Whoever ends by os._exit writes no `stop` line. Only the recorder of rings knows that nothing is missing."""
    tables = [read(path) for path in glob.glob(os.path.join(data, "codes-*.jsonl"))]
    wanted = 0 if known else sum('"kind":"stop"' not in table for table in tables)
    found = summary["losses"]["unstopped"]
    return [] if found == wanted else [f"{found} processes did not stop, not {wanted}"]


def core_of(python):
    """The extension that this interpreter loads: where the words of emulated PTWRITE are in the code."""
    suffix = recording.run([python, "-ESc", "import _imp; print(_imp.extension_suffixes()[0])"]).stdout.strip()
    return os.path.join(recording.BUILD, "python", "ocular", "_core" + suffix)


def ways(python, every, **more):
    """(name, settings, environment, decoders) of each way to record under the emulator."""
    yield "ptwrite", ("branch=0",), environment(**more), ("perf", "pt")
    if every:
        core = core_of(python)
        yield "ptwrite, branches", ("branch=1", "fup_on_ptw=1"), environment(**more), ("pt",)
        yield ("ptwrite, branches of the extension", ("branch=1", f"filter=0/100000@{core}"), environment(**more),
               ("perf", "pt"))
        yield ("emulated", ("branch=1", f"filter=0/100000@{core}"), environment(OCULAR_BACKEND="emulated", **more),
               ("perf",))


def same_events(python, program, every, **more):
    """By rings, by PTWRITE and by emulated PTWRITE: the same events in each thread, calls and loops."""
    command = [python, os.path.join(recording.PROGRAMS, program)]
    with recording.scratch() as folder:
        data = os.path.join(folder, "rings")
        recording.record(data, command, environment(**more))
        expected, summary, problems = decoded(data, ("perf", "pt"))
        expected_counts = counts(summary)
        problems += unstopped(data, summary, True)
        if sum(len(events) for events in expected) < 10:
            problems.append("hardly any event")
        for name, settings, env, decoders in ways(python, every, **more):
            shutil.rmtree(os.path.join(folder, "data"), ignore_errors=True)
            data, truth, done = emulate(folder, settings, command, env=env)
            same_cycles = program not in WAITING and not any(setting.startswith("filter=") for setting in settings)
            found, summary, told = decoded(data, decoders, same_cycles)
            told += differing(counts(summary), expected_counts)[:5] + unstopped(data, summary, False)
            problems += [f"{name}: {line}" for line in told]
            if found != expected:
                problems += [f"{name}: not the same events", *differences(found, expected), done.stderr]
            if truth.surprises():
                problems.append(f"{name}: {truth.surprises()} surprises")
    return problems


def c_functions(python):
    return same_events(python, "from_c.py", True, OCULAR_ALSO="c_calls")


def differences(found, expected):
    if len(found) != len(expected):
        return [f"{len(found)} threads, not {len(expected)}"]
    return [f"{a[:3]} and not {b[:3]}" for one, other in zip(found, expected) for a, b in zip(one, other) if a != b][:3]


def trips(truth):
    """{(code, head): [instructions from each back-edge to the next of each entry]}, of functions with one loop."""
    entries, last = {}, {}
    for words in truth.words.values():
        for count, word in ptread.whole((count, word) for _, count, word in words):
            op, code, at = word >> 59, word >> 28 & 0xFFFFFF, word >> 8 & 0xFFFFF
            distance = (word & 0xFF) - ((word & 0x80) << 1)
            if op == PY_START:
                last.pop(code, None)
            if op != JUMP or distance >= 0:
                continue
            of_loop = entries.setdefault((code, 2 * (at + distance)), [])
            if code in last:
                of_loop[-1].append(count - last[code])
            else:
                of_loop.append([])
            last[code] = count
    return entries


MANY = """
def work(n):
    total = 0
    for i in range(n):
        total += i * i if i % 3 else len(str(i))
    return total

work(1000)
"""
FEW = """
def work(n):
    odd = 0
    for i in range(n):
        odd = i & 1 if i % 7 else divmod(odd, 2)[0]
    return odd

list(map(work, [0, 1, 2, 3, 5, 8, 5, 13, 200, 0, 1, 1]))
"""


# The loop's thread and two more go from CPU to CPU, and meet on each of them. It waits often where no marker is.
MOVING = MANY.replace("work(1000)", """
import threading
import time

def others():
    list(map(lambda n: n % 7, range(500)))

first, second = threading.Thread(target=others), threading.Thread(target=others)
first.start(), second.start()
list(map(time.sleep, [0.002] * 20))
work(500)
first.join(), second.join()
""")


def rank(values, q):
    """The quantile by nearest rank."""
    return sorted(values)[max(math.ceil(q * len(values)), 1) - 1]


def expected_of(entries, exact):
    """A summary's figures for such a loop, each with its maximum error."""
    counts, lengths = [n for entry in entries for n in entry], [len(entry) + 1 for entry in entries]
    part = 0 if exact else 1 / 16
    return {"entries": (len(entries), 0), "iterations": (sum(lengths), 0), "timed": (len(counts), 0),
            "min": (min(counts), 0), "max": (max(counts), 0), "mean": (sum(counts) / len(counts), 0.01),
            "median": (rank(counts, 0.5), part * rank(counts, 0.5)), "p99": (rank(counts, 0.99), part * rank(counts, 0.99))}


def wrong_figures(loop, entries, exact):
    """Lines about differences between a summary's loop and the emulator."""
    found = {**loop, **loop["cycles"]}
    problems = [f"{key}: {found[key]} and not {value}" for key, (value, error) in expected_of(entries, exact).items()
                if abs(found[key] - value) > error]
    if exact and not found["exact"]:
        problems.append("percentiles are not exact")
    lengths = sorted(collections.Counter(len(entry) + 1 for entry in entries).items())
    if loop["trips"]["distribution"] != [[length, length, number] for length, number in lengths]:
        problems.append(f"trips {loop['trips']} and not {lengths}")
    return problems


def exact_cycles(python, text, exact, *settings):
    """A loop's cycles are the instructions between its markers, to the last one, and its trips those it made.

    By perf's nanoseconds only where the thread neither waits nor migrates.
    """
    with recording.scratch() as folder:
        program = os.path.join(folder, "loop.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        env = recording.traced_environment("adaptive", OCULAR_INCLUDE=folder + "/*.py", PYTHONHASHSEED="0")
        data, truth, _ = emulate(folder, settings or ("branch=0",), [python, program], env=env)
        ((_, head), entries), = trips(truth).items()
        summaries = {"ocular-pt": recording.json.loads(ocular_pt(data, "summary=-").stdout)}
        problems = [] if summaries["ocular-pt"]["clock"] == {"cycles": "emulated", "hz": 0} else [str(summaries["ocular-pt"]["clock"])]
        if not settings:
            summaries["perf"] = recording.summary(data)
        for name, summary in summaries.items():
            loop, = (loop for loop in summary["loops"] if loop["qualname"] == "work")
            problems += [f"{name}: {line}" for line in wrong_figures(loop, entries, exact)]
            if loop["head_offset"] != head:
                problems.append(f"{name}: head at {loop['head_offset']} and not {head}")
        return problems


def moving_with_branches(python):
    """The report runs perf so that each word has its thread, even if threads migrate while there are branches."""
    with recording.scratch() as folder:
        program = os.path.join(folder, "loop.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(MOVING)
        env = recording.traced_environment("adaptive", OCULAR_INCLUDE=folder + "/*.py", PYTHONHASHSEED="0")
        data, truth, _ = emulate(folder, ("branch=1", "migrate=3"), [python, program], env=env)
        done = recording.run([recording.WRAPPER, "report", "--decoder", "both", "--summary", "-", data],
                             env=recording.plain_environment())
        if done.returncode or "report the same events" not in done.stderr:
            return [done.stderr[-500:]]
        loop, = (loop for loop in recording.json.loads(done.stdout)["loops"] if loop["qualname"] == "work")
        found, wanted = loop["iterations"], sum(len(entry) + 1 for entry in next(iter(trips(truth).values())))
        return [] if found == wanted else [f"{found} trips, not {wanted}"]


def not_told(words):
    """How many of a thread's words, [(word, is it in the trace?)], no reader can tell: lost, or a number of which nobody says
    what it is. A NUMBER is no marker of the program's.
    """
    known, naming, missing = set(), 0, 0
    for word, there in words:
        number = ptread.short(word)
        missing += not ptread.numbered(word) and (not there or number is not None and number not in known)
        if there and naming and number is None:
            known.add(naming)
        naming = ptread.numbered(word) if there else 0
    return missing


def missing_of(there, lost):
    """The same of all threads: of each, the words in the trace and those that are not, as (time, word), without calibration's."""
    threads = [sorted([(when, word, True) for when, word in there.get(tid, ())] + [(when, word, False) for when, word in lost.get(tid, ())])
               for tid in there.keys() | lost.keys()]
    return sum(not_told([(word, had) for _, word, had in words if word >> 59 != SCRATCH]) for words in threads)


def losses(python, *settings):
    """The markers that were lost are counted to the last one, through both decoders."""
    with recording.scratch() as folder:
        data, truth, _ = emulate(folder, settings, [python, os.path.join(recording.PROGRAMS, "loops.py")], env=environment())
        lost = missing_of(*({tid: [(tsc, word) for tsc, _, word in words] for tid, words in had.items()}
                            for had in (truth.words, truth.lost)))
        found = [recording.json.loads(ocular_pt(data, "summary=-").stdout), recording.summary(data)]
        told = [summary["losses"]["markers"] for summary in found]
        return [] if told == [lost, lost] and lost > 40 else [f"{told} told, {lost} lost"]


def by_thread(rows):
    """{tid: [(time, word)]} of (time, tid, word)."""
    threads = collections.defaultdict(list)
    for tsc, tid, word in rows:
        threads[tid].append((tsc, word))
    return threads


def flight(python):
    """If snapshots do not reach back to the last one, the missing markers are counted exactly."""
    with recording.scratch() as folder:
        data, truth, _ = emulate(folder, ("snapshot=1024", "every=160", "psb=256"),
                                 [python, os.path.join(recording.PROGRAMS, "loops.py")], env=environment())
        expected, missing, _ = in_snapshots(data, truth)
        lost = missing_of(by_thread(expected), by_thread(missing))
        found = [recording.json.loads(ocular_pt(data, "summary=-").stdout), recording.summary(data)]
        told = [summary["losses"]["markers"] for summary in found]
        return [] if told == [lost, lost] and lost > 40 and len(expected) > 100 else [f"{told} told, {lost} lost of {len(expected) + lost}"]


FOREIGN = """
import ctypes
import sys

foreign = ctypes.CDLL(sys.argv[1]).foreign
foreign.argtypes = [ctypes.c_uint64]

def work(n):
    for i in range(n):
        foreign(i << 16 | 0xBEE)
        foreign(0x7F3A12345678)

work(300)
"""


def foreign(python):
    """A library's own PTWRITEs between ours are counted as such, each at its time; none of ours is lost."""
    with recording.scratch() as folder:
        program, library = os.path.join(folder, "foreign.py"), os.path.join(folder, "foreign.so")
        with open(program, "w", encoding="utf-8") as file:
            file.write(FOREIGN)
        recording.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, os.path.join(recording.HERE, "qemu", "foreign.c")])
        env = recording.traced_environment("adaptive", OCULAR_INCLUDE=folder + "/*.py", PYTHONHASHSEED="0")
        filters = tuple(f"filter=0/100000@{path}" for path in (core_of(python), library))
        problems = []
        for settings in (("branch=0",), ("branch=1", *filters)):
            shutil.rmtree(os.path.join(folder, "data"), ignore_errors=True)
            data, truth, _ = emulate(folder, settings, [python, program, library], env=env)
            _, summary, told = decoded(data, ("perf", "pt"), len(settings) == 1)
            expected = sorted(tsc for words in truth.words.values() for tsc, _, word in words
                              if word >> 59 == 0 and ptread.short(word) is None)
            found = [int(row.split("\t")[0]) for row in read(os.path.join(data, "events.pt")).split("\n") if "\tFOREIGN\t" in row]
            loop, = (loop for loop in summary["loops"] if loop["qualname"] == "work")
            counted = [summary["losses"][key] for key in ("foreign", "markers", "gaps")] + [loop["iterations"]]
            problems += told + ([] if found == expected and counted == [600, 0, 0, 300] else
                                [f"{settings[0]}: {len(found)} of {len(expected)} foreign, {counted}"])
        return problems


def repeatable(python):
    """A second run has the same instructions between the same markers."""
    with recording.scratch() as folder:
        program = os.path.join(recording.PROGRAMS, "loops.py")
        runs = [emulate(folder, ("branch=0",), [python, program], env=environment())[1] for _ in range(2)]
        first, second = ([words for _, words in sorted(run.words.items())] for run in runs)
        steps = [[(b[1] - a[1], b[2]) for words in run for a, b in zip(words, words[1:]) if b[2] >> 59 not in (1, 31)]
                 for run in (first, second)]
        differ = sum(a != b for a, b in zip(*steps))
        if len(steps[0]) != len(steps[1]) or differ:
            return [f"{differ} of {len(steps[0])} and {len(steps[1])} steps differ"]
        return []


def by_command(python):
    """`ocular record --backend qemu` and `python -m ocular --backend qemu` record there, and say what they lack."""
    env = recording.plain_environment(PYTHON=python, PYTHONPATH=os.path.join(recording.BUILD, "python"))
    problems = []
    with recording.scratch() as folder:
        for number, command in enumerate(([recording.WRAPPER, "record"], [python, "-m", "ocular"])):
            data = os.path.join(folder, f"data{number}")
            done = recording.run([*command, "--backend", "qemu", "--set", "noretcomp=1", "-o", data, "-c",
                                  "import sys\ndef f(): return 1\nf()\nsys.exit(5)"], env=env)
            if done.returncode != 5 or "work" in done.stdout:
                problems.append(f"{command[-1]}: exit status {done.returncode}: {done.stderr}")
            events, _, _ = decoded(data, ("perf", "pt"))
            if not any("f" in event for event in events[0]):
                problems.append(f"{command[-1]}: no call of f")
        data = os.path.join(folder, "flown")
        done = recording.run([recording.WRAPPER, "record", "-q", "--backend", "qemu", "--flight", "2K", "--set", "psb=256",
                              "-o", data, "-c", "def f(): pass\nfor i in range(500): f()"], env=env)
        summary = recording.json.loads(ocular_pt(data, "summary=-").stdout)
        if done.returncode or not 20 < summary["events"].get("PY_START", 0) < 400:
            problems.append(f"flight: exit status {done.returncode}: {done.stderr}, {summary['events']}")
        lacking = dict(env, PATH=folder)
        done = recording.run([QEMU, "-o", os.path.join(folder, "x"), "--", python, "-c", "1"], env=lacking)
        if done.returncode != 1 or "install qemu-user" not in done.stderr:
            problems.append(f"without QEMU: {done.returncode} {done.stderr}")
        fake = os.path.join(folder, "qemu-x86_64")
        with open(fake, "w", encoding="utf-8") as file:
            file.write(f"#!{shutil.which('sh')}\necho 'usage: qemu-x86_64 [options] program'\n")
        os.chmod(fake, 0o755)
        done = recording.run([QEMU, "-o", os.path.join(folder, "x"), "--", python, "-c", "1"], env=lacking)
        if done.returncode != 1 or "takes no plugins" not in done.stderr:
            problems.append(f"with a static QEMU: {done.returncode} {done.stderr}")
        if glob.glob(os.path.join(folder, "x*")):
            problems.append("a folder was made for nothing")
    return problems


def main():
    recording.need_built()
    recording.need_qemu()
    with Plan() as plan:
        for python in recording.pythons():
            version = recording.version(python)
            for program in ALL_WAYS:
                plan.case(f"{version}, {program}: every way tells the same", same_events, python, program, True)
            plan.case(f"{version}, C functions: every way tells the same", c_functions, python)
            for program in PROGRAMS:
                plan.case(f"{version}, {program}: rings and PTWRITE tell the same", same_events, python, program, False)
            plan.case(f"{version}: cycles are instructions", exact_cycles, python, MANY, False)
            plan.case(f"{version}: cycles are instructions, percentiles and trips exact", exact_cycles, python, FEW, True)
            plan.case(f"{version}: cycles are instructions of a thread that migrates", exact_cycles, python, MOVING, False, "migrate=3")
            plan.case(f"{version}: threads that migrate, with branches", moving_with_branches, python)
            plan.case(f"{version}: what an overflow swallows is counted", losses, python, "overflow=40")
            plan.case(f"{version}: what a full buffer swallows is counted", losses, python, "branch=1", "full=40",
                      f"filter=0/100000@{core_of(python)}")
            plan.case(f"{version}: what snapshots do not hold is counted", flight, python)
            plan.case(f"{version}: another's PTWRITEs among ours", foreign, python)
            plan.case(f"{version}: a run is like another", repeatable, python)
            plan.case(f"{version}: the commands", by_command, python)


if __name__ == "__main__":
    main()
