#!/usr/bin/env python3
"""The page of `ocular diff --html` in a real browser: sums, colours and tables are those of the summaries and of --json.

Traces are text of which every sum can be done by hand; source that changed comes from two real recordings. Without
Chromium: skipped, but not in CI.
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import chromium  # noqa: E402
import recording  # noqa: E402
from chromium import Chromium  # noqa: E402
from colours import alike  # noqa: E402
from tap import Plan  # noqa: E402
from test_flame import FEED, Page, equal  # noqa: E402

DIFF = os.path.join(recording.BUILD, "bin", "ocular-diff")
APP = "/src/app.py"
LONG = "n" * 10000
HOSTILE = "</script><script>document.title='x'</script>"


class Trace:
    """main() and what it calls, one after the other: (function, first line, ns of each call)."""

    def __init__(self, calls):
        self.lines, self.now, self.sums = [], 0, {}
        self.event(0, "PY_START", "main", 1)
        for name, line, times in calls:
            for ns in times:
                self.call(name, line, ns)
        self.event(10, "PY_RETURN", "main", 1)

    def event(self, after, op, name, line, where=0, to=""):
        self.now += after
        self.lines.append(f"{self.now}\t10\t10\t{op}\t{APP}\t{name}\t{line}\t{where}\t{to}\n")

    def call(self, name, line, ns):
        self.event(0, "PY_START", name, line)
        for part in (ns // 4, ns // 4):
            self.event(part, "JUMP", name, line, 30, 10)
        self.event(ns - ns // 4 * 2, "PY_RETURN", name, line, 40)
        self.sums[name] = self.sums.get(name, 0) + ns

    def text(self):
        return "# ocular events 1\n" + "".join(self.lines)


def times(ns):
    """Forty calls with a deviation of about 1."""
    return [ns + i % 3 - 1 for i in range(40)]


A = Trace([("slow", 5, times(400)), ("fast", 15, times(400)), ("steady", 25, times(400)), ("gone", 35, times(200))])
B = Trace([("slow", 6, times(800)), ("fast", 16, times(280)), ("steady", 26, times(400)), ("added", 36, times(100)),
           (LONG, 46, times(100)), (HOSTILE, 56, times(100))])


def summary(folder, name, trace, *words):
    path, text = (os.path.join(folder, name + end) for end in (".json", ".txt"))
    with open(text, "w") as file:
        file.write(trace.text())
    done = recording.run([FEED, f"summary={path}", *words, text])
    if done.returncode:
        raise RuntimeError(done.stderr)
    return path


class Both:
    """The page, and the same comparison as JSON."""

    def __init__(self, browser, folder):
        self.a, self.b = (summary(folder, name, trace, "for_diff=yes") for name, trace in (("a", A), ("b", B)))
        self.path = os.path.join(folder, "diff.html")
        done = recording.run([DIFF, "--html", self.path, "--json", self.a, self.b])
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.json = json.loads(done.stdout)
        self.page = Page(browser, folder, None, self.path)

    def summary(self, side):
        with open(self.a if side == "a" else self.b) as file:
            return json.load(file)

    def columns(self):
        """{value: its sum over all paths}, {function: self time of B}"""
        data = json.loads(self.page.run("document.getElementById('diff-data').textContent"))
        view, = data["views"]
        own = {}
        for path, wall in zip(view["paths"], view["wall"]):
            name = data["places"][data["functions"][path]][0] if path > 0 else "all"
            own[name] = own.get(name, 0) + wall
        return {value: sum(view[value]) for value in data["values"]}, own


def short(name):
    """As the page's rectangles have it: elided in the middle."""
    return name[:20]


def sums(both):
    """All paths together have each side's time and calls; each function has its self time."""
    columns, own = both.columns()
    a, b = both.summary("a"), both.summary("b")
    problems = equal(columns["wall"], b["trace"]["traced_ns"]) + equal(columns["a_wall"], a["trace"]["traced_ns"])
    problems += equal(columns["calls"], b["events"]["PY_START"]) + equal(columns["a_calls"], a["events"]["PY_START"])
    return problems + equal({short(name): ns for name, ns in own.items() if ns and name not in ("all", "main")},
                            {short(name): ns for name, ns in B.sums.items()})


def rectangles(both, trace):
    return {short(name): round(width * trace.now / 100) for (name, level), (width, _) in both.page.rectangles().items() if level == 3}


def by_b(both):
    return equal(rectangles(both, B), {short(name): ns for name, ns in B.sums.items()})


def by_a(both):
    """What is gone is there, what is new is not."""
    both.page.set("flame-by", "a_wall")
    return equal(rectangles(both, A), A.sums)


def colours(both):
    """Of the same verdicts as the JSON's; the change is in the name, too."""
    kinds = {short(name): kind.split()[1] for (name, level), (_, kind) in both.page.rectangles().items() if level == 3}
    wanted = {"slow": "d-slower3", "fast": "d-faster2", "steady": "d-same", "added": "d-new", short(LONG): "d-new", short(HOSTILE): "d-new"}
    text = both.page.run("[...document.querySelectorAll('.rect')].map(r => r.textContent).filter(t => t.startsWith('slow'))[0]")
    verdicts = {p["b"]["qualname"]: p["verdict"] for p in both.json["functions"] if p["a"] and p["b"]}
    return equal(kinds, wanted) + equal(text, "slow +100 %") + equal(
        {name: verdicts[name] for name in ("slow", "fast", "steady")}, {"slow": "slower", "fast": "faster", "steady": "same"})


def by_path(both):
    """A path's total: what the sums say, and not judged."""
    both.page.set("flame-colour", "path")
    kinds = {short(name): kind.split()[1] for (name, _), (_, kind) in both.page.rectangles().items()}
    both.page.run("document.querySelectorAll('.rect')[1].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))")
    change = 100 * (B.now / A.now - 1)
    line = both.page.run("document.querySelector('.flame-line').textContent")
    return equal(kinds["slow"], "d-slower3") + equal(kinds["steady"], "d-same") + (
        [] if f"{change:+.1f} % from A to B, not judged" in line else [line, f"wanted {change:+.1f} %"])


def tables(both):
    """Slower and faster ones, in the order of the JSON, with its figures; and as many distributions."""
    problems = []
    for kind, words in (("functions", "slow, fast"), ("loops", "slow, fast")):
        wanted = [p for v in ("slower", "faster") for p in both.json[kind] if p["verdict"] == v]
        rows = both.page.run(f"[...document.querySelectorAll('#changed-{kind} tbody tr')].map(r => [r.querySelector('.name').textContent, "
                             "r.cells[2].title, r.cells[3].title, r.cells[5].title, r.querySelectorAll('svg').length])")
        problems += equal(rows, [[p["b"]["qualname"], f'{p["a"]["mean"]:.0f}', f'{p["b"]["mean"]:.0f}', str(p["a"]["times"]), 1] for p in wanted])
        problems += equal(", ".join(row[0] for row in rows), words)
    return problems


def overlaid(both):
    """B's trips of the slow loop, 200 ns each, are all right of A's, 100 ns each."""
    places = both.page.run(
        "(() => { const svg = document.querySelector('#changed-loops svg'), d = svg.querySelector('path.a').getAttribute('d'); "
        "const top = [...d.matchAll(/([ML])([\\d.]+) ([\\d.]+)H/g)].filter(m => Number(m[3]) < 32).map(m => Number(m[2])); "
        "return [Math.max(...top), Math.min(...[...svg.querySelectorAll('rect')].map(r => Number(r.getAttribute('x'))))]; })()")
    return [] if places and places[0] < places[1] else [f"A up to {places[0]}, B from {places[1]}"]


def keyboard(both):
    page = both.page
    page.run("document.querySelector('.rect').focus()")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.key(key)
    zoomed = page.focused()
    page.key("Escape")
    return equal(zoomed.split(": ")[0], "slow +100 %, src/app.py:6") + (
        [] if "slower, +100 %" in zoomed else [zoomed]) + equal(len(page.rectangles()), 8)


def chosen(both):
    """What the table says of it, and both sides' figures."""
    both.page.run("[...document.querySelectorAll('.rect')].find(r => r.textContent.startsWith('fast')).click()")
    text = both.page.text("flame-function")
    wanted = ["faster, \u221230.0 % \u00b1", "(400 \u2192 280 self cycles of a call)", "wall time of B", "11.20 us", "wall time of A", "16.00 us"]
    return [f"not said: {word}" for word in wanted if word not in text] + ([text] if wanted[0] not in text else [])


def from_the_table(both):
    """A row's link chooses its function in the graph."""
    both.page.run("document.querySelector('#changed-functions a[data-place]').click()")
    return equal("slow" in both.page.text("flame-function"), True)


def safe(both):
    """One script, which its hash allows; a name is text."""
    page = both.page
    policy = page.run("document.querySelector('meta[http-equiv]').content")
    title = page.run("document.title")
    scripts = page.run("[...document.scripts].filter(s => s.type !== 'application/json').length")
    return equal(title, "Ocular") + equal(scripts, 1) + (
        [] if "default-src 'none'; script-src 'sha256-" in policy and "unsafe-inline'; img" in policy else [policy])


def narrow(both):
    """From 360 pixels to 4K, light and dark."""
    problems, page = [], both.page
    for scheme in ("light", "dark"):
        both.page.browser.call("Emulation.setEmulatedMedia", page.session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in (360, 768, 3840):
            page.browser.size(page.session, width, 900)
            needs = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            problems += [f"{scheme} {width}: {needs} more"] if needs > 0 else []
        problems += equal(page.run("getComputedStyle(document.body).backgroundColor"),
                          {"light": "rgb(251, 250, 248)", "dark": "rgb(23, 22, 20)"}[scheme])
    page.browser.call("Emulation.clearDeviceMetricsOverride", page.session)
    return problems


def summaries_only(both, folder):
    """Without a call tree there is no flame graph, and the page says what would give one; the tables are there."""
    path, plain = os.path.join(folder, "plain.html"), summary(folder, "plain", A)
    done = recording.run([DIFF, "--html", path, plain, both.b])
    with open(path) as file:
        text = file.read()
    return equal(done.returncode, 0) + equal(done.stdout, "") + equal("id=diff-data" in text, False) + equal(
        "the call tree is not in" in text and "--for-diff" in text and "plain.json" in text, True) + equal(
        text.count("<tr class=d-slower>"), 2)


def damaged(both, folder):
    """Numbers of a call tree that lead nowhere are not followed."""
    problems = []
    for change in (lambda tree: tree["paths"][1].__setitem__(0, 7), lambda tree: tree["paths"][1].__setitem__(1, -1),
                   lambda tree: tree["cut"].append([99, 1]), lambda tree: tree["functions"].insert(0, 3)):
        data, path = both.summary("a"), os.path.join(folder, "damaged.json")
        change(data["call_tree"])
        with open(path, "w") as file:
            json.dump(data, file)
        done = recording.run([DIFF, "--html", "-", path, both.b])
        problems += equal((done.returncode, "id=diff-data" in done.stdout, "as Ocular writes it" in done.stdout), (0, False, True))
    return problems


def status(both, folder):
    """0, 1 and 2 as without a page; a page that cannot be written is 2, and no part of it is left."""
    path = os.path.join(folder, "status.html")
    over = recording.run([DIFF, "--html", path, "--fail-over", "5%", both.a, both.b])
    bad = recording.run([DIFF, "--html", os.path.join(folder, "no", "where.html"), both.a, both.b])
    two = recording.run([DIFF, "--html", "-", "--json", both.a, both.b])
    return equal((over.returncode, os.path.exists(path)), (1, True)) + equal((bad.returncode, len(bad.stderr.splitlines())), (2, 1)) + equal(
        (two.returncode, two.stdout), (2, ""))


PROGRAM = "def f(n):\n    total = 0\n    for i in range(n):\n        total += {}\n    return total\n\nfor k in range(50):\n    f(20)\n"


def source(browser, folder):
    """What changed is side by side; a source that was not kept is said to be missing."""
    program, a, b, kept, page_path = (os.path.join(folder, name) for name in ("side.py", "a.data", "b.data", "kept.json", "side.html"))
    python, ocular = recording.pythons()[-1], recording.WRAPPER
    for data, what, after in ((a, "i", ["report", "-q", a, "--summary", kept, "--for-diff"]), (b, "i * i * i", None)):
        with open(program, "w") as file:
            file.write(PROGRAM.format(what))
        for words in (["record", "-q", "--python", python, "-o", data, "--", program], after):
            done = recording.run([ocular, *words]) if words else None
            if done and done.returncode:
                return [done.stderr]
    recording.run([ocular, "diff", kept, b, "--html", page_path])
    page = Page(browser, folder, None, page_path)
    rows = page.run("[...document.querySelectorAll('#source details')].filter(d => d.querySelector('.name').textContent === 'f').flatMap(d => [...d.querySelectorAll('.sides')]).flatMap(t => [...t.tBodies[0].rows].map(r => [r.className, "
                    "r.cells[1].textContent, r.cells[3].textContent]))")
    changed = [row for row in rows if row[0] == "changed"]
    recording.run([ocular, "diff", a, b, "--html", page_path])
    with open(page_path) as file:
        said = "the file was changed since" in file.read()
    return equal(changed, [["changed", "        total += i", "        total += i * i * i"]]) + equal(len(rows), 5) + equal(said, True)


def legend(both):
    """Each colour of it is another one, light and dark; and what is chosen for colours is not cut."""
    page, problems = both.page, []
    for scheme in ("light", "dark"):
        page.browser.call("Emulation.setEmulatedMedia", page.session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        colours = page.run("Object.fromEntries([...document.querySelectorAll('#flame .legend i')].map(i => "
                           "[i.className, getComputedStyle(i).backgroundColor]))")
        problems += [f"{scheme}: {pair}" for pair in alike(colours, 12)] + equal(len(colours), 9)
    for width in (360, 1040):
        page.browser.size(page.session, width, 900)
        needs, has = page.run("(select => { const to = document.createElement('canvas').getContext('2d'); to.font = getComputedStyle(select).font; "
                              "return [to.measureText(select.selectedOptions[0].text).width + 20, select.clientWidth]; })("
                              "document.getElementById('flame-colour'))")
        problems += [f"{width}: {has} pixels for {needs}"] if has < needs else []
    page.browser.call("Emulation.clearDeviceMetricsOverride", page.session)
    return problems


CASES = {
    "sums are the summaries'": sums,
    "as wide as in B": by_b,
    "as wide as in A": by_a,
    "coloured by the verdict": colours,
    "coloured by the path": by_path,
    "tables are the JSON's": tables,
    "distributions overlaid": overlaid,
    "keyboard": keyboard,
    "a function that is chosen": chosen,
    "from the table to the graph": from_the_table,
    "safe": safe,
    "the legend": legend,
    "360 pixels to 4K, light and dark": narrow,
}


def main():
    recording.need_built()
    program = chromium.needed()
    with Plan() as plan, recording.scratch() as folder:
        browser = Chromium(program, folder, "about:blank")
        try:
            both = Both(browser, folder)
            for name, case in CASES.items():
                both.page.reset()
                plan.case(name, case, both)
            plan.case("summaries without a call tree", summaries_only, both, folder)
            plan.case("a call tree that is damaged", damaged, both, folder)
            plan.case("exit status", status, both, folder)
            plan.case("source side by side", source, browser, folder)
        finally:
            browser.end()


if __name__ == "__main__":
    main()
