#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ocular-record from outside: a producer whose markers are known, and every way in which things end."""
import ctypes
import errno
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

import ptread

BUILD = os.path.abspath(os.environ.get("OCULAR_BUILD", "build"))
RECORD, FSCK, PRODUCER = (os.path.join(BUILD, p) for p in
                          ("bin/ocular-record", "bin/ocular-fsck", "tests/producer"))
TIMEOUT = 60


def record(*command, options=(), **kw):
    kw.setdefault("capture_output", True)
    return subprocess.run([RECORD, "-o", "rec", *options, "--", *command], timeout=TIMEOUT, text=True, **kw)


def start(*command, options=(), **kw):
    return subprocess.Popen([RECORD, "-o", "rec", *options, "--", *command], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


def fsck(path="rec", *options):
    return subprocess.run([FSCK, *options, path], timeout=TIMEOUT, capture_output=True, text=True)


def perf_count(path="rec/perf.data"):
    """Samples by tid, as stock perf sees them, without those of the recorder's words."""
    run = subprocess.run(["perf", "script", "-i", path, "--itrace=we", "-F", "tid,event,synth"], timeout=TIMEOUT,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    counts = {}
    for line in run.stdout.splitlines():
        tid, event, payload = re.match(r" *(\d+) +(\S+) +IP: 0 payload: 0x([0-9a-f]+)", line).groups()
        assert event == "ptwrite:"
        if int(payload, 16) >> 59 != ptread.EXTENSION:
            counts[int(tid)] = counts.get(int(tid), 0) + 1
    return counts


def wait_for(found):
    deadline = time.monotonic() + TIMEOUT
    while not found():
        assert time.monotonic() < deadline, "in vain"
        time.sleep(0.01)


def is_written(size):
    """Whether the file's size fits: a head of 3 KB, and 8 to 12 bytes for each marker."""
    return os.path.exists("rec/perf.data") and os.path.getsize("rec/perf.data") >= size


def is_pending(pid, number):
    """Whether a process has not taken a signal yet that it was sent."""
    with open(f"/proc/{pid}/status") as lines:
        masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd", "ShdPnd"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


def has_ended(pid):
    """Whether a killed process has let go of all that it had open, its sockets too; it may not be reaped yet."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def has_open(pid, path):
    """Whether a process has a file open: its own trace until that is complete."""
    fds = f"/proc/{pid}/fd"
    return any(os.path.realpath(os.path.join(fds, fd)) == os.path.realpath(path) for fd in os.listdir(fds))


def check_whole(threads, markers, path="rec"):
    """All of the producer's markers, once by our own reader and once by perf."""
    assert fsck(path).returncode == 0
    queues = ptread.queues(path + "/perf.data")
    assert len(queues) == threads, len(queues)
    for q in queues:
        assert ptread.check_sequence(q.words) == 0
        assert [m.offset for m in q.markers[1:]] == list(range(markers))
    assert perf_count(path + "/perf.data") == {q.tid: markers + 1 for q in queues}
    names = ptread.comms(path + "/perf.data")
    assert all(names[q.tid][1] == "producer" for q in queues)


def test_one_thread():
    run = record(PRODUCER, "-n", "5000")
    assert run.returncode == 0
    assert "[ ocular: 5001 markers of 1 thread in 1 process" in run.stderr, run.stderr
    check_whole(1, 5000)


def test_threads_and_forks():
    assert record(PRODUCER, "-t", "4", "-f", "2", "-n", "20000").returncode == 0
    check_whole(12, 20000)


def test_threads_one_after_another_in_one_ring():
    assert record(PRODUCER, "-t", "20", "-s", "-n", "500").returncode == 0
    check_whole(20, 500)


def test_small_ring_loses_nothing_while_it_waits():
    assert record(PRODUCER, "-t", "2", "-n", "30000", options=["--ring-records", "256"]).returncode == 0
    check_whole(2, 30000)


def test_overrun_is_counted_to_the_last_word():
    run = record(PRODUCER, "-n", "300000", options=["--ring-records", "256", "--wait-ms", "0"])
    (queue,) = ptread.queues("rec/perf.data")
    lost = ptread.check_sequence(queue.words)
    dropped = int(run.stdout.split()[-1])
    kept = sum(m.op != ptread.LOST for m in queue.markers)
    assert lost == dropped > 0, (lost, dropped)
    assert kept + lost == 300001
    assert f"{lost} markers lost" in run.stderr


def test_target_killed():
    assert record(PRODUCER, "-t", "3", "-n", "10000", "-k").returncode == -signal.SIGKILL
    check_whole(3, 10000)


def test_times_are_clock_monotonic():
    before = time.monotonic()
    record(PRODUCER, "-n", "100", "-p", "1000000")
    after = time.monotonic()
    out = subprocess.run(["perf", "script", "-i", "rec/perf.data", "--itrace=we", "--ns", "-F", "time"],
                         capture_output=True, text=True).stdout
    times = [float(line.strip(": ")) for line in out.split()]
    assert before < times[0] and times[-1] < after
    assert 0.1 < times[-1] - times[0]


def test_perf_knows_event_and_machine():
    record(PRODUCER)
    for command, words in (["evlist"], ["intel_pt/tsc,cyc,ptw,branch=0/u"]), \
            (["report", "--header-only"], ["arch : " + os.uname().machine, "os release : " + os.uname().release,
                                           f"nrcpus online : {os.sysconf('SC_NPROCESSORS_ONLN')}"]):
        run = subprocess.run(["perf", *command, "-i", "rec/perf.data"], capture_output=True, text=True)
        assert run.returncode == 0 and run.stderr == ""
        assert all(word in run.stdout for word in words), run.stdout


def test_exit_statuses():
    for command, expected in (["true"], 0), (["sh", "-c", "exit 77"], 77), \
            (["sh", "-c", "kill -TERM $$"], -signal.SIGTERM), \
            (["sh", "-c", "ulimit -c 0; kill -SEGV $$"], -signal.SIGSEGV):
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        run = record(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)))
        assert run.returncode == expected, command
    assert sorted(os.listdir(".")) == ["rec", "rec.old"]  # no core


def test_command_that_cannot_run():
    for command, status in ("./none", 127), ("/tmp", 126):
        shutil.rmtree("rec", ignore_errors=True)
        run = record(command)
        assert run.returncode == status
        assert run.stderr.count("\n") == 1 and "cannot run " + command in run.stderr
        assert not os.path.exists("rec")


def test_target_inherits_nothing_of_ours():
    script = ("grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; umask; ls -l /proc/self/fd | wc -l; "
              "ulimit -a; echo $PPID >/dev/null")
    plain = subprocess.run(["sh", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    ours = record("sh", "-c", script, stdin=subprocess.DEVNULL)
    assert ours.stdout == plain.stdout, (ours.stdout, plain.stdout)


def test_started_with_sigchld_ignored():
    run = record("grep", "SigIgn", "/proc/self/status", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert run.returncode == 0
    assert int(run.stdout.split()[1], 16) >> (signal.SIGCHLD - 1) & 1, run.stdout


def test_started_with_standard_files_closed():
    def close():
        for fd in range(3):
            os.close(fd)
    script = f"for fd in 0 1 2; do [ ! -e /proc/$$/fd/$fd ] || echo $fd >>open; done; {PRODUCER} -n 5000 <&- >&- 2>&-"
    kw = {"capture_output": False, "preexec_fn": close}
    assert record("sh", "-c", script, **kw).returncode == 0
    assert not os.path.exists("open"), open("open").read()
    check_whole(1, 5000)
    assert record("./none", **kw).returncode == 127
    serve(**kw)
    subprocess.run([PRODUCER, "-n", "1000"], env={"OCULAR_DIR": "rec"}, check=True, stdout=subprocess.DEVNULL)
    assert gone()
    check_whole(1, 1000)


EPOLL_PWAIT2, PIDFD_OPEN, RENAMEAT2, SIGNALFD4 = 441, 434, 316, 289


def forbid(*calls, error=errno.EPERM):
    """Those system calls fail from now on; with EPERM, as where a container's profile is older than they are."""
    program = [(0x20, 0, 0, 0)] + [(0x15, len(calls) - i, 0, call) for i, call in enumerate(calls)]  # load, jump if equal
    program += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050000 | error)]  # return: allow; error
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *line) for line in program))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    filters = struct.pack("@HP", len(program), ctypes.addressof(code))
    assert prctl(22, 2, ctypes.c_char_p(filters)) == 0  # PR_SET_SECCOMP


def test_new_system_calls_are_forbidden():
    run = record(PRODUCER, "-f", "2", "-n", "5000", preexec_fn=lambda: forbid(EPOLL_PWAIT2, PIDFD_OPEN))
    assert run.returncode == 0
    check_whole(3, 5000)
    serve(preexec_fn=lambda: forbid(EPOLL_PWAIT2, PIDFD_OPEN))
    subprocess.run([PRODUCER, "-n", "1000"], env={"OCULAR_DIR": "rec"}, check=True, stdout=subprocess.DEVNULL)
    assert gone()
    check_whole(1, 1000)


def test_a_stopped_terminal_stops_nobody():
    """As by Ctrl-S; the producer needs the recorder after the first line of progress is due."""
    terminal, stderr = pty.openpty()
    termios.tcflow(stderr, termios.TCOOFF)
    run = subprocess.Popen([RECORD, "-o", "rec", "--ring-records", "256", "--wait-ms", "30000", "--", PRODUCER,
                            "-n", "3000", "-p", "500000"], text=True, stdout=subprocess.PIPE, stderr=stderr)
    try:
        assert select.select([run.stdout], [], [], TIMEOUT)[0], "still under way"
        assert run.stdout.readline().endswith(" dropped 0\n")
        termios.tcflow(stderr, termios.TCOON)
        assert run.wait(TIMEOUT) == 0
        assert b"3001 markers" in os.read(terminal, 65536)
    finally:
        run.kill()
        run.wait()
        run.stdout.close()
        os.close(terminal)
        os.close(stderr)
    check_whole(1, 3000)


def test_pieces_where_no_rename_says_that_it_replaces_nothing():
    run = start(PRODUCER, "-n", "3000", "-p", "1000000", options=["-q", "--switch-output", "signal"],
                preexec_fn=lambda: forbid(RENAMEAT2, error=errno.EINVAL))
    wait_for(lambda: is_written(5000))
    run.send_signal(signal.SIGUSR2)
    assert (run.communicate(timeout=TIMEOUT)[1], run.returncode) == ("", 0)
    pieces = [p for p in os.listdir("rec") if p.startswith("perf.data")]
    assert len(pieces) == 2, pieces
    assert sum(sum(perf_count("rec/" + p).values()) for p in pieces) == 3001 + 1  # a HELLO at the seam


def test_a_recorder_that_cannot_begin_leaves_nothing():
    run = record("true", preexec_fn=lambda: forbid(SIGNALFD4))
    assert run.returncode == 1
    assert run.stderr == f"ocular-record: cannot listen in {os.getcwd()}/rec: Operation not permitted\n", run.stderr
    assert not os.path.exists("rec")


def test_signal_is_passed_on_first():
    script = "trap 'echo got; exit 5' INT; echo ready; while :; do sleep 0.05; done"
    run = start("sh", "-c", script)
    run.stdout.readline()
    run.send_signal(signal.SIGINT)
    assert run.communicate(timeout=TIMEOUT)[0] == "got\n"
    assert run.returncode == 5


COUNTS = """
import os, signal
n = 0
def stop(*_):
    global n
    n += 1
    os.write(1, b"got %d\\n" % n)
signal.signal(signal.SIGUSR1, stop)
signal.signal(signal.SIGTERM, stop)
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""
OWN_GROUP = "import os; os.setpgid(0, 0)\n"


def children(pid):
    """{name: pid} of a process's children."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                comm, rest = f.read().rsplit(")", 1)
        except OSError:
            continue
        if rest.split()[1] == str(pid):
            found[comm.split("(", 1)[1]] = int(name)
    return found


def signals_arrive_once(program, own_group):
    run = start(sys.executable, "-c", program, options=["-q"], start_new_session=True)
    assert run.stdout.readline() == "ready\n"
    wait_for(lambda: "ocular-witness" in children(run.pid))
    processes = children(run.pid)
    target = next(pid for name, pid in processes.items() if name != "ocular-witness")
    ways = [(os.kill, run.pid), (os.kill, target)] + [(os.killpg, run.pid)] * (not own_group)
    for i, (way, to) in enumerate(3 * ways):
        way(to, signal.SIGTERM if i < len(ways) else signal.SIGUSR1)
        assert run.stdout.readline() == f"got {i + 1}\n"
        wait_for(lambda: not is_pending(run.pid, signal.SIGUSR1) and not is_pending(run.pid, signal.SIGTERM))
    os.kill(target, signal.SIGKILL)  # the recorder is idle: what it passes on, it has
    rest, err = run.communicate(timeout=TIMEOUT)
    assert (rest, run.returncode) == ("", -signal.SIGKILL), (rest, err, run.returncode)
    assert not os.path.exists(f"/proc/{processes['ocular-witness']}")


def test_a_signal_reaches_the_target_once():
    """Sent to the recorder, to the target, or to their process group; a target that has left the group is sent all."""
    signals_arrive_once(COUNTS, False)


def test_a_signal_reaches_a_target_of_another_group_once():
    signals_arrive_once(OWN_GROUP + COUNTS, True)


def test_second_interrupt_ends_the_recording_not_the_target():
    run = start("sh", "-c", f"trap '' INT; {PRODUCER} -n 1000000 -p 1000000 & read go; echo end; kill $!", stdin=subprocess.PIPE)
    wait_for(lambda: is_written(5000))
    assert has_open(run.pid, "rec/perf.data")
    for _ in range(2):
        run.send_signal(signal.SIGINT)
        wait_for(lambda: not is_pending(run.pid, signal.SIGINT))
        time.sleep(0.4)  # sooner they would be one
    wait_for(lambda: not has_open(run.pid, "rec/perf.data"))
    assert fsck().returncode == 0
    early = sum(perf_count().values())
    assert early > 10
    out, err = run.communicate("go\n", timeout=TIMEOUT)
    assert "end" in out and "what sh does from here on is not recorded" in err, (out, err)
    assert run.returncode == 0
    assert sum(perf_count().values()) == early


def test_interrupts_at_once_are_one():
    """As timeout(1) does it: to the recorder, then to its process group."""
    run = start("sh", "-c", f"trap 'trap \"\" TERM INT; {PRODUCER} -n 5000; exit' TERM INT; echo up; while :; do sleep 0.05; done",
                options=["-q"])
    run.stdout.readline()
    os.kill(run.pid, signal.SIGSTOP)  # else a machine that stops for a while may separate them
    run.send_signal(signal.SIGTERM)
    run.send_signal(signal.SIGINT)
    os.kill(run.pid, signal.SIGCONT)
    out, err = run.communicate(timeout=TIMEOUT)
    assert (run.returncode, err) == (0, ""), (run.returncode, err)
    check_whole(1, 5000)


def test_file_limit_stands_for_a_full_disk():
    run = start("sh", "-c", f"echo up; read go; exec {PRODUCER} -t 2 -n 500000", options=["-q"],
                stdin=subprocess.PIPE)
    run.stdout.readline()
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # the recorder's only
    out, err = run.communicate("go\n", timeout=TIMEOUT)
    assert run.returncode == 1, run.returncode
    assert "dropped" in out  # it went on to its end
    assert "cannot write" in err and "not written" in err, err
    assert fsck().returncode == 0
    for queue in ptread.queues("rec/perf.data"):
        assert ptread.check_sequence(queue.words) == 0
        assert [m.offset for m in queue.markers[1:]] == list(range(len(queue.markers) - 1))
    assert sum(perf_count().values()) > 10000


def test_full_disk_tells_all_that_is_missing():
    """Also what threads did not write any more, because nobody reads it: as many markers as without a limit."""
    script = f"echo up; read go; exec {PRODUCER} -t 2 -n 500000"
    sums = []
    for most in (resource.RLIM_INFINITY, 1 << 20):
        run = start("sh", "-c", script, stdin=subprocess.PIPE)
        run.stdout.readline()
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (most, most))
        out, err = run.communicate("go\n", timeout=TIMEOUT)
        numbers = [int(n) for n in re.findall(r"\[ ocular: (\d+) markers (?:of|not written)", err)]
        assert len(numbers) == (1 if most == resource.RLIM_INFINITY else 2) and "lost" not in err, err
        sums.append(sum(numbers))
    assert sums[0] == sums[1] >= 1000000, sums


def test_recorder_killed():
    run = start(PRODUCER, "-n", "100000", "-p", "100000")
    wait_for(lambda: is_written(80000))  # it sleeps before each marker: two more words
    target = children(run.pid)["producer"]
    run.kill()
    run.wait()
    os.kill(target, signal.SIGKILL)
    assert fsck().returncode == 0
    (queue,) = ptread.queues("rec/perf.data")
    assert ptread.check_sequence(queue.words) == 0
    assert len(queue.markers) > 1000
    assert perf_count() == {queue.tid: len(queue.markers)}


def test_main_target_ends_before_its_children():
    script = (f"{PRODUCER} -n 100000 -p 1000000 >/dev/null 2>&1 & "
              "while [ $(wc -c <rec/perf.data) -lt 5000 ]; do sleep 0.01; done; echo $!")
    run = record("sh", "-c", script, options=["--until-exit", "main"])
    os.kill(int(run.stdout), signal.SIGKILL)
    assert run.returncode == 0
    assert f"still running, no longer recorded: {run.stdout.strip()} producer" in run.stderr, run.stderr
    assert 10 < sum(perf_count().values()) < 2000


def test_all_that_outlives_the_target_is_recorded():
    run = record("sh", "-c", f"{PRODUCER} -n 3000 -p 1000000 >/dev/null 2>&1 & "
                 "while [ $(wc -c <rec/perf.data) -lt 5000 ]; do sleep 0.01; done; exit 3")
    assert run.returncode == 3
    assert "the program has ended; still running and recorded: " in run.stderr, run.stderr
    check_whole(1, 3000)


def test_ctrl_c_ends_the_wait_for_what_outlives_the_target():
    run = start("sh", "-c", f"{PRODUCER} -n 1000000 -p 1000000 & echo $!; "
                "while [ $(wc -c <rec/perf.data) -lt 5000 ]; do sleep 0.01; done; exit 3")
    producer = int(run.stdout.readline())
    while "still running" not in run.stderr.readline():
        pass
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=TIMEOUT) == 3
    os.kill(producer, signal.SIGKILL)
    assert fsck().returncode == 0


def test_maximum_size_ends_the_recording_not_the_target():
    run = record(PRODUCER, "-t", "2", "-n", "500000", options=["--max-size", "1M"])
    assert run.returncode == 0
    assert "rec has reached its maximum size, 1.0 MB (--max-size)" in run.stderr, run.stderr
    assert 1 << 20 <= os.path.getsize("rec/perf.data") < 8 << 20, os.path.getsize("rec/perf.data")
    assert fsck().returncode == 0
    for queue in ptread.queues("rec/perf.data"):
        # What the producer counts as dropped after that may stand behind the last one.
        words = [m for m in queue.markers[1:] if m.op != ptread.LOST]
        assert [m.offset for m in words] == list(range(len(words))) and len(queue.markers) - len(words) <= 2


def message(request, magic=0x474e4952, version=5, tid=1, tsc=0):
    return struct.pack("<4IQ", magic, version, request, tid, tsc)


def ask(folder, data):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(os.path.join(folder, ".ocular.sock"))
        s.send(data)
        answer = s.recv(128)
    return struct.unpack("<IIiIIIQIIIIQQQ", answer) if answer else None


def serve(folder="rec", *options, **kw):
    kw.setdefault("capture_output", True)
    run = subprocess.run([RECORD, "-o", folder, "--serve", *options], text=True, timeout=TIMEOUT, **kw)
    assert run.returncode == 0, run.stderr
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.stat(folder + "/.ocular.sock").st_mode & 0o777 == 0o600


def gone(folder="rec"):
    wait_for(lambda: not os.path.exists(folder + "/.ocular.sock"))
    return True


def test_a_snapshot_before_anybody_is_traced():
    """It does not count, and the end is saved all the same."""
    run = start("sh", "-c", f"echo up; read go; exec {PRODUCER} -n 500", options=["--flight", "10s"], stdin=subprocess.PIPE)
    run.stdout.readline()
    run.send_signal(signal.SIGUSR2)
    wait_for(lambda: not is_pending(run.pid, signal.SIGUSR2))
    err = run.communicate("go\n", timeout=TIMEOUT)[1]
    assert "1 snapshot, copied" in err, err
    assert sum(perf_count().values()) == 501 + 3  # a HELLO, where it begins, where it ends


def test_serve_until_finish():
    serve()
    subprocess.run([PRODUCER, "-n", "1000", "-f", "1"], env={"OCULAR_DIR": "rec"}, check=True,
                   stdout=subprocess.DEVNULL)
    assert gone()  # all who asked have ended
    check_whole(2, 1000)
    serve()
    magic, version, error, nrecords, wait_ms, pid, hz, flight, _, coarse, _, _, window, period = ask("rec", message(1))
    assert (magic, version, error, nrecords, wait_ms, flight, window, period, coarse) == (0x474e4952, 5, 0, 131072, 10000, 0, 0, 0, 0)
    assert 1e7 < hz < 1e10 and os.path.exists(f"/proc/{pid}")
    assert ask("rec", message(3))[2] == 0
    assert fsck().returncode == 0
    assert gone()


def test_serve_ends_with_its_starter():
    subprocess.run(["sh", "-c", f"{RECORD} -o rec --serve"], check=True, timeout=TIMEOUT)
    assert gone()
    assert fsck().returncode == 0


def test_a_death_and_the_wish_for_the_end_at_once():
    """Both are there when the recorder looks: it takes the death for one, not for the end of a recording."""
    serve("rec", "--flight", "10s")
    recorder = ask("rec", message(1))[5]
    run = subprocess.Popen([PRODUCER, "-n", "300", "-p", "1000000", "-k"], env={"OCULAR_DIR": "rec"},
                           stdout=subprocess.DEVNULL)
    table = f"rec/codes-{run.pid}.jsonl"
    open(table, "w").close()
    deadline = time.monotonic() + TIMEOUT
    while "memfd:ring" not in open(f"/proc/{recorder}/maps").read():
        assert time.monotonic() < deadline
    ask("rec", message(1))  # one after the other: it has answered the producer
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        os.kill(recorder, signal.SIGSTOP)
        try:
            assert run.wait(TIMEOUT) == -signal.SIGKILL
            s.connect("rec/.ocular.sock")
            s.send(message(3))
        finally:
            os.kill(recorder, signal.SIGCONT)
        assert struct.unpack("<IIi", s.recv(128)[:12])[2] == 0
    (line,) = map(json.loads, open(table))
    assert (line["trigger"], line["pid"]) == ("death", run.pid), line


def test_serve_for_somebody_who_has_gone():
    with subprocess.Popen(["true"]) as run:
        pass
    said = f"ocular-record: cannot wait for the end of process {run.pid}: No such process\n"
    for how in "--serve", "--folder":
        done = subprocess.run([RECORD, "-o", "rec", how, "--tied", str(run.pid)], capture_output=True, text=True, timeout=TIMEOUT)
        assert (done.returncode, done.stderr) == (1, said), done.stderr
        assert os.path.exists("rec") == (how == "--folder")


def test_strangers_at_the_socket():
    serve()
    for data in b"", b"x", message(1) + b"more", message(0), message(4), message(1, magic=1), \
            message(1, version=9), message(2), os.urandom(4096):
        answer = ask("rec", data)
        assert answer is None or answer[2] < 0, data
    silent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    silent.connect("rec/.ocular.sock")
    assert ask("rec", message(1))[2] == 0
    assert ask("rec", message(3))[2] == 0
    silent.close()


def test_a_recording_under_way_stays():
    """Neither is its folder taken, nor does its recorder notice: time for duty cycles begins when somebody asks."""
    serve()
    run = record("true")
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (1, "", 1), run.stderr
    assert "rec is being recorded into" in run.stderr, run.stderr
    assert os.listdir(".") == ["rec"]
    before = time.monotonic_ns()
    assert ask("rec", message(1))[11] >= before
    subprocess.run([PRODUCER, "-n", "1000"], env={"OCULAR_DIR": "rec"}, check=True, stdout=subprocess.DEVNULL)
    assert ask("rec", message(3))[2] == 0
    check_whole(1, 1000)


def test_a_folder_is_free_with_the_answer():
    for i in range(10):
        serve()
        assert ask("rec", message(3))[2] == 0
        assert not os.path.exists("rec/.ocular.sock")


def test_a_dead_recorders_folder_is_free():
    serve()
    recorder = ask("rec", message(1))[5]
    os.kill(recorder, signal.SIGKILL)
    wait_for(lambda: has_ended(recorder))
    run = record("true")
    assert run.returncode == 0, run.stderr
    assert os.path.exists("rec.old/.ocular.sock")


def test_long_path():
    folder = os.path.join(os.getcwd(), "d" * 120, "e" * 120)
    os.makedirs(os.path.dirname(folder))
    run = subprocess.run([RECORD, "-q", "-o", folder, "--", PRODUCER], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    check_whole(1, 1000, folder)


def test_folder_in_the_way():
    os.mkdir("rec")
    open("rec/thesis", "w").close()
    run = record("true")
    assert run.returncode == 1
    assert run.stderr == "ocular-record: rec holds something other than a recording\n"
    assert os.listdir("rec") == ["thesis"]


def test_views_go_with_their_recording():
    for round in range(3):
        assert record(PRODUCER).returncode == 0
        for name in ("report.html", "trace.pftrace"):
            with open(f"rec/{name}", "w") as file:
                file.write(str(round))
    with open("rec.old/report.html") as file:
        assert file.read() == "1"
    for name in os.listdir("rec.old"):
        if name != "report.html":
            os.remove(f"rec.old/{name}")
    run = record("true")
    assert (run.returncode, run.stderr) == (1, "ocular-record: rec.old holds something other than a recording\n")
    assert os.listdir("rec.old") == ["report.html"]


def test_cut_at_every_4_kb():
    record(PRODUCER, "-t", "3", "-n", "1500", "-p", "200000")
    shutil.copy("rec/perf.data", "whole")
    size, seen = os.path.getsize("whole"), set()
    for cut in range(0, size, 4096):
        shutil.copy("whole", "cut")
        os.truncate("cut", cut)
        assert fsck("cut", "-n").returncode == (2 if cut == 0 else 1)
        run = fsck("cut")
        assert run.returncode == (2 if cut == 0 else 1)
        assert run.stderr.startswith("ocular-fsck: cut ")
        if cut == 0:
            continue
        assert fsck("cut").returncode == 0
        count = sum(len(q.markers) for q in ptread.queues("cut"))
        assert sum(perf_count("cut").values()) == count
        seen.add(count)
    assert len(seen) > 3


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    failed = 0
    print(f"1..{len(tests)}")
    for i, (name, test) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory(prefix="ocular-recorder-") as folder:
            os.chdir(folder)
            try:
                test()
                print(f"ok {i} - {name[5:]}", flush=True)
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError) as e:
                failed += 1
                line = sys.exc_info()[2].tb_next.tb_lineno
                print(f"not ok {i} - {name[5:]}\n# line {line}: {type(e).__name__}: {e}", flush=True)
            os.chdir("/")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
