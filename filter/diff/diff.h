/* SPDX-License-Identifier: MIT */
/*
 * diff.h - two recordings of one program: which loops and functions got slower, and which differences
 * are noise.
 *
 * It judges the mean: cycles of a trip of a loop, and of an activation of a function without what it called. A
 * difference counts when it is larger than DIFF_SIGMAS of its standard errors (Welch: the square root of the sum of
 * deviation^2 / n of both sides). That many, because hundreds of comparisons are made at once; and what was timed less
 * than DIFF_ENOUGH times is not judged. It knows the spread within a recording only: what differs from run to run
 * (where memory lies, the processor's frequency) is not in it.
 */
#pragma once

#include "diff_read.h"

#define DIFF_SIGMAS 4.0
#define DIFF_ENOUGH 10

enum diff_verdict {
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_NOISE, /* the difference is within the spread */
	DIFF_SAME,  /* no difference at all */
	DIFF_FEW,   /* timed less than DIFF_ENOUGH times on a side: its spread says too little */
	DIFF_GONE,  /* in A only */
	DIFF_NEW,   /* in B only */
	DIFF_VERDICTS,
};

extern const char *const diff_verdict_names[DIFF_VERDICTS];

struct diff_pair {
	const struct diff_item *a, *b; /* NULL: DIFF_NEW, DIFF_GONE */
	const char *how;	       /* how they were matched: "" by file, name and lines; "moved", "other folder" */
	enum diff_verdict verdict;
	double change; /* of the mean, 0.25: B takes 25 % more; both 0 where A's is 0 */
	double error;  /* standard error of change */
	double weight; /* cycles that the difference makes */
	bool over;     /* slower by more than allowed, and large enough to matter */
};

struct diff_rules {
	double fail_over; /* allowed change of a mean; negative: any */
	double share;	  /* a place with a smaller share on both sides does not fail */
	bool exact;	  /* the clock counts instructions: any difference is one */
};

struct diff {
	struct diff_pair *pairs[DIFF_KINDS]; /* largest weight first */
	size_t n[DIFF_KINDS];
	size_t over;
};

/*
 * Matches and judges. scale: cycles of A that equal one of B. Marks the items of both sides as matched, and multiplies
 * the cycles of B. 0 or -ENOMEM.
 */
int diff_compare(struct diff *d, struct diff_side *a, struct diff_side *b, double scale,
		 const struct diff_rules *rules);
void diff_free(struct diff *d);

/* An instruction that was specialised differently. */
struct diff_opcode {
	int64_t offset, line;
	const char *base, *a, *b;
};

/*
 * Calls `report` for each instruction of the pair's loop whose specialised opcode differs. Returns how
 * many, or -1 if the bytecode itself differs, so that there is nothing to compare.
 */
int diff_opcodes(const struct diff_pair *pair, void (*report)(const struct diff_opcode *o, void *to), void *to);

/*
 * For a function, how many of its instructions were specialised, and how many could be but stayed base (-1: not known).
 * True if both sides know, and differ although the bytecode is as long.
 */
struct diff_specialized {
	int64_t a, b, base_a, base_b;
};

bool diff_specialized(const struct diff_pair *pair, struct diff_specialized *s);

/* Is there anything of it that was specialised differently? */
bool diff_is_otherwise(const struct diff_pair *pair, enum diff_kind kind);
