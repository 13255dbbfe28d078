// SPDX-License-Identifier: MIT
#include "tstate.h"

#include <stdlib.h>

struct tstate *tstate_thread(const struct tstates *s, int32_t pid, int32_t tid)
{
	return map_get(&s->threads, map_pair(pid, tid));
}

struct tstate *tstate_search(const struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter)
{
	struct tstate *at = tstate_thread(s, pid, tid);

	while (at && at->interpreter != interpreter)
		at = at->other;
	return at;
}

struct tstate *tstate_look_up(struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size)
{
	struct tstate *first = tstate_thread(s, pid, tid), *at = tstate_search(s, pid, tid, interpreter);

	if (at)
		return s->at = at;
	at = map_add(&s->threads, map_pair(pid, tid), size);
	if (!at)
		return NULL;
	*at = (struct tstate){ pid, tid, interpreter, .other = first, .next = s->all };
	return s->at = s->all = at;
}

void tstates_free(struct tstates *s, void (*release)(struct tstate *tstate))
{
	for (struct tstate *at = s->all, *next; at; at = next) {
		next = at->next;
		if (release)
			release(at);
		free(at);
	}
	map_free(&s->threads);
	*s = (struct tstates){ 0 };
}
