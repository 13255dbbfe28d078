/* SPDX-License-Identifier: MIT */
/*
 * lines.h - the lines of an open file, one after another.
 *
 * Read by large pieces into memory that all of them share, in which the lines stay where they were read: each byte is
 * copied once, and no memory is touched for the first time but that of the first pieces. getline() copies each twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A zeroed one with an fd is at the file's position. */
struct lines {
	int fd; /* the caller's */
	char *bytes;
	size_t room, from, to; /* what was read and not yet returned is from..to */
	bool failed;	       /* no memory for a line */
};

/*
 * The next line with its newline, which only the last one can lack; valid until the next call. NULL: there is none, it
 * cannot be read, or `failed`.
 */
const char *lines_next(struct lines *l, size_t *length);

/* Not the fd. */
void lines_free(struct lines *l);
