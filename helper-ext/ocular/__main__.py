# SPDX-License-Identifier: MIT
"""python -m ocular: the command ocular; or record a Python program, run by plain python.

A first word that is a name (report, check) is a command, and the front end has them all. Anything else is the
program to record, as by `ocular record`, but within this process: so that `perf record python -m ocular app.py` records
the program. It does not run in here: this sets the environment in which an interpreter traces itself
(hook/sitecustomize.py) and executes that interpreter, under ocular-record unless there is one already.
"""

import sys

# `python -m` imports from the current folder first; from here on it is no more, which need not be ours.
if not getattr(sys.flags, "safe_path", False):  # 3.11
    del sys.path[0]

import os  # noqa: E402

import ocular  # noqa: E402

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from types import ModuleType
    from typing import NoReturn
    from .backends import Choice
from ocular import options, stderr  # noqa: E402

USAGE = """\
usage: python -m ocular COMMAND ...      the command ocular with this Python: python -m ocular help
       python -m ocular [options] script.py [args...]
       python -m ocular [options] -m module [args...]
       python -m ocular [options] -c code [args...]

Record a Python program (one without a dot or slash in its name: ./NAME). It behaves as under plain python; the recording is a folder for
`ocular report`, or perf script with the plugin ocular.so.

options:
%s  --listen            do not record: let `ocular attach PID` do that any time later
  -h, --help          this; --version

examples:
  python -m ocular run app.py
  python -m ocular app.py --size 10
  python -m ocular --mode precise --include app -o /tmp/rec app.py
  python -m ocular -m json.tool data.json
  python -m ocular --mode calls --c-calls app.py
  python -m ocular --exclude 'importlib' -c 'import app; app.main()'
  python -m ocular --flight 50ms -m http.server
  python -m ocular --duty 5%% --duty-window 50ms -m http.server
  perf record -o rec/perf.data -e intel_pt/ptw,cyc,branch=0/u python -m ocular app.py
"""

# Environment variables, by the variable of options.RECORD.
ENVIRONMENT = {"mode": "OCULAR_MODE", "backend": "OCULAR_BACKEND", "include": "OCULAR_INCLUDE",
               "exclude": "OCULAR_EXCLUDE"}

# Settings of --backend qemu for mode opcodes; --set may override them.
OPCODES_NEED = ["branch=1", "noretcomp=1"]


def fail(text: str) -> "NoReturn":
    """End with one line on stderr and status 2."""
    stderr.say("ocular: " + text)
    sys.exit(2)


def parse(args: "list[str]") -> "tuple[dict[str, list[str]], list[str]]":
    """({variable of options.RECORD: [values]}, command line of the program). `recorder` has options and values."""
    values = {}
    known = {name: row.variable for row in options.rows("m") for name in row.names}
    plain = {name for row in options.rows("m") for name in row.names if row.value == "-"}
    while args and args[0].startswith("-") and args[0] not in ("-m", "-c", "-"):
        option, given, value = args.pop(0).partition("=")
        if option in ("-h", "--help"):
            sys.stdout.write(USAGE % options.show("m"))
            sys.exit(0)
        if option == "--version":
            sys.stdout.write("ocular %s\n" % ocular.__version__)
            sys.exit(0)
        if option == "--listen":
            values["listen"] = ["1"]
            continue
        if option not in known:
            fail("unknown option %s; see python -m ocular --help" % option)
        if option in plain:
            values[known[option].rstrip("!")] = ["1"]
            continue
        if not given and not args:
            fail("%s needs a value" % option)
        value = value if given else args.pop(0)
        name = known[option].rstrip("+@^")
        words = [option, value] if name == "recorder" else [value]
        values[name] = words if name == known[option] else values.get(name, []) + words
    if not args or args in (["-m"], ["-c"]):
        fail("no program given; see python -m ocular --help")
    return values, args


def interpreter() -> "list[str]":
    """sys.executable with its flags: the words before -m ocular."""
    flags = sys.orig_argv[1:len(sys.orig_argv) - (len(sys.argv) - 1)]
    if flags[-2:-1] == ["-m"]:
        flags = flags[:-2]
    elif flags:  # -mocular, -Bmocular
        flags[-1] = flags[-1][:-len("mocular")]
        flags = flags[:-1] if flags[-1] == "-" else flags
    if sys.flags.ignore_environment or sys.flags.no_site:
        fail("python cannot trace itself with the options -E, -I or -S: leave them out")
    return [sys.executable] + flags


def is_command(words: "list[str]") -> bool:
    """Whether the first word is a name, and so not the path of a script."""
    return bool(words) and not words[0].startswith("-") and not {".", "/"} & {*words[0]}


def become_command(words: "list[str]") -> "NoReturn":
    """The front end, for this interpreter."""
    from ocular import tools
    if len(interpreter()) > 1:
        fail("python's own options do not reach a command: leave out %s, or record by python ... -m ocular script.py"
             % " ".join(interpreter()[1:]))
    path = tools.front_end()
    os.execv(path, [path, "--installed-for", sys.executable, *words])


def environment(values: "dict[str, list[str]]", tools: "ModuleType") -> "dict[str, str]":
    """The environment in which the program traces itself, from the options."""
    env = dict(os.environ, OCULAR_MAIN="1")
    for name, given in values.items():
        if name in ENVIRONMENT:
            env[ENVIRONMENT[name]] = ":".join(given)
    from ocular import modes
    also = [key for key in modes.ALSO if key in values]
    if also:
        env["OCULAR_ALSO"] = " ".join(also)
    triggers = [kind + " " + value for kind in options.triggers() for value in values.get(kind, ())]
    if triggers:
        env["OCULAR_TRIGGER"] = "\n".join(triggers)
    paths = [tools.hook()] + ([env["PYTHONPATH"]] if env.get("PYTHONPATH") else [])
    env["PYTHONPATH"] = os.pathsep.join(paths)
    return env


def tables_folder(output: "str | None", choice: "Choice") -> str:
    """Where the code tables go when perf records."""
    folder = os.path.abspath(output) if output else choice.folder()
    os.makedirs(folder, 0o700, exist_ok=True)
    return folder


def emulated(values: "dict[str, list[str]]", command: "list[str]") -> "list[str]":
    """The command on the processor of ocular-qemu, which reports itself what it lacks."""
    from ocular import tools
    if "flight" in values or "recorder" in values:
        raise ValueError("ocular: %s is for the backend software" % values.get("recorder", ["--flight"])[0])
    opcodes = values.get("mode") == ["opcodes"]
    sets = (OPCODES_NEED if opcodes else []) + values.get("settings", [])
    words = [word for each in sets for word in ("-s", each)]
    return [tools.emulator(), "-o", values.get("recording", ["ocular.data"])[0], *words, "--"] + command


def plan(values: "dict[str, list[str]]", program: "list[str]") -> "tuple[list[str], dict[str, str]]":
    """(command, environment): what this process becomes."""
    from ocular import backends, monitor, tools
    wanted = values.get("backend", ["auto"])[0]
    command, env = interpreter() + program, environment(values, tools)
    monitor.check(values.get("mode", ["adaptive"])[0], wanted, env.get("OCULAR_ALSO", "").split())
    output = values.get("recording", [None])[0]
    if "listen" in values:
        return command, dict(env, OCULAR_LISTEN="1")
    if env.get("OCULAR_TRIGGER"):
        if not values.get("flight") and not env.get("OCULAR_DIR"):
            raise ValueError("ocular: triggers need --flight")
        from ocular import triggers
        triggers.Triggers(env["OCULAR_TRIGGER"].splitlines())
    if env.get("OCULAR_DIR"):
        return command, env
    if wanted == "qemu":
        return emulated(values, command), env
    if "settings" in values:
        raise ValueError("ocular: --set is for the backend qemu")
    choice = backends.choose(wanted)
    env["OCULAR_BACKEND"] = choice.name
    if wanted == "auto":
        stderr.say("ocular: backend %s: %s" % (choice.name, choice.why))
    if choice.name == "software":
        words = ["--flight", *values["flight"]] if "flight" in values else []
        words += values.get("recorder", [])
        command = [tools.recorder(), "-o", output or "ocular.data"] + words + ["--"] + command
    elif "flight" in values:
        raise ValueError("ocular: --flight is for the backend software; with Intel PT use "
                         "perf record --snapshot")
    elif "recorder" in values:
        raise ValueError("ocular: %s is for the backend software" % values["recorder"][0])
    else:
        env["OCULAR_DIR"] = tables_folder(output, choice)
    return command, env


def main() -> None:
    """Become the program, or say in one line why not."""
    if ocular.UNSUPPORTED:
        fail(ocular.UNSUPPORTED.replace("ocular ", "", 1))
    try:
        if is_command(sys.argv[1:]):
            become_command(sys.argv[1:])
        values, program = parse(sys.argv[1:])
        command, env = plan(values, program)
    except ImportError as e:
        fail("not built for %s: run `make PYTHON=%s`, or `%s -m pip install ocular-trace` (%s)" % (
            sys.implementation.cache_tag, sys.executable, sys.executable, e))
    except (ValueError, RuntimeError, OSError) as e:
        fail(str(e).replace("ocular: ", "", 1))
    os.execvpe(command[0], command, env)


if __name__ == "__main__":
    main()
