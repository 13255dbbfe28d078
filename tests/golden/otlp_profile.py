"""OpenTelemetry's profiles signal (opentelemetry-proto 1.11.0, profiles/v1development), read without its modules: checked, and sums of it.

tests/wrapper/test_equality.py reads the same by the modules of PyPI's opentelemetry-proto.
"""

import collections
import gzip

from protobuf import message, varints

COSTS = {"calls": "calls", "wall": "self_ns", "cpu": "self_cpu_ns", "waiting": "self_waiting_ns"}
TABLES = {"mappings": 1, "locations": 2, "functions": 3, "links": 4, "texts": 5, "attributes": 6, "stacks": 7}
DEEPER = "~", "...", 0


def one(fields, field, default=0):
    assert len(fields[field]) < 2, (field, fields[field])
    return fields[field][0] if fields[field] else default


def below(number, rows):
    assert 0 <= number < len(rows), (number, len(rows))
    return rows[number]


def tables(dictionary):
    """{name: rows}: the first one of each is there and empty, and none is there twice."""
    found = {name: dictionary[field] for name, field in TABLES.items()}
    assert dictionary.keys() <= set(TABLES.values()), dictionary.keys()
    for name, rows in found.items():
        assert rows and rows[0] == b"", (name, rows[:1])
        if name not in ("functions", "locations"):  # where names are equal once they are UTF-8
            assert len(set(rows)) == len(rows), name
    found["texts"] = [text.decode() for text in found["texts"]]
    return found


def function(rows, location):
    """(file, name, line); a C function's file is "~", as in pstats."""
    fields = message(below(location, rows["locations"]))
    line = message(one(fields, 3))
    made = message(below(one(line, 1), rows["functions"]))
    assert one(line, 2) == one(made, 4), "a location is its function's first line"
    kinds = [message(below(index, rows["attributes"])) for index in varints(one(fields, 4, b""))]
    named = [(rows["texts"][one(kind, 1)], one(message(one(kind, 2)), 1).decode()) for kind in kinds]
    file = below(one(made, 3), rows["texts"])
    name = below(one(made, 1), rows["texts"])
    kind = [] if (file, name) == ("", "...") else [("profile.frame.type", "cpython" if file else "native")]
    assert named == kind, (file, name, named)
    return file or "~", name, one(made, 4)


def load(path):
    """(rows of the dictionary, [(attributes of the resource and the scope, {type: samples})]); a sample is (locations, thread, value, link)."""
    with open(path, "rb") as file:
        data = file.read()
    top = message(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    assert top.keys() <= {1, 2}, top.keys()
    rows = tables(message(one(top, 2)))
    stacks = [[*varints(one(message(stack), 1, b""))] for stack in rows["stacks"]]
    return rows, [resource(rows, stacks, message(each)) for each in top[1]]


def pairs(attributes):
    found = {}
    for fields in map(message, attributes):
        value = message(one(fields, 2))
        found[one(fields, 1).decode()] = one(value, 1).decode() if value[1] else one(value, 3)
    assert len(found) == len(attributes), found
    return found


def resource(rows, stacks, fields):
    scope = message(one(fields, 2))
    about = pairs(message(one(fields, 1))[1]), pairs(message(one(scope, 1))[3])
    found = {}
    for profile in map(message, scope[2]):
        kind = message(one(profile, 1))
        name, unit = (below(one(kind, field), rows["texts"]) for field in (1, 2))
        assert unit == ("count" if name == "calls" else "nanoseconds") and name not in found, (name, unit)
        found[name] = [sample(rows, stacks, message(each)) for each in profile[2]]
        same = {(tuple(path), thread, link) for path, thread, _, link in found[name]}
        assert len(same) == len(found[name]), f"{name}: samples that could be one"
    return about, found


def sample(rows, stacks, fields):
    value, = varints(one(fields, 4))
    thread, = varints(one(fields, 2))
    attribute = message(below(thread, rows["attributes"]))
    assert rows["texts"][one(attribute, 1)] == "thread.name" and value, (attribute, value)
    return below(one(fields, 1), stacks), one(message(one(attribute, 2)), 1).decode(), value, below(one(fields, 3), rows["links"])


def linked(path):
    """{(trace id, span id): {type: {name: value}}}: of the samples that are linked to a span."""
    rows, resources = load(path)
    names = [None, *(function(rows, location)[1] for location in range(1, len(rows["locations"])))]
    found = {}
    for _, profiles in resources:
        for kind, samples in profiles.items():
            for stack, _, value, link in samples:
                if link:
                    ids = tuple(one(message(link), field, b"").hex() for field in (1, 2))
                    found.setdefault(ids, {}).setdefault(kind, collections.Counter())[names[stack[0]]] += value
    return found


def costs(path):
    return costs_of(*load(path))


def costs_of(rows, resources):
    """{"self_ns" and so on: {function: ns, or calls}} of all processes."""
    names = [None, *(function(rows, location) for location in range(1, len(rows["locations"])))]
    found = {}
    for _, profiles in resources:
        assert profiles.keys() in (COSTS.keys(), {"wall", "calls"}), profiles.keys()
        for kind, samples in profiles.items():
            for stack, _, value, _ in samples:
                found.setdefault(COSTS[kind], collections.Counter())[names[stack[0]]] += value
            found.setdefault(COSTS[kind], collections.Counter())
    return found


def losses_of(resources):
    """Of the first resource: they are the recording's."""
    about = resources[0][0][1] if resources else {}
    return {key.removeprefix("ocular.losses."): n for key, n in about.items() if key.startswith("ocular.losses.")}
