# SPDX-License-Identifier: MIT
"""Pieces of the programs of workloads.py, in slices between two runs of a loop that is always the same, as in emit.py.

    pieces.py SECONDS [VARIANT...]    with any recorder or none; ocular_empty on the path

Under `ocular record` the callbacks that it registered are replaced by a VARIANT's, in an order drawn anew each round: "off" (the
events are off), "empty", "stamp", "least" (ocular_empty.c), "marker" (its own again). So all run in one process, within
milliseconds, with the same code instrumented in the same way. Prints JSON: {variant: {program: [[loop before, loop after, ticks]]}};
without a VARIANT that of what is on, "as it is".
"""
import gc
import json
import random
import sys
import time

import callbacks
import ocular_empty
import workloads

WARM = 1000    # turns, at the start
WARM_AGAIN = 3 # after other callbacks have been set
IN_A_ROW = 5   # slices

monitoring = sys.monitoring
tool = callbacks.tool


class Switch:
    """Sets a variant's callbacks in place of Ocular's."""

    def __init__(self, pieces, variants):
        self.pieces, self.off = pieces, False
        self.mask = monitoring.get_events(tool) if variants else 0
        own = callbacks.registered() if variants else {}
        self.callbacks = {v: {event: callbacks.MAKE[v]() for event in own} for v in variants if v in callbacks.MAKE}
        self.callbacks["marker"] = own

    def turn(self, off):
        """Events that are on again are told where Ocular wants none (DISABLE), before others hear them."""
        monitoring.set_events(tool, 0 if off else self.mask)
        self.off = off
        if not off:
            self.set("marker")
            warm(self.pieces, WARM_AGAIN)

    def set(self, variant):
        if self.mask and self.off != (variant == "off"):
            self.turn(not self.off)
        for event, callback in self.callbacks.get(variant, {}).items():
            monitoring.register_callback(tool, event, callback)


def warm(pieces, turns):
    for _ in range(turns):
        for piece in pieces.values():
            piece(0)


def slices(piece):
    rows = []
    for _ in range(IN_A_ROW):
        before = ocular_empty.reference()
        ticks = ocular_empty.call(piece, 0)
        rows.append((before, ocular_empty.reference(), ticks))
    return rows


def main(seconds, *variants):
    pieces = workloads.pieces()
    switch = Switch(pieces, variants)
    variants = variants or ["as it is"]
    measured = {variant: {name: [] for name in pieces} for variant in variants}
    gc.disable()
    warm(pieces, WARM)
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        for variant in random.sample(variants, len(variants)):
            switch.set(variant)
            warm(pieces, WARM_AGAIN)
            for name, piece in pieces.items():
                measured[variant][name] += slices(piece)
    print(json.dumps(measured))


main(*sys.argv[1:])
