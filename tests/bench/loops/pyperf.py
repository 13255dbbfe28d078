"""Stands in for pyperf: runs the first of a file's benchmarks as often as a line of stdin says, for each one (beside.py).

Environment: BESIDE_WORDS, the benchmark's command line; BESIDE_CPU, where it runs; BESIDE_CALLBACKS, what stands in for Ocular's own
callbacks. Each time a line goes to stdout: the CPU time of the thread in ns, as far as pyperf would count it, page faults, and how
many runs there have been.
"""

import argparse
import asyncio
import gc
import os
import resource
import sys
import time
from time import thread_time as perf_counter  # asked for by benchmarks that measure themselves

WARM = 2


class Runner:
    def __init__(self, add_cmdline_args=None):
        self.metadata, self.argparser, self.done = {}, argparse.ArgumentParser(), False

    def parse_args(self):
        return self.argparser.parse_args(os.environ["BESIDE_WORDS"].split())

    def bench_func(self, name, function, *arguments, inner_loops=None):
        self.serve(lambda: self.timed(function, *arguments))

    def bench_time_func(self, name, function, *arguments, inner_loops=None):
        self.serve(lambda: function(1, *arguments))

    def bench_async_func(self, name, function, *arguments):
        self.serve(lambda: self.timed(asyncio.run, function(*arguments)))

    @staticmethod
    def timed(function, *arguments):
        begin = perf_counter()
        function(*arguments)
        return perf_counter() - begin

    def serve(self, once):
        if self.done:
            return
        self.done = True
        os.sched_setaffinity(0, {int(os.environ["BESIDE_CPU"])})
        sum(once() for _ in range(WARM))
        if os.environ.get("BESIDE_CALLBACKS"):
            import callbacks
            callbacks.replace(os.environ["BESIDE_CALLBACKS"])
        done = WARM
        for line in sys.stdin:
            gc.collect()
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
            ns = sum(once() for _ in range(int(line))) * 1e9
            done += int(line)
            print("@", round(ns), resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before, done, flush=True)
