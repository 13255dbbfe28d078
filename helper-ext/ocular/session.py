# SPDX-License-Identifier: MIT
"""The calls for programs that trace a part of themselves: start_tracing(), stop_tracing(), tracing(), traced().

They are guests: what cannot be done is one OcularWarning, and the program goes on as without them. Only arguments
that are wrong on every machine raise. Under `ocular run` the whole program is already traced. Then these calls nest
inside that recording and change nothing, and the report comes at its end.
"""

import os
import sys

from . import OcularWarning

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypedDict, TypeVar, Unpack, overload
    import atexit
    from . import backends, monitor, tools
    F = TypeVar("F", bound="Callable[..., Any]")
    Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

    class Options(TypedDict, total=False):
        """The arguments of start_tracing()."""
        mode: str
        perfetto: bool | Path | None
        output: Path | None
        include: str | Iterable[str]
        exclude: str | Iterable[str]
        console: bool
        c_calls: bool
        exceptions: bool

TRACE_FILE = "ocular_trace.json"
LAST = 1 << 16  # bytes of a code table, where the recorder says why it ends
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class _Recording:
    """One that start_tracing() began, and what is to be done at its end."""

    def __init__(self, folder: str, serving: bool, perfetto: str | None, console: bool) -> None:
        self.folder, self.serving, self.perfetto, self.console = folder, serving, perfetto, console
        self.pid = os.getpid()
        self.blocks = 0  # of tracing(), that are inside it and did not begin it


_recording: _Recording | None = None
_nested = 0     # starts inside the recording of the environment
_refused = 0    # starts that failed, each with a warning: their stops need none
if not TYPE_CHECKING:
    atexit = backends = monitor = tools = None  # until _load()


def _load() -> None:
    """Import the rest, once: not with the package, which must be importable even if it is not built."""
    global atexit, backends, monitor, tools
    if monitor:
        return
    import atexit
    try:
        from . import backends, monitor, tools
    except ImportError as e:
        raise RuntimeError("ocular: not built for %s: run `make PYTHON=%s` (%s)" % (
            sys.implementation.cache_tag, sys.executable, e)) from None


def _warn(text: str) -> None:
    """One warning, at the program's own line. A program that makes warnings errors wants it to raise."""
    try:
        import warnings  # not at the interpreter's end
        warnings.warn(text, OcularWarning, skip_file_prefixes=(HERE,))
    except OcularWarning:
        raise
    except Exception:  # stderr is closed, or the program's own showwarning() fails
        pass


def _reason(error: Exception) -> str:
    """In one line, without the name in front."""
    text = " ".join(str(error).split())
    if text.startswith("ocular: "):
        return text[len("ocular: "):]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (": %s" % error.filename if error.filename else "")
    return "%s: %s" % (type(error).__name__, text)


def is_tracing() -> bool:
    """True while this interpreter is being traced, whoever started it. Never raises or warns."""
    try:
        _load()
    except RuntimeError:  # not built: there can be no tracing either
        return False
    return monitor.folder() is not None


def start_tracing(mode: str = "adaptive", perfetto: "bool | Path | None" = True, output: "Path | None" = None,
                  include: "str | Iterable[str]" = (), exclude: "str | Iterable[str]" = (),
                  console: bool = True, c_calls: bool = False, exceptions: bool = False) -> bool:
    """Trace this process, its threads and forked children from here on; starts a recorder if there is none.

    mode      calls, adaptive, lines, precise or full
    perfetto  True: stop_tracing() leaves ocular_trace.json here; a path: there (protobuf if it ends in .pftrace);
              False: no trace file
    output    folder of the recording (ocular.data); an existing recording is renamed to output.old
    include, exclude  a list of modules, packages, or globs of files ("app", "*/site-packages/*"), or one
    console   stop_tracing() prints the hottest loops to sys.stdout
    c_calls   record calls of C functions, too, each by its name; mode full always does
    exceptions  record exceptions, too: where each was raised, how far it went; mode full always does

    Where another interpreter of this process traces into that folder already, this one joins in; the
    other's stop_tracing() ends the recording and reports.

    Where perf records this process with Intel PT, the markers go into its recording, and perf and
    the plugin report it (perf script --dlfilter ocular.so) when it is complete.

    Returns whether this process is traced now. If it cannot be, or is traced by an earlier start_tracing() already,
    there is one OcularWarning, and the program goes on as it was. ValueError for an unknown mode and TypeError for
    arguments of other types, before anything has happened.
    """
    return _begin(False, mode, perfetto, output, include, exclude, console, c_calls, exceptions) is not None


def _begin(block: bool, mode: str = "adaptive", perfetto: "bool | Path | None" = True, output: "Path | None" = None,
           include: "str | Iterable[str]" = (), exclude: "str | Iterable[str]" = (),
           console: bool = True, c_calls: bool = False, exceptions: bool = False) -> "_Recording | int | None":
    """What _end() of a block takes: the recording that it is in, the depth inside that of the environment, or None."""
    global _refused
    try:
        _load()
    except RuntimeError as e:
        _refused += not block
        _warn(str(e))
        return None
    also = ("c_calls",) * bool(c_calls) + ("exceptions",) * bool(exceptions)
    monitor.check(mode, "auto", also)
    include, exclude = monitor.patterns("include", include), monitor.patterns("exclude", exclude)
    trace = TRACE_FILE if perfetto is True else os.fsdecode(perfetto) if perfetto else None
    name = os.fsdecode(output) if output else None
    try:
        with monitor.turn:
            return _start(block, mode, trace, name, include, exclude, console, also)
    except Exception as e:
        # One of ours that is on already ends with its own stop.
        _refused += not block and not isinstance(e, _AlreadyTracing)
        reason = _reason(e)
    _warn("ocular: this is not traced: " + reason)
    return None


class _AlreadyTracing(RuntimeError):
    pass


def _start(block: bool, mode: str, trace: str | None, output: str | None, include: tuple[str, ...],
           exclude: tuple[str, ...], console: bool, also: tuple[str, ...]) -> "_Recording | int":
    global _recording, _nested
    if monitor.folder() and not _recording:
        _nested += 1
        return _nested
    if _recording and block:
        _recording.blocks += 1
        return _recording
    if _recording:
        raise _AlreadyTracing("ocular: already tracing into %s; call stop_tracing() first" % _recording.folder)
    outer = os.environ.get("OCULAR_DIR")
    choice = backends.choose(os.environ.get("OCULAR_BACKEND") or "auto", outer)
    folder = outer or (os.path.abspath(output) if output else choice.folder())
    joined = monitor.prepare(folder, mode, choice.name)
    serving = not outer and not joined and choice.name == "software"
    if serving:
        tools.serve(folder)
    elif not outer:
        os.makedirs(folder, 0o700, exist_ok=True)
    try:
        monitor.start(folder, mode, include, exclude, choice.name, also=also)
    except BaseException:
        if serving:
            _finish(folder)
        raise
    warning = monitor.jit_warning()
    if warning:
        from . import stderr
        stderr.say(warning)
    _recording = _Recording(folder, serving, trace, console)
    atexit.register(_forgotten, _recording)
    return _recording


def _forgotten(recording: _Recording) -> None:
    """At the end of the program: a report that nobody has asked for yet could still be had."""
    if recording.serving and recording.pid == os.getpid():
        from . import stderr
        stderr.say("ocular: stop_tracing() was not called. To see what was recorded: ocular report " + recording.folder)


def _finish(folder: str) -> list[str]:
    """End the recorder; what went wrong."""
    try:
        monitor.finish(folder)
    except (FileNotFoundError, ConnectionRefusedError):  # its socket
        return ["its recorder ended early" + _why_early(folder)]
    except Exception as e:
        return ["its recorder could not complete it: " + _reason(e)]
    return []


def _why_early(folder: str) -> str:
    """": " and the reason, if the recorder left one; it has none when it was killed."""
    try:
        for name in os.listdir(folder):
            if name.startswith("codes-"):
                with open(os.path.join(folder, name), "rb") as table:
                    table.seek(max(0, os.fstat(table.fileno()).st_size - LAST))
                    if b'{"kind":"limit"' in table.read():
                        return ": the recording has its maximum size, a tenth of the free disk and at most 4 GB"
    except OSError:
        pass
    return ""


def _report(recording: _Recording) -> list[str]:
    """Write what was asked for; what went wrong."""
    trace = ["--perfetto=" + recording.perfetto] if recording.perfetto else []
    if not trace and not recording.console:
        return []
    try:
        tools.report(recording.folder, *trace, *([] if recording.console else ["--quiet"]))
    except Exception as e:
        return [_reason(e)]
    return []


def _complete(recording: _Recording, wrong: list[str]) -> bool:
    """The process that began it ends it, and reports; then says what went wrong, if something did before this, too."""
    atexit.unregister(_forgotten)
    if recording.serving and recording.pid == os.getpid():
        wrong += _finish(recording.folder)
        wrong += _report(recording)
    if wrong:
        _warn("ocular: the recording in %s: %s" % (recording.folder, "; ".join(wrong)))
    return not wrong


def _end(begun: "_Recording | int | None") -> bool:
    """The end of a block; begun is what its _begin() gave. Others may be inside the recording, or have ended it."""
    global _recording, _nested
    if begun is None:
        return False
    with monitor.turn:
        if isinstance(begun, int):
            _nested -= 1 if _nested else 0
            return True
        if _recording is not begun:
            return True
        if begun.blocks:
            begun.blocks -= 1
            return True
        _recording = None
        wrong = _switch_off()
    return _complete(begun, wrong)


def _switch_off() -> list[str]:
    try:
        monitor.stop()
    except Exception as e:
        return ["tracing did not stop as it should: " + _reason(e)]
    return []


def stop_tracing() -> bool:
    """Stop, complete the recording, and report as start_tracing() was asked to.

    Returns whether all of that was done. What was not (a recorder that was killed, a folder that has gone, a full
    disk, tracing that is not on) is one OcularWarning; what was recorded until then is kept and, if possible, reported.
    After a start_tracing() that failed this does nothing. A forked child ends tracing in itself; the report is its parent's.
    """
    global _refused, _nested
    begun: "_Recording | int | None" = _recording or _nested or None
    if isinstance(begun, _Recording):
        begun.blocks = 0
    if begun is None and _refused:
        _refused -= 1
    elif begun is None:
        _warn("ocular: stop_tracing() without a start_tracing(): not tracing")
    return _end(begun)


class tracing:
    """A block under `with` that is traced: start_tracing(**options) before it, and stop_tracing() behind it.

    Inside of a recording, in whatever thread that began, a block joins it, and its own options do not count; the
    recording ends with the last block that is inside. Warnings are those of start_tracing() and stop_tracing(); an
    exception of the block passes through.
    """

    def __init__(self, **options: "Unpack[Options]") -> None:
        self.options = options
        self._begun: "list[_Recording | int | None]" = []

    def __enter__(self) -> "tracing":
        self._begun.append(_begin(True, **self.options))
        return self

    def __exit__(self, *exc: object) -> None:
        _end(self._begun.pop())


if TYPE_CHECKING:
    @overload
    def traced(function: F, /) -> F: ...
    @overload
    def traced(**options: Unpack[Options]) -> Callable[[F], F]: ...


def traced(function: "F | None" = None, /, **options: "Unpack[Options]") -> "F | Callable[[F], F]":
    """Decorator, @traced or @traced(**options): each call of the function is a block of tracing(**options).

    A coroutine is traced from its first step to its end, and so are generators of both kinds: with what runs between
    their steps. Calls at the same time, in threads or tasks, or of the function by itself, share one recording.

    Each recording starts a recorder of its own, which takes some 20 ms, and only the last two are kept (output and
    output.old): it is for what is called seldom. A service that handles many requests is traced as a whole, by
    `ocular run --include` with the modules of interest, or by one start_tracing(); and processes that trace at the
    same time need an output each.

    TypeError if it is applied to something that cannot be called.
    """
    from . import decorator
    if function is None:
        return lambda each: decorator.wrap(each, options)
    return decorator.wrap(function, options)
