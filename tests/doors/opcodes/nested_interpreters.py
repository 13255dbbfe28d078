"""Interpreters within one another, that end with an exception, a suspended generator, a finalizer that fails.

Their code has a file name of its own, so that it can be told from what their imports exec.
"""

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

INNER = """
def failing(n):
    if not n:
        raise ValueError(n)
    return failing(n - 1)

failing(2)
"""

OUTER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def waiting():
    try:
        for n in range(3):
            yield n
    finally:
        [str(n) for n in range(3)]

class Fails:
    def __del__(self):
        raise ValueError

def run(source):
    interpreter = interpreters.create()
    try:
        interpreters.run_string(interpreter, source)
    except getattr(interpreters, "RunFailedError", ()):
        pass
    interpreters.destroy(interpreter)
    return len(source)

left, fails = waiting(), Fails()
next(left)
run({inner!r})
next(left)
"""


def script(name, source):
    return f"exec(compile({source!r}, {__file__ + name!r}, 'exec'))"


def numbers(n):
    for i in range(n):
        yield i


def run(source):
    waits = numbers(2)
    next(waits)
    interpreter = interpreters.create()
    interpreters.run_string(interpreter, source)
    total = sum(waits)
    interpreters.destroy(interpreter)
    return total + sum(numbers(3))


total = run(script(":outer", OUTER.format(inner=script(":inner", INNER))))
print(total, [n for n in numbers(2)])
