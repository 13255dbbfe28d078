"""sys.settrace and sys.setprofile beside it: the old interface is a tool of its own."""

import sys

lines, calls = [], []


def tracer(frame, event, argument):
    lines.append((event, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def profiler(frame, event, argument):
    calls.append((event, frame.f_code.co_name))


def work(n):
    total = 0
    for i in range(n):
        total += abs(-i)
    return total


sys.settrace(tracer)
work(3)
sys.settrace(None)
sys.setprofile(profiler)
work(2)
sys.setprofile(None)
work(4)
print(len(lines), lines[:4], len(calls), calls[:3])
