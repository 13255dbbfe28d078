#!/usr/bin/env python3
"""The numbers of the summary are exactly those of a pure-Python counter of the same run.

    test_numbers.py [--python PY]... [--only TEXT]    (a part of "3.12 precise json")

Calls, recursive calls, resumptions, events of each kind, loop trips and entries; in `precise` and `full` also opcodes and
pairs: of the program, of each function, of each loop. Sums must add up: self times, and times of
opcodes, to the traced time; no share exceeds 100 %.

The truth programs that run in one process are counted, and programs of the standard library, with only their own
files traced: both tools then see the same, from the first event to the last.
"""

import ast
import collections
import functools
import glob
import itertools
import os

import legends
import recording

# Left out: other processes, other interpreters, no orderly end: counts of forks are in their parent's table.
NOT_COUNTED = ("abort", "fork_in_thread", "forks", "kill_self", "multiprocessing_fork", "multiprocessing_spawn",
               "os_exit", "signals", "subinterpreters", "subprocesses", "exec_replaced", "settrace")
MORE_MODES = {"loops": ("adaptive", "full"), "while_else": ("adaptive",), "generators": ("adaptive", "full"),
              "coroutines": ("adaptive",), "recursion": ("calls",), "threads": ("adaptive",), "exceptions": ("lines", "full"),
              "handlers": ("adaptive", "full")}

# name: (its files in the standard library, what is run)
LIBRARY = {
    "json": (("json",), """
import json, json.scanner
class Decoder(json.JSONDecoder):
    def __init__(self):
        super().__init__()
        self.parse_string = json.decoder.py_scanstring
        self.scan_once = json.scanner.py_make_scanner(self)
data = [{"name": "n%d" % i, "values": list(range(i % 7)), "more": {"x": i / 3, "y": None}} for i in range(40)]
assert json.loads(json.dumps(data, indent=2), cls=Decoder) == data
"""),
    "ast": (("ast.py",), """
import ast, string
with open(string.__file__) as f:
    tree = ast.parse(f.read())
text = ast.unparse(tree)
names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
print(len(text), len(names), len(ast.dump(tree)))
"""),
    "re": (("re",), r"""
import re
for i in range(6):
    re.purge()
    for p in (r"(?P<year>\d{4})-(\d\d)-(\d\d)", r"[a-z]+|[^\s,;]{2,5}?$", r"(a|b|(?:c|d)+)*x{3}", r"(?i:foo(?=bar))",
              r"\b(?:one|two|three|thirteen)\b"):
        re.compile(p).findall("one 2024-05-06 fooBAR abcdx")
print(re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world"), re.escape("a.b*c"))
"""),
    "dataclasses": (("dataclasses.py", "inspect.py"), """
import dataclasses, inspect
for i in range(5):
    @dataclasses.dataclass(order=True, frozen=bool(i % 2))
    class Point:
        x: int
        y: int = 0
        tags: list = dataclasses.field(default_factory=list)
    p = dataclasses.replace(Point(1, 2), y=i)
    print(dataclasses.asdict(p), inspect.signature(Point))
"""),
    "asyncio": (("asyncio",), """
import asyncio
async def produce(queue, n):
    for i in range(n):
        await queue.put(i)
        await asyncio.sleep(0)
    await queue.put(None)
async def consume(queue):
    total = 0
    while (item := await queue.get()) is not None:
        total += item
    return total
async def main():
    queue = asyncio.Queue(2)
    async with asyncio.timeout(30):
        got = await asyncio.gather(consume(queue), produce(queue, 40))
    task = asyncio.create_task(asyncio.sleep(100))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    print(got)
asyncio.run(main())
"""),
    "difflib": (("difflib.py",), """
import difflib
a = ["line %d\\n" % i for i in range(60)]
b = [line.replace("3", "three") for line in a if not line.endswith("7\\n")]
print(len("".join(difflib.unified_diff(a, b))), len(list(difflib.ndiff(a[:12], b[:12]))))
"""),
    "decimal": (("_pydecimal.py",), """
import _pydecimal as decimal
decimal.getcontext().prec = 30
x = decimal.Decimal(2)
for i in range(6):
    x = (x + 2 / x) / 2
print(x, decimal.Decimal("1.5").exp(), x.sqrt())
"""),
}


class Case:
    """A program and the files of it that are traced."""

    def __init__(self, name, arguments, files, status=0):
        self.name, self.arguments, self.files, self.status = name, arguments, files, status


def programs():
    for path in sorted(glob.glob(os.path.join(recording.PROGRAMS, "*.py"))):
        name = os.path.basename(path)[:-3]
        if name in NOT_COUNTED:
            continue
        with open(path, encoding="utf-8") as file:
            status = [int(line[8:]) for line in file if line.startswith("# exit: ")]
        yield Case(name, [path], [path], *status)


def library(python):
    folder = recording.run([python, "-c", "import os; print(os.path.dirname(os.__file__))"]).stdout.strip()
    for name, (files, source) in LIBRARY.items():
        yield Case(name, ["-c", source], [os.path.join(folder, file) for file in files])


def include(files):
    return ":".join(file if file.endswith(".py") else f"{file}/*" for file in files)


@functools.cache
def loops_of(python, files):
    paths = [p for f in files for p in ([f] if f.endswith(".py") else glob.glob(f + "/**/*.py", recursive=True))]
    done = recording.run([python, os.path.join(recording.HERE, "statements.py"), *paths])
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout


def run(python, case, mode, folder):
    """(what the counter saw, the summary) of one run."""
    loops = os.path.join(folder, "loops")
    with open(loops, "w", encoding="utf-8") as file:
        file.write(loops_of(python, tuple(case.files)))
    environment = recording.traced_environment(
        mode, recording.WITNESS_HOOK, TRUTH_DIR=folder, TRUTH_MODE=mode, TRUTH_COUNT=":".join(case.files),
        TRUTH_LOOPS=loops, OCULAR_INCLUDE=include(case.files))
    data = os.path.join(folder, "data")
    done = recording.record(data, [python, *case.arguments], environment, cwd=folder)
    if done.returncode != case.status:
        raise RuntimeError(f"exit status {done.returncode}, not {case.status}: {done.stderr[-2000:]}")
    (path,) = glob.glob(os.path.join(folder, "counts-*.txt"))
    with open(path, encoding="utf-8") as file:
        return ast.literal_eval(file.read()), recording.summary(data, "opcodes=time")


# Both sides as {key: number}: each difference is a problem.

def truth_of_functions(rows):
    counts = collections.Counter()
    for file, qualname, line, row in rows:
        for what in ("calls", "recursive", "resumes"):
            counts[file, qualname, line, what] += row[what]
        for name, n in row["events"].items():
            counts[file, qualname, line, name] += n
        for at, n in row["loops"].items():
            counts[file, qualname, line, "trips", at] += n
        for at, n in row["entries"].items():
            counts[file, qualname, line, "entries", at] += n
    return counts


def known_of(rows):
    return {(file, qualname, line, at) for file, qualname, line, row in rows for at in row["known"]}


def summary_of_functions(summary, known):
    """By the line of the loop's statement. A loop that is entered past its head has trips, but its entries are unclear."""
    counts = collections.Counter()
    for f in summary["functions"]:
        place = f["file"], f["qualname"], f["firstlineno"]
        for what, key in (("calls", "calls"), ("recursive", "recursive_calls"), ("resumes", "resumes")):
            counts[*place, what] += f[key]
        for name, n in f["events"].items():
            counts[*place, name] += n
    for loop in summary["loops"]:
        *place, at = loop["file"], loop["qualname"], loop["firstlineno"], loop["line"]
        counts[*place, "trips", at] += loop["iterations"]
        if (*place, at) in known:
            counts[*place, "entries", at] += loop["entries"]
    return counts


def add_opcodes(counts, where, row, inside=lambda offset: True):
    for offset, n in row["opcodes"].items():
        if inside(offset):
            counts[*where, row["names"][offset]] += n
    for (offset, after), n in row["pairs"].items():
        if inside(offset):
            counts[*where, row["names"][offset], after] += n


def single_heads(row):
    return [head for line, head in row["heads"].items() if row["loops"].get(line)]


def truth_of_opcodes(rows):
    counts = collections.Counter()
    for *place, row in rows:
        add_opcodes(counts, ("program",), row)
        add_opcodes(counts, place, row)
        for head in single_heads(row):
            add_opcodes(counts, (*place, head), row, lambda offset: head <= offset <= row["ends"][head])
    return counts


def add_table(counts, where, table):
    rows = table["rows"]
    for row in rows:
        counts[*where, row["opcode"]] += row["count"]
    for pair in table["pairs"]:
        counts[*where, rows[pair["from"]]["opcode"], rows[pair["to"]]["opcode"]] += pair["count"]


def summary_of_opcodes(summary, heads):
    counts = collections.Counter()
    add_table(counts, ("program",), summary["opcodes"])
    for f in summary["functions"]:
        add_table(counts, (f["file"], f["qualname"], f["firstlineno"]), f["opcodes"])
    for loop in summary["loops"]:
        place = loop["file"], loop["qualname"], loop["firstlineno"], loop["head_offset"]
        if place in heads:
            add_table(counts, place, loop["opcodes"])
    return counts


def differences(what, ours, truth):
    keys = sorted((key for key in ours.keys() | truth.keys() if ours[key] != truth[key]), key=str)
    return [f"{what}: {' '.join(map(str, key))}: {ours[key]}, counted {truth[key]}" for key in keys[:8]]


def sums(summary):
    """Sums that must be exact: name, value, expected value."""
    trace, opcodes, functions = summary["trace"], summary["opcodes"], summary["functions"]
    everything = functions + summary["c_functions"] + summary["collections"]
    yield "ns of functions", sum(f["self_ns"] for f in everything) + trace["outside_ns"], trace["traced_ns"]
    yield "cycles of functions", sum(f["self_cycles"] for f in everything) + trace["outside_cycles"], \
        trace["traced_cycles"]
    for name, n in summary["events"].items():
        yield f"{name} by function", sum(f["events"].get(name, 0) for f in functions), n
    if opcodes["source"] == "measured":
        for unit in ("ns", "cycles"):
            rows = sum(row[unit] for row in opcodes["rows"])
            yield f"{unit} of rows", rows, opcodes[unit]
            yield f"{unit} of opcodes", rows + opcodes[f"no_opcode_{unit}"] + opcodes[f"unknown_{unit}"], \
                trace[f"traced_{unit}"]
        yield "opcodes", opcodes["count"] + opcodes["unknown_count"], summary["events"]["INSTRUCTION"]


def check_sums(summary):
    problems = [f"{what}: {got}, not {wanted}" for what, got, wanted in sums(summary) if got != wanted]
    problems += legends.of_summary(summary)
    if any(summary["losses"].values()):
        problems.append(f"losses: {summary['losses']}")
    return problems


def check(python, case, mode, folder):
    truth, summary = run(python, case, mode, folder)
    problems = check_sums(summary)
    if not truth:
        problems.append("the counter saw nothing")
    problems += differences("functions", summary_of_functions(summary, known_of(truth)),
                            truth_of_functions(truth))
    if mode in ("precise", "full"):
        heads = {(*place, head) for *place, row in truth for head in single_heads(row)}
        problems += differences("opcodes", summary_of_opcodes(summary, heads), truth_of_opcodes(truth))
    elif summary["opcodes"]["source"] != ("derived" if mode == "adaptive" else None):
        problems.append(f"opcodes of mode {mode} are {summary['opcodes']['source']}")
    return problems


def cases(python, _):
    rows = [(case, mode) for case in programs() for mode in ("precise", *MORE_MODES.get(case.name, ()))]
    rows += itertools.product(library(python), ("adaptive", "precise"))
    version = recording.version(python)
    for case, mode in rows:
        yield f"{version} {mode} {case.name}", check, python, case, mode


if __name__ == "__main__":
    recording.run_cases(cases)
