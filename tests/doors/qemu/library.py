"""Work, most of it of the standard library, of each program some trips and then more: library.py FEW MORE.

What the latter are worth is between two calls of `mark`, which counters see by its name or by that of the C function.
Collections of garbage are put off to the end: when they come depends on how many objects there are, Ocular's too.
"""
import gc
import os
import sys


def fractions():
    from fractions import Fraction
    return lambda: sum(Fraction(1, i) for i in range(1, 12))


def statistics():
    import statistics as s
    return lambda: s.stdev([1.5, 2.5, 4, 8, 16.25])


def shlex():
    from shlex import split
    return lambda: split("a 'b c' --d=\"e f\" g\\ h")


def regex():
    from re import _parser
    return lambda: _parser.parse(r"(?P<a>\w+)\s*=\s*(\d+|'[^']*')+?")


def paths():
    from posixpath import normpath, relpath
    return lambda: [relpath(normpath("/a/./b/../c//d/e%d" % i), "/a/f/g") for i in range(5)]


def urls():
    from urllib.parse import parse_qs, urlencode, urljoin
    return lambda: (urljoin("http://a/b/c/d", "../e?f=g"), parse_qs(urlencode({"k": "v w", "x": "1"})))


def addresses():
    import ipaddress
    return lambda: list(ipaddress.ip_network("10.0.0.0/28").subnets(prefixlen_diff=2))


def dates():
    from _pydatetime import datetime, timedelta
    return lambda: (datetime(2026, 11, 23) + timedelta(days=40)).isoformat()


def patterns():
    from fnmatch import translate
    return lambda: [translate("[a-c]*.p?-%d" % i) for i in range(5)]


def queens():
    def place(row, columns, falling, rising):
        if row == 5:
            return 1
        return sum(place(row + 1, columns | 1 << c, falling | 1 << row + c, rising | 1 << row - c + 8) for c in range(5)
                   if not (columns >> c & 1 or falling >> row + c & 1 or rising >> row - c + 8 & 1))
    return lambda: place(0, 0, 0, 0)


PROGRAMS = (fractions, statistics, shlex, regex, paths, patterns, queens, urls, addresses, dates)


def mark():
    os.getpgid(0)


if __name__ == "__main__":
    gc.disable()
    for program in PROGRAMS:
        run = program()
        for _ in range(int(sys.argv[1])):
            run()
        mark()
        for _ in range(int(sys.argv[2])):
            run()
        mark()
    gc.collect()
