# SPDX-License-Identifier: MIT
"""What one event with its marker costs on this machine, in TSC cycles: callback_cycles.

A function that does next to nothing runs with the event and without; the difference, divided by the
number of markers, is the event's cost: CPython's call of the callback and the callback itself. The
markers go to scratch memory through the code that writes the real ones; or into the processor's trace,
marked as nobody's, and then there are fewer, lest they fill its buffer. Takes a few milliseconds.
"""

import sys

ROUNDS = 200   # events a run, more or less
ROUNDS_TRACED = 40
REPEATS = 5    # the least of so many runs: what disturbs only adds


def _calls(n):
    f = _callee
    for _ in range(n):
        f()


def _callee():
    pass


def _generator(n):
    for _ in range(n):
        yield


def _generate(n):
    for _ in _generator(n):
        pass


def _lines(n):
    x = None
    while n:
        n -= 1
        x
        x
        x


# event: (code that has it, function that runs the code)
PROGRAMS = {
    "PY_START": (_callee.__code__, _calls),
    "PY_RETURN": (_callee.__code__, _calls),
    "PY_RESUME": (_generator.__code__, _generate),
    "PY_YIELD": (_generator.__code__, _generate),
    "CALL": (_calls.__code__, _calls),
    "LINE": (_lines.__code__, _lines),
    "INSTRUCTION": (_lines.__code__, _lines),
    "JUMP": (_calls.__code__, _calls),
    "BRANCH": (_calls.__code__, _calls),
    "BRANCH_LEFT": (_calls.__code__, _calls),
    "BRANCH_RIGHT": (_lines.__code__, _lines),
}


def _measure(core, code, function, rounds):
    return min(core.measure(code, function, rounds) for _ in range(REPEATS))


def callback_cycles(core, tool, events, in_memory):
    """{event: cycles} for those of `events` that can be switched on for one code object alone."""
    rounds = ROUNDS if in_memory else ROUNDS_TRACED
    monitoring = sys.monitoring
    cycles = {}
    for name in events:
        if name not in PROGRAMS:
            continue
        code, function = PROGRAMS[name]
        without, _ = _measure(core, code, function, rounds)
        monitoring.set_local_events(tool, code, getattr(monitoring.events, name))
        with_event, markers = _measure(core, code, function, rounds)
        monitoring.set_local_events(tool, code, 0)
        if markers:
            cycles[name] = max(0, with_event - without) // markers
    return cycles
