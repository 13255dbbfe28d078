#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a task is cancelled in, or what fails in it, runs below all that awaits it.

The witness is Python's own stack, by f_back, in each call of a function of the program. CPython has no event of a coroutine through which
an exception is thrown."""

import json
import os

import recording

COMMON = """
import asyncio, json, random, sys, types
rnd = random.Random(int(sys.argv[1]))
stacks = []

def work():
    frame, names = sys._getframe(1), []
    while frame and frame.f_code.co_name not in ("_run", "run_until_complete"):
        if frame.f_code.co_filename == __file__:
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    stacks.append(names[::-1])
"""

# Chains of coroutines, and of generators in them; each may sleep, work and go on, or handle what is thrown, when it is thrown into.
CHAINS = """
# Not by inner.__await__(): where an object in C is between, Python's own stack lacks what is outside of it.
@types.coroutine
def by_hand(inner):
    try:
        return (yield from inner)
    finally:
        work()

def link_0(n, future):
    return again(n, future)

async def link_1(n, future):
    try:
        await chain(n, future)
    finally:
        work()

async def link_2(n, future):
    try:
        await by_hand(chain(n, future))
    except (asyncio.CancelledError, KeyError):
        work()
        await asyncio.sleep(0)
        work()
        raise

async def link_3(n, future):
    for i in range(2):
        try:
            await chain(n, future)
            work()
        except KeyError:
            await nested(3)
            work()

async def again(n, future):
    await chain(n, future)
    work()

async def nested(n):
    if n:
        await nested(n - 1)
        work()
    else:
        await asyncio.sleep(0)

def chain(n, future):
    return rnd.choice((link_0, link_1, link_2, link_3))(n - 1, future) if n else waits(future)

async def waits(future):
    work()
    try:
        await future
    finally:
        work()
        if rnd.random() < .3:
            await nested(2)
            work()

async def other():
    for i in range(3):
        await asyncio.sleep(0)
        work()

async def one(how):
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    task = asyncio.create_task(chain(rnd.randrange(1, 7), future))
    beside = asyncio.create_task(other())
    for i in range(rnd.randrange(1, 4)):
        await asyncio.sleep(0)
    if how == "fails" and not future.done():
        future.set_exception(KeyError())
    elif how == "returns" and not future.done():
        future.set_result(None)
    else:
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.gather(task, beside, return_exceptions=True)
    work()

async def main():
    await asyncio.gather(*(one(rnd.choice(("cancelled", "fails", "returns"))) for i in range(60)))
    for how in ("cancelled", "fails", "returns") * 5:
        try:
            async with asyncio.timeout(9):
                await one(how)
        finally:
            work()
asyncio.run(main())
json.dump(stacks, open(sys.argv[2], "w"))
"""

# What is awaited is thrown into directly, by a function, and by another task in a step of its own: nothing else is on the stack.
DIRECT = """
def inner():
    while True:
        try:
            yield
        except KeyError:
            work()

@types.coroutine
def awaits(generator):
    yield from generator

async def outer(generator):
    await awaits(generator)

async def beside(generator):
    for i in range(150):
        await asyncio.sleep(0)
        generator.throw(KeyError)

def function(generator):
    generator.throw(KeyError)

async def main():
    generators = [inner() for i in range(2)]
    tasks = [asyncio.create_task(outer(generator)) for generator in generators]
    await asyncio.sleep(0)
    other = asyncio.create_task(beside(generators[0]))
    for i in range(150):
        function(generators[rnd.randrange(2)])
        await asyncio.sleep(0)
    await other
    for task in tasks:
        task.cancel()
asyncio.run(main())
json.dump(stacks, open(sys.argv[2], "w"))
"""

# Tasks written in Python make their steps in Python.
PYTHON = """
_old = asyncio.run
def run(main):
    with asyncio.Runner() as runner:
        runner.get_loop().set_task_factory(lambda loop, coro, **more: asyncio.tasks._PyTask(coro, loop=loop, **more))
        runner.run(main)
asyncio.run = run
"""


def recorded(python, folder, source, seed, **more):
    path, record, truth = (os.path.join(folder, name) for name in ("program.py", "rec", "truth.json"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    env = recording.traced_environment("calls", **more)
    done = recording.record(record, [python, path, str(seed), truth], env)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    with open(truth, encoding="utf-8") as file:
        return json.load(file), record, path


def told(record, path):
    """Of each slice of work(), the program's functions around it in its step; in order of time."""
    name = os.path.join(record, "trace.json")
    recording.report(record, f"perfetto={name}", "iterations=none")
    with open(name, encoding="utf-8") as file:
        events = json.load(file)
    stack, stacks, mine = [], [], os.path.basename(path) + ":"
    for e in events:
        if e["ph"] == "B" and (mine in e.get("cat", "") or e["name"] == "Handle._run"):
            stack.append(e["name"])
            if e["name"] == "work":
                since = len(stack) - stack[::-1].index("Handle._run") if "Handle._run" in stack else 0
                stacks.append([n.rpartition(".")[2] for n in stack[since:-1] if n != "program.py"])
        elif e["ph"] == "E" and stack and stack[-1] == e["name"]:
            stack.pop()
    return stacks


def test_chains(python, source, seed, more, folder):
    wanted, record, path = recorded(python, folder, source, seed, **more)
    found = told(record, path)
    summary = recording.summary(record)
    print(f"# stacks compared {len(wanted)}, of {len(set(map(tuple, wanted)))} kinds, deepest {max(map(len, wanted))}")
    problems = [f"{i}: {f}, wanted {w}" for i, (f, w) in enumerate(zip(found, wanted)) if f != w]
    problems += [f"{len(found)} stacks, wanted {len(wanted)}"] * (len(found) != len(wanted)) + ["too few"] * (len(wanted) < 200)
    return (problems + [f"{k}: {n}" for k, n in summary["losses"].items() if n])[:20]


def cases(python, _):
    version = recording.version(python)
    for name, source, more in (("tasks", CHAINS, {}), ("tasks in Python", PYTHON + CHAINS, {}), ("thrown into directly", DIRECT, {}),
                               ("only the program's own code", CHAINS, {"OCULAR_INCLUDE": "__main__"}),
                               ("calls of C functions, too", CHAINS, {"OCULAR_ALSO": "c_calls"})):
        yield f"{version} {name}", test_chains, python, COMMON + source, 1, more
    yield f"{version} tasks, 2", test_chains, python, COMMON + CHAINS, 2, {}


if __name__ == "__main__":
    recording.run_cases(cases)
