# SPDX-License-Identifier: MIT
"""Reads the PTWRITE payloads of a recording by itself: perf.data's records, then their packets.

Written from the format descriptions and not from the recorder, so that both have to be right. Slow, for
tests only.
"""
import struct
from collections import namedtuple

Marker = namedtuple("Marker", "tsc op seq code offset low52")
Queue = namedtuple("Queue", "tid words markers")  # all of them; without those that the recorder adds

AUXTRACE = 71
COMM = 3
LOST = 2
EXTENSION = 29
NUMBER, C_CALL = 1, 9  # kinds
CALL = 10


def records(path):
    """(type, record, payload) of each record that the header covers."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"PERFILE2"
    offset, size = struct.unpack_from("<QQ", data, 40)
    at, end = offset, offset + size
    assert end <= len(data)
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        payload = struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0
        body = at + length
        yield kind, data[at:body], data[body:body + payload]
        at = body + payload
    assert at == end


def packets(trace):
    """(tsc, payload) of each PTW; the time is that of the last TSC and the cycles since."""
    at, clock = 0, None
    while at < len(trace):
        first = trace[at]
        if first & 3 == 3:  # CYC
            cycles, shift, more = first >> 3, 5, first & 4
            at += 1
            while more:
                cycles |= trace[at] >> 1 << shift
                shift, more = shift + 7, trace[at] & 1
                at += 1
            if clock is not None:
                clock += cycles
        elif first == 0:  # PAD
            at += 1
        elif first == 0x19:  # TSC
            clock = int.from_bytes(trace[at + 1:at + 8], "little")
            at += 8
        elif trace[at:at + 16] == b"\x02\x82" * 8:  # PSB
            clock = None  # until its TSC
            at += 16
        elif trace[at:at + 2] == b"\x02\x03":  # CBR
            at += 4
        elif trace[at:at + 2] == b"\x02\x23":  # PSBEND
            at += 2
        elif trace[at:at + 2] == b"\x02\x32":  # PTW, 8 bytes
            yield clock, struct.unpack_from("<Q", trace, at + 2)[0]
            at += 10
        elif trace[at:at + 2] == b"\x02\x12":  # PTW, 4 bytes
            yield clock, struct.unpack_from("<I", trace, at + 2)[0]
            at += 6
        else:
            raise ValueError(f"unknown packet {trace[at:at + 4].hex()} at {at}")


def short(word):
    """The number that a word of 32 bits has; None: it is not one of ours."""
    return word & 0xfffff if word < 1 << 32 and word >> 20 & 31 == 22 else None


def numbered(word):
    """The number that the word behind a NUMBER gets; 0: this is none."""
    return word & 0xfffff if word >> 59 == EXTENSION and word >> 48 & 15 == NUMBER else 0


def whole(found):
    """Words of 32 bits as those that they stand for: each record tells its numbers before it uses them."""
    numbers, number, callee = {}, 0, 0
    for tsc, word in found:
        if word < 1 << 32:
            yield tsc, numbers[short(word)] | word >> 25 << 52
            continue
        if callee and word >> 59 == CALL:
            word = c_call(word, callee)
        if number:
            numbers[number] = word & ~(127 << 52)
        number = numbered(word)
        callee = word >> 20 & 0xfffffff if number else 0
        yield tsc, word


def c_call(call, callee):
    """The C_CALL that a CALL with this callee was."""
    payload = callee << 31 | (call >> 28 & 0xffffff) << 14 | call >> 8 & 0xfffff
    return EXTENSION << 59 | call & 127 << 52 | C_CALL << 48 | payload


def marker(tsc, word):
    return Marker(tsc, word >> 59, word >> 52 & 127, word >> 28 & 0xffffff, word >> 8 & 0xfffff,
                  word & (1 << 52) - 1)


def queues(path):
    """What each thread emitted, by queue."""
    found = {}
    for kind, record, payload in records(path):
        if kind != AUXTRACE:
            continue
        size, _, reference, idx, tid = struct.unpack_from("<QQQII", record, 8)
        assert size == len(payload) and reference
        queue = found.setdefault(idx, Queue(tid, [], []))
        assert queue.tid == tid
        words = [marker(*p) for p in whole(packets(payload))]
        queue.words.extend(words)
        queue.markers.extend(m for m in words if m.op != EXTENSION)
    return list(found.values())


def comms(path):
    """{tid: (pid, name)}"""
    found = {}
    for kind, record, _ in records(path):
        if kind == COMM:
            pid, tid, name = struct.unpack_from("<II16s", record, 8)
            found[tid] = pid, name.split(b"\0")[0].decode()
    return found


def check_sequence(markers):
    """Follows seq as docs/marker.md says. Returns how many words are known to be lost."""
    lost, expected = 0, 0
    for m in markers:
        assert m.seq == expected & 127, f"seq {m.seq}, not {expected & 127}"
        expected += 1
        if m.op == LOST:
            lost += m.low52
            expected += m.low52
    assert all(a.tsc <= b.tsc for a, b in zip(markers, markers[1:]))
    return lost
