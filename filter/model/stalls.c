// SPDX-License-Identifier: MIT
#include "stalls.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

static uint64_t key_of(int32_t pid, int32_t tid)
{
	return map_pair((uint32_t)pid, (uint32_t)tid);
}

int stalls_add(struct stalls *s, int32_t pid, int32_t tid, struct stall stall)
{
	uint64_t *newest = map_get(&s->threads, key_of(pid, tid));

	newest = newest ? newest : map_add(&s->threads, key_of(pid, tid), sizeof(*newest));
	if (!newest || (s->last < STALLS_KEPT && !ARRAY_ROOM(s->all, s->last, s->room)))
		return -ENOMEM;
	stall.before = *newest;
	if (s->last >= STALLS_KEPT && s->all[s->last % STALLS_KEPT].until_ns > s->forgotten_ns)
		s->forgotten_ns = s->all[s->last % STALLS_KEPT].until_ns;
	s->all[s->last % STALLS_KEPT] = stall;
	*newest = ++s->last;
	return 0;
}

static const struct stall *get(const struct stalls *s, uint64_t number)
{
	return number && s->last - number < STALLS_KEPT ? &s->all[(number - 1) % STALLS_KEPT] : NULL;
}

const struct stall *stalls_newest(const struct stalls *s, int32_t pid, int32_t tid)
{
	const uint64_t *newest = map_get(&s->threads, key_of(pid, tid));

	return newest ? get(s, *newest) : NULL;
}

const struct stall *stalls_before(const struct stalls *s, const struct stall *stall)
{
	return get(s, stall->before);
}

void stalls_free(struct stalls *s)
{
	free(s->all);
	map_free_all(&s->threads);
	*s = (struct stalls){ 0 };
}
