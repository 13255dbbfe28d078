#!/usr/bin/env python3
"""png.small(): pictures of all of PNG's filters come out as they went in, with the nearest of 256 colours where there are more."""

import random
import struct
import sys
import zlib

import png

from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "doors"))
from tap import Plan  # noqa: E402


def paeth(left, above, corner):
    """As the specification of PNG words it."""
    near = left + above - corner
    return min((left, above, corner), key=lambda value: abs(near - value))


def filtered(kind, line, above, bpp):
    out = bytearray()
    for i, value in enumerate(line):
        left, corner = (line[i - bpp], above[i - bpp]) if i >= bpp else (0, 0)
        out.append(value - (0, left, above[i], left + above[i] >> 1, paeth(left, above[i], corner))[kind] & 255)
    return bytes(out)


def written(lines, bpp):
    """A PNG whose lines have the five filters by turns, in two IDATs."""
    raw, above = b"", bytes(len(lines[0]) * bpp)
    for y, line in enumerate(lines):
        data = b"".join(bytes(pixel) + b"\xff" * (bpp - 3) for pixel in line)
        raw += bytes([y % 5]) + filtered(y % 5, data, above, bpp)
        above = data
    packed = zlib.compress(raw)
    head = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, {3: 2, 4: 6}[bpp], 0, 0, 0)
    return png.SIGNATURE + b"".join(png.chunk(*each) for each in (
        (b"IHDR", head), (b"IDAT", packed[:9]), (b"IDAT", packed[9:]), (b"IEND", b"")))


def read(data):
    """The lines of a PNG with a palette and no filters."""
    parts = dict(png.chunks(data))
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    raw, colours = zlib.decompress(parts[b"IDAT"]), parts[b"PLTE"]
    rows = [raw[y * (width + 1) + 1:(y + 1) * (width + 1)] for y in range(height)]
    return [[tuple(colours[3 * i:3 * i + 3]) for i in row] for row in rows]


def picture(colours):
    some = random.Random(20)
    kinds = [tuple(some.randrange(256) for _ in range(3)) for _ in range(colours)]
    return [[kinds[(x * 7 + y * 13 + some.randrange(3)) % colours] for x in range(40)] for y in range(23)]


def stays(bpp):
    lines = picture(200)
    return [] if read(png.small(written(lines, bpp))) == lines else ["pixels differ"]


def is_near():
    """Of 400 colours each becomes one that is kept, the nearest."""
    lines = picture(400)
    got = read(png.small(written(lines, 3)))
    kept = {colour for line in got for colour in line}
    pairs = [(a, b) for wanted, line in zip(lines, got) for a, b in zip(wanted, line)]
    far = [(a, b) for a, b in pairs if sum((p - q) ** 2 for p, q in zip(a, b)) > min(sum((p - q) ** 2 for p, q in zip(a, c)) for c in kept)]
    return ([f"{len(kept)} colours"] if len(kept) > 256 else []) + [str(each) for each in far[:3]]


def refuses():
    data = bytearray(written(picture(2), 3))
    data[24] = 16  # bits
    try:
        png.small(bytes(data))
    except ValueError:
        return []
    return ["a PNG of 16 bits was taken"]


with Plan() as plan:
    plan.case("RGB", stays, 3)
    plan.case("RGBA", stays, 4)
    plan.case("more than 256 colours", is_near)
    plan.case("another kind is refused", refuses)
