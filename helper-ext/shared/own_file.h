/* SPDX-License-Identifier: MIT */
/*
 * own_file.h - opens files in a recording's folder: only our own, never through a link, never waiting for the other end
 * of a FIFO.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int own_file_check(int fd, mode_t type)
{
	struct stat st;
	int err = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		err = -errno;
	else if ((st.st_mode & S_IFMT) != type || st.st_uid != geteuid())
		err = -EPERM;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* The folder, for openat(); or a negative errno, -EPERM: it is another user's. */
static inline int own_folder(const char *dir)
{
	return own_file_check(open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), S_IFDIR);
}

/*
 * A regular file of ours in it, created with mode 0600 if `flags` has O_CREAT; or a negative errno, -EPERM: it is not
 * one.
 */
static inline int own_file(int folder, const char *name, int flags)
{
	return own_file_check(openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), S_IFREG);
}
