# SPDX-License-Identifier: MIT
"""The one list of the options of recording: for python -m ocular, ocular attach, and, at build time, scripts/ocular.

Nothing is imported here: a Python that Ocular cannot run on prints the list for the scripts, too.
"""

# A line each, between tabs: names; value ("-": none; "A|B": one of these; "@LIST": a list of below); what becomes of it
# (scripts/ocular's parse: "+" joined by colons, "@" by newlines, "!" no value, "recorder^" handed to ocular-record as it
# is); who takes it beside scripts/ocular record: "m" python -m ocular, "a" ocular attach; help. A line that begins with
# a tab goes on with the help above it.
RECORD = """\
-o --output	DIR	recording	ma	the recording (default ocular.data; an older one becomes DIR.old)
--mode	@modes	mode	ma	what to record (default adaptive):
--include	PATTERN	include+	ma	trace only this: a module or package (json.decoder), or, with a slash or .py,
--exclude	PATTERN	exclude+	ma	a pattern of file names ('*/site-packages/*'); both may be repeated
--python	PYTHON	python	-	the interpreter (default: $PYTHON, else python3)
--backend	@backends	backend	m	how markers get into the trace (default auto):
--ring-records	N	recorder^	m	size of a thread's ring, in markers
--wait-ms	N	recorder^	m	how long a thread waits for room in its ring before it drops markers and counts them
--flight	LENGTH	flight	ma	keep only snapshots: the last LENGTH (10ms, 2s; or a size a thread: 4M) before
	ocular.take_snapshot(), SIGUSR2 to the recorder, or a process that dies
--trigger	FUNCTION	calls@	ma	take one when it is called, or when a call took longer, with the values of names:
	'pkg.mod:Class.method', 'pkg.mod:f(size, self) > 50ms', 'app/*.py:f'. '?' lets you pick
	one (by fzf, if it is there), '?sea > 50ms' among those with sea in their name
--trigger-exception	TYPE	exceptions@	ma	when one is raised: ValueError, pkg.mod:Error; subclasses too
--trigger-lag	TIME	lag	ma	when an asyncio callback takes, or a thread waits to run, longer than 20ms
--trigger-symbol	S	recorder^	ma	when a thread comes to a C function: libc.so.6:fsync (hardware breakpoint);
	'?' and '?sync' pick one
--max-snapshots	N	recorder^	ma	at most that many (default 100)
--duty	PERCENT	recorder^	ma	trace in short windows that make up that share of the time (5%), evenly spaced; between
	them the program runs as if untraced
--duty-window	TIME	recorder^	ma	length of one (default 100ms)
--switch-output	WHEN	recorder^	ma	go on in a new perf.data when it has that size (100M), that age (10m, 1h), or on
	SIGUSR2 (signal); the older ones are perf.data.TIMESTAMP beside it
--switch-max-files	N	recorder^	ma	keep only the newest N of them
--max-size	SIZE	recorder^	ma	stop recording, not the program, at that size (500M, 20G, none); default: a tenth of
	the free disk, at most 4G
--keep-last	SIZE	recorder^	ma	keep only the end of the recording, that much of it (from 1M on)
--until-exit	main|all	recorder^	m	record until the program has ended, or all that it started too (default: all)
--set	NAME=N	settings@	m	how the processor of --backend qemu traces (ocular-qemu --help); may be repeated
--no-filter	-	no_filter!	-	mode opcodes: record all branches, not only those of the interpreter's evaluation function
--pt-buffer	SIZE	pt_buffer	-	perf's trace buffer for each CPU (default: what your rights allow, up to 16M)
-q --quiet	-	quiet!	a	no progress and no closing line
"""

LISTS = {
    "modes": """\
calls	functions, generators, coroutines
adaptive	calls and loop iterations
lines	calls and lines
precise	calls and every instruction
opcodes	every instruction as it ran, from the branches (backend ptwrite, or ocular stat)
full	every event of sys.monitoring
""",
    "backends": """\
auto	the first of ptwrite, emulated and software that works here; says which and why
ptwrite	PTWRITE instructions in an Intel PT trace by perf record
emulated	the same by branches: Intel PT without PTWRITE
software	rings, any x86-64
qemu	PTWRITE on an emulated processor: exact, repeatable counts; 25 times slower
"""}


class Option:
    """A row of RECORD."""

    def __init__(self, line: str) -> None:
        names, self.value, self.variable, self.takers, words = line.split("\t")
        self.names, self.help = names.split(), [words]


def listed(name: str) -> "tuple[str, ...]":
    """The words of one of LISTS, in order."""
    return tuple(line.partition("\t")[0] for line in LISTS[name].splitlines())


def rows(taker: str = "") -> "list[Option]":
    """The options that `taker` takes, in order."""
    found = []  # type: list[Option]
    for line in RECORD.splitlines():
        if line.startswith("\t"):
            found[-1].help.append(line[1:])
        else:
            found.append(Option(line))
    return [row for row in found if taker in row.takers]


def show(taker: str) -> str:
    """Their help, as `ocular record --help` shows it."""
    lines = []
    for row in rows(taker):
        of = row.value[1:] if row.value.startswith("@") else None
        value = row.names[0].lstrip("-").upper() if of else "" if row.value == "-" else row.value
        names = (", ".join(row.names) + " " + value).rstrip()
        lines += ["  " + names] if len(names) > 19 else []
        lines += ["  %-19s %s" % ("" if n or len(names) > 19 else names, text) for n, text in enumerate(row.help)]
        listed = LISTS[of].splitlines() if of else ()
        lines += ["%22s%-9s %s" % ("", *line.split("\t")) for line in listed]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":  # for the Makefile: one of the lists
    import sys
    sys.stdout.write(LISTS.get(sys.argv[1], RECORD))
