#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exceptions (--exceptions): each is one journey, from where it was first raised to where it ended. The program itself tells what
it handled where, by the tracebacks; what was first raised where, sys.settrace tells of a second run."""

import collections
import json
import os

import recording

PROGRAM = '''
import asyncio, collections, contextlib, functools, json, sys, threading

told = collections.defaultdict(list)

def note(e):
    """Where e came from, how many frames it left, and who handles it."""
    frames, at = set(), e.__traceback__
    while at:
        frames.add(at.tb_frame)
        last, at = at, at.tb_next
    origin = last.tb_frame.f_code.co_qualname
    handler = here = sys._getframe(1)
    while here:
        frames.discard(here)
        here = here.f_back
    told[type(e).__name__, origin, last.tb_lineno].append((handler.f_code.co_qualname, len(frames)))

class Own(Exception):
    pass

def fails(n):
    if n:
        return fails(n - 1)
    raise Own("here")

def handles(n):
    try:
        fails(n)
    except Own as e:
        note(e)

def by_c():
    for word in "1", "x", "2", "y":
        try:
            int(word)
        except ValueError as e:
            note(e)

def passes_finally():
    try:
        fails(1)
    finally:
        len("passing")

def passes_with():
    with contextlib.suppress(KeyError), contextlib.nullcontext():
        fails(2)

def raises_again():
    try:
        fails(0)
    except Own:
        len("again")
        raise

def raises_it():
    try:
        fails(0)
    except Own as e:
        raise e

def raises_later():
    kept = None
    try:
        fails(0)
    except Own as e:
        kept = e
    raise_from_elsewhere(kept)

def raise_from_elsewhere(e):
    raise e

def chains():
    try:
        fails(1)
    except Own as e:
        note(e)
        raise KeyError("another") from e

def through_sorted():
    sorted([2, 1], key=lambda x: fails(0))

def through_map():
    list(map(fails, [0, 1]))

def through_partial():
    functools.partial(fails, 2)()

def generator():
    yield 1
    fails(0)

def through_generator():
    for _ in generator():
        pass

def delegates():
    yield from generator()

def through_yield_from():
    list(delegates())

def patient():
    while True:
        try:
            yield
        except KeyError as e:
            note(e)

def throws():
    g = patient()
    next(g)
    for _ in range(3):
        g.throw(KeyError("thrown"))

@contextlib.contextmanager
def manager():
    try:
        yield
    except LookupError as e:
        note(e)

def managed():
    with manager():
        {}["nothing"]

async def coroutine(n):
    await asyncio.sleep(0)
    fails(n)

async def awaits():
    try:
        await coroutine(1)
    except Own as e:
        note(e)

def grouped():
    try:
        raise ExceptionGroup("two", [ValueError(1), KeyError(2)])
    except* ValueError:
        pass
    except* KeyError:
        pass

def star_rest():
    try:
        try:
            raise ExceptionGroup("three", [ValueError(1), KeyError(2), Own(3)])
        except* ValueError:
            len("one of them")
    except ExceptionGroup as e:
        note(e)

class Lacks:
    def __getattr__(self, name):
        raise AttributeError(name)

def dropped_in_c():
    getattr(Lacks(), "x", None)
    hasattr(Lacks(), "y")
    try:
        raise AttributeError("of the same type, often at the same address")
    except AttributeError as e:
        note(e)

def nested():
    try:
        fails(0)
    except Own as outer:
        for i in range(40):
            try:
                int("z")
            except ValueError as e:
                note(e)
        try:
            raise
        except Own as e:
            note(e)

class Closes:
    def __del__(self):
        try:
            [][1]
        except IndexError as e:
            note(e)

def unwinds_with_del():
    x = Closes()
    fails(0)

def catches(f):
    try:
        f()
    except (Own, KeyError) as e:
        note(e)

def many_types():
    for i in range(2000):
        try:
            raise type(f"E{i % 7}", (Exception,), {})
        except Exception as e:
            note(e)

def in_thread():
    fails(1)

def main():
    for n in 0, 1, 2, 50:
        handles(n)
    for _ in range(100):
        handles(1)
    by_c()
    for f in (passes_finally, passes_with, raises_again, raises_it, raises_later, chains, through_sorted, through_map,
              through_partial, through_generator, through_yield_from, unwinds_with_del):
        catches(f)
    throws()
    managed()
    asyncio.run(awaits())
    grouped()
    star_rest()
    dropped_in_c()
    nested()
    many_types()
    thread = threading.Thread(target=in_thread)
    threading.excepthook = lambda args: None
    thread.start()
    thread.join()

'''
MAIN = PROGRAM + """
main()
json.dump([[*key, rows] for key, rows in told.items()], sys.stdout)
sys.stdout.flush()
sys.exit(3)
"""
# The same under sys.settrace: what was first raised where.
WITNESS = PROGRAM + """
note = lambda e: None
first = collections.Counter()
def trace(frame, event, arg):
    if event == "exception" and frame.f_code.co_filename == __file__ and arg[2] and arg[2].tb_next is None:
        first[arg[0].__name__, frame.f_code.co_qualname, frame.f_lineno] += 1
    return trace
threading.settrace(trace)
sys.settrace(trace)
main()
sys.settrace(None)
json.dump([[*key, n] for key, n in first.items()], sys.stdout)
"""


def write(folder, source):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    return path


def recorded(python, folder, mode, *options):
    """What the program told, and the summary's rows of it: {(type, qualname, line): row}."""
    path = write(folder, MAIN)
    record = os.path.join(folder, "rec")
    environment = recording.traced_environment(mode, OCULAR_ALSO=" ".join(options))
    done = recording.record(record, [python, path], environment)
    if done.returncode != 3:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    rows = [row for row in recording.summary(record)["exceptions"] if row["file"] == path]
    return json.loads(done.stdout), {(row["type"].split(".")[-1], row["qualname"], row["line"]): row for row in rows}


def check(key, notes, row):
    """The summary's row against what the program noted of the exceptions that came from there."""
    handlers = collections.Counter(name for name, _ in notes)
    wanted = {"handled": len(notes), "frames": sum(n for _, n in notes), "most_frames": max(n for _, n in notes)}
    found = {name: row[name] for name in wanted}
    problems = [f"{key}: {found}, not {wanted}"] * (found != wanted)
    name, n = handlers.most_common(1)[0]
    if row["handler"]["count"] > n or (len(handlers) == 1 and row["handler"]["qualname"] != name):
        problems.append(f"{key}: handled by {row['handler']}, not {handlers}")
    return problems


# What the program does not note: the thread's, which left three frames more, and its own count of it.
THREAD = ("Own", "fails")


def test_journeys(python, mode, options, folder):
    told, rows = recorded(python, folder, mode, *options)
    problems = []
    for *key, notes in told:
        row = rows.get(tuple(key))
        if not row:
            problems.append(f"{key}: not told")
            continue
        if tuple(key[:2]) == THREAD:
            row["handled"] -= 1
            row["frames"] -= 3  # fails() twice, in_thread() and Thread.run(); the first fails() counts for itself
            row["count"] -= 1
            row["frames"] -= 1
        problems += check(tuple(key), notes, row)
    dropped = {key[:2]: row["dropped"] for key, row in rows.items() if row["dropped"]}
    left = [key for key, row in rows.items() if row["left"]]
    if dropped != {("AttributeError", "Lacks.__getattr__"): 2, ("GeneratorExit", "patient"): 1} or [key[0] for key in left] != ["SystemExit"]:
        problems.append(f"{dropped} dropped, {left} left")
    return problems


def test_first_raised(python, mode, options, folder):
    _, rows = recorded(python, folder, mode, *options)
    done = recording.run([python, write(folder, WITNESS)], env=recording.plain_environment())
    if done.returncode:
        return [done.stderr]
    truth = {tuple(key): n for *key, n in json.loads(done.stdout)}
    found = {key: row["count"] for key, row in rows.items() if key[0] != "SystemExit"}
    return [f"{key}: told {found.get(key)}, by sys.settrace {truth.get(key)}" for key in truth.keys() | found.keys()
            if found.get(key) != truth.get(key)]


def cases(python, _):
    version = recording.version(python) + "t" * recording.is_free(python)
    yield f"{version} journeys", test_journeys, python, "calls", ["exceptions"]
    yield f"{version} journeys, with C functions", test_journeys, python, "adaptive", ["exceptions", "c_calls"]
    yield f"{version} journeys, mode full", test_journeys, python, "full", []
    yield f"{version} first raised", test_first_raised, python, "calls", ["exceptions"]


if __name__ == "__main__":
    recording.run_cases(cases)
