# SPDX-License-Identifier: MIT
"""Python processes of this machine, and how to attach to each: the table of `ocular ps`.

A process is identified by what it has mapped: an executable or a library of CPython, whose name has the version.
"""

import os
import re
import shutil
import sys

from . import agent

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = re.compile(r"/(?:lib)?python(3)?\.?(\d+)?[a-z]*(?:\.so[\d.]*)?$")
LIBRARY = re.compile(r"/python3\.(\d+)/|/(?:lib)?python3\.(\d+)")
OLDEST, REMOTE = 12, 14


def _read(pid: int, name: str) -> str:
    with open("/proc/%d/%s" % (pid, name), "rb") as f:
        return f.read().decode(errors="replace")


def _mapped(pid: int) -> list[str]:
    """Paths of the executable and of all files that are mapped. OSError."""
    fields = (line.split(None, 5) for line in _read(pid, "maps").splitlines())
    return [os.readlink("/proc/%d/exe" % pid)] + [f[5] for f in fields if len(f) == 6 and f[5].startswith("/")]


def _is_python(path: str) -> bool:
    return bool(NAMES.search(path.replace(" (deleted)", "")))


def minor_of(pid: int) -> int | None:
    """The y of 3.y; 0: a Python whose version is not known; None: not a Python (or not visible to us)."""
    try:
        paths = _mapped(pid)
    except OSError:
        return None
    if not any(map(_is_python, paths)):
        return None
    for path in paths:
        match = LIBRARY.search(path)
        if match:
            return int(match[1] or match[2])
    return 0


def has_memory(pid: int) -> bool:
    """False: it is ending, has ended, or is the kernel's."""
    try:
        with open("/proc/%d/maps" % pid, "rb") as f:
            return bool(f.read(1))
    except OSError:
        return False


def agents() -> set[int]:
    """pids with a thread that listens (agent.py)."""
    with open("/proc/net/unix", errors="replace") as f:
        return {int(m[1]) for m in re.finditer(r"@%s(\d+)$" % agent.prefix(), f.read(), re.M)}


def is_x86_64(path: str) -> bool:
    """Does the ELF header say so? True if it cannot be read."""
    try:
        with open(path, "rb") as f:
            return f.read(20)[18:20] in (b"\x3e\0", b"")  # e_machine
    except OSError:
        return True


def foreign(pid: int) -> str | None:
    """What it is instead of a program for this processor, as text, or None."""
    try:
        paths = _mapped(pid)
    except OSError:
        return None
    if not all(is_x86_64("/proc/%d/root%s" % (pid, p)) for p in paths if _is_python(p)):
        return "is of another architecture"
    if os.path.basename(paths[0]).startswith("qemu-"):
        return "runs on an emulator"
    return None


def possible(pid: int, minor: int | None, uid: int, listening: set[int]) -> str:
    """Whether and how to attach, in a few words."""
    if os.geteuid() != uid:
        return "no: another user's"
    why = foreign(pid)
    if why:
        return "no: " + why
    if minor and minor < OLDEST:
        return "no: older than 3.12"
    if pid in listening:
        return "yes: its agent"
    if not minor:
        return "perhaps: version not known"
    if minor >= REMOTE:
        return "yes: sys.remote_exec"
    return "yes: gdb" if shutil.which("gdb") else "no: needs gdb, or --listen"


def command_of(pid: int) -> str:
    """Its command line, or its name in brackets, in printable characters; OSError if it has ended."""
    words = _read(pid, "cmdline").split("\0")[:-1]
    text = " ".join(words) or "[" + _read(pid, "comm").strip() + "]"
    return "".join(c if c.isprintable() else "?" for c in text)


def rows() -> "Iterator[tuple[int, str, str, str]]":
    """(pid, version, attach, command) of each Python that this user can see."""
    listening = agents()
    for name in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
        pid = int(name)
        try:
            minor = minor_of(pid)
            if minor is None or pid == os.getpid():
                continue
            uid = os.stat("/proc/%d" % pid).st_uid
            yield pid, "3.%d" % minor if minor else "?", possible(pid, minor, uid, listening), command_of(pid)
        except OSError:
            continue  # it has ended


def main() -> None:
    """Print the table."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print("%7s  %-6s  %-26s  %s" % ("PID", "PYTHON", "ATTACH", "COMMAND"))
    for pid, version, how, command in rows():
        print(("%7d  %-6s  %-26s  %s" % (pid, version, how, command))[:width])


if __name__ == "__main__":
    main()
