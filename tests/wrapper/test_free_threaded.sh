#!/bin/sh
# scripts/free-threaded builds once, whoever asks meanwhile: with sources whose configure and make only say that they ran.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$root" || exit 1
sources=$scratch/sources
mkdir -p "$sources/Include"
echo '#define PY_VERSION "3.13.9"' >"$sources/Include/patchlevel.h"
cat >"$sources/configure" <<'END'
#!/bin/sh
for word; do case $word in --prefix=*) prefix=${word#*=} ;; esac; done
echo configured >>"$SEEN"
sleep 1
printf 'all:\n\ninstall:\n\tmkdir -p "%s/bin"\n\tcp "%s" "%s/bin/python3"\n' "$prefix" /bin/true "$prefix" >Makefile
END
chmod +x "$sources/configure"
# shellcheck disable=SC2120 # ok calls it
with_sources() { env OCULAR_BUILD="$scratch/build" SEEN="$scratch/seen" scripts/free-threaded --source "$sources" "$@"; }
python=$scratch/build/free-threaded/python3.13/bin/python3

two_at_once() {
	# shellcheck disable=SC2119
	with_sources >"$scratch/first" 2>/dev/null &
	# shellcheck disable=SC2119
	with_sources >"$scratch/second" 2>/dev/null
	wait $! && [ "$(cat "$scratch/first" "$scratch/second")" = "$python
$python" ] && [ -x "$python" ] && [ "$(grep -c configured "$scratch/seen")" = 1 ]
}
ok "two at once: one builds, both have it" two_at_once
ok "what is there is not built again" says 0 "^$python\$" with_sources
ok "with ThreadSanitizer it is another one" says 0 "^${python%/bin/python3}-tsan/bin/python3\$" with_sources --tsan
ok "... that was built" [ "$(grep -c configured "$scratch/seen")" = 2 ]

rm -r "$scratch/build/free-threaded/python3.13"
echo 'exit 1' >"$sources/configure"
ok "what does not build says where to look" says 1 'free-threaded: it does not build: .*python3.13.log' with_sources
ok "... and the next one tries again" says 1 'it does not build' with_sources
done_testing
