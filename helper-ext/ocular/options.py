# SPDX-License-Identifier: MIT
"""The list of the options of recording, of modes and of backends.

For python -m ocular, ocular attach and, at build time, scripts/ocular and ocular-record. This imports nothing, so
that a Python that Ocular cannot run on can print the lists for the scripts and the recorder.
"""

# A line each, between tabs: names; value ("-": none; "A|B": one of these; "@LIST": a list of below); what becomes of it
# (scripts/ocular's parse: "+" joined by colons, "@" by newlines, "!" no value, "recorder^" handed to ocular-record as it
# is); who takes it beside scripts/ocular record: "m" python -m ocular, "a" ocular attach, "s" ocular agent, "r" ocular-record; help. A
# line that begins with a tab goes on with the help above it.
RECORD = """\
-o --output	DIR	recording	mar	the recording (default ocular.data; an older one becomes DIR.old)
--mode	@modes	mode	mas	what to record (default adaptive):
--include	PATTERN	include+	mas	trace only this: a module or package (json.decoder), or, with a slash or .py, a pattern
	of file names ('*/site-packages/*'); may be repeated
--exclude	PATTERN	exclude+	mas	trace all but this; may be repeated
--c-calls	-	c_calls!	mas	record calls of C functions, too, each by its name; mode full always does
--exceptions	-	exceptions!	mas	record exceptions, too: where each was raised, how far it went; mode full always does
--no-identity	-	no_identity!	mas	do not record which generator or coroutine is resumed, only of which function
--python	PYTHON	python	-	the interpreter (default: $PYTHON, else python3)
--backend	@backends	backend	m	how markers get into the trace (default auto):
--native	HZ	recorder^	mar	also sample the C functions that threads run, so often in a second of CPU time
	(999); shown for each Python function, as samples
--clock	exact|coarse	recorder^	mar	coarse: read the time for one of 16 markers of a thread only, and where it waits: faster on
	most Intel processors. Counts and order stay exact, times between are interpolated
--ring-records	N	recorder^	mr	size of a thread's ring in markers, a power of two from 256 to 16777216
	(default 131072)
--wait-ms	N	recorder^	mr	how long a thread waits for room in its ring before it drops markers and counts them
	(default 10000)
--flight	LENGTH	flight	masr	keep only snapshots: the last LENGTH (10ms, 2s; or a size a thread: 4M) before
	ocular.take_snapshot(), SIGUSR2 to the recorder, or a process that dies
--trigger	FUNCTION	call@	mas	take one when it is called, or when a call took longer, with the values of names:
	'pkg.mod:Class.method', 'pkg.mod:f(size, self) > 50ms', 'app/*.py:f'. '?' lets you pick
	one (by fzf, if it is there), '?sea > 50ms' among those with sea in their name; so
	for --trigger-symbol
--trigger-exception	TYPE	exception@	mas	when one is raised: ValueError, pkg.mod:Error; subclasses too
--trigger-task	NAME	task@	mas	when a task, or a request (ocular.request), of that name took longer:
	'GET /users > 200ms', 'worker-* > 1s'
--trigger-lag	TIME	lag@	mas	when an asyncio callback takes, or a thread waits to run, longer than 20ms
--trigger-symbol	S	recorder^	masr	take one when a thread comes to a C function: libc.so.6:fsync (hardware
	breakpoint; up to 4)
--max-snapshots	N	recorder^	mar	at most that many (default 100)
--duty	PERCENT	recorder^	mar	trace in short windows that make up that share of the time (5%), evenly spaced; between
	them the program runs as if untraced
--duty-window	TIME	recorder^	mar	length of one (default 100ms)
--switch-output	WHEN	recorder^	mar	go on in a new perf.data when it has that size (100M), that age (10m, 1h), or on
	SIGUSR2 (signal); the older ones are perf.data.TIMESTAMP beside it
--switch-max-files	N	recorder^	mar	keep only the newest N of them
--max-size	SIZE	recorder^	mar	stop recording, not the program, at that size (500M, 20G, none); default: a tenth of
	the free disk, at most 4G
--keep-last	SIZE	recorder^	mar	keep only the end of the recording, that much of it (from 1M on)
--until-exit	main|all	recorder^	mr	record until the program has ended, or all that it started too (default: all)
--set	NAME=N	settings@	m	how the processor of --backend qemu traces (ocular-qemu --help); may be repeated
--no-filter	-	no_filter!	-	mode opcodes: record all branches, not only those of the interpreter's evaluation function
--fleet	STORE	fleet	-	add the recording to that store when it has ended (docs/fleet.md)
--label	NAME=VALUE	labels@	-	with --fleet: say so of the recording (release=1.4); may be repeated
--events	-	fleet_events!	-	with --fleet: also each event as a row (ocular record only; of run it is report's)
--pt-buffer	SIZE	pt_buffer	-	perf's trace buffer for each CPU (default: what your rights allow, up to 16M)
-q --quiet	-	quiet!	ar	no progress and no closing line
"""

# Options of ocular-record alone.
RECORDER = """\
--serve	-	serve	r	record without a command, in the background, until a client asks to finish or all
	clients have ended
--tied	PID	tied	r	with --serve: end when that process, which started it, has ended; with --folder:
	a control FIFO is there until then, too
--folder	-	folder	r	only make the folder, for perf record to write into
--clocks	-	clocks	r	only say how well the clocks of this machine's processors agree; exit status 1 if an
	effect may show before its cause
-h --help	-	help	r	this text; --version
"""

LISTS = {
    # And the PEP 669 events it listens to (modes.py): a mode's name stands for its events, "*" for all there are. Mode
    # opcodes has what a processor trace's branches do not tell: docs/opcodes.md.
    "modes": """\
calls	functions, generators, coroutines	PY_START PY_RESUME PY_RETURN PY_YIELD PY_UNWIND PY_THROW
adaptive	calls and loop iterations	calls JUMP
lines	calls and lines	calls LINE
precise	calls and every instruction	calls INSTRUCTION
opcodes	every instruction as it ran, from the branches (backend ptwrite, or ocular stat)	PY_START PY_RESUME \
PY_UNWIND PY_THROW RAISE RERAISE EXCEPTION_HANDLED BRANCH BRANCH_LEFT BRANCH_RIGHT
full	every event of sys.monitoring	*
""",
    # What else may be asked for, by the variables of the options that do: its events.
    "also": """\
c_calls	calls of C functions	CALL C_RETURN C_RAISE
exceptions	exceptions	RAISE RERAISE EXCEPTION_HANDLED PY_UNWIND
no_identity	which generator is resumed	-
""",
    "backends": """\
auto	the first of ptwrite, emulated and software that works here; says which and why
ptwrite	PTWRITE instructions in an Intel PT trace by perf record
emulated	the same by branches: Intel PT without PTWRITE
software	rings, any x86-64
qemu	PTWRITE on an emulated processor: exact, repeatable counts; 25 times slower
"""}


class Option:
    """A row of RECORD or RECORDER."""

    def __init__(self, line: str) -> None:
        names, self.value, self.variable, self.takers, words = line.split("\t")
        self.names, self.help = names.split(), [words]


def table(name: str) -> "list[list[str]]":
    """The rows of one of LISTS, in order."""
    return [line.split("\t") for line in LISTS[name].splitlines()]


def rows(taker: str = "") -> "list[Option]":
    """The options that `taker` takes, in order."""
    found = []  # type: list[Option]
    for line in (RECORD + RECORDER if taker == "r" else RECORD).splitlines():
        if line.startswith("\t"):
            found[-1].help.append(line[1:])
        else:
            found.append(Option(line))
    return [row for row in found if taker in row.takers]


def triggers() -> "tuple[str, ...]":
    """The kinds of triggers that the traced program itself watches for: variables of RECORD."""
    return tuple(row.variable[:-1] for row in rows() if row.names[0].startswith("--trigger") and "@" in row.variable)


def show(taker: str) -> str:
    """Their help, in the form of `ocular record --help`."""
    lines = []
    for row in rows(taker):
        of = row.value[1:] if row.value.startswith("@") else None
        value = row.names[0].lstrip("-").upper() if of else "" if row.value == "-" else row.value
        names = (", ".join(row.names) + " " + value).rstrip()
        lines += ["  " + names] if len(names) > 19 else []
        lines += ["  %-19s %s" % ("" if n or len(names) > 19 else names, text) for n, text in enumerate(row.help)]
        lines += ["%22s%-9s %s" % ("", *each[:2]) for each in (table(of) if of else ())]
    return "\n".join(lines) + "\n"


def header() -> str:
    """For ocular-record: ROW(letter or 0, name, takes a value, set_ALL_THAT) of each option, and what --help says."""
    lines = ["#define RECORD_ROWS(ROW)"]
    for row in rows("r"):
        name = row.names[-1][2:]
        letter = "'%s'" % row.names[0][1] if len(row.names) > 1 else "0"
        lines.append('ROW(%s, "%s", %d, set_%s)' % (letter, name, row.value != "-", name.replace("-", "_")))
    words = ['"%s\\n"' % line.replace('"', '\\"') for line in show("r").splitlines()]
    return "%s\n\n#define RECORD_HELP \\\n\t%s\n" % (" \\\n\t".join(lines), " \\\n\t".join(words))


if __name__ == "__main__":  # for the Makefile: one of the lists, without the parts for Python alone
    import sys
    if sys.argv[1] in LISTS:
        sys.stdout.write("".join("%s\t%s\n" % (row[0], row[1]) for row in table(sys.argv[1])))
    else:
        sys.stdout.write(header() if sys.argv[1].endswith(".h") else RECORD)
