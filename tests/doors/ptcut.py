"""Traces with losses: a recording's packets overwritten as by an overflow or a full buffer.

Lengths of packets are the SDM's (volume 3, "Packet Definitions"); nothing here is Ocular's own reader.
"""

import random
import struct

AUXTRACE = 71
PSB, OVF, PAD = b"\x02\x82" * 8, b"\x02\xf3", b"\0"
EXTENDED = {0x82: 16, 0x23: 2, 0xF3: 2, 0x03: 4, 0xA3: 8, 0x43: 8, 0xC8: 7, 0x73: 7, 0x83: 2, 0xC3: 11}
PLAIN = {0x00: 1, 0x99: 2, 0x19: 8, 0x59: 2}
IP_BYTES = (0, 2, 4, 6, 6, 0, 8, 0)


def size_of(trace, at):
    """Bytes of the packet there."""
    first = trace[at]
    if first == 0x02:
        second = trace[at + 1]
        return 2 + (8 if second & 0x60 else 4) if second & 0x1F == 0x12 else EXTENDED[second]
    if first in PLAIN:
        return PLAIN[first]
    if not first & 1:
        return 1  # short TNT
    if first & 3 == 3:  # CYC: bit 2, then bit 0 of each byte: there is more
        more, size = first & 4, 1
        while more:
            more, size = trace[at + size] & 1, size + 1
        return size
    return 1 + IP_BYTES[first >> 5]  # TIP, TIP.PGE, TIP.PGD, FUP


def traces(data):
    """(start, end) of what the AUXTRACE records of a perf.data carry."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        payload = struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0
        if kind == AUXTRACE:
            yield at + length, at + length + payload
        at += length + payload


def psbs(data, start, end):
    found = []
    while (start := data.find(PSB, start, end)) >= 0:
        found.append(start)
        start += len(PSB)
    return found


def lose(path, seed, share):
    """For this share of the stretches between two PSBs only the beginning is left, and an OVF; returns how many."""
    rng, lost = random.Random(seed), 0
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        for span in traces(data):
            marks = psbs(data, *span)
            for start, end in zip(marks, marks[1:]):
                if rng.random() >= share:
                    continue
                stop = rng.uniform(start, end)
                while start < stop:
                    start += size_of(data, start)
                if end - start >= len(OVF):
                    data[start:end] = OVF + PAD * (end - start - len(OVF))
                    lost += 1
        file.seek(0)
        file.write(data)
    return lost
