/* SPDX-License-Identifier: MIT */
/* firefox_json.h - pieces of JSON for an open file: texts, times, and tables of columns. */
#pragma once

#include "base/out.h"

void firefox_put(struct out *out, const char *json);
void firefox_put_number(struct out *out, uint64_t n);

/* A string, or null for NULL. Where there is no memory, out->err says so. */
void firefox_put_text(struct out *out, const char *text);

/* ns as milliseconds, to the last digit. */
void firefox_put_ms(struct out *out, uint64_t ns);

/* Writes a column's value in a row of what `of` has. */
typedef void (*firefox_cell)(struct out *out, const void *of, uint32_t row);

struct firefox_column {
	const char *name;
	firefox_cell cell; /* NULL: all rows have `same` */
	const char *same;
};

/* Members of an object with `n` rows: its length and its columns, up to one without a name. */
void firefox_put_columns(struct out *out, uint32_t n, const struct firefox_column *columns, const void *of);
