# shellcheck shell=sh disable=SC2154 # sourced by scripts/ocular, which sets and reads variables
# run - record, then report.

run_help() {
	cat <<'END'
usage: ocular run [options of record] [options of report] [--] app.py [args] | -m … | -c …

  ocular run app.py args
  ocular run --mode lines --perfetto trace.json -- -m timeit '"-".join(map(str, range(100)))'

Records into ocular.data (or -o DIR), then reports. --max-size is that of the recording. -q silences the recorder only; the report is still
printed.
Ctrl-C ends the program; the report follows. SIGTERM and SIGHUP end 'ocular run' alone: send them to the
recorder or the program; 'ocular record' passes them on. Exit status: the program's; if that is 0, the report's.
END
}

# Has a Python run? One that could not be traced has said why, and ended with 125.
has_run() { [ "$1" != 125 ] || grep -qs '"kind": *"code"' -- "$recording"/codes-*.jsonl; }

# then_report RECORD [ARGS]: runs it and reports; the exit status is the program's or, if that is 0, the report's.
then_report() {
	ready_to_report
	ended=0 reported=0 data=$recording/perf.data
	case $data in -*) data=./$data ;; esac
	if [ -f "$data" ] && [ -r "$data" ]; then exec 7<"$data"; fi
	(exec 7<&- && "$@") || ended=$?
	# A recorder that starts makes a new file, one that refuses leaves the old one.
	# shellcheck disable=SC3013 # -ef: in every sh that Linux systems have
	[ -r "$data" ] && ! [ "$data" -ef /proc/self/fd/7 ] || exit $ended
	exec 7<&-
	[ ! -S "$recording/.ocular.sock" ] ||
		warn "the recorder was killed: the program goes on, but what it does from here on is not recorded"
	has_run $ended || exit $ended
	# shellcheck disable=SC2034 # the recording has nothing else
	include='' exclude=''
	(check_report && report_now) || reported=$?
	[ $ended -ne 0 ] || ended=$reported
	exit $ended
}

# Ctrl-C ends the program, not the report of what it did until then.
run() {
	own_events=' --events:fleet_events!' # report's is meant
	parse "${record_options%%"$own_events"*}${record_options#*"$own_events"} $report_options" "$@"
	shift "$took"
	take_python "$@"
	shift "$took"
	find_script "$@"
	[ -z "$script" ] || { shift && set -- "$script" "$@"; }
	ready_to_record "$@"
	trap : INT
	then_report start_recorder "$@"
}
