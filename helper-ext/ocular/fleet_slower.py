# SPDX-License-Identifier: MIT
"""What differs between two groups of recordings by more than the noise between recordings (docs/fleet.md, "What is slower").

Of each function and host a side has a *cell*: how many recordings, and the mean and the variance of the logarithms of what they
took. Hosts differ, so a function is compared within each, and the differences are averaged: only what varies on one host is
noise. That is Welch's test, of several strata.
"""

import dataclasses
import math

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Side = tuple[int, float, float]  # recordings, mean, variance
    Pair = Sequence[Side | None]  # of A and B

FEWEST = 3      # recordings a side, without which there is no spread
STRATUM = 2     # the same of each host, for the average of all
CHANCE = 0.001  # of any false alarm in one question


@dataclasses.dataclass
class Finding:
    """One comparison. `change` and `error` as fractions of side A; the chance is that of all comparisons together."""

    key: str
    host: str | None  # None: all
    a: "Side"
    b: "Side"
    change: float
    error: float
    chance: float

    @property
    def verdict(self) -> str:
        """What is called slower is not by chance."""
        return "noise" if self.chance >= CHANCE else "slower" if self.change > 0 else "faster"

    @property
    def order(self) -> "tuple[object, ...]":
        """What got slower first, then all hosts before one, then by size."""
        return self.verdict != "slower", self.verdict, self.host is not None, -abs(self.change)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8)."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(abs(1 - (a + b) * x / (a + 1)), tiny)
    value = d
    for m in range(1, 1000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def chance_of(t: float, freedom: float) -> float:
    """How likely a value of Student's t at least that far from 0 is, where there is no difference."""
    return _beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def compared(strata: "Sequence[tuple[Side, Side]]") -> tuple[float, float, float]:
    """Welch's test of the logarithms: the change of B as a fraction of A, its standard error, and how likely it is by chance."""
    weights = [a[0] * b[0] / (a[0] + b[0]) for a, b in strata]
    shares = [weight / sum(weights) for weight in weights]
    change = sum(share * (b[1] - a[1]) for share, (a, b) in zip(shares, strata))
    parts = [(share ** 2 * side[2] / side[0], side[0] - 1) for share, pair in zip(shares, strata) for side in pair]
    error = math.sqrt(sum(part for part, _ in parts))
    if error <= 1e-12:  # counted, not timed: the emulated processor
        return math.expm1(change), 0.0, float(abs(change) <= 1e-12)
    freedom = sum(part for part, _ in parts) ** 2 / sum(part ** 2 / (n or 1) for part, n in parts)
    return math.expm1(change), math.exp(change) * error, chance_of(change / error, freedom)


def together(sides: "Sequence[Side]") -> "Side":
    """Of several cells as one."""
    n = sum(side[0] for side in sides)
    mean = sum(side[0] * side[1] for side in sides) / n
    squares = sum((side[0] - 1) * side[2] + side[0] * (side[1] - mean) ** 2 for side in sides)
    return n, mean, squares / (n - 1) if n > 1 else 0.0


def _comparisons(cells: "Mapping[str, Pair]") -> "Iterator[tuple[str | None, Side, Side, tuple[float, float, float]]]":
    """Of one function: all hosts, then each of several."""
    sides = [[side for side in column if side] for column in zip(*cells.values())]
    if not all(sides):
        return
    a, b = map(together, sides)
    pairs = [(one, other) for one, other in cells.values() if one and other and min(one[0], other[0]) >= STRATUM]
    if min(a[0], b[0]) >= FEWEST:
        yield None, a, b, compared(pairs if len(pairs) == len(cells) else [(a, b)])
    for host, (one, other) in cells.items() if len(cells) > 1 else ():
        if one and other and min(one[0], other[0]) >= FEWEST:
            yield host, one, other, compared([(one, other)])


def findings(functions: "Mapping[str, Mapping[str, Pair]]") -> "list[Finding]":
    """Every comparison of these functions' cells (by key and host), judged by how many there are (Bonferroni's correction)."""
    made = [(key, *comparison) for key, cells in functions.items() for comparison in _comparisons(cells)]
    return [Finding(key, host, a, b, change, error, min(1.0, chance * len(made))) for key, host, a, b, (change, error, chance) in made]
