# preload: collections types
"""Exceptions caught in loops: handlers that continue, fall through, suppress, and loops that only retry."""

import contextlib


def check(n):
    if n % 3 == 0:
        raise ValueError(n)
    return n


def continued(rows, columns):
    good = 0
    for row in range(rows):
        for column in range(columns):
            try:
                check(column)
            except ValueError:
                continue
            good += row
    return good


def passed(n):
    total = 0
    for i in range(n):
        try:
            check(i)
        except ValueError:
            pass
        for j in range(3):
            total += j
    return total


def passed_last(n):
    while n:
        n -= 1
        try:
            check(n)
        except ValueError:
            pass


def one_after_the_other(n):
    for i in range(n):
        try:
            check(i)
        except ValueError:
            continue
    total = 0
    for i in range(n):
        total += i
    for i in range(n):
        try:
            check(i)
        except ValueError:
            continue
        total += 1
    return total


def retried(n):
    while True:
        try:
            return check(n)
        except ValueError:
            n += 1


def retried_each(n):
    total = 0
    for i in range(n):
        while True:
            try:
                total += check(i)
                break
            except ValueError:
                i += 1
                continue
    return total


def suppressed(n):
    total = 0
    for i in range(n):
        with contextlib.suppress(ValueError):
            total += check(i)
            continue
        total += 100
    return total


def finally_continued(n):
    for i in range(n):
        try:
            check(i)
        except ValueError:
            continue
        finally:
            for j in range(2):
                n += j
    return n


def handled_at_length(n):
    """A loop in a handler that goes on behind its try, and one in a handler that leaves the loop."""
    total = 0
    for i in range(n):
        try:
            check(i)
        except ValueError:
            for j in range(3):
                total += j
        total += 1
    for i in range(1, n):
        try:
            check(i)
        except ValueError:
            for j in range(3):
                total += j
            break
    return total


def broken_out(n):
    for _ in range(n):
        for i in (1, 2, 3, 4):
            try:
                check(i)
            except ValueError:
                break
    return n


print(continued(5, 10), passed(10), passed_last(10), one_after_the_other(12), [retried(i) for i in range(4)])
print(retried_each(7), suppressed(7), finally_continued(7), handled_at_length(7), broken_out(4))
