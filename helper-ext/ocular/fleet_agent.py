# SPDX-License-Identifier: MIT
"""`ocular agent`: beside the services of a host, always on; each snapshot of their flight recorders goes into a fleet store (docs/fleet.md).

A service is a process, which `ocular attach` is started for, or a folder that the service's own recorder writes into. The recorder goes
on in a new file after each snapshot (--switch-output); fleet_kept.py takes the files. All state is on disk: whoever is killed, the agent
or a service, the next round finds what there is to do.
"""

import argparse
import contextlib
import fnmatch
import glob
import os
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from . import fleet_add, fleet_kept, options, processes, stderr, tools
from .fleet_store import Refused, Store, duckdb

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

NAME = re.compile(r"[a-z0-9][a-z0-9_.]{0,59}", re.ASCII | re.IGNORECASE)
BUDGET = re.compile(r"(\d+)([KMGT]?)(?:/day)?")
SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
EVERY = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
SECONDS = {"ms": 1e-3, "s": 1, "m": 60}
LONGEST = 60  # s between two tries to attach
# A file for each snapshot, but for those that come within a second; of files that nobody takes the newest stay.
RECORDER = ("--switch-output", "1s", "--switch-max-files", "100")
MOST = ("--max-snapshots", "1000000")  # if it is not said: a service that runs for months
OWN = ("ocular.fleet_agent", "ocular.attach")  # in command lines that are no service's


class Parser(argparse.ArgumentParser):
    """Its errors are one line, as those of the other commands."""

    def error(self, message: str) -> "NoReturn":
        """End with 2."""
        stderr.say("ocular: %s (see: ocular agent --help)" % stderr.printable(message))
        sys.exit(2)


class Passed(argparse.Action):
    """An option that ocular attach reads."""

    def __call__(self, parser: argparse.ArgumentParser, into: argparse.Namespace, values: "Any", name: "str | None" = None) -> None:
        """As it was written."""
        into.passed = [*into.passed, str(name), *([] if values == [] else [values])]


def said(text: str, quiet: bool = False) -> None:
    """A line of the log."""
    if not quiet:
        stderr.say("[ ocular: %s ]" % stderr.printable(text))


def _bytes(n: int) -> str:
    return "%.0f kB" % (n / 1e3) if n < 999_500 else "%.1f MB" % (n / 1e6)


def is_heard(folder: str) -> bool:
    """Does a recorder record into it?"""
    with contextlib.suppress(OSError), contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as ours:
        number = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            ours.setblocking(False)
            ours.connect("/proc/self/fd/%d/.ocular.sock" % number)  # the path itself may be too long
            return True
        except BlockingIOError:  # others are waiting
            return True
        finally:
            os.close(number)
    return False


# --- what a service is: by its description, the folders or the processes of it


class Service:
    """NAME=WHAT of the command line."""

    def __init__(self, name: str, what: str) -> None:
        self.name, self.what = name, what
        self.kind = next(kind for kind, fits, _ in KINDS if fits(what))
        self.find = next(find for _, fits, find in KINDS if fits(what))

    def folders(self) -> list[str]:
        """That its own recorder writes into, and the one before, which a recorder that starts again moves away."""
        path = os.path.abspath(self.what)
        return [each for each in (path + ".old", path) if self.kind == "folder" and os.path.isdir(each)]

    def pids(self) -> list[int]:
        """Of its processes, those that are there."""
        return [pid for pid in self.find(self.what) if os.path.isdir("/proc/%d" % pid)]

    def is_over(self) -> bool:
        """Will it never come back?"""
        return self.kind == "process" and not self.pids()

    def lacks(self) -> str:
        """What there should be; empty: it is there."""
        path = os.path.abspath(self.what)
        return "there is no folder '%s'" % self.what if self.kind == "folder" and not os.path.isdir(path) else ""


def _none(_: str) -> list[int]:
    return []


def _number(text: str) -> list[int]:
    return [int(text)]


def _in_file(path: str) -> list[int]:
    with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
        return [int(file.read(20))]
    return []


def _by_command(pattern: str) -> "list[int]":
    """This user's Pythons, oldest first."""
    found = []
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        with contextlib.suppress(OSError):
            command = processes.command_of(pid)
            if (fnmatch.fnmatchcase(command, "*%s*" % pattern) and pid != os.getpid() and not any(each in command for each in OWN)
                    and os.stat("/proc/%d" % pid).st_uid == os.geteuid() and processes.minor_of(pid) is not None):
                found.append(pid)
    return found


KINDS: "tuple[tuple[str, Callable[[str], bool], Callable[[str], list[int]]], ...]" = (
    ("process", str.isdecimal, _number),
    ("pid file", lambda what: what.endswith(".pid"), _in_file),
    ("folder", lambda what: what.endswith("/") or os.path.isdir(what) or what.endswith(".data"), _none),
    ("command", lambda what: True, _by_command),
)


def services(words: "list[str]") -> "list[Service]":
    """Refused if one is not NAME=WHAT, or a name is another's."""
    found: list[Service] = []
    for word in words:
        name, equals, what = word.partition("=")
        if not equals or not what or not NAME.fullmatch(name) or ".." in name:
            raise Refused("'%s' is not NAME=PID, NAME=FILE.pid, NAME=DIR/ or NAME=COMMAND, with a NAME of letters, digits, _ and ." % word)
        if any(name == each.name for each in found):
            raise Refused("two services are called '%s'" % name)
        found.append(Service(name, what))
    return found


# --- processes that the agent is attached to


def _parent(pid: int) -> int:
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


class Attached:
    """One that `ocular attach` runs for."""

    def __init__(self, service: str, pid: int, folder: str, passed: list[str]) -> None:
        self.service, self.pid, self.folder = service, pid, folder
        self.others = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # what is forked later is recorded with it
        self.told = tempfile.TemporaryFile()  # noqa: SIM115 # as long as the process
        self.attached = False
        command = [tools.front_end(), "attach", str(pid), "-o", folder, "--tied", str(os.getpid()), *RECORDER, *passed]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.told, start_new_session=True)
        self.fd = os.pidfd_open(self.process.pid)

    def words(self) -> str:
        """What it has said."""
        self.told.seek(0)
        return self.told.read().decode(errors="backslashreplace")

    def is_new(self) -> bool:
        """Once, when it is attached."""
        new = not self.attached and "[ ocular: attached to " in self.words()
        self.attached |= new
        return new

    def let_go(self) -> None:
        """It detaches, and ends."""
        with contextlib.suppress(OSError):
            self.process.terminate()

    def close(self) -> str:
        """It has ended: why, or an empty string if that is in order."""
        lines = self.words().strip().splitlines() or ["ocular attach ended with %d" % self.process.returncode]
        os.close(self.fd)
        self.told.close()
        return lines[-1].removeprefix("ocular: ") if self.process.returncode else ""


class Attachments:
    """All of them."""

    def __init__(self, agent: "Agent") -> None:
        self.agent = agent
        self.there: list[Attached] = []
        self.tries: dict[tuple[str, int], tuple[float, float]] = {}  # when next, and how long after that

    def start(self, service: Service) -> None:
        """Attaches to what is new of a service."""
        for pid in service.pids():
            if not self._is_recorded(pid) and self.tries.get((service.name, pid), (0.0, 0))[0] <= time.monotonic():
                folder = os.path.join(self.agent.kept.attached, "%s-%d-%s" % (service.name, pid, secrets.token_hex(4)))
                self.there.append(Attached(service.name, pid, folder, self.agent.passed))

    def _is_recorded(self, pid: int) -> bool:
        """Or a process is of which it is a fork."""
        at = pid
        while at > 1:
            if any(each.pid == at and (at == pid or pid not in each.others) for each in self.there):
                return True
            at = _parent(at)
        return False

    def look(self) -> None:
        """Tells who is attached to, and who is not any more."""
        for each in list(self.there):
            ended = each.process.poll() is not None
            if each.is_new():
                self.tries.pop((each.service, each.pid), None)
                said("%s: attached to %d" % (each.service, each.pid), self.agent.quiet)
            if ended:
                self.there.remove(each)
                self._ended(each, each.close())

    def _ended(self, each: Attached, reason: str) -> None:
        if not os.path.isdir("/proc/%d" % each.pid):
            said("%s: process %d has ended" % (each.service, each.pid), self.agent.quiet)
            self.tries.pop((each.service, each.pid), None)
            return
        _, pause = self.tries.get((each.service, each.pid), (0.0, 1.0))
        self.tries[each.service, each.pid] = time.monotonic() + pause, min(2 * pause, LONGEST)
        if reason:
            self.agent.complain("%s: not attached to %d: %s" % (each.service, each.pid, reason))

    def end(self) -> None:
        """Lets go of all."""
        for each in self.there:
            each.let_go()
        for each in self.there:
            each.process.wait()
        self.look()


# --- the agent


class Agent:
    """What it watches, and what it keeps."""

    def __init__(self, store: Store, o: argparse.Namespace) -> None:
        self.quiet, self.passed = o.quiet, o.passed
        self.given = fleet_add.labels(o.label)
        self.services = o.services
        self.kept = fleet_kept.Kept(store, o.host, o.budget, not o.totals)
        self.attachments = Attachments(self)
        self.seen: dict[str, tuple[int, int, int]] = {}  # files that were taken; without this they would be read again
        self.complaints: set[str] = set()
        self.failed = False

    def complain(self, text: str) -> None:
        """Once."""
        self.failed = True
        if text not in self.complaints:
            self.complaints.add(text)
            stderr.say("ocular: " + stderr.printable(text))

    def round(self) -> None:
        """Everything that there is to do now."""
        self.attachments.look()
        for service in self.services:
            self.attachments.start(service)
            for folder in service.folders():
                self._take_all(service.name, folder, False)
        self._take_attached()
        self._add_all()

    def _take_attached(self) -> None:
        """Also what an agent that was killed has left."""
        running = {each.folder for each in self.attachments.there}
        for folder in sorted(glob.glob(os.path.join(glob.escape(self.kept.attached), "*-*-*"))):
            service = os.path.basename(folder.removesuffix(".old")).rsplit("-", 2)[0]
            if self._take_all(service, folder, True) and folder not in running:
                shutil.rmtree(folder, ignore_errors=True)

    def _take_all(self, service: str, folder: str, ours: bool) -> bool:
        """What a folder has. True: all, and nothing more will come."""
        ended, left = not is_heard(folder), 0
        names = sorted(glob.glob(os.path.join(glob.escape(folder), "perf.data.[0-9]*")))
        names += [os.path.join(folder, fleet_kept.DATA)] * ended
        for path in [path for path in self.seen if os.path.dirname(path) == folder and path not in names]:
            del self.seen[path]
        for path in names:
            with contextlib.suppress(FileNotFoundError):  # the recorder keeps so many, and there may be none at all
                left += not self._take(service, path, ended, ours)
        return ended and not left

    def _take(self, service: str, path: str, ended: bool, ours: bool) -> bool:
        try:
            st = os.stat(path)
            version = st.st_ino, st.st_size, st.st_mtime_ns
            if self.seen.get(path) != version and not self.kept.take({**self.given, "service": service}, path, ended, ours):
                return False
            if ours:
                os.unlink(path)
            else:
                self.seen[path] = version
            return True
        except FileNotFoundError:
            raise
        except OSError as e:
            self.complain("%s: cannot take '%s': %s" % (service, path, e.strerror))
            return False

    def _add_all(self) -> None:
        for key, about in self.kept.waiting():
            try:
                note = self.kept.add(key, about)
                if note:
                    self._tell(note)
            except (Refused, RuntimeError) as e:
                self.complain("%s: %s" % (about["labels"]["service"], str(e).removeprefix("ocular: ")))

    def _tell(self, note: "dict[str, Any]") -> None:
        out, sizes = self.kept.trim(note["day"])
        size, used = sizes[note["key"]], sum(sizes.values()) - sum(sizes[each["key"]] for each in out)
        said("%s: %s: added as %s, %s; %s of %s of %s" % (
            note["labels"]["service"], note["labels"]["trigger"], note["recording"], _bytes(size), _bytes(used), _bytes(self.kept.budget), note["day"]), self.quiet)
        for each in out:
            said("%s: %s: taken out %s, %s" % (
                each["labels"]["service"], each["labels"]["trigger"], each["recording"],
                "which is larger than the budget" if each["key"] == note["key"] else "the oldest of the day"), self.quiet)

    def run(self, every: float) -> None:
        """Until a signal. Then whoever is attached to is let go of, and what that leaves is added, too."""
        wake = _catch_signals()
        while True:
            self.round()
            if not self.attachments.there and all(each.is_over() for each in self.services):
                said("all services have ended", self.quiet)
                return
            if select.select([wake, *(each.fd for each in self.attachments.there)], [], [], every)[0] and _was_signal(wake):
                break
        said("detaching, and adding what is left", self.quiet)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a second one does not wait
            signal.signal(number, signal.SIG_DFL)
        self.attachments.end()
        self.services = []
        self.round()


def _catch_signals() -> int:
    """From now on a signal that would end us makes this descriptor readable instead."""
    wake, notice = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(notice, False)
    signal.set_wakeup_fd(notice)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return wake


def _was_signal(wake: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        return bool(os.read(wake, 1))
    return False


# --- the command line


def _budget(text: str) -> int:
    match = BUDGET.fullmatch(text)
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError("not a size a day (200M/day): '%s'" % text)
    return int(match[1]) * SIZES[match[2]]


def _every(text: str) -> float:
    match = EVERY.fullmatch(text)
    if not match or not 0 < float(match[1]) * SECONDS[match[2]] <= 86400:
        raise argparse.ArgumentTypeError("not a time (500ms, 10s, 5m): '%s'" % text)
    return float(match[1]) * SECONDS[match[2]]


def parser() -> Parser:
    """As scripts/commands/agent.sh says; what attach takes, too, is handed on."""
    found = Parser(add_help=False, allow_abbrev=False)
    found.add_argument("services", nargs="*")
    found.add_argument("--store")
    found.add_argument("--budget", type=_budget, default="200M/day")
    found.add_argument("--label", action="append", default=[])
    found.add_argument("--host", default=os.uname().nodename)
    found.add_argument("--every", type=_every, default="2s")
    for flag in ("--totals", "--once"):
        found.add_argument(flag, action="store_true")
    found.add_argument("-q", "--quiet", action="store_true")
    for names, value in [(["--max-snapshots"], "N"), *((row.names, row.value) for row in options.rows("s"))]:
        found.add_argument(*names, dest="passed", action=Passed, default=[], nargs=0 if value == "-" else None)
    return found


def _check(o: argparse.Namespace, found: Parser) -> None:
    """What goes together."""
    if not o.store:
        found.error("--store STORE: where is it to go?")
    if not o.services:
        found.error("name a service: NAME=PID, NAME=FILE.pid, NAME=DIR/ or NAME=COMMAND")
    processes_of = [each for each in o.services if each.kind != "folder"]
    if o.once and processes_of:
        found.error("--once is for folders: '%s' is to be attached to" % processes_of[0].what)
    if processes_of and "--flight" not in o.passed:
        found.error("--flight LENGTH: how much is to be kept of what led up to a snapshot?")
    if o.passed and not processes_of:
        found.error("%s: a folder's recorder has its own options (ocular record --flight)" % o.passed[0])


def _check_triggers(passed: list[str]) -> None:
    """Refused by the reason that attach would have, if this Python has what it takes to know."""
    try:
        from . import triggers
    except ImportError:
        return
    kinds = {name: row.variable[:-1] for row in options.rows("s") for name in row.names if row.variable[:-1] in triggers.KINDS}
    try:
        triggers.Triggers(kinds[name] + " " + value for name, value in zip(passed, passed[1:]) if name in kinds)
    except ValueError as e:
        raise Refused(str(e).removeprefix("ocular: ")) from None


def work(o: argparse.Namespace, found: Parser) -> int:
    """The exit status."""
    o.services = services(o.services)
    _check(o, found)
    _check_triggers(o.passed)
    fleet_add.labels(["host=" + o.host, *o.label])
    for word in o.label:
        if word.partition("=")[0] in ("service", "host", "trigger"):
            raise Refused("label '%s' is one that the agent gives itself" % word)
    duckdb()
    if "--max-snapshots" not in o.passed:
        o.passed = [*o.passed, *MOST]
    for each in o.services:
        if each.is_over():
            raise Refused("there is no process %s" % each.what)
    agent = Agent(Store.made(o.store), o)
    for each in o.services:
        if each.lacks() and o.once:
            agent.complain("%s: %s" % (each.name, each.lacks()))
        elif each.lacks():
            said("%s: %s yet" % (each.name, each.lacks()), o.quiet)
    if o.once:
        agent.round()
        return int(agent.failed)
    said("%s: budget %s a day; %s" % (o.store, _bytes(o.budget), ", ".join("%s: %s %s" % (each.name, each.kind, each.what) for each in o.services)), o.quiet)
    agent.run(o.every)
    return 0


def main(arguments: list[str]) -> int:
    """The command."""
    found = parser()
    o = found.parse_intermixed_args(arguments)
    try:
        return work(o, found)
    except Refused as e:
        stderr.say("ocular: " + stderr.printable(str(e)))
    except RuntimeError as e:  # of tools
        stderr.say(str(e))
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
