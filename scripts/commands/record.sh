# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# record - run a program by plain python, with the tracing hook first on PYTHONPATH, under ocular-record.

record_options="-o:recording --output:recording --mode:mode --include:include+ --exclude:exclude+ \
--python:python --backend:backend --ring-records:ring_records --wait-ms:wait_ms --pt-buffer:pt_buffer --set:settings@ \
--no-filter:no_filter! --flight:flight --trigger:calls@ --trigger-exception:exceptions@ --trigger-lag:lag \
--trigger-symbol:symbols@ --max-snapshots:max_snapshots --duty:duty --duty-window:duty_window \
--switch-output:switches@ --switch-max-files:switch_files \
--max-size:record_most --keep-last:keep_last --until-exit:until -q:quiet! --quiet:quiet!"

recording=ocular.data mode=adaptive include='' exclude='' python=${PYTHON:-python3} backend=auto
ring_records='' wait_ms='' pt_buffer='' no_filter='' quiet='' flight='' max_snapshots=''
calls='' exceptions='' lag='' symbols='' settings='' duty='' duty_window='' switches='' switch_files='' record_most='' until='' keep_last=''

record_help() {
	cat <<'END'
usage: ocular record [options] [--] app.py [args] | -m module [args] | -c code [args]

  -o, --output DIR    the recording (default ocular.data; an older one becomes DIR.old)
  --mode MODE         calls     functions, generators, coroutines
                      adaptive  calls and loop iterations (default)
                      lines     calls and lines
                      precise   calls and every instruction
                      opcodes   every instruction as it ran, specialised, from the processor's branches
                                (backend ptwrite; see also: ocular stat)
                      full      every event of sys.monitoring
  --include PATTERN   trace only this: a module or package (json.decoder), or, with a slash or .py,
  --exclude PATTERN   a pattern of file names ('*/site-packages/*'); both may be repeated
  --python PYTHON     the interpreter (default: $PYTHON, else python3)
  --backend BACKEND   ptwrite   PTWRITE instructions in an Intel PT trace by perf record
                      emulated  the same by branches: Intel PT without PTWRITE
                      software  rings, any x86-64
                      qemu      PTWRITE on an emulated processor: exact, repeatable counts; 25 times slower
                      auto      (default) the first of the first three that can be had here; says which and why
  --ring-records N    size of a thread's ring, in markers
  --wait-ms N         how long a thread waits for room in its ring before it drops and counts
  --flight LENGTH     keep only snapshots: the last LENGTH (10ms, 2s; or a size a thread: 4M) before
                      ocular.take_snapshot(), SIGUSR2 to the recorder, or a process that dies
  --trigger FUNCTION  take one when it is called, or when a call took longer, with the values of names:
                      'pkg.mod:Class.method', 'pkg.mod:f(size, self) > 50ms', 'app/*.py:f'
  --trigger-exception TYPE   when one is raised: ValueError, pkg.mod:Error; subclasses too
  --trigger-lag TIME  when an asyncio callback takes, or a thread waits to run, longer than 20ms
  --trigger-symbol S  when a thread comes to a C function: libc.so.6:fsync (hardware breakpoint)
  --max-snapshots N   no more than so many (default 100)
  --duty PERCENT      trace in short windows that make up that share of the time (5%), evenly spaced; between
                      them the program runs as if untraced
  --duty-window TIME  length of one (default 100ms)
  --switch-output WHEN   go on in a new perf.data when it has that size (100M), that age (10m, 1h), or on
                      SIGUSR2 (signal); the older ones are perf.data.TIMESTAMP beside it
  --switch-max-files N   keep only the newest N of them
  --max-size SIZE     stop recording, not the program, at that size (500M, 20G, none); default: a tenth of the
                      free disk, at most 4G
  --keep-last SIZE    keep only the end of the recording, so much of it (from 1M on)
  --until-exit WHAT   main: record until the program has ended; all (default): and all that it started
  --set NAME=N        how the processor of --backend qemu traces (ocular-qemu --help); may be repeated
  --no-filter         mode opcodes: record all branches, not only those of the interpreter's evaluation function
  --pt-buffer SIZE    perf's trace buffer for each CPU (default: what your rights allow, up to 16M)
  -q, --quiet         no progress and no closing line

  ocular record -o fib.data --mode calls fib.py 27
  ocular record --include myapp -- -m myapp serve --port 8000
  ocular record --flight 50ms --mode calls -- -m http.server
  ocular record --duty 5% -- -m myapp serve --port 8000
  ocular record --backend qemu --set branch=1 app.py
  ocular record --python python3.13 -- -c 'print(sum(range(10**6)))'

Output, signals and exit status are those of the program.
END
}

# 'record -- python3.13 app.py' names the interpreter where others name the program.
take_python() {
	took=0
	first=${1-}
	case ${first##*/} in
	python | python3 | python3.*) command -v "$1" >/dev/null && python=$1 took=1 ;;
	esac
}

# Where there is an interpreter with the extension, for messages.
pythons_with_extension() {
	"$here/find-pythons" 2>/dev/null | while read -r each; do
		! traced_by "$each" || echo "$each"
	done
}

advise_python() {
	others=$(pythons_with_extension | paste -sd' ' -)
	warn "$1"
	[ -z "$others" ] || warn "these can be traced (--python or \$PYTHON): $others"
	exit 1
}

# Three words, of any Python that ever was: implementation, version, suffix of extensions or "old". Without
# site, so that nothing of the user's runs but the program; probe.py says how to run a Python without the current folder.
about_python() { "$python" -ES "$here/probe.py" </dev/null 2>/dev/null || :; }

# traced_by PYTHON: is there an extension for it? Leaves its $name, $version and $suffix.
traced_by() {
	read -r name version suffix <<END
$(python=$1 && about_python)
END
	[ "$name" = cpython ] && [ -e "$parts/python/ocular/_core$suffix" ]
}

# own_module MODULE ARGS: becomes a module of the package, isolated from the current folder and what is on PYTHONPATH.
own_module() {
	exec "$python" -I -c 'import sys
sys.path.insert(0, sys.argv.pop(1))
import runpy
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)' "$parts/python" "$@"
}

# The interpreter must be able to load the extension; better to say so than to record nothing.
check_python() {
	command -v "$python" >/dev/null || advise_python "no interpreter '$python': name one with --python or \$PYTHON"
	! traced_by "$python" || return 0
	case $name:$suffix in
	*:) die "'$python' does not run as a Python" ;;
	cpython:old) advise_python "$python is Python $version; tracing needs CPython 3.12 or newer" ;;
	cpython:*) ;;
	*) advise_python "$python is $name $version; tracing needs CPython" ;;
	esac
	advise_python "no extension for $python (Python $version); $(how_to_build)"
}

# How there would be an extension for $python.
how_to_build() {
	if "$python" -ES "$here/probe.py" --to-build 2>/dev/null </dev/null | grep -q '^unfit its headers'; then
		printf "its headers are not installed (package python%s-dev or python3-devel); then " "${version%.*}"
	fi
	set -- "$(command -v "$python")"
	if [ "$parts" = "$here" ]; then
		echo "build it: make install PYTHON=$1 in Ocular's sources"
	else
		echo "build it: make -C '$(dirname "$here")' PYTHON=$1"
	fi
}

# perf keeps the last bytes, whatever time they are of, and has no triggers but 'ocular snapshot'.
check_flight_of_pt() {
	pt_flight_bytes >/dev/null ||
		usage_error "--flight with --backend $backend takes a size (64K, 4M), not a time: $flight"
	[ -z "$calls$exceptions$lag$symbols$max_snapshots" ] ||
		usage_error "triggers are for --backend software; with $backend: ocular snapshot, or SIGUSR2 to perf"
	export OCULAR_FLIGHT=1
}

check_mode() {
	case $mode in
	calls | adaptive | lines | precise | opcodes | full) ;;
	*) usage_error "no mode '$mode': calls, adaptive, lines, precise, opcodes or full" ;;
	esac
	[ -n "$flight" ] || [ -z "$calls$exceptions$lag$symbols" ] || usage_error "triggers need --flight"
	case $backend in
	auto | software) ;;
	ptwrite | emulated | qemu)
		[ -z "$flight" ] || check_flight_of_pt
		[ -z "$duty$duty_window" ] || usage_error "--duty is for --backend software"
		[ -z "$switches$switch_files" ] || usage_error "--switch-output is for --backend software"
		[ -z "$record_most$until$keep_last" ] || usage_error "--max-size, --keep-last and --until-exit are for --backend software"
		;;
	*) usage_error "no backend '$backend': auto, ptwrite, emulated, software or qemu" ;;
	esac
	[ "$backend" = qemu ] || [ -z "$settings" ] || usage_error "--set is for --backend qemu"
}

# What the program's own process watches for, a line each: kind and value.
triggers() {
	[ -z "$calls" ] || printf '%s\n' "$calls" | sed 's/^/call /'
	[ -z "$exceptions" ] || printf '%s\n' "$exceptions" | sed 's/^/exception /'
	[ -z "$lag" ] || echo "lag $lag"
}

# Likewise, on an emulated processor, which says itself what it lacks. Of two settings the later one counts.
start_emulator() {
	set -- -- "$@"
	while [ -n "$settings" ]; do
		set -- -s "${settings##*"$newline"}" "$@"
		case $settings in *"$newline"*) settings=${settings%"$newline"*} ;; *) settings='' ;; esac
	done
	[ "$mode" != opcodes ] || set -- -s branch=1 -s noretcomp=1 -s "cyc_thresh=$pt_thresh" "$@"
	for range in $(pt_ranges 8); do # as many as it takes
		set -- -s "filter=$range" "$@"
	done
	[ -z "$flight" ] || set -- -s "snapshot=$(pt_flight_bytes)" "$@"
	exec "$parts/bin/ocular-qemu" -o "$recording" ${quiet:+-q} "$@"
}

# Does not return: the recorder takes this process's place, so that signals and status are its own.
start_recorder() {
	asked=$backend
	[ "$backend" = qemu ] || pt_choose
	[ "$asked" != auto ] || [ -n "$quiet" ] || warn "backend $backend: $why"
	export OCULAR_MODE="$mode" OCULAR_INCLUDE="$include" OCULAR_EXCLUDE="$exclude"
	export OCULAR_BACKEND="$backend" OCULAR_MAIN=1
	export PYTHONPATH="$parts/python/hook${PYTHONPATH:+:$PYTHONPATH}"
	[ "$backend" != qemu ] || start_emulator "$python" "$@"
	[ "$backend" = software ] || pt_record "$python" "$@"
	OCULAR_TRIGGER=$(triggers)
	export OCULAR_TRIGGER
	set -- -- "$python" "$@"
	while [ -n "$symbols" ]; do
		set -- --trigger-symbol "${symbols%%"$newline"*}" "$@"
		case $symbols in *"$newline"*) symbols=${symbols#*"$newline"} ;; *) symbols='' ;; esac
	done
	while [ -n "$switches" ]; do
		set -- --switch-output "${switches%%"$newline"*}" "$@"
		case $switches in *"$newline"*) switches=${switches#*"$newline"} ;; *) switches='' ;; esac
	done
	exec "$parts/bin/ocular-record" -o "$recording" ${ring_records:+--ring-records "$ring_records"} \
		${wait_ms:+--wait-ms "$wait_ms"} ${flight:+--flight "$flight"} \
		${max_snapshots:+--max-snapshots "$max_snapshots"} ${duty:+--duty "$duty"} \
		${duty_window:+--duty-window "$duty_window"} \
		${switch_files:+--switch-max-files "$switch_files"} ${record_most:+--max-size "$record_most"} \
		${keep_last:+--keep-last "$keep_last"} ${until:+--until-exit "$until"} ${quiet:+-q} "$@"
}

# Everything that can be wrong before the program starts.
ready_to_record() {
	[ $# -gt 0 ] || usage_error "nothing to record: name a program"
	[ -x "$parts/bin/ocular-record" ] || die "not built yet: run make in $(dirname "$here")"
	check_mode
	check_python
}

record() {
	parse "$record_options" "$@"
	shift "$took"
	take_python "$@"
	shift "$took"
	ready_to_record "$@"
	start_recorder "$@"
}
