# SPDX-License-Identifier: MIT
"""ocular fleet without DuckDB: which difference is more than noise, how functions are called wherever they are installed, labels."""

import contextlib
import datetime
import io
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
from ocular import fleet_add, fleet_kept, fleet_output, fleet_slower, fleet_store, fleet_tables  # noqa: E402

# Two-sided limits of Student's t, from its printed tables.
LIMITS = ((12.706, 1, 0.05), (2.228, 10, 0.05), (4.587, 10, 0.001), (2.042, 30, 0.05), (63.657, 1, 0.01), (3.390, 100, 0.001))
FUNCTIONS, HOSTS, REPETITIONS = 20, 50, 100


def test_limits():
    for t, freedom, chance in LIMITS:  # rounded to 0.001
        assert abs(fleet_slower.chance_of(t, freedom) / chance - 1) < 3e-3, (t, freedom)


def side(values):
    logs = list(map(math.log, values))
    return len(logs), statistics.fmean(logs), statistics.variance(logs)


def cell(draw, mean, spread, n):
    """Of n normal logarithms, without drawing each: Student (1908)."""
    return n, draw.gauss(mean, spread / math.sqrt(n)), spread ** 2 * 2 * draw.gammavariate((n - 1) / 2, 1) / (n - 1)


def fleet(draw, hosts, n, spread, slower=()):
    """n recordings of each host and release; hosts differ by 5 %. slower: functions and hosts that take 2 % longer in release B."""
    bias = [draw.gauss(7, 0.05) for _ in range(hosts)]
    return {f"f{f}": {f"h{h}": [cell(draw, bias[h] + later * math.log(1.02) * ((f, h) in slower), spread, n) for later in (0, 1)]
                      for h in range(hosts)} for f in range(FUNCTIONS)}


def judged(cells):
    return [(one.key, one.host, one.verdict) for one in fleet_slower.findings(cells) if one.verdict != "noise"]


def test_one_host():
    """2 % in one function on one host of 50 is found each time, and nothing else is."""
    draw = random.Random(22)
    for _ in range(REPETITIONS):
        equal(judged(fleet(draw, HOSTS, 50, 0.01, {(7, 31)})), [("f7", "h31", "slower")])


def test_alarms():
    """Where there is nothing, nothing is found: much alike or not at all, many recordings or the fewest."""
    draw = random.Random(23)
    for hosts, n, spread in ((HOSTS, 50, 0.01), (4, 3, 0.2), (1, 50, 0.01)):
        equal([found for _ in range(REPETITIONS) for found in judged(fleet(draw, hosts, n, spread))], [])


def test_all_hosts():
    """2 % everywhere is found with 4 recordings a side on each of 50 hosts, though hosts differ by 5 %."""
    draw = random.Random(24)
    for _ in range(REPETITIONS):
        found = judged(fleet(draw, HOSTS, 4, 0.01, {(7, h) for h in range(HOSTS)}))
        assert ("f7", None, "slower") in found and {key for key, _, _ in found} == {"f7"}, found


def test_outliers():
    """One recording of 20 takes 3 times as long, and one side of a host differs more than the other: no alarms."""
    draw = random.Random(25)

    def values(spread):
        return side([draw.lognormvariate(7, spread) * (3 if draw.random() < 0.05 else 1) for _ in range(10)])
    for _ in range(REPETITIONS):
        cells = {f"f{f}": {f"h{h}": [values(0.01), values(0.05)] for h in range(4)} for f in range(FUNCTIONS)}
        equal(judged(cells), [])


def test_counted():
    """Where nothing varies, any difference counts."""
    equal(fleet_slower.compared([(side([5.0] * 3), side([5.0] * 3))])[2], 1.0)
    change, error, chance = fleet_slower.compared([(side([100.0] * 3), side([101.0] * 3))])
    equal((round(change, 6), error, chance), (0.01, 0.0, 0.0))


def test_cells():
    """A host that has one side only, or a single recording, is no stratum: then all are compared as they are."""
    a, b = side([100.0, 101, 102]), side([110.0, 111, 112])
    equal([one.host for one in fleet_slower.findings({"f": {"h": [a, b], "g": [a, None]}})], [None, "h"])
    equal([one.host for one in fleet_slower.findings({"f": {"h": [a, None], "g": [None, b]}})], [None])
    equal([one.host for one in fleet_slower.findings({"f": {"h": [a, b]}})], [None])
    equal(fleet_slower.findings({"f": {"h": [a, None]}, "g": {"h": [side([1.0, 2]), side([1.0, 2])]}}), [])
    values = [100.0, 101, 102, 110, 111]
    together = fleet_slower.together([side(values[:2]), (1, math.log(102.0), 0.0), side(values[3:])])
    assert all(abs(x - y) < 1e-12 for x, y in zip(together, side(values))), together


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


def shown(names, rows, columns, units=True):
    text = io.StringIO()
    os.environ["COLUMNS"] = str(columns)
    try:
        with contextlib.redirect_stdout(text):
            fleet_output.show(names, rows, "table", "", units)
    finally:
        del os.environ["COLUMNS"]
    return text.getvalue().splitlines()


def test_answers():
    """Times have units, numbers are on the right, and what is too wide is cut, but never to something that another row is, too."""
    names, rows = ["key", "calls", "self_ns"], [("shop/checkout/basket.py:Basket.total", 12, 1_500_000.0), ("a.py:f", 3, None)]
    equal(shown(names, rows, 0), ["key                                   calls     self", "shop/checkout/basket.py:Basket.total     12  1.50 ms",
                                  "a.py:f                                    3        -"])
    equal(shown(names, rows, 0, units=False)[1], "shop/checkout/basket.py:Basket.total     12  1500000.0")
    equal(shown(names, rows, 44)[1], fleet_output._cut(rows[0][0], 28) + "     12  1.50 ms")
    equal(max(map(len, shown(names, rows, 44))), 44)
    equal(max(map(len, shown(names, rows, 10))), fleet_output.NARROWEST + 16)
    alike = [("shop/checkout/basket_%d.py:Basket.total_of_all_that_is_in_it" % n, 1, 1) for n in range(10)]
    found = {line[:-16] for line in shown(names, alike, 40)[1:]}
    equal(len(found), 10)


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


def test_start():
    """Of the first event, where the recording's clock is that of the header; else of the process."""
    clock = {"realtime_ns": 1_800_000_000 * 10**9, "monotonic_ns": 5 * 10**9}
    began, later = datetime.datetime(2027, 1, 15, 8), datetime.datetime(2027, 1, 15, 8, 1)
    for header, first, wanted in (
            ({"clock": clock, "backend": "software"}, 65 * 10**9, later), ({"clock": clock, "backend": "software"}, None, began),
            ({"clock": clock, "backend": "ptwrite"}, 65 * 10**9, began), ({"clock": clock, "backend": "software"}, 4 * 10**9, began),
            ({"clock": {"monotonic_ns": 5}, "backend": "software"}, 6, None), ({"clock": 7}, 6, None), ({}, None, None)):
        equal(fleet_add.start_of(header, first), wanted)


HEADER = b'{"kind":"header","flight":true}\n'
ONE, TWO = (b'{"kind":"snapshot","number":%d,"trigger":"%s"}\n' % each for each in ((1, b"call"), (2, b"lag")))
CLOSED = b'{"kind":"piece","number":%d,"file":"perf.data.2026112%d","words":9,"most":0}\n'
NEXT = b'{"kind":"switch","number":%d}\n'
CODE = b'{"kind": "code","id":%d}\n'


def test_part_of_table():
    """What ocular agent keeps of a code table for one file of its recording: the code so far, and that file's own snapshots."""
    text = HEADER + CODE % 1 + ONE + CLOSED % (0, 1) + NEXT % 1 + CODE % 2 + TWO + CLOSED % (1, 2)
    ours = CLOSED.replace(b".2026112%d", b"")
    for name, more, wanted, triggers, closed in (
            ("perf.data.20261121", b"", HEADER + CODE % 1 + ONE + ours % 0 + NEXT % 1, ["call"], True),
            ("perf.data.20261122", b"", HEADER + CODE % 1 + NEXT % 1 + CODE % 2 + TWO + ours % 1, ["lag"], False),
            ("perf.data.20261122", NEXT % 2 + CODE % 3, HEADER + CODE % 1 + NEXT % 1 + CODE % 2 + TWO + ours % 1 + NEXT % 2, ["lag"], True),
            ("perf.data", NEXT % 2 + b'{"kind":"sn', HEADER + CODE % 1 + NEXT % 1 + CODE % 2 + NEXT % 2, [], False)):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "codes-1.jsonl"), "wb") as file:
                file.write(text + more)
            found = fleet_kept.Table(file.name, name)
        equal((b"".join(found.lines), found.triggers, found.closed, found.empty), (wanted, triggers, closed, not triggers), name)


rec.run(globals())
