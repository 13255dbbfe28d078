/* SPDX-License-Identifier: MIT */
/* diff_out.h - a comparison as text of 80 columns, as Markdown, and as JSON (docs/diff.md). */
#pragma once

#include <stdio.h>

#include "diff_totals.h"

#define DIFF_SCHEMA 1

/* What was compared, and how. */
struct diff_report {
	const struct diff_side *a, *b;
	const struct diff *diff;
	struct diff_rules rules;
	struct diff_total totals[DIFF_TOTALS];
	unsigned totals_over;
	struct diff_count *counts;
	size_t ncounts;
	double scale;  /* cycles of A that equal one of B */
	bool cpu;      /* cycles are those on a CPU (diff_to_cpu()) */
	bool all;      /* text: also noise and equal ones */
	unsigned rows; /* text: maximum rows of a table */
};

void diff_text(FILE *f, const struct diff_report *r);

/* The three lines that matter, then the rest. 0 or -ENOMEM. */
int diff_markdown(FILE *f, const struct diff_report *r);

/* 0, -ENOMEM, or -EIO: f could not be written. */
int diff_json(FILE *f, const struct diff_report *r);
