#!/usr/bin/env python3
"""How `ocular fleet spark` scales with the number of its workers, for docs/fleet.md.

spark.py --python PY [options]: PY needs PySpark and DuckDB. Records the same program --recordings times, has one, two and four workers
(processes of their own, a core each as Spark sees it: local-cluster[N,1,1024]) add all of them to an empty store, and writes a line for each run as a
table. Time is from the beginning of the first task to the end of the last, of Spark's event log: what starts before that is not of the
recordings. CPU time is all that workers used, with ocular-pt; it is counted in control groups (version 1), which root may make.

--share 0.25: each worker has so much of a core, from when the first one reads a recording. So more workers than the machine has cores
can be shown, as if each were a slower machine of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "doors"), os.path.join(TESTS, "spark")]
import recording  # noqa: E402
from control_group import Group  # noqa: E402
from test_spark import parents, tree  # noqa: E402

PROGRAM = """
import json, subprocess, sys
def inner(n):
    return sum(i * i for i in range(n))
def outer(n):
    for i in range(n):
        inner(20)
        json.loads(json.dumps({'a': i, 'b': [i] * 5}))
calls, processes = map(int, sys.argv[1:])
others = [subprocess.Popen([sys.executable, __file__, sys.argv[1], "1"]) for _ in range(1, processes)]
outer(calls)
for other in others:
    other.wait()
"""


class Workers:
    """Those of one run, each in a group; none where these cannot be made."""

    def __init__(self, folder, share):
        self.folder, self.share, self.groups, self.limited = folder, share, {}, False

    def look(self):
        there = parents()
        ours = {pid for pid, (_, command) in there.items() if "CoarseGrainedExecutorBackend" in command and self._is_ours(there, pid)}
        for pid in ours - set(self.groups):
            self.groups[pid] = Group(f"ocular-{os.getpid()}-{pid}")
            self.groups[pid].take(pid)
        if self.share and not self.limited and any(self.folder + "/tmp/ocular." in command for _, command in there.values()):
            self.limited = True
            for group in self.groups.values():
                group.limit(self.share)

    @staticmethod
    def _is_ours(there, pid):
        while pid in there and pid != os.getpid():
            pid = there[pid][0]
        return pid == os.getpid()

    def seconds(self):
        return sum(group.seconds() for group in self.groups.values())

    def remove(self):
        for group in self.groups.values():
            group.remove()


def run(options, folder, workers, number):
    """(seconds from the first task to the last one's end, tasks at a time, CPU seconds of the workers)"""
    scratch, log = os.path.join(folder, "tmp"), os.path.join(folder, f"log{number}")
    for path in (scratch, log):
        os.makedirs(path, exist_ok=True)
    words = [recording.WRAPPER, "fleet", "spark", os.path.join(folder, f"store{number}"), os.path.join(folder, "all"), "--master", f"local-cluster[{workers},1,1024]"]
    for setting in ("eventLog.enabled=true", f"eventLog.dir=file:{log}", "eventLog.compress=false", "eventLog.rolling.enabled=false",
                    f"ocular.split={options.split}", "scheduler.minRegisteredResourcesRatio=1.0", "scheduler.maxRegisteredResourcesWaitingTime=300s", "locality.wait=0s"):
        words += ["--conf", "spark." + setting]
    environment = recording.plain_environment(PYTHON=options.python, TMPDIR=scratch, SPARK_LOCAL_DIRS=scratch, SPARK_LOCAL_IP="127.0.0.1")
    seen = Workers(folder, options.share)
    used = 0
    try:
        with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said:
            process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            while process.poll() is None:
                seen.look()
                used = max(used, seen.seconds())
                time.sleep(0.05)
            said.seek(0)
            if process.returncode:
                sys.exit(said.read())
    finally:
        seen.remove()
    events = [json.loads(line) for path in tree(log) if not path.endswith(".crc") for line in open(path, encoding="utf-8")]
    tasks = [event["Task Info"] for event in events if event["Event"] == "SparkListenerTaskEnd"]
    begin, end = min(task["Launch Time"] for task in tasks), max(task["Finish Time"] for task in tasks)
    return (end - begin) / 1000, sum(task["Finish Time"] - task["Launch Time"] for task in tasks) / (end - begin), used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--traced", help="the Python that is recorded (default: the newest that is built for)")
    parser.add_argument("--recordings", type=int, default=16)
    parser.add_argument("--calls", type=int, default=30000, help="of the program's loop (30,000: 1.5 million events)")
    parser.add_argument("--processes", type=int, default=1, help="of the program, each of which makes so many")
    parser.add_argument("--split", default="512m", help="bytes of a recording from which on it is of several tasks")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--share", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ocular.bench.", dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        os.mkdir(os.path.join(folder, "all"))
        python = options.traced or recording.found_pythons()[-1]
        for n in range(options.recordings):
            name = os.path.join(folder, f"all/r{n}")
            subprocess.run([recording.WRAPPER, "record", "-q", "-o", name, "--python", python, "--", "app.py", str(options.calls),
                            str(options.processes)], cwd=folder, check=True, env=recording.plain_environment())
            if not n:
                print(f"{os.path.getsize(os.path.join(name, 'perf.data')) / 1e6:.0f} MB each, as perf.data\n", flush=True)
            subprocess.run([recording.WRAPPER, "pack", "-q", "--remove", name], cwd=folder, check=True, env=recording.plain_environment())
        print("| workers | s | against one | tasks at a time | CPU s |\n|---|---|---|---|---|", flush=True)
        first = None
        for number in range(options.rounds):
            for workers in map(int, options.workers.split(",")):
                seconds, at_once, used = run(options, folder, workers, f"{number}.{workers}")
                first = first or seconds
                print(f"| {workers} | {seconds:.1f} | {first / seconds:.2f} | {at_once:.2f} | {used:.1f} |", flush=True)


if __name__ == "__main__":
    main()
