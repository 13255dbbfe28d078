/* SPDX-License-Identifier: MIT */
/* report.h - the parts of the console report, each written to a stream. */
#ifndef OCULAR_REPORT_H
#define OCULAR_REPORT_H

#include <stdio.h>

#include "profile.h"

/* Escape sequences, or empty strings. */
struct paint {
	const char *title, *special, *plain;
};

/* What ran, for how long, and what a cycle is. */
void report_head(FILE *f, const struct profile *p, const struct paint *c);

/* The table of loops: the first n of them. */
void report_loops(FILE *f, const struct profile *p, struct loop *const *loops, size_t n,
		  const struct paint *c);

/* One loop's instructions. 0 or -ENOMEM. */
int report_body(FILE *f, const struct loop *loop, const struct paint *c);

/* The table of functions: the first n of them. */
void report_functions(FILE *f, const struct profile *p, struct code *const *functions, size_t n,
		      const struct paint *c);

/* Of which clock the cycles are, in words: no line of its own. */
void report_clock(FILE *f, const struct profile *p);

void report_losses(FILE *f, const struct profile *p, const struct paint *c);

#endif
