"""make bench: what Ocular costs, as ratios of interleaved runs.

    python3 tests/bench/bench.py [--build DIR] [--rounds N] [--only start,emission,marker,program,pyperformance,threads,pieces,native,waits,labels,bytes,flight,analysis,opcodes,memory]
                                 [--programs NAME,...]

Every figure is the median over rounds; within a round all variants run one after another, so that a
slow moment of the machine hits them alike. Ratios are taken within a round. One marker's cost is measured in
slices of microseconds (emit.py). Prints Markdown; tests/bench/README.md keeps dated copies.
"""
import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bytes as bytes_of
import instructions
from floor import Floor

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OF_OBJECTS = ("PY_RESUME", "PY_YIELD", "PY_THROW")  # monitor.py
WORKLOADS = "recursion methods generators json unparse".split()

# What each sink is asked for by; {null} is a name that leads to /dev/null, for the name's end chooses a format.
# A new sink is a row here.
SINKS = {
    "none: decoding and stacks alone": ("console=never",),
    "console": ("console=always", "color=never"),
    "console and summary": ("console=always", "color=never", "summary={null}"),
    "console, opcodes": ("console=always", "color=never", "opcodes=time"),
    "summary": ("summary={null}",),
    "events text": ("events={null}",),
    "Perfetto JSON": ("perfetto={null}.json",),
    "Perfetto JSON, loops as slices": ("perfetto={null}.json", "iterations=slices"),
    "Perfetto JSON, gzip": ("perfetto={null}.json.gz",),
    "Perfetto protobuf": ("perfetto={null}.pftrace",),
    "Perfetto protobuf, from 1 us": ("perfetto={null}.pftrace", "min_duration=1us"),
    "html": ("html={null}",),
    "pstats": ("pstats={null}",),
    "collapsed": ("collapsed={null}",),
    "speedscope": ("speedscope={null}",),
    "callgrind": ("callgrind={null}",),
    "pypylog": ("pypylog={null}",),
    "console, ways through loops": ("console=always", "color=never", "bridges=yes"),
}


# Short runs of whole programs in one round of --rounds: the machine's speed changes within seconds.
PROGRAM_ROUNDS = 5

# Threads at once, and what each of them computes: fib of that.
THREADS = (1, 2, 4)
FIB = 27

FIB_CALLS = 635_621  # calls(n) = 1 + calls(n - 1) + calls(n - 2)

# Slices of programs: processes, seconds of each. An idle flight recorder: the same, of each variant.
START_ROUNDS = 11
PIECES_TURNS = 7
PIECES_SECONDS = 30
IDLE_TURNS = 7
IDLE_SECONDS = 2

# A snapshot's stall: runs, each of so many snapshots; what others may take of a gap, ns; bytes of a word in a recording.
STALL_RUNS = 4
STALL_ROUNDS = 300
OTHERS = 200_000
WORD_BYTES = 12

# One marker: processes, each with the code in another place; seconds of each; the loop around a slice may take so much
# of what it takes at full speed; slices of a variant that must be left.
PLACES = 7
PLACE_BYTES = 19 * 16
MARKER_SECONDS = 10
FULL_SPEED = 1.06
KEPT_MIN = 10


def run(command, **options):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, **options)
    if done.returncode:
        sys.exit("bench: %s\n%s" % (" ".join(map(str, command)), done.stderr))
    return done.stdout


def used(act):
    """Processor seconds of all processes that an act starts and waits for: load does not count."""
    before = os.times()
    act()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def table(title, header, rows):
    print("\n### %s\n" % title)
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(c) for c in row) + " |", flush=True)


def median(values):
    return statistics.median(values)


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, low, high


def spread(values):
    return median(values), min(values), max(values)


def p99(values):
    """With its 95 % interval from the order of the values, whatever their distribution; of few values nothing."""
    values, n = sorted(values), len(values)
    if n < 300:
        return "-"
    half = 1.96 * (n * 0.99 * 0.01) ** 0.5
    return "%.0f (%.0f to %.0f)" % tuple(values[min(n - 1, int(n * 0.99 + side))] for side in (0, -half, half))


def stall_row(name, rounds):
    """`undisturbed`: rounds in which the thread waited for hardly anything but the recorder."""
    longest = [max((length for length, _ in gaps), default=0) / 1000 for gaps in rounds]
    kept = [ns for ns, gaps in zip(longest, rounds) if all(others < OTHERS for _, others in gaps)]
    return [name, len(rounds), p99(longest).split(" ")[0], len(kept), "%.0f" % median(kept or [0]), p99(kept),
            "%.0f" % max(kept, default=0)]


def full_speed(slices):
    """What the loop around a slice may take at most, and the share of loops that did not take more."""
    refs = sorted(loop for before, after, _ in slices for loop in (before, after))
    full = refs[len(refs) // 200] * FULL_SPEED
    return full, sum(r <= full for r in refs) / len(refs)


def at_full_speed(slices, full):
    return [ticks for before, after, ticks in slices if before <= full and after <= full]


def event_costs(measured, name, full):
    """{variant: ns an event over the empty callback; "empty": over none}, from the slices at full speed; None: too few."""
    ns = {}
    for variant, slices in measured["events"][name].items():
        kept = at_full_speed(slices, full)
        if len(kept) < KEPT_MIN:
            return None
        ns[variant] = median(kept) / measured["ticks_a_ns"]
    costs = {variant: ns[variant] - ns["empty"] for variant in ns}
    return dict(costs, empty=-costs["nothing"])


def varint(data, at):
    """A number of a protocol buffer, and where the next begins."""
    value = shift = 0
    while data[at] & 128:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def fields(data, at, end):
    """(number, value) of a message; of a field with a length the value is (begin, end)."""
    while at < end:
        tag, at = varint(data, at)
        if tag & 7 == 2:
            size, at = varint(data, at)
            yield tag >> 3, (at, at + size)
            at += size
        elif tag & 7 == 0:
            value, at = varint(data, at)
            yield tag >> 3, value
        else:
            at += 8 if tag & 7 == 1 else 4


PACKET, TRACK_EVENT, TYPE, SLICE_BEGIN = 1, 11, 9, 1  # of Perfetto's Trace, TracePacket and TrackEvent


def begun(path):
    """Slices that begin in a Perfetto trace."""
    data = path.read_bytes()
    packets = (span for number, span in fields(data, 0, len(data)) if number == PACKET)
    events = (span for packet in packets for number, span in fields(data, *packet) if number == TRACK_EVENT)
    return sum((TYPE, SLICE_BEGIN) in fields(data, *event) for event in events)


class Bench:
    def __init__(self, build, rounds, workloads=WORKLOADS, sinks=SINKS):
        self.build = build
        os.environ["OCULAR_BUILD"] = str(build)  # else `ocular record` would be another build's
        self.rounds = rounds
        self.workloads = workloads
        self.sinks = {name: SINKS[name] for name in sinks}
        self.load = "%.1f" % os.getloadavg()[0]
        self.work = build / "bench"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.pythons = run([ROOT / "scripts/find-pythons"]).split()
        self.nothing = self.work / "nothing.so"
        run(["cc", "-O2", "-shared", "-fPIC", "-o", self.nothing, HERE / "nothing.c"])

    # --- programs ---------------------------------------------------------------------------------

    def empty_module(self, python, *objects):
        """Builds ocular_empty for one interpreter, behind other objects; the folder to put on PYTHONPATH."""
        script = ("import sysconfig as s; print(s.get_path('include'), s.get_path('platinclude'), "
                  "s.get_config_var('EXT_SUFFIX'))")
        include, platform_include, suffix = run([python, "-c", script]).split()
        folder = self.work / ("empty" + suffix)
        folder.mkdir(exist_ok=True)
        run(["cc", "-O2", "-shared", "-fPIC", "-I" + include, "-I" + platform_include, "-o",
             folder / ("ocular_empty" + suffix), *objects, HERE / "ocular_empty.c"])
        return folder

    def package(self, python, name, *options):
        """A folder with a package in it, from the package index; None where it cannot be had."""
        folder = self.build / (name + "-" + run([python, "-c", "import sysconfig; print(sysconfig.get_config_var('SOABI'))"]).strip())
        if not folder.exists():
            done = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:",
                                   *options, "--target", str(folder), name], stderr=subprocess.PIPE, text=True)
            if done.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                print("bench: no %s:" % name, done.stderr.strip().splitlines()[-1], file=sys.stderr)
                return None
        return folder

    def viztracer(self, python):
        return self.package(python, "viztracer==1.1.1")

    def seconds(self, python, workload, tool, path, *more, read=None):
        """One run of a workload under a tool: the seconds that its body took, in threads (seconds, processor time of a thread);
        or what read() finds in the recording."""
        def took(out):
            return tuple(map(float, out.split())) if more else float(out)

        program = [HERE / "workloads.py", workload]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(str(p) for p in path if p), PYTHONHASHSEED="0")
        if not tool.startswith("ocular-"):
            out = run([python] + program + [tool, *more], env=env, cwd=self.work)
            return read(self.work / (tool + ".pb")) if read else took(out)
        data = self.work / "data"
        out = run([ROOT / "scripts/ocular", "record", "-o", data, "--mode", tool[7:],
                   "--python", python, "--"] + program + ["plain", *more], env=env)
        found = read(data) if read else took(out)
        shutil.rmtree(data, ignore_errors=True)
        shutil.rmtree(str(data) + ".old", ignore_errors=True)
        return found

    def slowdowns(self, python, workload):
        path = [self.empty_module(python), self.viztracer(python)]
        tools = ["plain", "empty-calls", "ocular-calls", "empty-adaptive", "ocular-adaptive", "cprofile"]
        tools += ["viztracer"] if path[1] else []
        ratios = {tool: [] for tool in tools}
        over = {"calls": [], "adaptive": []}
        for _ in range(self.rounds * PROGRAM_ROUNDS):
            took = {tool: self.seconds(python, workload, tool, path) for tool in random.sample(tools, len(tools))}
            for tool in tools:
                ratios[tool].append(took[tool] / took["plain"])
            for mode in over:
                over[mode].append(took["ocular-" + mode] / took["empty-" + mode])
        cells = ["%.2f" % median(ratios[t]) for t in tools[1:]]
        return cells + ["**%.2f** (%.2f to %.2f)" % quartiles(over[m]) for m in over]

    def programs(self):
        for python in self.pythons:
            rows = [[w] + self.slowdowns(python, w) for w in self.workloads]
            table("Slowdown of whole programs, %s" % self.version(python),
                  ["program", "empty callbacks (calls)", "**calls**", "empty callbacks (adaptive)",
                   "**adaptive**", "cProfile"] + (["viztracer"] if len(rows[0]) == 9 else []) +
                  ["calls / empty", "adaptive / empty"], rows)
            print("\n(%d rounds; load average %s at the start)" % (self.rounds * PROGRAM_ROUNDS, self.load))

    def pyperformance(self):
        """beside.py: its benchmarks, and what two of them cost an event."""
        folder = self.package(self.pythons[0], "pyperformance==1.14.0", "--no-deps")
        command = [sys.executable, HERE / "beside.py", "--pyperformance", folder, *(w for p in self.pythons for w in ("--python", p))]
        for more in ((), ("--only", "generators,hexiom", "--ways", "empty,RDTSC,least,no identity,Ocular,coarse", "--events")) if folder else ():
            print(run([*command, *more]), flush=True)

    def threads(self):
        """Threads that each compute the same: with a GIL they take turns, without one they run at once."""
        paths = {python: [self.empty_module(python), self.package(python, "trace0==0.1.16")] for python in self.pythons}
        cases = [(python, tool, n) for python in self.pythons for tool in ("plain", "empty-calls", "ocular-calls", "trace0")
                 for n in THREADS if tool != "trace0" or paths[python][1]]
        rounds = [{case: self.computed(paths, *case) for case in random.sample(cases, len(cases))}
                  for _ in range(self.rounds * PROGRAM_ROUNDS)]
        rows = [(python, n) for python in self.pythons for n in THREADS]
        table("Threads: processor time of a thread over that of one that runs plainly; calls that are not in the recording",
              ["", "plain, ms", "empty callbacks", "**calls**", "trace0", "calls / empty", "lost: calls", "trace0"],
              [[self.threads_name(*row), *self.threads_costs(rounds, paths, *row)] for row in rows])
        rows = [row for row in rows if row[1] > 1 and self.without_gil(row[0])]
        for title, choose in (("processor time, medians", median), ("the clock, fastest runs", min)):
            table("Threads: how many times as much they do in the time of one, by " + title,
                  ["", "plain", "empty callbacks", "**calls**", "trace0", "calls / empty", "M markers/s"],
                  [[self.threads_name(*row), *self.threads_faster(rounds, choose, *row)] for row in rows])
        print("\n(%d rounds; load average %s at the start)" % (len(rounds), self.load))

    @staticmethod
    def without_gil(python):
        """`t`, or nothing."""
        return run([python, "-c", "import sysconfig; print('t' * bool(sysconfig.get_config_var('Py_GIL_DISABLED')))"]).strip()

    def threads_name(self, python, n):
        return "%s, %d thread%s" % (self.version(python), n, "s" * (n > 1))

    def computed(self, paths, python, tool, n, read=None):
        return self.seconds(python, "recursion", tool, paths[python], FIB, n, read=read)

    def threads_costs(self, rounds, paths, python, n):
        """By processor time, on which what else runs on the machine has the least effect."""
        def over(tool, other):
            return [r[python, tool, n][1] / r[python, other, n][1] for r in rounds if (python, tool, n) in r]

        slower = [over(tool, "plain") for tool in ("empty-calls", "ocular-calls", "trace0")]
        return ["%.0f" % median(1000 * r[python, "plain", n][1] for r in rounds),
                *("%.2f" % median(ratios) if ratios else "-" for ratios in slower),
                "**%.2f** (%.2f to %.2f)" % quartiles(over("ocular-calls", "empty-calls")),
                *(self.lost(paths, python, tool, n) for tool in ("ocular-calls", "trace0"))]

    def threads_faster(self, rounds, choose, python, n):
        """By the clock (the fastest runs: what else runs only makes threads slower) or by processor time (medians)."""
        def took(tool, threads):
            return choose([r[python, tool, threads][choose is median] for r in rounds if (python, tool, threads) in r] or [0])

        def faster(tool):
            return n * took(tool, 1) / took(tool, n) if took(tool, n) else 0

        found = [faster(tool) for tool in ("plain", "empty-calls", "ocular-calls", "trace0")]
        return [*("%.2f" % times if times else "-" for times in found), "**%.2f**" % (found[2] / found[1]),
                "%.0f" % (2 * n * FIB_CALLS / took("ocular-calls", n) / 1e6)]

    def lost(self, paths, python, tool, n):
        """The share of the calls that is not in a recording."""
        def calls(data):
            out = self.work / "summary.json"
            self.ocular_pt(data, "console=never", "summary=%s" % out)
            return sum(f["calls"] for f in json.loads(out.read_text())["functions"] if f["qualname"] == "fib")

        if tool == "trace0" and not paths[python][1]:
            return "-"
        found = self.computed(paths, python, tool, n, read=begun if tool == "trace0" else calls)
        return "%.1f %%" % max(0, 100 - 100 * found / (n * FIB_CALLS))

    def started(self, python, command):
        """ms from a command to the first statement of its program, and from there to its end."""
        program = "import sys, time; sys.stdout.write('@%d@' % time.clock_gettime_ns(time.CLOCK_MONOTONIC))"
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        out = run([*command, "-c", program], cwd=self.work, stdin=subprocess.DEVNULL, env=dict(os.environ, PYTHON=str(python)))
        end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        reached = int(out.split("@")[1])
        return (reached - begin) / 1e6, (end - reached) / 1e6

    def start(self):
        """What comes before a program and behind it, beside plain python."""
        ocular = ROOT / "scripts/ocular"
        rows = []
        for python in self.pythons:
            ways = {"plain python": [python], "`ocular record`": [ocular, "record", "-q"], "`ocular run`": [ocular, "run", "-q"]}
            rounds = [{way: self.started(python, command) for way, command in ways.items()} for _ in range(START_ROUNDS)]
            for way in ways:
                before, after = ([r[way][i] for r in rounds] for i in (0, 1))
                more = [r[way][0] - r["plain python"][0] for r in rounds]
                rows.append([self.version(python), way, "%.1f (%.1f to %.1f)" % quartiles(before),
                             "%+.1f (%+.1f to %+.1f)" % quartiles(more), "%.1f (%.1f to %.1f)" % quartiles(after)])
        table("Start, ms (quartiles)", ["CPython", "way", "to the program", "more than plain", "behind it"], rows)

    def pieces(self):
        """What takes 20 to 400 us of the same programs: the machine's speed matters less."""
        variants = {"plain": "off", "empty callbacks": "empty", "RDTSC": "stamp", "least": "least", "marker": "marker"}
        for python in self.pythons:
            for mode in ("calls", "adaptive", "calls --c-calls"):
                turns = []
                for _ in range(PIECES_TURNS):
                    measured = self.sliced(python, PIECES_SECONDS, ["--mode", *mode.split()], *variants.values())
                    turns.append({name: measured[v] for name, v in variants.items()})
                self.sliced_table("Slowdown of slices of programs, mode %s" % mode, python, turns, list(variants)[1:],
                                  {v + " / empty": (v, "empty callbacks") for v in ("RDTSC", "least", "marker")})

    def native(self):
        """What samples of C functions take of a program that is in C, and of one in Python: CPU time of the program, by itself."""
        programs = {"zlib": "import os, zlib\nd = os.urandom(1 << 20)\nfor i in range(25): zlib.compress(d)",
                    "sorted": "import random\nrandom.seed(1)\nl = [random.random() for i in range(150000)]\n"
                              "for i in range(4): sorted(l, key=lambda x: -x)"}
        ways = {"without": (), "99 Hz": ("--native", "99"), "999 Hz": ("--native", "999"), "4999 Hz": ("--native", "4999")}
        for python in self.pythons:
            rows = []
            for name, source in programs.items():
                source += "\nimport time\nprint(time.process_time())"
                rounds = [{way: float(self.ocular_run(python, ["-c", source], *options)) for way, options in ways.items()}
                          for _ in range(3 * self.rounds)]
                rows.append([name] + ["%.3f (%.3f to %.3f)" % quartiles([r[way] / r["without"] for r in rounds])
                                      for way in list(ways)[1:]])
            table("Slowdown by samples of C functions, %s" % self.version(python), ["program", *list(ways)[1:]], rows)

    def waits(self):
        """What calls cost that might wait and do not. The program has no events in its loops: what is more is their price."""
        source = """
import json, os, select, sys, threading, time
lock, zero, null, poll = threading.Lock(), os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY), select.poll()
def best(loop, n=2000, turns=150): # as many as a ring holds
    took = []
    for _ in range(turns):
        begin = time.perf_counter_ns()
        loop(n)
        took.append((time.perf_counter_ns() - begin) / n)
    return min(took)
def locks(n):
    for _ in range(n):
        with lock: pass
def reads(n):
    for _ in range(n): os.read(zero, 1)
def writes(n):
    for _ in range(n): os.write(null, b"x")
def polls(n):
    for _ in range(n): poll.poll(0)
def makes(n):
    for _ in range(n): threading.Lock()
poll.register(zero)
loops = {"with lock, free": locks, "os.read(), 1 byte": reads, "os.write(), 1 byte": writes, "poll(0)": polls, "Lock()": makes}
print(json.dumps({name: best(loop) for name, loop in loops.items()}))
"""
        for python in self.pythons:
            rounds = [(json.loads(run([python, "-c", source])), json.loads(self.ocular_run(python, ["-c", source], "--mode", "calls")))
                      for _ in range(2 * self.rounds)]
            rows = []
            for name in rounds[0][0]:
                plain, more = (median([r[0][name] for r in rounds]), spread([r[1][name] - r[0][name] for r in rounds]))
                rows.append([name, "%.0f" % plain, "%.0f" % median([r[1][name] for r in rounds]), "%+.0f (%+.0f to %+.0f)" % more])
            table("Calls that might wait and do not, ns, %s" % self.version(python), ["call", "without", "while recording", "more"], rows)

    def labels(self):
        """What spans, instants and counters cost, of Python and of C (labels.c), while nobody records and while somebody does; loops
        without them subtracted."""
        source = """
import json, sys, time
sys.path[:0] = %r
import labels, ocular
span, instant, counter = ocular.span, ocular.instant, ocular.counter
def best(loops, n=2000, turns=150): # as many as a ring holds; in turn, so that the machine is the same for all
    took = {what: [] for what in loops}
    for _ in range(turns):
        for what, loop in loops.items():
            begin = time.perf_counter_ns()
            loop(n)
            took[what].append((time.perf_counter_ns() - begin) / n)
    least = {what: min(each) for what, each in took.items()}
    return {what: ns - least["nothing"] for what, ns in least.items() if what != "nothing"}
Empty, made, empty_object, long = labels.Empty, span("made"), labels.Empty(), "x" * 500
NUMBERS, OPTIONS = [7], {"retries": 3, "cached": True}
def nothing(n):
    for _ in range(n): pass
def loop_of(what):
    scope = dict(globals())
    exec("def loop(n):\\n    for i in range(n):\\n        " + what, scope)
    return scope["loop"]
# The floor: a function, or a context manager, in C that does nothing, called with the same. Both in one process: a virtual machine is now fast,
# now slow.
three = 'number=7, ok=True, path="/users"'
floors = {"with made: pass": "with empty_object: pass", 'with span("parse"): pass': 'with Empty("parse"): pass'}
floors |= {'with span("parse", %%s): pass' %% data: 'with Empty("parse", number=7): pass' for data in ("number=7", "ratio=0.1", "ok=True",
           'path="/users/index.html"', "path=str(i)", "text=long", "numbers=NUMBERS", "options=OPTIONS")}
floors['with span("parse", path=str(i)): pass'] = 'with Empty("parse", path=str(i)): pass'
floors['with span("parse", %%s): pass' %% three] = 'with Empty("parse", %%s): pass' %% three
floors |= {what: "labels.ignore" + what[what.index("("):] for what in ('instant("half")', 'instant("half", number=7)', 'counter("queue", 7)')}
least = best({"nothing": nothing, **{what: loop_of(what) for what in [*floors, *dict.fromkeys(floors.values())]}})
took = {what: least[what] - least[floor] for what, floor in floors.items()}
loops = {"ocular_begin() and ocular_end()": labels.span, "ocular_instant()": labels.instant, "ocular_counter()": labels.counter}
took.update(best({"nothing": labels.nothing, **loops}))
print(json.dumps(took))
"""
        for python in self.pythons:
            source_of = source % [str(self.build / "python"), str(self.labels_of(python))]
            rounds = [(json.loads(run([python, "-c", source_of])),
                       json.loads(self.ocular_run(python, ["-c", source_of], "--mode", "calls"))) for _ in range(2 * self.rounds)]
            table("What the program says itself, ns, %s" % self.version(python), ["", "nobody records", "recorded"],
                  [[name, *("%.1f (%.1f to %.1f)" % spread([r[i][name] for r in rounds]) for i in (0, 1))] for name in rounds[0][0]])
            self.logged(python)

    def logged(self, python):
        """A message logged by LogHandler, above one by a handler that makes its text; logging itself is not traced."""
        source = """
import json, logging, sys, timeit
sys.path[:0] = %r
import ocular
class Text(logging.Handler):
    def emit(self, record): record.getMessage()
log = logging.getLogger("shop")
log.propagate = False
def least(handler, n=300): # less than a ring holds
    log.addHandler(handler)
    took = min(timeit.repeat(lambda: log.warning("number %%d of %%s", 1, "three"), number=n, repeat=60)) / n * 1e9
    log.removeHandler(handler)
    return took
turns = [(least(floor), least(ours)) for floor, ours in [(Text(), ocular.LogHandler())] * 12]
print(json.dumps(list(map(min, zip(*turns)))))
""" % [str(self.build / "python")]
        ways = {"nobody records": lambda: run([python, "-c", source]),
                "recorded": lambda: self.ocular_run(python, ["-c", source], "--mode", "calls", "--include", "nothing.of.it")}
        rounds = [{way: json.loads(took()) for way, took in ways.items()} for _ in range(2 * self.rounds)]
        table("What is logged, ns a message, %s" % self.version(python), ["", "a handler that makes the text", "LogHandler", "more"],
              [[way, *("%.0f" % median([r[way][i] for r in rounds]) for i in (0, 1)),
                "%+.0f (%+.0f to %+.0f)" % spread([r[way][1] - r[way][0] for r in rounds])] for way in ways])

    def labels_of(self, python):
        """The folder of labels.c's module for that Python."""
        folder = self.work / ("labels" + str(python).replace("/", "-"))
        folder.mkdir(exist_ok=True)
        include = run([python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]).strip()
        run(["cc", "-O2", "-shared", "-fPIC", "-I%s" % (self.build / "python/ocular/include"), "-I" + include, "-o", folder / "labels.so",
             HERE / "labels.c"])
        return folder

    def bytes(self):
        """Of perf.data an event, of five programs (bytes.py): what more is written (generators, waits, numbers) counts, too."""
        for python in self.pythons:
            rows = []
            for name, (_, needs) in bytes_of.PROGRAMS.items():
                path = [HERE, *([self.package(python, needs, "--platform=any")] if needs else [])]
                if None not in path:
                    rows.append([name, *(cell for also in ((), ("--c-calls",)) for cell in self.written(python, name, path, *also))])
            table("Bytes of perf.data an event, mode adaptive, %s" % self.version(python),
                  ["program", "events", "bytes an event", "events with `--c-calls`", "bytes an event"], rows)

    def written(self, python, name, path, *options):
        data = self.work / "data"
        run([ROOT / "scripts/ocular", "record", "-q", "-o", data, "--python", python, *options, "--", HERE / "bytes.py", name],
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, path)), PYTHONHASHSEED="0"))
        events = self.count(data)
        size = (data / "perf.data").stat().st_size
        shutil.rmtree(data)
        return "%.3f M" % (events / 1e6), "%.1f" % (size / events)

    def version(self, python):
        return run([python, "-c", "import platform, sys; print('CPython', platform.python_version() + sys.abiflags)"]).strip()

    # --- flight recorder, duty cycle ---------------------------------------------------------------

    def ocular_run(self, python, program, *options, cores=None, path=()):
        """Its output, under `ocular record`; self.recorded: how long its trace is."""
        data = self.work / "data"
        path = os.pathsep.join(map(str, path or [self.build / "python"]))
        out = run([ROOT / "scripts/ocular", "record", "-q", "-o", data, "--python", python, *options, "--", *program],
                  env=dict(os.environ, PYTHONPATH=path, PYTHONHASHSEED="0"),
                  preexec_fn=cores and (lambda: os.sched_setaffinity(0, cores)))
        self.recorded = (data / "perf.data").stat().st_size
        shutil.rmtree(data, ignore_errors=True)
        shutil.rmtree(str(data) + ".old", ignore_errors=True)
        return out

    def flight(self):
        program = HERE / "flight.py"
        for python in self.pythons:
            self.idle(python)
            self.duty(python)
            self.stalls(python, program)
            path = os.pathsep.join([str(self.build / "python"), str(self.empty_module(python))])
            call = json.loads(run([python, program, "call", "1000000"], env=dict(os.environ, PYTHONPATH=path)))
            call["instructions"] = "%d" % self.code(python, "snapshot").count("snapshot_take")
            table("take_snapshot(label, number=1) while nobody listens, ns a call of a million, %s" % self.version(python),
                  ["", "an empty C function", "over that", "its instructions"],
                  [["%.1f" % call["take_snapshot"], "%.1f" % call["empty"],
                    "**%+.1f** (%+.1f to %+.1f)" % (call["over"], call["low"], call["high"]), call["instructions"]]])

    def sliced(self, python, seconds, options, *variants):
        """What pieces.py measured; under `ocular record` with these options, or by itself if they are None."""
        program, path = [HERE / "pieces.py", seconds, *variants], [self.build / "python", self.empty_module(python)]
        if options is not None:
            return json.loads(self.ocular_run(python, program, *options, path=path))
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, path)), PYTHONHASHSEED="0")
        return json.loads(run([python, *program], env=env))

    def sliced_table(self, title, python, turns, variants, ratios):
        """Medians of the slices at full speed. turns: [{variant: {program: slices}}], "plain" among the variants; ratios:
        {name: (variant, over which)}."""
        full, share = full_speed(slice_ for turn in turns for measured in turn.values() for rows in measured.values() for slice_ in rows)
        table("%s, %s" % (title, self.version(python)), ["program", *variants, *ratios, "processes"],
              [self.sliced_row(name, turns, variants, ratios.values(), full) for name in self.workloads])
        print("\n(%d processes; %.0f %% of the slices ran at full speed; load average %s at the start)" %
              (len(turns), 100 * share, self.load))

    def idle(self, python):
        """With drained rings and with rings that nobody reads."""
        variants = {"plain": None, "calls": ["--mode", "calls"], "calls, flying": ["--mode", "calls", "--flight", "10ms"],
                    "adaptive": [], "adaptive, flying": ["--flight", "10ms"]}
        turns = [{v: self.sliced(python, IDLE_SECONDS, variants[v])["as it is"] for v in random.sample(list(variants), len(variants))}
                 for _ in range(IDLE_TURNS)]
        self.sliced_table("An idle flight recorder: slowdown, and of what recording costs", python, turns, list(variants)[1:],
                          {mode + ": flying / recording": (mode + ", flying", mode) for mode in ("calls", "adaptive")})

    def sliced_row(self, name, turns, variants, ratios, full):
        """Processes with too few slices at full speed of any variant do not count; the last cell is how many do."""
        costs = []
        for turn in turns:
            kept = {v: at_full_speed(measured[name], full) for v, measured in turn.items()}
            if min(map(len, kept.values())) >= KEPT_MIN:
                costs.append({v: median(ticks) for v, ticks in kept.items()})
        if not costs:
            return [name] + ["-"] * (len(variants) + len(ratios)) + [0]
        cells = ["%.2f" % median(c[v] / c["plain"] for c in costs) for v in variants]
        cells += ["**%.3f** (%.3f to %.3f)" % spread([c[v] / c[over] for c in costs]) for v, over in ratios]
        return [name, *cells, len(costs)]

    def duty(self, python):
        """Whole programs."""
        variants, rows = {"adaptive": [], "--duty 5%": ["--duty", "5%", "--duty-window", "20ms"]}, []
        for workload in self.workloads:
            body, ratios = [HERE / "workloads.py", workload, "plain"], []
            for _ in range(self.rounds):
                plain = float(run([python, *body]))
                ratios.append([float(self.ocular_run(python, body, *options)) / plain for options in variants.values()])
            rows.append([workload] + ["%.2f (%.2f to %.2f)" % quartiles(c) for c in zip(*ratios)])
        table("A duty cycle: slowdown, %s" % self.version(python), ["program", *variants], rows)

    def stalls(self, python, program):
        """How a snapshot affects a thread that goes on, on all cores and on a single one."""
        rows, words = [], []
        for where, cores in ("", None), (", all on one core", {max(os.sched_getaffinity(0))}):
            rounds = {"with": [], "without": [], "the first of a recording": []}
            for _ in range(STALL_RUNS):
                run_ = json.loads(self.ocular_run(python, [program, "stall", STALL_ROUNDS], "--flight", "10ms",
                                                  "--max-snapshots", 2 * STALL_ROUNDS, cores=cores))
                words.append(self.recorded / WORD_BYTES / STALL_ROUNDS)
                rounds["the first of a recording"].append(run_["with"].pop(0))
                for name, gaps in run_.items():
                    rounds[name] += gaps
            rows += [stall_row(name + where, gaps) for name, gaps in rounds.items()]
        table("The longest gap in a busy thread, eight with 10 ms of history (%.0f words), us, %s" %
              (median(words), self.version(python)),
              ["snapshot", "rounds", "p99", "undisturbed", "median", "p99 (95 %)", "longest"], rows)

    # --- one marker -------------------------------------------------------------------------------

    def placed(self, python, pad):
        """The extension and ocular_empty with `pad` bytes of code before their own; folders for PYTHONPATH.

        Where a callback's code lies decides whether its branches and CPython's get in each other's way in the
        processor's tables: an event in twenty costs 5 to 9 ns more in one place than in others."""
        soabi = run([python, "-c", "import sysconfig as s; print(s.get_config_var('SOABI'))"]).strip()
        top = self.work / ("placed-%s-%d" % (soabi, pad))
        package = top / "python/ocular"
        package.mkdir(parents=True)
        (top / "bin").symlink_to(self.build / "bin")
        for file in (self.build / "python/ocular").glob("*.py"):
            (package / file.name).symlink_to(file.resolve())
        space = top / "pad.o"
        run(["cc", "-x", "assembler", "-c", "-o", space, "-"],
            input=".text\n.skip %d\n.section .note.GNU-stack,\"\"\n" % pad)
        objects = sorted((self.build / "obj" / soabi / "helper-ext/ext").rglob("*.o"))
        run(["cc", "-shared", "-o", package / ("_core.%s.so" % soabi), space, *objects])
        shutil.copytree(self.empty_module(python, space), top / "empty")
        return [top / "python", top / "empty"]

    def slices(self, python):
        """What emit.py measured, once for each place."""
        for place in range(PLACES):
            path = self.placed(python, place * PLACE_BYTES)
            env = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, path)))
            yield json.loads(run([python, HERE / "emit.py", MARKER_SECONDS], env=env))

    def markers(self):
        for python in self.pythons:
            measured = list(self.slices(python))
            slices = [s for m in measured for variants in m["events"].values() for rows in variants.values() for s in rows]
            full, share = full_speed(slices)
            rows = []
            for name in measured[0]["events"]:
                places = [event_costs(m, name, full) for m in measured]
                places = [p for p in places if p]
                if not places:  # the machine was hardly ever at full speed
                    rows.append([name] + ["-"] * 8)
                    continue
                rows.append([name] + ["%.1f" % median(p["empty"] for p in places)] +
                            ["%+.1f" % median(p[v] for p in places) for v in ("stamp", "record", "least")] +
                            ["**%+.1f** (%+.1f to %+.1f)" % spread([p[v] for p in places]) for v in ("marker", "ring", "coarse")] +
                            ["**%+.1f** (%+.1f to %+.1f)" % spread([p["told"] for p in places]) if name in OF_OBJECTS else ""])
            table("One marker over an empty vectorcall callback, ns, %s" % self.version(python),
                  ["event", "empty callback", "RDTSC over it", "{time, constant} over it",
                   "least over it", "marker over it",
                   "marker in a drained ring over it", "marker with a coarse clock over it", "marker in a drained ring, with the generator"], rows)
            print("\n(%d places of the code; %.0f %% of %d slices ran at full speed; load average %s at the start)" %
                  (len(measured), 100 * share, len(slices), self.load))

    # --- emission: instructions, counted in the machine code ------------------------------------------

    def code(self, python, file):
        soabi = run([python, "-c", "import sysconfig as s; print(s.get_config_var('SOABI'))"]).strip()
        return instructions.Code(self.build / "obj" / soabi / "helper-ext/ext" / (file + ".o"))

    def emission(self):
        """From a callback's first instruction to its return, where nothing rare happens."""
        rows = []
        for python in self.pythons:
            for backend, file in (("software", "arch/x86_64/emit"), ("software, coarse clock", "emit_coarse"), ("ptwrite", "emit_ptwrite"), ("emulated", "emit_emulated")):
                path = self.code(python, file)
                rows.append([self.version(python), backend, *self.counts(python, path)])
        table("Instructions of a callback with its marker",
              ["", "backend", "offset (PY_START, …)", "INSTRUCTION", "line (LINE)", "destination (BRANCH)"], rows)

    def counts(self, python, path):
        """Into rings most are written by hand, and INSTRUCTION has a callback of its own on 3.12."""
        prefix = "plain_" if "plain_offset" in path.symbols else "emit_"
        offset, dest = (path.count(prefix + shape) for shape in ("offset", "dest"))
        instruction = path.count("emit_instruction", "way_hot") if "emit_instruction" in path.symbols else offset
        return [offset, instruction, path.count("plain_line"), dest]

    # --- analysis ---------------------------------------------------------------------------------

    def recording(self, markers):
        """A recording of about that many markers from two threads; its folder and the exact number."""
        data = self.work / ("m%d" % markers)
        program = ("import threading as t\n"
                   "def f(n):\n  for i in range(n): g(i)\n"
                   "def g(i): return i\n"
                   "p = [t.Thread(target=f, args=(%d,)) for _ in range(2)]\n"
                   "[x.start() for x in p]; [x.join() for x in p]\n" % (markers // 6))
        run([ROOT / "scripts/ocular", "record", "-o", data, "--python", self.pythons[0], "--", "-c", program])
        return data

    def timed(self, command):
        """Seconds that a command took, and its peak resident set in MB."""
        begin = time.perf_counter()
        child = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit("bench: failed: %s" % " ".join(map(str, command)))
        return time.perf_counter() - begin, usage.ru_maxrss / 1024

    def script(self, data, filter_so, *arguments):
        """perf script with a dlfilter."""
        keys = [word for a in arguments for word in ("--dlarg", a)]
        return self.timed(["perf", "script", "-i", data / "perf.data", "--itrace=we", "--dlfilter", filter_so, *keys])

    def ocular_pt(self, data, *arguments):
        """The second decoder, without perf."""
        return self.timed([self.build / "bin/ocular-pt", *arguments, data])

    def count(self, data):
        out = self.work / "summary.json"
        self.script(data, self.build / "perf/ocular.so", "summary=%s" % out)
        return sum(json.loads(out.read_text())["events"].values())

    def words(self, words):
        """Of a row of SINKS, with {null} filled in."""
        for word in words:
            if "{null}" in word:
                link = Path(word.partition("=")[2].format(null=self.work / "null"))
                link.is_symlink() or link.symlink_to("/dev/null")
        return [word.format(null=self.work / "null") for word in words]

    def analysis(self):
        data = self.recording(20_000_000)
        n = self.count(data)
        so = self.build / "perf/ocular.so"
        variants = {("do-nothing filter", "perf"): (self.script, self.nothing)}
        for sink, words in self.sinks.items():
            words = self.words(words)
            variants[sink, "perf"] = (self.script, so, *words)
            variants[sink, "ocular-pt"] = (self.ocular_pt, *words)
        rounds = []
        for _ in range(self.rounds):
            rounds.append({v: n / run_it(data, *args)[0] / 1e6 for v, (run_it, *args) in variants.items()})

        def rate(*v):
            return "%.1f" % median([r[v] for r in rounds])

        def ratio(v, over):
            """Of one round's rates, as the machine's speed is another in the next."""
            return "%.2f (%.2f to %.2f)" % spread([r[v] / r[over] for r in rounds])

        nothing = "do-nothing filter", "perf"
        rows = [[nothing[0], rate(*nothing), "1", "-", "-", "-"]]
        for sink in self.sinks:
            perf, pt = (sink, "perf"), (sink, "ocular-pt")
            rows.append([sink, rate(*perf), ratio(perf, nothing), rate(*pt), ratio(pt, nothing), ratio(pt, perf)])
        table("Sinks: %.1f M markers of two threads, M markers/s" % (n / 1e6),
              ["sink", "ocular.so in perf", "of the do-nothing filter's", "ocular-pt", "of the do-nothing filter's",
               "of ocular.so's"], rows)
        self.floors(data)
        shutil.rmtree(data)

    def floors(self, data):
        """How far ocular-pt is from what the bytes allow: processor time of each output on one CPU, and the console's on all."""
        least, pt = Floor(self.work), [self.build / "bin/ocular-pt", "console=always", "color=never", data]
        outputs = {name: [self.build / "bin/ocular-pt", name + "=/dev/null", data] for name in ("summary", "pstats", "html")}
        names = ["memory sum", "packet walk", "walk + stack", "console, one CPU", *(name + ", one CPU" for name in outputs),
                 "console, all CPUs", "the same, by the clock"]
        rounds = []
        for _ in range(self.rounds):
            n, *floors = least.measure(data)
            one = [used(lambda: self.timed(["taskset", "-c", min(os.sched_getaffinity(0)), *command]))
                   for command in (pt, *outputs.values())]
            both = []
            every = used(lambda: both.append(self.timed(pt)[0]))
            rounds.append([*floors, *(seconds * 1e9 / n for seconds in (*one, every, both[0]))])
        table("Distance to the limit: %.1f M markers, ns a marker, load %.1f" % (n / 1e6, os.getloadavg()[0]),
              ["", "median (range)", "of walk + stack"],
              [[name, "%.1f (%.1f to %.1f)" % spread(column), "%.1f (%.1f to %.1f)" % spread([r[i] / r[2] for r in rounds])]
               for i, (name, column) in enumerate(zip(names, zip(*rounds)))])

    # --- mode opcodes -----------------------------------------------------------------------------------

    def emulated(self, python, folder, trips, *settings):
        """A program in mode opcodes on the emulated processor, through an IP filter; processor seconds that it took."""
        env = dict(os.environ, PYTHONPATH=str(self.build / "python/hook"), PYTHONHASHSEED="0", OCULAR_MAIN="1",
                   OCULAR_MODE="opcodes")
        ranges = run([python, "-c", "from ocular import ranges; ranges.show(2)"],
                     env=dict(os.environ, PYTHONPATH=str(self.build / "python"))).split()
        words = [w for s in ("branch=1", "noretcomp=1", *settings, *("filter=" + r for r in ranges)) for w in ("-s", s)]
        shutil.rmtree(folder, ignore_errors=True)
        return used(lambda: run([self.build / "bin/ocular-qemu", "-q", "-o", folder, *words, "--", python, HERE / "opcodes.py",
                                 trips], env=env))

    def natively(self, python, trips, mode):
        """The same without the emulator, plain or recorded; processor seconds, the recorder's among them."""
        data = self.work / "data"
        command = [python, HERE / "opcodes.py", trips]
        if mode != "plain":
            command = [ROOT / "scripts/ocular", "record", "-q", "-o", data, "--mode", mode, "--backend", "software",
                       "--python", python, "--", *command[1:]]
        took = used(lambda: run(command, env=dict(os.environ, PYTHONHASHSEED="0")))
        shutil.rmtree(data, ignore_errors=True)
        return took

    def recovered(self, folder):
        """Opcodes, bytes, and processor seconds: packets alone, packets and recovery."""
        n, size, alone, both = run([self.build / "bench-recover", folder]).split()
        return int(n), int(size), float(alone), float(both)

    def perf_decodes(self, folder):
        """Processor seconds of stock perf walking the code along the same packets."""
        return used(lambda: self.timed(["perf", "script", "-i", folder / "perf.data", "--itrace=be", "--dlfilter", self.nothing]))

    def opcodes(self):
        """Two lengths of a program, so that start-up falls out. First as `record --mode opcodes` has it."""
        few, many = 2000, 150000
        for python in self.pythons:
            rows = []
            for name, settings in (("cyc_thresh=10", ("cyc_thresh=10",)), ("cyc=1", ()), ("cyc=0", ("cyc=0",))):
                short, long = self.work / "few", self.work / "many"
                self.emulated(python, short, few, *settings)
                self.emulated(python, long, many, *settings)
                a = self.recovered(short)
                runs = [self.recovered(long) for _ in range(self.rounds)]
                walk, both = (median(r[i] for r in runs) for i in (2, 3))
                n, size = runs[0][:2]
                times = "-" if rows else "%.0f" % (self.perf_decodes(long) / both)
                rows.append([name, "%.1f M" % (n / 1e6), "%.1f" % ((size - a[1]) / (n - a[0])), "%.1f" % (n / walk / 1e6),
                             "%.1f" % (n / (both - walk) / 1e6), "%.1f" % (n / both / 1e6), times])
            table("Mode opcodes, %s: one core, M opcodes/s" % self.version(python),
                  ["", "opcodes", "bytes an opcode", "packets alone", "recovery alone", "both", "times perf's decoding"], rows)
            self.recording_opcodes(python, few, 66000)

    def recording_opcodes(self, python, few, many):
        """Natively the program runs ten times as long, because it is many times as fast."""
        def difference(measure, times):
            return (measure(times * many) - measure(times * few)) / times

        rounds = []
        for _ in range(self.rounds):
            plain = difference(lambda trips: self.natively(python, trips, "plain"), 10)
            precise = difference(lambda trips: self.natively(python, trips, "precise"), 10)
            emulated = difference(lambda trips: self.emulated(python, self.work / "many", trips, "cyc_thresh=10"), 1)
            rounds.append((emulated / plain, precise / plain, emulated / precise))
        table("The same program, processor time over that of the program alone, %s" % self.version(python),
              ["emulated, mode opcodes", "native, mode precise", "the one over the other"],
              [["%.1f (%.1f to %.1f)" % spread(column) for column in zip(*rounds)]])

    def memory(self):
        so = self.build / "perf/ocular.so"
        every = self.words(sorted({word for words in SINKS.values() for word in words[:1] if "never" not in word}))
        kinds = {
            "do-nothing filter": (self.nothing,),
            "console + summary + Perfetto JSON": (so, *self.words(("console=always", "summary={null}",
                                                                   "perfetto={null}.json"))),
            "Perfetto protobuf": (so, *self.words(SINKS["Perfetto protobuf"])),
            "all sinks": (so, *every),
        }
        rows = []
        for markers in (1_000_000, 50_000_000):
            data = self.recording(markers)
            peaks = [self.script(data, *words)[1] for words in kinds.values()]
            rows.append(["%.1f M" % (self.count(data) / 1e6)] + ["%.0f" % peak for peak in peaks])
            shutil.rmtree(data)
        table("Peak memory of perf script, MB", ["markers", *kinds], rows)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", type=Path, default=ROOT / "build")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--programs", default=",".join(WORKLOADS))
    p.add_argument("--sinks", default=";".join(SINKS), help="rows of the table of sinks, ';' between them")
    p.add_argument("--python", action="append", help="only this one; may be repeated")
    p.add_argument("--only", default="start,emission,marker,program,threads,pieces,flight,analysis,opcodes,memory")
    o = p.parse_args()
    b = Bench(o.build.resolve(), o.rounds, o.programs.split(","), o.sinks.split(";"))
    b.pythons = o.python or b.pythons
    sections = {"start": b.start, "emission": b.emission, "marker": b.markers, "program": b.programs, "pyperformance": b.pyperformance, "threads": b.threads, "pieces": b.pieces, "native": b.native, "waits": b.waits, "labels": b.labels, "bytes": b.bytes, "analysis": b.analysis, "memory": b.memory, "flight": b.flight,
                "opcodes": b.opcodes}
    print("## %s\n" % time.strftime("%Y-%m-%d"))
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    print("%s, %d cores, %s, %s" % (cpu, os.cpu_count(), platform.system() + " " + platform.release().split("-")[0],
                                    run(["perf", "--version"]).strip()))
    print("(medians of %d interleaved rounds)" % o.rounds)
    for name in o.only.split(","):
        sections[name]()


if __name__ == "__main__":
    main()
