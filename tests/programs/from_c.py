# preload: re json.encoder json.decoder functools itertools
"""Python called from C: keys, callbacks, iterators and hooks."""

import functools
import itertools
import json
import re

words = "the quick brown fox jumps over the lazy dog".split()
print(sorted(words, key=lambda w: (len(w), w[::-1])))
print(sorted(words, key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))[:3])
print(functools.reduce(lambda a, b: a * 31 + len(b), words, 7))
print(re.sub(r"\w+", lambda m: m[0].title(), " ".join(words)))
print({k: [*g] for k, g in itertools.groupby(sorted(words, key=len), key=len)})
print(json.dumps({"a": {1, 2}}, default=lambda o: sorted(o)), json.loads("[1.5]", parse_float=lambda s: s + "!"))


class Steps:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n


class Sequence:
    def __getitem__(self, i):
        if i > 3:
            raise IndexError
        return i


print(sum(Steps(20)), list(map(lambda a, b: a - b, Steps(5), Sequence())), [*filter(None, Steps(4))], max(Sequence()))
first, *rest = Steps(4)
print(first, rest, list(iter(Steps(9).__next__, 5)), 2 in Sequence(), list(zip(Steps(3), Sequence())))
