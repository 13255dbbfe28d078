# shellcheck shell=sh disable=SC2034 # the tests use what is set here
# tap.sh - TAP for shell tests: ok NAME COMMAND…, then done_testing. Sourced; makes and removes $scratch.
number=0 failures=0
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${OCULAR_BUILD:-$root/build}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ocular test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

ok() {
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$scratch/said" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name ($*)"
		head -n 20 "$scratch/said" | sed 's/^/# /'
		failures=$((failures + 1))
	fi
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# says STATUS PATTERN COMMAND…: it ends with that status, and prints a line that matches.
says() {
	status=$1 pattern=$2
	shift 2
	got=0
	output=$("$@" 2>&1 </dev/null) || got=$?
	printf 'exit status %s, said:\n%s\n' "$got" "$output"
	[ "$got" = "$status" ] && printf '%s\n' "$output" | grep -q -e "$pattern"
}

# silent COMMAND…: it succeeds and prints nothing.
silent() {
	output=$("$@" 2>&1 </dev/null) && printf '%s\n' "$output" && [ -z "$output" ]
}

done_testing() {
	echo "1..$number"
	[ $failures -eq 0 ]
}
