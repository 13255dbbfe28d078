#!/bin/sh
# One version, told by every program, and the manual pages that name it.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$root" || exit 1
# The witness reads the line as Python does, not as the builds do.
version=$(python3 -c 'import ast, sys
for each in ast.parse(open(sys.argv[1]).read()).body:
    if isinstance(each, ast.Assign) and each.targets[0].id == "__version__":
        print(ast.literal_eval(each.value))' helper-ext/ocular/__init__.py)

ok "there is one" says 0 '^[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*$' echo "$version"
for program in "$build"/bin/ocular-*; do
	case $program in *.so) continue ;; esac
	ok "${program##*/} tells it" says 0 "^${program##*/} $version\$" "$program" --version
done
ok "all programs were asked" [ $number -ge 7 ]
ok "ocular tells it" says 0 "^ocular $version\$" scripts/ocular --version
ok "ocular without a build says what to do" says 1 'not built yet: run make' \
	env OCULAR_BUILD="$scratch" scripts/ocular --version
scripts/find-pythons >"$scratch/pythons"
while read -r python; do
	ok "python -m ocular tells it, $python" says 0 "^ocular $version\$" \
		env PYTHONPATH="$build/python" "$python" -m ocular --version
done <"$scratch/pythons"
# Old Pythons are told so; one that is not of pyenv may be among these, too.
old=0
for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python /usr/bin/python3; do
	"$python" -c 'import sys; sys.exit(not (3, 5) < sys.version_info < (3, 12))' 2>/dev/null || continue
	old=$((old + 1))
	ok "an older Python is told so, $python" says 2 '^ocular: needs CPython 3.12 or newer; this is cpython 3' \
		env PYTHONPATH="$build/python" "$python" -m ocular app.py
	ok "a program of it may import the package, $python" says 0 '^False False$' \
		env PYTHONPATH="$build/python" "$python" -c 'import ocular; print("%s %s" % (ocular.take_snapshot(1), ocular.is_tracing()))'
done
[ $old -gt 0 ] || skip "an older Python is told so" "none here"
# In no other file, but for what changed in it.
places() { grep -rlF "\"$version\"" Makefile filter helper-ext scripts --exclude-dir=__pycache__; }
ok "it stands in one place" [ "$(places)" = helper-ext/ocular/__init__.py ]

pages="ocular ocular-pt ocular-record"
man_reads() { man --warnings -E UTF-8 -l -Tutf8 -Z "$1" >/dev/null; }
ok "manual pages" make -s B="$build" man
for page in $pages; do
	file=$build/man/$page.1
	ok "$page(1) is what man reads" silent man_reads "$file"
	if command -v mandoc >/dev/null; then
		ok "$page(1) is what mandoc reads" silent mandoc -T lint -W warning "$file"
	else
		skip "$page(1) is what mandoc reads" "no mandoc"
	fi
	ok "$page(1) names the version" grep -q "^\.TH .* \"Ocular $version\" " "$file"
done

# Every option of a help text is an item of its page.
page_has_options() {
	sed -n 's/^\.B //p' "$build/man/$1.1" | sed 's/\\-/-/g' >"$scratch/items"
	shift
	"$@" | grep -oE '^ {2,6}(-[a-z], )?--[a-z-]+' | sed 's/^ *//' | while read -r option; do
		grep -qF -e "$option" "$scratch/items" || echo "$option"
	done
}
ok "ocular-record(1) has all options" silent page_has_options ocular-record "$build/bin/ocular-record" --help
for command in record report diff stat; do
	ok "ocular(1) has all options of $command" silent page_has_options ocular scripts/ocular $command --help
done
missing_keys() {
	for key in $("$build/bin/ocular-pt" --help | sed -n 's/^  \([a-z_]*\)=.*  .*/\1/p'); do
		grep -q "^\.B $key=" "$build/man/ocular-pt.1" || echo "$key"
	done
}
ok "ocular-pt(1) has all keys" silent missing_keys
done_testing
