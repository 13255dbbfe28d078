# preload: threading
"""fork from a thread while others run: the child has one thread, which is not the first."""

import os
import threading
import warnings

warnings.simplefilter("ignore")
stop = threading.Event()


def busy():
    n = 0
    while not stop.is_set():
        n += 1
        stop.wait(0.002)


def forking():
    for code in (3, 4):
        pid = os.fork()
        if not pid:
            sum(i for i in range(50))
            os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


others = [threading.Thread(target=busy) for _ in range(2)]
for thread in others:
    thread.start()
thread = threading.Thread(target=forking)
thread.start()
thread.join()
stop.set()
for thread in others:
    thread.join()
