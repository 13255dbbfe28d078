# preload: functools
"""Properties, descriptors, slots, __getattr__, operators and conversions written in Python."""

import functools


class Typed:
    def __init__(self, kind):
        self.kind = kind

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            raise TypeError(self.name)
        setattr(instance, self.name, value)

    def __delete__(self, instance):
        delattr(instance, self.name)


@functools.total_ordering
class Money:
    __slots__ = ("_cents", "__weakref__")
    cents = Typed(int)

    def __init__(self, cents):
        self.cents = cents

    def __add__(self, other):
        return Money(self.cents + other.cents) if isinstance(other, Money) else NotImplemented

    def __radd__(self, other):
        return Money(other + self.cents)

    def __eq__(self, other):
        return self.cents == other.cents

    def __lt__(self, other):
        return self.cents < other.cents

    def __hash__(self):
        return hash(self.cents)

    def __repr__(self):
        return f"Money({self.cents})"

    def __bool__(self):
        return self.cents != 0

    @property
    def euros(self):
        return self.cents / 100

    @euros.setter
    def euros(self, value):
        self.cents = int(value * 100)

    @staticmethod
    def zero():
        return Money(0)

    @classmethod
    def of(cls, euros):
        self = cls(0)
        self.euros = euros
        return self


class Open:
    def __getattr__(self, name):
        if name.startswith("x"):
            return name * 2
        raise AttributeError(name)

    def __setattr__(self, name, value):
        super().__setattr__(name.lower(), value)

    def __getitem__(self, key):
        return key

    def __len__(self):
        return 3

    def __contains__(self, item):
        return item == 1

    def __call__(self, *args, **kw):
        return args, kw

    @functools.cached_property
    def costly(self):
        print("computed")
        return 7


a, b = Money(150), Money.of(2.5)
print(a + b, sum([a, b]), a < b, max(a, b), bool(Money.zero()), a.euros, {a: 1}[Money(150)], Money.cents.kind)
try:
    a.cents = "no"
except TypeError as error:
    print("type", error)
del a.cents
print(hasattr(a, "cents"))
o = Open()
o.LOUD = 1
print(o.xy, hasattr(o, "y"), o.loud, o[1:2, ...], len(o), 1 in o, o(1, k=2), o.costly, o.costly)
