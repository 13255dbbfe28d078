"""Stands in for pyperf: each of pyperformance's benchmarks runs once, in a size that the emulator has time for.

Only what the benchmarks of SMALL ask for is here; test_opcodes.py takes its list from it.
"""

import argparse
import asyncio
import os
import sys
from time import perf_counter  # asked for by benchmarks


def few(*bounds):
    return range(*bounds)[:300]


# By folder: words of its command line, its globals, arguments of its function; what is not told stays as it is.
SMALL = {
    "bm_async_generators": {"globals": {"range": few}},
    "bm_async_tree": {"words": ["none"], "globals": {"NUM_RECURSE_LEVELS": 3}},
    "bm_chaos": {"words": ["--iterations", "150", "--width", "32", "--height", "32"], "globals": {"range": few}},
    "bm_comprehensions": {},
    "bm_deepcopy": {},
    "bm_deltablue": {"arguments": [5]},
    "bm_fannkuch": {"arguments": [6]},
    "bm_float": {"arguments": [500]},
    "bm_generators": {"globals": {"range": few}},
    "bm_go": {"globals": {"GAMES": 2}},
    "bm_hexiom": {"words": ["--level", "10"]},
    "bm_json_dumps": {"globals": {"range": few}},
    "bm_logging": {},
    "bm_nbody": {"words": ["--iterations", "200"]},
    "bm_nqueens": {"arguments": [5]},
    "bm_raytrace": {"words": ["--width", "8", "--height", "8"]},
    "bm_scimark": {"words": ["fft"], "arguments": [32, 2]},
    "bm_spectral_norm": {"globals": {"DEFAULT_N": 10}},
    "bm_typing_runtime_protocols": {},
    "bm_unpack_sequence": {},
}


class Runner:
    def __init__(self, add_cmdline_args=None):
        self.metadata, self.argparser = {}, argparse.ArgumentParser()
        self.small = SMALL[os.path.basename(os.path.dirname(sys.argv[0]))]
        sys._getframe(1).f_globals.update(self.small.get("globals", {}))

    def parse_args(self):
        return self.argparser.parse_args(self.small.get("words", []))

    def run(self, function, before, arguments):
        return function(*before, *self.small.get("arguments", arguments))

    def bench_func(self, name, function, *arguments, inner_loops=None):
        self.run(function, (), arguments)

    def bench_time_func(self, name, function, *arguments, inner_loops=None):
        self.run(function, (1,), arguments)

    def bench_async_func(self, name, function):
        asyncio.run(self.run(function, (), ()))
