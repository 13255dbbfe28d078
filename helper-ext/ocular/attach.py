# SPDX-License-Identifier: MIT
"""Attach to a Python that runs already: python -m ocular.attach PID, by an interpreter of the target's version.

A recorder is started, then the target is told to trace itself into it, in one of three ways: its agent
(agent.py), sys.remote_exec (PEP 768, 3.14), or gdb, which has it add a pending call and nothing else. The
order is a file in the recording's folder; so is the answer, and both are gone afterwards.
"""

import argparse
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

from . import _core, agent, modes, monitor, tools, triggers

ORDER, ANSWER = ".attach.py", ".attach-answer"
GDB_SECONDS = 15
LAST_SECONDS = 5  # an interpreter that winds up hears nobody any more, but is a process still
PAGE_SIZE = 8192

# Runs in the target; nothing of it stays in __main__. Whatever happens, there is an answer.
SCRIPT = """\
def order():
    import sys
    try:
        sys.path.insert(0, {parent!r})
        try:
            from ocular import attached
        finally:
            sys.path.remove({parent!r})
        attached.answer({order!r}, {answer!r})
    except BaseException as e:
        with open({answer!r}, "w") as f:
            f.write("%s: %s" % (type(e).__name__, e))
    if unmap:
        from ocular import _core
        _core.unmap(unmap, {size})
order()
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
    """Refused unless this process may do it."""
    uid = user_of(pid)
    if pid == os.getpid():
        raise Refused("that is this process itself")
    if os.geteuid() not in (0, uid):
        raise Refused("process %d belongs to another user (%d); only that user or root can attach" % (pid, uid))
    for what in "pid", "mnt":
        try:
            ours, its = (os.stat("/proc/%s/ns/%s" % (p, what)).st_ino for p in ("self", pid))
        except PermissionError:
            raise Refused("the system forbids to look at process %d (is it setuid, or another user's?)" % pid) from None
        except OSError:
            raise Refused("process %d has ended" % pid) from None
        if ours != its:
            raise Refused("process %d is in a container (another %s namespace): attach from within it" % (pid, what))


def ptrace_forbidden():
    """Why the kernel would not let us write into the target's memory, or None."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as f:
            scope = int(f.read())
    except (OSError, ValueError):
        return None
    if scope == 3 or (scope and os.geteuid()):
        return ("the kernel forbids to attach (kernel.yama.ptrace_scope is %d): as root, or "
                "`sysctl kernel.yama.ptrace_scope=0`" % scope)
    return None


def write_order(folder, order, unmap):
    path = os.path.join(folder, ORDER)
    text = SCRIPT.format(parent=os.path.dirname(tools.PACKAGE), order=order,
                         answer=os.path.join(folder, ANSWER), size=PAGE_SIZE)
    with open(path, "w") as f:
        f.write(text if unmap else "unmap = None\n" + text)
    return path


# The ways. Each returns the answer, or None: not in time. OSError: it did not work; Refused: it cannot.

def by_agent(target, folder, order, wait):
    pid = target.pid
    sock = agent._socket.socket(agent._socket.AF_UNIX, agent._socket.SOCK_SEQPACKET)
    try:
        sock.settimeout(wait)
        sock.connect(agent.address(pid))
        if agent.peer(sock) != (pid, user_of(pid)):
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
    with open("/proc/net/unix", "rb") as f:
        return any(line.endswith(b"@ocular-agent-%d\n" % pid) for line in f)


def by_remote_exec(target, folder, order, wait):
    path = write_order(folder, order, unmap=False)
    try:
        sys.remote_exec(target.pid, path)
    except PermissionError:
        raise PermissionError(ptrace_forbidden() or "the system forbids it") from None
    except RuntimeError as e:
        raise OSError(" ".join(str(e).split())) from None
    return wait_answer(target, folder, wait)


def gdb_commands(path, page):
    """A page for the call's text by a system call, then the one call that is safe with any lock held."""
    # A pending call that fails without an exception, as PyRun_SimpleString does, ends the program: never.
    code = ("try:\\n exec(compile(open(bytes.fromhex('%s')).read(),'<ocular>','exec'),{'unmap':%d})\\n"
            "except BaseException: pass\\n" % (path.encode().hex(), page))
    return [
        "set confirm off", "set pagination off", "set unwindonsignal on", "set language c",
        "print ((unsigned long (*)(unsigned long, unsigned long, int, int, int, long)) mmap)"
        "(%d, %d, 3, 0x100022, -1, 0) == %d" % (page, PAGE_SIZE, page),  # private, anonymous, MAP_FIXED_NOREPLACE
        'set {char[%d]} %d = "%s"' % (len(code) - code.count("\\n") + 1, page, code),
        "print ((int (*)(void *, void *)) Py_AddPendingCall)((void *) PyRun_SimpleString, (void *) %d)" % page,
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
    path = write_order(folder, order, unmap=True)
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
    if "$1 = 1" not in said or "$2 = 0" not in said:
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


MAIN_SILENT = ("its main thread does not run Python now; it sleeps, waits, or runs C code. A program started by "
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
    parser.add_argument("--trigger", action="append", default=[], metavar="FUNCTION")
    parser.add_argument("--trigger-exception", action="append", default=[], metavar="TYPE")
    parser.add_argument("--trigger-lag", metavar="TIME")
    parser.add_argument("--trigger-symbol", action="append", default=[], metavar="SYMBOL")
    parser.add_argument("--for", dest="length", type=seconds, metavar="TIME")
    parser.add_argument("--wait", type=seconds, default=10.0, metavar="TIME")
    parser.add_argument("-q", "--quiet", action="store_true")
    return parser


def recorder_options(o):
    words = ["--tied"]
    for name in "flight", "max_snapshots", "duty", "duty_window":
        if getattr(o, name):
            words += ["--" + name.replace("_", "-"), getattr(o, name)]
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
    check(o.pid)
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
