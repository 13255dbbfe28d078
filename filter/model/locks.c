// SPDX-License-Identifier: MIT
#include "locks.h"

#include <errno.h>
#include <stdlib.h>

#include "code/codes_part.h"

#define LINES_SHIFT 48 /* no address has these bits */

/* Made on first use. NULL: no memory. */
static struct lock *lock_of(struct locks *l, const struct code *code, uint32_t lines)
{
	uint64_t key = (uintptr_t)code | (uint64_t)lines << LINES_SHIFT;
	struct lock *lock = map_get(&l->all, key);

	if (lock || !(lock = map_add(&l->all, key, sizeof(*lock))))
		return lock;
	lock->code = code;
	lock->line = code->firstlineno + lines;
	return lock;
}

int locks_add(struct locks *l, const struct code *code, uint32_t lines, uint64_t ns)
{
	struct lock *lock = lock_of(l, code, lines);

	if (!lock)
		return -ENOMEM;
	wait_total_add(&lock->waited, ns);
	return 0;
}

int locks_join(struct locks *to, const struct locks *more)
{
	for (struct map_slot *s = NULL; (s = map_next(&more->all, s));) {
		const struct lock *from = s->value;
		const struct code *code = codes_same(from->code);
		struct lock *lock = code ? lock_of(to, code, (uint32_t)(from->line - from->code->firstlineno)) : NULL;

		if (!lock)
			return -ENOMEM;
		wait_total_join(&lock->waited, &from->waited);
	}
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
