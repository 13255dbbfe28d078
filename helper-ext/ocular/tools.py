# SPDX-License-Identifier: MIT
"""The programs beside the package: the command ocular, ocular-record, and perf with the plugin ocular.so."""

import os
import shutil
import subprocess
import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE = os.path.dirname(os.path.abspath(__file__))
# What `make` leaves in build/ and `make install` in PREFIX/lib/ocular has the package in it; pip has it in the package.
LIB = os.path.join(PACKAGE, "lib")
PARTS = LIB if os.path.isdir(LIB) else os.path.dirname(os.path.dirname(PACKAGE))


def _find(name: str, *folders: str) -> str | None:
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def _program(name: str) -> str:
    """Path of one of Ocular's programs. RuntimeError if there is none."""
    path = _find(name, os.path.join(PARTS, "bin")) or shutil.which(name)
    if not path:
        raise RuntimeError("ocular: cannot find %s: run `make`, or put it on PATH" % name)
    return path


def front_end() -> str:
    """Path of the command ocular. RuntimeError if there is none."""
    path = _find("ocular", PARTS)
    if not path:
        raise RuntimeError("ocular: its commands are not beside %s: run `make`" % PACKAGE)
    return path


def recorder() -> str:
    """Path of ocular-record. RuntimeError if there is none."""
    return _program("ocular-record")


def emulator() -> str:
    """Path of ocular-qemu. RuntimeError if there is none."""
    return _program("ocular-qemu")


def hook() -> str:
    """The folder that makes a Python trace itself if it is on its PYTHONPATH."""
    return os.path.dirname(_find("sitecustomize.py", os.path.join(os.path.dirname(PACKAGE), "hook"),
                                 os.path.join(PACKAGE, "hook")) or PACKAGE)


def serve(folder: str, options: "Sequence[str]" = ()) -> None:
    """Start a recorder in the background; it listens when this returns."""
    done = subprocess.run([recorder(), "-o", folder, "--serve", "--quiet", *options],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="backslashreplace")
    if done.returncode:
        raise RuntimeError("ocular: the recorder did not start: " + done.stderr.strip())


def _plugin() -> str | None:
    """Path of perf's plugin: beside the package, or where `make install` puts it. None if absent."""
    told = subprocess.run(["perf", "--exec-path"], capture_output=True, text=True).stdout.strip()
    return _find("ocular.so", os.path.join(PARTS, "perf"), os.path.join(told, "dlfilters"))


def _report_command(folder: str, plugin: str, perfetto: str | os.PathLike[str] | None, console: bool,
                    status: int) -> list[str]:
    keys = ["status=%d" % status, "console=" + ("always" if console else "never")]
    if perfetto:
        keys.append("perfetto=" + os.fspath(perfetto))
    command = ["perf", "script", "-i", os.path.join(folder, "perf.data"), "--itrace=we",
               "--dlfilter", plugin]
    for key in keys:
        command += ["--dlarg", key]
    return command


def report(folder: str, perfetto: str | os.PathLike[str] | None, console: bool) -> None:
    """Make perf and the plugin write the requested outputs. RuntimeError with the reason if they cannot."""
    if not perfetto and not console:
        return
    plugin = shutil.which("perf") and _plugin()
    if not plugin:
        missing = "perf's plugin ocular.so" if shutil.which("perf") else "perf"
        raise RuntimeError("ocular: the recording in %s is complete, but %s is not installed to "
                           "report it (run `make install`)" % (folder, missing))
    sys.stdout.flush()
    read, write = os.pipe()
    command = _report_command(folder, plugin, perfetto, console, write)
    done = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[write])
    os.close(write)
    with open(read) as f:
        status = f.read().strip()
    if done.wait() or status != "ok":
        raise RuntimeError("ocular: cannot report on %s: %s" % (
            folder, status or "perf ended with %d" % done.returncode))
