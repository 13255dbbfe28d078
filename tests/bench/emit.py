# SPDX-License-Identifier: MIT
"""What a marker costs beside an empty vectorcall callback for the same event: slices for bench.py to compare.

    python emit.py SECONDS

Needs ocular and ocular_empty (tests/bench/ocular_empty.c) on the path. Each event is switched on for one small
code object. Its callback is one of VARIANTS, in an order drawn anew each round; each runs in slices of some
20 us, between two runs of a loop that is always the same and tells how fast the machine is at that moment.
Prints JSON: ticks a nanosecond, and for each event and variant its slices, [loop before, loop after, ticks an event].
"""

import gc
import json
import os
import random
import sys
import tempfile
import time

import ocular_empty
from ocular import _core, backends, calibrate, monitor, tools

EVENTS = 900    # a slice, more or less
WARM = 60       # turns, after another callback has been set
SLICES = 3      # in a row

# name: whose callback; None: the event is off. A marker goes to memory that nobody reads, or to a drained ring; "told": the same
# with the generator that is resumed or yields, where the event has one; "coarse": a marker in memory that reads no time but
# for one of 16.
VARIANTS = ("nothing", "empty", "stamp", "record", "least", "marker", "ring", "told", "coarse")


def callbacks(session, name):
    _core.choose(backends.NUMBERS["software"], True, False)
    coarse = _core.callback(_core.ops[name], monitor._shape(name, session.mode), None)
    _core.choose(backends.NUMBERS["software"], False, False)
    marker = _core.callback(_core.ops[name], monitor._shape(name, session.mode), None)
    return {"nothing": None, "empty": ocular_empty.callback(), "stamp": ocular_empty.stamp(),
            "record": ocular_empty.record(), "least": ocular_empty.least(), "marker": marker, "ring": marker, "coarse": coarse,
            "told": _core.callback(_core.ops[name], _core.EMIT_OBJECT, None) if name in monitor.OF_OBJECTS else marker}


class Event:
    def __init__(self, session, name):
        self.session, self.name = session, name
        self.code, self.function = calibrate.PROGRAMS[name]
        self.event = getattr(sys.monitoring.events, name)
        self.callbacks = callbacks(session, name)
        self.slices = {variant: [] for variant in VARIANTS}
        self.set("marker")
        turns = 1000
        self.turns = turns * EVENTS // _core.measure(self.code, self.function, turns)[1]
        self.events = _core.measure(self.code, self.function, self.turns)[1]
        self.set("nothing")

    def set(self, variant):
        callback = self.callbacks[variant]
        sys.monitoring.register_callback(self.session.tool, self.event, callback)
        sys.monitoring.set_local_events(self.session.tool, self.code, calibrate.switch_of(self.name) if callback else 0)
        self.function(WARM)

    def ticks(self, variant):
        if variant in ("marker", "coarse"):
            return _core.measure(self.code, self.function, self.turns)[0]
        return ocular_empty.call(self.function, self.turns)

    def round(self):
        for variant in random.sample(VARIANTS, len(VARIANTS)):
            if variant == "least":
                self.set("ring")  # so that the code has an id
            self.set(variant)
            if variant in ("marker", "coarse"):
                self.ticks(variant)
            for _ in range(SLICES):
                before = ocular_empty.reference()
                ticks = self.ticks(variant)
                self.slices[variant].append((before, ocular_empty.reference(), ticks / self.events))
        self.set("nothing")


def main(seconds):
    gc.disable()
    with tempfile.TemporaryDirectory(prefix="ocular-bench-") as temp:
        folder = os.path.join(temp, "data")
        tools.serve(folder)
        session = monitor._Session(folder, "full", (), "software", whole=True)
        _core.join()
        monitor._begin(session, monitor._config(session), (), (), None, False)
        _core.set_filter((), (), ())  # the package's own code is what is measured
        ticks_a_ns = _core.ask(folder)[3] / 1e9
        events = [Event(session, name) for name in calibrate.PROGRAMS if name in session.events]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event in events:
                event.round()
        session.unregister()
        _core.close()
        monitor.finish(folder)
    json.dump({"ticks_a_ns": ticks_a_ns, "events": {e.name: e.slices for e in events}}, sys.stdout)


main(float(sys.argv[1]))
