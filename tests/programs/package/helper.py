"""A submodule with __all__."""

__all__ = ["triple"]
FACTORS = [2, 3]


def double(n):
    return n * FACTORS[0]


def triple(n):
    return n * FACTORS[1]
