#!/usr/bin/env python3
"""Each program of tests/programs in each mode: what stock perf reads back is what the witness saw.

    test_truth.py [--python PY]...

One line a (Python, program, mode). The program runs once, under ocular-record, with the witness beside
Ocular in the same process; compare.py says how the two are aligned. Comments at a program's top:
`# preload: MODULES` (imported before the witness begins), `# exit: STATUS` (what it ends with, default 0).
"""

import glob
import os
import re

import compare
import recording
from tap import Plan


class Program:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[:-3]
        with open(path, encoding="utf-8") as file:
            source = file.read()
        self.preload = self.told("preload", source, "")
        self.status = int(self.told("exit", source, "0"))

    @staticmethod
    def told(key, source, default):
        found = re.search(rf"^# {key}: (.*)", source, re.MULTILINE)
        return found[1] if found else default


def check(program, mode, python, folder):
    """Problems as lines; none when every stream agrees."""
    environment = recording.traced_environment(mode, recording.WITNESS_HOOK, TRUTH_DIR=folder, TRUTH_MODE=mode,
                                               TRUTH_PRELOAD=program.preload)
    data = os.path.join(folder, "data")
    done = recording.record(data, [python, program.path], environment, cwd=folder)
    if done.returncode != program.status:
        return [f"exit status {done.returncode}, not {program.status}", *done.stderr.splitlines()]
    truth = recording.truth(folder)
    if not truth:
        return ["the witness wrote nothing", *done.stderr.splitlines()]
    return compare.compare(recording.events(data), truth, recording.owner())


def main():
    pythons = recording.pythons()
    recording.need_built()
    programs = [Program(path) for path in sorted(glob.glob(os.path.join(recording.PROGRAMS, "*.py")))]
    with Plan() as plan:
        for python in pythons:
            version = recording.version(python)
            for program in programs:
                for mode in recording.MODES:
                    with recording.scratch() as folder:
                        plan.case(f"{version} {mode} {program.name}", check, program, mode, python, folder)


if __name__ == "__main__":
    main()
