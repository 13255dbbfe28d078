#!/usr/bin/env python3
"""Call trees in speedscope's own importer: its own format, and the folded stacks that many tools read.

The program and its witness are those of test_viewers.py. Each thread must have the paths of calls that the
witness saw, each once, and as long as all calls that took it together.
"""

import collections
import json
import os

import test_viewers
from test_viewers import POP, PUSH, differs
import recording
from tap import Plan


def paths(events):
    """All paths of calls as tuples of names, as often as they were taken."""
    stack, found = [], {}
    for event in events:
        if event.event in PUSH:
            stack.append((event.qualname, event.file, event.firstlineno))
            found[tuple(stack)] = found.get(tuple(stack), 0) + 1
        elif event.event in POP:
            stack.pop()
    return found


class Recording:
    def __init__(self, python, packages, folder):
        self.packages, self.folder = packages, folder
        data = os.path.join(folder, "data")
        environment = recording.traced_environment("calls", recording.WITNESS_HOOK, TRUTH_DIR=folder, TRUTH_MODE="calls")
        done = recording.record(data, [python, "-c", test_viewers.PROGRAM], environment)
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.speedscope, self.collapsed = (os.path.join(folder, name) for name in ("s.json", "c.txt"))
        recording.report(data, f"speedscope={self.speedscope}", f"collapsed={self.collapsed}")
        self.summary = recording.summary(data)
        threads = recording.truth(folder)
        self.truth = {tid: paths(events) for (pid, tid), events in threads.items() if tid != pid}

    def ask(self, path):
        done = recording.run(["node", os.path.join(recording.ROOT, "tests", "viewers", "speedscope.js"),
                              self.packages, path])
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        answer = json.loads(done.stdout)
        said = [line for line in answer["said"] if not line.startswith("Importing as")]
        return answer["profiles"], said


def merged_width(made, name, weight):
    """(Found, wanted) of the profile of all threads: their time on a CPU if it is known of all."""
    rows = made.summary["functions"] + made.summary["collections"]
    if None in [row["self_cpu_ns"] for row in rows]:
        return (name, weight), ("all threads: wall time", sum(row["self_ns"] for row in rows))
    return (name, weight), ("all threads: time on a CPU", sum(row["self_cpu_ns"] for row in rows))


def own_format(made):
    (merged, *profiles), said = made.ask(made.speedscope)
    said += differs(*merged_width(made, merged["name"], merged["weight"]))
    found = {int(row["name"].rpartition("tid ")[2].rstrip(")")): (row["calls"], row["depth"]) for row in profiles}
    found = {tid: row for tid, row in found.items() if tid in made.truth}
    return said + differs(found, {tid: (len(taken), max(map(len, taken))) for tid, taken in made.truth.items()})


def names(made):
    with open(made.speedscope, encoding="utf-8") as file:
        frames = {(row["name"], row["file"]) for row in json.load(file)["shared"]["frames"]}
    wanted = {frame[:2] for taken in made.truth.values() for path in taken for frame in path}
    return [f"no frame {frame}" for frame in wanted - frames]


def folded(made):
    """One profile, whose length is the time of all functions."""
    profiles, said = made.ask(made.collapsed)
    own = sum(row["self_ns"] for row in made.summary["functions"] + made.summary["collections"])
    deepest = max(len(path) for taken in made.truth.values() for path in taken)
    return said + differs([(row["weight"], row["depth"] >= deepest) for row in profiles], [(own, True)])


def folded_lines(made):
    """Every path of the workers is there once, because the threads of one process are added up.

    Code objects of one name are lines of their own, so that is not so of all stacks: exec'ed code has such ones.
    """
    with open(made.collapsed, encoding="utf-8") as file:
        stacks = [line.rpartition(" ")[0] for line in file]
    found = collections.Counter(tuple(frame.partition(" (")[0] for frame in stack.split(";")) for stack in stacks)
    wanted = {tuple(frame[0] for frame in path) for taken in made.truth.values() for path in taken}
    return [f"{found[path]} times: {path}" for path in sorted(wanted) if found[path] != 1]


def odd(made):
    """Names of all kinds, and no event at all."""
    golden = os.path.join(recording.ROOT, "tests", "golden")
    found = {name: made.ask(os.path.join(golden, name, "speedscope.json")) for name in ("names", "no_event")}
    weights = {name: [row["weight"] for row in profiles] for name, (profiles, _) in found.items()}
    return [line for _, said in found.values() for line in said] + differs(weights, {"names": [70], "no_event": [0]})


CASES = {
    "speedscope: paths and depth of threads": own_format,
    "speedscope: names of frames": names,
    "speedscope: odd names, no event": odd,
    "folded stacks: all time in one profile": folded,
    "folded stacks: each path once": folded_lines,
}


def main():
    pythons = recording.pythons()
    recording.need_built()
    packages = test_viewers.install()
    with Plan() as plan:
        for python in pythons:
            with recording.scratch() as folder:
                made = Recording(python, packages, folder)
                for name, function in CASES.items():
                    plan.case(f"{recording.version(python)} {name}", function, made)


if __name__ == "__main__":
    main()
