#!/usr/bin/env python3
"""Opcodes for other programs: what pstats.Stats and numpy.load read from the files, against another count of the same
run; and chains of opcodes, against that count.

    test_opcode_tables.py [--python PY]... [--only TEXT]

The witness goes through the events text, thread by thread, and has the names of instructions from the traced Python's
`dis` of the program's source: counts, times, and which opcode ran after which.
"""

import ast
import collections
import glob
import json
import marshal
import os
import struct
import zipfile

import recording
from tap import Plan

FEED = os.path.join(recording.BUILD, "bin", "ocular-feed")
GOLDEN = os.path.join(recording.ROOT, "tests", "golden")
CHAINS = (3, 5, 8)
PROGRAMS = ("loops", "generators", "threads", "exceptions", "recursion")

NAMES = """
import dis, sys
def walk(code):
    yield code
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            yield from walk(const)
with open(sys.argv[1], encoding="utf-8") as file:
    code = compile(file.read(), sys.argv[1], "exec")
print({(c.co_qualname, c.co_firstlineno): {i.offset: i.opname for i in dis.get_instructions(c)} for c in walk(code)})
"""


def names_of(python, path):
    """{(qualname, first line): {offset: opcode}}"""
    done = recording.run([python, "-c", NAMES, path])
    assert not done.returncode, done.stderr
    return ast.literal_eval(done.stdout)


def threads_of(path, names):
    """[[(ns, opcode)], ...]: the instructions of each thread, then its last event with no opcode."""
    threads = collections.defaultdict(list)
    last = {}
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.startswith("#") or "\tEXTENSION\t" in line:
                continue
            ns, pid, tid, event, _, qualname, first, offset = line.rstrip("\n").split("\t")[:8]
            last[pid, tid] = int(ns)
            assert event not in ("GAP", "FOREIGN"), line
            if event == "INSTRUCTION":
                threads[pid, tid].append((int(ns), names[qualname, int(first)][int(offset)]))
    return [[*rows, (last[thread], None)] for thread, rows in threads.items()]


class Model:
    """Counts and ns of opcodes, and of each by the one that ran before it; counts of chains by their length."""

    def __init__(self, threads):
        self.count, self.ns, self.pairs, self.pairs_ns = (collections.Counter() for _ in range(4))
        self.chains = {n: collections.Counter() for n in CHAINS}
        for rows in threads:
            before, names = None, [name for _, name in rows[:-1]]
            for n in CHAINS:
                self.chains[n].update(tuple(names[i:i + n]) for i in range(len(names) - n + 1))
            for (at, name), (until, _) in zip(rows, rows[1:]):
                self.count[name] += 1
                self.ns[name] += until - at
                if before:
                    self.pairs[before, name] += 1
                    self.pairs_ns[before, name] += until - at
                before = name


def name_of(row):
    return row["opcode"] if row["opcode"] == row["specialized"] else f"{row['opcode']} -> {row['specialized']}"


class Told:
    """The same from a summary's table, which has no times of pairs."""

    def __init__(self, table, chains=None):
        rows = [name_of(row) for row in table["rows"]]
        self.count = {name: row["count"] for name, row in zip(rows, table["rows"])}
        self.ns = {name: row.get("ns", 0) for name, row in zip(rows, table["rows"])}
        self.pairs = {(rows[p["from"]], rows[p["to"]]): p["count"] for p in table["pairs"]}
        if chains:
            self.chains = {n: {tuple(rows[i] for i in row["opcodes"]): row["count"] for row in told["rows"]}
                           for n, told in chains.items()}


def load_arrays(path):
    """{name: array} like numpy.load: lists, of lists if there are two dimensions. Checks the checksums."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            data = archive.read(name)
            assert data[:8] == b"\x93NUMPY\1\0" and name.endswith(".npy"), name
            (length,) = struct.unpack_from("<H", data, 8)
            assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b"\n", name
            head = ast.literal_eval(data[10:10 + length].decode("ascii"))
            assert head.keys() == {"descr", "fortran_order", "shape"} and head["fortran_order"] is False, head
            arrays[name[:-4]] = elements(head["descr"], head["shape"], data[10 + length:])
    return arrays


def elements(descr, shape, data):
    if descr == "<u8":
        flat = [n for n, in struct.iter_unpack("<Q", data)]
    else:
        assert descr[:2] == "<U", descr
        width = 4 * int(descr[2:])
        flat = [data[i:i + width].decode("utf-32-le").rstrip("\0") for i in range(0, len(data), width)]
    rows, columns = (*shape, 1)[:2]
    assert len(flat) == rows * columns, (shape, len(flat))
    return flat if len(shape) == 1 else [flat[i * columns:(i + 1) * columns] for i in range(rows)]


LOAD_BY_NUMPY = """
import json, sys, numpy
with numpy.load(sys.argv[1]) as file:
    print(json.dumps({name: [str(file[name].dtype), file[name].shape, file[name].tolist()] for name in file}))
"""


def load_by_numpy(python, path):
    done = recording.run([python, "-c", LOAD_BY_NUMPY, path])
    assert not done.returncode, done.stderr
    arrays = json.loads(done.stdout)
    n = len(arrays["opcode"][2])
    for name, (dtype, shape, _) in arrays.items():
        assert dtype.startswith("<U") if name in ("opcode", "specialized") else dtype == "uint64", (name, dtype)
        assert shape == ([n, n] if name.startswith("pairs") else [n]), (name, shape)
    return {name: values for name, (_, _, values) in arrays.items()}


def of_arrays(arrays):
    """Arrays as a Model has it."""
    names = [name_of({"opcode": a, "specialized": b}) for a, b in zip(arrays["opcode"], arrays["specialized"])]
    found = Model([])
    found.count, found.ns = (dict(zip(names, arrays[name])) for name in ("count", "ns"))
    for i, one in enumerate(names):
        for k, next_one in enumerate(names):
            if arrays["pairs"][i][k]:
                found.pairs[one, next_one] = arrays["pairs"][i][k]
                found.pairs_ns[one, next_one] = arrays["pairs_ns"][i][k]
    return found


LOAD = """
import pstats, marshal, sys
s = pstats.Stats(sys.argv[1])
s.sort_stats("tottime").print_stats()
s.print_callers()
s.print_callees()
marshal.dump((s.stats, s.total_calls, s.total_tt), open(sys.argv[2], "wb"))
"""


def of_pstats(python, path):
    """What pstats.Stats of that Python loads, as a Model has it, and its own sums."""
    done = recording.run([python, "-c", LOAD, path, path + ".loaded"])
    assert not done.returncode, done.stderr
    with open(path + ".loaded", "rb") as file:
        stats, calls, seconds = marshal.load(file)
    found = Model([])
    for key, (primitive, count, own, total, callers) in stats.items():
        assert key[:2] == ("~", 0) and primitive == count and own == total, (key, primitive, count, own, total)
        found.count[key[2]], found.ns[key[2]] = count, round(own * 1e9)
        for by, (count, primitive, own, total) in callers.items():
            assert by in stats and primitive == count and own == total, (key, by)
            found.pairs[by[2], key[2]], found.pairs_ns[by[2], key[2]] = count, round(own * 1e9)
    assert calls == sum(found.count.values()) and round(seconds * 1e9) == sum(found.ns.values()), (calls, seconds)
    return found


def fields_of(side):
    fields = {**vars(side)}
    for n, chains in fields.pop("chains", {}).items():
        if chains:
            fields[f"chains of {n}"] = chains
    return fields


def differences(what, found, wanted):
    """In what both have."""
    problems = []
    found, wanted = (fields_of(side) for side in (found, wanted))
    for field in found.keys() & wanted.keys():
        a, b = found[field], wanted[field]
        keys = sorted((key for key in a.keys() | b.keys() if a.get(key, 0) != b.get(key, 0)), key=str)
        problems += [f"{what}: {field} of {key}: {a.get(key)}, not {b.get(key)}" for key in keys[:4]]
    return problems


def check(python, program, folder):
    path = os.path.join(recording.PROGRAMS, program + ".py")
    data, events, stats, arrays = (os.path.join(folder, name) for name in ("data", "events", "stats", "arrays.npz"))
    environment = recording.traced_environment("precise", OCULAR_INCLUDE=path)
    done = recording.record(data, [python, path], environment, cwd=folder)
    assert not done.returncode, done.stderr
    summary = recording.summary(data, f"events={events}", f"opcode_pstats={stats}", f"opcode_arrays={arrays}")
    chains = {n: recording.summary(data, f"opcodes=chains:{n}")["opcodes"]["chains"] for n in CHAINS}
    wanted = Model(threads_of(events, names_of(python, path)))
    assert sum(wanted.count.values()) > 100, "nothing ran"
    problems = differences("summary", Told(summary["opcodes"], chains), wanted)
    for n, told in chains.items():
        counts = told["length"], told["different"], told["counted"], told["left_out"]
        if counts != (n, len(wanted.chains[n]), wanted.chains[n].total(), 0):
            problems.append(f"chains: {counts}")
    problems += differences("pstats", of_pstats(python, stats), wanted)
    return problems + differences("arrays", of_arrays(load_arrays(arrays)), wanted)


def feed(folder, case, *options):
    """ocular-feed of a golden trace."""
    path = os.path.join(GOLDEN, case)
    return recording.run([FEED, f"codes={path}", *options, os.path.join(path, "events.txt")], cwd=folder)


def check_golden(python, case, folder):
    """Specialised forms, and counts that are derived: as the summary has them."""
    done = feed(folder, case, "summary=summary", "opcode_pstats=stats", "opcode_arrays=arrays")
    assert not done.returncode, done.stderr
    with open(os.path.join(folder, "summary"), encoding="utf-8") as file:
        wanted = Told(json.load(file)["opcodes"])
    assert wanted.count and wanted.pairs, "an empty table"
    return [*differences("pstats", of_pstats(python, os.path.join(folder, "stats")), wanted),
            *differences("arrays", of_arrays(load_arrays(os.path.join(folder, "arrays"))), wanted)]


def check_forms(_, folder):
    """Chains are of the forms that ran: of each, the events have it in their last column."""
    with open(os.path.join(GOLDEN, "forms", "events.txt"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    assert len({tuple(row[1:3]) for row in rows}) == 1 and not any(row[3] == "GAP" for row in rows), "one thread, no gap"
    names = [row[9] for row in rows if row[3] == "INSTRUCTION"]
    wanted = Model([[*((i, name) for i, name in enumerate(names)), (len(names), None)]]).chains[3]
    done = feed(folder, "forms", "summary=summary", "opcodes=chains:3")
    assert not done.returncode, done.stderr
    with open(os.path.join(folder, "summary"), encoding="utf-8") as file:
        table = json.load(file)["opcodes"]
    ran = [row["specialized"] for row in table["rows"]]
    found = {tuple(ran[i] for i in row["opcodes"]): row["count"] for row in table["chains"]["rows"]}
    return [] if wanted == found else [f"{found}, not {dict(wanted)}"]


def check_unknown(_, option, folder):
    """No opcode is known: one line that says what to do, and no file."""
    done = feed(folder, "jit_calls", f"{option}=file")
    lines = done.stderr.splitlines()
    if not done.returncode or len(lines) != 1 or "record in mode" not in lines[0] or glob.glob(os.path.join(folder, "file*")):
        return [f"exit status {done.returncode}, {os.listdir(folder)}", *lines]
    return []


def check_numpy(python, case, folder):
    """numpy loads the same as the code above."""
    assert not feed(folder, case, "opcode_arrays=arrays").returncode
    path = os.path.join(folder, "arrays")
    return [] if load_by_numpy(python, path) == load_arrays(path) else ["numpy loads something else"]


def cases(python):
    version = recording.version(python)
    for program in PROGRAMS:
        yield f"{version} {program}", check, python, program
    for case in ("forms", "opcodes_derived"):
        yield f"{version} golden {case}", check_golden, python, case
        yield f"{version} numpy {case}", check_numpy, recording.venv(python, "numpy"), case
    yield f"{version} chains of forms", check_forms, python
    for option in ("opcode_pstats", "opcode_arrays"):
        yield f"{version} no {option}", check_unknown, python, option


def main():
    parser = recording.options()
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    chosen = parser.parse_args()
    recording.need_built()
    with Plan() as plan:
        for python in recording.pythons(chosen):
            for name, function, *arguments in cases(python):
                if chosen.only not in name:
                    continue
                with recording.scratch() as folder:
                    if function is check_numpy and not arguments[0]:
                        plan.missing(name, "numpy")
                    else:
                        plan.case(name, function, *arguments, folder)


if __name__ == "__main__":
    main()
