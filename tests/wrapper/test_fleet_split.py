#!/usr/bin/env python3
"""A recording of several processes, analysed in parts as `ocular fleet spark` does with a large one: rows of all tables are those of the whole."""

import collections
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402

sys.path.insert(0, os.path.join(recording.BUILD, "python"))
from ocular import fleet_add, fleet_split, tools  # noqa: E402
from ocular import fleet_tables as tables  # noqa: E402

# Three interpreters beside the main one, with threads, tasks, waits, and forks that end in order.
PROGRAM = """
import asyncio, json, os, subprocess, sys, threading, time
lock = threading.Lock()
def inner(n):
    return n and sum(i * i for i in range(n)) and inner(n - 5)
def job(n):
    for i in range(n):
        inner(20)
        with lock:
            json.dumps({'a': i})
    time.sleep(.002)
async def leaf(n):
    await asyncio.sleep(0)
    return n and await leaf(n - 1)
async def main():
    await asyncio.gather(*(leaf(n) for n in range(5)))
def work(n):
    threads = [threading.Thread(target=job, args=(n,)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    asyncio.run(main())
if len(sys.argv) > 1:
    work(int(sys.argv[1]))
    sys.exit()
children = [subprocess.Popen([sys.executable, __file__, str(n)]) for n in (30, 60, 90)]
work(40)
for child in children: child.wait()
"""
FORKS = "import os\ndef f(n): return n and f(n - 1)\nfor n in 10, 20:\n    if not os.fork(): f(n); raise SystemExit\n    os.wait()\nf(30)\n"
FAMILIES = 4
REQUESTS = PROGRAM.replace("    work(int", "    import ocular\n    with ocular.request('view'): work(int")
KILLED = "import os, subprocess, sys\nif len(sys.argv) > 1: os.kill(os.getpid(), 9)\nsubprocess.run([sys.executable, __file__, 'x'])\n"


def record(python, folder, source, *options):
    path, made = os.path.join(folder, "app.py"), os.path.join(folder, "rec")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    done = recording.run([recording.WRAPPER, "record", "-q", "-o", made, "--python", python, *options, "--", path], cwd=folder,
                         env=recording.plain_environment())
    if done.returncode:
        raise RuntimeError(done.stderr)
    return made


def whole(made):
    done = recording.run([recording.WRAPPER, "report", "--quiet", "--summary", "-", "--for-fleet", made])
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def parts(made, most):
    return [fleet_split.part(made, share) for share in fleet_split.shares(made, most)]


def rows(table, summary, names):
    return collections.Counter(json.dumps(row, sort_keys=True) for row in tables.rows(table, "x", summary, names))


def unequal(made, of, most):
    """What the parts say otherwise, `most` of them."""
    found, names = parts(made, most), tables.Names(fleet_add.Known(made, "x", of).header)
    if len(found) != min(most, FAMILIES) or None in found:
        return [f"{len(found)} parts, {found.count(None)} of them not to be had; {of['losses']}"]
    joined = tables.with_waiting(fleet_split.joined(found))
    one, other = tables.recording_row(of), tables.recording_row(joined)
    problems = [f"recording: {one}, {other}"] * (one != other)
    for table in tables.TABLES:
        one, other = rows(table, of, names), rows(table, joined, names)
        problems += [f"{table}: {sum((one - other).values())} and {sum((other - one).values())} rows differ, as {[*(one - other)][:1]}"] * (one != other)
    return problems


def equal(python, options, folder):
    made = record(python, folder, PROGRAM, *options)
    of = tables.with_waiting(whole(made))
    problems = [f"families {fleet_split.families(made)}"] * (len(fleet_split.families(made)) != FAMILIES)
    problems += [f"{most} parts: {problem}" for most in (2, 3, 9) for problem in unequal(made, of, most)]
    empty = {table for table in tables.TABLES if not rows(table, of, tables.Names({}))}
    return problems + [f"nothing in {empty}"] * (empty != {"requests", "snapshots", *["c_function"] * (not options)})


def requests(python, folder):
    """Those of two processes are numbered together: the parts are not what the whole is, and say so."""
    made = record(python, folder, REQUESTS)
    found = parts(made, 9)
    problems = [f"{len(found)} parts, {[each and len(each['requests']) for each in found]}"] * (None in found or len(found) != FAMILIES)
    return problems or ["joined"] * (fleet_split.joined(found) is not None) + unequal_requests(made, found)


def unequal_requests(made, found):
    """The whole has the requests of all parts."""
    of = whole(made)
    problems = [f"{of['losses']}"] * any(of["losses"].values())
    return problems + ["other requests"] * (sorted(row["pid"] for row in of["requests"]) != sorted(row["pid"] for each in found for row in each["requests"]))


def not_split(python, source, options, folder):
    """The parts would not add up: there are none."""
    return fleet_split.shares(record(python, folder, source, *options), 3)


def refused(python, folder):
    """The option of ocular-pt that parts are made by: a list that is none; what it cannot do."""
    made, problems = record(python, folder, FORKS), []
    for words, text in ((("processes=1,",), "want processes="), (("processes=^",), "want processes="),
                        (("processes=1", "follow=yes"), "recordings that have ended")):
        done = recording.run([tools.analyser(), *words, made])
        problems += [f"{words}: exit {done.returncode}: {done.stderr}"] * (done.returncode != 1 or done.stderr.count("\n") != 1 or text not in done.stderr)
    done = recording.run([tools.analyser(), "processes=1", "summary=-", made])
    return problems + [f"none of them: exit {done.returncode}"] * (done.returncode != 0 or json.loads(done.stdout)["functions"] != [])


def cases(python, chosen):
    if python != recording.pythons(chosen)[-1]:
        return
    for name, options in (("calls and loops", ()), ("C functions", ("--c-calls",))):
        yield f"the parts add up: {name}", equal, python, options
    yield "requests of several processes", requests, python
    yield "forks stay together", not_split, python, FORKS, ()
    yield "a process that was killed", not_split, python, KILLED, ()
    yield "a flight recorder", not_split, python, PROGRAM, ("--flight", "50ms")
    yield "several files", not_split, python, PROGRAM, ("--switch-output", "64K")
    yield "processes= of ocular-pt", refused, python


if __name__ == "__main__":
    recording.run_cases(cases)
