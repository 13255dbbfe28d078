#!/usr/bin/env python3
"""docs/python.md is what scripts/python-reference makes, with every Python; it has every public name and argument."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("OCULAR_BUILD") or os.path.join(ROOT, "build")
sys.path.insert(0, os.path.join(ROOT, "tests/doors"))
from tap import Plan  # noqa: E402

with open(os.path.join(ROOT, "docs/python.md")) as text:
    PAGE = text.read()

# Asked of the package itself, not of its sources.
ASK = """
import inspect, ocular
for name in ocular.__all__:
    print(name, *inspect.signature(getattr(ocular, name)).parameters if name != "OcularWarning" else ())
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    return done.stdout or done.stderr


def differs(python):
    made = run(python, os.path.join(ROOT, "scripts/python-reference"), BUILD)
    return [] if made == PAGE else ["not current: run scripts/python-reference build >docs/python.md"] + [
        line for line in made.splitlines() if line not in PAGE][:10]


def missing(python):
    sections = dict(re.findall(r"## (\w+)\n\n```python\n(.*?)```", PAGE, re.S))
    rows = [line.split() for line in run(python, "-c", ASK).splitlines()]
    wrong = ["no section " + name for name, *_ in rows if name not in sections]
    wrong += ["%s: no %s" % (name, each) for name, *parameters in rows for each in parameters
              if not re.search(r"\b%s\b" % each, sections.get(name, ""))]
    return wrong + ["section %s of nothing" % name for name in sections if name not in [row[0] for row in rows]]


def main():
    pythons = run(os.path.join(ROOT, "scripts/find-pythons")).split()
    with Plan() as plan:
        for python in pythons:
            plan.case("docs/python.md is current, " + python, differs, python)
        plan.case("it has what the package has", missing, pythons[-1])


if __name__ == "__main__":
    main()
