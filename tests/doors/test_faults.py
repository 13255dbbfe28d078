#!/usr/bin/env python3
"""What goes wrong around a traced program does not change it: what it prints and how it ends are as under plain python.

Each row of FAULTS is one thing that fails, for `ocular record`, `ocular run` and `ocular attach`: before the program starts
(then it does not start, and one line says why), or in the middle of it, while it waits for its standard input (then it
goes on, and one line says what the recording lacks). Mounts are made in a mount namespace of the command's own.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import recording
from seccomp import ENOSYS, EPERM, MEMFD_CREATE, NARROW, NEW_CALLS, SOCKET, call, forbids
from tap import Plan

SECONDS = 60
CLONE_NEWNS, PR_SET_CHILD_SUBREAPER, PR_CAPBSET_DROP = 0x20000, 36, 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2

# In two halves: the second one begins threads, forks, a Python of its own, and an exception.
PROGRAM = """
import os, subprocess, sys, threading
def work(n):
    total = 0
    for i in range(n):
        total += i % 7
    return total
def forked():
    pid = os.fork()
    if not pid:
        os._exit(work(1000) % 5)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print("before", work(2000), flush=True)
sys.stdin.readline()
print(forked(), subprocess.run([sys.executable, "-c", "import sys; sys.exit(sum(range(9)) % 7)"]).returncode, flush=True)
thread = threading.Thread(target=work, args=(20000,))
thread.start(), thread.join()
work(200000)
try:
    raise LookupError("mine")
except LookupError as e:
    print("after", work(2000), e, flush=True)
sys.stdin.readline()
sys.exit(7)
"""


# --- what fails from the beginning: in the process that becomes the command ---------------------------------


def without_privileges():
    """Rights of files count for root, too."""
    if os.geteuid() == 0:
        for capability in CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH:
            call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)


def limits(kind, most):
    return lambda: resource.setrlimit(kind, (most, most))


def mounts(*commands):
    def act():
        call("unshare", CLONE_NEWNS)
        for command in ("mount --make-rprivate /", *commands):
            subprocess.run(command, shell=True, check=True)
    return act


def may_mount():
    if os.geteuid():
        return False
    return subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0


# --- what fails in the middle -------------------------------------------------------------------------------


def recorder(data):
    """The recorder's process id."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file, open(f"/proc/{pid}/comm", "rb") as name:
                words, name = file.read().split(b"\0"), name.read().strip()
        except OSError:
            continue
        if data.encode() in words and name == b"ocular-record":
            return int(pid)
    raise RuntimeError("there is no recorder")


def kill_recorder(data):
    os.kill(recorder(data), signal.SIGKILL)


def halt_recorder(data):
    pid = recorder(data)
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(1, os.kill, (pid, signal.SIGCONT)).start()


def nothing(_):
    pass


SMALL = "mount -t tmpfs -o size=%s none ."

# name: (before the start, in the middle, words of the one line (None: there is no line), does the program start)
FAULTS = {
    "nothing": (None, nothing, None, True),
    "the recorder is killed": (None, kill_recorder, "the recorder was killed", True),
    "the recorder is halted for a second": (None, halt_recorder, None, True),
    "the folder is removed": (None, shutil.rmtree, "was removed while it was recorded", True),
    "perf.data is removed": (None, lambda data: os.unlink(data + "/perf.data"), "was removed while it was recorded", True),
    "the folder is moved": (None, lambda data: os.rename(data, data + ".moved"), "was moved while it was recorded", True),
    "the folder may not be entered any more": (without_privileges, lambda data: os.chmod(data, 0), "cannot be opened any more",
                                               True),
    "the socket is removed": (None, lambda data: os.unlink(data + "/.ocular.sock"), None, True),
    "no rights": (lambda: (os.chmod(".", 0o555), without_privileges()), nothing, "cannot make the folder", False),
    "a home that cannot be written": (lambda: (os.mkdir("home", 0o555), os.environ.update(HOME="home"), without_privileges()),
                                      nothing, None, True),
    "a disk without room": (mounts(SMALL % "8k"), nothing, "No space left on device", False),
    # A tenth of it is the default --max-size: which of them comes first is a matter of time.
    "hardly any disk": (mounts(SMALL % "64k"), nothing, "No space left on device|maximum size", True),
    "a small disk": (mounts(SMALL % "600k"), nothing, "maximum size", True),
    "no /dev/shm": (mounts("mount -t tmpfs -o ro,mode=0 none /dev/shm"), nothing, None, True),
    "a container that forbids ptrace and perf_event_open": (forbids(EPERM, *NARROW), nothing, None, True),
    "an old kernel": (forbids(ENOSYS, *NARROW, *NEW_CALLS), nothing, None, True),
    "a filter that does not know new calls": (forbids(EPERM, *NARROW, *NEW_CALLS), nothing, None, True),
    "no memfd_create": (forbids(EPERM, MEMFD_CREATE), nothing, "Operation not permitted", False),
    "no sockets": (forbids(EPERM, SOCKET), nothing, "Operation not permitted", False),
    "few descriptors": (limits(resource.RLIMIT_NOFILE, 12), nothing, None, True),
    "little memory": (limits(resource.RLIMIT_AS, 100 << 20), nothing, None, True),
}


class Command:
    """ocular record or run of the program, in a folder of its own."""

    def __init__(self, python, folder, kind, before):
        self.kind, self.data = kind, os.path.join(folder, "data")
        # The mount in "." is one of the command's namespace: it must step into it.
        wanted = [recording.WRAPPER, kind, "-q", "--python", python, "-o", self.data, "-c", PROGRAM]
        act = before and (lambda: (before(), os.chdir(folder)))
        self.process = subprocess.Popen(wanted, cwd=folder, preexec_fn=act, text=True, env=recording.plain_environment(),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, fault):
        """(standard output, standard error, exit status, those of processes that lost their parent)"""
        out = self.process.stdout.readline()
        if out.startswith("before"):
            fault(self.data)
        more, err = self.process.communicate("\n\n", timeout=SECONDS)
        status, orphans = self.process.returncode, []
        while True:
            try:
                orphans.append(os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]))
            except ChildProcessError:
                return out + more, err, status, orphans


def plain(python):
    done = subprocess.run([python, "-c", PROGRAM], input="\n\n", text=True, capture_output=True, env=recording.plain_environment())
    return done.stdout, done.returncode


def judged(out, err, expected, words):
    """Is the program's output whole, and is there one line, or none, on stderr? words: any of them, between bars."""
    lines = [line for line in err.splitlines() if line != "Killed"]  # which the shell says
    problems = [] if all(line in out.splitlines() for line in expected.splitlines()) else [f"printed {out[:300]!r}"]
    if words is None and lines:
        problems.append(f"no line was expected: {err!r}")
    if words and (len(lines) != 1 or not any(each in lines[0] for each in words.split("|")) or not lines[0].startswith("ocular")):
        problems.append(f"not one line with {words!r}: {err!r}")
    return problems


def as_under_python(python, kind, name, folder):
    before, fault, words, starts = FAULTS[name]
    expected, status = plain(python)
    out, err, got, orphans = Command(python, folder, kind, before).run(fault)
    if not starts:
        problems = judged(out, err, "", words) + ([f"the program ran: {out!r}"] if out else [])
        return problems + ([] if 0 < got <= 125 else [f"exit status {got}"])
    killed = name == "the recorder is killed"
    # Then the command is gone, or a shell that cannot wait for the program; of those who lost their parent it is one.
    if killed and kind == "record":
        words = None
    problems = judged(out, err, expected, words)
    if (status not in orphans) if killed else (got != status or orphans):
        problems.append(f"exit status {got}, of orphans {orphans}, not {status}")
    return problems


# Starts twice, forks in between, and goes on in the child.
TWICE = """
import ocular, os, sys
quiet = {"perfetto": False, "console": False}
ocular.start_tracing(**quiet)
ocular.start_tracing(**quiet)
pid = os.fork()
if pid:
    print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
ocular.stop_tracing()
ocular.stop_tracing()
if not pid:
    os._exit(3)
print("after", ocular.is_tracing(), flush=True)
sys.exit(7)
"""


def starts_twice(python, kind, folder):
    """Inside a recording of the whole program it nests: nothing is raised, and the recording goes on."""
    command = [recording.WRAPPER, kind, "-q", "--python", python, "-o", os.path.join(folder, "data"), "-c", TWICE]
    env = recording.plain_environment(PYTHONPATH=os.path.join(recording.BUILD, "python"))
    done = recording.run(command, env=env, cwd=folder)
    told = done.stdout.startswith("child 3\nafter True\n") and done.returncode == 7 and not done.stderr
    return [] if told else [f"{done.returncode} {done.stdout[:200]!r} {done.stderr!r}"]


# --- attach: the same, to a program that runs already --------------------------------------------------------


class Target:
    """A program with an agent, and an attach to it."""

    def __init__(self, python, folder):
        self.python, self.data = python, os.path.join(folder, "data")
        self.process = subprocess.Popen([python, "-m", "ocular", "--listen", "-c", PROGRAM], text=True, cwd=folder,
                                        env=recording.plain_environment(PYTHONPATH=os.path.join(recording.BUILD, "python")),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.out = self.process.stdout.readline()

    def attach(self, *options, before=None):
        return subprocess.Popen([recording.WRAPPER, "attach", str(self.process.pid), "-q", "-o", self.data, *options], text=True,
                                env=recording.plain_environment(), preexec_fn=before, stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=os.path.dirname(self.data))

    def go_on(self):
        """The second half."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.out += self.process.stdout.readline() + self.process.stdout.readline()

    def end(self):
        more, err = self.process.communicate("\n", timeout=SECONDS)
        return self.out + more, err, self.process.returncode


def listening(python, folder):
    """What a target prints, its stderr (a fork warns of the agent's thread), and its status, if nobody attaches."""
    target = Target(python, folder)
    target.go_on()
    return without_pid(*target.end())


def without_pid(out, err, status):
    return out, re.sub(r"pid=\d+", "pid", err), status


def wait_attached(data):
    deadline = time.monotonic() + SECONDS
    while not any(name.startswith("codes-") for name in (os.listdir(data) if os.path.isdir(data) else ())):
        if time.monotonic() > deadline:
            raise RuntimeError("nothing was attached")
        time.sleep(0.01)
    time.sleep(0.05)


# name: (before the start of ocular attach, in the middle, words of its one line or None, does it attach)
ATTACHED = {
    "nothing": (None, nothing, None, True),
    "the recorder is killed": (None, kill_recorder, "the recorder was killed", True),
    "the recorder is halted for a second": (None, halt_recorder, None, True),
    "the folder is removed": (None, shutil.rmtree, "was removed or moved", True),
    "the folder is moved": (None, lambda data: os.rename(data, data + ".moved"), "was removed or moved", True),
    "no rights": (lambda: (os.chmod(".", 0o555), without_privileges()), nothing, "cannot make the folder", False),
    "no sockets": (forbids(EPERM, SOCKET), nothing, "Operation not permitted", False),
    "a recording that cannot grow": (limits(resource.RLIMIT_FSIZE, 100 << 10), nothing, None, True),
}


def attached(python, name, folder):
    """The target ends as it would, and says nothing; the tool says at most one line."""
    before, fault, words, attaches = ATTACHED[name]
    expected = listening(python, folder)
    target = Target(python, folder)
    tool = target.attach(before=before)
    if attaches:
        wait_attached(target.data)
        fault(target.data)
    target.go_on()
    if attaches and tool.poll() is None:
        tool.send_signal(signal.SIGINT)
    said = tool.communicate(timeout=SECONDS)[1]
    told = without_pid(*target.end())
    problems = [] if told == expected else [f"the target: {told}"]
    if (len(said.splitlines()) != 1 or words not in said) if words else said:
        problems.append(f"the tool: {tool.returncode} {said!r}")
    return problems


def not_attached(python, folder):
    """Without an agent, and in a container that forbids ptrace: refused in a line; the program does not notice."""
    expected, status = plain(python)
    process = subprocess.Popen([python, "-c", PROGRAM], text=True, env=recording.plain_environment(), cwd=folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.readline()
    tool = subprocess.run([recording.WRAPPER, "attach", str(process.pid)], text=True, env=recording.plain_environment(), cwd=folder,
                          preexec_fn=forbids(EPERM, *NARROW), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=SECONDS)
    more, err = process.communicate("\n\n", timeout=SECONDS)
    told = first + more, err, process.returncode
    problems = [] if told == (expected, "", status) else [f"the target: {told}"]
    if tool.returncode != 1 or len(tool.stderr.splitlines()) != 1:
        problems.append(f"the tool: {tool.returncode} {tool.stderr!r}")
    return problems


def attached_twice(python, folder):
    """The second one is refused in a line; the first one goes on."""
    expected = listening(python, folder)
    target = Target(python, folder)
    first = target.attach()
    wait_attached(target.data)
    second = target.attach("-o", os.path.join(folder, "second"))
    refused = second.communicate(timeout=SECONDS)[1]
    target.go_on()
    first.send_signal(signal.SIGINT)
    said = first.communicate(timeout=SECONDS)[1]
    told = without_pid(*target.end())
    problems = [] if told == expected else [f"the target: {told}"]
    if second.returncode != 1 or len(refused.splitlines()) != 1 or "already tracing" not in refused or said:
        problems.append(f"the tools: {second.returncode} {refused!r} {said!r}")
    counted = recording.events(target.data)
    return problems + ([] if sum(map(len, counted.values())) > 20000 else [f"{sum(map(len, counted.values()))} events"])


def main():
    recording.need_built()
    python = recording.pythons()[-1]
    call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    mountable = may_mount()
    with Plan() as plan:
        for kind in "record", "run":
            for name, (before, *_) in FAULTS.items():
                if before and before.__qualname__.startswith("mounts") and not mountable:
                    plan.skip(f"{kind}: {name}", "mounting takes root")
                    continue
                with recording.scratch() as folder:
                    plan.case(f"{kind}: {name}", as_under_python, python, kind, name, folder)
            with recording.scratch() as folder:
                plan.case(f"{kind}: starts twice and forks", starts_twice, python, kind, folder)
        for name in ATTACHED:
            with recording.scratch() as folder:
                plan.case(f"attach: {name}", attached, python, name, folder)
        with recording.scratch() as folder:
            plan.case("attach: twice", attached_twice, python, folder)
        with recording.scratch() as folder:
            plan.case("attach: ptrace is forbidden", not_attached, python, folder)


if __name__ == "__main__":
    sys.exit(main())
