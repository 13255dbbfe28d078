"""Recordings that no machine here can make: a perf.data with Intel PT traces put together packet by packet.

Written from the SDM's packet definitions and perf's file format, not from Ocular's own writer. A `Clock` runs
like a processor's clocks, so that TSC, TMA, MTC, CBR and CYC packets agree as they would, except for the
faults that are put in on purpose.
"""

import random
import struct

MAGIC = b"PERFILE2"
PMU, EVENT_ID = 8, 1
COMM, ITRACE_START, AUX, FORK, SWITCH, SWITCH_WIDE = 3, 12, 11, 7, 14, 15
ID_INDEX, FINISHED_ROUND, AUXTRACE_INFO, AUXTRACE, COMPRESSED = 69, 68, 70, 71, 81
SWITCH_OUT = 1 << 13
SAMPLE_TYPE = 1 | 2 | 4 | 128 | 1 << 16  # IP TID TIME CPU IDENTIFIER
CONFIG_PT, CONFIG_CYC, CONFIG_MTC, CONFIG_TSC, CONFIG_PTW = 1, 2, 1 << 9, 1 << 10, 1 << 12
CONFIG_BRANCH = 1 << 13
MTC_PERIOD = 0xF << 14
SHIFT, MULT, ZERO = 31, 1073741824 + 12345, 5_000_000_000
ANY = 0xFFFFFFFF

PSB, PSBEND, OVF, PAD = b"\x02\x82" * 8, b"\x02\x23", b"\x02\xf3", b"\0"


def code_table():
    """codes-100.jsonl for the words of threads 100 to 103."""
    lines = ['{"kind": "header", "ocular": 1, "pid": 100, "backend": "ptwrite", "first_id": 1, "opnames": []}']
    for code in range(100_001, 104_001):
        lines.append('{"kind": "code", "id": %d, "file": "made.py", "qualname": "f%d", "firstlineno": %d, '
                     '"address": "0x0", "units": 0, "instructions": []}' % (code, code, code))
    return "\n".join(lines) + "\n"


def tsc(value):
    return b"\x19" + (value & (1 << 56) - 1).to_bytes(7, "little")


def tma(ctc, fast):
    return struct.pack("<BBHBH", 2, 0x73, ctc & 0xFFFF, 0, fast & 0x1FF)


def mtc(ctc, period):
    return bytes((0x59, ctc >> period & 0xFF))


def cbr(ratio):
    return bytes((2, 3, ratio, 0))


def cyc(count):
    out, rest = [3 | (count > 31) << 2 | (count & 31) << 3], count >> 5
    while rest:
        out.append((rest > 127) | (rest & 127) << 1)
        rest >>= 7
    return bytes(out)


def ptw(word, ip=False):
    return struct.pack("<BBQ", 2, 0xB2 if ip else 0x32, word)


def ptw4(word):
    """With a payload of 4 bytes."""
    return struct.pack("<BBI", 2, 0x12, word)


def fup(ip):
    return b"\x7d" + ip.to_bytes(6, "little")


def pge(ip):
    return b"\x71" + ip.to_bytes(6, "little")


def pgd(ip):
    return b"\x61" + ip.to_bytes(6, "little")


def tip(ip, size=6):
    """With all of the ip, or only the lower bytes that differ from the last one."""
    return {2: b"\x2d", 4: b"\x4d", 6: b"\x6d"}[size] + ip.to_bytes(6, "little")[:size]


def tnt(taken):
    """Up to six conditional branches, the oldest first."""
    bits = 1
    for one in taken:
        bits = bits << 1 | one
    return bytes((bits << 1,))


def ns(ticks):
    """perf's time of a TSC."""
    return (ZERO + (ticks >> SHIFT) * MULT + ((ticks & (1 << SHIFT) - 1) * MULT >> SHIFT)) & (1 << 64) - 1


class Words:
    """The marker words of one thread (docs/marker.md): HELLO, then PY_START of ever new code."""

    def __init__(self, tid):
        self.tid, self.count = tid, 0

    def next(self):
        head = (self.count & 127) << 52
        self.count += 1
        if self.count == 1:
            return 1 << 59 | head | 0x4F434C << 28 | 1
        return 4 << 59 | head | (self.tid % 1000 * 1000 + self.count % 1000 + 1) << 28


class Clock:
    """One processor's clocks, and the packets it writes about them."""

    def __init__(self, rng, now, setup):
        self.rng, self.now, self.setup = rng, float(now), setup
        self.ratio, self.cycles, self.told = setup.max_ratio, 0.0, 0
        self.ctc_told = int(self.ctc())

    def ctc(self):
        return self.now * self.setup.ctc_den / self.setup.ctc_num

    def cyc(self):
        """Core cycles since the last CYC, if there is one to write."""
        if not self.setup.cyc:
            return b""
        count = int(self.cycles) - self.told
        self.told += count
        return cyc(count)

    def go_on(self, ticks):
        """Time passes; returns its MTC packets."""
        out = b""
        self.now += ticks
        self.cycles += ticks * self.ratio / self.setup.max_ratio
        step = 1 << self.setup.mtc_period
        while self.setup.mtc and self.ctc() // step > self.ctc_told // step:
            self.ctc_told = (self.ctc_told // step + 1) * step
            out += self.cyc() + mtc(self.ctc_told, self.setup.mtc_period)
        return out

    def psb(self):
        """PSB+. The TSC may have slipped a little past the packets before it."""
        now = int(self.now) - (self.rng.randrange(40) if self.rng.random() < 0.3 else 0)
        out = PSB + self.cyc() + tsc(now)
        if self.setup.mtc:
            ctc = int(now * self.setup.ctc_den / self.setup.ctc_num)
            out += tma(ctc, int(now - ctc * self.setup.ctc_num / self.setup.ctc_den))
        return out + cbr(self.ratio) + PSBEND

    def change(self):
        self.ratio = self.rng.randrange(4, 2 * self.setup.max_ratio)
        return self.cyc() + cbr(self.ratio)


class Setup:
    """What is recorded, and how."""

    def __init__(self, rng, **fixed):
        self.max_ratio, self.ctc_num, self.ctc_den = 21, rng.choice((84, 234, 175)), rng.choice((1, 2, 3))
        self.mtc_period = rng.choice((0, 3, 5, 9))
        self.cyc, self.mtc = rng.choice(((1, 1), (1, 0), (0, 1), (1, 1)))
        self.fup_on_ptw, self.faults, self.snapshot = rng.random() < 0.3, 0.0, False
        self.cpus, self.switches, self.compressed, self.branches = 0, 0, False, False
        self.__dict__.update(fixed)

    def config(self):
        return (CONFIG_PT | CONFIG_TSC | CONFIG_PTW | self.cyc * CONFIG_CYC | self.mtc * CONFIG_MTC
                | self.branches * CONFIG_BRANCH | self.mtc_period << 14)


class Stream:
    """One trace: pieces of packets, a PTWRITE each, with the TSC after them."""

    def __init__(self, rng, setup, start):
        self.rng, self.setup, self.clock = rng, setup, Clock(rng, start, setup)
        self.pieces = [(self.clock.psb(), self.clock.now)]

    def go_on(self):
        """Time passes, and what a processor may write meanwhile; the packets are kept for `write`."""
        clock, kind = self.clock, self.rng.random()
        self.out = clock.go_on(self.rng.choice((0, 1, 5, 20, 100, 1000, 30000)))
        if kind < 0.02:
            self.out += clock.psb()
        elif kind < 0.03:
            self.out += clock.change()
        elif kind < 0.03 + self.setup.faults:
            self.out += clock.cyc() + OVF + clock.go_on(5000) + clock.psb()
        self.out += PAD * self.rng.choice((0, 0, 0, 1, 9)) + clock.cyc()
        if self.setup.branches:
            self.out += self.branches()
        return clock.now

    def branches(self):
        """What a program does between two words: it branches, leaves the traced part, and comes back."""
        rng, out = self.rng, b""
        for _ in range(rng.randrange(12)):
            ip = 0x7F3A00400000 + rng.randrange(1 << 16)
            out += rng.choice((tnt([rng.random() < 0.5 for _ in range(rng.randrange(1, 7))]), tip(ip, rng.choice((2, 2, 4, 6))),
                               pgd(ip) + pge(ip + 99)))
            out += self.clock.go_on(rng.randrange(9)) + self.clock.cyc()
        return out

    def write(self, word):
        self.out += ptw(word, self.setup.fup_on_ptw) + (fup(0x401000) if self.setup.fup_on_ptw else b"")
        self.pieces.append((self.out, self.clock.now))


def stream(rng, setup, words, count):
    """The pieces of a trace of `count` PTWRITEs of one thread."""
    s = Stream(rng, setup, 10_000_000 + rng.choice((0, 0, 12345)))
    for _ in range(count):
        s.go_on()
        s.write(words.next())
    return s.pieces


class File:
    """A perf.data in the making: records first, bytes at the end."""

    def __init__(self, setup):
        self.setup, self.body, self.records = setup, [], 0
        priv = [PMU, SHIFT, MULT, ZERO, 1, CONFIG_TSC, 1 << 11, setup.switches, setup.snapshot, bool(setup.cpus),
                CONFIG_MTC, MTC_PERIOD, setup.ctc_num, setup.ctc_den, CONFIG_CYC, setup.max_ratio, 0]
        self.plain(AUXTRACE_INFO, struct.pack("<II17Q", 1, 0, *map(int, priv)))

    def plain(self, kind, body, misc=0, payload=b""):
        self.body.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body + payload)

    def side(self, kind, body, pid, tid, time, cpu=ANY, misc=0):
        """A record of the kernel's, with its sample id."""
        self.plain(kind, body + struct.pack("<IIQIIQ", pid, tid, time, cpu, 0, EVENT_ID), misc)

    def comm(self, pid, tid):
        self.side(COMM, struct.pack("<II16s", pid, tid, b"made"), pid, tid, 0)

    def auxtrace(self, idx, tid, cpu, offset, reference, packets):
        packets += bytes(-len(packets) % 8)
        self.plain(AUXTRACE, struct.pack("<QQQIIII", len(packets), offset, reference, idx, tid, cpu, 0),
                   payload=packets)
        return len(packets)

    def chunks(self, idx, tid, cpu, pieces, size):
        """A stream in chunks of `size` pieces."""
        offset = 0
        for at in range(0, len(pieces), size):
            part = pieces[at:at + size]
            offset += self.auxtrace(idx, tid, cpu, offset, int(part[-1][1]), b"".join(p for p, _ in part))

    def compress(self, command):
        """Puts all records but the traces into COMPRESSED ones, as perf record -z does. command: zstd."""
        inner = [r for r in self.body if struct.unpack_from("<I", r)[0] not in (AUXTRACE, AUXTRACE_INFO)]
        self.body = [r for r in self.body if struct.unpack_from("<I", r)[0] in (AUXTRACE, AUXTRACE_INFO)]
        packed = command(b"".join(inner))
        for at in range(0, len(packed), 1000):
            part = packed[at:at + 1000]
            self.plain(COMPRESSED, part)

    def bytes(self):
        flags = 1 << 0 | 1 << 18 | (1 << 26 if self.setup.switches else 0)
        attr = struct.pack("<IIQQQQQ", PMU, 128, self.setup.config(), 1, SAMPLE_TYPE, 0, flags) + bytes(80)
        attr_size, data = len(attr) + 16, b"".join(self.body)
        at = 104 + 8
        header = struct.pack("<8sQQQQQQQQ32x", MAGIC, 104, attr_size, at, attr_size, at + attr_size, len(data), 0, 0)
        return header + struct.pack("<Q", EVENT_ID) + attr + struct.pack("<QQ", 104, 8) + data

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())


def threads(seed, nthreads=3, count=400, **fixed):
    """A per-thread recording; threads' times are interleaved and often equal."""
    rng = random.Random(seed)
    setup = Setup(rng, **fixed)
    file = File(setup)
    for i in range(nthreads):
        file.comm(100, 100 + i)
        file.chunks(i, 100 + i, ANY, stream(rng, setup, Words(100 + i), count), rng.choice((37, 1000)))
    file.plain(FINISHED_ROUND, b"")
    return file


def branches(seed, count=400):
    """Branches among the words: for a reader that does not follow them in code, because there is none."""
    return threads(seed, 1, count, branches=True, cyc=1)


class Cpu:
    """A CPU with its trace and its thread, which it leaves now and then for one that runs nowhere."""

    def __init__(self, rng, setup, number, tid):
        self.rng, self.number, self.tid = rng, number, tid
        self.stream = Stream(rng, setup, 10_000_000)
        self.switches = [(9_000_000, tid, tid)]  # (TSC, old, new)

    def run(self, idle, words):
        now = self.stream.go_on()
        if idle and self.rng.random() < 0.1:
            new = self.rng.choice(sorted(idle))
            self.switches.append((int(now) - self.rng.randrange(3), self.tid, new))
            idle.remove(new)
            idle.add(self.tid)
            self.tid = new
        self.stream.write(words[self.tid].next())

    def records(self, wide):
        """(time, type, body, tid, cpu, misc) of the side records."""
        for i, (now, old, new) in enumerate(self.switches):
            time = ns(now)
            ids = [struct.pack("<II", 100, tid) for tid in (old, new)]
            if not i:
                yield time, ITRACE_START, ids[1], new, self.number, 0
            elif wide:
                yield time, SWITCH_WIDE, ids[1], old, self.number, SWITCH_OUT
                yield time, SWITCH_WIDE, ids[0], new, self.number, 0
            else:
                yield time, SWITCH, b"", old, self.number, SWITCH_OUT
                yield time, SWITCH, b"", new, self.number, 0


def cpus(seed, ncpus=2, nthreads=4, count=800, **fixed):
    """A per-CPU recording: threads go from CPU to CPU, and switch records say so, in rounds."""
    rng = random.Random(seed)
    setup = Setup(rng, cpus=ncpus, **{"switches": rng.choice((2, 3)), **fixed})
    words = {100 + i: Words(100 + i) for i in range(nthreads)}
    machine = [Cpu(rng, setup, number, 100 + number) for number in range(ncpus)]
    idle = set(words) - {cpu.tid for cpu in machine}
    for _ in range(count):
        min(machine, key=lambda cpu: cpu.stream.clock.now).run(idle, words)
    file = File(setup)
    for tid in words:
        file.comm(100, tid)
    sides = [side for cpu in machine for side in cpu.records(setup.switches == 3)]
    half = sorted(side[0] for side in sides)[len(sides) // 2]
    for late in (False, True):
        for time, kind, body, tid, cpu, misc in sides:  # CPU by CPU, so not in the order of time
            if (time >= half) == late:
                file.side(kind, body, 100, tid, time, cpu, misc)
        file.plain(FINISHED_ROUND, b"")
    for cpu in machine:
        file.chunks(cpu.number, ANY, cpu.number, cpu.stream.pieces, rng.choice((50, 1000)))
    return file


def snapshots(seed, count=400):
    """One CPU, in snapshots that repeat part of the previous one."""
    rng = random.Random(seed)
    file = cpus(seed, ncpus=1, count=0, snapshot=True)
    pieces = stream(rng, file.setup, Words(100), count)
    file.body = [r for r in file.body if struct.unpack_from("<I", r)[0] != AUXTRACE]
    at = 0
    while at < count:
        part = pieces[max(0, at - rng.choice((0, 60, 100))):at + 120]
        file.auxtrace(0, ANY, 0, 0, int(part[-1][1]), b"".join(p for p, _ in part))
        at += rng.choice((120, 120, 150))
    return file
