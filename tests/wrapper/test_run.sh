#!/bin/sh
# What counts: tests/run with tests that end in every way, and which tests `make test` gives it.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$scratch" || exit 1

# counted STATUS COUNTS SCRIPT: a test that is this script.
counted() {
	printf '#!/bin/sh\n%s\n' "$3" >a_test
	chmod +x a_test
	says "$1" "^$2\$" "$root/tests/run" ./a_test
}

ok "lines" counted 0 '2 passed, 0 failed, 1 skipped' 'echo "ok 1 - a"; echo "ok 2 - b # SKIP c"; echo "ok 3 - d"; echo 1..3'
ok "a failure" counted 1 '1 passed, 1 failed, 0 skipped' 'echo "ok 1 - a"; echo "not ok 2 - b"; echo 1..2; exit 1'
ok "status 77 skips the whole test" counted 0 '0 passed, 0 failed, 1 skipped' 'echo "no such tool here"; exit 77'
ok "but discards no failure" counted 1 '0 passed, 2 failed, 0 skipped' 'echo "not ok 1 - a"; exit 77'
ok "nor what passed before it broke off" counted 1 '1 passed, 1 failed, 0 skipped' 'echo "ok 1 - a"; exit 77'
ok "fewer lines than planned" counted 1 '1 passed, 1 failed, 0 skipped' 'echo 1..2; echo "ok 1 - a"'
ok "no line" counted 1 '0 passed, 1 failed, 0 skipped' 'true'
ok "an exit status that no line explains" counted 1 '1 passed, 1 failed, 0 skipped' 'echo "ok 1 - a"; echo 1..1; exit 3'

# Each waits for all others to have begun.
more=$(($(nproc) + 1))
together() {
	# shellcheck disable=SC2016 # the script's own
	printf '#!/bin/sh\ntouch "began.$1"\nuntil [ "$(ls began.* | wc -l)" = %s ]; do sleep 0.05; done\necho 1..1; echo ok 1 - a\n' $more >a_test
	# shellcheck disable=SC2046 # words
	says 0 "^$more passed, 0 failed, 0 skipped\$" env TESTS_AT_ONCE=$more "$root/tests/run" --limit 60 $(seq -f './a_test_%g' $more)
}
for n in $(seq $more); do printf '#!/bin/sh\nexec ./a_test %s\n' "$n" >"a_test_$n" && chmod +x "a_test_$n"; done
ok "as many at once as TESTS_AT_ONCE says" together
one_more() {
	rm -f began.* there
	(until [ -e began.1 ]; do sleep 0.05; done; sleep 1; touch "seen.$(find . -name 'began.*' | wc -l)" there) &
	# shellcheck disable=SC2046 # words
	says 0 "^$more passed, 0 failed, 0 skipped\$" env -u TESTS_AT_ONCE ONE_MORE_TEST=there "$root/tests/run" --limit 60 $(seq -f './a_test_%g' $more) &&
		[ -e seen.$((more - 1)) ]
}
ok "one more from when there is the file ONE_MORE_TEST, not before" one_more

# once STATUS COUNTS FIRST: a test that does this the first time and passes the second.
once() {
	rm -f ran
	counted "$1" "$2" "if [ -e ran ]; then echo 1..1; echo ok 1 - a; exit; fi; touch ran; $3"
}
ok "what failed beside others counts as it does alone" once 0 '1 passed, 0 failed, 0 skipped' 'echo 1..1; echo "not ok 1 - a"; exit 1'
ok "and is shown as failed first" says 0 '^ *not ok 1 - a$' sh -c "rm ran; $root/tests/run ./a_test"
ok "what a sanitizer reports is not run again" once 1 '0 passed, 1 failed, 0 skipped' 'echo 1..1; echo "not ok 1 - a"; echo "==1==ERROR: AddressSanitizer"; exit 1'
ok "nor what broke off" once 1 '0 passed, 1 failed, 0 skipped' 'echo 1..1; kill -SEGV $$'
ok "nor four of them" says 1 '^0 passed, 4 failed' sh -c "printf '#!/bin/sh\necho 1..1; echo not ok 1; exit 1' >a_test; $root/tests/run ./a_test ./a_test ./a_test ./a_test"

# A machine without a Python, until scripts/setup has been there; `all` is not made. make takes no blank in a path.
fresh=$(mktemp -d "${TMPDIR:-/tmp}/ocular-test.XXXXXX")
trap 'rm -rf "$scratch" "$fresh"' EXIT
cd "$fresh" || exit 1
mkdir -p scripts tests/unit_py tests/doors
cp "$root/Makefile" .
touch tests/unit_py/test_one.py tests/doors/test_truth.py
printf '#!/bin/sh\n[ -e installed ] && cat installed && exit\necho "no CPython at all" >&2\nexit 1\n' >scripts/find-pythons
printf '#!/bin/sh\necho /a/python >installed\n' >scripts/setup
printf '#!/bin/sh\necho "tests: $*"\n' >tests/run
cat >a_make <<'END'
#!/bin/sh
[ "$1" = all ] || exec make --no-print-directory "$@"
END
chmod +x scripts/* tests/run a_make
make_test() { env -u MAKEFLAGS -u MAKELEVEL -u PYTHON make B=/none MAKE=./a_make "$@"; }
each='^tests: tests/doors/test_truth.py --python /a/python /a/python tests/unit_py/test_one.py tests/hardware/test_intel_pt.py --emulated$'

ok "the interpreter that 'make test' installs is tested" says 0 "$each" make_test test
printf '#!/bin/sh\nrm -f installed\n' >scripts/setup
ok "no interpreter: no test runs, one line says so" says 2 '^no CPython at all$' make_test test
done_testing
