#!/usr/bin/env python3
"""The emulated processor: what it writes is what ran, according to other decoders and another tracer.

A C program that executes PTWRITE shows the packets: libipt's instruction decoder and stock perf follow the
branches and must meet exactly the instructions that the emulator counted; a ptrace stepper, which knows
nothing of the emulator, must have met the same ones.
"""

import os
import struct
import subprocess

import recording
from tap import Plan

QEMU = os.path.join(recording.BUILD, "bin", "ocular-qemu")
PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
SOURCES = os.path.join(recording.HERE, "qemu")
ACTS = ("words", "forms", "threads", "forks", "signals", "strings", "jumps", "deep", "children words")
BRANCHES = (("branch=1",), ("branch=1", "noretcomp=1"), ("branch=1", "fup_on_ptw=1", "psb=256"),
            ("branch=1", "mtc=1", "mtc_period=3"), ("branch=1", "cyc=0"), ("branch=1", "defer=64"))


def compile_program(folder, name, *libraries):
    out = os.path.join(folder, name)
    subprocess.run(["cc", "-O1", "-g", "-D_GNU_SOURCE", "-o", out, os.path.join(SOURCES, name + ".c"), "-pthread",
                    *libraries], check=True)
    return out


class Truth:
    """The emulator's own notes: words in order for each thread, and what each trace had."""

    def __init__(self, path):
        self.words, self.lost, self.traces, self.places = {}, {}, [], []
        with open(path, encoding="ascii") as lines:
            for line in lines:
                kind, *rest = line.split()
                if kind in ("word", "lost"):
                    _, tid, tsc, count, word, idx, end = rest
                    self.places.append((int(idx), int(end), int(tsc), int(tid), int(word, 16)))
                    (self.words if kind == "word" else self.lost).setdefault(int(tid), []).append((int(tsc), int(count), int(word, 16)))
                elif kind == "trace":
                    self.traces.append([int(n) for n in rest])

    def all_words(self):
        return sum(len(words) for words in self.words.values())

    def instructions(self):
        return sum(trace[4] for trace in self.traces)

    def surprises(self):
        return sum(trace[5] for trace in self.traces)


def emulate(folder, settings, command, **kw):
    """Records a command; the recording's folder and the truth."""
    data, truth = os.path.join(folder, "data"), os.path.join(folder, "truth")
    words = [word for setting in settings for word in ("-s", setting)]
    kw.setdefault("env", recording.plain_environment())
    done = recording.run([QEMU, "-q", "-o", data, "--truth", truth, *words, "--", *command], **kw)
    return data, Truth(truth) if os.path.exists(truth) else None, done


def records(path):
    """(type, bytes, what follows an AUXTRACE) of each record of a perf.data."""
    with open(path, "rb") as file:
        data = file.read()
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        record, at = data[at:at + length], at + length
        payload = b""
        if kind == 71:
            payload = data[at:at + struct.unpack_from("<Q", record, 8)[0]]
            at += len(payload)
        yield kind, record, payload


class Traces:
    """The traces of a recording, by idx, and where its images are mapped, by pid."""

    def __init__(self, folder):
        self.bytes, self.tids, self.images, self.pids = {}, {}, {}, {}
        parents = {}
        for kind, record, payload in records(os.path.join(folder, "perf.data")):
            if kind == 71:
                idx, tid = struct.unpack_from("<II", record, 32)
                self.bytes[idx] = self.bytes.get(idx, b"") + payload
                self.tids[idx] = tid
            elif kind == 10:
                pid, _, start, size, offset = struct.unpack_from("<IIQQQ", record, 8)
                file = record[72:].split(b"\0")[0].decode()
                self.images.setdefault(pid, []).append((start, size, offset, file))
            elif kind == 3:
                pid, tid = struct.unpack_from("<II", record, 8)
                self.pids[tid] = pid
            elif kind == 7:
                pid, parent = struct.unpack_from("<II", record, 8)
                parents[pid] = parent
        for pid, parent in parents.items():
            if pid != parent:
                self.images[pid] = self.images.get(parent, []) + self.images.get(pid, [])

    def arguments(self, idx):
        """For follow: the images of the process whose thread the trace is of."""
        pid = self.pids[self.tids[idx]]
        return [word for start, size, offset, file in self.images[pid]
                for word in (f"{start:x}", f"{size:x}", f"{offset:x}", file)]


def follow(tools, traces, idx, *region):
    path = os.path.join(tools, "trace")
    with open(path, "wb") as file:
        file.write(traces.bytes[idx])
    done = recording.run([os.path.join(tools, "follow"), path, *region, "--", *traces.arguments(idx)])
    *lines, last = done.stdout.splitlines()
    return lines, dict(zip(*[iter(last.split())] * 2)), done.stderr


def by_libipt(tools, settings, act):
    """libipt's instruction decoder meets the instructions that the emulator counted, and every PTWRITE."""
    with recording.scratch() as folder:
        data, truth, done = emulate(folder, settings, [os.path.join(tools, "words"), *act.split()])
        problems = [] if done.returncode == 7 else [f"exit status {done.returncode}: {done.stderr}"]
        traces = Traces(data)
        total = {"instructions": 0, "words": 0, "errors": 0}
        for idx in traces.bytes:
            _, counts, errors = follow(tools, traces, idx)
            problems += errors.splitlines()[:3]
            total = {name: total[name] + int(counts[name]) for name in total}
        expected = {"instructions": truth.instructions(), "words": truth.all_words(), "errors": 0}
        if truth.surprises():
            problems.append(f"{truth.surprises()} surprises")
        return problems + ([] if total == expected else [f"libipt {total}, the emulator {expected}"])


def by_perf(tools, settings, act):
    """Stock perf meets the same instructions, without an error, and every PTWRITE."""
    with recording.scratch() as folder:
        data, truth, _ = emulate(folder, settings, [os.path.join(tools, "words"), *act.split()])
        path = os.path.join(data, "perf.data")
        done = recording.run(["perf", "script", "-i", path, "--itrace=i1iwe", "-F", "event"])
        lines = done.stdout.split()
        found = sum(line.startswith("instructions") for line in lines), sum(line.startswith("ptwrite") for line in lines)
        expected = truth.instructions(), truth.all_words()
        problems = [] if "error" not in done.stdout + done.stderr else [done.stderr]
        return problems + ([] if found == expected else [f"perf {found}, the emulator {expected}"])


def by_stepping(tools, act):
    """A ptrace stepper meets the same instructions of the program's own code, one by one."""
    program = os.path.join(tools, "words")
    with recording.scratch() as folder:
        data, _, _ = emulate(folder, ("branch=1",), [program, act])
        traces = Traces(data)
        images = [i for i in traces.images[traces.tids[0]] if i[3] == program]
        start, end = min(i[0] for i in images), max(i[0] + i[1] for i in images)
        lines, _, errors = follow(tools, traces, 0, f"{start:x}", f"{end:x}")
        stepped = recording.run([os.path.join(tools, "stepper"), program, act]).stdout.split()
        if errors or len(lines) < 100:
            return [errors, f"{len(lines)} instructions"]
        return [] if lines == stepped else [f"{len(lines)} instructions here, {len(stepped)} stepped"]


def words_of(data, itrace="wqe"):
    """Each PTWRITE by both decoders: (time, pid, tid), which must be equal, and perf's payloads."""
    path = os.path.join(data, "perf.data")
    text = recording.run(["perf", "script", "-i", path, f"--itrace={itrace}", "--ns", "-F", "tid,pid,time,event,trace,synth"])
    perf = []
    for line in text.stdout.splitlines():
        if "ptwrite" in line:
            task, time, _ = line.split(None, 2)
            payload = int(line.split("payload:")[1].split()[0], 16)
            perf.append((int(time.rstrip(":").replace(".", "")), int(task.split("/")[1]), payload))
    return perf, text.stderr


def words(tools, settings, act):
    """Through perf each word is there with the time at which the emulator executed it."""
    with recording.scratch() as folder:
        data, truth, _ = emulate(folder, settings, [os.path.join(tools, "words"), *act.split()])
        perf, errors = words_of(data)
        expected = sorted((tsc, tid, word) for tid, all_of_it in truth.words.items() for tsc, _, word in all_of_it)
        if sorted(perf) != expected:
            differ = [pair for pair in zip(sorted(perf), expected) if pair[0] != pair[1]][:3]
            return [f"{len(perf)} words by perf, {len(expected)} executed", str(differ), errors]
        return [] if len(expected) >= 4 else ["hardly any word"]


def symbols_met(data):
    """How many instructions and PTWRITEs perf meets in each function: {(event, symbol): number}."""
    done = recording.run(["perf", "script", "-i", os.path.join(data, "perf.data"), "--itrace=i1iwe", "-F", "event,ip,sym"])
    met = {}
    for line in done.stdout.splitlines():
        event, _, symbol = line.split(None, 2)
        met[event, symbol] = met.get((event, symbol), 0) + 1
    return met, done.stderr


def filtered(tools):
    """With an address filter just that function's instructions and words are there."""
    program = os.path.join(tools, "words")
    rows = [line.split() for line in recording.run(["nm", "-S", program]).stdout.splitlines()]
    at, size = next((row[0], row[1]) for row in rows if row[-1] == "recurse" and len(row) == 4)
    with recording.scratch() as folder, recording.scratch() as other:
        everything, _ = symbols_met(emulate(folder, ("branch=1",), [program, "deep", "words"])[0])
        only, errors = symbols_met(emulate(other, ("branch=1", f"filter={at}/{size}@{program}"),
                                           [program, "deep", "words"])[0])
        expected = {key: count for key, count in everything.items() if key[1] == "recurse"}
        if errors or only != expected or len(expected) != 2:
            return [f"{only} and not {expected}", errors]
        return []


def coarse(tools):
    """With CycThresh a CYC comes when enough cycles have passed and has all of them, and no time is later than it was.

    So a word's time is behind by less than the threshold; both decoders say the same.
    """
    thresh, problems = 7, []
    with recording.scratch() as folder:
        data, truth, _ = emulate(folder, ("branch=1", f"cyc_thresh={thresh}"), [os.path.join(tools, "words"), "threads"])
        expected = {tid: [(tsc, word) for tsc, _, word in all_of_it] for tid, all_of_it in truth.words.items()}
        perf, errors = words_of(data)
        behind = []
        for tid, executed in expected.items():
            found = [(time, word) for time, who, word in perf if who == tid]
            if [word for _, word in found] != [word for _, word in executed]:
                problems.append(f"thread {tid}: {len(found)} words of {len(executed)}")
            behind += [tsc - time for (time, _), (tsc, _) in zip(found, executed)]
        if problems or not behind or min(behind) < 0 or max(behind) >= 2 ** (thresh - 1) or max(behind) < 8:
            problems += [f"{len(behind)} words, {min(behind, default=0)} to {max(behind, default=0)} cycles behind", errors]
        done = recording.run([PT, "events=-", data])
        found = sorted((int(line.split("\t")[0]), int(line.split("\t")[2]))
                       for line in done.stdout.splitlines() if "FOREIGN" in line)
        if found != sorted(row[:2] for row in perf):
            problems.append(f"ocular-pt {len(found)} words, perf {len(perf)}")
    return problems


def emulated_words(tools):
    """perf reads words out of branches that lead to the same place taken or not, wherever PSBs and records end.

    perf looks for the 64 bits of a word in one AUXTRACE record: the emulator must not end one among them.
    """
    problems, acts = [], 200
    for psb in (256, 0x10000000):
        with recording.scratch() as folder:
            data, _, _ = emulate(folder, ("branch=1", f"psb={psb}"), [os.path.join(tools, "words"), *["branches"] * acts])
            path = os.path.join(data, "perf.data")
            text = recording.run(["perf", "script", "-i", path, "--itrace=we", "-F", "event,trace,synth"])
            found = [int(line.split("payload:")[1].split()[0], 16) for line in text.stdout.splitlines() if "payload" in line]
            expected = [i * 0x9E3779B97F4A7C15 % 2**64 for i in range(200)] * acts
            if found != expected:
                problems += [f"psb={psb}: {len(found)} words: {found[:3]}", text.stderr]
            if sum(kind == 71 for kind, _, _ in records(path)) < 3:
                problems.append(f"psb={psb}: hardly any record's end")
    return problems


def through_both(tools, settings, act):
    """Each word that was not lost is there, with its thread and its time, by both decoders: nothing else is.

    By perf both from packets as they come and by walking the code.
    """
    with recording.scratch() as folder:
        data, truth, _ = emulate(folder, settings, [os.path.join(tools, "words"), act])
        expected = sorted((tsc, tid, word) for tid, all_of_it in truth.words.items() for tsc, _, word in all_of_it)
        problems = [f"{truth.surprises()} surprises"] if truth.surprises() else []
        for itrace in ("wqe", "we"):
            perf, errors = words_of(data, itrace)
            if sorted(perf) != expected or len(expected) < 80:
                differ = [pair for pair in zip(sorted(perf), expected) if pair[0] != pair[1]][:3]
                problems += [f"{act}, {itrace}: perf {len(perf)} words, {len(expected)} executed", str(differ), errors[-300:]]
        done = recording.run([PT, "events=-", data])
        found = sorted((int(line.split("\t")[0]), int(line.split("\t")[2]))
                       for line in done.stdout.splitlines() if "FOREIGN" in line)
        if found != [row[:2] for row in expected]:
            problems.append(f"{act}: ocular-pt {len(found)} words, {len(expected)} executed")
        return problems, truth, errors + done.stderr


def losing(tools, how, cases, told):
    """Storms: of every 2 N words N are lost, and both decoders say how often (an overflow says so at its end)."""
    problems = []
    for branch in (0, 1):
        for each, act in cases:
            found, truth, said = through_both(tools, (f"branch={branch}", f"{how}={each}"), act)
            lost = [len(words) for words in truth.lost.values()]
            times = sum(number // each if how == "overflow" else -(-number // each) for number in lost)
            if not lost or f"{times} instruction trace errors" not in said or f"{times} {told}" not in said:
                found += [f"{times} times, {lost} lost", said]
            problems += [f"branch={branch}, {how}={each}: {line}" for line in found]
    return problems


def in_snapshots(data, truth):
    """Words in a snapshot after a PSB, and all that are in none: [(tsc, tid, word)]."""
    seen, snapshots = set(), 0
    for kind, record, payload in records(os.path.join(data, "perf.data")):
        psb = payload.find(b"\x02\x82" * 8) if kind == 71 else -1
        snapshots += kind == 71
        if psb < 0:
            continue
        start, idx = struct.unpack_from("<Q", record, 16)[0], struct.unpack_from("<I", record, 32)[0]
        seen.update(row for row in truth.places if row[0] == idx and start + psb < row[1] <= start + len(payload))
    return sorted(row[2:] for row in seen), [row[2:] for row in truth.places if row not in seen], snapshots


def snapshots(tools):
    """A buffer that is overwritten: each word in it when it is read is there once, through both decoders.

    If it is read often, it still has what was read before, and nothing is missing.
    """
    problems = []
    for often, settings in ((True, ("snapshot=4096", "every=100")), (False, ("snapshot=2048", "every=300")),
                            (False, ("snapshot=4096",)), (True, ("snapshot=4096", "every=150", "migrate=40")),
                            (False, ("snapshot=2048", "every=300", "migrate=40")),
                            (False, ("snapshot=4096", "every=500", "branch=1"))):
        with recording.scratch() as folder:
            data, truth, _ = emulate(folder, (*settings, "psb=512"), [os.path.join(tools, "words"), "threads", "words"])
            expected, missing, count = in_snapshots(data, truth)
            perf, errors = words_of(data)
            if sorted(perf) != expected or len(expected) < 100 or often != (len(missing) < 100) or count < 2:
                problems += [f"{settings}: perf {len(perf)} words, {len(expected)} in {count} snapshots", errors[-300:]]
            done = recording.run([PT, "events=-", data])
            found = sorted((int(line.split("\t")[0]), int(line.split("\t")[2]))
                           for line in done.stdout.splitlines() if "FOREIGN" in line)
            if found != [row[:2] for row in expected]:
                problems.append(f"{settings}: ocular-pt {len(found)} words, {len(expected)} in {count} snapshots")
    return problems


def migrations(tools):
    """Threads that go from CPU to CPU; with branches perf follows them there."""
    problems = []
    for settings, act in ((("branch=0", "migrate=3"), "threads"), (("branch=1", "migrate=3"), "threads"),
                          (("branch=1", "migrate=2"), "jumps")):
        found, truth, said = through_both(tools, settings, act)
        if len({trace[3] for trace in truth.traces}) < 2 or "trace error" in said:
            found += [f"{len(truth.traces)} CPUs", said]
        problems += found + (by_perf(tools, settings, act) if "branch=1" in settings else [])
    return problems


def migrations_of_both(tools):
    """Emulated words among executed ones, of threads that go from CPU to CPU: each belongs to its thread, in order."""
    with recording.scratch() as folder:
        data, truth, _ = emulate(folder, ("branch=1", "migrate=3"), [os.path.join(tools, "words"), "mixed"])
        expected = {tid: [each for _, _, word in all_of_it for each in (word, 1 << 63 | word)]
                    for tid, all_of_it in truth.words.items()}
        perf, errors = words_of(data, "we")
        found = {tid: [word for _, who, word in perf if who == tid] for tid in {row[1] for row in perf}}
        problems = [f"thread {tid}: {len(found.get(tid, ()))} words of {len(words)}"
                    for tid, words in expected.items() if found.get(tid) != words]
        if problems or found.keys() != expected.keys() or len(expected) != 4 or len({trace[3] for trace in truth.traces}) < 2:
            problems += [f"{len(found)} threads, {len(truth.traces)} traces", errors[-300:]]
        return problems


def main():
    recording.need_built()
    recording.need_qemu()
    with Plan() as plan, recording.scratch() as tools:
        for name, libraries in (("words", ()), ("follow", ("-lipt",)), ("stepper", ())):
            compile_program(tools, name, *libraries)
        for act in ACTS:
            plan.case(f"{act}: perf reads each word at its time", words, tools, ("branch=0",), act)
        for settings in BRANCHES:
            for act in ACTS if settings == BRANCHES[0] else ("deep", "signals"):
                plan.case(f"{act}, {','.join(settings)}: libipt follows", by_libipt, tools, settings, act)
            plan.case(f"jumps, {','.join(settings)}: perf follows", by_perf, tools, settings, "jumps")
        plan.case("perf's emulated PTWRITE", emulated_words, tools)
        plan.case("overflow storms", losing, tools, "overflow", ((7, "threads"), (60, "jumps")), "overflows in the processor")
        plan.case("a full trace buffer", losing, tools, "full", ((300, "threads"), (11, "jumps")), "trace buffers were full")
        plan.case("snapshots of a buffer that is overwritten", snapshots, tools)
        plan.case("threads that migrate between CPUs", migrations, tools)
        plan.case("threads that migrate between executed words and emulated ones", migrations_of_both, tools)
        plan.case("an address filter", filtered, tools)
        plan.case("a threshold for CYC packets", coarse, tools)
        for act in ("deep", "strings", "jumps"):
            plan.case(f"{act}: stepped the same", by_stepping, tools, act)


if __name__ == "__main__":
    main()
