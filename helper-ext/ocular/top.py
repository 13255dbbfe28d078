# SPDX-License-Identifier: MIT
"""`ocular top`: starts what is needed to follow a program, and shows it on the whole screen until q.

python -m ocular.top dir|pid|run OWN FOLDER N [OPTIONS of record, N words] DIR|PID|PROGRAM...

OWN is the Python that is traced if none is named, FOLDER where the recording is kept ("": nowhere). `ocular report --follow`
does the counting, `ocular record` and `ocular attach` the recording; this only shows what they tell.
"""

import contextlib
import json
import locale
import os
import select
import shutil
import signal
import subprocess
import sys
import time

from . import tools

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import IO, Any
    from .top_screen import Screen

INSTEAD = "`ocular report --follow` prints the same as JSON lines"
KEPT = "1G"  # of a recording that is only for the screen: seconds of it at the highest rate
PATIENCE = 5  # seconds for a program to end after Ctrl-C, and again after SIGTERM
SHOWN = 1 << 16  # bytes of the program's output, when the screen is gone
LOOK = 0.25  # seconds between looks at the size of the terminal and at the recorder


class Failed(Exception):
    """Why there is nothing to show (any more), in one line."""


def need_terminal() -> None:
    """Failed where there is no screen to draw on."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failed("top needs a terminal; " + INSTEAD)
    try:
        import curses
    except ImportError:
        raise Failed("top needs Python's module curses, which %s does not have: set PYTHON to one that does; %s"
                     % (sys.executable, INSTEAD)) from None
    try:
        curses.setupterm()
        known = curses.tigetstr("cup")
    except curses.error:
        known = None
    if not known:
        raise Failed("top cannot draw on a terminal '%s': set TERM to what it is; %s" % (os.environ.get("TERM", ""), INSTEAD))


def last_line(path: str) -> str:
    """What a program said last, to that file."""
    with open(path, errors="replace") as file:
        lines = file.read().strip().splitlines()
    return lines[-1].removeprefix("ocular: ").removeprefix("ocular-pt: ") if lines else ""


class Program:
    """What is followed: its recording, and the recorder, if that is ours. Everything else made is in self.work."""

    def __init__(self, kind: str, own: str, folder: str, words: "list[str]", work: str) -> None:
        self.kind, self.front = kind, [tools.front_end(), "--installed-for", own]
        self.folder = folder or os.path.join(work, "data")
        self.output, self.errors = os.path.join(work, "output"), os.path.join(work, "errors")
        keep = ["-q", "-o", self.folder, *([] if folder else ["--keep-last", KEPT])]
        commands = {"dir": [], "pid": ["attach", words[-1], *keep, *words[:-1]],
                    "run": ["record", "--backend", "software", *keep, *words]}
        self.recorder = self._start(self.output, *commands[kind]) if commands[kind] else None

    def _start(self, errors: str, *words: str, pipes: bool = False) -> "subprocess.Popen[bytes]":
        """A command of Ocular's, in a session of its own: Ctrl-C is for the screen."""
        with open(errors, "wb") as file:
            return subprocess.Popen([*self.front, *words], start_new_session=True, stderr=file,
                                    stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                                    stdout=subprocess.PIPE if pipes else file)

    def follow(self) -> "subprocess.Popen[bytes]":
        """The process that tells what happens, once there is something to follow."""
        while self.recorder and not os.path.exists(os.path.join(self.folder, "perf.data")):
            if self.recorder.poll() is not None:
                raise Failed(last_line(self.output) or "nothing was recorded")
            time.sleep(0.02)
        return self._start(self.errors, "report", "--follow", "--callers", self.folder, pipes=True)

    def ended(self) -> str:
        """What has become of it, "" while it runs."""
        status = self.recorder.poll() if self.recorder else None
        if status is None:
            return ""
        return "the program has ended" + (", exit status %d" % status if status and self.kind == "run" else "")

    def let_go(self) -> None:
        """A process that was attached to goes on; a program that was started ends, as by Ctrl-C."""
        recorder = self.recorder
        for number in (signal.SIGINT, signal.SIGTERM):
            if not recorder or recorder.poll() is not None:
                return
            (os.killpg if self.kind == "run" else os.kill)(recorder.pid, number)
            try:
                recorder.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                print("ocular: waiting for the %s to end" % ("program" if self.kind == "run" else "recorder"), file=sys.stderr)
        if recorder and recorder.poll() is None:
            raise Failed("the program does not end; it goes on, and so does its recorder, process %d" % recorder.pid)

    def show_output(self) -> None:
        """What the program wrote while the screen was not its."""
        if self.kind != "run":
            return
        with open(self.output, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > SHOWN:
                print("ocular: the first %d bytes of the program's output are left out" % (size - SHOWN), file=sys.stderr)
                file.seek(size - SHOWN)
            sys.stdout.buffer.write(file.read())
            sys.stdout.buffer.flush()


class Lines:
    """The JSON lines of a follower, as they come."""

    def __init__(self, pipe: "IO[bytes]") -> None:
        self.pipe, self.rest, self.over = pipe, b"", False
        os.set_blocking(pipe.fileno(), False)

    def read(self) -> "list[str]":
        """Those that are there."""
        while not self.over:
            try:
                more = os.read(self.pipe.fileno(), 1 << 20)
            except BlockingIOError:
                break
            self.over = not more
            self.rest += more
        *lines, self.rest = self.rest.split(b"\n")
        return [line.decode(errors="replace") for line in lines]


def ask(follower: "subprocess.Popen[bytes]", asked: "dict[str, Any] | None") -> None:
    """For the callers of a function, or of none."""
    assert follower.stdin
    with contextlib.suppress(BrokenPipeError):  # the recording has ended
        follower.stdin.write(json.dumps(asked or {}).encode() + b"\n")
        follower.stdin.flush()


def press(screen: "Screen", follower: "subprocess.Popen[bytes]") -> bool:
    """Do what keys say. False: they end all."""
    while (code := screen.window.getch()) != -1:
        asked = screen.totals.asked
        if not screen.key(code):
            return False
        if screen.totals.asked != asked:
            ask(follower, screen.totals.asked)
    return True


def run(screen: "Screen", program: Program, follower: "subprocess.Popen[bytes]") -> None:
    """Show what comes, until q."""
    assert follower.stdout
    lines = Lines(follower.stdout)
    while press(screen, follower):
        screen.draw()
        select.select([sys.stdin] if lines.over else [sys.stdin, follower.stdout], [], [], LOOK)
        for line in lines.read():
            screen.totals.add(json.loads(line))
        if lines.over and follower.wait():
            raise Failed(last_line(program.errors) or "following the recording failed")
        # Not before the last line of it: what ran in its last moments is still to come.
        screen.words = (program.ended() or "the recording has ended") if lines.over else ""
    screen.clear()


def show(title: str, program: Program) -> None:
    """The screen, until q."""
    import curses
    from .top_screen import Screen
    follower = program.follow()
    os.environ.setdefault("ESCDELAY", "25")  # ms, to tell the key Esc from one that begins with it
    try:
        curses.wrapper(lambda window: run(Screen(window, title), program, follower))
    finally:
        follower.terminate()
        follower.communicate()
    with open(program.errors, errors="replace") as file:  # what the recording lacks
        sys.stderr.write(file.read())


def top(kind: str, own: str, folder: str, words: "list[str]", title: str) -> None:
    """All of it. Failed, and what the parts raise."""
    need_terminal()
    work = tools.working_folder("ocular-top-")
    try:
        program = Program(kind, own, folder, words, work)
        try:
            show(title, program)
        except KeyboardInterrupt:
            pass
        finally:
            program.let_go()
            program.show_output()
    finally:
        shutil.rmtree(work, ignore_errors=True)


def quit_by(number: int, frame: object) -> None:
    """Signals that end it do what q does."""
    raise KeyboardInterrupt


def main(kind: str, own: str, folder: str, options: str, *words: str) -> None:
    """As scripts/commands/top.sh says."""
    locale.setlocale(locale.LC_ALL, "")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, quit_by)
    try:
        top(kind, own, folder, list(words), " ".join(words[int(options):]))
    except (Failed, RuntimeError, OSError) as e:
        sys.exit("ocular: " + str(e).removeprefix("ocular: "))


if __name__ == "__main__":
    main(*sys.argv[1:])
