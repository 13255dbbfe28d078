#!/usr/bin/env python3
"""What recording costs, beside what it cost in another version of Ocular, as Markdown.

    beside.py --before TREE --pyperformance FOLDER [--python PY]... [--rounds N] [--only NAME,NAME...]

TREE is a checkout of the other version, built. FOLDER is where `pip download --no-deps pyperformance` was unpacked. Each benchmark
runs plain and under `ocular record` of both versions, one after another in each round, as often as takes --seconds when plain. The
time is the CPU time of the program's main thread, which no other work on the machine adds to; the program and the recorder have a
CPU each.
"""

import argparse
import glob
import os
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


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, metavar="TREE", help="the other version, built")
    parser.add_argument("--pyperformance", required=True, metavar="FOLDER", help="pyperformance, unpacked")
    parser.add_argument("--python", action="append", metavar="PY", help="may be repeated (default: python3)")
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="of each benchmark (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.6, metavar="S", help="a plain run (default: %(default)s)")
    parser.add_argument("--only", default=",".join(sorted(BENCHMARKS)), metavar="NAMES", help="these benchmarks, with commas")
    return parser.parse_args()


def find(folder, name):
    paths = glob.glob(os.path.join(folder, "**", "bm_" + name, "run_benchmark.py"), recursive=True)
    if not paths:
        sys.exit(f"beside: '{folder}' has no benchmark bm_{name}: unpack pyperformance there")
    return paths[0]


class Beside:
    def __init__(self, python, chosen, work):
        self.python, self.chosen, self.work = python, chosen, work
        self.cpus = sorted(os.sched_getaffinity(0))[-2:]

    def command(self, tree, path):
        if not tree:
            return [self.python, path]
        return [os.path.join(tree, "scripts", "ocular"), "record", "-q", "-o", os.path.join(self.work, "data"),
                "--python", self.python, "--", path]

    def took(self, tree, path, loops):
        """(loops, ns) of one run; tree: None without Ocular."""
        name = os.path.basename(os.path.dirname(path))[3:]
        out = os.path.join(self.work, "out")
        env = dict(os.environ, PYTHONPATH=os.path.join(HERE, "loops"), PYTHONHASHSEED="0", BESIDE_WORDS=BENCHMARKS[name],
                   BESIDE_LOOPS=str(loops), BESIDE_SECONDS=str(self.chosen.seconds), BESIDE_OUT=out,
                   BESIDE_CPU=str(self.cpus[-1]))
        done = subprocess.run(self.command(tree, path), env=env, cwd=os.path.dirname(path), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, self.cpus[:1]))
        shutil.rmtree(os.path.join(self.work, "data"), ignore_errors=True)
        if done.returncode:
            sys.exit(f"beside: {name}: {done.stderr}")
        with open(out, encoding="ascii") as file:
            return tuple(map(int, file.read().split()))

    def rounds(self, path):
        """[(plain, before, after)] in ns; the order of the versions changes from round to round."""
        loops = self.took(None, path, 0)[0]
        for n in range(self.chosen.rounds):
            trees = [None, *((self.chosen.before, ROOT) if n % 2 else (ROOT, self.chosen.before))]
            ns = {tree: self.took(tree, path, loops)[1] for tree in trees}
            yield ns[None], ns[self.chosen.before], ns[ROOT]


def row(name, rounds):
    """A row of the table, and the median of the versions' ratio."""
    ratios = [after / before for _, before, after in rounds]
    low, middle, high = statistics.quantiles(ratios, n=4)
    over = [statistics.median(r[i] / r[0] for r in rounds) for i in (1, 2)]
    return f"| {name} | {over[0]:.2f} | {over[1]:.2f} | {middle:.3f} ({low:.3f} to {high:.3f}) |", middle


def main():
    chosen = options()
    for python in chosen.python or ["python3"]:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as work:
            beside, middles = Beside(python, chosen, work), []
            version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip()
            print(f"\n| {version} | before | now | now / before (quartiles) |\n|---|---|---|---|")
            for name in chosen.only.split(","):
                line, middle = row(name, list(beside.rounds(find(chosen.pyperformance, name))))
                print(line, flush=True)
                middles.append(middle)
            print(f"| geometric mean of {len(middles)} | | | {statistics.geometric_mean(middles):.3f} |", flush=True)


if __name__ == "__main__":
    main()
