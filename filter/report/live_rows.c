// SPDX-License-Identifier: MIT
#include "live_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "shared/array.h"

int live_more(struct map *told, uint64_t key, uint64_t now[LIVE_NUMBERS])
{
	uint64_t *before = map_get(told, key) ?: map_add(told, key, LIVE_NUMBERS * sizeof(*before));
	int more = 0;

	if (!before)
		return -ENOMEM;
	for (unsigned i = 0; i < LIVE_NUMBERS; i++) {
		uint64_t until = now[i] > before[i] ? now[i] : before[i];

		now[i] = until - before[i];
		before[i] = until;
		more |= now[i] > 0;
	}
	return more;
}

int live_rows_add(struct live_rows *r, struct map *told, uint64_t key, struct live_row row)
{
	int more = live_more(told, key, row.numbers);

	if (more <= 0)
		return more;
	if (!ARRAY_ROOM(r->all, r->n, r->room))
		return -ENOMEM;
	r->all[r->n++] = row;
	return 0;
}

static int by_place(const void *x, const void *y)
{
	const struct live_row *a = x, *b = y;
	int order = strcmp(a->code->file, b->code->file) ?: strcmp(a->code->qualname, b->code->qualname);

	order = order ?: (a->code->firstlineno > b->code->firstlineno) - (a->code->firstlineno < b->code->firstlineno);
	return order ?: (a->line > b->line) - (a->line < b->line);
}

static int by_number(const void *x, const void *y, void *rank)
{
	const struct live_row *a = x, *b = y;
	uint64_t most = a->numbers[*(const unsigned *)rank], other = b->numbers[*(const unsigned *)rank];

	return most == other ? by_place(x, y) : most > other ? -1 : 1;
}

/* The same place is one row. */
static void merge(struct live_rows *r)
{
	size_t to = 0;

	qsort(r->all, r->n, sizeof(*r->all), by_place);
	for (size_t i = 1; i < r->n; i++) {
		if (by_place(&r->all[to], &r->all[i])) {
			r->all[++to] = r->all[i];
			continue;
		}
		for (unsigned k = 0; k < LIVE_NUMBERS; k++)
			r->all[to].numbers[k] += r->all[i].numbers[k];
		r->all[to].unknown |= r->all[i].unknown;
	}
	r->n = to + 1;
}

static json_t *row_json(const struct live_row *row, const struct live_names *names)
{
	json_t *o = json_pack("{s:o?,s:o?,s:I}", "file", json_text(row->code->file), "qualname",
			      json_text(row->code->qualname), "line", (json_int_t)row->line);

	for (unsigned i = 0; o && i < LIVE_NUMBERS && names->name[i]; i++)
		json_object_set_new(o, names->name[i],
				    row->unknown >> i & 1 ? json_null() : json_integer((json_int_t)row->numbers[i]));
	return o;
}

json_t *live_rows_json(struct live_rows *r, const struct live_names *names)
{
	unsigned rank = names->rank;
	json_t *array = json_array();

	if (r->n) {
		merge(r);
		qsort_r(r->all, r->n, sizeof(*r->all), by_number, &rank);
	}
	for (size_t i = 0; i < r->n; i++)
		array = json_append(array, row_json(&r->all[i], names));
	r->n = 0;
	return array;
}

void live_rows_free(struct live_rows *r)
{
	free(r->all);
	*r = (struct live_rows){ 0 };
}
