#!/usr/bin/env python3
"""CPython's own regression tests pass under tracing as they pass without it.

Each test file runs by `-m test` plainly and under `ocular record` (adaptive mode, nothing excluded); every
single test must have the same result. Known differences are named in DIFFERENT, each with its reason. test_monitoring
takes for granted that no other tool listens: it has the results that it has beside one that does nothing.
"""

import concurrent.futures
import os
import xml.etree.ElementTree as xml

import recording

TESTS = "generators coroutines asyncgen threading thread fork1 subprocess".split()
# One thread without generators of its own: with a GIL only. Without one it meets nothing that test_truth.py does not.
ONE_THREAD = "contextlib json re dataclasses functools itertools".split()
FREE_THREADED = ["free_threading"]  # with a GIL there is nothing in it

# Its child is not traced (-I), and prints a chain of hundreds of exceptions: without a GIL that takes minutes of a processor.
LEFT_OUT = ["test_print_exception_gh_102056"]

# (test name, result under tracing): why
DIFFERENT = {}

CALLS = "PY_START,PY_RESUME,PY_RETURN,PY_YIELD,PY_UNWIND,PY_THROW"
MODES = {"calls": CALLS, "adaptive": f"{CALLS},JUMP", "lines": f"{CALLS},LINE", "full": "all"}

LIMIT = 400  # seconds
MARKERS = 20_000  # even the smallest of the tests emits more


def result_of(case):
    """`failure`, `error`, `skipped` or `passed`."""
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")


def results(path):
    """{test name: result} of regrtest's JUnit file."""
    return {case.get("name"): result_of(case) for case in xml.parse(path).getroot().iter("testcase")}


def regrtest(command, name, folder, kind):
    report = os.path.join(folder, f"{kind}.xml")
    left_out = [word for test in LEFT_OUT for word in ("--ignore", test)]
    command = [*command, "--junit-xml", report, "--tempdir", folder, *left_out, f"test_{name}"]
    environment = recording.plain_environment()
    del environment["PYTHONDONTWRITEBYTECODE"]
    done = recording.run(command, cwd=folder, env=environment, timeout=LIMIT)
    try:
        return results(report), done
    except (OSError, xml.ParseError) as error:
        raise RuntimeError(f"{kind}: {error}: {done.stdout[-2000:]} {done.stderr[-2000:]}") from None


def compare(python, program, name, folder, mode="adaptive", least=MARKERS):
    """Problems: program, what follows the interpreter, runs the test; without Ocular and recorded, both at once: they mainly wait."""
    data = os.path.join(folder, "recording.data")
    recorded = [recording.WRAPPER, "record", "-q", "-o", data, "--mode", mode, "--python", python, "--"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = [pool.submit(regrtest, [*command, *program], name, folder, kind)
                for kind, command in (("plain", [python]), ("traced", recorded))]
    (plain, plain_run), (traced, run) = (run.result() for run in runs)
    if not plain:
        return ["no test ran", *plain_run.stdout.splitlines()]
    if os.path.getsize(os.path.join(data, "perf.data")) < least * 12:
        return ["hardly anything was recorded", *run.stderr.splitlines()]
    different = [f"{test}: {plain.get(test)}, under tracing {traced.get(test)}"
                 for test in sorted(plain.keys() | traced.keys())
                 if plain.get(test) != traced.get(test) and (test, traced.get(test)) not in DIFFERENT]
    if different:
        different += (run.stdout + run.stderr).splitlines()[-60:]
    return different


def check(python, name, folder):
    return compare(python, ["-m", "test"], name, folder)


def check_monitoring(python, mode, events, folder):
    return compare(python, [os.path.join(recording.HERE, "monitored.py"), events], "monitoring", folder, mode, 1000)


def cases(python, _):
    version = recording.version(python)
    for name in TESTS + (FREE_THREADED if recording.is_free(python) else ONE_THREAD):
        yield f"{version} test_{name}", check, python, name
    for mode, events in MODES.items():
        yield f"{version} test_monitoring, mode {mode}", check_monitoring, python, mode, events


if __name__ == "__main__":
    recording.run_cases(cases)
