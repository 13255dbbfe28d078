# SPDX-License-Identifier: MIT
"""Numbers as people read them."""


def figure(n: int) -> str:
    """At most 7 characters: 9999999, 12.3M, 4.56G."""
    if n < 10 ** 7:
        return str(n)
    for size, unit in ((10 ** 9, "G"), (10 ** 6, "M")):
        if n >= size:
            return "%.*f%s" % (2 if n < 10 * size else 1 if n < 100 * size else 0, n / size, unit)
    return str(n)


def duration(ns: float) -> str:
    """At most 7 characters: 0, 999 ns, 1.50 us, 25.0 ms, 884 ms, 86400 s."""
    if ns < 1000:
        return "%d ns" % ns if ns else "0"
    n = float(ns)
    for unit in ("us", "ms", "s"):
        n /= 1000
        if n < 999.5:
            break
    return "%.*f %s" % (2 if n < 9.995 else 1 if n < 99.95 else 0, n, unit)
