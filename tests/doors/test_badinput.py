#!/usr/bin/env python3
"""Bad input gives one clear line and a non-zero exit: no crash, no hang, no partial result shown as complete.

Every case starts from one small good recording, damages a copy, and reads it through `ocular report`, or
gives the commands something they cannot do.
"""

import json
import os
import random
import shutil
import sys

import compare
import perffile
import recording
from good import Good, ocular, read, refused, refused_report
from tap import Plan

PAGE = 4096
FLIPS = 25  # recordings with one random byte changed


def not_a_perf_data(good):
    contents = {"empty": b"", "text": b"hello\n" * 100, "zeros": bytes(10_000), "short": b"PERF",
                "random": random.Random(1).randbytes(20_000), "swapped": b"2ELIFREP" + bytes(96),
                "header only": perffile.MAGIC + bytes(96), "header cut": perffile.MAGIC + b"\x68" + bytes(20),
                "pipe mode": perffile.MAGIC + (16).to_bytes(8, "little") + bytes(64)}
    return [f"{name}: {line}" for name, content in contents.items()
            for line in refused_report(good, good.with_bytes(content))]


def without_intel_pt(good):
    return refused_report(good, good.with_bytes(perffile.without_intel_pt()), "Intel PT")


def no_recording(good):
    empty = os.path.join(good.folder, "empty")
    os.makedirs(empty, exist_ok=True)
    return [*refused_report(good, os.path.join(good.folder, "nowhere")), *refused_report(good, empty),
            *refused_report(good, "/dev/null")]


def is_prefix(part, whole):
    """Of events: `part`, without a GAP at its end, is the beginning of `whole`."""
    part = [event for event in part if event.event != "GAP"]
    return len(part) <= len(whole) and all(map(compare.same, part, whole))


def cut(good):
    """Truncated at each 4 KiB boundary: refused, or repaired with a message, and then exactly a prefix in each thread."""
    with open(good.path, "rb") as file:
        content = file.read()
    problems, repaired = [], 0
    for size in range(PAGE, len(content), PAGE):
        done, streams = read(good.with_bytes(content[:size]))
        if streams is None:
            problems += [f"{size}: {line}" for line in refused(done)]
            continue
        repaired += 1
        if "repair" not in done.stderr.lower():
            problems.append(f"{size}: the repair is not told: {done.stderr!r}")
        problems += [f"{size}: thread {key} is no prefix of the whole" for key, events in streams.items()
                     if not is_prefix(events, good.events[key])]
        lost = good.count - sum(event.event != "GAP" for events in streams.values() for event in events)
        losses = recording.summary(os.path.join(good.folder, "copy"))["losses"]
        if lost and losses["markers"] < lost:
            problems.append(f"{size}: {lost} events are lost, the summary says {losses}")
    return problems + ([] if repaired else ["nothing could be repaired"])


def no_code_table(good):
    """Names become `code N`, nothing else changes, and the report says so."""
    data = good.copy()
    os.unlink(good.code_table(data))
    done, streams = read(data)
    if streams is None:
        return [f"refused: {done.stderr}"]
    problems = []
    for key, events in streams.items():
        bare = [(e.event, e.where) for e in events], [(e.event, e.where) for e in good.events[key]]
        if bare[0] != bare[1]:
            problems.append(f"thread {key}: {len(bare[0])} events of {len(bare[1])}, or others")
        problems += [f"not a code: {e}" for e in events[:1] if not e.qualname.startswith("code ")]
    losses = recording.summary(data)["losses"]
    if not losses["missing_tables"] or "no code table" not in recording.report(data, "console=always"):
        problems.append(f"not told: {losses}")
    return problems


def damaged_code_table(good):
    """Cut in a line, garbage between lines, one code's line gone: the rest is read, and the report says so."""
    with open(good.code_table(good.data), encoding="utf-8") as file:
        lines = file.readlines()
    leaf = next(i for i, line in enumerate(lines) if '"leaf"' in line)
    damages = {"cut": [*lines[:leaf], lines[leaf][:40]],
               "garbage": [*lines[:leaf], "\x00\xff{[\n", "[1]\n", "{}\n", '{"kind":"code"}\n', "7\n", *lines[leaf:]],
               "wrong types": [line if i != leaf else line.replace('"id":', '"id":"x","was":')
                               for i, line in enumerate(lines)],
               "a code gone": lines[:leaf] + lines[leaf + 1:]}
    problems = []
    for name, damaged in damages.items():
        data = good.copy()
        with open(good.code_table(data), "w", encoding="latin-1") as file:
            file.writelines(damaged)
        done, streams = read(data)
        if streams is None:
            problems.append(f"{name}: refused: {done.stderr}")
            continue
        if sum(map(len, streams.values())) < good.count:
            problems.append(f"{name}: {sum(map(len, streams.values()))} events of {good.count}")
        losses = recording.summary(data)["losses"]
        if not losses["damaged_lines"] + losses["unknown_codes"]:
            problems.append(f"{name}: not told: {losses}")
    return problems


def table_that_is_no_file(good):
    """A FIFO without a writer, and an endless device, under a code table's name: as if it were not there, and reported."""
    problems = []
    for name, put in (("a FIFO", os.mkfifo), ("/dev/zero", lambda path: os.symlink("/dev/zero", path)),
                      ("a terminal", lambda path: os.symlink("/dev/ptmx", path)), ("a folder", os.mkdir)):
        data = good.copy()
        table = good.code_table(data)
        os.unlink(table)
        put(table)
        put(os.path.join(data, "codes-1.jsonl"))  # and one that belongs to no process
        for decoder in "perf", "libipt", "both":
            done = ocular("report", data, "--decoder", decoder, "--html", os.path.join(data, "page.html"), timeout=60)
            if done.returncode or "no code table" not in done.stdout:
                problems.append(f"{name}, {decoder}: {done.returncode} {done.stderr} {done.stdout[-300:]}")
        done = ocular("diff", data, data, timeout=60)
        if done.returncode:
            problems.append(f"{name}, diff: {done.stderr}")
        done = recording.run([recording.FSCK, data], timeout=60)
        if done.returncode:
            problems.append(f"{name}, fsck: {done.stderr}")
    return problems


def trace_that_is_no_file(good):
    problems = []
    for name, put in (("a FIFO", os.mkfifo), ("/dev/zero", lambda path: os.symlink("/dev/zero", path))):
        data = good.copy()
        path = os.path.join(data, "perf.data")
        os.unlink(path)
        put(path)
        for command in (os.path.join(recording.BUILD, "bin", "ocular-pt"), "console=never", data), (recording.FSCK, data), (recording.WRAPPER, "report", data):
            done = recording.run(list(command), env=recording.plain_environment(), timeout=60)
            if done.returncode in (0, None) or done.stderr.count("\n") != 1:
                problems.append(f"{name}, {command[0]}: {done.returncode} {done.stderr}")
    return problems


NAMES = r"""
def f():
    pass
f.__code__ = f.__code__.replace(co_qualname="a\u202eb\x1b[2J\x9b\u2066c\u061c\x07", co_filename="/d\u202e\x1b]0;/e.py")
for i in range(30000):
    f()
"""
COMMANDS = set(range(0x20)) - {9, 10} | set(range(0x7f, 0xa0)) | {0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a)}


def names_that_a_terminal_would_obey(good):
    """In all text outputs and messages: neither control characters nor those of direction."""
    data = os.path.join(good.folder, "names")
    recording.record(data, [good.python, "-c", NAMES], recording.traced_environment("adaptive"))
    problems = []
    # PYPYLOG and callgrind have no escape sequences of ours to come: their text is looked at as it is.
    for sink in "events", "collapsed", "callgrind", "pypylog", "speedscope", "summary", "perfetto", "html":
        done = ocular("report", "-q", data, "--decoder", "libipt", f"--{sink}", "-")
        found = sorted({hex(ord(c)) for c in done.stdout if ord(c) in COMMANDS})
        if done.returncode or not done.stdout or found and sink != "html":
            problems.append(f"{sink}: {done.returncode} {found} {done.stderr}")
    for decoder in "perf", "libipt":
        done = ocular("report", data, "--decoder", decoder)
        found = sorted({hex(ord(c)) for c in done.stdout + done.stderr if ord(c) in COMMANDS})
        if done.returncode or found or "u202e" not in done.stdout:
            problems.append(f"console: {found} {done.stdout} {done.stderr}")
    done = ocular("report", os.path.join(good.folder, "no\x1b[2Jsuch\u202e"))
    if not done.returncode or any(ord(c) in COMMANDS for c in done.stderr):
        problems.append(f"an error: {done.stderr!r}")
    return problems


def foreign(good):
    """PTWRITEs of other software at the end of a thread: counted one by one and ignored, the rest the same."""
    data, values = good.copy(), [0x1234, 0, 2**64 - 1, 0xDEADBEEF]
    damaged = perffile.PerfFile(good.path)
    damaged.append_words(values)
    damaged.write(os.path.join(data, "perf.data"))
    done, streams = read(data)
    if streams is None:
        return [f"refused: {done.stderr}"]
    counted = sum(int(e.where) for events in streams.values() for e in events if e.event == "FOREIGN")
    rest = {key: [e for e in events if e.event != "FOREIGN"] for key, events in streams.items()}
    losses = recording.summary(data)["losses"]
    problems = [] if counted == losses["foreign"] == len(values) else [f"{counted} foreign, summary {losses}"]
    for key, events in rest.items():
        difference = compare.compare_events(events, good.events[key])
        problems += [f"thread {key}: {line}" for line in difference[:3]]
    return problems


def flipped(good):
    """One byte changed in the trace: read or refused, but no crash, no hang, no other file blamed."""
    dice, problems = random.Random(7), []
    for _ in range(FLIPS):
        damaged = perffile.PerfFile(good.path)
        start, end = dice.choice(damaged.payloads())
        at = dice.randrange(start, end)
        damaged.bytes[at] ^= dice.randrange(1, 256)
        data = good.copy()
        damaged.write(os.path.join(data, "perf.data"))
        done, streams = read(data)
        if streams is None:
            problems += [f"byte {at}: {line}" for line in refused(done)]
    return problems


def newer_format(good):
    problems = []
    data = good.copy()
    with open(good.code_table(data), encoding="utf-8") as file:
        text = file.read()
    header = json.loads(text.splitlines()[0])
    for key in ("ocular", "markers"):
        with open(good.code_table(data), "w", encoding="utf-8") as file:
            file.writelines([json.dumps({**header, key: 99}) + "\n", *text.splitlines(True)[1:]])
        problems += [f"code table, {key}: {line}" for line in refused_report(good, data, "newer")]
    data = good.copy()
    damaged = perffile.PerfFile(good.path)
    hello = perffile.hello(header["markers"])
    if hello not in damaged.bytes:
        problems.append("no HELLO of the version that the code table says")
    while (at := damaged.bytes.find(hello)) >= 0:
        damaged.bytes[at] = 99
    damaged.write(os.path.join(data, "perf.data"))
    return problems + [f"marker: {line}" for line in refused_report(good, data, "newer")]


def unwritable_output(good):
    problems = []
    for option in ("--perfetto", "--summary", "--events"):
        for path in ("/no/such/folder/out", good.folder, "/dev/full"):
            done = ocular("report", good.data, option, path)
            problems += [f"{option} {path}: {line}" for line in refused(done, path)]
    return problems


def unknown_argument(good):
    problems = []
    for argument in ("nonsense=1", "loops=many", "loops=-1", "time=x", "time=5,1", "color=red", "console=perhaps",
                     "perfetto"):
        done = recording.perf(good.data, argument)
        said = [line for line in done.stderr.splitlines() if line.startswith("ocular:")]
        if len(said) != 1 or done.returncode == 0 or done.stdout:
            problems.append(f"{argument}: status {done.returncode}, {said}, {len(done.stdout)} bytes of output")
    return problems


def wrong_usage(good):
    """Status 2, nothing recorded, nothing overwritten."""
    here = os.path.join(good.folder, "usage")
    os.makedirs(here, exist_ok=True)
    record = ["record", "--python", good.python]
    commands = (record, [*record, "--mode", "fast", "x.py"], [*record, "--nonsense", "x.py"], [*record, "-o"],
                [*record, "--ring-records", "100", "-c", "1"], [*record, "--wait-ms", "soon", "-c", "1"],
                ["report", "--nonsense"], ["report", good.data, "more"], ["nonsense"])
    problems = [f"{' '.join(command)}: {line}" for command in commands
                for line in refused(ocular(*command, cwd=here), status=2)]
    return problems + [f"left behind: {name}" for name in os.listdir(here)]


def cannot_record(good):
    """Into a folder without write permission, with no such program, with no such interpreter."""
    python = ["--python", good.python]
    cases = {"output in no folder": (*python, "-o", "/no/such/folder/rec", "-c", "print(1)"),
             "output is a file": (*python, "-o", good.path, "-c", "print(1)"),
             "no such interpreter": ("--python", "/no/such/python", "-c", "print(1)"),
             "no Python": ("--python", "/bin/true", "-c", "print(1)")}
    problems = []
    for name, arguments in cases.items():
        done = ocular("record", *arguments, cwd=good.folder)
        problems += [f"{name}: {line}" for line in refused(done)]
        problems += [f"{name}: it ran: {done.stdout!r}"] if done.stdout else []
    return problems


def old_python():
    """An interpreter older than 3.12, if there is one."""
    for name in (sys.executable, "/usr/bin/python3", "python3.11", "python3.10", "python3.9"):
        path = shutil.which(name)
        if path and tuple(map(int, recording.version(path).split("."))) < (3, 12):
            return path
    return None


def too_old(good):
    python = old_python()
    done = ocular("record", "-o", os.path.join(good.folder, "old"), "--python", python, "-c", "print(1)")
    problems = refused(done, "3.12") + ([f"it ran: {done.stdout!r}"] if done.stdout else [])
    package = recording.run([python, "-m", "ocular", "-c", "print(1)"], cwd=good.folder,
                            env=recording.plain_environment(PYTHONPATH=os.path.join(recording.BUILD, "python")))
    return problems + [f"python -m ocular: {line}" for line in refused(package, "3.12")]


CASES = {
    "not a perf.data": not_a_perf_data,
    "a perf.data without Intel PT": without_intel_pt,
    "no recording": no_recording,
    "cut at every 4 KiB": cut,
    "no code table": no_code_table,
    "a damaged code table": damaged_code_table,
    "a code table that is no file": table_that_is_no_file,
    "a trace that is no file": trace_that_is_no_file,
    "names that a terminal would obey": names_that_a_terminal_would_obey,
    "foreign PTWRITEs": foreign,
    "one byte changed in the trace": flipped,
    "a newer format": newer_format,
    "unwritable output": unwritable_output,
    "unknown --dlarg": unknown_argument,
    "wrong usage": wrong_usage,
    "cannot record": cannot_record,
}


def main():
    pythons = recording.pythons()
    recording.need_built()
    with Plan() as plan:
        for python in pythons:
            version = recording.version(python)
            with recording.scratch() as folder:
                good = Good(python, folder)
                for name, function in CASES.items():
                    plan.case(f"{version} {name}", function, good)
                if old_python():
                    plan.case(f"{version} a Python older than 3.12", too_old, good)
                else:
                    plan.skip(f"{version} a Python older than 3.12", "none here")


if __name__ == "__main__":
    main()
