# SPDX-License-Identifier: MIT
"""The programs beside the package: the command ocular, and ocular-record."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

from . import stderr

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def analyser() -> str:
    """Path of ocular-pt. RuntimeError if there is none."""
    return _program("ocular-pt")


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


def report(folder: str, *options: str) -> None:
    """`ocular report OPTIONS FOLDER`, whose output goes to sys.stdout, wherever that is (a notebook, a test that captures it).
    RuntimeError with the reason if it fails.
    """
    done = subprocess.run([front_end(), "report", *options, folder], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", errors="backslashreplace")
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["ocular report ended with %d" % done.returncode]
        raise RuntimeError("ocular: cannot report on it: " + said[-1].replace("ocular: ", "", 1))
    if done.stderr:
        stderr.say(done.stderr.rstrip("\n"))
    stderr.show(done.stdout.rstrip("\n"), sys.stdout)


def reason(said: bytes, status: int) -> str:
    """Why ocular report ended with that status: its last line."""
    lines = said.decode(errors="backslashreplace").strip().splitlines() or ["ocular report ended with %d" % status]
    return re.sub("^ocular[a-z-]*: ", "", lines[-1])


PACKED = ".ocular"


def working_folder(prefix: str) -> str:
    """For as much as a recording, which the caller removes: below $TMPDIR, else /var/tmp, which is on disk; /tmp where that is not to be had."""
    try:
        return tempfile.mkdtemp(prefix=prefix, dir=os.environ.get("TMPDIR") or "/var/tmp")
    except OSError:
        return tempfile.mkdtemp(prefix=prefix)


@contextlib.contextmanager
def unpacked(recording: str) -> "Iterator[str]":
    """The recording, or a folder that what `ocular pack` made of one is unpacked into meanwhile. RuntimeError if not all of it is
    there.
    """
    if not recording.endswith(PACKED) or not os.path.isfile(recording):
        yield recording
        return
    made = working_folder("ocular.")
    try:
        folder = os.path.join(made, "data")
        done = subprocess.run([_program("ocular-pack"), "unpack", "-q", os.path.abspath(recording), folder], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="backslashreplace")
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["ocular-pack ended with %d" % done.returncode]
            raise RuntimeError("ocular: " + said[-1].replace("ocular-pack: ", "", 1))
        yield folder
    finally:
        shutil.rmtree(made, ignore_errors=True)
