"""profiled.py OUT PROGRAM: runs PROGRAM as __main__ under cProfile and writes what it counted to OUT.

The stats are those of cProfile.Profile.dump_stats, except for code objects that share file, line and name
(lambdas of one line): there each row would replace the previous one, here they are added up.
"""

import cProfile
import marshal
import sys


def label(code):
    return code.co_filename, code.co_firstlineno, code.co_name


def add(rows, key, row):
    rows[key] = [a + b for a, b in zip(rows[key], row)] if key in rows else list(row)


def counted(entry):
    return entry.callcount - entry.reccallcount, entry.callcount, entry.inlinetime, entry.totaltime


def summed(entries):
    functions, callers = {}, {}
    for entry in entries:
        add(functions, label(entry.code), counted(entry))
        for called in entry.calls or ():
            primitive, calls, own, total = counted(called)
            add(callers.setdefault(label(called.code), {}), label(entry.code), (calls, primitive, own, total))
    return {key: (*row, {k: tuple(v) for k, v in callers.get(key, {}).items()}) for key, row in functions.items()}


def main(out, program):
    sys.argv = [program]
    with open(program, encoding="utf-8") as file:
        code = compile(file.read(), program, "exec")
    # Calls of C functions are left out: Ocular has no rows for them, so their callers are also those of their callees.
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    try:
        exec(code, {"__name__": "__main__", "__file__": program})
    finally:
        profile.disable()
        with open(out, "wb") as file:
            marshal.dump(summed(profile.getstats()), file)


main(*sys.argv[1:])
