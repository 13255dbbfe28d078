#!/usr/bin/env python3
"""What recording costs pyperformance's benchmarks, beside empty callbacks of the same events, as Markdown.

    beside.py --pyperformance FOLDER [--python PY]... [--rounds N] [--modes MODE,...] [--ways WAY,...] [--only NAME,...]
              [--before TREE] [--events] [--together]

FOLDER is where `pip download --no-deps pyperformance` was unpacked. Each way to run a benchmark is a process of its own, as a user
would start it; they take turns, one run of the benchmark at a time, in an order drawn anew each round. The time is the CPU time of the
program's main thread, which no other work on the machine adds to; the programs and their recorders have a CPU each, unless --together.
With --before, a checkout of another version, built, that is a way, too: "before". --events adds how many events a run has, and what
each costs in ns.
"""

import argparse
import glob
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# Those that need no package, and the words of their command lines.
BENCHMARKS = {name: "" for name in (
    "async_generators asyncio_tcp chaos comprehensions coroutines deepcopy deltablue fannkuch float generators go hexiom json_dumps mdp nbody nqueens "
    "raytrace regex_compile richards spectral_norm").split()} | {
    "async_tree": "none", "logging": "format", "scimark": "fft"}
# Not asked for by themselves: a run takes whole seconds, or (scimark) is one of several programs.
LONG = {"async_generators", "async_tree", "asyncio_tcp", "mdp", "scimark"}
TURN_NS = 10_000_000  # a plain turn, at least: as many runs as take that

# Whose Ocular records and with which options, and what stands in for its callbacks (callbacks.py). None: nobody records.
WAYS = {
    "plain": None,
    "empty": ((), "empty"),
    "RDTSC": ((), "stamp"),
    "least": ((), "least"),
    "Ocular": ((), ""),
    "coarse": (("--clock", "coarse"), ""),
    "no identity": (("--no-identity",), ""),
    "small rings": (("--ring-records", "4096"), ""),
    "flying": (("--flight", "10ms"), ""),
    "before": ((), ""),
}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyperformance", required=True, metavar="FOLDER", help="pyperformance, unpacked")
    parser.add_argument("--python", action="append", metavar="PY", help="may be repeated (default: python3)")
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="of each benchmark (default: %(default)s)")
    parser.add_argument("--modes", default="calls,adaptive", metavar="MODES", help="with commas (default: %(default)s)")
    parser.add_argument("--ways", default="empty,Ocular,coarse", metavar="WAYS", help=f"of {', '.join(WAYS)} (default: %(default)s)")
    parser.add_argument("--only", default=",".join(sorted(BENCHMARKS.keys() - LONG)), metavar="NAMES", help="these benchmarks, with commas")
    parser.add_argument("--before", metavar="TREE", help="another version, built")
    parser.add_argument("--events", action="store_true", help="count events, too")
    parser.add_argument("--together", action="store_true", help="programs and recorders on one CPU")
    return parser.parse_args()


def find(folder, name):
    paths = glob.glob(os.path.join(folder, "**", "bm_" + name, "run_benchmark.py"), recursive=True)
    if not paths:
        sys.exit(f"beside: '{folder}' has no benchmark bm_{name}: unpack pyperformance there")
    return paths[0]


def empty_module(python, folder):
    """Builds ocular_empty for that Python."""
    script = "import sysconfig as s; print(s.get_path('include'), s.get_config_var('EXT_SUFFIX'))"
    include, suffix = subprocess.run([python, "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I" + include, "-o", os.path.join(folder, "ocular_empty" + suffix),
                    os.path.join(HERE, "ocular_empty.c")], check=True)


class Program:
    """One way to run a benchmark, which waits for its turns."""

    def __init__(self, python, path, mode, way, tree, cpus, work):
        self.data = os.path.join(work, f"{mode}-{way}".replace(" ", "-"))
        self.runs = 0
        command, more, callbacks = [python, path], *(WAYS[way] or ((), ""))
        if WAYS[way]:
            command = [os.path.join(tree, "scripts", "ocular"), "record", "-q", "-o", self.data, "--mode", mode, "--python", python, *more,
                       "--", path]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join((os.path.join(HERE, "loops"), HERE, work)), PYTHONHASHSEED="0",
                   BESIDE_WORDS=BENCHMARKS[os.path.basename(os.path.dirname(path))[3:]], BESIDE_CPU=str(cpus[-1]),
                   BESIDE_CALLBACKS=callbacks)
        self.run = subprocess.Popen(command, env=env, cwd=os.path.dirname(path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    preexec_fn=lambda: os.sched_setaffinity(0, cpus[:1]))

    def turn(self, runs):
        """(ns, page faults) of so many runs."""
        print(runs, file=self.run.stdin, flush=True)
        for line in self.run.stdout:
            if line.startswith("@"):
                *measured, self.runs = map(int, line.split()[1:])
                return measured
        sys.exit("beside: the benchmark ended: " + " ".join(self.run.args))

    def end(self):
        self.run.stdin.close()
        self.run.stdout.read()
        self.run.wait()


class Beside:
    def __init__(self, python, chosen, work):
        self.python, self.chosen, self.work = python, chosen, work
        cpus = sorted(os.sched_getaffinity(0))[-2:]
        self.cpus = cpus[-1:] if chosen.together else cpus
        self.ways = chosen.ways.split(",") + (["before"] if chosen.before else [])

    def programs(self, path):
        """{(mode, way): Program}; the plain one has no mode."""
        ways = [("", "plain"), *((mode, way) for mode in self.chosen.modes.split(",") for way in self.ways)]
        return {(mode, way): Program(self.python, path, mode, way, self.chosen.before if way == "before" else ROOT, self.cpus, self.work)
                for mode, way in ways}

    def rounds(self, programs):
        """[{(mode, way): (ns, page faults)}] and how many runs a turn has."""
        runs = 1 + TURN_NS // programs["", "plain"].turn(1)[0]
        return [{key: programs[key].turn(runs) for key in random.sample(list(programs), len(programs))}
                for _ in range(self.chosen.rounds)], runs

    def events(self, program, runs):
        """Of one turn, by the recording of them all: the start takes few."""
        out = os.path.join(self.work, "summary.json")
        subprocess.run([os.path.join(ROOT, "build/bin/ocular-pt"), "console=never", "summary=" + out, program.data], check=True)
        with open(out, encoding="utf-8") as file:
            return sum(json.load(file)["events"].values()) * runs / program.runs

    def measure(self, name):
        """({(mode, way): [ratio to plain]}, {(mode, way): [ns]}, {(mode, way): page faults a turn}, {mode: events a turn})."""
        programs = self.programs(find(self.chosen.pyperformance, name))
        try:
            rounds, runs = self.rounds(programs)
        finally:
            for program in programs.values():
                program.end()
        events = {mode: self.events(programs[mode, "Ocular"], runs) for mode in self.chosen.modes.split(",")} if self.chosen.events else {}
        for program in programs.values():
            shutil.rmtree(program.data, ignore_errors=True)
        ratios = {key: [r[key][0] / r["", "plain"][0] for r in rounds] for key in programs}
        faults = {key: statistics.median(r[key][1] for r in rounds) for key in programs}
        return ratios, {key: [r[key][0] for r in rounds] for key in programs}, faults, events


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def detail(name, ns, faults, events):
    """What an event costs, over the plain run."""
    plain = statistics.median(ns["", "plain"])
    for (mode, way), values in ns.items():
        if mode in events:
            more = statistics.median(values) - plain
            yield (f"| {name}, {mode}, {way} | {plain / 1e6:.1f} | {events[mode] / 1e3:.1f} | {events[mode] / plain * 1e3:.1f} | "
                   f"{more / events[mode]:.1f} | {faults[mode, way]:.0f} |")


def main():
    chosen = options()
    for python in chosen.python or ["python3"]:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as work:
            beside, middles, details = Beside(python, chosen, work), {}, []
            empty_module(python, work)
            keys = [(mode, way) for mode in chosen.modes.split(",") for way in beside.ways]
            version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip()
            print(f"\n| {version} | " + " | ".join(f"{way}, {mode}" for mode, way in keys) + " |\n|" + "---|" * (len(keys) + 1))
            for name in chosen.only.split(","):
                ratios, ns, faults, events = beside.measure(name)
                print(f"| {name} | " + " | ".join(spread(ratios[key]) for key in keys) + " |", flush=True)
                for key in keys:
                    middles.setdefault(key, []).append(statistics.median(ratios[key]))
                details += detail(name, ns, faults, events)
            for what, choose in (("median", statistics.median), ("worst", max)):
                print(f"| **{what} of {len(middles[keys[0]])}** | " + " | ".join(f"**{choose(middles[key]):.2f}**" for key in keys) + " |", flush=True)
            if details:
                print("\n| | plain turn, ms | thousand events | M events a plain second | ns an event more | page faults |\n|---|---|---|---|---|---|")
                print("\n".join(details), flush=True)


if __name__ == "__main__":
    main()
