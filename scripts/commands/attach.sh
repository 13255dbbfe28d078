# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# attach - make a running Python trace itself; ps - list those that can.

# Its own options, and those it shares with record. attach.py reads them.
attach_table() {
	cat <<'END'
--for	TIME	-	-	detach after that time: 10s, 500ms
--tied	PID	-	-	detach when that process has ended
--wait	TIME	-	-	give up when the program does not answer within that time (default 10s)
END
	record_table | awk -F'\t' '/^-/ { shown = $4 ~ /a/ } shown'
}

attach_help() {
	cat <<'END'
usage: ocular attach [options] PID

Traces a Python program that is already running, until Ctrl-C. Afterwards the program runs untraced, as before. Without
a PID, fzf picks one.

END
	table_help attach_table
	cat <<'END'

How: the program's agent (python -m ocular --listen app.py) if it has one; else sys.remote_exec from Python
3.14 on; else gdb, where it is installed. `ocular ps` says what is possible for which process.

  ocular attach 4711 --for 5s && ocular report
  ocular attach 4711 --flight 100ms --trigger 'app.views:search > 50ms'
END
}

ps_help() {
	cat <<'END'
usage: ocular ps

Lists the Python processes of this machine, their versions, and whether and how `ocular attach` could trace them.
END
}

# Any Python that the package runs on can list processes; to attach, it must be of the target's version.
own_python() {
	for python in "${PYTHON:-$own}" python3.15 python3.14 python3.13 python3.12; do
		case $(about_python) in cpython\ *\ old | '') ;; cpython\ *) return ;; esac
	done
	python=$("$here/find-pythons" 2>/dev/null | head -n 1) # looks everywhere, which takes a while
	[ -n "$python" ] || die "no Python 3.12 or newer found to attach with: name one in \$PYTHON"
}

ps() {
	parse '' "$@"
	[ $# -eq 0 ] || usage_error "ps takes no arguments"
	own_python
	own_module ocular.processes
}

pick() {
	if ! command -v fzf >/dev/null || ! [ -t 0 ]; then usage_error "which process? ocular ps lists them"; fi
	own_python
	own_module ocular.processes | fzf --header-lines=1 | awk '{ print $1 }'
}

# The target's own interpreter runs attach.py: it has the right version. An embedded Python has none; then an
# interpreter of that version is looked for.
interpreter_of() {
	[ -d "/proc/$1" ] || die "there is no process $1"
	owner=$(command stat -c %u "/proc/$1" 2>/dev/null) || die "there is no process $1"
	# Only the target's user may run its interpreter, not even root. Nor could the target write into root's recording.
	[ "$owner" = "$(id -u)" ] ||
		die "process $1 belongs to another user: attach as that user (sudo -u '#$owner' ocular attach $1)"
	python=$(readlink "/proc/$1/exe") || die "process $1 cannot be inspected: it belongs to another user or to the system"
	case $python in
	*' (deleted)') die "the interpreter of process $1 has been replaced since it began (${python% *})" ;;
	*/python*) ;;
	*) python=$(command -v "$(sed -n 's|.*/lib\(python3\.[0-9]*\)[a-z]*\.so.*|\1|p' "/proc/$1/maps" | head -n 1)") ||
		die "process $1 is not a Python (ocular ps lists them)" ;;
	esac
	check_python
}

# The target's functions, from its command line, which begins with an interpreter and its options.
target_functions() {
	(
		# shellcheck disable=SC2046 # words
		set -- $(tr '\0' ' ' <"/proc/$target/cmdline") && shift
		while [ $# -gt 0 ]; do
			case $1 in -m | [!-]*) break ;; -X | -W) shift 2 ;; *) shift ;; esac
		done
		own_module ocular.choices functions -C "/proc/$target/cwd" "$@"
	)
}

# needs_value OPTION: does a value follow it?
needs_value() {
	case "$options " in *" $1:"*) variable=${options#*" $1:"} ;; *) usage_error "unknown option $1" ;; esac
	case ${variable%% *} in *!) return 1 ;; esac
}

# find_target words...: sets $target to the word that is neither an option nor the value of one, and $at to its number.
find_target() {
	table_options attach_table
	target='' at=0 number=0 value=false
	for word; do
		number=$((number + 1))
		case $value:$word in
		true:*) value=false ;;
		*:-h | *:--help)
			attach_help
			exit 0
			;;
		*:--*=*) needs_value "${word%%=*}" || : ;;
		*:-*) if needs_value "$word"; then value=true; fi ;;
		*) [ -z "$target" ] || usage_error "one process at a time, not also '$word'" && target=$word at=$number ;;
		esac
	done
}

attach() {
	find_target "$@"
	case $target in
	'')
		target=$(pick)
		[ -n "$target" ] || exit 1
		;;
	*[!0-9]*) usage_error "not a process id: $target" ;;
	esac
	interpreter_of "$target"
	before='' number=0
	for word; do # '?' picks, as for record: a word of the option before it
		number=$((number + 1))
		case $before in
		--trigger) pick_in "$word" target_functions ;;
		--trigger-symbol) pick_in "$word" own_lines ocular.choices symbols "$target" ;;
		*) picked=$word ;;
		esac
		before=$word
		shift
		[ "$number" -eq "$at" ] || set -- "$@" "$picked"
	done
	own_module ocular.attach "$target" "$@"
}
