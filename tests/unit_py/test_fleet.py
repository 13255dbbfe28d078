# SPDX-License-Identifier: MIT
"""ocular fleet without DuckDB: which difference is more than noise, how functions are called wherever they are installed, labels."""

import datetime
import math
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import fleet_add, fleet_questions, fleet_store, fleet_tables  # noqa: E402

# Two-sided limits of Student's t, from its printed tables.
LIMITS = ((12.706, 1, 0.05), (2.228, 10, 0.05), (4.587, 10, 0.001), (2.042, 30, 0.05), (63.657, 1, 0.01), (3.390, 100, 0.001))
FUNCTIONS, REPETITIONS = 20, 100


def test_limits():
    for t, freedom, chance in LIMITS:  # rounded to 0.001
        assert abs(fleet_questions.chance_of(t, freedom) / chance - 1) < 3e-3, (t, freedom)


def side(values):
    logs = list(map(math.log, values))
    return len(logs), statistics.fmean(logs), statistics.variance(logs)


def slower(draw, recordings, spread, factor):
    sides = [[1000 * by * draw.lognormvariate(0, spread) for _ in range(recordings)] for by in (1, factor)]
    return fleet_questions.compared(*map(side, sides))[2] * FUNCTIONS < fleet_questions.CHANCE


def test_alarms():
    """50 recordings a side that differ by 1 %: 2 % in one function is found each time, and where there is nothing, nothing."""
    draw = random.Random(22)
    equal(sum(slower(draw, 50, 0.01, 1.02) for _ in range(REPETITIONS)), REPETITIONS)
    equal(sum(slower(draw, 50, 0.01, 1) for _ in range(REPETITIONS * FUNCTIONS)), 0)
    equal(sum(slower(draw, 3, 0.2, 1) for _ in range(REPETITIONS * FUNCTIONS)), 0)


def test_counted():
    """Where nothing varies, any difference counts."""
    equal(fleet_questions.compared(side([5.0] * 3), side([5.0] * 3))[2], 1.0)
    change, error, chance = fleet_questions.compared(side([100.0] * 3), side([101.0] * 3))
    equal((round(change, 6), error, chance), (0.01, 0.0, 0.0))


def test_names():
    header = {"folder": "/srv/app-1.3", "stdlib": "/opt/lib/python3.13", "argv": ["python3", "-X", "dev", "/srv/other/run.py", "-m"]}
    names = fleet_tables.Names(header)
    for file, wanted in (("/srv/app-1.3/shop/price.py", "shop/price.py"), ("/srv/other/run.py", "run.py"), ("/srv/app-1.30/a.py", "/srv/app-1.30/a.py"),
                         ("/opt/lib/python3.13/json/decoder.py", "json/decoder.py"), ("<frozen os>", "<frozen os>"),
                         ("/opt/lib/python3.13/site-packages/flask/app.py", "flask/app.py")):
        equal(names.file(file), wanted)
    equal(names.key("<string>", "f"), "<string>:f")
    equal(fleet_tables.program({"argv": ["python3", "-m", "shop"]}), "shop")
    equal(fleet_tables.program({}), None)


def test_labels():
    equal(fleet_add.labels(["release=1.3", "host=web-1"]), {"release": "1.3", "host": "web-1"})
    for wrong in ("a", "=b", "A=b", "a=", "a=../b", "a=b..c", "a=/b", "a/b=c", "a=b\n", "a\n=b", "a=\u00e9", "1a=b"):
        try:
            fleet_add.labels([wrong])
        except fleet_store.Refused:
            continue
        raise AssertionError(wrong)


def test_host():
    """A file with the features HOSTNAME and OSRELEASE; without; and cut off."""
    def file(bits):
        text = [struct.pack("<I8s", 8, word) for word in (b"web1", b"6.1")]
        head = struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, 144, 0, 0, 104, 8, 0) + struct.pack("<QQQQQ", 0, bits, 0, 0, 0)
        sections = b"".join(struct.pack("<QQ", 144 + 12 * i, 12) for i in range(2))
        return head + bytes(8) + sections + b"".join(text)
    with tempfile.TemporaryDirectory() as folder:
        for data, wanted in ((file(0b11000), "web1"), (file(0b10000), None), (file(0b11000)[:115], None), (b"", None)):
            with open(os.path.join(folder, "perf.data"), "wb") as made:
                made.write(data)
            equal(fleet_add.host_of(made.name), wanted)


def test_commit():
    """The one that was checked out then, here; and none of before the repository, of another machine, or of no folder."""
    if not shutil.which("git"):
        return
    with tempfile.TemporaryDirectory() as folder:
        def git(*words, at="2026-01-02T03:04:05+0000"):
            who = {"GIT_%s_%s" % (role, what): "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
            dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
            return subprocess.run(["git", "-C", folder, *words], env={**os.environ, **who, **dates}, check=True, capture_output=True, text=True).stdout
        git("init")
        commits = []
        for day in (2, 4):
            git("commit", "--allow-empty", "-m", "x", at="2026-01-%02dT03:04:05+0000" % day)
            commits.append(git("rev-parse", "HEAD").strip())
        here = os.uname().nodename
        for host, day, wanted in ((here, 1, None), (here, 3, commits[0]), (here, 5, commits[1]), ("other" + here, 3, None), (None, 3, None)):
            equal(fleet_add.commit_of(folder, host, datetime.datetime(2026, 1, day)), wanted)
        equal(fleet_add.commit_of(folder + "/none", here, datetime.datetime(2026, 1, 3)), None)
        equal(fleet_add.commit_of("/", here, datetime.datetime(2026, 1, 3)), None)
        equal(fleet_add.commit_of(folder, here, None), None)


rec.run(globals())
