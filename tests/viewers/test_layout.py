#!/usr/bin/env python3
"""How the page looks in a real browser: nothing is covered, cut or too narrow to read, and each kind has a colour of its own.

The page is of a real program that has most of the sections there are. Without Chromium: skipped, but not in CI.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import chromium  # noqa: E402
import recording  # noqa: E402
from chromium import Chromium  # noqa: E402
from colours import alike  # noqa: E402
from tap import Plan  # noqa: E402
from test_flame import Page, equal  # noqa: E402

EVENTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "helper-ext", "shared", "event.h")
PROGRAM = """
import asyncio, concurrent.futures, json, threading, time
import ocular
LOCK = threading.Lock()
def crunch(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total
def locked(i):
    with LOCK:
        time.sleep(0.001)
        return crunch(500)
def fails(i):
    try:
        raise ValueError(i)
    except ValueError:
        return json.loads(json.dumps({"all": list(range(i))}))
@ocular.request("GET")
async def handle(i):
    with ocular.span("parse"):
        crunch(200)
    await asyncio.get_running_loop().run_in_executor(POOL, locked, i)
    return fails(i)
async def main():
    await asyncio.gather(*(asyncio.create_task(handle(i)) for i in range(20)))
    await asyncio.sleep(0.2)
POOL = concurrent.futures.ThreadPoolExecutor(3)
threads = [threading.Thread(target=locked, args=(i,)) for i in range(5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
asyncio.run(main())
crunch(20000)
"""
SCHEMES = ("light", "dark")


def recorded(browser, folder):
    program, data, path = (os.path.join(folder, name) for name in ("layout.py", "data", "layout.html"))
    with open(program, "w") as file:
        file.write(PROGRAM)
    done = recording.record(data, [recording.pythons()[-1], program], recording.traced_environment("full"))
    if done.returncode:
        raise RuntimeError(done.stderr)
    recording.report(data, f"html={path}")
    return Page(browser, folder, None, path)


def size(page, width):
    page.browser.size(page.session, width, 900)
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def scheme(page, name):
    page.browser.call("Emulation.setEmulatedMedia", page.session, features=[{"name": "prefers-color-scheme", "value": name}])


def navigation(page):
    """All links of it are seen, and what they lead to stands below it."""
    problems = []
    for width in (800, 1040, 1920):
        size(page, width)
        problems += equal(page.run("(nav => nav.scrollWidth - nav.clientWidth)(document.querySelector('nav'))"), 0)
        links = page.run("[...document.querySelectorAll('nav a')].map(a => a.hash.slice(1))")
        problems += [] if len(links) > 12 else [f"only {links}"]
        covered = page.run(
            "(() => { const nav = document.querySelector('nav'), all = []; for (const a of nav.querySelectorAll('a')) { "
            "const to = document.querySelector(a.hash); to.scrollIntoView({behavior: 'instant'}); "
            "const heading = to.querySelector('h2').getBoundingClientRect(), box = nav.getBoundingClientRect(); "
            "if (heading.top < box.bottom && heading.bottom > box.top) all.push(a.hash); } return all; })()")
        problems += [f"{width}: covered {covered}"] if covered else []
    return problems


def names(page):
    """The column with names is as wide as one of 25 characters, in each table that has one (18 where it has two), and whose
    functions are takes one line."""
    problems = []
    for width in (800, 1040, 1280, 1320, 1440, 1920):
        size(page, width)
        found = page.run("[...document.querySelectorAll('section > :is(table, .scroll, .pair) td:has(.name), #c-functions td:last-child')].map(td => "
                         "[td.closest('section').id, td.clientWidth, Math.max(...[...td.closest('table').rows].map(row => row.querySelectorAll('.name').length))])")
        problems += [f"{width}, {table}: {got} pixels" for table, got, n in sorted(set(map(tuple, found))) if got < (200, 200, 150)[n]]
        problems += [f"no table of {table}" for table in ("first", "functions", "c-functions", "loops", "imports") if table not in [each[0] for each in found]]
        lines = page.run("[...document.querySelectorAll('#functions td.of')].filter(td => td.clientWidth).map(td => { const r = document.createRange(); "
                         "r.selectNodeContents(td); return r.getClientRects().length; })")
        problems += [f"{width}: {n} lines" for n in set(lines) - {1}]
    return problems


def sideways(page):
    """Nothing has to be scrolled sideways: on a small screen tables in their own boxes, from 1040 pixels on not even these."""
    problems = []
    for width in (360, 400, 800, 1040, 1280):
        size(page, width)
        beyond = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        problems += [f"{width}: {beyond} pixels too wide"] if beyond else []
        boxes = page.run("[...document.querySelectorAll('section > .scroll')].filter(d => d.scrollWidth > d.clientWidth + 1).map(d => d.closest('section').id)")
        problems += [f"{width}: {boxes}"] if boxes and width >= 1040 else []
    return problems


def shares(page):
    """No bar runs under its figure: it ends before, or is a line below."""
    problems = []
    page.run("document.querySelectorAll('.rect')[1].click()")  # who calls it: 100.0 %
    for width in (360, 1040, 1920):
        size(page, width)
        cells = page.run(
            "[...document.querySelectorAll('td.share')].filter(td => td.clientWidth).map(td => { const r = document.createRange(); "
            "r.selectNodeContents(td); const text = r.getBoundingClientRect(), box = td.getBoundingClientRect(); "
            "return [text.left - box.left, box.width, getComputedStyle(td).backgroundSize, box.bottom - text.bottom]; })")
        for left, wide, drawn, below in cells:
            less = re.match(r"calc\(100% - ([\d.]+)px\)", drawn)
            free = wide - float(less[1]) <= left if less else re.match(r"100% [123]px$", drawn) and below >= 3
            problems += [] if free else [f"{width}: the figure is at {left} of {wide}, {below} above the end, the bar is {drawn}"]
    return problems[:5] + ([] if cells else ["there is no share"])


def heads(page):
    """The head of a column of text begins where the text does, whatever columns are before it."""
    page.run("document.querySelectorAll('#source details').forEach(d => { d.open = true; })")
    size(page, 1040)
    found = page.run(
        "[...document.querySelectorAll('table.source')].map(t => [t.tHead.rows[0].cells.length, ...[t.tHead.rows[0], t.tBodies[0].rows[0]].map(row => "
        "{ const r = document.createRange(); r.selectNodeContents(row.lastElementChild); return r.getBoundingClientRect().left; })])")
    return [f"{columns} columns: the head is at {head}, the text at {text}" for columns, head, text in found if abs(head - text) > 2][:3] + [
        f"no table has {columns} columns" for columns in (4, 5) if columns not in {each[0] for each in found}]


def kinds(page):
    """Each kind of time on the first screen has a colour of its own, whatever bar it is in; there is one for each kind of wait."""
    with open(EVENTS) as file:
        text = file.read()
    waits = re.findall(r'W\(\d+, \w+, "(\w+)"\)', text[text.index("define OCULAR_WAITS"):text.index("define OCULAR_SUBJECTS")])
    problems = []
    for name in SCHEMES:
        scheme(page, name)
        colours = page.run(
            "(() => { const all = {}, bar = document.querySelector('.bar'); for (const rule of document.styleSheets[0].cssRules) "
            "for (const [, kind] of (rule.selectorText || '').matchAll(/^\\.of-(\\w+)|, \\.of-(\\w+)/g)) { if (!kind) continue; "
            "const i = document.createElement('i'); i.className = 'of-' + kind; bar.append(i); "
            "all[kind] = getComputedStyle(i).backgroundColor; i.remove(); } return all; })()")
        problems += [f"no colour of {kind}" for kind in waits + ["own", "stdlib", "site", "imports", "c", "gc", "idle", "untold"] if kind not in colours]
        problems += [f"{name}: {pair}" for pair in alike(colours, 12)]
    return problems


def idle(page):
    """The workers of the pool waited for work, which is no wait for a lock; and what is waited for is said in words."""
    legend = page.run("Object.fromEntries([...document.querySelectorAll('#first li')].map(li => [li.dataset.of, li.textContent]))")
    problems = [] if legend.get("idle", "").startswith("for work: idle workers of pools") else [str(legend)]
    return problems + [f"{kind} is told as {text}" for kind, text in legend.items() if kind == "ring" and "markers" not in text]


def tasks(page):
    """The flame graph of tasks of one coroutine: as wide as what all of them ran, and nothing around it."""
    options = page.run("[...document.querySelectorAll('#flame-of optgroup')].map(g => [g.label, [...g.children].map(o => [o.value, o.text])])")
    groups = dict(options)
    chosen = [value for value, text in groups.get("Tasks by coroutine", []) if text == "handle: 20 tasks"]
    if not chosen:
        return [str(options)]
    page.set("flame-of", chosen[0])
    seen = page.rectangles()
    page.set("flame-of", "0")
    return equal({name for name, level in seen if level == 2}, {"handle"}) + equal(round(seen["handle", 2][0]), 100) + [
        f"{name} is not shown" for name in ("crunch", "fails") if (name, 3) not in seen]


CASES = {
    "the navigation covers nothing": navigation,
    "the column of names": names,
    "no scrolling sideways": sideways,
    "bars of shares": shares,
    "heads of columns of text": heads,
    "a colour for each kind": kinds,
    "idle workers": idle,
    "the flame graph by task": tasks,
}


def main():
    recording.need_built()
    program = chromium.needed()
    with Plan() as plan, recording.scratch() as folder:
        browser = Chromium(program, folder, "about:blank")
        try:
            page = recorded(browser, folder)
            for name, case in CASES.items():
                plan.case(name, case, page)
        finally:
            browser.end()


if __name__ == "__main__":
    main()
