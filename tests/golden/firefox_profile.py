"""The Firefox Profiler's processed profile, version 70: what its types say (firefox-devtools/profiler, src/types/profile.ts), checked, and
sums of it. Times are milliseconds; as decimal numbers they are exact.
"""

import collections
import decimal
import gzip
import json

VERSION = 70
COLORS = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown", "magenta", "red", "lightred", "darkgrey", "grey"}
COSTS = {"calls, all threads": "calls", "wall time, all threads": "self_ns", "time on a CPU, all threads": "self_cpu_ns",
         "waiting, all threads": "self_waiting_ns"}


def is_number(value):
    return isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_text(value):
    return isinstance(value, str)


def is_flag(value):
    return isinstance(value, bool)


def is_list(value):
    return isinstance(value, list)


def below(n):
    return lambda value: is_count(value) and value < n


def or_null(check):
    return lambda value: value is None or check(value)


def or_none(check):
    """None is -1."""
    return lambda value: value == -1 or check(value)


def one_of(*values):
    return lambda value: value in values


def columns(profile):
    """{table: {column: what each of its values is}}."""
    shared, subs = profile["shared"], [len(row["subcategories"]) for row in profile["meta"]["categories"]]
    n = {name: table["length"] for name, table in shared.items() if isinstance(table, dict)}
    text, libs = below(len(shared["stringArray"])), below(len(profile["libs"]))
    location = or_null(below(n["sourceLocationTable"]))
    return {
        "stackTable": {"frame": below(n["frameTable"]), "prefixOffset": is_count},
        "frameTable": {"address": or_none(is_count), "lib": or_none(libs), "inlineDepth": is_count, "category": or_null(below(len(subs))),
                       "subcategory": or_null(below(max(subs))), "func": below(n["funcTable"]), "nativeSymbol": or_null(below(n["nativeSymbols"])),
                       "innerWindowID": or_null(is_count), "line": or_null(is_count), "column": or_null(is_count), "originalLocation": location},
        "funcTable": {"name": text, "isJS": is_flag, "relevantForJS": is_flag, "resource": or_none(below(n["resourceTable"])),
                      "source": or_null(below(n["sources"])), "lineNumber": or_null(is_count), "columnNumber": or_null(is_count),
                      "originalLocation": location},
        "resourceTable": {"name": text, "host": or_null(text), "type": below(6)},
        "nativeSymbols": {"libIndex": libs, "address": is_count, "name": text, "functionSize": or_null(is_count)},
        "sources": {"id": or_null(is_text), "filename": text, "startLine": is_count, "startColumn": is_count, "sourceMapURL": or_null(text),
                    "content": or_null(is_text)},
        "sourceLocationTable": {"source": below(n["sources"]), "line": is_count, "column": is_count},
    }


META = {
    "interval": is_number, "startTime": is_number, "processType": is_count, "product": is_text, "stackwalk": one_of(0, 1), "debug": is_flag,
    "version": is_count, "preprocessedProfileVersion": one_of(VERSION), "arguments": is_text, "symbolicated": is_flag,
    "symbolicationNotSupported": is_flag, "importedFrom": is_text, "usesOnlyOneStackType": is_flag, "sourceCodeIsNotOnSearchfox": is_flag,
    "keepProfileThreadOrder": is_flag, "markerSchema": is_list, "initialVisibleThreads": is_list, "initialSelectedThreads": is_list,
    "categories": is_list, "extra": is_list, "sampleUnits": one_of({"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"}),
}
THREAD = {
    "processType": is_text, "processStartupTime": is_number, "processShutdownTime": or_null(is_number), "registerTime": is_number,
    "unregisterTime": or_null(is_number), "pausedRanges": is_list, "name": is_text, "isMainThread": is_flag, "pid": is_text,
    "tid": lambda value: is_count(value) or is_text(value), "samples": lambda value: isinstance(value, dict),
    "markers": one_of({"length": 0, **{name: [] for name in ("data", "name", "startTime", "endTime", "phase", "category")}}),
}
FORMATS = {"string": is_text, "integer": is_count}


def check_members(what, found, wanted, optional=()):
    assert found.keys() - set(optional) == wanted.keys(), (what, sorted(found.keys() ^ wanted.keys()))
    for name, check in wanted.items():
        assert check(found[name]), (what, name, found[name])


def check_table(what, table, wanted, more=()):
    assert table.keys() - set(more) - {"length"} == wanted.keys(), (what, sorted(table))
    for name, check in wanted.items():
        assert len(table[name]) == table["length"], (what, name, len(table[name]), table["length"])
        wrong = [(row, value) for row, value in enumerate(table[name]) if not check(value)]
        assert not wrong, (what, name, wrong[:3])


def check_meta(meta, threads):
    check_members("meta", meta, META)
    for row in meta["categories"]:
        check_members("category", row, {"name": is_text, "color": COLORS.__contains__, "subcategories": lambda value: value[0] == "Other"})
    assert "grey" in [row["color"] for row in meta["categories"]]
    for name in ("initialVisibleThreads", "initialSelectedThreads"):
        assert meta[name] and all(map(below(threads), meta[name])), (name, meta[name])
    for section in meta["extra"]:
        check_members("extra", section, {"label": is_text, "entries": is_list})
        for row in section["entries"]:
            check_members("entry", row, {"label": is_text, "format": FORMATS.__contains__, "value": FORMATS[row["format"]]})


def check_samples(thread, nstacks):
    samples = thread["samples"]
    cpu = {"threadCPUDelta": is_count} if "threadCPUDelta" in samples else {}
    check_table(thread["name"], samples, {"stack": or_null(below(nstacks)), "timeDeltas": is_number, "weight": is_number, **cpu}, ["weightType"])
    assert samples["weightType"] in ("tracing-ms", "samples"), samples["weightType"]
    assert samples["stack"][-1] is None and samples["weight"][-1] == 0 and None not in samples["stack"][:-1], thread["name"]
    assert all(weight > 0 for weight in samples["weight"][:-1]), thread["name"]
    # A sample is as wide as its weight: 1 us for each call.
    unit = 1 if samples["weightType"] == "tracing-ms" else decimal.Decimal("0.001")
    assert samples["timeDeltas"] == [0, *(unit * weight for weight in samples["weight"][:-1])], thread["name"]


def check(profile):
    """Raises AssertionError where it is not as its types say."""
    assert profile.keys() == {"meta", "libs", "threads", "shared"}, sorted(profile)
    shared, threads = profile["shared"], profile["threads"]
    check_meta(profile["meta"], len(threads))
    tables = columns(profile)
    assert shared.keys() == tables.keys() | {"stringArray"}, sorted(shared)
    assert all(map(is_text, shared["stringArray"]))
    for name, wanted in tables.items():
        check_table(name, shared[name], wanted)
    stacks = shared["stackTable"]
    assert all(up <= row for row, up in enumerate(stacks["prefixOffset"])), "a caller comes first"
    paths = [*zip((row - up if up else None for row, up in enumerate(stacks["prefixOffset"])), stacks["frame"])]
    assert len(set(paths)) == len(paths), "a stack is there once"
    for thread in threads:
        check_members(thread.get("name"), thread, THREAD, ["processName"])
        check_samples(thread, stacks["length"])
    assert len({(thread["pid"], thread["tid"]) for thread in threads}) == len(threads), "threads of one name"


def load(path):
    """The profile, checked."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    profile = json.loads(data, parse_float=decimal.Decimal)
    check(profile)
    return profile


def ns(value):
    made = value * 1000000
    assert made == int(made), value
    return int(made)


def functions(profile):
    """(file, name, line) of each function; a C function's file is "~", as in pstats, and a collection's "<gc>"."""
    shared, categories = profile["shared"], [row["name"] for row in profile["meta"]["categories"]]
    text, table, frames = shared["stringArray"], shared["funcTable"], shared["frameTable"]
    files = [text[name] for name in shared["sources"]["filename"]]
    kinds = {function: categories[category] for function, category in zip(frames["func"], frames["category"])}
    none = {"C functions": "~", "Garbage collector": "<gc>"}
    assert len(set(zip(frames["func"], frames["category"]))) == table["length"], "a function is of one category"
    assert all((kinds[row] in none) == (source is None) for row, source in enumerate(table["source"]))
    return [(none[kinds[row]] if source is None else files[source], text[name], line or 0)
            for row, (name, source, line) in enumerate(zip(table["name"], table["source"], table["lineNumber"]))]


def own(profile, thread, names):
    """Of each function: the weight of samples in it, in ns or calls."""
    shared, samples, found = profile["shared"], thread["samples"], collections.Counter()
    for stack, weight in zip(samples["stack"][:-1], samples["weight"]):
        function = shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]
        found[names[function]] += ns(weight) if samples["weightType"] == "tracing-ms" else weight
    return found


def states(profile, thread):
    """ns by subcategory."""
    frames, rows, samples = profile["shared"]["frameTable"], profile["meta"]["categories"], thread["samples"]
    found = collections.Counter()
    for stack, weight in zip(samples["stack"][:-1], samples["weight"]):
        frame = profile["shared"]["stackTable"]["frame"][stack]
        found[rows[frames["category"][frame]]["subcategories"][frames["subcategory"][frame]]] += ns(weight)
    return found


def costs(path):
    return costs_of(load(path))


def costs_of(profile):
    """{"self_ns" and so on: {function: ns, or calls}} of all threads together, which is what the threads add up to."""
    names, threads = functions(profile), profile["threads"]
    found = {COSTS[thread["name"]]: own(profile, thread, names) for thread in threads if thread["pid"] == "all"}
    assert list(found) == [COSTS[thread["name"]] for thread in threads[:len(found)]], "all threads come first"
    single = [thread for thread in threads if thread["pid"] != "all"]
    assert sum((own(profile, thread, names) for thread in single), collections.Counter()) == found["self_ns"]
    parts = sum((states(profile, thread) for thread in single), collections.Counter())
    assert parts == next(states(profile, thread) for thread in threads if thread["name"] == "wall time, all threads")
    told = {state: sum(found.get(key, {}).values()) for state, key in (("On a CPU", "self_cpu_ns"), ("Waiting", "self_waiting_ns"))}
    assert "self_cpu_ns" not in found or told == {state: parts[state] for state in told}, (told, parts)
    cpu = sum(sum(thread["samples"].get("threadCPUDelta", ())) for thread in single)
    assert cpu == told["On a CPU"], (cpu, told)
    return found


def losses_of(profile):
    """{what: how many} of what the recording lacks."""
    return {row["label"]: row["value"] for row in profile["meta"]["extra"][0]["entries"] if row["format"] == "integer"}
