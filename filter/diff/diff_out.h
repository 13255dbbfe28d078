/* SPDX-License-Identifier: MIT */
/* diff_out.h - a comparison as text, as Markdown, as JSON, and as a page (docs/diff.md). */
#pragma once

#include <stdio.h>

#include "diff_totals.h"

#define DIFF_SCHEMA 1
#define DIFF_WIDTH  80 /* columns of the text, at least */

/* What was compared, and how. */
struct diff_report {
	const struct diff_side *a, *b;
	const struct diff *diff;
	struct diff_rules rules;
	struct diff_total totals[DIFF_TOTALS];
	unsigned totals_over;
	struct diff_count *counts;
	size_t ncounts;
	double scale;	/* cycles of A that equal one of B */
	bool cpu;	/* cycles are those on a CPU (diff_to_cpu()) */
	bool all;	/* text: also noise and equal ones */
	unsigned rows;	/* text: maximum rows of a table */
	unsigned width; /* text: of the terminal; 0: not known */
};

/* What is said of a kind, and of a verdict, for people. */
struct diff_words {
	const char *title, *unit, *times, *name, *names;
};

extern const struct diff_words diff_words[DIFF_KINDS];
extern const char *const diff_verdict_titles[DIFF_VERDICTS];

size_t diff_count(const struct diff *d, enum diff_kind kind, enum diff_verdict v);

/* Six characters: "+12.5%", " +104%", "  12x"; from nothing to something has no percentage: "   new". */
void diff_write_change(FILE *f, double change, double a, double b);

/* How many of a kind are not in tables of slower and faster ones, in one line. */
void diff_write_rest(FILE *f, const struct diff_report *r, enum diff_kind kind);

/* The last folder of a path, and the name. */
const char *diff_file(const char *file);

/* "QUALNAME, FILE:LINE", with as much of the path as fits; malloc'ed, NULL: no memory. May have control characters. */
char *diff_place(const struct diff_item *i, size_t most);

void diff_text(FILE *f, const struct diff_report *r);

/* The three lines that matter, then the rest. 0 or -ENOMEM. */
int diff_markdown(FILE *f, const struct diff_report *r);

/* A page that is complete in itself. 0 or -ENOMEM. */
int diff_html(FILE *f, const struct diff_report *r);

/* 0, -ENOMEM, or -EIO: f could not be written. */
int diff_json(FILE *f, const struct diff_report *r);
