#!/bin/sh
# Every folder here is one trace: events.txt through every sink must give what lies beside it.
#
#   args          further arguments of ocular-feed
#   codes-*.jsonl code tables
#   perfetto.json console.txt summary.json    what is expected
#   objects.tsv pstats.txt report.html collapsed.txt speedscope.json callgrind.out pypylog.txt firefox.json
#                 what else a case expects, if it is there
#   filtered.txt  the events that come out, where they are not those that went in
#
# test_golden.sh [-u] [CASE...]: all cases, or these. -u writes what comes out as what is expected: to be read before it
# is committed.
set -u
unset COLUMNS
here=$(dirname "$0")
feed=${OCULAR_BUILD:-$here/../../build}/bin/ocular-feed
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
update=false
[ "${1:-}" = -u ] && update=true && shift
number=0
optional='objects.tsv pstats.txt report.html collapsed.txt speedscope.json callgrind.out pypylog.txt firefox.json'

# check NAME STATUS: one line of TAP; what differs was left in $out/diff.
check()
{
	number=$((number + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		sed 's/^/# /' "$out/diff"
	fi
}

# compare CASE EXPECTED: $out/EXPECTED against the case's own.
compare()
{
	$update && cp "$out/$2" "$here/$1/$2"
	diff -u "$here/$1/$2" "$out/$2" >"$out/diff" 2>&1
	check "$1 $2" $?
}

# The report fits a terminal.
check_width()
{
	awk 'length > 80 { print FILENAME ": " length ": " $0; wide = 1 } END { exit wide }' "$out/console.txt" >"$out/diff"
	check "$1 console is 80 columns wide" $?
}

# So does what it begins with: the tables of functions and loops.
check_first_screen()
{
	awk '/^(No loops|Shares are of the)/ { end = NR - 1; exit } /^Functions by waiting|^Events  / { end = end ? end : NR - 2 }
		END { if (end > 24) print FILENAME ": " end " lines"; exit end > 24 }' "$out/console.txt" >"$out/diff"
	check "$1 console's first screen has 24 lines" $?
}

# The events come out as they went in, but for comments, and with all twelve columns.
compare_events()
{
	expected=$here/$1/filtered.txt
	[ -e "$expected" ] || expected=$here/$1/events.txt
	awk -F'\t' 'NR == 1 { print } !/^#/ { for (i = NF; i < 12; i++) $0 = $0 "\t"; print }' "$expected" >"$out/input"
	expected=$out/input
	diff -u "$expected" "$out/events" >"$out/diff" 2>&1
	check "$1 events" $?
}

run_case()
{
	set -- "$1" "$here/$1/events.txt" "perfetto=$out/perfetto.json" "summary=$out/summary.json" "events=$out/events" \
		"pstats=$out/pstats" "html=$out/page.html" "collapsed=$out/collapsed.txt" \
		"speedscope=$out/speedscope.json" "callgrind=$out/callgrind.out" "pypylog=$out/pypylog.txt" "objects=$out/objects.tsv" \
		"firefox=$out/firefox.json"
	case=$1 events=$2
	shift 2
	[ -n "$(ls "$here/$case"/codes-*.jsonl 2>/dev/null)" ] && set -- "$@" "codes=$here/$case"
	[ -e "$here/$case/args" ] && set -- "$@" "$(cat "$here/$case/args")"
	rm -f "$out"/*
	"$feed" "$@" console=always color=never "$events" >"$out/console.txt" 2>"$out/diff"
	check "$case is analysed" $?
	[ ! -e "$here/$case/pstats.txt" ] || python3 "$here/pstats.py" "$out/pstats" >"$out/pstats.txt"
	# The page without what only makes it look well, and without what moves in it (tests/viewers/test_page.py).
	sed "/^<style>\$/,/^<\/style>\$/d; /<script>\"use strict\";\$/,/<\/script>\$/d; s/sha256-[^']*/sha256-HASH/" \
		"$out/page.html" >"$out/report.html"
	for expected in perfetto.json console.txt summary.json; do
		compare "$case" "$expected"
	done
	for expected in $optional; do
		[ ! -e "$here/$case/$expected" ] || compare "$case" "$expected"
	done
	check_width "$case"
	check_first_screen "$case"
	compare_events "$case"
}

if [ $# -eq 0 ]; then
	for case in "$here"/*/; do
		set -- "$@" "$(basename "$case")"
	done
fi
for case; do
	run_case "$case"
done
echo "1..$number"
