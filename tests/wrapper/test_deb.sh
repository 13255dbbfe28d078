#!/bin/sh
# make deb: on a Debian whose own Python can be traced. perf finds the plugin, and the command works, where it is unpacked.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
python=/usr/bin/python3
for needed in dpkg-deb dpkg-shlibdeps perf; do
	command -v $needed >/dev/null || { skip "make deb" "no $needed here" && done_testing && exit; }
done
if ! "$root/scripts/find-pythons" $python >/dev/null 2>&1; then
	ok "make deb on an older Debian says what it needs" says 2 '^deb: /usr/bin/python3 is no CPython 3.12 or newer' \
		make -s -C "$root" B="$build" deb
	done_testing
	exit
fi
ok "make deb" says 0 "building package .ocular-trace." make -s -C "$root" B="$build" deb
deb=$(echo "$build"/deb/ocular-trace_*.deb)
ok "it is unpacked" dpkg-deb -x "$deb" "$scratch/there"
core=$(perf --exec-path)
unpacked_perf() { PERF_EXEC_PATH=$scratch/there$core perf script "$@"; }
ok "perf finds the plugin by its name" says 0 '^ *ocular\.so  *Ocular: ' unpacked_perf --list-dlfilters
cd "$scratch" || exit 1
ok "the command records" says 3 '^here$' there/usr/bin/ocular record -o rec --python $python -- -c 'print("here"); raise SystemExit(3)'
ok "... and reports" says 0 'PY_START.<string>.<module>' there/usr/bin/ocular report rec --events -
ok "it needs that Python and no other" says 0 "python3 (>= $($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')~), python3 (<<" \
	dpkg-deb -f "$deb" Depends
if command -v lintian >/dev/null; then
	ok "lintian has nothing to say" silent lintian --fail-on error --tag-display-limit 0 --allow-root "$deb"
else
	skip "lintian has nothing to say" "no lintian here"
fi
done_testing
