#!/usr/bin/env python3
"""What stands between the command and the program: which processes are started, and what a traced interpreter imports.

Times are for make bench. Processes are counted by strace, in the order of their exec; what Python imports and opens, by
Python's own audit hooks.
"""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "doors"))

import recording  # noqa: E402
from tap import Plan  # noqa: E402

EXEC = re.compile(r'\d+ +execve\("([^"]*)".* = 0$')
PACKAGE = os.path.join(recording.BUILD, "python")

# Tells what `import ocular` does: modules, files opened, threads, descriptors left open.
IMPORT = """
import os, sys
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
before, files = set(sys.modules), set(os.listdir("/proc/self/fd"))
import ocular
told = {"modules": sorted(set(sys.modules) - before), "opened": list(opened),
        "left": sorted(set(os.listdir("/proc/self/fd")) - files), "threads": len(os.listdir("/proc/self/task")),
        "hooks": [sys.gettrace(), sys.getprofile(), *map(sys.monitoring.get_tool, range(6))],
        "folder": os.listdir(".")}
import json
print(json.dumps(told))
"""

# A traced program's modules, which it prints with its own means.
MODULES = "import sys; print(*sorted(sys.modules), sep='\\n')"


def started(folder, *command, **env):
    """Names of the programs that a command became or started, in order; and what it printed."""
    log = os.path.join(folder, "strace.txt")
    env = recording.plain_environment(**env)
    done = recording.run(["strace", "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", log, *command], env=env)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    with open(log, encoding="utf-8", errors="replace") as file:
        found = [EXEC.match(line.rstrip()) for line in file]
    return [os.path.basename(match[1]) for match in found if match], done.stdout


def of(python):
    """A Python's program, and a link to it of the usual name."""
    return os.path.realpath(python), "python3"


def processes(python, folder):
    """Every program that is started, by command; the interpreter by its own name, by a link, and as pip hands it over."""
    program, link = of(python)
    for name in link, os.path.basename(program):  # as in a virtual environment
        os.symlink(program, os.path.join(folder, name))
    linked, data = os.path.join(folder, link), os.path.join(folder, "data")
    path = folder + os.pathsep + os.environ["PATH"]
    name = os.path.basename(program)
    after = ["ocular-fsck", "ocular-pt"]
    asked = ("-o", data, "-c", "print('it ran')")
    problems = []
    for command, env, expected in (
            (("record", "--python", program, *asked), {}, ["ocular", "ocular-record", name]),
            (("record", *asked), {"PYTHON": linked}, ["ocular", "ocular-record", link]),
            (("record", *asked), {"PATH": path}, ["ocular", "ocular-record", link]),
            (("--installed-for", linked, "record", *asked), {}, ["ocular", "ocular-record", link]),
            (("run", "--python", program, *asked), {}, ["ocular", "ocular-record", name, *after]),
            (("run", "--mode", "calls", "--flight", "50ms", "--max-size", "1G", "--include", "x", "--python", program, *asked),
             {}, ["ocular", "ocular-record", name, *after]),
            (("report", data), {}, ["ocular", *after])):
        names, said = started(folder, recording.WRAPPER, *command, **env)
        if names != expected:
            problems.append(f"{' '.join(command)}: {names}, not {expected}")
        if command[0] != "report" and "it ran" not in said:
            problems.append(f"{' '.join(command)}: {said}")
    return problems


def by_links(python, folder):
    """The command is found through links, and finds its parts: build/ocular, one somewhere else, and python -m ocular."""
    link, data = os.path.join(folder, "ocular"), os.path.join(folder, "data")
    os.symlink(recording.WRAPPER, link)
    os.symlink(os.path.dirname(recording.WRAPPER), os.path.join(folder, "scripts"))
    problems = []
    for command in ([os.path.join(recording.BUILD, "ocular")], [link], [os.path.join(folder, "scripts", "ocular")],
                    ["sh", "ocular"], [python, "-m", "ocular"]):
        done = recording.run([*command, "run", "-q", "--python", python, "-o", data, "-c", "print('it ran')"], cwd=folder,
                             env=recording.plain_environment(PYTHONPATH=PACKAGE))
        if done.returncode or not done.stdout.startswith("it ran\nProgram "):
            problems.append(f"{' '.join(command)}: {done.returncode} {done.stdout[:200]} {done.stderr}")
    return problems


def asked_after_all(python, folder):
    """A script called python3.N, such as pyenv's, may be any Python: it is asked. One that is none is not started."""
    shim = os.path.join(folder, os.path.basename(os.path.realpath(python)))
    problems = []
    for words, status in (f'exec "{python}" "$@"', 0), ("exit 3", 1):
        with open(shim, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{words}\n")
        os.chmod(shim, 0o755)
        command = "record", "-q", "--python", shim, "-o", os.path.join(folder, "data"), "-c", "print(7)"
        done = recording.run([recording.WRAPPER, *command], env=recording.plain_environment())
        told = done.stdout == "7\n" if status == 0 else "does not run as Python" in done.stderr and not done.stdout
        if done.returncode != status or not told:
            problems.append(f"{words}: {done.returncode} {done.stdout} {done.stderr}")
    return problems


def imports_nothing(python, folder):
    """`import ocular` loads the package alone, opens no file but its own, and switches nothing on."""
    done = recording.run([python, "-c", IMPORT], env=recording.plain_environment(PYTHONPATH=PACKAGE), cwd=folder)
    told = json.loads(done.stdout)
    problems = [f"imports {name}" for name in told["modules"] if name.partition(".")[0] != "ocular"]
    problems += [f"opens {path}" for path in told["opened"] if not os.path.abspath(path).startswith(PACKAGE + os.sep)]
    problems += [f"{name}: {told[name]}" for name in ("left", "folder") if told[name]]
    problems += [f"{told['threads']} threads"] if told["threads"] != 1 else []
    problems += [f"hooks: {told['hooks']}"] if any(told["hooks"]) else []
    return problems + ([] if "ocular" in told["modules"] else ["did not import it"])


def traced_imports(python, folder):
    """What tracing adds to the modules of a program: the package, and atexit, which is built in."""
    plain = recording.run([python, "-c", MODULES], env=recording.plain_environment()).stdout.split()
    data = os.path.join(folder, "data")
    traced = recording.record(data, [python, "-c", MODULES], recording.traced_environment("adaptive")).stdout.split()
    more = sorted(name for name in set(traced) - set(plain) if name.partition(".")[0] != "ocular")
    less = sorted(set(plain) - set(traced))
    return [] if more == ["atexit"] and not less else [f"also {more}, and not {less}"]


def compiled(python, folder):
    """The package is there as bytecode that is valid: a start compiles nothing, even where it may not write."""
    env = dict(recording.traced_environment("adaptive"), PYTHONVERBOSE="1")
    done = recording.record(os.path.join(folder, "data"), [python, "-c", "pass"], env)
    own = [line for line in done.stderr.splitlines() if recording.BUILD in line]
    late = [line for line in own if line.startswith("# code object from") and ".pyc" not in line]
    matched = [line for line in own if " matches " in line]
    return late + ([] if len(matched) > 5 else ["hardly any bytecode was found"])


def main():
    recording.need_built()
    python = recording.pythons()[-1]
    with Plan() as plan:
        name = "the processes of each command"
        if recording.run(["sh", "-c", "strace -o /dev/null true"]).returncode:
            plan.missing(name, "strace that may trace")
        else:
            with recording.scratch() as folder:
                plan.case(name, processes, python, folder)
        for name, check in (("the command by links", by_links), ("a Python that cannot be told by its name is asked", asked_after_all),
                            ("import ocular does nothing", imports_nothing), ("modules of a traced program", traced_imports),
                            ("nothing is compiled at the start", compiled)):
            with recording.scratch() as folder:
                plan.case(name, check, python, folder)


if __name__ == "__main__":
    main()
