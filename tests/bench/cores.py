#!/usr/bin/env python3
"""How ocular-pt scales with the number of cores, by the clock, on a machine with fewer of them, for docs/benchmarks.md.

cores.py [--python PY] [options]: records a pool of four processes, forked and spawned, and programs of one process, and prints
tables in Markdown. A core stands for --share of one: each thread of ocular-pt has a control group of its own (version 1, which root may
make) with that share, in a group that has no more than the share of all its cores together; with one core all threads are in one group.
cores.c makes ocular-pt believe in that number of CPUs, so that it has as many threads as it would have. A thread begins in the group of
the first one and is in its own a millisecond or two later, so no thread is ever without a limit. The first table shows that a thread has
the share that it should have: the seconds by the clock times the share are its processor time. Behind each other table is what walking the
recording's packets took in the same rounds, since a virtual machine is now fast and now slow.
"""

import argparse
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from control_group import Group  # noqa: E402
from floor import Floor  # noqa: E402

LEAST_QUOTA_US = 1000
CORES = (1, 2, 4)
WORKERS = ((1, 1), (4, 1), (2, 2), (4, 4))  # and on how many cores
POOL = """
import multiprocessing, json, sys
def square(i): return i * i
def work(n):
    total = 0
    for i in range(n): total += square(i)
    json.loads(json.dumps({"a": [total] * 10}))
    return total
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:
        pool.map(work, [2000] * int(sys.argv[2]))
"""
FIB = """
import sys
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(int(sys.argv[1]))
"""
THREADS = """
import sys, threading
def square(i): return i * i
def work(n):
    for _ in range(n):
        for i in range(20): square(i)
threads = [threading.Thread(target=work, args=(int(sys.argv[1]),)) for _ in range(int(sys.argv[2]))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
REPORTS = {"console": "console=always", "`--summary`": "summary=null.json", "pstats": "pstats=null.pstats", "page (`--html`)": "html=null.html"}
TIMELINES = {"`.pftrace`": "perfetto=null.pftrace", "`.json`": "perfetto=null.json"}


class Cores:
    """So many slower cores. No share: whole ones."""

    def __init__(self, count, share, period_us):
        self.count, self.share, self.period_us, self.groups = count, share, period_us, {}
        self.name = f"ocular-{os.getpid()}"
        self.all = self.first = self._group(self.name, count * share)
        self.all.come_first()
        if count > 1:
            self.first = self._group(f"{self.name}/first", share)

    def _group(self, name, share):
        group = Group(name, ("cpu",))
        if share:
            group.limit(share, self.period_us)
        return group

    def enter(self):
        self.first.take(os.getpid())

    def look(self, pid):
        """Threads that have begun since get theirs."""
        for tid in os.listdir(f"/proc/{pid}/task") if self.count > 1 else ():
            if int(tid) != pid and tid not in self.groups:
                self.groups[tid] = self._group(f"{self.name}/{tid}", self.share)
                try:
                    self.groups[tid].take_thread(tid)
                except OSError:  # it has ended
                    pass

    def remove(self):
        for group in (*self.groups.values(), *({self.first} - {self.all}), self.all):
            group.remove()


def resident(pid):
    """Its MB so far at most. What the kernel has at its end is also of this process, which it was forked from."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next((int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM")), 0)


def children():
    """Seconds of processor time of those that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


class Reader:
    """ocular-pt, in a folder where every output is /dev/null."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.floor = Floor(folder)
        self.program, self.shim = options.reader, os.path.join(folder, "cores.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.shim, os.path.join(HERE, "cores.c")], check=True)
        for name in ("json", "pstats", "html", "pftrace"):
            os.symlink(os.devnull, os.path.join(folder, "null." + name))

    def run(self, words, cores, share=None):
        """(seconds by the clock, MB at most, seconds of processor time)"""
        used = children()
        environment = recording.plain_environment(LD_PRELOAD=self.shim, CORES=str(cores))
        group = Cores(cores, self.options.share if share is None else share, self.options.period)
        process, since, most = None, time.monotonic(), 0
        try:
            process = subprocess.Popen([self.program, *words], cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, preexec_fn=group.enter)
            while process.poll() is None:
                group.look(process.pid)
                most = max(most, resident(process.pid))
                time.sleep(0.001)
        finally:
            if process and process.poll() is None:
                process.kill()
                process.wait()
            group.remove()
        if process.returncode:
            sys.exit(f"cores: {' '.join(process.args)}: {process.returncode}")
        return time.monotonic() - since, most, children() - used


def record(options, folder, name, source, *words):
    """The recording, and how many events it has."""
    program, data = (os.path.join(folder, name + end) for end in (".py", ""))
    with open(program, "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run([recording.WRAPPER, "record", "-q", "-o", data, "--python", options.python, "--", program, *map(str, words)],
                   check=True, env=recording.plain_environment())
    return data, sum(recording.summary(data)["events"].values())


def said(values, form="{:.2f}"):
    """Median and range."""
    values = sorted(values)
    return f"{form} ({form} to {form})".format(statistics.median(values), values[0], values[-1])


def table(*columns):
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def interleaved(options, ways):
    """{way: [the figures that its function gave]}; the ways take turns. Each is told on stderr."""
    found = {way: [] for way in ways}
    for number in range(options.rounds):
        for way, run in ways.items():
            found[way].append(run())
            print(number + 1, way, *(f"{value:.3f}" for value in found[way][-1]), file=sys.stderr, flush=True)
    return found


def control(options, reader, data):
    """One thread with a whole core and with the share of one."""
    found = interleaved(options, {share: lambda share=share: reader.run(["workers=1", "console=always", data], 1, share)
                                  for share in (0, options.share)})
    table("one thread, console", "s", "s of processor time", "s times share over that")
    for share, name in ((0, "a whole core"), (options.share, f"{options.share:g} of one")):
        row(name, said(second for second, _, _ in found[share]), said(cpu for _, _, cpu in found[share]),
            said((second * (share or 1) / cpu for second, _, cpu in found[share]), "{:.3f}"))


def with_floor(options, reader, data, ways):
    """The same, and of each round what walking its packets took, in ns a marker."""
    found = interleaved(options, {"floor": lambda: reader.floor.measure(data)[1:], **ways})
    return found, "Walking its packets took %s ns a marker meanwhile." % said([walk for _, walk, _ in found["floor"]], "{:.1f}")


def workers(options, reader, data, name):
    found, floor = with_floor(options, reader, data, {(output, workers, cores): lambda word=REPORTS[output], workers=workers, cores=cores: reader.run(
        [f"workers={workers}", "console=never", word, data], cores) for output in REPORTS for workers, cores in WORKERS})
    table(name + ", s", *(f"{workers} on {cores}" for workers, cores in WORKERS), "1 on 1 : 4 on 4", "4 on 1 : 4 on 4", "MB")
    for output in REPORTS:
        seconds = {way: [second for second, _, _ in found[(output, *way)]] for way in WORKERS}
        ratios = [[one / four for one, four in zip(seconds[way], seconds[4, 4])] for way in ((1, 1), (4, 1))]
        row(output, *map(said, (*seconds.values(), *ratios)), ", ".join(f"{max(mb for _, mb, _ in found[(output, *way)]):.0f}" for way in WORKERS))
    print(f"\n{floor}", flush=True)


def rates(options, reader, data, events, name):
    outputs = REPORTS | TIMELINES
    found, floor = with_floor(options, reader, data, {(output, cores): lambda word=word, cores=cores: reader.run(["console=never", word, data], cores)
                                  for output, word in outputs.items() for cores in CORES})
    table(f"{name}, {events / 1e6:.1f} M events, M/s of a whole core", *map(str, CORES), "s on four", "MB: " + ", ".join(map(str, CORES)))
    for output in outputs:
        each = [[events / 1e6 / second / options.share for second, _, _ in found[output, cores]] for cores in CORES]
        row(output, *(said(rate, "{:.1f}") for rate in each), said(second for second, _, _ in found[output, 4]),
            ", ".join(f"{max(mb for _, mb, _ in found[output, cores]):.0f}" for cores in CORES))
    print(f"\n{floor}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=recording.found_pythons()[-1], metavar="PY")
    parser.add_argument("--share", type=float, default=0.1, help="of a core (default: %(default)s)")
    parser.add_argument("--period", type=int, default=10_000, metavar="US", help="of the quota (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--jobs", type=int, default=16_000, metavar="N", help="of the pool, 6,000 events each (default: %(default)s)")
    parser.add_argument("--fib", type=int, default=30, metavar="N", help="fib(N) (default: %(default)s)")
    parser.add_argument("--trips", type=int, default=50_000, metavar="N", help="of the threads' loops (default: %(default)s)")
    parser.add_argument("--only", default="control,fork,spawn,gil,fib,loops,threads", metavar="PARTS", help="with commas (default: all: %(default)s)")
    parser.add_argument("--reader", default=os.path.join(recording.BUILD, "bin", "ocular-pt"), metavar="FILE", help="another ocular-pt")
    options = parser.parse_args()
    parts = options.only.split(",")
    if options.share * options.period < LEAST_QUOTA_US:
        parser.error(f"--share {options.share:g} of a --period of {options.period} us is less than the kernel's least quota, {LEAST_QUOTA_US} us")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # control groups are removed
    os.nice(-10)  # sees at once that one has ended
    with tempfile.TemporaryDirectory(prefix="ocular.bench.", dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        reader = Reader(options, folder)
        if "control" in parts:
            control(options, reader, record(options, folder, "control", FIB, options.fib + 2)[0])
        for way in ("fork", "spawn"):
            if way in parts:
                data, events = record(options, folder, way, POOL, way, options.jobs)
                workers(options, reader, data, f"pool, {way}, {events / 1e6:.0f} M events")
        if "gil" in parts:
            data, events = record(options, folder, "gil", THREADS, options.trips, 4)
            workers(options, reader, data, f"four threads with a GIL, {events / 1e6:.0f} M events")
        for name, source, *words in (("fib", FIB, options.fib), ("loops", THREADS, options.trips, 1), ("threads", THREADS, options.trips, 2)):
            if name in parts:
                rates(options, reader, *record(options, folder, name, source, *words), name)


if __name__ == "__main__":
    main()
