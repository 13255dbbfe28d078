"""How different colours look: the distance in CIE L*a*b*, of which one is just seen where they touch."""

import itertools
import re


def lab(text):
    """Of `rgb(1, 2, 3)`, as browsers compute it."""
    parts = [float(n) / 255 for n in re.findall(r"[\d.]+", text)[:3]]
    red, green, blue = (c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in parts)
    xyz = ((.4124 * red + .3576 * green + .1805 * blue) / .9505, .2126 * red + .7152 * green + .0722 * blue,
           (.0193 * red + .1192 * green + .9505 * blue) / 1.089)
    x, y, z = (t ** (1 / 3) if t > .008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def alike(colours, least):
    """Pairs of {name: colour} that differ by less."""
    pairs = itertools.combinations(sorted(colours), 2)
    found = [(sum((p - q) ** 2 for p, q in zip(lab(colours[a]), lab(colours[b]))) ** .5, a, b) for a, b in pairs]
    return [f"{a} and {b}: {distance:.1f} apart" for distance, a, b in found if distance < least]
