"""profiled.py OUT PROGRAM C: runs PROGRAM as __main__ under cProfile and writes what it counted to OUT; C: 1: C
functions, too; 0: only those in Python, so that the caller of what C calls is the Python function that called it.

The stats are those of cProfile.Profile.dump_stats, except for code objects that share file, line and name
(lambdas of one line): there each row would replace the previous one, here they are added up.
"""

import builtins
import cProfile
import marshal
import sys
import types


def label(code):
    if isinstance(code, str):
        return "~", 0, code
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


def main(out, program, c):
    sys.argv = [program]
    with open(program, encoding="utf-8") as file:
        code = compile(file.read(), program, "exec")
    # Not by exec(): the program may call that, too.
    run = types.FunctionType(code, {"__name__": "__main__", "__file__": program, "__builtins__": builtins})
    profile = cProfile.Profile(builtins=c == "1")
    profile.enable()
    try:
        run()
    finally:
        profile.disable()
        with open(out, "wb") as file:
            marshal.dump(summed(profile.getstats()), file)


main(*sys.argv[1:])
