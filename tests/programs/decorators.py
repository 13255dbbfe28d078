# preload: functools typing inspect
"""Decorators with and without arguments, on functions, methods and classes, stacked."""

import functools


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kw):
        print("call", f.__name__)
        return f(*args, **kw)
    return wrapper


def repeated(times):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kw):
            return [f(*args, **kw) for _ in range(times)]
        return wrapper
    return decorate


class Counted:
    def __init__(self, f):
        self.f, self.calls = f, 0

    def __call__(self, *args):
        self.calls += 1
        return self.f(*args)

    def __get__(self, instance, owner):
        return functools.partial(self, instance)


@logged
@repeated(3)
def three(x):
    return x


@Counted
def counted(a, b=2, *c, d=4, **e):
    return a + b + d


def registered(cls, registry=[]):
    registry.append(cls.__name__)
    cls.registry = registry
    return cls


@registered
class Thing:
    @logged
    def method(self):
        return "method"

    @Counted
    def other(self):
        return "other"

    @functools.singledispatchmethod
    def kind(self, x):
        return "thing"

    @kind.register
    def _(self, x: int):
        return "int"


print(three(1), [counted(i) for i in range(3)], counted.calls)
print(Thing().method(), Thing().other(), Thing.registry, Thing().kind(1), Thing().kind(""))
