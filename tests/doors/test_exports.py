#!/usr/bin/env python3
"""Files other tools open, against those tools: pstats and what cProfile counted in the same run, callgrind files
and callgrind_annotate, pprof's files and go tool pprof; the Firefox Profiler's profile and OpenTelemetry's against the summary
and pprof's file (tests/viewers/test_firefox.py and tests/wrapper/test_equality.py open them by code of their makers).

    test_exports.py [--python PY]... [--only TEXT] [--pyperformance FOLDER]

Ocular and cProfile trace one run side by side (profiled.py). Calls, recursive calls and callers must be
equal; among the functions that take at least 5 % of the time, one that takes clearly more than another must do
so for both.
"""

import collections
import gzip
import marshal
import os
import re
import shutil
import sys
import tempfile

import recording
from tap import Plan

sys.path.insert(0, os.path.join(recording.ROOT, "tests", "golden"))
import firefox_profile  # noqa: E402
import otlp_profile  # noqa: E402
from protobuf import message, varints  # noqa: E402

# Uses of the standard library's modules in pure Python.
REAL = {
    "json": "import json.decoder, json.encoder\n"
            "json.encoder.c_make_encoder = None\n"
            "text = json.dumps([{'a': [1, 2, {'b': str(n)}], 'é': n / 7} for n in range(300)], indent=1)\n"
            "decoder = json.decoder.JSONDecoder()\n"
            "decoder.parse_string = json.decoder.py_scanstring\n"
            "decoder.scan_once = json.scanner.py_make_scanner(decoder)\n"
            "assert len(decoder.decode(text)) == 300\n",
    "ast": "import ast, inspect, json.decoder as module\n"
           "tree = ast.parse(inspect.getsource(module))\n"
           "assert ast.dump(ast.parse(ast.unparse(tree))) == ast.dump(tree)\n",
    "difflib": "import difflib\n"
               "a = [f'line {n * n % 17}' for n in range(80)]\n"
               "print(*difflib.ndiff(a, a[5:40] + ['other'] + a[3:50]), sep='\\n')\n",
    "tokenize": "import io, tokenize, inspect, json.encoder as module\n"
                "lines = io.StringIO(inspect.getsource(module)).readline\n"
                "print(tokenize.untokenize(tokenize.generate_tokens(lines)))\n",
    "decimal": "import _pydecimal as decimal\n"
               "decimal.getcontext().prec = 30\n"
               "x = decimal.Decimal(2)\n"
               "print([x.sqrt() ** n + x.ln() / (n + 1) for n in range(9)])\n",
    "html": "import html.parser, pprint\n"
            "class Parser(html.parser.HTMLParser):\n"
            "    seen = {}\n"
            "    def handle_starttag(self, tag, attrs):\n"
            "        self.seen.setdefault(tag, []).extend(attrs)\n"
            "parser = Parser()\n"
            "parser.feed('<p class=\"a b\">&amp;<b>bold</b> and <i x=1 y>so</i></p><br/>' * 40)\n"
            "pprint.pprint(parser.seen)\n",
    "lambdas": "pair = [lambda n: n and pair[1](n - 1), lambda n: n and pair[0](n - 1)]; print(pair[0](9))\n"
               "named = (lambda: 1).__code__.replace(co_name='odd.name', co_qualname='f.<locals>.g')\n"
               "print(sorted(range(9), key=lambda n: -n), eval(named))\n",
}
# Complete, and of one thread in one process: cProfile cannot follow more.
PROGRAMS = ("recursion", "generators", "generator_tree", "coroutines", "async_generators", "exceptions", "from_c",
            "closures", "decorators", "class_bodies", "comprehensions", "finally_with", "type_parameters")
DISABLE = "~", 0, "<method 'disable' of '_lsprof.Profiler' objects>"  # the driver's last call
BIG = 0.05     # of the time of all functions
CLEARLY = 1.5  # times as much
RUNS = 6       # runs until two functions that changed places have done so in each


def span(path, program):
    """From the first event of the program's module to its last, in perf's clock."""
    times = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = line.split("\t")
            if fields[5:6] == ["<module>"] and fields[4] == program:
                times.append(int(fields[0]))
    first, last = times[0], times[-1] + 1
    return f"@{first // 10**9}.{first % 10**9:09},@{last // 10**9}.{last % 10**9:09}"


def counts(stats):
    """{function: (primitive calls, calls, {caller: (calls, primitive calls)})}, the driver's own left out."""
    driver = os.path.join(recording.HERE, "profiled.py")
    return {key: (*row[:2], {by: tuple(value[:2]) for by, value in row[4].items() if by[0] != driver})
            for key, row in stats.items() if key[0] != driver and key != DISABLE}


def ranking(stats, others):
    """Functions that one side ranks clearly before another and the other side clearly after it."""
    whole = sum(row[2] for row in stats.values())
    big = [key for key, row in stats.items() if row[2] > BIG * whole and key != DISABLE]
    return {(a, b): f"{a} takes {stats[a][2]:.6f} s, {b} {stats[b][2]:.6f} s; but {others[a][2]:.6f} and {others[b][2]:.6f}"
            for a in big for b in big
            if stats[a][2] > CLEARLY * stats[b][2] and others[a][2] * CLEARLY < others[b][2]}


def load(python, path):
    """The file as pstats.Stats of that Python loads it: {function: row}."""
    code = ("import pstats, marshal, sys; s = pstats.Stats(sys.argv[1]); s.print_stats(); s.print_callers();"
            "marshal.dump((s.stats, s.total_calls, s.prim_calls), open(sys.argv[2], 'wb'))")
    done = recording.run([python, "-c", code, path, path + ".loaded"])
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(path + ".loaded", "rb") as file:
        stats, calls, primitive = marshal.load(file)
    assert calls == sum(row[1] for row in stats.values()), calls
    assert primitive == sum(row[0] for row in stats.values()), primitive
    return stats


# What an event loop throws into a task is raised in the innermost coroutine. cProfile says that the loop called that one; it is
# called by what awaits it (test_thrown.py). How often that is in the program: c is cancelled in its sleep(), d by a timeout, in
# the worker that main() awaits itself.
THROWN = {"coroutines.py": {"worker": 1, "sleep": 2, "__sleep0": 2}}
LOOP = "_run", "<method 'run' of '_contextvars.Context' objects>"


def moved(row, times):
    """Callers, with so many calls by the event loop; what is left of those is by others."""
    by = collections.Counter()
    for caller, numbers in row[2].items():
        by["the loop" if caller[2] in LOOP else caller] += numbers[0]
    by["the loop"] -= times
    return by


def is_equal(key, found, wanted, thrown):
    if found == wanted or None in (found, wanted) or key[2] not in thrown:
        return found == wanted
    ours, theirs = moved(found, 0), moved(wanted, thrown[key[2]])
    return found[:2] == wanted[:2] and ours["the loop"] == theirs["the loop"] and \
        sum((ours - theirs).values()) == thrown[key[2]] and all(ours[by] >= n for by, n in theirs.items())


def compare_pstats(python, program, c, folder):
    """(what differs in the counts, ranking()), of one run."""
    data, theirs, ours = (os.path.join(folder, name) for name in ("data", "theirs", "ours"))
    also = {"OCULAR_ALSO": "c_calls"} if c else {}
    done = recording.record(data, [python, os.path.join(recording.HERE, "profiled.py"), theirs, program, str(int(c))],
                            recording.traced_environment("calls", recording.SMALL, **also), cwd=folder)
    if done.returncode:
        return done.stderr.splitlines(), {}
    events = os.path.join(folder, "events")
    recording.report(data, f"events={events}")
    recording.report(data, f"pstats={ours}", f"time={span(events, program)}")
    with open(theirs, "rb") as file:
        theirs = marshal.load(file)
    ours = load(python, ours)
    wanted, found = counts(theirs), counts(ours)
    thrown = THROWN.get(os.path.basename(program), {})
    return [f"{key}: {found.get(key)}, cProfile says {wanted.get(key)}" for key in wanted.keys() | found.keys()
            if not is_equal(key, found.get(key), wanted.get(key), thrown)], ranking(theirs, ours)


def check_pstats(python, program, c, folder):
    """The counts of each run are equal. The thread may lose the processor between the two tools' callbacks, and then
    only one of them counts that time in a function: a real fault concerns the same two functions in each run."""
    always = None
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory(dir=folder) as run:
            problems, found = compare_pstats(python, program, c, run)
        always = {pair: text for pair, text in found.items() if always is None or pair in always}
        if problems or not always:
            return problems
    return [*always.values()]


CALLER = """
def fact(n):
    if n < 2:
        return 1
    return n * fact(n - 1)

def gen(n):
    for i in range(n):
        yield fact(i)

def main():
    total = 0
    for k in range(50):
        total += sum(gen(6))
    return total

main()
"""
# By whom, in which line, and how often.
SITES = {
    ("return n * fact(n - 1)", "fact", 500),
    ("yield fact(i)", "fact", 300),
    ("total += sum(gen(6))", "gen", 350),
    ("main()", "main", 1),
}
# Where C functions have rows, gen() is resumed by one.
C_SITES = SITES - {("total += sum(gen(6))", "gen", 350)} | {
    ("total += sum(gen(6))", "sum", 50),
    ("for i in range(n):", "range", 50),
    ("for k in range(50):", "range", 1),
}
NUMBER = r"([\d,]+) \([ \d.]+%\)"


def annotate(folder, *options):
    """Lines of callgrind_annotate; anything it says on stderr is an error."""
    done = recording.run(["callgrind_annotate", "--threshold=100", *options, "out"], cwd=folder)
    if done.returncode or done.stderr:
        raise RuntimeError(f"callgrind_annotate: exit status {done.returncode}: {done.stderr}")
    return done.stdout.split("\n")


def rows(lines, name):
    """{function: (ns, last cost)} of lines whose end matches `name`."""
    found = {}
    for line in lines:
        costs, end = re.findall(NUMBER, line), re.search(name, line)
        if costs and end:
            found[end[1]] = tuple(int(cost.replace(",", "")) for cost in (costs[0], costs[-1]))
    return found


def sites(lines):
    """{(source line, function, calls)} of annotated source."""
    found, source = set(), None
    for line in lines:
        call = re.search(r"=> .*:([A-Za-z]\w*)(?::\d+)? \((\d+)x\)", line)
        if call:
            found.add((source, call[1], int(call[2])))
        else:
            source = re.sub(r"^ *(\S+ \([ \d.]+%\) +)+", "", line).strip()
    return found


def check_callgrind(python, mode, folder):
    """Self, inclusive and whole times are the summary's; calls are at the lines that made them, if known."""
    program, data, out = (os.path.join(folder, name) for name in ("program.py", "data", "out"))
    with open(program, "w", encoding="utf-8") as file:
        file.write(CALLER)
    recording.record(data, [python, program], recording.traced_environment(mode, OCULAR_INCLUDE="program.py"))
    recording.report(data, f"callgrind={out}")
    summary = recording.summary(data)
    functions = {row["qualname"]: row for row in summary["functions"]}
    own = rows(annotate(folder, "--auto=no"), r"program\.py:([\w<>]+):\d+$")
    every = rows(annotate(folder, "--auto=no", "--inclusive=yes"), r"program\.py:([\w<>]+):\d+$")
    totals = rows(annotate(folder, "--auto=no"), "(PROGRAM TOTALS)")["PROGRAM TOTALS"]
    problems = []

    def equal(what, found, wanted):
        if found != wanted:
            problems.append(f"{what}: {found}, wanted {wanted}")

    equal("self", {name: row[0] for name, row in own.items()}, {n: row["self_ns"] for n, row in functions.items()})
    equal("inclusive", {n: row[0] for n, row in every.items()}, {n: row["total_ns"] for n, row in functions.items()})
    equal("all", totals[0], sum(row["self_ns"] for row in summary["functions"] + summary["c_functions"]))
    if mode == "precise":
        equal("instructions", totals[1], summary["events"]["INSTRUCTION"])
    if mode in ("lines", "precise", "full"):
        equal("calls", sites(annotate(folder, "--auto=yes")), C_SITES if mode == "full" else SITES)
    return problems


THREADS = """
import sys, threading, time
def leaf(n):
    return sum(i * i for i in range(n))
def job(n):
    for i in range(n):
        leaf(50)
    time.sleep(.01)
def deep(n):
    return n and deep(n - 1)
threads = [threading.Thread(target=job, args=(20,)) for _ in range(3)]
for thread in threads:
    thread.start()
job(30)
for thread in threads:
    thread.join()
sys.setrecursionlimit(5000)
deep(1500)
"""


def pprof(path):
    """({(file, function, line): [value of each type]} of what each sample's own function cost, names of the types)."""
    with gzip.open(path) as file:
        profile = message(file.read())
    texts = [text.decode() for text in profile[6]]
    functions = {row[1][0]: row for row in map(message, profile[5])}
    lines = {row[1][0]: message(row[4][0]) for row in map(message, profile[4])}
    found = {}
    for sample in map(message, profile[2]):
        line = lines[next(varints(sample[1][0]))]
        function = functions[line[1][0]]
        assert line.get(2) == function.get(5), "a location is its function's first line"
        key = texts[function.get(4, [0])[0]], texts[function[2][0]], line.get(2, [0])[0]
        values = list(varints(sample[2][0]))
        found[key] = [a + b for a, b in zip(found.get(key, [0] * len(values)), values)]
    return found, [texts[message(kind)[1][0]] for kind in profile[1]]


def check_pprof(python, mode, folder, source=THREADS):
    """Calls and times of each function are the summary's, and go tool pprof says the same of all together."""
    program, data, out = (os.path.join(folder, name) for name in ("program.py", "data", "out"))
    with open(program, "w", encoding="utf-8") as file:
        file.write(source)
    recording.record(data, [python, program], recording.traced_environment(mode))
    recording.report(data, f"pprof={out}")
    summary = recording.summary(data)
    found, types = pprof(out)
    assert types == ["calls", "wall", "cpu", "waiting"], types
    problems, wanted = [], {}
    for row in summary["functions"]:
        values = [row["calls"], row["self_ns"], row["self_cpu_ns"], row["self_waiting_ns"]]
        key = row["file"], row["qualname"], row["firstlineno"]
        wanted[key] = [a + b for a, b in zip(wanted.get(key, [0] * 4), values)]
    deeper = found.pop(("", "...", 0), None)
    for deep in [key for key in wanted if key[1] == "deep"]:
        found[deep] = [a + b for a, b in zip(found[deep], deeper)]
    for key, values in wanted.items():
        if any(values[:2]) and found.get(key) != values:
            problems.append(f"{key}: {found.get(key)}, the summary has {values}")
    whole = sum(values[1] for values in found.values())
    told = sum(row["self_ns"] for kind in ("functions", "c_functions", "collections") for row in summary[kind])
    if whole != told:
        problems.append(f"{whole} ns together, the summary has {told}")
    if shutil.which("go"):
        done = recording.run(["go", "tool", "pprof", "-unit=ns", "-sample_index=wall", "-top", "-nodecount=100000",
                              "-nodefraction=0", out])
        told = re.search(r"(\d+)ns, 100% of (\d+)ns total", done.stdout)
        if done.returncode or not told or int(told[1]) != whole:
            problems.append(f"go tool pprof: {done.stderr}{done.stdout[:300]}, wanted {whole}ns")
    return problems


COROUTINES = """
import asyncio
def plain(n):
    return sum(i * i for i in range(n))
async def inner(n):
    plain(20)
    await asyncio.sleep(0)
    return n and await inner(n - 1)
async def first(n):
    plain(30)
    await inner(n)
async def second(n):
    await first(n)
async def main():
    await asyncio.gather(*(first(n) for n in range(4)), *(second(n) for n in range(3)))
asyncio.run(main())
plain(50)
"""


def by_coroutine(path):
    """{label coroutine, or None: wall time}."""
    with gzip.open(path) as file:
        profile = message(file.read())
    texts = [text.decode() for text in profile[6]]
    wall = [texts[message(kind)[1][0]] for kind in profile[1]].index("wall")
    found = collections.Counter()
    for sample in map(message, profile[2]):
        labels = {texts[label[1][0]]: label for label in map(message, sample[3])}
        assert {"thread", "pid", "tid"} <= labels.keys() and len(labels) == len(sample[3]), labels
        found[texts[labels["coroutine"][2][0]] if "coroutine" in labels else None] += list(varints(sample[2][0]))[wall]
    return found


def check_coroutines(python, mode, folder):
    """What a task's own coroutine, and all below it, took is under its label, to the nanosecond; nothing is under another's."""
    program, data, out = (os.path.join(folder, name) for name in ("program.py", "data", "out"))
    with open(program, "w", encoding="utf-8") as file:
        file.write(COROUTINES)
    recording.record(data, [python, program], recording.traced_environment(mode))
    recording.report(data, f"pprof={out}")
    found, rows = by_coroutine(out), recording.summary(data)["functions"]
    total = {row["qualname"]: row["total_ns"] for row in rows if row["file"] == program}
    # What ran first() below second() is second()'s.
    by_caller = {"first": total["first"] - found["second"] + next(row["self_ns"] for row in rows if row["qualname"] == "second")}
    wanted = {**{name: total[name] for name in ("main", "second")}, **by_caller}
    others = found.keys() - wanted.keys() - {None}
    problems = [f"{name}: {found[name]} ns, not {ns}" for name, ns in wanted.items() if found[name] != ns]
    if any(name in ("inner", "plain") for name in others) or not found[None]:
        problems.append(f"labels: {found}")
    return problems


REQUESTS = """
import asyncio, sys
import ocular
sys.setrecursionlimit(5000)
def step():
    pass
def deep(n):
    return step() if n == 0 else deep(n - 1)
def serve(name, times):
    with ocular.request(name):
        for _ in range(times):
            step()
async def handler(i):
    with ocular.request("GET /async"):
        step()
        await asyncio.sleep(0)
        step()
async def main():
    await asyncio.gather(*(handler(i) for i in range(5)))
serve("GET /a", 3)
serve("GET /b", 4)
serve("GET /a", 2)
step()
with ocular.request("outer"):
    step()
    serve("inner", 1)
    step()
with ocular.request("deep"):
    deep(1500)
deep(1400)
asyncio.run(main())
"""
IN_REQUESTS = {"step": {"GET /a": 5, "GET /b": 4, None: 1, "outer": 2, "inner": 1, "GET /async": 10}, "serve": {None: 3, "outer": 1},
               "deep or below": {"deep": 1502, None: 1402}}


TASKS = """
import asyncio
import ocular
def step():
    pass
async def inner():
    step()
    await asyncio.sleep(0)
    step()
async def worker(times):
    for _ in range(times):
        step()
        await asyncio.sleep(0)
    await inner()
async def served():
    with ocular.request("GET /"):
        step()
        await asyncio.create_task(worker(2), name="part")
async def main():
    step()
    await asyncio.gather(*(asyncio.create_task(worker(n), name="even" if n % 2 == 0 else "odd") for n in range(5)))
    await asyncio.create_task(served(), name="served")
    await asyncio.create_task(worker(1), name="even")
step()
asyncio.run(main())
"""
# Each worker(n): n and the two of inner(). asyncio.run() makes the first task.
IN_TASKS = {"step": {None: 1, "Task-1": 1, "even": 6 + 6 + 3, "odd": 4 + 4, "served": 1, "part": 4}}
IN_TASKS_REQUEST = {"step": {None: 25, "GET /": 5}}


def by_label(path, key):
    """{function: {label, or None: calls}}; of deep(), and what is too deep to be told apart, together."""
    with gzip.open(path) as file:
        profile = message(file.read())
    texts = [text.decode() for text in profile[6]]
    names = {row[1][0]: texts[row[2][0]] for row in map(message, profile[5])}
    found = collections.defaultdict(collections.Counter)
    for sample in map(message, profile[2]):
        labels = {texts[label[1][0]]: label for label in map(message, sample[3])}
        name = names[next(varints(sample[1][0]))]
        found["deep or below" if name in ("deep", "...") else name][texts[labels[key][2][0]] if key in labels else None] += next(varints(sample[2][0]))
    return found


def check_labels(python, mode, folder, source, labels):
    """The calls of functions are by label as they are to be, and those of all functions, whatever their labels, add up to the summary's."""
    program, data, out = (os.path.join(folder, name) for name in ("program.py", "data", "out"))
    with open(program, "w", encoding="utf-8") as file:
        file.write(source)
    recording.record(data, [python, program], recording.traced_environment(mode))
    recording.report(data, f"pprof={out}")
    problems, calls = [], sum(row["calls"] for row in recording.summary(data)["functions"])
    for key, functions in labels.items():
        found = by_label(out, key)
        problems += [f"{key}, {name}: {found[name]}, not {wanted}" for name, wanted in functions.items() if found[name] != wanted]
        told = sum(sum(each.values()) for each in found.values())
        problems += [] if told >= calls else [f"{told} calls, the summary has {calls}"]
    return problems


def check_requests(python, mode, folder):
    """What was called in a request has its name, the innermost one's; whatever else ran in the same functions has none."""
    return check_labels(python, mode, folder, REQUESTS, {"request": IN_REQUESTS})


def check_tasks(python, mode, folder):
    """What was called in a task has its name; and that of its request as well."""
    return check_labels(python, mode, folder, TASKS, {"task": IN_TASKS, "request": IN_TASKS_REQUEST}) + check_pprof(python, mode, folder, TASKS)


def check_costs(python, mode, folder, kind, costs):
    """Each cost of each function is the summary's, and pprof's, of all threads together."""
    program, data, out, other = (os.path.join(folder, name) for name in ("program.py", "data", "out.gz", "pprof"))
    with open(program, "w", encoding="utf-8") as file:
        file.write(THREADS)
    recording.record(data, [python, program], recording.traced_environment(mode))
    recording.report(data, f"{kind}={out}", f"pprof={other}")
    summary, problems = recording.summary(data), []
    found, (by_pprof, types) = costs(out), pprof(other)
    assert list(found) == ["self_cpu_ns", "self_ns", "self_waiting_ns", "calls"] and len(types) == 4, (list(found), types)
    for n, key in enumerate(("calls", "self_ns", "self_cpu_ns", "self_waiting_ns")):
        wanted = collections.Counter()
        for row in summary["functions"]:
            wanted[row["file"], row["qualname"], row["firstlineno"]] += row[key]
        deep, = (function for function in wanted if function[1] == "deep")
        of_python = collections.Counter()
        for function, value in found[key].items():
            function = deep if function == otlp_profile.DEEPER else function
            of_python[function] += value if function in wanted or function[0] not in ("~", "<gc>") else 0
        if +of_python != +wanted:
            problems.append(f"{key}: {of_python - wanted} too much, {wanted - of_python} too little")
        whole = sum(values[n] for values in by_pprof.values())
        if sum(found[key].values()) != whole:
            problems.append(f"{key}: {sum(found[key].values())} together, pprof has {whole}")
    return problems


def check_firefox(python, mode, folder):
    return check_costs(python, mode, folder, "firefox", firefox_profile.costs)


def check_otlp(python, mode, folder):
    return check_costs(python, mode, folder, "otlp", otlp_profile.costs)


QUICK = """
import json, random, threading, zlib
class Node:
    def __init__(self, key): self.left = self.right = None; self.key = key
def insert(node, key):
    if node is None: return Node(key)
    if key < node.key: node.left = insert(node.left, key)
    else: node.right = insert(node.right, key)
    return node
def nested(depth):
    if depth: yield from nested(depth - 1)
    for i in range(3): yield i
def fails(n):
    try:
        if n: return fails(n - 1)
        raise ValueError
    finally:
        len("x")
def serve(n):
    numbers, root = random.Random(n), None
    for _ in range(60): root = insert(root, numbers.randrange(1000))
    json.loads(json.dumps({"a": [1, 2, {"b": None}]}))
    sorted(range(20), key=lambda x: -x)
    zlib.crc32(b"x")
    sum(i for i in nested(4))
    try: fails(5)
    except ValueError: pass
threads = [threading.Thread(target=serve, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for n in range(5): serve(n)
"""


def check_quick(python, mode, folder):
    """Events as columns are the same, to the last byte, whether the analysis makes a sample of each, as the events text needs, or not; also beside
    a timeline, which does without them as long as it can."""
    problems = []
    pt = os.path.join(recording.BUILD, "bin", "ocular-pt")
    for name, source, also in (("quick", QUICK + TASKS, {}), ("C functions", QUICK + REQUESTS, {"OCULAR_ALSO": "c_calls"})):
        program, data = (os.path.join(folder, each) for each in ("program.py", "data " + name))
        with open(program, "w", encoding="utf-8") as file:
            file.write(source)
        recording.record(data, [python, program], recording.traced_environment(mode, **also))
        found = []
        for others in ([], ["events=%s"], ["perfetto=%s"]):
            columns, other = os.path.join(folder, "columns"), os.path.join(folder, "other.pftrace")
            done = recording.run([pt, f"event_columns={columns}", *(each % other for each in others), os.path.join(data, "perf.data")])
            if done.returncode:
                raise RuntimeError(done.stderr)
            with open(columns, "rb") as file:
                found.append(file.read())
        problems += [f"{name}: {[len(each) for each in found]} bytes"] * (len(set(found)) != 1 or len(found[0]) < 100000)
    return problems


def sources(folder, pyperformance):
    """(name, path) of all programs."""
    if pyperformance:
        yield from recording.benchmarks(pyperformance)
        return
    for name in PROGRAMS:
        yield name, os.path.join(recording.PROGRAMS, name + ".py")
    for name, source in REAL.items():
        path = os.path.join(folder, name + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        yield name, path


def main():
    options = recording.options()
    options.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    options.add_argument("--pyperformance", metavar="FOLDER", help="its benchmarks, unpacked there, instead of all else")
    options = options.parse_args()
    recording.need_built()
    with recording.scratch() as programs, Plan() as plan:
        for python in recording.pythons(options):
            for c in (True,) if options.pyperformance else (False, True):
                for name, path in sources(programs, options.pyperformance):
                    case = f"{recording.version(python)} pstats{' with C functions' * c}, {name}"
                    if options.only in case:
                        with recording.scratch() as folder:
                            plan.case(case, check_pstats, python, path, c, folder)
            for mode in () if options.pyperformance else recording.MODES:
                case = f"{recording.version(python)} callgrind, {mode}"
                if options.only in case:
                    with recording.scratch() as folder:
                        plan.case(case, check_callgrind, python, mode, folder)
                for kind, check in (("pprof", check_pprof), ("pprof, coroutines", check_coroutines), ("pprof, requests", check_requests), ("pprof, tasks", check_tasks),
                                    ("firefox", check_firefox), ("otlp", check_otlp), ("event columns", check_quick)):
                    case = f"{recording.version(python)} {kind}, {mode}"
                    if options.only in case:
                        with recording.scratch() as folder:
                            plan.case(case, check, python, mode, folder)


if __name__ == "__main__":
    main()
