#!/usr/bin/env python3
"""ocular top in a terminal of tmux: what it shows, what its keys do, what it leaves behind, and where it shows nothing.

Nothing here waits for a time: a screen is looked at until it shows what is wanted, and the programs go on until they are told.
"""

import contextlib
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

# It calls price() 1234 times, then waits for a file; then search() calls it on and on, until another file is there.
PROGRAM = """
import os, sys, threading, time
folder = sys.argv[1]
def price(n):
    return n
def wait_for(name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.01)
        if not os.path.isdir(folder):  # the test is over
            os._exit(1)
def first():
    for n in range(1234):
        price(n)
def search():
    while not os.path.exists(os.path.join(folder, "end")) and os.path.isdir(folder):
        for n in range(100):
            price(n)
        time.sleep(0.01)
first()
print("shop is open", flush=True)
wait_for("go")
thread = threading.Thread(target=search, name="worker")
thread.start()
thread.join()
print("shop is closed", flush=True)
sys.exit(3)
"""


NUMBERS = itertools.count()  # a server that is ending still has its socket


class Terminal:
    """One window of a tmux server of its own, in which a command runs. Use as a context manager."""

    def __init__(self, folder, *command, size=(80, 24), **environment):
        self.tmux = ["tmux", "-S", os.path.join(folder, f"tmux{next(NUMBERS)}"), "-f", os.devnull]
        env = {**recording.plain_environment(TMPDIR=folder, LC_ALL="C.UTF-8"), **environment}
        words = " ".join(map(shlex.quote, command)) + "; echo exit status $?; exec sleep 600"
        if "TERM" in environment:  # tmux sets its own
            words = f"TERM={environment['TERM']} " + words
        self.run("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), words, env=env)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.run("kill-server")

    def run(self, *words, **kw):
        return recording.run([*self.tmux, *words], **kw).stdout

    def screen(self):
        return self.run("capture-pane", "-p")

    def keys(self, *keys):
        self.run("send-keys", *keys)

    def only(self, text):
        """Its filter: rows of the program, not of libraries."""
        self.until("q quit")
        self.keys("/", *text, "Enter")
        self.until(f"^with '{text}'")

    def until(self, pattern):
        """The match in the first screen that has it."""
        end = time.monotonic() + recording.LIMIT
        while time.monotonic() < end:
            found = re.search(pattern, self.screen(), re.MULTILINE)
            if found:
                return found
            time.sleep(0.05)
        raise RuntimeError(f"never {pattern!r}, but:\n{self.screen()}")


def program(folder):
    path = os.path.join(folder, "shop.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    return path


def tell(folder, name):
    with open(os.path.join(folder, name), "w", encoding="utf-8"):
        pass


@contextlib.contextmanager
def running(folder, *command):
    """A program that runs meanwhile; it is told to end, and checked to end as it should."""
    with subprocess.Popen([*command, program(folder), folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          env=recording.plain_environment(PYTHONPATH=os.path.join(recording.BUILD, "python"))) as process:
        process.stdout.readline()  # the shop is open
        try:
            yield process
        finally:
            tell(folder, "go")
            tell(folder, "end")
            process.communicate(timeout=recording.LIMIT)
    if process.returncode != 3:
        raise RuntimeError(f"the program ended with {process.returncode}")


def left(folder):
    """What top left behind."""
    return [f"left behind: {name}" for name in os.listdir(folder) if name.startswith("ocular-top")]


def of_a_recording(python, folder):
    """Exact counts; a resized screen; callers; and q lets the program go on."""
    rec = os.path.join(folder, "rec")
    with running(folder, recording.WRAPPER, "record", "-q", "-o", rec, "--python", python, "--"):
        with Terminal(folder, recording.WRAPPER, "top", rec) as terminal:
            terminal.only("pri.*shop")
            terminal.until(r" 1234  price  shop\.py:4$")
            others = [line for line in terminal.screen().splitlines() if "shop.py:" in line]
            terminal.keys("<")
            terminal.run("resize-window", "-x", "60", "-y", "12")
            terminal.until(r"^ +cpu/s .* \*calls  functions \(all code\)\s*$")
            tell(folder, "go")
            terminal.until(r"^> .* price  shop\.py:4$")
            terminal.keys("Enter")
            terminal.until(r"^callers of price")
            terminal.run("resize-window", "-x", "100", "-y", "20")
            terminal.until(r"^> .* [1-9]\d* +search  shop\.py:")
            terminal.keys("Escape")
            terminal.until(r"^\[1 functions\]")
            terminal.keys("3")
            terminal.until(r"  worker  \d+ of \d+$")
            terminal.only("worker")
            terminal.keys("Enter")
            terminal.until(r"^functions of worker  \d+ of \d+, since they were asked for \(Esc: threads\)")
            terminal.until(r" [1-9]\d*  price  shop\.py:4$")
            others = [*others, *(line for line in terminal.screen().splitlines() if "wait_for" in line)]
            terminal.keys("Escape")
            terminal.until(r"\[3 threads\]")
            terminal.keys("q")
            terminal.until("^exit status 0$")
    return [f"the filter shows {others}"] * (len(others) != 1) + left(folder)


def of_a_moment(python, folder):
    """Of a program that is over within the first second: not said to have ended before what ran is shown."""
    with Terminal(folder, recording.WRAPPER, "top", "--python", python, "--", "-c", "def f(): pass\nfor _ in range(3000000): f()\nexit(3)") as terminal:
        found = terminal.until(r"the program has ended, exit status 3  [^\n]*\n[^\n]*, (\S+) in all")[1]
        terminal.keys("q")
        terminal.until("^exit status 0$")
    return ([] if found != "0" else ["it has ended, and nothing ran"]) + left(folder)


def of_a_program(python, folder):
    """Without colours and on a small screen. It ends by itself; what it wrote is shown then, and nothing is left."""
    with Terminal(folder, recording.WRAPPER, "top", "--python", python, "--", program(folder), folder, size=(40, 10), TERM="vt100") as terminal:
        terminal.only("shop")
        terminal.until(r"price  shop")
        tell(folder, "go")
        terminal.keys("Escape")
        terminal.keys("Tab", "Tab")
        terminal.until(r"\[3 threads\]")
        terminal.until(r"worker")
        tell(folder, "end")
        terminal.until("^ocular top .*the program has ended")
        problems = ["its output is on the screen"] * ("shop is" in terminal.screen())
        terminal.keys("q")
        terminal.until(r"^shop is open\nshop is closed\nexit status 0$")
    return problems + left(folder)


def own_colours(python, folder):
    """On a terminal that has colours, those that its user has chosen: letters and background are not set."""
    with Terminal(folder, recording.WRAPPER, "top", "--python", python, "--", program(folder), folder, TERM="xterm-256color") as terminal:
        terminal.until("^q quit")
        shown = terminal.run("capture-pane", "-p", "-e")
        terminal.keys("q")
        terminal.until("^exit status 0$")
    set_ones = {code for codes in re.findall(r"\x1b\[([\d;]*)m", shown) for code in codes.split(";") if re.fullmatch("[34][0-8]|9[0-7]|10[0-7]", code)}
    return [f"{sorted(set_ones)} in {shown[:300]!r}"] * bool(set_ones) + ["no heading is told apart"] * ("\x1b[7m" not in shown) + left(folder)


def kept(python, folder):
    """q ends a program that was started for it. With -o its recording is whole."""
    rec = os.path.join(folder, "rec")
    with Terminal(folder, recording.WRAPPER, "top", "--mode", "calls", "-o", rec, "--python", python, "--", program(folder), folder) as terminal:
        terminal.only("shop")
        terminal.until(r"  1234  price  shop\.py:4$")
        terminal.keys("q")
        terminal.until("^exit status 0$")
        problems = [] if "KeyboardInterrupt" in terminal.screen() else ["it did not end as by Ctrl-C:", *terminal.screen().splitlines()]
    calls = sum(row["calls"] for row in recording.summary(rec)["functions"] if row["qualname"] == "price")
    return problems + [f"{calls} calls are recorded"] * (calls != 1234) + left(folder)


def of_a_process(python, folder):
    """It is attached to, and goes on without tracing."""
    with running(folder, python, "-m", "ocular", "--listen") as process:
        with Terminal(folder, recording.WRAPPER, "top", str(process.pid)) as terminal:
            terminal.only("shop")
            terminal.until(r"  wait_for  shop\.py:")
            tell(folder, "go")
            terminal.until(r"  search  shop\.py:")
            terminal.keys("q")
            terminal.until("^exit status 0$")
        return left(folder)


def still_there(path):
    """Processes that have it on their command line, and do not end."""
    end = time.monotonic() + recording.LIMIT
    while (found := recording.run(["pgrep", "-af", path]).stdout.splitlines()) and time.monotonic() < end:
        time.sleep(0.1)
    return [f"still there: {line}" for line in found]


def ended_by(number, python, folder):
    """As by q: nothing is left, neither the recorder nor its program."""
    with Terminal(folder, recording.WRAPPER, "top", "--python", python, "--", program(folder), folder) as terminal:
        terminal.only("shop")
        terminal.until(r"price  shop\.py:4$")
        pid = int(terminal.run("list-panes", "-F", "#{pane_pid}"))
        shown = recording.run(["pgrep", "-P", str(pid), "-f", "ocular.top"]).stdout.split()
        os.kill(int(shown[0]), number)
        terminal.until("^exit status 0$")
    return left(folder) + still_there(os.path.join(folder, "shop.py"))


def refused(python, folder):
    """A line, and no screen."""
    os.mkdir(os.path.join(folder, "empty"))
    path = program(folder)
    made = recording.run([recording.WRAPPER, "record", "-q", "-o", os.path.join(folder, "rec"), "--python", python, "-c", "pass"], cwd=folder)
    rows = (([os.path.join(folder, "none")], 1, "no recording, process or program"),
            ([os.path.join(folder, "empty")], 1, "not a recording"),
            ([], 1, "process or program 'ocular.data'"),
            (["--mode", "calls"], 2, "nothing to show"),
            (["--mode", "calls", os.path.join(folder, "rec")], 2, "options are for what is not recorded yet"),
            (["--backend", "qemu", path], 2, "--backend software"),
            (["--flight", "10ms", path], 2, "flight"),
            (["--switch-output", "1G", path], 2, "--switch-output"),
            ([os.path.join(folder, "rec")], 1, "needs a terminal; `ocular report --follow`"))
    problems = [made.stderr] if made.returncode else []
    for arguments, status, words in rows:
        done = recording.run([recording.WRAPPER, "top", *arguments], cwd=folder, env=recording.plain_environment(TMPDIR=folder))
        if done.returncode != status or words not in done.stderr or done.stderr.count("\n") != 1 or done.stdout:
            problems.append(f"{arguments}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return problems + left(folder)


def refused_on_terminal(folder):
    """Terminals that cannot be drawn on; a process that cannot be attached to; a program that does not start."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    problems = []
    for arguments, environment, words in (
            (["ocular"], {"TERM": "dumb"}, "cannot draw on a terminal 'dumb'"),
            (["ocular"], {"TERM": "no-such-terminal"}, "cannot draw on a terminal 'no-such-terminal'"),
            ([str(ended.pid)], {}, "there is no process"),
            (["--mode", "nonsense", program(folder)], {}, "unknown mode 'nonsense'")):
        with Terminal(folder, recording.WRAPPER, "top", *[program(folder) if word == "ocular" else word for word in arguments],
                      size=(300, 24), **environment) as terminal:
            found = terminal.until(r"^exit status (\d)")
            if found[1] not in "12" or words not in terminal.screen():
                problems.append(terminal.screen())
    return problems + left(folder)


def cases(python, chosen):
    if python != recording.pythons(chosen)[-1]:
        return
    yield "a recording that is being written: exact counts, a filter, callers, other sizes", of_a_recording, python
    yield "a program, without colours: its output comes when the screen goes", of_a_program, python
    yield "a terminal's own colours", own_colours, python
    yield "a program of a moment has ended when its last line is there", of_a_moment, python
    yield "q ends a program that it started; -o keeps the recording", kept, python
    yield "a running process: it is let go", of_a_process, python
    yield "SIGTERM ends it as q does", ended_by, signal.SIGTERM, python
    yield "SIGHUP ends it as q does", ended_by, signal.SIGHUP, python
    yield "what cannot be shown is refused in a line", refused, python
    yield "the same on terminals", refused_on_terminal


if __name__ == "__main__":
    if not shutil.which("tmux"):
        with Plan() as plan:
            plan.missing("ocular top in a terminal", "tmux")
        sys.exit()
    recording.run_cases(cases)
