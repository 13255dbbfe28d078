# SPDX-License-Identifier: MIT
"""What one event with its marker costs on this machine, in TSC cycles: callback_cycles.

A function that does next to nothing runs with the event and without; the difference, divided by the
number of markers, is the event's cost: CPython's call of the callback and the callback itself. The
markers go to scratch memory through the code that writes the real ones; or into the processor's trace,
marked as SCRATCH, and then there are fewer, so that they do not fill its buffer. Takes one or two milliseconds.

A disturbance only adds time, and may last for milliseconds, such as a neighbour on the core: all events are measured in
turn, pass after pass, and the least of each figure counts. Longer disturbances are found by measuring again when
tracing stops: reports show both figures if they differ.
"""

import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, ModuleType
    Found = dict[str, tuple[int, int, int]]  # event: (cycles without it, cycles with it, markers)

ROUNDS = 200   # events a run, roughly
ROUNDS_TRACED = 40
REPEATS = 3    # runs in a row: the first warms up
PASSES = 8     # about a millisecond, which every start waits for
PASSES_TRACED = 2


def _calls(n: int) -> None:
    f = _callee
    for _ in range(n):
        f()


def _c_calls(n: int) -> None:
    f, x = len, ()
    for _ in range(n):
        f(x)


def _callee() -> None:
    pass


def _generator(n: int) -> "Iterator[None]":
    for _ in range(n):
        yield


def _generate(n: int) -> None:
    for _ in _generator(n):
        pass


def _lines(n: int) -> None:
    x = None
    while n:
        n -= 1
        x
        x
        x


# event: (code that has it, function that runs the code). CALL and C_RETURN come together: the figure is their mean.
PROGRAMS = {
    "PY_START": (_callee.__code__, _calls),
    "PY_RETURN": (_callee.__code__, _calls),
    "PY_RESUME": (_generator.__code__, _generate),
    "PY_YIELD": (_generator.__code__, _generate),
    "CALL": (_c_calls.__code__, _c_calls),
    "C_RETURN": (_c_calls.__code__, _c_calls),
    "LINE": (_lines.__code__, _lines),
    "INSTRUCTION": (_lines.__code__, _lines),
    "JUMP": (_calls.__code__, _calls),
    "BRANCH": (_calls.__code__, _calls),
    "BRANCH_LEFT": (_calls.__code__, _calls),
    "BRANCH_RIGHT": (_lines.__code__, _lines),
}


def _runs(core: "ModuleType", code: "CodeType", function: "Callable[[int], object]", rounds: int) -> tuple[int, int]:
    found: tuple[int, int] = min(core.measure(code, function, rounds) for _ in range(REPEATS))
    return found


def switch_of(name: str) -> int:
    """What to switch on to get the event: C_RETURN comes with CALL."""
    return int(getattr(sys.monitoring.events, "CALL" if name == "C_RETURN" else name))


def _pass(core: "ModuleType", tool: int, events: "Iterable[str]", rounds: int) -> "Found":
    monitoring = sys.monitoring
    found = {}
    for name in events:
        code, function = PROGRAMS[name]
        event = switch_of(name)
        without, _ = _runs(core, code, function, rounds)
        monitoring.set_local_events(tool, code, event)
        found[name] = without, *_runs(core, code, function, rounds)
        monitoring.set_local_events(tool, code, 0)
    return found


def best(passes: "Iterable[Found]") -> "Found":
    """The least of each figure."""
    all_of: "Found" = {}
    for found in passes:
        for name, (without, with_event, markers) in found.items():
            before = all_of.get(name, (without, with_event, markers))
            all_of[name] = min(before[0], without), min(before[1], with_event), markers
    return all_of


def cycles(found: "Found") -> dict[str, int]:
    """{event: cycles a marker}"""
    return {name: max(0, with_event - without) // markers
            for name, (without, with_event, markers) in found.items() if markers}


def least(passes: "Iterable[Found]") -> dict[str, int]:
    """cycles() of the best of several passes."""
    return cycles(best(passes))


def at_each(*times: "Found") -> list[dict[str, int]]:
    """cycles() of what was measured at several times. The run without an event is the same each time, so its least time is
    the undisturbed one; otherwise a disturbance of it alone would make a figure too small."""
    quiet = best(times)
    return [cycles({name: (quiet[name][0], with_event, markers) for name, (_, with_event, markers) in found.items()})
            for found in times]


def measure(core: "ModuleType", tool: int, events: "Iterable[str]", in_memory: bool) -> "Found":
    """For those of `events` that can be switched on for a single code object."""
    rounds, passes = (ROUNDS, PASSES) if in_memory else (ROUNDS_TRACED, PASSES_TRACED)
    events = [name for name in events if name in PROGRAMS]
    return best(_pass(core, tool, events, rounds) for _ in range(passes))
