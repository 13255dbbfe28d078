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

	g->told |= is_gil;
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

/* What a word does to the holder. */
enum act {
	ACT_NONE,
	ACT_TAKES,    /* an event of code, */
	ACT_GOT,      /* or the end of a wait for it */
	ACT_MAY_TAKE, /* the end of another wait */
	ACT_LEAVES,   /* a wait begins */
	ACTS,
};

static enum act act_of(uint64_t word)
{
	uint64_t payload = marker_payload(word);
	unsigned kind = payload >> MARKER_WAIT_SHIFT & MARKER_WAIT_MASK;

	if (!(word >> 32) || !marker_is_extension(word))
		return ACT_TAKES;
	if (marker_kind(word) != KIND_WAIT || kind == WAIT_FOR_RING)
		return marker_kind(word) == KIND_C_CALL ? ACT_TAKES : ACT_NONE;
	if (payload & MARKER_WAIT_BEGINS)
		return ACT_LEAVES;
	if (kind != WAIT_FOR_GIL)
		return ACT_MAY_TAKE;
	return payload & MARKER_GIL_NOT_GOT ? ACT_NONE : ACT_GOT;
}

/* Where both take it the later one has it; and who may take it does so unless it is held. In all else they agree. */
bool gil_order_matters(uint64_t one, uint64_t other)
{
	static const bool matters[ACTS][ACTS] = {
		[ACT_TAKES] = { [ACT_TAKES] = true, [ACT_GOT] = true },
		[ACT_GOT] = { [ACT_TAKES] = true, [ACT_GOT] = true },
		[ACT_MAY_TAKE] = { [ACT_MAY_TAKE] = true, [ACT_LEAVES] = true },
		[ACT_LEAVES] = { [ACT_MAY_TAKE] = true },
	};

	return matters[act_of(one)][act_of(other)];
}
