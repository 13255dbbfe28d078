# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# report - repair the recording if it was cut off, then let ocular-pt read it, or stock perf through the plugin.

# report's options, in the form of record_table: those of $parts/options, which ocular-pt wrote (key, value, kind, file
# patterns, help) and which are passed on unchanged, and three more.
report_table() {
	awk -F'\t' -v OFS='\t' '{
		name = key = $1
		gsub(/_/, "-", name)
		gsub(/\\n/, "\n\t", $5)
		print "--" name, $3 == "flag" ? "-" : $2, key ($3 == "flag" ? "!" : $3 == "list" ? "+" : ""), $3, $5
	}' "$parts/options" 2>/dev/null
	cat <<'END'
--decoder	perf|libipt|both	decoder	-	libipt: ocular-pt, which reads the packets itself, without perf and faster (default; perf where only
	perf can read all of a recording); both: report through perf, then compare the two event by event
-q --quiet	-	silent!	-	no console report
END
	push_table
}

decoder='' silent='' follow='' one_of='' # what is read, where others are, too
for option in $report_files $report_others $report_flags; do eval "$option=''"; done

report_help() {
	cat <<'END'
usage: ocular report [options] [DIR]

  DIR                 a recording (default ocular.data), or what ocular pack made of one
END
	table_help report_table
	cat <<'END'

  ocular report
  ocular report fib.data --perfetto fib.json --summary fib.summary.json
  ocular report --html fib.html
  ocular report precise.data --opcodes time:20 --counts 10
  ocular report precise.data --opcodes calls:LOAD_
  ocular report precise.data --opcodes chains:3
  ocular report --perfetto fib.pftrace --min-duration 1us --max-size 500M
  ocular report --function search --loops 3
  ocular report --task 'handle_*' --exclude asyncio
  ocular report --events - | less
  ocular report --otlp http://localhost:4318
  ocular report --pprof https://pyroscope.example.com --push-header @token.txt
  ocular report --follow | jq -c '[.time_ns, .events, .functions[0].qualname]'

'-' as FILE is standard output, and takes the place of the console report. A recording that was cut
off is repaired first, and that is said. What a receiver does not take stays in a file, which is named ($OCULAR_PUSH_HEADERS:
headers for each receiver, as --push-header has them). Exit status: 0 complete, 1 failed, 2 wrong usage.
END
}

# A recorder that was started just now makes its folder, and then the file in it.
await_recording() {
	looks=0
	until [ -f "$recording" ] || [ -f "$recording/perf.data" ] || [ $((looks += 1)) -gt 100 ]; do
		[ $looks -ne 20 ] || warn "waiting for a recorder to begin '$recording'"
		sleep 0.1
	done
}

is_packed() { [ -f "$1" ] && case $1 in *.ocular) ;; *) false ;; esac }

# A packed recording becomes a folder for as long as it is read; what is missing of a damaged one has been told then.
take_packed() {
	is_packed "$recording" || return 0
	[ -z "$follow" ] || usage_error "--follow is for a recording that is being written; '$recording' is packed"
	[ -x "$parts/bin/ocular-pack" ] || die "bin/ocular-pack: $(not_built)"
	unpacked=$(mktemp -d "${TMPDIR:-/var/tmp}/ocular.XXXXXX" 2>/dev/null || mktemp -d) || exit 1 # some have no /var/tmp
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap drop_unpacked EXIT
	"$parts/bin/ocular-pack" unpack -q "$recording" "$unpacked/data" || [ $? = 3 ] || exit 1
	recording=$unpacked/data
	[ -f "$recording/perf.data" ] || exit 1
}
unpacked=''
drop_unpacked() {
	[ -z "$unpacked" ] || rm -rf "$unpacked"
	unpacked=''
}

# perf reads past the end of a file shorter than its header says, so this comes before perf.
check_recording() {
	case $recording in -*) recording=./$recording ;; esac
	named=$recording
	take_packed
	[ -e "$recording" ] || die "no recording '$recording': make one with ocular record"
	file=$recording
	[ ! -d "$recording" ] || file=$recording/perf.data
	[ -f "$file" ] || die "'$recording' is not a recording: it has no perf.data"
	[ -r "$file" ] || die "cannot read '$file'"
	if [ -w "$file" ]; then dry=''; else dry=-n; fi
	[ -z "$follow" ] || return 0 # it is being written: nothing is to be repaired
	fsck=0
	"$parts/bin/ocular-fsck" $dry "$file" || fsck=$?
	case $dry:$fsck in
	*:0 | :1) ;;
	-n:1) die "'$file' needs repair but cannot be written: repair a copy of the recording" ;;
	*) exit 1 ;;
	esac
}

need_perf() {
	command -v perf >/dev/null || die "perf is not installed: see ocular check, or use --decoder libipt"
	[ -e "$parts/perf/ocular.so" ] || die "perf/ocular.so: $(not_built)"
}

# Everything that can be wrong before there is a recording.
ready_to_report() {
	case $decoder in
	'' | perf | libipt | both) ;;
	*) usage_error "--decoder is perf, libipt or both" ;;
	esac
	case $follow:$decoder in *:perf | *:both) [ -z "$follow" ] || usage_error "--follow reads with libipt" ;; esac
	[ -e "$parts/bin/ocular-pt" ] || die "bin/ocular-pt: $(not_built)"
	case $decoder in perf | both) need_perf ;; esac
	check_push
}

check_report() {
	ready_to_report
	check_recording
}

# The arguments for both decoders, KEY=VALUE... The console report is shown unless it is switched off or another sink has
# standard output.
report_now() {
	name_pushed
	set -- "console=${silent:+never}"
	for option in $report_files; do
		eval "[ \"\$$option\" != - ]" || set -- console=never
	done
	[ -z "$follow" ] || set -- console=never
	[ "$1" != console= ] || set -- console=always
	for option in $report_files $report_others; do
		eval "value=\$$option"
		[ -z "$value" ] || set -- "$@" "$option=$value"
	done
	for option in $report_flags; do
		eval "value=\$$option"
		[ -z "$value" ] || set -- "$@" "$option=yes"
	done
	[ -z "$one_of" ] || set -- "$@" "progress_what=$one_of"
	[ -z "${OCULAR_PROGRESS_OF:-}" ] || set -- "$@" progress=always "progress_what=$OCULAR_PROGRESS_OF" # ocular fleet shows it
	case ${follow:+follow}$decoder in
	'') by_best "$@" ;;
	follow*) become "$parts/bin/ocular-pt" "$@" "$file" ;;
	libipt) "$parts/bin/ocular-pt" "$@" "$file" ;;
	perf) by_perf "$@" ;;
	both) by_perf "$@" && compare ;;
	esac && push_now
}

# ocular-pt knows which recordings perf must read (filter/pt/only_perf.c), and then says why and ends with 3.
by_best() {
	status=0
	"$parts/bin/ocular-pt" leave_to_perf=yes "$@" "$file" || status=$?
	[ $status = 3 ] || return $status
	need_perf
	by_perf "$@"
}

# Do the recording's code tables contain this?
has() {
	for table in "$(dirname "$file")"/codes-*.jsonl; do
		# Not a FIFO or a device, which grep would read for ever.
		if [ -f "$table" ] && grep -qs "$1" "$table"; then return 0; fi
	done
	return 1
}

# perf's own exit status says nothing about the plugin, which therefore writes its result to
# descriptor 9; descriptor 8 keeps our standard output while the result is read. A --time in perf's clock goes to
# perf as well, which then skips what is outside without decoding it.
by_perf() {
	for key in "$@"; do
		set -- "$@" --dlarg "$key"
		shift
	done
	# Mode opcodes: the target of each TIP packet, without a walk over the code (docs/opcodes.md). A frame's
	# place in the window follows from all that ran before: perf must not skip that.
	if has '"mode":"opcodes"'; then
		itrace=qi1iwpe
	else
		case $time in
		@*,@* | @*, | ,@*) set -- "$@" --time "$(printf %s "$time" | tr -d @)" ;;
		esac
		# Executed PTWRITEs need no such walk either; only emulated ones are in the branches.
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
	trap 'rm -r "$pipes" && drop_unpacked' EXIT
	mkfifo "$pipes/perf" "$pipes/ocular-pt" || exit 1
	set -- console=never events=- as_perf=yes "time=${time:-,}"
	by_perf "$@" >"$pipes/perf" &
	"$parts/bin/ocular-pt" "$@" "$file" >"$pipes/ocular-pt" &
	same=0
	(cd "$pipes" && cmp perf ocular-pt) >&2 || same=$?
	wait
	[ "$same" = 0 ] || die "the two decoders report different events"
	echo "perf and ocular-pt report the same events" >&2
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
	ready_to_report
	[ -z "$follow" ] || await_recording
	check_recording
	report_now
}
