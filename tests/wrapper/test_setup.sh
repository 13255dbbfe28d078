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
	says 0 'apt-get .*install .*gcc libc6-dev libipt-dev libjansson-dev zlib1g-dev libzstd-dev linux-perf' setup --dry-run
if [ -z "$(on_machine scripts/find-pythons 2>/dev/null)" ]; then
	ok "the newest Python of the distribution" says 0 ' python3\.13-dev' setup --dry-run
else
	skip "the newest Python of the distribution" "this machine has one in /usr/bin"
fi
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

machine fedora
fake dnf 'echo dnf'
ok "another package manager, other names" says 0 'dnf .* libipt-devel jansson-devel' setup --dry-run

done_testing
