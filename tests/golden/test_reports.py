#!/usr/bin/env python3
"""What the console and the HTML page say of golden traces made a little different: with source that is here, in
another mode, of other names.
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402
from tap import Plan  # noqa: E402

FEED = os.path.join(recording.BUILD, "bin", "ocular-feed")
DIFF = os.path.join(recording.BUILD, "bin", "ocular-diff")
SOURCE = "import sys\n\ndef main():\n    for i in range(9):\n        i += 1\n"


def report(folder, case, *more, source=SOURCE, change=()):
    """(console, page) of a golden case whose source file is here; `change`: texts that become others in its files."""
    path = os.path.join(folder, "app.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    for name in os.listdir(os.path.join(HERE, case)):
        if name == "events.txt" or name.startswith("codes-"):
            with open(os.path.join(HERE, case, name), encoding="utf-8") as file:
                text = file.read()
            for old, new in (("/src/app.py", path), *change):
                text = text.replace(old, new)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
    page = os.path.join(folder, "page.html")
    done = recording.run([FEED, f"codes={folder}", f"html={page}", "console=always", "color=never", *more,
                          os.path.join(folder, "events.txt")])
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    with open(page, encoding="utf-8") as file:
        return done.stdout, file.read()


def missing(text, *wanted, unwanted=()):
    return [f"'{words}' is not said" for words in wanted if words not in text] + [
        f"'{words}' is said" for words in unwanted if words in text]


def check_opcodes(folder):
    """Instructions from branch packets ran specialised and had no callback: both reports say so."""
    console, page = report(folder, "forms")
    claims = ("one callback", "Base opcodes ran", "prevent specialization", "base opcodes ran")
    return missing(console, "specialization was left on", unwanted=claims) + missing(
        page, "specialization was left on", "Read from branch packets: opcodes as they ran, specialized",
        "Measured from instruction to instruction; the only callbacks included are those of calls.", unwanted=claims)


def check_precise(folder):
    """Those of INSTRUCTION events did not, and had one each."""
    console, page = report(folder, "precise")
    return missing(console, "with one callback", "Base opcodes ran") + missing(
        page, "one callback included. Base opcodes ran", "Measured by INSTRUCTION events, which prevent specialization",
        "Measured from instruction to instruction, one callback included in each.", unwanted=("branch packets",))


ABLE = ('"first_id":1,', '"first_id":1,"specializable":[2,7],')
UNABLE = ('"specializable":[2,7],', "")


def check_specialization(folder):
    """What tracing prevented is nothing that the program did; nor is what the table does not know to be able."""
    blamed = "how they were at the end"
    pages = [report(folder, case, change=change)[1].partition("<section id=specialization>")[2]
             for case, change in (("specialization", ()), ("precise", (ABLE,)), ("specialization", (UNABLE,)))]
    return missing(pages[0], blamed) + missing(pages[1], "INSTRUCTION events prevent specialization", unwanted=(blamed,)) + (
        missing(pages[2], "Not known", unwanted=(blamed,)))


SPECIALIZED = '{"kind":"specialized","id":1,"reason":"stop","opcodes":[[10,5],[20,5]]}\n'
STOP = '{"kind":"stop","markers":[[10,0]],"lost":0}\n'


def check_stop(folder):
    """Code without a specialised opcode has no line of its own: an orderly stop implies it."""
    unknown = "pecialized opcodes are not known"
    stopped = report(folder, "nested_loops", change=((SPECIALIZED, ""),))
    killed = report(folder, "nested_loops", change=((SPECIALIZED, ""), (STOP, "")))
    return [problem for text in stopped for problem in missing(text, unwanted=(unknown,))] + [
        problem for text in killed for problem in missing(text, unknown)]


def check_no_loops(folder):
    """That loops are not to be shown does not mean that there were none; where there were none, it is said."""
    said = "No loops: no back-edge was seen"
    return missing(report(folder, "precise", "loops=0")[0], "function, by self time", unwanted=(said, "loop, by own time\n", "Disassembly")) + (
        missing(report(folder, "lines", "loops=0")[0], said))



def check_noise(folder):
    """From a tenth on of the time in which threads could run; 100 of 1050 ns are less, 120 are more."""
    quiet, noisy = (report(folder, "cpu_known", change=change) for change in ((), (("\n1720\t", "\n1700\t"),)))
    problems = [problem for text in quiet for problem in missing(text, "reempted", unwanted=("noisy",))]
    return problems + [problem for text in noisy for problem in missing(text, "reempted 11% of the time it could run")]


def check_tabs(folder):
    """A line of source looks as in an editor."""
    console = report(folder, "nested_loops", "loops=2", source=SOURCE.replace("    ", "\t"))[0]
    return missing(console, "     4          for i in range(9):\n", "     5                  i += 1\n", unwanted=("x09",))



def check_program(folder):
    """Of several processes without a parent the smallest pid is the program, in the callgrind file, too."""
    pids = range(10, 42)
    for pid in pids:
        with open(os.path.join(folder, f"codes-{pid}.jsonl"), "w", encoding="utf-8") as file:
            file.write(f'{{"kind":"header","ocular":1,"pid":{pid},"argv":["app.py","{pid}"]}}\n')
    events = os.path.join(folder, "events.txt")
    with open(events, "w", encoding="utf-8") as file:
        file.write("# ocular events 1\n")
        file.writelines(f"{1000 + pid}\t{pid}\t{pid}\tPY_START\t/src/app.py\tmain\t3\t0\t\n" for pid in pids)
    done = recording.run([FEED, f"codes={folder}", "console=always", "callgrind=-", events])
    return missing(done.stdout, "Program  app.py 10\n", "\ncmd: app.py 10\n")



def check_control(folder):
    """Names of opcodes come from the recording, too: no control character of theirs reaches a terminal."""
    change = (("_ITER_RANGE", "_ITER\x7f_RANGE"), ("BINARY_OP", "BINARY\x7f_OP"))
    console = report(folder, "forms", "opcodes=time", change=change)[0]
    return missing(console, r" : FOR_ITER -> FOR_ITER\x7f_RANGE | ", r" : BINARY\x7f_OP -> BINARY\x7f_OP_ADD_FLOAT | ",
                   r"FOR_ITER -> FOR_ITER\x7f_RANGE is followed by", r" BINARY\x7f_OP at 18 ", unwanted=("\x7f",))


def check_diff(folder):
    """Nor of two recordings that are compared."""
    odd = (("_ITER_RANGE", "_ITER\x7f_RANGE"), ('"FOR_ITER"', '"FOR\x7f_ITER"'), ('"3.12.1 ', '"3.\x7f12 '),
           ('"adaptive"', '"adap\x7ftive"'))
    paths = [os.path.join(folder, name) for name in ("a.json", "b.json")]
    for path, change in zip(paths, (odd, (*odd, ("[20,5]]", "[24,5]]"), ("2372\t10\t10\tJUMP", "2372\t10\t10\tLINE")))):
        report(folder, "nested_loops", f"summary={path}", change=change)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"cycles": "tsc"', '"cycles": "t\x7fsc"'))
    done = recording.run([DIFF, "--all", *paths])
    return missing(done.stdout, r"Python 3.\x7f12, mode adap\x7ftive, ", r"of the t\x7fsc clock",
                   r"line 5: FOR\x7f_ITER as FOR_ITER\x7f_RANGE -> FOR\x7f_ITER", r"   FOR\x7f_ITER as FOR_ITER\x7f_RANGE",
                   unwanted=("\x7f",))



def measured_at(*times):
    """The change of a code table after which callbacks were measured at these times: {event: cycles}."""
    return (STOP, json.dumps({"kind": "callbacks", "cycles": times}) + "\n" + STOP)


def events_in(case, kind):
    with open(os.path.join(HERE, case, "events.txt"), encoding="utf-8") as file:
        return sum(line.split("\t")[3:4] == [kind] for line in file)


def check_callbacks(folder):
    """Where several measurements of a callback differ, each figure is a range; figures computed from it are counts times cycles."""
    path = os.path.join(folder, "summary.json")
    times = {"JUMP": 50, "INSTRUCTION": 61}, {"JUMP": 50, "INSTRUCTION": 33}, {"JUMP": 50, "INSTRUCTION": 40}
    console, _ = report(folder, "full", f"summary={path}", change=(measured_at(*times),))
    with open(path, encoding="utf-8") as file:
        summary = json.load(file)
    (process,), opcodes, n = summary["processes"], summary["opcodes"], events_in("full", "INSTRUCTION")
    traced = summary["trace"]["traced_cycles"]
    problems = missing(
        console, "Each bytecode adds a callback of 33 to 61 cycles, and base opcodes\nran",
        "FOR_ITER | ~56 cycles (callback 33 to 61)", " 225 ns     56  33-61  FOR_ITER",
        f"   {100 * 33 * n / traced:.1f} to {100 * 61 * n / traced:.1f}%\n",
        f"   ~{100 * 50 * events_in('full', 'JUMP') / traced:.1f}%\n", unwanted=("~40", "~44"))
    costs = (process["callback_cycles"], process["callback_cycles_most"])
    if costs != ({"JUMP": 50, "INSTRUCTION": 33}, {"INSTRUCTION": 61}):
        problems.append(f"of the process: {costs}")
    for row, count in [(opcodes, n), *((row, row["count"]) for row in opcodes["rows"])]:
        if (row["callback_cycles"], row["callback_cycles_most"]) != (33 * count, 61 * count):
            problems.append(f"{count} callbacks: {row}")
    return problems


def check_callbacks_of_trips(folder):
    """The same in an adaptive recording; and of a table that has them at start only, or equal each time, as before."""
    path = os.path.join(folder, "summary.json")
    wide, _ = report(folder, "nested_loops", change=(measured_at({"JUMP": 44}, {"JUMP": 1144}),))
    same, _ = report(folder, "nested_loops", f"summary={path}", change=(measured_at(*[{"JUMP": 44, "INSTRUCTION": 40}] * 2),))
    once, _ = report(folder, "nested_loops")
    with open(path, encoding="utf-8") as file:
        (process,) = json.load(file)["processes"]
    problems = missing(wide, "Each trip contains one callback of 44 to 1144 cycles (a call has two);\nspecialization was",
                       "A trip contains one JUMP callback of 44 to 1144 cycles.\n", unwanted=("~44",))
    if same != once or "callback_cycles_most" in process:
        problems.append(f"the same twice: {process}")
    return problems + [f"too long: {line}" for line in wide.splitlines() if len(line) > 80 and folder not in line]


def check_callbacks_of_processes(folder):
    """What stands for all processes is a range over all; a share is each process's own counts times its own cycles."""
    console, _ = report(folder, "processes", change=(
        ('{"kind":"stop"', measured_at({"PY_START": 30}, {"PY_START": 35})[1][:-len(STOP)] + '{"kind":"stop"'),
        ('"callback_cycles":{"JUMP":44,"INSTRUCTION":40},"parent"', '"callback_cycles":{"PY_START":40},"parent"')))
    problems = missing(console, "   93.3 to 100.0%\n")  # of 75 cycles 30 + 40, 35 + 40
    with open(os.path.join(folder, "codes-20.jsonl"), "w", encoding="utf-8") as file:
        file.write('{"kind": "header", "ocular": 1, "pid": 20, "callback_cycles": {"JUMP": 61}}\n')
    console, _ = report(folder, "nested_loops")
    return problems + missing(console, "Each trip contains one callback of 44 to 61 cycles", "JUMP callback of ~44 cycles")


def check_no_line(folder):
    """An instruction of a loop that has no line has 0."""
    path = os.path.join(folder, "summary.json")
    report(folder, "nested_loops", f"summary={path}", change=(("[20,5,2,32]", "[20,-1,2,32]"),))
    with open(path, encoding="utf-8") as file:
        lines = {row["offset"]: row["line"] for loop in json.load(file)["loops"] for row in loop["instructions"]}
    return [] if lines[14] == 4 and lines[20] == 0 else [f"lines by offset: {lines}"]



CASES = {
    "mode opcodes: specialised, no callbacks": check_opcodes,
    "mode precise: base opcodes, callbacks": check_precise,
    "specialization: of what could be": check_specialization,
    "an orderly stop, nothing specialised": check_stop,
    "loops that are not asked for": check_no_loops,
    "wall times that other work made longer": check_noise,
    "source with tabs": check_tabs,
    "the program of many processes": check_program,
    "opcodes with control characters": check_control,
    "differences with control characters": check_diff,
    "an instruction without a line": check_no_line,
    "callbacks that were measured at several times": check_callbacks,
    "those of trips": check_callbacks_of_trips,
    "those of several processes": check_callbacks_of_processes,
}


def main():
    with Plan() as plan:
        for name, function in CASES.items():
            with recording.scratch() as folder:
                plan.case(name, function, folder)


if __name__ == "__main__":
    main()
