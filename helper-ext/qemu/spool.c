/* SPDX-License-Identifier: MIT */
/* spool.c - see spool.h. Space is allocated, so that a full disk is an error, not a SIGBUS. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spool.h"

static void *map(int fd, uint64_t at, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_DONTFORK);
	return p;
}

static uint8_t *map_window(int fd, uint64_t at)
{
	int err = posix_fallocate(fd, (off_t)(SPOOL_HEAD + at), SPOOL_WINDOW);

	if (err) {
		errno = err;
		return NULL;
	}
	return map(fd, SPOOL_HEAD + at, SPOOL_WINDOW);
}

int spool_open(struct spool *s, const char *path, const struct spool_head *head)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	*s = (struct spool){ .at = 0 };
	snprintf(s->path, sizeof(s->path), "%s", path);
	err = posix_fallocate(fd, 0, SPOOL_HEAD);
	errno = err;
	s->head = err ? NULL : map(fd, 0, SPOOL_HEAD);
	s->window = s->head ? map_window(fd, 0) : NULL;
	err = s->window ? 0 : -errno;
	close(fd);
	if (err)
		spool_close(s);
	else
		*s->head = *head;
	return err;
}

int spool_next(struct spool *s)
{
	int fd = open(s->path, O_RDWR | O_CLOEXEC), err;
	uint8_t *window = fd < 0 ? NULL : map_window(fd, s->at + SPOOL_WINDOW);

	err = window ? 0 : -errno;
	if (fd >= 0)
		close(fd);
	if (err) {
		s->head->lost = 1;
		return err;
	}
	munmap(s->window, SPOOL_WINDOW);
	s->window = window;
	s->at += SPOOL_WINDOW;
	return 0;
}

void spool_close(struct spool *s)
{
	if (s->window)
		munmap(s->window, SPOOL_WINDOW);
	if (s->head)
		munmap(s->head, SPOOL_HEAD);
	spool_forget(s);
}
