/* SPDX-License-Identifier: MIT */
/*
 * source.h - lines of source files, read at analysis time, if the files have not changed since the run. What came with
 * the recording (SOURCE_FILE: `ocular pack`) comes first: a JSON object for each file, {"file": NAME, "text": TEXT},
 * one a line.
 *
 * File names come from the recording, which is not trusted, and the lines may go into a page that is passed on. So only
 * regular files with an absolute name that look like Python are read, and only up to SOURCE_SIZE_MOST bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SOURCE_SIZE_MOST (8u << 20)
#define SOURCE_FILE	 "sources.jsonl"

/* All source files asked for so far. Zeroed: none yet. */
struct sources {
	struct source *first;
	const char *dir; /* the recording's folder; NULL: not known, or what came with the recording has been read */
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

/*
 * The file's text, malloc'ed, by the same rules. NULL: *why says why not.
 */
char *source_text(const char *file, int64_t recorded_ns, const char **why);

/* Line `number`, counted from 1; NULL where there is none. */
const char *source_line(const struct source *s, int64_t number);

void sources_free(struct sources *s);
