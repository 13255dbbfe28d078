/* SPDX-License-Identifier: MIT */
/*
 * table.h - a table of the report: numbers in columns, a name at the end.
 *
 * It is written when all rows are known: each column has one notation for all its numbers, no two names look alike
 * (names.h), and a wide terminal has more columns.
 */
#pragma once

#include <math.h>

#include "names.h"
#include "report_write.h"

#define TABLE_COLUMNS 20
#define TABLE_GROUP   22

/* What the numbers of a column are, and how wide it is at least: its head may be longer. */
enum column_kind {
	COLUMN_SHARE, /* 0..1; six columns */
	COLUMN_SPAN,  /* ns; eight */
	COLUMN_COUNT, /* also cycles; seven */
};

struct table_column {
	const char *head;
	enum column_kind kind;
	unsigned from; /* width of the line from which on it is shown */
};

struct table_row {
	const char *group;	  /* a first column, NULL: the table has none. Owned by the caller */
	double of[TABLE_COLUMNS]; /* NAN: "-" */
	struct name name;	  /* without code, its text is set, and static or owned by the caller */
};

struct table {
	const struct table_column *columns;
	size_t ncolumns;
	const char *last;    /* head of the names */
	const char *group;   /* head of the groups; NULL: there are none */
	unsigned group_most; /* columns of theirs in WIDTH_LEAST, with the two blanks behind them; 0: TABLE_GROUP */
};

/* The head, and the rows. 0 or -ENOMEM. */
int table_write(const struct report *r, const struct table *t, struct table_row *rows, size_t n);
