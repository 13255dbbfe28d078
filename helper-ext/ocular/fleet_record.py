# SPDX-License-Identifier: MIT
"""`ocular record --fleet STORE`: waits for the recorder, and adds what it has recorded (docs/fleet.md).

It has the recorder's place, so it passes signals on and ends as the recorder does. What can be wrong with the store is
said before the program starts. A recording that cannot be added stays where it is.
"""

import argparse
import contextlib
import importlib.util
import os
import signal
import sys

from . import fleet_add, fleet_compact, stderr
from .fleet_events import NO_ARROW
from .fleet_store import NO_DUCKDB, Refused, Store

PASSED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def run(command: list[str]) -> int:
    """Runs it, and returns its wait status. It gets the signals that were sent to this process alone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*PASSED, signal.SIGCHLD))
    pid = os.posix_spawnp(command[0], command, os.environ, setsigmask=before, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    done, status = 0, 0
    while not done:
        told = signal.sigwaitinfo((*PASSED, signal.SIGCHLD))
        if told.si_signo == signal.SIGCHLD:
            done, status = os.waitpid(pid, os.WNOHANG)
        elif told.si_code <= 0:  # the kernel sends the terminal's to all in its foreground
            os.kill(pid, told.si_signo)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return status


def end(status: int) -> int:
    """The exit status for a wait status; a signal ends this process, too."""
    if os.WIFSIGNALED(status):
        with contextlib.suppress(OSError):  # of SIGKILL
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


def made_by(command: list[str], recording: str) -> tuple[int, bool]:
    """Runs the recorder: its wait status, and whether it has made a recording. One that refuses leaves an older one."""
    path = os.path.join(recording, "perf.data")
    try:
        older = open(path, "rb")  # noqa: SIM115 # held, so that its number is no new file's
    except OSError:
        older = None
    status = run(command)
    try:
        made = older is None or not os.path.samestat(os.stat(path), os.fstat(older.fileno()))
    except OSError:
        made = False
    return status, made and os.path.exists(path)


def pack(store: Store, added: "set[str]") -> None:
    """With what other commands added, if it is time. What cannot be is no fault of the recording's, which is there."""
    try:
        fleet_compact.together(store, added)
    except (Refused, KeyboardInterrupt) as e:
        stderr.say("ocular: " + stderr.printable(str(e) or "interrupted"))


def add(store: Store, recording: str, given: dict[str, str], events: bool, quiet: bool) -> bool:
    """False: it could not be added, which was said."""
    try:
        added = fleet_add.add(store, recording, given, events)
        for row in () if quiet else added:
            stderr.say("ocular: added to '%s' as %s%s" % (stderr.printable(store.shown), row["recording"], fleet_add.lacks(row)))
        pack(store, {row["recording"] for row in added})  # of --switch-output they are many
        return True
    except (Refused, RuntimeError) as e:
        reason = str(e)
    except KeyboardInterrupt:
        reason = "interrupted"
    stderr.say("ocular: %s; the recording is '%s', to be added with ocular fleet add%s" % (
        stderr.printable(reason.removeprefix("ocular: ")), recording, " --events" if events else ""))
    return False


def main(arguments: list[str]) -> int:
    """STORE RECORDING [--quiet] [--events] [--label NAME=VALUE]... -- RECORDER..."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("store")
    parser.add_argument("recording")
    for flag in ("--quiet", "--events"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--label", action="append", default=[])
    at = arguments.index("--")
    options, command = parser.parse_args(arguments[:at]), arguments[at + 1:]
    try:
        given = fleet_add.labels(options.label)
        if not importlib.util.find_spec("duckdb"):  # imported when it is needed: the program should not wait for it
            raise Refused(NO_DUCKDB)
        if options.events and not importlib.util.find_spec("pyarrow"):
            raise Refused(NO_ARROW)
        store = Store.made(options.store)
    except Refused as e:
        stderr.say("ocular: " + stderr.printable(str(e)))
        return 1
    status, made = made_by(command, options.recording)
    added = not made or add(store, options.recording, given, options.events, options.quiet)
    return end(status) or int(not added)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
