"""Arithmetic, a dict and method calls: what mode `opcodes` is measured with. opcodes.py TRIPS"""
import sys


class Counter:
    def __init__(self):
        self.x = 0

    def step(self, i):
        self.x += i & 3
        return self.x


def work(n):
    counter = Counter()
    last = {}
    s = 0
    for i in range(n):
        s += i * 2 % 7
        if i % 3 == 0:
            last[i & 63] = s
        s -= counter.step(i)
    return s


work(int(sys.argv[1]))
