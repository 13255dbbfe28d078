// SPDX-License-Identifier: MIT
/*
 * Matching goes by a table of keys, strictest first. For each key the items not matched yet are sorted and walked side
 * by side; if both sides have equally many of a key, they are matched in order, else none is: a wrong pair is worse
 * than none.
 */
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_verdict_names[DIFF_VERDICTS] = { "slower", "faster", "noise", "same", "few", "gone", "new" };

enum key {
	FILE_NAME = 1,
	BASE_NAME = 2,
	QUALNAME = 4,
	FIRST_LINE = 8,
	LINE = 16, /* from the function's first */
	HEAD = 32,
};

static const struct {
	unsigned key;
	const char *how;
} tiers[] = {
	{ FILE_NAME | QUALNAME | FIRST_LINE | LINE | HEAD, "" },
	{ FILE_NAME | QUALNAME | FIRST_LINE | LINE, "" },
	{ FILE_NAME | QUALNAME | LINE | HEAD, "moved" },
	{ FILE_NAME | QUALNAME | LINE, "moved" },
	{ FILE_NAME | QUALNAME, "moved" },
	{ BASE_NAME | QUALNAME | FIRST_LINE | LINE, "other folder" },
	{ BASE_NAME | QUALNAME | LINE, "other folder, moved" },
	{ BASE_NAME | QUALNAME, "other folder, moved" },
};

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare(const struct diff_item *a, const struct diff_item *b, unsigned key)
{
	int o = key & FILE_NAME ? strcmp(a->file, b->file) : 0;

	if (!o && key & BASE_NAME)
		o = strcmp(base_name(a->file), base_name(b->file));
	if (!o && key & QUALNAME)
		o = strcmp(a->qualname, b->qualname);
	if (!o && key & FIRST_LINE)
		o = order(a->firstlineno, b->firstlineno);
	if (!o && key & LINE)
		o = order(a->line - a->firstlineno, b->line - b->firstlineno);
	if (!o && key & HEAD)
		o = order(a->head, b->head);
	return o;
}

static int by_key(const void *left, const void *right, void *key)
{
	const struct diff_item *a = *(struct diff_item *const *)left;
	const struct diff_item *b = *(struct diff_item *const *)right;
	int o = compare(a, b, *(const unsigned *)key);

	return o ? o : diff_item_order(a, b);
}

/* The items of a kind that are not matched yet, sorted by key. */
struct rest {
	struct diff_item **items;
	size_t n;
};

static void collect(struct rest *r, const struct diff_side *s, enum diff_kind kind, unsigned key)
{
	r->n = 0;
	for (size_t i = 0; i < s->n[kind]; i++)
		if (!s->items[kind][i].matched)
			r->items[r->n++] = &s->items[kind][i];
	qsort_r(r->items, r->n, sizeof(*r->items), by_key, &key);
}

/* How many items from i on have the key of item `of`. */
static size_t group(const struct rest *r, size_t i, const struct diff_item *of, unsigned key)
{
	size_t n = 0;

	while (i + n < r->n && !compare(r->items[i + n], of, key))
		n++;
	return n;
}

struct work {
	struct diff_pair *pairs;
	size_t n;
	struct rest a, b;
};

static void add(struct work *w, struct diff_item *a, struct diff_item *b, const char *how)
{
	w->pairs[w->n++] = (struct diff_pair){ .a = a, .b = b, .how = how };
	if (a)
		a->matched = true;
	if (b)
		b->matched = true;
}

static void match_tier(struct work *w, unsigned key, const char *how)
{
	size_t i = 0, j = 0;

	while (i < w->a.n && j < w->b.n) {
		const struct diff_item *least = w->a.items[i];
		size_t n, m;

		if (compare(least, w->b.items[j], key) > 0)
			least = w->b.items[j];
		n = group(&w->a, i, least, key);
		m = group(&w->b, j, least, key);
		for (size_t k = 0; k < n && n == m; k++)
			add(w, w->a.items[i + k], w->b.items[j + k], how);
		i += n;
		j += m;
	}
}

static void match(struct work *w, const struct diff_side *a, const struct diff_side *b, enum diff_kind kind)
{
	for (size_t t = 0; t < sizeof(tiers) / sizeof(tiers[0]); t++) {
		collect(&w->a, a, kind, tiers[t].key);
		collect(&w->b, b, kind, tiers[t].key);
		match_tier(w, tiers[t].key, tiers[t].how);
	}
	collect(&w->a, a, kind, 0);
	for (size_t i = 0; i < w->a.n; i++)
		add(w, w->a.items[i], NULL, "");
	collect(&w->b, b, kind, 0);
	for (size_t i = 0; i < w->b.n; i++)
		add(w, NULL, w->b.items[i], "");
}

static double variance_of_mean(const struct diff_item *i)
{
	return i->n > 0 ? i->deviation * i->deviation / i->n : 0;
}

/* Standard error of the difference, in cycles. */
static double error_of(const struct diff_pair *p)
{
	return sqrt(variance_of_mean(p->a) + variance_of_mean(p->b));
}

static enum diff_verdict verdict(const struct diff_pair *p, const struct diff_rules *rules)
{
	double difference = p->b->mean - p->a->mean, few = rules->exact ? 1 : DIFF_ENOUGH;

	if (p->a->n < few || p->b->n < few)
		return DIFF_FEW;
	if (difference == 0)
		return DIFF_SAME;
	if (!rules->exact && fabs(difference) <= DIFF_SIGMAS * error_of(p))
		return DIFF_NOISE;
	return difference > 0 ? DIFF_SLOWER : DIFF_FASTER;
}

static void judge(struct diff_pair *p, const struct diff_rules *rules)
{
	const struct diff_item *a = p->a, *b = p->b;

	if (!a || !b) {
		p->verdict = a ? DIFF_GONE : DIFF_NEW;
		p->weight = a ? a->mean * a->times : b->mean * b->times;
		return;
	}
	/* From nothing to something has no percentage, but is a difference all the same. */
	if (a->mean > 0) {
		p->change = b->mean / a->mean - 1;
		p->error = error_of(p) / a->mean;
	}
	p->weight = fabs(b->mean - a->mean) * (a->times > b->times ? a->times : b->times);
	p->verdict = verdict(p, rules);
	p->over = rules->fail_over >= 0 && p->verdict == DIFF_SLOWER &&
		  (a->mean <= 0 || p->change > rules->fail_over) &&
		  (a->share >= rules->share || b->share >= rules->share);
}

static int by_weight(const void *left, const void *right)
{
	const struct diff_pair *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return diff_item_order(a->a ? a->a : a->b, b->a ? b->a : b->b);
}

static int compare_kind(struct diff *d, const struct diff_side *a, const struct diff_side *b, enum diff_kind kind,
			const struct diff_rules *rules)
{
	size_t most = a->n[kind] + b->n[kind];
	struct work w = {
		.pairs = calloc(most + 1, sizeof(*w.pairs)),
		.a.items = calloc(a->n[kind] + 1, sizeof(*w.a.items)),
		.b.items = calloc(b->n[kind] + 1, sizeof(*w.b.items)),
	};
	int err = w.pairs && w.a.items && w.b.items ? 0 : -ENOMEM;

	if (!err)
		match(&w, a, b, kind);
	for (size_t i = 0; i < w.n; i++) {
		judge(&w.pairs[i], rules);
		d->over += w.pairs[i].over;
	}
	if (!err)
		qsort(w.pairs, w.n, sizeof(*w.pairs), by_weight);
	free(w.a.items);
	free(w.b.items);
	d->pairs[kind] = w.pairs;
	d->n[kind] = w.n;
	return err;
}

static void rescale(struct diff_side *s, double scale)
{
	for (int kind = 0; kind < DIFF_KINDS; kind++)
		for (size_t i = 0; i < s->n[kind]; i++) {
			struct diff_item *item = &s->items[kind][i];

			item->mean *= scale;
			item->wall_mean *= scale;
			item->deviation *= scale;
			item->median *= item->median > 0 ? scale : 1;
			item->p99 *= item->p99 > 0 ? scale : 1;
		}
}

int diff_compare(struct diff *d, struct diff_side *a, struct diff_side *b, double scale, const struct diff_rules *rules)
{
	int err = 0;

	*d = (struct diff){ 0 };
	if (scale != 1)
		rescale(b, scale);
	for (int kind = 0; kind < DIFF_KINDS && !err; kind++)
		err = compare_kind(d, a, b, kind, rules);
	return err;
}

void diff_free(struct diff *d)
{
	for (int kind = 0; kind < DIFF_KINDS; kind++)
		free(d->pairs[kind]);
	*d = (struct diff){ 0 };
}

static bool same_bytecode(json_t *a, json_t *b)
{
	size_t i;
	json_t *row;

	if (!json_array_size(a) || json_array_size(a) != json_array_size(b))
		return false;
	json_array_foreach (a, i, row)
		if (!json_equal(json_object_get(row, "opcode"), json_object_get(json_array_get(b, i), "opcode")))
			return false;
	return true;
}

int diff_opcodes(const struct diff_pair *pair, void (*report)(const struct diff_opcode *o, void *to), void *to)
{
	json_t *a = pair->a ? pair->a->instructions : NULL, *b = pair->b ? pair->b->instructions : NULL;
	int n = 0;
	size_t i;
	json_t *row;

	if (!same_bytecode(a, b))
		return -1;
	json_array_foreach (a, i, row) {
		struct diff_opcode o = {
			.offset = json_integer_value(json_object_get(row, "offset")),
			.line = json_integer_value(json_object_get(row, "line")),
			.base = json_string_value(json_object_get(row, "opcode")),
			.a = json_string_value(json_object_get(row, "specialized")),
			.b = json_string_value(json_object_get(json_array_get(b, i), "specialized")),
		};

		if (!o.base || !o.a || !o.b || !strcmp(o.a, o.b))
			continue;
		n++;
		if (report)
			report(&o, to);
	}
	return n;
}

static int64_t known(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : -1;
}

bool diff_specialized(const struct diff_pair *pair, struct diff_specialized *s)
{
	json_t *a = pair->a ? pair->a->specialization : NULL;
	json_t *b = pair->b ? pair->b->specialization : NULL;

	*s = (struct diff_specialized){ known(a, "specialized"), known(b, "specialized"), known(a, "base"),
					known(b, "base") };
	return s->a >= 0 && s->b >= 0 && known(a, "instructions") == known(b, "instructions") &&
	       (s->a != s->b || s->base_a != s->base_b);
}

bool diff_is_otherwise(const struct diff_pair *pair, enum diff_kind kind)
{
	struct diff_specialized s;

	return kind == DIFF_LOOPS ? diff_opcodes(pair, NULL, NULL) > 0 : diff_specialized(pair, &s);
}
