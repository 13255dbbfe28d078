// SPDX-License-Identifier: MIT
#include "locks.h"

#include <errno.h>
#include <stdlib.h>

#define LINES_SHIFT 48 /* no address has these bits */

int locks_add(struct locks *l, const struct code *code, uint32_t lines, uint64_t ns)
{
	uint64_t key = (uintptr_t)code | (uint64_t)lines << LINES_SHIFT;
	struct lock *lock = map_get(&l->all, key);

	lock = lock ? lock : map_add(&l->all, key, sizeof(*lock));
	if (!lock)
		return -ENOMEM;
	lock->code = code;
	lock->line = code->firstlineno + lines;
	wait_total_add(&lock->waited, ns);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct lock *a = *(const struct lock *const *)left, *b = *(const struct lock *const *)right;
	int order = (a->waited.ns < b->waited.ns) - (a->waited.ns > b->waited.ns);

	order = order ?: code_order(a->code, b->code);
	return order ?: (a->line > b->line) - (a->line < b->line);
}

const struct lock **locks_ranked(const struct locks *l, size_t *n)
{
	const struct lock **all = calloc(l->all.used + 1, sizeof(*all));

	*n = 0;
	for (struct map_slot *s = NULL; all && (s = map_next(&l->all, s));)
		all[(*n)++] = s->value;
	if (all)
		qsort(all, *n, sizeof(*all), by_time);
	return all;
}

void locks_free(struct locks *l)
{
	map_free_all(&l->all);
}
