# SPDX-License-Identifier: MIT
"""The flight recorder: what a snapshot holds, of which threads and processes, and what it says of itself."""

import json
import os
import signal
import subprocess

import rec
from rec import equal

PT = os.path.join(rec.BUILD, "bin", "ocular-pt")

# A machine may stop for a while at any time: the work in a window is repeated if it took too long, and nothing is
# overwritten before the recorder has it.
LABELS = """
import ocular, os, time
table = "%s/codes-%d.jsonl" % (os.environ["OCULAR_DIR"], os.getpid())
def work(n):
    for _ in range(n):
        pass
def mark(i):
    assert ocular.take_snapshot("label %d" % i, number=i, half=i / 2, text='a"b\\n', other=mark) is True
for i in range(3):
    while True:
        time.sleep(0.08) # with what comes before it: longer than any window here
        for k in range(30000):
            work(0)
        began = time.perf_counter()
        work(1000)
        if time.perf_counter() - began < 0.03:
            mark(i)
            break
    while i < 2 and open(table, "rb").read().count(b'"trigger":"take_snapshot"') <= i:
        time.sleep(0.02)
"""


def all_events(r):
    done = subprocess.run(
        ["perf", "script", "-i", r.folder + "/perf.data", "--itrace=we", "--dlfilter", rec.PLUGIN,
         "--dlarg", "events=-"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return [rec.Event(int(c[0]), int(c[1]), int(c[2]), c[3], c[4], c[5], *c[6:9])
            for c in (line.split("\t") for line in done.stdout.splitlines()[1:])]


def split(r):
    """[(number, pid, tid, [events])] in the order of their beginnings; without words about CPU times, which are inside, too."""
    open_, found = {}, []
    for e in all_events(r):
        if e.name != "SNAPSHOT":
            open_[e.tid][3].extend([e] if e.name != "EXTENSION" else [])
        elif e.tid in open_:
            equal(open_.pop(e.tid)[0], int(e.offset))
        else:
            open_[e.tid] = (int(e.offset), e.pid, e.tid, [])
            found.append(open_[e.tid])
    equal(open_, {}, "segments that do not end")
    before = [line["number"] for line in lines(r) if line["trigger"] == "baseline"]
    return [part for part in found if part[0] not in before]


def lines(r):
    """[line] by number; every process with a part in one has the same line."""
    found = {}
    for line in r.lines("snapshot"):
        equal(found.setdefault(line["number"], line), line)
    return [found[n] for n in sorted(found)]


def snapshots(r):
    """Those that something has caused."""
    return [line for line in lines(r) if line["trigger"] != "baseline"]


def test_segments_are_named_and_timed():
    with rec.recording(LABELS, recorder=["--flight", "50ms"]) as r:
        equal((r.code, r.err), (0, ""))
        taken, parts = snapshots(r), split(r)
        # The first word may be of a wait that was over before the first event.
        begins = {int(e.offset): e.time for e in all_events(r) if (e.name, e.dest) == ("SNAPSHOT", "0")}
        equal([line["label"] for line in taken], ["label 0", "label 1", "label 2"])
        equal([line["trigger"] for line in taken], ["take_snapshot"] * 3)
        equal([line["data"] for line in taken],
              [dict(number=i, half=i / 2, text='a"b\n', other=line["data"]["other"])
               for i, line in enumerate(taken)])
        assert taken[0]["data"]["other"].startswith("<function mark at 0x")
        equal([[s.split(" (")[0] for s in line["stack"]] for line in taken], [["mark", "<module>"]] * 3)
        equal([p[0] for p in parts], [line["number"] for line in taken])
        for line, (_, _, _, events) in zip(taken, parts):
            length = line["at_ns"] - line["from_ns"]
            assert length <= 51e6, length
            assert abs(begins[line["number"]] - line["from_ns"]) < 100000, (begins, line)
            assert line["from_ns"] <= events[0].time + 100000, (events[0], line)
            # What led up to it is there to the last event, and nothing after it.
            names = [(e.name, e.qualname) for e in events]
            equal(names[-1], ("PY_START", "mark"))
            equal(names[-2], ("PY_RETURN", "work"))
            equal(names[-1003:-2].count(("JUMP", "work")), 1000)
            assert all(e.file.endswith("program.py") for e in events if e.name == "JUMP")


def test_its_events_are_an_input():
    """The events text can be read back, with the same traced time."""
    with rec.recording(LABELS, recorder=["--flight", "5ms"]) as r:
        text, back = (os.path.join(r.folder, name) for name in ("events", "back"))
        found = []
        for path, command in ((text, [PT, r.folder]),
                              (back, [os.path.join(rec.BUILD, "bin", "ocular-feed"), "codes=" + r.folder, text])):
            done = subprocess.run([command[0], "events=" + path, "summary=" + path + ".json", *command[1:]],
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL)
            equal((done.returncode, done.stderr), (0, ""))
            with open(path) as events, open(path + ".json") as summary:
                told = json.load(summary)
                found.append((events.read(), told["trace"]["traced_ns"], told["losses"], told["events"]))
        assert "\tSNAPSHOT\t" in found[0][0]
        equal(found[1], found[0])


def test_a_lone_snapshot_has_something_to_compare_with():
    """What was right before it is kept too, each word once, and is not counted among those asked for."""
    # A machine may stop for a while at any time: repeat until the work in the windows was not delayed.
    source = """
import json, ocular, time
calls = []
def usual():
    time.sleep(0.0005)
def usually(ns):
    since = now = time.perf_counter_ns()
    while now - since < ns:
        usual()
        calls.append((now, time.perf_counter_ns()))
        since = calls[-1][1] if calls[-1][1] - now > 1e8 else since
        now = calls[-1][1]
def slow(until):
    while time.perf_counter() < until:
        sum(range(1000))
took = 1
while took > 0.19:
    usually(6e8)
    began = time.perf_counter()
    slow(began + 0.15)
    took = time.perf_counter() - began
ocular.take_snapshot("lone")
print(json.dumps(calls))
"""
    with rec.recording(source, recorder=["--flight", "200ms", "--max-snapshots", "1"]) as r:
        equal((r.code, r.err), (0, ""))
        before, lone = lines(r)
        equal((before["trigger"], before["number"], lone["label"], lone["number"]), ("baseline", 1, "lone", 2))
        assert abs(lone["at_ns"] - before["at_ns"] - 200e6) <= 100, (before, lone)
        # By the program's own clock no call is missing where the windows begin.
        calls, near = json.loads(r.out), 100000
        for line in before, lone:
            window = line["at_ns"] - 200e6
            assert line["from_ns"] >= window - 100, line
            equal([c for c in calls if c[0] > window + near and c[1] < line["from_ns"] - near], [], line)
        least = sum(c[0] > before["from_ns"] + near for c in calls)
        most = sum(c[1] > before["from_ns"] - near for c in calls)
        # The window's border cuts no call in two: all of it is there, and in order.
        trips = [e.name for e in all_events(r) if e.qualname == "usual"]
        equal(trips[trips.index("PY_START"):][::2].count("PY_RETURN"), 0, trips)
        assert least <= trips.count("PY_RETURN") <= most, (least, trips, most)
        equal([e.name for e in all_events(r) if e.name in ("GAP", "FOREIGN")], [])
        said = subprocess.run([PT, "console=always", r.folder], capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL).stdout
        assert said.startswith("1 snapshot, each compared with the others and a baseline"), said[:300]
        rows = said.split("\n\n")[1].splitlines()
        assert rows[0].startswith("Snapshot 2") and "slow, program.py" in rows[3] and "slow, program.py" in rows[4], rows
        assert "Snapshot 1" not in said, said[:1500]


def test_both_decoders_and_no_loss():
    with rec.recording(LABELS, recorder=["--flight", "64K"]) as r:
        summary = r.folder + "/summary.json"
        for command in (["perf", "script", "-i", r.folder + "/perf.data", "--itrace=we", "--dlfilter",
                         rec.PLUGIN, "--dlarg", "summary=" + summary],
                        [PT, "summary=" + summary, r.folder]):
            subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
            with open(summary) as f:
                said = json.load(f)
            equal({k: v for k, v in said["losses"].items() if v}, {})
            known = [{"data": {}, "stack": [], **{k: v for k, v in line.items() if k not in ("kind", "words", "lost")}}
                     for line in lines(r)]
            equal(said["snapshots"], known)
        equal([len(p[3]) >= 4000 for p in split(r)], [True] * 3)  # 4096 less what was being written


def test_nothing_happened():
    with rec.recording("def f(): pass\nfor i in range(3000): f()\n", recorder=["--flight", "10s"]) as r:
        (line,) = snapshots(r)
        equal((line["trigger"], line["label"]), ("end", "the end"))
        equal(len(r.events("f")), 6000)


def test_a_snapshot_of_nothing():
    """Nobody ran in its window: the end is kept as well."""
    source = """
import os, time
def f(): pass
for i in range(3000): f()
table = "%s/codes-%d.jsonl" % (os.environ["OCULAR_DIR"], os.getpid())
orders = os.open(os.environ["OCULAR_DIR"] + "/.ocular.ctl", os.O_WRONLY)
time.sleep(0.5)
os.write(orders, b"snapshot idle\\n")
time.sleep(0.1)
while open(table, "rb").read().count(b'"label":"idle"') < 1: time.sleep(0.02)
for i in range(3): f()
"""
    with rec.recording(source, recorder=["--flight", "100ms"]) as r:
        equal((r.code, r.err), (0, ""))
        equal([(line["trigger"], line["threads"]) for line in snapshots(r)], [("control", 0), ("end", 1)])
        equal([e.name for e in r.events("f")][-2:], ["PY_START", "PY_RETURN"])


def test_a_program_that_is_killed():
    with rec.recording("import os\ndef f(): pass\nfor i in range(3000): f()\nos.kill(os.getpid(), 9)\n",
                       recorder=["--flight", "10s"]) as r:
        equal(r.code, -9)
        (line,) = snapshots(r)
        equal(line["trigger"], "death")
        equal(len(r.events("f")), 6000)


def test_last_words():
    """Asked for just before the end, whichever end: both the wish and the death are served."""
    source = "import ocular, os\ndef f(): pass\nf()\nocular.take_snapshot('mine')\nf()\n"
    for end, triggers in ("", ["take_snapshot"]), ("os.kill(os.getpid(), 9)", ["take_snapshot", "death"]):
        with rec.recording(source + end, recorder=["--flight", "1s"]) as r:
            equal([line["trigger"] for line in snapshots(r)], triggers)


def test_no_more_than_asked_for():
    with rec.recording(LABELS, recorder=["--flight", "1ms", "--max-snapshots", "2"]) as r:
        equal(len(snapshots(r)), 2)
        assert "1 snapshot beyond --max-snapshots not taken" in r.err, r.err


def test_threads_that_come_and_go():
    source = """
import ocular, threading
def work(i):
    for _ in range(100):
        pass
for i in range(200):
    t = threading.Thread(target=work, args=(i,), name="worker %d" % i)
    t.start()
    t.join()
ocular.take_snapshot("now")
"""
    with rec.recording(source, recorder=["--flight", "10s"]) as r:
        equal(r.code, 0)
        parts = split(r)
        workers = [p for p in parts if any(e.qualname == "work" for e in p[3])]
        equal(len(workers), 200)
        for _, pid, tid, events in workers:
            assert pid != tid
            equal([e.name for e in events if e.qualname == "work"], ["PY_START"] + ["JUMP"] * 100 + ["PY_RETURN"])


def test_processes():
    source = """
import ocular, os
def work():
    for _ in range(50):
        pass
pids = []
told, done = os.pipe()
waits, end = os.pipe()
for i in range(2):
    pid = os.fork()
    if not pid:
        work()
        os.write(done, b"x")
        os.close(end)
        os.read(waits, 1)
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.read(told, 1)
work()
ocular.take_snapshot("all of us")
os.close(end)
for pid in pids:
    os.waitpid(pid, 0)
"""
    with rec.recording(source, recorder=["--flight", "10s"]) as r:
        equal(r.code, 0)
        number = snapshots(r)[0]["number"]
        parts = [p for p in split(r) if p[0] == number and any(e.qualname == "work" for e in p[3])]
        equal(len({p[1] for p in parts}), 3)
        for part in parts:
            equal(sum(e.qualname == "work" and e.name == "JUMP" for e in part[3]), 50)
        equal(sorted({line["label"] for line in r.lines("snapshot") if line["number"] == number}), ["all of us"])
        equal(len([1 for t in r.tables().values() if any(x["kind"] == "snapshot" for x in t)]), 3)


def test_a_signal_to_the_recorder():
    with rec.under_way("--flight", "10s") as (_, recorder, stop):
        recorder.send_signal(signal.SIGUSR2)
        (line,) = snapshots(stop(1))
        equal((line["trigger"], line["data"]), ("signal", {"from": os.getpid()}))


def test_nobody_listens():
    source = """
import ocular
print(ocular.take_snapshot("x"), ocular.take_snapshot("x", a=1, b=[2]))
"""
    with rec.recording(source) as r:
        equal((r.code, r.out), (0, "False False\n"), r.err)
        equal(r.lines("snapshot"), [])


def test_the_users_mistakes():
    source = """
import ocular
class Bad:
    def __repr__(self):
        1 / 0
for args, data in ((), {}), ((), {"n": 1}), (("a", "b"), {}), (("a",), {"label": "b"}):
    try:
        ocular.take_snapshot(*args, **data)
    except TypeError as e:
        print(e)
print(ocular.take_snapshot("\\udc80", bad=Bad(), nan=float("nan"), big=1 << 100))
"""
    with rec.recording(source, recorder=["--flight", "1s"]) as r:
        equal((r.code, r.out), (0, "take_snapshot(label, **data): one label is needed\n" * 4 + "True\n"), r.err)
        (first,) = snapshots(r)
        equal(first["data"], {"bad": None, "nan": None, "big": None})


def test_labels():
    source = """
import ocular
class Bad:
    def __str__(self):
        1 / 0
print(ocular.take_snapshot(label="named"), ocular.take_snapshot(n=1, label="among", m=2))
print(ocular.take_snapshot(17), ocular.take_snapshot(label=KeyError("k"), n=3), ocular.take_snapshot(Bad()))
"""
    with rec.recording(source, recorder=["--flight", "1s"]) as r:
        equal((r.code, r.out), (0, "True True\nTrue True True\n"), r.err)
        equal([(line["label"], line["data"]) for line in snapshots(r)],
              [("named", {}), ("among", {"n": 1, "m": 2}), ("17", {}), ("'k'", {"n": 3}), ("?", {})])


def test_a_recorder_that_stands_still():
    source = """
import ocular, os, signal
os.kill(os.getppid(), signal.SIGSTOP)
told = [ocular.take_snapshot("n", n=n) for n in range(300)]
os.kill(os.getppid(), signal.SIGCONT)
print(told.index(False), any(told[told.index(False):]))
"""
    with rec.recording(source, recorder=["--flight", "1s", "--max-snapshots", "1000"]) as r:
        equal((r.code, r.err), (0, ""))
        room, later = r.out.split()
        assert 100 < int(room) < 300 and later == "False", r.out
        equal([line["data"]["n"] for line in snapshots(r)], list(range(int(room))))


def test_data_of_any_depth():
    source = """
import ocular
a, d = [], {}
a.append(a)
d["itself"] = d
def deep(n):
    return [deep(n - 1)] if n else []
def f(local):
    pass
print(ocular.take_snapshot("itself", a=a, d=d, both=(a, d), n=1))
print(ocular.take_snapshot("deep", seen=deep(15), beyond=deep(16)))
f(d)
"""
    with rec.recording(source, recorder=["--flight", "1s"], OCULAR_TRIGGER="call __main__:f(local)") as r:
        equal((r.code, r.out), (0, "True\nTrue\n"), r.err)
        itself, deep, local = (line["data"] for line in snapshots(r))
        equal(json.dumps(itself["a"]), "[" * 16 + "null" + "]" * 16)
        equal(json.dumps(itself["d"]), '{"itself": ' * 16 + "null" + "}" * 16)
        equal(json.dumps(itself["both"]), "[%snull%s, %snull%s]" % ("[" * 15, "]" * 15, '{"itself": ' * 15, "}" * 15))
        equal(itself["n"], 1)
        equal(json.dumps(deep["seen"]), "[" * 16 + "]" * 16)
        equal(json.dumps(deep["beyond"]), "[" * 16 + "null" + "]" * 16)
        equal(local, {"local": itself["d"]})


def test_keys_of_any_type():
    source = """
import ocular
class Bad:
    def __repr__(self):
        1 / 0
class Thief:
    def __repr__(self):
        everything.clear()
        return "Thief"
everything = [{Thief(): ["gone"] * 3, "x": 1}, "gone too"]
ocular.take_snapshot("keys", of={1: 2, None: [{(3, "4"): b""}], Bad(): 5, "six": True})
ocular.take_snapshot("thief", everything=everything)
"""
    with rec.recording(source, recorder=["--flight", "1s"]) as r:
        equal((r.code, r.err), (0, ""))
        keys, thief = (line["data"] for line in snapshots(r))
        equal(keys, {"of": {"1": 2, "None": [{"(3, '4')": None}], "?": 5, "six": True}})
        equal(thief, {"everything": [{"Thief": ["gone"] * 3, "x": 1}]})
        said = subprocess.run([PT, "summary=-", r.folder], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        equal([s["data"] for s in json.loads(said.stdout)["snapshots"]], [keys, thief], said.stderr)


def test_data_of_any_size():
    source = """
import ocular
class Long:
    def __repr__(self):
        return "r" * 501
long = list(range(2000000))
peak = lambda: open("/proc/self/status").read().split("VmPeak:")[1].split()[0]
before = int(peak())
ocular.take_snapshot("list", first="f", long=long, last="l")
ocular.take_snapshot("nested", nested={"in": [(long,), 1], "behind": 2})
ocular.take_snapshot("str", fits="x" * 500, cut="\\x01" * 501, keys={"k" * 501: 1}, other=Long())
ocular.take_snapshot("many", **{"name%d" % i: i for i in range(1000)})
ocular.take_snapshot("worst", fill=["x" * 490] * 16 + ["y" * 150], worst={"\\x01" * 501: "\\ud800" * 501})
print(int(peak()) - before)
"""
    with rec.recording(source, recorder=["--flight", "1s"]) as r:
        equal((r.code, r.err), (0, ""))
        assert int(r.out) < 4096, r.out # KB; all of it would be 15 MB
        whole, nested, text, many, worst = snapshots(r)
        cut = "\u2026"
        equal([list(line["data"]) for line in (whole, nested)], [["first", "long", cut], ["nested"]])
        equal(whole["data"][cut], None)
        told = len(many["data"]) - 1
        assert told > 500 and many["data"] == {**{"name%d" % i: i for i in range(told)}, cut: None}, told
        for got in whole["data"]["long"], nested["data"]["nested"]["in"][0][0]:
            equal(got, [*range(len(got) - 1), cut])
            assert len(got) > 1500, len(got)
        equal(list(nested["data"]["nested"]), ["in", cut])
        equal(nested["data"]["nested"]["in"][1:], [cut])
        equal(nested["data"]["nested"]["in"][0][1:], [])
        equal(text["data"], {"fits": "x" * 500, "cut": "\x01" * 500 + cut, "keys": {"k" * 500 + cut: 1}, "other": "r" * 500 + cut})
        equal(worst["data"]["worst"], {"\x01" * 500 + cut: "\\ud800" * 500 + cut})
        for line in whole, nested, text, many:
            assert line["stack"][0].startswith("<module> ("), line
            assert len(json.dumps(line["data"], separators=(",", ":"), ensure_ascii=False)) < 9000, line["label"]


if __name__ == "__main__":
    rec.run(globals())
