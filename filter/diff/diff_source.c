// SPDX-License-Identifier: MIT
#include "diff_source.h"

#include <stdlib.h>
#include <string.h>

static json_t *lines_of(const struct diff_item *item)
{
	json_t *lines = json_object_get(item->source, "lines");

	return json_array_size(lines) ? lines : NULL;
}

static int count(const struct diff_item *item)
{
	size_t n = json_array_size(lines_of(item));

	return n < DIFF_LINES ? n : DIFF_LINES;
}

const char *diff_source_line(const struct diff_item *item, int line)
{
	return json_string_value(json_array_get(lines_of(item), line)) ?: "";
}

const char *diff_source_why(const struct diff_item *item)
{
	return json_string_value(json_object_get(item->source, "why"));
}

bool diff_source_is_cut(const struct diff_item *item)
{
	return json_is_false(json_object_get(item->source, "whole")) || json_array_size(lines_of(item)) > DIFF_LINES;
}

static json_t *length(const struct diff_item *item)
{
	json_t *n = json_object_get(item->specialization, "instructions");

	return json_is_integer(n) ? n : NULL;
}

enum diff_source_state diff_source_state(const struct diff_pair *pair)
{
	json_t *a, *b;

	if (!pair->a || !pair->b)
		return DIFF_SOURCE_SILENT;
	a = lines_of(pair->a);
	b = lines_of(pair->b);
	if (a && b)
		return json_equal(a, b) ? DIFF_SOURCE_SAME : DIFF_SOURCE_CHANGED;
	a = length(pair->a);
	b = length(pair->b);
	return a && b && !json_equal(a, b) ? DIFF_SOURCE_UNKNOWN : DIFF_SOURCE_SILENT;
}

/* How many lines from (i, j) on are in both: [DIFF_LINES + 1] a row. */
typedef uint16_t common[DIFF_LINES + 1];

static bool same_line(const struct diff_pair *p, int i, int j)
{
	return !strcmp(diff_source_line(p->a, i), diff_source_line(p->b, j));
}

static void fill(common *c, const struct diff_pair *p, int n, int m)
{
	for (int i = n - 1; i >= 0; i--)
		for (int j = m - 1; j >= 0; j--)
			c[i][j] = same_line(p, i, j)	      ? c[i + 1][j + 1] + 1
				  : c[i + 1][j] > c[i][j + 1] ? c[i + 1][j]
							      : c[i][j + 1];
}

/* What is between equal lines: so many of A, so many of B. */
static void add_between(struct diff_row *rows, size_t *used, int i, int from_a, int j, int from_b)
{
	for (; from_a < i || from_b < j; from_a++, from_b++)
		rows[(*used)++] = (struct diff_row){ from_a < i ? from_a : -1, from_b < j ? from_b : -1, false };
}

static void walk(struct diff_row *rows, size_t *used, common *c, const struct diff_pair *p)
{
	int n = count(p->a), m = count(p->b), i = 0, j = 0, from_a = 0, from_b = 0;

	while (i < n && j < m) {
		if (same_line(p, i, j)) {
			add_between(rows, used, i, from_a, j, from_b);
			rows[(*used)++] = (struct diff_row){ i++, j++, true };
			from_a = i;
			from_b = j;
		} else if (c[i + 1][j] >= c[i][j + 1]) {
			i++;
		} else {
			j++;
		}
	}
	add_between(rows, used, n, from_a, m, from_b);
}

struct diff_row *diff_source_rows(const struct diff_pair *pair, size_t *n)
{
	int a = count(pair->a), b = count(pair->b);
	struct diff_row *rows = calloc(a + b + 1, sizeof(*rows));
	common *c = calloc(a + 1, sizeof(*c));

	*n = 0;
	if (rows && c) {
		fill(c, pair, a, b);
		walk(rows, n, c, pair);
	} else {
		free(rows);
		rows = NULL;
	}
	free(c);
	return rows;
}
