# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# stat - run a program on the emulated processor in mode opcodes: counts of bytecodes and of machine
# instructions that are the same in every run.

stat_table() {
	cat <<'END'
-o --output	DIR	recording	-	the recording (default ocular.data; an older one becomes DIR.old)
--python	PYTHON	python	-	the interpreter (default: $PYTHON, else python3)
--summary	FILE	summary	-	write all counts as JSON
--opcodes	SORT[:RESTRICT]...	opcodes	-	as of report (default calls:20)
END
}
table_options stat_table
stat_options=$options

stat_help() {
	cat <<'END'
usage: ocular stat [options] [--] app.py [args] | -m module [args] | -c code [args]

Runs the program on an emulated processor (QEMU, tens of times slower), and counts the bytecodes it ran,
specialised as they were, and the processor's instructions. Nothing depends on the machine or its load:
for comparing two versions of a program where there is no quiet machine, as in CI.

END
	table_help stat_table
	cat <<'END'

  ocular stat -o before.data -- app.py
  ocular stat -o after.data -- app.py
  ocular diff --fail-over 2% before.data after.data

Strings' hashes are not random in it (PYTHONHASHSEED=0, unless it is set): sets and their order would not be
the same. A program that reads the clock, or is of several threads, may still differ from run to run.
Exit status: the program's; if that is 0, the report's.
END
}

count() {
	export OCULAR_MODE=opcodes OCULAR_MAIN=1 PYTHONHASHSEED="${PYTHONHASHSEED-0}"
	export PYTHONPATH="$hook${PYTHONPATH:+:$PYTHONPATH}"
	set -- -- "$python" "$@"
	for setting in numbered=1 $(own_module ocular.ranges emulated 2>/dev/null); do
		set -- -s "$setting" "$@"
	done
	become "$parts/bin/ocular-qemu" -q -o "$recording" -s branch=1 -s noretcomp=1 "$@"
}

stat() {
	parse "$stat_options" "$@"
	shift "$took"
	take_python "$@"
	shift "$took"
	find_script "$@"
	[ -z "$script" ] || { shift && set -- "$script" "$@"; }
	[ $# -gt 0 ] || usage_error "nothing to count: name a program"
	[ -x "$parts/bin/ocular-qemu" ] || die "$(not_built)"
	check_python
	decoder=libipt opcodes=${opcodes:-calls:20}
	then_report count "$@"
}
