// SPDX-License-Identifier: MIT
#include "stacks.h"

#include <errno.h>

#include "shared/array.h"

int64_t stacks_number(struct stacks *s, uint32_t caller, uint32_t frame)
{
	uint64_t key = map_pair(caller, frame);
	uintptr_t found = (uintptr_t)map_get(&s->numbers, key);

	if (found)
		return found - 1;
	if (!ARRAY_ROOM(s->of, s->n, s->size) || map_put(&s->numbers, key, (void *)(uintptr_t)(s->n + 1)))
		return -ENOMEM;
	s->of[s->n] = (struct stack_row){ caller, frame };
	return s->n++;
}

void stacks_free(struct stacks *s)
{
	map_free(&s->numbers);
	free(s->of);
	*s = (struct stacks){ 0 };
}
