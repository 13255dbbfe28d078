# preload: threading
"""Threads that end by exceptions, thread-local data, timers, daemons that end in time."""

import threading

local = threading.local()
barrier = threading.Barrier(3)
out = []


def hook(args):
    out.append((args.exc_type.__name__, str(args.exc_value)))


def work(n):
    local.value = n
    barrier.wait()
    if n:
        raise RuntimeError(local.value)
    raise SystemExit


threading.excepthook = hook
threads = [threading.Thread(target=work, args=(n,), daemon=n == 2) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

timer = threading.Timer(0.001, out.append, [("timer", "fired")])
timer.start()
timer.join()
never = threading.Timer(1000, print)
never.start()
never.cancel()
never.join()
print(sorted(out), hasattr(local, "value"))
