# SPDX-License-Identifier: MIT
"""What makes a flight recorder take a snapshot, besides take_snapshot(): see docs/flight.md.

Calls and long calls are watched for by the extension (trigger.c), in the events that are recorded anyway.
Exceptions use a sys.monitoring tool of their own; a thread that wants to run measures lags.
"""

import _thread
import os
import re
import sys
import time

from . import _core, options

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType

CALL = re.compile(r"(?P<module>[^:\s]+):(?P<qualname>(?:[\w.]|<\w+>)+)\s*(\((?P<names>[\w\s,]*)\))?\s*"
                  r"(>\s*(?P<least>.+))?$")
TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s)$")
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
TYPE = re.compile(r"([\w.]+:)?[\w.<>]+$")
HANDLE = ("asyncio.events", "Handle._run")  # every callback and every step of a task runs in it
KINDS = options.triggers()


def seconds(text: str) -> float:
    """Seconds, from `20ms`. ValueError."""
    match = TIME.match(text.strip())
    if not match or not float(match[1]):
        raise ValueError("ocular: not a time: %r (say 20ms, 500us, 1.5s)" % text)
    return float(match[1]) * UNITS[match[2]]


class Triggers:
    """The triggers in lines of `kind value`. ValueError if a line is not valid."""

    def __init__(self, lines: "Iterable[str]") -> None:
        # (kind, module, qualname, seconds, names)
        self.calls: list[tuple[str, str, str, float, tuple[str, ...]]] = []
        self.exceptions: set[tuple[str, str]] = set()  # (module, qualname)
        self.lag: float | None = None  # seconds
        for line in lines:
            kind, _, value = line.partition(" ")
            if kind not in KINDS:
                raise ValueError("ocular: unknown trigger %r; choose one of: %s" % (kind, ", ".join(KINDS)))
            getattr(self, "_add_" + kind)(value.strip())

    def __bool__(self) -> bool:
        return bool(self.calls or self.exceptions or self.lag)

    def _add_call(self, text: str) -> None:
        match = CALL.match(text)
        if not match:
            raise ValueError("ocular: not a function to trigger on: %r "
                             "(say 'pkg.mod:Class.method(arg) > 50ms')" % text)
        names = tuple(n.strip() for n in (match["names"] or "").split(",") if n.strip())
        least = seconds(match["least"]) if match["least"] else 0
        self.calls.append(("slow call" if least else "call", match["module"], match["qualname"], least, names))

    def _add_exception(self, text: str) -> None:
        if not TYPE.match(text):
            raise ValueError("ocular: not an exception type: %r (say ValueError, or pkg.mod:Error)" % text)
        module, colon, name = text.rpartition(":")
        self.exceptions.add((module if colon else "builtins", name))

    def _add_task(self, text: str) -> None:
        name, above, least = text.rpartition(">")
        if not above or not name.strip():
            raise ValueError("ocular: not a task to trigger on: %r (say 'GET /* > 200ms')" % text)
        self.calls.append(("slow task", "", name.strip(), seconds(least), ()))

    def _add_lag(self, text: str) -> None:
        self.lag = seconds(text)
        self.calls.append(("lag", *HANDLE, self.lag, ()))


class Watch:
    """Triggers at work in this interpreter, from its making until stop()."""

    def __init__(self, triggers: Triggers, tool: int | None) -> None:
        self.triggers = triggers
        self.tool = tool  # an id of sys.monitoring, taken for exceptions, or None
        self.raised: set[tuple[str, str]] = set()  # of triggers.exceptions
        self.running = True
        if tool is not None:
            sys.monitoring.register_callback(tool, sys.monitoring.events.RAISE, self._raised)
            sys.monitoring.set_events(tool, sys.monitoring.events.RAISE)
        if triggers.lag:
            self._start_feeling()
            if not _feeling:
                os.register_at_fork(after_in_child=_forked)
            _feeling[:] = [self]

    def stop(self) -> "dict[str, Callable[..., object]]":
        """The tool's callbacks: {event: callback}."""
        self.running = False
        return {"RAISE": self._raised}

    def unmatched(self) -> list[tuple[str, str]]:
        """[("trigger-exception", MODULE:QUALNAME)] of those that were never raised."""
        return [("trigger-exception", "%s:%s" % each) for each in sorted(self.triggers.exceptions - self.raised)]

    def _raised(self, code: "CodeType", offset: int, exception: BaseException) -> None:
        # RAISE comes again in each frame that the exception passes: only the first has no tb_next.
        # The import system uses KeyErrors all the time; nobody means those.
        trace = exception.__traceback__
        if code.co_filename.startswith("<frozen importlib"):
            return
        if trace is not None and trace.tb_next is not None:
            return
        for kind in type(exception).__mro__:
            if (kind.__module__, kind.__qualname__) in self.triggers.exceptions:
                self.raised.add((kind.__module__, kind.__qualname__))
                _core.fire("exception", type(exception).__qualname__, {"exception": exception})
                return

    def _start_feeling(self) -> None:
        if self.triggers.lag is not None:
            _thread.start_new_thread(self._feel, (self.triggers.lag,))

    def _feel(self, lag: float) -> None:
        """A thread that sleeps briefly and measures how much too late it runs."""
        nap = min(lag / 4, 0.01)
        while self.running:
            before = time.monotonic()
            time.sleep(nap)
            late = time.monotonic() - before - nap
            if late > lag and self.running:
                _core.fire("lag", "a thread could not run", {"ms": round(late * 1e3, 3)})


_feeling: list[Watch] = []  # the Watch that has or had a thread


def _forked() -> None:
    """The child keeps the Watch, but not its thread."""
    if _feeling[0].running:
        _feeling[0]._start_feeling()


def set_calls(triggers: Triggers, tsc_hz: int) -> None:
    """Before the first code object is seen."""
    _core.set_triggers([(kind, module, qualname, max(1, int(least * tsc_hz)) if least else 0, names)
                        for kind, module, qualname, least, names in triggers.calls], tsc_hz)
