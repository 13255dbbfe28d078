# SPDX-License-Identifier: MIT
"""The calls for programs that trace a part of themselves: start_tracing(), stop_tracing(), tracing().

Under `python -m ocular` the whole program is already traced. Then these calls nest inside that recording
and change nothing, and the report comes at its end.
"""

import os
import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any
    from . import backends, monitor, tools

TRACE_FILE = "ocular_trace.json"

# What stop_tracing() must do: {"folder", "perfetto", "console", "serving", "pid"}
_wanted: "dict[str, Any] | None" = None
_nested = 0     # starts inside the recording of the environment
if not TYPE_CHECKING:
    backends = monitor = tools = None  # until _load()


def _load() -> None:
    """Import the rest, once: not with the package, which must be importable even if it is not built."""
    global backends, monitor, tools
    if monitor:
        return
    try:
        from . import backends, monitor, tools
    except ImportError as e:
        raise RuntimeError("ocular: not built for %s: run `make PYTHON=%s` (%s)" % (
            sys.implementation.cache_tag, sys.executable, e)) from None


def is_tracing() -> bool:
    """True while this interpreter is being traced, whoever started it."""
    try:
        _load()
    except RuntimeError:  # not built: there can be no tracing either
        return False
    return monitor.folder() is not None


def start_tracing(mode: str = "adaptive", perfetto: bool | str | os.PathLike[str] | None = True,
                  output: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
                  include: "str | Iterable[str]" = (), exclude: "str | Iterable[str]" = (),
                  console: bool = True) -> None:
    """Trace this process, its threads and forked children from here on.

    mode      calls, adaptive, lines, precise or full
    perfetto  True: stop_tracing() leaves ocular_trace.json here; a path: there; False: no trace file
    output    folder of the recording (ocular.data); an existing one is renamed to output.old; an error
              if it is being recorded into
    include, exclude  a list of modules, packages, or globs of files ("app", "*/site-packages/*"), or one
    console   stop_tracing() prints the hottest loops

    Where another interpreter of this process traces into that folder already, this one joins in; the
    other's stop_tracing() ends the recording and reports.

    Where perf records this process with Intel PT, the markers go into its recording, and perf and
    the plugin report it (perf script --dlfilter ocular.so) when it is complete.

    RuntimeError if tracing is already on, or if ocular-record is not found; ValueError and TypeError
    for invalid arguments.
    """
    _load()
    monitor.check(mode, "auto")
    include, exclude = monitor.patterns("include", include), monitor.patterns("exclude", exclude)
    with monitor.turn:
        _start(mode, perfetto, output, include, exclude, console)


def _start(mode: str, perfetto: bool | str | os.PathLike[str] | None,
           output: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None,
           include: tuple[str, ...], exclude: tuple[str, ...], console: bool) -> None:
    global _wanted, _nested
    if monitor.folder() and not _wanted:
        _nested += 1
        return
    if _wanted:
        raise RuntimeError("ocular: already tracing into " + _wanted["folder"])
    outer = os.environ.get("OCULAR_DIR")
    try:
        choice = backends.choose(os.environ.get("OCULAR_BACKEND") or "auto", outer)
    except ValueError as e:
        raise RuntimeError(str(e)) from None
    folder = outer or (os.path.abspath(os.fsdecode(output)) if output else choice.folder())
    joined = monitor.prepare(folder, mode, choice.name)
    serving = not outer and not joined and choice.name == "software"
    if serving:
        tools.serve(folder)
    elif not outer:
        os.makedirs(folder, 0o700, exist_ok=True)
    try:
        monitor.start(folder, mode, include, exclude, choice.name)
    except BaseException:
        if serving:
            _end(folder)
        raise
    warning = monitor.jit_warning()
    if warning:
        from . import stderr
        stderr.say(warning)
    _wanted = {"folder": folder, "perfetto": TRACE_FILE if perfetto is True else perfetto,
               "console": console, "serving": serving, "pid": os.getpid()}


def _end(folder: str) -> None:
    """End a recorder that nobody has joined."""
    try:
        monitor.finish(folder)
    except OSError:
        pass  # it has ended


def _stop() -> "dict[str, Any] | None":
    """What was wanted; None: only an inner one of nested calls ended. Of several threads one stops."""
    global _wanted, _nested
    if not monitor:
        raise RuntimeError("ocular: not tracing")
    with monitor.turn:
        if _nested:
            _nested -= 1
            return None
        if not _wanted:
            raise RuntimeError("ocular: not tracing")
        wanted, _wanted = _wanted, None
        monitor.stop()
    return wanted


def stop_tracing() -> None:
    """Stop, complete the recording, and report as start_tracing() was asked to. RuntimeError if off."""
    wanted = _stop()
    if wanted and wanted["serving"] and wanted["pid"] == os.getpid():
        monitor.finish(wanted["folder"])
        tools.report(wanted["folder"], wanted["perfetto"], wanted["console"])


class tracing:
    """with tracing(**options): start_tracing(**options) around a block."""

    def __init__(self, **options: "Any") -> None:
        self.options = options

    def __enter__(self) -> None:
        start_tracing(**self.options)

    def __exit__(self, *exc: object) -> None:
        stop_tracing()
