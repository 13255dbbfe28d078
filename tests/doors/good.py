"""One small good recording to damage copies of, and what a refusal must look like."""

import os
import shutil

import compare
import recording

PROGRAM = """
import threading
def leaf(n):
    return n
def run(n):
    for i in range(n):
        leaf(i)
threads = [threading.Thread(target=run, args=(900,)) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
run(1200)
"""
ADVICE = "these can be traced"


class Good:
    """The recording that every case starts from."""

    def __init__(self, python, folder):
        self.python, self.folder = python, folder
        self.data = os.path.join(folder, "good")
        done = recording.record(self.data, [python, "-c", PROGRAM], recording.traced_environment("adaptive"))
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.events = recording.events(self.data)
        self.count = sum(map(len, self.events.values()))
        self.path = os.path.join(self.data, "perf.data")

    def copy(self, name="copy"):
        target = os.path.join(self.folder, name)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.data, target, ignore=shutil.ignore_patterns("*.txt", "*.json", "status"))
        return target

    def with_bytes(self, content):
        """A copy whose perf.data is this."""
        data = self.copy()
        with open(os.path.join(data, "perf.data"), "wb") as file:
            file.write(content)
        return data

    def code_table(self, data):
        (name,) = (name for name in os.listdir(data) if name.startswith("codes-"))
        return os.path.join(data, name)


def ocular(*arguments, **kw):
    return recording.run([recording.WRAPPER, *arguments], env=recording.plain_environment(), **kw)


def refused(done, *words, status=None):
    """Problems unless a command ended with one line on stderr that has these words, and a status of failure.

    A second line may say which interpreters are suitable, and one may say how the recording would have been made."""
    lines = [line for line in done.stderr.splitlines()
             if line.strip() and ADVICE not in line and not line.startswith("ocular: backend ")]
    problems = []
    if done.returncode <= 0 or done.returncode > 128 or status not in (None, done.returncode):
        problems.append(f"exit status {done.returncode}")
    if len(lines) != 1:
        problems.append(f"{len(lines)} lines of error, not one")
    problems += [f"no word of {word!r}" for word in words if word.lower() not in done.stderr.lower()]
    return problems and [*problems, *lines[:6], *done.stdout.splitlines()[:3]]


def refused_report(good, data, *words):
    """`report` refuses, and leaves no output that could be mistaken for a report."""
    out = os.path.join(good.folder, "out.json")
    problems = refused(ocular("report", data, "--perfetto", out), *words)
    if os.path.exists(out):
        problems.append(f"{os.path.getsize(out)} bytes of output left behind")
        os.unlink(out)
    return problems


def read(data):
    """(`ocular report --events`, streams or None)."""
    path = os.path.join(data, "events.txt")
    done = ocular("report", data, "--events", path)
    if done.returncode:
        return done, None
    with open(path, encoding="utf-8", newline="\n") as file:
        return done, compare.read_ocular(file)
