#!/usr/bin/env python3
"""The page's flame graph in a real browser: widths, zoom, search, folding and recursion, by mouse and by keyboard.

The trace is text of which every sum can be done by hand; the page is asked through Chromium's pipe. Without Chromium:
skipped, but not in CI.
"""

import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import chromium  # noqa: E402
import ptmade  # noqa: E402
import recording  # noqa: E402
from chromium import Chromium  # noqa: E402
from tap import Plan  # noqa: E402

FEED = os.path.join(recording.BUILD, "bin", "ocular-feed")
LIBRARY = "/usr/lib/python3.12/json/decoder.py"

# depth-first: (function, file, begin, end, callees); ns. fact() calls itself through scan().
MAIN = ("main", "/src/app.py", 0, 1000, [
    ("fact", "/src/app.py", 100, 400, [("fact", "/src/app.py", 200, 300, [])]),
    ("loads", LIBRARY, 500, 700, [("scan", LIBRARY, 550, 650, [("hook", "/src/app.py", 600, 640, [])])])])
WORK = ("work", "/src/app.py", 0, 600, [])
WHOLE = 1600


def events(call, tid):
    name, file, begin, end, callees = call
    inner = [line for callee in callees for line in events(callee, tid)]
    return [(begin, tid, "PY_START", file, name, 0), *inner, (end, tid, "PY_RETURN", file, name, 40)]


def trace(calls):
    lines = sorted((line for tid, call in calls for line in events(call, tid)), key=lambda line: line[0])
    return "# ocular events 1\n" + "".join(f"{t}\t10\t{tid}\t{op}\t{file}\t{name}\t1\t{at}\t\n"
                                           for t, tid, op, file, name, at in lines)


class Page:
    """A page that is open in a browser."""

    def __init__(self, browser, folder, text, path=None):
        if not path:
            path = os.path.join(folder, "page.html")
            with open(path + ".txt", "w") as file:
                file.write(text)
            done = recording.run([FEED, f"html={path}", path + ".txt"])
            if done.returncode:
                raise RuntimeError(done.stderr)
        self.browser, self.session = browser, browser.page()
        self.size = os.path.getsize(path)
        browser.call("Page.enable", self.session)
        browser.call("Page.navigate", self.session, url=f"file://{path}")
        self.wait("document.querySelectorAll('.rect').length")

    def wait(self, script):
        deadline = time.monotonic() + 30
        while not (value := self.run(script)):
            if time.monotonic() > deadline:
                raise RuntimeError(f"not in 30 s: {script}")
            time.sleep(0.05)
        return value

    def run(self, script):
        return self.browser.run(self.session, script)

    def rectangles(self):
        """{(name, level): ns as wide as it}, of the rectangles that are drawn."""
        rows = self.run("[...document.querySelectorAll('.rect')].map(r => [r.getAttribute('aria-label'), r.ariaLevel, "
                        "parseFloat(r.style.width), r.className])")
        return {(self.name(label), int(level)): (width, kind) for label, level, width, kind in rows}

    @staticmethod
    def name(label):
        """Of the function, without how much slower or faster a comparison found it."""
        return re.sub(r" [+\u2212][\d.,]+ %$", "", label.split(":")[0].split(",")[0])

    def widths(self, whole):
        return {key: round(width * whole / 100) for key, (width, _) in self.rectangles().items()}

    def set(self, control, value):
        """A control, as though the user had set it."""
        self.run(f"(() => {{ const c = document.getElementById('{control}'); c.type === 'checkbox' ? c.click() : "
                 f"(c.value = {value!r}, c.dispatchEvent(new Event(c.type === 'search' ? 'input' : 'change'))); }})()")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", self.session, type=kind, key=key)

    def focused(self):
        return self.run("document.activeElement.getAttribute('aria-label')")

    def text(self, control):
        return self.run(f"document.getElementById('{control}').textContent")

    def reset(self):
        self.run("(() => { for (const c of document.querySelectorAll('#flame input')) { c.checked = false; c.value = ''; } "
                 "for (const s of document.querySelectorAll('#flame select')) { s.selectedIndex = 0; "
                 "s.dispatchEvent(new Event('change')); } })()")


def equal(got, wanted):
    return [] if got == wanted else [f"got    {got!r}", f"wanted {wanted!r}"]


TREE = {("all", 1): 1600, ("main", 2): 1000, ("work", 2): 600, ("fact", 3): 300, ("fact", 4): 100,
        ("loads", 3): 200, ("scan", 4): 100, ("hook", 5): 40}


def wide(page):
    """Each path is as wide as its part of all threads' time."""
    return equal(page.widths(WHOLE), TREE)


def by_thread(page):
    page.set("flame-of", "2")
    return equal(page.widths(600), {("all", 1): 600, ("work", 2): 600})


def by_calls(page):
    """Calls of a function and all that it calls, of 7."""
    page.set("flame-by", "calls")
    return equal(page.widths(7), {("all", 1): 7, ("main", 2): 6, ("work", 2): 1, ("fact", 3): 2, ("fact", 4): 1,
                                  ("loads", 3): 3, ("scan", 4): 2, ("hook", 5): 1})


def folded(page):
    """Two functions of a library are one rectangle; what they call of the program's is in it."""
    page.set("flame-fold", True)
    tree = {key: ns for key, ns in TREE.items() if key[0] not in ("loads", "scan", "hook")}
    return equal(page.widths(WHOLE), {**tree, ("the standard library", 3): 200, ("hook", 4): 40})


def merged(page):
    """Recursion: what the inner call took is its outer one's own."""
    page.set("flame-merge", True)
    return equal(page.widths(WHOLE), {key: ns for key, ns in TREE.items() if key != ("fact", 4)})


def searched(page):
    """Matches are marked, and their share is that of the outermost ones: fact 300 of 1600."""
    page.set("flame-find", "^fact|hoo.")
    hits = {key for key, (_, kind) in page.rectangles().items() if "hit" in kind.split()}
    said = page.text("flame-found")
    return equal(hits, {("fact", 3), ("fact", 4), ("hook", 5)}) + equal(said, "21.3 % in 3 matches")


def odd_search(page):
    """What is no regular expression is searched for as it stands."""
    page.set("flame-find", "(")
    return equal(page.text("flame-found"), "0.0 % in 0 matches")


def keyboard(page):
    """Arrows go along the tree, Enter zooms, Escape goes back."""
    page.run("document.querySelector('.rect').focus()")
    went = []
    for key in ("ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowRight"):
        page.key(key)
        went.append(page.focused().split(",")[0])
    page.key("Enter")
    zoomed = page.widths(200)
    page.key("Escape")
    return equal(went, ["main", "work", "main", "fact", "loads"]) + equal(page.widths(WHOLE), TREE) + equal(
        zoomed, {("all", 1): 200, ("main", 2): 200, ("loads", 3): 200, ("scan", 4): 100, ("hook", 5): 40})


def chosen(page):
    """A click zooms, and shows the function's callers and callees, with shares of its total."""
    page.run("[...document.querySelectorAll('.rect')].find(r => r.textContent.startsWith('fact')).click()")
    text = page.text("flame-function")
    wanted = ["fact", "app.py:1", "300 ns", "Called by", "100.0 %", "main", "33.3 %", "Calls"]
    return [f"not said: {word}" for word in wanted if word not in text] + equal(
        page.widths(300)[("fact", 4)], 100)


def nothing_cut(page):
    return equal(page.text("flame-cut").startswith("All 7 call paths are here."), True)


def many(browser, folder):
    """20,000 functions in a row, one with a name of 10,000 characters: they are cut, told, and in the sum."""
    calls = [(10, (f"f{i}" + "x" * 10000 * (i == 7), "/src/app.py", 10 * i, 10 * i + (10 if i > 30 else 9), [])) for i in range(20000)]
    calls += [(11, ("big", "/src/app.py", 0, 10 ** 7, []))]
    page = Page(browser, folder, trace(calls))
    said = page.text("flame-cut")
    problems = [] if "20,000 call paths of 20,001, each less than 1/10,000" in said and "hatched" in said else [said]
    problems += [] if page.size < 3 << 20 else [f"{page.size} bytes"]
    whole = 10 ** 7 + 199999 + 1
    return problems + equal({key: round(ns, -3) for key, ns in page.widths(whole).items()},
                            {("all", 1): round(whole, -3), ("big", 2): 10 ** 7, ("too small to show", 2): 200000})


def together(browser, folder):
    """Callees that are narrower than a pixel are one rectangle, as wide as all of them, and are found."""
    calls = [(f"f{i}", "/src/app.py", 10 * i, 10 * i + 10, []) for i in range(3900)]
    page = Page(browser, folder, trace([(10, ("main", "/src/app.py", 0, 52000, calls))]))
    label = page.run("document.querySelectorAll('.rect')[2].getAttribute('aria-label')")
    drawn = page.run("[...document.querySelectorAll('.rect')].map(r => [r.ariaLevel, Math.round(parseFloat(r.style.width))])")
    page.set("flame-find", "^f")
    return equal(drawn, [["1", 100], ["2", 100], ["3", 75]]) + equal(label, "3,900 callees, each narrower than a pixel") + equal(
        page.text("flame-found"), "75.0 % in 3,900 matches")


def narrow(browser, folder):
    """From 360 pixels to 4K nothing has to be scrolled sideways but tables in their own boxes, whatever the names."""
    call = ("a" * 300, "/src/" + "b" * 300 + ".py", 0, 1000, [("f", "/" + "c/" * 200 + "d.py", 10, 500, [])])
    loops = "".join(f"{t}\t10\t10\tJUMP\t{call[1]}\t{call[0]}\t1\t30\t10\n" for t in range(600, 1000, 100))
    text, end = trace([(10, call)]).rsplit("1000\t", 1)
    page = Page(browser, folder, text + loops + "1000\t" + end)
    problems = []
    for width in (360, 400, 768, 1280, 3840):
        browser.call("Emulation.setDeviceMetricsOverride", page.session, width=width, height=900, deviceScaleFactor=1, mobile=False)
        needs = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        problems += [f"{width}: {needs} more"] if needs > 0 else []
    browser.call("Emulation.clearDeviceMetricsOverride", page.session)
    return problems


def hot_lines(browser, folder):
    """n and p go round the hot lines, and unfold their function; not while something is typed."""
    python = recording.pythons()[-1]
    program, data, path = (os.path.join(folder, name) for name in ("hot.py", "data", "hot.html"))
    with open(program, "w") as file:
        file.write("def f():\n    t = 0\n    for i in range(20000):\n        t += i\n    return t\nf()\n")
    done = recording.record(data, [python, program], recording.traced_environment("lines"))
    if done.returncode:
        return [done.stderr]
    recording.report(data, f"html={path}")
    page = Page(browser, folder, None, path)
    page.run("for (const d of document.querySelectorAll('#source details')) d.open = false; document.body.focus()")
    seen = []
    for key in ("n", "n", "p", "p"):
        page.key(key)
        seen.append(page.run("(document.activeElement.querySelector('td') || {}).textContent"))
    page.run("document.getElementById('flame-find').focus()")
    page.key("n")
    typing = page.run("document.activeElement.id")
    problems = equal(typing, "flame-find") + equal(seen[0], seen[2])
    return problems + ([] if seen[0] in ("3", "4") and seen[1] not in (None, "", seen[0]) else [f"lines {seen}"])


def waiting_lines(browser, folder):
    """In each mode that knows lines the one that slept, and no other, is hot by waiting: as long as it slept at least."""
    python, problems = recording.pythons()[-1], []
    program, data, path = (os.path.join(folder, name) for name in ("slept.py", "slept", "slept.html"))
    with open(program, "w") as file:
        file.write("import time\ndef f():\n    for i in range(15):\n        sum(range(3000))\n        time.sleep(0.002)\nf()\n")
    for mode, line in (("lines", "time.sleep(0.002)"), ("precise", "time.sleep(0.002)"), ("adaptive", "for i in range(15):")):
        done = recording.record(data + mode, [python, program], recording.traced_environment(mode))
        if done.returncode:
            return [done.stderr]
        recording.report(data + mode, f"html={path}")
        page = Page(browser, folder, None, path)
        rows = page.run("[...document.querySelector('#source details').querySelectorAll('td.w9')].map(c => [c.textContent, "
                        "c.parentElement.lastElementChild.textContent.trim()])")
        number, unit = rows[0][0].split() if rows else ("0", "ms")
        problems += equal([code for _, code in rows], [line])
        problems += [] if unit == "s" or unit == "ms" and float(number) >= (14 if mode == "adaptive" else 15) * 2 - 0.1 else [f"{mode}: {rows}"]
    return problems


def options(page, control):
    return page.run(f"[...document.getElementById('{control}').options].map(o => o.textContent)")


def cpu_cycles(browser, folder):
    """Where a processor counted cycles widths may be of them, and only there are there such words."""
    setup = ptmade.Setup(ptmade.random.Random(1), cyc=1, mtc=0, fup_on_ptw=False)
    file, word = ptmade.File(setup), lambda op, seq: ptmade.ptw(op << 59 | seq << 52 | 100_001 << 28)
    file.comm(100, 100)
    packets = [ptmade.PSB, ptmade.tsc(1000000), ptmade.cbr(7), ptmade.PSBEND, ptmade.cyc(1000), ptmade.ptw(1 << 59 | 0x4F434C << 28 | 1),
               ptmade.cyc(77), word(4, 1), ptmade.cyc(1000), word(4, 2), ptmade.cyc(300), word(6, 3), ptmade.cyc(700), word(6, 4)]
    file.auxtrace(0, 100, ptmade.ANY, 0, 1000000, b"".join(packets))
    data, path = (os.path.join(folder, name) for name in ("counted", "counted.html"))
    os.mkdir(data)
    with open(os.path.join(data, "perf.data"), "wb") as out:
        out.write(file.bytes())
    done = recording.run([os.path.join(recording.BUILD, "bin", "ocular-pt"), f"html={path}", data])
    if done.returncode:
        return [done.stderr]
    page = Page(browser, folder, None, path)
    page.set("flame-by", "cycles")
    named = page.run("document.getElementById('flame-by').selectedOptions[0].textContent")
    widths = sorted(round(width * 2000 / 100) for width, _ in page.rectangles().values())
    plain = Page(browser, folder, trace([(10, MAIN)]))
    problems = [f"a page without cycles has {words}" for words in options(plain, "flame-by") if "cycles" in words.lower()]
    return problems + equal((named, widths), ("CPU cycles", [300, 2000, 2000]))


def links_open(page):
    """A link to what is folded unfolds it."""
    page.run("document.querySelector('#functions a').click()")
    return [] if page.wait("document.querySelector(location.hash).open") else ["it is folded"]


CASES = {
    "as wide as its part": wide,
    "by thread": by_thread,
    "by calls": by_calls,
    "libraries folded": folded,
    "recursion merged": merged,
    "search": searched,
    "search for a text that is no pattern": odd_search,
    "keyboard": keyboard,
    "a function that is chosen": chosen,
    "nothing is cut that need not be": nothing_cut,
    "a link to what is folded": links_open,
}


def main():
    recording.need_built()
    program = chromium.needed()
    with Plan() as plan, recording.scratch() as folder:
        browser = Chromium(program, folder, "about:blank")
        try:
            page = Page(browser, folder, trace([(10, MAIN), (11, WORK)]))
            for name, case in CASES.items():
                page.reset()
                plan.case(name, case, page)
            plan.case("hot lines by key", hot_lines, browser, folder)
            plan.case("hot lines by waiting", waiting_lines, browser, folder)
            plan.case("by CPU cycles, where they were counted", cpu_cycles, browser, folder)
            plan.case("callees narrower than a pixel", together, browser, folder)
            plan.case("360 pixels to 4K", narrow, browser, folder)
            plan.case("20,000 functions", many, browser, folder)
        finally:
            browser.end()


if __name__ == "__main__":
    main()
