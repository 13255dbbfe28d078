#!/usr/bin/env python3
"""CPython's own regression tests pass under tracing as they pass without it.

Each test file runs by `-m test` plainly and under `ocular record` (adaptive mode, nothing excluded); every
single test must have the same result. Known differences are named in DIFFERENT, each with its reason.
"""

import os
import xml.etree.ElementTree as xml

import recording

TESTS = ("generators coroutines asyncgen contextlib threading thread json re dataclasses functools itertools "
         "fork1 subprocess").split()

# (test name, result under tracing): why
DIFFERENT = {}

LIMIT = 400  # seconds
MARKERS = 20_000  # even the smallest of the tests emits more


def result_of(case):
    """`failure`, `error`, `skipped` or `passed`."""
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")


def results(path):
    """{test name: result} of regrtest's JUnit file."""
    return {case.get("name"): result_of(case) for case in xml.parse(path).getroot().iter("testcase")}


def regrtest(prefix, name, folder, kind):
    report = os.path.join(folder, f"{kind}.xml")
    command = [*prefix, "-m", "test", "--junit-xml", report, "--tempdir", folder, f"test_{name}"]
    environment = recording.plain_environment()
    del environment["PYTHONDONTWRITEBYTECODE"]
    done = recording.run(command, cwd=folder, env=environment, timeout=LIMIT)
    try:
        return results(report), done
    except (OSError, xml.ParseError) as error:
        raise RuntimeError(f"{kind}: {error}: {done.stdout[-2000:]} {done.stderr[-2000:]}") from None


def check(python, name, folder):
    plain, plain_run = regrtest([python], name, folder, "plain")
    data = os.path.join(folder, "recording.data")
    recorded = [recording.WRAPPER, "record", "-q", "-o", data, "--python", python, "--"]
    traced, run = regrtest(recorded, name, folder, "traced")
    if not plain:
        return ["no test ran", *plain_run.stdout.splitlines()]
    if os.path.getsize(os.path.join(data, "perf.data")) < MARKERS * 12:
        return ["hardly anything was recorded", *run.stderr.splitlines()]
    different = [f"{test}: {plain.get(test)}, under tracing {traced.get(test)}"
                 for test in sorted(plain.keys() | traced.keys())
                 if plain.get(test) != traced.get(test) and (test, traced.get(test)) not in DIFFERENT]
    if different:
        different += (run.stdout + run.stderr).splitlines()[-60:]
    return different


def cases(python, _):
    version = recording.version(python)
    for name in TESTS:
        yield f"{version} test_{name}", check, python, name


if __name__ == "__main__":
    recording.run_cases(cases)
