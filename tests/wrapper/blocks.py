#!/usr/bin/env python3
"""blocks.py BIN [PAGES [HOME]]: runs the commands that README and docs/ show in blocks, word for word, and prints TAP.

BIN is the bin folder of an environment with Ocular. PAGES: only of files whose path begins with one of these, separated
by commas; each must have one. HOME is the folder of the block if none is named. Each block
begins in a new folder that has the programs which the docs call theirs. What a user must replace is in `replaced`;
what is not run here, and why, in NOT_HERE and `lacking`.
"""

import glob
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(sys.argv[1])
EVERYWHERE = "README.md", "docs/"
PAGES = tuple(sys.argv[2].split(",")) if len(sys.argv) > 2 else EVERYWHERE
HOME = sys.argv[3] if len(sys.argv) > 3 else None
TIME_LIMIT = 120  # seconds for one command

with open(os.path.join(ROOT, "README.md")) as text:
    PRIMES = re.search(r"```python\n(def is_prime.*?)```", text.read(), re.S)[1]
APP = "def total(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n\nprint(total(1000))\n"
SERVICE = "for i in range(14_500_000): pass\n"  # 116 MB
VIEWS = "import time\ndef search():\n    time.sleep(0.06)\n"
TARGET = "import time\nfrom app import views\nprint('begun', flush=True)\nend = time.monotonic() + 60\nwhile time.monotonic() < end:\n    views.search()\n"

# A browser that fetches what the page behind a link would fetch.
BROWSER = """#!/bin/sh
exec "%s/python" -c 'import sys, urllib.parse, urllib.request
link = sys.argv[1]
url = urllib.parse.parse_qs(link.partition("?")[2]).get("url", [link])[0]
urllib.request.urlopen(urllib.request.Request(url, headers={"Origin": "https://ui.perfetto.dev"})).read()' "$1"
""" % BIN

# By the first command of a block.
NOT_HERE = {
    "git clone": "CI's first step is make demo in a fresh clone; tests/wrapper/test_install.sh installs",
    "make": "CI runs each of these",
    "ocular agent": "goes on until it is ended: tests/wrapper/test_agent.py",
    "ocular top": "needs a terminal: tests/wrapper/test_top.py",
    "perf record": "needs Intel PT: tests/hardware/test_intel_pt.py",
}
# A command may end like this, too: a difference was found; Ctrl-C.
STATUSES = {"ocular diff": (0, 1), "ocular attach 4711 --flight": (0, -signal.SIGINT)}
CTRL_C = {"ocular attach 4711 --flight": 3}  # after so many seconds
COMMANDS = "ocular", "ocular-qemu", "perf", "pip", "git", "make"


def emulator():
    """QEMU that takes plugins: Debian 12's."""
    path = shutil.which("qemu-x86_64")
    return path and "-plugin" in subprocess.run([path, "-help"], capture_output=True, text=True).stdout


def lacking(commands):
    """What a block needs and this machine does not have."""
    if any("qemu" in command for command in commands) and not emulator():
        return "no qemu-x86_64 with plugins"
    if any(command.startswith("ocular fleet") for command in commands):
        return "needs DuckDB: tests/wrapper/test_fleet.py"
    if any("--otlp http" in command for command in commands):
        return "needs a receiver: tests/wrapper/test_push.py"
    return "no perf" if any(command.startswith("perf ") for command in commands) and not shutil.which("perf") else ""


def blocks():
    """(file, line, [command]) of each block of commands in PAGES; a block with prompts has output, too."""
    for path in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs/*.md")))]:
        if not os.path.relpath(path, ROOT).startswith(PAGES):
            continue
        with open(path) as page:
            text = page.read()
        for block in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M):
            lines = block[2].splitlines() if block[1] in ("", "sh") else [""]
            prompted = [line[2:] for line in lines if line.startswith("$ ")]
            if prompted or lines[0].split(" ")[0] in COMMANDS:
                yield os.path.relpath(path, ROOT), text[:block.start()].count("\n") + 1, prompted or lines


class World:
    """The folder in which a block runs, and what runs in it."""

    def __init__(self, folder, besides=False):
        self.folder = folder
        self.target = None
        self.ended, self.held = os.pipe()  # held open by whatever a command starts, until it ends
        files = {"primes.py": PRIMES, "app.py": APP, "myservice.py": SERVICE, "browser": BROWSER}
        for name, source in files.items():
            with open(os.path.join(folder, name), "w") as program:
                program.write(source)
        os.chmod(os.path.join(folder, "browser"), 0o755)
        shutil.copy("/bin/true", os.path.join(folder, "program"))
        os.symlink(os.environ.get("OCULAR_BUILD") or os.path.join(ROOT, "build"), os.path.join(folder, "build"))
        lib, = glob.glob(os.path.join(os.path.dirname(BIN), "lib/python*/site-packages/ocular/lib/bin"))
        path = [BIN, os.environ["PATH"], *([lib] if besides else [])]
        self.env = {"PATH": ":".join(path), "HOME": HOME or folder, "PIP_NO_INDEX": "1",
                    "PIP_FIND_LINKS": os.path.join(os.environ.get("OCULAR_BUILD") or os.path.join(ROOT, "build"), "wheels/dist"),
                    "PIP_DISABLE_PIP_VERSION_CHECK": "1", "BROWSER": os.path.join(folder, "browser") + " %s"}
        self.shell("ocular record -q -o ocular.data primes.py")
        shutil.copytree(os.path.join(folder, "ocular.data"), os.path.join(folder, "DIR"))

    def shell(self, command, seconds=None):
        """(exit status, output); Ctrl-C after so many seconds."""
        with open(os.path.join(self.folder, ".said"), "w+") as said:
            running = subprocess.Popen(["sh", "-c", command], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                       stdout=said, stderr=said, start_new_session=True, pass_fds=[self.held])
            try:
                running.wait(seconds or TIME_LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGINT if seconds else signal.SIGKILL)
                running.wait()
            said.seek(0)
            return running.returncode, said.read()

    def pid(self):
        """A program to attach to."""
        if not self.target:
            app = os.path.join(self.folder, "target/app")
            os.makedirs(app)
            for name, source in (("__init__.py", ""), ("views.py", VIEWS), ("../main.py", TARGET)):
                with open(os.path.join(app, name), "w") as program:
                    program.write(source)
            self.target = subprocess.Popen([os.path.join(BIN, "python"), "-m", "ocular", "--listen", "main.py"],
                                           cwd=os.path.join(self.folder, "target"), env=self.env, stdout=subprocess.PIPE)
            self.target.stdout.readline()  # it listens before it begins
        return str(self.target.pid)

    def replaced(self, command):
        """The command with what a user has to replace."""
        older = sorted(glob.glob(os.path.join(self.folder, "ocular.data/perf.data.[0-9]*")))
        for placeholder, value in (("4711", self.pid), ("2026112118104512", lambda: older[0].rpartition(".")[2])):
            if placeholder in command:
                command = command.replace(placeholder, value())
        return command

    def end(self):
        """Waits for what commands have left in the background (`&`): it still writes into the folder."""
        if self.target:
            self.target.kill()
            self.target.wait()
        os.close(self.held)
        select.select([self.ended], [], [], TIME_LIMIT)
        os.close(self.ended)


def of(table, command, otherwise):
    """The entry of a table whose key the command begins with."""
    return next((value for key, value in table.items() if command.startswith(key)), otherwise)


def problems(commands):
    """What went wrong in a block."""
    found = []
    with tempfile.TemporaryDirectory(prefix="ocular-blocks.") as folder:
        # docs/emulator.md says that this one is not on PATH, and where it is.
        world = World(folder, besides=any(command.startswith("ocular-qemu") for command in commands))
        if commands[0].startswith("pip install"):
            world.shell("pip uninstall -y ocular-trace")
        for command in commands:
            status, said = world.shell(world.replaced(command), of(CTRL_C, command, None))
            if status not in of(STATUSES, command, (0,)):
                found += ["%s: exit status %s" % (command, status), *said.splitlines()[-10:]]
        world.end()
    return found


def python_block():
    """README's calls, around a function that it calls `work`."""
    with open(os.path.join(ROOT, "README.md")) as page:
        source = re.search(r"```python\n(import ocular.*?)```", page.read(), re.S)[1]
    with tempfile.TemporaryDirectory(prefix="ocular-blocks.") as folder:
        world = World(folder)
        with open(os.path.join(folder, "calls.py"), "w") as program:
            program.write("def work():\n    for i in range(1000): pass\n" + source)
        status, said = world.shell("python calls.py")
        world.end()
        made = os.path.exists(os.path.join(folder, "ocular_trace.json"))
    return [] if status == 0 and made and "work" in said else ["exit status %s" % status, *said.splitlines()[-10:]]


def report(number, name, found, why=""):
    print("%s %d - %s%s" % ("not ok" if found else "ok", number, name, " # SKIP " + why if why else ""), flush=True)
    print("".join("# %s\n" % each for each in found), end="")


def main():
    number = failures = 0
    ran = set()
    for number, (path, line, commands) in enumerate(blocks(), 1):
        why = of(NOT_HERE, commands[0], "") or lacking(commands)
        found = [] if why else problems(commands)
        failures += bool(found)
        ran |= set() if why else {page for page in PAGES if path.startswith(page)}
        report(number, "%s, line %d: %s" % (path, line, commands[0].partition("#")[0].strip()), found, why)
    for name, found in (("README.md: import ocular", python_block()),
                        ("a block of each page", ["none of %s ran" % page for page in PAGES if page not in ran]
                         + ["%d blocks only" % number] * (PAGES == EVERYWHERE and number < 12))):
        number += 1
        failures += bool(found)
        report(number, name, found)
    print("1..%d" % number)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
