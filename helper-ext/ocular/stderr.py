# SPDX-License-Identifier: MIT
"""What is said on stderr, which may be closed, or take nothing: no program is kept from running by that."""

import sys


def say(text: str) -> None:
    """A line, without its end."""
    if sys.stderr is None:  # it was closed when Python began
        return
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
