/* SPDX-License-Identifier: MIT */
/*
 * live_rows.h - rows of code with numbers that only grow: how much more each has than was told before.
 *
 * A row has what its place in the source has: the same one in several processes is one row.
 */
#pragma once

#include <jansson.h>

#include "base/map.h"
#include "code/code.h"

#define LIVE_NUMBERS 4

/* The names of the numbers in JSON, and by which of them rows are ranked; most first. */
struct live_names {
	const char *name[LIVE_NUMBERS];
	unsigned rank;
};

struct live_row {
	const struct code *code;
	int64_t line;
	uint64_t numbers[LIVE_NUMBERS];
	unsigned unknown; /* a bit for each of them that is not known: null */
};

struct live_rows {
	struct live_row *all;
	size_t n, room;
};

/*
 * What is more than was told before: `now` becomes that, and is what is told. What has become less is nothing more.
 * told: key -> what was told; never freed but as a whole. 1: there is more; 0: nothing; -ENOMEM.
 */
int live_more(struct map *told, uint64_t key, uint64_t now[LIVE_NUMBERS]);

/* Adds a row, whose numbers are all until now, with what is more, if anything. 0 or -ENOMEM. */
int live_rows_add(struct live_rows *r, struct map *told, uint64_t key, struct live_row row);

/* An array of them, of which nothing is left then. NULL: no memory. */
json_t *live_rows_json(struct live_rows *r, const struct live_names *names);

void live_rows_free(struct live_rows *r);
