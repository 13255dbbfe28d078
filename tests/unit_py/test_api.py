# SPDX-License-Identifier: MIT
"""start_tracing() and its kin, python -m ocular, and what happens when tracing cannot start."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import rec

PACKAGE = os.path.join(rec.BUILD, "python")
WORK = """
import ocular
def work(n):
    for i in range(n):
        pass
"""


def python(source, *args, path=PACKAGE, cwd=None, **environment):
    env = dict(os.environ, PYTHONPATH=path, **environment)
    env.pop("OCULAR_DIR", None)
    return subprocess.run([sys.executable, *args, *(["-c", source] if source else [])], env=env,
                          cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def test_start_and_stop_leave_a_trace_and_print_the_loops():
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
ocular.start_tracing()
assert ocular.is_tracing()
work(1000)
ocular.stop_tracing()
assert not ocular.is_tracing()
""", cwd=temp)
        rec.equal(done.returncode, 0, done.stderr)
        assert "Trace Disassembly" in done.stdout and "FOR_ITER" in done.stdout, done.stdout
        with open(os.path.join(temp, "ocular_trace.json")) as f:
            json.load(f)
        rec.equal(sorted(f.split("-")[0] for f in os.listdir(temp + "/ocular.data")), ["codes", "perf.data"])


def test_twice_in_one_process_and_as_a_context():
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
for name, n in (("a", 100), ("b", 200), ("c", 300)):
    with ocular.tracing(output=name, perfetto=False, console=False):
        work(n)
""", cwd=temp)
        rec.equal((done.returncode, done.stdout), (0, ""), done.stderr)
        for name, n in (("a", 100), ("b", 200), ("c", 300)):
            r = rec.Recording(os.path.join(temp, name), done)
            rec.equal(sum(e.name == "JUMP" for e in r.events("work")), n, name)
            rec.equal(len(r.code_of("work")), 1)


def test_forward_jumps_come_back_in_a_later_session():
    with tempfile.TemporaryDirectory() as temp:
        done = python("""
import ocular
def fork(x):
    if x:
        y = 1
    else:
        y = 2
    return y
def work():
    for i in range(10):
        fork(i)
for name, mode in (("a", "adaptive"), ("b", "full")):
    with ocular.tracing(output=name, mode=mode, perfetto=False, console=False):
        work()
""", cwd=temp)
        rec.equal(done.returncode, 0, done.stderr)
        names = {e.name for e in rec.Recording(temp + "/b", done).events("fork")}
        assert "PY_START" in names and names & {"BRANCH", "BRANCH_LEFT"}, names


def test_a_session_in_mode_opcodes_leaves_the_next_its_filters():
    """It sees what is left out, too; here by what such a session alone sets, as it needs a processor trace."""
    with tempfile.TemporaryDirectory() as temp:
        done = python("""
from ocular import _core, opcodes
_core.set_flow(*opcodes.flow())
import json
""" + WORK + """
with ocular.tracing(output="a", include=["json"], perfetto=False, console=False):
    work(3)
    json.loads("[1]")
""", cwd=temp)
        rec.equal(done.returncode, 0, done.stderr)
        r = rec.Recording(temp + "/a", done)
        rec.equal((r.code_of("work"), r.events("work"), len(r.code_of("loads"))), ([], [], 1))


def test_code_that_a_failed_measurement_was_of_is_traced():
    with tempfile.TemporaryDirectory() as temp:
        done = python("""
from ocular import _core
""" + WORK + """
def fail(n):
    work(n)
    1 / 0
try:
    _core.measure(work.__code__, fail, 3)
except ZeroDivisionError:
    print("failed")
with ocular.tracing(output="a", perfetto=False, console=False):
    work(3)
""", cwd=temp)
        rec.equal((done.returncode, done.stdout), (0, "failed\n"), done.stderr)
        rec.equal([e.name for e in rec.Recording(temp + "/a", done).events("work")], ["PY_START"] + ["JUMP"] * 3 + ["PY_RETURN"])


def test_a_start_that_fails_leaves_the_earlier_recording_alone():
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
import os, warnings
with ocular.tracing(output="a", perfetto=False, console=False):
    work(3)
os.environ["OCULAR_DIR"] = "/nowhere"
with warnings.catch_warnings(record=True) as told:
    assert not ocular.start_tracing()
print(*(w.message for w in told))
assert not ocular.is_tracing()
del os.environ["OCULAR_DIR"]
with ocular.tracing(output="b", perfetto=False, console=False):
    work(4)
""", cwd=temp)
        rec.equal((done.returncode, done.stdout), (0, "ocular: this is not traced: No such file or directory\n"), done.stderr)
        for name in "ab":
            rec.equal(len(rec.Recording(temp + "/" + name, done).lines("stop")), 1)


def test_two_processes_in_one_folder():
    """The second is refused, and what the first does after that is where the rest of it is."""
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
import subprocess, sys
with ocular.tracing(perfetto=False, console=False):
    work(3)
    other = subprocess.run([sys.executable, "-c", "import ocular; ocular.start_tracing()"], capture_output=True, text=True)
    def late(): pass
    late()
    print(other.returncode, other.stderr.splitlines()[0].split(": ", 1)[1])
""", cwd=temp)
        folder = os.path.realpath(temp) + "/ocular.data"
        rec.equal((done.returncode, done.stdout), (0, "0 OcularWarning: ocular: this is not traced: the recorder did not start: ocular-record: "
                  + folder + " is being recorded into: choose another folder with -o (output= in Python)\n"), done.stderr)
        rec.equal(os.listdir(temp), ["ocular.data"])
        r = rec.Recording(folder, done)
        rec.equal((len(r.code_of("work")), len(r.code_of("late")), len(r.lines("stop"))), (1, 1, 1))
        rec.equal([e for e in r.events() if e.name in ("GAP", "FOREIGN")], [])


def test_where_it_is_not_built():
    with tempfile.TemporaryDirectory() as temp:
        shutil.copytree(os.path.join(PACKAGE, "ocular"), os.path.join(temp, "ocular"), ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        done = python("""
import ocular
print(ocular.is_tracing(), ocular.take_snapshot("x"), ocular.take_snapshot(label="x", n=1))
import warnings
with warnings.catch_warnings(record=True) as told:
    assert not ocular.start_tracing()
print(*(str(w.message)[:21] for w in told))
""", path=temp)
        rec.equal((done.returncode, done.stdout), (0, "False False False\nocular: not built for\n"), done.stderr)


def test_another_tool_has_the_first_slot_of_co_extra():
    with tempfile.TemporaryDirectory() as temp:
        done = python("""
import ctypes
taken = ctypes.pythonapi.PyUnstable_Eval_RequestCodeExtraIndex(None)
""" + WORK + """
with ocular.tracing(output="a", perfetto=False, console=False):
    work(1000)
print(taken)
""", cwd=temp)
        rec.equal((done.returncode, done.stdout), (0, "0\n"), done.stderr)
        r = rec.Recording(temp + "/a", done)
        rec.equal(sum(e.name == "JUMP" for e in r.events("work")), 1000)
        rec.equal([e for e in r.events() if e.name in ("GAP", "FOREIGN")], [])


def test_other_tools_have_nearly_all_slots_of_co_extra():
    """CPython has 255 and gives away 254. Code objects die before and after tracing ends."""
    with tempfile.TemporaryDirectory() as temp:
        done = python("""
import ctypes, gc
while ctypes.pythonapi.PyUnstable_Eval_RequestCodeExtraIndex(None) < 252:
    pass
import ocular
kept = []
with ocular.tracing(perfetto=False, console=False, output="a"):
    for i in range(100):
        space = {}
        exec("def f(n): return n and f(n - 1)\\nf(3)", space)
        if i % 2:
            kept.append(space)
    del space
    gc.collect()
del kept
gc.collect()
print("done")
""", cwd=temp)
        rec.equal((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        r = rec.Recording(temp + "/a", done)
        rec.equal(sum(e.name == "PY_START" for e in r.events("f")), 400)


def test_no_memory_when_tracing_ends():
    """Then code objects lose their ids all the same: what the next session gives them is what its table says."""
    with tempfile.TemporaryDirectory() as temp:
        done = python("""
import ocular, resource
from ocular import _core
def f(): pass
def others(n):
    space = {}
    for i in range(n):
        exec("def g%d(): pass\\ng%d()" % (i, i), space)
close = _core.close
def without_memory():
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
    close()
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for i in range(2):
    with ocular.tracing(mode="calls", output="ab"[i], perfetto=False, console=False):
        others(10 * i)
        f()
        _core.close = without_memory
    _core.close = close
""", cwd=temp)
        rec.equal((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for name in "ab":
            r = rec.Recording(os.path.join(temp, name), done)
            rec.equal([e.name for e in r.events("f")], ["PY_START", "PY_RETURN"])
        rec.equal([[e.name for e in r.events("g%d" % i)] for i in range(10)], [["PY_START", "PY_RETURN"]] * 10)


TAKEN = """
import sys
from sys import monitoring
def f(): pass
ocular.start_tracing(perfetto=False, console=False)
tool = next(i for i in range(6) if monitoring.get_tool(i) == "ocular")
monitoring.free_tool_id(tool)
{}
ocular.stop_tracing()
name = monitoring.get_tool(tool)
if not name: monitoring.use_tool_id(tool, "later")
print(name, monitoring.get_events(tool) == monitoring.events.{}, end=" ")
f()
events = [getattr(monitoring.events, e) for e in dir(monitoring.events) if e.isupper() and e != "NO_EVENTS"]
print([x for x in (monitoring.register_callback(tool, e, None) for e in events) if x])
"""


def test_a_program_that_frees_our_tool_id():
    """The events go off with tracing all the same, but for another tool's."""
    theirs = """
monitoring.use_tool_id(tool, "theirs")
class Seen:
    def __call__(self, code, offset):
        if code is f.__code__: print("seen", end=" ")
    def __repr__(self): return "Seen"
monitoring.register_callback(tool, monitoring.events.PY_START, Seen())
monitoring.set_events(tool, monitoring.events.PY_START)
"""
    for how, events, wanted in ("", "NO_EVENTS", "None True []\n"), (theirs, "PY_START", "theirs True seen [Seen]\n"):
        with tempfile.TemporaryDirectory() as temp:
            done = python(WORK + TAKEN.format(how, events), cwd=temp)
            rec.equal((done.returncode, done.stdout), (0, wanted), done.stderr)


def test_misuse_is_a_clear_error():
    with tempfile.TemporaryDirectory() as temp:
        done = python("""
import ocular
import warnings
def told(f, *args, **kwargs):
    try:
        with warnings.catch_warnings(record=True) as found:
            f(*args, **kwargs)
        for w in found: print(w.category.__name__, w.message)
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
told(ocular.stop_tracing)
told(ocular.start_tracing, mode="fast")
ocular.start_tracing(perfetto=False, console=False)
told(ocular.start_tracing)
ocular.stop_tracing()
import sys
for i in range(6): sys.monitoring.use_tool_id(i, "tool%d" % i)
told(ocular.start_tracing, output="x")
""", cwd=temp)
        lines = done.stdout.splitlines()
        rec.equal(lines[0], "OcularWarning ocular: stop_tracing() without a start_tracing(): not tracing", done.stderr)
        assert lines[1].startswith("ValueError ocular: unknown mode 'fast'"), lines
        rec.equal(lines[2], "OcularWarning ocular: this is not traced: already tracing into " + os.path.realpath(temp)
                  + "/ocular.data; call stop_tracing() first")
        assert "no tool id" in lines[3] and "tool0, tool1" in lines[3], lines


def test_what_is_left_out_is_not_heard_again():
    """DISABLE: its code runs without instrumentation behind the first event of each place."""
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
import dis
def instrumented(f):
    return sorted({i.opname for i in dis.get_instructions(f, adaptive=True) if i.opname.startswith("INSTRUMENTED_")})
for exclude in (), "__main__":
    with ocular.tracing(exclude=exclude, perfetto=False, console=False):
        work(3)
        found = instrumented(work)
    print(*found)
""", cwd=temp)
        rec.equal(done.returncode, 0, done.stderr)
        heard, left_out = done.stdout.split("\n")[:2]
        assert {"INSTRUMENTED_RESUME", "INSTRUMENTED_JUMP_BACKWARD"} <= set(heard.split()), heard
        rec.equal(left_out, "")


def test_a_start_that_is_refused_leaves_nothing():
    """Nor does it touch an earlier recording, tool ids, or leave a recorder that waits."""
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
import os, sys, warnings
from ocular import monitor
def told(f, *args, **kwargs):
    try:
        with warnings.catch_warnings(record=True) as found:
            f(*args, **kwargs)
        for w in found: print(w.category.__name__, w.message)
    except Exception as e:
        print(type(e).__name__, e)
with ocular.tracing(perfetto=False, console=False):
    work(3)
told(ocular.start_tracing, mode="opcodes")
told(monitor.start, "nowhere", "opcodes", backend="software")
for wrong in [1], None, b"json", ("json", None):
    told(ocular.start_tracing, include=wrong)
told(ocular.start_tracing, exclude=7)
print([sys.monitoring.get_tool(i) for i in range(6)], os.listdir("."))
for i in range(6): sys.monitoring.use_tool_id(i, "tool")
told(ocular.start_tracing)
print(os.listdir("."))
""", cwd=temp, OCULAR_BACKEND="software")
        rec.equal(done.returncode, 0, done.stderr)
        opcodes, direct, *patterns, exclude, free, tools, left = done.stdout.splitlines()
        for line, how in (opcodes, "OcularWarning ocular: this is not traced: "), (direct, "ValueError ocular: "):
            assert line.startswith(how + "mode opcodes needs a processor trace"), line
        rec.equal(patterns, ["TypeError ocular: include is a str or a list of them, not " + wrong
                             for wrong in ("[1]", "None", "b'json'", "('json', None)")])
        rec.equal(exclude, "TypeError ocular: exclude is a str or a list of them, not 7")
        rec.equal(free, str([None] * 6) + " ['ocular.data']")
        assert tools.startswith("OcularWarning ocular: this is not traced: no tool id"), tools
        rec.equal(left, "['ocular.data']")


def test_a_start_that_fails_ends_its_recorder():
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
import os, sys, warnings
from ocular import calibrate
measured = calibrate.measure
def fail(*args): raise OSError(5, "not now")
calibrate.measure = fail
with warnings.catch_warnings(record=True) as told:
    ocular.start_tracing(perfetto=False, console=False)
print(*(w.message for w in told), os.path.exists("ocular.data/.ocular.sock"), ocular.is_tracing())
calibrate.measure = measured
with ocular.tracing(perfetto=False, console=False):
    work(3)
""", cwd=temp)
        rec.equal((done.returncode, done.stdout), (0, "ocular: this is not traced: not now False False\n"), done.stderr)
        rec.equal(sum(e.name == "JUMP" for e in rec.Recording(temp + "/ocular.data", done).events("work")), 3)


def test_one_pattern_needs_no_list():
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
import json
with ocular.tracing(include="json", perfetto=False, console=False):
    json.loads("[1]")
    work(3)
""", cwd=temp)
        rec.equal(done.returncode, 0, done.stderr)
        r = rec.Recording(temp + "/ocular.data", done)
        rec.equal((len(r.code_of("loads")), r.code_of("work"), r.lines("header")[0]["include"]), (1, [], ["json"]))


def test_c_functions_are_asked_for():
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
with ocular.tracing(perfetto=False, console=False, c_calls=True):
    work(3)
    sorted([])
try:
    ocular.start_tracing("opcodes", c_calls=True)
except ValueError as e:
    print(e)
""", cwd=temp)
        rec.equal((done.returncode, done.stderr), (0, ""))
        assert "does not record calls of C functions" in done.stdout, done.stdout
        found = [line["qualname"] for line in rec.Recording(temp + "/ocular.data", done).lines("c_function")]
        assert "sorted" in found, found


def test_calls_inside_a_recording_nest():
    with rec.recording(WORK + """
work(1)
ocular.start_tracing()
assert ocular.is_tracing()
work(2)
ocular.stop_tracing()
assert ocular.is_tracing()
work(4)
""") as r:
        rec.equal((r.code, r.out, r.err), (0, "", ""))
        rec.equal(sum(e.name == "JUMP" for e in r.events("work")), 7)


def test_exceptions_that_wait_are_left_alone():
    with rec.recording("""
def raiser(n):
    if not n:
        raise KeyError("deep")
    try:
        raiser(n - 1)
    finally:
        list(range(n))
def generator():
    try:
        yield 1
    except ValueError as e:
        yield str(e)
    finally:
        pass
try:
    raiser(20)
except KeyError as e:
    print(repr(e), e.__context__)
g = generator(); next(g); print(g.throw(ValueError("thrown"))); g.close()
def deep(n):
    return deep(n + 1)
try:
    deep(0)
except RecursionError as e:
    print(type(e).__name__)
""", mode="full") as r:
        rec.equal((r.code, r.out, r.err), (0, "KeyError('deep') None\nthrown\nRecursionError\n", ""))


def test_the_command():
    with tempfile.TemporaryDirectory() as temp:
        done = python(None, "-X", "dev", "-Bmocular", "-o", temp + "/r", "--mode=calls", "-c",
                      "import sys; print(sys.argv, sys.flags.dev_mode, sys.dont_write_bytecode); sys.exit(7)", "x")
        rec.equal((done.returncode, done.stdout), (7, "['-c', 'x'] True True\n"), done.stderr)
        header, = rec.Recording(temp + "/r", done).lines("header")
        rec.equal(header["mode"], "calls")


def test_the_command_line_is_checked():
    for args, words in ((["--mode", "fast", "x.py"], "unknown mode"), (["--colour", "x.py"], "unknown option --colour"),
                        ([], "no program"), (["-m"], "no program"), (["-o"], "needs a value"),
                        (["--backend", "magic", "x.py"], "unknown backend")):
        done = python(None, "-m", "ocular", *args)
        rec.equal(done.returncode, 2, done.stderr)
        assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    done = python(None, "-m", "ocular", "--help")
    assert done.returncode == 0 and "examples:" in done.stdout


def test_flags_that_forbid_the_hook_are_told():
    with tempfile.TemporaryDirectory() as temp:
        for flag in ("-S",):
            done = python(None, flag, "-m", "ocular", "-o", temp + "/r", "-c", "1")
            rec.equal(done.returncode, 2, done.stderr)
            assert "cannot trace itself with" in done.stderr, done.stderr


def test_no_recorder_is_one_line_and_the_program_does_not_run():
    with tempfile.TemporaryDirectory() as temp:
        env = dict(os.environ, PYTHONPATH=rec.HOOK, OCULAR_MAIN="1", OCULAR_DIR=temp)
        done = subprocess.run([sys.executable, "-c", "print('ran')"], env=env, capture_output=True, text=True)
        rec.equal((done.returncode, done.stdout, done.stderr.count("\n")), (125, "", 1), done.stderr)
        assert "no recorder" in done.stderr
        del env["OCULAR_MAIN"]
        done = subprocess.run([sys.executable, "-c", "print('ran')"], env=env, capture_output=True, text=True)
        rec.equal((done.returncode, done.stdout, done.stderr), (0, "ran\n", ""))


def test_why_nobody_can_attach():
    """The hook with a package whose agent cannot start: what it says has nothing to do with a recorder."""
    with tempfile.TemporaryDirectory() as temp:
        os.mkdir(temp + "/ocular")
        for path, source in (("/ocular/__init__.py", ""),
                             ("/ocular/agent.py", "def start(): raise FileNotFoundError(2, 'None', '/proc/self/ns/pid')\n")):
            with open(temp + path, "w") as f:
                f.write(source)
        shutil.copytree(rec.HOOK, temp + "/hook")
        done = python("print('ran')", path=temp + "/hook", OCULAR_LISTEN="1", OCULAR_MAIN="1")
        rec.equal((done.returncode, done.stdout, done.stderr), (
            125, "", "ocular: cannot listen: FileNotFoundError: [Errno 2] None: '/proc/self/ns/pid'\n"))


JITS = """
import os, sys
sys.path.insert(0, sys.argv[1])
from ocular import monitor
class Jit:
    on = True
    is_enabled = classmethod(lambda cls: cls.on)
    built = True
    is_available = classmethod(lambda cls: cls.built)
os.environ.pop("PYTHON_JIT", None)
said = []
for sys.version_info, sys._jit, Jit.on in ((3, 14, 2), Jit, True), ((3, 14, 2), Jit, False), ((3, 15, 0), Jit, True), ((3, 13, 1), None, 0):
    said.append(monitor.jit_warning())
# In sitecustomize it is never enabled yet.
sys.version_info, sys._jit, Jit.on = (3, 14, 2), Jit, False
for Jit.built, os.environ["PYTHON_JIT"] in (True, "1"), (True, "0"), (True, ""), (False, "1"):
    said.append(monitor.jit_warning())
print(["156319" in (line or "") for line in said])
"""


def test_a_jit_that_corrupts_what_is_traced():
    done = subprocess.run([sys.executable, "-c", JITS, os.path.dirname(rec.HOOK)], capture_output=True, text=True)
    rec.equal(done.stdout, "[True, False, False, False, True, False, False, False]\n", done.stderr)


def test_the_warning_of_it_is_seen():
    """On stderr, once, of the program itself and not of its children; and it runs."""
    with tempfile.TemporaryDirectory() as temp:
        shutil.copytree(os.path.dirname(rec.HOOK), temp + "/python")
        with open(temp + "/python/ocular/monitor.py", "a") as f:
            f.write("def jit_warning(): return 'ocular: beware'\n")
        env = dict(os.environ, PYTHONPATH=temp + "/python/hook", OCULAR_MAIN="1")
        done = subprocess.run([rec.RECORDER, "-q", "-o", temp + "/rec", "--", sys.executable, "-c",
                               "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1)'])"],
                              env=env, capture_output=True, text=True)
        rec.equal((done.returncode, done.stdout, done.stderr), (0, "1\n", "ocular: beware\n"))


def test_what_somebody_put_in_the_tables_place_is_not_written():
    """Nothing is written through a link, and no process waits for the other end of a FIFO. Untraced children go on, too."""
    for put in "ln -s \"$1\"", "ln \"$1\"", "mkfifo":
        with tempfile.TemporaryDirectory() as temp:
            victim, folder = temp + "/victim", temp + "/rec"
            with open(victim, "w") as f:
                f.write("precious")
            if put.startswith("ln \"") and os.geteuid():
                continue  # a file of another user's under that name, which takes root to make
            if put.startswith("ln \""):
                os.chown(victim, 65534, 65534)
            for main in "1", "":
                script = put + " \"$OCULAR_DIR/codes-$$.jsonl\"; OCULAR_MAIN=%s exec \"$0\" -c \"print('ran')\"" % main
                if not main:
                    script = script.replace("OCULAR_MAIN=", "unset OCULAR_MAIN;")
                done = subprocess.run([rec.RECORDER, "-q", "-o", folder, "--", "sh", "-c", script, sys.executable, victim],
                                      env=dict(os.environ, PYTHONPATH=rec.HOOK), capture_output=True, text=True, timeout=60)
                rec.equal((done.returncode, done.stdout), (125, "") if main else (0, "ran\n"), (put, done.stderr))
                with open(victim) as f:
                    rec.equal(f.read(), "precious", put)


def test_a_path_that_is_too_long_for_the_table():
    with tempfile.TemporaryDirectory() as temp:
        deep = os.path.realpath(temp)
        while len(deep) < 4085:
            deep = os.path.join(deep, "d" * min(200, 4085 - len(deep) - 1))
        os.makedirs(os.path.dirname(deep))
        done = subprocess.run([rec.RECORDER, "-q", "-o", deep, "--", sys.executable, "-c", "print('ran')"], text=True,
                              env=dict(os.environ, PYTHONPATH=rec.HOOK, OCULAR_MAIN="1"), capture_output=True)
        rec.equal((done.returncode, done.stdout), (125, ""), done.stderr)
        assert "File name too long" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        rec.equal(os.listdir(deep), ["perf.data"])


def test_paths_that_are_no_utf_8():
    """Of the recording, the program and patterns."""
    with tempfile.TemporaryDirectory() as temp:
        home = temp + "/\udcff"
        os.mkdir(home)
        for name in "app.py", "other.py":
            with open(home + "/" + name, "w") as f:
                f.write("def in_%s(): pass\nin_%s()\n" % (name[:-3], name[:-3]))
        for option, seen in ("OCULAR_INCLUDE", ("in_app",)), ("OCULAR_EXCLUDE", ("in_other",)):
            folder = home + "/" + option
            done = subprocess.run(
                [rec.RECORDER, "-q", "-o", folder, "--", sys.executable, "-c",
                 "import sys, runpy; [runpy.run_path(p) for p in sys.argv[1:]]", home + "/app.py", home + "/other.py"],
                env=dict(os.environ, PYTHONPATH=rec.HOOK, OCULAR_MAIN="1", **{option: home + "/app.py"}),
                capture_output=True, text=True)
            rec.equal((done.returncode, done.stderr), (0, ""))
            r = rec.Recording(folder, done)
            rec.equal(tuple(c["qualname"] for c in r.lines("code") if c["qualname"].startswith("in_")), seen)
            rec.equal(sum(e.name == "PY_START" for e in r.events(*seen)), 1)


def test_a_session_in_a_folder_that_is_no_utf_8():
    with tempfile.TemporaryDirectory() as temp:
        done = python(WORK + """
import subprocess, sys
again = "import ocular, sys; ocular.start_tracing(output=sys.argv[1])"
with ocular.tracing(output="o\\udcff", perfetto=False):
    work(3)
    other = subprocess.run([sys.executable, "-c", again, "o\\udcff"], stderr=subprocess.PIPE, text=True)
    print(other.stderr.splitlines()[0])
""", cwd=temp)
        rec.equal(done.returncode, 0, done.stderr)
        assert "/o\\xff is being recorded into" in done.stdout and "function, by self" in done.stdout, done.stdout


def test_the_users_sitecustomize_comes_after_ours():
    with tempfile.TemporaryDirectory() as temp:
        with open(temp + "/sitecustomize.py", "w") as f:
            f.write("import sys\nsys.theirs = __file__\n")
        env = os.pathsep.join([rec.HOOK, temp])
        folder = temp + "/rec"
        done = subprocess.run(
            [rec.RECORDER, "-q", "-o", folder, "--", sys.executable, "-c",
             "import sys; print(sys.theirs, sys.modules['sitecustomize'].__file__, len([p for p in sys.path if 'hook' in p]))"],
            env=dict(os.environ, PYTHONPATH=env, OCULAR_MAIN="1"), capture_output=True, text=True)
        theirs = temp + "/sitecustomize.py"
        rec.equal(done.stdout, "%s %s 0\n" % (theirs, theirs), done.stderr)


def test_modules_are_as_they_were_but_for_ours():
    source = "import sys; print(sorted(m for m in sys.modules if not m.startswith('ocular')))"
    plain = python(source, path="")
    with rec.recording(source) as r:
        extra = set(eval(r.out)) - set(eval(plain.stdout))
        rec.equal(extra - {"atexit"}, set())


if __name__ == "__main__":
    rec.run(globals())
