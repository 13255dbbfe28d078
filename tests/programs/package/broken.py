"""A submodule that fails on import."""

1 / 0
