#!/usr/bin/env python3
"""Where the time of a FastAPI service's requests went, beside what its handlers noted themselves, as Markdown.

    service.py [--python PY]... [--loop asyncio|uvloop]...

uvicorn serves 100 requests at a time to a client of its own, both on this machine. The handler notes with perf_counter_ns() when each
of its parts began and ended, when its jobs ran, and who had the lock; for each part that says how long the path must have been in
what. The two clocks are the same one.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "doors"))

import recording  # noqa: E402

PACKAGES = ("fastapi", "uvicorn", "uvloop")
ABREAST, REQUESTS = 100, 300
SLEEP, HELD, JOB, BURN, CHILDREN = .03, .001, .005, .003, (.01, .025)

SERVICE = """
import asyncio, contextlib, json, os, time
from fastapi import FastAPI
import ocular

notes, jobs, holders, children = {}, {}, [], {}  # by number of the request: ns of perf_counter
now = time.perf_counter_ns
lock = asyncio.Lock()

@contextlib.asynccontextmanager
async def lifespan(app):
    yield
    with open(os.environ["SERVICE_NOTES"], "w") as file:
        json.dump({"notes": notes, "jobs": jobs, "holders": holders, "children": children}, file)

app = FastAPI(lifespan=lifespan)

@app.middleware("http")
async def recorded(request, call_next):
    name = f"{request.method} {request.url.path}"
    with ocular.request(name):
        return await call_next(request)

def burn(seconds):
    until = now() + seconds * 1e9
    while now() < until:
        pass

def job(n, name):
    begun = now()
    time.sleep(JOB)
    jobs.setdefault(n, {})[name] = begun, now()

async def child(n, seconds):
    begun = now()
    await asyncio.sleep(seconds)
    children.setdefault(n, []).append((begun, now()))

@app.get("/work/{n}")
async def work(n: int):
    parts = notes[n] = [("begin", now())]
    def part(name):
        parts.append((name, now()))
    await asyncio.sleep(SLEEP)
    part("sleep")
    with ocular.span("in turn"):
        async with lock:
            part("lock")
            since = now()
            await asyncio.sleep(HELD)
            holders.append((n, since, now()))
    part("held")
    await asyncio.get_running_loop().run_in_executor(None, job, n, "executor")
    part("executor")
    await asyncio.to_thread(job, n, "to_thread")
    part("to_thread")
    burn(BURN)
    part("burn")
    with ocular.span("two at once", n=n):
        async with asyncio.TaskGroup() as group:
            for seconds in CHILDREN:
                group.create_task(child(n, seconds), name=f"child of {n}")
    part("children")
    return {"n": n}

@app.get("/plain/{n}")
def plain(n: int):
    parts = notes[n] = [("begin", now())]
    time.sleep(JOB)
    parts.append(("sleep in a thread", now()))
    burn(BURN)
    parts.append(("burn in a thread", now()))
    return {"n": n}
"""

CLIENT = """
import asyncio, sys
port, abreast, last, plain = map(int, sys.argv[1:])

async def get(n):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    path = "plain" if plain and n % plain == 0 else "work"
    writer.write(b"GET /%s/%d HTTP/1.1\\r\\nHost: here\\r\\nConnection: close\\r\\n\\r\\n" % (path.encode(), n))
    answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 200 "), answer

async def one_after_another(numbers):
    for n in numbers:
        await get(n)

async def main():
    numbers = iter(range(last))
    async with asyncio.timeout(60):
        await asyncio.gather(*(one_after_another(numbers) for i in range(abreast)))
asyncio.run(main())
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until_served(port, process=None):
    """Or until the process has ended."""
    for _ in range(600):
        with socket.socket() as s:
            if not s.connect_ex(("127.0.0.1", port)) or process and process.poll() is not None:
                return
        time.sleep(.05)



def load(python, port):
    """As many requests as REQUESTS, ABREAST at a time; every fifth one of the handler that is no coroutine."""
    numbers = [str(n) for n in (port, ABREAST, REQUESTS, 5)]
    done = recording.run([python, "-I", "-c", CLIENT, *numbers], env=recording.plain_environment())
    if done.returncode:
        raise RuntimeError(f"the client: {done.stderr[-2000:]}")


def serve(python, loop, folder):
    """The service as `ocular record` starts it, until the load is over and Ctrl-C has ended it. Its own notes, and the recording."""
    planted = {"SLEEP": SLEEP, "HELD": HELD, "JOB": JOB, "BURN": BURN, "CHILDREN": CHILDREN}
    source, port, data = SERVICE, free_port(), os.path.join(folder, "rec")
    for name, value in planted.items():
        source = source.replace(name, str(value)) if name != "HELD" else source.replace("sleep(HELD)", f"sleep({value})")
    with open(os.path.join(folder, "service.py"), "w", encoding="utf-8") as file:
        file.write(source)
    notes = os.path.join(folder, "notes.json")
    command = [recording.WRAPPER, "record", "-q", "-o", data, "--python", python, "--mode", "calls", "-m", "uvicorn", "service:app",
               "--host", "127.0.0.1", "--port", str(port), "--loop", loop, "--log-level", "warning"]
    env = recording.plain_environment(SERVICE_NOTES=notes)
    with subprocess.Popen(command, env=env, cwd=folder, start_new_session=True, stderr=subprocess.PIPE) as process:
        wait_until_served(port, process)
        try:
            load(python, port)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            said = process.communicate(timeout=60)[1].decode()
    if not os.path.exists(notes):
        raise RuntimeError(f"the service: {said}")
    with open(notes, encoding="utf-8") as file:
        return json.load(file), data


def spent(path, since, until):
    """{(kind, what): ns} of a part of a path, whose pieces have a beginning."""
    found = {}
    for piece in path:
        ns = min(piece["at"] + piece["ns"], until) - max(piece["at"], since)
        if ns > 0:
            key = piece["kind"], piece["what"]
            if piece["kind"] == "blocked":  # a part of what it does: a job that sleeps, or has to wait for the GIL
                key = "running", piece["awaited_by"] or piece["what"]
            found[key] = found.get(key, 0) + ns
    return found


def held(holders, since, until):
    """How long whoever had the lock in that time asked to sleep: its first and last holder's sleep may be cut."""
    return sum(max(0, min(begun + HELD * 1e9, until) - max(begun, since)) for _, begun, _ in holders)


def wanted(truth, n, name, since, until):
    """(kind, what, ns) of a part of the handler, by its own notes; what None: any."""
    job = truth["jobs"].get(n, {}).get(name)
    if job:
        return "running", "job", job[1] - job[0]
    children = truth["children"].get(n)
    return {
        "sleep": ("awaiting", "sleep", SLEEP * 1e9),
        "held": ("awaiting", "sleep", HELD * 1e9),
        "lock": ("awaiting", "sleep", held(truth["holders"], since, until)),
        "burn": ("running", None, until - since),
        "children": ("awaiting", "sleep", max(CHILDREN) * 1e9) if children else None,
    }.get(name) or ("running", None, until - since)


def of_middleware(path, since, until):
    """How long the path was in the task that the request began in: the handler is another one's, and may sleep meanwhile."""
    return sum(ns for (_, what), ns in spent(path, since, until).items() if what == "recorded")


def compared(truth, request):
    """(part, kind, ns by the handler's clock, ns told) of a request."""
    n, at = request["name"].rsplit("/", 1)[1], request["start_ns"]
    for piece in request["path"]:
        piece["at"] = at
        at += piece["ns"]
    notes, rows = truth["notes"][n], []
    for (_, since), (name, until) in zip(notes, notes[1:]):
        kind, what, ns = wanted(truth, n, name, since, until)
        if kind == "awaiting":
            ns -= of_middleware(request["path"], since, since + int(ns))
        told = sum(t for key, t in spent(request["path"], since, until).items() if key[0] == kind and what in (None, key[1]))
        rows.append((name, kind, until - since, ns, told))
    return rows


def summary(folder, data):
    path = os.path.join(folder, "summary.json")
    done = recording.run([recording.WRAPPER, "report", data, "--summary", path], env=recording.plain_environment())
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def ms(ns):
    return f"{ns / 1e6:.2f}"


def show(version, loop, truth, found):
    """The slowest request part by part, and of each part the median of the errors of all that have a path."""
    for r in found["requests"]:
        if sum(p["ns"] for p in r["path"]) != r["end_ns"] - r["start_ns"]:
            raise RuntimeError(f"the pieces of {r['name']} do not add up")
    every = [compared(truth, r) for r in found["requests"] if "/" in r["name"] and r["path"]]
    for i, (name, kind, took, ns, told) in enumerate(every[0]):
        same = [rows[i] for rows in every if [r[0] for r in rows] == [r[0] for r in every[0]]]
        errors = sorted(abs(r[4] - r[3]) for r in same)
        row(version, loop, name, ms(took), kind, ms(ns), ms(told), f"{(told - ns) / 1e6:+.2f}", f"{ms(errors[len(errors) // 2])} of {len(same)}")


def main():
    parser = recording.options()
    parser.add_argument("--loop", action="append", choices=("asyncio", "uvloop"), help="event loop; may be repeated")
    chosen = parser.parse_args()
    recording.need_built()
    row("Python", "loop", "part", "took", "of it", "by its notes", "told", "error", "median of all")
    row(*["---"] * 9)
    for python in recording.pythons(chosen):
        fetched = recording.venv(python, *PACKAGES)
        if not fetched:
            sys.exit(f"{', '.join(PACKAGES)} cannot be installed for {python}: is there a network?")
        for loop in chosen.loop or ("asyncio", "uvloop"):
            with recording.scratch() as folder:
                truth, data = serve(fetched, loop, folder)
                show(recording.version(python), loop, truth, summary(folder, data))


if __name__ == "__main__":
    main()
