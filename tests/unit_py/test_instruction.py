# SPDX-License-Identifier: MIT
"""INSTRUCTION as the only event: its own callback meets all uncommon cases, which another event usually meets first.

New code, a thread's first event, code that is left out, code without a ready id, EXTENDED_ARG and far offsets, full
rings, and threads that were in another interpreter. A second tool in the same process tells what there was.
"""

import collections
import json

import rec

SOURCE = """
import json, os, sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

monitoring = sys.monitoring
INSTRUCTION = monitoring.events.INSTRUCTION
seen = {}
def witness(code, offset):
    if code.co_name.startswith("f_"):
        seen.setdefault("%d %s" % (threading.get_native_id(), code.co_name), []).append(offset)

def f_loop(n):
    for i in range(n):
        pass

def made(name, source, file=__file__):
    scope = {}
    exec(compile(source, file, "exec"), scope)
    return scope[name]

def f_again(names):
    for name in names:
        made(name, "def %s(): return 1" % name)()

f_large = made("f_large", "def f_large(x):\\n" + "".join("  x += %d; x -= x // 3\\n" % (1000 + i) for i in range(700)))
f_far_lines = made("f_far_lines", "\\n" * 1_100_000 + "def f_far_lines():\\n  x = 1\\n  return x")
g_left_out = made("g_left_out", "def g_left_out():\\n  for i in range(40): pass", os.path.dirname(__file__) + "/left_out.py")
other = interpreters.create()

def f_work(n):
    f_loop(n)
    f_again(["f_new%d" % i for i in range(20)])
    f_large(1)
    f_far_lines()
    g_left_out()
    f_loop(n)
    f_far_lines()

def f_main():
    f_work(3)
    threads = [threading.Thread(target=f_work, args=(500 + i,)) for i in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    interpreters.run_string(other, "sum(range(3))")
    f_work(4)

ours, = (i for i in range(6) if monitoring.get_tool(i) == "ocular")
theirs = next(i for i in range(6) if not monitoring.get_tool(i))
monitoring.use_tool_id(theirs, "witness")
monitoring.register_callback(theirs, INSTRUCTION, witness)
monitoring.set_events(ours, INSTRUCTION)
monitoring.set_events(theirs, INSTRUCTION)
f_main()
for tool in (ours, theirs):
    monitoring.set_events(tool, 0)
interpreters.destroy(other)
print(json.dumps(seen))
"""


def check(*recorder):
    with rec.recording(SOURCE, mode="full", recorder=recorder, OCULAR_EXCLUDE="*/left_out.py") as r:
        rec.equal((r.code, r.err), (0, ""))
        events = collections.defaultdict(list)
        for e in r.events():
            assert e.name not in ("GAP", "FOREIGN"), e
            if e.qualname.startswith("f_") and e.name == "INSTRUCTION":
                events["%d %s" % (e.tid, e.qualname)].append(int(e.offset))
        truth = json.loads(r.out)
        rec.equal(sorted(events), sorted(truth))
        for key, offsets in truth.items():
            rec.equal(events[key], offsets, key)
        assert max(map(max, truth.values())) > 16384 and len(truth) == 5 * 25 + 1, len(truth)
        left_out = [c for c in r.lines("code") if c["file"].endswith("left_out.py")]
        rec.equal(left_out, [])


def test_all_that_is_rare():
    check()


def test_rings_that_are_full():
    check("--ring-records", "4096", "--wait-ms", "30000")


if __name__ == "__main__":
    rec.run(globals())
