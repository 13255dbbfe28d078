#!/usr/bin/env python3
"""CPU and waiting times are those of the kernel's own clocks.

    test_cpu.py [--python PY]... [--only TEXT]

Programs that sleep, spin, fight for the GIL, and share a CPU with a known neighbour measure themselves: CPU times by
CLOCK_THREAD_CPUTIME_ID and getrusage(2). A function's CPU time may differ from that by 1 %, and by what is between the two
readings: a call's event comes before the function can read a clock.
"""

import json
import os
import sys

import recording
import seccomp

# A function that is measured is called once before: then its code is described, which takes CPU time.
PRELUDE = """
import functools, json, os, resource, sys, threading, time
truth = {}
lock = threading.Lock()
def blocked():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
def measured(function):
    def run(*arguments):
        cpu, wall, switches = time.thread_time_ns(), time.perf_counter_ns(), blocked()
        function(*arguments)
        with lock:
            row = truth.setdefault(function.__name__, [0, 0, 0, 0])
            row[0] += time.thread_time_ns() - cpu
            row[1] += time.perf_counter_ns() - wall
            row[2] += 1
            row[3] += blocked() - switches
    return run
def spin(ms):
    until = time.thread_time_ns() + ms * 1000000
    while time.thread_time_ns() < until:
        pass
@measured
def sleeps(n):
    for i in range(n):
        time.sleep(0.002)
@measured
def spins(ms):
    spin(ms)
@measured
def both(n):
    for i in range(n):
        spin(4)
        time.sleep(0.004)
spins(0), sleeps(0), both(0)
truth.clear()
def usage(who=resource.RUSAGE_SELF):
    r = resource.getrusage(who)
    return round((r.ru_utime + r.ru_stime) * 1e9)
"""
END = """
json.dump(truth, sys.stdout)
"""
PROGRAMS = {
    "sleeps": "sleeps(150)",
    "spins": "spins(300)",
    "both": "both(50)",
    "threads": """
threads = [threading.Thread(target=both, args=(25,)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
""",
    # Rings are handed over from each to the next.
    "threads one after another": """
for i in range(30):
    thread = threading.Thread(target=both, args=(1,))
    thread.start()
    thread.join()
""",
    "the gil": """
threads = [threading.Thread(target=spins, args=(150,)) for i in range(2)]
for t in threads: t.start()
for t in threads: t.join()
""",
    "a neighbour": """
cpu = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpu})
pid = os.fork()
if not pid:
    os.closerange(0, 3)
    sys.settrace(None)
    os.execv("/bin/sh", ["sh", "-c", "while :; do :; done"])
spins(300)
os.kill(pid, 9)
os.waitpid(pid, 0)
""",
}


def program(name):
    return PRELUDE + PROGRAMS[name] + END


def stolen_ns():
    """
    What the hypervisor took so far: the kernel's CPU clocks leave it out (PARAVIRT_TIME_ACCOUNTING), its records of switches do
    not. Of 24 runs of 200 ms on such a machine one had 8.6 ms too much, and 8 ticks of 10 ms stolen on two CPUs; where none was
    seen to be stolen 10 of 13 were within 0.7 ms, the others had 1.2 to 4.4 too much.
    """
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def recorded(python, folder, source, *options, before=None):
    """(what the program measured, its summary; there "stolen_ns" is what the hypervisor took meanwhile)"""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    record = os.path.join(folder, "rec")
    stolen = stolen_ns()
    done = recording.record(record, [python, path], recording.traced_environment("adaptive"), *options, preexec_fn=before)
    stolen = stolen_ns() - stolen
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), {**recording.summary(record), "stolen_ns": stolen}


def functions(found):
    return {f["qualname"]: f for f in found["functions"] if f["file"].endswith("program.py")}


# ns that the kernel counts for a thread before it records that it runs: 2 to 4 us (wakeup.h), more on a busy machine.
SWITCH = 6000


def close(what, told, true, slack, stolen=0):
    """1 %, and what is between two readings; more by what was stolen."""
    margin = true / 100 + slack
    if -margin <= told - true <= margin + stolen:
        return []
    return [f"{what}: {told / 1e6:.3f} ms told, {true / 1e6:.3f} ms measured"]


def sums(found):
    """The parts make the whole, to the nanosecond."""
    problems = []
    for name in "cpu_ns", "waiting_ns":
        whole = found["trace"][name]
        parts = sum(f[f"self_{name}"] for f in found["functions"] + found["collections"]) + found["trace"][f"outside_{name}"]
        threads = sum(t[name] for t in found["threads"])
        if not whole == parts == threads:
            problems.append(f"{name}: {whole} in all, {parts} of functions and outside, {threads} of threads")
    for row in found["functions"] + found["loops"]:
        own, total = (row[f"{kind}_cpu_ns"] for kind in ("self", "total"))
        if not 0 <= own <= total or min(row["self_waiting_ns"], row["total_waiting_ns"]) < 0:
            problems.append(f"{row['qualname']}: {row}")
    return problems


def compared(truth, found):
    rows, problems = functions(found), sums(found)
    for qualname, (cpu, wall, calls, switches) in truth.items():
        row = rows[qualname]
        problems += close(f"{qualname}'s wall time", row["total_ns"], wall, 100_000 * calls)
        problems += close(f"{qualname}'s CPU time", row["total_cpu_ns"], cpu, 100_000 * calls + SWITCH * switches, found["stolen_ns"])
        if row["total_cpu_ns"] + row["total_waiting_ns"] > row["total_ns"]:
            problems.append(f"{qualname}: more CPU and waiting time than time: {row}")
    return problems


# Runs of which one must be right. A host that takes a CPU away disturbs the kernel's two clocks differently: of 24 runs of "sleeps"
# 8 differed by 1.1 to 2.3 ms, where 1.0 is allowed, in either direction (2026-11-27, half of them with a coarse clock). A fault of
# ours is in each run.
TRIES = 3


def undisturbed(python, folder, source, *options):
    for n in range(TRIES):
        problems = compared(*recorded(python, os.path.join(folder, str(n)), source, *options))
        if not problems:
            break
    return problems


def test_truth(name, python, folder, *options):
    return undisturbed(python, folder, program(name), *options)


def test_flight(python, folder, *options):
    """Rings that hold all of it: fewer calls of spin() would not do, what a switch is off by is not known better than to 20 us."""
    return undisturbed(python, folder, program("both"), "--flight", "20s", "--ring-records", str(1 << 23), *options)


def test_waiting(python, folder):
    """Sleeping is waiting; not getting a CPU, or getting one late, is not."""
    truth, found = recorded(python, folder, program("sleeps"))
    row = functions(found)["sleeps"]
    problems = close("waiting in sleep()", row["total_waiting_ns"], truth["sleeps"][1] - truth["sleeps"][0], 1_000_000)
    truth, found = recorded(python, folder + "/2", program("a neighbour"))
    row = functions(found)["spins"]
    problems += close("waiting beside a neighbour", row["total_waiting_ns"], 0, truth["spins"][1] / 100)
    if row["total_ns"] < 1.5 * row["total_cpu_ns"]:
        problems.append(f"the neighbour took no CPU time: {row}")
    return problems


PROCESS = PRELUDE + """
def main():
    before = usage()
    threads = [threading.Thread(target=function, args=(n,)) for function, n in ((spins, 80), (both, 20), (sleeps, 20))]
    for t in threads: t.start()
    both(20)
    for t in threads: t.join()
    truth["main"] = usage() - before
truth["main"] = 0
main()
truth = truth["main"]
""" + END


def process_cpu(found):
    return functions(found)["main"]["total_cpu_ns"] + sum(t["cpu_ns"] for t in found["threads"] if t["tid"] != t["pid"])


def test_process(python, folder):
    """getrusage(2) of the whole process; its threads' start and end are outside of their first and last event."""
    true, found = recorded(python, folder, PROCESS)
    return sums(found) + close("the process", process_cpu(found), true, 1_000_000, found["stolen_ns"])


def test_forks(python, folder):
    """Each child is on its own."""
    source = PRELUDE + """
for i in range(3):
    read, write = os.pipe()
    if not os.fork():
        truth.clear()
        both(10)
        os.write(write, json.dumps(truth["both"]).encode())
        os._exit(0)
    os.wait()
    truth.setdefault("both", [0, 0, 0])
    truth["both"] = [a + b for a, b in zip(truth["both"], json.loads(os.read(read, 1000)))]
""" + END
    truth, found = recorded(python, folder, source)
    cpu = sum(f["total_cpu_ns"] for f in found["functions"] if f["qualname"] == "both")
    return sums(found) + close("both in three processes", cpu, truth["both"][0], 1_000_000, found["stolen_ns"])


def forbidden(python, folder, source):
    """(measured, summary, the report's line) without the kernel's help; functions must know nothing: that is better than wrong."""
    truth, found = recorded(python, folder, source, before=seccomp.forbids(seccomp.EPERM, seccomp.PERF_EVENT_OPEN))
    known = {row["qualname"] for row in found["functions"] for k in row
             if k.endswith(("cpu_ns", "waiting_ns")) and row["total_ns"] and row[k] is not None}
    assert not known, known
    console = recording.report(os.path.join(folder, "rec"), "console=always", "color=never")
    return truth, found, next(line for line in console.splitlines() if line.startswith("Time "))


def test_forbidden(python, folder):
    """Each thread says itself how much it used."""
    truth, found, said = forbidden(python, folder, program("threads"))
    told = sum(t["cpu_ns"] for t in found["threads"] if t["tid"] != t["pid"])
    problems = close("threads", told, truth["both"][0], 1_000_000, found["stolen_ns"])
    if found["trace"]["cpu_ns"] != sum(t["cpu_ns"] for t in found["threads"]):
        problems.append(f"the whole is not its parts: {found['trace']} {found['threads']}")
    return problems if said.endswith(" CPU, not known of functions") else [*problems, said]


def test_killed(python, folder):
    """Then nobody is left to say it."""
    end = END + "sys.stdout.flush(), os._exit(0)"
    truth, found, said = forbidden(python, folder, PRELUDE + "both(5)" + end)
    told = [t["cpu_ns"] for t in found["threads"]] + [found["trace"]["cpu_ns"]]
    problems = [] if told == [None, None] else [f"told {told}"]
    return problems if said.endswith("; CPU time is not known") else [*problems, said]


def test_console(python, folder):
    """Who uses the CPU comes first, though others wait longer."""
    recorded(python, folder, PRELUDE + "spins(60), sleeps(150)" + END)
    console = recording.report(os.path.join(folder, "rec"), "console=always", "color=never")
    table = console.partition("\n  cpu%    wall     cpu    wait   total  calls  function, by self CPU time\n")[2].splitlines()
    problems = [] if table else ["no such table"]
    if "spin" not in table[0].split("  ")[-1]:
        problems.append("another function is first")
    return [*problems, console[:3000]] if problems else []


def cases(python, options):
    version = recording.version(python)
    for name in PROGRAMS:
        yield f"{version} {name}", test_truth, name, python
    yield f"{version} both, in a flight recorder", test_flight, python
    yield f"{version} waiting", test_waiting, python
    yield f"{version} the process", test_process, python
    yield f"{version} forks", test_forks, python
    yield f"{version} forbidden", test_forbidden, python
    yield f"{version} forbidden and killed", test_killed, python
    yield f"{version} the report", test_console, python


if __name__ == "__main__":
    recording.run_cases(cases)
