#!/usr/bin/env python3
"""An exception that strikes at a function's entry closes no other activation.

    test_strikes.py [--python PY]... [--only TEXT]    (a part of "3.13 timeouts adaptive")

Ctrl-C, time-outs by signal.setitimer, PyThreadState_SetAsyncExc. From CPython 3.13 on RESUME checks for them before it
reports PY_START, so that an activation ends that no event began. The witness is the program itself: the tracebacks
that it caught (how many frames of which function, and which of them stood at their RESUME), and its own clock.
"""

import ast
import itertools

import recording

COMMON = """
import ctypes, dis, os, signal, threading, time
class Stop(BaseException): pass
def stop(*_): raise Stop
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def numbers(n):
    yield n
    yield from range(n)
    for other in (n - 1, n - 2):
        if other > 0:
            yield from numbers(other)
entries = {f.__code__: [i.offset for i in dis.get_instructions(f) if i.opname == "RESUME"] for f in (fib, numbers)}
frames, struck = {"fib": 0, "numbers": 0}, {"fib": 0, "numbers": 0}
def look(error):
    tb = error.__traceback__
    while tb:
        code = tb.tb_frame.f_code
        if code in entries:
            frames[code.co_name] += 1
            struck[code.co_name] += tb.tb_lasti in entries[code]
        tb = tb.tb_next
"""
AT_THE_END = """
began = time.monotonic_ns(); main(); ended = time.monotonic_ns()
print({"within": within, "around": [began, ended], "frames": frames, "struck": struck, "caught": caught})
"""
MAIN = """
caught, within, timers = 0, [], []
def main():
    global caught
    within.append(time.monotonic_ns())
    while caught < 20:
        try:
            %s
            %s
        except BaseException as error:
            if type(error) not in (Stop, KeyboardInterrupt): raise
            look(error)
            caught += 1
    %s
    within.append(time.monotonic_ns())
"""
CALLS = "while True: fib(14)"
GENERATORS = "while True: sum(numbers(14))"
TIMER = 'signal.signal(signal.SIGALRM, stop)\n'
# Timers are kept: a callback of CPython's for one that is freed would swallow the next exception.
KEPT = "timers.append(threading.Timer(0.002, %s)); timers[-1].start()"
INTERRUPT = KEPT % "os.kill, (os.getpid(), signal.SIGINT)"
ASYNC = KEPT % ("ctypes.pythonapi.PyThreadState_SetAsyncExc, "
                "(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(Stop))")
PROGRAMS = {
    "timeouts": TIMER + MAIN % ("signal.setitimer(signal.ITIMER_REAL, 0.002)", CALLS, ""),
    "interrupts": MAIN % (INTERRUPT, CALLS, ""),
    "async": MAIN % (ASYNC, CALLS, ""),
    "generators": TIMER + MAIN % ("signal.setitimer(signal.ITIMER_REAL, 0.002)", GENERATORS, ""),
}


def check(python, name, mode, folder):
    data, program = folder + "/data", folder + "/program.py"
    with open(program, "w", encoding="utf-8") as file:
        file.write(COMMON + PROGRAMS[name] + AT_THE_END)
    # the struck functions only: what an exception meets in the code of threading and ctypes is not tested here
    done = recording.record(data, [python, program],
                            recording.traced_environment(mode, OCULAR_INCLUDE=program))
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    truth, summary = ast.literal_eval(done.stdout), recording.summary(data)
    functions = {f["qualname"]: f for f in summary["functions"]}
    problems = [f"losses: {summary['losses']}"] if any(summary["losses"].values()) else []
    main, (first, last), (began, ended) = functions["main"], truth["within"], truth["around"]
    error = (ended - began) // 1000  # of one clock against the other
    if main["activations"] != 1 or not last - first - error <= main["total_ns"] <= ended - began + error:
        problems.append(f"main: {main['activations']} times, {main['total_ns']} ns, by its own clock {last - first}")
    if name == "generators":
        return problems
    fib = functions["fib"]
    if fib["events"]["PY_UNWIND"] != truth["frames"]["fib"]:
        problems.append(f"{fib['events']['PY_UNWIND']} frames of fib unwound, tracebacks have {truth['frames']['fib']}")
    if fib["activations"] - fib["calls"] != truth["struck"]["fib"] * (recording.version(python) != "3.12"):
        problems.append(f"{fib['activations'] - fib['calls']} of fib began and ended untold, {truth['struck']['fib']}")
    return problems


def cases(python, _):
    version = recording.version(python)
    for name, mode in itertools.product(PROGRAMS, ("calls", "adaptive", "full")):
        yield f"{version} {name} {mode}", check, python, name, mode


if __name__ == "__main__":
    recording.run_cases(cases)
