#!/usr/bin/env python3
"""make test-hardware: every claim about Intel PT, tested on this machine. Exit status 77 if it has none.

Each line of the report is a claim, with ok or not ok; what failed is shown below it. The same programs are
recorded by rings and by Intel PT, and must have the same events in each thread.

    tests/hardware/test_intel_pt.py [--python PY] [--emulated]

--emulated: on the emulated processor of ocular-qemu instead, as far as its recordings can say something.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

PMU = "/sys/bus/event_source/devices/intel_pt"
PTW, BRANCHES = "intel_pt/ptw,cyc,branch=0/u", "intel_pt/cyc/u"
PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
QEMU = os.path.join(recording.BUILD, "bin", "ocular-qemu")
PACKAGE = os.path.join(recording.BUILD, "python")
PROGRAMS = ("loops.py", "generators.py", "exceptions.py", "threads.py", "forks.py")
OWN = recording.PROGRAMS + "/*.py"
SKIP = 77


def cap(name):
    try:
        with open(os.path.join(PMU, "caps", name), encoding="ascii") as file:
            return file.read().strip() == "1"
    except OSError:
        return False


def backends():
    return ("ptwrite", "emulated") if cap("ptwrite") else ("emulated",)


class Machine:
    """A way to record: by ocular record where Intel PT is, or on the emulated processor."""

    def __init__(self, python, emulated):
        self.python, self.emulated = python, emulated

    def path(self, program):
        return os.path.join(recording.PROGRAMS, program)

    def record(self, folder, program, backend, mode="adaptive", flight=None, include=None):
        if self.emulated and backend != "software":
            settings = ["-s", "branch=1"] if backend == "emulated" else []
            settings += ["-s", f"snapshot={flight}", "-s", "psb=2048"] if flight else []
            own = {"OCULAR_INCLUDE": include} if include else {}
            own |= {"OCULAR_FLIGHT": "1"} if flight else {}
            env = recording.traced_environment(mode, OCULAR_MAIN="1", PYTHONHASHSEED="0", **own)
            return recording.run([QEMU, "-q", "-o", folder, *settings, "--", "env", f"OCULAR_BACKEND={backend}",
                                  self.python, self.path(program)], env=env)
        options = (["--flight", str(flight)] if flight else []) + (["--include", include] if include else [])
        return recording.run([recording.WRAPPER, "record", "-q", "-o", folder, "--mode", mode, "--backend", backend,
                              "--python", self.python, *options, "--", self.path(program)],
                             env=recording.plain_environment(PYTHONHASHSEED="0"))


def threads_of(text):
    """What each thread did, without its numbers and times; sorted, because threads have no order.

    perf prints decoder errors among the events. What they cost shows in what is missing: an emulated PTWRITE
    that an interrupt cut in two may have been one that only measured what a marker costs.
    """
    threads = {}
    for line in (line for line in text.splitlines()[1:] if "\t" in line):
        _, pid, tid, *event = line.split("\t")
        if event[0] != "EXTENSION":  # rings say when a thread was on a CPU
            threads.setdefault((pid, tid), []).append(event)
    return sorted(threads.values())


def by_perf(folder):
    return recording.report(folder, "events=-", "console=never")


def by_ocular_pt(folder):
    return recording.run([PT, "as_perf=yes", "console=never", "events=-", folder]).stdout


def difference(found, expected):
    """Problems, if two sets of threads are not the same."""
    if found == expected:
        return []
    sizes = [[len(events) for events in threads] for threads in (found, expected)]
    first = next((pair for a, b in zip(found, expected) for pair in zip(a, b) if pair[0] != pair[1]), None)
    return [f"events of threads: {sizes[0]}, not {sizes[1]}", f"first difference: {first}"]


def same_events(machine, program, backend):
    """For the program's own code: what a library does for threads depends on how they wait for one another."""
    with recording.scratch() as folder:
        rings, traced = os.path.join(folder, "rings"), os.path.join(folder, "traced")
        problems = []
        for data, how in ((rings, "software"), (traced, backend)):
            done = machine.record(data, program, how, include=OWN)
            if done.returncode:
                problems.append(f"{how}: exit status {done.returncode}: {done.stderr[-500:]}")
        if problems:
            return problems
        expected = threads_of(by_perf(rings))
        problems = difference(threads_of(by_perf(traced)), expected)
        if backend == "ptwrite":
            problems += [f"ocular-pt: {line}" for line in difference(threads_of(by_ocular_pt(traced)), expected)]
        return problems + lost(traced)


def lost(folder):
    """Losses in the summary."""
    losses = recording.summary(folder)["losses"]
    found = {k: v for k, v in losses.items() if v and k in ("markers", "gaps", "foreign", "unmatched", "backwards")}
    return [f"losses: {found}"] if found else []


def same_text(machine):
    with recording.scratch() as folder:
        data = os.path.join(folder, "data")
        machine.record(data, "loops.py", "ptwrite")
        return [] if by_perf(data) == by_ocular_pt(data) else ["the texts differ"]


def clock(machine):
    with recording.scratch() as folder:
        data, out = os.path.join(folder, "data"), os.path.join(folder, "summary.json")
        machine.record(data, "loops.py", "ptwrite")
        done = recording.run([PT, "console=always", "loops=1", f"summary={out}", data])
        word, counted = ("emulated", "Emulated Cycles") if machine.emulated else ("core", "Hardware CPU Cycles")
        told = f"Trace Disassembly with {counted} (Base" in done.stdout
        return [] if told and f'"{word}"' in open(out, encoding="utf-8").read() else [done.stdout]


TIMED = '''
import time
def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end: pass
def work():
    for _ in range(10):
        spin(5_000_000)
        time.sleep(0.01)
begun = time.thread_time_ns(), time.monotonic_ns()
work()
print(time.thread_time_ns() - begun[0], time.monotonic_ns() - begun[1])
'''


def cpu_time(machine):
    """By the kernel's switch records, against the thread's own clock: within 1 % and 0.5 ms; the rest is waiting."""
    with recording.scratch() as folder:
        data, out = os.path.join(folder, "data"), os.path.join(folder, "summary.json")
        done = recording.run([recording.WRAPPER, "record", "-q", "-o", data, "--backend", "ptwrite", "--mode", "calls", "--python",
                              machine.python, "--", "-c", TIMED], env=recording.plain_environment())
        cpu, wall = map(int, done.stdout.split())
        said = recording.run([PT, f"summary={out}", data]).stderr
        with open(out, encoding="utf-8") as file:
            work = next(f for f in recording.json.load(file)["functions"] if f["qualname"] == "work")
    found, rest = work["total_cpu_ns"], work["total_waiting_ns"]
    if found is None:
        return [f"not known; {said}"]
    problems = [] if abs(found - cpu) <= cpu / 100 + 500_000 else [f"{found} ns on a CPU, not {cpu}"]
    return problems + ([] if 100_000_000 <= rest <= wall - found else [f"{rest} ns of waiting, of {wall}"])


# --- a flight recorder ------------------------------------------------------------------------------------


def in_order(found, expected):
    """Does a thread's part hold events of the whole thread, in their order?"""
    rest = iter(expected)
    return all(any(event == other for other in rest) for event in found)


def kept(folder):
    """Events of each thread, without gaps."""
    return [[event for event in events if event[0] != "GAP"] for events in threads_of(by_perf(folder))]


def flight(machine, backend, size):
    """What the last snapshot holds: events of the rings in their order, up to the last one, but not all of them."""
    with recording.scratch() as folder:
        rings, traced = os.path.join(folder, "rings"), os.path.join(folder, "traced")
        machine.record(rings, "loops.py", "software")
        done = machine.record(traced, "loops.py", backend, flight=size)
        if done.returncode:
            return [f"exit status {done.returncode}: {done.stderr[-500:]}"]
        (found,), (expected,) = kept(traced), kept(rings)
        problems = [] if found and found[-1] == expected[-1] and in_order(found, expected) else ["other events than the rings'"]
        if not 20 <= len(found) < len(expected):
            problems.append(f"{len(found)} of {len(expected)} events")
        if backend == "ptwrite" and by_perf(traced) != by_ocular_pt(traced):
            problems.append("ocular-pt tells something else")
        return problems


def snapshot_on_demand(machine, backend):
    """`ocular snapshot` while the program runs: what led up to that is in the recording, too."""
    program = "import subprocess, sys\ndef f(): pass\np = subprocess.Popen(sys.argv[1:])\nwhile p.poll() is None: f()\n" \
              "def g(): pass\nfor i in range(200000): g()"
    with recording.scratch() as folder:
        data = os.path.join(folder, "data")
        done = recording.run([recording.WRAPPER, "record", "-q", "-o", data, "--backend", backend, "--flight", "64K",
                              "--python", machine.python, "--", "-c", program, recording.WRAPPER, "snapshot", data],
                             env=recording.plain_environment())
        if done.returncode:
            return [f"exit status {done.returncode}: {done.stderr[-500:]}"]
        functions = {event[2] for events in kept(data) for event in events}
        return [] if {"f", "g"} <= functions else [f"events of {sorted(functions)}"]


# --- by hand: perf record is the user's own --------------------------------------------------------------


def by_hand(machine, event, *options):
    """perf record -e EVENT -- python -m ocular: the events of each thread, and what was said."""
    with recording.scratch() as folder:
        rings = os.path.join(folder, "rings")
        machine.record(rings, "loops.py", "software")
        env = recording.plain_environment(PYTHONPATH=PACKAGE, PYTHONHASHSEED="0")
        done = recording.run(["perf", "record", "-o", os.path.join(folder, "perf.data"), "-e", event, "--",
                              machine.python, "-m", "ocular", *options, machine.path("loops.py")], env=env)
        if done.returncode:
            return [f"exit status {done.returncode}: {done.stderr[-500:]}"]
        return difference(threads_of(by_perf(folder)), threads_of(by_perf(rings)))


def without_packets(machine):
    with recording.scratch() as folder:
        env = recording.plain_environment(PYTHONPATH=PACKAGE)
        recording.run(["perf", "record", "-o", os.path.join(folder, "perf.data"), "-e", "intel_pt//u", "--", machine.python,
                       "-m", "ocular", "-o", folder, "--backend", "ptwrite", machine.path("loops.py")], env=env)
        said = recording.perf(folder).stderr
        return [] if PTW in said else [said]


def keeps_status(machine):
    done = recording.run([recording.WRAPPER, "record", "-q", "-o", "/dev/null/none", "--python", machine.python, "--", "-c", "1"])
    problems = [] if done.returncode == 1 else [f"a folder that cannot be: {done.returncode}"]
    with recording.scratch() as folder:
        done = recording.run([recording.WRAPPER, "record", "-q", "-o", os.path.join(folder, "data"), "--python",
                              machine.python, "--", "-c", "raise SystemExit(7)"], env=recording.plain_environment())
        return problems + ([] if done.returncode == 7 else [f"{done.returncode}: {done.stderr}"])


def processor(machine):
    """CPUID and the kernel agree."""
    script = "import ocular._core as c; p = c.processor(''); print(p['pt'], p['ptwrite'], p['kernel_ptwrite'])"
    done = subprocess.run([machine.python, "-c", script], env={**os.environ, "PYTHONPATH": PACKAGE},
                          stdout=subprocess.PIPE, text=True, check=True)
    expected = f"True {cap('ptwrite')} {cap('ptwrite')}\n"
    return [] if done.stdout == expected else [f"{done.stdout!r}, not {expected!r}"]


def claims(plan, machine):
    """What holds wherever there is a trace."""
    for backend in ("ptwrite", "emulated") if machine.emulated else backends():
        for program in PROGRAMS:
            plan.case(f"{backend}: {program} has the events of the rings, nothing lost", same_events, machine, program, backend)
    if machine.emulated or cap("ptwrite"):
        plan.case("ptwrite: perf with ocular.so and ocular-pt tell the same, byte for byte", same_text, machine)
        plan.case("ptwrite: ocular-pt counts the cycles of the core", clock, machine)
        plan.case("ptwrite: a flight recorder keeps the end of the program", flight, machine, "ptwrite", 8192)
    if machine.emulated:  # an interpreter's end has megabytes of branches, more than most users' buffers
        plan.case("emulated: a flight recorder keeps the end of the program", flight, machine, "emulated", 1 << 22)


def claims_of_perf(plan, machine):
    """What needs perf record and the kernel."""
    plan.case("CPUID and the kernel tell the same", processor, machine)
    plan.case("the program's exit status comes through", keeps_status, machine)
    for backend in backends():
        plan.case(f"{backend}: ocular snapshot makes perf keep what led up to it", snapshot_on_demand, machine, backend)
    plan.case("by hand, intel_pt//: branches stand for PTWRITE", by_hand, machine, "intel_pt//u")
    if cap("ptwrite"):
        plan.case("ptwrite: CPU time by the kernel's switch records is the thread's own", cpu_time, machine)
        plan.case("by hand, with PTWRITE packets", by_hand, machine, PTW)
        plan.case("without PTWRITE packets it is said which event has them", without_packets, machine)
    else:
        plan.skip("PTWRITE", "this processor has Intel PT without it")


def main():
    parser = recording.options()
    parser.add_argument("--emulated", action="store_true", help="on the emulated processor")
    chosen = parser.parse_args()
    if not chosen.emulated and not os.path.isdir(PMU):
        print("no Intel PT here (ocular check says why); --emulated tries the emulated processor")
        sys.exit(SKIP)
    recording.need_built()
    if chosen.emulated:
        recording.need_qemu()
    with Plan() as plan:
        machine = Machine(recording.pythons(chosen)[-1], chosen.emulated)
        claims(plan, machine)
        if not chosen.emulated:
            claims_of_perf(plan, machine)
    sys.exit(bool(plan.failed))


if __name__ == "__main__":
    main()
