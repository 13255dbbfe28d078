#!/usr/bin/env python3
"""The table of opcode handlers, found in memory, against what symbols say, and in a stripped copy."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import rec

PACKAGE = os.path.join(rec.BUILD, "python")

# What a process finds in itself, with where its interpreter's object begins.
FIND = """
import json, sys
sys.path.insert(0, %r)
from ocular import opcodes
found = opcodes.dispatch()
import os
path = os.path.realpath(found["object"] or sys.executable)
with open("/proc/self/maps") as maps:
    rows = [line.split() for line in maps]
found["start"] = min(int(row[0].split("-")[0], 16) for row in rows if row[-1] == path)
found["object"] = path
found["names"] = opcodes.tables()[0]
print(json.dumps(found))
""" % PACKAGE


def find(python=sys.executable, **environment):
    done = subprocess.run([python, "-c", FIND], env=dict(os.environ, **environment),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def relative(found):
    """The same with addresses as in the file, whatever the loader's choice was."""
    move = found["start"] if elf_type(found["object"]) == "DYN" else 0
    less = lambda addresses: [a - move for a in addresses]
    return {"targets": less(found["targets"]), "code": [less(r) for r in found["code"]],
            "again": less(found["again"]), "unused": found["unused"] - move}


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def elf_type(path):
    return re.search(r"Type:\s+(\w+)", tool("readelf", "-h", path))[1]


def symbols(path):
    """{name: (address, size)}; the same name twice: the last."""
    rows = (line.split() for line in tool("nm", "-S", path).splitlines())
    return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4}


# The table's name; where handlers are functions: CPython 3.15's, 3.14's.
TABLES = ("opcode_targets", "instruction_funcptr", "INSTRUCTION_TABLE")
HANDLER = "_TAIL_CALL_"  # begins the name of a handler that is a function, and of what they share


def need_symbols(path):
    found = symbols(path)
    if not any(name.startswith(TABLES) for name in found):
        raise rec.Skip("the interpreter has no symbols")
    return found


def stored(path, start, size):
    """What the file has for these addresses."""
    for line in tool("readelf", "-lW", path).splitlines():
        row = line.split()
        if row[:1] == ["LOAD"] and 0 <= start - int(row[2], 16) <= int(row[4], 16) - size:
            with open(path, "rb") as file:
                file.seek(int(row[1], 16) + start - int(row[2], 16))
                return file.read(size)
    raise LookupError(hex(start))


def pointers(path, start, size):
    """What the loader will put at start: addends of relative relocations, or what the file has."""
    if elf_type(path) == "EXEC":
        return list(struct.unpack(f"<{size // 8}Q", stored(path, start, size)))
    at = {}
    for line in tool("readelf", "-rW", path).splitlines():
        row = line.split()
        if len(row) == 4 and row[2] == "R_X86_64_RELATIVE":
            at[int(row[0], 16)] = int(row[3], 16)
    return [at[a] for a in range(start, start + size, 8)]


def test_table_is_the_one_of_the_symbol():
    found = find()
    known = need_symbols(found["object"])
    tables = [pointers(found["object"], *known[name]) for name in known if name.startswith(TABLES)]
    assert relative(found)["targets"] in tables


def test_code_is_the_evaluation_function_in_all_its_parts():
    found = find()
    known = need_symbols(found["object"])
    parts = [known[name] for name in known if name.startswith("_PyEval_EvalFrameDefault")]
    code = relative(found)["code"]
    targets = set(relative(found)["targets"])
    for start, size in parts:
        if any(start <= target < start + size for target in targets):
            assert any(r[0] <= start and start + size <= r[1] for r in code), (hex(start), code)
    assert all(any(r[0] <= target < r[1] for r in code) for target in targets)
    assert all(a[1] <= b[0] for a, b in zip(code, code[1:])), code
    functions = {name for name in known if name.startswith((HANDLER, "_PyEval_EvalFrameDefault"))}
    if any(name.startswith(HANDLER) for name in functions):  # a build with tail calls: all of them, and nothing else
        inside = {name for name, (start, _) in known.items() if any(r[0] <= start < r[1] for r in code)}
        rec.equal(inside ^ functions, set())


def test_second_dispatches_are_those_behind_a_specialization():
    rec.need_specializing()
    found = find()
    need_symbols(found["object"])
    calls, previous = set(), False
    code = relative(found)["code"]
    for start, end in code:
        text = tool("objdump", "-d", "--no-show-raw-insn", f"--start-address={start}", f"--stop-address={end}",
                    found["object"])
        for line in text.splitlines():
            if previous and line.startswith(" "):
                calls.add(int(line.split(":")[0], 16))
            # 3.15 specialises RESUME as well, and does not dispatch it again.
            previous = re.search(r"call .*<_Py_Specialize_(?!Resume>)\w+>$", line) is not None
    assert calls
    rec.equal(relative(found)["again"], sorted(calls))


def test_a_stripped_copy_gives_the_same():
    found = find()
    with tempfile.TemporaryDirectory(prefix="ocular-unit-") as folder:
        copy = os.path.join(folder, os.path.basename(found["object"]))
        shutil.copy(found["object"], copy)
        subprocess.run(["strip", "--strip-all", copy], check=True)
        assert not any(name.startswith(TABLES) for name in symbols(copy))
        if ".so" in os.path.basename(copy):
            again = find(LD_PRELOAD=copy)
        else:
            home = subprocess.run([sys.executable, "-c", "import sys; print(sys.base_prefix)"],
                                  capture_output=True, text=True, check=True).stdout.strip()
            again = find(copy, PYTHONHOME=home)
        rec.equal(again["object"], copy)
        rec.equal(relative(again), relative(found))


def test_every_opcode_has_a_handler_of_its_own_and_free_numbers_none():
    found = find()
    for number, name in enumerate(found["names"]):
        rec.equal(found["targets"][number] == found["unused"], name is None, name)


def test_bases():
    found = find()
    names = found["names"]
    base = {name: names[found["base"][number]] for number, name in enumerate(names) if name}
    rec.equal(base["LOAD_ATTR_INSTANCE_VALUE"], "LOAD_ATTR")
    rec.equal(base["FOR_ITER_RANGE"], "FOR_ITER")
    rec.equal(base["INSTRUMENTED_RESUME"], "RESUME")
    rec.equal(base["INSTRUMENTED_LINE"], "INSTRUMENTED_LINE")
    rec.equal(base["RETURN_VALUE"], "RETURN_VALUE")
    if sys.version_info < (3, 13):
        rec.equal(base["LOAD_FAST__LOAD_CONST"], "LOAD_FAST")
        assert names.index("LOAD_FAST__LOAD_CONST") in found["pairs"]
    else:
        rec.equal(base["RESUME_CHECK"], "RESUME")
    rec.equal(names.index("BINARY_OP_INPLACE_ADD_UNICODE") in found["pairs"], sys.version_info < (3, 15))


def test_ranges_become_as_many_as_a_processor_has():
    program = """
import json, sys
sys.path.insert(0, %r)
from ocular import ranges
parts = [(0x100, 8, "/i"), (0x9000, 0x10, "/i"), (0x110, 0x20, "/i"), (0x4000, 0x100, "/e")]
print(json.dumps([ranges.at_most(n, parts) for n in range(5)]))
""" % PACKAGE
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    extension, near, far = [0x4000, 0x100, "/e"], [0x100, 0x30, "/i"], [0x9000, 0x10, "/i"]
    assert json.loads(done.stdout) == [
        [], [],  # the interpreter and the extension are two files
        [extension, [0x100, 0x8f10, "/i"]],
        [extension, near, far],
        [extension, [0x100, 8, "/i"], [0x110, 0x20, "/i"], far]], done.stdout


def refused(used):
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.insert(0, %r)\nfrom ocular import _core\n"
         "try: _core.find_dispatch(bytes(%r))\nexcept RuntimeError as e: print(e)\nelse: print('found')" % (PACKAGE, used)],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_does_not_fit_is_refused_with_the_reason():
    used = [name is not None for name in find()["names"]]
    assert "every number is an opcode" in refused([True] * 256)
    one_more = list(used)
    one_more[used.index(False)] = True
    one_less = list(used)
    one_less[used.index(True)] = False
    for wrong in (one_more, one_less, [False] * 256):
        # None fits, or (Debian's 3.14) more than one would: either is a refusal.
        assert refused(wrong).startswith(("no table of opcode handlers", "more than one table of opcode handlers")), \
            refused(wrong)
    rec.equal(refused(used), "found\n")


def test_one_handler_of_two_instructions_is_refused():
    program = """
import sys, types
sys.path.insert(0, %r)
from ocular import _core, opcodes
names = opcodes.tables()[0]
def answer(one, other):
    found = _core.find_dispatch(bytes(name is not None for name in names))
    found["targets"][names.index(one)] = found["targets"][names.index(other)]
    opcodes._core = types.SimpleNamespace(find_dispatch=lambda used: found)
    try:
        opcodes.dispatch()
    except RuntimeError as e:
        print(e)
answer("INSTRUMENTED_CALL", "CALL")
answer("POP_TOP", "NOP")
""" % PACKAGE
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert re.fullmatch("(POP_TOP and NOP|NOP and POP_TOP) have one opcode handler\n", done.stdout), done.stdout


if __name__ == "__main__":
    rec.run(globals())
