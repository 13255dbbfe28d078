"""Reads protobuf's wire format, without the types of a message."""

import collections


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
    assert not shift, "a number is cut"


def number(data, at):
    """What begins there, and where it ends."""
    value = shift = 0
    while (byte := data[at]) >= 0x80:
        value |= (byte & 0x7f) << shift
        shift += 7
        at += 1
    return value | byte << shift, at + 1


def message(data):
    """{field: [number or bytes]} of protobuf's wire format."""
    fields, at, end = collections.defaultdict(list), 0, len(data)
    while at < end:
        key, at = (data[at], at + 1) if data[at] < 0x80 else number(data, at)
        size = {0: 0, 1: 8, 2: None}[key & 7]
        if not size:  # most numbers have one byte
            value, at = (data[at], at + 1) if data[at] < 0x80 else number(data, at)
        if size is None or size:
            size = value if size is None else size
            assert at + size <= end, "a field is cut"
            at += size
            value = data[at - size:at] if key & 7 == 2 else int.from_bytes(data[at - size:at], "little")
        fields[key >> 3].append(value)
    return fields
