# preload: weakref
"""__del__, weakref callbacks and cycles collected: Python run at odd moments."""

import gc
import weakref


class Tracked:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        out.append("del " + self.name)


class Cycle(Tracked):
    def __init__(self, name):
        super().__init__(name)
        self.me = self


out = []
gc.disable()
for name in "abc":
    Tracked(name)
    Cycle("cycle " + name)
gc.collect()
kept = Tracked("kept")
reference = weakref.ref(kept, lambda r: out.append("callback"))
weakref.finalize(kept, out.append, "finalized")
del kept


class Revived:
    def __del__(self):
        global revived
        revived = self


Revived()
print(out, type(revived).__name__, reference() is None)
del revived
revived = None


def suspended():
    try:
        yield
    finally:
        out.append("generator collected")


generators = [suspended() for _ in range(3)]
for generator in generators:
    next(generator)
del generators, generator
print(len(out))
