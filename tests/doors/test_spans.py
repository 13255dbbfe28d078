#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the program says itself (ocular.span, instant, counter): counts as the program counts, times as its own clock has them, slices
in the functions that they are in; nothing at all while nobody records."""

import collections
import glob
import json
import os
import re
import struct

import recording

PROGRAM = """
import asyncio, json, os, sys, threading, time
sys.path.insert(0, FOLDER)
import ocular
clock, told, lock = time.perf_counter_ns, {}, threading.Lock()
def note(name, ns):
    with lock:
        told.setdefault(name, []).append(ns)
class around:
    '''Measured outside of the span: never shorter.'''
    def __init__(self, name): self.name = name
    def __enter__(self): self.begin = clock()
    def __exit__(self, *e): note(self.name, clock() - self.begin)
class within(around):
    '''Inside of it: never longer.'''
    def __exit__(self, *e): note("within " + self.name, clock() - self.begin)
def spin(ns):
    end = clock() + ns
    while clock() < end: pass
def nested():
    for i in range(20):
        with around("outer"), ocular.span("outer", i=i, text="a\\"b\\\\c\\u00e9"), within("outer"):
            with around("inner"), ocular.span("inner"), within("inner"): spin(100000)
            ocular.instant("half", i=i)
            ocular.counter("level", i / 4)
@ocular.span("decorated")
def fact(n):
    return n * fact(n - 1) if n else 1
def recursion():
    with around("decorated, all"): fact(10)
def fails():
    try:
        with around("fails"), ocular.span("fails"): 1 / 0
    except ZeroDivisionError: pass
def on_threads():
    def work():
        for _ in range(10):
            with around("thread"), ocular.span("thread"), within("thread"): spin(50000)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
async def job(n):
    with around("job"), ocular.span("job"), within("job"): await asyncio.sleep(0.002)
@ocular.span("coroutine")
async def coroutine(): await asyncio.sleep(0)
async def tasks(): await asyncio.gather(*[job(n) for n in range(5)], coroutine())
@ocular.span("generator")
def generate(): yield from range(3)
def other_order():
    a, b = ocular.span("a"), ocular.span("b")
    a.__enter__(); b.__enter__(); a.__exit__(None, None, None); b.__exit__(None, None, None)
def unmatched():
    ocular.span("never").__enter__()
    ocular.span("only its end").__exit__(None, None, None)
def large():
    with ocular.span("large", data=["x" * 400] * 20, deep=told): pass
def logs():
    import logging
    log = logging.getLogger("shop")
    log.addHandler(ocular.LogHandler())
    for i in range(3): log.warning("number %d of %s", i, "three")
    log.debug("not wanted")
def wrong():
    for call in (lambda: ocular.span(1), lambda: ocular.span(), lambda: ocular.instant("a", "b"), lambda: ocular.counter("c", "d"),
                 lambda: ocular.span("x")(3)):
        try: call()
        except TypeError: told["errors"] = told.get("errors", 0) + 1
def all_of_them():
    for f in nested, recursion, fails, on_threads, other_order, unmatched, large, logs: f()
    asyncio.run(tasks())
    list(generate())
"""
MAIN = PROGRAM + """
all_of_them()
wrong()
pid = os.fork()
if not pid:
    with ocular.span("child"): pass
    os._exit(0)
os.waitpid(pid, 0)
json.dump(told, sys.stdout)
"""
# In tasks: in a coroutine inside of the task's, overlapping, without an end; and one of which no task knows.
TASKS = PROGRAM + """
def both(name): # as `with around, span, within`, in two steps
    stack = contextlib.ExitStack()
    for what in around(name), ocular.span(name), within(name): stack.enter_context(what)
    return stack
async def child():
    for _ in range(3):
        with around("child"), ocular.span("child"), within("child"): await asyncio.sleep(0.001)
async def handle(overlap):
    with around("handle"), ocular.span("handle", n=1), within("handle"):
        await child()
        if overlap:
            a = both("a")
            await asyncio.sleep(0)
            b = both("b")
            await asyncio.sleep(0)
            a.close()
            c = both("c")
            await asyncio.sleep(0)
            b.close()
            c.close()
    if overlap: ocular.span("endless").__enter__()
    await asyncio.sleep(0)
async def main():
    await asyncio.gather(asyncio.create_task(handle(False), name="first"), asyncio.create_task(handle(True), name="second"))
import contextlib
with ocular.span("in no task"): asyncio.run(main())
json.dump(told, sys.stdout)
"""
# Spans that were made before, begun before, and are used in two sessions.
SESSIONS = PROGRAM + """
made = ocular.span("made before")
made.__enter__()
for n in 1, 2:
    ocular.start_tracing(output=OUTPUT + str(n), perfetto=None, console=False)
    made.__exit__(None, None, None)
    with made: pass
    fact(3)
    ocular.stop_tracing()
    with made: pass
all_of_them()
json.dump(told, sys.stdout)
"""

# What goes with a label: each value is said by itself and between two others, and by which words is up to the extension.
VALUES = r"""
import json, sys
sys.path.insert(0, FOLDER)
import ocular
class Name(str):
    def __hash__(self): raise RuntimeError
    __eq__ = __hash__
class Number(int): pass
values = [0, -1, 1 << 30, (1 << 43) - 1, 1 << 43, -(1 << 43), -(1 << 43) - 1, (1 << 63) - 1, -(1 << 63), 1 << 63, -(1 << 70), Number(7),
          0.0, -0.0, 0.5, 0.1, -1e300, 5e-324, 2.0**60 + 2**9, float("inf"), float("nan"), True, False, None, object(),
          "", "abcde", "abcdef", "\0", 'a"b\\c\n', "\u00e9\U0001f40d", "\ud800", Name("own"), "x" * 100, "x" * 101, "\u00e9" * 50,
          "\u00e9" * 51, "y" * 500, Name("z" * 501), "w" * 5000]
nested = [7, -(1 << 62)]
for _ in range(18): nested = [nested]
small = [[1, {"a": (2,)}], {}, [], (), [[], {"a": {}}], {"own": [0.1, None, Name("\u00e9"), True]}, {"": "y" * 501}, list(range(25)),
         {"v" * 101: 1}, list("abcdef"), nested]
# More than the words have room for, also because of what comes after it; and a key that is no text.
large = [list(range(64)), {"k%d" % i: [i] for i in range(20)}, {3: 4, 5: [6]}]
def said(name, **data):
    ocular.instant(name, **data)
    with ocular.span(name, **data): pass
for v in [*values, *small, *large]:
    said("one", v=v)
    said("three", before=1, v=v, after="x")
many = {"key %d" % i: "value %d of many" % i for i in range(31)}
said("many", **many)
said("too many", **many, last=1)
# More at once than memory is kept for, which the next ones have: each has its own values, and more of them than there is room for.
referred = sys.getrefcount(ocular.span)
for turn in range(3):
    open_ones = [ocular.span("nested", **{"k%d" % k: turn * 100 + k for k in range(i % 7)}) for i in range(40)]
    for each in open_ones: each.__enter__()
    while open_ones: open_ones.pop(len(open_ones) * 7 // 11).__exit__(None, None, None)
del each
assert sys.getrefcount(ocular.span) == referred
print(json.dumps([values, small, large], default=lambda _: None))
"""
# Words are lost, or overwritten: what is shown says the same three times.
TORN = """
import os, sys, time
sys.path.insert(0, FOLDER)
import ocular
for i in range(20000):
    ocular.instant("torn", a=i, b=i + (1 << 50), c="text %d" % i)
if len(sys.argv) > 1:
    assert ocular.take_snapshot("now") is True
    table = "%s/codes-%d.jsonl" % (os.environ["OCULAR_DIR"], os.getpid())
    while b'"trigger":"take_snapshot"' not in open(table, "rb").read(): time.sleep(0.02)
"""


def source(text, folder):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("FOLDER", repr(os.path.join(recording.BUILD, "python"))).replace("OUTPUT", repr(folder + "/rec")))
    return path


# That the program does not time itself: how many.
COUNTS = {"decorated": 11, "coroutine": 1, "generator": 1, "a": 1, "b": 1, "never": 0, "large": 1, "child": 1}


def record(python, folder, mode="calls"):
    done = recording.record(folder + "/rec", [python, source(MAIN, folder)], recording.traced_environment(mode))
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def test_summary(python, folder):
    told = record(python, folder)
    found = {row["name"]: row for row in recording.summary(folder + "/rec")["spans"]}
    problems = [f"{told.pop('errors', 0)} errors, not 5"] if told.get("errors") != 5 else []
    told.pop("errors", None)
    most = told.pop("decorated, all")
    inside = {name: sum(told.pop("within " + name)) for name in ("outer", "inner", "thread", "job")}
    for name, times in told.items():
        row = found.get(name, {})
        if row.get("count") != len(times) or row["total_ns"] > sum(times) or row["longest_ns"] > max(times) or row["unfinished"]:
            problems.append(f"{name}: {row}, not {len(times)} times, {sum(times)} ns")
        if row["total_ns"] < inside.get(name, 0):
            problems.append(f"{name}: {row['total_ns']} ns, the program measured {inside[name]} inside")
    problems += [f"{name}: {found.get(name)}, not {n} times" for name, n in COUNTS.items() if found.get(name, {}).get("count") != n]
    if found["never"]["unfinished"] != 1 or found["decorated"]["longest_ns"] > most[0]:
        problems.append(f"{found['never']}, {found['decorated']}")
    return problems + [f"{name}: told" for name in found.keys() - told.keys() - COUNTS.keys()]


def test_timeline(python, folder):
    """Slices nest with functions: each E closes the innermost open B, and a span is in the function that it is written in, and goes on
    where its coroutine does: `job` is suspended once."""
    record(python, folder)
    out = os.path.join(folder, "trace.json")
    done = recording.run([recording.WRAPPER, "report", "--perfetto", out, folder + "/rec"], env=recording.plain_environment())
    with open(out, encoding="utf-8") as file:
        events = json.load(file)
    problems, stacks, inside = [done.stderr] * bool(done.returncode), collections.defaultdict(list), collections.Counter()
    for e in events:
        stack = stacks[e["pid"], e.get("tid")]
        if e["ph"] == "B":
            inside[stack[-1] if stack else None, e["name"]] += 1
            stack.append(e["name"])
        elif e["ph"] == "E" and (not stack or stack.pop() != e["name"]):
            problems.append(f"{e} closes another slice")
    wanted = {("nested", "outer"): 20, ("outer", "inner"): 20, ("work", "thread"): 40, ("job", "job"): 10, ("fails", "fails"): 1}
    found = {pair: sum(n for (a, b), n in inside.items() if a and a.split(".")[-1] == pair[0] and b == pair[1]) for pair in wanted}
    marks = [e["args"]["data"] for e in events if e["ph"] == "i" and e["name"] == "half"]
    logged = [e["args"]["data"] for e in events if e["name"] == "log: shop"]
    if logged != [f"{{'level':'WARNING','message':'number {i} of three'}}" for i in range(3)]:
        problems.append(f"{logged}")
    levels = [e["args"]["value"] for e in events if e["ph"] == "C" and e["name"] == "level"]
    if found != wanted or marks != [f"{{'i':{i}}}" for i in range(20)] or levels != [i / 4 for i in range(20)]:
        problems.append(f"{found}, {marks[:3]}, {levels[:5]}")
    return problems[:5]


def in_tasks(path):
    """Whole spans on the rows of tasks: [(task, row, name, begin, end)], ns; and which have no end. A row has one at a time."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    rows = {at: re.fullmatch(r"spans (?:(\d+) )?of (.*)", name) for at, name in names.items()}
    spans, begun, endless = [], {}, []
    for e in events:
        row, at = rows.get((e["pid"], e.get("tid"))), (e["pid"], e.get("tid"))
        if row and e["ph"] == "B":
            assert at not in begun and e["cat"] == "span", e
            begun[at] = e
        elif row and e["ph"] == "E":
            begin = begun.pop(at)
            spans.append((row[2], int(row[1] or 1), begin["name"], *(round(1000 * x["ts"]) for x in (begin, e))))
        elif row and e["name"] == "NO END":
            endless.append(begun[at]["name"])
    assert not begun, begun
    # below the task's own row, which is the first of as many as there may be
    assert all(names[pid, tid - int(row[1] or 1)] == row[2] for (pid, tid), row in rows.items() if row), names
    return spans, endless


def test_tasks(python, folder):
    """From beginning to end, whoever runs meanwhile, as the summary has them and within what the program measured; and on which
    row each is."""
    done = recording.record(folder + "/rec", [python, source(TASKS, folder)], recording.traced_environment("calls"))
    if done.returncode:
        return [done.stderr]
    told = json.loads(done.stdout)
    rows = {row["name"]: row for row in recording.summary(folder + "/rec", f"perfetto={folder}/trace.json")["spans"]}
    spans, endless = in_tasks(folder + "/trace.json")
    problems = [] if endless == ["endless"] else [f"without an end: {endless}"]
    for name in rows.keys() - {"endless", "in no task"}:
        times = [end - begin for _, _, n, begin, end in spans if n == name]
        if len(times) != rows[name]["count"] or sum(times) != rows[name]["total_ns"]:
            problems.append(f"{name}: {len(times)} of {sum(times)} ns, the summary has {rows[name]}")
        inside, outside = (sum(told[key + name]) for key in ("within ", ""))
        if not inside <= sum(times) <= outside:
            problems.append(f"{name}: {sum(times)} ns, the program measured {inside} to {outside}")
    found = collections.Counter((task, row, name) for task, row, name, *_ in spans)
    wanted = {("first", 1, "handle"): 1, ("second", 1, "handle"): 1, ("first", 2, "child"): 3, ("second", 2, "child"): 3,
              ("second", 1, "endless"): 1, ("second", 2, "a"): 1, ("second", 3, "b"): 1, ("second", 2, "c"): 1}
    return problems + [f"{found}"] * (found != wanted)


def test_sessions(python, folder):
    done = recording.run([python, source(SESSIONS, folder)], env=recording.plain_environment())
    if done.returncode:
        return [done.stderr]
    told = []
    for n in "12":
        told.append({row["name"]: row["count"] for row in recording.summary(folder + "/rec" + n)["spans"]})
    return [f"{told}"] * (told != [{"made before": 1, "decorated": 4}] * 2)


def decoded(words, table):
    """The object that VALUE words say, by docs/marker.md alone."""
    *values, last = words
    what, value = last >> 44, last & (1 << 44) - 1
    if what == 0:
        assert not values
        return table[value]["data"]
    assert what == 1 and value >> 24 == len(values), words
    left, keys = iter(values), table[value & 0xffffff]["name"]
    found = [decoded_value(left, table) for _ in keys]
    assert next(left, None) is None, words
    return dict(zip(keys, found))


def decoded_value(words, table, rest=None):
    word = next(words)
    what, value = word >> 44, word & (1 << 44) - 1
    if what == 2:
        return value - (value >> 43 << 44) if rest is None else (rest << 44 | value) - (rest >> 19 << 64)
    if what == 3:
        return struct.unpack("<d", struct.pack("<Q", value << 20 | (rest or 0)))[0]
    if what == 4:
        return decoded_value(words, table, value)
    if what == 5:
        return decoded_text(words, value).decode()
    if what == 6:
        return table[value]["name"]
    if what == 7:
        return [None, False, True, "\u2026"][value]
    if what == 8:
        return [decoded_value(words, table) for _ in range(value)]
    assert what == 9, word
    return {decoded_value(words, table): decoded_value(words, table) for _ in range(value)}


def decoded_text(words, value):
    text = value.to_bytes(6, "little")[:value >> 40 & 7]
    return text + (decoded_text(words, next(words) & (1 << 44) - 1) if value >> 43 else b"")


def data_of(folder):
    """[(name, data)] of instants and begins of spans, by the events text; and the table's lines by their kinds."""
    with open(glob.glob(folder + "/codes-*.jsonl")[0], encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    table, words, found = {line["id"]: line for line in lines if "id" in line and line["kind"] in ("label", "data", "keys", "text")}, [], []
    recording.report(folder, f"events={folder}/events.txt")
    with open(folder + "/events.txt", encoding="utf-8", newline="\n") as file:
        rows = [line.split("\t") for line in file if "\tEXTENSION\t" in line]
    for row in rows:
        if row[7] not in ("7", "12"):
            continue
        if row[7] == "12":
            words.append(int(row[8]))
            continue
        if int(row[8]) >> 44 < 2 and words:
            found.append((table[int(row[8]) >> 20 & 0xffffff]["name"], decoded(words, table)))
        words = []
    return found, collections.Counter(line["kind"] for line in table.values())


def same(a, b):
    """Equal, of one type, and -0.0 is not 0.0."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and (struct.pack("<d", a) == struct.pack("<d", b) if isinstance(a, float) else a == b)


def as_told(value, depth=1):
    if isinstance(value, float) and value - value or isinstance(value, int) and not -1 << 63 <= value < 1 << 63:
        return None
    if isinstance(value, str):
        return (value if len(value) <= 500 else value[:500] + "\u2026").replace("\ud800", "\\ud800")
    if isinstance(value, list):  # 16 containers within each other, of which the label's data is the first
        return [as_told(each, depth + 1) for each in value] if depth < 16 else None
    if isinstance(value, dict):
        return {as_told(key): as_told(each, depth + 1) for key, each in value.items()} if depth < 16 else None
    return value


def as_shown(value):
    """The events text has the words' own numbers."""
    return None if isinstance(value, float) and value - value else value


def test_values(python, folder):
    done = recording.record(folder + "/rec", [python, source(VALUES, folder)], recording.traced_environment("calls"))
    if done.returncode:
        return [done.stderr]
    values, small, large = json.loads(done.stdout)
    found, kinds = data_of(folder + "/rec")
    many = {f"key {i}": f"value {i} of many" for i in range(31)}
    wanted = []
    for value in map(as_told, [*values, *small, *large]):
        wanted += 2 * [("one", {"v": value})] + 2 * [("three", {"before": 1, "v": value, "after": "x"})]
    wanted += 2 * [("many", many)] + 2 * [("too many", {**many, "last": 1})]
    wanted += [("nested", {f"k{k}": turn * 100 + k for k in range(i % 7)}) for turn in range(3) for i in range(40) if i % 7]
    got = [(name, {key: as_shown(value) for key, value in data.items()}) for name, data in found]
    problems = [f"{a} {str(b)[:200]}, not {c} {str(d)[:200]}" for (a, b), (c, d) in zip(got, wanted) if a != c or not same(b, d)]
    if len(got) != len(wanted):
        problems.append(f"{len(got)} of {len(wanted)}")
    # More than fit, and a key that is no text, are lines of their own each time; all else is told once, if at all. 19 of the 31 texts
    # have no room in the words beside the others; the program's own text has three keys of dicts: "a", "own", "".
    texts = sum(isinstance(value, str) and (len(value.encode("utf-8", "replace")) > 100 or value == "\ud800") for value in values) + 2
    if kinds != {"label": 5, "keys": 3 + 6, "text": texts + 19 + 3, "data": 2 * 2 * len(large) + 2}:
        problems.append(f"{kinds}, {len(large)} large ones, {texts} texts")
    return problems[:5]


def torn(python, folder, *options, snapshot=()):
    """(problems, how many marks are shown, with data) of a recording of which parts are missing."""
    done = recording.record(folder + "/rec", [python, source(TORN, folder), *snapshot], recording.traced_environment("calls"), *options)
    if done.returncode:
        return [done.stderr], 0, 0
    out = os.path.join(folder, "trace.json")
    done = recording.run([recording.WRAPPER, "report", "--perfetto", out, folder + "/rec"], env=recording.plain_environment())
    with open(out, encoding="utf-8") as file:
        marks = [e.get("args", {}).get("data") for e in json.load(file) if e["ph"] == "i" and e["name"] == "torn"]
    shown = [json.loads(data.replace("'", '"')) for data in marks if data]
    wrong = [data for data in shown if data != {"a": data.get("a"), "b": data.get("a", 0) + (1 << 50), "c": f"text {data.get('a')}"}]
    return [done.stderr] * bool(done.returncode) + [f"{data}" for data in wrong[:5]], len(marks), len(shown)


def test_lost(python, folder):
    problems, marks, _ = torn(python, folder, "--wait-ms", "0", "--ring-records", "256")
    missing = recording.summary(folder + "/rec")["losses"]["markers"]
    return problems + [f"{marks} marks, no word missing"] * (marks < 20000 and not missing)


def test_flight(python, folder):
    problems, marks, shown = torn(python, folder, "--flight", "64K", snapshot=["snapshot"])
    return problems + [f"{marks} marks, {shown} with data"] * (not marks > shown - 1 > 0)


UNHEARD = """
import logging, sys
sys.path.insert(0, {path!r})
import ocular
made = []
class Message:
    def __str__(self):
        made.append("text")
        return "text"
class Filter(logging.Filter):
    def filter(self, record):
        made.append("filter")
        return True
log, handler = logging.getLogger("shop"), ocular.LogHandler()
handler.addFilter(Filter())
log.addHandler(handler)
log.warning(Message())
ocular.start_tracing(output={record!r}, mode="calls", perfetto=None, console=False)
log.warning(Message())
ocular.stop_tracing()
log.warning(Message())
print(made)
"""


def test_unheard(python, folder):
    """While nobody records a message is not even made; nor are the handler's filters asked."""
    source = UNHEARD.format(path=os.path.join(recording.BUILD, "python"), record=os.path.join(folder, "rec"))
    done = recording.run([python, "-c", source], env=recording.plain_environment())
    return [] if done.stdout == "['filter', 'text']\n" else [done.stdout, done.stderr]


def cases(python, _):
    version = recording.version(python) + "t" * recording.is_free(python)
    yield f"{version} counts and times", test_summary, python
    yield f"{version} on the timeline", test_timeline, python
    yield f"{version} of tasks", test_tasks, python
    yield f"{version} values", test_values, python
    yield f"{version} values of which words are lost", test_lost, python
    yield f"{version} values in a flight recorder", test_flight, python
    yield f"{version} sessions", test_sessions, python
    yield f"{version} what is logged while nobody records", test_unheard, python


if __name__ == "__main__":
    recording.run_cases(cases)
