"""Enough of the perf.data format to damage a recording on purpose.

The format: tools/perf/Documentation/perf.data-file-format.txt in the kernel's sources.
"""

import struct

HEADER = 104
DATA_SIZE = 48  # where the header keeps data.size; data.offset is before it
FEATURES = 72  # 256 bits: which sections follow the data, by a table of (offset, size)
AUXTRACE = 71
AUXTRACE_EVENT = 48  # bytes of the record before its payload
PTW8 = b"\x02\x32"  # a PTW packet with 8 bytes of payload (SDM vol. 3, "PTWRITE Packet")
MAGIC = b"PERFILE2"


def hello(version):
    """The word that opens each thread, as bytes: op 1, sequence number 0, magic, interpreter 0 (docs/marker.md)."""
    return struct.pack("<Q", 1 << 59 | 0x4F434C << 28 | version)


def records(content):
    """(type, offset, size with payload) of each record."""
    at, size = struct.unpack_from("<QQ", content, DATA_SIZE - 8)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", content, at)
        whole = length
        if kind == AUXTRACE:
            whole += struct.unpack_from("<Q", content, at + 8)[0]
        yield kind, at, whole
        at += whole


def end_at(content, end):
    """Complete up to there, by its header, with no section after the data: as repaired by a tool that leaves no note."""
    content = bytearray(content[:end])
    struct.pack_into("<Q", content, DATA_SIZE, end - struct.unpack_from("<Q", content, DATA_SIZE - 8)[0])
    content[FEATURES:FEATURES + 32] = bytes(32)
    return content


class PerfFile:
    """A perf.data in memory."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes)

    def records(self):
        return records(self.bytes)

    def payloads(self):
        """(start, end) of each AUXTRACE payload."""
        return [(at + AUXTRACE_EVENT, at + size) for kind, at, size in self.records() if kind == AUXTRACE]

    def append_words(self, values):
        """PTW packets of these values at the end of the last payload."""
        start, end = self.payloads()[-1]
        packets = b"".join(PTW8 + struct.pack("<Q", value) for value in values)
        packets += bytes(-len(packets) % 8)
        self.bytes[end:end] = packets
        self.add(start - AUXTRACE_EVENT + 8, len(packets))
        self.add(DATA_SIZE, len(packets))
        self.move_features(len(packets))

    def move_features(self, count):
        """Feature sections follow the data and are found by absolute offsets."""
        at = sum(struct.unpack_from("<QQ", self.bytes, DATA_SIZE - 8))
        for i in range(bin(int.from_bytes(self.bytes[FEATURES:FEATURES + 32], "little")).count("1")):
            self.add(at + 16 * i, count)

    def add(self, at, count):
        struct.pack_into("<Q", self.bytes, at, struct.unpack_from("<Q", self.bytes, at)[0] + count)


def without_intel_pt():
    """A whole perf.data of a software event, with one FINISHED_ROUND record."""
    attr = struct.pack("<IIQ", 1, 128, 9) + bytes(112) + struct.pack("<QQ", 0, 0)
    record = struct.pack("<IHH", 68, 0, 8)
    sections = (HEADER, len(attr)), (HEADER + len(attr), len(record)), (0, 0)  # attrs, data, event types
    header = MAGIC + struct.pack("<QQ", HEADER, len(attr)) + b"".join(struct.pack("<QQ", *s) for s in sections)
    return header + bytes(HEADER - len(header)) + attr + record
