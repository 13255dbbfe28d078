#!/usr/bin/env python3
"""No data race in the extension: programs whose threads do all at once that can meet, under ThreadSanitizer.

    test_races.py [--seconds N] [--only TEXT]    (13 seconds a case)

CPython without a GIL and the extension are both built with it (scripts/free-threaded --tsan, about 3 minutes, once),
the extension with its callbacks in plain C: those for x86-64 fix registers that ThreadSanitizer's calls overwrite. A report
fails the case if it names the extension anywhere and is not in races.supp; CPython's own are counted.
"""

import glob
import os
import sys

import recording

TSAN = os.path.join(recording.BUILD, "tsan")
SUPPRESSIONS = os.path.join(recording.HERE, "races.supp")
CFLAGS = "-O1 -g1 -fsanitize=thread -fno-omit-frame-pointer"

# Jobs are functions that run until `end`; each of ALL runs in a thread of its own.
PROGRAM = """
import gc, os, random, subprocess, sys, threading, time
end = time.monotonic() + float(sys.argv[1])
def going():
    return time.monotonic() < end
def leaf(n):
    return n
def calls():
    while going():
        for i in range(200):
            leaf(i)
def new_code():
    while going():
        scope = {}
        exec("def f(n):\\n  for i in range(n): pass\\n", scope)
        for i in range(20):
            scope["f"](3)
shared, made = [], {}
def shared_code():
    "Code that several threads meet at once, and that dies while others may be in it."
    while going():
        if random.random() < .1 or not shared:
            scope = {}
            exec("def g(n):\\n  return n\\n", scope)
            shared.append(scope["g"])
            del shared[:-8]
        for g in list(shared):
            g(1)
def numbers(n):
    yield from range(n)
def generators():
    while going():
        sum(numbers(50))
def threads():
    while going():
        thread = threading.Thread(target=leaf, args=(1,))
        thread.start()
        thread.join()
def fails():
    raise ValueError
def exceptions():
    while going():
        try:
            fails()
        except ValueError:
            pass
def collections():
    while going():
        gc.collect()
        time.sleep(.02)
def c_functions():
    "Definitions that several threads see first at once, and types that die."
    kinds = [list, dict, set, str, bytes, tuple, int, float]
    while going():
        for i in range(50):
            kind = type("T%d" % i, (list,), {})
            kind().append(random.choice(kinds)())
def other_tool():
    monitoring = sys.monitoring
    monitoring.use_tool_id(1, "other")
    monitoring.register_callback(1, monitoring.events.PY_START, lambda *_: None)
    while going():
        monitoring.set_events(1, monitoring.events.PY_START)
        time.sleep(.01)
        monitoring.restart_events()
        monitoring.set_events(1, 0)
        time.sleep(.01)
def forks():
    while going():
        pid = os.fork()
        if pid == 0:
            for i in range(100):
                leaf(i)
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(.05)
def execs():
    while going():
        subprocess.run([sys.executable, "-S", "-c", "for i in range(100): (lambda: i)()"])
        time.sleep(.05)
def interpreters():
    import _interpreters
    while going():
        other = _interpreters.create()
        _interpreters.exec(other, "for i in range(100): (lambda: i)()")
        _interpreters.destroy(other)
def snapshots():
    import ocular
    while going():
        ocular.take_snapshot("now", n=1)
        time.sleep(.02)
def labels():
    "Spans, one of which all threads are in; keys and texts that several meet first at once."
    import ocular
    shared = made.setdefault("span", ocular.span("shared", n=1))
    while going():
        for i in range(50):
            with shared, ocular.span("parse", i=i, long="x" * 101 + str(i % 7)), ocular.span("a list", data=[i]):
                ocular.counter("n", i)
            ocular.instant("half", **{"key %d" % (i % 9): random.random(), "text": "t%d" % i})
        time.sleep(.001)
def starts():
    "Tracing begins and ends while other threads run."
    import ocular
    while going():
        ocular.start_tracing(perfetto=False, console=False)
        time.sleep(.02)
        ocular.stop_tracing()
ALL = [calls, calls, new_code, shared_code, shared_code, generators, threads, exceptions, collections, other_tool,
       c_functions, c_functions]
more = [globals()[name] for name in sys.argv[2:]]
if starts in more:  # short of nothing but time: the less they do, the more often it begins and ends
    def calls():
        while going():
            for i in range(200):
                leaf(i)
            time.sleep(.005)
    ALL = [calls, calls, shared_code, threads]
pool = [threading.Thread(target=job) for job in ALL + more]
for thread in pool:
    thread.start()
for thread in pool:
    thread.join()
print("done")
"""


class Case:
    """mode: what is recorded; None: the program traces itself. more: further jobs."""

    def __init__(self, name, mode, *more, options=()):
        self.name, self.mode, self.more, self.options = name, mode, more, options


CASES = [
    Case("all events", "full"),
    Case("labels", "calls", "labels", "labels", "labels"),
    Case("forks and execs", "calls", "forks", "execs"),
    Case("interpreters", "adaptive", "interpreters"),
    Case("windows", "adaptive", options=("--duty", "20%", "--duty-window", "20ms")),
    Case("flight recorder", "calls", "snapshots", options=("--flight", "10ms", "--max-snapshots", "1000000")),
    Case("starts and stops", None, "starts", "labels", "labels"),
]


def reports(folder):
    """(those that name the extension, how many others) of what ThreadSanitizer wrote."""
    ours, others = [], 0
    for path in glob.glob(os.path.join(folder, "log.*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            for text in file.read().split("=================="):
                if "ThreadSanitizer" not in text:
                    continue
                if "_core." in text:
                    ours.append(text.strip())
                else:
                    others += 1
    return ours, others


def check(python, case, seconds, folder):
    program, data = os.path.join(folder, "program.py"), os.path.join(folder, "data")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    command = [python, program, str(seconds), *case.more]
    told = f"log_path={folder}/log halt_on_error=0 exitcode=0 history_size=7 suppressions={SUPPRESSIONS}"
    # The first program leaves the bytecode of its imports: to compile them takes seconds, in each program and each child.
    environment = recording.plain_environment(TSAN_OPTIONS=told, PYTHONPATH=os.path.join(TSAN, "python"),
                                              PYTHONDONTWRITEBYTECODE="")
    if case.mode:
        environment.update(PYTHONPATH=os.path.join(TSAN, "python", "hook"), OCULAR_MAIN="1", OCULAR_MODE=case.mode)
        command = [os.path.join(TSAN, "bin", "ocular-record"), "-q", "-o", data, *case.options, "--", *command]
    done = recording.run(command, env=environment, cwd=folder, timeout=seconds + 300)
    ours, others = reports(folder)
    print(f"# {case.name}: {others} reports of CPython's own", flush=True)
    problems = [line for text in ours[:30] for line in text.splitlines()[:60]]
    if done.returncode or done.stdout != "done\n":
        problems += [f"exit status {done.returncode}, said {done.stdout!r}", *done.stderr.splitlines()[-10:]]
    return problems


def build():
    """The interpreter, after the extension and the recorder were built for it."""
    def run(*command):
        done = recording.run([*command], cwd=recording.ROOT, timeout=1800)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout.strip()
    python = run(os.path.join(recording.ROOT, "scripts", "free-threaded"), "--tsan")
    # Nothing is read here: of the tools, only the recorder.
    run("make", "-s", f"-j{os.cpu_count()}", "ARCH=generic", f"B={TSAN}", f"PYTHON={python}", f"CFLAGS={CFLAGS}", "LTO=",
        os.path.join(os.path.relpath(TSAN, recording.ROOT), "bin", "ocular-record"), "ext")
    return python


def main():
    parser = recording.options()
    parser.add_argument("--seconds", type=float, default=13, help="of each case")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    chosen = parser.parse_args()
    python = build()
    with recording.Plan() as plan:
        for case in CASES:
            if chosen.only in case.name:
                with recording.scratch() as folder:
                    plan.case(case.name, check, python, case, chosen.seconds, folder)


if __name__ == "__main__":
    main()
