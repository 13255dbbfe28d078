# SPDX-License-Identifier: MIT
"""ocular-feed event_columns=FILE: the rows are those of the events text, and add up to the summary; read without pyarrow."""

import collections
import glob
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import fleet_events, fleet_store  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
UNESCAPED = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}


def arguments(here):
    try:
        with open(os.path.join(here, "args"), encoding="utf-8") as file:
            return [file.read().strip("\n")]
    except FileNotFoundError:
        return []


def command(case, made):
    """To write that of a golden case."""
    here = os.path.join(GOLDEN, case)
    words = [word for word in ["codes=" + here] if glob.glob(os.path.join(glob.escape(here), "codes-*.jsonl"))]
    return [os.path.join(rec.BUILD, "bin", "ocular-feed"), *words, *("%s=%s" % each for each in made.items()), *arguments(here),
            os.path.join(here, "events.txt")]


def feed(folder, case):
    """All that it writes: events text, columns, summary."""
    made = {name: os.path.join(folder, name) for name in ("events", "event_columns", "summary")}
    subprocess.run(command(case, made), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return made


def through_memory(case, size):
    """The rows that come through shared memory, so many at a time; and how the writer ended."""
    shared = fleet_events.Shared(size)
    ours, theirs = os.pipe()
    made = {"event_columns": "/dev/fd/%d" % theirs, "event_memory": shared.option()}
    with subprocess.Popen(command(case, made), pass_fds=[theirs, shared.memory, shared.free], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as writer:
        os.close(theirs)
        with open(ours, "rb") as file:
            yield from rows_of(fleet_events.Columns(file, shared))
            shared.close()
    equal(writer.returncode, 0)


def rows(data):
    """Each row of a file as a dict, null as None; code and what as the code table has them."""
    return rows_of(fleet_events.Columns(io.BytesIO(data)))


def rows_of(columns):
    while columns.group():
        for n in range(columns.rows):
            row = {}
            for name, column in columns.columns.items():
                known = column.valid is None or column.valid[n // 8] >> n % 8 & 1
                row[name] = int.from_bytes(column.cells[n * column.width:(n + 1) * column.width], sys.byteorder, signed=True) if known else None
            row["event"] = columns.events[row["event"]]
            row["code"] = None if row["code"] is None else columns.codes[row["code"]]
            row["what"] = None if row["what"] is None else columns.codes[row["what"]][1]
            yield row


def as_text(row):
    """The columns of the events text that every line has, and what ran or is called."""
    code = [str(each) for each in row["code"]] if row["code"] else ["", "", ""]
    destination = "" if row["destination"] is None else str(row["destination"])
    return [str(row["time_ns"]), str(row["pid"]), str(row["tid"]), row["event"], *code, str(row["offset"]), destination]


def lines_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


def wanted_text(line):
    for escaped, plain in UNESCAPED.items():
        line = [cell.replace(escaped, plain) if "\\" in cell and "\\u" not in cell and "\\x" not in cell else cell for cell in line]
    return line[:9]


def test_rows():
    """Of every golden case, the same events in the same order."""
    for case in sorted(os.listdir(GOLDEN)):
        if not os.path.exists(os.path.join(GOLDEN, case, "events.txt")) or case == "names":  # whose names the text escapes
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = feed(folder, case)
            with open(made["event_columns"], "rb") as file:
                found = list(rows(file.read()))
            lines = lines_of(made["events"])
            told = [row for row in found if row["event"] != "LEAVE"]
            equal([(case, as_text(row)) for row in told], [(case, wanted_text(line)) for line in lines])
            for row, line in zip(told, lines):
                if row["event"] in ("CALL", "INSTRUCTION"):
                    equal((case, row["what"] or ""), (case, line[9] if len(line) > 9 else ""))
                equal((case, "" if row["object"] is None else str(row["object"])), (case, line[10] if len(line) > 10 else ""))
            check_sums(case, found, made["summary"])


def test_memory():
    """The same rows through memory that both share, whatever its size: of one that is filled once, and again and again."""
    for case in ("generators", "percentiles", "forms"):  # of 23, 121 and 186 events
        with tempfile.TemporaryDirectory() as folder:
            with open(feed(folder, case)["event_columns"], "rb") as file:
                wanted = list(rows(file.read()))
        for size in (64, 128, 1 << 16):
            equal((case, list(through_memory(case, size))), (case, wanted))


def test_reader_ends():
    """Who writes says so, and does not wait for ever."""
    shared = fleet_events.Shared(64)
    ours, theirs = os.pipe()
    case = max((each for each in os.listdir(GOLDEN) if os.path.exists(os.path.join(GOLDEN, each, "events.txt"))),
               key=lambda each: os.path.getsize(os.path.join(GOLDEN, each, "events.txt")))
    made = {"event_columns": "/dev/fd/%d" % theirs, "event_memory": shared.option()}
    with subprocess.Popen(command(case, made), pass_fds=[theirs, shared.memory, shared.free], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as writer:
        os.close(theirs)
        shared.close()
        said = writer.communicate(timeout=60)[1]
        os.close(ours)
    assert writer.returncode not in (0, None) and said.count(b"\n") == 1, (case, writer.returncode, said)


def sums(found):
    """{code object: [calls, self_ns]}; a C function by its name."""
    made = collections.defaultdict(lambda: [0, 0])
    for row in found:
        if row["event"] == "PY_START" or row["event"] == "CALL" and row["what"]:
            made[row["what"] if row["event"] == "CALL" else row["code"]][0] += 1
        if row["self_ns"] is not None:
            made[row["what"] or row["code"]][1] += row["self_ns"]
    return {key: n for key, n in made.items() if any(n)}


def check_sums(case, found, path):
    """Calls and self time of each code object are those of its events."""
    with open(path, encoding="utf-8") as file:
        summary = json.load(file)
    wanted = collections.defaultdict(lambda: [0, 0])
    for each in summary["functions"]:
        wanted[each["file"], each["qualname"], each["firstlineno"]][0] += each["calls"]
        wanted[each["file"], each["qualname"], each["firstlineno"]][1] += each["self_ns"]
    for each in summary.get("c_functions", ()):
        wanted[each["qualname"]][0] += each["calls"]
        wanted[each["qualname"]][1] += each["self_ns"]
    for each in summary.get("collections", ()):
        wanted["garbage collection, generation %d" % each["generation"]][1] += each["self_ns"]
    equal((case, sums(found)), (case, {key: n for key, n in wanted.items() if any(n)}))


def test_cut():
    """What is not whole is told, wherever it ends."""
    with tempfile.TemporaryDirectory() as folder:
        with open(feed(folder, "recursion")["event_columns"], "rb") as file:
            data = file.read()
    assert list(rows(data))
    for size in [*range(0, len(data) - 2, 97), len(data) - 2]:
        try:
            list(rows(data[:size]))
        except fleet_events.Damaged:
            continue
        raise AssertionError(size)


def test_without_arrow():
    """What is missing is said with what to install."""
    if importlib.util.find_spec("pyarrow"):
        return
    try:
        fleet_events.arrow()
    except fleet_store.Refused as e:
        assert 'pip install "ocular-trace[fleet-events]"' in str(e), e
    else:
        raise AssertionError


rec.run(globals())
