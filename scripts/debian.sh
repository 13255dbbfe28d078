# shellcheck shell=sh
# debian.sh - trees of a Debian suite, from the mirror that this machine itself uses. Sourced, with $root set.

PATH=$PATH:/usr/sbin:/sbin # mmdebstrap and chroot; su may leave these out

debian_mirror() {
	# shellcheck disable=SC2016 # apt's own placeholder
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n 1
}

# What a step of tests prints when it cannot run here: a skip for people, a failure for CI.
cannot() {
	echo "${0##*/}: $*" >&2
	if [ -n "${CI-}" ]; then echo "0 passed, 1 failed, 0 skipped" && exit 1; fi
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

can_make_trees() {
	[ "$(id -u)" = 0 ] || cannot "skipped: making a tree needs root"
	for tool in mmdebstrap unshare apt-get; do
		command -v $tool >/dev/null || cannot "skipped: no $tool here"
	done
}

# make_tree SUITE FOLDER OPTION...: anew if the script that wants it is newer; who asks meanwhile waits. The tree is thrown
# away after tests and its packages are signed: a mirror that is a few weeks behind will do, hence no Valid-Until.
# mmdebstrap mounts /proc, /sys and parts of /dev in the tree. When it is killed they stay, and 'rm -rf build' would go
# through them: so they are in a namespace that ends with it.
make_tree() {
	mkdir -p "${2%/*}"
	(flock 9 && make_tree_now "$@") 9>"$2.lock"
}
make_tree_now() {
	[ ! -d "$2" ] || [ -n "$(find "$0" -newer "$2")" ] || return 0
	suite=$1 folder=$2 site=$(debian_mirror)
	shift 2
	[ -n "$site" ] || { echo "${0##*/}: this machine's package sources have no Debian mirror" >&2 && return 1; }
	echo "${0##*/}: making a tree of Debian $suite in ${folder#"$root"/}"
	rm -rf --one-file-system "$folder.part" "$folder"
	unshare --mount --propagation private \
		mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' "$@" \
			"$suite" "$folder.part" "$site" </dev/null || return
	mkdir "$folder.part/ocular"
	mv "$folder.part" "$folder"
}

# mount_view TREE BUILD: the checkout is seen in the tree as /ocular, read-only, with this build folder. All mounts are
# in a namespace that ends with the script, however it ends: nothing has to be unmounted, and 'rm -rf build' can never
# reach through one.
mount_view() {
	mkdir -p "$root/build"
	mount --bind "$root" "$1/ocular"
	mount -o remount,bind,ro "$1/ocular"
	mount --bind "$2" "$1/ocular/build"
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount -t tmpfs tmpfs "$1/tmp"
}
