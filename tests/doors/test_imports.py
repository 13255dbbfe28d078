#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tree of imports is that of CPython's own -X importtime in the same run: each module, below the one that imports it, no
longer than CPython says. What importtime does not see, importlib.import_module(), is what sys.modules has more afterwards."""

import collections
import json
import os
import re

import recording

PACKAGE = {
    "shop/__init__.py": "from . import stock\n",
    "shop/stock.py": "import decimal, fractions\nfrom .prices import price\n",
    "shop/prices.py": "import statistics\ntry:\n    import not_there\nexcept ImportError:\n    import colorsys\ndef price(): pass\n",
    "broken.py": "import wave\n1 / 0\n",
    "begins.py": "",
}
PROGRAM = """
import sys, threading
import begins
import asyncio
import email.message, http.server
import sqlite3, ctypes
from xml.dom import minidom
import shop
for name in "not_there_either", "shop.nothing", "broken", "broken":
    try:
        __import__(name)
    except (ImportError, ZeroDivisionError):
        pass
def late():
    import tomllib
    import tomllib
late()
thread = threading.Thread(target=lambda: __import__("plistlib"))
thread.start()
thread.join()
"""
BY_NAME = """
import importlib, json, sys
import begins
def modules():
    "Without those that another module, no package, puts there itself, as os does, and 3.15's math."
    return {name for name in sys.modules if "." not in name or hasattr(sys.modules[name.rpartition(".")[0]], "__path__")}
before = modules()
importlib.import_module("http.cookiejar")
importlib.import_module("http.cookiejar")
json.dump(sorted(modules() - before), sys.stdout)
"""
LINE = re.compile(r"import time: +(\d+) \| +(\d+) \| ( *)(\S+)$", re.M)


def recorded(python, folder, source, *words, mode="calls"):
    """What the program wrote, and the summary's imports."""
    for name, text in {**PACKAGE, "app.py": source}.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    record = os.path.join(folder, "rec")
    done = recording.record(record, [python, *words, os.path.join(folder, "app.py")], recording.traced_environment(mode))
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return done, recording.summary(record)["imports"]


def witnessed(text):
    """[path, ns] of importtime's lines, parents first, those after the module `begins`."""
    tops, waiting = [], collections.defaultdict(list)
    for _, total, blanks, name in LINE.findall(text):
        depth = len(blanks) // 2
        node = (name, int(total) * 1000, waiting.pop(depth + 1, []))
        (waiting[depth] if depth else tops).append(node)
    return flattened(tops[[name for name, _, _ in tops].index("begins") + 1:], ())


def flattened(nodes, above):
    for name, ns, children in nodes:
        yield (*above, name), ns
        yield from flattened(children, (*above, name))


def told(imports):
    """[path, row] of the summary's, those after `begins`."""
    found, path = [], []
    for row in imports:
        path[row["depth"]:] = [row["name"]]
        found.append((tuple(path), row))
    return found[[path for path, _ in found].index(("begins",)) + 1:]


def test_tree(python, mode, folder):
    done, imports = recorded(python, folder, PROGRAM, "-X", "importtime", mode=mode)
    truth = list(witnessed(done.stderr))
    found = told(imports)
    wanted = collections.Counter(path for path, _ in truth)
    problems = [f"{path}: told {row['count']} times, importtime {wanted[path]}" for path, row in found if row["count"] != wanted[path]]
    problems += [f"{path}: not told" for path in wanted.keys() - {path for path, _ in found}]
    longest = collections.Counter()
    for path, ns in truth:
        longest[path] += ns + 1000  # importtime cuts off what is less than a microsecond
    problems += [f"{path}: {row['total_ns']} ns, importtime {longest[path]}" for path, row in found if row["total_ns"] > longest[path]]
    sums = sum(row["total_ns"] for path, row in found if len(path) == 1)
    if sum(row["self_ns"] for _, row in found) != sums or 2 * sums < sum(ns for path, ns in truth if len(path) == 1):
        problems.append(f"{sums} ns in all")
    failed = {path[-1]: row["failed"] for path, row in found if row["failed"]}
    if failed.pop("broken", 0) != 2 or {"not_there", "not_there_either", "shop.nothing"} - failed.keys():
        problems.append(f"failed: {failed}")
    return problems if len(wanted) > 80 else [*problems, f"only {len(wanted)} modules"]


def test_what_ran(python, folder):
    """The file is that of the body; what took most is in it, where a body is all there is."""
    busy = "def busy():\n    t = 0\n    for i in range(500000): t += i\nbusy()\n"
    with open(os.path.join(folder, "slow.py"), "w", encoding="utf-8") as file:
        file.write(busy)
    _, imports = recorded(python, folder, "import begins\nimport slow\n")
    (_, row), = told(imports)[:1]
    most = row["most"]
    right = row["file"] == os.path.join(folder, "slow.py") == most["file"] and 2 * most["ns"] > row["self_ns"]
    return [] if right and most["qualname"] == "busy" else [json.dumps(row)]


def test_by_name(python, folder):
    done, imports = recorded(python, folder, BY_NAME)
    found = [row["name"] for _, row in told(imports)]
    names = json.loads(done.stdout)
    missing = set(names) - set(found)
    # What is built in has no file: its name may be in sys.modules before it is asked for.
    return [f"not told: {missing}"] * bool(missing) + [f"{found}"] * (found[0] != "http.cookiejar" or found.count("http.cookiejar") > 1)


def cases(python, _):
    version = recording.version(python) + "t" * recording.is_free(python)
    for mode in ("calls", "adaptive", "full"):
        yield f"{version} the tree, mode {mode}", test_tree, python, mode
    yield f"{version} what ran", test_what_ran, python
    yield f"{version} importlib.import_module", test_by_name, python


if __name__ == "__main__":
    recording.run_cases(cases)
