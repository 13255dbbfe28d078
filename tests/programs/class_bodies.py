# preload: dataclasses enum abc
"""Class bodies with code in them, metaclasses, __init_subclass__, super, dataclass, enum."""

import abc
import dataclasses
import enum


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **kw):
        return {"prepared": kw.get("tag")}

    def __new__(mcs, name, bases, namespace, **kw):
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name, bases, namespace, **kw):
        super().__init__(name, bases, namespace)

    def __call__(cls, *args):
        print("making", cls.__name__)
        return super().__call__(*args)


class Base(metaclass=Meta, tag="t"):
    registry = []
    for i in range(3):
        registry.append(i * i)
    del i

    def __init_subclass__(cls, **kw):
        Base.registry.append(cls.__name__)
        super().__init_subclass__()

    def who(self):
        return "base"


class Left(Base):
    def who(self):
        return "left " + super().who()


class Right(Base):
    def who(self):
        return "right " + super().who()


class Both(Left, Right):
    class Inner:
        depth = 2

    def who(self):
        return f"both{self.Inner.depth} " + super().who()


class Named:
    def __set_name__(self, owner, name):
        print("set name", owner.__name__, name)


class Uses:
    attribute = Named()


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: int = 0


class Colour(enum.Flag):
    RED = enum.auto()
    BLUE = enum.auto()


def make(n):
    class Local:
        number = n
    return Local


print(Both().who(), Base.registry, Base.prepared)
print(sorted([Point(2), Point(1, 5)]), Colour.RED | Colour.BLUE, [make(n).number for n in range(3)])
try:
    Shape()
except TypeError:
    print("abstract")
