#!/usr/bin/env python3
"""%load_ext ocular and %%ocular in a real Jupyter kernel, driven by nbclient; the page that it shows, in headless Chromium.

nbclient and ipykernel come from PyPI, pinned, into an environment below build/, once. Without them: skipped, but not in CI.
"""

import fcntl
import html
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "doors"), HERE]
import chromium  # noqa: E402
import recording  # noqa: E402
import test_view  # noqa: E402
from tap import Plan  # noqa: E402

PACKAGES = ["nbclient==0.11.0", "ipykernel==7.4.0"]

CELLS = [
    "%load_ext ocular",
    """%%ocular
def only_in_the_cell(n):
    total = 0
    for i in range(n):
        total += i  # the line that is shown
    return total
only_in_the_cell(1000)""",
    "import ocular, os\nprint(only_in_the_cell(4), ocular.is_tracing(), sorted(os.listdir('.')))",
    "%%ocular --mode calls -o other --perfetto t.pftrace\nprint(only_in_the_cell(5))",
    "%%ocular --what\nonly_in_the_cell(1)",
    "%%ocular -o /nowhere/x\nonly_in_the_cell(6)",
    "%%ocular\nraise LookupError('mine')",
    "print(ocular.is_tracing(), sorted(os.listdir('.')))",
    "%%ocular\nimport asyncio\nawait asyncio.sleep(0)",
    "import asyncio\nwith ocular.tracing():\n    await asyncio.sleep(0)",
]

RUN = """
import json, nbclient, nbformat, sys
notebook = nbformat.v4.new_notebook()
notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in json.load(sys.stdin)]
nbclient.NotebookClient(notebook, timeout=100, allow_errors=True, kernel_name="python3").execute()
json.dump([cell.outputs for cell in notebook.cells], sys.stdout)
"""


def environment(python):
    """The Python of an environment with the packages, or None."""
    versions = "-".join(re.findall(r"[\d.]+$", each)[0] for each in PACKAGES)
    name = os.path.join(recording.BUILD, "notebook-%s-%s" % (versions, os.path.basename(os.path.realpath(python))))
    own = os.path.join(name, "bin/python")
    with open(name + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(name + "/complete"):
            shutil.rmtree(name, ignore_errors=True)
            env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            for command in [python, "-m", "venv", name], [
                    own, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:", *PACKAGES]:
                if subprocess.run(command, env=env).returncode:
                    return None
            open(name + "/complete", "w").close()
    return own


def run(own, folder):
    """The outputs of each cell, in the form of the notebook format."""
    env = {**os.environ, "PYTHONPATH": os.path.join(recording.BUILD, "python"), "IPYTHONDIR": folder + "/home"}
    os.mkdir(folder + "/work")
    done = subprocess.run([own, "-c", RUN], cwd=folder + "/work", env=env, input=json.dumps(CELLS), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def equal(got, wanted):
    return [] if got == wanted else ["got    %r" % (got,), "wanted %r" % (wanted,)]


def kinds(outputs):
    """One after another; of a text that came in pieces, as it does when the machine is busy, one."""
    return [kind for (kind, _), _ in itertools.groupby((each["output_type"], each.get("name")) for each in outputs)]


def text(outputs):
    return "".join(each.get("text", "") for each in outputs if each.get("name") == "stdout")


def page(outputs):
    shown = [each["data"]["text/html"] for each in outputs if "text/html" in each.get("data", {})]
    return html.unescape(re.search('srcdoc="([^"]*)"', shown[0])[1])


def traced(outputs):
    """The cell's own result and then one page, of its function, with its lines, and nothing of Jupyter."""
    problems = equal(kinds(outputs), ["execute_result", "display_data"])
    problems += equal(outputs[0]["data"]["text/plain"], "499500")
    said = html.unescape(re.sub(r"<[^>]*>", "", page(outputs)))
    problems += ["not on the page: " + each for each in ("only_in_the_cell", "total += i  # the line that is shown")
                 if each not in said]
    return problems + ["on the page: " + each for each in ("run_cell", "zmqshell", "asyncio") if each in said]


def goes_on(outputs):
    """What the cell defined is there; the recording is in the current folder."""
    return equal(text(outputs), "6 False ['ocular.data']\n")


def options(outputs):
    return equal((text(outputs), kinds(outputs)), ("10\n", ["stream", "display_data"]))


def mistake(outputs):
    return [] if "unrecognized arguments: --what" in json.dumps(outputs) else [json.dumps(outputs)]


def refused(outputs):
    """The cell runs all the same, with one warning."""
    told = [each["text"] for each in outputs if each.get("name") == "stderr"]
    results = [each["data"]["text/plain"] for each in outputs if each["output_type"] == "execute_result"]
    return equal((len(told), "OcularWarning: ocular: this is not traced" in "".join(told), results), (1, True, ["15"]))


def fails(outputs):
    """Its own exception first; then the page; and it counts as failed, so that `Run all` ends there."""
    problems = equal(kinds(outputs), ["error", "display_data", "error"])
    return problems + equal([each["ename"] for each in outputs if "ename" in each], ["LookupError", "CellFailed"])


def at_the_end(outputs):
    return equal(text(outputs), "False ['ocular.data', 'ocular.data.old', 'other', 't.pftrace']\n")


def awaits(outputs):
    """One line that says what to do, and nothing of a loop or of a coroutine."""
    said = json.dumps(outputs)
    return equal(len(outputs), 1) + ([] if "use `with ocular.tracing():` inside of it" in said and "coroutine" not in said else [said])


def awaits_inside(outputs):
    """That is true."""
    return [] if "sleep" in text(outputs) or "Trace " in text(outputs) else [json.dumps(outputs)]


CASES = [("a cell is traced, and its page shown", 1, traced), ("the notebook goes on", 2, goes_on), ("options", 3, options),
         ("a mistake is one line", 4, mistake), ("a cell that cannot be traced runs", 5, refused),
         ("a cell that fails", 6, fails), ("what is left", 7, at_the_end),
         ("a cell that awaits", 8, awaits), ("one that awaits in a with", 9, awaits_inside)]


def in_the_browser(program, folder, output):
    """The frame of a notebook shows it: the page's text is inside, and where a link in it leads, and its script draws."""
    path = folder + "/shown.html"
    with open(path, "w") as out:
        out.write("<!DOCTYPE html><title>notebook</title>" + [
            each["data"]["text/html"] for each in output if "text/html" in each.get("data", {})][0].replace('sandbox="allow-scripts"', ""))
    browser = test_view.Chromium(program, folder, "file://" + path)
    try:
        session = browser.page()
        deadline = test_view.time.monotonic() + 60
        while not browser.run(session, "!!document.querySelector('iframe')?.contentDocument?.querySelector('.rect')"):
            if test_view.time.monotonic() > deadline:
                return ["the page's script drew nothing in 60 s"]
            test_view.time.sleep(0.1)
        ask = ("new Promise(done => { const f = document.querySelector('iframe'), d = () => f.contentDocument;"
               "d().querySelector('a[href^=\"#\"]').click(); setTimeout(() => done(d().body.innerText), 500); })")
        said = browser.call("Runtime.evaluate", session, expression=ask, awaitPromise=True)
        shown = str(said.get("result", {}).get("value"))
        return [] if "Hottest loops" in shown and "only_in_the_cell" in shown else [json.dumps(said)[:500]]
    finally:
        browser.end()


def main():
    recording.need_built()
    with Plan() as plan, tempfile.TemporaryDirectory(prefix="ocular-notebook-", ignore_cleanup_errors=True) as folder:
        # The newest for which all that they need is there in binary.
        own = next(filter(None, map(environment, reversed(recording.pythons()))), None)
        if not own:
            plan.missing("%%ocular", "nbclient")
            return
        outputs = run(own, folder)
        for name, cell, case in CASES:
            plan.case(name, case, outputs[cell])
        program = chromium.found()
        if program:
            plan.case("the page in its frame", in_the_browser, program, folder, outputs[1])
        else:
            plan.missing("the page in its frame", "chromium")


if __name__ == "__main__":
    main()
