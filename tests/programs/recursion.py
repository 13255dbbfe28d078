# preload: collections types
"""Plain, mutual, and doubly nested recursion."""

import functools


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def ackermann(m, n):
    if not m:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


def permutations(items):
    if not items:
        yield ()
    for i, head in enumerate(items):
        for tail in permutations(items[:i] + items[i + 1:]):
            yield (head, *tail)


@functools.lru_cache(maxsize=None)
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


def hanoi(n, a, b, c):
    return 0 if not n else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)


print(fib(13), is_even(40), ackermann(2, 3), len(list(permutations((1, 2, 3, 4)))), ways(60), hanoi(6, 1, 2, 3))
