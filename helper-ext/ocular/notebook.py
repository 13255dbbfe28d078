# SPDX-License-Identifier: MIT
"""%load_ext ocular in IPython and Jupyter: the magic %%ocular, which traces a cell and shows the report's page below it."""

import argparse
import contextlib
import html
import os
import shlex
import tempfile

from . import session, tools

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

# What runs beside a cell and is not it.
MACHINERY = ("IPython", "ipykernel", "traitlets", "tornado", "zmq", "jupyter_client", "comm", "asyncio", "selectors")
HEIGHT = 600  # pixels of the page


class CellFailed(Exception):
    """The cell ended with an exception, which has been shown: the cells behind it do not run."""

    def _render_traceback_(self) -> list[str]:
        return ["ocular: the cell failed, see above"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> "NoReturn":
        from IPython.core.error import UsageError  # type: ignore[import-not-found] # there is none where types are checked
        raise UsageError("%%%%ocular: %s (see %%%%ocular?)" % message)


def _parser() -> _Parser:
    parser = _Parser(add_help=False)
    parser.add_argument("--mode", default="adaptive")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("--c-calls", action="store_true")
    parser.add_argument("--exceptions", action="store_true")
    parser.add_argument("-o", "--output")
    parser.add_argument("--perfetto")
    return parser


def load(shell: "Any") -> None:
    """Give an IPython shell the magic."""
    def ocular(line: str, cell: str) -> None:
        _run(shell, line, cell)
    ocular.__doc__ = cell_magic.__doc__
    shell.register_magic_function(ocular, "cell", "ocular")


def cell_magic(line: str, cell: str) -> None:
    """%%ocular [--mode MODE] [--include PATTERN] [--exclude PATTERN] [--c-calls] [--exceptions] [-o DIR] [--perfetto FILE]

    Traces the cell, and shows the report's page below it. The recording is in ./ocular.data or DIR: `!ocular view` opens it in
    a window of its own. --perfetto also writes a trace for https://ui.perfetto.dev. Code of IPython and Jupyter is left out.
    A cell with await at its top level cannot be traced so: there, use `with ocular.tracing():` inside of it.
    """


def _awaits(shell: "Any", cell: str) -> bool:
    """Whether the cell awaits at its top level, where a loop runs already, Jupyter's: a magic cannot go on with that."""
    import asyncio
    runs = getattr(asyncio, "_get_running_loop", lambda: None)()
    return runs is not None and bool(shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)))


def _run(shell: "Any", line: str, cell: str) -> None:
    parser = _parser()
    wanted = parser.parse_args(shlex.split(line))
    if _awaits(shell, cell):
        parser.error("a cell with await at its top level cannot be traced so: there, use `with ocular.tracing():` inside of it")
    with _source(shell, cell):
        begun = session._begin(True, wanted.mode, wanted.perfetto, wanted.output, wanted.include,
                               [*MACHINERY, *wanted.exclude], False, wanted.c_calls, wanted.exceptions)
        try:
            result = shell.run_cell(cell)
        finally:
            complete = session._end(begun)
        if complete and isinstance(begun, session._Recording) and not session.is_tracing():
            _show(begun.folder)
    if not result.success:
        raise CellFailed


@contextlib.contextmanager
def _source(shell: "Any", cell: str) -> "Iterator[None]":
    """The cell in the file that its code says it is from, which Jupyter names but does not write: the page shows its lines."""
    name = getattr(shell.compile, "get_code_name", lambda *_: "")(cell, cell, 0)
    folder = os.path.dirname(name)
    if not os.path.isabs(name) or os.path.exists(name):
        yield
        return
    made = [] if os.path.exists(folder) else [folder]
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        with open(name, "x", encoding="utf-8") as out:
            out.write(cell)
    except OSError:  # then without its lines
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
            for each in made:
                os.rmdir(each)


def _show(folder: str) -> None:
    """The page, in a frame: its style is not the notebook's. Links in it lead to its own sections."""
    from IPython.display import HTML, display  # type: ignore[import-not-found]
    with tempfile.TemporaryDirectory() as temp:
        path = os.path.join(temp, "report.html")
        try:
            tools.report(folder, "--html=" + path, "--quiet")
            with open(path, encoding="utf-8", errors="backslashreplace") as file:
                page = file.read()
        except Exception as e:
            session._warn("ocular: no page of the recording in %s: %s" % (folder, session._reason(e)))
            return
    page = page.replace("<head>", '<head><base href="about:srcdoc">', 1)
    display(HTML('<div><iframe sandbox="allow-scripts" style="width: 100%%; height: %dpx; border: 0; background: white" srcdoc="%s">'
                 "</iframe></div>" % (HEIGHT, html.escape(page))))
