# SPDX-License-Identifier: MIT
"""A rare slow request in a real HTTP service, asyncio's and a threaded one: caught by each trigger, its cause named.

One request in OCULAR_REQUESTS (10000 is the long form) is slow in each of three ways.
"""

import os
import re
import subprocess

import rec
from rec import equal

REQUESTS = int(os.environ.get("OCULAR_REQUESTS", "300"))
PT = os.path.join(rec.BUILD, "bin", "ocular-pt")

COMMON = """
import gc, http.client, ocular, sys, threading, time
N = %d
SLOW = {N // 4: "loop", N // 2: "block", 3 * N // 4: "collect"}

class Late(Exception):
    pass

def search(n, seconds):
    found = 0
    end = time.perf_counter() + seconds
    while found < n or time.perf_counter() < end: # however fast the machine is
        found += 1
    return found

def query(seconds):
    time.sleep(seconds)

def render(n):
    junk = [[i] for i in range(n)]
    if n > 10:
        for x in junk:
            x.append(junk)
        gc.collect()
    return len(junk)

def handle(number):
    began = time.perf_counter()
    why = SLOW.get(number)
    search(20, 0.3 if why == "loop" else 0)
    query(0.3 if why == "block" else 0)
    render(1000000 if why == "collect" else 10)
    if why and "take" in sys.argv:
        ocular.take_snapshot("slow " + why, number=number)
    if why and "raise" in sys.argv:
        try:
            raise Late(why)
        except Late:
            pass

def clients(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(N):
        connection.request("GET", "/%%d" %% number)
        connection.getresponse().read()
    connection.close()
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
"""

# what was slow: what a person must find named first
CAUSES = {"loop": ("search",), "block": ("query",), "collect": ("garbage collection, generation 2", "render")}


def sections(r):
    """{number: [names of functions and loops, most excess first]} of the report."""
    text = subprocess.run([PT, "console=always", r.folder], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL).stdout
    found, rows = {}, None
    for line in text.split("\nOcular\n")[0].splitlines():
        title = re.match(r"Snapshot (\d+)", line)
        if title:
            rows = found.setdefault(int(title[1]), [])
        row = re.match(r"\s+[+-][\d.]+\s+[\d.]+\s+[\d.]+\s+\d+\s+\d+  (?:loop in )?(.+), \S+:-?\d+$", line)
        if row:
            rows.append(row[1])
    return found


def check(source, argument, triggers=(), rows=1):
    with rec.recording(source, mode="adaptive", recorder=["--flight", "2s"], args=[argument],
                       OCULAR_TRIGGER="\n".join(triggers)) as r:
        equal(r.code, 0, r.err)
        lines = {s["number"]: s for s in r.lines("snapshot") if s["trigger"] not in ("end", "baseline")}
        first = sections(r)
        # Other programs may hold this machine up for so long as well; the planted ones come in this order.
        named = [next((why for why, names in CAUSES.items() if set(first.get(n, ())[:rows]) & set(names)), None)
                 for n in sorted(lines)]
        equal([why for why in dict.fromkeys(named) if why], list(CAUSES), (lines, first))


def test_threaded_told_by_the_program():
    check(THREADED, "take")


def test_threaded_long_call():
    check(THREADED, "-", ["call __main__:handle(number, why) > 100ms"])


def test_threaded_exception():
    check(THREADED, "raise", ["exception __main__:Late"])


def test_asyncio_told_by_the_program():
    check(ASYNCIO, "take")


def test_asyncio_long_call():
    check(ASYNCIO, "-", ["call __main__:handle > 100ms"])


def test_asyncio_lag():
    # A thread that could not run does not know whom it waited for: then those who wait too are named beside.
    check(ASYNCIO, "-", ["lag 100ms"], rows=5)


if __name__ == "__main__":
    rec.run(globals())
