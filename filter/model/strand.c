// SPDX-License-Identifier: MIT
#include "strand.h"

#include <stdlib.h>

static uint64_t key_of(int32_t pid, int32_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

struct strand *strand_thread(const struct strands *s, int32_t pid, int32_t tid)
{
	return map_get(&s->threads, key_of(pid, tid));
}

struct strand *strand_look_up(struct strands *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size)
{
	struct strand *first = strand_thread(s, pid, tid), *at = first;

	while (at && at->interpreter != interpreter)
		at = at->other;
	if (at)
		return s->at = at;
	at = calloc(1, size);
	if (!at || map_put(&s->threads, key_of(pid, tid), at)) {
		free(at);
		return NULL;
	}
	*at = (struct strand){ pid, tid, interpreter, .other = first, .next = s->all };
	return s->at = s->all = at;
}

void strands_free(struct strands *s, void (*release)(struct strand *strand))
{
	for (struct strand *at = s->all, *next; at; at = next) {
		next = at->next;
		if (release)
			release(at);
		free(at);
	}
	map_free(&s->threads);
	*s = (struct strands){ 0 };
}
