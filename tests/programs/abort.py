# exit: -6
"""abort: the C library's own end."""

import os
import resource

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def down(n):
    if not n:
        os.abort()
    down(n - 1)


print("aborting", flush=True)
down(10)
