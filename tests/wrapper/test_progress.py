#!/usr/bin/env python3
"""What a terminal shows while a program is recorded: a line that goes when all is done.

Nothing here waits for a time: the program goes on until the line has been seen.
"""

import os
import pty
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

LINE = r"\[ ocular: \d+ markers, [\d.]+ MB, [\d.]+ MB/s, \d+ s, 1 thread in 1 process, 0 lost \]"


def read_terminal(terminal, seen):
    """All that is written there; seen() is called once the line is."""
    text = ""
    while True:
        try:
            text += os.read(terminal, 4096).decode()
        except OSError:  # nobody writes any more
            return text
        if seen and re.search(LINE, text):
            seen = seen()


def recorded(python, folder):
    end = os.path.join(folder, "end")
    program = f"import os, time\nwhile not os.path.exists({end!r}): time.sleep(0.01)"
    command = [recording.RECORDER, "-o", os.path.join(folder, "rec"), "--", python, "-c", program]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                          env=recording.traced_environment("calls")) as process:
        os.close(theirs)
        late = threading.Timer(recording.LIMIT, process.kill)
        late.start()
        text = read_terminal(ours, lambda: open(end, "w", encoding="utf-8").close())
        late.cancel()
    os.close(ours)
    right = process.returncode == 0 and re.search(LINE + "\r\033\\[K", text)
    return [] if right else [f"exit status {process.returncode}", repr(text)]


def main():
    recording.need_built()
    with Plan() as plan, recording.scratch() as folder:
        plan.case("a line on a terminal while recording", recorded, recording.pythons()[-1], folder)


if __name__ == "__main__":
    main()
