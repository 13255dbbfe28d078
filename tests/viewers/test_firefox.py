#!/usr/bin/env python3
"""The Firefox Profiler's profile, opened by the profiler's own code: its command line, which is on npm (its pages are not).

What it shows of each function is the summary's, to the nanosecond: self time, time on a CPU, waiting and calls of all threads together;
of each thread its self time. The types of the format are checked in tests/golden and tests/doors/test_exports.py.
"""

import json
import os
import socket
import subprocess
import sys
import time

import test_viewers
from test_viewers import differs
import recording
from tap import Plan

sys.path.insert(0, os.path.join(recording.ROOT, "tests", "golden"))
import firefox_profile  # noqa: E402

PROGRAM = """
import sys, threading, time
lock = threading.Lock()
def leaf(n):
    return sum(i * i for i in range(n))
def job(n):
    for i in range(n):
        leaf(50)
    with lock:
        time.sleep(.002)
def deep(n):
    return n and deep(n - 1)
threads = [threading.Thread(target=job, args=(20 + n,), name='w"%d' % n) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.setrecursionlimit(5000)
deep(1500)
"""
GOLDEN = os.path.join(recording.ROOT, "tests", "golden")


class Viewer:
    """A profile in it: its server runs until end(). Its `load` would start one, but waits half a second for it, no longer."""

    def __init__(self, packages, path, folder):
        self.command = ["node", os.path.join(packages, "@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")]
        self.environment = recording.plain_environment(PROFILER_CLI_SESSION_DIR=folder)
        self.server = subprocess.Popen([*self.command, "--daemon", path, "--session", "test"], env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        deadline = time.monotonic() + recording.LIMIT
        # Asked before it listens, the command line takes it for dead and removes its socket.
        while not self.listens(folder) or self.run("profile", "meta").returncode:
            if self.server.poll() is not None or time.monotonic() > deadline:
                self.server.kill()
                raise RuntimeError(f"{path} is not opened: {self.server.communicate()[0][-3000:]}")
            time.sleep(0.1)

    @staticmethod
    def listens(folder):
        with socket.socket(socket.AF_UNIX) as found:
            try:
                found.connect(os.path.join(folder, "test.sock"))
            except OSError:
                return False
        return os.path.exists(os.path.join(folder, "test.json"))

    def run(self, *words):
        return recording.run([*self.command, *words, "--session", "test"], env=self.environment)

    def ask(self, *words):
        done = self.run(*words)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
        return done.stdout

    def json(self, *words):
        return json.loads(self.ask(*words, "--json"))

    def own(self, number):
        """{function's number: its own weight} of a thread; of times in ns."""
        answer = self.json("thread", "functions", "--thread", f"t-{number}", "--include-idle", "--limit", "1000000")
        assert len(answer["functions"]) == answer["filteredFunctionCount"], answer["filteredFunctionCount"]
        unit = 1000000 if answer["weightType"] == "tracing-ms" else 1
        return {row["functionIndex"]: round(unit * row["selfSamples"]) for row in answer["functions"] if row["selfSamples"]}

    def end(self):
        self.server.kill()
        self.server.communicate()


class Recording:
    def __init__(self, python, packages, folder):
        self.packages, self.folder = packages, folder
        data, self.path = os.path.join(folder, "data"), os.path.join(folder, "profile.json.gz")
        done = recording.record(data, [python, "-c", PROGRAM], recording.traced_environment("calls"))
        if done.returncode:
            raise RuntimeError(done.stderr)
        recording.report(data, f"firefox={self.path}")
        self.summary, self.profile = recording.summary(data), firefox_profile.load(self.path)
        self.names = firefox_profile.functions(self.profile)

    def opened(self, path=None):
        sessions = os.path.join(self.folder, f"sessions{len(os.listdir(self.folder))}")
        os.mkdir(sessions)
        return Viewer(self.packages, path or self.path, sessions)


def by_name(made, weights):
    found = {}
    for number, weight in weights.items():
        found[made.names[number]] = found.get(made.names[number], 0) + weight
    return found


def all_threads(made):
    viewer, problems = made.opened(), []
    try:
        for number, thread in enumerate(made.profile["threads"]):
            key = firefox_profile.COSTS.get(thread["name"])
            if not key:
                continue
            wanted = {}
            for row in made.summary["functions"]:
                name = row["file"], row["qualname"], row["firstlineno"]
                wanted[name] = wanted.get(name, 0) + row[key]
            found = {name: n for name, n in by_name(made, viewer.own(number)).items() if name[0] != "<gc>"}
            problems += differs(found, {name: n for name, n in wanted.items() if n})
    finally:
        viewer.end()
    return problems


def each_thread(made):
    """As many as ran, and each by itself what its samples say."""
    viewer, problems = made.opened(), []
    try:
        rows = [(n, thread) for n, thread in enumerate(made.profile["threads"]) if thread["pid"] != "all"]
        for number, thread in rows:
            problems += differs(by_name(made, viewer.own(number)), firefox_profile.own(made.profile, thread, made.names))
        told = viewer.ask("thread", "list")
    finally:
        viewer.end()
    problems += [f"not listed: {thread['name']}" for _, thread in rows if thread["name"] not in told]
    return problems + differs(sorted(thread["tid"] for _, thread in rows), sorted(row["tid"] for row in made.summary["threads"]))


def about(made):
    """What is said of the whole: where it comes from, what was lost."""
    found = {}
    for case in ("cpu_known", "no_event"):
        viewer = made.opened(os.path.join(GOLDEN, case, "firefox.json"))
        try:
            found[case] = viewer.json("profile", "meta")
        finally:
            viewer.end()
    said = {case: [(row["label"], row["value"]) for row in meta["extra"][0]["entries"]][-2:] for case, meta in found.items()}
    return differs(said, {"cpu_known": [("markers are missing, at least", 3), ("gap: what was open there was closed", 1)],
                          "no_event": [("Time on a CPU", "not known of all threads"), ("Losses", "none")]}) + \
        differs({meta["importedFrom"] for meta in found.values()}, {"Ocular"})


def odd_names(made):
    """Quotes, controls, what is no UTF-8; and 10,000 characters."""
    path = os.path.join(made.folder, "odd.json")
    with open(os.path.join(GOLDEN, "names", "firefox.json"), encoding="utf-8") as file:
        profile = json.load(file)
    profile["shared"]["stringArray"][0] = "n" * 10000
    with open(path, "w", encoding="utf-8") as file:
        json.dump(profile, file)
    viewer = made.opened(path)
    try:
        rows = viewer.json("thread", "functions", "--thread", "t-0", "--include-idle")["functions"]
    finally:
        viewer.end()
    functions = profile["shared"]["stringArray"][:profile["shared"]["funcTable"]["length"]]
    return differs({row["name"] for row in rows}, set(functions))


CASES = {
    "costs of all threads": all_threads,
    "each thread": each_thread,
    "the recording, and what it lacks": about,
    "odd names": odd_names,
}


def main():
    pythons = recording.pythons()
    recording.need_built()
    packages = test_viewers.install()
    with recording.scratch() as folder, Plan() as plan:
        made = Recording(pythons[-1], packages, folder)
        for name, function in CASES.items():
            plan.case(f"Firefox Profiler: {name}", function, made)


if __name__ == "__main__":
    main()
