"""pstats.py FILE: what a pstats file holds, as text: a line for each function, its callers below it."""

import marshal
import sys


def line(indent, function, primitive, calls, own, total):
    file, number, name = function
    print(indent, ascii(file), number, ascii(name), f"{primitive}/{calls} {own:.9f} {total:.9f}")


with open(sys.argv[1], "rb") as opened:
    stats = marshal.load(opened)
    assert not opened.read(), "more behind the dict"
for key, (few, many, tottime, cumtime, callers) in stats.items():
    line("", key, few, many, tottime, cumtime)
    for caller, (many, few, tottime, cumtime) in callers.items():
        line("   ", caller, few, many, tottime, cumtime)
