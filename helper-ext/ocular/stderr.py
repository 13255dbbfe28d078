# SPDX-License-Identifier: MIT
"""Messages on stderr, or a report on stdout, which may be closed or full: that must not stop any program."""

import os
import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import TextIO


def say(text: str) -> None:
    """Print lines, given without the last end, on sys.stderr."""
    show(text, sys.stderr)


def show(text: str, stream: "TextIO | None") -> None:
    """Print lines, given without the last end; what the stream cannot encode as escapes."""
    if stream is None or not text:  # it was closed when Python began
        return
    try:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        data = (text + "\n").encode(encoding, "backslashreplace")
        if not hasattr(stream, "buffer") or type(stream).__module__ != "_io":  # a notebook's, a test's
            stream.write(data.decode(encoding))
            stream.flush()
            return
        # Past the buffer: what a full disk leaves in there changes the program's exit status.
        stream.flush()
        while data:
            data = data[os.write(stream.fileno(), data):]
    except (OSError, ValueError):
        pass


def printable(text: str) -> str:
    """What a terminal would interpret is shown as '?'."""
    return "".join(c if c.isprintable() else "?" for c in text)
