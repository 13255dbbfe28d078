# SPDX-License-Identifier: MIT
"""Attach to a running Python: python -m ocular.attach PID, by an interpreter of the target's version.

This starts a recorder, then asks the target to trace itself into it, in one of three ways: its agent
(agent.py), sys.remote_exec (PEP 768, 3.14), or gdb, which has it add a pending call and nothing else. The
order is a file in the recording's folder; so is the answer, and both are gone afterwards.
"""

import _socket
import argparse
import contextlib
import json
import os
import re
import select
import shutil
import signal
import sys
import time

from . import agent, debugger, modes, monitor, options, processes, progress, stderr, tools, triggers

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ORDER, ANSWER = ".attach.py", ".attach-answer"
LAST_SECONDS = 5  # an interpreter that is ending answers no more, but its process is still there

# Runs in the target; nothing of it stays in __main__. There is always an answer, even at the
# recursion limit, unless no frame is left at all; then the limit could not be reset.
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
    """Why attaching is not possible, in one line."""


class Target:
    """A process by its pidfd: a process that gets its number later is not mistaken for it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self.fd = os.pidfd_open(pid)
        except OSError:
            raise Refused("there is no process %d" % pid) from None

    def ended(self, within: float = 0) -> bool:
        """Has it ended, or does it within so many seconds?"""
        return bool(select.select([self.fd], [], [], within)[0])


def seconds(text: str) -> float:
    """A time of the command line, in seconds; ArgumentTypeError."""
    try:
        return triggers.seconds(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e).replace("ocular: ", "")) from None


def user_of(pid: int) -> int:
    """The user of the process; Refused if there is no such process."""
    try:
        return os.stat("/proc/%d" % pid).st_uid
    except OSError:
        raise Refused("there is no process %d" % pid) from None


def check(pid: int) -> None:
    """Refused unless this process may attach, and knows how."""
    uid = user_of(pid)
    if pid == os.getpid():
        raise Refused("that is this process itself")
    if os.geteuid() != uid:  # not even root: the target could not write into root's recording
        raise Refused("process %d belongs to another user: attach as that user (sudo -u '#%d' ocular attach %d)"
                      % (pid, uid, pid))
    for what in "pid", "mnt":
        try:
            ours, its = (os.stat("/proc/%s/ns/%s" % (p, what)).st_ino for p in ("self", pid))
        except PermissionError:
            raise Refused("the system forbids looking at process %d (is it setuid, or another user's?)" % pid) from None
        except OSError:
            raise Refused("process %d has ended" % pid) from None
        if ours != its:
            raise Refused("process %d is in a container (another %s namespace): attach from within it" % (pid, what))
    check_python(pid)


def check_python(pid: int) -> None:
    """Refused unless it is a Python like this one."""
    minor = processes.minor_of(pid)
    if minor is None and Target(pid).ended(within=0 if processes.has_memory(pid) else 1):
        raise Refused("process %d has ended" % pid)
    if minor is None:
        raise Refused("process %d is not a Python (ocular ps lists them)" % pid)
    why = processes.foreign(pid)
    if why:
        raise Refused("process %d %s: only x86-64 programs that run directly on this processor can be traced" % (pid, why))
    if minor and minor < processes.OLDEST:
        raise Refused("process %d is Python 3.%d: tracing needs 3.%d or newer" % (pid, minor, processes.OLDEST))
    if minor and minor != sys.version_info.minor and not has_agent(pid):
        raise Refused("process %d is Python 3.%d and this is %d.%d: attach with a Python of its version" % (
            (pid, minor) + sys.version_info[:2]))


PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
SCOPES = {1: "as root, or after `sysctl kernel.yama.ptrace_scope=0`", 2: "as root", 3: "after the next boot"}


def ptrace_forbidden() -> str | None:
    """Why the kernel would not let us write into the target's memory, or None."""
    try:
        with open(PTRACE_SCOPE) as f:
            scope = int(f.read())
    except (OSError, ValueError):
        return None
    if scope == 3 or (scope and os.geteuid()):
        return "the kernel forbids attaching (kernel.yama.ptrace_scope is %d): attach %s, or use the program's agent" % (
            scope, SCOPES.get(scope, "as root"))
    return None


def write_order(folder: str, order: "dict[str, Any]") -> str:
    """The script for the target, in a file in the recording's folder: its path."""
    path = os.path.join(folder, ORDER)
    with open(path, "w") as f:
        f.write(SCRIPT.format(parent=os.path.dirname(tools.PACKAGE), order=order, answer=os.path.join(folder, ANSWER)))
    return path


# The ways. Each returns the answer, or None: not in time. OSError: it did not work; Refused: it cannot.

def by_agent(target: Target, folder: str, order: "dict[str, Any]", wait: float) -> str | None:
    """The program listens: python -m ocular --listen."""
    pid = target.pid
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    try:
        sock.settimeout(wait)
        sock.connect(agent.address(pid))
        if not is_its(sock, pid):
            raise Refused("another program answers in the name of process %d" % pid)
        sock.send(json.dumps(order).encode())
        said = sock.recv(agent.LIMIT).decode()
        if not said:
            raise ConnectionError("it went away without an answer")
        return said
    except (TimeoutError, BlockingIOError):  # the latter: its queue is full
        return None
    finally:
        sock.close()


def is_its(sock: _socket.socket, pid: int) -> bool:
    """Is the other end the process itself? It may have been root when it began to listen."""
    return agent.peer(sock) in ((pid, user_of(pid)), (pid, 0))


def has_agent(pid: int) -> bool:
    """Any user can take an agent's name: then there is no agent, and the other ways remain."""
    if pid not in processes.agents():
        return False
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    try:
        sock.setblocking(False)
        sock.connect(agent.address(pid))
        return is_its(sock, pid)
    except BlockingIOError:  # its queue is full
        return True
    except OSError:
        return False
    finally:
        sock.close()


def by_remote_exec(target: Target, folder: str, order: "dict[str, Any]", wait: float) -> str | None:
    """Python runs the script itself, from 3.14 on."""
    path = write_order(folder, order)
    try:
        getattr(sys, "remote_exec")(target.pid, path)  # from Python 3.14 on
    except PermissionError:
        raise PermissionError(ptrace_forbidden() or "the system forbids it") from None
    except RuntimeError as e:
        raise OSError(" ".join(str(e).split())) from None
    return wait_answer(target, folder, wait)


# What gdb makes the target do: map a page with two functions of ours, the addresses that they call, and the text to run.
PAGE_SIZE = 16384
FUNCTIONS = "PyDict_New", "PyRun_StringFlags", "Py_DecRef", "PyErr_Clear", "munmap", "Py_AddPendingCall"
SLOTS, ADD, TEXT = 128, 192, 320  # offsets in the page
FILE_INPUT = 257        # Py_file_input: the text is statements

# A pending call must never fail without an exception (it would end the program), nor with one (the program's
# code would get it). So it is our own: int f(void *), which unmaps itself by its last jump.
PENDING = (
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
    "ff15{2}"     # call Py_DecRef            which accepts NULL
    "4889df"      # mov rdi, rbx
    "ff15{2}"     # call Py_DecRef
    "ff15{3}"     # clear: call PyErr_Clear
    "5b"          # pop rbx
    "488d3d{p}"   # lea rdi, page
    "be{s}"       # mov esi, PAGE_SIZE
    "ff25{4}"     # jmp munmap                the caller gets its 0
)

# int add(void): Py_AddPendingCall(PENDING, NULL), in a thread that may be anywhere. Its x87, SSE, AVX and AVX-512 registers
# (bits e7H of XCR0: SDM volume 1, 13.1) are saved on its stack: up to 2,688 bytes, whose header must be 0 (13.4.2).
ADDING = (
    "4889e5"             # mov rbp, rsp
    "4883e4c0"           # and rsp, -64
    "4881ec00100000"     # sub rsp, 4096
    "488dbc2400020000"   # lea rdi, [rsp + 512]
    "b908000000"         # mov ecx, 8
    "31c0"               # xor eax, eax
    "f348ab"             # rep stosq
    "b8e7000000"         # mov eax, e7H
    "31d2"               # xor edx, edx
    "480fae2424"         # xsave64 [rsp]
    "488d3d{p}"          # lea rdi, page
    "31f6"               # xor esi, esi
    "ff15{5}"            # call Py_AddPendingCall
    "89c3"               # mov ebx, eax
    "b8e7000000"         # mov eax, e7H
    "31d2"               # xor edx, edx
    "480fae2c24"         # xrstor64 [rsp]
    "89d8"               # mov eax, ebx
    "4889ec"             # mov rsp, rbp
    "c3"                 # ret
)


def machine_code(template: str, start: int) -> bytes:
    """A template for `start` in the page: operands are relative to the end of their instruction."""
    at = start

    def operand(match: "re.Match[str]") -> str:
        nonlocal at
        at += len(match[1]) // 2 + 4
        name = match[2]
        if name in "fs":
            value = FILE_INPUT if name == "f" else PAGE_SIZE
        else:
            value = {"t": TEXT, "p": 0}.get(name, SLOTS + 8 * int(name) if name.isdigit() else 0) - at
        return match[1] + (value & 0xffffffff).to_bytes(4, "little").hex()

    return bytes.fromhex(re.sub(r"([0-9a-f]*)\{(.)\}", operand, template))


def page_of(path: str, addresses: list[int]) -> bytes:
    """The contents of the page."""
    page = bytearray(TEXT)
    slots = b"".join(a.to_bytes(8, "little") for a in addresses)
    for start, part in (0, machine_code(PENDING, 0)), (SLOTS, slots), (ADD, machine_code(ADDING, ADD)):
        page[start:start + len(part)] = part
    return bytes(page) + b"exec(open(bytes.fromhex('%s')).read())\0" % os.fsencode(path).hex().encode()


def add_pending(gdb: debugger.Gdb, path: str) -> None:
    """Safe with any lock held: it calls only mmap and Py_AddPendingCall, whose own lock is never held long."""
    mmap, *addresses = [gdb.address(name) for name in ("mmap", *FUNCTIONS)]
    page = 0x5c0000000000 + PAGE_SIZE * int.from_bytes(os.urandom(3))
    # To read and execute; private, anonymous, MAP_FIXED_NOREPLACE.
    if gdb.call(mmap, page, PAGE_SIZE, 5, 0x100022, -1, 0) != page:
        raise OSError("no memory could be mapped in it")
    added = None
    try:
        gdb.write(page, page_of(path, addresses))
        added = gdb.call(page + ADD)
    finally:
        if added != 0:
            gdb.call(addresses[FUNCTIONS.index("munmap")], page, PAGE_SIZE)
    if added is None:
        raise OSError("the call did not return in time; try again")
    if added:
        raise OSError("too many calls are pending")


def stop_by_gdb(gdb: str, target: Target) -> debugger.Gdb:
    """If another `ocular attach` was killed, its gdb may still hold the target."""
    deadline = time.monotonic() + LAST_SECONDS
    while True:
        try:
            return debugger.Gdb(gdb, target.pid)
        except OSError as e:
            if "ptrace" not in str(e) or time.monotonic() > deadline or target.ended(0.1):
                raise


def by_gdb(target: Target, folder: str, order: "dict[str, Any]", wait: float) -> str | None:
    """gdb makes the target add a pending call."""
    gdb = shutil.which("gdb")
    if not gdb:
        raise Refused("attaching to Python %d.%d needs gdb (package gdb), or a program started by "
                      "`python -m ocular --listen`" % sys.version_info[:2])
    forbidden = ptrace_forbidden()
    if forbidden:
        raise Refused(forbidden)
    path = write_order(folder, order)
    with contextlib.closing(stop_by_gdb(gdb, target)) as stopped:
        add_pending(stopped, path)
    return wait_answer(target, folder, wait)


def wait_answer(target: Target, folder: str, wait: float) -> str | None:
    """What the target wrote, or None after so many seconds. ConnectionError: it has ended."""
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


MAIN_SILENT = ("its main thread does not run Python now; it sleeps, waits, or runs C code, or is at "
               "its recursion limit. A program started by "
               "`python -m ocular --listen` answers even then")
SILENT: dict[object, str] = {
    by_agent: "no thread of it can run Python now; C code holds the interpreter, or it is stopped",
    by_remote_exec: MAIN_SILENT, by_gdb: MAIN_SILENT}


def method(pid: int) -> "tuple[Callable[[Target, str, dict[str, Any], float], str | None], str]":
    """(the way to ask that process, its name)"""
    if has_agent(pid):
        return by_agent, "its agent"
    if hasattr(sys, "remote_exec"):
        return by_remote_exec, "sys.remote_exec"
    return by_gdb, "gdb"


def clean(folder: str) -> None:
    """Remove our files from the recording's folder."""
    for name in (ORDER, ANSWER, ANSWER + ".part"):
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            pass


def leave_order(target: Target, folder: str, answered: bool) -> None:
    """Nothing stays, except what may still be read later: a request that finds nothing to do."""
    order = os.path.join(folder, ORDER)
    if answered or target.ended() or not os.path.exists(order):
        clean(folder)
    else:
        with open(order, "w"):
            pass


def ask(target: Target, folder: str, order: "dict[str, Any]", wait: float) -> str:
    """Make the target do it. Returns the way it was asked; Refused."""
    how, words = method(target.pid)
    said = None
    try:
        said = how(target, folder, order, wait)
    except OSError as e:
        # Whatever failed: if the process is about to end, report that.
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


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="ocular attach", description=__doc__.splitlines()[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("pid", type=int)
    for row in options.rows("a"):
        name = row.variable.rstrip("+@!^")
        if name == "recorder":
            continue  # ocular-record reports errors in these itself
        how: dict[str, Any] = ({"action": "store_true"} if row.value == "-" else
               {"action": "append", "default": []} if row.variable != name else {"metavar": row.value})
        parser.add_argument(*row.names, dest=name, **how)
    parser.set_defaults(recording="ocular.data", mode=modes.DEFAULT)
    parser.add_argument("--for", dest="length", type=seconds, metavar="TIME")
    parser.add_argument("--tied", type=int, metavar="PID")
    parser.add_argument("--wait", type=seconds, default=10.0, metavar="TIME")
    return parser


def recorder_options(o: argparse.Namespace) -> list[str]:
    """Options that are not ours are the recorder's."""
    return ["--tied", str(os.getpid()), *(["--flight", o.flight] if o.flight else []), *o.others]


def start_order(o: argparse.Namespace, folder: str) -> "dict[str, Any]":
    """What the target is asked to do; ValueError if that is not possible."""
    wanted = [kind + " " + value for kind in triggers.KINDS for value in getattr(o, kind)]
    also = [key for key in modes.ALSO if getattr(o, key)]
    monitor.check(o.mode, "software", also)
    triggers.Triggers(wanted)
    if wanted and not o.flight:
        raise ValueError("ocular: triggers need --flight")
    return {"do": "start", "folder": folder, "mode": o.mode, "include": o.include, "exclude": o.exclude,
            "backend": "software", "trigger": wanted, "also": also}


def catch_signals() -> int:
    """From now on a signal that would end us makes this descriptor readable instead."""
    wake, notice = os.pipe()
    os.set_blocking(notice, False)
    signal.set_wakeup_fd(notice)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return wake


def how_far(folder: str, since: float, deadline: float | None) -> str:
    """How long it has been traced, how large the recording is, and how long it will be."""
    now, size = time.monotonic(), 0
    with contextlib.suppress(OSError):
        size = os.stat(os.path.join(folder, "perf.data")).st_size
    left = "" if deadline is None else ", %.0f s left" % max(deadline - now, 0)
    return "[ ocular: %.1f MB in %.0f s%s ]" % (size / 1e6, now - since, left)


def wait_end(target: Target, length: float | None, folder: str, ends: list[int], quiet: bool) -> bool:
    """Until the time is over, one of `ends` is readable, or one of the two sides is gone. Is the target still there?"""
    line, since = progress.Line(), time.monotonic()
    deadline = since + length if length else None
    while os.path.exists(os.path.join(folder, ".ocular.sock")):
        if not quiet:
            line.show(how_far(folder, since, deadline))
        left = 0.5 if deadline is None else min(0.5, deadline - time.monotonic())
        if left <= 0 or select.select([*ends, target.fd], [], [], left)[0]:
            break
    line.clear()
    return not target.ended()


def finish(folder: str) -> None:
    """The recording is complete, and the recorder's own files are gone, when this returns."""
    try:
        monitor.finish(folder)
    except ConnectionRefusedError:
        return  # it was killed: what_is_left() tells
    except OSError:
        pass  # it has ended with the target
    deadline = time.monotonic() + 5
    while os.path.exists(os.path.join(folder, ".ocular.sock")) and time.monotonic() < deadline:
        time.sleep(0.002)


def what_is_left(folder: str) -> None:
    """Refused if something happened to the recording meanwhile; the target is as it should be."""
    if os.path.exists(os.path.join(folder, ".ocular.sock")):
        raise Refused("the recorder was killed: what came after that is not in %s" % folder)
    if not os.path.exists(os.path.join(folder, "perf.data")):
        raise Refused("the recording in %s was removed or moved while it was recorded" % folder)


def attach(o: argparse.Namespace) -> None:
    """Trace the process until it ends, the time is over, or Ctrl-C. Refused, OSError."""
    target = Target(o.pid)
    try:
        check(o.pid)
    except Refused:
        if target.ended():
            raise Refused("process %d has ended" % o.pid) from None
        raise
    folder = os.path.abspath(o.recording)
    order = start_order(o, folder)
    tied = [] if o.tied is None else [Target(o.tied).fd]
    tools.serve(folder, recorder_options(o))
    try:
        how, wake = ask(target, folder, order, o.wait), catch_signals()  # who is told "attached" may press Ctrl-C
    except BaseException:
        finish(folder)
        raise
    if not o.quiet:
        stderr.say("[ ocular: attached to %d by %s; %s detaches ]" % (
            o.pid, how, "time" if o.length else "the end of process %d" % o.tied if tied else "Ctrl-C"))
    there = wait_end(target, o.length, folder, [wake, *tied], o.quiet)
    try:
        if there:
            ask(target, folder, {"do": "stop"}, o.wait)
    except Refused:
        if not target.ended():
            raise
        there = False
    finally:
        finish(folder)
    what_is_left(folder)
    if not o.quiet:
        stderr.say("[ ocular: %s; the recording is in %s ]" % (
            "detached" if there else "process %d has ended" % o.pid, o.recording))


def main() -> None:
    """The command; exit status 1 with one line on stderr if it cannot be."""
    try:
        o, others = arguments().parse_known_args()
        o.others = others
        attach(o)
    except (Refused, ValueError, RuntimeError, OSError) as e:
        stderr.say("ocular: %s" % str(e).replace("ocular: ", "", 1))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
