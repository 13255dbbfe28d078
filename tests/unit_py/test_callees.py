# SPDX-License-Identifier: MIT
"""Calls of C functions (--c-calls, mode full): each kind of callable by its definition, under the right name, from its
CALL to its end."""

import collections
import json
import os
import subprocess
import sys
import tempfile

import rec

CALL = collections.namedtuple("CALL", "caller offset callee")


def rows_of(folder):
    """The rows of the events text, by the second decoder; without the title."""
    done = subprocess.run([os.path.join(rec.BUILD, "bin", "ocular-pt"), "events=-", folder + "/perf.data"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    rec.equal(done.returncode, 0, done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()[1:]]


def calls_of(folder, caller):
    """[CALL] of that Python function; callee None: Python's."""
    return [CALL(r[5], int(r[7]), r[9] or None) for r in rows_of(folder) if r[3] == "CALL" and r[5] == caller]


def summary_of(folder):
    path = os.path.join(folder, "summary.json")
    subprocess.run([os.path.join(rec.BUILD, "bin", "ocular-pt"), "summary=" + path, folder + "/perf.data"], check=True,
                   capture_output=True, stdin=subprocess.DEVNULL)
    with open(path) as f:
        return json.load(f)


def c_calls(source, mode="calls", **how):
    return rec.recording(source, mode=mode, OCULAR_ALSO="c_calls", **how)


def whole(r):
    """The program ended well, and each CALL of a C function has its end."""
    rec.equal(r.code, 0, r.err)
    losses = summary_of(r.folder)["losses"]
    rec.equal({k: n for k, n in losses.items() if n}, {})


# What is called, module and qualname, and the name in the table; {}: C functions are not called.
KINDS = """
import ctypes, functools, itertools, operator, types, zlib
class Point:
    def __init__(self, x=0): self.x = x
    def __call__(self): pass
    def method(self): pass
class Slots(list):
    def append(self, x): super().append(x)
class Meta(type):
    def __call__(cls, *args): return super().__call__(*args)
class WithMeta(metaclass=Meta): pass
def python(*args, **named): pass
instance_method = ctypes.pythonapi.PyInstanceMethod_New
instance_method.restype = ctypes.py_object
instance_method.argtypes = [ctypes.py_object]
class Native: # what pybind11 does
    length = instance_method(len)
    def __len__(self): return 7
point, partial, getter, native = Point(), functools.partial(python), operator.itemgetter(0), Native()
bound, bound_c = point.method, types.MethodType(len, [])
@functools.lru_cache
def cached(): pass
items, text, generator = [3, 1], "a,b", (x for x in "ab")
CASES = [
    (lambda: len(text), "builtins", "len", "<built-in method builtins.len>"),
    (lambda: zlib.crc32(b""), "zlib", "crc32", "<built-in method zlib.crc32>"),
    (lambda: items.append(2), "builtins", "list.append", "<method 'append' of 'list' objects>"),
    (lambda: list.append(items, 2), "builtins", "list.append", "<method 'append' of 'list' objects>"),
    (lambda: text.split(sep=","), "builtins", "str.split", "<method 'split' of 'str' objects>"),
    (lambda: dict.fromkeys("ab"), "builtins", "dict.fromkeys", "<built-in method fromkeys>"),
    (lambda: items.__len__(), "builtins", "list.__len__", repr(list.__len__)),
    (lambda: object.__init__(point), "builtins", "object.__init__", repr(object.__init__)),
    (lambda: int("3"), "builtins", "int", "<class 'int'>"),
    (lambda: Point(1), "__main__", "Point", "<class '__main__.Point'>"),
    (lambda: itertools.count(), "itertools", "count", "<class 'itertools.count'>"),
    (lambda: partial(1), "functools", "partial.__call__", "<slot wrapper '__call__' of 'functools.partial' objects>"),
    (lambda: getter(items), "operator", "itemgetter.__call__", "<slot wrapper '__call__' of 'operator.itemgetter' objects>"),
    (lambda: cached(), "functools", "_lru_cache_wrapper.__call__",
     "<slot wrapper '__call__' of 'functools._lru_cache_wrapper' objects>"),
    (lambda: next(generator), "builtins", "next", "<built-in method builtins.next>"),
    (lambda: generator.send(None), "builtins", "generator.send", "<method 'send' of 'generator' objects>"),
    (lambda: native.length(), "builtins", "len", "<built-in method builtins.len>"),
    (lambda: Native.length(native), "builtins", "len", "<built-in method builtins.len>"),
    (lambda: bound_c(), "builtins", "len", "<built-in method builtins.len>"),
    (lambda: len(*[text]), "builtins", "len", "<built-in method builtins.len>"),
    (lambda: sorted(*[items], key=abs), "builtins", "sorted", "<built-in method builtins.sorted>"),
    (lambda: bound.__call__(), "builtins", "method.__call__", "<slot wrapper '__call__' of 'method' objects>"),
    (lambda: bound_c(*[]),),
    (lambda: bound(),),
    (lambda: bound(*[]),),
    (lambda: point(),),
    (lambda: python(1, *[2], a=3),),
    (lambda: python(),),
]
def run():
    for n, case in enumerate(CASES):
        case[0].__code__ = case[0].__code__.replace(co_name="case%d" % n, co_qualname="case%d" % n)
    for case in CASES:
        case[0]()
"""


def cases():
    space = {"__name__": "__main__"}
    exec(KINDS, space)
    return [case[1:] for case in space["CASES"]]


def test_each_kind_by_its_name():
    wanted = cases()
    for mode in "calls", "full":
        with c_calls(KINDS + "run()\n", mode=mode) as r:
            whole(r)
            lines = {}
            for line in r.lines("c_function"):
                module = line.get("module", "builtins")  # __new__() is that of all types
                name = ("" if module == "builtins" else module + ".") + line["qualname"]
                lines.setdefault(name, []).append((module, line["qualname"], line["name"]))
            for n, case in enumerate(wanted):
                found = [c.callee for c in calls_of(r.folder, "case%d" % n) if c.callee]
                rec.equal([row for name in found for row in set(lines[name])], [case] if case else [], (mode, n))


def test_ends():
    """Each CALL of a C function is followed by its C_RETURN or C_RAISE, and by whatever it called before that."""
    with c_calls("""
def key(x): return -x
def f():
    sorted([1, 2], key=key)
    try:
        int("x")
    except ValueError:
        pass
f()
""") as r:
        whole(r)
        names = [row[3] for row in rows_of(r.folder) if row[5] in ("f", "key")]
        rec.equal(names, ["PY_START", "CALL", "PY_START", "PY_RETURN", "PY_START", "PY_RETURN", "C_RETURN", "CALL", "C_RAISE",
                          "PY_RETURN"])


def test_python_functions_are_called_without_a_word():
    source = "def g(): pass\ndef f():\n    g()\n    len('')\n    g()\nf()\n"
    with c_calls(source) as r:
        rec.equal([c.callee for c in calls_of(r.folder, "f")], ["len"])
    with rec.recording(source, mode="full") as r:
        rec.equal([c.callee for c in calls_of(r.folder, "f")], [None, "len", None])


def test_one_definition_is_one_row():
    """However many objects are made of it."""
    with c_calls("""
class L(list): pass
def f():
    for kind in list, L:
        for n in range(50):
            one = kind()
            call = one.append
            call(1)
            one.append(2)
            kind.append(one, 3)
f()
""") as r:
        whole(r)
        rec.equal([line["qualname"] for line in r.lines("c_function")].count("list.append"), 1)
        rec.equal([c.callee for c in calls_of(r.folder, "f")].count("list.append"), 300)


def test_types_that_die():
    """Where one was another comes to lie; of some the name was freed, too. Each call is of the type that it is of."""
    with c_calls("""
import gc
addresses = []
def f():
    for n in range(300):
        kind = type("T%d" % n, (), {})
        kind()
        addresses.append(id(kind))
        del kind
        gc.collect()
f()
assert len(set(addresses)) < 300 or not gc.isenabled(), "no address came twice: this test tests nothing"
""") as r:
        whole(r)
        made = [c.callee for c in calls_of(r.folder, "f") if c.callee.startswith("__main__.")]
        rec.equal(made, ["__main__.T%d" % n for n in range(300)])


def test_no_reference_is_kept():
    with c_calls("""
import gc, sys, weakref
class C: pass
def f():
    before = sys.getrefcount(C), sys.getrefcount(C.__init__)
    for n in range(9):
        C()
    assert (sys.getrefcount(C), sys.getrefcount(C.__init__)) == before
    return weakref.ref(C)
ref = f()
del C
gc.collect()
assert ref() is None
""") as r:
        whole(r)


def test_what_runs_for_a_name_is_not_the_programs():
    with c_calls("""
def never(*args): raise SystemExit("the program's own code ran")
class Meta(type):
    __getattribute__ = __repr__ = never
class L(list, metaclass=Meta): pass
class Odd:
    __repr__ = never
class M(list):
    append = Odd()
one, two = type.__call__(L), M()
def f():
    one.append(1)
    list.append(two, 1)
f()
""") as r:
        whole(r)
        rec.equal([c.callee for c in calls_of(r.folder, "f")], ["list.append"] * 2)


# Continues the code table of its own process, which begins with that id.
CONTINUE = """
import json, os, sys
first, program, os.environ["PYTHONPATH"] = sys.argv[1:]
line = {"kind": "header", "ocular": 1, "markers": 2, "pid": os.getpid(), "first_id": int(first)}
with open(os.path.join(os.environ["OCULAR_DIR"], "codes-%d.jsonl" % os.getpid()), "w") as f:
    print(json.dumps(line, separators=(",", ":")), file=f)
os.execv(sys.executable, [sys.executable, program])
"""


def large_recording(folder, first):
    """Ids begin with `first`: calls at small and large offsets of f() -> those of f() and of sum()."""
    program, data = (os.path.join(folder, name) for name in ("program.py", "rec%d" % first))
    with open(program, "w") as f:
        f.write("def f():\n    for n in 'ab':\n        sum([])\n    x = [%s]\n    sum([])\nf()\n" % ", ".join("len('')" for _ in range(6000)))
    env = dict(os.environ, OCULAR_MODE="calls", OCULAR_ALSO="c_calls")
    done = subprocess.run([rec.RECORDER, "-q", "-o", data, "--", sys.executable, "-c", CONTINUE, str(first), program, rec.HOOK],
                          env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    rec.equal(done.returncode, 0, done.stderr)
    calls = calls_of(data, "f")
    rec.equal([c.callee for c in calls], ["sum", "sum"] + ["len"] * 6000 + ["sum"], first)
    offsets = [c.offset for c in calls[1:]]
    rec.equal(offsets, sorted(set(offsets)))
    assert offsets[-1] > 2 * 16383, offsets[-1]
    losses = summary_of(data)["losses"]
    rec.equal({k: n for k, n in losses.items() if n}, {}, first)
    r = rec.Recording(data, done)
    ids = [x["id"] for x in r.lines("c_function") + r.lines("code")]
    assert min(ids) >= first and len(set(ids)) == len(ids), (first, min(ids))
    return [x["id"] for x in r.lines("code") + r.lines("c_function") if x["qualname"] in ("f", "sum")]


def test_ids_and_offsets_that_do_not_fit_into_one_word():
    """Of the caller, of what it calls, of both."""
    last = 0x1ffff
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as folder:
        caller, callee = large_recording(folder, 1)
        assert caller < callee
        for first in last - callee + 1, last - callee + 2, last - caller + 2, 200000:
            rec.equal(large_recording(folder, first), [first + caller - 1, first + callee - 1])


def test_excluded_code_calls_nothing():
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as folder:
        with open(os.path.join(folder, "other.py"), "w") as f:
            f.write("def g():\n    return sum([1])\n")
        source = "import sys\nsys.path.insert(0, %r)\nimport other\ndef f():\n    other.g()\n    len('')\nf()\n" % folder
        with c_calls(source, OCULAR_EXCLUDE="other") as r:
            whole(r)
            rec.equal([c.callee for c in calls_of(r.folder, "f")], ["len"])
            rec.equal(calls_of(r.folder, "g"), [])


def test_forks_and_threads():
    """A child's calls have its parent's ids, or its own."""
    with c_calls("""
import os, threading
def f():
    len("")
def g():
    sum([])
f()
threads = [threading.Thread(target=f) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
child = os.fork()
f()
if not child:
    g()
    os._exit(0)
os.waitpid(child, 0)
""") as r:
        rec.equal(r.code, 0, r.err)
        rec.equal([c.callee for c in calls_of(r.folder, "f")], ["len"] * 7)
        rec.equal([c.callee for c in calls_of(r.folder, "g")], ["sum"])


def test_another_session():
    """Ids go on behind those of the first, and its definitions are seen anew."""
    with c_calls("""
import ocular
from ocular import monitor
def f():
    len("")
f()
folder = monitor.folder()
monitor.stop()
f()
monitor.start(folder, "calls", also=["c_calls"], backend="software")
f()
sum([])
""") as r:
        rec.equal(r.code, 0, r.err)
        rec.equal([c.callee for c in calls_of(r.folder, "f")], ["len"] * 2)
        ids = [line["id"] for line in r.lines("c_function") + r.lines("code")]
        rec.equal(len(ids), len(set(ids)))


if __name__ == "__main__":
    rec.run(globals())
