#!/usr/bin/env python3
"""ocular agent: each snapshot of two services is in the store once, whoever is started again or killed; a day's budget holds. The files on
disk and DuckDB say so, not the agent. DuckDB comes from PyPI.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "doors"))
import forks  # noqa: E402
import recording  # noqa: E402
from test_fleet import Fleet, tree  # noqa: E402

# A line of input is a request, which fires the trigger.
SERVICE = """
import sys
def work(n):
    return sum([i * i for i in range(n)])
def slow(n):
    return work(n) + work(n)
print("ready", flush=True)
for line in sys.stdin:
    for _ in range(20):
        work(30)
    slow(100)
    print("done", flush=True)
"""
# Takes snapshots; the next one when the file of the last one is closed.
SNAPSHOTS = """
import glob, ocular, sys, time
def work(n):
    return sum([i * i for i in range(n)])
for number in range(int(sys.argv[2])):
    work(50)
    ocular.take_snapshot("number %d" % number)
    while len(glob.glob(sys.argv[1] + "/perf.data.2*")) <= number:
        time.sleep(0.01)
"""
ONCE = forks.COMMAND.replace("fleet", "fleet_agent")
FLIGHT = ("--flight", "10s", "--trigger", "__main__:slow", "--mode", "calls")
ALL = "SELECT label_service AS service, label_trigger AS trigger, count(*) AS n FROM recording GROUP BY ALL ORDER BY ALL"


class Service:
    """A process that ocular agent can attach to, and that can be started again under the same name."""

    def __init__(self, python, folder, name):
        self.python, self.folder, self.name = python, folder, name
        self.start()

    def start(self):
        environment = recording.plain_environment(OCULAR_LISTEN="1", PYTHONPATH=recording.HOOK)
        self.process = subprocess.Popen([self.python, "-c", SERVICE], cwd=self.folder, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the service does not start")
        with open(os.path.join(self.folder, "new"), "w", encoding="ascii") as file:
            file.write(f"{self.process.pid}\n")
        os.rename(file.name, os.path.join(self.folder, self.name + ".pid"))

    def ask(self):
        self.process.stdin.write("please\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.communicate()


class Agent:
    """One that runs; what it says, line by line."""

    def __init__(self, fleet, *words):
        self.fleet = fleet
        self.process = subprocess.Popen(agent(*words), cwd=fleet.folder, env=fleet.environment(), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.late = threading.Timer(10 * recording.LIMIT, self.process.kill)  # one that hangs, and whoever waits for it
        self.late.start()

    def until(self, *texts):
        """Reads until each of the texts was said."""
        left, said = list(texts), ""
        while left:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(f"{left} not said, but {said}")
            said += line
            found = [text for text in left if text in line]
            left = [text for text in left if text not in found[:1]] if found else left

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        said = self.process.communicate()[1]
        self.late.cancel()
        return self.process.returncode, said


def agent(*words, store="store"):
    return [recording.WRAPPER, "agent", "--store", store, "--every", "50ms", *words]


@contextlib.contextmanager
def two_services(python, folder):
    services = [Service(python, folder, name) for name in ("web", "jobs")]
    try:
        yield services
    finally:
        for each in services:
            each.kill()


def calls(fleet, service):
    """Of slow() in what came from a service: how many, in how many recordings, and whether all of it is complete."""
    return list(fleet.sql(f"""
        SELECT coalesce(sum(f.calls), 0)::BIGINT AS calls, count(DISTINCT r.recording) AS recordings, coalesce(bool_and(r.complete), true) AS complete
        FROM recording r JOIN function f USING (recording) WHERE r.label_service = '{service}' AND f.qualname = 'slow'""")[0].values())


def left(fleet):
    """Of the agent's work, what should be gone."""
    return [path for path in fleet.files() if "/agent/" in path and ("/spool/" in path or "/attached/" in path or path.endswith(".tmp"))]


def wrong_files(fleet):
    """A packed recording for each row, with the same calls in it; and nothing else."""
    rows = fleet.sql("SELECT r.recording, r.path, sum(f.calls)::BIGINT AS calls FROM recording r JOIN function f USING (recording) GROUP BY ALL")
    packed = {path for path in fleet.files() if path.endswith(".ocular")}
    problems = [f"packed: {sorted(packed)}, not {rows}"] * (packed != {row["path"] for row in rows})
    for row in rows:
        done = recording.run([recording.WRAPPER, "report", "-q", "--summary", "-", row["path"]])
        found = sum(each["calls"] for each in json.loads(done.stdout)["functions"])
        problems += [f"{row}: {found} calls in its file"] * (found != row["calls"])
    return problems + [f"left: {path}" for path in left(fleet)]


def snapshots(python, duck, folder):
    """Of two services; a service that is killed and started again, the agent that ends and starts again."""
    fleet, problems = Fleet(python, duck, folder), []
    words = ("--label", "release=1.4", *FLIGHT, "web=web.pid", "jobs=jobs.pid")
    with two_services(python, folder) as (web, jobs):
        running = Agent(fleet, *words)
        running.until(f"web: attached to {web.process.pid}", f"jobs: attached to {jobs.process.pid}")
        for each in (web, jobs, web):
            each.ask()
            running.until(f"{each.name}: call: added as")
        problems += [f"{found}" for found in [calls(fleet, "web"), calls(fleet, "jobs")] if found not in ([2, 2, True], [1, 1, True])]
        web.kill()
        running.until(f"web: process {web.process.pid} has ended")
        web.start()
        running.until(f"web: attached to {web.process.pid}")
        web.ask()
        running.until("web: call: added as")
        status, said = running.end()
        problems += [f"exit {status}: {said}"] * (status != 0)
        problems += [f"web: {found}" for found in [calls(fleet, "web")] if found[0] != 3]
        before = tree(fleet.store)
        web.ask()  # nobody records this
        running = Agent(fleet, *words)
        running.until(f"web: attached to {web.process.pid}", f"jobs: attached to {jobs.process.pid}")
        jobs.ask()
        running.until("jobs: call: added as")
        status, said = running.end(signal.SIGINT)
        problems += [f"exit {status}: {said}"] * (status != 0) + [f"answers {said}" for said in (web.ask(), jobs.ask()) if said != "done\n"]
    problems += [f"{found}" for found in [calls(fleet, "web"), calls(fleet, "jobs")] if found[0] not in (3, 2)]
    problems += [f"changed: {each}" for each in sorted(before.items() - tree(fleet.store).items())]
    found = fleet.sql("SELECT DISTINCT label_release AS release, label_host AS host, program FROM recording")
    problems += [f"{found}"] * (found != [{"release": "1.4", "host": os.uname().nodename, "program": "-c"}])
    triggers = {(row["service"], row["trigger"]) for row in fleet.sql(ALL)}
    problems += [f"{triggers}"] * (not {("web", "call"), ("jobs", "call")} <= triggers <= {(s, t) for s in ("web", "jobs") for t in ("call", "death", "end")})
    wanted, found = fleet.value("SELECT count(*) FROM snapshots WHERE trigger = 'call'"), 5
    return problems + wrong_files(fleet) + [f"{wanted} snapshots of {found}"] * (wanted != found)


def agent_killed(python, duck, folder):
    """kill -9 while it is attached: the service goes on, what was recorded until then is added, and the next one attaches again."""
    fleet, problems = Fleet(python, duck, folder), []
    with two_services(python, folder) as (web, _):
        for n in range(3):
            running = Agent(fleet, *FLIGHT, "web=web.pid")
            running.until(f"web: attached to {web.process.pid}")
            web.ask()
            if n:
                running.until("web: call: added as")
            status, _ = running.end(signal.SIGKILL)
            problems += [f"exit {status}"] * (status != -signal.SIGKILL)
        running = Agent(fleet, *FLIGHT, "web=web.pid")
        running.until(f"web: attached to {web.process.pid}")
        web.ask()
        running.until("web: call: added as")
        status, said = running.end()
        problems += [f"exit {status}: {said}"] * (status != 0) + [f"answers {said}" for said in [web.ask()] if said != "done\n"]
    found = calls(fleet, "web")
    problems += [f"{found}"] * (found[0] != 4 or not found[2])
    return problems + wrong_files(fleet)


def flown(fleet, name, n):
    """A folder with so many snapshots, each in a file of its own."""
    with open(os.path.join(fleet.folder, "fly.py"), "w", encoding="utf-8") as file:
        file.write(SNAPSHOTS)
    done = recording.run([recording.WRAPPER, "record", "-q", "-o", name, "--python", fleet.python, "--flight", "10s", "--switch-output", "1s",
                          "--", "fly.py", name, str(n)], cwd=fleet.folder,
                         env=recording.plain_environment(PYTHONPATH=os.path.join(recording.BUILD, "python")))
    if done.returncode:
        raise RuntimeError(done.stderr)
    return name + "/"


def once(fleet, *words, store="store"):
    """In a fork of a process that has DuckDB; budget() has one that is the command itself, and so are all that run or are killed."""
    return forks.run(fleet.duck, ONCE, agent("--once", *words, store=store)[2:], fleet.folder, fleet.environment())


def sizes(folder):
    """Bytes of each recording in a store: its rows, and what the agent has beside them. The test's own sum."""
    notes = {}
    for path in tree(folder):
        if "/day=" in path and path.endswith(".json"):
            with open(path, encoding="utf-8") as file:
                notes[os.path.basename(path).removesuffix(".json")] = json.load(file)["recording"]
    found = dict.fromkeys(notes.values(), 0)
    for path, size in tree(folder).items():
        stem = os.path.basename(path).split(".")[0]
        name = notes.get(stem, stem)
        found.update({name: found[name] + size} if name in found else {})
    return found


def ordered(fleet, store="store"):
    """Recordings, oldest first, and their calls."""
    return [(row["recording"], row["calls"]) for row in fleet.sql(
        "SELECT recording, sum(calls)::BIGINT AS calls FROM recording r JOIN function USING (recording) GROUP BY recording ORDER BY any_value(r.start)", store)]


def budget(python, duck, folder):
    """The oldest go first, and do not come back; what is larger than the budget is not kept; compact takes nothing twice."""
    fleet, problems = Fleet(python, duck, folder), []
    what = "web=" + flown(fleet, "data", 4)
    done = recording.run(agent("--once", what, store="whole"), cwd=folder, env=fleet.environment())
    whole, size = ordered(fleet, "whole"), sizes(os.path.join(folder, "whole"))
    problems += [f"exit {done.returncode}: {done.stderr}, {whole}, {size}"] * (done.returncode != 0 or len(whole) != 4 or len(size) != 4)
    most = sum(size[name] for name, _ in whole[2:]) + min(size.values()) // 2
    for _ in range(2):  # the files are still in the folder
        done = once(fleet, "--budget", str(most), what)
        problems += [f"exit {done.returncode}: {done.stderr}"] * (done.returncode != 0 or "Traceback" in done.stderr)
        problems += [f"{found}, not {whole[2:]}" for found in [ordered(fleet)] if found != whole[2:]]
        problems += [f"{found} bytes of {most}" for found in [sum(sizes(fleet.store).values())] if not 0 < found <= most]
        gone = [name for name, _ in whole[:2]]
        problems += [f"left: {path}" for path in fleet.files() if any(name in path for name in gone)]
    problems += wrong_files(fleet)
    fleet.must("compact", "store")
    done = once(fleet, what)
    problems += [f"after compact: {found}" for found in [ordered(fleet)] if found != whole[2:]]
    done = once(fleet, "--budget", str(min(size.values()) // 2), what, store="small")
    problems += [f"{done.stderr}"] * (done.stderr.count("larger than the budget") != 4 or ordered(fleet, "small") != [])
    done = once(fleet, "--totals", what, store="totals")
    problems += ["--totals"] * (ordered(fleet, "totals") != whole or any(path.endswith(".ocular") for path in tree(os.path.join(folder, "totals"))))
    return problems


def killed(python, duck, folder):
    """kill -9 as soon as each further file has come or gone: what is seen is right, and in the end all is as if nobody had been killed."""
    fleet, problems, halves = Fleet(python, duck, folder), [], 0
    what = "web=" + flown(fleet, "data", 3)
    once(fleet, what, store="whole")
    whole, size = ordered(fleet, "whole"), sizes(os.path.join(folder, "whole"))
    words = ("--budget", str(sum(size[name] for name, _ in whole[1:]) + min(size.values()) // 2), what)
    for _ in range(200):
        before = set(fleet.files())
        process = subprocess.Popen(agent("--once", *words), cwd=folder, env=fleet.environment(), start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(before ^ set(fleet.files())) < 2 + halves % 3:
            time.sleep(0.0005)
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        halves += 1
        problems += [f"killed for the {halves}. time: {found}" for found in [ordered(fleet) if os.path.exists(fleet.store + "/recording") else []]
                     if not set(found) <= set(whole)]
    done = once(fleet, *words)
    problems += [f"killed {halves} times only"] * (halves < 5) + [f"exit {done.returncode}: {done.stderr}"] * (done.returncode != 0)
    problems += [f"{found}, not {whole[1:]}" for found in [ordered(fleet)] if found != whole[1:]]
    problems += [f"{found} recordings have files" for found in [sorted(sizes(fleet.store))] if found != sorted(name for name, _ in whole[1:])]
    return problems + wrong_files(fleet)


def refused(python, duck, folder):
    """In a line, and nothing is touched."""
    fleet = Fleet(python, duck, folder)
    shutil.copytree(os.path.join(folder, flown(fleet, "data", 1)), os.path.join(folder, "other"))
    before, problems = tree(folder), []
    for words, status, text in (
            ((), 2, "name a service"), (("web",), 1, "is not NAME=PID"), (("../a=data/",), 1, "is not NAME=PID"), (("a=data/", "a=other/"), 1, "two services"),
            (("web=1",), 2, "--flight LENGTH"), (("--once", "web=1"), 2, "--once is for folders"), (("--flight", "1s", "web=data/"), 2, "has its own options"),
            (("--budget", "much", "web=data/"), 2, "not a size a day"), (("--budget", "0", "web=data/"), 2, "not a size a day"),
            (("--every", "0s", "web=data/"), 2, "not a time"), (("--host", "../up", "web=data/"), 1, "the value of label"),
            (("--label", "service=x", "web=data/"), 1, "gives itself"), (("--label", "x", "web=data/"), 1, "is not NAME=VALUE"),
            (("--flight", "1s", "web=4194305"), 1, "there is no process"), (("--nothing",), 2, "--nothing")):
        done = recording.run(agent(*words), cwd=folder, env=fleet.environment())
        problems += [f"{words}: exit {done.returncode}: {done.stderr}"] * (
            done.returncode != status or text not in done.stderr or done.stderr.count("\n") != 1)
    done = recording.run([recording.WRAPPER, "agent", "web=data/"], cwd=folder, env=fleet.environment())
    problems += [f"no store: {done.stderr}"] * (done.returncode != 2 or "--store" not in done.stderr)
    done = once(fleet, "web=data/", store="other")
    problems += [f"no store: {done.stderr}"] * (done.returncode != 1 or "not a fleet store" not in done.stderr or done.stderr.count("\n") != 1)
    problems += [f"touched: {each}" for each in sorted(set(before.items()) ^ set(tree(folder).items()))]
    done = once(fleet, "-q", "web=nowhere/", "api=data/")
    problems += [f"a folder that is not there: {done.stderr}"] * (done.returncode != 1 or done.stderr.count("\n") != 1 or "there is no folder" not in done.stderr)
    problems += [f"{found}" for found in [fleet.sql(ALL)] if found != [{"service": "api", "trigger": "take_snapshot", "n": 1}]]
    closed = next(path for path in tree(os.path.join(folder, "other")) if "/perf.data.2" in path)
    with open(closed, "wb") as file:
        file.write(b"nothing that anybody could read")
    done = once(fleet, "-q", "web=other/")
    problems += [f"damaged: {done.stderr}"] * (done.returncode != 1 or "was not added" not in done.stderr or done.stderr.count("\n") != 1)
    done = once(fleet, "-q", "web=other/")
    return problems + [f"damaged, again: {done.stderr}"] * (done.returncode != 0 or done.stderr != "") + [f"left: {path}" for path in left(fleet)]


def alone(python, duck, folder):
    """Two for one host and store: the second one refuses."""
    fleet = Fleet(python, duck, folder)
    with two_services(python, folder) as (web, _):
        running = Agent(fleet, *FLIGHT, "web=web.pid")
        running.until("attached to")
        done = once(fleet, "api=data/")
        status, _ = running.end()
        again = Agent(fleet, *FLIGHT, f"web={web.process.pid}")
        again.until("attached to")
        web.kill()
        again.until("all services have ended")
        status += again.process.wait()
        again.late.cancel()
    return [f"exit {status}, {done.returncode}: {done.stderr}"] * (
        status != 0 or done.returncode != 1 or "another ocular agent" not in done.stderr or done.stderr.count("\n") != 1)


CASES = (
    ("each snapshot of two services; both sides are started again", snapshots), ("the agent is killed while it is attached", agent_killed),
    ("a day's budget: the oldest go first", budget), ("kill -9 in the middle of adding and taking out", killed),
    ("bad input is refused in a line", refused), ("one agent for a host and a store", alone))


def cases(python, chosen):
    return recording.of_fleets(python, chosen, CASES)


if __name__ == "__main__":
    recording.run_cases(cases)
