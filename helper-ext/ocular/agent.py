# SPDX-License-Identifier: MIT
"""A thread of the program that waits for `ocular attach`: python -m ocular --listen app.py.

It answers where nothing else can: on any Python that can be traced, without gdb, and while the main thread
sleeps. The socket is in the abstract name space, so it leaves no file; the other end must be the same user
or root, according to the kernel (SO_PEERCRED).
"""

import _socket
import _thread
import atexit
import os
import sys

SO_PEERCRED = 17  # asm-generic/socket.h; struct ucred {pid, uid, gid}
LIMIT = 65536     # bytes of an order


def prefix() -> str:
    """The prefix for this pid namespace: containers may share a network's names and have the same pids."""
    return "ocular-agent-%d-" % os.stat("/proc/self/ns/pid").st_ino


def address(pid: int) -> bytes:
    """The abstract socket of the agent in process pid."""
    return b"\0" + prefix().encode() + b"%d" % pid


def peer(sock: _socket.socket) -> tuple[int, int]:
    """(pid, uid) of the other end."""
    cred = sock.getsockopt(_socket.SOL_SOCKET, SO_PEERCRED, 12)
    return int.from_bytes(cred[:4], "little"), int.from_bytes(cred[4:8], "little")


def _serve(fd: int) -> None:
    sock = _socket.socket(fileno=fd)
    try:
        sock.settimeout(5)
        if peer(sock)[1] not in (os.geteuid(), 0):
            return
        text = sock.recv(LIMIT)
        import json
        from . import attached
        with _obeying:
            sock.sendall((attached.obey(json.loads(text)) or "ok").encode("utf-8", "backslashreplace"))
    except (OSError, ValueError):
        pass  # the other end has gone, or is not ours
    finally:
        sock.close()


def _listen(sock: _socket.socket) -> None:
    while True:
        try:
            fd, _ = sock._accept()  # type: ignore[attr-defined] # what socket.accept() is made of
        except OSError:
            return
        _serve(fd)


def start() -> None:
    """OSError if the name is taken: by an agent, or by somebody who pretends to be one."""
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    sock.bind(address(os.getpid()))
    sock.listen(4)
    _thread.start_new_thread(_listen, (sock,))
    _open.append(sock)
    atexit.unregister(_ends)
    atexit.register(_ends)


def _ends() -> None:
    """The program ends. A thread that CPython ends in the middle of an order may keep a lock of CPython's for good, and a
    free-threaded one waits for that lock. So an order under way is waited for, and there is no other."""
    if _obeying.acquire(timeout=10):
        monitor = sys.modules.get("ocular.monitor")
        if monitor:
            monitor.stop()


def _forked() -> None:
    """The child has a copy of the parent's socket and no thread."""
    global _obeying
    _obeying = _thread.allocate_lock()
    if not _open:
        return
    while _open:
        _open.pop().close()
    try:
        start()
    except OSError:
        pass


_open: list[_socket.socket] = []
_obeying = _thread.allocate_lock()  # while an order is carried out
os.register_at_fork(after_in_child=_forked)
