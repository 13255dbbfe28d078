#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several threads of ocular-pt, each with some of a recording's processes, write what one writes, byte for byte: of pools that fork and
that spawn, of damaged recordings and tables, and where it shows only in the words that processes cannot be read apart. So do threads of a
process, with a GIL, whose holders each of them has to find, and without. The kernel is asked whether there were several: one that always reads alone would write the same, too.
`make sanitize` reads the same with ThreadSanitizer (test_reader_races.py)."""

import glob
import os
import random
import shutil

import recording

READER = os.path.join(recording.BUILD, "bin", "ocular-pt")
PROGRAM = """
import json, multiprocessing, sys, threading, asyncio
def numbers(n):
    for i in range(n): yield i
def fails(n):
    if n: fails(n - 1)
    raise KeyError(n)
async def step(n):
    await asyncio.sleep(0)
    return n
async def steps():
    return await asyncio.gather(*map(step, range(3)))
def work(n):
    total = 0
    for i in numbers(n):
        total += i
        try:
            if i % 7 == 0: fails(2)
            if i % 11 == 0: {}[i]
        except KeyError: total += 1
    if "tasks" in sys.argv: asyncio.run(steps())
    import colorsys, decimal
    return total + len(json.dumps(list(range(50))))
def threads(n):
    all = [threading.Thread(target=work, args=(60,)) for _ in range(n)]
    for t in all: t.start()
    for t in all: t.join()
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:
        pool.map(work, range(40))
        pool.map(threads, [3] * 3)
"""
# Enough bytes for workers that nobody asked for.
LARGE = """
import multiprocessing
def square(i): return i * i
def work(n):
    for i in range(n): square(i)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        pool.map(work, [2000] * 240)
"""
# Four threads that share what they call, and no object, but one after the other has a generator at the same address, of which no end is told; or
# generators that go on in another thread, whose addresses are used again.
THREADS = """
import itertools, queue, sys, threading
def numbers(n):
    for i in range(n): yield i
def leaf(n):
    if n % 7 == 0: raise KeyError(n)
    return n
def work(n):
    import colorsys
    total = 0
    for i in itertools.chain.from_iterable(map(numbers, [30] * n)) if "generators" in sys.argv else range(n * 30):
        try: total += leaf(i) + any(k > 1 for k in range(i % 5))
        except KeyError: total += 1
    return any(k for k in range(1, 9))
def made(q):
    for _ in range(200):
        g = numbers(4)
        next(g)
        q.put(g)
    q.put(None)
def goes_on(q):
    while g := q.get(): sum(g)
if __name__ == "__main__":
    all, q = [], queue.Queue()
    for target in (made, goes_on) if "passed" in sys.argv else [work] * 4:
        all.append(threading.Thread(target=target, args=(q if "passed" in sys.argv else 100,)))
    for t in all: t.start()
    for t in all: t.join()
"""
# Six threads that wait for locks, sockets and time, and let others have the GIL without a word of it while zlib works.
WAITS = """
import queue, socket, threading, time, zlib
def serve(s):
    while got := s.recv(100): s.sendall(got.upper())
def ask(s):
    for i in range(150):
        s.sendall(b"hello")
        s.recv(100)
        if i % 50 == 0: time.sleep(0.0005)
def leaf(n): return n + 1
def pack(q):
    n = 0
    while q.get():
        zlib.compress(bytes(range(256)) * 100)
        for _ in range(100): n = leaf(n)
if __name__ == "__main__":
    q, pairs = queue.Queue(), [socket.socketpair() for _ in range(2)]
    for i in range(300): q.put(1)
    for _ in range(2): q.put(0)
    all = [threading.Thread(target=target, args=(s,)) for a, b in pairs for target, s in ((serve, a), (ask, b))]
    all += [threading.Thread(target=pack, args=(q,)) for _ in range(2)]
    for t in all: t.start()
    for t in all[1::2]: t.join()
    for _, b in pairs: b.close()
    for t in all: t.join()
"""
OUTPUTS = (["console=always"], ["summary={}"], ["opcode_pstats={}"], ["html={}"], ["pstats={}"], ["pprof={}"], ["collapsed={}"],
           ["speedscope={}"], ["firefox={}"], ["otlp={}"], ["callgrind={}"], ["for_diff=yes", "for_fleet=yes", "summary={}"],
           ["console=always", "events={}"])
SEVERAL = (2, 4)


def read(record, workers, words):
    """All that comes out."""
    file = os.path.join(os.path.dirname(record), "out")
    done = recording.run([READER, f"workers={workers}", *(word.format(file) for word in words), os.path.join(record, "perf.data")],
                         env=recording.plain_environment())
    content = b""
    if os.path.exists(file):
        with open(file, "rb") as made:
            content = made.read()
        os.unlink(file)
    return done.returncode, done.stdout, done.stderr, content


def differences(record, what, several=lambda at: SEVERAL):
    """several(at): with how many workers the output of that number is read."""
    problems = []
    for at, words in enumerate(OUTPUTS):
        one = read(record, 1, words)
        problems += [f"{what}: {' '.join(words)} differs with {n} workers"
                     for n in several(at) if read(record, n, words) != one]
    return problems


def made(python, folder, *options, program=PROGRAM, also="exceptions", recorder=()):
    os.makedirs(folder, exist_ok=True)
    record, path = os.path.join(folder, "rec"), os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    done = recording.record(record, [python, path, *options], recording.traced_environment("adaptive", OCULAR_ALSO=also), *recorder)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return record


def change(record, name, numbers, how):
    path = os.path.join(record, name)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    how(data, numbers)
    with open(path, "wb") as file:
        file.write(data)


def flip(data, numbers):
    for _ in range(40):
        data[numbers.randrange(4096, len(data))] ^= 1 << numbers.randrange(8)


def cut(data, numbers):
    del data[numbers.randrange(len(data) // 3, len(data)):]


def remove(data, numbers):
    at = numbers.randrange(len(data) // 2, len(data) - 1000)
    del data[at:at + 8 * numbers.randrange(1, 50)]


def damage_file(record, numbers):
    change(record, "perf.data", numbers, numbers.choice((flip, cut, remove)))


def damage_table(record, numbers):
    change(record, os.path.basename(numbers.choice(sorted(glob.glob(os.path.join(record, "codes-*"))))), numbers, cut)


def remove_table(record, numbers):
    os.unlink(numbers.choice(sorted(glob.glob(os.path.join(record, "codes-*")))))


def test_equal(python, options, also, recorder, folder):
    return differences(made(python, folder, *options, also=also, recorder=recorder), "intact")


def test_equal_threads(python, program, options, folder):
    return differences(made(python, folder, *options, program=program), "intact")


def test_damaged(python, program, how, folder):
    """Each output is read twice with two workers, twice with four: of another copy each time."""
    problems, record = [], made(python, folder, "fork", program=program)
    for seed in range(4):
        copy = os.path.join(folder, f"{seed}", "rec")
        shutil.copytree(record, copy)
        how(copy, random.Random(f"{how.__name__} {seed}"))
        problems += differences(copy, f"seed {seed}", lambda at, seed=seed: SEVERAL[(at + seed) % 2:][:1])
    return problems


def started(record, workers, words, before=()):
    """How many threads that starts: of kernel's records, which perf keeps."""
    data = os.path.join(os.path.dirname(record), "threads.data")
    for command in ([*before, "perf", "record", "-q", "-e", "dummy:u", "-o", data, "--", READER, f"workers={workers}",
                     *(word.format("/dev/null") for word in words), os.path.join(record, "perf.data")], ["perf", "script", "-i", data, "--show-task-events"]):
        done = recording.run(command, env=recording.plain_environment())
        if done.returncode:
            raise RuntimeError(done.stderr)
    return done.stdout.count("PERF_RECORD_FORK")


def on_one_cpu():
    """There no thread begins but workers: none decodes for another, and what is written at the end is made by one."""
    return "taskset", "-c", str(min(os.sched_getaffinity(0)))


def test_threads(python, folder):
    """The pool has three processes and one that made them; a worker is the thread that was there before. With pprof another one compresses."""
    record = made(python, folder, "fork")
    found = {" ".join(words): started(record, 4, words, on_one_cpu()) for words in OUTPUTS[:-1] if words != ["pprof={}"]}
    return [f"{words}: {n} threads were started for four processes" for words, n in found.items() if n != 3]


def test_one_cpu(python, folder):
    """Processes read apart take turns there: merging their words costs more."""
    record = made(python, folder, program=LARGE)
    n = started(record, 0, ["summary={}"], on_one_cpu())
    return [f"{n} threads were started on one CPU"] if n < 2 else []


def test_makers(python, folder):
    """Rows of a summary and sections of a page are made by further threads, where there are CPUs, and are the same."""
    if len(os.sched_getaffinity(0)) < 2:
        return []
    record, problems = made(python, folder, "spawn"), []
    for name in ("summary", "html"):
        several, one = started(record, 4, [name + "={}"]), started(record, 4, [name + "={}"], on_one_cpu())
        problems += [f"{name}: {several} threads were started on several CPUs, {one} on one"] if several <= one else []
        written = []
        for before in ((), on_one_cpu()):
            file = os.path.join(folder, f"{len(before)}.{name}")
            recording.run([*before, READER, "workers=4", f"{name}={file}", os.path.join(record, "perf.data")],
                          env=recording.plain_environment(), check=True)
            with open(file, "rb") as written_file:
                written.append(written_file.read())
        problems += [f"{name}: another one on one CPU"] if written[0] != written[1] else []
    return problems


def threads_started(python, program, folder):
    record = made(python, folder, program=program)
    found = {words[0]: (started(record, 4, words, before), n) for words, n, before in
             ((["console=always"], 3, ()), (["html={}"], 3, on_one_cpu()), (["collapsed={}"], 1, ()))}
    return [f"{word}: {n} threads were started for all, not {right}" for word, (n, right) in found.items() if n != right]


def test_threads_apart(python, program, folder):
    """
    The main thread and others, read by four. Where threads share what is written one reads all, and another one decodes. It may happen that whose the GIL was cannot be known by parts: then it has to be of another run.
    """
    for turn in range(3):
        problems = threads_started(python, program, os.path.join(folder, f"{turn}"))
        if not problems:
            break
    return problems


def cases(python, _):
    version = recording.version(python)
    yield f"{version} a worker for each process", test_threads, python
    yield f"{version} workers on one CPU, too", test_one_cpu, python
    yield f"{version} makers of rows and sections", test_makers, python
    for context in ("fork", "spawn"):
        yield f"{version} a pool that works by {context}", test_equal, python, (context,), "exceptions c_calls", ()
    yield f"{version} times of one marker in 16", test_equal, python, ("fork",), "", ("--clock", "coarse")
    yield f"{version} tasks, which cannot be read apart", test_equal, python, ("fork", "tasks"), "", ()
    for how in (damage_file, damage_table, remove_table):
        yield f"{version} {how.__name__.replace('_', ' ')}", test_damaged, python, PROGRAM, how
    for name, program in (("threads", THREADS), ("waits", WAITS)):
        yield f"{version} {name}, a worker for each", test_threads_apart, python, program
        for how in (damage_file, damage_table):
            yield f"{version} {name}, {how.__name__.replace('_', ' ')}", test_damaged, python, program, how
    for what in ((), ("generators",), ("passed",)):
        yield f"{version} threads {' '.join(what)}".rstrip(), test_equal_threads, python, THREADS, what
    yield f"{version} waits", test_equal_threads, python, WAITS, ()


if __name__ == "__main__":
    recording.run_cases(cases)
