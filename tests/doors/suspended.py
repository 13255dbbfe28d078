"""Which generator, coroutine or asynchronous generator an event is of, in plain Python: by its address, its frame's, and a weak reference.

Each object has a number, which no other has, in another interpreter of the process neither, nor after exec. Nothing here knows of Ocular,
or of how CPython keeps frames.
"""

import _weakref
import gc
import time
import types

SUSPENDABLE = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
FRAME = {types.GeneratorType: "gi_frame", types.CoroutineType: "cr_frame", types.AsyncGeneratorType: "ag_frame"}


def object_of(frame):
    """What runs in the frame, among the objects that the collector knows, the youngest first. None: it is no generator's frame."""
    for generation in range(3):
        for thing in gc.get_objects(generation=generation):
            if type(thing) in FRAME and getattr(thing, FRAME[type(thing)]) is frame:
                return thing
    return None


class Known:
    """One object. Its weak reference is dead while its finalizer runs, and after it, if that has kept the object alive."""

    def __init__(self, number, thing):
        self.number, self.address, self.alive = number, id(thing), _weakref.ref(thing)
        self.suspended_at = None  # it runs

    def runs_in(self, frame):
        """Is it still the one in this frame? Another one at its address has not been suspended where it was."""
        thing = self.alive()
        if thing is not None:
            return getattr(thing, FRAME[type(thing)]) is frame
        at = (None, frame.f_lasti, frame.f_lasti - 2)  # since 3.14 it is thrown into at what follows its yield
        return self.suspended_at in at and id(object_of(frame)) == self.address


class Suspended:
    def __init__(self):
        self.known = {}  # address of a frame -> Known
        self.last = time.monotonic_ns()

    def number(self, event, code, frame):
        """Of the object in the frame whose event this is; None: it has none."""
        if not code.co_flags & SUSPENDABLE or frame.f_code is not code:
            return None
        known = self.known.get(id(frame))
        if event == "PY_START" or not known or not known.runs_in(frame):
            known = self.new(frame)
        if known:
            known.suspended_at = frame.f_lasti if event == "PY_YIELD" else None
        if event in ("PY_RETURN", "PY_UNWIND"):
            self.known.pop(id(frame), None)
        return known and known.number

    def new(self, frame):
        thing = object_of(frame)
        if thing is None:
            return None
        self.last += 1
        self.known[id(frame)] = Known(self.last, thing)
        return self.known[id(frame)]
