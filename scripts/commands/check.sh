# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# check - what this machine can do, and what to install. Reads only.
#
# Every finding is a row: its state (good, note, lack), its subject, what was found. Only a lack keeps
# Ocular from recording or reporting here.

check_options=''

check_help() {
	cat <<'END'
usage: ocular check

Says what this machine can do (Intel PT, PTWRITE, perf, Pythons) and what to install. Changes nothing.
Exit status: 0 if it can record and report, 1 if not.
END
}

lacks=0
row() {
	colour=''
	case $1 in
	good) colour=32 ;;
	lack) colour=31 lacks=$((lacks + 1)) ;;
	esac
	if [ -n "$colour" ] && [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
		printf '  \033[%sm%-6s\033[0m %-10s %s\n' "$colour" "$1" "$2" "$3"
	else
		printf '  %-6s %-10s %s\n' "$1" "$2" "$3"
	fi
}

check_processor() {
	case $(uname -sm) in
	'Linux x86_64') ;;
	*) row lack processor "$(uname -sm): Ocular traces on Linux x86-64" ;;
	esac
	model=$(sed -n 's/^model name[^:]*: //p' "$proc/cpuinfo" | head -n 1)
	if cpu_flag nonstop_tsc; then
		row good processor "$model, invariant TSC"
	else
		row note processor "$model, TSC not invariant: cycles and times may drift"
	fi
}

# Threads' events are put in order by these clocks alone (docs/numbers.md).
check_clocks() {
	[ -x "$parts/bin/ocular-record" ] || return 0
	if words=$("$parts/bin/ocular-record" --clocks 2>&1); then
		row good clocks "$words"
	else
		row note clocks "$words"
	fi
}

# Intel PT is never a lack: rings do not need it.
check_intel_pt() {
	lack=$(pt_lack)
	if [ -n "$lack" ]; then
		row note 'Intel PT' "none: $lack"
	else
		pt_cap psb_cyc && timing='exact core cycles (CYC)' || timing='coarse times (no CYC)'
		pt_cap ptwrite && writing='PTWRITE' || writing='no PTWRITE: branches stand for it'
		row good 'Intel PT' "$writing, $timing"
		check_right_to_record
	fi
	flight='' backend=auto
	pt_choose
	row good backend "$backend (chosen by auto: $why)"
}

check_right_to_record() {
	forbidden=$(pt_forbidden)
	if [ -n "$forbidden" ]; then
		row note rights "$forbidden"
	else
		row good rights "perf record may (perf_event_paranoid $(paranoid)), with $(pt_aux_kib) KiB of trace a CPU"
	fi
	hybrid=$(pt_hybrid)
	[ -z "$hybrid" ] || row note cores "$hybrid"
}

# Rings are recorded and read without perf.
perf_package() {
	case $(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null) in
	debian) echo "linux-perf" ;;
	ubuntu) echo "linux-tools-$(uname -r)" ;;
	*) echo "your distribution's package perf" ;;
	esac
}

check_perf() {
	if ! version=$(perf --version 2>/dev/null); then
		row note perf "none that runs on PATH: it would record with Intel PT and be a second decoder; install $(perf_package)"
	elif ! perf script -h 2>&1 | grep -q -e --dlfilter; then
		row note perf "$version has no --dlfilter, which --decoder perf needs (5.14 or newer)"
	elif ! perf --no-pager script -h 2>&1 | grep -q -e --itrace; then
		row note perf "$version was built without Intel PT decoding, which --decoder perf needs"
	else
		row good perf "$version, with --dlfilter"
	fi
}

# A part works if its libraries are there: perf loads the plugin to check, the programs are run.
check_parts() {
	for part in recorder:ocular-record repair:ocular-fsck decoder:ocular-pt; do
		kind=${part%:*} part=${part#*:}
		if [ ! -x "$parts/bin/$part" ]; then
			row lack "$kind" "$part is not built"
		elif problem=$("$parts/bin/$part" --help 2>&1 >/dev/null); then
			row good "$kind" "$parts/bin/$part"
		else
			row lack "$kind" "$part does not run: $problem"
		fi
	done
	if [ ! -e "$parts/perf/ocular.so" ]; then
		row note plugin "ocular.so is not built: --decoder perf needs it"
	elif perf script --list-dlfilters 2>/dev/null | grep -q '^ *ocular\.so '; then
		row good plugin "perf finds ocular.so from any folder"
	else
		row good plugin "$parts/perf/ocular.so"
	fi
}

check_pythons() {
	traced=0 other=''
	found=$("$here/find-pythons" 2>/dev/null || :)
	while read -r each; do
		[ -n "$each" ] || continue
		if traced_by "$each"; then
			row good Python "$version, extension built: $each" && traced=$((traced + 1)) && other=${other:-$each}
		else
			row note Python "$version, no extension: $each"
		fi
	done <<END
$found
END
	# find-pythons knows those that an extension can be built for: with headers.
	if [ $traced = 0 ] && command -v "$python" >/dev/null && traced_by "$python"; then
		row good Python "$version, extension built: $(command -v "$python")" && traced=1
	fi
	[ $traced -gt 0 ] || row lack Python "none with the extension"
	# What 'ocular run' would say of the default interpreter; if that works, none need be named.
	if default=$( (check_python) 2>&1); then
		other=''
	else
		row note Python "the default: $(echo "$default" | sed -n '1s/^ocular: //p')"
	fi
}

check_advice() {
	echo
	if [ $lacks -eq 0 ]; then
		echo "This machine can record and report: ocular run ${other:+--python $other }app.py"
		return 0
	fi
	echo "To do:"
	if [ -x "$here/setup" ]; then
		packages=$(cd "$(dirname "$here")" && scripts/setup --dry-run 2>&1) || :
		[ -z "$packages" ] || echo "  $packages"
		echo "  make -C '$(dirname "$here")'"
	else
		echo "  make demo in Ocular's sources sets up what is missing; then make install"
	fi
	return 1
}

check() {
	parse "$check_options" "$@"
	[ $# -eq 0 ] || usage_error "check takes no arguments"
	check_processor
	check_clocks
	check_intel_pt
	check_perf
	check_parts
	check_pythons
	check_advice
}
