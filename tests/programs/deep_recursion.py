"""Recursion to the limit and beyond, caught at different heights; deep generators."""

import sys


def down(n):
    return down(n + 1)


def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


def caught_high():
    try:
        down(0)
    except RecursionError as error:
        return str(error)[:34]


class Chain:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return repr(Chain(self.n - 1)) if self.n else "bottom"


def chain(n):
    if n:
        yield from chain(n - 1)
    yield n


sys.setrecursionlimit(300)
print(caught_high(), depth(0) > 200)
sys.setrecursionlimit(4000)


def sink(n):
    return n and sink(n - 1)


print(sink(3000), repr(Chain(50)), sum(chain(60)))
