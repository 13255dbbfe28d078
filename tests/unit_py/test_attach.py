# SPDX-License-Identifier: MIT
"""Attach and detach: the program is traced while it lasts, and afterwards as it was.

OCULAR_ROUNDS=200 is the long form; the default keeps the test short.
"""

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import rec
from rec import equal

ROUNDS = int(os.environ.get("OCULAR_ROUNDS", "6"))
PT = os.path.join(rec.BUILD, "bin", "ocular-pt")
PACKAGE = os.path.join(rec.BUILD, "python")

BUSY = """
import sys, threading, time
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
    return [tools, [m.get_events(i) for i in range(6) if tools[i]], threading.active_count(), sys.path]
before = state()
print("ready", flush=True)
import select
def speed():
    n = sum(counts); t = time.process_time(); time.sleep(0.3)
    return (sum(counts) - n) / (time.process_time() - t)
while True:
    # Not asleep for long: without an agent, the main thread must come by to answer.
    if select.select([sys.stdin], [], [], 0.01)[0]:
        what = {"same": lambda: state() == before, "done": lambda: sum(counts), "speed": speed}
        print(what[sys.stdin.readline().strip()](), flush=True)
"""


def can_gdb():
    return not hasattr(sys, "remote_exec") and shutil.which("gdb")


@contextlib.contextmanager
def target(source=BUSY, listen=False, **more):
    env = dict(os.environ, **more)
    for name in "OCULAR_DIR", "OCULAR_MAIN", "OCULAR_LISTEN":
        env.pop(name, None)
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
    """From when it is until it is told to detach: the tool's process."""
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
    """same: is it as it was at first? done: calls of work so far. speed: calls a second of CPU time."""
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


def check_recording(folder):
    """Complete, and nothing lost; returns how often work was called."""
    equal(sorted(os.listdir(folder))[1:], ["perf.data"])
    r = rec.Recording(folder, subprocess.CompletedProcess([], 0, "", ""))
    (table,) = r.tables().values()
    equal([line["lost"] for line in table if line["kind"] == "stop"], [0])
    result = summary(folder)
    # Frames that were open before; nothing else may be amiss.
    equal({k: v for k, v in result["losses"].items() if v and k not in ("gaps", "markers", "unmatched")}, {})
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


def rounds(listen, n):
    with target(listen=listen) as run, scratch() as folder:
        ask(run, "speed")
        speeds = [ask(run, "speed")]
        for i in range(n):
            if i in (0, n - 1):
                one_round(run, folder)
            else:
                done = attach(run.pid, folder, "--for", "30ms", "--mode", "calls")
                equal((done.returncode, run.poll()), (0, None), done.stderr)
            if i == 1:  # what Python allocates once is there by now
                memory, files = status(run.pid, "VmRSS"), descriptors(run.pid)
        assert ask(run, "same")
        speeds += [ask(run, "speed"), ask(run, "speed")]
        equal(status(run.pid, "Threads"), 9 + listen)
        equal(descriptors(run.pid), files)
        assert status(run.pid, "VmRSS") < memory + 200 + 20 * n, (memory, status(run.pid, "VmRSS"))
        # Other programs share this machine and its caches.
        assert max(speeds[1:]) > speeds[0] / 2, speeds
        if n > 20:
            print("# %d rounds: %s calls/s, %d then %d KB" % (
                n, speeds, memory, status(run.pid, "VmRSS")), flush=True)


def test_rounds_by_its_agent():
    rounds(True, ROUNDS)


def test_rounds_without_an_agent():
    if not hasattr(sys, "remote_exec") and not can_gdb():
        raise rec.Skip("no gdb")
    rounds(False, max(2, ROUNDS // 3))


def test_snapshots_of_a_running_program():
    with target(listen=True) as run, scratch() as folder:
        with attached(run, folder, "--flight", "256K", "--trigger", "__main__:nothing > 1s",
                      "--trigger-lag", "100s") as tool:
            assert "by its agent" in tool.said
            work_on(run)
        assert check_recording(folder) > 20
        equal(ask(run, "same"), True)


def test_a_sleeping_main_thread_answers_by_its_agent():
    source = "print('ready', flush=True)\nimport time\ntime.sleep(60)\n"
    with target(source, listen=True) as run, scratch() as folder:
        done = attach(run.pid, folder, "--for", "50ms")
        equal(done.returncode, 0, done.stderr)


def test_what_does_not_answer_is_told_in_time():
    # C code for ever, that does not look for signals as `re` does since 3.14.
    source = "import hashlib\nprint('ready', flush=True)\nhashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)\n"
    if not hasattr(sys, "remote_exec") and not can_gdb():
        raise rec.Skip("no gdb")
    with target(source) as run, scratch() as folder:
        began = time.monotonic()
        done = attach(run.pid, folder, "--wait", "1s", "--for", "1s")
        equal(done.returncode, 1)
        assert "did not answer within 1 s" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert time.monotonic() - began < 45
        equal(run.poll(), None)


def test_refusals():
    with scratch() as folder:
        for pid, words in (999999999, "there is no process"), (os.getpid(), None):
            if words:
                done = attach(pid, folder)
                equal((done.returncode, words in done.stderr, done.stderr.count("\n")), (1, True, 1), done.stderr)
                assert not os.path.exists(folder)
    with target(listen=True) as run, scratch() as folder:
        for option, value, words in (("--mode", "fast", "no mode 'fast'"), ("--trigger", "m:f", "need --flight"),
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


def test_another_user():
    if os.geteuid():
        raise rec.Skip("needs root, to be another user")
    with target(listen=True) as run, scratch() as folder:
        os.chmod(os.path.dirname(folder), 0o777)
        script = ("import os, sys; os.setgid(65534); os.setuid(65534); sys.path.insert(0, %r)\n"
                  "from ocular import agent, attach\n"
                  "try: attach.check(%d)\n"
                  "except attach.Refused as e: print(e)\n"
                  "s = agent._socket.socket(agent._socket.AF_UNIX, agent._socket.SOCK_SEQPACKET)\n"
                  "s.settimeout(10)\n"
                  "s.connect(agent.address(%d))\n"
                  "try: s.send(b'{}'); print(s.recv(10))\n"
                  "except OSError: print(b'')\n") % (PACKAGE, run.pid, run.pid)
        pid_out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        if "Permission" in pid_out.stderr or "No module" in pid_out.stderr:
            raise rec.Skip("another user cannot read the build here")
        assert "belongs to another user" in pid_out.stdout and pid_out.stdout.endswith("b''\n"), pid_out


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


def test_the_target_is_killed():
    with target(listen=True) as run, scratch() as folder:
        tool = subprocess.Popen(command(run.pid, folder, "--flight", "256K"), env=dict(os.environ, PYTHONPATH=PACKAGE),
                                stderr=subprocess.PIPE, text=True)
        equal("attached to %d" % run.pid in tool.stderr.readline(), True)
        work_on(run)
        run.kill()
        equal(tool.wait(60), 0)
        r = rec.Recording(folder, subprocess.CompletedProcess([], 0, "", ""))
        equal([line["trigger"] for line in r.lines("snapshot")], ["death"])
        assert calls(summary(folder), "work") > 20


def test_forks_and_exits_meanwhile():
    """Children come and go while somebody attaches; one that ends is told, and nobody hangs."""
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


def test_ps():
    with target(listen=True) as run:
        done = subprocess.run([sys.executable, "-m", "ocular.processes"], env=dict(os.environ, PYTHONPATH=PACKAGE),
                              capture_output=True, text=True)
        (row,) = [line.split(None, 2) for line in done.stdout.splitlines() if line.split()[0] == str(run.pid)]
        equal(row[1], "%d.%d" % sys.version_info[:2])
        assert row[2].startswith("yes: its agent"), row


if __name__ == "__main__":
    rec.run(globals())
