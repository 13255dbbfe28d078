#!/usr/bin/env python3
"""Many threads at once: each thread's events are what the thread itself counted, exactly, with and without a GIL.

    test_free_threads.py [--python PY]... [--only TEXT]

The witness is the program: every thread counts its own calls in a local variable and says so at the end. On a
free-threaded Python the threads run at the same time; the same programs must be right under a GIL.
"""

import collections
import os
import subprocess

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


def is_free(python):
    """Was it built without a GIL?"""
    words = "import sysconfig; print(bool(sysconfig.get_config_var('Py_GIL_DISABLED')))"
    return subprocess.run([python, "-c", words], stdout=subprocess.PIPE, text=True, check=True).stdout == "True\n"


class Run:
    """A program of this file that was recorded in mode calls, in a folder."""

    def __init__(self, folder, python, body, *options, mode="calls", **environment):
        self.folder, self.data = folder, os.path.join(folder, "data")
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

    def calls(self, names):
        """{(tid, function): PY_START events} of the functions with these names."""
        path = os.path.join(self.folder, "events.txt")
        recording.report(self.data, f"events={path}")
        found = collections.Counter()
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                fields = line.split("\t")
                if len(fields) > 5 and fields[3] == "PY_START" and fields[5] in names:
                    found[int(fields[2]), fields[5]] += 1
        return dict(found)

    def losses(self):
        return {name: n for name, n in recording.summary(self.data)["losses"].items() if n}

    def compared(self):
        """Problems: what each thread counted against what the recording has, and losses."""
        told = self.told()
        found = self.calls({name for _, name in told})
        wrong = [f"thread {key[0]} called {key[1]} {told.get(key, 0)} times, the recording has {found.get(key, 0)}"
                 for key in sorted({*told, *found}) if told.get(key, 0) != found.get(key, 0)]
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


def cases(python, _):
    """(name, function and its arguments but for the folder)."""
    free = is_free(python)
    version = recording.version(python) + "t" * free
    yield f"{version} each thread's calls are what it counted", check_counts, python
    if free:
        yield f"{version} the GIL stays off", check_gil, python, ()
        yield f"{version} the GIL stays off with -X gil=0", check_gil, python, ("-X", "gil=0")


if __name__ == "__main__":
    recording.run_cases(cases)
