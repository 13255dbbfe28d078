/* SPDX-License-Identifier: MIT */
/*
 * source.h - lines of source files, read at analysis time, if the files have not changed since the run.
 *
 * File names come from the recording, which is not trusted, and the lines may go into a page that is passed on. So only
 * regular files with an absolute name that look like Python are read, and only up to SOURCE_SIZE_MOST bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SOURCE_SIZE_MOST (8u << 20)

/* All source files asked for so far. Zeroed: none yet. */
struct sources {
	struct source *first;
};

struct source {
	struct source *next;
	char *file;
	const char *why; /* why it has no lines; NULL: it has */
	size_t n;
	char **lines; /* [n]; any bytes but NUL and newline */
	char *text;
};

/*
 * The file, read when it is first asked for. recorded_ns: wall clock when the program started, since
 * the epoch; a file that was changed later has no lines. 0: not known, any file will do. Owned by s.
 * NULL: no memory.
 */
const struct source *sources_get(struct sources *s, const char *file, int64_t recorded_ns);

/* Line `number`, counted from 1; NULL where there is none. */
const char *source_line(const struct source *s, int64_t number);

void sources_free(struct sources *s);
