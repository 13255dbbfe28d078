# SPDX-License-Identifier: MIT
"""Each trigger fires when it should, knows what it was asked for, and not otherwise."""

import os
import subprocess
import sys
import tempfile
import time

import rec
from rec import equal


def snapshots(r):
    lines = {line["number"]: line for line in r.lines("snapshot")}
    return [lines[n] for n in sorted(lines) if lines[n]["trigger"] != "end"]


def fired(source, *triggers, recorder=()):
    """[(trigger, label, data)] and the program's output."""
    with rec.recording(source, recorder=["--flight", "1s", *recorder], OCULAR_TRIGGER="\n".join(triggers)) as r:
        equal(r.code, 0, r.err)
        return [(s["trigger"], s["label"], s.get("data")) for s in snapshots(r)], r.out


def test_a_call():
    source = """
class A:
    def wanted(self, n):
        return n * 2
    def other(self):
        pass
def wanted():
    pass
a = A()
a.other(); wanted(); a.wanted(3); a.wanted(n="x")
"""
    got, _ = fired(source, "call __main__:A.wanted(n, self, nothing)")
    equal([(t, label) for t, label, _ in got], [("call", "__main__:A.wanted")] * 2)
    equal([d["n"] for _, _, d in got], [3, "x"])
    assert got[0][2]["self"].startswith("<__main__.A object") and got[0][2]["nothing"] is None
    got, _ = fired(source, "call __main__:A.absent", "call other:wanted", "call */program.py:wanted")
    equal(got, [("call", "*/program.py:wanted", {})])


def test_a_long_call():
    source = """
import time
def f(seconds, fail=False):
    time.sleep(seconds)
    if fail:
        raise ValueError
def g():
    time.sleep(0.1)
    yield 1
    time.sleep(0.1)
def recursive(n):
    if n:
        recursive(n - 1)
    time.sleep(0.1)
f(0); f(0.25); f(0.001)
try:
    f(0.2, fail=True)
except ValueError:
    pass
for _ in g():
    pass
recursive(2)
"""
    got, _ = fired(source, "call __main__:f(seconds) > 150ms", "call __main__:g > 150ms", "call __main__:recursive > 150ms")
    equal([(t, label) for t, label, _ in got], [("slow call", "__main__:f")] * 2 + [("slow call", "__main__:g")] +
          [("slow call", "__main__:recursive")] * 2)
    for data, least in zip([d for _, _, d in got], (250, 200, 200, 200, 300)):
        assert least <= data["ms"] < least + 500, (data, least)
    equal([d["seconds"] for _, _, d in got[:2]], [0.25, 0.2])


def test_calls_of_coroutines_and_threads():
    source = """
import asyncio, threading, time
async def handler(t):
    await asyncio.sleep(t)
async def main():
    await asyncio.gather(*(handler(t) for t in (0.001, 0.25, 0.002)))
asyncio.run(main())
def work(t):
    time.sleep(t)
threads = [threading.Thread(target=work, args=(t,)) for t in (0.001, 0.3, 0.002)]
for t in threads: t.start()
for t in threads: t.join()
"""
    got, _ = fired(source, "call __main__:handler(t) > 150ms", "call __main__:work(t) > 150ms")
    equal([d["t"] for _, _, d in got], [0.25, 0.3])


def test_an_exception():
    source = """
class Mine(LookupError): pass
def low(): raise Mine("deep")
def middle(): low()
for n in range(2):
    try: middle()
    except Mine: pass
try: {}["x"]
except KeyError: pass
try: int("x")
except ValueError: pass
list(iter([]))
"""
    got, _ = fired(source, "exception __main__:Mine")
    equal(got, [("exception", "Mine", {"exception": "Mine('deep')"})] * 2)
    got, _ = fired(source, "exception ValueError")
    equal([d["exception"] for _, _, d in got], ['ValueError("invalid literal for int() with base 10: \'x\'")'])


def test_a_lag():
    source = """
import asyncio, time
async def main():
    await asyncio.sleep(0.2)
    time.sleep(0.15)
    await asyncio.sleep(0.01)
asyncio.run(main())
"""
    got, _ = fired(source, "lag 120ms")
    assert ("lag", "asyncio.events:Handle._run") in [(t, label) for t, label, _ in got], got
    # The one call that keeps the interpreter to itself; the thread that watches finds out.
    got, _ = fired("import time; time.sleep(0.1); s = 'a' * 30000 + 'b'; import re\n"
                   "try: re.match('(a*)*c', 'a' * 25)\nexcept Exception: pass\n", "lag 50ms")
    assert ("lag", "a thread could not run") in [(t, label) for t, label, _ in got], got


def test_a_native_function():
    source = """
import os, threading, time
def t():
    time.sleep(0.3)
    os.getppid()
thread = threading.Thread(target=t)
thread.start()
time.sleep(0.1)
os.getppid()
thread.join()
os.getpid()
"""
    with rec.recording(source, recorder=["--flight", "1s", "--trigger-symbol", "libc:getppid",
                                         "--trigger-symbol", "libc:no_such_function"]) as r:
        if "no breakpoint could be set" in r.err:
            raise rec.Skip(r.err.strip())
        equal(r.code, 0, r.err)
        assert "no traced process had a function libc:no_such_function" in r.err, r.err
        got = snapshots(r)
        equal([(s["trigger"], s["label"], len(s["data"]["arguments"])) for s in got], [("symbol", "libc:getppid", 6)] * 2)
        equal(got[0]["tid"] == got[0]["pid"], True)
        assert got[1]["tid"] != got[1]["pid"]


def test_orders():
    with tempfile.TemporaryDirectory() as temp:
        program, folder = os.path.join(temp, "program.py"), os.path.join(temp, "rec")
        fifo = os.path.join(folder, ".ocular.ctl")
        with open(program, "w") as f:
            f.write("import time\ndef f(): pass\nfor i in range(150):\n    f()\n    time.sleep(0.01)\n")
        run = subprocess.Popen([rec.RECORDER, "-q", "-o", folder, "--flight", "200ms", "--", sys.executable, program],
                               env=dict(os.environ, PYTHONPATH=rec.HOOK, OCULAR_MAIN="1"))
        time.sleep(0.7)
        equal(os.stat(fifo).st_mode & 0o777, 0o600)
        equal(os.stat(folder).st_mode & 0o777, 0o700)
        with open(fifo, "w") as f:
            f.write('snapshot one "two"\nnonsense\n' + "x" * 2000 + "\nsnapshot\n")
        equal(run.wait(60), 0)
        assert not os.path.exists(fifo)
        got = snapshots(rec.Recording(folder, subprocess.CompletedProcess([], 0, "", "")))
        equal([(s["trigger"], s["label"]) for s in got], [("control", "one ?two?"), ("control", "asked for")])


def test_garbage_collections():
    with rec.recording("import gc\ngc.collect()\ngc.collect(0)\n", recorder=["--flight", "1s"]) as r:
        names = [(e.name, e.qualname[-1]) for e in r.events("garbage collection, generation 2")]
        equal(names[:2], [("PY_START", "2"), ("PY_RETURN", "2")])
        assert r.events("garbage collection, generation 0")


def test_nonsense():
    for trigger, words in (
            ("call f", "not a function to trigger on: 'f'"), ("call m:f > 5", "not a time: '5'"),
            ("call m:f > 0ms", "not a time"), ("call m:f(", "not a function"), ("lag soon", "not a time: 'soon'"),
            ("exception a b", "not an exception type"), ("fire x", "no trigger 'fire'")):
        with rec.recording("print(1)", recorder=["--flight", "1s"], OCULAR_TRIGGER=trigger) as r:
            equal((r.code, r.out), (125, ""))
            assert words in r.err and r.err.count("\n") == 1, r.err
    with rec.recording("print(1)", OCULAR_TRIGGER="call m:f") as r:
        equal((r.code, r.out), (125, ""))
        assert "triggers need a flight recorder" in r.err, r.err


def test_nothing_is_left():
    source = """
import gc, sys
import ocular
from ocular import monitor
monitor.stop()
print(gc.callbacks, [sys.monitoring.get_tool(i) for i in range(6)])
"""
    got, out = fired(source, "exception ValueError", "lag 1s", "call m:f > 1s")
    equal(out, "[] [None, None, None, None, None, None]\n")


if __name__ == "__main__":
    rec.run(globals())
