# SPDX-License-Identifier: MIT
"""The code table: what it says of bytecode is what dis says, and ids are never mistaken."""

import dis
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import rec

# Import much, so that the table fills with code that nobody wrote for a test.
LIBRARY = """
import argparse, ast, asyncio, dataclasses, email.message, http.client, inspect, json, re, tarfile
async def one():
    async for i in many():
        async with lock:
            pass
async def many():
    for i in range(3):
        yield i
lock = asyncio.Lock()
asyncio.run(one())
"""


def code_objects(path):
    """{(qualname, first line, length): code} of all code in a source file."""
    with open(path, "rb") as f:
        todo = [compile(importlib.util.decode_source(f.read()), path, "exec", dont_inherit=True)]
    found = {}
    while todo:
        code = todo.pop()
        found[code.co_qualname, code.co_firstlineno, len(code.co_code) // 2] = code
        todo += [c for c in code.co_consts if hasattr(c, "co_code")]
    return found


def by_dis(code):
    """The instructions as docs/marker.md wants them, as dis sees them."""
    rows, start = [], {}
    lines = {offset: line for begin, end, line in code.co_lines() for offset in range(begin, end)}
    relative = set(dis.hasjrel) | set(getattr(dis, "hasjump", ()))
    for i in dis.get_instructions(code):
        if i.opname != "CACHE":
            target = i.argval if i.opcode in relative else -1
            line = lines.get(i.offset)
            rows.append([i.offset, -1 if line is None else line, i.opcode, target])
    return rows


def test_an_offset_that_is_none_stays_in_its_field():
    """Where another tool's callback for JUMP raises, CPython 3.12 and 3.13 report RAISE and PY_UNWIND with an offset that is
    the difference of two addresses. Each of many functions has another one."""
    for mode in "adaptive", "full":
        with rec.recording("""
from sys import monitoring
class Stop(Exception): pass
def stop(code, *unused):
    if code.co_name.startswith("f"):
        raise Stop
monitoring.use_tool_id(1, "raises")
monitoring.register_callback(1, monitoring.events.JUMP, stop)
functions = []
for i in range(50):
    exec("def f%d(n):\\n    while n:\\n        n -= 1\\nfunctions.append(f%d)" % (i, i), globals())
monitoring.set_events(1, monitoring.events.JUMP)
for f in functions:
    for i in range(2):
        try:
            f(3)
        except Stop:
            pass
monitoring.set_events(1, 0)
""", mode=mode) as r:
            rec.equal(r.code, 0, r.err)
            for i in range(50):
                names = [e.name for e in r.events("f%d" % i)]
                rec.equal([names.count(n) for n in ("PY_START", "PY_UNWIND", "PY_RETURN")], [2, 2, 0], (mode, i, names))
                rec.equal(names.count("RAISE"), 2 * (mode == "full"), (mode, i))


def test_every_instruction_line_and_target_is_as_dis_says():
    compared = 0
    with rec.recording(LIBRARY, mode="calls") as r:
        rec.equal(r.code, 0, r.err)
        files = {}
        for row in r.lines("code"):
            if not row["file"].endswith(".py"):
                continue
            if row["file"] not in files:
                files[row["file"]] = code_objects(row["file"])
            code = files[row["file"]].get((row["qualname"], row["firstlineno"], row["units"]))
            if code:
                rec.equal(row["instructions"], by_dis(code), row["file"] + " " + row["qualname"])
                compared += 1
    assert compared > 400, compared


def test_opcode_names_are_this_interpreters():
    with rec.recording("pass") as r:
        names = r.lines("header")[0]["opnames"]
        rec.equal(len(names), 256)
        wrong = [(n, i) for n, i in dis.opmap.items() if i < 256 and names[i] != n]
        rec.equal(wrong, [])
        specialized = getattr(dis, "_specialized_opmap", None) or __import__("opcode")._specializations
        assert "FOR_ITER_RANGE" in names and len(specialized) > 10


SPECIALIZED = """
def loop(n):
    t = 0
    for i in range(n):
        t = t + i
    return t
loop(5000)
"""


def specialized_names(mode):
    with rec.recording(SPECIALIZED, mode=mode) as r:
        names = r.lines("header")[0]["opnames"]
        code, = r.code_of("loop")
        base = {offset: names[op] for offset, _, op, _ in code["instructions"]}
        rows = [x for x in r.lines("specialized") if x["id"] == code["id"]]
        return {base[offset]: names[op] for row in rows for offset, op in row["opcodes"]}


def test_specialized_opcodes_under_each_instrumentation():
    rec.need_specializing()
    for mode in ("calls", "adaptive"):
        rec.equal(specialized_names(mode).get("FOR_ITER"), "FOR_ITER_RANGE", mode)
    for mode in ("calls", "adaptive", "lines"):  # a line's first instruction is not specialized
        rec.equal(specialized_names(mode).get("BINARY_OP"), "BINARY_OP_ADD_INT", mode)
    assert not any(n.startswith("INSTRUMENTED") for n in specialized_names("full").values())


WARM = """
import ocular
def loop(n):
    t = 0
    for i in range(n):
        t = t + i
    return t
loop(5000)
ocular.start_tracing(perfetto=False, console=False)
loop(10)
ocular.stop_tracing()
"""


def test_what_was_specialized_before_tracing_began():
    rec.need_specializing()
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as folder:
        done = subprocess.run([sys.executable, "-c", WARM], cwd=folder, capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=os.path.dirname(rec.HOOK)))
        rec.equal(done.returncode, 0, done.stderr)
        r = rec.Recording(os.path.join(folder, "ocular.data"), done)
        names = r.lines("header")[0]["opnames"]
        code, = r.code_of("loop")
        base = {offset: names[op] for offset, _, op, _ in code["instructions"]}
        before, = (x for x in r.lines("before") if x["id"] == code["id"])
        found = {base[offset]: names[op] for offset, op in before["opcodes"]}
        rec.equal((found.get("FOR_ITER"), found.get("BINARY_OP")), ("FOR_ITER_RANGE", "BINARY_OP_ADD_INT"))


def test_which_opcodes_can_specialize():
    with rec.recording("pass") as r:
        header = r.lines("header")[0]
        able = {header["opnames"][op] for op in header["specializable"]}
        assert {"BINARY_OP", "FOR_ITER", "LOAD_ATTR", "CALL", "COMPARE_OP"} <= able, able
        rec.equal(able & {"LOAD_FAST", "STORE_FAST", "POP_TOP"}, set())


def test_code_that_dies_says_so_and_its_id_is_not_used_again():
    rec.need_specializing()
    with rec.recording("""
import gc
def run(i):
    scope = {}
    exec("def f(n):\\n  for i in range(n): pass\\n", scope)
    scope.pop("f")(50 + i)
for i in range(300):
    run(i)
gc.collect()
""") as r:
        rec.equal(r.code, 0, r.err)
        codes = r.code_of("f")
        rec.equal(len(codes), 300)
        rec.equal(len({c["id"] for c in codes}), 300)
        assert len({c["address"] for c in codes}) < 300, "no address was reused: nothing was tested"
        dead = [x["id"] for x in r.lines("specialized") if x["reason"] == "dealloc"]
        rec.equal(sorted(i for i in dead if i in {c["id"] for c in codes}), sorted(c["id"] for c in codes))
        ends = [int(e.offset) for e in r.events("f") if e.name == "PY_RETURN"]
        rec.equal(len(ends), 300)


def test_lines_beyond_20_bits_and_offsets_beyond_8():
    with rec.recording("""
import ast
def lift(first):
    tree = ast.parse("def f():\\n  x = 1\\n  return x\\n")
    ast.increment_lineno(tree, first)
    scope = {}
    exec(compile(tree, __file__, "exec"), scope)
    scope["f"]()
lift(2_000_000)
lift(1 << 30)
body = "\\n".join("  x = x + %d" % i for i in range(400))
scope = {}
exec(compile("def g(x):\\n  for i in range(3):\\n" + body.replace("  x", "    x") + "\\n  return x\\n", __file__, "exec"), scope)
scope["g"](0)
""", mode="full") as r:
        rec.equal(r.code, 0, r.err)
        rec.equal([e.offset for e in r.events("f") if e.name == "LINE"],
                  ["2000002", "2000003", str((1 << 30) + 2), str((1 << 30) + 3)])
        jumps = [e for e in r.events("g") if e.name == "JUMP"]
        assert jumps and int(jumps[0].offset) - int(jumps[0].dest) > 254, jumps
        rec.equal([e for e in r.events() if e.name in ("GAP", "FOREIGN")], [])


def test_names_that_no_json_likes():
    name = 'a "b"\\\\ \\t\\ud800 \\u00e9'
    with rec.recording("exec(compile('def f(): pass\\nf()', '%s', 'exec'))" % name) as r:
        rec.equal(r.code, 0, r.err)
        files = {c["file"] for c in r.code_of("f")}
        rec.equal(files, {'a "b"\\ \t\\ud800 \u00e9'})


def test_a_table_is_whole_lines_of_json():
    with rec.recording("import os; os.abort()") as r:
        for path in [r.folder + "/codes-%d.jsonl" % pid for pid in r.tables()]:
            with open(path) as f:
                text = f.read()
            assert text.endswith("\n")
            [json.loads(line) for line in text.splitlines()]
        rec.equal(r.lines("stop"), [])


FILTERED = """
import json, string
def loop():
    for i in range(10): pass
loop()
json.dumps({"a": [1, 2]}, indent=1)
string.capwords("a b")
"""


def files_with(**environment):
    with rec.recording(FILTERED, mode="full", **environment) as r:
        rec.equal(r.code, 0, r.err)
        short = ["/".join(c["file"].split("/")[-2:]) for c in r.lines("code") if "/" in c["file"]]
        return {"program.py" if f.endswith("/program.py") else f for f in short}


def test_filters():
    everything = files_with()
    assert any(f.startswith("json/") for f in everything)
    only_json = files_with(OCULAR_INCLUDE="json")
    assert only_json and all(f.startswith("json/") for f in only_json), only_json
    no_encoder = files_with(OCULAR_INCLUDE="json", OCULAR_EXCLUDE="json.encoder")
    rec.equal(only_json - no_encoder, {"json/encoder.py"})
    program = files_with(OCULAR_INCLUDE="program.py")
    rec.equal(program, {"program.py"})
    rec.equal(files_with(OCULAR_INCLUDE="*/json/enc*.py:nothing.at.all"), {"json/encoder.py"})
    rec.equal(files_with(OCULAR_EXCLUDE="*"), everything)  # "*" is a module name, and no module's


def test_our_own_code_is_not_in_it():
    with rec.recording("pass", mode="full") as r:
        ours = [c for c in r.lines("code") if "/ocular/" in c["file"] or "/hook/" in c["file"]]
        rec.equal(ours, [])


def test_lines_that_cannot_be_written_at_once_come_later():
    """At the limit of descriptors, and at the limit of a file's size, in the middle of a line."""
    with rec.recording("""
import os, resource, signal
def first(): pass
def second(): pass
def third(): pass
def limited(which, n, functions):
    soft, hard = resource.getrlimit(which)
    resource.setrlimit(which, (n, hard))
    for f in functions:
        f()
    resource.setrlimit(which, (soft, hard))
taken = []
resource.setrlimit(resource.RLIMIT_NOFILE, (40, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
try:
    while True: taken.append(os.open("/dev/null", 0))
except OSError: pass
first()
if not os.fork():
    for fd in taken: os.close(fd)
    first()
    os._exit(0)
os.wait()
for fd in taken: os.close(fd)
table = "%s/codes-%d.jsonl" % (os.environ["OCULAR_DIR"], os.getpid())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = os.stat(table).st_size
limited(resource.RLIMIT_FSIZE, size + 1000, (second, third))
assert os.stat(table).st_size == size + 1000
first(); second(); third()
""", mode="calls") as r:
        rec.equal(r.code, 0, r.err)
        child, = (pid for pid, lines in r.tables().items() if lines[0].get("parent"))
        for name, n in (("first", 3), ("second", 2), ("third", 2)):
            code, = r.code_of(name)
            rec.equal(sum(e.name == "PY_START" for e in r.events(name)), n, name)
        rec.equal([x["qualname"] for x in r.tables()[child] if x["kind"] == "code"], [])


if __name__ == "__main__":
    rec.run(globals())
