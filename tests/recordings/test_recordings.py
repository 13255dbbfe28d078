#!/usr/bin/env python3
"""Recordings of earlier marker versions: both decoders read them, and tell what was told when they were made.

v1/ holds what Ocular recorded of demo.py (CPython 3.13.0) before there was marker version 2; the events text
beside each recording is that Ocular's own, whose lines ended with the last column that was not empty.

    software   rings, mode full
    ptwrite    PTWRITE by the emulated processor, mode adaptive
    emulated   PTWRITE by branches: perf walks the code for it, which is here too, without what else was in its
               file; ocular-pt cannot read it
    middle     PTWRITE, mode full, of which the trace buffer kept the last 4 KiB of each thread: no HELLO
"""

import glob
import gzip
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "doors"))

import recording  # noqa: E402
from tap import Plan  # noqa: E402

PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
CODE = "home/user/ocular/build/python/ocular"  # where the emulated recording's code was
COLUMNS = 12  # of the events text
BOTH = ("perf", "ocular-pt")
RECORDINGS = (("v1/software", BOTH), ("v1/ptwrite", BOTH), ("v1/middle", BOTH), ("v1/emulated", ("perf",)))


def unpack(name, folder):
    """The recording's files, and where perf finds code; returns the expected events."""
    os.makedirs(os.path.join(folder, "code", CODE))
    for path in glob.glob(os.path.join(HERE, name, "*.gz")):
        file = os.path.basename(path)[:-len(".gz")]
        where = os.path.join("code", CODE, file) if file.endswith(".so") else file
        with gzip.open(path) as packed, open(os.path.join(folder, where), "wb") as out:
            out.write(packed.read())
    with open(os.path.join(folder, "events.txt"), encoding="utf-8", newline="\n") as file:
        title, *lines = file.read().splitlines()
    return "\n".join([title, *(line + "\t" * (COLUMNS - 1 - line.count("\t")) for line in lines), ""])


def command(decoder, folder, events):
    data = os.path.join(folder, "perf.data")
    if decoder == "ocular-pt":
        return [PT, f"events={events}", folder]
    return ["perf", "script", "--symfs", os.path.join(folder, "code"), "-i", data, "--itrace=we",
            "--dlfilter", recording.PLUGIN, "--dlarg", f"events={events}"]


def reads(name, decoder):
    with recording.scratch() as folder:
        expected = unpack(name, folder)
        path = os.path.join(folder, "events")
        done = recording.run(command(decoder, folder, path), env=recording.plain_environment())
        with open(path, encoding="utf-8", newline="\n") as file:
            found = file.read()
    problems = [done.stderr.strip()] if done.returncode or done.stderr.strip() else []
    if found != expected:
        pairs = zip(found.split("\n"), expected.split("\n"))
        problems += next(([f"line {n}", a, b] for n, (a, b) in enumerate(pairs, 1) if a != b), ["not as long"])
    return problems


def main():
    recording.need_built()
    with Plan() as plan:
        for name, decoders in RECORDINGS:
            for decoder in decoders:
                plan.case(f"{name} by {decoder}", reads, name, decoder)


if __name__ == "__main__":
    main()
