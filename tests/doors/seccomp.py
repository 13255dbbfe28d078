#!/usr/bin/env python3
"""seccomp.py COMMAND...: runs it as in a container whose seccomp profile forbids ptrace and perf_event_open.

As a module: such filters, for the process that calls, and for what it starts.
"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22
# System calls of x86-64, by which a container's profile may be narrower than a machine.
PTRACE, PROCESS_VM_READV, PROCESS_VM_WRITEV, PERF_EVENT_OPEN, MEMFD_CREATE, SOCKET = 101, 310, 311, 298, 319, 41
PIDFD_SEND_SIGNAL, PIDFD_OPEN, CLOSE_RANGE, PIDFD_GETFD, EPOLL_PWAIT2 = 424, 434, 436, 438, 441
NARROW = (PTRACE, PROCESS_VM_READV, PROCESS_VM_WRITEV, PERF_EVENT_OPEN)
NEW_CALLS = PIDFD_SEND_SIGNAL, PIDFD_OPEN, CLOSE_RANGE, PIDFD_GETFD, EPOLL_PWAIT2
EPERM, ENOSYS = errno.EPERM, errno.ENOSYS
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def forbids(error, *numbers):
    """A seccomp filter: these system calls fail with that error."""
    def step(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)

    def act():
        steps = [step(0x20, 0, 0, 0)]  # the number
        for number in numbers:
            steps += [step(0x15, 0, 1, number), step(0x06, 0, 0, 0x50000 | error)]
        code = b"".join([*steps, step(0x06, 0, 0, 0x7FFF0000)])
        text = ctypes.create_string_buffer(code, len(code))
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        call("prctl", PR_SET_SECCOMP, 2, ctypes.byref(Program(len(steps) + 1, ctypes.cast(text, ctypes.c_void_p))), 0, 0)
    return act


if __name__ == "__main__":
    forbids(EPERM, *NARROW)()
    os.execvp(sys.argv[1], sys.argv[1:])
