#!/bin/sh
# make wheels: each needs no library but the C library's, and works in an environment that has nothing else, with the
# same files as `make install`. tests/wrapper/test_pip.sh builds the sources that are published.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
sources=$(mktemp -d "${TMPDIR:-/tmp}/ocular-sdist.XXXXXX")
trap 'rm -rf "$scratch" "$sources"' EXIT
dist=$build/wheels/dist
tools=$build/wheels/venv/bin
cd "$scratch" || exit 1

if [ -z "${CI-}" ] && ! command -v apt-get >/dev/null; then
	skip "make wheels" "no Debian here"
	done_testing
	exit
fi
# Debian has no headers of 3.12.
count=5
for python in $("$root/scripts/find-pythons"); do
	[ "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" != 3.12 ] || count=6
done
if ! "$root/scripts/wheels" --if-older >made 2>&1 && [ -z "${CI-}" ] &&
	grep -q 'no Debian mirror\|this failed: apt_get\|No matching distribution\|Failed to fetch' made; then
	skip "make wheels" "no mirror to be had: $(tail -n 1 made)"
	done_testing
	exit
fi
ok "make wheels" says 0 'cp314-cp314t-manylinux_2_28_x86_64.whl: [0-9]* bytes' cat made
ok "one for each CPython" [ "$(find "$dist" -name '*.whl' | wc -l)" = $count ]
ok "no other file than the sources" [ "$(find "$dist" -type f ! -name '*.whl')" = "$(echo "$dist"/ocular_trace-*.tar.gz)" ]

# The names of libraries that its programs and libraries ask for, other than the C library's.
foreign_libraries() {
	rm -rf inside
	python3 -m zipfile -e "$1" inside
	find inside -type f | while read -r file; do
		readelf -d "$file" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
	done | sort -u | grep -v -x -e 'libc\.so\.6' -e 'libm\.so\.6' -e 'libpthread\.so\.0' -e 'libdl\.so\.2' -e 'ld-linux.*' || :
}
# What the plugin defines for others, but for perf's dlfilter API: perf may have a library with functions of the same names.
names_of_plugin() {
	nm -D --defined-only inside/ocular/lib/perf/ocular.so | awk '{ print $3 }' |
		grep -v -x -e filter_event -e filter_event_early -e start -e stop -e filter_description -e perf_dlfilter_fns || :
}
programs() { python3 -m zipfile -l "$1" | grep -c -e '/bin/ocular-' -e '/perf/ocular\.so'; }
licences() {
	python3 -m zipfile -l "$1" >listed
	for name in LICENSE jansson.txt libipt.txt zlib.txt libdeflate.txt zstd.txt; do grep -q "licenses/.*$name" listed || echo "$name"; done
}
for wheel in "$dist"/*.whl; do
	whl=${wheel##*/ocular_trace-}
	ok "$whl: no more than 2 MB" [ "$(wc -c <"$wheel")" -le 2000000 ]
	ok "$whl: no library but the C library's" silent foreign_libraries "$wheel"
	ok "$whl: the plugin has no names but perf's API" silent names_of_plugin
	ok "$whl: all programs" [ "$(programs "$wheel")" = 9 ]
	ok "$whl: all licences" silent licences "$wheel"
	ok "$whl: for glibc 2.28" says 0 'manylinux_2_28_x86_64' "$tools/auditwheel" show "$wheel"
done

# In an environment of each Python here, with nothing else on PATH.
alone() { env -i PATH="$venv/bin" HOME="$scratch" "$@"; }
for python in $("$root/scripts/find-pythons"); do
	tag=$("$python" -c 'import sys; print("cp%d%d-cp%d%d%s" % (*sys.version_info[:2] * 2, sys.abiflags))')
	venv=$scratch/$tag
	[ -e "$(echo "$dist"/*-"$tag"-*.whl)" ] || continue
	env -u PYTHONPATH "$python" -m venv "$venv" >said 2>&1 || continue
	ok "$tag: pip installs it" says 0 '^Successfully installed ocular-trace' \
		env -u PYTHONPATH "$venv/bin/pip" install --no-index --disable-pip-version-check "$dist"/*-"$tag"-*.whl
	ok "$tag: the command records" says 3 '^here$' alone ocular record -o rec -c 'print("here"); raise SystemExit(3)'
	ok "$tag: and reports" says 0 'PY_START.<string>.<module>' alone ocular report rec --decoder libipt --events -
	ok "$tag: perf takes its plugin" says 0 'PY_START.<string>.<module>' \
		env PATH="$venv/bin:$PATH" ocular report rec --decoder perf --events -
	ok "$tag: python -m ocular" says 0 '^ocular [0-9]' alone python -m ocular --version
done

# One command from nothing, by what people install commands with.
into_tools() { if [ -x "$tools/pip" ]; then "$tools/pip" "$@"; else "$python" -m pip --python "$tools/python" "$@"; fi; }
if into_tools install -q --no-compile --disable-pip-version-check uv==0.13.9 pipx==1.18.4 >said 2>&1; then
	nothing() { env -i PATH=/usr/bin:/bin HOME="$scratch/home" XDG_CACHE_HOME="$scratch/cache" "$@"; }
	ok "uvx records" says 3 '^here$' nothing "$tools/uvx" -q --python "$python" --no-index --find-links "$dist" \
		--from ocular-trace ocular record -q -o rec -c 'print("here"); raise SystemExit(3)'
	ok "pipx installs it" nothing PIPX_HOME="$sources/pipx" "$tools/pipx" install -q --python "$python" \
		--pip-args="--no-index --find-links $dist" ocular-trace
	ok "... and the command records, by a link" says 3 '^here$' nothing "$scratch/home/.local/bin/ocular" \
		record -q -o rec -c 'print("here"); raise SystemExit(3)'
else
	skip "uvx and pipx" "not to be had: $(tail -n 1 said)"
fi

# The files of a wheel, and what `make` has to be put there.
soabi=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))')
listed() { (cd "$1" && find . -type f ! -name '*.pyc' | sort); }
same_files() {
	make -s -C "$root" B="$build" LIB="$sources/ocular/lib" parts && mkdir "$sources/ocular/hook" &&
		(cd "$build/python" && cp -R ocular/*.py* ocular/py.typed ocular/include ocular/_core."$soabi".so "$sources/ocular" &&
			cp hook/*.py "$sources/ocular/hook") || return
	listed "$sources/ocular" >wanted
	listed "$(echo "$venv"/lib/python3*/site-packages/ocular)" | diff wanted -
}
ok "the files of make install" same_files

# A CPython of which nothing is known yet.
mkdir "$sources/include" && sed 's/\(#define PY_MINOR_VERSION\).*/\1 16/' \
	"$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/patchlevel.h" >"$sources/include/patchlevel.h"
ok "an unknown CPython is refused when compiled" says 2 'error: .*does not know the internals of CPython 3.16' \
	make -C "$root" -f helper-ext/ext/build.mk B="$sources/build" ABI=next INCLUDE="$sources/include"
cat >next <<END
#!/bin/sh
shift
exec "$python" -c 'import runpy, sys; sys.version_info = (3, 16, 0); sys.argv.pop(0); runpy.run_path(sys.argv[0])' "\$@"
END
chmod +x next
ok "... and before that" says 1 'does not know the internals of Python' "$root/scripts/find-pythons" "$scratch/next"
ok "... and by pip" grep -q '^requires-python = ">=3.12,<3.16"$' "$root/pyproject.toml"

# A Python for another C library.
cat >musl <<END
import runpy, sys, sysconfig
sysconfig.get_config_vars()["SOABI"] = "cpython-313-x86_64-linux-musl"
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
END
printf '#!/bin/sh\nshift\nexec "%s" "%s/musl" "$@"\n' "$python" "$scratch" >musl-python
chmod +x musl-python
refused_by_setup() {
	echo 'import setuptools; setuptools.setup()' >"$scratch/setup"
	cd "$root" && PYTHONPATH=scripts "$tools/python" "$scratch/musl" "$scratch/setup" build_ext \
		--build-lib "$sources/for-musl" --build-temp "$sources/for-musl"
}
ok "a Python for musl is refused" says 1 'needs glibc; this Python is one for musl' "$root/scripts/find-pythons" "$scratch/musl-python"
ok "... and by pip, before packages are asked for" says 1 '^error: ocular cannot be built here: it needs glibc' refused_by_setup
done_testing
