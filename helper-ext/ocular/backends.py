# SPDX-License-Identifier: MIT
"""Which way markers leave the process: found out from CPUID, the kernel, and perf if it records us, not by trial.

    ptwrite    the instruction, into the processor's trace that perf records
    emulated   the same by 64 branches: processors with Intel PT but without PTWRITE, or a recording
               of branches without PTWRITE packets
    software   rings that ocular-record drains; needs nothing
    qemu       ptwrite, on a processor that ocular-qemu emulates: the program must be started there
"""

import os

from . import _core, options

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = tuple(name for name, _ in options.table("backends"))
NUMBERS = {"software": _core.BACKEND_SOFTWARE, "ptwrite": _core.BACKEND_PTWRITE,
           "emulated": _core.BACKEND_EMULATED}

# The kernel's folder of the PMU; tests have one of their own.
PMU = os.environ.get("OCULAR_PT_PMU") or "/sys/bus/event_source/devices/intel_pt"
SOCKET = ".ocular.sock"  # ring.h

# Bits of intel_pt's config (arch/x86/events/intel/pt.c, format attributes).
CONFIG_PT, CONFIG_PTW, CONFIG_BRANCH = 1 << 0, 1 << 12, 1 << 13

ASK_FOR = "ask for -e intel_pt/ptw,cyc,branch=0/u"


class Choice:
    """A backend, the reason for it, and perf's recording that its markers go into, if known."""

    def __init__(self, name: str, why: str, perf: "Recording | None" = None) -> None:
        self.name, self.why, self.perf = name, why, perf

    def folder(self) -> str:
        """The default folder of code tables: beside perf's file."""
        return os.path.dirname(self.perf.path) if self.perf else os.path.abspath("ocular.data")


class Recording:
    """What a `perf record` that runs us writes: the file, and the packets it asked Intel PT for."""

    def __init__(self, path: str, config: int) -> None:
        self.path = path
        self.ptwrite = bool(config & CONFIG_PTW)
        # Without bit `pt` the kernel treats the event as old, when branches were always traced.
        self.branches = bool(config & CONFIG_BRANCH) or not config & CONFIG_PT


def processor() -> "_core.Processor":
    """What this processor can do (_core.processor)."""
    return _core.processor(PMU)


def _ancestors() -> "Iterator[tuple[int, bytes]]":
    pid = os.getppid()
    while pid > 1:
        try:
            with open("/proc/%d/stat" % pid, "rb") as f:
                stat = f.read()
        except OSError:
            return
        name = stat[stat.index(b"(") + 1:stat.rindex(b")")]
        yield pid, name
        pid = int(stat[stat.rindex(b")"):].split()[2])


def _pt_config(path: str, pmu_type: int) -> int | None:
    """config of the event of type `pmu_type` in a perf.data; None if it is not a perf.data, or has none."""
    def number(data: bytes, at: int, size: int) -> int:
        return int.from_bytes(data[at:at + size], "little")
    try:
        with open(path, "rb") as f:
            head = f.read(40)  # magic, size, size of an attr, where they are, how many bytes
            step, attrs, size = (number(head, at, 8) for at in (16, 24, 32))
            if head[:8] != b"PERFILE2" or not step:
                return None
            for at in range(attrs, attrs + min(size, 1 << 16), step):
                f.seek(at)
                attr = f.read(16)  # type, size, config
                if number(attr, 0, 4) == pmu_type:
                    return number(attr, 8, 8)
    except OSError:
        pass
    return None


def recording_perf() -> "Recording | None":
    """The Recording of the nearest `perf record` with Intel PT that runs this process, or None.

    perf writes the header, events in it, before it lets the program go.
    """
    try:
        with open(os.path.join(PMU, "type")) as f:
            pmu_type = int(f.read())
    except (OSError, ValueError):
        return None
    for pid, name in _ancestors():
        if not name.startswith(b"perf"):
            continue
        folder = "/proc/%d/fd/" % pid
        try:
            links = [os.readlink(folder + fd) for fd in os.listdir(folder)]
        except OSError:
            continue
        for path in links:
            config = _pt_config(path, pmu_type) if path.startswith("/") else None
            if config is not None:
                return Recording(path, config)
    return None


def _why_not_ptwrite(p: "_core.Processor") -> str:
    if not p["pt"]:
        return "this processor has no Intel PT (or the hypervisor hides it)"
    return "this processor has Intel PT without PTWRITE: use --backend emulated, and record branches"


def _automatic(perf: "Recording | None", p: "_core.Processor") -> Choice:
    if perf and perf.ptwrite and p["ptwrite"]:
        return Choice("ptwrite", "perf records PTWRITE packets", perf)
    if perf and perf.branches:
        lack = "the processor has no PTWRITE" if perf.ptwrite else "not PTWRITE: for that, " + ASK_FOR
        return Choice("emulated", "perf records branches (%s)" % lack, perf)
    if perf:
        raise ValueError("ocular: perf records neither PTWRITE packets nor branches: " + ASK_FOR)
    if p["kernel"]:
        return Choice("software", "this does not run under perf record with Intel PT, as `ocular record` does it")
    return Choice("software", "no Intel PT here")


def choose(wanted: str, folder: str | None = None) -> Choice:
    """A Choice. ValueError if `wanted` is not a backend, or not possible here."""
    if wanted not in NAMES:
        raise ValueError("ocular: unknown backend %r; choose one of: %s" % (wanted, ", ".join(NAMES)))
    if wanted == "software":
        return Choice(wanted, "asked for")
    if wanted == "qemu":
        raise ValueError("ocular: a running program cannot move to an emulated processor: start it there with "
                         "python -m ocular --backend qemu")
    if wanted == "auto" and folder and os.path.exists(os.path.join(folder, SOCKET)):
        return Choice("software", "ocular-record records")
    p, perf = processor(), recording_perf()
    if wanted == "auto":
        return _automatic(perf, p)
    if wanted == "ptwrite" and not p["ptwrite"]:
        raise ValueError("ocular: no backend ptwrite here: " + _why_not_ptwrite(p))
    return Choice(wanted, "asked for", perf)
