#!/usr/bin/env python3
"""How large the page is, and how long it takes in Chromium: the first paint and each thing that one can do in it.

    tests/bench/page.py [--python PY] [--events N] [--perfetto]

Of a program with four threads that make N events (10,000,000 by default), and of one with 100,000 functions, twenty of which have names
of 10,000 characters. Each is done five times: the table has how long it took until two frames later have been drawn, and how long of that the
page's main thread was on a CPU, which a machine with other work changes less; median and longest. --perfetto: the first program's time line
in Perfetto's UI, until that has read it.
"""

import os
import re
import statistics
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests", folder) for folder in ("doors", "viewers")]
import chromium  # noqa: E402
import recording  # noqa: E402
from chromium import Chromium  # noqa: E402
from test_flame import FEED, trace  # noqa: E402
from test_view import Site, perfetto_ui  # noqa: E402

TIMES, THREADS = 5, 4
FUNCTIONS, LONG, LENGTH = 100_000, 20, 10_000
# An event in two: calls and their returns; work() waits now and then.
PROGRAM = """
import random, sys, threading, time
calls, chosen = int(sys.argv[1]), random.Random(1)
for i in range(300):
    exec(f"def f{i}(n): return n and f{i * 7 % 300 if i % 3 else (i + 1) % 300}(n - 1)")
functions = [globals()[f"f{i}"] for i in range(300)]
def work(calls):
    while calls > 0:
        for n in (3, 5, 8):
            functions[chosen.randrange(300)](n)
            calls -= n + 1
        if not chosen.randrange(2000):
            time.sleep(0.01)
threads = [threading.Thread(target=work, args=(calls // 4,), name=f"worker-{n}") for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
CLICK = "[...document.querySelectorAll('.rect')][%d].click()"
SET = "(c => { c.value = '%s'; c.dispatchEvent(new Event('%s')); })(document.getElementById('%s'))"
KEY = "(area => { area.focus(); area.dispatchEvent(new KeyboardEvent('keydown', {key: '%s'})); })(document.getElementById('timeline-area'))"
# What is done, and what takes it back.
ACTS = (
    ("zoom into the widest function", CLICK % 1, CLICK % 0),
    ("search for a text", SET % ("f1", "input", "flame-find"), SET % ("", "input", "flame-find")),
    ("search for a pattern", SET % ("^f[0-9]*7$", "input", "flame-find"), SET % ("", "input", "flame-find")),
    ("width by CPU time", SET % ("cpu", "change", "flame-by"), SET % ("wall", "change", "flame-by")),
    ("width by calls", SET % ("calls", "change", "flame-by"), SET % ("wall", "change", "flame-by")),
    ("one thread", SET % ("1", "change", "flame-of"), SET % ("0", "change", "flame-of")),
    ("fold libraries", "document.getElementById('flame-fold').click()", "document.getElementById('flame-fold').click()"),
    ("merge recursion", "document.getElementById('flame-merge').click()", "document.getElementById('flame-merge').click()"),
    ("mark a span of the timeline", KEY % "ArrowRight", KEY % "Escape"),
    ("move it by its tenth", KEY % "ArrowRight", ""),
    ("make it twice as long", KEY % "-", ""),
    ("the whole run again", KEY % "Escape", KEY % "ArrowRight"),
    ("the next hot line", "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}))", ""),
)
TIMED = """new Promise(done => { const since = performance.now(); %s;
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - since))); })"""
PAINT = "(entry => entry ? entry.startTime : null)(performance.getEntriesByName('first-contentful-paint')[0])"
NARROW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def recorded(python, events, folder):
    """The recording, and how many events it has."""
    program, data = os.path.join(folder, "busy.py"), os.path.join(folder, "busy")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    done = recording.run([recording.WRAPPER, "record", "-q", "-o", data, "--python", python, "--", program, str(events // 2)])
    if done.returncode:
        sys.exit(done.stderr)
    return data, sum(recording.summary(data)["events"].values())


def page_of(data, folder):
    path, since = os.path.join(folder, "busy.html"), time.monotonic()
    done = recording.run([recording.WRAPPER, "report", "-q", data, "--html", path])
    if done.returncode:
        sys.exit(done.stderr)
    return path, time.monotonic() - since


def page_of_functions(folder):
    """As many functions, of which the first have long names, in ten modules; wider ones call narrower ones."""
    calls, now = [], 0
    for i in range(FUNCTIONS):
        name, length = f"f{i}" + "x" * LENGTH * (i < LONG), 4 + 4000 * (i % 50 == 0)
        calls.append((name, f"/src/app{i % 10}.py", now, now + length, [(f"g{i % 90}", "/src/app.py", now + 1, now + length - 1, [])]))
        now += length
    path = os.path.join(folder, "functions.html")
    with open(path + ".txt", "w", encoding="utf-8") as file:
        file.write(trace([(10, ("main", "/src/app.py", 0, now, calls))]))
    done = recording.run([FEED, f"html={path}", path + ".txt"], timeout=600)
    if done.returncode:
        sys.exit(done.stderr)
    return path


def until(browser, session, script):
    while not browser.run(session, script):
        time.sleep(0.05)


def on_cpu(browser, session):
    """ms of the page's main thread so far."""
    return 1000 * next(each["value"] for each in browser.call("Performance.getMetrics", session)["metrics"] if each["name"] == "TaskDuration")


def opened(browser, session, path):
    """Of some times: ms until something was painted, until all was there, and of the main thread on a CPU by then."""
    firsts, whole, cpu = [], [], []
    for _ in range(TIMES):
        browser.call("Page.navigate", session, url="about:blank")
        until(browser, session, "location.protocol == 'about:' && document.readyState == 'complete'")
        before = on_cpu(browser, session)
        browser.call("Page.navigate", session, url=f"file://{path}")
        until(browser, session, "location.protocol == 'file:' && document.readyState == 'complete' && document.querySelectorAll('.rect').length")
        until(browser, session, PAINT)
        firsts.append(browser.run(session, PAINT))
        whole.append(browser.run(session, "performance.getEntriesByType('navigation')[0].loadEventEnd"))
        cpu.append(on_cpu(browser, session) - before)
    return firsts, whole, cpu


def row(name, taken, cpu=()):
    of_cpu = f"{statistics.median(cpu):.0f} ms | {max(cpu):.0f} ms" if cpu else "|"
    print(f"| {name} | {statistics.median(taken):.0f} ms | {max(taken):.0f} ms | {of_cpu} |", flush=True)


def there(browser, session, act):
    """Are the controls there that it uses?"""
    return all(browser.run(session, f"document.getElementById('{name}') !== null") for name in re.findall(r"getElementById\('([\w-]+)'\)", act))


def measure(browser, session, path, title):
    browser.call("Performance.enable", session, timeDomain="threadTicks")
    browser.size(session, 1280, 900)
    firsts, whole, cpu = opened(browser, session, path)
    print(f"\n{title}: {os.path.getsize(path) / 1e6:.2f} MB\n\n| | median | longest | on a CPU | longest |\n|---|---|---|---|---|")
    row("first paint", firsts)
    row("all is there", whole, cpu)
    for name, act, back in (each for each in ACTS if there(browser, session, each[1])):
        taken, cpu = [], []
        for _ in range(TIMES):
            before = on_cpu(browser, session)
            taken.append(browser.run(session, TIMED % act))
            cpu.append(on_cpu(browser, session) - before)
            browser.run(session, TIMED % back)
        row(name, taken, cpu)
    for width in (360, 3840):
        browser.size(session, width, 900)
        more = browser.run(session, NARROW)
        if more > 0:
            print(f"\n{width} pixels wide it is scrolled sideways by {more}")


def perfetto(data, folder, program, python):
    """Seconds until Perfetto's UI has read the trace."""
    path = os.path.join(folder, "busy.pftrace")
    done = recording.run([recording.WRAPPER, "report", "-q", data, "--perfetto", path], timeout=600)
    ui = perfetto_ui(python)
    if done.returncode or not ui:
        sys.exit(done.stderr or "page.py: Perfetto's UI cannot be fetched")
    for each in os.listdir(ui):
        os.symlink(os.path.join(ui, each), os.path.join(folder, each))
    site = Site(folder)
    browser = Chromium(program, folder, "about:blank")
    try:
        session, since = browser.page(), time.monotonic()
        browser.call("Page.enable", session)
        browser.call("Page.navigate", session, url=f"{site.url}/#!/?url={site.url}/busy.pftrace")
        until(browser, session, "Boolean(globalThis.app && app.trace)")
        slices = browser.run(session, "app.trace.engine.query('select count(*) as n from slice').then(rows => Number(rows.firstRow({n: 1}).n))")
        print(f"\nPerfetto: {os.path.getsize(path) / 1e6:.1f} MB, {slices} slices, {time.monotonic() - since:.0f} s until it can be asked and shows them")
    finally:
        browser.end()
        site.shutdown()


def main():
    parser = recording.options()
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--perfetto", action="store_true")
    chosen = parser.parse_args()
    recording.need_built()
    program = chromium.found()
    if not program:
        sys.exit("page.py: there is no chromium here")
    python = recording.pythons(chosen)[-1]
    with recording.scratch() as folder:
        data, events = recorded(python, chosen.events, folder)
        path, seconds = page_of(data, folder)
        browser = Chromium(program, folder, "about:blank")
        try:
            session = browser.page()
            browser.call("Page.enable", session)
            measure(browser, session, path, f"{events} events of {THREADS} threads, the page written in {seconds:.1f} s")
            measure(browser, session, page_of_functions(folder), f"{FUNCTIONS} functions")
        finally:
            browser.end()
        if chosen.perfetto:
            perfetto(data, folder, program, python)


if __name__ == "__main__":
    main()
