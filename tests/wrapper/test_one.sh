#!/bin/sh
# make one: finds a test of every kind by its name, and builds no more than it needs.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$root" || exit 1
python=$(scripts/find-pythons | tail -n 1)
unset T # of `make one T=one`

one() { make -s B="$build" PYTHON="$python" one "$@"; }
# What it would run, as one line.
would() { one -n "$@" | grep '^tests/run'; }

ok "a unit test of C" says 0 '^[1-9][0-9]* passed, 0 failed, 0 skipped$' one T=stat
ok "by its path" says 0 '^tests/run [^ ]*/tests/filter/model/test_stat *$' would T=tests/unit/filter/model/test_stat.c
builds() { make -n B="$root/build/none" one "$@" | grep -o -e bin/ocular-record -e build.mk; }
ok "only that is built" silent eval '! builds T=stat'
ok "and all for a test that needs all" says 0 'bin/ocular-record' builds T=qemu
ok "a golden case" says 0 '^[1-9][0-9]* passed, 0 failed, 0 skipped$' one T=recursion
ok "it alone is run" says 0 "^tests/run *'tests/golden/test_golden.sh recursion'$" would T=recursion
ok "a test of the package, under the interpreter" says 0 " '$python tests/unit_py/test_triggers.py'" would T=triggers
ok "a door, for the interpreter" says 0 " 'tests/doors/test_truth.py --python $python'" would T=truth
ok "a door without one" says 0 ' tests/doors/test_qemu.py *$' would T=qemu
ok "the wrapper" says 0 ' tests/wrapper/test_diff.sh' would T=tests/wrapper/test_diff.sh
ok "viewers" says 0 ' tests/viewers/test_page.py *$' would T=page
ok "hardware, emulated" says 0 " 'tests/hardware/test_intel_pt.py --emulated'" would T=tests/hardware/test_intel_pt.py
ok "a name that several have means all of them" says 0 'test_codes .*test_codes.py' would T=codes
ok "no such test is told" says 2 "no test is called 'nobody'" one T=nobody
ok "no name is told" says 2 'make one T=NAME' one

# By their paths all at once: each must be in the command.
unnamed() {
	tests=$(find tests -name 'test_*.[cps]*' | grep -v '/__pycache__/')
	all=$(would T="$(echo "$tests" | tr '\n' ' ')")
	for each in $tests; do
		name=${each#tests/unit/}
		case $all in *"${name%.c}"*) ;; *) echo "$each" ;; esac
	done
}
ok "every test of the tree can be named" silent unnamed
done_testing
