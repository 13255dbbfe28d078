# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# push - what report writes for --otlp, --pprof and --collapsed goes to a receiver; ocular/push.py sends it.

# What can be sent, each with the end of its file's name. How, and where to, is in ocular/push.py.
sendable='otlp:otlp.gz pprof:pb.gz collapsed:folded'

# A row for report_table.
push_table() {
	cat <<'END'
--push	URL	push	-	send what --otlp, --pprof or --collapsed write to that receiver, too (without any of them:
	OTLP). Each of these also takes a URL in place of FILE, and then leaves no file
--push-header	HEADER	push_header@	-	'NAME: VALUE' to send with it, or @FILE with such lines; may be repeated
--push-tries	N	push_tries	-	how often it is tried where that may help (default 5)
--push-timeout	S	push_timeout	-	seconds for which nothing moves, of one try (default 30)
END
}
push='' push_header='' push_tries='' push_timeout='' push_jobs='' push_checked=''

is_url() { case $1 in http://?* | https://?*) ;; *) false ;; esac }
is_sendable() { case " $sendable" in *" $1:"*) ;; *) false ;; esac }

# take_push OPTION VALUE: of an option that writes a file; sets the option's file, and how it is sent.
take_push() {
	if is_url "$2"; then
		is_sendable "$1" || usage_error "--$1 writes a file; --otlp, --pprof and --collapsed can be sent to a URL"
		eval "$1='' ${1}_url=\$2"
	elif [ -n "$push" ] && [ -n "$2" ] && is_sendable "$1"; then
		[ "$2" != - ] || usage_error "what is sent needs a file or a URL of its own, not '--$1 -'"
		eval "${1}_url=\$push"
	else
		return 0
	fi
	push_jobs="$push_jobs $1"
}

# Without a format it is OTLP, which is for all receivers; Pyroscope's /ingest takes pprof.
take_push_alone() {
	case ${push%%[?#]*} in
	*/ingest) pprof_url=$push push_jobs=' pprof' ;;
	*) otlp_url=$push push_jobs=' otlp' ;;
	esac
}

# Everything that can be wrong with it before there is a recording. What it says at the second time is the same.
check_push() {
	[ -z "$push_checked" ] || return 0
	push_checked=1
	[ -z "$push" ] || is_url "$push" || usage_error "--push is a URL, http://... or https://..."
	for option in $report_files; do
		eval "take_push $option \"\$$option\""
	done
	case $push:$push_jobs in ?*:) take_push_alone ;; esac
	if [ -z "$push_jobs" ]; then
		[ -z "$push_header$push_tries$push_timeout" ] || usage_error "--push-header, --push-tries and --push-timeout are for what is sent: --push URL"
		return 0
	fi
	[ -z "$follow" ] || usage_error "--follow writes no profile that could be sent"
	command -v "${PYTHON:-$own}" >/dev/null || die "there is no ${PYTHON:-$own} to send it with: set PYTHON"
	push_module --check -- "$recording" || exit
}

# push_module ARGS: its exit status. URLs and headers go by the environment: others can see arguments.
push_module() {
	set -- ${push_tries:+"--tries=$push_tries"} ${push_timeout:+"--timeout=$push_timeout"} "$@"
	urls=''
	for option in $push_jobs; do
		eval "set -- \"\$@\" $option \"\${${option}_use-}\" \"\$$option\" && urls=\${urls:+\$urls\$newline}\$${option}_url"
	done
	(
		python=${PYTHON:-$own}
		OCULAR_PUSH_URLS=$urls OCULAR_PUSH_GIVEN=$push_header own_module ocular.push "$@"
	)
}

# unsent_file END: a name for what has none, beside the recording, where it can stay: a later recording takes the place of this one.
unsent_file() {
	beside=${named%/} within=.
	case $beside in */*) within=${beside%/*} beside=${beside##*/} ;; esac
	case $beside in '' | . | ..) beside=ocular ;; esac
	for within in "${within:-/}" . "${TMPDIR:-/var/tmp}" /tmp; do
		if [ -w "$within" ]; then break; fi
	done
	tried=1
	while unsent=${within%/}/$beside.unsent-$$-$tried.$1 && [ -e "$unsent" ]; do tried=$((tried + 1)); done
	unsent=${unsent#./}
	case $unsent in -*) unsent=./$unsent ;; esac
}

# Before the report: the files that it is to write.
name_pushed() {
	for option in $push_jobs; do
		eval "value=\$$option ${option}_use=kept"
		[ -z "$value" ] || continue
		end=${sendable#*"$option:"} end=${end%% *}
		unsent_file "$end"
		eval "$option=\$unsent ${option}_use=made"
	done
}

# After it.
push_now() { [ -z "$push_jobs" ] || push_module -- "$recording"; }
