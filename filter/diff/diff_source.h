/* SPDX-License-Identifier: MIT */
/*
 * diff_source.h - a function's source on both sides, side by side: equal lines beside each other (a longest common
 * subsequence), what is between them as far as it goes.
 */
#pragma once

#include "diff.h"

#define DIFF_LINES 400 /* more of one function are not read */

enum diff_source_state {
	DIFF_SOURCE_SAME,    /* known of both sides, and the same */
	DIFF_SOURCE_CHANGED, /* and not the same */
	DIFF_SOURCE_UNKNOWN, /* the bytecode's length changed, but a side's source is not known */
	DIFF_SOURCE_SILENT,  /* nothing is known, or nothing says that it changed */
};

enum diff_source_state diff_source_state(const struct diff_pair *pair);

/* Why a side's lines are not known; NULL: its summary does not say. */
const char *diff_source_why(const struct diff_item *item);

/* Lines beside each other, numbered from 0; -1: there is none on that side. */
struct diff_row {
	int a, b;
	bool same;
};

/* Of a changed one. *n rows in one malloc'ed array; NULL: no memory. */
struct diff_row *diff_source_rows(const struct diff_pair *pair, size_t *n);

/* A line of a side. */
const char *diff_source_line(const struct diff_item *item, int line);

/* Does the source go on behind the last line that is known? */
bool diff_source_is_cut(const struct diff_item *item);
