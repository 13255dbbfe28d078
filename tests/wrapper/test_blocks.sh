#!/bin/sh
# The commands that README and docs/ show, word for word, with the wheel for the newest Python here.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
# Not in a path with a blank, from which the emulator cannot run.
place=$(mktemp -d "${TMPDIR:-/tmp}/ocular-blocks.XXXXXX")
trap 'rm -rf "$scratch" "$place"' EXIT
python=$("$root/scripts/find-pythons" | tail -n 1)

if [ -z "${CI-}" ] && ! "$root/scripts/wheels" --if-older >"$place/made" 2>&1; then
	skip "the docs' commands" "no wheels can be made: $(tail -n 1 "$place/made")"
	done_testing
	exit
fi
install() {
	env -u PYTHONPATH "$python" -m venv "$place/venv" && "$place/venv/bin/pip" -q install --no-index \
		--disable-pip-version-check --find-links "$build/wheels/dist" ocular-trace
}
ok "make wheels" "$root/scripts/wheels" --if-older
ok "pip installs the wheel" install
done_testing || exit
python3 "$root/tests/wrapper/blocks.py" "$place/venv/bin"
