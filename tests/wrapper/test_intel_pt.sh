#!/bin/sh
# The road by perf record, on machines that are not this one: folders that say what their kernels say, and
# a perf that notes how it was called and runs the program.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
ocular=$root/scripts/ocular
PYTHON=$("$root/scripts/find-pythons" | head -n 1)
catch=$build/tests/ptwrite-catch.so
cd "$scratch" || exit 1
here=$PWD
export PYTHON HERE="$here"

mkdir bin
cat >bin/perf <<'END'
#!/bin/sh
[ "$1" = record ] || exit 99
echo "$*" >"$HERE/args"
ls -l "$OCULAR_DIR/.ocular.ctl" >"$HERE/control" 2>&1
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
END
chmod +x bin/perf
stock=$PATH
PATH=$here/bin:$PATH

# machine NAME CAPS TERMS: a PMU with these caps and format terms; none where CAPS is "-".
machine() {
	mkdir -p "$1/pmu" "$1/proc/self" "$1/proc/sys/kernel"
	if [ "$2" != - ]; then
		mkdir -p "$1/pmu/intel_pt/caps" "$1/pmu/intel_pt/format"
		for cap in $2; do echo 1 >"$1/pmu/intel_pt/caps/$cap"; done
		for term in $3; do echo "config:0" >"$1/pmu/intel_pt/format/$term"; done
		echo 8 >"$1/pmu/intel_pt/type"
	fi
	printf 'processor: %s\nvendor_id: GenuineIntel\nflags\t\t: fpu %s \n' 0 "${4-intel_pt}" >"$1/proc/cpuinfo"
	printf 'processor: %s\n' 1 2 3 >>"$1/proc/cpuinfo"
	rights "$1" 2 0 65536
}

# rights NAME PARANOID CAPABILITIES(hex) LOCKED(bytes)
rights() {
	echo "$2" >"$1/proc/sys/kernel/perf_event_paranoid"
	echo 516 >"$1/proc/sys/kernel/perf_event_mlock_kb"
	echo "CapEff:	$3" >"$1/proc/self/status"
	echo "Max locked memory         $4              $4              bytes" >"$1/proc/self/limits"
}

# on MACHINE ARGS…: ocular there. It has no CPUID of its own, so PTWRITE is caught.
on() {
	rm -f args
	OCULAR_PT_PMU=$here/$1/pmu/intel_pt OCULAR_PROC=$here/$1/proc
	export OCULAR_PT_PMU OCULAR_PROC
	shift
	LD_PRELOAD=$catch PTWRITE_CATCH=$here/words "$ocular" "$@"
}

# perf_got PATTERN MACHINE ARGS…: the program ran under a perf called so.
perf_got() {
	pattern=$1
	shift
	on "$@" >out 2>&1
	cat out args
	grep -q '^ran$' out && grep -q -e "$pattern" args
}

no_perf() { on "$@" && [ ! -e args ]; }

all="psb_cyc mtc ptwrite"
terms="cyc mtc tsc ptw branch fup_on_ptw psb_period"
machine new "$all" "$terms"
machine skylake "psb_cyc mtc" "cyc mtc tsc branch"
machine broadwell "" "tsc noretcomp"
machine amd - - fpu
sed -i 's/GenuineIntel/AuthenticAMD/' amd/proc/cpuinfo
machine guest - - 'hypervisor intel_pt'
machine held - - intel_pt
machine old - - fpu
machine hybrid "$all" "$terms"
mkdir hybrid/pmu/cpu_core hybrid/pmu/cpu_atom
echo 0-7 >hybrid/pmu/cpu_core/cpus
echo 8-15 >hybrid/pmu/cpu_atom/cpus
program="print('ran')"

# --- the event, the buffers, the folder ---
ok "PTWRITE: its packets, no branches" perf_got ' -e intel_pt/ptw,cyc,branch=0/u ' new record -o r -c "$program"
ok "the code tables and the trace are in one folder" test -e r/codes-*.jsonl
ok "the program was traced by PTWRITE" grep -q '"backend":"ptwrite"' r/codes-*.jsonl
ok "perf writes there" grep -q -e "-o $here/r/perf.data -- " args
ok "without PTWRITE: branches" perf_got ' -e intel_pt/cyc/u ' skylake record -o r1 -c "$program"
ok "the program was traced by branches" grep -q '"backend":"emulated"' r1/codes-*.jsonl
ok "no CYC where there is none" perf_got ' -e intel_pt//u ' broadwell record -c "$program"
ok "emulated by name where PTWRITE is" perf_got ' -e intel_pt/cyc/u ' new record --backend emulated -c "$program"
ok "an ordinary user's buffers" perf_got ' -m 128K,256K ' new record -c "$program"
rights new 2 0 unlimited
ok "where memory may be locked" perf_got ' -m 128K,16384K ' new record -c "$program"
rights new 2 0 8388608
ok "a share of what may be locked" perf_got ' -m 128K,2048K ' new record -c "$program"
rights new 4 0000004000004000 65536
ok "root: CAP_PERFMON and CAP_IPC_LOCK" perf_got ' -m 128K,16384K ' new record -c "$program"
rights new -1 0 65536
ok "perf_event_paranoid -1" perf_got ' -m 128K,16384K ' new record -c "$program"
rights new 2 0 65536
ok "a buffer by option" perf_got ' -m 128K,1M ' new record --pt-buffer 1M -c "$program"
ok "quietly" perf_got '^record -q ' new record -q -c "$program"
ok "the program's exit status" says 7 '' on new record -q -c 'raise SystemExit(7)'

# --- mode opcodes: as many address ranges as the processor has ---
# ranges N MACHINE ARGS…: perf was called with so many, with addresses in the interpreter and the extension.
ranges() {
	wanted=$1
	shift
	on "$@" >out 2>&1
	cat out args
	[ "$(grep -o 'filter 0x[0-9a-f]*/0x[0-9a-f]*@/[^ ,]*' args | wc -l)" = "$wanted" ]
}
opcodes="record --mode opcodes --backend ptwrite"
machine ranges "$all" "$terms noretcomp"
# shellcheck disable=SC2086 # words
{
	ok "no ranges: no filter" ranges 0 ranges $opcodes -c "$program"
	echo 2 >ranges/pmu/intel_pt/caps/num_address_ranges
	ok "two, by the caps" ranges 2 ranges $opcodes -c "$program"
	ok "behind the event" grep -q -e '-e intel_pt/ptw,cyc.*,branch=1,noretcomp=1/u --filter filter 0x' args
	ok "one is of the extension" grep -q '@[^ ]*/ocular/_core[^ ]*\.so' args
	echo 1 >ranges/pmu/intel_pt/nr_addr_filters
	ok "one is not enough for two files" ranges 0 ranges $opcodes -c "$program"
	echo 4 >ranges/pmu/intel_pt/nr_addr_filters
	echo 3ff >ranges/pmu/intel_pt/caps/cycle_thresholds
	echo config:19-22 >ranges/pmu/intel_pt/format/cyc_thresh
	on ranges $opcodes -c "$program" >/dev/null
	ok "no threshold of CYC that the processor does not have" grep -q -e 'ptw,cyc,branch' args
	echo ffff >ranges/pmu/intel_pt/caps/cycle_thresholds
	ok "none by option" ranges 0 ranges $opcodes --no-filter -c "$program"
	ok "none in other modes" ranges 0 ranges record --backend ptwrite -c "$program"
	on ranges $opcodes -c "$program" >/dev/null
	ok "a CYC when enough cycles have passed" grep -q -e '-e intel_pt/ptw,cyc,cyc_thresh=10,branch=1,noretcomp=1/u ' args
}
filter=$(sed 's/.*--filter \(.*\) -o .*/\1/' args)

# --- what stock perf makes of the events, on a machine with such a PMU as far as perf can see ---
# config CONFIG EVENT: perf asks the kernel for it, which of course has no such PMU.
config() {
	PATH=$stock unshare -rm sh "$here/there" "$here/stock" "$2" >out 2>&1
	grep -m 1 "^  config" out
	grep -m 1 "^  config" out | grep -q " $1\$"
}
# filters FILTER: perf understands each part of it as it is meant; what it asks of the kernel it says with -vv.
filters() {
	PATH=$stock unshare -rm sh "$here/there" "$here/stock" intel_pt/ptw,branch=1/u --filter "$1" >out 2>&1
	grep -i filter out
	echo "$1" | tr ',' '\n' | sed 's/^ *//' >wanted
	grep -q filter wanted && while read -r part; do
		grep 'Address filter: ' out | grep -q -F "$part" || return 1
	done <wanted
}
cat >there <<'END'
mount --bind "$1" /sys/bus/event_source/devices && perf record -vv -e "$2" ${3:+"$3" "$4"} -o /dev/null true
END
mkdir -p stock/intel_pt/caps stock/intel_pt/format
if unshare -rm mount --bind "$here/stock" /sys/bus/event_source/devices 2>/dev/null; then
	cp -R /sys/bus/event_source/devices/software stock/ 2>/dev/null
	echo 8 >stock/intel_pt/type
	for cap in $all; do echo 1 >"stock/intel_pt/caps/$cap"; done
	echo 249 >stock/intel_pt/caps/mtc_periods && echo 3f >stock/intel_pt/caps/psb_periods
	while read -r term bits; do echo "config:$bits" >"stock/intel_pt/format/$term"; done <<'END'
pt 0
cyc 1
fup_on_ptw 5
mtc 9
tsc 10
noretcomp 11
ptw 12
branch 13
mtc_period 14-17
cyc_thresh 19-22
psb_period 24-27
END
	# bits: pt, cyc, mtc, tsc, ptw; mtc_period and psb_period 3; mode opcodes: cyc_thresh 10, noretcomp, branch
	ok "stock perf: PTWRITE" config 0x300d603 intel_pt/ptw,cyc,branch=0/u
	ok "stock perf: branches, CYC" config 0x300e603 intel_pt/cyc/u
	ok "stock perf: branches" config 0x300e601 intel_pt//u
	echo ffff >stock/intel_pt/caps/cycle_thresholds
	ok "stock perf: mode opcodes" config 0x350fe03 intel_pt/ptw,cyc,cyc_thresh=10,branch=1,noretcomp=1/u
	echo 4 >stock/intel_pt/nr_addr_filters
	ok "stock perf: the filters of mode opcodes" filters "$filter"
else
	skip "stock perf makes of the events what is meant" "no mount namespaces here"
fi

# --- which, and why ---
ok "auto says which and why: PTWRITE" says 0 'backend ptwrite: Intel PT with PTWRITE' on new record -c "$program"
ok "auto: branches" says 0 'backend emulated: Intel PT without PTWRITE' on skylake record -c "$program"
ok "auto: rings" says 0 'backend software: no Intel PT: not an Intel processor' on amd record -c "$program"
ok "auto says nothing with -q" says 0 '^ran$' on new record -q -c "$program"
ok "software by name" no_perf new record --backend software -c "$program"
ok "a guest is told so" says 1 'no backend ptwrite here: no Intel PT: this is a virtual machine' on guest record --backend ptwrite -c 1
ok "a kernel without the driver" says 1 'the kernel has no driver' on held record --backend ptwrite -c 1
ok "an old processor" says 1 'this processor has no Intel PT' on old record --backend emulated -c 1
ok "no PTWRITE: the other way is named" says 1 'use --backend emulated' on skylake record --backend ptwrite -c 1

# --- a flight recorder: perf's snapshots ---
ok "flight: perf's snapshots, the last one at the end" \
	perf_got " -m 128K,128K -e .* --snapshot=e100000 --control fifo:$here/fly/.ocular.ctl -o $here/fly/perf.data " \
	new record --backend ptwrite --flight 100000 -o fly -c "$program"
ok "it reads what 'ocular snapshot' writes" grep -q '^prw-------' control
gone() {
	for _ in $(seq 600); do [ -e "$1" ] || return 0; sleep 0.1; done
	return 1
}
ok "the FIFO goes with perf" gone fly/.ocular.ctl
ok "the code table says that most is overwritten" grep -q '"flight":true' fly/codes-*.jsonl
ok "flight by branches" perf_got ' -m 128K,64K .* --snapshot=e65536 ' skylake record --backend emulated --flight 64K -c "$program"
ok "flight in a buffer by option" perf_got ' -m 128K,1M .* --snapshot=e65536 ' \
	new record --backend ptwrite --flight 64K --pt-buffer 1M -c "$program"
ok "no flight record of a time" says 2 'takes a size (64K, 4M), not a time: 10ms' on new record --flight 10ms --backend ptwrite -c 1
ok "no triggers" says 2 'triggers are for --backend software' \
	on new record --flight 64K --trigger m:f --backend ptwrite -c 1
ok "no more than may be locked" says 1 'more than the 256K that perf' on new record --flight 4M --backend ptwrite -c 1
ok "a flight recorder is of rings unless a backend is named" says 0 'backend software: --flight uses rings' \
	on new record --flight 10ms -o rings -c "$program"

# Stock perf takes a snapshot as 'ocular snapshot' asks for one; here of nothing, for want of Intel PT.
listens() {
	mkdir -p ctl && rm -f ctl/.ocular.ctl && mkfifo ctl/.ocular.ctl
	# shellcheck disable=SC2016 # $0 and $1 are the inner shell's
	PATH=$stock timeout 60 perf record -v -e cpu-clock --control "fifo:$here/ctl/.ocular.ctl" -o /dev/null \
		sh -c 'until "$0" snapshot ctl "a label"; do sleep 0.1; done; until grep -q "$1" out; do sleep 0.1; done' \
		"$ocular" "$1" >out 2>&1
	grep -q "$1" out
}
ok "stock perf hears 'ocular snapshot'" listens 'is snapshot'
ok "no such backend" says 2 "unknown backend 'magic'" on new record --backend magic -c 1
ok "E-cores" says 0 'taskset -c 0-7' on hybrid record -c "$program"

# --- check ---
ok "check: PTWRITE" says 0 'good  *Intel PT  *PTWRITE, exact core cycles' on new check
ok "check: who may, and how much" says 0 'good  *rights  *perf record may (perf_event_paranoid 2), with 256 KiB' on new check
ok "check: what auto takes" says 0 'good  *backend  *ptwrite (chosen by auto: Intel PT with PTWRITE)' on new check
ok "check: branches" says 0 'good  *Intel PT  *no PTWRITE: branches' on skylake check
ok "check: no CYC" says 0 'coarse times (no CYC)' on broadwell check
ok "check: none" says 0 'note  *Intel PT  *none: this is a virtual machine' on guest check
ok "check: E-cores" says 0 'note  *cores  *E-cores .* taskset -c 0-7' on hybrid check

# --- what stands in the way ---
rights new 3 0 65536
ok "perf_event_paranoid: what to do" says 1 'sysctl kernel.perf_event_paranoid=2' on new record --backend ptwrite -c 1
ok "check says so" says 0 'note  *rights  *perf_event_paranoid is 3' on new check
ok "auto takes rings then, and says why" says 0 'backend software: perf_event_paranoid is 3' on new record -c "$program"
rights new 3 0000004000000000 65536
ok "CAP_PERFMON is enough" perf_got intel_pt/ptw new record --backend ptwrite -c "$program"
rights new 2 0 0
echo 64 >new/proc/sys/kernel/perf_event_mlock_kb
ok "memory: what to do" says 1 'kernel.perf_event_mlock_kb=' on new record --backend ptwrite -c 1
rights new 2 0 65536
mkdir foreign && touch foreign/file
ok "a folder of something else" says 1 'something other than a recording' on new record -o foreign -c 1
ok "the old recording is kept" test -e r/../ocular.data.old
done_testing
