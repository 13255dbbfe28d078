#!/bin/sh
# pip install ./helper-ext: the package in a virtual environment records with what it brought along. pip fetches setuptools.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
python=$("$root/scripts/find-pythons" | tail -n 1)
cd "$scratch" || exit 1
cp -R "$root/helper-ext" .

# A Python of a distribution may lack it, and pip may be offline.
if ! env -u PYTHONPATH "$python" -m venv venv >said 2>&1; then
	skip "pip install" "no venv: $(tail -n 1 said)"
elif ! env -u PYTHONPATH venv/bin/pip install ./helper-ext >said 2>&1 && grep -q 'No matching distribution' said && [ -z "${CI-}" ]; then
	skip "pip install" "no setuptools to be had"
else
	ok "pip install" says 0 '^ocular ' venv/bin/pip list
	ok "it records" says 3 '^here$' env -u PYTHONPATH venv/bin/python -m ocular -o rec -c 'print("here"); raise SystemExit(3)'
	ok "with its type hints" [ -e "$(echo venv/lib/python3*/site-packages/ocular/py.typed)" ]
	ok "with a recorder of its own" [ -x "$(echo venv/lib/python3*/site-packages/ocular/bin/ocular-record)" ]
	ok "the recording can be reported" says 0 'PY_START.<string>.<module>' "$root/scripts/ocular" report rec --events -
fi
done_testing
