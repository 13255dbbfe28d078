#!/bin/sh
# scripts/arrows finds what it is there for, and nothing in this tree.
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
ok "from one half to the other" planted filter/base/text.c '#include "shared/ring.h"' \
	'filter/base/text.c: may not include helper-ext/shared/ring.h'
ok "a room that nobody named" planted filter/new/thing.c '' 'filter/new: not in filter/rooms.txt'
cd "$root" || exit 1
ok "this tree" scripts/arrows
done_testing
