/* SPDX-License-Identifier: MIT */
/*
 * diff_totals.h - totals of two recordings, and how often each opcode ran.
 *
 * There is one total of each kind, so no spread to judge by. Those from counting alone are exact, and --fail-over
 * applies to them; total times are shown, not judged.
 */
#pragma once

#include "diff.h"

#define DIFF_TOTALS 5

struct diff_total {
	const char *key;  /* in the JSON */
	const char *name; /* for people */
	bool known;	  /* both sides have it */
	bool exact;
	double a, b;
	double change; /* 0.25: B has 25 % more; 0 if A has none */
	bool over;
};

/* Fills in all rows. Returns how many exceed the limits in rules. */
unsigned diff_totals(const struct diff_side *a, const struct diff_side *b, double scale, const struct diff_rules *rules,
		     struct diff_total rows[static DIFF_TOTALS]);

/* How often an opcode ran, on both sides. Names are the summaries'. */
struct diff_count {
	const char *base, *specialized;
	double a, b;
};

/*
 * All opcodes of both sides, the largest difference first, in one malloc'ed array of *n; NULL: no memory. None if a
 * summary does not have them, or they come from different sources (measured, derived).
 */
struct diff_count *diff_counts(const struct diff_side *a, const struct diff_side *b, size_t *n);

/* Where the opcodes come from: "measured", "derived"; NULL if they cannot be compared. */
const char *diff_counts_source(const struct diff_side *a, const struct diff_side *b);
