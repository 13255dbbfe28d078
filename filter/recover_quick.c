// SPDX-License-Identifier: MIT
/* What an opcode may be is known from what it does to the way through the code. */
#include "recover_quick.h"

/* As in recover_take(): what is not held there, or not always. */
static bool is_held(enum flow flow)
{
	return flow <= FLOW_RAISE;
}

static bool leaves(enum flow flow)
{
	return flow == FLOW_RETURN || flow == FLOW_YIELD;
}

void recover_quick_init(struct recover_thread *t)
{
	const struct dispatch *d = t->dispatch;

	for (int op = 0; d && op < 256; op++) {
		enum flow flow = d->flow[d->base[op]];

		if (!d->base[op] || !is_held(flow))
			continue;
		t->quick[op].base = d->base[op];
		t->quick[op].may = QUICK_NEW;
		if (!d->pair[op] && !leaves(flow))
			t->quick[op].may |= QUICK_HELD;
		if (d->head[d->base[op]])
			t->quick[op].may |= QUICK_TWICE;
	}
}
