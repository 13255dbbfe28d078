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

  DIR                 a recording (default ocular.data), or what ocular pack made of one
END
	table_help view_table
	cat <<'END'

  ocular view
  ocular view --perfetto fib.data
  ocular view --perfetto --no-browser

The page (DIR/report.html) and the trace (DIR/trace.pftrace) are made if they are missing or older than the recording; those
of a packed one are beside it: FILE.report.html, FILE.trace.pftrace.
Perfetto runs in the browser and fetches the trace from http://127.0.0.1:9001, where this serves it under a random path until
it has been fetched, at most for a minute. Nothing leaves this machine. From another machine: ssh -L 9001:127.0.0.1:9001, and
--no-browser. Exit status: 0 opened or printed, and the trace fetched; 1 failed; 2 wrong usage.
END
}

# make_view KEY: in $views, unless it is there, and newer than the recording.
make_view() {
	[ -z "$(find "$views" -newer "$made_of" 2>/dev/null)" ] || return 0
	folder=.
	case $views in */*) folder=${views%/*} ;; esac
	[ -w "${folder:-/}" ] || die "cannot write into $folder; write it elsewhere: ocular report $named --$1 FILE"
	by_best console=never "$1=$views" || exit
}

# show_view KIND ARGS: the process becomes what shows it.
show_view() {
	drop_unpacked
	own_module ocular.view "$@" ${silently:+no-browser}
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
	named=$recording
	case $ui in '' | http://?* | https://?*) ;; *) usage_error "--ui is a URL, not '$ui'" ;; esac
	command -v "$python" >/dev/null || die "there is no $python to open a browser with: set PYTHON, or open the file that ocular report --html FILE writes"
	check_report
	made_of=$file views=./
	case $file in */*) views=${file%/*}/ ;; esac
	[ -z "$unpacked" ] || made_of=$named views=$named.
	case $views in -*) views=./$views ;; esac
	if [ -n "$timeline" ]; then
		views=${views}trace.pftrace
		make_view perfetto
		show_view trace "$views" "${ui:-https://ui.perfetto.dev}"
	else
		views=${views}report.html
		make_view html
		show_view page "$views" -
	fi
}
