#!/usr/bin/env python3
"""One recording, many formats: the summary, pprof's file, the Firefox Profiler's, OpenTelemetry's, folded stacks, speedscope, pstats,
callgrind, and a fleet store read by DuckDB, by pyarrow and by ClickHouse (chdb) have the same calls and times, of five programs, in all
and of each function. These three come from PyPI, and so does OpenTelemetry's reader.
"""

import collections
import importlib.util
import json
import marshal
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "doors"))
import recording  # noqa: E402

ATREE = "import ast, sys, json.decoder as m\nfor _ in range(3): ast.unparse(ast.parse(open(m.__file__).read()))\n"
TEXT = """
import gc, json
text = json.dumps([{'a': [1, 2, {'b': str(n)}], 'c': n / 7} for n in range(500)], indent=1)
assert len(json.loads(text)) == 500
gc.collect()
"""
THREADS = """
import threading, time
lock = threading.Lock()
def job(n):
    with lock:
        time.sleep(.002)
    return sum(i * i for i in range(n))
threads = [threading.Thread(target=job, args=(300,)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
TASKS = """
import asyncio
async def leaf(n):
    await asyncio.sleep(.001)
    return n and await leaf(n - 1)
async def main():
    await asyncio.gather(*(leaf(n) for n in range(12)))
asyncio.run(main())
"""
FORKS = """
import os
def work(n):
    return n and work(n - 1) + 1
for n in range(3):
    if not os.fork():
        work(50 + n)
        os._exit(0)
    os.wait()
work(20)
"""
# Name: source, options of recording. A call is a start or a resumption in pstats and edges, a start elsewhere.
PROGRAMS = {"parser": (ATREE, ()), "json, with C functions": (TEXT, ("--c-calls",)), "threads": (THREADS, ()), "tasks": (TASKS, ()),
            "forks": (FORKS, ())}
FILES = ("summary", "pprof", "firefox", "otlp", "collapsed", "speedscope", "pstats", "callgrind")
SUMS = ("calls", "self_ns", "self_cpu_ns", "self_waiting_ns")
# Prints the same of a store as json; no engine, only its files.
ARROW = """
import json, sys
import pyarrow.compute as pc
import pyarrow.dataset as ds
def table(name):
    return ds.dataset(sys.argv[1] + "/" + name, format="parquet", partitioning="hive").to_table()
function = table("function")
both = [function] + [table(name) for name in sys.argv[2:]]
found = {name: sum(pc.sum(each[name]).as_py() or 0 for each in both) for name in ("calls", "self_ns", "self_cpu_ns", "self_waiting_ns")}
edges, events = table("edges"), table("events")
events = events.filter(pc.and_(pc.is_valid(events["key"]), pc.is_null(events["what"])))
print(json.dumps({**found, "edges": pc.sum(edges["self_ns"]).as_py(),
    "events": [pc.sum(pc.equal(events["event"], "PY_START")).as_py(), pc.sum(events["self_ns"]).as_py()], "durations": pc.sum(pc.struct_field(pc.list_flatten(
    function["durations"]), "n")).as_py(), "rows": sorted(zip(*(function[name].to_pylist() for name in ("file", "qualname", "line", "calls", "self_ns"))))}))
"""

# ClickHouse's engine, likewise; it knows no sum of no rows but 0.
CLICKHOUSE = """
import json, sys
import chdb
def ask(query):
    found = str(chdb.query(query + " SETTINGS output_format_json_quote_64bit_integers = 0", "JSONCompactEachRow"))
    return [json.loads(line) for line in found.splitlines()]
def table(name):
    return "file('%s/%s/**/*.parquet', Parquet)" % (sys.argv[1], name)
both = " UNION ALL ".join("SELECT calls, self_ns, self_cpu_ns, self_waiting_ns FROM " + table(name) for name in ["function", *sys.argv[2:]])
names = ("calls", "self_ns", "self_cpu_ns", "self_waiting_ns")
(sums,) = ask("SELECT sum(calls), sum(self_ns), sum(self_cpu_ns), sum(self_waiting_ns) FROM (%s)" % both)
((edges,),) = ask("SELECT sum(self_ns) FROM " + table("edges"))
((durations,),) = ask("SELECT sum(arraySum(n -> ifNull(n, 0), durations.n)) FROM " + table("function"))
events = ask("SELECT countIf(event = 'PY_START'), sum(self_ns) FROM %s WHERE key IS NOT NULL AND what IS NULL" % table("events"))
print(json.dumps({**dict(zip(names, sums)), "edges": edges, "durations": durations, "events": events[0],
                  "rows": ask("SELECT file, qualname, line, calls, self_ns FROM %s ORDER BY ALL" % table("function"))}))
"""

# OpenTelemetry's profiles by its own modules: sums of each type, and by function. Only version v1development is known, every field of it.
OTLP = """
import json, sys
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData
from google.protobuf.unknown_fields import UnknownFieldSet
with open(sys.argv[1], "rb") as file:
    data = ProfilesData.FromString(file.read())
words, rows = data.dictionary.string_table, []
def known(message):
    assert not len(UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.message_type:
            for each in [value] if hasattr(value, "ListFields") else value:
                known(each)
known(data)
for resource in data.resource_profiles:
    for scope in resource.scope_profiles:
        for profile in scope.profiles:
            for sample in profile.samples:
                stack = data.dictionary.stack_table[sample.stack_index].location_indices
                location = data.dictionary.location_table[stack[0]]
                function = data.dictionary.function_table[location.lines[0].function_index]
                rows.append((words[profile.sample_type.type_strindex], words[function.filename_strindex], words[function.name_strindex],
                             function.start_line, sample.values[0]))
print(json.dumps(rows))
"""


def module(folder, name):
    """One of those that have their name from what they test."""
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", os.path.join(TESTS, folder, name + ".py"))
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


exports, doors = module("golden", "test_exports"), module("doors", "test_exports")


def run(*command, **kw):
    done = recording.run(command, **kw)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


def record(python, duck, folder, source, options):
    """A recording, all its files, and its store."""
    with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as file:
        file.write(source)
    environment = recording.plain_environment(PYTHON=duck)
    run(recording.WRAPPER, "record", "-q", "--python", python, *options, "-o", "data", "--", "app.py", cwd=folder, env=environment)
    run(recording.WRAPPER, "fleet", "add", "store", "data", "--events", cwd=folder, env=environment)
    run(recording.WRAPPER, "report", "-q", *(word for name in FILES for word in (f"--{name}", name)), "data", cwd=folder, env=environment)
    with open(os.path.join(folder, "summary"), encoding="utf-8") as file:
        return json.load(file), environment


def of_functions(rows):
    """{(file, qualname, line): [calls, self_ns]}: of all processes."""
    found = collections.Counter()
    for file, qualname, line, calls, own in rows:
        found[file, qualname, line, "calls"] += calls
        found[file, qualname, line, "self_ns"] += own
    return +found


def from_pprof(path):
    """Sums by name, with collections; and of functions. Deep stacks are cut there: what they had is in '...'."""
    rows, types = doors.pprof(path)
    names = {"calls": "calls", "wall": "self_ns", "cpu": "self_cpu_ns", "waiting": "self_waiting_ns"}
    return {names[kind]: sum(values[n] for values in rows.values()) for n, kind in enumerate(types)}, \
        of_functions((*key, *values[:2]) for key, values in rows.items())


def entries(path):
    """Calls and resumptions that pstats has of all functions, and of those that a function called."""
    with open(path, "rb") as file:
        stats = marshal.load(file)
    return sum(row[1] for row in stats.values()), sum(by[0] for row in stats.values() for by in row[4].values())


def check(python, duck, opentelemetry, source, options, folder):
    summary, environment = record(python, duck, folder, source, options)
    path = {name: os.path.join(folder, name) for name in FILES}
    rows, c = summary["functions"], summary["c_functions"]
    every = rows + c + summary["collections"]
    wanted = {name: sum(row[name] for row in rows + c) for name in SUMS}
    whole = sum(row["self_ns"] for row in every)
    functions = of_functions((row["file"], row["qualname"], row["firstlineno"], row["calls"], row["self_ns"]) for row in rows)
    problems = []

    def equal(what, found, wanted):
        if isinstance(wanted, dict):
            problems.extend(f"{what}: {key}: {found.get(key)}, not {wanted.get(key)}" for key in sorted(found.keys() | wanted.keys())
                            if found.get(key) != wanted.get(key))
        elif found != wanted:
            problems.append(f"{what}: {found}, not {wanted}")

    pprof, by_pprof = from_pprof(path["pprof"])
    more = {name: sum(row[name] for row in every if name in row) - n for name, n in wanted.items()}  # of collections
    more["calls"] += sum(row["count"] for row in summary["collections"])
    equal("pprof", pprof, {name: n + more[name] for name, n in wanted.items()})
    equal("pprof, each function", {key: n for key, n in by_pprof.items() if key[:3] in {each[:3] for each in functions}}, functions)
    firefox = exports.firefox_profile.costs(path["firefox"])
    equal("firefox", {key: sum(costs.values()) for key, costs in firefox.items()}, pprof)
    named = firefox["calls"] | firefox["self_ns"]
    equal("firefox, each function", of_functions((*key, firefox["calls"][key], firefox["self_ns"][key]) for key in named
                                                 if key[0] not in ("~", "<gc>")), functions)
    equal("otlp", {key: sum(costs.values()) for key, costs in exports.otlp_profile.costs(path["otlp"]).items()}, pprof)
    by_type = collections.Counter()
    told = collections.defaultdict(lambda: [0, 0])
    for kind, *place, value in json.loads(run(opentelemetry, "-c", OTLP, path["otlp"])):
        by_type[exports.otlp_profile.COSTS[kind]] += value
        told[tuple(place)][0] += value * (kind == "calls")
        told[tuple(place)][1] += value * (kind == "wall")
    equal("opentelemetry-proto", {**dict.fromkeys(pprof, 0), **by_type}, pprof)
    equal("opentelemetry-proto, each function", of_functions((*place, *values) for place, values in told.items() if place[0]), functions)
    equal("collapsed", exports.collapsed(path["collapsed"]), whole)
    equal("speedscope", exports.speedscope(path["speedscope"])[0], whole)
    equal("pstats", exports.pstats(path["pstats"]), whole)
    equal("callgrind", exports.callgrind(path["callgrind"]), whole)

    def ask(query):
        return json.loads(run(recording.WRAPPER, "fleet", "sql", "store", query, "--format", "json", cwd=folder, env=environment))
    both = ", ".join(f"sum({name})::BIGINT AS {name}" for name in SUMS)
    found, = ask(f"SELECT {both} FROM (SELECT {', '.join(SUMS)} FROM function UNION ALL SELECT {', '.join(SUMS)} FROM c_function)")
    equal("DuckDB", found, wanted)
    equal("DuckDB, each function", of_functions(row.values() for row in ask("SELECT file, qualname, line, calls, self_ns FROM function")), functions)
    found, = ask("SELECT sum(self_ns)::BIGINT AS n FROM edges")
    equal("DuckDB, edges", found["n"], whole)
    if not options:  # cProfile has no rows for types that are called, nor for collections
        found, = ask("SELECT sum(calls)::BIGINT AS calls, sum(calls) FILTER (caller_key IS NOT NULL)::BIGINT AS called FROM edges"
                     " WHERE NOT starts_with(callee_key, '<gc>:')")
        equal("pstats, calls", entries(path["pstats"]), (found["calls"], found["called"]))
        equal("DuckDB, calls", found["calls"], sum(row["calls"] + row["resumes"] for row in rows))
    counted, = ask("SELECT sum(list_sum([each.n FOR each IN durations]))::BIGINT AS n FROM function")
    own, = ask("SELECT sum(calls)::BIGINT, sum(self_ns)::BIGINT FROM function")
    for engine, source in (("pyarrow", ARROW), ("ClickHouse", CLICKHOUSE)):
        made = json.loads(run(duck, "-c", source, os.path.join(folder, "store"), *["c_function"] * bool(c)))
        equal(engine, {name: made[name] for name in SUMS}, wanted)
        equal(f"{engine}, each function", of_functions(made["rows"]), functions)
        equal(f"{engine}, edges", made["edges"], whole)
        equal(f"{engine}, durations", made["durations"], counted["n"])
        equal(f"{engine}, events", made["events"], list(own.values()))
    return problems


def cases(python, chosen):
    if python != recording.pythons(chosen)[-1]:
        return
    duck, opentelemetry = recording.venv(python, *recording.FLEET), recording.venv(python, "opentelemetry-proto")
    for name, (source, options) in PROGRAMS.items():
        if duck and opentelemetry:
            yield f"equal in all formats: {name}", check, python, duck, opentelemetry, source, options
        else:
            yield f"equal in all formats: {name}", recording.NO_VENV


if __name__ == "__main__":
    recording.run_cases(cases)
