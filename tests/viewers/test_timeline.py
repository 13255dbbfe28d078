#!/usr/bin/env python3
"""The page's timeline in a real browser: what a span is made of, by pointer and by keys, equals sums that are done by hand.

The traces are text whose times are whole columns. Without Chromium: skipped, but not in CI.
"""

import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import chromium  # noqa: E402
import recording  # noqa: E402
from chromium import Chromium  # noqa: E402
from page_data import page_data  # noqa: E402
from tap import Plan  # noqa: E402
from test_flame import FEED, Page, equal, trace  # noqa: E402

PYRAMIDS = ("paths", "functions")
COLUMN = 1024  # ns: of a trace that is shorter than 2048 of them
APP = "/src/app.py"
LIBRARY = "/usr/lib/python3.12/json/decoder.py"


def call(name, begin, end, callees=(), file=APP):
    """From and until those columns."""
    return (name, file, int(begin * COLUMN), int(end * COLUMN), list(callees))


# 1000 columns: main is in f from 100 to 500, in g from 500 to 600, which calls h from 550 on; work from 200 to 400.
MAIN = call("main", 0, 1000, [call("f", 100, 500), call("g", 500, 600, [call("h", 550, 600, file=LIBRARY)])])
WORK = call("work", 200, 400)
WHOLE = {("all", 1): 1200, ("main", 2): 1000, ("work", 2): 200, ("f", 3): 400, ("g", 3): 100, ("h", 4): 50}
SAID = "Whole run: 1.024 ms"  # 1000 columns


def page_of(folder, text):
    """The page's text, and its timeline's data."""
    path = os.path.join(folder, "made.html")
    with open(path + ".txt", "w") as file:
        file.write(text)
    done = recording.run([FEED, f"html={path}", path + ".txt"])
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(path) as file:
        page = file.read()
    return page, page_data(page, "timeline")


def widths(page, columns):
    """{(name, level): columns}, of a flame graph that is of so many."""
    return {key: round(width * columns / 100) for key, (width, _) in page.rectangles().items()}


def box(page, row=0):
    return page.run("(b => [b.left, b.top, b.width, b.height])(document.querySelectorAll('#timeline .track')"
                    f"[{row}].getBoundingClientRect())")


def drag(page, from_part, until_part, row=0):
    page.run("document.getElementById('timeline-area').scrollIntoView({block: 'center', behavior: 'instant'})")
    left, top, width, height = box(page, row)
    spots = [("mousePressed", from_part, 1), ("mouseMoved", until_part, 1), ("mouseReleased", until_part, 0)]
    for kind, part, buttons in spots:
        page.browser.call("Input.dispatchMouseEvent", page.session, type=kind, x=left + width * part, y=top + height / 2,
                          button="left", buttons=buttons, clickCount=1)


def rows_of_table(page):
    """{function: [share, self wall time, calls]}"""
    return {row[-1]: row[:-1] for row in page.run(
        "[...document.querySelectorAll('#timeline-functions tbody tr')].map(r => [...r.cells].map(c => (c.querySelector('button') || c).innerText))")}


def reset(page):
    page.run("(() => { for (const b of document.querySelectorAll('#timeline [aria-pressed=false]')) b.click(); "
             "document.getElementById('timeline-all').click(); })()")


def whole(page):
    """Without a span everything is as it was."""
    return equal(page.widths(1200 * COLUMN), {key: n * COLUMN for key, n in WHOLE.items()}) + equal(
        page.text("timeline-functions"), "") + equal(page.text("timeline-said"), SAID)


def span(page):
    """Columns 300 to 600 of both threads: main and what it called, 300; work, 100."""
    drag(page, 0.3, 0.6)
    said = page.text("timeline-said")
    wanted = {("all", 1): 400, ("main", 2): 300, ("work", 2): 100, ("f", 3): 200, ("g", 3): 100, ("h", 4): 50}
    table = rows_of_table(page)
    return equal(widths(page, 400), wanted) + equal(said, "307.2 us to 614.4 us: 307.2 us") + equal(
        {name: table[name] for name in ("f", "work", "g", "h")},
        {"f": ["50.0 %", "204.8 us", "0"], "work": ["25.0 %", "102.4 us", "0"], "g": ["12.5 %", "51.20 us", "1"], "h": ["12.5 %", "51.20 us", "1"]})


def span_by_calls(page):
    """The calls that began in columns 50 to 530: f, g, work; the table is of them, too."""
    drag(page, 0.05, 0.53)
    page.set("flame-by", "calls")
    seen = widths(page, 3)
    shares = {name: cells[0] for name, cells in rows_of_table(page).items()}
    page.set("flame-by", "wall")
    return equal(seen, {("all", 1): 3, ("main", 2): 2, ("f", 3): 1, ("g", 3): 1, ("work", 2): 1}) + equal(
        {name: shares[name] for name in ("main", "f", "g", "work")}, {"main": "0.0 %", "f": "33.3 %", "g": "33.3 %", "work": "33.3 %"})


def labels(page):
    """A row begins with the thread's name."""
    return equal(page.run("[...document.querySelectorAll('#timeline .row button')].map(b => b.textContent)"), ["main 10", "thread 11"])


def click(page):
    """A click shows everything again."""
    drag(page, 0.3, 0.6)
    drag(page, 0.5, 0.5)
    return whole(page)


def without_a_thread(page):
    """Of one thread alone, whose name is pressed; the other one's is not."""
    page.run("document.querySelectorAll('#timeline .row button')[1].click()")
    drag(page, 0.3, 0.6)
    pressed = page.run("[...document.querySelectorAll('#timeline .row button')].map(b => b.ariaPressed)")
    return equal(widths(page, 300), {("all", 1): 300, ("main", 2): 300, ("f", 3): 200, ("g", 3): 100, ("h", 4): 50}) + equal(
        pressed, ["true", "false"])


def keyboard(page):
    """The first tenth, a tenth of that on, its end further, half of it, everything."""
    page.run("document.getElementById('timeline-area').focus()")
    said = []
    for key, modifiers in (("ArrowRight", 0), ("ArrowRight", 0), ("ArrowRight", 8), ("End", 0), ("+", 0), ("Escape", 0)):
        for kind in ("keyDown", "keyUp"):
            page.browser.call("Input.dispatchKeyEvent", page.session, type=kind, key=key, modifiers=modifiers)
        said.append(page.text("timeline-said"))
    column = [[0, 100], [10, 110], [10, 120], [890, 1000], [918, 973]]
    starts = [re.match(r"([\d.]+) (ns|us|ms) to ([\d.]+) (ns|us|ms)", text) for text in said[:-1]]
    unit = {"ns": 1, "us": 1e3, "ms": 1e6}
    got = [[round(float(m[1]) * unit[m[2]] / COLUMN), round(float(m[3]) * unit[m[4]] / COLUMN)] for m in starts]
    return equal(got, column) + equal(said[-1], SAID)


def drawn(page):
    """Each column has its function's colour, and none where the thread was in no function."""
    got = page.run("(() => { const all = document.querySelectorAll('#timeline canvas'), at = (row, x) => "
                   "[...all[row].getContext('2d').getImageData(x, 20, 1, 1).data].join(); "
                   "return [50, 300, 520, 580, 800].map(x => at(0, x)).concat([100, 300].map(x => at(1, x))); })()")
    main, f, g, h, later, none, work = got
    return equal(main, later) + equal(none, "0,0,0,0") + ([] if len({main, f, g, h, work}) == 5 else [str(got)])


def in_words(page):
    return equal(page.run("document.querySelector('#timeline canvas').ariaLabel"),
                 "main: 1.024 ms in functions; most columns: main src/app.py:1, f src/app.py:1, g src/app.py:1".replace("src/", "/src/"))


def narrow(page):
    problems = []
    for width in (360, 1280, 3840):
        page.browser.size(page.session, width, 900)
        needs = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        problems += [f"{width}: {needs} more"] if needs > 0 else []
        drag(page, 0.3, 0.6)
        problems += equal(widths(page, 400).get(("f", 3)), 200)
        beyond = page.run("(t => t.scrollWidth - t.clientWidth)(document.querySelector('#timeline-functions .scroll'))")
        problems += [f"{width}: the table needs {beyond} more"] if beyond > 0 else []
        reset(page)
    page.browser.call("Emulation.clearDeviceMetricsOverride", page.session)
    return problems


def sums_of(row):
    """Of each level of both pyramids."""
    return [sum(level["wall"]) for of in PYRAMIDS for level in row[of]]


def many_events(folder):
    """A trace of 300 ms of 400 functions: columns are wider, and each level of each thread adds up to its time, exactly."""
    chosen, calls, wanted = random.Random(1), [], []
    for tid in (10, 11, 12):
        now, callees = 0, []
        while now < 300_000_000:
            ns = chosen.randrange(1000, 60_000)
            callees.append((f"f{chosen.randrange(400)}", APP, now, now + ns, [(f"g{chosen.randrange(9)}", APP, now + ns // 3, now + ns // 2, [])]))
            now += ns
        calls.append((tid, ("main", APP, 0, now, callees)))
        wanted.append(now)
    page, data = page_of(folder, trace(calls))
    entries = sum(len(level["wall"]) for row in data["rows"] for of in PYRAMIDS for level in row[of])
    problems = equal(sorted(sums_of(row)[0] for row in data["rows"]), sorted(wanted)) + equal(
        [len(set(sums_of(row))) for row in data["rows"]], [1, 1, 1])
    problems += [] if entries <= 150_000 and len(page) < 3 << 20 else [f"{entries} entries, {len(page)} bytes"]
    return problems + ([] if 500 < data["columns"] <= 2048 else [f"{data['columns']} columns"])


def many_threads(folder):
    """Of 100 threads 48 have a row; the others are one, and nothing is missing."""
    calls = [(100 + i, ("run", APP, 0, 1000 * (i + 1), [])) for i in range(100)]
    _, data = page_of(folder, trace(calls))
    return equal(len(data["rows"]), 49) + equal(data["rows"][-1]["name"], "52 other threads") + equal(
        sum(sums_of(row)[0] for row in data["rows"]), 1000 * 5050) + equal(sums_of(data["rows"][0])[0], 100_000)


def many_rows(browser, folder):
    """It is said that there are more threads than rows; a thread whose pid is not known is no second process."""
    page = Page(browser, folder, trace([(100 + i, ("run", APP, 0, 1000 * (i + 1), [])) for i in range(100)]))
    said = page.text("timeline-keys")
    wanted = "100 threads, the 48 with most time in a row each, the other 52 in the last row, "
    first = page.run("document.querySelector('#timeline .row button').textContent")
    return ([] if said.startswith(wanted) else [said]) + equal(first, "thread 199")


def rest(browser, folder):
    """The table of a span has all of it: what has no row of its own is in two that tell so."""
    calls = [call(f"f{i}", 10 * i, 10 * i + 10) for i in range(40)] + [call("small", 400, 401, [call("s", 400, 400.25)])]
    page = Page(browser, folder, trace([(10, call("main", 0, 1000, calls))]))
    drag(page, 0, 0.5)
    table = rows_of_table(page)
    shares = [float(cells[0].split()[0]) for cells in table.values()]
    problems = [] if abs(sum(shares) - 100) < 0.1 * len(shares) else [f"{sum(shares)} % in all"]
    return problems + equal(len(table), 17) + [f"no row of {text}" for text in ("other functions", "too small") if not any(text in name for name in table)]


def many_paths(browser, folder):
    """A function on 100 paths, with less than a hundredth of the span on each: too small there, but together nine tenths."""
    calls = [call(f"f{i}", 10 * i, 10 * i + 10, [call("shared", 10 * i + 1, 10 * i + 10)]) for i in range(100)]
    page = Page(browser, folder, trace([(10, call("main", 0, 1000, calls))]))
    drag(page, 0, 1)
    table = rows_of_table(page)
    shares = {name: cells[0] for name, cells in table.items()}
    return equal(shares["shared"], "90.0 %") + equal(shares["f0"], "0.1 %") + equal(shares["too small to be told apart"], "0.0 %")


TASKS = """
import asyncio
async def handle(i):
    for k in range(5):
        await asyncio.sleep(0.0005 * (i % 7))
        sum(range(3000))
async def main():
    await asyncio.gather(*(asyncio.create_task(handle(i)) for i in range(60)))
asyncio.run(main())
"""


def single_tasks(page, path, summed):
    """The flame graph of one task: as wide as the summary says that it ran; of its coroutine and what that called."""
    with open(path) as file:
        made = page_data(file.read(), "flame")
    with open(summed) as file:
        ran = {task["name"]: task["running_ns"] for task in json.load(file)["tasks"]}
    problems = equal({view["name"]: sum(view["wall"]) for view in made["task_views"]}, ran)
    problems += [f"more than all of it: {view['name']}" for view in made["task_views"] if "waiting" in made["values"]
                 for wall, *off in zip(view["wall"], view["waiting"], view["preempted"]) if wall < sum(off)]
    for name, all_of_them, n in (("handle", "all 60 tasks", 61), ("main", "all 1 task", 2)):
        page.set("flame-of", page.run(f"[...document.getElementById('flame-of').options].find(o => o.textContent.startsWith('{name}: ')).value"))
        together = page.run("document.querySelector('.rect').getAttribute('aria-label')")
        names = page.run("[...document.getElementById('flame-task').options].map(o => o.textContent)")
        page.set("flame-task", "0")
        alone = page.run("document.querySelector('.rect').getAttribute('aria-label')")
        problems += equal((names[0], len(names)), (all_of_them, n)) + equal(alone.split(",")[0], "all: " + names[1].split(": ")[1])
        problems += equal(alone == together, n == 2) + equal(page.rectangles()[name, 2][0], 100)
    return problems


def tasks(browser, folder):
    """Of each coroutine: as much running and ready as the summary has, but for what is rounded; drawn, and told."""
    program, data, path, summed = (os.path.join(folder, name) for name in ("tasks.py", "data", "tasks.html", "tasks.json"))
    with open(program, "w") as file:
        file.write(TASKS)
    done = recording.record(data, [recording.pythons()[-1], program], recording.traced_environment("adaptive"))
    if done.returncode:
        return [done.stderr]
    recording.report(data, f"html={path}", f"summary={summed}")
    with open(path) as file:
        made = page_data(file.read(), "timeline")
    with open(summed) as file:
        groups = {group["coroutine"]: group for group in json.load(file)["task_groups"]}
    rows = {row["name"]: row for row in made["tasks"]}
    problems = equal({name: rows[name]["tasks"] for name in ("handle", "main")}, {"handle": 60, "main": 1})
    for name in ("handle", "main"):
        for kind in ("running", "ready"):
            got, wanted = sum(rows[name][kind]) * made["width"] / 1000, groups[name][kind + "_ns"]
            rounded = made["columns"] * made["width"] / 2000
            problems += [] if abs(got - wanted) <= rounded else [f"{name} {kind}: {got}, wanted {wanted}"]
    page = Page(browser, folder, None, path)
    label = page.run("document.querySelector('#timeline .tasks canvas').ariaLabel")
    some = page.run("(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(n => n))(document.querySelector('#timeline .tasks canvas'))")
    problems += single_tasks(page, path, summed)
    drag(page, 0.2, 0.9, 1)
    problems += equal(page.run("document.getElementById('flame-task').parentElement.hidden"), True)  # of a span no task is known
    return problems + equal(some, True) + ([] if re.match(r"Tasks of handle: 60 tasks, up to \d+\.\d at once", label) else [label]) + (
        [] if " to " in page.text("timeline-said") else ["a drag on a row of tasks marks nothing"])


WAITS = """
import threading, time
def nap(): time.sleep(0.004)
def crunch(): sum(range(20000))
def work():
    for i in range(10):
        nap()
        crunch()
thread = threading.Thread(target=work)
thread.start()
work()
thread.join()
"""


def waiting(browser, folder):
    """What threads waited in functions is the summary's, but for what is rounded; a column of it is pale, not empty."""
    program, data, path, summed = (os.path.join(folder, name) for name in ("waits.py", "waits", "waits.html", "waits.json"))
    with open(program, "w") as file:
        file.write(WAITS)
    done = recording.record(data, [recording.pythons()[-1], program], recording.traced_environment("adaptive"))
    if done.returncode:
        return [done.stderr]
    recording.report(data, f"html={path}", f"summary={summed}")
    with open(path) as file:
        made = page_data(file.read(), "timeline")
    with open(summed) as file:
        functions = json.load(file)["functions"]
    if functions[0]["self_waiting_ns"] is None:
        return []  # this kernel tells nobody
    runs = [list(zip(row["waiting"][::2], row["waiting"][1::2])) for row in made["rows"]]
    got = sum(part * n for each in runs for part, n in each) * made["width"] / 1000
    wanted = sum(f["self_waiting_ns"] for f in functions)
    rounded = len(runs) * made["columns"] * made["width"] / 2000
    problems = equal([sum(n for _, n in each) for each in runs], [made["columns"]] * len(runs))
    problems += [] if abs(got - wanted) <= rounded else [f"{got}, wanted {wanted} within {rounded}"]
    page = Page(browser, folder, None, path)
    column = next((i for i, part in enumerate(part for part, n in runs[0] for _ in range(n)) if part == 1000), None)
    if column is None:
        return problems  # columns are wider than what it waits: a slow machine
    pale = page.run(f"document.querySelector('#timeline canvas').getContext('2d').getImageData({column}, 12, 1, 1).data[3]")
    return problems + ([] if 60 < pale < 120 else [f"alpha {pale}"])


CASES = {
    "the whole run": whole,
    "a span": span,
    "a span by calls": span_by_calls,
    "names of rows": labels,
    "a click": click,
    "without a thread": without_a_thread,
    "keyboard": keyboard,
    "drawn": drawn,
    "in words": in_words,
    "360 pixels to 4K": narrow,
}


def main():
    recording.need_built()
    program = chromium.needed()
    with Plan() as plan, recording.scratch() as folder:
        browser = Chromium(program, folder, "about:blank")
        try:
            page = Page(browser, folder, trace([(10, MAIN), (11, WORK)]))
            for name, case in CASES.items():
                reset(page)
                plan.case(name, case, page)
            plan.case("waiting", waiting, browser, folder)
            plan.case("tasks", tasks, browser, folder)
            plan.case("more threads than rows", many_rows, browser, folder)
            plan.case("the rest of a span", rest, browser, folder)
            plan.case("a function of many paths", many_paths, browser, folder)
        finally:
            browser.end()
        plan.case("many events", many_events, folder)
        plan.case("many threads", many_threads, folder)


if __name__ == "__main__":
    main()
