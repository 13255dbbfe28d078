#!/bin/sh
# check-format: what is laid out otherwise fails, so does a line that clang-format leaves too long.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
tree=$scratch/tree
mkdir -p "$tree/scripts" "$tree/filter/room" "$tree/helper-ext" "$tree/tests"
cp "$root/scripts/check-format" "$tree/scripts"
cp "$root/.clang-format" "$tree"
check() { "$tree/scripts/check-format" "$@"; }
# of TEXT: the one file of the tree
of() { printf '%b' "$1" >"$tree/filter/room/a.c"; }
limit=$(sed -n 's/^ColumnLimit: *//p' "$root/.clang-format")

if ! { clang-format-14 --version || clang-format --version; } 2>/dev/null | grep -q 'version 14\.'; then
	skip "what is laid out otherwise" "no clang-format 14"
else
	of 'int f(void)\n{\n\treturn 1;\n}\n'
	ok "as it should be" says 0 '^ok 1' check
	of 'int f(void) {\n  return 1;\n}\n'
	ok "laid out otherwise" says 1 '^# filter/room/a.c:1:' check
	ok "make format mends it" check --fix
	ok "and then it passes" says 0 '^ok 1' check
fi
of "/* $(printf '%*s' $((limit - 6)) '' | tr ' ' x) */\n"
ok "as long as the limit" says 0 '^ok 2' check
of "/* $(printf '%*s' $((limit - 5)) '' | tr ' ' x) */\n"
ok "a column longer" says 1 "^# filter/room/a.c:1: $((limit + 1)) columns" check
of "/* $(printf '%*s' $((limit - 6)) '' | tr ' ' x | sed 's/x/ö/g') */\n"
ok "a character of two bytes is one column" says 0 '^ok 2' check
of "/*\n\t$(printf '%*s' $((limit - 7)) '' | tr ' ' x) */\n"
ok "a tab is eight" says 1 "^# filter/room/a.c:2: " check
of 'int a;\n'
mkdir "$scratch/bin"
for each in sh find sort sed expand awk xargs dirname env; do ln -s "$(command -v $each)" "$scratch/bin"; done
ok "without clang-format 14 half is skipped by name" says 0 '# SKIP no clang-format 14: pip install clang-format==14' \
	env CLANG_FORMAT=false PATH="$scratch/bin" "$tree/scripts/check-format"
done_testing
