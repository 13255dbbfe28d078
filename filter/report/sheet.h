/* SPDX-License-Identifier: MIT */
/*
 * sheet.h - the tables of functions and of loops: which columns they have, and rows of them.
 *
 * What a column needs to be known is in its row of a table in sheet.c, and so is how wide a terminal must be for it.
 */
#pragma once

#include "report_write.h"
#include "summed.h"
#include "table.h"

struct figure_column;

/* The columns whose needs are met. */
struct sheet {
	const char *head, *by; /* of the names; of what it is taken apart by, or NULL */
	const struct figure_column *shown[TABLE_COLUMNS];
	struct table_column columns[TABLE_COLUMNS];
	size_t n;
};

struct sheet sheet_functions(const struct report *r);
struct sheet sheet_c_functions(const struct report *r);
struct sheet sheet_loops(const struct report *r);

struct table_row sheet_row(const struct report *r, const struct sheet *sheet, const struct summed *s);

/* An empty line, and the table of these rows, or of the first n of `all`. 0 or -ENOMEM. */
int sheet_write_rows(const struct report *r, const struct sheet *sheet, struct table_row *rows, size_t n);
int sheet_write(const struct report *r, const struct sheet *sheet, const struct summed *all, size_t n);

#define SHEET_LABEL 80 /* bytes of the text of a row */

/* "4711", "4711/4712 worker-1", the name of a coroutine. */
void sheet_group(const struct report *r, const struct group *g, char label[SHEET_LABEL]);

/* A sum of functions: what they call is not added up, since they call each other. */
struct fold {
	struct summed sum;
	size_t functions;
	char label[SHEET_LABEL];
};

void fold_add(struct fold *f, const struct summed *s);
struct table_row sheet_fold(const struct report *r, const struct sheet *sheet, struct fold *f);

/* The row of all waiting, in no share, since shares are of what does not wait. False: it is not known. */
bool sheet_waiting(const struct report *r, const struct sheet *sheet, struct table_row *row);

/* How many come first and are worth a row: one at least, if there is any. */
size_t sheet_worth(const struct summed *all, size_t n);
