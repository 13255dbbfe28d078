// SPDX-License-Identifier: MIT
#include "spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "code/codes_part.h"
#include "shared/array.h"

int spans_begin(struct open_spans *o, const struct open_span *span)
{
	if (!ARRAY_ONE_MORE(o->all, o->n))
		return -ENOMEM;
	o->all[o->n++] = *span;
	return 0;
}

/* Processes have codes of their own for one name. */
static struct span_total *total_of(struct spans *all, const struct code *name)
{
	uint64_t key = hash_text(HASH_START, name->qualname);
	struct span_total *t;

	while ((t = map_get(&all->all, key)) && strcmp(t->name->qualname, name->qualname))
		key++;
	if (!t && (t = map_add(&all->all, key, sizeof(*t))))
		t->name = name;
	return t;
}

struct open_span *spans_find(const struct open_spans *o, const struct code *name, uint32_t which)
{
	size_t i = o->n;

	while (i && (o->all[i - 1].name != name || o->all[i - 1].which != which))
		i--;
	return i ? &o->all[i - 1] : NULL;
}

int spans_end(struct open_spans *o, struct spans *all, struct open_span *span, uint64_t ns)
{
	struct span_total *t = total_of(all, span->name);

	if (!t)
		return -ENOMEM;
	ns -= span->since_ns;
	memmove(span, span + 1, (o->all + o->n-- - (span + 1)) * sizeof(*span));
	t->n++;
	t->ns += ns;
	if (ns > t->longest_ns)
		t->longest_ns = ns;
	return 0;
}

int spans_lose(struct open_spans *o, struct spans *all)
{
	for (; o->n; o->n--) {
		struct span_total *t = total_of(all, o->all[o->n - 1].name);

		if (!t)
			return -ENOMEM;
		t->unfinished++;
	}
	return 0;
}

int spans_join(struct spans *to, const struct spans *more)
{
	to->begun += more->begun;
	for (struct map_slot *s = NULL; (s = map_next(&more->all, s));) {
		const struct span_total *from = s->value;
		const struct code *name = codes_same(from->name);
		struct span_total *t = name ? total_of(to, name) : NULL;

		if (!t)
			return -ENOMEM;
		t->n += from->n;
		t->ns += from->ns;
		t->unfinished += from->unfinished;
		if (from->longest_ns > t->longest_ns)
			t->longest_ns = from->longest_ns;
	}
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct span_total *a = *(const struct span_total *const *)left;
	const struct span_total *b = *(const struct span_total *const *)right;
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	return order ? order : strcmp(a->name->qualname, b->name->qualname);
}

const struct span_total **spans_ranked(const struct spans *s, size_t *n)
{
	const struct span_total **all = calloc(s->all.used + 1, sizeof(*all));

	*n = 0;
	for (struct map_slot *m = NULL; all && (m = map_next(&s->all, m));)
		all[(*n)++] = m->value;
	if (all)
		qsort(all, *n, sizeof(*all), by_time);
	return all;
}

void open_spans_free(struct open_spans *o)
{
	free(o->all);
}

void spans_free(struct spans *s)
{
	map_free_all(&s->all);
}
