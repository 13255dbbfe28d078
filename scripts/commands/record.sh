# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# record - run a program by plain python, with the tracing hook first on PYTHONPATH, under ocular-record.

# helper-ext/ocular/options.py has the list of record's options, and describes its rows; these are made from it.
record_table() { cat "$parts/record-options" 2>/dev/null || :; }
modes() { cat "$parts/modes" 2>/dev/null || :; }
backends() { cat "$parts/backends" 2>/dev/null || :; }

for kind in $trigger_kinds $also_names; do eval "$kind=''"; done

recording=ocular.data mode=adaptive include='' exclude='' python=${PYTHON:-$own} backend=auto
pt_buffer='' no_filter='' quiet='' flight='' settings='' recorder='' passed='' fleet='' labels='' fleet_events=''

record_help() {
	cat <<'END'
usage: ocular record [options] [--] app.py [args] | -m module [args] | -c code [args]

END
	table_help record_table
	cat <<'END'

  ocular record -o fib.data --mode calls fib.py 27
  ocular record pytest tests/
  ocular record --include myapp -- -m myapp serve --port 8000
  ocular record --mode calls --c-calls app.py
  ocular record --native 999 app.py
  ocular record --flight 50ms --mode calls -- -m http.server
  ocular record --duty 5% -- -m myapp serve --port 8000
  ocular record --fleet runs --events --label release=1.4 -- -m myapp batch
  ocular record --backend qemu --set branch=1 app.py
  ocular record --python python3.13 -- -c 'print(sum(range(10**6)))'

Output, signals and exit status are those of the program.
END
}

# 'record -- python3.13 app.py' names the interpreter in place of the program.
take_python() {
	took=0
	first=${1-}
	case ${first##*/} in
	python | python3 | python3.*) command -v "$1" >/dev/null && python=$1 took=1 ;;
	esac
}

# 'record pytest' names a script on the PATH, where Python has no file of that name to run: $script. '': it does not.
find_script() {
	script=''
	case $took:${1-} in 0: | 0:-* | 0:*/* | [!0]*) return ;; esac
	[ ! -e "$1" ] || return 0
	found=$(PATH=$users_path && command -v "$1") || return 0
	case $found in /*) [ -r "$found" ] && IFS= read -r head <"$found" || return 0 ;; *) return 0 ;; esac
	case $head in '#!'*python*) script=$found ;; esac
}

# Interpreters with the extension, for messages.
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

# Three words, from a Python of any version: implementation, version, suffix of extensions or "old". Without
# site, so that no user code runs except the program; probe.py says how to run a Python without the current folder.
about_python() { "${1:-$python}" -ES "$here/probe.py" </dev/null 2>/dev/null || :; }

# traced_by PYTHON: is there an extension for it? Sets $name, $version and $suffix.
traced_by() {
	read -r name version suffix <<END
$(about_python "$1")
END
	case $suffix in
	*[0-9]t-*) version="$version, free-threaded" ;;
	esac
	[ "$name" = cpython ] && [ -e "$modules/ocular/_core$suffix" ]
}

# Is $python without doubt one with the extension? The one that pip installed this for is; and a program that is also called
# python3.N there, with the extension for CPython 3.N. All others are asked, which takes as long as Python takes to start.
# shellcheck disable=SC3013 # -ef: in every sh that Linux systems have
is_plain() {
	file=$python
	case $python in
	"$own") case $own in */*) return ;; esac ;;
	esac
	case $file in */*) ;; *) file=$(command -v "$file") ;; esac
	[ -f "$file" ] && [ -x "$file" ] && [ -r "$file" ] || return 1
	for built in "$modules"/ocular/_core.cpython-3*-*; do
		number=${built##*/_core.cpython-3} number=${number%%-*}
		if [ "$file" -ef "${file%/*}/python3.$number" ]; then
			IFS= read -r head <"$file" || return 1
			case $head in '#!'*) return 1 ;; *) return ;; esac # pyenv's are scripts
		fi
	done
	return 1
}

# The interpreter must be able to load the extension; an error is better than an empty recording.
check_python() {
	command -v "$python" >/dev/null || advise_python "no interpreter '$python': name one with --python or \$PYTHON"
	! is_plain || return 0
	! traced_by "$python" || return 0
	case $name:$suffix in
	*:) die "'$python' does not run as Python" ;;
	cpython:old) advise_python "$python is Python $version; tracing needs CPython 3.12 or newer" ;;
	cpython:*) ;;
	*) advise_python "$python is $name $version; tracing needs CPython" ;;
	esac
	advise_python "no extension for $python (Python $version); $(how_to_build)"
}

# How to get an extension for $python.
how_to_build() {
	if [ "$modules" = "$parts/python" ] && "$python" -ES "$here/probe.py" --to-build 2>/dev/null </dev/null | grep -q '^unfit its headers'; then
		printf "its headers are not installed (package python%s-dev or python3-devel); then " "${version%.*}"
	fi
	set -- "$(command -v "$python")"
	if [ "$modules" != "$parts/python" ]; then
		echo "install Ocular into it: $1 -m pip install ocular-trace"
	elif [ "$parts" = "$here" ]; then
		echo "build it: make install PYTHON=$1 in Ocular's sources"
	else
		echo "build it: make -C '$(dirname "$here")' PYTHON=$1"
	fi
}

# perf keeps the last bytes, not the last moments, and has no triggers but 'ocular snapshot'.
check_flight_of_pt() {
	pt_flight_bytes >/dev/null ||
		usage_error "--flight with --backend $backend takes a size (64K, 4M), not a time: $flight"
	[ -z "$triggers" ] ||
		usage_error "triggers are for --backend software; with $backend: ocular snapshot, or SIGUSR2 to perf"
	export OCULAR_FLIGHT=1
}

# check_one OPTION VALUE NAMES: it is one of these.
check_one() {
	case " $3 " in
	*" $2 "*) ;;
	*) usage_error "unknown $1 '$2': choose one of $3" ;;
	esac
}

check_mode() {
	check_one mode "$mode" "$mode_names"
	check_one backend "$backend" "$backend_names"
	take_also
	[ "$mode" != opcodes ] || [ -z "$also" ] || usage_error "mode opcodes records no more than it says: leave out --c-calls and --exceptions"
	take_triggers
	[ -n "$flight" ] || [ -z "$triggers" ] || usage_error "triggers need --flight"
	case $backend in
	ptwrite | emulated | qemu)
		[ -z "$flight" ] || check_flight_of_pt
		[ -z "$passed" ] || usage_error "$passed: for --backend software"
		;;
	esac
	[ -n "$fleet" ] || [ -z "$labels" ] || usage_error "--label needs --fleet"
	[ -n "$fleet" ] || [ -z "$fleet_events" ] || usage_error "--events needs --fleet (the events as text: ocular report --events)"
	[ "$backend" = qemu ] || [ -z "$settings" ] || usage_error "--set is for --backend qemu"
}

# Sets $triggers: one line each, kind and value.
take_triggers() {
	triggers=''
	for kind in $trigger_kinds; do
		eval "left=\$$kind"
		while [ -n "$left" ]; do
			triggers=${triggers:+$triggers$newline}"$kind ${left%%"$newline"*}"
			case $left in *"$newline"*) left=${left#*"$newline"} ;; *) left='' ;; esac
		done
	done
}

# Sets $also: what else than the mode's events is wanted.
take_also() {
	also=''
	for kind in $also_names; do
		eval "[ -z \"\$$kind\" ] || also=\"\$also \$kind\""
	done
}

# pick_one QUERY COMMAND...: the first word of the line that the user picks from the command's output: with fzf, or by
# number among the lines that contain QUERY.
pick_one() {
	query=$1
	shift
	[ -t 0 ] || usage_error "'?' picks a name on a terminal; here, write it"
	if command -v fzf >/dev/null; then
		"$@" | fzf --delimiter='	' --query="$query" | cut -f 1
		return
	fi
	found=$("$@" | grep -iF -e "$query") || :
	[ -n "$found" ] || die "no name contains '$query'"
	printf '%s\n' "$found" | head -n "$picks_most" | cut -f 1 | cat -n >&2
	[ "$(printf '%s\n' "$found" | wc -l)" -le "$picks_most" ] || echo "... and more: write part of the name after the '?'" >&2
	printf 'number: ' >&2
	read -r number
	case $number in '' | *[!0-9]*) return ;; esac
	printf '%s\n' "$found" | head -n "$picks_most" | sed -n "${number}p" | cut -f 1
}
picks_most=50

# pick_in LIST COMMAND...: sets $picked to the list, with each line '?QUERY' replaced by the name that was picked and
# what follows QUERY: '?search > 50ms', '?search(size)'.
pick_in() {
	left=$1 picked=''
	shift
	while [ -n "$left" ]; do
		line=${left%%"$newline"*}
		case $left in *"$newline"*) left=${left#*"$newline"} ;; *) left='' ;; esac
		case $line in
		\?*)
			query=${line#?} query=${query%%[(> ]*}
			name=$(pick_one "$query" "$@") || exit
			[ -n "$name" ] || exit 1
			line=$name${line#"?$query"}
			;;
		esac
		picked=${picked:+$picked$newline}$line
	done
}
own_lines() { (own_module "$@"); }
pick_triggers() {
	pick_in "$call" own_lines ocular.choices functions "$@"
	call=$picked
	pick_in "$recorder" own_lines ocular.choices symbols
	recorder=$picked
}

# The program's own process would refuse it, but by then a new recording has replaced the last one.
check_by_python() {
	[ -n "$OCULAR_TRIGGER$OCULAR_ALSO" ] || [ "$mode" = opcodes ] || return 0
	(own_module ocular.monitor "$mode" "$backend") || exit 2
}

# With --fleet, what waits for the recorder, and adds what it has recorded, takes this process's place.
become_recorder() {
	[ -n "$fleet" ] || become "$@"
	set -- -- "$@"
	while [ -n "$labels" ]; do
		set -- "--label=${labels##*"$newline"}" "$@"
		case $labels in *"$newline"*) labels=${labels%"$newline"*} ;; *) labels='' ;; esac
	done
	case $fleet in -*) fleet=./$fleet ;; esac
	case $recording in -*) recording=./$recording ;; esac
	python=${PYTHON:-$own}
	command -v "$python" >/dev/null || die "there is no $python for --fleet: set PYTHON"
	PATH=$users_path
	own_module ocular.fleet_record "$fleet" "$recording" ${quiet:+--quiet} ${fleet_events:+--events} "$@"
}

# Likewise, on an emulated processor, which reports itself what it lacks. Of two settings the later one counts.
start_emulator() {
	set -- -- "$@"
	while [ -n "$settings" ]; do
		set -- -s "${settings##*"$newline"}" "$@"
		case $settings in *"$newline"*) settings=${settings%"$newline"*} ;; *) settings='' ;; esac
	done
	[ "$mode" != opcodes ] || set -- -s branch=1 -s noretcomp=1 -s "cyc_thresh=$pt_thresh" "$@"
	for range in $(pt_ranges 8); do # every range
		set -- -s "filter=$range" "$@"
	done
	[ -z "$flight" ] || set -- -s "snapshot=$(pt_flight_bytes)" "$@"
	become_recorder "$parts/bin/ocular-qemu" -o "$recording" ${quiet:+-q} "$@"
}

# Does not return: the recorder takes this process's place, so that signals and status are its own.
start_recorder() {
	asked=$backend
	[ "$backend" = qemu ] || pt_choose
	[ "$asked" != auto ] || [ -n "$quiet" ] || warn "backend $backend: $why"
	export OCULAR_MODE="$mode" OCULAR_INCLUDE="$include" OCULAR_EXCLUDE="$exclude"
	export OCULAR_BACKEND="$backend" OCULAR_ALSO="$also" OCULAR_MAIN=1
	export PYTHONPATH="$hook${PYTHONPATH:+:$PYTHONPATH}"
	[ "$backend" != qemu ] || start_emulator "$python" "$@"
	[ "$backend" = software ] || pt_record "$python" "$@"
	take_triggers
	export OCULAR_TRIGGER="$triggers"
	check_by_python
	set -- -- "$python" "$@"
	while [ -n "$recorder" ]; do # the last one first
		set -- "${recorder##*"$newline"}" "$@"
		case $recorder in *"$newline"*) recorder=${recorder%"$newline"*} ;; *) recorder='' ;; esac
	done
	become_recorder "$parts/bin/ocular-record" -o "$recording" ${flight:+--flight "$flight"} ${quiet:+-q} "$@"
}

# Everything that can be wrong before the program starts.
ready_to_record() {
	[ $# -gt 0 ] || usage_error "nothing to record: name a program"
	[ -x "$parts/bin/ocular-record" ] || die "$(not_built)"
	check_mode
	check_python
	pick_triggers "$@"
}

record() {
	parse "$record_options" "$@"
	shift "$took"
	take_python "$@"
	shift "$took"
	find_script "$@"
	[ -z "$script" ] || { shift && set -- "$script" "$@"; }
	ready_to_record "$@"
	start_recorder "$@"
}
