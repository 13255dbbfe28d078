# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# snapshot - tell a flight recorder to save what led up to this moment.

snapshot_help() {
	cat <<'END'
usage: ocular snapshot [DIR [LABEL]]

Tells the flight recorder that records into DIR (default ocular.data) to take a snapshot now.

  ocular record --flight 100ms app.py &
  ocular snapshot ocular.data 'the fan is loud'
END
}

snapshot() {
	parse '' "$@"
	shift "$took"
	fifo=${1:-ocular.data}/.ocular.ctl
	[ -p "$fifo" ] || die "no flight recorder is recording into ${1:-ocular.data} (see: ocular record --flight)"
	shift $(($# > 0))
	# Open for reading too: if the recorder was killed, writing would wait for ever.
	# An order is one line: newlines in the label become blanks.
	printf 'snapshot %s\n' "$(printf %s "$*" | tr '\n' ' ')" 1<>"$fifo"
}
