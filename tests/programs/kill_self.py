# preload: threading
# exit: -9
"""SIGKILL in the middle of a loop, after threads came and went."""

import os
import signal
import threading


def work(n):
    return sum(i for i in range(n))


thread = threading.Thread(target=work, args=(50,))
thread.start()
thread.join()
print("killing", flush=True)
for i in range(100):
    work(10)
    if i == 50:
        os.kill(os.getpid(), signal.SIGKILL)
