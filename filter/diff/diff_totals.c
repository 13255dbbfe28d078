// SPDX-License-Identifier: MIT
#include "diff_totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where a summary has a total, and when it comes from counting alone. */
static const struct {
	const char *key, *name, *object, *member;
	bool cycles;   /* of the clock: scaled, and exact if the clock is */
	bool measured; /* exact if opcodes were measured, otherwise not usable */
} sources[DIFF_TOTALS] = {
	{ "traced_cycles", "cycles traced", "trace", "traced_cycles", true, false },
	{ "instructions", "bytecodes", "opcodes", "count", false, true },
	{ "calls", "calls", "events", "PY_START", false, false },
	{ "jumps", "jumps", "events", "JUMP", false, false },
	{ "cpu_ns", "ns on a CPU", "trace", "cpu_ns", false, false },
};

const char *diff_counts_source(const struct diff_side *a, const struct diff_side *b)
{
	const char *left, *right;

	left = json_string_value(json_object_get(json_object_get(a->json, "opcodes"), "source"));
	right = json_string_value(json_object_get(json_object_get(b->json, "opcodes"), "source"));
	if (!left || !right || strcmp(left, right))
		return NULL;
	return left;
}

static json_t *value(const struct diff_side *s, size_t i)
{
	return json_object_get(json_object_get(s->json, sources[i].object), sources[i].member);
}

unsigned diff_totals(const struct diff_side *a, const struct diff_side *b, double scale, const struct diff_rules *rules,
		     struct diff_total rows[static DIFF_TOTALS])
{
	const char *source = diff_counts_source(a, b);
	bool measured = source && !strcmp(source, "measured");
	unsigned over = 0;

	for (size_t i = 0; i < DIFF_TOTALS; i++) {
		json_t *left = value(a, i), *right = value(b, i);
		struct diff_total *t = &rows[i];

		*t = (struct diff_total){ .key = sources[i].key, .name = sources[i].name };
		t->known = json_is_number(left) && json_is_number(right) && (measured || !sources[i].measured);
		t->exact = sources[i].measured || (sources[i].cycles && rules->exact);
		t->a = json_number_value(left);
		t->b = json_number_value(right) * (sources[i].cycles ? scale : 1);
		t->change = t->known && t->a > 0 ? t->b / t->a - 1 : 0;
		t->over = t->known && t->exact && rules->fail_over >= 0 && t->b > t->a * (1 + rules->fail_over);
		over += t->over;
	}
	return over;
}

static int by_name(const void *left, const void *right)
{
	const struct diff_count *a = left, *b = right;
	int order = strcmp(a->base, b->base);

	return order ? order : strcmp(a->specialized, b->specialized);
}

static int by_difference(const void *left, const void *right)
{
	const struct diff_count *a = left, *b = right;
	double x = fabs(a->b - a->a), y = fabs(b->b - b->a);

	return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

static size_t read_rows(struct diff_count *to, json_t *rows, bool is_b)
{
	size_t i, n = 0;
	json_t *row;

	json_array_foreach (rows, i, row) {
		struct diff_count c = {
			.base = json_string_value(json_object_get(row, "opcode")),
			.specialized = json_string_value(json_object_get(row, "specialized")),
		};

		*(is_b ? &c.b : &c.a) = json_number_value(json_object_get(row, "count"));
		if (c.base && c.specialized)
			to[n++] = c;
	}
	return n;
}

/* Merges both sides' rows of one opcode. */
static size_t add_up(struct diff_count *rows, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (used && !by_name(&rows[used - 1], &rows[i])) {
			rows[used - 1].a += rows[i].a;
			rows[used - 1].b += rows[i].b;
		} else {
			rows[used++] = rows[i];
		}
	}
	return used;
}

struct diff_count *diff_counts(const struct diff_side *a, const struct diff_side *b, size_t *n)
{
	json_t *left = json_object_get(json_object_get(a->json, "opcodes"), "rows");
	json_t *right = json_object_get(json_object_get(b->json, "opcodes"), "rows");
	struct diff_count *rows;

	*n = 0;
	rows = calloc(json_array_size(left) + json_array_size(right) + 1, sizeof(*rows));
	if (!rows || !diff_counts_source(a, b))
		return rows;
	*n = read_rows(rows, left, false);
	*n += read_rows(rows + *n, right, true);
	qsort(rows, *n, sizeof(*rows), by_name);
	*n = add_up(rows, *n);
	qsort(rows, *n, sizeof(*rows), by_difference);
	return rows;
}
