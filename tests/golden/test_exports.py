#!/usr/bin/env python3
"""Exports of odd traces: every file is well-formed, and all have the same times.

The traces are the golden ones (gaps, damage, clocks that run backwards, no event at all, odd names), and one of
100,000 code objects, some with names of 10 kB. Self times of the summary's functions add up to what the folded
stacks, the speedscope and the Firefox profile, the pstats and the callgrind file hold, in all and for each function.
"""

import collections
import gc
import glob
import gzip
import json
import marshal
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "doors"), HERE]
import recording  # noqa: E402
import firefox_profile  # noqa: E402
import otlp_profile  # noqa: E402
import test_pypylog  # noqa: E402
from protobuf import message, varints  # noqa: E402
from tap import Plan  # noqa: E402

FEED = os.path.join(recording.BUILD, "bin", "ocular-feed")
BUFFER = 1 << 20  # bytes (filter/base/out.c)
KINDS = ("summary", "collapsed", "speedscope", "pstats", "callgrind", "pypylog", "firefox", "otlp")


def feed(folder, events, codes=None, more=()):
    """{kind: path} of all exports of a text."""
    paths = {kind: os.path.join(folder, kind) for kind in KINDS}
    command = [FEED, *(f"{kind}={path}" for kind, path in paths.items()), *more, events]
    done = recording.run(command[:1] + ([f"codes={codes}"] if codes else []) + command[1:])
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return paths


def collapsed(path):
    """ns of all lines; each is frames and a number."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return sum(int(re.fullmatch(r"[^\x00-\x1f]+ (\d+)\n", line)[1]) for line in file)


def speedscope(path):
    """(ns of all threads; kind and ns of the profile of all together, or None); frames are opened and closed in order."""
    with open(path, encoding="utf-8") as file:
        profiles, shared = (lambda made: (made["profiles"], made["shared"]))(json.load(file))
    assert profiles, "no profile"
    for profile in profiles:
        stack, last = [], 0
        for event in profile["events"]:
            assert event["at"] >= last and 0 <= event["frame"] < len(shared["frames"]), event
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"], event
        assert not stack and last <= profile["endValue"], profile["name"]
    frames = [(frame["name"], frame.get("file"), frame.get("line")) for frame in shared["frames"]]
    assert len(set(frames)) == len(frames), "a function has several frames"
    merged = profiles.pop(0) if profiles[0]["name"].startswith("all threads: ") else None
    threads = [profile["endValue"] for profile in profiles]
    if merged is None or merged["name"] == "all threads: wall time":
        assert threads == sorted(threads, reverse=True), "the most active thread is not the first"
    return sum(threads), merged and (merged["name"], merged["endValue"])


def check_merged(merged, summary):
    """All threads together: their time on a CPU where it is known, else in all."""
    if not merged:
        return []
    kind, ns = merged
    by = "self_cpu_ns" if kind == "all threads: time on a CPU" else "self_ns"
    rows = summary["functions"] + summary["c_functions"] + summary["collections"]
    if None in [row["self_cpu_ns"] for row in rows]:
        assert by == "self_ns", f"{kind}: not known"
    wanted = sum(row[by] for row in rows)
    return [] if ns == wanted else [f"speedscope: {kind}: {ns} ns, the summary has {wanted}"]


def check_firefox(profile, same, summary):
    """Each cost of all threads together; which are there is what the summary knows. What is lost is told."""
    rows = summary["functions"] + summary["c_functions"] + summary["collections"]
    found, losses = same.copy(), {key: n for key, n in summary["losses"].items() if n and key != "skipped"}
    wanted = {key: sum(row[key] for row in rows) for key in ("self_ns", "self_cpu_ns", "self_waiting_ns") if None not in [row[key] for row in rows]}
    wanted["calls"] = sum(row.get("calls", 0) for row in rows)
    found["calls"] = {key: n for key, n in found["calls"].items() if key[0] != "<gc>"}  # those that did not end count, too
    problems = [f"firefox: {key}: {sum(found[key].values())}, the summary has {wanted.get(key)}" for key in found
                if sum(found[key].values()) != wanted.get(key)]
    if rows and found.keys() != wanted.keys():
        problems.append(f"firefox: {sorted(found)}, the summary has {sorted(wanted)}")
    told = firefox_profile.losses_of(profile)
    return problems + ([] if sorted(told.values()) == sorted(losses.values()) else [f"firefox: {told} is lost, the summary has {losses}"])


def check_otlp(path, same, summary):
    """The same costs as in Firefox's, and losses where there is a process."""
    rows, resources = otlp_profile.load(path)
    found = otlp_profile.costs_of(rows, resources)
    sums = [{key: sum(costs.values()) for key, costs in each.items() if costs or found} for each in (found, same)]
    problems = [] if sums[0] == sums[1] else [f"otlp: {sums[0]}, firefox: {sums[1]}"]
    told, lost = otlp_profile.losses_of(resources), {key: n for key, n in summary["losses"].items() if n and key != "skipped"}
    return problems + ([] if told == lost or not found else [f"otlp: {told} is lost, the summary has {lost}"])


def pstats(path):
    """ns of all functions; callers are functions, and their calls are no more than all."""
    with open(path, "rb") as file:
        stats = marshal.load(file)
    for key, (primitive, calls, own, total, callers) in stats.items():
        assert primitive <= calls and own <= total + 1e-9, key
        assert all(caller in stats for caller in callers), key
        assert sum(row[0] for row in callers.values()) <= calls, key
    return round(sum(row[2] for row in stats.values()) * 1e9)


def callgrind(path):
    """ns of all cost lines except those of calls; every name is defined, and the totals are correct."""
    told, own, after_call = set(), 0, False
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    head, _, body = text.partition("\nsummary: ")
    positions = len(re.search(r"^positions: (.*)", head, re.MULTILINE)[1].split(" "))
    for line in body.split("\n")[1:]:
        name = re.fullmatch(r"c?(f[lni])=\((\d+)\)( .*)?", line)
        if name:
            kind = "fl" if name[1] == "fi" else name[1]
            assert name[3] or (kind, name[2]) in told, line
            told.add((kind, name[2]))
        elif re.fullmatch(r"(0x[0-9a-f]+ )?\d+( \d+){2,3}", line):
            own += 0 if after_call else int(line.split(" ")[positions])
            after_call = False
        elif line.startswith("totals: "):
            assert own == int(line.split(" ")[1]), f"{line}, but {own}"
        else:
            assert not line or line.startswith("calls="), line
        after_call = after_call or line.startswith("calls=")
    return own


def pypylog(path):
    """Own times by loop, as the summary orders them."""
    *sections, table = test_pypylog.parse(path)
    assert table.name == "jit-profile-loops", table.name
    return test_pypylog.own_times(sections)


def check(folder, events, codes=None, more=()):
    paths = feed(folder, events, codes, more)
    with open(paths["summary"], encoding="utf-8") as file:
        summary = json.load(file)
    wanted = sum(row["self_ns"] for row in summary["functions"] + summary["c_functions"] + summary["collections"])
    readers = {"collapsed": collapsed, "speedscope": speedscope, "pstats": pstats, "callgrind": callgrind}
    found = {kind: read(paths[kind]) for kind, read in readers.items()}
    found["speedscope"], merged = found["speedscope"]
    profile = firefox_profile.load(paths["firefox"])
    costs = firefox_profile.costs_of(profile)
    problems = check_merged(merged, summary) + check_firefox(profile, costs, summary) + check_otlp(paths["otlp"], costs, summary)
    problems += [f"{kind}: {ns} ns, the functions have {wanted}" for kind, ns in found.items() if ns != wanted]
    own = round(sum(row["own_share"] for row in summary["loops"]) * summary["trace"]["traced_ns"])
    logged = sum(pypylog(paths["pypylog"]).values())
    suspended = any(row.get("suspended_ns") for row in summary["loops"])  # such trips are not in the log
    if not suspended and abs(own - logged) > 1 + 1e-8 * summary["trace"]["traced_ns"]:
        problems.append(f"pypylog: {logged} ns in loops, the summary has {own}")
    return problems


def write_large(path):
    """100,000 code objects that call each other in stacks of 100; every thousandth has a name of 10 kB."""
    odd = ";\"'<script>\\\\ \\t\\n(9)=\x07\x1b[31m" + "n" * 10000
    time, lines = 1000, ["# ocular events 1"]
    for first in range(0, 100_000, 100):
        codes = [(f"{odd}{n}" if n % 1000 == 999 else f"f{n}", n) for n in range(first, first + 100)]
        for event, order in (("PY_START", codes), ("PY_RETURN", codes[::-1])):
            for name, n in order:
                time += 3
                lines.append(f"{time}\t1\t1\t{event}\t/a;b.py\t{name}\t{n}\t0\t")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def write_bridges(path, calls, trips):
    """Trips on two ways by turns, at late times, on a thread with a long number; before them calls with one each."""
    time, lines = 1 << 62, ["# ocular events 1"]

    def add(*events):
        nonlocal time
        for event, at, to in events:
            time += 5
            lines.append(f"{time}\t10\t{2**31 - 1}\t{event}\t/src/app.py\tmain\t3\t{at}\t{to}")

    for _ in range(calls):
        add(("PY_START", 0, ""), ("JUMP", 24, 10), ("PY_RETURN", 50, ""))
    add(("PY_START", 0, ""), ("JUMP", 24, 10), ("BRANCH", 16, 20), ("JUMP", 24, 10))
    for _ in range(trips):
        add(("BRANCH", 16, 30), ("JUMP", 44, 10))
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def log_bridges(folder, calls, trips):
    """The sizes of the log's sections. That it is well-formed test_pypylog.parse() sees."""
    events, log = os.path.join(folder, "bridges.txt"), os.path.join(folder, "bridges.log")
    write_bridges(events, calls, trips)
    done = recording.run([FEED, f"codes={os.path.join(HERE, 'branches')}", "bridges=yes", f"pypylog={log}", events])
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    test_pypylog.parse(log)
    with open(log, encoding="utf-8", newline="\n") as file:
        return [len(text) for text in re.split(r"(?<=\}\n)(?=\[)", file.read())]


def check_longest(folder):
    """The longest section fits into what is left of the buffer, however little over 128 bytes that is."""
    enter, leave, *_, bridge, _, _ = log_bridges(folder, 1, 2)
    assert 128 < bridge < 192, bridge
    calls = next(n for n in range(bridge) if (BUFFER - enter - n * (enter + leave)) % bridge >= 128)
    sizes = log_bridges(folder, calls, 9000)
    return [] if sum(size == bridge for size in sizes) >= 9000 else [f"{len(sizes)} sections"]


# What a span of OpenTelemetry's is: words of KIND_SUBJECT (13; helper-ext/shared/marker.h), its numbers in pieces first.
NAME, BEGUN, ENDED, PIECE = 1 << 43, 9 << 43, 10 << 43, 22 << 43
TASK_NUMBER = 1 << 42  # of a NAME: it is Task- and a number
TRACES = [(0x4bf92f3577b34da6a3ce929d0e0e4736, 0x00f067aa0ba902b7), (0x4bf92f3577b34da6a3ce929d0e0e4736, 0x00f067aa0ba902b8)]


def write_spans(path, lost=False, spans=None):
    """main() calls leaf(): before, in a span, in one inside it, in the first again, afterwards; 1, 2, 4, 8, 16 ns. Then in `spans`."""
    time, lines = 1000, ["# ocular events 1"]

    def add(event, name="", payload="", ns=100):
        nonlocal time
        time += ns
        place = ("/src/app.py", name, "1", "0", "") if event.startswith("PY_") else ("", "", "", "13", str(payload))
        lines.append("\t".join((str(time), "10", "10", event, *place)))

    def begin(number, ids, name=2):
        for n in range(6):
            add("EXTENSION", payload=PIECE | n << 32 | (ids[0] << 64 | ids[1]) >> 160 - 32 * n & 0xffffffff)
        for payload in (NAME | name, BEGUN | number):
            add("EXTENSION", payload=payload)

    def leaf(ns):
        add("PY_START", "leaf")
        add("PY_RETURN", "leaf", ns=ns)

    add("PY_START", "main")
    leaf(1)
    begin(100, TRACES[0])
    leaf(2)
    if lost:
        time += 100
        lines.append(f"{time}\t10\t10\tGAP\t\t\t\t3\t")
        add("PY_START", "main")
    begin(101, TRACES[1])
    leaf(4)
    add("EXTENSION", payload=ENDED | 101)
    leaf(8)
    add("EXTENSION", payload=ENDED | 100)
    leaf(16)
    for n in range(spans or 0):
        begin(102, (1, 1 + n), TASK_NUMBER | 1 + n)
        leaf(32)
        add("EXTENSION", payload=ENDED | 102)
    add("PY_RETURN", "main")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def linked(folder, **kw):
    """([ns of leaf() that are linked to each of TRACES], how many spans are linked, attributes of the scope); and sums are the summary's."""
    events = os.path.join(folder, "spans.txt")
    write_spans(events, **kw)
    problems = check(folder, events, os.path.join(HERE, "telemetry"))
    assert not problems, problems
    found = otlp_profile.linked(os.path.join(folder, "otlp"))
    ids = [(f"{trace:032x}", f"{span:016x}") for trace, span in TRACES]
    assert all(each["wall"].keys() == {"leaf"} for each in found.values()), found
    return [found[each]["wall"]["leaf"] for each in ids], len(found), otlp_profile.load(os.path.join(folder, "otlp"))[1][0][0][1]


def check_links(folder):
    """What begins while a span is open is linked to it: to the innermost one. After a gap it is not known what is open."""
    problems, limit = [], 4096
    for kw, wanted in (({}, [2 + 8, 4]), ({"lost": True}, [2, 4])):
        ns, n, about = linked(folder, **kw)
        if (ns, n) != (wanted, 2) or "ocular.unlinked_calls" in about:
            problems.append(f"{kw}: {ns}, {n} spans, {about}")
    ns, n, about = linked(folder, spans=limit)  # two more than there are links
    if n != limit or about.get("ocular.unlinked_calls") != 2:
        problems.append(f"{n} spans are linked, {about}")
    return problems


def labelled(folder, events, codes, *keys):
    """Calls of leaf() by those labels, None where there is none; and the comments."""
    out = os.path.join(folder, "pprof")
    done = recording.run([FEED, f"codes={os.path.join(HERE, codes)}", f"pprof={out}", events])
    assert not done.returncode, done.stderr
    with gzip.open(out) as file:
        profile = message(file.read())
    texts = [text.decode() for text in profile[6]]
    functions = {row[1][0]: texts[row[2][0]] for row in map(message, profile[5])}
    calls = collections.Counter()
    for sample in map(message, profile[2]):
        if functions[next(varints(sample[1][0]))] == "leaf":
            labels = {texts[label[1][0]]: texts[label[2][0]] for label in map(message, sample[3]) if 2 in label}
            calls[tuple(labels.get(key) for key in keys)] += next(varints(sample[2][0]))
    return calls, [texts[n] for n in profile.get(13, ())]


def check_task_labels(folder):
    """Each task's calls have its name. Those of tasks beyond the bound are told, and have the request's name only."""
    events, limit, more = os.path.join(folder, "tasks.txt"), 4096, 3
    write_tasks(events, limit + more)
    calls, said = labelled(folder, events, "tasks", "task", "request")
    wanted = {(f"Task-{n}", "GET /users"): 1 for n in range(1, limit + 1)}
    problems = [] if calls == {**wanted, (None, "GET /users"): more} else [f"{len(calls)} labels: {str(calls)[:300]}"]
    told = [f"calls and resumptions in further tasks, without a label: {2 * more}"]  # handler() and leaf()
    return problems + ([] if said == told else [f"{said}"])


def check_labels(folder):
    """Calls of leaf() by the name of the request they were in. Of names beyond the bound they are told, and have none."""
    events, limit = os.path.join(folder, "names.txt"), 4096
    write_spans(events, spans=limit)  # with the name of the first two one more than there are labels
    found, said = labelled(folder, events, "telemetry", "request")
    calls = collections.Counter({name: n for (name,), n in found.items()})
    tasks = {name: n for name, n in calls.items() if name and name.startswith("Task-")}
    others = {name: n for name, n in calls.items() if name not in tasks}
    problems = [] if len(tasks) == limit - 1 and set(tasks.values()) == {1} else [f"{len(tasks)} names of tasks"]
    problems += [] if sorted(others.values()) == [3, 3] else [f"calls: {others}"]
    return problems + ([] if said == ["calls and resumptions in further requests, without a label: 1"] else [f"{said}"])


MADE, STEP, RUNS = 2 << 43, 4 << 43, 15 << 43  # a task, by its coroutine's address / 16; a step of it; which coroutine is resumed


def write_tasks(path, tasks):
    """Tasks that each call leaf() once, all made in one request."""
    lines = ["# ocular events 1"]

    def add(event, name="", payload="", task=""):
        place = ("/src/app.py", name, "5", "0", "", "", str(task)) if event.startswith("PY_") else ("", "", "", "13", str(payload))
        lines.append("\t".join((str(1000 + len(lines)), "10", "10", event, *place)))

    add("PY_START", "main")
    for payload in (NAME | 6, BEGUN | 1 << 20):
        add("EXTENSION", payload=payload)
    for n in range(1, tasks + 1):
        for payload in (NAME | TASK_NUMBER | n, MADE | n):
            add("EXTENSION", payload=payload)
    for n in range(1, tasks + 1):
        add("PY_START", "run")
        for payload in (STEP | n, RUNS | n):
            add("EXTENSION", payload=payload)
        add("PY_START", "handler", task=n)
        add("PY_START", "leaf")
        add("PY_RETURN", "leaf")
        add("PY_RETURN", "handler", task=n)
        add("PY_RETURN", "run")
    add("PY_RETURN", "main")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def main():
    gc.disable()  # it would walk millions of rows again and again, and they are no circle
    with recording.scratch() as folder, Plan() as plan:
        for events in sorted(glob.glob(os.path.join(HERE, "*", "events.txt"))):
            case = os.path.dirname(events)
            args = os.path.join(case, "args")
            more = open(args, encoding="utf-8").read().split() if os.path.exists(args) else []
            codes = case if glob.glob(os.path.join(case, "codes-*.jsonl")) else None
            plan.case(os.path.basename(case), check, folder, events, codes, more)
        plan.case("links to OpenTelemetry's spans", check_links, folder)
        plan.case("labels of requests", check_labels, folder)
        plan.case("labels of tasks", check_task_labels, folder)
        plan.case("sections of a log at the end of the buffer", check_longest, folder)
        large = os.path.join(folder, "large.txt")
        write_large(large)
        plan.case("100,000 code objects", check, folder, large)


if __name__ == "__main__":
    main()
