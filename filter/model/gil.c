// SPDX-License-Identifier: MIT
#include "gil.h"

#include "shared/marker.h"
#include "thread.h"

void gil_until(struct gil *g, uint64_t ns)
{
	if (ns <= g->since_ns)
		return;
	if (g->waiting && g->holder)
		thread_held_gil(g->holder, (ns - g->since_ns) * g->waiting);
	g->since_ns = ns;
}

static void hold(struct gil *g, struct thread *t)
{
	if (g->holder)
		g->holder->holds_gil = false;
	g->holder = t;
	if (t)
		t->holds_gil = true;
}

void gil_take(struct gil *g, struct thread *t, uint64_t ns)
{
	gil_until(g, ns);
	hold(g, t);
}

static void want(struct gil *g, struct thread *t, bool wants)
{
	g->waiting += wants - t->wants_gil;
	t->wants_gil = wants;
}

/* After another wait a thread has it only if no wait for it follows. */
void gil_word(struct gil *g, struct thread *t, uint64_t payload, uint64_t ns)
{
	bool begins = payload & MARKER_WAIT_BEGINS;
	unsigned kind = payload >> MARKER_WAIT_SHIFT & MARKER_WAIT_MASK;
	bool is_gil = kind == WAIT_FOR_GIL, got = is_gil && !(payload & MARKER_GIL_NOT_GOT);

	gil_until(g, ns);
	if (kind == WAIT_FOR_RING) /* with the GIL */
		return;
	want(g, t, begins && is_gil);
	if (begins && t->holds_gil)
		hold(g, NULL);
	else if (!begins && (got || (!is_gil && !g->holder)))
		hold(g, t);
}

void gil_lose(struct gil *g, struct thread *t)
{
	want(g, t, false);
	if (t->holds_gil)
		hold(g, NULL);
}
