#!/usr/bin/env python3
"""`ocular report --follow`: while a recording is being written, what happened in each second, and nothing twice or never.

    test_follow.py [--python PY]... [--only TEXT]

No second is awaited: the program goes on when the follower has told of its first phase, so its later functions,
threads and processes, and their lines in the code tables, come while it is followed. What they add up to is compared
with the summary of the finished recording.
"""

import collections
import json
import os
import signal
import struct
import subprocess

import recording

PROGRAM = """
import asyncio, gc, multiprocessing, os, sys, threading, time
folder = sys.argv[1]
def wait_for(name):
    while not os.path.exists(os.path.join(folder, name)):
        early()
        time.sleep(0.01)
        if not os.path.isdir(folder):  # the test is over
            os._exit(1)
def early():
    pass
wait_for("go")
def many(n):  # more than a chunk of the recorder's
    for _ in range(n):
        late()
def late():
    pass
def child():
    many(1000)
async def step():
    for _ in range(3):
        await asyncio.sleep(0.001)
async def together():
    await asyncio.gather(*[step() for _ in range(5)])
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    hopeless = [asyncio.create_task(asyncio.sleep(60)) for _ in range(5)]
    await asyncio.gather(*[step() for _ in range(5)])
    for task in hopeless:
        task.cancel()
def leaf(n):
    try:
        for _ in range(n):
            yield
    except ValueError:
        yield from leaf(n)
def inner(n):
    for _ in range(3):
        yield from leaf(n)
def generators():
    for n in range(1, 20):
        for _ in inner(n):
            early()
        halfway = inner(n)
        next(halfway, None)
        try:
            halfway.throw(ValueError)
        except StopIteration:
            pass
        halfway.close()
if __name__ == "__main__":
    thread = threading.Thread(target=many, args=(50000,))
    thread.start()
    many(50000)
    thread.join()
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0
    asyncio.run(together())
    generators()
    gc.collect()
"""
DECODER = os.path.join(recording.BUILD, "bin", "ocular-pt")
AUXTRACE = 71  # PERF_RECORD_AUXTRACE: its payload, of the size that follows, is not in the record's own size
# What else a second has: its array, what names a row; where the summary has it, and what names a row there; the same
# numbers of both.
PARTS = (
    ("loops", ("file", "qualname", "line"), "loops", ("file", "qualname", "line"), {"entries": "entries", "iterations": "iterations"}),
    ("tasks", ("file", "qualname"), "task_groups", ("file", "coroutine"), {"made": "tasks", "resumptions": "resumptions"}),
    ("waits", ("kind",), "waits", ("kind",), {"count": "count"}),
    ("gc", ("generation",), "collections", ("generation",), {"count": "count", "collected": "collected"}),
    ("threads", ("pid", "tid"), "threads", ("pid", "tid"), {}),
)


def start(python, folder):
    """The recorder of a program that waits for a file `go`."""
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    command = [recording.WRAPPER, "record", "-q", "--mode", "adaptive", "-o", os.path.join(folder, "rec"), "--",
               python, path, folder]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=recording.plain_environment())


def follow(folder, *options, ask=False):
    """It waits itself for a recorder that has not begun yet, and fails if none does."""
    return subprocess.Popen([recording.WRAPPER, "report", "--follow", *options, os.path.join(folder, "rec")],
                            stdin=subprocess.PIPE if ask else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def let_go(folder):
    with open(os.path.join(folder, "go"), "w", encoding="utf-8"):
        pass


def until_early(follower):
    """The first objects, up to one that has a call of `early`."""
    seconds = []
    for line in follower.stdout:
        seconds.append(json.loads(line))
        if any(row["qualname"] == "early" and row["calls"] for row in seconds[-1]["functions"]):
            return seconds
    raise RuntimeError(f"it ended without one: {follower.stderr.read()}")


def totals(rows, line):
    calls, self_ns = collections.Counter(), collections.Counter()
    for row in rows:
        place = row["file"], row["qualname"], row[line]
        calls[place] += row["calls"]
        self_ns[place] += row["self_ns"]
    return calls, self_ns


def added(rows, names, fields):
    """{name: [sum of each field]}"""
    sums = collections.defaultdict(lambda: [0] * len(fields))
    for row in rows:
        total = sums[tuple(row[name] for name in names)]
        total[:] = [one + row[field] for one, field in zip(total, fields)]
    return dict(sums)


def compare_parts(seconds, summary):
    problems = []
    for part, names, theirs, their_names, fields in PARTS:
        told = added((row for second in seconds for row in second[part]), names, fields)
        right = added(summary[theirs], their_names, fields.values())
        problems += [f"{part} {name}: {told.get(name)}, the summary has {right.get(name)}"
                     for name in told.keys() | right.keys() if told.get(name) != right.get(name)]
        if not right:
            problems.append(f"the program has no {part}")
    return problems


def compare(seconds, summary):
    """Counts are exact. Times are of the clock's rate as it was known when following began (docs/live.md)."""
    calls, self_ns = totals((row for second in seconds for row in second["functions"]), "line")
    right_calls, right_ns = totals(summary["functions"], "firstlineno")
    events = sum(second["events"] for second in seconds)
    problems = [f"{place}: {calls[place]} calls, the summary has {right_calls[place]}"
                for place in calls.keys() | right_calls.keys() if calls[place] != right_calls[place]]
    if events != sum(summary["events"].values()):
        problems.append(f"{events} events, the summary has {summary['events']}")
    if sum(second["lost"] + second["damaged"] for second in seconds):
        problems.append("words are lost")
    if abs(sum(self_ns.values()) - sum(right_ns.values())) > sum(right_ns.values()) / 1000:
        problems.append(f"self time {sum(self_ns.values())}, the summary has {sum(right_ns.values())}")
    for key in ("self_cpu_ns", "self_waiting_ns"):
        told = sum(row[key] for second in seconds for row in second["functions"])
        right = sum(row[key] for row in summary["functions"])
        if abs(told - right) > sum(right_ns.values()) / 1000:
            problems.append(f"{key} {told}, the summary has {right}")
    times = [second["time_ns"] for second in seconds]
    return problems + ["time runs backwards"] * (times != sorted(times))


def adds_up(python, folder):
    with start(python, folder) as recorder, follow(folder) as follower:
        seconds = until_early(follower)
        let_go(folder)
        seconds += [json.loads(line) for line in follower.stdout]
        errors = follower.stderr.read()
    again = recording.run([recording.WRAPPER, "report", "--follow", os.path.join(folder, "rec")])
    whole = recording.run([recording.WRAPPER, "report", "--follow", "--summary", folder + "/whole.json", os.path.join(folder, "rec")])
    summary = recording.summary(folder + "/rec")
    problems = compare(seconds, summary) + compare([json.loads(line) for line in again.stdout.splitlines()], summary)
    problems += compare_parts(seconds, summary)
    if again.stdout != whole.stdout:  # which counts more, for the summary
        problems.append("with --summary, lines are others")
    late = sum(row["calls"] for row in summary["functions"] if row["qualname"] == "late")
    if late != 101000:
        problems.append(f"{late} calls of late()")
    if recorder.returncode or follower.returncode or errors:
        problems.append(f"exit {recorder.returncode}, {follower.returncode}: {errors}")
    return problems


def callers(python, folder):
    """Asked for while the program waits, those of late() are told from its next call on; and the main thread's functions, without others'."""
    with start(python, folder) as recorder, follow(folder, "--callers", ask=True) as follower, follow(folder, "--callers", ask=True) as other:
        first = until_early(follower)
        main = {key: first[-1]["threads"][0][key] for key in ("pid", "tid")}
        print(json.dumps(main), file=other.stdin, flush=True)
        while json.loads(other.stdout.readline())["only"] is None:
            pass
        lines = PROGRAM.splitlines()
        asked = {"file": os.path.join(folder, "program.py"), "qualname": "late", "line": lines.index("def late():") + 1}
        print('{"qualname":\nno JSON at all\n' + json.dumps(asked), file=follower.stdin, flush=True)
        while json.loads(follower.stdout.readline())["callers"] is None:
            pass
        let_go(folder)
        seconds, others = ([json.loads(line) for line in each.stdout] for each in (follower, other))
    calls, self_ns = totals((row for second in seconds for row in second["callers"]), "line")
    of_main = added((row for second in others for row in second["only_functions"]), ("qualname",), ("calls", "self_ns", "total_ns"))
    own = sum(row["self_ns"] for second in seconds for row in second["functions"] if row["qualname"] == "late")
    many = next(number for number, line in enumerate(lines, 1) if line.startswith("def many("))
    right = {(asked["file"], "many", many): 101000}
    problems = [] if calls == right else [f"callers: {calls}, not {right}"]
    problems += [f"{seconds[-1]['callers_of']}, not {asked}"] * (seconds[-1]["callers_of"] != asked)
    problems += [f"of the main thread: {of_main}"] * (of_main[("late",)][0] != 50000 or of_main[("many",)][0] != 1 or ("child",) in of_main)
    problems += [f"{name}: self {own_ns} of {all_ns}" for name, (_, own_ns, all_ns) in of_main.items() if not 0 <= own_ns <= all_ns]
    problems += [f"{others[-1]['only']}, not {main}"] * (others[-1]["only"] != main or others[-1]["callers"] is not None)
    problems += ["callers without a question"] * any(second["callers"] is not None for second in first)
    problems += [f"self time {self_ns}, not {own}"] * (sum(self_ns.values()) != own)
    return problems + [f"exit {recorder.returncode}, {follower.returncode}"] * (recorder.returncode or follower.returncode)


def interrupted(python, folder):
    with start(python, folder) as recorder, follow(folder, "--summary", os.path.join(folder, "part.json")) as follower:
        seconds = until_early(follower)
        follower.send_signal(signal.SIGINT)
        seconds += [json.loads(line) for line in follower.stdout]
        errors = follower.stderr.read()
        let_go(folder)
    with open(os.path.join(folder, "part.json"), encoding="utf-8") as file:
        problems = compare(seconds, json.load(file))
    if recorder.returncode or follower.returncode or errors:
        problems.append(f"exit {recorder.returncode}, {follower.returncode}: {errors}")
    return problems


def recorder_killed(python, folder):
    """Its socket stays, so that cannot be what a follower waits for."""
    rec = os.path.join(folder, "rec")
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    command = [recording.RECORDER, "-q", "-o", rec, "--", python, path, folder]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, env=recording.traced_environment("calls")) as recorder, \
            follow(folder) as follower:
        until_early(follower)
        recorder.kill()
        follower.communicate(timeout=recording.LIMIT)
        let_go(folder)
    return [] if follower.returncode == 0 else [f"exit {follower.returncode}"]


def record_places(data):
    """Where the records of a perf.data begin."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        yield at
        kind, length = struct.unpack_from("<IxxH", data, at)
        at += length + (struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0)


def recorded(python, folder):
    """A recording that has ended, and its perf.data."""
    rec = os.path.join(folder, "rec")
    recording.run([recording.WRAPPER, "record", "-q", "--python", python, "-o", rec, "-c", "def f(): pass\nfor _ in range(200000): f()"])
    with open(os.path.join(rec, "perf.data"), "rb") as file:
        return rec, file.read()


def followed_as(rec, data):
    """With that perf.data: what following says, and how many events of how many it told."""
    with open(os.path.join(rec, "perf.data"), "wb") as file:
        file.write(data)
    done = recording.run([DECODER, "follow=yes", rec])
    recording.run([DECODER, "console=never", f"summary={rec}/intact.json", rec])  # perf would die of some
    with open(f"{rec}/intact.json", encoding="utf-8") as file:
        right = sum(json.load(file)["events"].values())
    return done, sum(json.loads(line)["events"] for line in done.stdout.splitlines()), right


def damaged(python, folder):
    """What was recorded before a cut, or before what is no record, is told as the report tells it; and following ends there."""
    rec, whole = recorded(python, folder)
    places, problems = list(record_places(whole)), []
    middle = places[len(places) * 2 // 3]
    for name, data in (("cut", whole[:middle + 500]), ("cut between records", whole[:middle]),
                       ("no record", whole[:middle] + bytes(8) + whole[middle + 8:])):
        done, told, right = followed_as(rec, data)
        if done.returncode or told != right or not told or "records are intact" not in done.stderr:
            problems.append(f"{name}: exit {done.returncode}, {told} events, the report has {right}: {done.stderr}")
    return problems


def far_time(python, folder):
    """A clock packet whose highest bit was 0: many years of seconds are not told one by one."""
    rec, whole = recorded(python, folder)
    tsc = whole.index(b"\x19", whole.rindex(b"\x02\x82" * 8))  # of the last synchronization: then come 7 bytes of time
    done, told, right = followed_as(rec, whole[:tsc + 7] + bytes([whole[tsc + 7] | 0x80]) + whole[tsc + 8:])
    seconds = [json.loads(line)["time_ns"] for line in done.stdout.splitlines()]
    problems = [f"{told} events, the report has {right}"] * (told != right)
    problems += [f"exit {done.returncode}: {done.stderr}"] * (done.returncode != 0)
    return problems + [f"seconds {seconds[:3]}... of {len(seconds)}"] * (len(seconds) > 9 or seconds[-1] - seconds[0] < 10 ** 15)


def refused(folder):
    problems = []
    for arguments, status, words in (([os.path.join(folder, "none")], 1, "no recording"),
                                     (["--decoder", "perf", folder], 2, "--follow")):
        done = recording.run([recording.WRAPPER, "report", "--follow", *arguments])
        if done.returncode != status or words not in done.stderr or done.stdout:
            problems.append(f"{arguments}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return problems


def cases(python, chosen):
    version = recording.version(python)
    yield f"{version} the seconds add up to the summary", adds_up, python
    if python == recording.pythons(chosen)[-1]:
        yield "--callers: who calls what standard input asks for", callers, python
        yield "Ctrl-C ends following, not the program", interrupted, python
        yield "following ends when the recorder was killed", recorder_killed, python
        yield "what is damaged is followed up to there", damaged, python
        yield "a time that is years away", far_time, python
        yield "what cannot be followed is refused in a line", refused


if __name__ == "__main__":
    recording.run_cases(cases)
