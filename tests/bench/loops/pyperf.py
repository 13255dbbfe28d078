"""Stands in for pyperf: runs one of pyperformance's benchmarks LOOPS times and writes what that took (beside.py).

Environment: BESIDE_WORDS, its command line; BESIDE_LOOPS, 0: as many as fit into BESIDE_SECONDS; BESIDE_OUT, where it writes the
loops and the thread's CPU time in nanoseconds; BESIDE_CPU, where it runs.
"""

import argparse
import asyncio
import os
import time
from time import perf_counter  # noqa: F401 - asked for by benchmarks


class Runner:
    def __init__(self, add_cmdline_args=None):
        self.metadata, self.argparser, self.done = {}, argparse.ArgumentParser(), False

    def parse_args(self):
        return self.argparser.parse_args(os.environ["BESIDE_WORDS"].split())

    def bench_func(self, name, function, *arguments, inner_loops=None):
        self.measure(lambda: function(*arguments))

    def bench_time_func(self, name, function, *arguments, inner_loops=None):
        self.measure(lambda: function(1, *arguments))

    def bench_async_func(self, name, function, *arguments):
        self.measure(lambda: asyncio.run(function(*arguments)))

    def measure(self, once):
        """Only the first of a file's benchmarks. The first call is not measured: it is the slower one."""
        if self.done:
            return
        self.done = True
        os.sched_setaffinity(0, {int(os.environ["BESIDE_CPU"])})
        once()
        loops = int(os.environ["BESIDE_LOOPS"])
        seconds, begin = float(os.environ["BESIDE_SECONDS"]), time.thread_time_ns()
        n = 0
        while n < loops or (not loops and time.thread_time_ns() - begin < seconds * 1e9):
            once()
            n += 1
        with open(os.environ["BESIDE_OUT"], "w", encoding="ascii") as out:
            print(n, time.thread_time_ns() - begin, file=out)
