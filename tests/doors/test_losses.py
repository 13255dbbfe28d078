#!/usr/bin/env python3
"""Every emitted event comes back or is counted as lost: in the console, the summary and the trace.

The program's leaf function is called from a plain loop, so each thread's stream between its first and last
call is START, RETURN, JUMP over and over: a stream with gaps is checked by walking that circle, a gap of N
moving on by N. Nothing here depends on how long anything takes.
"""

import json
import os
import random
import re
import signal
import struct
import subprocess
import time

import recording

CYCLE = ("PY_START", "PY_RETURN", "JUMP")

PROGRAM = """
import mmap, os, sys, threading, time

def leaf():
    pass

def run(calls):
    for _ in range(calls):
        leaf()

def work(threads, calls):
    pool = [threading.Thread(target=run, args=(calls,)) for _ in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()

def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)

def say(name):
    open(name, "w").close()

{body}
"""

PATIENCE = 300  # seconds to wait for another process before giving up


class Run:
    """A program of this file: in a folder, under the recorder, not yet waited for."""

    def __init__(self, python, folder, body, *options, mode="adaptive", prefix=(), **environment):
        self.folder, self.data = folder, os.path.join(folder, "data")
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM.replace("{body}", body))
        command = [*prefix, recording.RECORDER, "-q", "-o", self.data, *options, "--", python, path]
        self.process = subprocess.Popen(command, cwd=folder, env=recording.traced_environment(mode, **environment),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
        self.status = self.made = None

    def wait_for(self, name):
        """Until the program has made this file."""
        end = time.monotonic() + PATIENCE
        while not os.path.exists(os.path.join(self.folder, name)):
            if time.monotonic() > end:
                raise TimeoutError(f"no {name}")
            time.sleep(0.002)  # what programs do until then is read, too

    def say(self, name):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8"):
            pass

    def finish(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        self.out, self.err, self.status = out.decode(), err.decode(), self.process.returncode
        return self

    def table(self):
        """All objects of its code tables."""
        lines = []
        for name in sorted(os.listdir(self.data)):
            if name.startswith("codes-"):
                with open(os.path.join(self.data, name), encoding="utf-8") as file:
                    lines += map(json.loads, file)
        return lines

    def summary(self):
        """Made once of a program that has ended."""
        made = self.made or recording.summary(self.data)
        self.made = made if self.status is not None else None
        return made

    def leaf_calls(self):
        return sum(row["calls"] for row in self.summary()["functions"] if row["qualname"] == "leaf")

    def losses(self):
        return self.summary()["losses"]


def in_circle(events):
    """[] if the loop's stream goes round as it should, gaps taken into account; else the place."""
    at, where = None, "nowhere"
    for i, event in enumerate(events):
        inside = event.qualname in ("leaf", "run") and event.event in CYCLE and (
            (event.qualname == "run") == (event.event == "JUMP"))
        if event.event == "GAP" and at is not None:
            at += int(event.where)
        elif inside and at is not None and event.event != CYCLE[at % 3]:
            return [f"event {i} is {event.event} after {where}, not {CYCLE[at % 3]}"]
        elif inside:
            at = CYCLE.index(event.event) + 1
            where = event.event
        elif event.qualname == "run":  # its start and its return are not in the circle
            at = None
    return []


def all_in_circle(streams):
    return [f"{key}: {line}" for key, events in streams.items() for line in in_circle(events)]


def ends_of_leaf(events):
    return sum(event.event == "PY_RETURN" and event.qualname == "leaf" for event in events)


def gaps(streams):
    return [int(event.where) for events in streams.values() for event in events if event.event == "GAP"]


def told_everywhere(run, streams, at_least=1):
    """The same loss in events, summary, console and timeline."""
    problems = []
    losses, lost = run.losses(), sum(gaps(streams))
    if lost < at_least:
        problems.append(f"gaps tell of {lost} lost markers, at least {at_least} are")
    if losses["markers"] != lost or losses["gaps"] != len(gaps(streams)):
        problems.append(f"summary says {losses}, events {len(gaps(streams))} gaps of {lost}")
    console = recording.report(run.data, "console=always")
    if not re.search(rf"\b{lost}\b.*missing", console):
        problems.append(f"console does not say that {lost} are missing: {console[-600:]}")
    trace = json.loads(recording.report(run.data, "perfetto=-"))
    drawn = [event for event in trace if event.get("name") == "GAP: events lost"]
    if len(drawn) != len(gaps(streams)):
        problems.append(f"{len(drawn)} gaps in the timeline, {len(gaps(streams))} in the events")
    return problems


def nothing_lost(run):
    losses = run.losses()
    return [] if losses["markers"] == losses["gaps"] == losses["foreign"] == 0 else [f"losses: {losses}"]


def many_events(python, threads, calls, folder):
    # By default the size is limited to a tenth of the free disk.
    run = Run(python, folder, f"leaf(); work({threads}, {calls})", "--max-size", "4G", mode="calls").finish()
    events, found, calls = run.summary()["events"], run.leaf_calls(), 1 + threads * calls
    problems = [] if found == calls else [f"{found} calls of {calls} came back"]
    if events["PY_START"] < calls or events["PY_RETURN"] < calls:
        problems.append(f"events: {events}")
    emitted = sum(words for line in run.table() if line["kind"] == "stop" for _, words in line["markers"])
    if emitted < sum(events.values()):
        problems.append(f"{sum(events.values())} events of {emitted} words emitted")
    return problems + nothing_lost(run) + ([run.err] if run.status else [])


def many_threads(python, folder):
    """All alive at once; each makes another number of calls, which the trace has of a thread of its own."""
    body = """
threading.stack_size(256 << 10)
meet = threading.Barrier(2000)
told = open("told", "w", 1)
def each(calls):
    meet.wait()
    run(calls)
    told.write(f"{threading.get_native_id()} {calls}\\n")
    meet.wait()
run(1)
pool = [threading.Thread(target=each, args=(20 + i % 7,)) for i in range(2000)]
for thread in pool:
    thread.start()
for thread in pool:
    thread.join()
"""
    run = Run(python, folder, body, mode="calls").finish()
    with open(os.path.join(folder, "told"), encoding="ascii") as file:
        told = dict(map(int, line.split()) for line in file)
    found = {tid: ends_of_leaf(events) for (_, tid), events in recording.events(run.data).items()}
    wrong = [f"thread {tid}: {found.get(tid)} calls of {calls} came back"
             for tid, calls in told.items() if found.get(tid) != calls]
    problems = [] if len(told) == 2000 else [f"{len(told)} threads told"]
    return problems + wrong[:10] + nothing_lost(run) + ([run.err] if run.status else [])


def own_extensions(data):
    """Words of waits and CPU time that are in the trace; those about switches are the recorder's."""
    with open(os.path.join(data, "events.txt"), encoding="utf-8", newline="\n") as file:
        rows = [line.split("\t") for line in file]
    return sum(row[3] == "EXTENSION" and row[7] != "5" for row in rows[1:])


def overrun(python, threads, calls, folder):
    """A ring of 256 and no waiting: most is dropped, the rest is exact, and the sum is the number emitted."""
    run = Run(python, folder, f"work({threads}, {calls})", "--ring-records", "256", "--wait-ms", "0", OCULAR_ALSO="no_identity").finish()
    streams = recording.events(run.data)
    stop = next(line for line in run.table() if line["kind"] == "stop")
    emitted = sum(words for _, words in stop["markers"])
    decoded = sum(event.event not in ("GAP", "FOREIGN") for events in streams.values() for event in events)
    lost = sum(gaps(streams))
    problems = told_everywhere(run, streams) + all_in_circle(streams)
    if stop["lost"] != lost:
        problems.append(f"the program counted {stop['lost']} lost, the trace {lost}")
    others = emitted - decoded - own_extensions(run.data)  # HELLO, and LOST before each gap
    if not len(streams) <= others <= 2 * len(streams) + len(gaps(streams)):
        problems.append(f"{emitted} words emitted, {decoded} events decoded: {others} are neither")
    return problems


def recorder_killed(python, threads, calls, folder):
    """The target goes on unharmed; what it emitted afterwards is missing, and reported."""
    work = f"work({threads}, {calls})"
    run = Run(python, folder, f"leaf(); {work}; say('ready'); wait_for('go'); {work}; say('done')")
    run.wait_for("ready")
    before = 1 + threads * calls
    end = time.monotonic() + PATIENCE
    while run.leaf_calls() != before and time.monotonic() < end:  # it is idle: soon the recorder has written all
        time.sleep(0.05)
    run.process.kill()
    run.process.wait()
    run.say("go")
    run.wait_for("done")
    stopped = [line for line in run.table() if line["kind"] == "stop"]
    end = time.monotonic() + PATIENCE
    while not stopped and time.monotonic() < end:  # the interpreter's own end
        time.sleep(0.02)
        stopped = [line for line in run.table() if line["kind"] == "stop"]
    checked = recording.run([recording.FSCK, run.data])
    if checked.returncode not in (0, 1):
        return [f"fsck: {checked.returncode} {checked.stderr}"]
    found = run.leaf_calls()
    problems = [] if found == before else [f"{found} calls of the {before} before came back"]
    if not stopped:
        return [*problems, "the target did not stop in order"]
    streams = recording.events(run.data)
    return problems + told_everywhere(run, streams, 3 * threads * calls) + all_in_circle(streams)


def target_killed(python, folder):
    """SIGKILL at any moment: at least what the program had said it had done is there, without a gap."""
    body = "t = [threading.Thread(target=run, args=(10**9,), daemon=True) for _ in range(3)]\n" \
           "for each in t: each.start()\nrun(10_000); say('ready'); run(10**9)"
    run = Run(python, folder, body)
    run.wait_for("ready")
    (child,) = children(run.process.pid)
    os.kill(child, signal.SIGKILL)
    run.finish()
    problems = [] if run.status == -signal.SIGKILL else [f"recorder ends with {run.status}"]
    if run.leaf_calls() < 10_000:
        problems.append(f"{run.leaf_calls()} calls came back")
    losses = run.losses()
    if not losses["unstopped"]:
        problems.append(f"that the process did not stop in order is not told: {losses}")
    streams = recording.events(run.data)
    return problems + nothing_lost(run) + all_in_circle(streams)


COUNTED = """
os.truncate(os.open("counted", os.O_RDWR | os.O_CREAT), 4096)
counted = memoryview(mmap.mmap(os.open("counted", os.O_RDWR), 4096)).cast("q")
def run(i):
    counted[2 * i] = threading.get_native_id()
    meet.wait()
    n = 0
    while True:
        leaf()
        n += 1
        counted[2 * i + 1] = n
leaf()
meet = threading.Barrier({threads} + 1)
for i in range({threads}):
    threading.Thread(target=run, args=(i,)).start()
meet.wait()
say("ready")
"""


def killed_at_random(python, threads, times, folder):
    """SIGKILL: each thread's calls are those that it had counted in memory that outlives it, and perhaps the next."""
    problems = []
    for i in range(times):
        wait = random.uniform(0, 0.03)
        inner = os.path.join(folder, str(i))
        os.mkdir(inner)
        run = Run(python, inner, COUNTED.replace("{threads}", str(threads)))
        run.wait_for("ready")
        time.sleep(wait)
        (child,) = children(run.process.pid)
        os.kill(child, signal.SIGKILL)
        run.finish()
        problems += [f"after {wait:.4f} s: {line}" for line in beyond_count(run, child)]
    return problems


def beyond_count(run, pid):
    with open(os.path.join(run.folder, "counted"), "rb") as file:
        words = struct.unpack("512q", file.read())
    streams = recording.events(run.data)
    problems = nothing_lost(run) + all_in_circle(streams)
    for tid, n in zip(words[::2], words[1::2]):
        found = ends_of_leaf(streams.get((pid, tid), []))
        if tid and not n <= found <= n + 1:
            problems.append(f"thread {tid} counted {n} calls, {found} came back")
    return problems


def pool(python, folder):
    """Workers of multiprocessing end by os._exit: all calls are there, and nothing is said to be lost."""
    body = "import multiprocessing as mp\n" \
           "with mp.get_context('fork').Pool(3) as pool: pool.map(run, [100] * 30, 1); pool.close(); pool.join()"
    run = Run(python, folder, body).finish()
    problems = [] if run.leaf_calls() == 3000 else [f"{run.leaf_calls()} calls of 3000"]
    stops = [line for line in run.table() if line["kind"] == "stop"]
    if len(stops) != 1:
        problems.append(f"{len(stops)} processes stopped in order: this test wants workers that do not")
    if any(run.losses().values()) or "Nothing was lost." not in recording.report(run.data, "console=always"):
        problems.append(f"losses: {run.losses()}")
    return problems


AGAIN = "signal.signal(signal.SIGTERM, signal.SIG_DFL); signal.raise_signal(signal.SIGTERM)"


OWN = "ocular-witness", "ocular-record"  # the latter: until it has that name


def children(pid):
    """Of a recorder: the programs."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        found = [int(child) for child in file.read().split()]
    return [child for child in found if name_of(child) not in OWN]


def name_of(pid):
    """The recorder's own child may be gone by now."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return OWN[0]


def stopped_as_services_are(python, handler, everybody, folder):
    """SIGTERM to the recorder, or to all: handled once, and if it ends the program, that is an orderly end."""
    body = f"""
import signal
def stop(*_):
    run(100)
    print("stopping")
    sys.stdout.flush()
    {handler}
signal.signal(signal.SIGTERM, stop)
say('ready')
run(100_000)
wait_for('never')
"""
    run = Run(python, folder, body)
    run.wait_for("ready")
    (os.killpg if everybody else os.kill)(run.process.pid, signal.SIGTERM)
    run.finish()
    problems = [] if run.out == "stopping\n" else [f"{run.status} {run.out} {run.err}"]
    if run.leaf_calls() < 100:
        problems.append(f"{run.leaf_calls()} calls came back")
    if run.losses()["unstopped"]:
        problems.append("it is said not to have stopped in order")
    return problems + nothing_lost(run)


def ends_hard(python, how, status, folder):
    """The last calls before the end are there, to the last one, and only a signal is told of: nothing is lost."""
    quiet = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); "
    run = Run(python, folder, quiet + f"work(4, 5_000); run(777); {how}").finish()
    problems = [] if run.status == status else [f"status {run.status}, not {status}: {run.err}"]
    if run.leaf_calls() != 20_777:
        problems.append(f"{run.leaf_calls()} calls of 20777 came back")
    told = "process was killed: what it wrote is all here" if status < 0 else "Nothing was lost."
    if run.losses()["unstopped"] != (status < 0) or told not in recording.report(run.data, "console=always"):
        problems.append(f"losses: {run.losses()}")
    return problems + nothing_lost(run) + all_in_circle(recording.events(run.data))


def interrupted(python, folder):
    """SIGINT to the recorder alone reaches the target, which ends in its own way."""
    run = Run(python, folder, "try: say('ready'); wait_for('never')\n"
                              "except KeyboardInterrupt: run(1000); print('interrupted')\nsys.exit(5)")
    run.wait_for("ready")
    run.process.send_signal(signal.SIGINT)
    run.finish()
    problems = [] if (run.status, run.out) == (5, "interrupted\n") else [f"{run.status} {run.out} {run.err}"]
    calls = run.leaf_calls()
    return problems + ([] if calls == 1000 else [f"{calls} calls of 1000"]) + nothing_lost(run)


def disk_full(python, folder):
    """A write fails (here: RLIMIT_FSIZE): the target runs to its end, what was written is exact, the rest is reported."""
    command = ["sh", "-c", 'ulimit -f 2000; exec "$@"', "sh"]
    run = Run(python, folder, "work(4, 100_000); print('ran to its end')",
              "--ring-records", "4096", prefix=command).finish()
    problems = [] if run.out == "ran to its end\n" else [f"the target said {run.out!r}"]
    if run.status == 0 or not run.err.strip():
        problems.append(f"status {run.status}, stderr {run.err!r}")
    checked = recording.run([recording.FSCK, run.data])
    if checked.returncode not in (0, 1):
        return [*problems, f"fsck: {checked.returncode} {checked.stderr}"]
    streams = recording.events(run.data)
    return problems + told_everywhere(run, streams) + all_in_circle(streams)


def disk_full_sums(python, folder):
    """The recorder's last line has all markers that are missing: of threads that were running, and of those that began later."""
    program = os.path.join(folder, "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM.replace("{body}", "work(2, 100_000); [work(1, 20_000) for _ in range(5)]; work(3, 20_000)"))
    command = ["sh", "-c", 'ulimit -f 2000; exec "$@"', "sh", recording.RECORDER, "--ring-records", "4096",
               "-o", os.path.join(folder, "data"), "--", python, program]
    said = recording.run(command, cwd=folder, env=recording.traced_environment("adaptive")).stderr
    numbers = [int(n) for n in re.findall(r"\[ ocular: (\d+) markers (?:of|not written)", said)]
    events = len(CYCLE) * 360_000
    return [] if len(numbers) == 2 and events < sum(numbers) < 1.05 * events else [said, f"{events} events"]


def no_ring(python, folder):
    """If no ring can be made, a child runs on and counts as untraced; the main program does not start."""
    limited = ["sh", "-c", 'ulimit -f 1000; exec "$@"', "sh"]
    run = Run(python, folder, "print('ran')", prefix=limited).finish()
    problems = []
    if (run.out, run.losses()["untraced"]) != ("ran\n", 1):
        problems.append(f"{run.out!r} {run.err!r} {run.losses()}")
    if "could not be traced" not in recording.report(run.data, "console=always"):
        problems.append("the console does not tell")
    main = Run(python, folder, "print('ran')", prefix=limited, OCULAR_MAIN="1").finish()
    if main.out or main.status <= 0 or len(main.err.splitlines()) != 1:
        problems.append(f"main: {main.status} {main.out!r} {main.err!r}")
    return problems


CASES = {
    "2,000 threads at once": (many_threads,),
    "the target is killed from outside": (target_killed,),
    "the target kills itself": (ends_hard, "os.kill(os.getpid(), 9)", -signal.SIGKILL),
    "the target aborts": (ends_hard, "os.abort()", -signal.SIGABRT),
    "the target crashes": (ends_hard, "import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
    "the target leaves by os._exit": (ends_hard, "os._exit(6)", 6),
    "a pool of processes": (pool,),
    "Ctrl-C to the recorder alone": (interrupted,),
    "the disk is full": (disk_full,),
    "the disk is full, and it is told how much is missing": (disk_full_sums,),
    "no ring can be made": (no_ring,),
    "a service that exits": (stopped_as_services_are, "sys.exit()", False),
    "a service that ends by its signal": (stopped_as_services_are, AGAIN, False),
    "a service, all of whose processes are told": (stopped_as_services_are, "sys.exit()", True),
    "one that ends by its signal": (stopped_as_services_are, AGAIN, True),
}


FEW = {
    "20 million events of 4 threads": (many_events, 4, 2_500_000),
    "a ring too small, no waiting": (overrun, 4, 60_000),
    "the recorder is killed": (recorder_killed, 2, 50_000),
    "the target is killed at random": (killed_at_random, 4, 2),
}
# Where threads run at once.
MANY = {
    "48 million events of 16 threads": (many_events, 16, 1_500_000),
    "16 rings too small, no waiting": (overrun, 16, 15_000),
    "the recorder of 16 threads is killed": (recorder_killed, 16, 6_000),
    "16 threads are killed at random": (killed_at_random, 16, 4),
}


def cases(python, _):
    free = recording.is_free(python)
    version = recording.version(python) + "t" * free
    for name, (function, *arguments) in {**(MANY if free else FEW), **CASES}.items():
        yield f"{version} {name}", function, python, *arguments


if __name__ == "__main__":
    recording.run_cases(cases)
