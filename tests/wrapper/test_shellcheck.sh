#!/bin/sh
# Every shell script of the tree is clean.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$root" || exit 1

for script in $(git ls-files 2>/dev/null | xargs grep -lE '^#!.*\b(sh|bash)$|^# shellcheck shell=' 2>/dev/null); do
	ok "$script" shellcheck -x "$script"
done
# All of them are sourced by one shell: of two functions of one name the later would be everybody's.
ok "no function has two definitions" test -z \
	"$(grep -hoE '^[A-Za-z_]+\(\)' scripts/ocular scripts/commands/*.sh | sort | uniq -d)"
[ $number -gt 1 ] || skip "scripts" "not a git checkout"
done_testing
