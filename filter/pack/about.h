/* SPDX-License-Identifier: MIT */
/*
 * about.h - the first file of a packed recording, ABOUT_NAME: what the recording is of, and which files it has. So who
 * opens it with other tools knows what it is, and of one that was cut off it is known what is missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "tar.h"

#define ABOUT_NAME   "about.json"
#define ABOUT_FORMAT 1 /* of the packed file */
#define ABOUT_DATA   "perf.data"

#define ABOUT_NAME_MOST 80u /* the names of its pieces are longer */

struct about_file {
	char name[ABOUT_NAME_MOST + 1];
	uint64_t size;
	time_t changed;
};

/* Zeroed: no files. */
struct about {
	struct about_file *files;
	size_t n;
	char left[256]; /* what about_list left out: a folder, a link, a name that about_is_name refuses; "" */
};

/* Is it a perf.data, which is packed as columns? A recorder that switches its output makes perf.data.TIMESTAMP. */
bool about_is_data(const char *name);

/* Is it a code table, codes-PID.jsonl? */
bool about_is_table(const char *name);

/* May a packed recording have a file of that name? Not hidden, in no folder, of characters that do nothing but show. */
bool about_is_name(const char *name);

/* Is that in a recording's folder, but no part of the recording: sockets and locks, what `ocular view` made? */
bool about_is_other(const char *name);

/* The recording's files in a folder, those with traces last. 0 or -errno; about_free in either case. */
int about_list(struct about *a, int folder);

/* One more file, in its place. 0 or -ENOMEM. */
int about_add(struct about *a, const char *name, uint64_t size, time_t changed);

/* The text, malloc'ed: version is Ocular's. NULL: no memory. */
char *about_text(const struct about *a, int folder, const char *version);

/* Reads the list. False: that is no such text. about_free in either case. */
bool about_read(struct about *a, const char *text, size_t n);

const struct about_file *about_find(const struct about *a, const char *name);

uint64_t about_size(const struct about *a);

void about_free(struct about *a);
