#!/bin/sh
# Every shell script of the tree is clean, and every script may be executed.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$root" || exit 1

scripts=$(find . \( -name .git -o -path ./build -o -name node_modules \) -prune -o -type f \
	-exec grep -lIE '^#!.*\b(sh|bash)$|^# shellcheck shell=' {} +)
for script in $scripts; do
	ok "$script" shellcheck -x "$script"
done
# Whoever runs tests by their names would not run one that may not be executed.
silently_left_out() {
	find . \( -name .git -o -path ./build -o -name node_modules \) -prune -o -type f ! -perm -u=x \
		-exec awk 'FNR == 1 && /^#!/ { print FILENAME }' {} +
}
ok "what begins with #! may be executed" silent silently_left_out
# All of them are sourced by one shell: of two functions of one name the later would be everybody's.
ok "no function has two definitions" test -z \
	"$(grep -hoE '^[A-Za-z_]+\(\)' scripts/ocular scripts/commands/*.sh | sort | uniq -d)"
ok "the scripts were found" [ $number -gt 20 ]
done_testing
