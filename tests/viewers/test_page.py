#!/usr/bin/env python3
"""The HTML report in a real browser, headless Chromium: it shows what the summary says, whatever names are in it.

A program whose code objects have hostile names is recorded; its page is opened as a file. Every host name leads
to a server of this test, which must hear nothing, and the browser's console must stay silent; pages that do send
a request or run a script show that both would be noticed. Odd traces (empty, gaps everywhere, a clock that jumps,
100,000 code objects) come from the text front end. Without Chromium: skipped, but not in CI.
"""

import base64
import collections
import hashlib
import html.parser
import http.server
import json
import os
import re
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import chromium  # noqa: E402
import recording  # noqa: E402
from page_data import unpacked  # noqa: E402
from tap import Plan  # noqa: E402

FEED = os.path.join(recording.BUILD, "bin", "ocular-feed")
SUITE_HEADER = "# ocular events 1\n"
NAME_MOST = 96  # characters of a name on the page (filter/report/html_page.h)

NAMES = [
    "<script>alert(1)</script>",
    "</code></td></table><script>document.title='x'</script>",
    "\"><img src=http://elsewhere.test/x.png onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "&lt;not markup&gt; &amp;",
    "--><style>*{display:none}</style><!--",
    "two\nlines\r\tand a tab",
    "\x1b[31mred\x07",
    "caf\u00e9 \u4e2d\u6587 \U0001f40d",
    "\u202etxt.exe",
    "a lone \udc80 surrogate",
    "</title></head>" + "x" * 10000 + "<!--",
]

PROGRAM = """
import types

def body(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

def slow():
    total = 0
    for i in range(300):
        for j in range(100):
            total += i * j
    return total

for name in NAMES:
    code = body.__code__.replace(co_name="f", co_qualname=name)
    types.FunctionType(code, globals())(50)
    types.FunctionType(code, globals())(5)
slow()
"""

VOID = {"meta", "link", "line", "rect", "input"}
ALLOWED = VOID | set("html head title style body main header footer section nav h1 h2 h3 p b ul li dl dt dd div span a "
                     "code table thead tbody tr th td details summary figure figcaption svg text "
                     "script select option output button label i canvas".split())


class Page(html.parser.HTMLParser):
    """What a page consists of; `problems` lists elements that are not nested, or do not belong there."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.ids, self.targets = [], [], [], []
        self.rows, self.codes, self.texts = [], [], []
        self.section, self.scripts, self.policy = None, [], ""
        self.feed(text)
        self.close()
        self.problems += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in ALLOWED:
            self.problems.append(f"element {tag}")
        self.problems += [f"attribute {name} of {tag}" for name in attributes if name.startswith("on")]
        self.problems += [f"{tag} leads to {attributes[name]}" for name in ("href", "src") if name in attributes
                          and not attributes[name].startswith(("#", "data:,"))]
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.targets += [attributes["href"][1:]] if attributes.get("href", "").startswith("#") else []
        if tag == "script":
            self.scripts.append([attributes.get("type"), ""])
        if tag == "meta" and "http-equiv" in attributes:
            self.policy = attributes["content"]
        if tag == "section":
            self.section = attributes.get("id")
        if tag == "tr":
            self.rows.append((self.section, attributes.get("class"), []))
        if tag == "td":
            self.rows[-1][2].append(attributes.get("title"))
        if tag == "code":
            self.codes.append([attributes.get("class"), ""])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"{tag} is closed, but not open, at {self.getpos()}")

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1][1] += data
        elif "style" not in self.open:
            self.texts.append(data)
        if "code" in self.open:
            self.codes[-1][1] += data
        if self.open[-1:] in (["td"], ["code"]) and "td" in self.open and self.rows[-1][2][-1] is None:
            self.rows[-1][2][-1] = data

    def names(self):
        return [text for kind, text in self.codes if kind == "name"]

    def text(self):
        return "".join(self.texts)

    def data(self, key="views"):
        """What the flame graph is made of, or, with `rows`, the timeline; None: there is none."""
        found = [unpacked(json.loads(text)) for kind, text in self.scripts if kind == "application/json"]
        return next((data for data in found if key in data), None)

    def foreign_scripts(self):
        """Those that are not the one that the policy allows, and not data."""
        def hash_of(text):
            return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

        own = [text for kind, text in self.scripts if kind != "application/json"]
        return [f"script {text[:200]!r}" for text in own if f"script-src '{hash_of(text)}';" not in self.policy] + \
            ([] if len(own) == 1 else [f"{len(own)} scripts"])


def structure(page):
    """Nested, with nothing in it that runs or loads, every link leading somewhere."""
    problems = page.problems[:10] + page.foreign_scripts()
    problems += [f"id {i} twice" for i in set(page.ids) if page.ids.count(i) > 1]
    return problems + [f"no target #{t}" for t in set(page.targets) - set(page.ids)]


class Browser:
    """Headless Chromium; `requests` is what it asked any host on the network for."""

    def __init__(self, program, folder):
        self.program, self.folder, self.requests = program, folder, []
        browser = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                browser.requests.append(self.headers.get("Host", "") + self.path)
                self.send_error(404)

            do_POST = do_CONNECT = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def open(self, path):
        """The DOM of a file, and what the console said."""
        rules = f"MAP * 127.0.0.1:{self.server.server_port}"
        done = recording.run([
            self.program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-extensions", "--no-first-run",
            "--disable-default-apps", "--disable-dev-shm-usage", f"--host-resolver-rules={rules}",
            f"--user-data-dir={self.folder}/profile", "--enable-logging=stderr", "--timeout=20000", "--dump-dom",
            f"file://{path}"])
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    def heard(self):
        heard, self.requests = self.requests, []
        return [request for request in heard if ".test/" in request]


def write(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def shown(name):
    """A name as the page shows it: as a line for people, without its middle when it is too long."""
    name = name.encode("utf-8", "backslashreplace").decode()
    name = re.sub("[\x00-\x1f\x7f-\x9f]", lambda c: f"\\x{ord(c[0]):02x}", name)
    name = re.sub("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", lambda c: f"\\u{ord(c[0]):04x}", name)
    if len(name) > NAME_MOST:
        head = (NAME_MOST - 3) // 2
        name = name[:head] + "..." + name[len(name) - (NAME_MOST - 3 - head):]
    return name


def within(shown, all_of_them, least):
    """Nothing is shown that is not there, nothing twice, and these at least."""
    shown, there, least = map(collections.Counter, (shown, all_of_them, least))
    return [f"not there: {shown - there}"] * bool(shown - there) + [f"not shown: {least - shown}"] * bool(least - shown)


class Recorded:
    """The recorded program: its page as the browser has it, and its summary."""

    def __init__(self, python, browser, folder):
        self.browser, self.data = browser, os.path.join(folder, "data")
        odd = os.path.join(folder, "a <b>folder & 'more'")
        os.mkdir(odd)
        self.program = write(os.path.join(odd, "app.py"), f"NAMES = {NAMES!r}\n{PROGRAM}")
        done = recording.record(self.data, [python, self.program], recording.traced_environment("adaptive"))
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.path = os.path.join(folder, "page.html")
        self.summary = recording.summary(self.data, f"html={self.path}")
        self.loops = [loop for loop in self.summary["loops"] if loop["file"] == self.program]

    def opens(self):
        dom, console = self.browser.open(self.path)
        self.page, self.raw = Page(dom), Page(read(self.path))
        return console + self.browser.heard()

    def structure(self):
        return structure(self.page) + structure(self.raw)

    def names(self):
        names = set(self.page.names())
        return [f"not shown: {shown(name)!r}" for name in NAMES if shown(name) not in names]

    def numbers(self):
        """Trips and entries of loops, calls of functions: titles of cells are exact. Only what has next to no time has no row."""
        loops = [tuple(map(int, row[2][-9:-7])) for row in self.page.rows if row[0] == "loops" and len(row[2]) >= 11]
        wanted = [(loop["iterations"], loop["entries"]) for loop in self.summary["loops"]]
        calls = [int(row[2][-5]) for row in self.page.rows if row[0] == "functions" and len(row[2]) >= 8]
        large = [function["calls"] for function in self.summary["functions"]]
        most = [f["calls"] for f in self.summary["functions"] if f["self_cpu_ns"] > 0.001 * self.summary["trace"]["cpu_ns"]]
        return within(loops, wanted, wanted[:5]) + within(calls, large, most)

    def source(self):
        """The lines of the hottest function, and the inner loop's the hottest of them."""
        lines = [row for row in self.page.rows if row[0] == "source" and row[1] and row[1][0] == "h"]
        text = read(self.program).splitlines()
        sources = [code for kind, code in self.page.codes if kind is None]
        problems = [f"not shown: {line}" for line in text[12:16] if line not in sources]
        hottest = [row[2][3].strip() for row in lines if row[1] == "h9"]
        return problems + ([] if "total += i * j" in hottest else [f"hottest: {hottest}"])

    def first(self):
        """What is missing and what a cycle is come before any table."""
        text = self.page.text()
        places = [text.find(word) for word in ("Nothing was lost.", "TSC at ", "Hottest loops")]
        return [] if -1 not in places and places == sorted(places) else [str(places)]

    def flame(self):
        """Values of the flame graph are each path's own: they add up to the summary's of each function, and to all."""
        data, summary = self.raw.data(), self.summary
        whole, sums = data["views"][0], {}
        for i, path in enumerate(whole["paths"]):
            at = data["functions"][path] if path > 0 else None
            sums.setdefault(at, [0] * 3)
            for k, value in enumerate(("wall", "waiting", "calls")):
                sums[at][k] += whole[value][i]
        cut = any(path < 0 for path in whole["paths"])
        got = sorted(sums[i] for i in range(len(data["places"])))
        rows = [[f["self_ns"], f["self_waiting_ns"], f["calls"]] for f in summary["functions"] + summary["c_functions"]]
        rows += [[c["self_ns"], c["self_waiting_ns"], None] for c in summary["collections"]]
        rows = [row for row in rows if any(row) and None not in row]
        trace = summary["trace"]
        slow = [[f["self_ns"], f["self_waiting_ns"], f["calls"]] for f in summary["functions"] if f["qualname"] == "slow"]
        problems = [f"not the summary's: {row}" for row in (slow if cut else rows) if row not in got]
        wanted = [trace["traced_ns"], trace["waiting_ns"]]
        return problems + ([] if [sum(whole["wall"]), sum(whole["waiting"])] == wanted else [f"sums {got}, {wanted}"])

    def timeline(self):
        """Each level of each thread adds up to the same; all threads to time, waiting, preemption and calls of all functions."""
        data, summary, problems = self.raw.data("rows"), self.summary, []
        rows = [f for kind in ("functions", "c_functions", "collections") for f in summary[kind]]
        off = [(f["self_ns"] - f["self_cpu_ns"], f["self_waiting_ns"]) for f in rows if f["self_cpu_ns"] is not None]
        wanted = {"wall": sum(f["self_ns"] for f in rows), "calls": sum(f.get("calls") or 0 for f in rows),
                  "waiting": sum(waiting for _, waiting in off), "preempted": sum(ns - waiting for ns, waiting in off)}
        for value, all_of_it in wanted.items():
            sums = [{sum(level[value]) for of in ("paths", "functions") for level in row[of]} for row in data["rows"]]
            got = sum(max(levels) for levels in sums)
            problems += [] if all(len(levels) == 1 for levels in sums) else [f"{value}: {sums}"]
            problems += [] if got == all_of_it else [f"{value}: {got}, wanted {all_of_it}"]
        return problems

    def changed(self):
        """A file that was changed since is not shown as though it had run."""
        write(self.program, "# other\n" * 30)
        path = self.path + ".changed.html"
        recording.report(self.data, f"html={path}")
        page = Page(read(path))
        said = "the file was changed since" in page.text()
        return [] if said and "# other" not in page.text() else ["no word of it"]


def noticed(browser, folder):
    """A page that runs a script and loads a picture: the console and the server tell."""
    path = write(os.path.join(folder, "control.html"),
                 "<!DOCTYPE html><script>console.error('ran')</script><img src=http://elsewhere.test/x.png>")
    _, console = browser.open(path)
    heard = browser.heard()
    return [] if console and heard == ["elsewhere.test/x.png"] else [f"console {console}, heard {heard}"]


def forbidden(browser, folder, page):
    """The same inside a page of ours, as though a name had got past the escaping: the policy stops both."""
    text = read(page).replace("</header>", "<script>console.log('ran')</script>"
                              "<img src=http://elsewhere.test/x.png></header>", 1)
    dom, console = browser.open(write(os.path.join(folder, "injected.html"), text))
    problems = browser.heard() + [line for line in console if "ran\"" in line and "Content Security" not in line]
    if not any("Content Security Policy" in line for line in console):
        problems.append(f"no violation was told: {console}")
    return problems if "elsewhere.test" in dom else ["nothing was injected"]


def event(time, name, qualname="f", tid=10, file="/src/app.py", offset=0, target=""):
    return f"{time}\t10\t{tid}\t{name}\t{file}\t{qualname}\t1\t{offset}\t{target}\n"


def gaps():
    return "".join(event(n, "PY_START") + f"{n + 1}\t10\t10\tGAP\t\t\t\t3\t\n" + event(n + 2, "JUMP", "f", 10, "/f", 30, 4)
                   for n in range(0, 3000, 10))


def jumping_clock():
    times = [5, 10 ** 18, 3, 2 ** 62, 0, 7, 2 ** 62 + 5, 1]
    return "".join(event(time, name) for time, name in zip(times, ["PY_START", "JUMP", "PY_RETURN", "PY_START"] * 2))


def many():
    return "".join(event(2 * n, "PY_START", f"f{n}") + event(2 * n + 1, "PY_RETURN", f"f{n}") for n in range(100000))


def bytes_of_all_kinds():
    name = "".join(chr(0xdc00 + b) for b in range(0x80, 0x100)) + "<\x01&"
    return event(1, "PY_START", name) + event(2, "PY_RETURN", name)


ODD = {  # what the page says, besides being whole
    "no event": ("", "No function ran."),
    "one event": (event(1, "PY_START"), "Functions by self time"),
    "gaps everywhere": (gaps(), "900"),
    "a clock that jumps": (jumping_clock(), "have an earlier time than the event before them"),
    "100,000 code objects": (many(), "99985 more functions have less than 0.05% of the time each"),
    "names that are no UTF-8": (bytes_of_all_kinds(), "\ufffd\ufffd\ufffd"),
}


def odd(browser, folder, text, says):
    trace, path = write(os.path.join(folder, "odd.txt"), SUITE_HEADER + text), os.path.join(folder, "odd.html")
    done = recording.run([FEED, f"html={path}", trace])
    if done.returncode:
        return [done.stderr[-500:]]
    dom, console = browser.open(path)
    page, raw = Page(dom), Page(read(path))
    problems = structure(page) + structure(raw) + console + browser.heard()
    if os.path.getsize(path) > 1 << 20:
        problems.append(f"a page of {os.path.getsize(path)} bytes")
    return problems + ([] if says in page.text() else [f"it does not say {says!r}"])


CASES = {
    "opens: no request, no word on the console": Recorded.opens,
    "nested, and nothing in it runs or loads": Recorded.structure,
    "every name is text": Recorded.names,
    "trips, entries, calls are the summary's": Recorded.numbers,
    "source: the hottest line is the inner loop's": Recorded.source,
    "flame graph: its sums are the summary's": Recorded.flame,
    "timeline: its sums are the summary's": Recorded.timeline,
    "losses and clock come first": Recorded.first,
    "a changed source is not shown": Recorded.changed,
}


def main():
    python = recording.pythons()[-1]
    recording.need_built()
    program = chromium.needed()
    with Plan() as plan, recording.scratch() as folder:
        browser = Browser(program, folder)
        plan.case("a page that runs and loads is noticed", noticed, browser, folder)
        recorded = Recorded(python, browser, folder)
        for name, case in CASES.items():
            plan.case(name, case, recorded)
        plan.case("what gets into a page may neither run nor load", forbidden, browser, folder, recorded.path)
        for name, (text, says) in ODD.items():
            plan.case(f"odd: {name}", odd, browser, folder, text, says)


if __name__ == "__main__":
    main()
