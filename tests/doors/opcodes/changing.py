"""Functions whose arguments change kind, so that instructions are specialised, given up, and specialised anew.

With OBSERVED=FILE in the environment it writes down what each instruction was after each call, by its raw bytes: the
opcode, and CPython's counter in the cache behind it.
"""
import os


class Point:
    def __init__(self):
        self.x = 1


class Other:
    def __init__(self):
        self.y = 2
        self.x = 3


class Slotted:
    __slots__ = ("x",)

    def __init__(self):
        self.x = 4


def add(a, b):
    return a + b


def less(a, b):
    return a < b


def attribute(o):
    return o.x


def store(o, x):
    o.x = x


def item(container, key):
    return container[key]


def unpack(pair):
    a, b = pair
    return b


def paths(n):
    """A loop of three ways, and one in it of two."""
    kinds = [0, 0, 0, 0, 0]
    for i in range(n):
        if i % 3 == 0:
            kinds[0] += 1
        elif i % 5 == 0:
            kinds[1] += 1
            for k in range(i % 4):
                if k % 2:
                    kinds[3] += 1
                else:
                    kinds[4] += k
        else:
            kinds[2] += 1
    return kinds


point, other, slotted = Point(), Other(), Slotted()
calls = []
for function, *phases in (
    (add, (300, (1, 2)), (300, (1.5, 2.5)), (200, ("a", "b")), (200, ("a", 1.5)[:1] + ("b",)), (200, (1, 2.5)),
     (100, (3, 4))),
    (less, (200, (1, 2)), (200, (1.5, 2.5)), (150, ("a", "b"))),
    (attribute, (200, (point,)), (200, (other,)), (200, (slotted,)), (100, (point,))),
    (store, (200, (point, 1)), (200, (other, 2)), (200, (slotted, 3))),
    (item, (200, ([1, 2], 1)), (200, ((1, 2), 1)), (200, ({"a": 1}, "a")), (100, ("ab", 1))),
    (unpack, (150, ((1, 2),)), (150, ([1, 2],)), (150, ("ab",)), (100, ((3, 4),))),
):
    for times, arguments in phases:
        calls += [(function, arguments)] * times

path = os.environ.get("OBSERVED")
seen = []
for function, arguments in calls:
    if path:
        before = function.__code__._co_code_adaptive
        function(*arguments)
        seen.append((function.__qualname__, before, function.__code__._co_code_adaptive))
    else:
        function(*arguments)
print(paths(600))
if path:
    with open(path, "w") as out:
        for name, before, after in seen:
            print(name, before.hex(), after.hex(), file=out)
