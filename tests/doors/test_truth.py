#!/usr/bin/env python3
"""Each program of tests/programs in each mode: what stock perf reads back is what the witness saw.

    test_truth.py [--python PY]... [--only TEXT]    (a part of "3.12 full loops")

One line a (Python, program, mode). The program runs once, under ocular-record, with the witness beside
Ocular in the same process; compare.py says how the two are aligned. Comments at a program's top:
`# preload: MODULES` (imported before the witness begins), `# exit: STATUS` (what it ends with, default 0).
"""

import glob
import itertools
import os
import re

import compare
import recording


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


def check(python, program, mode, folder):
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
    ours, owner = recording.needed(data, truth), recording.owner()
    objects = compare.compare_objects(ours, truth, owner)
    print("# events of generators compared {}, right {}; resumptions compared {}, right {}".format(*objects.events, *objects.resumptions))
    return compare.compare(ours, truth, owner)


# name: (OCULAR_INCLUDE, OCULAR_EXCLUDE, is the file included?), for programs/from_c.py, which uses json
FILTERS = {
    "include a glob": ("*/programs/*", "", lambda file: "/programs/" in file),
    "include a package": ("json", "", lambda file: "/json/" in file),
    "include a module": ("json.decoder", "", lambda file: file.endswith("/json/decoder.py")),
    "include two": ("*/from_c.py:json.encoder", "", lambda file: file.endswith(("/from_c.py", "/json/encoder.py"))),
    "exclude a package": ("", "json", lambda file: "/json/" not in file),
    "exclude beats include": ("json", "*/decoder.py",
                              lambda file: "/json/" in file and not file.endswith("/decoder.py")),
}


def only(streams, wanted):
    kept = {key: [event for event in events if wanted(event.file)] for key, events in streams.items()}
    return {key: events for key, events in kept.items() if events}


def check_filter(python, include, exclude, wanted, folder):
    """Ocular has the included ones among the witness's events, and no others."""
    environment = recording.traced_environment("full", recording.WITNESS_HOOK, TRUTH_DIR=folder, TRUTH_MODE="full",
                                               OCULAR_INCLUDE=include, OCULAR_EXCLUDE=exclude)
    data = os.path.join(folder, "data")
    recording.record(data, [python, os.path.join(recording.PROGRAMS, "from_c.py")], environment, cwd=folder)
    ours, truth = recording.events(data), only(recording.truth(folder), wanted)
    unwanted = {event.file for events in ours.values() for event in events} - {
        event.file for events in only(ours, wanted).values() for event in events}
    problems = [f"not wanted: {file}" for file in sorted(unwanted)] + ([] if truth else ["nothing is wanted"])
    return problems + compare.compare(only(ours, wanted), truth, recording.owner())


LIMIT_PROGRAM = """
def down(n):
    global depth
    depth = n
    down(n + 1)
try:
    down(1)
except RecursionError:
    print(depth)
"""


def check_recursion_limit(python, folder):
    """The witness needs frames of its own and would meet the limit first, so this one is counted by hand."""
    data = os.path.join(folder, "data")
    done = recording.record(data, [python, "-c", LIMIT_PROGRAM], recording.traced_environment("calls"), cwd=folder)
    (events,) = recording.events(data).values()
    down = [event.event for event in events if event.qualname == "down"]
    depth = int(done.stdout)
    wanted = ["PY_START"] * depth + ["PY_UNWIND"] * depth
    return [] if down == wanted else [f"depth {depth}, but {down.count('PY_START')} starts, "
                                      f"{down.count('PY_UNWIND')} unwinds of {len(down)} events"]


def cases(python, _):
    """(name, function and its arguments but for the folder)."""
    version = recording.version(python)
    yield f"{version} calls, the recursion limit", check_recursion_limit, python
    for name, filters in FILTERS.items():
        yield f"{version} full, {name}", check_filter, python, *filters
    programs = [Program(path) for path in sorted(glob.glob(os.path.join(recording.PROGRAMS, "*.py")))]
    for program, mode in itertools.product(programs, recording.MODES):
        yield f"{version} {mode} {program.name}", check, python, program, mode


if __name__ == "__main__":
    recording.run_cases(cases)
