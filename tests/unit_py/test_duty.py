# SPDX-License-Identifier: MIT
"""Tracing in windows (--duty): when, what is in them, and that nothing is on between them."""

import itertools
import json
import os
import subprocess

import rec
from rec import equal
from test_flight import all_events

PT = os.path.join(rec.BUILD, "bin", "ocular-pt")
DUTY = ["--duty", "20%", "--duty-window", "20ms"]

STEADY = """
import os, sys, threading, time
from sys import monitoring
folder = os.environ["OCULAR_DIR"]
def told(processes):
    counts = []
    for name in os.listdir(folder):
        if name.startswith("codes-"):
            with open(folder + "/" + name, "rb") as table:
                counts.append(table.read().count(b'"kind":"window"'))
    return min(counts) if len(counts) == processes else 0
def work():
    sum(range(1000))
def steady(windows, processes=1):
    # Until the code table of each process tells of so many: no time is long enough for them on every machine.
    while told(processes) < windows:
        work()
"""


def segments(r):
    """{(pid, tid): [(number, begin, end, [events])]}"""
    found = {}
    for e in all_events(r):
        rows = found.setdefault((e.pid, e.tid), [])
        if e.name != "SNAPSHOT":
            assert rows and rows[-1][2] is None, "%r is in no window" % (e,)
            if e.name != "EXTENSION":  # the recorder's CPU words
                rows[-1][3].append(e)
        elif rows and rows[-1][2] is None:
            equal(int(e.offset), rows[-1][0])
            rows[-1][2] = e.time
        else:
            rows.append([int(e.offset), e.time, None, []])
    return found


def summary(r, *command):
    path = r.folder + "/summary.json"
    subprocess.run([*command, "summary=" + path, *([r.folder] if command[0] == PT else [])],
                   check=True, capture_output=True, stdin=subprocess.DEVNULL)
    with open(path) as f:
        return json.load(f)


def by_schedule(duty, begun, ended):
    """How many windows a life from `begun` to `ended` has, and how much of it they are."""
    windows = [(n, n + duty["window_ns"]) for n in range(duty["start_ns"], ended, duty["period_ns"])]
    parts = [min(end, ended) - max(begin, begun) for begin, end in windows]
    return -(-sum(n for n in parts if n > 0) // duty["window_ns"]), sum(n for n in parts if n > 0)


def check_times(header, lines):
    """Each window has its times, but for the first, if the process began in it, and the last, if it ended."""
    duty = header["duty"]
    for i, line in enumerate(lines):
        begin = duty["start_ns"] + (line["number"] - 1) * duty["period_ns"]
        assert line["from_ns"] == begin or line["from_ns"] > begin and i == 0, (duty, line)
        end = begin + duty["window_ns"]
        assert line["at_ns"] == end or line["at_ns"] < end and i == len(lines) - 1, (duty, line)
    numbers = [line["number"] for line in lines]
    equal(numbers, sorted(set(numbers)))


def test_windows():
    with rec.recording(STEADY + "steady(9)\n", recorder=DUTY) as r:
        equal((r.code, r.err), (0, ""))
        (header,), lines = r.lines("header"), r.lines("window")
        equal((header["duty"]["window_ns"], header["duty"]["period_ns"], header["whole"]), (20000000, 100000000, False))
        assert len(lines) >= 4, lines
        check_times(header, lines)
        (rows,) = segments(r).values()
        times = {line["number"]: line for line in lines}
        equal(len([row for row in rows if row[2] is None]), 0)
        busy = 0
        for number, begin, end, events in rows:
            assert times[number]["from_ns"] <= begin <= end, (number, begin, end)
            # Each trip is a call, a return and a back-edge: not one of them is missing.
            names = [e.name for e in events if e.qualname in ("work", "steady")]
            if names.count("JUMP") > 1:
                trips = names[names.index("JUMP"):-1]
                for i in range(3):
                    equal(set(trips[i::3]) - {("JUMP", "PY_START", "PY_RETURN")[i]}, set(), number)
                busy += len(trips) > 10
        assert busy >= 3, [len(row[3]) for row in rows]
        both = [summary(r, *command) for command in (
            ["perf", "script", "-i", r.folder + "/perf.data", "--itrace=we", "--dlfilter", rec.PLUGIN, "--dlarg"], [PT])]
        equal(both[0], both[1])
        equal({k: v for k, v in both[0]["losses"].items() if v}, {})
        duty = both[0]["duty"]
        (stop,) = r.lines("stop")
        lived = (header["clock"]["monotonic_ns"], stop["at_ns"])
        equal(duty["lived_ns"], lived[1] - lived[0])
        equal((duty["windows"], duty["traced_ns"]), by_schedule(header["duty"], *lived))
        assert len(lines) <= duty["windows"]
        trace = both[0]["trace"]
        equal(sum(f["self_ns"] for f in both[0]["functions"] + both[0]["collections"]) + trace["outside_ns"], trace["traced_ns"])
        said = subprocess.run([PT, "console=always", r.folder], capture_output=True, text=True, check=True).stdout
        assert "\nDuty     %.3g %% of the time" % (100 * duty["share"]) in said, said
        assert "Snapshot" not in said, said


def test_nothing_is_on_between_them():
    source = STEADY + """
seen = {}
def look():
    while told(1) < 4 or len(seen) < 2:
        events = [monitoring.get_events(i) for i in range(6) if monitoring.get_tool(i) == "ocular"]
        seen[tuple(map(bool, events))] = seen.get(tuple(map(bool, events)), 0) + 1
look()
print(sorted(seen), threading.enumerate() == [threading.main_thread()], len(sys._current_frames()))
from ocular import monitor
monitor.stop()
print([monitoring.get_tool(i) for i in range(6)], os.listdir("/proc/self/task") == [str(os.getpid())])
work()
"""
    with rec.recording(source, recorder=DUTY) as r:
        equal((r.code, r.err), (0, ""))
        equal(r.out, "[(False,), (True,)] True 1\n[None, None, None, None, None, None] True\n")


def test_forks_are_not_warned_of():
    """CPython counts threads after the hooks of os.fork(), and would warn of the one that keeps the time. Not with
    -W error: fork() discards that error."""
    source = """
import os, time
for _ in range(30):
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    time.sleep(0.01)
"""
    with rec.recording(source, recorder=DUTY, python=["-W", "always"]) as r:
        equal((r.code, r.err), (0, ""))


def test_it_begins_inside_a_fork():
    """Another thread is between the hooks of os.fork(): the thread that keeps the time comes when it has left."""
    source = STEADY + """
from ocular import _core, monitor
def threads():
    return len(os.listdir("/proc/self/task"))
steady(2)
monitor.stop()
_core.fork_begins()
monitor.start(folder, "calls", backend="software")
print(threads())
_core.fork_ends()
steady(told(1) + 2)
print(threads())
"""
    with rec.recording(source, recorder=DUTY) as r:
        equal((r.code, r.out, r.err), (0, "1\n2\n", ""))


def test_a_fork_began_before_it():
    """Then only the hook after the fork is called; windows come all the same, after this fork and the next one."""
    source = STEADY + """
from ocular import _core
_core.fork_ends()
steady(2)
pid = os.fork()
if not pid:
    os._exit(0)
os.waitpid(pid, 0)
steady(told(1) + 2)
"""
    with rec.recording(source, recorder=DUTY) as r:
        equal((r.code, r.err), (0, ""))


def test_whichever_thread_runs():
    """The main thread waits in C all the time; the windows come all the same, also to threads of their own."""
    source = STEADY + """
def short():
    while not done:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
done = False
threads = [threading.Thread(target=steady, args=(12,)), threading.Thread(target=short)]
for t in threads: t.start()
threads[0].join()
done = True
"""
    with rec.recording(source, recorder=DUTY) as r:
        equal((r.code, r.err), (0, ""))
        check_times(r.lines("header")[0], r.lines("window"))
        found = segments(r)
        steady = [key for key, rows in found.items() if any(e.qualname == "steady" for row in rows for e in row[3])]
        equal(len(steady), 1)
        assert len(found[steady[0]]) >= 3, found[steady[0]]
        assert len(found) >= 3, len(found)


def test_sleep_beyond_a_window_is_not_traced():
    """Threads that all sleep when it ends: it can only be recorded when they wake up, much later."""
    source = STEADY + """
tool = next(i for i in range(6) if monitoring.get_tool(i) == "ocular")
def nap():
    time.sleep(0.15)
def sleeper():
    for i in range(4):
        while not monitoring.get_events(tool):
            work()
        work()
        nap()
    while monitoring.get_events(tool): # a thread that ends ends its segment
        work()
thread = threading.Thread(target=sleeper)
thread.start()
sleeper()
thread.join()
"""
    with rec.recording(source, recorder=DUTY) as r:
        equal((r.code, r.err), (0, ""))
        ends = {line["number"]: line["at_ns"] for line in r.lines("window")}
        late = over = 0
        for rows in segments(r).values():
            for number, begin, end, events in rows:
                # An event may come between a window's end and the word of it, time that is traced; a hundredth: the two clocks.
                assert end <= max(ends[number] + 200000, events[-1].time if events else begin), (number, begin, end, ends[number])
                late += [e.qualname for e in events[-1:]] == ["nap"]
                over += max(0, end - ends[number])
        assert late >= 4, late
        found = summary(r, PT)
        traced = found["duty"]["traced_ns"] * 2 + over
        naps = sum(f["self_ns"] for f in found["functions"] if f["qualname"] == "nap")
        assert 0 < naps <= traced, (naps, traced)


def test_processes_have_the_same_windows():
    """And a fork does not see the thread that keeps the time: CPython would warn."""
    source = STEADY + """
pids = []
for i in range(3):
    pid = os.fork()
    if not pid:
        steady(5, 4)
        sys.exit(0)
    pids.append(pid)
steady(5, 4)
for pid in pids:
    os.waitpid(pid, 0)
"""
    with rec.recording(source, recorder=["--duty", "50%"], python=["-W", "always"]) as r:
        equal((r.code, r.err), (0, ""))
        tables = r.tables()
        equal(len(tables), 4)
        header = r.lines("header")[0]
        numbers = []
        for table in tables.values():
            lines = [x for x in table if x["kind"] == "window"]
            (own,) = [x for x in table if x["kind"] == "header"]
            equal(own["duty"], header["duty"])
            check_times(own, lines)
            numbers.append({line["number"] for line in lines})
        assert len(set.intersection(*numbers)) >= 2, numbers
        equal({k: v for k, v in summary(r, PT)["losses"].items() if v}, {})


def test_a_program_that_is_killed():
    with rec.recording(STEADY + "steady(3)\nos.kill(os.getpid(), 9)\n", recorder=DUTY) as r:
        equal(r.code, -9)
        duty = summary(r, PT)["duty"]
        assert duty["windows"] >= 2 and duty["traced_ns"] <= duty["lived_ns"], duty


def test_short_windows():
    """Windows of a millisecond, most of which begin and end while the program is at work elsewhere."""
    with rec.recording(STEADY + "steady(20)\n", recorder=["--duty", "50%", "--duty-window", "1ms"]) as r:
        equal((r.code, r.err), (0, ""))
        (rows,) = segments(r).values()
        for before, after in itertools.pairwise(rows):
            assert before[0] < after[0] and before[2] <= after[1], (before[:3], after[:3])
        assert len(rows) >= 5, len(rows)
        equal({k: v for k, v in summary(r, PT)["losses"].items() if v}, {})


if __name__ == "__main__":
    rec.run(globals())
