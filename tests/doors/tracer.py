"""The independent witness: writes every sys.monitoring event, in plain Python.

It runs in the same process as Ocular, as a tool of its own, so that both see the same run. It knows
nothing of Ocular but the meaning of the modes in docs/, restated here.

Each event becomes one line of truth-PID.txt in $TRUTH_DIR, written at once with one write(2) to an O_APPEND
file, so that os._exit, SIGKILL and fork lose nothing. The columns are those of Ocular's events text:

    time ns  pid  tid  event  file  qualname  first line  offset (LINE: line)  destination  [C function that is called  [object]]

The last one is a number for each generator, coroutine and asynchronous generator (suspended.py).

`begin` is called, and so seen by every tool, when the witness has begun in an interpreter, `end` before it
ends: compare.py aligns on them.

What it imports, Ocular traces, and readers read: in mode full, `dis` and `threading` had more events than most programs.
"""

import _thread
import atexit
import fcntl
import os
import sys
import time
import types

from escapes import ESCAPES
from suspended import Suspended

TOOL = 1
CALLS = ("PY_START", "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD", "PY_UNWIND")
MODES = {
    "calls": CALLS,
    "adaptive": CALLS + ("JUMP",),  # backward ones
    "lines": CALLS + ("LINE",),
    "precise": CALLS + ("INSTRUCTION",),
    "opcodes": CALLS + ("INSTRUCTION", "RAISE", "RERAISE", "EXCEPTION_HANDLED"),
    "full": CALLS + (
        "JUMP", "LINE", "INSTRUCTION", "CALL", "C_RETURN", "C_RAISE", "STOP_ITERATION", "RAISE", "RERAISE",
        "EXCEPTION_HANDLED", "BRANCH", "BRANCH_LEFT", "BRANCH_RIGHT"),
}
WITH_DESTINATION = ("JUMP", "BRANCH", "BRANCH_LEFT", "BRANCH_RIGHT")


def events_of(mode):
    """The mode's event names that this interpreter has; BRANCH is one event before 3.14, two since."""
    known = [name for name in MODES[mode] if hasattr(sys.monitoring.events, name)]
    return [name for name in known if name != "BRANCH" or "BRANCH_LEFT" not in known]


class Log:
    """truth-PID.txt of the process that writes: another file after a fork."""

    def __init__(self, folder):
        self.folder = folder
        self.pid = None

    def write(self, text):
        pid = os.getpid()
        if pid != self.pid:
            self.open(pid)
        os.write(self.fd, f"{time.monotonic_ns()}\t{pid}\t{_thread.get_native_id()}\t{text}\n"
                 .encode("utf-8", "backslashreplace"))

    def open(self, pid):
        """A number far from the descriptors that a program relies on."""
        path = os.path.join(self.folder, f"truth-{pid}.txt")
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 300)
        os.close(fd)
        self.pid = pid


class Texts(dict):
    """name: what UTF-8 cannot hold becomes backslash escapes first, then the column's own. Kept: each event has two."""

    def __missing__(self, name):
        text = self[name] = name.encode("utf-8", "backslashreplace").decode().translate(ESCAPES)
        return text


def inherited(kind, name):
    """[(base, attribute)] of a type and its bases that have an attribute of that name, as it is."""
    bases = type.__dict__["__mro__"].__get__(kind)
    return [(base, there[name]) for base in bases if name in (there := type.__dict__["__dict__"].__get__(base))]


def full_name(kind, *more):
    module, names = type.__getattribute__(kind, "__module__"), [type.__getattribute__(kind, "__qualname__"), *more]
    return ".".join(names if module == "builtins" else [module, *names])


def method_name(function):
    """Of a bound C function: the type that defines it, not the one that it is bound to, which may have another one."""
    name, bound = function.__name__, function.__self__
    for base, there in inherited(type(bound), name):
        if isinstance(there, types.MethodDescriptorType) and there.__get__(bound, type(bound)) == function:
            return full_name(base, name)
    for base, there in inherited(bound, name) if isinstance(bound, type) else ():
        if isinstance(there, types.ClassMethodDescriptorType) and there.__get__(None, bound) == function:
            return full_name(base, name)
    module = function.__module__
    return name if module in (None, "builtins") else module + "." + name


def number_of_call_function_ex():
    """From bytecode, its last instruction but RETURN_VALUE: to import opcode took CPython 3.12 a third of all events of a start."""
    return [number for number in (lambda f, a: f(*a)).__code__.co_code[::2] if number][-2]  # 0: CACHE


def callee_of(code, where, callable, call_function_ex):
    """What the reports call a C function; None: a function in Python, or CPython will not say when it ends."""
    if type(callable) is types.MethodType:
        if code.co_code[where] == call_function_ex:
            return None
        callable = callable.__func__
    if type(callable) is types.FunctionType:
        return None
    if isinstance(callable, type):
        return full_name(callable)
    if isinstance(callable, types.BuiltinFunctionType):
        return method_name(callable)
    if isinstance(callable, (types.MethodDescriptorType, types.ClassMethodDescriptorType, types.WrapperDescriptorType,
                             types.MethodWrapperType)):
        return full_name(callable.__objclass__, callable.__name__)
    if type(inherited(type(callable), "__call__")[0][1]) is types.FunctionType:
        return None
    return full_name(type(callable), "__call__")


def callback_of(event, mode, log, suspended):
    has_destination, texts = event in WITH_DESTINATION, Texts()
    backward_only = mode == "adaptive"
    call_function_ex = number_of_call_function_ex() if event == "CALL" else None

    def callee(code, where, rest):
        name = callee_of(code, where, rest[0], call_function_ex) if event == "CALL" else None
        return "\t" + texts[name] if name else ""

    def number(code, frame):
        found = suspended.number(event, code, frame) if event in CALLS else None
        return f"\t\t{found}" if found else ""

    def callback(code, where, *rest):
        destination = rest[0] if has_destination else ""
        if has_destination and backward_only and destination > where:
            return sys.monitoring.DISABLE
        log.write(f"{event}\t{texts[code.co_filename]}\t{texts[code.co_qualname]}\t{code.co_firstlineno}"
                  f"\t{where}\t{destination}{callee(code, where, rest)}{number(code, sys._getframe(1))}")

    return callback


def begin():
    """Visible to every tool: from here on the streams are compared."""


def end():
    """Visible to every tool: up to here the streams are compared."""


def stop():
    end()
    sys.monitoring.set_events(TOOL, 0)


def start(mode, folder, preload):
    """`preload`: modules to import first; what they leave to atexit must run before `stop`."""
    atexit.register(stop)
    for name in preload:
        __import__(name)
    log, suspended = Log(folder), Suspended()
    sys.monitoring.use_tool_id(TOOL, "truth")
    mask = 0
    for name in events_of(mode):
        number = getattr(sys.monitoring.events, name)
        sys.monitoring.register_callback(TOOL, number, callback_of(name, mode, log, suspended))
        mask |= number
    sys.monitoring.set_events(TOOL, mask)
    # CPython forgets the first tool that asked for INSTRUCTION in code that it had instrumented for it alone
    # when a second tool asks (seen in 3.12.1, 3.13.0); this makes it instrument all code for both.
    sys.monitoring.restart_events()
    begin()
