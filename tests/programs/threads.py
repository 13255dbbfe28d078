# preload: threading collections types
"""Eight threads at work, sharing a lock, a queue and a condition."""

import queue
import threading

lock = threading.Lock()
total = 0
results = queue.Queue()


def spin(n):
    x = 0
    for i in range(n):
        x ^= i
    return x


def work(number):
    global total
    for i in range(20):
        value = spin(20 + number)
        with lock:
            total += value + i
    results.put((number, total and threading.current_thread().name))


threads = [threading.Thread(target=work, args=(n,), name=f"worker-{n}") for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(total, sorted(results.get() for _ in threads))
