"""Exceptions that leave Python code into C and come back to Python code, some of it gone by then."""
import atexit  # noqa: F401  weakref.finalize would, and Ocular has
import bisect
import contextlib
import functools
import itertools
import json
import re
import weakref


kept = []


class Wrong(Exception):
    pass


def fail(*_, at=[0]):
    at[0] += 1
    if at[0] % 3 == 0:
        raise Wrong(at[0])
    return at[0]


def deep(n):
    return deep(n - 1) + 1 if n else fail()


class Touchy:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return deep(2) == other

    def __lt__(self, other):
        return fail() < 0 or self.value < other.value

    def __hash__(self):
        return fail()

    def __len__(self):
        raise Wrong("no length")

    def __iter__(self):
        return self

    def __next__(self):
        fail()
        if self.value > 6:
            raise StopIteration
        self.value += 1
        return self.value

    def __del__(self):
        with contextlib.suppress(Wrong):
            deep(1)
            fail()

    @property
    def shown(self):
        return getattr(self, "missing") if fail() % 2 else "shown"

    @functools.cached_property
    def kept(self):
        return deep(3)


def touchy(value, kept=kept):
    """One that lives on: when C code gives up what it was called with is not the same in each of its forms."""
    kept.append(Touchy(value))
    return kept[-1]


def ticks(n):
    for i in range(n):
        try:
            yield i
        except Wrong:
            yield -i
        finally:
            fail()


def thrown():
    generator = ticks(9)
    next(generator)
    return list(map(generator.throw, [Wrong("in"), Wrong("again"), KeyError("out")]))


def closed():
    generator = ticks(3)
    next(generator)
    generator.close()


def delegated():
    yield from map(fail, ticks(4))


def recursed(n):
    return sorted([n - 1, n - 2], key=recursed) if n > -12 else fail()


def collected():
    things = [Touchy(i) for i in range(4)]
    watched = weakref.ref(things[0], fail)
    things.clear()
    return watched()


ways = [
    lambda: sorted(range(9), key=fail), lambda: sorted(map(touchy, range(6))), lambda: list(map(fail, range(9))),
    lambda: re.sub("a", lambda m: str(deep(2)), "banana"), lambda: json.loads('[{"a": {"b": {}}}]', object_hook=fail),
    lambda: json.dumps([Wrong] * 4, default=fail), lambda: max(range(5), key=lambda n: deep(n)),
    lambda: functools.reduce(lambda a, b: a + fail(), range(9)), lambda: [*itertools.takewhile(deep, range(3, 9))],
    lambda: [1, 2, 3].index(touchy(1)), lambda: {touchy(1): 1, touchy(2): 2}, lambda: len(touchy(0)),
    lambda: list(touchy(0)), lambda: sum(touchy(3)), lambda: dict(zip(touchy(4), touchy(2))), lambda: touchy(1).shown,
    lambda: hasattr(touchy(1), "shown"), lambda: getattr(touchy(1), "shown", None), lambda: touchy(1).kept,
    lambda: bisect.insort([touchy(i) for i in range(4)], touchy(2)), thrown, closed, lambda: list(delegated()), collected,
    lambda: tuple(fail() for _ in range(5)), lambda: recursed(0), lambda: "".join(str(fail()) for _ in range(4)),
    lambda: exec("def gone(n):\n    return fail(n)\nlist(map(gone, range(9)))", {"fail": fail, "map": map}),
    lambda: eval("[fail(i) for i in range(4)]", {"fail": fail}), lambda: next(filter(deep, iter(fail, 5))),
]

outcomes = []
for turn in range(4):
    for number, way in enumerate(ways):
        try:
            way()
        except (Exception, RecursionError) as error:
            outcomes.append((turn, number, type(error).__name__))
        kept.clear()
print(len(outcomes), len({name for _, _, name in outcomes}))

# Code that dies of an exception, and code that takes its place.
addresses = set()
for i in range(120):
    names = {"fail": fail}
    try:
        exec(f"def f{i % 7}(n):\n    for k in range(n):\n        {'fail(); ' * (i % 3)}fail(k)\n    return n\nlist(map(f{i % 7}, [3]))", names)
    except Wrong as error:
        addresses.add(id(error.__traceback__.tb_next.tb_frame.f_code))
print(len(addresses) < 100)
