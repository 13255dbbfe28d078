# SPDX-License-Identifier: MIT
"""What a marker costs over an empty vectorcall callback for the same event, in ns.

Needs ocular and ocular_empty (tests/bench/ocular_empty.c) on the path. Each event is switched on for
one small code object. Its callback does nothing; or reads the time; or stores the time and a constant; or
writes markers into memory that nobody reads; or into a ring that ocular-record drains, on another
processor if it gets one. Rounds go through these in turn; a figure is the median over rounds of the
difference. Prints a Markdown table.
"""

import gc
import os
import statistics
import sys
import tempfile
import time

import ocular_empty
from ocular import _core, calibrate, monitor, tools

EVENTS = 4000   # a measurement, more or less
ROUNDS = 301


def to_memory(code, function, ns_a_cycle):
    return _core.measure(code, function, EVENTS)[0] * ns_a_cycle


def to_ring(code, function, ns_a_cycle):
    began = time.perf_counter_ns()
    function(EVENTS)
    return time.perf_counter_ns() - began


def compare(session, name, callback, ns_a_cycle):
    """ns an event: the empty callback over none, and over that: RDTSC, {time, constant}, a marker, one to a ring."""
    code, function = calibrate.PROGRAMS[name]
    monitoring = sys.monitoring
    event = getattr(monitoring.events, name)

    def run(with_callback, sink):
        monitoring.register_callback(session.tool, event, with_callback)
        monitoring.set_local_events(session.tool, code, event if with_callback else 0)
        function(100)
        return sink(code, function, ns_a_cycle)

    run(callback, to_memory)
    markers = _core.measure(code, function, EVENTS)[1]
    empty = ocular_empty.callback()
    over_empty = ocular_empty.stamp(), ocular_empty.record(), callback
    rounds = []
    for _ in range(ROUNDS):
        nothing, floor = run(None, to_memory), run(empty, to_memory)
        rounds.append([floor - nothing] + [run(c, to_memory) - floor for c in over_empty] +
                      [-run(empty, to_ring) + run(callback, to_ring)])
    monitoring.set_local_events(session.tool, code, 0)
    differences = zip(*rounds)
    return [statistics.median(d) / markers for d in differences]


def main():
    gc.disable()
    with tempfile.TemporaryDirectory(prefix="ocular-bench-") as temp:
        folder = os.path.join(temp, "data")
        tools.serve(folder)
        session = monitor._Session(folder, "full", "software")
        session.whole = True
        _core.join()
        monitor._begin(session, (), (), None, False)
        _core.set_filter((), (), ())  # the package's own code is what is measured
        ns_a_cycle = 1e9 / _core.ask(folder)[3]
        print("| event | empty callback | RDTSC over it | {time, constant} over it | **marker over it** | "
              "in a drained ring |")
        print("|---|---|---|---|---|---|")
        for name in calibrate.PROGRAMS:
            if name in session.events:
                callback = _core.callback(_core.ops[name], monitor._shape(name, "full"), None)
                row = compare(session, name, callback, ns_a_cycle)
                print("| %s | %.1f | %+.1f | %+.1f | **%+.1f** | %+.1f |" % (name, *row), flush=True)
        session.unregister()
        _core.close()
        monitor.finish(folder)


main()
