# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# diff - two recordings of one program: their summaries, made as report makes them, compared by
# ocular-diff.

diff_table() {
	cat <<'END'
--fail-over	P	fail_over	-	exit with 1 if iterations of a loop or calls of a function got slower by more than P per cent
--share	P	share	-	ignore what takes less than P per cent of the time (default 1)
--all	-	all!	-	show what differs within the noise, is the same, or is in one of them only, too
--rows	N	rows	-	rows of a table (default 20)
--markdown	-	markdown!	-	for a comment on a pull request: the three lines that matter first
--html	FILE	html	file	write a page to look at: flame graph, distributions, source that changed
--json	-	json!	-	for programs (docs/diff.md)
--decoder	perf|libipt	decoder	-	libipt (default, but where only perf can read all of a recording) or perf
END
}
table_options diff_table
diff_options=$options

for option in fail_over share rows all markdown html json; do eval "$option="; done

diff_help() {
	cat <<'END'
usage: ocular diff [options] A B

  A, B                recordings of the same program, packed or not, or summaries of them (report --summary A.json)
END
	table_help diff_table
	cat <<'END'

  ocular diff before.data after.data
  ocular diff before.json after.data --fail-over 2%
  ocular diff before.data after.data --markdown | gh pr comment -F -
  ocular diff before.data after.data --html diff.html

A difference counts when it is larger than 4 standard errors of it; what is smaller is called noise.
Exit status: 0, 1 slower than --fail-over allows, 2 wrong usage or bad input.
END
}

# summary_of WHAT FILE NAME: sets $json to the summary of WHAT, made as FILE if WHAT is a recording, called NAME while it is read. A file is a summary, unless
# it has a recording's name (--switch-output: perf.data.TIMESTAMP; ocular pack: NAME.ocular).
summary_of() {
	json=$1
	case ${1##*/} in
	perf.data | perf.data.[0-9]* | *.ocular) ;;
	*) [ ! -f "$1" ] || return 0 ;;
	esac
	json=$2
	( # report's options are its own: some have the names of diff's
		for option in $report_files $report_others $report_flags; do eval "$option="; done
		recording=$1 silent=1 summary=$2 for_diff=$as_html one_of=$3
		check_report && report_now
	) >&2 || exit 2
}

diff() {
	a='' b='' decoder='' as_json='' as_html=
	while [ $# -gt 0 ]; do
		parse "$diff_options" "$@"
		shift "$took"
		[ $# -gt 0 ] || break
		[ -z "$b" ] || usage_error "two recordings at a time, not also '$1'"
		if [ -z "$a" ]; then a=$1; else b=$1; fi
		shift
	done
	[ -n "$b" ] || usage_error "two recordings, please"
	as_json=$json as_html=$html
	made=$(mktemp -d) || exit 2
	trap 'rm -rf "$made"' EXIT
	summary_of "$a" "$made/a.json" A
	a_json=$json
	summary_of "$b" "$made/b.json" B
	set -- --name-a "$a" --name-b "$b" "$a_json" "$json"
	[ -z "$fail_over" ] || set -- --fail-over "$fail_over" "$@"
	[ -z "$share" ] || set -- --share "$share" "$@"
	[ -z "$rows" ] || set -- --rows "$rows" "$@"
	[ -z "$all" ] || set -- --all "$@"
	[ -z "$markdown" ] || set -- --markdown "$@"
	[ -z "$as_html" ] || set -- --html "$as_html" "$@"
	[ -z "$as_json" ] || set -- --json "$@"
	"$parts/bin/ocular-diff" "$@"
}
