#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose libraries switch greenlets: eventlet, SQLAlchemy's bridge from asyncio, Playwright's sync API.

    test_greenlet_libraries.py [--python PY]... [--only TEXT]

Each job computes between its switches and notes for how long. With stacks torn between greenlets, one job's computing would be
in the time of another one's functions: what a kind of job took is at least its own computing, and at most what is left of
the run without that of the others.
"""

import json
import os
import shutil

import recording

CLOCKS = """
import collections, json, sys, threading, time
clock = time.perf_counter_ns
spun, called = collections.Counter(), collections.Counter()
def spin(kind, ms):
    since = clock()
    while clock() < since + ms * 1000000: pass
    spun[kind] += clock() - since
def write():
    with open(OUT, "w") as file: json.dump({"spun": spun, "called": called, "wall": clock() - begun}, file)
"""

EVENTLET = CLOCKS + """
import eventlet
eventlet.monkey_patch()
import socket
def answer(connection):
    called["answer"] += 1
    request = connection.recv(100)
    spin("answer", 2)
    time.sleep(0.001)
    spin("answer", 1)
    connection.sendall(request[::-1])
    connection.close()
def serve(server):
    called["serve"] += 1
    for _ in range(20): eventlet.spawn_n(answer, server.accept()[0])
def ask(address, n):
    called["ask"] += 1
    with socket.create_connection(address) as connection:
        spin("ask", 1)
        connection.sendall(b"request %d" % n)
        assert connection.recv(100) == (b"request %d" % n)[::-1]
begun = clock()
server = socket.create_server(("127.0.0.1", 0))
pool = eventlet.GreenPool(8)
serving = eventlet.spawn(serve, server)
for n in range(20): pool.spawn(ask, server.getsockname(), n)
pool.waitall()
serving.wait()
write()
"""

SQLALCHEMY = CLOCKS + """
import asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
def count(connection, n):
    called["count"] += 1
    spin("count", 2)
    total = connection.execute(text("select sum(n) from numbers where n < :n"), {"n": n}).scalar()
    spin("count", 1)
    return total
async def request(engine, n):
    called["request"] += 1
    spin("request", 1)
    async with engine.connect() as connection:
        total = await connection.run_sync(count, n)
    assert total == sum(range(n)), (n, total)
    spin("request", 1)
async def main():
    engine = create_async_engine("sqlite+aiosqlite:///numbers.sqlite")
    async with engine.begin() as connection:
        await connection.execute(text("create table numbers (n integer)"))
        for n in range(12): await connection.execute(text("insert into numbers values (:n)"), {"n": n})
    await asyncio.gather(*[request(engine, n) for n in range(1, 13)])
    await engine.dispose()
begun = clock()
asyncio.run(main())
write()
"""

PLAYWRIGHT = CLOCKS + """
from playwright.sync_api import sync_playwright
def click(page, n):
    called["click"] += 1
    spin("click", 2)
    page.click("button")
    spin("click", 1)
def heard(message):
    called["heard"] += 1
    spin("heard", 1)
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    page = browser.new_page()
    page.on("console", heard)
    page.set_content("<button onclick='console.log(++this.value)' value=0>more</button>")
    begun = clock()
    for n in range(8): click(page, n)
    assert page.get_attribute("button", "value") == "8"
    browser.close()
write()
"""


def check(python, source, folder):
    program, out, data = (os.path.join(folder, name) for name in ("program.py", "out.json", "data"))
    with open(program, "w", encoding="utf-8") as file:
        file.write(source.replace("OUT", repr(out)))
    done = recording.record(data, [python, program], recording.traced_environment("calls"), cwd=folder)
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(out, encoding="utf-8") as file:
        truth = json.load(file)
    summary = recording.summary(data)
    own = {f["qualname"]: f for f in summary["functions"] if f["origin"] == "own"}
    lost = ("markers", "gaps", "unmatched", "mismatches", "skipped")
    problems = [f"{key} {summary['losses'][key]}" for key in lost if summary["losses"].get(key)]
    problems += [f"{name} called {n} times, told {own[name]['calls']}" for name, n in truth["called"].items()
                 if own[name]["calls"] != n or own[name]["unfinished"]]
    if len(summary["greenlets"]) < 2:
        problems.append(f"{summary['greenlets']}")
    whole = sum(truth["spun"].values())
    told = sum(own[kind]["total_ns"] for kind in truth["spun"])
    if own["spin"]["total_ns"] < 0.999 * whole or told > 1.001 * truth["wall"]:
        problems.append(f"spin: {own['spin']['total_ns']} of {whole}; together {told} of {truth['wall']}")
    for kind, ns in truth["spun"].items():
        took, left = own[kind]["total_ns"], truth["wall"] - (whole - ns)
        if not 0.999 * ns <= took <= 1.001 * left:
            problems.append(f"{kind}: {took} ns is not from {ns} to {left}")
    return problems


PROGRAMS = {
    "eventlet": (EVENTLET, "eventlet"),
    "SQLAlchemy's bridge": (SQLALCHEMY, "sqlalchemy", "aiosqlite", "greenlet"),
    "Playwright's sync API": (PLAYWRIGHT, "playwright"),
}


def cases(python, _):
    version, chromium = recording.version(python), shutil.which("chromium")
    for name, (source, *packages) in PROGRAMS.items():
        if "CHROMIUM" in source and not chromium:
            yield f"{version} {name}", "no chromium"
            continue
        there = recording.venv(python, *packages)
        if there:
            yield f"{version} {name}", check, there, source.replace("CHROMIUM", repr(chromium))
        else:
            yield f"{version} {name}", recording.NO_VENV


if __name__ == "__main__":
    recording.run_cases(cases)
