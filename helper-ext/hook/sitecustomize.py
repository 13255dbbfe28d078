# SPDX-License-Identifier: MIT
"""The entry point: any Python that finds this folder on its PYTHONPATH traces itself.

So the main program runs under plain python, and programs it executes, multiprocessing's spawned
children and sub-interpreters start alike. site imports this module; it starts tracing, removes
itself from the import path, and then lets the user's own sitecustomize run.

It must run on Python 2.7 and later: any interpreter may be a child of a traced program.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TAKEN = 98    # EADDRINUSE; the program may not import the module errno
FAILED = 125  # exit status when the main program cannot be traced; as in env(1) and timeout(1)


def leave_path():
    sys.path[:] = [p for p in sys.path if not p or os.path.abspath(p) != HERE]
    sys.path_importer_cache.pop(HERE, None)


def package_parent():
    """The folder to import `ocular` from: beside the hook, or the hook is inside the package."""
    beside = os.path.dirname(HERE)
    inside = os.path.basename(beside) == "ocular"
    return os.path.dirname(beside) if inside else beside


def import_package():
    """Import `ocular`, and nothing else from its folder: in site-packages there may be a module called as one of Python's."""
    parent = package_parent()
    sys.path.insert(0, parent)
    try:
        __import__("ocular")
    finally:
        sys.path.remove(parent)


def start():
    """None, or the reason why not."""
    if sys.version_info < (3, 12) or sys.implementation.name != "cpython":
        return "ocular needs CPython 3.12 or newer; this is Python " + sys.version.split()[0]
    try:
        import_package()
        from ocular import monitor
        monitor.start_from_environment()
    except Exception as e:
        return no_recorder(e) or explain(e, "cannot trace")


def listen():
    """None, or the reason why nobody can attach."""
    if sys.version_info < (3, 12) or sys.implementation.name != "cpython":
        return None
    try:
        import_package()
        from ocular import agent
        agent.start()
    except Exception as e:
        if getattr(e, "errno", None) != TAKEN:
            return explain(e, "cannot listen")
        # Any user can take that name, so it must not stop the program.
        say("ocular: another process has taken the name of this program's agent: the program runs without one")


def say(text):
    """Write to stderr, which may be closed or full."""
    try:
        os.write(2, (text + "\n").encode())
    except OSError:
        pass


def warn_of_jit():
    text = sys.modules["ocular.monitor"].jit_warning()
    if text:
        say(text)


def no_recorder(e):
    if isinstance(e, (ConnectionRefusedError, FileNotFoundError)):
        return "no recorder answers in %s: %s" % (os.environ["OCULAR_DIR"], e.strerror)


def overwritten():
    """pip does not mind that two distributions have a package of the same name."""
    try:
        with open(os.path.join(package_parent(), "ocular", "__init__.py")) as source:
            return "start_tracing" not in source.read()
    except (OSError, ValueError):
        return False


def explain(e, failed):
    text = str(e)
    if isinstance(e, ImportError) and overwritten():
        return ("ocular: another project's package `ocular` has overwritten Ocular's (%s): pip uninstall ocular, then "
                "pip install --force-reinstall ocular-trace" % text)
    if "PyInit_ocular" in text:
        return "perf's plugin ocular.so shadows the package ocular: " + text
    if isinstance(e, ImportError) and "_core" in text:
        return "ocular is not built for %s: run `make PYTHON=%s`, or `%s -m pip install ocular-trace` (%s)" % (
            sys.implementation.cache_tag, sys.executable, sys.executable, text)
    if isinstance(e, OSError) and failed == "cannot trace":
        return "cannot trace into %s: %s" % (os.environ["OCULAR_DIR"], e.strerror)
    return text if text.startswith("ocular: ") else "%s: %s: %s" % (failed, type(e).__name__, text)


def quoted(text):
    safe = "".join(c if " " <= c <= "~" and c not in '"\\' else "?" for c in str(text))
    return '"' + safe + '"'


def record_untraced(reason):
    """Say in the recording that this process is not in it. A child's output does not change."""
    line = '{"kind":"untraced","pid":%d,"python":%s,"executable":%s,"reason":%s}\n' % (
        os.getpid(), quoted(sys.version), quoted(sys.executable), quoted(reason))
    path = os.path.join(os.environ["OCULAR_DIR"], "codes-%d.jsonl" % os.getpid())
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        if os.fstat(fd).st_uid == os.geteuid():  # as in shared/own_file.h
            os.write(fd, line.encode())
        os.close(fd)
    except OSError:
        pass


def main():
    is_main_program = os.environ.pop("OCULAR_MAIN", None)
    reason = None
    if os.environ.get("OCULAR_LISTEN"):
        reason = listen()
    if os.environ.get("OCULAR_DIR"):
        reason = start() or reason
    if reason and is_main_program:
        reason = reason if reason.startswith("ocular") else "ocular: " + reason
        say(reason + "; the program was not started" * reason.startswith("ocular: cannot trace into"))
        os._exit(FAILED)
    if reason and os.environ.get("OCULAR_DIR"):
        record_untraced(reason)
    if is_main_program and os.environ.get("OCULAR_DIR"):
        warn_of_jit()


leave_path()
main()
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402,F401  the user's; site knows what to do if there is none
