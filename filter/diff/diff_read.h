/* SPDX-License-Identifier: MIT */
/*
 * diff_read.h - one side of a comparison: the loops and functions of a summary JSON (docs/summary.md), with as much of
 * their distributions as judging a difference takes.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum diff_kind { DIFF_LOOPS, DIFF_FUNCTIONS, DIFF_KINDS };

/* The file of C functions. */
#define DIFF_C_FILE "~"

/* A loop, or a function. The same one in several processes is one. Strings are the JSON's. */
struct diff_item {
	const char *file, *qualname;
	int64_t firstlineno; /* of its function */
	int64_t line, head;  /* of the loop; the function's first line and 0 */
	double times;	     /* trips, activations */
	double share;	     /* 0..1: of the traced time */
	/* Cycles of a trip; of an activation, without what it called: */
	double n; /* how many of them were timed */
	double mean, deviation;
	double wall_mean;	/* the mean with waiting; that, unless diff_to_cpu() changed the mean */
	double median, p99;	/* negative: not known */
	double cpu_ns, wall_ns; /* of what was timed: on a CPU, and in all; cpu_ns is negative if it is not known */
	json_t *instructions;	/* of a loop; NULL: not known */
	json_t *specialization; /* of a function; NULL: not known */
	json_t *distribution;	/* of a loop: [[low, high, n], ...], cycles of trips with waiting; NULL: not known */
	json_t *source;		/* of a function; NULL: not known */
	bool matched;
};

struct diff_side {
	const char *name; /* as the user named it */
	json_t *json;
	const char *clock, *mode, *python, *argv;    /* "?" if the summary does not have it */
	double hz, traced_ns, traced_cycles, cpu_ns; /* cpu_ns: of traced_ns on a CPU; negative: not known */
	double preempted;			     /* noise_preempted(); 0: not known */
	uint64_t losses;			     /* sum over all kinds */
	uint32_t coarse;  /* the time was read for one marker of so many, and interpolated between; 0: for each */
	bool c_functions; /* it has some */
	struct diff_item *items[DIFF_KINDS];
	size_t n[DIFF_KINDS];
};

#define DIFF_ERROR 512

/*
 * Reads the summary at path. 0; -EINVAL or -ENOMEM with one line in error[DIFF_ERROR], and then
 * nothing is left to free.
 */
int diff_read(struct diff_side *s, const char *path, const char *name, char *error);

/*
 * From wall time to CPU time, if it is known of all of both sides: means and deviations in proportion to the part of
 * the place's time that was on a CPU, shares of the CPU time. How trips differ in CPU time alone is not known. True if
 * it was done.
 */
bool diff_to_cpu(struct diff_side *a, struct diff_side *b);

void diff_side_free(struct diff_side *s);

/* Orders items by place: file, qualname, lines, head. */
int diff_item_order(const struct diff_item *a, const struct diff_item *b);
