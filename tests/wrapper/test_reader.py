#!/usr/bin/env python3
"""Who reads a recording: ocular-pt, without perf on the PATH; perf where only perf knows all, and one line says so.

The recordings: those of earlier markers (tests/recordings), and others put together packet by packet. What each report
has to say is known from these, not from the reader.
"""

import gzip
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "doors"))

import ptmade  # noqa: E402
import recording  # noqa: E402
from tap import Plan  # noqa: E402

KEPT = os.path.join(HERE, "..", "recordings", "v1")
NOTES = '#!/bin/sh\necho called >>"$NOTED"\n%s\n'


def kept(name):
    """Makes a function that unpacks a recording of an earlier Ocular into a folder."""
    def make(folder):
        for path in glob.glob(os.path.join(KEPT, name, "*.gz")):
            with gzip.open(path) as packed, open(os.path.join(folder, os.path.basename(path)[:-3]), "wb") as out:
                out.write(packed.read())
    return make


def made(bits=0, backend="ptwrite", without=0, **setup):
    """Makes a function that writes a recording of two words into a folder."""
    def make(folder):
        how = ptmade.Setup(ptmade.random.Random(1), **{"cyc": 1, "mtc": 0, "fup_on_ptw": False, **setup})
        config = (how.config() | bits) & ~without
        how.config = lambda: config
        file = ptmade.File(how)
        file.comm(100, 100)
        words = [1 << 59 | 0x4F434C << 28 | 1, 4 << 59 | 1 << 52 | 100_001 << 28]
        packets = [ptmade.PSB, ptmade.tsc(1000000), ptmade.cbr(7), ptmade.PSBEND]
        packets += [packet for word in words for packet in (ptmade.cyc(1000), ptmade.ptw(word))]
        file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, b"".join(packets))
        file.write(os.path.join(folder, "perf.data"))
        with open(os.path.join(folder, "codes-100.jsonl"), "w", encoding="utf-8") as table:
            table.write(ptmade.code_table().replace('"ptwrite"', f'"{backend}"'))
    return make


# (what it is, how it is made, a function it has, why perf reads it)
RECORDINGS = (
    ("rings", kept("software"), "demo", None),
    ("PTWRITE on the emulated processor", kept("ptwrite"), "demo", None),
    ("the end of a full buffer", kept("middle"), "demo", None),
    ("PTWRITE", made(), "f100001", None),
    ("PTWRITE and branches", made(ptmade.CONFIG_BRANCH), "f100001", None),
    ("PTWRITE, thread switches as tracepoints", made(switches=1, cpus=1), "f100001", "sched:sched_switch"),
    ("PTWRITE and the kernel's branches, by CPU", made(ptmade.CONFIG_BRANCH, switches=3, cpus=1), "f100001",
     "the kernel's branches"),
    ("PTWRITE without times", made(without=ptmade.CONFIG_TSC), "f100001", "without times"),
    ("PTWRITE by branches", kept("emulated"), None, "backend emulated"),
    ("one process of it by branches", made(ptmade.CONFIG_BRANCH, backend="emulated"), "f100001", "backend emulated"),
)


class Machine:
    """A PATH with every program of this machine but perf; perf there is what a test puts there."""

    def __init__(self, folder):
        self.bin, self.noted = os.path.join(folder, "bin"), os.path.join(folder, "noted")
        os.mkdir(self.bin)
        for where in ("/usr/bin", "/bin"):
            for name in os.listdir(where):
                if name != "perf" and not os.path.lexists(os.path.join(self.bin, name)):
                    os.symlink(os.path.join(where, name), os.path.join(self.bin, name))

    def put(self, perf):
        """perf: a script's text; None: no perf."""
        path = os.path.join(self.bin, "perf")
        for old in path, self.noted:
            if os.path.lexists(old):
                os.unlink(old)
        if perf is not None:
            with open(path, "w", encoding="utf-8") as out:
                out.write(NOTES % perf)
            os.chmod(path, 0o755)

    def ocular(self, *arguments):
        env = recording.plain_environment(PATH=self.bin, NOTED=self.noted, PYTHON=recording.pythons()[0])
        return recording.run([recording.WRAPPER, *arguments], env=env)

    def called(self):
        return os.path.exists(self.noted)


def reads_alone(machine, data, function):
    """Every command that reads, with no perf at all."""
    problems = []
    sinks = "html", "summary", "perfetto", "events", "collapsed", "pstats"
    outputs = {sink: os.path.join(data, "out." + sink) for sink in sinks}
    machine.put(None)
    done = machine.ocular("report", data, *(word for sink, path in outputs.items() for word in ("--" + sink, path)))
    if done.returncode or function not in done.stdout:
        problems.append(f"report: {done.returncode} {done.stderr} {done.stdout[:200]}")
    problems += [f"{sink} is not there" for sink, path in outputs.items() if not os.path.exists(path)]
    done = machine.ocular("diff", data, data)
    if done.returncode:
        problems.append(f"diff: {done.returncode} {done.stderr}")
    return problems


def left_to_perf(machine, data, why):
    """perf is called, one line says why; without perf one more line, and nothing is written."""
    problems = []
    out = os.path.join(data, "out.summary")
    machine.put("echo ok >&9")
    done = machine.ocular("report", data, "--summary", out)
    told = [line for line in done.stderr.splitlines() if why in line]
    if done.returncode or not machine.called() or len(told) != 1 or "perf reads this recording: it " not in told[0]:
        problems.append(f"with perf: {done.returncode} {done.stderr}")
    machine.put(None)
    done = machine.ocular("report", data, "--summary", out)
    lines = done.stderr.splitlines()
    told = len(lines) == 2 and why in lines[0] and "perf is not installed" in lines[1]
    if done.returncode != 1 or not told or done.stdout:
        problems.append(f"without perf: {done.returncode} {done.stderr} {done.stdout}")
    return problems + ["something was written"] * os.path.exists(out)


def asked_for(machine, data, decoder, called):
    """A decoder that is named is used."""
    machine.put("echo ok >&9")
    done = machine.ocular("report", data, "--decoder", decoder)
    return [] if machine.called() == called else [f"{decoder}: {done.returncode} {done.stderr}"]


def judged(machine, make, function, why):
    with recording.scratch() as data:
        make(data)
        problems = left_to_perf(machine, data, why) if why else reads_alone(machine, data, function)
        for decoder, called in (("perf", True), ("libipt", False)):
            problems += asked_for(machine, data, decoder, called)
    return problems


def check_without_perf(machine):
    machine.put(None)
    done = machine.ocular("check")
    told = "can record and report" in done.stdout and "perf       none that runs on PATH: it would record with Intel PT" in done.stdout
    return [] if told and not done.returncode else [f"{done.returncode} {done.stdout} {done.stderr}"]


def main():
    recording.need_built()
    with recording.scratch() as folder, Plan() as plan:
        machine = Machine(folder)
        for name, make, function, why in RECORDINGS:
            plan.case(f"{name}: read by {'perf' if why else 'ocular-pt'}", judged, machine, make, function, why)
        plan.case("ocular check: a machine without perf can record and report", check_without_perf, machine)


if __name__ == "__main__":
    main()
