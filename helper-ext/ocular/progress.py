# SPDX-License-Identifier: MIT
"""What commands of Ocular show on a terminal while they take long."""

import os
import select
import sys


class Line:
    """A line on a terminal that is written again and again, and gone in the end. Elsewhere: nothing."""

    def __init__(self) -> None:
        self.shown = False
        try:
            self.on = sys.stderr is not None and sys.stderr.isatty()
        except ValueError:  # it was closed
            self.on = False

    def write(self, data: bytes) -> None:
        """What moves on a terminal; one that is stopped (Ctrl-S) gets nothing."""
        try:
            if select.select([], [sys.stderr], [], 0)[1]:
                os.write(sys.stderr.fileno(), data)
        except (OSError, ValueError):
            pass

    def show(self, text: str) -> None:
        """Instead of what it said."""
        if self.on:
            self.shown = True
            self.write(b"\r%s\033[K" % text.encode(errors="replace"))

    def clear(self) -> None:
        """Before anything else is written."""
        if self.shown:
            self.write(b"\r\033[K")
        self.shown = False
