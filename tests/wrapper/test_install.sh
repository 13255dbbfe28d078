#!/bin/sh
# make install: works from any folder, also one with a blank, and uninstall leaves nothing.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
stage=$(mktemp -d "${TMPDIR:-/tmp}/ocular-stage.XXXXXX")
trap 'rm -rf "$scratch" "$stage"' EXIT
python=$("$root/scripts/find-pythons" | head -n 1)

# Of what `make` has built: release builds are optimised at link time, which takes minutes, and tests/wrapper/test_wheels.sh
# has such a one.
install_to() { make -s -C "$root" B="$build" R="$build" LTO= DESTDIR="$stage" PREFIX=/opt/ocular "$@"; }
links_release() { make -n -C "$root" B="$stage/new" install | grep -q -- " -flto=auto .*release/bin/ocular-pt "; }
is_readable() { [ -z "$(find "$stage/opt" ! -type l ! -perm -a+r)" ]; }
is_empty() { [ -z "$(find "$stage" ! -type d)" ]; }

ok "make in a folder with a blank says so" says 2 'path that contains blanks; move this folder: .*ocular test' make -C "$scratch" -f "$root/Makefile"
ok "make install is to build for release" links_release
umask 077
ok "make install" install_to install
ok "everybody may read it, whatever umask" is_readable
ok "the header for C is there" [ -s "$stage/opt/ocular/lib/ocular/python/ocular/include/ocular.h" ]
ok "man finds the pages" says 0 "^OCULAR(1)" env MANPATH="$stage/opt/ocular/share/man" man ocular
ok "the plugin is where perf looks" [ -e "$stage$(perf --exec-path)/dlfilters/ocular.so" ]
# perf with the plugins of the stage in the place of its own.
staged_perf() { PERF_EXEC_PATH=$stage$(perf --exec-path) perf script "$@"; }
by_name() {
	"$root/scripts/ocular" record -q -o "$scratch/rec" --python "$python" -- -c 'def work(): pass
for i in range(9): work()' && cd / && staged_perf -i "$scratch/rec/perf.data" --itrace=we --dlfilter ocular.so "$@"
}
ok "perf lists it" says 0 '^ *ocular\.so  *Ocular: ' staged_perf --list-dlfilters
ok "perf finds it by its name" says 0 '; mode adaptive, markers software$' by_name
ok "it tells its arguments" says 0 '^ *summary=FILE ' by_name --dlarg help
mv "$stage/opt/ocular" "$scratch/a prefix"
cd "$scratch" || exit 1
ok "the installed command records and reports" says 0 'hello' \
	"$scratch/a prefix/bin/ocular" run -q --python "$python" -- -c 'print("hello")'
ok "the recording is here" [ -s "$scratch/ocular.data/perf.data" ]
mv "$scratch/a prefix" "$stage/opt/ocular"
ok "make uninstall" install_to uninstall
ok "nothing is left" is_empty
done_testing
