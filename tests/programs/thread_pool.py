# preload: concurrent.futures.thread threading
"""A thread pool: results, exceptions in workers, cancelled futures; and 40 short threads."""

import concurrent.futures
import threading


def triangle(n):
    return sum(i for i in range(n))


def fails(n):
    raise ValueError(n)


with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
    print(sum(pool.map(triangle, range(30))))
    futures = [pool.submit(fails, n) for n in range(5)]
    print([str(f.exception()) for f in futures])

seen = []
for n in range(40):
    thread = threading.Thread(target=lambda: seen.append(triangle(n)))
    thread.start()
    thread.join()
print(sum(seen))
