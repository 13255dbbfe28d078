#!/bin/sh
# scripts/setup on machines that lack things, played by a PATH that has only what is linked into it.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$root" || exit 1

# machine NAME TOOL…: a folder with these tools and what any machine has
machine() {
	bin=$scratch/$1
	shift
	mkdir -p "$bin"
	for tool in sh env dirname cat cut awk sed sort head tail paste grep find id mkdir rm basename "$@"; do
		ln -sf "$(command -v "$tool")" "$bin/$tool"
	done
}

# fake FILE BODY: a tool that only says what it was asked to do
fake() {
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1.new"
	chmod +x "$bin/$1.new"
	mv -f "$bin/$1.new" "$bin/$1"
}

on_machine() { env -u PYENV_ROOT -u PYTHON HOME="$scratch" OCULAR_BUILD="$scratch/build" PATH="$bin" "$@"; }
setup() { on_machine scripts/setup "$@"; }

ok "help" says 0 '^usage:' scripts/setup --help
with_cdpath() {
	mkdir -p "$scratch/elsewhere/scripts"
	[ "$(CDPATH=$scratch/elsewhere scripts/setup --help)" = "$(scripts/setup --help)" ]
}
ok "CDPATH leads nowhere else" with_cdpath
ok "an unknown purpose is refused" says 2 '^usage:' scripts/setup --for fun

machine bare
ok "no package manager: says what is needed" says 1 'no package manager.*compiles' setup

machine debian
fake apt-get 'echo "apt-get $*"'
fake apt-cache 'echo "python3.13-dev - headers"; echo "python3.11-dev - headers"'
ok "the command holds compiler, libraries, perf" \
	says 0 'apt-get .*install .*gcc libc6-dev libipt-dev libjansson-dev zlib1g-dev libdeflate-dev libzstd-dev linux-perf' setup --dry-run
# Where scripts/find-pythons finds one all the same, none is to be installed.
own_python=$(on_machine scripts/find-pythons 2>/dev/null)
without_python() { if [ -z "$own_python" ]; then ok "$@"; else skip "$1" "this machine has one in /usr/bin"; fi; }
without_python "the newest Python of the distribution" says 0 ' python3\.13-dev' setup --dry-run
ok "tests need more" says 0 'libcmocka-dev .*shellcheck' setup --for test --dry-run

fake id 'echo 1000'
ok "no right to install: prints the command, fails" \
	says 1 'No right to install; run: sudo .*apt-get .*libipt-dev' setup

fake id 'echo 0'
fake apt-get 'exit 0'
ok "one line with the reason for each package" says 1 '^setup: installing libipt-dev: ' setup
ok "what is still missing afterwards is told" says 1 'still missing\|no CPython' setup
fake apt-get 'echo "E: no network"; exit 100'
ok "a failed installation is told with its reason" says 1 'no network' setup

# The archive of a distribution whose default is one Python, and the newest another.
machine sid
fake apt-get 'echo "apt-get $*"'
# shellcheck disable=SC2016 # the fake expands it
fake apt-cache 'case $1 in
depends) [ "$2" != python3-dev ] || echo "  Depends: python3.14-dev" ;;
*) echo "python3.14-dev - headers"; echo "python3.15-dev - headers" ;;
esac'
# knows VERSION BUILDS: what a python3 of this machine says of itself
knows() { fake python3 "echo 'cpython $1 .cpython.so'; case \$* in *--to-build*) echo '$2' ;; esac"; }
headers() { setup --dry-run | tr ' ' '\n' | grep '^python3.*-dev$'; }
takes() { [ "$(headers)" = "$1" ]; }
without_python "no Python yet: the headers of the distribution's default, not the newest" takes python3.14-dev
knows 3.13.2 'unfit its headers are not installed'
ok "the headers of the python3 that there is" takes python3.13-dev
fake python3.15 "echo 'cpython 3.15.0 .cpython.so'; echo 'builds cpython-315-x /usr/bin/python3.15'"
ok "of that one, though a newer one has its headers already" takes python3.13-dev
knows 3.13.2 'builds cpython-313-x /usr/bin/python3'
ok "nothing, where it has them" takes ''
knows 3.11.2 'unfit ocular needs CPython 3.12 or newer; this is Python 3.11.2'
ok "a python3 that is too old is not asked for its headers" takes ''
rm "$bin/python3.15"
without_python "but a newer one is, the distribution's own" takes python3.14-dev
rm "$bin/python3"

# check and run take the same interpreter: what one of them says the other one does.
machine user
for tool in readlink uname perf cc find-pythons ls mktemp tr cmp dirname; do
	! command -v "$tool" >/dev/null || ln -sf "$(command -v "$tool")" "$bin/$tool"
done
knows 3.14.2 'unfit its headers are not installed'
check_says() { ocular scripts/ocular check | grep -q -e "$1"; }
ocular() { on_machine env OCULAR_BUILD="$build" "$@"; }
ok "run names what is there" says 1 'no extension for python3 (Python 3.14.2); its headers .*(package python3.14-dev .*make -C .* PYTHON=.*/python3$' \
	ocular scripts/ocular run -o "$scratch/r" app.py
ok "check says of it what run says" check_says 'note   Python     the default: no extension for python3 (Python 3.14.2)'
as_checked() {
	set -- env PATH="$bin:$PATH" PYENV_ROOT="${PYENV_ROOT-$HOME/.pyenv}"
	advised=$(ocular "$@" scripts/ocular check | sed -n 's/^This machine can .*: ocular run \(.*\)app.py$/\1/p')
	case $advised in *--python*) ;; *) return 1 ;; esac
	# shellcheck disable=SC2086 # two words
	ocular "$@" scripts/ocular run -q -o "$scratch/r" $advised -c 'print(1)'
}
if (unset PYTHON && scripts/find-pythons) >/dev/null 2>&1; then
	ok "what check advises runs" as_checked
else
	skip "what check advises runs" "no Python with headers on PATH"
fi

machine fedora
fake dnf 'echo dnf'
ok "another package manager, other names" says 0 'dnf .* libipt-devel jansson-devel' setup --dry-run

done_testing
