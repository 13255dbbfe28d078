#!/usr/bin/env python3
"""Makes a fleet store of recordings that never were, and says what is true of it: for tests, and for the figures of docs/fleet.md.

fleet.py STORE [options]: to be run by a Python that has DuckDB. Each recording has the same functions, of as many calls; what an
activation takes is lognormal, differs from host to host by 5 %, and from recording to recording by --spread. --slower
FUNCTION,HOST,PERCENT: that function takes so much longer on that host (or all, -) in the last release. The truth comes as JSON: the
sum of self times, and how many activations of f0 each release has at which bucket.
"""

import argparse
import collections
import datetime
import json
import math
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.environ.get("OCULAR_BUILD") or os.path.join(os.path.dirname(os.path.dirname(HERE)), "build"), "python"))
from ocular import fleet_compact, fleet_store, fleet_tables  # noqa: E402

DAY = datetime.datetime(2026, 1, 1)
WAITING = 10 ** 11  # ns that each recording waits in a function of its own: more than all else takes
SHARES = (0.3, 0.25, 0.2, 0.1, 0.07, 0.05, 0.02, 0.01)  # of the calls, bucket after bucket


def bucket(ns):
    """Where the one of that many ns begins: filter/model/stat.h."""
    shift = max(0, int(ns).bit_length() - 4)
    return int(ns) >> shift << shift


def durations(draw, mean, calls):
    """Its buckets: each of SHARES around the mean."""
    found = collections.Counter()
    for n, share in enumerate(SHARES):
        found[bucket(mean * 0.7 * 1.2 ** n * draw.uniform(0.98, 1.02))] += round(share * calls)
    return [{"low": low, "n": n} for low, n in sorted(found.items()) if n]


class Fleet:
    """Rows of recordings, one after the other, and the truth."""

    def __init__(self, options):
        self.options, self.draw = options, random.Random(options.seed)
        self.bias = [self.draw.gauss(0, 0.05) for _ in range(options.hosts)]
        self.truth = {"self_ns": 0, "recordings": 0, "events": 0, "buckets": {}}

    def slower(self, function, host, release):
        wanted = self.options.slower and self.options.slower.split(",")
        if not wanted or release != self.options.releases - 1 or function != int(wanted[0]) or wanted[1] not in ("-", str(host)):
            return 1.0
        return 1 + float(wanted[2]) / 100

    def functions(self, name, host, release):
        options, buckets = self.options, self.truth["buckets"].setdefault(f"1.{release}", collections.Counter())
        for n in range(options.functions):
            mean = 1000 * (1 + n) * math.exp(self.bias[host] + self.draw.gauss(0, options.spread)) * self.slower(n, host, release)
            own = round(mean * options.calls)
            row = self.row(name, f"f{n}", options.calls, own, own, durations(self.draw, mean, options.calls))
            if n == 0:
                buckets.update({each["low"]: each["n"] for each in row["durations"]})
            yield row
        yield self.row(name, "wait", 1, WAITING, 1000, [])

    def row(self, name, function, calls, own, cpu, buckets):
        self.truth["self_ns"] += own
        return {"recording": name, "key": f"shop/{function}.py:{function}", "file": f"/srv/shop/{function}.py", "qualname": function, "line": 1, "pid": 7,
                "origin": "own", "calls": calls, "activations": calls, "self_ns": own, "total_ns": own, "self_cpu_ns": cpu, "total_cpu_ns": cpu,
                "durations": buckets}

    def recordings(self):
        options = self.options
        for n in range(options.recordings):
            host, release = n % options.hosts, n // options.hosts % options.releases
            name = "%032x" % self.draw.getrandbits(128)
            events = 2 * options.calls * options.functions
            self.truth["recordings"] += 1
            self.truth["events"] += events
            yield {"recording": name, "program": "serve.py", "host": f"h{host}", "start": (DAY + datetime.timedelta(seconds=n)).isoformat(" "),
                   "mode": "adaptive", "clock": "tsc", "wall_ns": 10 ** 9, "events": events, "lost": 0, "complete": True,
                   "label_release": f"1.{release}"}, list(self.functions(name, host, release))


def write(store, options):
    """As compact leaves it: one pack."""
    fleet, connection = Fleet(options), fleet_store.duckdb().connect()
    connection.execute("SET memory_limit = '1GB'")
    columns = {"function": fleet_tables.columns("function"), "recording": fleet_tables.columns("recording") + [("label_release", "VARCHAR")]}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: open(os.path.join(folder, name), "w", encoding="utf-8") for name in columns}
        for row, functions in fleet.recordings():
            files["recording"].write(json.dumps(row) + "\n")
            files["function"].writelines(json.dumps(each) + "\n" for each in functions)
        for name, file in files.items():
            file.close()
            shape = ", ".join("%s: %s" % (fleet_store.quoted(column), fleet_store.quoted(kind)) for column, kind in columns[name])
            store.write(connection, "SELECT * FROM read_json(%s, format = 'newline_delimited', columns = {%s}) ORDER BY %s" % (
                fleet_store.quoted(file.name), shape, fleet_compact.order(name)), name, DAY.date().isoformat(), fleet_store.PACK + "%032x" % options.seed)
    return fleet.truth


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    for name, default in (("seed", 22), ("recordings", 10000), ("hosts", 50), ("releases", 3), ("functions", 100), ("calls", 1000)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--spread", type=float, default=0.01)
    parser.add_argument("--slower")
    options = parser.parse_args()
    print(json.dumps(write(fleet_store.Store.made(options.store), options)))


if __name__ == "__main__":
    main()
