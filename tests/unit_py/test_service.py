# SPDX-License-Identifier: MIT
"""A rare slow request in a real HTTP service, asyncio's and a threaded one: caught by each trigger, its cause named.

One request in OCULAR_REQUESTS is slow in each of three ways. 10000 is the long form, with all triggers.
"""

import json
import os
import re
import subprocess

import rec
from rec import equal

REQUESTS = int(os.environ.get("OCULAR_REQUESTS", "300"))
LONG = REQUESTS >= 10000
PT = os.path.join(rec.BUILD, "bin", "ocular-pt")

# A slow request takes as long as all since the previous slow one, so that it stands out on a busy machine, too.
COMMON = """
import gc, http.client, json, ocular, os, signal, sys, threading, time
N, TOLD = %d, sys.argv[1]
SLOW = {N // 4: "loop", N // 2: "block", 3 * N // 4: "collect"}
PAGE = "once upon a time " * 1000
planted = [] # (number, why, begun, ended) in ns of CLOCK_MONOTONIC
before = time.monotonic()
gc.disable()
HEAP = [[i] for i in range(1000000)]
gc.enable()

class Late(Exception):
    pass

def search(n, until):
    found = 0
    while found < n or time.monotonic() < until: # however fast the machine is
        found += PAGE.count("on") > 0
    return found

def query(until):
    time.sleep(max(0, until - time.monotonic()))

def render(n, until):
    for i in range(n):
        str(i)
    while time.monotonic() < until:
        gc.collect()

def alarm(number, why):
    if TOLD == "take":
        ocular.take_snapshot("slow " + why, number=number)
    elif TOLD == "raise":
        try:
            raise Late(number)
        except Late:
            pass
    elif TOLD == "symbol":
        os.getpriority(os.PRIO_PROCESS, 0)
    elif TOLD == "signal":
        os.kill(os.getppid(), signal.SIGUSR2)
    elif TOLD == "control":
        with open(os.environ["OCULAR_DIR"] + "/.ocular.ctl", "w") as f:
            f.write("snapshot late\\n")

def late(wanted): # what held this request up already counts, too
    now = time.monotonic()
    return now + min(1, max(0.3, now - before)) if wanted else 0

def handle(number):
    global before
    began = time.monotonic()
    why = SLOW.get(number)
    search(20, late(why == "loop"))
    query(late(why == "block"))
    render(20, late(why == "collect"))
    if why:
        alarm(number, why)
        before = time.monotonic()
        planted.append((number, why, int(began * 1e9), int(before * 1e9)))

def clients(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(N):
        connection.request("GET", "/%%d" %% number)
        connection.getresponse().read()
        while number in SLOW and os.environ.get("WAIT") and count_snapshots() < len(planted):
            time.sleep(0.001) # the recorder was told, and takes it when it runs
    connection.close()

def count_snapshots():
    with open("%%s/codes-%%d.jsonl" %% (os.environ["OCULAR_DIR"], os.getpid())) as f:
        return sum('"kind":"snapshot"' in line and '"trigger":"baseline"' not in line for line in f)
""" % REQUESTS

THREADED = COMMON + """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        handle(int(self.path[1:]))
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *args): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
clients(server.server_port)
server.shutdown()
print(json.dumps(planted))
"""

ASYNCIO = COMMON + """
import asyncio
async def serve(reader, writer):
    while True:
        line = await reader.readline()
        if not line: break
        while (await reader.readline()).strip(): pass
        handle(int(line.split()[1][1:]))
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
        await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.get_running_loop().run_in_executor(None, clients, port)
    server.close()
asyncio.run(main())
print(json.dumps(planted))
"""

# what was slow: what a person must find named first
CAUSES = {"loop": "search", "block": "query", "collect": "garbage collection, generation 2"}


def sections(r):
    """{number: [names of functions and loops, most excess first]} of the report."""
    text = subprocess.run([PT, "console=always", r.folder], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL).stdout
    found, rows = {}, None
    for line in text.split("\nProgram  ")[0].splitlines():
        title = re.match(r"Snapshot (\d+)", line)
        if title:
            rows = found.setdefault(int(title[1]), [])
        row = re.match(r"\s+[+-][\d.]+\s+[\d.]+\s+[\d.]+\s+\d+\s+\d+  (?:loop in )?(.+), \S+:-?\d+$", line)
        if row:
            rows.append(row[1])
    return found


def is_of(line, number, begun, following):
    """Is it of this planted request? Other programs may hold this machine up for so long as well."""
    data = line.get("data") or {}
    if "exception" in data:
        return data["exception"] == "Late(%d)" % number
    return data.get("number", number) == number and begun <= line["at_ns"] < following


def check(source, told, triggers=(), rows=1, causes=tuple(CAUSES), recorder=(), **environment):
    with rec.recording(source, mode="adaptive", recorder=["--flight", "1500ms", *recorder], args=[told],
                       OCULAR_TRIGGER="\n".join(triggers), **environment) as r:
        equal(r.code, 0, r.err)
        lines = {s["number"]: s for s in r.lines("snapshot") if s["trigger"] not in ("end", "baseline")}
        first, planted = sections(r), json.loads(r.out)
        equal([why for _, why, _, _ in planted], list(CAUSES))
        ends = [begun for _, _, begun, _ in planted[1:]] + [float("inf")]
        for (number, why, begun, _), following in zip(planted, ends):
            named = [first.get(n, [])[:rows] for n, line in sorted(lines.items()) if is_of(line, number, begun, following)]
            if why in causes:
                assert any(CAUSES[why] in names for names in named), (why, named, lines, first)


def test_threaded_told_by_the_program():
    check(THREADED, "take")


def test_threaded_long_call():
    check(THREADED, "-", ["call __main__:handle(number) > 100ms"])


def test_threaded_exception():
    check(THREADED, "raise", ["exception __main__:Late"])


def test_asyncio_told_by_the_program():
    check(ASYNCIO, "take")


def test_asyncio_long_call():
    check(ASYNCIO, "-", ["call __main__:handle(number) > 100ms"])


def test_asyncio_lag():
    # A thread that could not run does not know what it waited for: then waiting threads are named, too.
    check(ASYNCIO, "-", ["lag 100ms"], rows=5)


def long_forms():
    """The other triggers. The last two do not know the thread: those who wait are named beside."""
    for service, source in ("threaded", THREADED), ("asyncio", ASYNCIO):
        yield service + " call", lambda s=source: check(s, "-", ["call __main__:alarm(number)"])
        yield service + " symbol", lambda s=source: check(s, "symbol", recorder=["--trigger-symbol", "libc.so.6:getpriority"], WAIT="1")
        yield service + " signal", lambda s=source: check(s, "signal", rows=5, WAIT="1")
        yield service + " control", lambda s=source: check(s, "control", rows=5, WAIT="1")
    yield "asyncio exception", lambda: check(ASYNCIO, "raise", ["exception __main__:Late"])
    # Nobody waits for a thread that blocks, nor for long for one that computes: it is made to give way.
    yield "threaded lag", lambda: check(THREADED, "-", ["lag 20ms"], rows=5, causes=["collect"])


if LONG:
    globals().update(("test_" + name.replace(" ", "_"), test) for name, test in long_forms())

if __name__ == "__main__":
    rec.run(globals())
