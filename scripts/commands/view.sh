# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# view - make the page or the trace of a recording, unless there is a current one, and open it in the browser.

# view's options, in the form of record_table.
view_table() {
	cat <<'END'
--perfetto	-	timeline!	-	the time line in Perfetto, not the report as a page
--no-browser	-	silently!	-	print the link and open nothing
--ui	URL	ui	-	another Perfetto than https://ui.perfetto.dev
END
}

table_options view_table
view_options=$options

view_help() {
	cat <<'END'
usage: ocular view [options] [DIR]

  DIR                 a recording (default ocular.data)
END
	table_help view_table
	cat <<'END'

  ocular view
  ocular view --perfetto fib.data
  ocular view --perfetto --no-browser

The page (DIR/report.html) and the trace (DIR/trace.pftrace) are made if they are missing or older than the recording.
Perfetto runs in the browser and fetches the trace from http://127.0.0.1:9001, where this serves it under a random path until
it has been fetched, at most for a minute. Nothing leaves this machine. From another machine: ssh -L 9001:127.0.0.1:9001, and
--no-browser. Exit status: 0 opened or printed, and the trace fetched; 1 failed; 2 wrong usage.
END
}

# make_view KEY FILE: unless it is there, and newer than the recording.
make_view() {
	[ -z "$(find "$2" -newer "$file" 2>/dev/null)" ] || return 0
	[ -w "$folder" ] || die "cannot write into $folder; write it elsewhere: ocular report $recording --$1 FILE"
	by_best console=never "$1=$2" || exit
}

view() {
	recording='' timeline='' silently='' ui=''
	while [ $# -gt 0 ]; do
		parse "$view_options" "$@"
		shift "$took"
		[ $# -gt 0 ] || break
		[ -z "$recording" ] || usage_error "one recording at a time, not also '$1'"
		recording=$1
		shift
	done
	recording=${recording:-ocular.data} python=${PYTHON:-$own}
	case $ui in '' | http://?* | https://?*) ;; *) usage_error "--ui is a URL, not '$ui'" ;; esac
	command -v "$python" >/dev/null || die "there is no $python to open a browser with: set PYTHON, or open the file that ocular report --html FILE writes"
	check_report
	folder=.
	case $file in */*) folder=${file%/*} ;; esac
	if [ -n "$timeline" ]; then
		make_view perfetto "$folder/trace.pftrace"
		own_module ocular.view trace "$folder/trace.pftrace" "${ui:-https://ui.perfetto.dev}" ${silently:+no-browser}
	else
		make_view html "$folder/report.html"
		own_module ocular.view page "$folder/report.html" - ${silently:+no-browser}
	fi
}
