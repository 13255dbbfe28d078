#!/usr/bin/env python3
"""Each program of tests/programs in each mode: what stock perf reads back is what the witness saw.

    test_truth.py [--python PY]... [--only TEXT] [--sparse]    (a part of "3.12 full loops")

One line a (Python, program, mode). The program runs once, under ocular-record, with the witness beside
Ocular in the same process; compare.py says how the two are aligned. And what Ocular sums up is the same whether it makes samples of all
events or only of those that need one. Comments at a program's top:
`# preload: MODULES` (imported before the witness begins), `# exit: STATUS` (what it ends with, default 0).

--sparse is for interpreters beside the one that has all of them, in a quarter of the time: what versions of CPython do
differently (SPECIAL), and each program in one mode, another one with each version, so that five versions beside each
other have every program in every mode. Of the filters it has one. What it chooses depends on nothing else.
"""

import difflib
import gc
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


def check(python, program, mode, folder, *options):
    """Problems as lines; none when every stream agrees. options: the recorder's."""
    environment = recording.traced_environment(mode, recording.WITNESS_HOOK, TRUTH_DIR=folder, TRUTH_MODE=mode,
                                               TRUTH_PRELOAD=program.preload)
    data = os.path.join(folder, "data")
    done = recording.record(data, [python, program.path], environment, *options, cwd=folder)
    if done.returncode != program.status:
        return [f"exit status {done.returncode}, not {program.status}", *done.stderr.splitlines()]
    truth = recording.truth(folder)
    if not truth:
        return ["the witness wrote nothing", *done.stderr.splitlines()]
    problems, objects = compare.compared(recording.needed(data, truth), truth, recording.owner())
    print("# events of generators compared {}, right {}; resumptions compared {}, right {}".format(*objects.events, *objects.resumptions))
    return problems + without_samples(data)


def without_samples(data):
    """What ocular-pt sums up where nothing wants the samples, and makes none of most events, is what it sums up of samples."""
    tool, trace = os.path.join(recording.BUILD, "bin", "ocular-pt"), os.path.join(data, "perf.data")
    sums = [recording.run([tool, "summary=-", *more, trace]) for more in ((), ("events=/dev/null",))]
    if any(done.returncode for done in sums):
        return sums[0].stderr.splitlines() + sums[1].stderr.splitlines()
    return list(difflib.unified_diff(*(done.stdout.splitlines() for done in sums), "without samples", "with", lineterm="", n=0))


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


# mode: programs whose events in it depend on the version, by its bytecode or by its sys.monitoring
SPECIAL = {
    "calls": "async_generators finalizers generators subinterpreters",  # frames, and their generators
    "adaptive": "comprehensions far_jumps generator_tree loops while_else",  # kinds of backward jumps, and inlining
    "lines": "class_bodies far_lines finally_with settrace",  # compilers' line tables; trace functions are made of events
    "precise": "code_dies coroutines handlers match_statement",  # another tool's instrumentation, and what it overwrites
    "full": "awaitables exceptions from_c syntax type_parameters",  # CALL, BRANCH, RAISE, STOP_ITERATION
}


def sparse(pairs, minor):
    """Of (name, mode), program by program: what --sparse keeps."""
    special = {(name, mode) for mode, names in SPECIAL.items() for name in names.split()}
    unknown = special - set(pairs)
    assert not unknown, f"no such programs: {unknown}"
    turn = {name: recording.MODES[(at + minor) % len(recording.MODES)] for at, name in enumerate(dict(pairs))}
    return [pair for pair in pairs if pair in special or turn[pair[0]] == pair[1]]


def cases(python, options):
    """(name, function and its arguments but for the folder)."""
    version = recording.version(python)
    programs = {program.name: program for program in map(Program, sorted(glob.glob(os.path.join(recording.PROGRAMS, "*.py"))))}
    pairs, filters = list(itertools.product(programs, recording.MODES)), list(FILTERS)
    if options.sparse:
        minor = int(version.split(".")[1])
        pairs, filters = sparse(pairs, minor), [filters[minor % len(filters)]]
    yield f"{version} calls, the recursion limit", check_recursion_limit, python
    for name in filters:
        yield f"{version} full, {name}", check_filter, python, *FILTERS[name]
    for name, mode in pairs:
        yield f"{version} {mode} {name}", check, python, programs[name], mode


if __name__ == "__main__":
    gc.disable()  # it would walk a hundred thousand events again and again, and they are no circle
    parser = recording.options()
    parser.add_argument("--sparse", action="store_true", help="a selection of the programs in the modes, in which each of both is")
    recording.run_cases(cases, parser)
