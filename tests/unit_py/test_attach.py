# SPDX-License-Identifier: MIT
"""Attach and detach: the program is traced while it lasts, and afterwards as it was.

OCULAR_ROUNDS=200 is the long form; the default keeps the test short.
"""

import contextlib
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from unittest import mock

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import attach as way_in, debugger  # noqa: E402

ROUNDS = int(os.environ.get("OCULAR_ROUNDS", "6"))
KILLS = max(2, ROUNDS // 5)
PT = os.path.join(rec.BUILD, "bin", "ocular-pt")
PACKAGE = os.path.join(rec.BUILD, "python")

BUSY = """
import dis, sys, threading, time
counts = [0] * 8
def work():
    for _ in range(20):
        pass
def loop(k):
    while True:
        for _ in range(500):
            work()
            counts[k] += 1
        time.sleep(0.01)
for k in range(8):
    threading.Thread(target=loop, args=(k,), daemon=True).start()
def state():
    m = sys.monitoring
    tools = [m.get_tool(i) for i in range(6)]
    work()  # CPython takes instrumentation away as code is entered
    left = [i.opname for i in dis.get_instructions(work, adaptive=True) if i.opname.startswith("INSTRUMENTED_")]
    return [left, tools, [m.get_events(i) for i in range(6) if tools[i]], threading.active_count(), sys.path]
before = state()
print("ready", flush=True)
import select
while True:
    # Not asleep for long: without an agent, the main thread must come by to answer.
    if select.select([sys.stdin], [], [], 0.01)[0]:
        what = {"same": lambda: state() == before, "done": lambda: sum(counts)}
        print(what[sys.stdin.readline().strip()](), flush=True)
"""


def can_gdb():
    return not hasattr(sys, "remote_exec") and shutil.which("gdb")


def needs_gdb():
    if hasattr(sys, "remote_exec"):
        raise rec.Skip("this Python needs no gdb")
    if not can_gdb():
        rec.missing("gdb")


def needs_way_in():
    """Without an agent."""
    if not hasattr(sys, "remote_exec"):
        needs_gdb()


@contextlib.contextmanager
def target(source=BUSY, listen=False, **more):
    env = dict(os.environ, **more)
    command = [sys.executable, "-c", source]
    if listen:
        env.update(OCULAR_LISTEN="1", PYTHONPATH=rec.HOOK)
    run = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    try:
        equal(run.stdout.readline(), "ready\n")
        yield run
    finally:
        run.kill()
        run.communicate()


def command(pid, folder, *options):
    return [sys.executable, "-m", "ocular.attach", str(pid), "-o", folder, *options]


def attach(pid, folder, *options, timeout=60):
    return subprocess.run(command(pid, folder, *options), env=dict(os.environ, PYTHONPATH=PACKAGE), timeout=timeout,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)


@contextlib.contextmanager
def attached(run, folder, *options):
    """Attached, until it is asked to detach: the tool's process."""
    tool = subprocess.Popen(command(run.pid, folder, *options), env=dict(os.environ, PYTHONPATH=PACKAGE),
                            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = tool.stderr.readline()
        assert "attached to %d by " % run.pid in line, line
        tool.said = line
        yield tool
        tool.send_signal(signal.SIGINT)
        rest = tool.communicate(timeout=60)[1]
        equal((tool.returncode, "detached" in rest), (0, True), rest)
    finally:
        tool.kill()
        tool.wait()


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="ocular-attach-") as temp:
        yield os.path.join(temp, "rec")


def ask(run, what):
    """same: is it as it was at first? done: calls of work so far."""
    run.stdin.write(what + "\n")
    run.stdin.flush()
    return json.loads(run.stdout.readline().lower())


def work_on(run):
    """Let it do something, however slow the machine is. Returns how much it did at least."""
    before = ask(run, "done")
    return rec.wait_for(lambda: max(0, ask(run, "done") - before - 2000), "work") + 2000


def status(pid, name):
    with open("/proc/%d/status" % pid) as f:
        return int(next(line.split()[1] for line in f if line.startswith(name + ":")))


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def check_recording(folder, but=()):
    """Complete, and nothing lost; returns how often work was called. `but`: losses that may be."""
    equal(sorted(os.listdir(folder))[1:], ["perf.data"])
    r = rec.Recording(folder, subprocess.CompletedProcess([], 0, "", ""))
    (table,) = r.tables().values()
    equal([line["lost"] for line in table if line["kind"] == "stop"], [0])
    result = summary(folder)
    # Frames that were open before; nothing else may be amiss.
    equal({k: v for k, v in result["losses"].items() if v and k not in ("gaps", "unmatched", *but)}, {})
    return calls(result, "work")


def summary(folder):
    done = subprocess.run([PT, "summary=-", folder], capture_output=True, stdin=subprocess.DEVNULL)
    equal(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


def calls(result, name):
    return sum(f["calls"] for f in result["functions"] if f["qualname"] == name)


def one_round(run, folder, *options):
    """All that it did meanwhile is in the recording, by its own count."""
    before = ask(run, "done")
    with attached(run, folder, "--mode", "calls", *options):
        least = work_on(run)
    most = ask(run, "done") - before
    found = check_recording(folder)
    assert least - 8 <= found <= most + 8, (least, found, most)  # each thread may be in one


def short_round(run, folder):
    """One that ends by itself: nobody knows how much it did in it, but not more than from before to after."""
    before = ask(run, "done")
    done = attach(run.pid, folder, "--for", "30ms", "--mode", "calls")
    equal((done.returncode, run.poll()), (0, None), done.stderr)
    most = ask(run, "done") - before
    found = check_recording(folder)
    assert found <= most + 8, (found, most)


def rounds(listen, n):
    with target(listen=listen) as run, scratch() as folder:
        for i in range(n):
            (short_round if i % 2 and i < n - 1 else one_round)(run, folder)
            if i == 1:  # what Python allocates once is there by now
                memory, files = status(run.pid, "VmRSS"), descriptors(run.pid)
        assert ask(run, "same")
        equal(status(run.pid, "Threads"), 9 + listen)
        equal(descriptors(run.pid), files)
        assert status(run.pid, "VmRSS") < memory + 200 + 20 * n, (memory, status(run.pid, "VmRSS"))
        if n > 20:
            print("# %d rounds: %d then %d KB" % (n, memory, status(run.pid, "VmRSS")), flush=True)


def test_rounds_by_its_agent():
    rounds(True, ROUNDS)


def test_rounds_without_an_agent():
    needs_way_in()
    rounds(False, ROUNDS if ROUNDS > 20 else max(2, ROUNDS // 3))


def test_snapshots_of_a_running_program():
    with target(listen=True) as run, scratch() as folder:
        with attached(run, folder, "--flight", "256K", "--trigger", "__main__:nothing > 1s",
                      "--trigger-lag", "100s") as tool:
            assert "by its agent" in tool.said
            work_on(run)
        assert check_recording(folder, ["markers"]) > 20  # those between two snapshots
        equal(ask(run, "same"), True)


def catches(pid, number):
    """Whether a process has a handler for this signal."""
    with open("/proc/%d/status" % pid) as f:
        mask = next(int(line.split()[1], 16) for line in f if line.startswith("SigCgt:"))
    return bool(mask >> (number - 1) & 1)


def test_ctrl_c_with_the_first_word():
    """The tool waits for room to say that it is attached; nobody can have read that before Ctrl-C detaches."""
    with target(listen=True) as run, scratch() as folder:
        said, stderr = os.pipe()
        size = fcntl.fcntl(stderr, fcntl.F_SETPIPE_SZ, 4096)
        os.write(stderr, b"\n" * size)
        tool = subprocess.Popen(command(run.pid, folder, "--mode", "calls"), env=dict(os.environ, PYTHONPATH=PACKAGE),
                                stdin=subprocess.DEVNULL, stderr=stderr)
        os.close(stderr)
        try:
            # Python itself has a handler for SIGINT, but none for SIGTERM.
            rec.wait_for(lambda: catches(tool.pid, signal.SIGTERM), "the handlers")
            tool.send_signal(signal.SIGINT)
            with open(said) as f:
                text = f.read().strip()
            tool.wait(60)
        finally:
            tool.kill()
            tool.wait()
        equal((tool.returncode, re.findall("attached|detached", text)), (0, ["attached", "detached"]), text)
        equal(ask(run, "same"), True)


def test_a_sleeping_main_thread_answers_by_its_agent():
    source = "print('ready', flush=True)\nimport time\ntime.sleep(60)\n"
    with target(source, listen=True) as run, scratch() as folder:
        done = attach(run.pid, folder, "--for", "50ms")
        equal(done.returncode, 0, done.stderr)


# What the main thread does while somebody attaches.
DEEP = """
import sys
def bottom():
    while True:
        pass
def down(n):
    return down(n - 1) if n else bottom()
def room(n=1):
    try:
        return room(n + 1)
    except RecursionError:
        return n
print("ready", flush=True)
down(room() - %d)
"""
IMPORT = """
import importlib.util, sys
class Endless:
    create_module = lambda self, spec: None
    find_spec = lambda self, name, *_: importlib.util.spec_from_loader(name, self) if name == "endless" else None
    def exec_module(self, module):
        print("ready", flush=True)
        while True:
            import json.decoder
            sys.modules.pop("json.decoder")
sys.meta_path.insert(0, Endless())
import endless
"""
# C code for ever, that does not look for signals as `re` does since 3.14.
HASH = "import hashlib\nprint('ready', flush=True)\nhashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)\n"
GIL = "import ctypes\nprint('ready', flush=True)\nctypes.PyDLL(None).sleep(600)\n"
MOMENTS = (  # source, does its agent answer, does it answer without one
    ("deep recursion", DEEP % 5, True, True),
    ("the limit of recursion", DEEP % 2, True, False),
    ("an import", IMPORT, True, True),
    ("C code", HASH, True, False),
    ("C code that holds the interpreter", GIL, False, False),
)


def at_moments(listen):
    for name, source, *answers in MOMENTS:
        with target(source, listen=listen) as run, scratch() as folder:
            done = attach(run.pid, folder, "--wait", "10s" if answers[not listen] else "500ms", "--for", "50ms")
            if answers[not listen]:
                equal(done.returncode, 0, (name, done.stderr))
            else:
                words = "did not answer within 0.5 s (by %s" % ("its agent" if listen else "")
                equal((done.returncode, done.stderr.count("\n"), words in done.stderr), (1, 1, True), (name, done.stderr))
            equal(run.poll(), None, name)
            with open("/proc/%d/maps" % run.pid) as f:
                equal([line for line in f if line.startswith("5c0") and line.index("-") == 12 and answers[not listen]],
                      [], "a page of gdb's order stays")


def test_moments_by_its_agent():
    at_moments(True)


def test_moments_without_an_agent():
    needs_way_in()
    at_moments(False)


# 16 vector registers (whole ones: AVX), the flags and MXCSR hold a pattern while somebody attaches, and are looked at afterwards.
HOLD = r"""
int hold(volatile int *go, unsigned char *into, const unsigned char *from)
{
	int flags;
	__asm__ volatile(
		".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\tvmovups 32*\\n(%2), %%ymm\\n\n\t.endr\n\t"
		"stmxcsr 512(%1)\n\txorl $0x6000, 512(%1)\n\tldmxcsr 512(%1)\n"
		"1:\tcmpl $0, (%3)\n\tje 1b\n\t"
		"pushfq\n\tpopq %%rax\n\tmovl %%eax, %0\n\tstmxcsr 516(%1)\n\txorl $0x6000, 516(%1)\n\tldmxcsr 516(%1)\n\txorl $0x6000, 516(%1)\n\t"
		".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\tvmovups %%ymm\\n, 32*\\n(%1)\n\t.endr\n\tvzeroupper"
		: "=&r"(flags) : "r"(into), "r"(from), "r"(go) : "rax", "cc", "memory");
	return flags & 0x400;
}
/* In Py_AddPendingCall's place: refuses, and leaves no register as it was. */
int spoil(void *function, void *argument)
{
	int other = 0x7f80; /* rounds towards 0 */

	__asm__ volatile("vzeroall\n\tldmxcsr %0" : : "m"(other));
	return -1;
}
"""
HOLDER = """
import ctypes, sys, threading
hold = ctypes.CDLL(%r).hold
go, into, pattern = ctypes.c_int(0), ctypes.create_string_buffer(520), bytes(range(256)) * 2
def wait():
    sys.stdin.readline()
    go.value = 1
threading.Thread(target=wait).start()
print("ready", flush=True)
down = hold(ctypes.byref(go), into, pattern)
print(into.raw[:512] == pattern, into.raw[512:516] == into.raw[516:], down)
"""


def test_registers_stay_as_they_are():
    with open("/proc/cpuinfo") as f:
        if " avx " not in f.read():
            raise rec.Skip("no AVX")
    needs_gdb()
    with tempfile.TemporaryDirectory(prefix="ocular-attach-") as temp:
        library = os.path.join(temp, "hold.so")
        subprocess.run(["cc", "-x", "c", "-shared", "-fPIC", "-O1", "-o", library, "-"], input=HOLD, text=True, check=True)
        with target(HOLDER % library) as run, scratch() as folder:
            done = attach(run.pid, folder, "--wait", "300ms")
            equal((done.returncode, "did not answer" in done.stderr), (1, True), done.stderr)
            with contextlib.closing(debugger.Gdb(shutil.which("gdb"), run.pid, 15)) as gdb, mock.patch.object(
                    way_in, "FUNCTIONS", (*way_in.FUNCTIONS[:-1], "spoil")):
                try:
                    way_in.add_pending(gdb, "/nowhere")
                except OSError as e:
                    equal(str(e), "too many calls are pending")
                else:
                    raise AssertionError("spoil was not called")
            equal(run.communicate("\n", timeout=60), ("True True 0\n", ""))


def test_a_call_that_does_not_return_is_taken_back():
    needs_gdb()
    with target() as run:
        with contextlib.closing(debugger.Gdb(shutil.which("gdb"), run.pid, 60)) as gdb:
            equal(gdb.call(gdb.address("getpid")), run.pid)
            pause, gdb.deadline = gdb.address("pause"), 0
            equal(gdb.call(pause), None)
        work_on(run)
        equal(ask(run, "same"), True)
        equal(run.poll(), None)


@contextlib.contextmanager
def gdb_like(script):
    """A gdb on PATH that is this script; {gdb} in it is the real one. It goes on as its process group does."""
    with tempfile.TemporaryDirectory(prefix="ocular-attach-") as temp:
        path = os.path.join(temp, "gdb")
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + script.format(gdb=shutil.which("gdb")))
        os.chmod(path, 0o755)
        with mock.patch.dict(os.environ, PATH=temp + ":" + os.environ["PATH"]):
            yield


def test_gdb_that_warns_behind_its_answers():
    """As gdb 16 does for a thread in a function of the C library that is written in assembler, and has debug information."""
    needs_gdb()
    warns = "{gdb} \"$@\" | sed -u '/^end-of-answer/a Warning: the current language does not match this frame.'"
    with gdb_like(warns), target() as run, scratch() as folder:
        one_round(run, folder)
        equal(ask(run, "same"), True)


HOLDS = """
while read -r word rest; do
    case $word in
    echo) printf '\\nend-of-answer-1\\n' ;;
    attach) {gdb} -nx -q -p "$rest" -ex 'shell sleep 1000' ;;
    esac
done
"""
BAD_GDBS = {
    "dies": ("exit 1", "it has ended"),
    "is dumb once it holds the program": ("{gdb} \"$@\" | sed -u '/^end-of-answer-[2-9]/d'", "no answer in time"),
    "is dumb in the middle": ("{gdb} \"$@\" | sed -u '/^end-of-answer-[1-9][0-9]/d'", "no answer in time"),
    "dies once it holds the program": ("sed -u '/^echo .*-2/q' | {gdb} \"$@\"", "it has ended"),
    "holds the program, and hears nothing": (HOLDS, "no answer in time"),
    "says anything": ("{gdb} \"$@\" | sed -u '/^=/s/.*/=x/'", "it did not attach"),
    "talks without end": ("yes", "it printed too much"),
}


def test_gdb_that_does_not_do_lets_the_program_go():
    needs_gdb()
    equal(debugger.HELD + 2 * (debugger.A_CALL + debugger.TAKE_BACK) + debugger.LEAVE <= 2, True)
    for what, (script, why) in BAD_GDBS.items():
        with gdb_like(script), target() as run, scratch() as folder:
            done = attach(run.pid, folder)
            equal((done.returncode, done.stderr), (1, "ocular: gdb: %s\n" % why), what)
            equal((status(run.pid, "TracerPid"), debugger.stands(run.pid)), (0, False), what)
            work_on(run)
            equal((ask(run, "same"), run.poll()), (True, None), what)


TAKEN = """
import os, socket, sys
sys.path.insert(0, %r)
from ocular import agent
taken, tell = os.pipe()
if os.fork():
    os.read(taken, 1)  # the name is taken when the program begins, and stays so
    os.environ.update(OCULAR_LISTEN="1", OCULAR_MAIN="1", PYTHONPATH=%r)
    os.execv(sys.executable, [sys.executable, "-c", %r])
taker = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
taker.bind(agent.address(os.getppid()))
taker.listen(4)
for fd in 0, 1, 2:
    os.close(fd)
with open(%r, "w") as f:
    f.write(str(os.getpid()))
os.write(tell, b"x")
import time
while True:
    time.sleep(1)
"""


def test_a_program_runs_though_its_agents_name_is_taken():
    """By a process that is not it; and it can be attached to in another way."""
    with tempfile.TemporaryDirectory(prefix="ocular-attach-") as temp:
        note = os.path.join(temp, "taker")
        with target(TAKEN % (PACKAGE, rec.HOOK, BUSY, note)) as run:
            try:
                if hasattr(sys, "remote_exec") or can_gdb():
                    one_round(run, os.path.join(temp, "rec"))
                work_on(run)
                equal(ask(run, "same"), True)
            finally:
                with open(note) as f:
                    os.kill(int(f.read()), signal.SIGKILL)
            run.kill()
            equal(run.stderr.read(), "ocular: another process has taken the name of this program's agent: the program runs without one\n")


def test_an_order_that_comes_late_does_nothing():
    needs_way_in()
    source = """
import sys
m = sys.monitoring
print("ready", flush=True)
sys.stdin.readline()
for i in range(1000): pass
print([m.get_tool(i) for i in range(6)], "ocular" in sys.modules, len(sys.path), sys.getrecursionlimit())
"""
    with target(source) as run, scratch() as folder:
        done = attach(run.pid, folder, "--wait", "300ms")
        equal((done.returncode, "did not answer" in done.stderr), (1, True), done.stderr)
        with open(os.path.join(folder, ".attach.py")) as f:
            equal(f.read(), "")
        out, err = run.communicate("\n", timeout=60)
        plain = subprocess.run([sys.executable, "-c", source], input="\n", capture_output=True, text=True)
        equal(("ready\n" + out, err), (plain.stdout, plain.stderr))


def test_refusals():
    with scratch() as folder:
        for pid, words in (999999999, "there is no process"), (os.getpid(), None):
            if words:
                done = attach(pid, folder)
                equal((done.returncode, words in done.stderr, done.stderr.count("\n")), (1, True, 1), done.stderr)
                assert not os.path.exists(folder)
    with target(listen=True) as run, scratch() as folder:
        for option, value, words in (("--mode", "fast", "unknown mode 'fast'"), ("--mode", "opcodes", "needs a processor trace"),
                                     ("--trigger", "m:f", "need --flight"),
                                     ("--trigger-lag", "soon", "not a time")):
            done = attach(run.pid, folder, option, value)
            equal((done.returncode, words in done.stderr), (1, True), done.stderr)
        first = subprocess.Popen(command(run.pid, folder, "-q"), env=dict(os.environ, PYTHONPATH=PACKAGE))
        rec.wait_for(lambda: glob.glob(folder + "/*.jsonl"), "the table")
        done = attach(run.pid, folder + "2")
        equal((done.returncode, "already tracing into " + folder in done.stderr), (1, True), done.stderr)
        first.send_signal(signal.SIGINT)
        equal(first.wait(60), 0)
        equal(ask(run, "same"), True)


def refused(run, words, setup="", pid=None):
    """attach, in a process that runs `setup` first, says so in one line and makes nothing."""
    with scratch() as folder:
        os.chmod(os.path.dirname(folder), 0o777)
        script = "import os, sys\nfrom ocular import attach\n%s\nattach.main()\n" % setup
        done = subprocess.run([sys.executable, "-c", script, str(pid or run.pid), "-o", folder], capture_output=True,
                              env=dict(os.environ, PYTHONPATH=PACKAGE), text=True, stdin=subprocess.DEVNULL, timeout=60)
        equal((done.returncode, done.stderr.count("\n"), words in done.stderr), (1, 1, True), done.stderr)


NOBODY = "os.setgroups([]); os.setgid(65534); os.setuid(65534)"


def test_another_user():
    if os.geteuid():
        raise rec.Skip("needs root, to be another user")
    with target(listen=True) as run:
        refused(run, "belongs to another user", NOBODY)
        # It does not ask for leave either: the kernel says who it is.
        script = ("import os, sys; from ocular import agent\n" + NOBODY + "\n"
                  "s = agent._socket.socket(agent._socket.AF_UNIX, agent._socket.SOCK_SEQPACKET)\n"
                  "s.settimeout(10)\n"
                  "s.connect(agent.address(%d))\n"
                  "try: s.send(b'{}'); print(s.recv(10))\n"
                  "except OSError: print(b'')\n") % run.pid
        done = subprocess.run([sys.executable, "-c", script], env=dict(os.environ, PYTHONPATH=PACKAGE),
                              capture_output=True, text=True)
        equal((done.stdout, done.stderr), ("b''\n", ""))
        equal(ask(run, "same"), True)
    with target("import dis, os, select, sys, threading, time\n" + NOBODY + "\n" + BUSY, listen=True) as run:
        refused(run, "belongs to another user")
        rows = subprocess.run([sys.executable, "-m", "ocular.processes"], env=dict(os.environ, PYTHONPATH=PACKAGE),
                              capture_output=True, text=True).stdout
        assert [row for row in rows.splitlines() if row.split()[0] == str(run.pid) and "no: another user's" in row], rows


def test_what_the_kernel_forbids():
    needs_way_in()
    refuse = "def no(*_): raise PermissionError(1, 'no')\nif hasattr(sys, 'remote_exec'): sys.remote_exec = no\n"
    with target() as run, tempfile.NamedTemporaryFile("w+") as scope:
        fake = refuse + "attach.PTRACE_SCOPE = %r\nos.geteuid = lambda: %d\nattach.user_of = lambda pid: %d\n"
        for level, user, words in (1, 1, "is 1): attach as root, or after"), (2, 1, "is 2): attach as root,"), \
                (3, 0, "is 3): attach after the next boot"):
            scope.seek(0)
            scope.write("%d\n" % level)
            scope.flush()
            refused(run, words, fake % (scope.name, user, user))
        equal(ask(run, "same"), True)


def needs_containers():
    if not shutil.which("unshare") or subprocess.run(["unshare", "-mpf", "--propagation", "unchanged", "true"], stderr=subprocess.DEVNULL).returncode:
        raise rec.Skip("needs unshare, and the right to make one")


def test_containers():
    needs_containers()
    # The propagation of mounts stays as it is: in a changed root it cannot be set.
    for options, words in (("-pf --kill-child", "another pid namespace"),
                           ("-m --propagation unchanged", "another mnt namespace")):
        run = subprocess.Popen(["unshare", *options.split(), sys.executable, "-c",
                                "print('ready', flush=True)\nwhile True: pass"], stdout=subprocess.PIPE, text=True)
        try:
            equal(run.stdout.readline(), "ready\n")
            pid = run.pid
            if "-pf" in options:
                with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                    pid = int(f.read())
            refused(run, words, pid=pid)
        finally:
            run.kill()
            run.communicate()


def test_agents_in_containers():
    """With one network for all of them, as pods have: both listen with the same pid, and can be distinguished."""
    needs_containers()
    command = ["unshare", "-pf", "--kill-child", sys.executable, "-c",
               "import os, sys\nprint(os.getpid(), os.stat('/proc/self/ns/pid').st_ino, flush=True)\nsys.stdin.read()"]
    env = dict(os.environ, OCULAR_LISTEN="1", PYTHONPATH=rec.HOOK)
    runs = [subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    try:
        names = {"@ocular-agent-%s-%s" % tuple(reversed(run.stdout.readline().split())) for run in runs}
        with open("/proc/net/unix", errors="replace") as f:
            found = {line.split()[-1] for line in f if "@ocular-agent-" in line}
        equal((len(names), names <= found, {name.rsplit("-")[-1] for name in names}), (2, True, {"1"}))
        script = "from ocular import processes; print(1 in processes.agents())"
        done = subprocess.run([sys.executable, "-c", script], env=dict(os.environ, PYTHONPATH=PACKAGE), capture_output=True, text=True)
        equal((done.stdout, done.stderr), ("False\n", ""))
    finally:
        for run in runs:
            equal(run.communicate(timeout=60)[1], "")


def test_an_older_python():
    run = subprocess.Popen([rec.old_python(), "-c", "print('ready', flush=True)\nwhile True: pass"],
                           stdout=subprocess.PIPE, text=True)
    try:
        equal(run.stdout.readline(), "ready\n")
        refused(run, "3.12 or newer")
    finally:
        run.kill()
        run.communicate()


def test_no_python():
    with subprocess.Popen(["sleep", "600"]) as run:
        try:
            rec.wait_for(lambda: os.readlink("/proc/%d/exe" % run.pid).endswith(("sleep", "coreutils")), "exec")
            refused(run, "is not a Python")
        finally:
            run.kill()


def strange_elf(machine, code):
    """A program of one page that runs `code`."""
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0x400078, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 0x1000)
    return header + segment + code


def test_another_architecture():
    """A program of Arm's architecture with the name of a Python, on an emulator; and this Python on one."""
    pause = struct.pack("<4I", 0xd2800000, 0xd2800928, 0xd4000001, 0x17fffffd)  # mov x0, 0; mov x8, 73; svc 0; b .-12
    with tempfile.TemporaryDirectory(prefix="ocular-attach-") as folder:
        arm = os.path.join(folder, "python3.13")
        with open(arm, "wb") as f:
            f.write(strange_elf(183, pause))
        os.chmod(arm, 0o755)
        tried = 0
        for emulator, command, words in (("qemu-aarch64", [arm], "is of another architecture"),
                                         ("qemu-x86_64", [sys.executable, "-c", "while True: pass"], "runs on an emulator")):
            if not shutil.which(emulator):
                continue
            tried += 1
            run = subprocess.Popen([emulator, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                with open("/proc/%d/maps" % run.pid) as f:
                    rec.wait_for(lambda: f.seek(0) or os.path.realpath(command[0]) in f.read(), emulator)
                refused(run, words)
            finally:
                run.kill()
                run.communicate()
    if not tried:
        rec.missing("qemu-user")


def test_the_tool_is_killed():
    with target(listen=True) as run, scratch() as folder:
        tool = subprocess.Popen(command(run.pid, folder, "--mode", "calls"), env=dict(os.environ, PYTHONPATH=PACKAGE),
                                stderr=subprocess.PIPE, text=True)
        assert "attached" in tool.stderr.readline()
        least = work_on(run)
        tool.kill()
        tool.communicate()
        rec.wait_for(lambda: ask(run, "same"), "the end of tracing")  # it notices that nobody reads
        rec.wait_for(lambda: not os.path.exists(folder + "/.ocular.sock"), "the recorder's end")
        assert calls(summary(folder), "work") >= least - 8


# A guest whose recorder is killed; then a single thread calls traced code, until tracing has ended.
DESERTED = """
import _thread, ctypes, os, sys
from ocular import _core, monitor, tools
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: the recorder's end is seen by waiting for it
exec(compile("def work(): pass", "/traced.py", "exec"))
folder, main_sleeps, has_ring = sys.argv[1], *map(int, sys.argv[2:])
tools.serve(folder)
monitor.start(folder, "calls", include=["/traced.py"], backend="software", guest=True)
recorder = _core.ask(folder)[2]
ready, go, done = (_thread.allocate_lock() for _ in range(3))
for lock in ready, go, done: lock.acquire()
def run():
    if has_ring: work()
    ready.release()
    go.acquire()
    calls = 0
    while monitor.folder() and calls < 3000000:
        work()
        calls += 1
    monitor.stop()  # without a GIL the thread that stops tracing may still be at it: wait
    print(calls > 0, monitor.folder(), [sys.monitoring.get_tool(i) for i in range(6)])
    done.release()
_thread.start_new_thread(run, ())
ready.acquire()
os.kill(recorder, 9)
os.waitpid(recorder, 0)
go.release()
while not done.acquire(main_sleeps):
    pass
"""


def test_whoever_notices_that_nobody_reads():
    for main_sleeps, has_ring in (1, 1), (0, 0), (0, 1), (1, 0):
        with scratch() as folder:
            done = subprocess.run([sys.executable, "-c", DESERTED, folder, str(main_sleeps), str(has_ring)], timeout=120,
                                  env=dict(os.environ, PYTHONPATH=PACKAGE), capture_output=True, text=True)
            equal((done.stdout, done.stderr), ("True None [None, None, None, None, None, None]\n", ""), (main_sleeps, has_ring))


def test_the_target_is_killed():
    with target(listen=True) as run, scratch() as folder:
        tool = subprocess.Popen(command(run.pid, folder, "--flight", "256K"), env=dict(os.environ, PYTHONPATH=PACKAGE),
                                stderr=subprocess.PIPE, text=True)
        equal("attached to %d" % run.pid in tool.stderr.readline(), True)
        work_on(run)
        run.kill()
        equal(tool.wait(60), 0)
        r = rec.Recording(folder, subprocess.CompletedProcess([], 0, "", ""))
        equal([line["trigger"] for line in r.lines("snapshot") if line["trigger"] != "baseline"], ["death"])
        assert calls(summary(folder), "work") > 20


def at_work(folder):
    """Processes whose command names the folder: the tool, and its recorder, from before it makes the folder on."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as f:
            if folder.encode() in f.read().split(b"\0"):
                found.append(path)
    return found


def kill_at(fraction, length, victim, run, folder, listen):
    """The tool's process, after SIGKILL to victim() when so much of an attach has passed."""
    tool = subprocess.Popen(command(run.pid, folder, "--mode", "calls", "--for", "100ms"),
                            env=dict(os.environ, PYTHONPATH=PACKAGE), stdin=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(fraction * length)
    (tool if victim == "tool" else run).kill()
    said = tool.communicate(timeout=60)[1]
    # A process has no command line for a moment while it becomes another program: the recorder, if it only begins now.
    rec.wait_for(lambda: not at_work(folder) and not os.path.exists(folder + "/.ocular.sock"), "the recorder's end")
    if os.path.exists(folder + "/perf.data"):
        equal(subprocess.run([PT, "summary=-", folder], capture_output=True, stdin=subprocess.DEVNULL).returncode, 0)
    return tool.returncode, said


def test_killed_at_any_point():
    """SIGKILL of either leaves the other one as it should be, and what there is of a recording readable."""
    ways = [True] + [False] * bool(hasattr(sys, "remote_exec") or can_gdb())
    for listen in ways:
        with target(listen=listen) as run, scratch() as folder:
            began = time.monotonic()
            equal(attach(run.pid, folder, "--for", "100ms").returncode, 0)
            length = time.monotonic() - began
            for i in range(KILLS):
                status, _ = kill_at((i + 0.5) / KILLS, length, "tool", run, folder, listen)
                assert status in (-signal.SIGKILL, 0)
                rec.wait_for(lambda: ask(run, "same"), "the end of tracing")
            # It can be attached to again, and is as it was.
            done = attach(run.pid, folder, "--for", "50ms")
            equal((done.returncode, ask(run, "same")), (0, True), done.stderr)
        for i in range(KILLS):
            with target(listen=listen) as run, scratch() as folder:
                status, said = kill_at((i + 0.5) / KILLS, length, "target", run, folder, listen)
                equal((status in (0, 1), "Traceback" in said, "has ended" in said or "no process" in said or
                       "detached" in said), (True, False, True), said)


def test_forks_and_exits_meanwhile():
    """Children come and go while somebody attaches; one that ends is reported, and nothing hangs."""
    source = """
import os, sys, time
print("ready", flush=True)
end = time.monotonic() + 2
while time.monotonic() < end:
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    import json.decoder
    sys.modules.pop("json.decoder")
"""
    with target(source, listen=True) as run, scratch() as folder:
        for _ in range(50):
            done = attach(run.pid, folder, "--for", "100ms")
            if done.returncode:
                break
            assert "ocular: " in done.stderr
        equal(run.wait(60), 0)
        equal((done.returncode, done.stderr), (1, "ocular: process %d has ended\n" % run.pid))


def test_the_program_ends_in_the_middle_of_an_order():
    """It is carried out first: a thread that CPython ends may hold what the program's end waits for."""
    source = """
import threading, time
from ocular import attached
inside = threading.Event()
def obey(order):
    inside.set()
    time.sleep(0.5)
    return "carried out"
attached.obey = obey
print("ready", flush=True)
inside.wait()
"""
    with target(source, listen=True) as run, scratch():
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
            sock.connect("\0ocular-agent-%d-%d" % (os.stat("/proc/self/ns/pid").st_ino, run.pid))
            sock.send(b'{"do": "stop"}')
            equal(run.wait(60), 0)
            equal(sock.recv(100), b"carried out")


def test_what_it_makes_is_the_users_alone():
    """Sockets, FIFOs and files, with a umask that takes nothing away; and nothing of it lies elsewhere."""
    with scratch() as folder:
        here = os.path.dirname(folder)
        before = set(os.listdir("/dev/shm"))
        umask = os.umask(0)
        try:
            with target(listen=True, TMPDIR=here, HOME=here) as run:
                with attached(run, folder, "--flight", "256K"):
                    work_on(run)
                    equal(os.stat(folder).st_mode & 0o777, 0o700)
                    kinds = {name: os.lstat(os.path.join(folder, name)).st_mode for name in os.listdir(folder)}
                    special = {name: mode & 0o777 for name, mode in kinds.items() if not stat.S_ISREG(mode)}
                    equal(special, {".ocular.sock": 0o600, ".ocular.ctl": 0o600})
                    shared = {line.split(None, 5)[5] for line in open("/proc/%d/maps" % run.pid) if "rw-s" in line}
                    equal([name for name in shared if not name.startswith("/memfd:")], [], "memory with a name")
        finally:
            os.umask(umask)
        equal(os.listdir(here), ["rec"])
        equal([name for name in set(os.listdir("/dev/shm")) - before if "ocular" in name], [])


def test_ps():
    with target(listen=True) as run:
        done = subprocess.run([sys.executable, "-m", "ocular.processes"], env=dict(os.environ, PYTHONPATH=PACKAGE),
                              capture_output=True, text=True)
        (row,) = [line.split(None, 2) for line in done.stdout.splitlines() if line.split()[0] == str(run.pid)]
        equal(row[1], "%d.%d" % sys.version_info[:2])
        assert row[2].startswith("yes: its agent"), row


if __name__ == "__main__":
    rec.run(globals())
