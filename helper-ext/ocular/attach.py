# SPDX-License-Identifier: MIT
"""Attach to a Python that runs already: python -m ocular.attach PID, by an interpreter of the target's version.

A recorder is started, then the target is told to trace itself into it, in one of three ways: its agent
(agent.py), sys.remote_exec (PEP 768, 3.14), or gdb, which has it add a pending call and nothing else. The
order is a file in the recording's folder; so is the answer, and both are gone afterwards.
"""

import argparse
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

from . import agent, modes, monitor, processes, tools, triggers

ORDER, ANSWER = ".attach.py", ".attach-answer"
GDB_SECONDS = 15
LAST_SECONDS = 5  # an interpreter that winds up hears nobody any more, but is a process still

# Runs in the target; nothing of it stays in __main__. Whatever happens, there is an answer: even the limit of
# recursion is no hindrance, unless there is not one frame left, where it could not be set back.
SCRIPT = """\
def order():
    sys.path.insert(0, {parent!r})
    try:
        from ocular import attached
    finally:
        sys.path.remove({parent!r})
    attached.answer({order!r}, {answer!r})
try:
    import sys
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    sys.setrecursionlimit(limit + 500)
    try:
        order()
    finally:
        sys.setrecursionlimit(limit)
except BaseException as e:
    with open({answer!r}, "w") as f:
        f.write("%s: %s" % (type(e).__name__, e))
"""


class Refused(Exception):
    """Why it cannot be, in one line."""


class Target:
    """A process by its pidfd: whoever gets its number after it is not mistaken for it."""

    def __init__(self, pid):
        self.pid = pid
        try:
            self.fd = os.pidfd_open(pid)
        except OSError:
            raise Refused("there is no process %d" % pid) from None

    def ended(self, within=0):
        """Has it, or does it within so many seconds?"""
        return bool(select.select([self.fd], [], [], within)[0])


def seconds(text):
    try:
        return triggers.seconds(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e).replace("ocular: ", "")) from None


def user_of(pid):
    try:
        return os.stat("/proc/%d" % pid).st_uid
    except OSError:
        raise Refused("there is no process %d" % pid) from None


def check(pid):
    """Refused unless this process may do it, and knows how."""
    uid = user_of(pid)
    if pid == os.getpid():
        raise Refused("that is this process itself")
    if os.geteuid() != uid:  # root neither: the target could not write into root's recording
        raise Refused("process %d belongs to another user: attach as that one (sudo -u '#%d' ocular attach ...)"
                      % (pid, uid))
    for what in "pid", "mnt":
        try:
            ours, its = (os.stat("/proc/%s/ns/%s" % (p, what)).st_ino for p in ("self", pid))
        except PermissionError:
            raise Refused("the system forbids to look at process %d (is it setuid, or another user's?)" % pid) from None
        except OSError:
            raise Refused("process %d has ended" % pid) from None
        if ours != its:
            raise Refused("process %d is in a container (another %s namespace): attach from within it" % (pid, what))
    check_python(pid)


def check_python(pid):
    """Refused unless it is a Python like this one."""
    minor = processes.minor_of(pid)
    if minor is None and Target(pid).ended(within=0 if processes.has_memory(pid) else 1):
        raise Refused("process %d has ended" % pid)
    if minor is None:
        raise Refused("process %d is no Python (ocular ps lists them)" % pid)
    why = processes.foreign(pid)
    if why:
        raise Refused("process %d %s: only x86-64 programs on this processor itself can be traced" % (pid, why))
    if minor and minor < processes.OLDEST:
        raise Refused("process %d is Python 3.%d: what traces itself is 3.%d or newer" % (pid, minor, processes.OLDEST))
    if minor and minor != sys.version_info.minor and not has_agent(pid):
        raise Refused("process %d is Python 3.%d, and only one of that version can attach; this is %d.%d" % (
            (pid, minor) + sys.version_info[:2]))


PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
SCOPES = {1: "as root, or by `sysctl kernel.yama.ptrace_scope=0`", 2: "as root", 3: "not before the next boot"}


def ptrace_forbidden():
    """Why the kernel would not let us write into the target's memory, or None."""
    try:
        with open(PTRACE_SCOPE) as f:
            scope = int(f.read())
    except (OSError, ValueError):
        return None
    if scope == 3 or (scope and os.geteuid()):
        return "the kernel forbids to attach (kernel.yama.ptrace_scope is %d): possible %s, or by the program's agent" % (
            scope, SCOPES.get(scope, "as root"))
    return None


def write_order(folder, order):
    path = os.path.join(folder, ORDER)
    with open(path, "w") as f:
        f.write(SCRIPT.format(parent=os.path.dirname(tools.PACKAGE), order=order, answer=os.path.join(folder, ANSWER)))
    return path


# The ways. Each returns the answer, or None: not in time. OSError: it did not work; Refused: it cannot.

def by_agent(target, folder, order, wait):
    pid = target.pid
    sock = agent._socket.socket(agent._socket.AF_UNIX, agent._socket.SOCK_SEQPACKET)
    try:
        sock.settimeout(wait)
        sock.connect(agent.address(pid))
        if agent.peer(sock) not in ((pid, user_of(pid)), (pid, 0)):  # or it was root's when it began to listen
            raise Refused("something else than process %d answers in its name" % pid)
        sock.send(json.dumps(order).encode())
        said = sock.recv(agent.LIMIT).decode()
        if not said:
            raise ConnectionError("it went away without an answer")
        return said
    except (TimeoutError, BlockingIOError):  # the second: as many as it lets wait do so already
        return None
    finally:
        sock.close()


def has_agent(pid):
    return pid in processes.agents()


def by_remote_exec(target, folder, order, wait):
    path = write_order(folder, order)
    try:
        sys.remote_exec(target.pid, path)
    except PermissionError:
        raise PermissionError(ptrace_forbidden() or "the system forbids it") from None
    except RuntimeError as e:
        raise OSError(" ".join(str(e).split())) from None
    return wait_answer(target, folder, wait)


# What gdb has the target do: a page is mapped, with the addresses of these functions, the text to run, and code.
PAGE_SIZE = 16384
FUNCTIONS = "PyDict_New", "PyRun_StringFlags", "Py_DecRef", "PyErr_Clear", "munmap"
SLOTS, TEXT = 128, 256  # offsets in the page
FILE_INPUT = 257        # Py_file_input: the text is statements

# A pending call must never fail without an exception (it would end the program), nor with one (the program's
# code would get it). So it is one of our own: int f(void *), that unmaps itself by its last jump.
CODE = (
    "53"          # push rbx
    "ff15{0}"     # call PyDict_New           the globals: nothing stays in __main__
    "4889c3"      # mov rbx, rax
    "4885c0"      # test rax, rax
    "742d"        # jz clear
    "488d3d{t}"   # lea rdi, text
    "be{f}"       # mov esi, FILE_INPUT
    "4889da"      # mov rdx, rbx
    "4889d9"      # mov rcx, rbx
    "4531c0"      # xor r8d, r8d
    "ff15{1}"     # call PyRun_StringFlags
    "4889c7"      # mov rdi, rax
    "ff15{2}"     # call Py_DecRef            which NULL may be given to
    "4889df"      # mov rdi, rbx
    "ff15{2}"     # call Py_DecRef
    "ff15{3}"     # clear: call PyErr_Clear
    "5b"          # pop rbx
    "488d3d{p}"   # lea rdi, page
    "be{s}"       # mov esi, PAGE_SIZE
    "ff25{4}"     # jmp munmap                its 0 is what the caller gets
)


def machine_code():
    """CODE as it stands at the beginning of the page: operands are relative to the end of their instruction."""
    def operand(match):
        nonlocal at
        at += len(match[1]) // 2 + 4
        name = match[2]
        if name in "fs":
            value = FILE_INPUT if name == "f" else PAGE_SIZE
        else:
            value = {"t": TEXT, "p": 0}.get(name, SLOTS + 8 * int(name) if name.isdigit() else 0) - at
        return match[1] + (value & 0xffffffff).to_bytes(4, "little").hex()

    at = 0
    return bytes.fromhex(re.sub(r"([0-9a-f]*)\{(.)\}", operand, CODE))


def gdb_commands(path, page):
    """Safe with any lock held: no call but mmap, and Py_AddPendingCall, which takes one that is never held long."""
    text = "exec(open(bytes.fromhex('%s')).read())" % path.encode().hex()
    code = machine_code()
    code += bytes(-len(code) % 8)
    words = [int.from_bytes(code[i:i + 8], "little") for i in range(0, len(code), 8)]
    ready = " && ".join("*(unsigned long *) %d" % (page + SLOTS + 8 * i) for i in range(len(FUNCTIONS)))
    return [
        "set confirm off", "set pagination off", "set unwindonsignal on", "set language c", "set $added = -1",
        "print ((unsigned long (*)(unsigned long, unsigned long, int, int, int, long)) mmap)"
        "(%d, %d, 5, 0x100022, -1, 0)" % (page, PAGE_SIZE),  # to read and execute; private, anonymous, MAP_FIXED_NOREPLACE
        'set {char[%d]} %d = "%s"' % (len(text) + 1, page + TEXT, text),
        *("set {unsigned long} %d = (unsigned long) %s" % (page + SLOTS + 8 * i, name)
          for i, name in enumerate(FUNCTIONS)),
        *("set {unsigned long} %d = %d" % (page + 8 * i, word) for i, word in enumerate(words)),
        # A command that failed does not keep gdb from the next: a page that is not all there is never run.
        "set $added = %s && *(unsigned long *) %d == %d ? ((int (*)(void *, void *)) Py_AddPendingCall)"
        "((void *) %d, (void *) 0) : -2" % (ready, page + 8 * len(words) - 8, words[-1], page),
        "print $added ? ((int (*)(unsigned long, unsigned long)) munmap)(%d, %d) : 0" % (page, PAGE_SIZE),
        'printf "ocular: %d\\n", $added',
        "detach",
    ]


def by_gdb(target, folder, order, wait):
    gdb = shutil.which("gdb")
    if not gdb:
        raise Refused("attaching to Python %d.%d needs gdb (package gdb), or a program started by "
                      "`python -m ocular --listen`" % sys.version_info[:2])
    forbidden = ptrace_forbidden()
    if forbidden:
        raise Refused(forbidden)
    path = write_order(folder, order)
    command = [gdb, "-nx", "-nh", "-q", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off",
               "-p", str(target.pid)]
    page = 0x5c0000000000 + PAGE_SIZE * int.from_bytes(os.urandom(3))
    for line in gdb_commands(path, page):
        command += ["-ex", line]
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, start_new_session=True)
    try:
        said = run.communicate(timeout=GDB_SECONDS)[0]
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGINT)  # it takes the call back (unwindonsignal); killed, it could not
        try:
            said = run.communicate(timeout=5)[0]
        except subprocess.TimeoutExpired:
            run.kill()
            said = run.communicate()[0]
    if "ocular: 0\n" not in said:
        lines = [s for s in said.splitlines() if "ptrace" in s or "No symbol" in s or "rror" in s or "not " in s]
        raise OSError(lines[-1].strip() if lines else "no answer in %d s" % GDB_SECONDS)
    return wait_answer(target, folder, wait)


def wait_answer(target, folder, wait):
    path, deadline = os.path.join(folder, ANSWER), time.monotonic() + wait
    while time.monotonic() < deadline:
        try:
            with open(path) as f:
                text = f.read()
            if text:
                return text
        except FileNotFoundError:
            pass
        if target.ended(0.005):
            raise ConnectionError("it has ended")
    return None


MAIN_SILENT = ("its main thread does not run Python now; it sleeps, waits, or runs C code, or has come to "
               "its recursion limit. A program started by "
               "`python -m ocular --listen` answers all the same")
SILENT = {by_agent: "no thread of it can run Python now; C code holds the interpreter, or it is stopped",
          by_remote_exec: MAIN_SILENT, by_gdb: MAIN_SILENT}


def method(pid):
    if has_agent(pid):
        return by_agent, "its agent"
    if hasattr(sys, "remote_exec"):
        return by_remote_exec, "sys.remote_exec"
    return by_gdb, "gdb"


def clean(folder):
    for name in (ORDER, ANSWER, ANSWER + ".part"):
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            pass


def leave_order(target, folder, answered):
    """Nothing of it stays, but what may still be read later: that finds nothing to do, nor a file missing."""
    order = os.path.join(folder, ORDER)
    if answered or target.ended() or not os.path.exists(order):
        clean(folder)
    else:
        with open(order, "w"):
            pass


def tell(target, folder, order, wait):
    """Have the target do it. Returns how it was told; Refused."""
    how, words = method(target.pid)
    said = None
    try:
        said = how(target, folder, order, wait)
    except OSError as e:
        # Whatever failed: of a process that is about to end that is what there is to say.
        if target.ended(LAST_SECONDS):
            raise Refused("process %d has ended" % target.pid) from None
        raise Refused("%s: %s" % (words, e)) from None
    finally:
        leave_order(target, folder, said is not None)
    if said is None:
        raise Refused("process %d did not answer within %g s (by %s): %s" % (target.pid, wait, words, SILENT[how]))
    if said != "ok":
        raise Refused(said.replace("ocular: ", "", 1))
    return words


def options():
    parser = argparse.ArgumentParser(prog="ocular attach", description=__doc__.splitlines()[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pid", type=int)
    parser.add_argument("-o", "--output", default="ocular.data", metavar="DIR")
    parser.add_argument("--mode", default=modes.DEFAULT)
    parser.add_argument("--include", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--exclude", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--flight", metavar="LENGTH")
    parser.add_argument("--max-snapshots", metavar="N")
    parser.add_argument("--duty", metavar="PERCENT")
    parser.add_argument("--duty-window", metavar="TIME")
    parser.add_argument("--switch-output", action="append", default=[], metavar="WHEN")
    parser.add_argument("--switch-max-files", metavar="N")
    parser.add_argument("--trigger", action="append", default=[], metavar="FUNCTION")
    parser.add_argument("--trigger-exception", action="append", default=[], metavar="TYPE")
    parser.add_argument("--trigger-lag", metavar="TIME")
    parser.add_argument("--trigger-symbol", action="append", default=[], metavar="SYMBOL")
    parser.add_argument("--for", dest="length", type=seconds, metavar="TIME")
    parser.add_argument("--wait", type=seconds, default=10.0, metavar="TIME")
    parser.add_argument("-q", "--quiet", action="store_true")
    return parser


def recorder_options(o):
    words = ["--tied", str(os.getpid())]
    for name in "flight", "max_snapshots", "duty", "duty_window", "switch_max_files":
        if getattr(o, name):
            words += ["--" + name.replace("_", "-"), getattr(o, name)]
    for when in o.switch_output:
        words += ["--switch-output", when]
    for symbol in o.trigger_symbol:
        words += ["--trigger-symbol", symbol]
    return words


def start_order(o, folder):
    wanted = ["call " + t for t in o.trigger] + ["exception " + t for t in o.trigger_exception]
    wanted += ["lag " + o.trigger_lag] if o.trigger_lag else []
    monitor.check(o.mode, "software")
    triggers.Triggers(wanted)
    if wanted and not o.flight:
        raise ValueError("ocular: triggers need --flight")
    return {"do": "start", "folder": folder, "mode": o.mode, "include": o.include, "exclude": o.exclude,
            "backend": "software", "trigger": wanted}


def wait_end(target, length, folder):
    """Until the time is over, Ctrl-C, or one of the two sides is gone. Is the target still there?"""
    wake, notice = os.pipe()
    os.set_blocking(notice, False)
    signal.set_wakeup_fd(notice)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    deadline = time.monotonic() + length if length else None
    while os.path.exists(os.path.join(folder, ".ocular.sock")):
        left = 0.5 if deadline is None else min(0.5, deadline - time.monotonic())
        if left <= 0 or select.select([wake, target.fd], [], [], left)[0]:
            break
    return not target.ended()


def finish(folder):
    """The recording is complete, and the recorder's own files are gone, when this returns."""
    try:
        monitor.finish(folder)
    except OSError:
        pass  # it has ended with the target
    deadline = time.monotonic() + 5
    while os.path.exists(os.path.join(folder, ".ocular.sock")) and time.monotonic() < deadline:
        time.sleep(0.002)


def attach(o):
    target = Target(o.pid)
    try:
        check(o.pid)
    except Refused:
        if target.ended():
            raise Refused("process %d has ended" % o.pid) from None
        raise
    folder = os.path.abspath(o.output)
    order = start_order(o, folder)
    tools.serve(folder, recorder_options(o))
    how = "?"
    try:
        how = tell(target, folder, order, o.wait)
    except BaseException:
        finish(folder)
        raise
    if not o.quiet:
        sys.stderr.write("[ ocular: attached to %d by %s; %s detaches ]\n" % (
            o.pid, how, "time" if o.length else "Ctrl-C"))
    there = wait_end(target, o.length, folder)
    try:
        if there:
            tell(target, folder, {"do": "stop"}, o.wait)
    except Refused:
        if not target.ended():
            raise
        there = False
    finally:
        finish(folder)
    if not o.quiet:
        sys.stderr.write("[ ocular: %s; the recording is in %s ]\n" % (
            "detached" if there else "process %d has ended" % o.pid, o.output))


def main():
    try:
        attach(options().parse_args())
    except (Refused, ValueError, RuntimeError, OSError) as e:
        sys.stderr.write("ocular: %s\n" % str(e).replace("ocular: ", "", 1))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
