/* SPDX-License-Identifier: MIT */
/* losses.h - everything that may be missing from a trace or uncertain in it, as one table. */
#pragma once

#include "profile.h"

#define LOSSES	      15
#define LOSSES_ALWAYS 14 /* in the summary even if there are none */

struct loss {
	const char *key; /* in the summary JSON */
	uint64_t count;
	const char *what; /* for people, after the count; plural unless the count is 1 */
};

/* Fills in all rows, including those with count 0. Returns how many are not 0. */
unsigned losses_of(const struct profile *p, struct loss rows[static LOSSES]);

/* The text after the count of EXTENSION words whose kind no report uses (docs/marker.md). They are not lost. */
const char *losses_skipped(uint64_t count);

/*
 * In one line of text, with at most `most` columns for each name: which option matched nothing, and what may have been
 * meant. Malloc'ed; NULL: no memory.
 */
char *losses_unmatched(const struct unmatched *u, size_t most);
