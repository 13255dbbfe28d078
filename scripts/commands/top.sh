# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# top - what a program does in this second, on the whole screen; helper-ext/ocular/top.py draws it.

# Its options are those of record, for a program or a process that is not recorded yet.
top_table() { record_table; }

top_help() {
	cat <<'END'
usage: ocular top [options of record] [DIR | PID | [--] app.py [args] | -m … | -c …]

  DIR                 a recording that is being written (default ocular.data), or a finished one, packed or not
  PID                 a process that is already running: attaches to it, and lets go of it at q
  app.py              a program, which ends at q; what it writes is shown then

  ocular top
  ocular top 4711
  ocular top -- app.py --size 10
  ocular top --include shop -o shop.data -- -m shop serve

What it does in each second: functions, loops, threads, processes, tasks, waits and garbage collections, in exact numbers
of that second and since the start. Keys: q quits, Tab and 1 to 8 choose a table, < and > the column to sort by, / filters,
Enter shows who calls a function, ? lists all keys. With -o the recording is kept, for ocular report; without, its last
gigabyte is on disk ($TMPDIR, else /var/tmp) until q. Without a terminal: ocular report --follow.
END
}

# is_recording PATH: or the perf.data in one, or a packed one.
is_recording() { is_packed "$1" || [ -f "$1/perf.data" ] || { [ -d "$1" ] && [ ! -f "$1/__main__.py" ]; } || [ "${1##*/}" = perf.data ]; }

# Sets $kind: of the recording $target, the process $target, or what else it may be: a program. $1: a word of its own.
kind_of_target() {
	kind=run
	case $1:$target in
	0:* | *:-*) ;;
	*:*[!0-9]*)
		! is_recording "$target" || kind=dir
		[ -e "$target" ] || [ $kind = dir ] || command -v "$target" >/dev/null || die "no recording, process or program '$target'"
		;;
	*) kind=pid ;;
	esac
}

# Of what is recorded in another way nothing can be followed.
check_top() {
	case $backend in auto | software) ;; *) usage_error "top is for --backend software, not $backend" ;; esac
	case $passed in *--switch-output*) usage_error "top cannot follow --switch-output: use --keep-last" ;; esac
	[ -z "$flight" ] || usage_error "top cannot follow a flight recorder: leave out --flight"
}

# Shows a recording that is there. $1: how many words of options there were.
check_top_of_recording() {
	[ "$1" = 0 ] || usage_error "options are for what is not recorded yet; '$target' is a recording"
	recording=$target follow=
	take_packed
	follow=1
	check_recording
}

top() {
	recording='' alone=0
	parse "$record_options" "$@"
	check_top
	[ $# -gt 0 ] || set -- ocular.data
	[ $# -gt "$took" ] || usage_error "nothing to show: name a program, a process or a recording"
	eval "target=\${$((took + 1))} before=\${$took}"
	[ $# -gt $((took + 1)) ] || [ "$before" = -- ] || alone=1
	kind_of_target $alone
	[ $kind != dir ] || check_top_of_recording "$took"
	own_python
	[ -n "$unpacked" ] || own_module ocular.top "$kind" "$own" "$recording" "$took" "$@"
	(own_module ocular.top "$kind" "$own" "$recording" "$took" "$@")
}
