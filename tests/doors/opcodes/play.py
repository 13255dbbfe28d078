"""Runs programs one after the other in one process: play.py [--witness OUT] [--adaptive OUT] [--path FOLDER] PROGRAM...

Between `begin` and `end` nothing runs but the programs, so that two runs can be compared from one to the
other. With --witness every instruction and call is written down by sys.monitoring, in plain Python; of a forked
child that leaves by os._exit in OUT.PID. With --adaptive
the opcodes that all functions hold at the end are. FOLDER has modules that programs import.
"""

import builtins
import _thread
import gc
import io
import os
import sys
import time

KINDS = ("INSTRUCTION", "PY_START", "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD", "PY_UNWIND", "RAISE", "RERAISE",
         "EXCEPTION_HANDLED")
TOOL = 1
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from escapes import ESCAPES  # noqa: E402
del sys.path[0]


def begin():
    pass


def end():
    pass


def play(programs):
    begin()
    for code, path in programs:
        sys.argv = [path, "--few"]  # turns, for programs that have many
        try:
            exec(code, {"__name__": "__main__", "__file__": path, "__builtins__": builtins})
        except (Exception, SystemExit) as error:
            print(type(error))
    end()


def listen():
    """Events as they come, in one list, without making Python code of the program's run."""
    heard = []
    hear, thread = heard.append, _thread.get_ident

    def callback(name):
        return lambda code, where, *rest: hear((name, code, where, thread()))

    monitoring = sys.monitoring
    monitoring.use_tool_id(TOOL, "witness")
    mask = 0
    for name in KINDS:
        monitoring.register_callback(TOOL, getattr(monitoring.events, name), callback(name))
        mask |= getattr(monitoring.events, name)
    monitoring.set_events(TOOL, mask)
    return heard


def place_of(code):
    names = (code.co_filename, code.co_qualname)
    names = [n.encode("utf-8", "backslashreplace").decode().translate(ESCAPES) for n in names]
    return "\t".join([*names, str(code.co_firstlineno)])


def write(heard, path):
    places = {}  # by id: equal code objects may be of different files, and those that are heard do not die
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
        for name, code, where, thread in heard:
            place = places.get(id(code)) or places.setdefault(id(code), place_of(code))
            out.write(f"{name}\t{place}\t{where}\t{thread}\n")


def listen_in_children(heard, path):
    """A child's list is its own, from the fork on, and written when it leaves."""
    leave = os._exit

    def write_and_leave(status):
        sys.monitoring.set_events(TOOL, 0)
        write(heard, f"{path}.{os.getpid()}")
        leave(status)

    os.register_at_fork(after_in_child=heard.clear)
    os._exit = write_and_leave


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes_of(constant)


def write_adaptive(programs, path):
    """File, qualname, first line, and the bytecode of all code of the programs, as compiled and as it is now."""
    with open(path, "w", encoding="utf-8") as out:
        for top, _ in programs:
            for code in codes_of(top):
                print(code.co_filename, code.co_qualname, code.co_firstlineno, code.co_code.hex(),
                      code._co_code_adaptive.hex(), sep="\t", file=out)


def main(arguments):
    options = {}
    while arguments[0].startswith("--"):
        options[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    if "--path" in options:
        sys.path.insert(0, options["--path"])
    programs = []
    for path in arguments:
        sys.path.insert(0, os.path.dirname(path))
        with io.open_code(path) as file:
            source = file.read().decode()
        for line in source.splitlines():
            if line.startswith(("import ", "from ")):
                try:
                    exec(line, {})  # imports are the process's, and depend on what it imported before
                except SyntaxError:
                    pass  # a line of a docstring
        programs.append((compile(source, path, "exec"), path))
    gc.disable()
    heard = listen() if "--witness" in options else None
    if heard is not None:
        listen_in_children(heard, options["--witness"])
    play(programs)
    while _thread._count():  # threads on their way out of their last function
        time.sleep(0.001)
    if heard is not None:
        sys.monitoring.set_events(TOOL, 0)
        write(heard, options["--witness"])
    if "--adaptive" in options:
        write_adaptive(programs, options["--adaptive"])


main(sys.argv[1:])
