# SPDX-License-Identifier: MIT
"""Messages on stderr, which may be closed or full: that must not stop any program."""

import sys


def say(text: str) -> None:
    """Print a line, given without its end."""
    if sys.stderr is None:  # it was closed when Python began
        return
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
