// SPDX-License-Identifier: MIT
/* The earliest loss counts. */
#include "pt_losses.h"

int pt_losses_record(struct pt_losses *s, int32_t buffer, uint64_t ns)
{
	if (!ns || buffer < 0)
		return 0;
	if (ns > s->latest)
		s->latest = ns;
	return map_put(&s->buffers, (uint32_t)buffer, (void *)(uintptr_t)ns);
}

static void lose_after(struct pt_losses *s, uint64_t ns)
{
	if (!s->lost || ns < s->until)
		s->until = ns;
	s->lost = true;
}

void pt_losses_add(struct pt_losses *s, int32_t buffer)
{
	lose_after(s, buffer < 0 ? 0 : (uintptr_t)map_get(&s->buffers, (uint32_t)buffer));
}

void pt_losses_round(struct pt_losses *s)
{
	s->complete = s->limit;
	s->limit = s->latest;
}

void pt_losses_cut(struct pt_losses *s)
{
	lose_after(s, s->complete);
}

void pt_losses_free(struct pt_losses *s)
{
	map_free(&s->buffers);
}
