#!/usr/bin/env python3
"""What a terminal shows while a program is recorded, attached to, compared or added to a store: a line that goes when all is done.

Nothing here waits for a time: the program goes on until the line has been seen. How long a decoder takes is nobody's promise, so
one that always shows its line is put in its place: what is tested is that it comes to the terminal, and says what is read.
"""

import os
import pathlib
import pty
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

LINE = r"\[ ocular: \d+ markers, [\d.]+ MB, [\d.]+ MB/s, \d+ s, 1 thread in 1 process, 0 lost \]"


def read_terminal(terminal, seen):
    """All that is written there; seen() is called once the line is."""
    text = ""
    while True:
        try:
            text += os.read(terminal, 4096).decode()
        except OSError:  # nobody writes any more
            return text
        if seen and re.search(LINE, text):
            seen = seen()


def recorded(python, folder):
    end = os.path.join(folder, "end")
    program = f"import os, time\nwhile not os.path.exists({end!r}): time.sleep(0.01)"
    command = [recording.RECORDER, "-o", os.path.join(folder, "rec"), "--", python, "-c", program]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                          env=recording.traced_environment("calls")) as process:
        os.close(theirs)
        late = threading.Timer(recording.LIMIT, process.kill)
        late.start()
        text = read_terminal(ours, lambda: open(end, "w", encoding="utf-8").close())
        late.cancel()
    os.close(ours)
    right = process.returncode == 0 and re.search(LINE + "\r\033\\[K", text)
    return [] if right else [f"exit status {process.returncode}", repr(text)]


# In front of the decoder: its line, where it would show one.
SHOWS = r"""#!/bin/sh
on=false what=
[ ! -t 2 ] || on=true
for word; do
	case $word in
	progress=always) on=true ;;
	progress_what=*) what=${word#*=} ;;
	esac
done
! $on || printf '\r[ ocular: %s: 1.0 M markers, 50%%, 7 s left ]\033[K\r\033[K' "$what" >&2
exec "$REAL" "$@"
"""


def shown(command, **environment):
    """(Exit status, what is on its terminal), which stderr alone is."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                          env=recording.plain_environment(**environment)) as process:
        os.close(theirs)
        late = threading.Timer(recording.LIMIT, process.kill)
        late.start()
        text = read_terminal(ours, None)
        late.cancel()
    os.close(ours)
    return process.returncode, text


def showing(folder):
    """The environment of commands whose decoder always shows its line."""
    real, build = pathlib.Path(recording.BUILD), pathlib.Path(folder) / "build"
    (build / "bin").mkdir(parents=True, exist_ok=True)
    for part in real.iterdir():
        if part.name != "bin" and not (build / part.name).exists():
            (build / part.name).symlink_to(part)
    for part in (real / "bin").iterdir():
        if part.name != "ocular-pt" and not (build / "bin" / part.name).exists():
            (build / "bin" / part.name).symlink_to(part)
    decoder = build / "bin" / "ocular-pt"
    decoder.write_text(SHOWS, encoding="utf-8")
    decoder.chmod(0o755)
    return {"OCULAR_BUILD": str(build), "REAL": str(real / "bin" / "ocular-pt")}


def two(python, folder):
    """Two recordings."""
    made = [os.path.join(folder, name) for name in ("one", "two")]
    for n, path in enumerate(made):
        done = recording.run([recording.WRAPPER, "record", "-q", "-o", path, "--python", python, "-c", f"def f(): pass\nfor i in range(10 + {n}): f()"])
        if done.returncode:
            raise RuntimeError(done.stderr)
    return made


def says(status, text, *names):
    """The lines of these, in order, each gone again; no other text."""
    wanted = "".join(f"\r[ ocular: {name}: 1.0 M markers, 50%, 7 s left ]\033[K\r\033[K" for name in names)
    return [] if (status, text) == (0, wanted) else [f"exit status {status}, {text!r}", f"wanted {wanted!r}"]


def compared(python, folder):
    made, environment = two(python, folder), showing(folder)
    return says(*shown([recording.WRAPPER, "diff", *made], **environment), "A", "B")


def added(python, duck, folder):
    made, environment = two(python, folder), showing(folder)
    add = [recording.WRAPPER, "fleet", "add", os.path.join(folder, "store"), *made]
    problems = says(*shown(add, PYTHON=duck, **environment), "1 of 2", "2 of 2")
    with open(os.path.join(made[1], "perf.data"), "r+b") as file:
        file.truncate(100)
    status, text = shown([*add[:-2], made[1]], PYTHON=duck, **environment)
    last = text.rstrip().rpartition("\n")[2]
    return problems + ([] if status == 1 and re.fullmatch(r"ocular: '.*two' .*[^]]", last) else [f"what fails is not said: {status}, {text!r}"])


def attached(python, folder):
    """How long it will be; with -q nothing."""
    program = "import sys\nprint('ready', flush=True)\nsys.stdin.read()"
    with subprocess.Popen([python, "-m", "ocular", "--listen", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=recording.plain_environment(PYTHONPATH=os.path.join(recording.BUILD, "python"))) as process:
        process.stdout.readline()
        attach = [recording.WRAPPER, "attach", str(process.pid), "--for", "100ms", "-o"]
        status, text = shown([*attach, os.path.join(folder, "attached")])
        quiet = shown([*attach, os.path.join(folder, "quiet"), "-q"])
        process.communicate()
    line = r"\r\[ ocular: \d+\.\d MB in 0 s, 0 s left \]\033\[K"
    right = re.fullmatch(rf"\[ ocular: attached to .*\r\n({line})+\r\033\[K\[ ocular: detached.*\r\n", text)
    return [] if status == 0 and right and quiet == (0, "") else [f"{status}, {text!r}", f"quiet: {quiet}"]


def main():
    recording.need_built()
    with Plan() as plan, recording.scratch() as folder:
        python = recording.pythons()[-1]
        plan.case("a line on a terminal while recording", recorded, python, folder)
        plan.case("while two are compared", compared, python, folder)
        duck = recording.venv(python, "duckdb")
        if duck:
            plan.case("while some are added to a store", added, python, duck, folder)
        else:
            plan.missing("while some are added to a store", "duckdb")
        plan.case("while it is attached", attached, python, folder)


if __name__ == "__main__":
    main()
