#!/bin/sh
# bare.sh PYTHON RESTRICTION PAGES: in a tree made by scripts/bare: it is as bare as its row says, pip installs the
# wheel, and the commands that these pages show run there.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
python=$1 restriction=$2 pages=$3 home=

lacks() { for tool; do ! command -v "$tool" || return; done; }
fails() { ! "$@"; }
# ptrace, perf_event_open, process_vm_readv, process_vm_writev: with these arguments no other answer is "not permitted".
forbidden() {
	"$python" -c 'import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
def answer(number):
    return ctypes.get_errno() if libc.syscall(number, -1, 0, 0, 0, 0, 0) else 0
sys.exit({answer(number) for number in (101, 298, 310, 311)} != {errno.EPERM})'
}
install() {
	"$python" -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install --no-index --disable-pip-version-check \
		--find-links "$build/wheels/dist" ocular-trace
}

ok "nothing but a Python" lacks gcc cc make git perf qemu-x86_64 gdb strace curl
case $restriction in
none)
	ok "shared memory" touch /dev/shm/mine
	! forbidden || skip "without restriction" "this machine itself forbids ptrace and perf_event_open"
	;;
read-only-home)
	home=$HOME
	ok "the home cannot be written" fails touch "$HOME/mine"
	;;
no-dev-shm) ok "no /dev/shm" [ ! -e /dev/shm ] ;;
no-ptrace) ok "ptrace, perf_event_open and process_vm_* are forbidden" forbidden ;;
*) ok "a known restriction" false ;;
esac
ok "pip installs the wheel" says 0 '^Successfully installed ocular-trace' install
done_testing
exec "$python" "$root/tests/wrapper/blocks.py" "$scratch/venv/bin" "$pages" ${home:+"$home"}
