"""Four threads at once, each with work of its own, that wait for nothing but locks of C.

None begins before all are there: a thread that ended would leave its identifier to the next.
"""
import _thread
import sys


def numbers():
    found = []
    for n in range(2, 150):
        if all(n % d for d in found):
            found.append(n)
    return sum(found)


def words():
    counts = {}
    for word in ("one two three two one two " * 20).split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def failures():
    caught = 0
    for i in range(60):
        try:
            [1, 2][i % 4] / (i % 3)
        except IndexError:
            caught += 1
        except ZeroDivisionError:
            caught += 100
    return caught


def pairs(n):
    for i in range(n):
        received = yield i, i * i
        if received:
            yield received


def generators():
    total, running = 0, pairs(60)
    for a, b in running:
        total += a * b
        if a % 7 == 3:
            total += running.send(a)
    return total


def run_numbers(done):
    gate.acquire()
    gate.release()
    results["numbers"] = numbers()
    done.release()


def run_words(done):
    gate.acquire()
    gate.release()
    results["words"] = words()
    done.release()


def run_failures(done):
    gate.acquire()
    gate.release()
    results["failures"] = failures()
    done.release()


def run_generators(done):
    gate.acquire()
    gate.release()
    results["generators"] = generators()
    done.release()


results, locks, gate = {}, [], _thread.allocate_lock()
gate.acquire()
before = sys.getswitchinterval()
sys.setswitchinterval(1e-5)
for run in (run_numbers, run_words, run_failures, run_generators):
    lock = _thread.allocate_lock()
    lock.acquire()
    locks.append(lock)
    _thread.start_new_thread(run, (lock,))
gate.release()
for lock in locks:
    lock.acquire()
sys.setswitchinterval(before)
print(sorted(results.items()))
