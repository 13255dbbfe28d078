#!/usr/bin/env python3
"""Many threads at once: each thread's events are what the thread itself counted, exactly, with and without a GIL.

    test_free_threads.py [--python PY]... [--only TEXT]

The witness is the program: every thread counts its own calls in a local variable and says so at the end. On a
free-threaded Python the threads run at the same time; the same programs must be right under a GIL.
"""

import collections
import glob
import json
import os

import recording

PROGRAM = """
import os, sys, threading

THREADS = 8
counts = {}  # (tid, function): calls

def leaf():
    pass

def run(target, threads=THREADS):
    \"\"\"target(i, calls, meet) in each of so many threads; it counts in calls, {function: n}, and all begin at once.\"\"\"
    meet = threading.Barrier(threads)
    def body(i):
        calls = {}
        target(i, calls, meet)
        for name, n in calls.items():
            counts[threading.get_native_id(), name] = n
    pool = [threading.Thread(target=body, args=(i,)) for i in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()

{body}

with open("counts", "w") as file:
    for (tid, name), n in counts.items():
        print(tid, name, n, file=file)
"""


ENDS = ("PY_START", "PY_RETURN")


class Run:
    """A program of this file that was recorded in mode calls, in a folder."""

    def __init__(self, folder, python, body, *options, mode="calls", **environment):
        self.folder, self.data, self.free = folder, os.path.join(folder, "data"), recording.is_free(python)
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM.replace("{body}", body))
        done = recording.record(self.data, [python, *options, path], recording.traced_environment(mode, **environment),
                                cwd=folder)
        self.out = done.stdout
        self.problems = [f"exit status {done.returncode}"] if done.returncode else []
        self.problems += [f"stderr: {line}" for line in done.stderr.splitlines()]

    def told(self):
        """{(tid, function): calls}, as the program counted."""
        with open(os.path.join(self.folder, "counts"), encoding="utf-8") as file:
            rows = [line.split() for line in file]
        return {(int(tid), name): int(n) for tid, name, n in rows}

    def count(self, names):
        """{(tid, function): [PY_START events, PY_RETURN events]} of the functions with these names."""
        path = os.path.join(self.folder, "events.txt")
        recording.report(self.data, f"events={path}")
        found = collections.defaultdict(lambda: [0, 0])
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                fields = line.split("\t")
                if len(fields) > 5 and fields[3] in ENDS and fields[5] in names:
                    found[int(fields[2]), fields[5]][ENDS.index(fields[3])] += 1
        return found

    def table(self):
        """The code tables' lines."""
        for path in glob.glob(os.path.join(self.data, "codes-*.jsonl")):
            with open(path, encoding="utf-8") as file:
                yield from map(json.loads, file)

    def losses(self):
        """What is missing or uncertain; ends without a beginning only where CPython tells all beginnings."""
        excused = ("unmatched", "mismatches") if self.free else ()
        return {name: n for name, n in recording.summary(self.data)["losses"].items() if n and name not in excused}

    def right(self, told, starts, ends):
        """Free-threaded CPython 3.13 may leave out a PY_START when two threads come to new code at once, also without
        Ocular (docs/limits.md). Never a PY_RETURN, and no thread comes to the same new code twice."""
        return ends == told and told - self.free <= starts <= told

    def compared(self):
        """Problems: what each thread counted against what the recording has, and losses."""
        told = self.told()
        found = self.count({name for _, name in told})
        wrong = [f"thread {key[0]} called {key[1]} {told.get(key, 0)} times, the recording has {found[key]}"
                 for key in sorted({*told, *found}) if not self.right(told.get(key, 0), *found[key])]
        lost = [f"losses: {self.losses()}"] if self.losses() else []
        return self.problems + wrong[:10] + lost


COUNTED = """
def work(i, calls, meet):
    meet.wait()
    n = 0
    for _ in range(20000 + i):
        leaf()
        n += 1
    calls["leaf"] = n

run(work)
"""


def check_counts(python, folder):
    return Run(folder, python, COUNTED).compared()


GIL = COUNTED + """
print(sys._is_gil_enabled(), "ocular._core" in sys.modules)
"""


def check_gil(python, option, folder):
    """With Ocular's extension in the process the GIL stays off, and nothing warns of it."""
    done = Run(folder, python, GIL, *option)
    return done.compared() + ([] if done.out == "False True\n" else [f"GIL, extension: {done.out}"])


NEW = """
ROUNDS = 3000
source = "".join(f"def new_{n}(): pass\\n" for n in range(ROUNDS))
exec(source)
functions = [globals()[f"new_{n}"] for n in range(ROUNDS)]
steps = [threading.Barrier(THREADS) for _ in range(ROUNDS // 100)]

def work(i, calls, meet):
    meet.wait()
    for n, function in enumerate(functions):
        if n % 100 == 0:
            steps[n // 100].wait()
        function()
    for function in functions:
        calls[function.__name__] = 1

run(work)
"""


def check_new_code(python, folder):
    """Threads that meet a new code object at once agree on one id, and it has one line in the code table."""
    done = Run(folder, python, NEW)
    lines = collections.Counter(row["qualname"] for row in done.table() if row["kind"] == "code")
    many = {name: n for name, n in lines.items() if name.startswith("new_") and n != 1}
    return done.compared() + ([f"{len(many)} functions with several lines in the table"] if many else [])


DYING = """
def work(i, calls, meet):
    meet.wait()
    for n in range(1500):
        space = {}
        exec("def short_%d(again):\\n    return again and short_%d(again - 1)" % (i, i), space)
        shared[i] = space.pop("short_%d" % i)
        space.clear()
        other = shared[(i + 1) % THREADS]  # may be the last reference to it, and another thread may be inside
        space["short_%d" % ((i + 1) % THREADS)] = other
        leaf()
        if other:
            other(0)
            name = other.__name__
            calls[name] = calls.get(name, 0) + 1
        del other
    calls["leaf"] = 1500

shared = [None] * THREADS
run(work)
"""


def check_dying_code(python, folder):
    """Code objects die in one thread while another was inside a moment ago: no id stands for two of them."""
    done = Run(folder, python, DYING)
    ids = collections.Counter(row["id"] for row in done.table() if row["kind"] == "code")
    many = {number: n for number, n in ids.items() if n != 1}
    return done.compared() + ([f"{len(many)} ids with several lines in the table"] if many else [])


def cases(python, _):
    """(name, function and its arguments but for the folder)."""
    free = recording.is_free(python)
    version = recording.version(python) + "t" * free
    yield f"{version} each thread's calls are what it counted", check_counts, python
    yield f"{version} threads meet new code at once", check_new_code, python
    yield f"{version} code dies while threads run", check_dying_code, python
    if free:
        yield f"{version} the GIL stays off", check_gil, python, ()
        yield f"{version} the GIL stays off with -X gil=0", check_gil, python, ("-X", "gil=0")


if __name__ == "__main__":
    recording.run_cases(cases)
