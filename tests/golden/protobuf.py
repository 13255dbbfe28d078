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


def message(data):
    """{field: [number or bytes]} of protobuf's wire format."""
    fields, at = collections.defaultdict(list), 0

    def number():
        nonlocal at
        start = at
        while data[at] >= 0x80:
            at += 1
        at += 1
        return next(varints(data[start:at]))

    while at < len(data):
        key = number()
        size = {0: 0, 1: 8, 2: None}[key & 7]
        value = number() if size is None or not size else 0
        if size is None or size:
            size = value if size is None else size
            assert at + size <= len(data), "a field is cut"
            at += size
            value = data[at - size:at] if key & 7 == 2 else int.from_bytes(data[at - size:at], "little")
        fields[key >> 3].append(value)
    return fields
