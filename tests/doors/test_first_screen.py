#!/usr/bin/env python3
"""The first 24 lines of the report answer why a program is slow.

    test_first_screen.py [--python PY]... [--only TEXT]

The programs are the standard library's servers and tools, with one slow function of a user's in them: it must be among
the first five rows. What runs longest, by the source: a search that looks at 3000 names a request.
"""

import json
import os
import re
import sys

import recording

SLOW = """
names = ["article number %d" % i for i in range(3000)]
def search(words):
    found = []
    for name in names:
        if all(word in name for word in words):
            found.append(name)
    return found
"""
CLIENT = """
import threading, urllib.request
def client():
    for i in range(8):
        with urllib.request.urlopen("http://127.0.0.1:%d/%d" % (server.server_port, i)) as answer:
            answer.read()
    server.shutdown()
threading.Thread(target=client).start()
server.serve_forever()
"""
PROGRAMS = {
    "wsgiref": SLOW + """
from wsgiref.simple_server import make_server
def page(environ, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return [repr(search(environ["PATH_INFO"][1:].split())).encode()]
server = make_server("127.0.0.1", 0, page)
""" + CLIENT,
    "http.server, a thread a request": SLOW + """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(repr(search(self.path[1:].split())).encode())
server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
""" + CLIENT,
    "asyncio": SLOW + """
import asyncio
async def page(reader, writer):
    words = (await reader.readline()).decode().split()
    await asyncio.sleep(0.001)
    writer.write(repr(search(words)).encode())
    await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(page, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for i in range(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"number %d\\n" % i)
        await reader.read()
        writer.close()
    server.close()
asyncio.run(main())
""",
    "concurrent.futures": SLOW + """
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
if __name__ == "__main__":
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        print(sum(map(len, pool.map(search, [["number", str(i)] for i in range(12)]))))
""",
    "json": SLOW + """
import json
for i in range(10):
    json.loads(json.dumps(search(["number", str(i)]), indent=1))
""",
}


def console(folder, *options):
    return recording.report(os.path.join(folder, "rec"), "console=always", "color=never", *options)


def recorded(python, folder, *command, hooks=()):
    done = recording.record(os.path.join(folder, "rec"), [python, *command], recording.traced_environment("adaptive", *hooks),
                            cwd=folder)
    assert done.returncode == 0, done.stderr
    return console(folder)


def tables(text):
    """Of the first screen: [names of functions], [names of loops]; and how many lines it has."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r" +(cpu|busy|time)% +.*  (function|loop), by ", line)]
    assert len(heads) in (1, 2), text[:3000]
    rows, end = [], 0
    for head in heads:
        end = next(i for i in range(head, len(lines) + 1)
                   if i == len(lines) or not re.match(r" +\w+% |[ \d.]{5}%|     -", lines[i]))
        rows.append([line.split("  ")[-1] for line in lines[head + 1:end]])
    return rows[0], rows[1] if len(rows) > 1 else [], end


def fits(text):
    """What is wrong with its lines: too many, or too long."""
    _, _, end = tables(text)
    return [f"{end} lines"] * (end > 24) + [f"{len(line)} columns: {line}" for line in text.splitlines()[:end] if len(line) > 80]


def test_slow(python, source, folder):
    with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as f:
        f.write(source)
    text = recorded(python, folder, "app.py")
    functions, loops, _ = tables(text)
    line = source.splitlines().index("def search(words):") + 1
    problems = fits(text)
    if f"search, app.py:{line}" not in functions[:5]:
        problems.append("the slow function is not in the first five rows")
    if loops[:1] != [f"search, app.py:{line + 2}"]:
        problems.append("the slow loop is not first")
    if sum("the standard library" in row for row in functions) != 1:
        problems.append("no row, or several, for the standard library")
    return [*problems, text[:3000]] if problems else []


def package(folder):
    """A site-packages with an installed tool, as pip leaves it, and a library that it uses."""
    site = os.path.join(folder, "site-packages")
    files = {
        "tool/__init__.py": "", "tool/__main__.py": "import sys\nfrom tool.cli import run_tool\nsys.exit(run_tool())\n",
        "tool/cli.py": "import _tool_impl\ndef run_tool():\n    return _tool_impl.work(200000) and None\n",
        "_tool_impl.py": "import helper\ndef work(n):\n    total = 0\n    for i in range(n):\n        total += i\n"
                         "    return helper.check(total)\n",
        "helper/__init__.py": "def check(n):\n    return n > 0\n",
        "Tool-1.0.dist-info/RECORD": "../bin/tool,,\ntool/__init__.py,,\ntool/cli.py,,\n_tool_impl.py,,\nTool-1.0.dist-info/RECORD,,\n",
    }
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
        with open(os.path.join(site, name), "w", encoding="utf-8") as f:
            f.write(text)
    script = os.path.join(folder, "bin", "tool")
    os.makedirs(os.path.dirname(script))
    with open(script, "w", encoding="utf-8") as f:
        f.write("#!python\nimport sys\nfrom tool.cli import run_tool\nif __name__ == '__main__':\n    sys.exit(run_tool())\n")
    return site


def test_installed(python, command, folder):
    """What the command line starts is own code, with what was installed with it; what it uses is a library."""
    text = recorded(python, folder, *command, hooks=[package(folder)])
    console(folder, "summary=" + os.path.join(folder, "s"))
    with open(os.path.join(folder, "s"), encoding="utf-8") as f:
        rows = json.load(f)["functions"]
    found = {row["qualname"]: row["origin"] for row in rows if row["qualname"] in ("work", "run_tool", "check")}
    problems = [] if found == {"work": "own", "run_tool": "own", "check": "site"} else [found]
    if tables(text)[0][:1] != ["work, _tool_impl.py:2"]:
        problems += ["the tool's own is not first", text[:3000]]
    return problems + fits(text)


def test_module(python, folder):
    """A module of the standard library is own code if it is what the user ran."""
    with open(os.path.join(folder, "large.py"), "w", encoding="utf-8") as f:
        f.write("a = 1\n" * 300)
    text = recorded(python, folder, "-m", "tokenize", "large.py")
    return [] if any(", tokenize.py:" in row for row in tables(text)[0][:5]) else [text[:3000]]


def test_c_function(python, folder):
    """What takes the time may be a function of C: if calls of these are recorded, its name is in the first five rows."""
    with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as f:
        f.write("import os, zlib\ndef pack(data):\n    return zlib.compress(data, 9)\nprint(len(pack(bytes(range(256)) * 20000)))\n")
    done = recording.run([recording.WRAPPER, "run", "-q", "--c-calls", "--python", python, "-o", "rec", "app.py"], cwd=folder,
                         env=recording.plain_environment())
    functions, _, _ = tables(done.stdout)
    return fits(done.stdout) + ([] if "zlib.compress" in functions[:5] else [done.stdout[:3000]])


def test_all(python, folder):
    """--all unfolds; nothing is said of folded rows then."""
    with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as f:
        f.write(PROGRAMS["json"])
    recorded(python, folder, "app.py")
    functions, _, _ = tables(console(folder, "all=yes"))
    problems = [] if any("json/" in row or "_iterencode" in row for row in functions) else [functions]
    return problems + [row for row in functions if "(--" in row]


OWN = """
import collections, dataclasses, helper

@dataclasses.dataclass
class Own:
    n: int

Row = collections.namedtuple("Row", "a b")
exec("def made(n):\\n    return n + 1", made_in := {})
for i in range(100):
    Own(i), Row(i, i), made_in["made"](i), helper.sort()
"""
LIBRARY = """
import dataclasses, collections

@dataclasses.dataclass(order=True)
class Item:
    n: int

Pair = collections.namedtuple("Pair", "left right")

def sort():
    return Item(1) < Item(2), Pair(1, 2)
"""
HELPER = """def work(n):
    for i in range(n):
        step(i)
def step(i):
    return i * i
"""


def test_made(python, folder):
    """Code that lies in no file is of the module that it was made for, or of who called it."""
    for name, text in (("app.py", OWN), ("site-packages/helper.py", LIBRARY)):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    recorded(python, folder, "app.py", hooks=[os.path.join(folder, "site-packages")])
    console(folder, "summary=" + os.path.join(folder, "s"))
    with open(os.path.join(folder, "s"), encoding="utf-8") as f:
        rows = json.load(f)["functions"]
    made = [row for row in rows if row["file"] == "<string>" and row["calls"] > 1]
    found = sorted((row["qualname"].rpartition(".")[2], row["origin"], row["calls"]) for row in made)
    wanted = [("<lambda>", "own", 100), ("<lambda>", "site", 100), ("__init__", "own", 100), ("__init__", "site", 200), ("__lt__", "site", 100),
              ("made", "own", 100)]
    return [] if found == wanted else [found]


def test_thin(python, folder):
    """A script that only calls a library: the library's functions and loops have names, on the screen and on the page."""
    for name, text in (("app.py", "import helper\nhelper.work(300000)\n"), ("site-packages/helper.py", HELPER)):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    text = recorded(python, folder, "app.py", hooks=[os.path.join(folder, "site-packages")])
    functions, loops, _ = tables(text)
    console(folder, "html=" + os.path.join(folder, "page.html"))
    with open(os.path.join(folder, "page.html"), encoding="utf-8") as f:
        page = f.read()
    first = page[page.index("Libraries' functions"):page.index("</section>", page.index("<section id=first>"))]
    problems = [] if {"work, helper.py:1", "step, helper.py:4"} < set(functions) and "work, helper.py:2" in loops else [functions, loops]
    problems += [] if ">work<" in first and ">step<" in first and "Libraries' loops" in first else [first]
    return problems + ([] if "  the program (--all)" in text else [text]) + fits(text)


def cases(python, options):
    version = recording.version(python)
    for name, source in PROGRAMS.items():
        yield f"{version} {name}", test_slow, python, source
    yield f"{version} -m of an installed package", test_installed, python, ["-m", "tool"]
    yield f"{version} a script that pip installed", test_installed, python, ["bin/tool"]
    yield f"{version} -m of the standard library", test_module, python
    yield f"{version} a script that only calls a library", test_thin, python
    yield f"{version} code in no file", test_made, python
    yield f"{version} a C function", test_c_function, python
    yield f"{version} all", test_all, python


if __name__ == "__main__":
    recording.run_cases(cases)
