# SPDX-License-Identifier: MIT
"""A recording in pieces (--switch-output): each can be read, nothing is lost between them, old ones go."""

import collections
import glob
import json
import os
import signal
import subprocess
from datetime import datetime

import rec
from rec import equal

PT = os.path.join(rec.BUILD, "bin", "ocular-pt")

STEADY = """
import os, sys, threading, time
def work():
    for _ in range(3):
        pass
def run(n):
    for _ in range(n):
        work()
"""


def pieces(folder):
    """Oldest first."""
    return sorted(glob.glob(folder + "/perf.data.*")) + [folder + "/perf.data"]


def read(path):
    """Counts of events by (pid, tid, name, qualname), without CPU words, and the losses, by both decoders."""
    perf = ["perf", "script", "-i", path, "--itrace=we", "--dlfilter", rec.PLUGIN, "--dlarg", "events=-"]
    texts = [subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
             for command in (perf, [PT, "events=-", path])]
    equal(texts[0], texts[1])
    rows = [line.split("\t") for line in texts[0].splitlines()[1:]]
    summary = subprocess.run([PT, "summary=-", path], capture_output=True, text=True, check=True).stdout
    return (collections.Counter((int(r[1]), int(r[2]), r[3], r[5]) for r in rows if r[3] != "EXTENSION"),
            {k: v for k, v in json.loads(summary)["losses"].items() if v})


def count(found, **wanted):
    fields = ("pid", "tid", "name", "qualname")
    return sum(n for key, n in found.items() if all(dict(zip(fields, key))[f] == v for f, v in wanted.items()))


def test_nothing_is_lost_between_pieces():
    source = STEADY + """
threads = [threading.Thread(target=run, args=(5000,)) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
while len(os.listdir("/proc/self/task")) > 1: time.sleep(0.001) # else Python 3.12 warns of fork()
pid = os.fork()
if not pid:
    run(4000)
    sys.exit()
os.waitpid(pid, 0)
run(4000)
"""
    # Small rings: however seldom the recorder looks, it finds no more than half a piece.
    with rec.recording(source, recorder=["--switch-output", "128K", "--ring-records", "2048"]) as r:
        equal((r.code, r.err), (0, ""))
        paths, total = pieces(r.folder), collections.Counter()
        # 18,000 calls of 5 events and a back-edge each, of 12 bytes
        assert 5 <= len(paths) <= 1 + 18000 * 6 * 13 // 131072, paths
        # Full, and three looks at two rings: before it is closed, at the end of a process, while it is closed
        assert max(map(os.path.getsize, paths)) < 131072 + 3 * 2 * 2048 * 13, list(map(os.path.getsize, paths))
        for path in paths:
            found, losses = read(path)
            assert found or path == paths[-1], path
            equal({k: v for k, v in losses.items() if k != "unmatched"}, {}, path)
            total += found
            assert os.stat(path).st_mode & 0o777 == 0o600
        equal([count(total, qualname="work", name=n) for n in ("PY_START", "JUMP", "PY_RETURN")], [18000, 54000, 18000])
        equal(count(total, qualname="run", name="JUMP"), 18000)
        equal(sorted(n for n in (count(total, tid=tid, qualname="work", name="JUMP") for tid in {k[1] for k in total}) if n),
              [12000, 12000, 15000, 15000])
        # What the emitters say that they wrote is what all pieces have, but for the HELLOs at seams.
        said = sum(n for line in r.lines("stop") for _, n in line["markers"])
        assert said >= sum(total.values()), (said, sum(total.values()))


def test_disk_is_bounded():
    """Pieces beyond those to keep go, and tables of processes that ended before all that is kept."""
    source = STEADY + """
for i in range(25):
    pid = os.fork()
    if not pid:
        run(500)
        sys.exit()
    os.waitpid(pid, 0)
def last():
    work()
for _ in range(100):
    last()
"""
    with rec.recording(source, recorder=["--switch-output=64K", "--switch-max-files=3"]) as r:
        equal((r.code, r.err), (0, ""))
        paths = pieces(r.folder)
        equal(len(paths), 3)
        # A piece is closed at the first look after it is full: a child's words come in one go here.
        assert sum(os.path.getsize(p) for p in paths) < 3 * (65536 + 500 * 6 * 13 + 65536), paths
        tables = set(r.tables())
        assert len(tables) < 15, len(tables)
        lasts = 0
        for path in paths:
            found, losses = read(path)
            equal({pid for pid, *_ in found} - tables, set())
            equal({k: v for k, v in losses.items() if k != "unmatched"}, {}, path)
            lasts += count(found, qualname="last", name="PY_START")
        equal(lasts, 100)  # 8 KB: where the recorder looked meanwhile, in two pieces


def test_names_are_in_order_of_time():
    """However many files are closed within a hundredth of a second, and however many have gone, so that their names are free."""
    with rec.recording(STEADY + "run(60_000)\n", recorder=["--switch-output", "64K", "--switch-max-files", "2", "--ring-records", "512"]) as r:
        equal((r.code, r.err), (0, ""))
        names = [line["file"] for line in sorted(r.lines("piece"), key=lambda line: line["number"])][:-1]
        assert len(names) > 20, names
        equal(names, sorted(set(names)))


def test_age():
    """Nothing is closed that is younger, as the names say, whose last digits are hundredths of a second."""
    source = STEADY + """
runs = 0
while sum(name.startswith("perf.data.") for name in os.listdir(os.environ["OCULAR_DIR"])) < 2:
    run(10)
    runs += 10
    time.sleep(0.1)
print(runs)
"""
    with rec.recording(source, recorder=["--switch-output", "1s"], TZ="UTC") as r:
        equal((r.code, r.err), (0, ""))
        paths = pieces(r.folder)
        closed = [datetime.strptime(p[-16:-2], "%Y%m%d%H%M%S").timestamp() + int(p[-2:]) / 100 for p in paths[:-1]]
        assert len(closed) >= 2 and all(b - a > 0.98 for a, b in zip(closed, closed[1:])), paths
        equal(sum(count(read(p)[0], qualname="work", name="PY_START") for p in paths), int(r.out))


def test_by_signal():
    """Whenever the recorder is asked to, with nothing lost in between."""
    with rec.under_way("--switch-output", "signal") as (folder, recorder, stop):
        for n in 1, 2:
            recorder.send_signal(signal.SIGUSR2)
            # The older one has its name before the next one is there.
            rec.wait_for(lambda: len(pieces(folder)) == n + 1 and os.path.exists(folder + "/perf.data"), "piece %d" % n)
            size = os.path.getsize(folder + "/perf.data")
            rec.wait_for(lambda: os.path.getsize(folder + "/perf.data") > size + 500, "events in the next one")
        r = stop(0)
        parts = [read(p) for p in pieces(r.folder)]
        equal([{k: v for k, v in losses.items() if k != "unmatched"} for _, losses in parts], [{}] * 3)
        starts, ends = ([count(found, qualname="f", name=n) for found, _ in parts] for n in ("PY_START", "PY_RETURN"))
        equal((len(starts), min(starts) > 0, sum(starts)), (3, True, sum(ends)))
        # What the emitters say that they wrote, but for what goes with a call being cut in two.
        said = sum(n for line in r.lines("stop") for _, n in line["markers"])
        assert said >= sum(sum(found.values()) for found, _ in parts)


def test_snapshots_in_pieces():
    source = STEADY + """
import ocular
for i in range(6):
    run(2000)
    ocular.take_snapshot("number %d" % i)
    while sum(name.startswith("perf.data.") for name in os.listdir(os.environ["OCULAR_DIR"])) <= i:
        time.sleep(0.01)
"""
    with rec.recording(source, recorder=["--flight", "10s", "--switch-output", "64K"]) as r:
        equal((r.code, r.err), (0, ""))
        paths = pieces(r.folder)
        assert len(paths) >= 7, paths
        counts = [read(p)[0] for p in paths]
        equal(sum(count(c, qualname="work", name="PY_START") for c in counts), 12000)
        equal(sum(count(c, name="SNAPSHOT") for c in counts) >= 12, True)


def test_an_older_recording_goes_whole():
    """A folder with pieces is a recording: it is kept as .old, as any."""
    source = STEADY + """
while sum(name.startswith("perf.data.") for name in os.listdir(os.environ["OCULAR_DIR"])) < 2:
    run(500)
"""
    with rec.recording(source, recorder=["--switch-output", "64K"]) as r:
        before = len(pieces(r.folder))
        assert before > 2
        done = subprocess.run([rec.RECORDER, "-q", "-o", r.folder, "--", "true"], capture_output=True, text=True)
        equal((done.returncode, done.stderr), (0, ""))
        equal((len(pieces(r.folder)), len(pieces(r.folder + ".old"))), (1, before))


def test_the_maximum_size_is_told_and_the_program_goes_on():
    source = STEADY + "run(200_000)\nprint('done')\n"
    with rec.recording(source, recorder=["--max-size", "1M"]) as r:
        equal((r.code, r.out), (0, "done\n"))
        assert "has reached its maximum size, 1.0 MB (--max-size)" in r.err, r.err
        counts, losses = read(r.folder + "/perf.data")
        equal(losses, {"limited": 1})
        calls = sum(n for key, n in counts.items() if key[2:] == ("PY_START", "work"))
        assert 1000 < calls < 200_000, calls


def test_only_the_end_is_kept():
    """Of two threads: what is there is intact, equal in both decoders, and it is the end."""
    source = STEADY + """
def last():
    work()
threads = [threading.Thread(target=run, args=(150_000,)) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
run(300_000)
for _ in range(1000):
    last()
"""
    # Small rings: however seldom the recorder looks, little comes at a time.
    with rec.recording(source, recorder=["--keep-last", "2M", "--ring-records", "2048"]) as r:
        equal((r.code, r.out), (0, ""))
        counts, losses = read(r.folder + "/perf.data")
        equal({k: v for k, v in losses.items() if k not in ("unmatched", "gaps")}, {"trimmed": 1})
        equal((count(counts, name="PY_START", qualname="last"), count(counts, name="PY_RETURN", qualname="last")),
              (1000, 1000))
        assert count(counts, name="PY_START", qualname="work") < 300_000
        assert os.stat(r.folder + "/perf.data").st_blocks * 512 < 3 << 20
        subprocess.run([os.path.join(rec.BUILD, "bin", "ocular-fsck"), r.folder], check=True)


if __name__ == "__main__":
    rec.run(globals())
