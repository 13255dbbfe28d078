#!/bin/sh
# .ci/run: what a step needs is made beside the steps before it, and a step that has not got it waits. In a checkout whose make
# and scripts only say that they were called.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$scratch" || exit 1
mkdir -p tree/.ci tree/scripts tree/build bin
cp "$root/.ci/run" tree/.ci
cat >called <<'END'
#!/bin/sh
# Writes its name and words into `seen` when it ends. What is made ahead takes a while; `make test` installs packages.
name="${0##*/}${*:+ $*}"
case $name in *build* | *trees* | *libraries* | free-threaded*) sleep 0.3 ;; esac
case $name in
"$FAILS") echo "$FAILS is not to be had" && exit 1 ;;
'make test') : >build/.setup-test ;;
esac
echo "$name" >>seen
[ "$name" != "$WORKS" ] || awk 'BEGIN { for (n = 0; n < 30000000; n++) m += n }'
case $name in 'make test'*) echo "$name: ${TESTS_AT_ONCE:-processors}${ONE_MORE_TEST:+, with the file one more}" >>seen ;; esac
[ "$name" != "$WAITS" ] || until ls "$TMPDIR"/*.all >/dev/null 2>&1; do sleep 0.05; done
echo '1 passed, 0 failed, 0 skipped'
END
chmod +x called
cp called bin/make
for script in arrows bare free-threaded newest wheels; do cp called "tree/scripts/$script"; done
run() { (cd tree && rm -f seen build/.setup-test && unset TESTS_AT_ONCE && FAILS=$1 PATH=$scratch/bin:$PATH .ci/run) >told 2>&1; }
# before A B: the line A is in `seen`, and above B.
before() { awk -v a="$1" -v b="$2" '$0 == a { seen = 1 } $0 == b { found = seen } END { exit !found }' tree/seen; }

none_is_told() { ! grep 'ahead of its step' told; }

run nothing
while IFS='|' read -r made step; do
	ok "$made comes before $step" before "$made" "$step"
done <<END
wheels --libraries|make build-types
make build-types|make types
make build-sanitize|make sanitize
make build-fuzz|make fuzz
make build-generic|make test-generic
newest --build|make test-newest
bare --trees|make test-bare
free-threaded|make test-free-threaded
END
ok "it begins when the packages are there" before 'make test' 'make build-types'
ok "nothing is told of what was made" none_is_told
ok "beside what is made ahead, a test for each processor" grep -qx 'make test: processors, with the file one more' tree/seen
mkdir tmp
WORKS='make fuzz' WAITS='make test-bare' TMPDIR=$scratch/tmp run nothing
ok "... and when all of it is made, one more" grep -qx "make test-free-threaded: $(($(nproc) + 1))" tree/seen
ok "the processor time of a step that takes some is told" grep -qx '=== make fuzz: [1-9][0-9]* s of processor time in [0-9]* s' told
ok "... and of one that takes none" grep -qx '=== make types: 0 s of processor time in [0-9]* s' told
WORKS='bare --trees' WAITS='make test-bare' TMPDIR=$scratch/tmp run nothing
one_row() {
	grep '[^0-9][1-9][0-9]* s of processor time' told >rows
	grep -qx ' *[0-9]* s, *[0-9]* s of processor time  ahead, scripts/bare --trees' rows && [ "$(wc -l <rows)" = 1 ]
}
ok "... and of what is made ahead, in no step" one_row
run 'free-threaded'
ok "what could not be made is told" grep -q 'free-threaded is not to be had' told
ok "... and its step tries by itself" before 'bare --trees' 'make test-free-threaded'
run 'make test'
ok "where packages could not be installed, it ends all the same" before 'free-threaded' 'make test-free-threaded'
done_testing
