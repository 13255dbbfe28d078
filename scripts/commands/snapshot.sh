# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# snapshot - tell a flight recorder to keep what led up to now.

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
	# Open for reading too: where the recorder was killed, writing would wait for ever.
	# An order is a line: what would end it is none of the label.
	printf 'snapshot %s\n' "$(printf %s "$*" | tr '\n' ' ')" 1<>"$fifo"
}
