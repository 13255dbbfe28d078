# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# report - repair the recording if it was cut off, then let stock perf decode it through the plugin, or
# ocular-pt without perf.

# What is handed on as it is: options that name a file to write, then others.
report_files="
	perfetto
	summary
	html
	events
	pstats
	collapsed
	flamegraph
	speedscope
	callgrind
	pypylog
"
report_others="
	loops
	opcodes
	counts
	time
	iterations
	min_duration
	max_size
"

report_options="--decoder:decoder --bridges:bridges! -q:silent! --quiet:silent!" decoder='' bridges='' silent=''
for option in $report_files $report_others; do
	eval "$option="
	report_options="$report_options --$(echo "$option" | tr _ -):$option"
done

report_help() {
	cat <<'END'
usage: ocular report [options] [DIR]

  DIR                 a recording (default ocular.data)
  --perfetto FILE     write a trace for https://ui.perfetto.dev: protobuf if FILE ends in .pftrace (a fraction
                      of the size), else JSON; compressed if it ends in .gz
  --iterations HOW    trips of loops in that trace: instants (default), slices or none
  --min-duration T    leave slices shorter than T out of it: 500ns, 10us, 2ms, 1s
  --max-size N        its size at most, as 200M: what comes later is left out, and counted in it
  --summary FILE      write functions, loops and losses as JSON
  --html FILE         write the report as one page for a browser, with source and distributions
  --events FILE       write one line for each decoded event
  --pstats FILE       write call counts, times and callers for pstats.Stats, as cProfile counts them
  --collapsed FILE    write folded stacks with their ns, for flamegraph.pl and others; also --flamegraph FILE
  --speedscope FILE   write each thread's call tree for https://www.speedscope.app
  --callgrind FILE    write costs by line, in mode precise by instruction, for KCachegrind
  --pypylog FILE      write when each thread entered and left which loop, as a PYPYLOG
  --bridges           tell which ways trips took through the bodies of loops, where modes precise and full
                      recorded it: console, summary, PYPYLOG
  --loops N           take the N hottest loops apart (default 5)
  --opcodes SORT[:RESTRICT]...  tables of opcodes and of what follows what: whole program, hottest loops
                      and functions, console and summary. SORT: time, calls, percall or name; RESTRICT
                      as pstats takes it: a number of rows, a share of them (0.1), a regular expression
  --counts N          events of each kind, of the N code objects with most
  --time FROM,TO      only this span, in seconds of perf's clock; either end may be left out
  --decoder D         perf (default, but for mode opcodes); libipt: ocular-pt, which reads the packets itself,
                      without perf and faster; both: report through perf, then compare the two event by event
  -q, --quiet         no console report

  ocular report
  ocular report fib.data --perfetto fib.json --summary fib.summary.json
  ocular report --html fib.html
  ocular report precise.data --opcodes time:20 --counts 10
  ocular report precise.data --opcodes calls:LOAD_
  ocular report --perfetto fib.pftrace --min-duration 1us --max-size 500M
  ocular report --events - | less

'-' as FILE is standard output, and takes the place of the console report. A recording that was cut
off is repaired first, and that is said. Exit status: 0 complete, 1 failed, 2 wrong usage.
END
}

# perf reads past the end of a file shorter than its header says, so this comes before perf.
check_recording() {
	case $recording in -*) recording=./$recording ;; esac
	[ -e "$recording" ] || die "no recording '$recording'"
	file=$recording
	[ ! -d "$recording" ] || file=$recording/perf.data
	[ -f "$file" ] || die "'$recording' is no recording: it has no perf.data"
	[ -r "$file" ] || die "cannot read '$file'"
	if [ -w "$file" ]; then dry=''; else dry=-n; fi
	fsck=0
	"$parts/bin/ocular-fsck" $dry "$file" || fsck=$?
	case $dry:$fsck in
	*:0 | :1) ;;
	-n:1) die "'$file' needs a repair but cannot be written: copy the recording" ;;
	*) exit 1 ;;
	esac
}

# Of branches perf tells the plugin neither what was lost nor how returns were recorded (docs/limits.md).
choose_decoder() {
	[ -z "$decoder" ] || return 0
	decoder=perf
	has '"mode":"opcodes"' || return 0
	decoder=libipt
	[ -n "$silent" ] || warn "mode opcodes: read by ocular-pt, which knows of all losses (--decoder perf: by perf)"
}

need_perf() {
	command -v perf >/dev/null || die "no perf here; see: ocular check, or use --decoder libipt"
}

# Everything that can be wrong before there is a recording.
ready_to_report() {
	case $decoder in
	'' | perf | libipt | both) ;;
	*) usage_error "--decoder is perf, libipt or both" ;;
	esac
	for part in perf/ocular.so bin/ocular-pt; do
		[ -e "$parts/$part" ] || die "$part is not built yet: run make in $(dirname "$here")"
	done
	case $decoder in perf | both) need_perf ;; esac
}

check_report() {
	ready_to_report
	check_recording
	choose_decoder
	[ "$decoder" = libipt ] || need_perf
}

# The console is shown unless it is unwanted or another sink has standard output.
console() {
	shown=always
	for option in $report_files; do
		eval "[ \"\$$option\" != - ]" || shown=never
	done
	[ -z "$silent" ] || shown=never
	echo $shown
}

# What both decoders are asked for, KEY=VALUE...
report_now() {
	set -- "console=$(console)"
	for option in $report_files $report_others; do
		eval "value=\$$option"
		[ -z "$value" ] || set -- "$@" "$option=$value"
	done
	[ -z "$bridges" ] || set -- "$@" bridges=yes
	case $decoder in
	libipt) "$parts/bin/ocular-pt" "$@" "$file" ;;
	perf) by_perf "$@" ;;
	both) by_perf "$@" && compare ;;
	esac
}

# Do the recording's code tables say so?
has() {
	grep -qs "$1" "$(dirname "$file")"/codes-*.jsonl
}

# perf's own exit status says nothing about the plugin, which therefore writes its verdict to
# descriptor 9; descriptor 8 keeps our standard output while the verdict is caught. --time goes to
# perf as well, which then skips what is outside without decoding it.
by_perf() {
	for key in "$@"; do
		set -- "$@" --dlarg "$key"
		shift
	done
	# Mode opcodes: where each TIP packet leads, without a walk over the code (docs/opcodes.md). Where a frame
	# stands in the window follows from all that ran before it: perf must not skip that.
	if has '"mode":"opcodes"'; then
		itrace=qi1iwpe
	else
		[ -z "$time" ] || set -- "$@" --time "$time"
		# Executed PTWRITEs are told without such a walk, too; only emulated ones are in the branches.
		itrace=we
		if has '"backend":"ptwrite"' && ! has '"backend":"emulated"'; then itrace=qwe; fi
	fi
	exec 8>&1
	status=0
	verdict=$(perf --no-pager script -f -i "$file" --itrace=$itrace --dlfilter "$parts/perf/ocular.so" \
		--dlarg status=9 "$@" 9>&1 >&8 8>&-) || status=$?
	case $status:$verdict in
	0:ok) return 0 ;;
	141:*) return 141 ;; # the reader of our output went away
	*:error:*) ;; # the plugin has said why
	*) warn "perf ended before the report was complete (exit status $status)" ;;
	esac
	return 1
}

# Both decoders' events side by side, through pipes: their text may be larger than any disk.
compare() {
	pipes=$(mktemp -d) || exit 1
	trap 'rm -r "$pipes"' EXIT
	mkfifo "$pipes/perf" "$pipes/ocular-pt" || exit 1
	set -- console=never events=- "time=${time:-,}"
	by_perf "$@" >"$pipes/perf" &
	"$parts/bin/ocular-pt" "$@" "$file" >"$pipes/ocular-pt" &
	same=0
	(cd "$pipes" && cmp perf ocular-pt) >&2 || same=$?
	wait
	[ "$same" = 0 ] || die "the two decoders tell different events"
	echo "perf and ocular-pt tell the same events" >&2
}

report() {
	recording=
	while [ $# -gt 0 ]; do
		parse "$report_options" "$@"
		shift "$took"
		[ $# -gt 0 ] || break
		[ -z "$recording" ] || usage_error "one recording at a time, not also '$1'"
		recording=$1
		shift
	done
	recording=${recording:-ocular.data}
	check_report
	report_now
}
