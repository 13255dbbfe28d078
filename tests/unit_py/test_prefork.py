# SPDX-License-Identifier: MIT
"""A service of several processes in one recording: its workers, their names and their work on one time line."""

import json
import os
import subprocess

import rec
from rec import equal

PT = os.path.join(rec.BUILD, "bin", "ocular-pt")

# As gunicorn's sync workers: a master that binds, forks and waits, workers that accept on the same socket.
PREFORK = """
import http.client, os, socket, sys, threading
WORKERS, REQUESTS = 3, 60
def handle(number):
    total = 0
    for i in range(number):
        total += i
    return total
def serve(listener):
    while True:
        connection, _ = listener.accept()
        with connection:
            path = connection.recv(4096).split()[1]
            if path == b"/stop":
                return
            body = b"%d %d" % (os.getpid(), handle(int(path[1:])))
            connection.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
def worker(listener, number):
    thread = threading.Thread(target=serve, args=(listener,), name="worker %d" % number)
    thread.start()
    thread.join()
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
pids = []
for number in range(WORKERS):
    pid = os.fork()
    if not pid:
        worker(listener, number)
        sys.exit()
    pids.append(pid)
def ask(path):
    connection = http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1])
    connection.request("GET", path)
    return connection.getresponse().read()
answers = [ask("/%d" % n).split() for n in range(REQUESTS)]
for _ in pids:
    with socket.create_connection(listener.getsockname()) as s:
        s.sendall(b"GET /stop HTTP/1.0\\r\\n\\r\\n")
        s.recv(1)
for pid in pids:
    os.waitpid(pid, 0)
for pid, total in answers:
    print(int(pid), int(total))
"""


def timeline(r):
    path = r.folder + "/trace.json"
    subprocess.run([PT, "perfetto=" + path, "iterations=none", r.folder], check=True, capture_output=True)
    with open(path) as f:
        return json.load(f)


def test_a_prefork_server():
    with rec.recording(PREFORK) as r:
        equal((r.code, r.err), (0, ""))
        answers = [tuple(map(int, line.split())) for line in r.out.splitlines()]
        equal([total for _, total in answers], [n * (n - 1) // 2 for n in range(60)])
        served = {pid: [n for n, (by, _) in enumerate(answers) if by == pid] for pid in {pid for pid, _ in answers}}
        # Every process that was forked, and every request where it was served, in the order of the answers.
        equal(len(r.tables()), 4)
        handled = [e for e in r.events("handle") if e.name in ("PY_START", "PY_RETURN")]
        equal([e.pid for e in handled[::2]], [pid for pid, _ in answers])
        equal([e.pid for e in handled[1::2]], [pid for pid, _ in answers])
        for pid, numbers in served.items():
            jumps = [e for e in r.events("handle") if e.name == "JUMP" and e.pid == pid]
            equal(len(jumps), sum(numbers))
        # The whole service on one time line: names of processes and threads, a slice for each request.
        trace = timeline(r)
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace if e.get("name") == "thread_name"}
        for pid in served:
            assert any(p == pid and name.startswith("worker ") for (p, _), name in names.items()), (pid, names)
        processes = {e["pid"]: e["args"]["name"] for e in trace if e.get("name") == "process_name"}
        assert set(served) <= set(processes) and all("program.py" in processes[pid] for pid in served), processes
        slices = sorted((e["ts"], e["pid"]) for e in trace if e["ph"] == "B" and e["name"] == "handle")
        equal([pid for _, pid in slices], [pid for pid, _ in answers])


def test_a_pool():
    """multiprocessing's workers, forked and from a fork server, into the same recording."""
    source = """
import multiprocessing, os
def work(n):
    return os.getpid(), sum(1 for _ in range(n))
if __name__ == "__main__":
    for method in "fork", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            for pid, n in pool.map(work, range(20), chunksize=1):
                print(pid, n)
            pool.close()
            pool.join()
"""
    with rec.recording(source) as r:
        equal((r.code, r.err), (0, ""))
        answers = [tuple(map(int, line.split())) for line in r.out.splitlines()]
        equal([n for _, n in answers], [*range(20)] * 2)
        for pid in {pid for pid, _ in answers}:
            calls = [e for e in r.events("work") if e.pid == pid and e.name == "PY_START"]
            equal(len(calls), sum(by == pid for by, _ in answers))


if __name__ == "__main__":
    rec.run(globals())
