// SPDX-License-Identifier: MIT
#include "nested.h"

#include <errno.h>
#include <stdlib.h>

struct nested {
	struct nested *outer;
	const struct code *name;
	uint32_t which; /* of those of that name */
	bool over;
	bool shown;	   /* it has begun for sinks, */
	uint64_t greenlet; /* there */
};

static int tell(struct nested *n, const struct label_mark *m, enum label_what what, const struct subscribers *to)
{
	struct label_mark told = *m;

	if (n->shown == (what == LABEL_BEGIN))
		return 0;
	n->shown = what == LABEL_BEGIN;
	if (n->shown)
		n->greenlet = m->greenlet;
	told.greenlet = n->greenlet;
	told.what = what;
	told.name = n->name;
	return SUBSCRIBERS_CALL(to, label, &told);
}

int nested_begin(struct nested **list, const struct label_mark *m, uint32_t which, const struct subscribers *to)
{
	struct nested *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	*n = (struct nested){ .outer = *list, .name = m->name, .which = which };
	*list = n;
	return tell(n, m, LABEL_BEGIN, to);
}

bool nested_over(struct nested *list, const struct code *name, uint32_t which)
{
	while (list && (list->over || list->name != name || list->which != which))
		list = list->outer;
	return list && (list->over = true);
}

static void take(struct nested **at)
{
	struct nested *n = *at;

	*at = n->outer;
	free(n);
}

int nested_end(struct nested **list, const struct label_mark *m, const struct subscribers *to)
{
	int err = 0;

	while (!err && *list && (*list)->over) {
		err = tell(*list, m, LABEL_END, to);
		take(list);
	}
	return err;
}

int nested_suspend(struct nested *list, const struct label_mark *m, const struct subscribers *to)
{
	int err = 0;

	for (; list && !err; list = list->outer)
		err = tell(list, m, LABEL_END, to);
	return err;
}

static int begin_again(struct nested *n, const struct label_mark *m, const struct subscribers *to)
{
	int err = n ? begin_again(n->outer, m, to) : 0;

	return err || !n ? err : tell(n, m, LABEL_BEGIN, to);
}

int nested_resume(struct nested **list, const struct label_mark *m, const struct subscribers *to)
{
	struct label_mark again = *m;

	again.data = NULL;
	for (struct nested **at = list; *at;)
		if ((*at)->over)
			take(at);
		else
			at = &(*at)->outer;
	return begin_again(*list, &again, to);
}

void nested_append(struct nested **list, struct nested *outer)
{
	while (*list)
		list = &(*list)->outer;
	*list = outer;
}

void nested_free(struct nested **list)
{
	while (*list)
		take(list);
}
