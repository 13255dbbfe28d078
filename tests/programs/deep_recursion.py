"""Deep recursion: plain, through C, through generators (the limit itself: test_truth.py)."""

import sys


class Chain:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return repr(Chain(self.n - 1)) if self.n else "bottom"


def chain(n):
    if n:
        yield from chain(n - 1)
    yield n


def sink(n):
    return n and sink(n - 1)


sys.setrecursionlimit(4000)
print(sink(3000), repr(Chain(50)), sum(chain(60)))
