# preload: threading
"""fork: children that exit, that fall off the end, that fork again, that have threads."""

import os
import sys
import threading


def work(n):
    return sum(i * i for i in range(n))


def wait(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


pid = os.fork()
if not pid:
    os._exit(work(4))
print("child left", wait(pid))

pid = os.fork()
if not pid:
    grandchild = os.fork()
    if not grandchild:
        work(20)
        os._exit(5)
    os._exit(wait(grandchild) + 1)
print("grandchild left", wait(pid))

pid = os.fork()
if not pid:
    def run():
        work(30)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    sys.exit(7)
print("threaded child left", wait(pid))

children = []
for n in range(4):
    pid = os.fork()
    if not pid:
        try:
            raise KeyError(work(n))
        except KeyError:
            os._exit(n)
    children.append(pid)
print([wait(pid) for pid in children])

sys.stdout.flush()
pid = os.fork()
if pid:
    wait(pid)
print("parent" if pid else "child", "falls off the end", flush=True)
