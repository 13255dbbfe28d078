/* SPDX-License-Identifier: MIT */
/* folder.c - a folder is a recording's if it contains only what a recording leaves there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "control.h"
#include "folder.h"
#include "perfdata.h"
#include "shared/own_file.h"
#include "shared/ring.h"
#include "socket.h"

static const char *const ours[] = { FOLDER_DATA, FOLDER_DATA ".2*", "codes-*.jsonl", "sources.jsonl",
				    RING_SOCKET, CONTROL_FIFO,	    ".attach*",	     ".",
				    ".." };

/* What `ocular view` makes of a recording beside it: they go where it goes, but make no recording of a folder. */
static const char *const views[] = { "report.html", "trace.pftrace" };

static bool is_one_of(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

static bool is_ours(const char *name)
{
	return is_one_of(ours, sizeof(ours) / sizeof(*ours), name);
}

static bool is_view(const char *name)
{
	return is_one_of(views, sizeof(views) / sizeof(*views), name);
}

/* Of a file of ours: is it one that only a recording has? */
static bool is_recorded(const char *name)
{
	return name[0] != '.' || strcmp(name, RING_SOCKET) == 0 || strcmp(name, CONTROL_FIFO) == 0;
}

enum content { NOTHING_THERE, EMPTY, RECORDING, SOMETHING_ELSE, ANOTHERS, UNREADABLE /* errno says why */ };

/*
 * Can anybody else put files and links there? If each user has a group of their own, their folders often belong to it.
 */
static bool is_anothers(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & S_IWOTH ||
	       (st.st_mode & S_IWGRP && st.st_gid != getegid());
}

static enum content look_into(const char *dir)
{
	enum content content = EMPTY;
	struct dirent *entry;
	bool viewed = false;
	DIR *d = opendir(dir);

	if (!d)
		return errno == ENOENT ? NOTHING_THERE : UNREADABLE;
	if (is_anothers(dirfd(d)))
		content = ANOTHERS;
	while (content != ANOTHERS && content != SOMETHING_ELSE && (entry = readdir(d))) {
		if (is_view(entry->d_name))
			viewed = true;
		else if (!is_ours(entry->d_name))
			content = SOMETHING_ELSE;
		else if (is_recorded(entry->d_name))
			content = RECORDING;
	}
	closedir(d);
	return content == EMPTY && viewed ? SOMETHING_ELSE : content;
}

/*
 * A recorder has the lock of its folder from before it writes there until it ends, however it ends. So of several that
 * begin at once one gets the folder, and nobody moves it. A file system without locks has but the socket, later.
 */
static bool is_alone(int fd, const char *dir)
{
	struct stat opened, there;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return false;
	/* Another one may have moved it away meanwhile. */
	return fstat(fd, &opened) == 0 && stat(dir, &there) == 0 && opened.st_dev == there.st_dev &&
	       opened.st_ino == there.st_ino;
}

/* The folder, locked, so that it can be moved or removed; -EBUSY: a recorder is at work in it. */
static int claim(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	if (is_alone(fd, dir) && !socket_is_heard(fd))
		return fd;
	close(fd);
	return -EBUSY;
}

/* perf record makes files of that name, too: a recording has code tables, or the recorder wrote its perf.data. */
static bool is_made_by_us(DIR *d)
{
	struct dirent *entry;
	bool made = false;
	int fd;

	while (!made && (entry = readdir(d)))
		made = fnmatch("codes-*.jsonl", entry->d_name, 0) == 0;
	rewinddir(d);
	if (made)
		return true;
	fd = own_file(dirfd(d), FOLDER_DATA, O_RDONLY);
	made = fd < 0 ? fd == -ENOENT : perfdata_is_ours(fd);
	if (fd >= 0)
		close(fd);
	return made;
}

static int remove_recording(const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	bool made = d && is_made_by_us(d);

	if (!d)
		return -errno;
	while (made && (entry = readdir(d)))
		if (entry->d_type != DT_DIR)
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	if (!made)
		return -ENOTEMPTY;
	return rmdir(dir) < 0 ? -errno : 0;
}

static int remove_old(const char *old)
{
	int fd, err;

	switch (look_into(old)) {
	case NOTHING_THERE:
		return 0;
	case ANOTHERS:
	case SOMETHING_ELSE:
	case UNREADABLE:
		return -ENOTEMPTY;
	default:
		break;
	}
	fd = claim(old);
	if (fd < 0)
		return fd == -EBUSY ? -ETXTBSY : -ENOTEMPTY;
	err = remove_recording(old);
	close(fd);
	return err;
}

/* Moves the recording in `dir` to dir.old. */
static int move_away(const char *dir)
{
	char old[PATH_MAX];
	int fd = claim(dir), err;

	if (fd < 0)
		return fd;
	err = snprintf(old, sizeof(old), "%s.old", dir) >= (int)sizeof(old) ? -ENAMETOOLONG : remove_old(old);
	if (!err && rename(dir, old) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int open_folder(struct folder *f, const char *dir)
{
	f->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (f->fd < 0 || (f->made && fchmod(f->fd, 0700) < 0) || !realpath(dir, f->path))
		return -errno;
	if (is_anothers(f->fd)) /* it may have changed since it was checked */
		return -EPERM;
	return is_alone(f->fd, dir) ? 0 : -EBUSY;
}

int folder_create(struct folder *f, const char *dir)
{
	char name[PATH_MAX], there[PATH_MAX];
	size_t len = strlen(dir);
	int err = 0;

	if (!len || len >= sizeof(name))
		return len ? -ENAMETOOLONG : -ENOENT;
	while (len > 1 && dir[len - 1] == '/')
		len--;
	memcpy(name, dir, len);
	name[len] = '\0';
	if (realpath(name, there)) /* the folder that a link leads to moves, not the link */
		strcpy(name, there);
	switch (look_into(name)) {
	case SOMETHING_ELSE:
		return -EEXIST;
	case ANOTHERS:
		return -EPERM;
	case UNREADABLE:
		return -errno;
	case RECORDING:
		err = move_away(name);
		break;
	default:
		break;
	}
	f->made = !err && mkdir(name, 0700) == 0;
	if (!err && !f->made && errno != EEXIST)
		err = -errno;
	return err ? err : open_folder(f, name);
}

void folder_leave(const struct folder *f)
{
	flock(f->fd, LOCK_UN);
}

void folder_cancel(const struct folder *f)
{
	if (f->made)
		rmdir(f->path);
}

const char *folder_refusal(int err)
{
	switch (err) {
	case -EEXIST:
		return " holds something other than a recording";
	case -ENOTEMPTY:
		return ".old holds something other than a recording";
	case -EPERM:
		return " belongs to another user, or others may write into it: choose another folder with -o (output= "
		       "in Python)";
	case -EBUSY:
		return " is being recorded into: choose another folder with -o (output= in Python)";
	case -ETXTBSY:
		return ".old is being recorded into: choose another folder with -o (output= in Python)";
	}
	return NULL;
}

uint64_t folder_share(const struct folder *f)
{
	const uint64_t most = 4ull << 30;
	struct statvfs disk;
	uint64_t tenth = fstatvfs(f->fd, &disk) ? most : (uint64_t)disk.f_bavail * disk.f_frsize / 10;

	return tenth < most ? tenth : most;
}
