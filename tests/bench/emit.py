# SPDX-License-Identifier: MIT
"""What a marker costs over an empty vectorcall callback for the same event, in ns.

Needs ocular and ocular_empty (tests/bench/ocular_empty.c) on the path. Each event is switched on for
one small code object, whose callbacks do nothing, or write into a ring that ocular-record drains.
Rounds alternate between the two; the figure is the median over rounds of the difference. Prints a
Markdown table.
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


def nanoseconds(function, n):
    began = time.perf_counter_ns()
    function(n)
    return time.perf_counter_ns() - began


def compare(session, name, callback):
    """(floor, marker) in ns an event: the empty callback over no event, the marker over the empty one."""
    code, function = calibrate.PROGRAMS[name]
    monitoring = sys.monitoring
    event = getattr(monitoring.events, name)

    def run(with_callback):
        monitoring.register_callback(session.tool, event, with_callback)
        monitoring.set_local_events(session.tool, code, event if with_callback else 0)
        function(100)
        return nanoseconds(function, EVENTS)

    monitoring.register_callback(session.tool, event, callback)
    monitoring.set_local_events(session.tool, code, event)
    markers = _core.measure(code, function, EVENTS)[1]
    empty = ocular_empty.callback()
    rounds = [(run(None), run(empty), run(callback)) for _ in range(ROUNDS)]
    monitoring.set_local_events(session.tool, code, 0)
    floor = statistics.median(e - n for n, e, _ in rounds) / markers
    marker = statistics.median(c - e for _, e, c in rounds) / markers
    return floor, marker


def main():
    gc.disable()
    with tempfile.TemporaryDirectory(prefix="ocular-bench-") as temp:
        folder = os.path.join(temp, "data")
        tools.serve(folder)
        session = monitor._Session(folder, "full")
        _core.join()
        monitor._begin(session, (), ())
        _core.set_filter((), (), ())  # the package's own code is what is measured
        print("| event | empty callback | marker over it |\n|---|---|---|")
        for name in calibrate.PROGRAMS:
            if name in session.events:
                callback = _core.callback(_core.ops[name], monitor._shape(name, "full"), None)
                print("| %s | %.1f | %+.1f |" % (name, *compare(session, name, callback)), flush=True)
        session.unregister()
        _core.close()
        monitor.finish(folder)


main()
