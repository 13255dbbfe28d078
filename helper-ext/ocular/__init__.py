# SPDX-License-Identifier: MIT
"""Ocular: Python's calls, loops and opcodes inside a CPU trace that perf decodes.

    import ocular
    ocular.start_tracing()            # into ./ocular.data
    work()
    ocular.stop_tracing()             # prints the hottest loops, leaves ocular_trace.json

    with ocular.tracing(mode="precise"):
        work()

    @ocular.traced                    # functions, coroutines, generators
    def handle(request): ...

    with ocular.span("parse"):        # what the program itself calls things: no more than a call while nobody records
        ocular.counter("queue", 7)

    with ocular.request("GET /"):     # of the slowest the report says where their time went
        ...

From the shell: python -m ocular --help
"""

import sys

__all__ = ["start_tracing", "stop_tracing", "tracing", "traced", "is_tracing", "take_snapshot", "span", "instant",
           "counter", "request", "LogHandler", "get_include", "OcularWarning"]
# Set only here: the builds of C and pip read this line, too.
__version__ = "0.1.0"


class OcularWarning(UserWarning):
    """What Ocular could not do; the program goes on. warnings.filterwarnings() silences it, or makes it an error."""


def get_include():
    # type: () -> str
    """The folder of ocular.h, with which extensions in C or C++ say their spans, instants and counters.

    cc $(python3 -c "import ocular; print('-I' + ocular.get_include())") ...

    The header needs no library, and a copy of it will do; it says what is to be called when (docs/c-api.md).
    """
    import os.path
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


# Old Pythons, 2.7 too, must get as far as being told so: nothing in this file needs a new one, nor have types a syntax.
if sys.version_info >= (3, 12) and sys.implementation.name == "cpython":
    from .session import is_tracing, start_tracing, stop_tracing, traced, tracing
    UNSUPPORTED = None
    try:
        from ._core import counter, instant, request, span, take_snapshot
    except ImportError:  # not built: nobody can record
        from .nothing import counter, instant, request, span, take_snapshot  # type: ignore[assignment]
else:
    from .nothing import counter, instant, request, span, take_snapshot  # type: ignore[assignment]
    UNSUPPORTED = "ocular needs CPython 3.12 or newer; this is %s %s" % (
        getattr(getattr(sys, "implementation", None), "name", "python"), sys.version.split()[0])

    def start_tracing(*args, **options):  # type: ignore[misc]
        # type: (*object, **object) -> bool
        import warnings
        warnings.warn(OcularWarning(UNSUPPORTED), stacklevel=2)
        return False

    def stop_tracing():
        # type: () -> bool
        return False

    class tracing(object):  # type: ignore[no-redef]
        def __init__(self, **options):
            # type: (**object) -> None
            start_tracing()

        def __enter__(self):
            # type: () -> object
            return self

        def __exit__(self, *exc):
            # type: (*object) -> None
            pass

    def traced(function=None, **options):  # type: ignore[no-redef]
        # type: (object, **object) -> object
        start_tracing()
        return function or (lambda each: each)

    def is_tracing():
        # type: () -> bool
        return False


def __getattr__(name):
    # type: (str) -> object
    """LogHandler needs logging, which a program may not want."""
    if name == "LogHandler" and not UNSUPPORTED:
        from .logs import LogHandler
        return LogHandler
    raise AttributeError("module 'ocular' has no attribute %r" % name)


def load_ipython_extension(shell):
    # type: (object) -> None
    """%load_ext ocular: gives IPython the magic %%ocular, which traces a cell and shows the report below it."""
    if UNSUPPORTED:
        start_tracing()
        return
    from . import notebook
    notebook.load(shell)
