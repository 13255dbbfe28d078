#!/usr/bin/env python3
"""A program behaves the same under `ocular record` as under plain Python.

Each case runs twice in the same folder, plainly and recorded; standard output, standard error, and the exit
status or signal must be equal, byte for byte. Hexadecimal addresses in output are blanked.
"""

import difflib
import os
import re

import recording

ARGUMENTS = "import sys; print(sys.argv, sys.orig_argv[1:], sys.executable, sys.prefix)"
MAIN = """
import sys, __main__
for name, value in sorted(vars(__main__).items()):
    print(name, type(value).__name__ if name in ("__builtins__", "__loader__", "sys", "__main__") else value)
print(sys.modules["__main__"] is __main__, __main__.__dict__ is globals())
"""
INTERPRETER = """
import sys
print(sys.flags, sys.warnoptions, sys._xoptions, sys.dont_write_bytecode)
print(sys.path, sys.path_hooks, sys.meta_path, sep="\\n")
print(sys.gettrace(), sys.getprofile(), sys.getrecursionlimit(), sys.getswitchinterval())
print(sys.excepthook, sys.displayhook, sys.unraisablehook)
print([sys.monitoring.get_tool(i) for i in (0, 1, 2, 5)], hasattr(sys, "ps1"), sys.getdefaultencoding())
import threading, signal, gc, os
print(threading.active_count(), [signal.getsignal(s) for s in sorted(signal.valid_signals())])
print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), gc.get_threshold(), gc.isenabled(),
      [c for c in gc.callbacks if getattr(c, "__module__", "") != "ocular._core"], os.getcwd())
"""
# Tracing needs its package, and atexit (built in) for an orderly stop; nothing else is imported before the program.
MODULES = "import sys; print(sorted(m for m in sys.modules if m.split('.')[0] not in ('ocular', 'atexit')))"
DESCRIPTORS = "import os; print(sorted(os.listdir('/proc/self/fd')), os.open('/dev/null', 0))"
DEPTH = """
def down(n):
    try:
        return down(n + 1)
    except RecursionError:
        return n
print(down(0))
"""
TRACEBACK = """
import traceback
def inner(n):
    if n: return inner(n - 1)
    return {}["missing"]
def outer():
    try:
        inner(3)
    except KeyError as error:
        raise ValueError("outer") from error
try:
    outer()
except ValueError:
    traceback.print_exc()
    traceback.print_stack()
outer()
"""
WARNINGS = """
import warnings
warnings.warn("by hand")
"\\d" if eval("'\\\\d'") else None
open(__file__)
def old(): warnings.warn("old", DeprecationWarning, stacklevel=2)
old()
"""
INPUT = "name = input('name? '); import sys; print('hello', name); print(sys.stdin.read().upper())"
THREAD_ERROR = """
import threading
def work(): 1 / 0
t = threading.Thread(target=work, name="worker"); t.start(); t.join()
print(threading.active_count())
"""
UNRAISABLE = """
class Bad:
    def __del__(self): raise RuntimeError("in del")
Bad()
def gen():
    try: yield
    finally: raise KeyError("in finally")
g = gen(); next(g); del g
"""
ATEXIT = """
import atexit, sys
@atexit.register
def first(): print("registered first, runs last")
@atexit.register
def fails(): raise KeyError("in atexit")
atexit.register(print, "count", atexit._ncallbacks() > 0)
sys.exit("a message")
"""
STATE = """
import sys, inspect
def f(): return sys._getframe().f_back.f_code.co_name, sys.exc_info(), len(inspect.stack())
print(f(), inspect.getsource(f))
try: raise KeyError(1)
except KeyError: print(f()[1][0], sys.exception())
import dis; dis.dis(f)
"""
COVERAGE = """
import sys
seen = []
def trace(frame, event, arg):
    seen.append((event, frame.f_lineno)); return trace
def work():
    for i in range(3):
        pass
sys.settrace(trace); work(); sys.settrace(None); print(seen)
import cProfile, pstats
profile = cProfile.Profile(); profile.runcall(work); print(sorted(k[2] for k in pstats.Stats(profile).stats))
for tool in (0, 1, 2, 5):
    sys.monitoring.use_tool_id(tool, "mine"); sys.monitoring.free_tool_id(tool)
"""
DAEMON = """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("leaving a daemon behind")
"""


def killed(name):
    return ("import os, resource, signal; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); "
            f"print('x', flush=True); os.kill(os.getpid(), signal.{name})")


FILES = {
    "arguments.py": ARGUMENTS, "main.py": MAIN, "interpreter.py": INTERPRETER, "traceback_.py": TRACEBACK,
    "warnings_.py": WARNINGS, "input.py": INPUT, "syntax.py": "def f(:\n  pass\n", "latin.py": "x = '\udce9'\n",
    "thread_error.py": THREAD_ERROR, "unraisable.py": UNRAISABLE, "atexit_.py": ATEXIT, "state.py": STATE,
    "coverage_.py": COVERAGE, "daemon.py": DAEMON, "with space.py": ARGUMENTS, "depth.py": DEPTH,
    "package/__init__.py": "", "package/__main__.py": MAIN + ARGUMENTS, "package/sub.py": MAIN,
    "tested.py": "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(1, 1)\n",
    "site/sitecustomize.py": "import sys\nprint('customized', __file__, 'sitecustomize' in sys.modules)\n",
    "broken/sitecustomize.py": "1 / 0\n",
}

# name: (arguments of python, input, more environment)
CASES = {
    "sys.argv": (["arguments.py", "a b", "-o", "--", "-m", "--mode", ""], "", {}),
    "a path with a space": (["with space.py"], "", {}),
    "an absolute path": ([os.path.join("{folder}", "arguments.py")], "", {}),
    "__main__ of a script": (["main.py"], "", {}),
    "__main__ of -m package": (["-m", "package", "-x", "y"], "", {}),
    "__main__ of -m module": (["-m", "package.sub"], "", {}),
    "__main__ of -c": (["-c", MAIN + ARGUMENTS, "-c", "z"], "", {}),
    "__main__ of standard input": (["-", "arg"], MAIN + ARGUMENTS, {}),
    "a folder": (["package", "arg"], "", {}),
    "-m unittest": (["-m", "unittest", "-q", "tested"], "", {}),
    "-m without such a module": (["-m", "no_such_module"], "", {}),
    "no such file": (["no_such_file.py"], "", {}),
    "the interpreter's state": (["interpreter.py"], "", {}),
    "its state with options": (["interpreter.py"], "", {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "error::UserWarning",
                                                       "PYTHONOPTIMIZE": "2", "PYTHONHASHSEED": "0"}),
    "the user's PYTHONPATH": (["interpreter.py"], "", {"PYTHONPATH": "site:elsewhere"}),
    "the user's sitecustomize": (["main.py"], "", {"PYTHONPATH": "site"}),
    "a broken sitecustomize": (["arguments.py"], "", {"PYTHONPATH": "broken"}),
    "PYTHONSAFEPATH": (["interpreter.py"], "", {"PYTHONSAFEPATH": "1"}),
    "modules": (["-c", MODULES], "", {}),
    "descriptors": (["-c", DESCRIPTORS], "", {}),
    "depth of recursion": (["depth.py"], "", {}),
    "tracebacks": (["traceback_.py"], "", {}),
    "a syntax error": (["syntax.py"], "", {}),
    "a wrong encoding": (["latin.py"], "", {}),
    "warnings": (["warnings_.py"], "", {}),
    "warnings in development mode": (["warnings_.py"], "", {"PYTHONDEVMODE": "1"}),
    "input": (["input.py"], "Ada\nand the rest\n", {}),
    "a thread's exception": (["thread_error.py"], "", {}),
    "unraisable exceptions": (["unraisable.py"], "", {}),
    "atexit": (["atexit_.py"], "", {}),
    "frames and source": (["state.py"], "", {}),
    "settrace, cProfile, free tools": (["coverage_.py"], "", {}),
    "a daemon thread at the end": (["daemon.py"], "", {}),
    "exit 3": (["-c", "raise SystemExit(3)"], "", {}),
    "exit 255": (["-c", "import sys; sys.exit(-1)"], "", {}),
    "os._exit": (["-c", "import os; os._exit(4)"], "", {}),
    "uncaught": (["-c", "def f(): 1 / 0\nf()"], "", {}),
    "KeyboardInterrupt": (["-c", "raise KeyboardInterrupt"], "", {}),
    "stdout closed": (["-c", "import os; os.close(1); print('x' * 100000)"], "", {}),
    **{name: (["-c", killed(name)], "", {})
       for name in ("SIGINT", "SIGTERM", "SIGKILL", "SIGABRT", "SIGSEGV", "SIGUSR1")},
}

ADDRESS = re.compile(r"0x[0-9a-f]+")
DURATION = re.compile(r"\d+\.\d+s")


def outcome(command, given, folder, environment):
    done = recording.run(command, input=given.encode(), stdin=None, cwd=folder, env=environment)
    said = {"stdout": done.stdout, "stderr": done.stderr, "status": str(done.returncode)}
    return {key: ADDRESS.sub("0x", DURATION.sub("s", text)).split("\n") for key, text in said.items()}


def write_files(folder):
    for name, text in FILES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)


def check(python, arguments, given, more, folder):
    write_files(folder)
    arguments = [argument.replace("{folder}", folder) for argument in arguments]
    environment = recording.plain_environment(**more)
    data = os.path.join(folder, "recording.data")
    plain = outcome([python, *arguments], given, folder, environment)
    wrapped = [recording.WRAPPER, "record", "-q", "-o", data, "--python", python, "--", *arguments]
    traced = outcome(wrapped, given, folder, environment)
    if not os.path.exists(os.path.join(data, "perf.data")):
        return ["nothing was recorded", *traced["stderr"]]
    return [f"{key}: {line}" for key in plain
            for line in difflib.unified_diff(plain[key], traced[key], "plain", "traced", lineterm="", n=1)]


def cases(python, _):
    version = recording.version(python)
    for name, case in CASES.items():
        yield f"{version} {name}", check, python, *case


if __name__ == "__main__":
    recording.run_cases(cases)
