#!/bin/sh
# scripts/arrows finds what it is there for, and nothing in this tree.
# shellcheck disable=SC2016 # the backquotes are Markdown's
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$scratch" || exit 1

mkdir -p filter/base filter/model filter/pt helper-ext/shared
cat >filter/rooms.txt <<'END'
# a comment
filter/base       -
filter/model      filter/base helper-ext/shared
filter/pt         filter/base filter/model/sample.h
helper-ext/shared -
END
: >helper-ext/shared/ring.h
: >filter/base/map.h
: >filter/model/codes.h
echo '#include "base/map.h"' >filter/model/sample.h
printf '#include "model/sample.h"\n#include "base/map.h"' >filter/pt/walk.c

# planted FILE INCLUDES WANTED: with that file there, this is said, a line each; then the file is as it was.
planted() {
	mkdir -p "$(dirname "$1")"
	cp "$1" kept 2>/dev/null || : >none
	printf '%s\n' "$2" >"$1"
	said=$("$root/scripts/arrows") && echo "exit status 0"
	rm "$1"
	[ ! -e kept ] || mv kept "$1"
	rmdir filter/new 2>/dev/null
	printf '%s\n' "$said"
	[ "$said" = "$3" ]
}

ok "what is allowed" says 0 '^3 includes between 4 rooms' "$root/scripts/arrows"
ok "an arrow beside the one file that is allowed" planted filter/pt/queue.c '#include "model/codes.h"' \
	'filter/pt/queue.c: may not include filter/model/codes.h'
ok "an arrow that goes up, and its circle" planted filter/base/map.h '#include "model/sample.h"' \
	'filter/base/map.h: may not include filter/model/sample.h
filter/base/map and filter/model/sample: include each other in a circle'
printf '%s\n' 'filter/one filter/two' 'filter/two filter/one' >>filter/rooms.txt
mkdir filter/one filter/two
echo '#include "two/b.h"' >filter/one/a.h
ok "a circle of rooms that may include each other" planted filter/two/b.h '#include "one/a.h"' \
	'filter/one/a and filter/two/b: include each other in a circle'
rm -r filter/one filter/two
ok "from one half to the other" planted filter/base/text.c '#include "shared/ring.h"' \
	'filter/base/text.c: may not include helper-ext/shared/ring.h'
ok "a room that nobody named" planted filter/new/thing.c '' 'filter/new: not in filter/rooms.txt'
cd "$root" || exit 1
ok "this tree" scripts/arrows

# The first column of the table of rooms, and of the table in docs/architecture.md; without rooms of Python.
told() { sed -n '/^## Which folder/,/^## Rec/s/^| \(`.*`\) |.*/\1/p' docs/architecture.md | tr -d '`' | tr , '\n'; }
rooms() { grep -v '^#' filter/rooms.txt | cut -d' ' -f1 | sort; }
explained() { told | sed 's/ //g; s,/$,,' | grep -vx 'helper-ext/ocular\|helper-ext/hook' | sort; }
same() { [ "$("$1")" = "$("$2")" ]; }
ok "docs/architecture.md says of each room what it is for" same rooms explained

# A file that docs/architecture.md names is somewhere.
gone() {
	grep -o '`[a-z0-9_/-]*\.[ch]`' docs/architecture.md | tr -d '`' | sort -u | while read -r name; do
		find ./filter ./helper-ext -path "*/$name" | grep -q . || echo "$name"
	done
}
none() { [ -z "$("$1")" ]; }
ok "docs/architecture.md names no file that is not there" none gone

# One thread decodes while another one analyses: only what makes samples may add to the code tables.
adders() {
	grep -lE 'codes_(add|find_or_make|intern|collection)\(' -r filter --include='*.c' | LC_ALL=C sort |
		grep -vxE 'filter/(code/.*|feed|model/(decode|named)|pt/.*)\.c'
}
ok "the analysis adds to no code table" none adders

# Beside them dot files, and what a build makes.
strange() {
	find . -mindepth 1 -maxdepth 1 ! -name '.*' ! -name build ! -name dist ! -name '*.egg-info' | sed 's|^\./||' | LC_ALL=C sort |
		grep -vxE 'LICENSE|Makefile|README\.md|docs|filter|helper-ext|pyproject\.toml|scripts|tests'
}
ok "nothing new at the top" none strange
done_testing
