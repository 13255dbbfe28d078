"""How the events text writes control characters, for witnesses. Nothing is imported here: it runs beside the programs."""

# Characters that a terminal obeys, and those of direction (Unicode annex 9; 14 for the ends of lines), by their numbers.
ESCAPES = str.maketrans({
    **{c: "\\x%02x" % c for c in (*range(1, 0x20), *range(0x7f, 0xa0))},
    **{c: "\\u%04x" % c for c in (0x061c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a))},
    **{ord(c): "\\" + name for c, name in zip("\\\t\n\r", "\\tnr")}})
