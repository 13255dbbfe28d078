# SPDX-License-Identifier: MIT
"""Start and stop tracing in this interpreter, into a recording whose recorder is running."""

import _thread
import atexit
import os
import sys

from . import _core, backends, calibrate, collector, modes, opcodes, program

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType
    from typing import Any
    from .triggers import Triggers, Watch

# Tool ids without a name in the standard library come first (sys.monitoring.*_ID).
TOOL_IDS = (4, 3, 5, 1, 2, 0)

PACKAGE = os.path.dirname(os.path.abspath(__file__))
EMULATOR = "OCULAR_QEMU_SETTINGS"  # helper-ext/qemu/settings.h; it is there on an emulated processor only
OWN_FOLDERS = (PACKAGE, os.path.join(os.path.dirname(PACKAGE), "hook"))


FREE_THREADED = "t" in sys.abiflags

# Events that only generators, coroutines and asynchronous generators have: they tell which one. A PY_START needs no telling,
# what it begins is new; what ends is what was resumed or begun.
OF_OBJECTS = ("PY_RESUME", "PY_YIELD", "PY_THROW")

# Held by whoever starts or stops, in any thread; one that stops may be inside start().
turn = _thread.RLock()  # type: ignore[attr-defined]
os.register_at_fork(after_in_child=turn._at_fork_reinit)


class _Session:
    """One interpreter's registration with sys.monitoring."""

    def __init__(self, folder: str, mode: str, also: "Sequence[str]", backend: str, whole: bool) -> None:
        self.folder = folder
        self.mode = mode
        self.also = also
        self.backend = backend
        self.events = modes.events_of(mode, also, _core.ops, sys.monitoring.events)
        self.told = () if mode == "opcodes" or "no_identity" in also or not _identifies() else OF_OBJECTS
        self.tool = _take_tool_id("ocular")
        self.whole = whole
        self.first = False  # of this process's interpreters
        self.callbacks: "dict[str, Callable[..., object]]" = {}
        self.watch: "Watch | None" = None
        self.costs: "calibrate.Found" = {}  # of callbacks, at start

    def fly(self, wanted: "Triggers") -> None:
        self.watch = _triggers().Watch(wanted, _take_tool_id("ocular triggers") if wanted.exceptions else None)

    def register(self) -> None:
        monitoring = sys.monitoring
        for name in self.events:
            disable = monitoring.DISABLE if name in modes.CAN_DISABLE else None
            shape = _core.EMIT_OBJECT if name in self.told else _shape(name, self.mode)
            callback = _core.callback(_core.ops[name], shape, disable)
            monitoring.register_callback(self.tool, getattr(monitoring.events, name), callback)
            self.callbacks[name] = callback

    def listen(self) -> None:
        # First: recovery of opcodes must follow what runs here after the events are on. Mode opcodes has nothing but
        # what the program does.
        if self.mode != "opcodes":
            collector.listen()
        # An earlier session's DISABLEs are in force until this; other tools must expect it (PEP 669).
        if _closed:
            sys.monitoring.restart_events()
        bits = sum(getattr(sys.monitoring.events, name) for name in self.events)
        if not _core.listen(self.tool, bits):  # else a duty cycle does it
            sys.monitoring.set_events(self.tool, bits)
        elif FREE_THREADED:
            _watch_forks()

    def unregister(self, again: bool = False) -> None:
        """Switch off everything of ours. again: first measure once more what a callback costs."""
        _core.unlisten()
        if self.mode != "opcodes":
            collector.unlisten()
        if self.watch:
            left = self.watch.stop()
            if self.watch.tool is not None:
                _give_back(self.watch.tool, "ocular triggers", left)
        try:
            if again:
                self.measure_again()
        finally:
            _give_back(self.tool, "ocular", self.callbacks)

    def measure_again(self) -> None:
        """Not into a processor's trace, which it would fill; nor under a debugger, which would have to watch it."""
        monitoring = sys.monitoring
        if self.backend != "software" or monitoring.get_tool(self.tool) != "ocular" or sys.gettrace() or sys.getprofile():
            return
        monitoring.set_events(self.tool, 0)
        costs = calibrate.measure(_core, self.tool, self.events, True)
        _core.note({"kind": "callbacks", "cycles": calibrate.at_each(self.costs, costs)})


_session: _Session | None = None
_closed = 0  # sessions that ended in this interpreter
_forks_watched = False


def _watch_forks() -> None:
    """os.fork() must not meet the thread of a duty cycle (helper-ext/ext/duty.h). Pending calls run in Python functions, and one
    of them makes that thread anew: so what is called here is none."""
    global _forks_watched
    if not _forks_watched:
        os.register_at_fork(before=_core.fork_begins, after_in_parent=_core.fork_ends)
    _forks_watched = True


def _identifies() -> bool:
    """Is the object that runs where the extension was compiled to look for it?"""
    def generator() -> "Iterator[int]":
        yield _core.identity()
    probe = generator()
    return next(probe) == id(probe) // 16


def _shape(name: str, mode: str) -> int:
    if name == "LINE":
        return _core.EMIT_LINE
    if name == "JUMP" and mode == "adaptive":
        return _core.EMIT_BACKWARD
    if name.startswith("BRANCH") and mode == "opcodes":
        return _core.EMIT_AMBIGUOUS
    if name == "CALL":
        return _core.EMIT_CALL if mode == "full" else _core.EMIT_C_CALL
    if name in ("RAISE", "RERAISE") and mode != "opcodes":
        return _core.EMIT_RAISE
    if name in modes.EXCEPTIONS:
        return _core.EMIT_UNSURE
    return _core.EMIT_DEST if name in _core.far else _core.EMIT_OFFSET


def _triggers() -> "ModuleType":
    """Import the module only if it is needed: it imports modules that the program may not."""
    from . import triggers
    return triggers


def _take_tool_id(name: str) -> int:
    tool = _free_tool_id()
    sys.monitoring.use_tool_id(tool, name)
    return tool


def _free_tool_id() -> int:
    for tool in TOOL_IDS:
        if sys.monitoring.get_tool(tool) is None:
            return tool
    names = ", ".join(str(sys.monitoring.get_tool(tool)) for tool in sorted(TOOL_IDS))
    raise RuntimeError("ocular: no tool id of sys.monitoring is free; in use by: " + names)


def _note_unmatched(session: _Session) -> None:
    """Patterns that matched no code go into the code table, for the reports (docs/marker.md)."""
    unmatched = _core.unmatched() + (session.watch.unmatched() if session.watch else [])
    if unmatched:
        from . import nearest
        for kind, pattern in unmatched:
            _core.note({"kind": "unmatched", "option": kind, "pattern": pattern.removeprefix("builtins:"),
                        "nearest": nearest.names(kind, pattern)})


def _give_back(tool: int, name: str, callbacks: "Mapping[str, object]") -> None:
    """Release a tool id, its events and {event: callback}. The program may have freed it, which leaves events
    and callbacks as they are (3.12, 3.13), and another tool may have it by now: its events and callbacks stay."""
    monitoring = sys.monitoring
    if monitoring.get_tool(tool) is None:
        monitoring.use_tool_id(tool, name)
    ours = monitoring.get_tool(tool) == name
    if ours:
        monitoring.set_events(tool, 0)
    for kind, callback in callbacks.items():
        event = getattr(monitoring.events, kind)
        there = monitoring.register_callback(tool, event, None)
        if there != callback:
            monitoring.register_callback(tool, event, there)
    if ours:
        monitoring.free_tool_id(tool)


def jit_warning() -> str | None:
    """A warning about this interpreter's JIT: the program may behave differently than without Ocular."""
    if sys.version_info[:2] != (3, 14) or not _jit():
        return None
    return ("ocular: the JIT of Python 3.14 is on: while anything uses sys.monitoring, as Ocular does, it can corrupt a "
            "program's local variables (python/cpython#156319); PYTHON_JIT=0 turns it off")


def _jit() -> bool | None:
    """Whether the interpreter compiles hot loops; None where it does not say (before 3.14). It is switched on behind
    site, where the hook runs, by PYTHON_JIT or a default that cannot be asked for."""
    jit = getattr(sys, "_jit", None)
    if not jit or jit.is_enabled():
        return jit and True
    return jit.is_available() and os.environ.get("PYTHON_JIT", "")[:1] not in ("", "0")


def _header(session: _Session, config: "_core.Config", include: tuple[str, ...],
            exclude: tuple[str, ...]) -> "dict[str, Any]":
    names, specializable, tables = opcodes.tables()
    _core.set_opcodes(*tables)
    if EMULATOR not in os.environ:  # it would be in the time of the machine that emulates
        session.costs = calibrate.measure(_core, session.tool, session.events, session.backend == "software")
    more = {}
    if session.mode == "opcodes":
        more["dispatch"] = opcodes.dispatch()
        _core.set_flow(*opcodes.flow())
    return {
        **more,
        "argv": list(sys.orig_argv),
        **program.described(session.folder),
        "executable": sys.executable,
        "python": sys.version,
        "hexversion": sys.hexversion,
        "implementation": sys.implementation.cache_tag,
        "free_threaded": FREE_THREADED,
        "jit": _jit(),
        "whole": session.whole and not config[5][2],
        "mode": session.mode,
        "also": session.also,
        "identity": bool(session.told),
        "backend": session.backend,
        "events": session.events,
        "include": include,
        "exclude": exclude,
        "tsc_hz": config[3],
        "flight": bool(config[4]) or "OCULAR_FLIGHT" in os.environ,
        **({"waits": _core.see_waits(config[3])} if session.backend == "software" else {}),
        **({"coarse": config[7]} if config[7] else {}),
        **({"duty": dict(zip(("start_ns", "window_ns", "period_ns"), config[5]))} if config[5][2] else {}),
        "callback_cycles": calibrate.cycles(session.costs),
        **({"program_only": True} if " tool=" in os.environ.get(EMULATOR, "") else {}),
        "opnames": names,
        "specializable": specializable,
    }


def _config(session: _Session) -> "_core.Config":
    """The configuration for begin(). Words for Intel PT need no rings and no recorder."""
    if session.backend == "software":
        return _core.ask(session.folder)
    return 0, 0, 0, backends.processor()["tsc_hz"], 0, (0, 0, 0), 0, 0


def _begin(session: _Session, config: "_core.Config", include: tuple[str, ...], exclude: tuple[str, ...],
           wanted: "Triggers | None", guest: bool) -> bool:
    """What the first interpreter of the process does for all. Returns whether a flight recorder records."""
    flight = bool(config[4])
    if wanted and not flight:
        raise ValueError("ocular: triggers need a flight recorder (--flight)")
    if flight:
        wanted = wanted or _triggers().Triggers(())
        _triggers().set_calls(wanted, config[3])
    _core.set_filter(include, exclude, OWN_FOLDERS)
    _core.begin(session.folder, config, _header(session, config, include, exclude), guest)
    return flight


def check(mode: str, backend: str, also: "Sequence[str]" = ()) -> None:
    """ValueError unless they exist, and the backend can record the mode, and the mode what else is wanted."""
    if mode not in modes.MODES:
        raise ValueError("ocular: unknown mode %r; choose one of: %s" % (mode, ", ".join(modes.MODES)))
    if backend not in backends.NAMES:
        raise ValueError("ocular: unknown backend %r; choose one of: %s" % (backend, ", ".join(backends.NAMES)))
    if mode == "opcodes" and backend in ("software", "emulated"):
        raise ValueError("ocular: mode opcodes needs a processor trace with branches; backend %s leaves none: "
                         "use --backend ptwrite, or ocular stat" % backend)
    for key in also:
        if key not in modes.ALSO:
            raise ValueError("ocular: unknown %r; choose of: %s" % (key, ", ".join(modes.ALSO)))
        if mode == "opcodes":
            raise ValueError("ocular: mode opcodes does not record %s: leave out --%s, or choose another mode"
                             % (modes.ABOUT[key], key.replace("_", "-")))


def patterns(name: str, given: "str | Iterable[str]") -> tuple[str, ...]:
    """`include` or `exclude` as a tuple of str; a str is one pattern. TypeError."""
    try:
        found = (given,) if isinstance(given, str) else tuple(given)
        if all(isinstance(p, str) for p in found):
            return found
    except TypeError:
        pass
    raise TypeError("ocular: %s is a str or a list of them, not %r" % (name, given))


def prepare(folder: str, mode: str, backend: str) -> bool:
    """Check a start() before there is a recorder. Does another interpreter of this process trace already? Then its
    folder is the only possible one. ValueError or RuntimeError.
    """
    check(mode, backend)
    there = _core.where()
    if there is not None and there != folder:
        raise RuntimeError("ocular: already tracing into " + there)
    _free_tool_id()
    return there is not None


def start(folder: str, mode: str = modes.DEFAULT, include: "str | Iterable[str]" = (),
          exclude: "str | Iterable[str]" = (), backend: str = "auto", trigger: "Sequence[str]" = (),
          whole: bool = False, guest: bool = False, also: "Sequence[str]" = ()) -> None:
    """Trace this interpreter into `folder`; whole: before any of the program runs; guest: stop by itself when
    the recorder has gone, instead of counting what is lost; also: keys of modes.ALSO.

    RuntimeError, ValueError, TypeError or OSError; then nothing is on.
    """
    with turn:
        _start(folder, mode, include, exclude, backend, trigger, whole, guest, also)


def _start(folder: str, mode: str, include: "str | Iterable[str]", exclude: "str | Iterable[str]", backend: str,
           trigger: "Sequence[str]", whole: bool, guest: bool, also: "Sequence[str]") -> None:
    global _session
    include, exclude = patterns("include", include), patterns("exclude", exclude)
    if _session:
        raise RuntimeError("ocular: already tracing into " + _session.folder)
    prepare(folder, mode, backend)
    wanted = _triggers().Triggers(trigger) if trigger else None
    backend = backends.choose(backend, folder).name
    check(mode, backend, also)
    session = _Session(folder, mode, also, backend, whole)
    session.first = first = _core.join()
    try:
        if first:
            config = _config(session)
            # A flight recorder of perf's keeps the end only: what numbers stand for may have been said before.
            _core.choose(backends.NUMBERS[session.backend], bool(config[7]), "OCULAR_FLIGHT" not in os.environ)
        session.register()
        if first:
            flight = _begin(session, config, include, exclude, wanted, guest)
            if flight:
                session.fly(wanted or _triggers().Triggers(()))
    except BaseException:
        session.unregister()
        _core.close()
        raise
    _session = session
    atexit.register(stop)
    if mode == "opcodes" and not first:
        _core.emit_frames()
    session.listen()


def stop() -> None:
    """Stop what start() started; it is not an error if there is nothing to stop."""
    with turn:
        _stop()


def _stop() -> None:
    global _session, _closed
    session, _session = _session, None
    if session:
        session.unregister(session.first)
        if session.first:
            _note_unmatched(session)
        _core.close()
        _closed += 1
        atexit.unregister(stop)


def finish(path: str) -> None:
    """End the recording in folder `path`; it is complete when this returns. OSError."""
    _core.finish(path)


def folder() -> str | None:
    """The folder that this interpreter traces into, or None."""
    session = _session  # another thread may stop now
    return session.folder if session else None


def start_from_environment() -> None:
    """Do what the variables OCULAR_* say; see hook/sitecustomize.py."""
    env = os.environ
    start(env["OCULAR_DIR"], env.get("OCULAR_MODE") or modes.DEFAULT,
          _patterns(env.get("OCULAR_INCLUDE")), _patterns(env.get("OCULAR_EXCLUDE")),
          env.get("OCULAR_BACKEND") or "auto", (env.get("OCULAR_TRIGGER") or "").splitlines(), whole=True,
          also=(env.get("OCULAR_ALSO") or "").split())


def _patterns(joined: str | None) -> list[str]:
    return [p for p in (joined or "").split(":") if p]


if __name__ == "__main__":  # MODE BACKEND: check whether that, with OCULAR_TRIGGER, can be recorded
    try:
        check(sys.argv[1], sys.argv[2], (os.environ.get("OCULAR_ALSO") or "").split())
        _triggers().Triggers((os.environ.get("OCULAR_TRIGGER") or "").splitlines())
    except ValueError as e:
        sys.exit(str(e))
