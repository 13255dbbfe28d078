"""Runs each program in a forked child, so that it may end as it likes: in_children.py PROGRAM..."""

import os
import pkgutil  # noqa: F401  runpy would, in each child, and typing with it: ten times what most of the programs run
import runpy
import sys


def run(path):
    pid = os.fork()
    if not pid:
        sys.argv = [path]
        sys.path[0] = os.path.dirname(path)
        runpy.run_path(path, run_name="__main__")
        sys.exit()
    return os.waitpid(pid, 0)[1]


sys.stderr = open(os.devnull, "w", encoding="utf-8")
for name in sys.argv[1:]:
    print(name, run(name), flush=True)
