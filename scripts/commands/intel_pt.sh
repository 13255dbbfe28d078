# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# intel_pt - what this machine's Intel PT can record for this user, and the perf record that does it.
#
# The kernel's folder of the PMU says what the processor has (caps/, from CPUID leaf 14H) and which terms
# an event may have (format/). Tests replace it and /proc by their own folders.

pmu=${OCULAR_PT_PMU:-/sys/bus/event_source/devices/intel_pt}
proc=${OCULAR_PROC:-/proc}

pt_cap() { [ -r "$pmu/caps/$1" ] && read -r cap <"$pmu/caps/$1" && [ "$cap" = 1 ]; }
pt_term() { [ -e "$pmu/format/$1" ]; }
cpu_flag() { grep -q "^flags.* $1\\( \\|\$\\)" "$proc/cpuinfo" 2>/dev/null; }

is_intel() {
	[ -r "$proc/cpuinfo" ] || return 1
	while read -r key rest; do
		case $key:$rest in
		vendor_id:*GenuineIntel*) return 0 ;;
		vendor_id:*) return 1 ;;
		esac
	done <"$proc/cpuinfo"
	return 1
}

# Why there is no Intel PT to record with; nothing if there is.
pt_lack() {
	[ ! -d "$pmu" ] || return 0
	if ! is_intel; then
		echo "not an Intel processor"
	elif cpu_flag hypervisor; then
		echo "this is a virtual machine and its host does not expose it"
	elif cpu_flag intel_pt; then
		echo "the processor has Intel PT, but the kernel has no driver for it, or a hypervisor uses it"
	else
		echo "this processor has no Intel PT"
	fi
}

# Has this process capability number $1 of linux/capability.h?
has_capability() {
	set -- "$1" "$(sed -n 's/^CapEff:[[:space:]]*//p' "$proc/self/status" 2>/dev/null)"
	[ $((0x${2:-0} >> $1 & 1)) = 1 ]
}
CAP_IPC_LOCK=14 CAP_SYS_ADMIN=21 CAP_PERFMON=38

pt_privileged() {
	has_capability $CAP_PERFMON || has_capability $CAP_SYS_ADMIN || [ "$(paranoid)" -le -1 ]
}
paranoid() { cat "$proc/sys/kernel/perf_event_paranoid" 2>/dev/null || echo 2; }

# Up to 2 users may record their own programs; some distributions have 3 and 4, which forbid it.
pt_forbidden() {
	if [ "$(paranoid)" -gt 2 ] && ! pt_privileged; then
		echo "perf_event_paranoid is $(paranoid), which forbids perf record: sudo sysctl kernel.perf_event_paranoid=2"
	elif [ "$(pt_aux_kib)" -lt 64 ]; then
		echo "memory for perf is limited to $(pt_budget_kib) KiB a CPU: sudo sysctl kernel.perf_event_mlock_kb=1024, or raise ulimit -l"
	elif ! command -v perf >/dev/null; then
		echo "perf is not installed"
	fi
}

# What perf may map for each CPU, in KiB: perf_event_mlock_kb, and a CPU's share of what this process may
# lock, unless there is no limit (kernel/events/core.c, perf_mmap).
pt_budget_kib() {
	cpus=$(grep -c '^processor' "$proc/cpuinfo" 2>/dev/null) || cpus=1
	locked=$(sed -n 's/^Max locked memory *\([^ ]*\).*/\1/p' "$proc/self/limits" 2>/dev/null)
	if [ "$locked" = unlimited ] || has_capability $CAP_IPC_LOCK || [ "$(paranoid)" -le -1 ]; then
		echo 1048576
	else
		each=$(cat "$proc/sys/kernel/perf_event_mlock_kb" 2>/dev/null || echo 516)
		echo $((each + ${locked:-65536} / 1024 / cpus))
	fi
}

# The trace buffer of each CPU in KiB: the larger, the longer perf may take to write it to disk. There are
# another 128 KiB (and a page) for records.
pt_data_kib=128
pt_aux_kib() {
	aux=16384 room=$(($(pt_budget_kib) - pt_data_kib - 4))
	while [ $aux -gt $room ] && [ $aux -gt 1 ]; do aux=$((aux / 2)); done
	echo $aux
}

# Mode opcodes has some eight packets an opcode: a CYC only when 2^(N-1) cycles have passed (docs/opcodes.md).
pt_thresh=10

# Can the processor do that? One bit for each N (CPUID leaf 14H, subleaf 1, EBX).
pt_can_thresh() {
	pt_term cyc_thresh && [ $((0x$(cat "$pmu/caps/cycle_thresholds" 2>/dev/null || echo 0) >> pt_thresh & 1)) = 1 ]
}

# The event. CYC if possible: without it most markers share a time with their neighbours. PTWRITE needs no
# branches, and without them perf needs none of the program's files; emulated PTWRITE is branches.
pt_event() {
	set -- "$1" ''
	! pt_cap psb_cyc || ! pt_term cyc || set -- "$1" cyc,
	case $1:${mode-} in
	ptwrite:opcodes)
		[ -z "$2" ] || ! pt_can_thresh || set -- "$1" "cyc,cyc_thresh=$pt_thresh,"
		set -- "ptw,$2branch=1,noretcomp=1"
		;;
	ptwrite:*) set -- "ptw,$2branch=0" ;;
	*) set -- "$2" ;;
	esac
	echo "intel_pt/${1%,}/u"
}

# How many address ranges the processor can filter by: the kernel's figure (nr_addr_filters), else CPUID's.
pt_most_ranges() {
	cat "$pmu/nr_addr_filters" 2>/dev/null || echo $((0x$(cat "$pmu/caps/num_address_ranges" 2>/dev/null || echo 0)))
}

# Mode opcodes: all parts of the evaluation function, and the extension with its PTWRITEs, one a line; $1: the maximum
# number. Nothing if they are not known, or do not fit. Filters cannot have names with blanks or commas.
pt_ranges() {
	[ "$mode" = opcodes ] && [ -z "$no_filter" ] || return 0
	found=$(own_module ocular.ranges ${1+"$1"} 2>/dev/null) || return 0
	case $found in *[\ ,]*) ;; *) echo "$found" ;; esac
}

# The same in the form of perf's --filter: perf-record(1), "address filters".
pt_filter() {
	between=''
	for range in $(pt_ranges "$(pt_most_ranges)"); do
		printf '%sfilter %s' "$between" "$range"
		between=', '
	done
}

# Each hybrid part's cores by their PMU: cpu_atom are E-cores, whose trace overflows when PTWRITEs come in
# bursts.
pt_hybrid() {
	cores=$(cat "${pmu%/*}/cpu_core/cpus" 2>/dev/null) || return 0
	[ ! -r "${pmu%/*}/cpu_atom/cpus" ] ||
		echo "E-cores lose markers when they come in bursts; keep to the P-cores: taskset -c $cores"
}

# Why backend $1 is not possible here, or nothing.
pt_obstacle() {
	set -- "$1" "$(pt_lack)"
	if [ -n "$passed" ]; then
		echo "$passed needs rings (backend software)"
	elif [ -n "$2" ]; then
		echo "no Intel PT: $2"
	elif [ "$1" = ptwrite ] && ! pt_cap ptwrite; then
		echo "this processor has no PTWRITE; use --backend emulated"
	else
		pt_forbidden
	fi
}

# Sets $backend, which may be auto, and $why. A backend asked for by name is used or refused, never replaced.
pt_choose() {
	case $backend in
	auto) pt_best ;;
	software) why='asked for' ;;
	*)
		why=$(pt_obstacle "$backend")
		[ -z "$why" ] || die "no backend $backend here: $why"
		;;
	esac
}

pt_best() {
	if pt_cap ptwrite; then
		backend=ptwrite good='Intel PT with PTWRITE'
	else
		backend=emulated good='Intel PT without PTWRITE: branches stand for it'
	fi
	why=$(pt_obstacle "$backend")
	[ -n "$why" ] || [ -z "$flight" ] || why='--flight uses rings unless a backend is named'
	[ -z "$why" ] || backend=software
	why=${why:-$good}
}

# A flight recorder's length in bytes: 4096, 64K, 4M. Fails if it is not a size, such as a time.
pt_flight_bytes() {
	case $flight in
	*K) set -- "${flight%K}" 1024 ;;
	*M) set -- "${flight%M}" 1048576 ;;
	*) set -- "$flight" 1 ;;
	esac
	case $1 in '' | 0* | *[!0-9]* | ????????????*) return 1 ;; esac
	echo $(($1 * $2))
}

# The KiB of each CPU's buffer, which holds a snapshot: perf wants a power of two pages.
pt_flight_kib() {
	kib=4
	while [ $((kib * 1024)) -lt "$1" ]; do kib=$((kib * 2)); done
	echo $kib
}

# Options of perf for --flight. It takes a snapshot by SIGUSR2, by 'ocular snapshot' through the FIFO, and at the end.
pt_flight() {
	bytes=$(pt_flight_bytes) most=$(pt_aux_kib)
	if [ -z "$pt_buffer" ]; then
		pt_buffer=$(pt_flight_kib "$bytes")
		[ "$pt_buffer" -le "$most" ] || die "--flight $flight: more than the ${most}K that perf's buffers may hold (--pt-buffer)"
		pt_buffer=${pt_buffer}K
	fi
	pt_snapshots="--snapshot=e$bytes"
	pt_control="fifo:$OCULAR_DIR/.ocular.ctl"
}

# Does not return: perf takes this process's place and ends as the program does.
pt_record() {
	# shellcheck disable=SC2086 # two words or none
	"$parts/bin/ocular-record" -o "$recording" --folder ${flight:+--tied $$} || exit 1
	OCULAR_DIR=$(cd "$recording" && pwd -P)
	export OCULAR_DIR
	hybrid=$(pt_hybrid)
	[ -z "$hybrid" ] || warn "$hybrid"
	pt_snapshots='' pt_control=''
	filter=$(pt_filter)
	[ -z "$flight" ] || pt_flight
	become_recorder "$(command -v perf)" record ${quiet:+-q} -m "${pt_data_kib}K,${pt_buffer:-$(pt_aux_kib)K}" -e "$(pt_event "$backend")" \
		${filter:+--filter "$filter"} ${pt_snapshots:+"$pt_snapshots"} ${pt_control:+--control "$pt_control"} -o "$OCULAR_DIR/perf.data" -- "$@"
}
