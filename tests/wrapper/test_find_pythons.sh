#!/bin/sh
# scripts/find-pythons starts each candidate once, and none whose name says that it is too old. In folders whose Pythons only say
# that they were started.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$scratch" || exit 1
python() {
	mkdir -p "${1%/*}"
	printf '#!/bin/sh\necho "%s" >>"%s/started"\necho "builds %s /%s"\n' "$1" "$scratch" "$2" "$1" >"$1"
	chmod +x "$1"
}
for name in python3 python3.6 python3.11 python3.12; do python "first/$name" cpython-312; done
python second/python3.13t cpython-313t
ln -s first again
for version in 2.7.18 3.9.18 3.11.7 3.13.0 mine; do python "pyenv/versions/$version/bin/python3" "cpython-$version"; done
found() { env -u PYTHON PYENV_ROOT="$scratch/pyenv" PATH="$scratch/first:$scratch/second:$scratch/again:/usr/bin:/bin" "$root/scripts/find-pythons"; }
ok "it finds one for each binary interface" says 0 '^/first/python3$' found
found >list
ok "... and those of pyenv" [ "$(grep -c -x -e /second/python3.13t -e /pyenv/versions/3.13.0/bin/python3 -e /pyenv/versions/mine/bin/python3 list)" = 3 ]
rm started
found >list
ok "each is started once, and none that is older by its name" [ "$(paste -sd' ' started)" = \
	"first/python3 first/python3.12 second/python3.13t pyenv/versions/3.13.0/bin/python3 pyenv/versions/mine/bin/python3" ]
done_testing
