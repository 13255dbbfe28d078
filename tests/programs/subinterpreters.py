"""Sub-interpreters: one after another, nested in a thread, sharing code by name only."""

import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

SOURCE = """
def square(n):
    return n * n

total = 0
for i in range({n}):
    total += square(i)
try:
    raise ValueError(total)
except ValueError:
    pass
"""


def run(n):
    interpreter = interpreters.create()
    interpreters.run_string(interpreter, SOURCE.format(n=n))
    interpreters.run_string(interpreter, "total = [square(j) for j in range(3)]")
    interpreters.destroy(interpreter)


def square(n):
    return n


for n in (5, 6):
    run(n)
    square(n)

threads = [threading.Thread(target=run, args=(n,)) for n in (7, 8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
