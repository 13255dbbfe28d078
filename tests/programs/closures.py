# preload: collections types
"""Closures: nonlocal, late binding, functions made in loops, partial application."""

import functools


def counter(start=0):
    value = start

    def step(by=1):
        nonlocal value
        value += by
        return value

    def reset():
        nonlocal value
        value = start

    return step, reset


def compose(*functions):
    return functools.reduce(lambda f, g: lambda x: f(g(x)), functions)


def late():
    return [lambda: i for i in range(3)] + [lambda i=i: i for i in range(3)]


step, reset = counter(10)
print(step(), step(5), reset(), step())
print(compose(str, abs, int, float)("-3.7"), [f() for f in late()])
print(functools.partial(pow, 2)(10), [*map(functools.partial(max, 5), range(8))])


def memo(f, cache={}):
    def call(n):
        if n not in cache:
            cache[n] = f(call, n)
        return cache[n]
    return call


print(memo(lambda self, n: n if n < 2 else self(n - 1) + self(n - 2))(40))
