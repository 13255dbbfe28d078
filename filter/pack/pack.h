/* SPDX-License-Identifier: MIT */
/*
 * pack.h - a recording's folder as one file, and back: a tar in zstd frames, about.json first. Each frame is a piece
 * of one file, of at most TRANSPOSE_MOST bytes: `tar --zstd` reads all of it, and who looks for a place in perf.data
 * begins at the frame that has it. A perf.data becomes a tar file for each piece, perf.data.columns/000000 and so on,
 * and so does a code table, codes-PID.jsonl.rows/000000 (pieces.h).
 *
 * Memory does not depend on the length of the recording.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "advance.h"

#define PACK_ERROR  8192 /* a message with two paths */
#define PACK_SUFFIX ".ocular"

struct packed {
	bool sources;	       /* wanted: the program's own source files (named.h) */
	unsigned nsources;     /* that are in it */
	uint64_t size, packed; /* bytes, of the files and of the packed one */
	char left[256];	       /* the name of one that was left out, because it is not a file; "" */
};

/*
 * Packs the recording in `dir` into `path`, which is complete or absent, and replaces a file there. Nothing in `dir`
 * changes. p->sources is the caller's, the rest is told. 0, or -errno and why in error[PACK_ERROR].
 */
int pack(const char *dir, const char *path, const char *version, struct packed *p, struct advance *a, char *error);

/* Removes what pack() packed of `dir`, and `dir`. It must not have left anything out. The same errors. */
int pack_remove(const char *dir, char *error);

struct unpacked {
	uint64_t size, had; /* bytes, of all files and of those unpacked */
	unsigned files, missing;
	char cut[128];	 /* the file of which only a part came; "" */
	const char *why; /* not all is there: it is "cut off" or "damaged"; NULL: it is whole */
};

/*
 * Makes the folder `dir`, which must not exist, of the packed recording `path`: under its name when all is written. Of
 * a damaged one it writes what came before the damage, and u says what is missing. Nothing is written outside of `dir`.
 * 0, or -errno and why in error[PACK_ERROR]: then there is no `dir`.
 */
int unpack(const char *path, const char *dir, struct unpacked *u, struct advance *a, char *error);
