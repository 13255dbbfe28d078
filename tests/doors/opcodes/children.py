"""Forked children: at work in functions called before and after the fork, with exceptions, and children of their own."""
import os


def work(n):
    total = 0
    for i in range(n):
        total += i * i if i % 3 else -i
    return total


def squares(n):
    yield from (i * i for i in range(n))


def caught(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        return sum(squares(5))


def wait(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def fork_in(depth):
    pid = os.fork()
    if pid:
        return wait(pid)
    if depth:
        os._exit(fork_in(depth - 1) + 1)
    os._exit(caught(0) % 50)


print(work(9))
child = os.fork()
if not child:
    os._exit(work(20) % 40 + caught(1))
print(wait(child), fork_in(2), work(12))
