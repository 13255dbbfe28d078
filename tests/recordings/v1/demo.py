"""Something of each kind of marker: calls, loops near and far, generators, exceptions, threads, a line beyond 2^20."""

import threading


def is_prime(n):
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


def squares(n):
    for i in range(n):
        yield i * i


def catch(what):
    try:
        return int(what)
    except ValueError:
        return 0


def far(first):
    """A function with a jump of more than 127 code units, at a line of its own."""
    lines = ["def jump(n):", "    total = 0", "    while n > 0:", "        n -= 1", "        " + "total = n; " * 80]
    names = {}
    exec(compile("\n".join(lines + ["    return total"]), __file__, "exec"), names)
    jump = names["jump"]
    jump.__code__ = jump.__code__.replace(co_firstlineno=first)
    return jump(3)


def work(top):
    return [n for n in range(2, top) if is_prime(n)], sum(squares(4)), catch("7"), catch("seven"), far(2**20 + 9)


thread = threading.Thread(target=work, args=(12,))
thread.start()
thread.join()
print(work(9))
