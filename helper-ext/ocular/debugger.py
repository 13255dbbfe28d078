# SPDX-License-Identifier: MIT
"""Makes a stopped process call a function, with as little of gdb as possible: it finds symbols and sets general registers.

gdb's own `call` writes a thread's vector registers back, too. If the processor has more than gdb knows of (AMX, gdb 13)
it cannot, and leaves the thread with the call's registers in the middle of a system call: the program ends. So this sets
registers one by one, and the called function must save the others itself.
"""

import contextlib
import os
import re
import select
import signal
import subprocess
import time

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REGISTERS = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip eflags orig_rax".split()
ARGUMENTS = "rdi rsi rdx rcx r8 r9".split()  # System V ABI
RED_ZONE = 512     # bytes; the ABI requires 128
FLAGS = 0x202      # as a function may expect: interrupts on, direction up
NO_CALL = 2**64 - 1  # orig_rax of a thread that is not in a system call, so that none is restarted

# Seconds. The process is stopped for HELD; then a call that is under way may end or is undone, likewise the one that
# undoes it, and gdb leaves: 2 s in all, whatever goes wrong.
START = 15         # for gdb to begin and to read the program's symbols, before it attaches
HELD = 1.0
A_CALL = 0.2       # minimum, for a call that takes microseconds
TAKE_BACK = 0.2    # for a call to be interrupted
LEAVE = 0.2        # to detach

MOST = 1 << 20     # bytes of an answer
END = "end-of-answer"
SHOW = 'printf "\\n=%%lu\\n", (unsigned long) (%s)'


def shown(said: str) -> list[int]:
    """The numbers in what gdb said to SHOW."""
    return [int(found) for found in re.findall(r"^=(\d+)$", said, re.M)]


def stands(pid: int) -> bool:
    """Has somebody stopped it?"""
    with contextlib.suppress(OSError, IndexError), open("/proc/%d/stat" % pid, "rb") as f:
        return f.read().rpartition(b")")[2].split()[0] == b"T"
    return False


class Gdb:
    """gdb attached to a process, which is stopped until close(). OSError: no such process, or no answer in time."""

    def __init__(self, gdb: str, pid: int, held: float = HELD) -> None:
        self.deadline = time.monotonic() + START
        self.asked, self.unread = 0, b""
        self.pid, self.stood = pid, stands(pid)
        settings = ("auto-load off", "debuginfod enabled off", "confirm off", "pagination off", "width 0", "language c", "prompt",
                    "exec-file-mismatch off")
        # Symbols of the linker's tables are enough; reading debug information takes gdb seconds.
        command = [gdb, "-nx", "-nh", "-q", "-readnever", *(word for s in settings for word in ("-iex", "set " + s))]
        # SIGPIPE stays ignored: gdb must not end in the middle of a call because nobody reads its output any more.
        self.run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    start_new_session=True, bufsize=0, restore_signals=False, cwd="/")
        try:
            self.ask("file /proc/%d/exe" % pid)
            self.deadline = time.monotonic() + held
            said = self.ask("attach %d" % pid)
            self.thread = self.number("$_thread") or 0
            if not self.thread:
                lines = [s for s in said.splitlines() if "ptrace" in s or "rror" in s or "not " in s]
                raise OSError(lines[-1].strip() if lines else "it did not attach")
            self.ask("handle SIGSEGV SIGBUS SIGILL SIGFPE nopass")  # those of our calls, not the program's
            self.kept = dict(zip(REGISTERS, self.numbers("$%s + 0" % name for name in REGISTERS)))  # eflags are a number then
            if len(self.kept) < len(REGISTERS):
                raise OSError("it shows no registers")
        except BaseException:
            self.close()
            raise

    def ask(self, *commands: str) -> str:
        """What it says to them."""
        self.asked += 1
        assert self.run.stdin  # a pipe, as is stdout
        with contextlib.suppress(BrokenPipeError):  # answer() says that it has ended
            self.run.stdin.write("\n".join([*commands, "echo \\n%s-%d\\n\n" % (END, self.asked)]).encode())
        return self.answer()

    def answer(self) -> str:
        """Up to the mark. What comes after it is read with the next answer: gdb 16 warns after each command that the thread's
        frame is of another language."""
        assert self.run.stdout
        mark = b"\n%s-%d\n" % (END.encode(), self.asked)
        while mark not in self.unread:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.run.stdout], [], [], left)[0]:
                raise TimeoutError("no answer in time")
            more = os.read(self.run.stdout.fileno(), 65536)
            if not more:
                raise ConnectionError("it has ended")
            self.unread += more
            if len(self.unread) > MOST:
                raise OSError("it printed too much")
        said, _, self.unread = self.unread.partition(mark)
        return said.decode(errors="replace")

    def numbers(self, expressions: "Iterable[str]") -> list[int]:
        """Their values, of 64 bits without sign; fewer, if one has none."""
        return shown(self.ask(*(SHOW % e for e in expressions)))

    def number(self, expression: str) -> int | None:
        """Its value, of 64 bits without sign; None: it has none."""
        found = self.numbers([expression])
        return found[0] if found else None

    def address(self, function: str) -> int:
        """Where that function is; OSError without one."""
        found = self.number("&" + function)
        if found is None:
            raise OSError("No symbol %s" % function)
        return found

    def write(self, address: int, data: bytes) -> None:
        """Write data into the process's memory, padded to whole words; OSError."""
        data += bytes(-len(data) % 8)
        words = [(address + i, int.from_bytes(data[i:i + 8], "little")) for i in range(0, len(data), 8)]
        self.ask(*("set {unsigned long} %d = %d" % word for word in words))
        if self.number("*(unsigned long *) %d" % words[-1][0]) != words[-1][1]:
            raise OSError("cannot write the program's memory")

    def settings(self, registers: dict[str, int]) -> "Iterator[str]":
        """Commands. With another rsp gdb may select another frame, whose rip is a return address in memory."""
        yield "thread %d" % self.thread
        for item in registers.items():
            yield from ("select-frame 0", "set $%s = %d" % item)

    def call(self, function: int, *arguments: int) -> int | None:
        """Call it in the selected thread while the others run; returns its result, None: it did not return.

        All commands are sent at once: even if we die, gdb reads on and restores the registers.
        """
        self.deadline = max(self.deadline, time.monotonic() + A_CALL)  # not interrupted before it runs
        back, stack = self.kept["rip"], ((self.kept["rsp"] - RED_ZONE) & -64) - 8
        self.write(stack, back.to_bytes(8, "little"))
        registers = dict(zip(ARGUMENTS, (a & NO_CALL for a in arguments)), rip=function, rsp=stack, eflags=FLAGS,
                         orig_rax=NO_CALL)
        said = self.until_returned("tbreak *%d thread %d" % (back, self.thread), *self.settings(registers), "continue",
                                   *(SHOW % name for name in ("$_thread", "$rip", "$rsp", "$rax")),
                                   *self.settings(self.kept), "delete")
        found = shown(said)
        return found[3] if found[:3] == [self.thread, back, stack + 8] and found[3:] else None

    def until_returned(self, *commands: str) -> str:
        """Undo a call that does not return, rather than leave it running on borrowed registers."""
        try:
            return self.ask(*commands)
        except TimeoutError:
            self.deadline = time.monotonic() + TAKE_BACK
            self.run.send_signal(signal.SIGINT)
            return self.answer()

    def close(self) -> None:
        """The process runs on. If gdb is killed, the kernel releases it; but a stop signal may still be on its way."""
        try:
            self.run.communicate(b"detach\nquit\n", timeout=LEAVE)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            with contextlib.suppress(OSError):
                os.killpg(self.run.pid, signal.SIGKILL)
            self.run.communicate()
            with contextlib.suppress(OSError):
                if not self.stood:
                    os.kill(self.pid, signal.SIGCONT)
