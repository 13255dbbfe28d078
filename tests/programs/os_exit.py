# exit: 3
"""os._exit: no clean-up, no atexit, in the middle of frames and a finally."""

import atexit
import os

atexit.register(print, "never printed")


def leave(n):
    try:
        if n:
            return leave(n - 1)
        os._exit(3)
    finally:
        print("never printed")


print("leaving", flush=True)
leave(5)
