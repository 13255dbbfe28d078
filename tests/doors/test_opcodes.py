#!/usr/bin/env python3
"""Mode `opcodes`: what branch packets say ran is what INSTRUCTION events of another run say ran.

    test_opcodes.py [--python PY]... [--only TEXT] [--sparse | --all] [--program FILE]... [--pyperformance FOLDER]

Programs are deterministic and run twice: on the emulated processor with branches recorded and hardly any
event, and natively under a witness (opcodes/play.py) that sees every instruction and knows nothing of
Ocular. Both sequences of (event, file, qualname, line, offset) must be equal from the first program's first
instruction to the last one's last. The recovered one may have additional instructions that CPython has no
event for, and only those: EVENTLESS lists them.

--sparse is for interpreters beside the one that has all of them: without what tests packets and readers, which are the same
whatever bytecode and machine code ran.
"""

import collections
import functools
import gc
import glob
import json
import os
import re
import shutil

import ptcut
import recording
from tap import Plan
from escapes import ESCAPES

QEMU = os.path.join(recording.BUILD, "bin", "ocular-qemu")
PT = os.path.join(recording.BUILD, "bin", "ocular-pt")
FOLDER = os.path.join(recording.HERE, "opcodes")
PLAY = os.path.join(FOLDER, "play.py")
IN_CHILDREN = os.path.join(FOLDER, "in_children.py")

# CPython instruments a code object from its first RESUME on; an instruction that is instrumented for another event, or
# reached without the evaluation loop, has no INSTRUCTION event. END_FOR, and the POP_TOP behind it (3.13), run
# after a generator that FOR_ITER_GEN entered; an instrumented FOR_ITER enters none.
EVENTLESS = {"RESUME", "END_FOR", "END_SEND"}

# CPython 3.14 passes over this one behind a branch, unless it is instrumented, as it is for the witness.
PASSED_OVER = "NOT_TAKEN"

SLOW = 500  # seconds for a recording: the emulator takes a few

# Groups of tests/programs and of real uses of the standard library, one recording each.
GROUPS = {
    "control flow": ("loops", "while_else", "match_statement", "syntax", "exceptions", "finally_with", "recursion",
                     "deep_recursion"),
    "generators and coroutines": ("generators", "awaitables", "comprehensions", "tasks", "closures",
                                  "async_generators", "coroutines", "generator_tree"),
    "classes, exec": ("class_bodies", "descriptors", "decorators", "type_parameters", "exec_eval", "far_lines", "imports",
                      "uncaught", "system_exit"),
    "through C, code that dies": ("from_c", "code_dies", "finalizers", "raising_through_c"),
    "real programs": ("regular_expressions", "syntax_trees", "json_both_ways", "data_classes", "log_records",
                      "differences", "tokens", "richards"),
    "more real programs": ("text_wrapping", "tables", "fractions_and_decimals", "options", "templates_and_html"),
}

# Programs whose code is compared after they have run, in the recordings of their groups.
SPECIALISED = ("loops", "while_else", "generators", "exceptions", "comprehensions", "richards", "syntax_trees")

# Programs recorded with returns compressed.
COMPRESSED = ("loops", "generators", "recursion", "richards", "regular_expressions")

# Programs that take the emulator too long for CI: with --all.
LONG_GROUPS = {"large code": ("far_jumps", "large_function")}

# Programs that end in their own way or have processes and threads: each in a child of its own.
ENDS = ("abort", "kill_self", "os_exit", "signals", "forks", "threads", "thread_errors")
LONG_ENDS = ("fork_in_thread", "thread_pool", "exec_replaced", "multiprocessing_fork", "multiprocessing_spawn",
             "subprocesses")

# Modules whose imports are not compared: they take the witness long.
NOT_HEARD = "pkgutil runpy concurrent.futures.thread queue warnings resource signal"

# Runs until another thread says so.
AS_LONG_AS_IT_LIKES = "busy"


def program(name):
    for folder in (FOLDER, recording.PROGRAMS):
        path = os.path.join(folder, name + ".py")
        if os.path.exists(path):
            return path
    return os.path.abspath(name)


def environment(**more):
    return recording.plain_environment(PYTHONHASHSEED="0", **more)


def filters(python):
    """Settings that let only the evaluation function and Ocular's markers through."""
    done = recording.run([python, "-c", "from ocular import ranges; ranges.show(8)"],
                         env=environment(PYTHONPATH=os.path.join(recording.BUILD, "python")))
    return ["filter=" + line for line in done.stdout.splitlines()]


def record(python, folder, programs, *settings, play=PLAY, **more):
    """A recording in mode opcodes on the emulated processor; its folder."""
    data = os.path.join(folder, "data")
    words = [word for setting in ("branch=1", *settings) for word in ("-s", setting)]
    done = recording.run([QEMU, "-q", "-o", data, *words, "--", python, play, *programs],
                         env=environment(PYTHONPATH=recording.HOOK, OCULAR_MAIN="1", OCULAR_MODE="opcodes", **more),
                         timeout=SLOW)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[-2000:]}")
    return data


class Rows(dict):
    """text: a row of its columns, made once: an instruction runs again and again, and to split it takes long."""

    def __init__(self, choose):
        super().__init__()
        self.choose = choose

    def __missing__(self, text):
        row = self[text] = self.choose(text.split("\t"))
        return row


def lines_of(path):
    """An event text's, but for play.py's start-up: its imports have several times as many as its programs."""
    with open(path, "rb") as file:
        text = file.read()
    begin = max(text.find(f"\tPY_START\t{PLAY}\tbegin\t".encode()), 0)
    start = max(text.rfind(b"\n", 0, begin), text.find(b"\n")) + 1
    return text[start:].decode().split("\n")[:-1]


Recovered = collections.namedtuple("Recovered", "events share told")


def recover(data, *arguments):
    """ocular-pt's rows (event, file, qualname, line, offset), with opcodes beside them, by thread."""
    text = os.path.join(data, "events.txt")
    done = recording.run([PT, f"events={text}", *arguments, data], env=recording.plain_environment())
    if done.returncode:
        raise RuntimeError(done.stderr)
    threads, rows = collections.defaultdict(list), Rows(lambda columns: (*columns[:5], columns[6]))
    for line in lines_of(text):
        _, pid, tid, rest = line.split("\t", 3)
        threads[pid, tid].append(rows[rest])
    share = re.search(r"(\d+) of (\d+) instructions recovered", done.stderr)
    return Recovered(threads, (int(share[1]), int(share[2])), done.stderr)


def counted(told, what):
    number = re.search(rf"(\d+) instructions {what}", told)
    return int(number[1]) if number else 0


def upper(recovered):
    """How many ran at most: where no code is known, they may be in excluded code, or two of them may be one."""
    return recovered.share[1] + counted(recovered.told, "of excluded code")


def heard(python, programs):
    """The witness's rows: a list for each thread, first the one that began; of forked children after it."""
    return heard_once(python, tuple(programs))


@functools.lru_cache(maxsize=1)  # a group is recorded in several ways, one after the other, and runs in one
def heard_once(python, programs):
    with recording.scratch() as folder:
        out = os.path.join(folder, "witness.txt")
        done = recording.run([python, PLAY, "--witness", out, *programs], env=environment())
        if done.returncode:
            raise RuntimeError(done.stderr)
        return heard_rows(out)


def heard_rows(out):
    threads, rows = collections.defaultdict(list), Rows(tuple)
    for path in sorted(glob.glob(out + "*"), key=lambda path: int("0" + path[len(out) + 1:])):
        with open(path, encoding="utf-8", newline="\n") as lines:
            for line in lines:
                row, _, thread = line.rpartition("\t")
                threads[path, thread].append(rows[row])
    return list(threads.values())


def between_marks(rows):
    """From the start of play.py's `begin` to that of its `end`."""
    def at(name):
        return next(i for i, row in enumerate(rows) if row[0] == "PY_START" and row[1] == PLAY and row[2] == name)
    return rows[at("begin"):at("end")]


def special(data):
    """{(file, qualname, line, offset)} by the code tables: of instructions without event, and of passed over ones."""
    eventless, passed = set(), set()
    for path in glob.glob(os.path.join(data, "codes-*.jsonl")):
        with open(path, encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                if line["kind"] == "header":
                    names = line["opnames"]
                if line["kind"] != "code":
                    continue
                rows = [(row[0], names[row[2]]) for row in line["instructions"]]
                makers = [offset for offset, name in rows if name == "RETURN_GENERATOR"]
                entry = min((offset for offset, name in rows if name == "RESUME" and [offset] > makers), default=-1)
                where = [line[key].translate(ESCAPES) for key in ("file", "qualname")]
                before = [None, *(name for _, name in rows)]
                where.append(str(line["firstlineno"]))
                eventless |= {(*where, str(offset)) for (offset, name), last in zip(rows, before)
                              if offset <= entry or name in EVENTLESS or (last, name) == ("END_FOR", "POP_TOP")}
                passed |= {(*where, str(offset)) for offset, name in rows if name == PASSED_OVER}
    return eventless, passed


def comparable(row):
    """Where an exception left the frame of an inlined call, CPython names its cache, not the instruction."""
    return row[:4] if row[0] in ("RAISE", "RERAISE", "PY_UNWIND") else row[:5]


def differences(ours, truth, without_event, passed_over):
    """[] or the first difference. An instruction without event may be more, a passed over one may be missing."""
    i = k = 0
    while i < len(ours):
        if k < len(truth) and comparable(ours[i]) == comparable(truth[k]):
            k += 1
        elif k < len(truth) and truth[k][0] == "INSTRUCTION" and truth[k][1:5] in passed_over:
            k += 1
            continue
        elif ours[i][0] != "INSTRUCTION" or ours[i][1:5] not in without_event:
            break
        i += 1
    if i == len(ours) and k == len(truth):
        return []
    lines = [f"instruction {i} of {len(ours)} differs from {k} of {len(truth)} of the witness"]
    for n in range(-3, 4):
        lines.append(f"  {ours[i + n] if 0 <= i + n < len(ours) else None} | "
                     f"{truth[k + n] if 0 <= k + n < len(truth) else None}")
    return lines


def check(python, names, settings, folder):
    return compared(python, [program(name) for name in names], settings, folder)[0]


def check_and_keep(python, names, settings, kept, folder):
    """And keep what all code holds at the end, there and in a run without Ocular, and what ran."""
    programs = [program(name) for name in names]
    ours, plain = (os.path.join(folder, name) for name in ("ours.txt", "plain.txt"))
    found, _, rows = compared(python, programs, settings, folder, "--adaptive", ours)
    recording.run([python, PLAY, "--adaptive", plain, *programs], env=environment())
    opcodes = recording.run([python, "-c", "import dis; print(*dis._all_opname)"], env=environment()).stdout.split()
    ran = collections.Counter(row[1:5] for row in rows if row[0] == "INSTRUCTION")
    kept.append((listing(ours, opcodes), listing(plain, opcodes), ran))
    return found


def check_benchmark(python, path, folder):
    found, count, _ = compared(python, ["--path", recording.SMALL, path], ("noretcomp=1",), folder)
    print(f"# {count} instructions, calls and returns were heard")
    return found


def compared(python, programs, settings, folder, *options):
    """The differences, how many events the witness saw, and what was recovered, with play.py's options."""
    words = [word for setting in settings for word in (filters(python) if setting == "filters" else (setting,))]
    data = record(python, folder, [*options, *programs], *words)
    recovered = recover(data)
    (ours,) = recovered.events.values()
    truth = between_marks(heard(python, programs)[0])
    ours = between_marks(ours)
    if len(truth) < 10000:
        return [f"the witness heard {len(truth)} events: hardly anything ran"], len(truth), ours
    found = differences(ours, truth, *special(data))
    if "lost track" in recovered.told:
        found.append(recovered.told)
    return found, len(truth), ours


def first_call(rows):
    return next(row[1:3] for row in rows if row[0] == "PY_START")


def check_threads(python, folder):
    """Threads that switch as often as possible: each one's instructions, to the last."""
    programs = [program("threads_at_once")]
    data = record(python, folder, programs, "noretcomp=1")
    recovered = recover(data)
    main, *others = heard(python, programs)
    ours = list(recovered.events.values())
    known = special(data)
    found = differences(between_marks(ours[0]), between_marks(main), *known)
    by_call = {first_call(rows): rows for rows in ours[1:]}
    if len(others) != 4 or {first_call(rows) for rows in others} != set(by_call):
        found.append(f"{len(others)} threads heard, recovered {sorted(by_call)}")
    for rows in others:
        found += differences(by_call.get(first_call(rows), []), rows, *known)
    if "lost track" in recovered.told:
        found.append(recovered.told)
    return found


def is_subsequence(ours, truth, eventless):
    """[] if all our rows are in truth, in its order; else the first row that is not."""
    rest = iter(truth)
    for i, row in enumerate(ours):
        if row[0] == "INSTRUCTION" and row[1:5] in eventless:
            continue
        length = 4 if row[4] == "-1" else len(comparable(row))  # the place that it left from is not known
        if not any(comparable(row)[:length] == comparable(other)[:length] for other in rest):
            return [f"row {i} of {len(ours)} was not heard there: {row}"]
    return []


def check_children(python, folder):
    """A forked child: frames that it inherits are not reported, those that begin in it are, to the last instruction."""
    programs = [program("children")]
    data = record(python, folder, programs, "noretcomp=1")
    recovered = recover(data)
    (main, *children), eventless, passed = heard(python, programs), *special(data)
    by_pid = [rows for _, rows in sorted(recovered.events.items(), key=lambda item: int(item[0][0]))]
    found = differences(between_marks(by_pid[0]), between_marks(main), eventless, passed)
    heard_inside = 0
    if len(children) != 4 or len(by_pid) != 5:
        return [f"{len(children)} children heard, {len(by_pid) - 1} recovered"]
    for ours, truth in zip(by_pid[1:], children):
        truth = [row for row in truth if row[1] != PLAY]
        found += is_subsequence(ours, truth, eventless)
        inside = [[row for row in rows if row[2] in ("work", "caught", "squares", "squares.<locals>.<genexpr>")]
                  for rows in (ours, truth)]
        found += differences(*inside, eventless, passed)
        heard_inside += len(inside[1])
    if heard_inside < 300:
        found.append(f"only {heard_inside} events in functions called by children")
    return found


BEGINS = ("PY_START", "PY_RESUME", "PY_THROW")
LEAVES = ("PY_RETURN", "PY_YIELD", "PY_UNWIND")


def activations(rows, program=None):
    """What each outermost call of a thread did, without what ran in frames that it did not see begin.

    Such frames return in the midst of others: another interpreter's, or of a program that took the process over
    by exec. Rows of one `program`: its module begins once, so the frames open then are of the process before exec.
    """
    frames, calls = [], []
    for row in rows:
        if row[:3] == ("PY_START", program, "<module>"):
            frames.clear()
        if row[0] in BEGINS:
            if not frames:
                calls.append([])
            frames.append(row[1:4])
        if frames:
            calls[-1].append(row)
        if row[0] in LEAVES and row[1:4] in frames:
            frames.pop()
    return calls


def by_program(streams, paths, left_out):
    """{path: Counter of the calls that its own code did, each by its rows}. No order between calls."""
    found = {path: collections.Counter() for path in paths}
    for rows in streams:
        for call in activations(rows):
            for path in paths:
                own = [row for row in call if row[1] == path and row[2] != AS_LONG_AS_IT_LIKES]
                for part in activations(own, path):
                    found[path][tuple(comparable(row) for row in part if row[1:5] not in left_out)] += 1
    return found


def heard_in_children(python, folder, programs):
    """The witness's rows of each thread, programs in children of their own."""
    done = recording.run([python, IN_CHILDREN, *programs], env=environment(
        PYTHONPATH=recording.WITNESS_HOOK, TRUTH_DIR=folder, TRUTH_MODE="opcodes", TRUTH_PRELOAD=NOT_HEARD), timeout=SLOW)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode} of the witness: {done.stderr[-2000:]}")
    return [[tuple(event[:5]) for event in events] for events in recording.truth(folder).values()]


def check_ends(python, names, folder):
    """One recording of programs in children of their own: what each one's own code did, in each of its threads."""
    programs = [program(name) for name in names]
    data = record(python, folder, programs, "noretcomp=1", play=IN_CHILDREN)
    ours, heard = recover(data), heard_in_children(python, folder, programs)
    left_out = set.union(*special(data))
    ours, truth = (by_program(streams, programs, left_out) for streams in (ours.events.values(), heard))
    found = []
    for path in programs:
        for more, rest in ((ours[path] - truth[path], "was not heard"), (truth[path] - ours[path], "was not recovered")):
            found += [f"{path}: {count} times {rest}: {len(call)} rows, {call[:1]} to {call[-1:]}"
                      for call, count in more.items()]
        if sum(map(len, truth[path])) < 30:
            found.append(f"{path}: hardly anything ran")
    return found


def check_interpreters(python, name, names, folder):
    """Interpreters one after another, inside one another, and in threads: what their code did in each thread, to the last."""
    path = program(name)
    data = record(python, folder, [path], "noretcomp=1", play=IN_CHILDREN)
    recovered, truth = recover(data), heard_in_children(python, folder, [path])
    known, found = special(data), []
    files = {path, *(path + name if name.startswith(":") else name for name in names)}

    def own(streams):
        for rows in streams:
            begin = next((i for i, row in enumerate(rows) if row[1] == path), len(rows))
            yield [row for row in rows[begin:] if row[1] in files]

    ours, truth = (list(filter(None, own(streams))) for streams in (recovered.events.values(), truth))
    for rows in truth:
        problems = [differences(other, rows, *known) for other in ours]
        found += [] if [] in problems else min(problems, default=["no thread"], key=len)
    heard = collections.Counter(row[1] == path for rows in truth for row in rows)
    if len(ours) != len(truth) or "lost track" in recovered.told or min(heard[True], heard[False]) < 100:
        found.append(f"{len(ours)} threads and {len(truth)}, {heard} events: {recovered.told}")
    return found


def check_trace_functions(python, folder):
    """A program that sets trace functions, of which CPython tells a witness little, and one in whose run they are not set.

    They do not change the control flow of the program's own code, and no tool gets events from them.
    """
    path = program("settrace")
    data = record(python, folder, [path], "noretcomp=1")
    recovered, known = recover(data), special(data)

    def own(rows, qualnames):
        return [row for row in rows if row[1] == path and row[2] in qualnames]

    (ours,) = recovered.events.values()
    truth = heard(python, [program("no_trace_functions"), path])[0]
    found = differences(own(ours, ("<module>", "work")), own(truth, ("<module>", "work")), *known)
    found += differences(own(ours, ("work",)), own(heard(python, [path])[0], ("work",)), *known)
    others = {row[2] for row in ours if row[1] == path} - {"<module>", "work"}
    if len(own(truth, ("<module>",))) < 80 or others or "lost track" in recovered.told:
        found.append(f"{len(truth)} events, {others} told, {recovered.told}")
    return found


def listing(path, names):
    """[(file, qualname, first line, offset, opcode)] of what play.py --adaptive wrote."""
    rows = []
    with open(path, encoding="utf-8") as lines:
        for *where, compiled, now in (line.rstrip("\n").split("\t") for line in lines):
            units = enumerate(zip(bytes.fromhex(compiled)[::2], bytes.fromhex(now)[::2]))
            rows += [(*where, str(2 * at), names[number]) for at, (base, number) in units if base]  # 0: CACHE
    return rows


FAMILIES = ("LOAD_ATTR_", "LOAD_GLOBAL_", "BINARY_OP_", "CALL_", "COMPARE_OP_", "FOR_ITER_", "STORE_ATTR_")
WARM = 4  # trips of a FOR_ITER: an event on it, off after its first, makes its warm-up begin anew


def is_explained(traced, untraced, ran):
    """Where code may hold another opcode than in a run without Ocular: docs/opcodes.md, "What the program's code keeps"."""
    if traced == "INSTRUMENTED_RESUME":
        return untraced.startswith("RESUME")
    if traced == "INSTRUMENTED_" + untraced:
        return untraced.startswith("POP_JUMP_IF") or untraced in ("NOT_TAKEN", "POP_ITER")
    if traced.startswith("LOAD_CONST_"):  # an immortal string, if Ocular has the same
        return untraced.startswith("LOAD_CONST_")
    if traced.startswith("FOR_ITER") or traced == "INSTRUMENTED_FOR_ITER":
        return untraced.startswith("FOR_ITER") and ran <= WARM
    return untraced.startswith(traced + "__")  # of 3.12


def check_specialised(python, kept, _):
    """Of what check_and_keep() kept: code is the same as after a run without Ocular, it is specialised as usual."""
    programs, ran = {program(name) for name in SPECIALISED}, sum((part[2] for part in kept), collections.Counter())
    traced, untraced = ([row for part in kept for row in part[at] if row[0] in programs] for at in range(2))
    if {row[0] for row in traced} != programs:
        return ["the groups' own cases have not run"]
    if [row[:4] for row in traced] != [row[:4] for row in untraced] or len(traced) < 1000:
        return [f"other code: {len(traced)} instructions, {len(untraced)}"]
    found = [f"{a} in a traced run, {b[4]} in another, ran {ran[a[:4]]} times" for a, b in zip(traced, untraced)
             if a != b and not is_explained(a[4], b[4], ran[a[:4]])]
    special = sum(a == b and a[4].startswith(FAMILIES) for a, b in zip(traced, untraced))
    # CPython 3.13 specialises nothing without a GIL; other opcodes' names begin like those of families, too.
    right = (special > 100) != (recording.is_free(python) and recording.version(python) == "3.13")
    return found if right else found + [f"{special} of {len(traced)} are specialised"]


def check_compressed(python, folder):
    """Returns that leave no packet, and no filter: only what ran there is reported, and most of it."""
    programs = [program(name) for name in COMPRESSED]
    data = record(python, folder, programs)
    recovered = recover(data)
    (ours,) = recovered.events.values()
    truth = between_marks(heard(python, programs)[0])
    eventless, passed = special(data)
    found = is_subsequence(between_marks(ours), truth, eventless)
    told = sum(row[1:5] not in eventless and row[0] == "INSTRUCTION" for row in between_marks(ours))
    wanted = sum(row[1:5] not in eventless | passed and row[0] == "INSTRUCTION" for row in truth)
    if told < 0.85 * wanted:
        found.append(f"{told} instructions are told of {wanted}")
    return found


RECOVERED = ("INSTRUCTION", "PY_RETURN", "PY_YIELD")


def recovered_lines(data):
    with open(os.path.join(data, "events.txt"), encoding="utf-8", newline="\n") as lines:
        rows = [line.split("\t")[:10] for line in lines if "\t" in line]
    return [row for row in rows if row[3] in RECOVERED]


def is_told_less(row, whole):
    """A return or yield out of a frame whose code is known, and its place is not."""
    return row[3] != "INSTRUCTION" and row[7] == "-1" and (*row[:7],) in whole


def check_losses(python, folder):
    """Overflows, few and many: what is reported equals the complete trace, time and opcode included; the rest is counted."""
    programs = [program(name) for name in ("loops", "generators", "exceptions")]
    data = record(python, folder, programs, *filters(python), "psb=4096")
    intact, found = recover(data), []
    whole = {tuple(row[:n]) for row in recovered_lines(data) for n in (7, 10)}
    for seed, share in enumerate((0.02, 0.1, 0.3, 0.6, 0.9)):
        shutil.copytree(data, cut := os.path.join(folder, f"cut{seed}"))
        overflows = ptcut.lose(os.path.join(cut, "perf.data"), seed, share)
        damaged = recover(cut)
        lines = recovered_lines(cut)
        wrong = [row for row in lines if tuple(row) not in whole and not is_told_less(row, whole)]
        if wrong or len({tuple(row) for row in lines}) != len(lines):
            found.append(f"{overflows} overflows: {len(wrong)} lines are not of the whole trace: {wrong[:1]}")
        placed, ran = damaged.share
        told = sum(row[3] == "INSTRUCTION" for row in lines)
        least = upper(damaged) - counted(damaged.told, "of these may repeat the one before")
        if placed != told or not placed <= ran or not placed <= least <= upper(intact) or not overflows:
            found.append(f"{overflows} overflows: {placed} of {ran} are said to be recovered, {told} are; at least {least} "
                         f"ran, of {upper(intact)}")
    return found


def check_cut(python, setting, said, folder):
    """Trace lost to overflows or full buffers again and again: the witness saw everything that is reported, in order."""
    programs = [program(name) for name in ("loops", "generators", "exceptions")]
    recovered = recover(data := record(python, folder, programs, "noretcomp=1", setting))
    (ours,) = recovered.events.values()
    own = [row for row in ours if row[0] in RECOVERED and row[1] in programs]
    found = is_subsequence(own, heard(python, programs)[0], special(data)[0])
    if len(own) < 300 or said not in recovered.told or "lost track" in recovered.told or recovered.share[0] == recovered.share[1]:
        found.append(f"{len(own)} lines of the programs, and it says {recovered.told}")
    return found


def check_decoders(python, folder):
    """Stock perf in quick mode, with the plugin, gives the same text as ocular-pt, which is the default."""
    data = record(python, folder, [program("loops"), program("generators")], "noretcomp=1")
    text = os.path.join(folder, "perf.txt")
    done = recording.run(["perf", "script", "-i", os.path.join(data, "perf.data"), "--itrace=qi1iwpe", "--dlfilter",
                          recording.PLUGIN, "--dlarg", f"events={text}"], env=recording.plain_environment(), timeout=SLOW)
    recover(data)
    with open(text, "rb") as by_perf, open(os.path.join(data, "events.txt"), "rb") as by_us:
        a, b = by_perf.read(), by_us.read()
    if a.count(b"INSTRUCTION") < 3000:
        return ["perf's text has hardly any instructions", done.stderr[-2000:]]
    found = [] if a == b else [f"perf gives {a.count(10)} lines, ocular-pt {b.count(10)}, and they differ"]
    return found + check_default(data, folder)


def check_default(data, folder):
    """Without perf: a report and a comparison of recordings in this mode are made, unless perf is asked for."""
    perf = os.path.join(folder, "bin", "perf")
    os.mkdir(os.path.dirname(perf))
    with open(perf, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexit 3\n")
    os.chmod(perf, 0o755)
    env = environment(PATH=os.path.dirname(perf) + ":" + os.environ["PATH"])
    found = []
    for status, command in ((0, ["report", data]), (0, ["report", "-q", data]), (0, ["diff", data, data]),
                            (0, ["report", data, "--decoder", "libipt"]), (1, ["report", data, "--decoder", "perf"])):
        done = recording.run([recording.WRAPPER, *command], env=env, timeout=SLOW)
        if done.returncode != status or "perf reads" in done.stderr:
            found.append(f"{command[0]} {command[-1]}: exit status {done.returncode}, {done.stderr[-500:]}")
    done = recording.run([recording.WRAPPER, "report", "perf.data"], env=env, cwd=data, timeout=SLOW)
    if done.returncode or "perf reads" in done.stderr:
        found.append(f"in its folder: exit status {done.returncode}, {done.stderr[-500:]}")
    return found


def instructions(python, program, folder, *options):
    """[(file, qualname, offset)] of `ocular record --mode opcodes`."""
    data, text = os.path.join(folder, "data"), os.path.join(folder, "events.txt")
    for command in (["record", "-q", "--python", python, "-o", data, "--mode", "opcodes", "--backend", "qemu", *options, program],
                    ["report", data, "--events", text]):
        done = recording.run([recording.WRAPPER, *command], env=environment(), timeout=SLOW)
        if done.returncode:
            raise RuntimeError(done.stderr)
    with open(text, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(row[4], row[5], row[7]) for row in rows if len(row) > 7 and row[3] == "INSTRUCTION"]


def check_excluded(python, folder):
    """Excluded code raises into code that is not: for that code the result is the same as with nothing excluded.

    And as when all branches are recorded, not only those in the ranges that the wrapper chooses.
    """
    program = os.path.join(folder, "parses.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write("import json\n"
                   "def parse(n):\n"
                   "    for i in range(n):\n"
                   "        try:\n"
                   "            json.loads('[1, 2' if i % 3 else '[%d]' % i)\n"
                   "        except ValueError:\n"
                   "            pass\n"
                   "parse(40)\n")
    everything = instructions(python, program, folder, "--no-filter")
    rest = instructions(python, program, folder, "--exclude", "json")
    if any("/json/" in file for file, _, _ in rest):
        return ["json was to be left out"]
    wanted = [row for row in everything if row[0] == program]
    got = [row for row in rest if row[0] == program]
    return [] if got == wanted and len(got) > 300 else [f"{len(got)} instructions of the program, not {len(wanted)}"]


def long_cases(python, version):
    for name, group in LONG_GROUPS.items():
        yield f"{version} {name}", check, python, group, ("noretcomp=1",)
    for name in LONG_ENDS:
        yield f"{version} {name} in a child", check_ends, python, (name,)
    yield f"{version} interpreters in threads", check_interpreters, python, "subinterpreters", ["<string>", "<script>"]


def cases(python, options):
    version = recording.version(python)
    if options.pyperformance:
        for name, path in recording.benchmarks(options.pyperformance):
            yield f"{version} {name}", check_benchmark, python, path
        return
    if options.program:
        yield f"{version} programs given", check, python, options.program, ("noretcomp=1",)
        return
    if options.all:
        yield from long_cases(python, version)
    kept = []
    for name, group in GROUPS.items():
        if set(group) & set(SPECIALISED):
            yield f"{version} {name}, specialised", check_and_keep, python, group, ("noretcomp=1",), kept
        else:
            yield f"{version} {name}", check, python, group, ("noretcomp=1",)
        # A return into the filter's range makes a TIP.PGE, compressed or not.
        if name == "control flow":
            yield f"{version} {name}, filtered", check, python, group, ("filters",)
        if name == "generators and coroutines" and not options.sparse:
            yield f"{version} {name}, filtered, TIPs deferred", check, python, group, ("filters", "defer=64")
    yield f"{version} programs that end as they like", check_ends, python, ENDS
    yield f"{version} returns compressed, no filter", check_compressed, python
    yield f"{version} code stays specialised", check_specialised, python, kept
    yield f"{version} interpreters in one another", check_interpreters, python, "nested_interpreters", [":outer", ":inner"]
    yield f"{version} trace functions", check_trace_functions, python
    yield f"{version} threads", check_threads, python
    yield f"{version} forked children", check_children, python
    yield f"{version} overflows", check_losses, python
    yield f"{version} code that is left out", check_excluded, python
    if options.sparse:
        return
    yield f"{version} buffers that are full", check_cut, python, "full=40", "trace buffers were full"
    yield f"{version} both decoders", check_decoders, python


def main():
    gc.disable()  # it would walk a million rows again and again, and they are no circle
    options = recording.options()
    options.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    options.add_argument("--sparse", action="store_true", help="only what depends on the version")
    options.add_argument("--all", action="store_true", help="what takes long, too")
    options.add_argument("--program", action="append", metavar="FILE", help="only these, in one recording; may be repeated")
    options.add_argument("--pyperformance", metavar="FOLDER", help="only its benchmarks, unpacked there; docs/opcodes.md")
    options = options.parse_args()
    recording.need_built()
    recording.need_qemu()
    with Plan() as plan:
        for python in recording.pythons(options):
            for name, function, *arguments in cases(python, options):
                if options.only in name:
                    with recording.scratch() as folder:
                        plan.case(name, function, *arguments, folder)


if __name__ == "__main__":
    main()
