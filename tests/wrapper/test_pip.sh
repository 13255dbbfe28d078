#!/bin/sh
# pip install .: a virtual environment gets all that Ocular is, and the command works with nothing else on PATH.
# The sources are those that are published, unpacked where a blank in the path does not stop make. pip fetches setuptools.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
sources=$(mktemp -d "${TMPDIR:-/tmp}/ocular-pip.XXXXXX")
trap 'rm -rf "$scratch" "$sources"' EXIT
python=$("$root/scripts/find-pythons" | tail -n 1)
venv=$scratch/venv
cd "$scratch" || exit 1

# published: as `make wheels` makes them, but of a copy, because setuptools writes beside the sources.
published() {
	mkdir tree made
	(cd "$root" && tar cf - --exclude=./.git --exclude=./build --exclude=__pycache__ --exclude=node_modules .) | tar xf - -C tree
	(cd tree && PYTHONPATH=../setup:scripts "$venv/bin/python" -c 'import pip_build; pip_build.build_sdist("../made")') &&
		tar xf made/*.tar.gz -C "$sources" --strip-components=1
}

# With nothing on PATH but the environment, and with none of the caller's settings.
alone() { env -i PATH="$venv/bin" HOME="$scratch" "$@"; }
# The program sees the PATH that the user has.
path_is_kept() { [ "$(alone ocular record -q -o path -c 'import os; print(os.environ["PATH"])')" = "$venv/bin" ]; }
# Everything that make install puts around the command, but for the package itself.
parts_are_all() {
	make -s -C "$root" B="$build" LIB="$sources/parts" parts && (cd "$sources/parts" && find . -type f | sort) >wanted &&
		(cd "$venv"/lib/python3*/site-packages/ocular/lib && find . -type f ! -name '*.pyc' | sort) | diff wanted -
}
# README's table of commands is what the command knows.
commands_are_all() {
	sed -n '/^## Commands/,/^##* M/p' "$root/README.md" | grep -o '`ocular [a-z]*' | cut -d' ' -f 2 | grep -vx help | sort -u >shown
	[ "$(wc -l <shown)" -gt 8 ] && while read -r command; do
		alone ocular "$command" --help | grep -q "^usage: ocular $command" || echo "$command" >>unknown
	done <shown
	[ ! -e unknown ] || { cat unknown && return 1; }
}
same_by_module() { [ "$(alone ocular "$@" 2>&1)" = "$(alone python -m ocular "$@" 2>&1)" ]; }

# A machine without the header: its cc meets an error where that is.
lacking() {
	mkdir -p hollow lacking
	echo '#error absent' >"hollow/$1"
	printf '#!/bin/sh\nexec %s -isystem "%s" "$@"\n' "$(command -v cc)" "$scratch/hollow" >lacking/cc
	chmod +x lacking/cc
}
# pip_install [PATH=...]; not optimised, which takes longer than all else: tests/wrapper/test_wheels.sh has it.
pip_install() {
	env -u PYTHONPATH MAKEFLAGS='LTO= CFLAGS=-O0' "$1" "$venv/bin/pip" install --force-reinstall "$sources"
}

# A distribution's Python may have no venv, and pip may be offline.
if ! env -u PYTHONPATH "$python" -m venv "$venv" >said 2>&1; then
	skip "pip install" "no venv: $(tail -n 1 said)"
	done_testing
	exit
fi
if ! env -u PYTHONPATH "$venv/bin/pip" install -q --disable-pip-version-check --target setup 'setuptools>=77' >said 2>&1 && [ -z "${CI-}" ]; then
	skip "pip install" "no setuptools to be had"
	done_testing
	exit
fi
ok "the sources that are published" published
pip_install PATH="$PATH" >said 2>&1 || cat said
ok "pip install" says 0 '^ocular-trace ' "$venv/bin/pip" list
ok "it has all parts of make install" parts_are_all
ok "with its type hints" [ -e "$(echo "$venv"/lib/python3*/site-packages/ocular/py.typed)" ]
ok "the header for C is where ocular.get_include() says" [ -s "$("$venv/bin/python" -I -c 'import ocular; print(ocular.get_include())')/ocular.h" ]
ok "it has README's commands" commands_are_all
ok "the command records this Python's program" says 3 "^$venv/bin/python" \
	alone ocular record -o rec -c 'import sys; print(sys.executable); raise SystemExit(3)'
ok "the recording can be reported" says 0 'PY_START.<string>.<module>' alone ocular report rec --decoder libipt --events -
ok "the program finds the PATH as it was" path_is_kept
ok "ocular check" says 0 'extension built: .*venv/bin/python' env PATH="$venv/bin:$PATH" ocular check
lib=$(echo "$venv"/lib/python3*/site-packages/ocular/lib)
mv "$lib/find-pythons" found
ok "... where no Python has headers" says 0 'extension built: .*venv/bin/python' alone ocular check
mkdir tools && ln -s /usr/bin/* tools && rm -f tools/perf*
ok "... and no perf: what it would bring" says 0 'note *perf .*Intel PT .*; install ' alone PATH="$venv/bin:$scratch/tools" ocular check
mv found "$lib/find-pythons"
ok "python -m ocular is the same command" same_by_module help
ok "... with the same answer to what is not there" same_by_module frobnicate
ok "... and the same report" same_by_module report rec --decoder libipt
ok "... from any Python's options to none" says 2 "^ocular: python's own options do not reach a command: leave out -X dev," \
	alone python -X dev -m ocular report rec
ok "python -m ocular SCRIPT records it" says 3 '^here$' alone python -m ocular -o rec -c 'print("here"); raise SystemExit(3)'
echo 'print("a script")' >report
ok "a script that is called as a command" says 0 '^a script$' alone python -m ocular -o rec ./report
ln -s "$venv/bin/ocular" elsewhere
ok "the command by a link" says 0 '^ocular [0-9]' env -i PATH=/usr/bin:/bin ./elsewhere --version
mv "$venv" "$scratch/moved"
ok "the environment may move" says 0 '^here$' "$scratch/moved/bin/ocular" record -o rec -c 'print("here")'
mv "$scratch/moved" "$venv"

if qemu-x86_64 -help 2>/dev/null | grep -q '^-plugin'; then
	ok "the emulator says that it cannot run from a path with a blank" says 1 'install Ocular elsewhere than .*ocular test' \
		alone PATH="$venv/bin:$PATH" ocular record --backend qemu -o rec -c 1
else
	skip "the emulator says that it cannot run from a path with a blank" "no qemu-x86_64 with plugins"
fi

# Modules in site-packages that are called as Python's own: no Python imports those, whoever is looked for there.
site=$(echo "$venv"/lib/python3*/site-packages)
"$venv/bin/python" -c 'import sys; from importlib.util import find_spec
print(*filter(find_spec, sys.stdlib_module_names - {"__main__"}), sep="\n")' | while read -r name; do
	[ -e "$site/$name.py" ] || { echo 'raise ImportError("a module beside ocular")' >"$site/$name.py" && echo "$site/$name.py"; }
done >shadows
ok "there are such modules" [ "$(wc -l <shadows)" -gt 150 ]
ok "a program that is recorded imports none of them" says 0 '^here$' alone ocular record -o rec -c 'print("here")'
ok "... nor with a trigger" says 0 '^here$' alone ocular record -o rec --flight 1s --trigger-exception KeyError -c 'print("here")'
ok "... nor one that listens" says 0 '^here$' alone python -m ocular --listen -c 'print("here")'
ok "... nor does ocular ps" says 0 '^ *PID ' alone ocular ps
ok "... nor python -m ocular" says 0 '^ocular [0-9]' alone python -m ocular --version
tr '\n' '\0' <shadows | xargs -0 rm

# What the distribution `ocular` of PyPI, another project, does to the package.
cp "$site/ocular/__init__.py" ours
echo 'import hestia' >"$site/ocular/__init__.py"
ok "another project's package of that name is told" says 125 "^ocular: another project's package .ocular. has overwritten" \
	alone ocular record -o rec -c 'print("here")'
mv ours "$site/ocular/__init__.py"

lacking intel-pt.h
if command -v apt-get >/dev/null; then
	ok "a library that is missing ends the installation, and is named" says 1 \
		'error: ocular cannot be built here: packages are missing. Install them with: .* libipt-dev' pip_install PATH="$scratch/lacking:$PATH"
else
	skip "a library that is missing ends the installation, and is named" "no apt-get"
fi
done_testing
