"""A PNG with 256 colours at most, of one as browsers write it: 8 bits, RGB or RGBA, not interlaced."""

import collections
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = 256


def chunks(data):
    """(kind, body) of each."""
    at = len(SIGNATURE)
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8:at + 8 + length]
        at += length + 12


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def paeth(a, b, c):
    """PNG's predictor: which of left, above and above left is nearest to left + above - above left."""
    pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - c - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfiltered(kind, line, above, bpp):
    """A line's bytes, of what a filter made of them."""
    for i, value in enumerate(line):
        left, corner = (line[i - bpp], above[i - bpp]) if i >= bpp else (0, 0)
        guess = (0, left, above[i], (left + above[i]) // 2, kind == 4 and paeth(left, above[i], corner))[kind]
        line[i] = value + guess & 255
    return line


def pixels(data):
    """Width, and a list of lines of (red, green, blue)."""
    parts = list(chunks(data))
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or colour not in (2, 6) or interlaced:
        raise ValueError("a PNG of another kind")
    bpp = {2: 3, 6: 4}[colour]
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    size, above, lines = width * bpp, bytearray(width * bpp), []
    for at in range(0, height * (size + 1), size + 1):
        line = bytearray(raw[at + 1:at + 1 + size])
        above = unfiltered(raw[at], line, above, bpp) if raw[at] else line
        lines.append(list(zip(above[0::bpp], above[1::bpp], above[2::bpp])))
    return width, lines


def palette(count):
    """{colour: its index}, and the colours: the most frequent ones, which others become the nearest of."""
    kept = [colour for colour, _ in count.most_common(COLOURS)]
    index = {colour: i for i, colour in enumerate(kept)}
    for r, g, b in count.keys() - index.keys():
        index[r, g, b] = min(range(len(kept)), key=lambda i: (kept[i][0] - r) ** 2 + (kept[i][1] - g) ** 2 + (kept[i][2] - b) ** 2)
    return index, kept


def small(data):
    """The picture, as small as 256 colours make it."""
    width, lines = pixels(data)
    count = collections.Counter()
    for line in lines:
        count.update(line)
    index, kept = palette(count)
    raw = b"".join(b"\0" + bytes([index[colour] for colour in line]) for line in lines)
    head = struct.pack(">IIBBBBB", width, len(lines), 8, 3, 0, 0, 0)
    return SIGNATURE + b"".join(chunk(*each) for each in (
        (b"IHDR", head), (b"PLTE", bytes(sum(kept, ()))), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")))


def shoot(browser, page, path):
    """What is seen, as a file."""
    browser.picture(page, path)
    with open(path, "rb") as file:
        data = small(file.read())
    with open(path, "wb") as file:
        file.write(data)
