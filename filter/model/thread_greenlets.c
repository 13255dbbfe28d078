// SPDX-License-Identifier: MIT
/*
 * The greenlets of a thread take turns: the stack of one that does not run is put away, and brought back when it runs
 * again. What runs before the first word that tells of a greenlet is that one's.
 */
#include "thread_parts.h"

#include "away.h"

void thread_lose_greenlets(struct thread *t)
{
	struct greenlets *all = &t->greenlets;

	greenlets_until(all, t->last_ns);
	all->running = NULL;
	all->between = false;
	all->lost = true;
	for (struct map_slot *m = NULL; (m = map_next(&all->by_address, m));)
		thread_lose_stack(t, m->value);
}

/* What is open in the running greenlet stands still from here on. */
static int put_away(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct greenlet *g = t->greenlets.running;
	struct stack *st = thread_unlink_stack(t, s->interpreter);

	g->since_ns = s->time;
	g->since_cycles = s->cycles;
	g->stack = st;
	t->greenlets.running = NULL;
	if (!st || !st->nframes)
		return 0;
	t->depth -= st->nframes;
	t->empty_ns = s->time;
	t->empty_cycles = s->cycles;
	g->step = subject_of_stack(st) ? t->doing.step : 0;
	return stack_away(st, s->time, s->cycles, to);
}

/* It runs from here on, and goes on where it was. */
static int bring_back(struct thread *t, struct greenlet *g, const struct sample *s, const struct subscribers *to)
{
	struct stack *st;

	t->greenlets.running = g;
	g->switches++;
	st = thread_link_stack(t, g, s->interpreter);
	if (!st)
		return -ENOMEM;
	if (g->step) /* else it works for whoever switched to it */
		t->doing.step = g->step;
	g->step = 0;
	subject_switches(t, to->profile);
	if (!st->nframes)
		return 0;
	thread_end_outside(t, s->time, s->cycles, to->profile);
	t->depth += st->nframes;
	return stack_back(st, s->time, s->cycles, s->time - g->since_ns, s->cycles - g->since_cycles, to);
}

/* It has run since nothing was known. */
static void know_greenlet(struct thread *t, struct greenlet *g)
{
	const struct stack *st = thread_innermost_stack(t);

	g->home = !t->greenlets.lost && t->greenlets.by_address.used == 1;
	g->function = g->function || !st ? g->function : st->frames[0].a.code;
	thread_lose_stack(t, g);
}

/* The first word that tells of a greenlet tells what has run until then, too. */
static int run_greenlet(struct thread *t, struct greenlet *g, const struct sample *s, const struct subscribers *to)
{
	struct greenlets *all = &t->greenlets;
	bool known = all->running || all->between;
	int err = 0;

	if (all->running == g)
		return 0;
	if (t->charged.instr)
		charge_last(&t->charged, s->time, s->cycles, to->profile);
	if (!known)
		all->running = g;
	greenlets_until(all, s->time);
	all->between = false;
	if (!known) {
		know_greenlet(t, g);
		return 0;
	}
	if (all->running)
		err = put_away(t, s, to);
	return err ?: bring_back(t, g, s, to);
}

/* All that was open in it has ended before; else that was not seen. */
static int end_greenlet(struct thread *t, struct greenlet *g, const struct sample *s, const struct subscribers *to)
{
	struct stack *st = stack_of(t, s->interpreter);
	int err = st ? thread_close_above(t, st, NULL, s, to) : -ENOMEM;

	greenlets_until(&t->greenlets, s->time);
	t->greenlets.between = true;
	return err ?: greenlets_end(&t->greenlets, &to->profile->greenlets, g);
}

/* Which greenlet runs is not known. */
static int forget_greenlet(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err;

	stand_at(t, s);
	err = thread_close_all(t, LEAVE_GAP, to);
	thread_lose_greenlets(t);
	return err;
}

static int take_greenlet(struct thread *t, const struct sample *s, bool ends, const struct subscribers *to)
{
	struct greenlet_totals *totals = &to->profile->greenlets;
	uint64_t address = s->payload & MARKER_SUBJECT_MAX;
	struct greenlet *g = address ? greenlets_at(&t->greenlets, totals, address, t->pid, t->tid) : NULL;
	int err;

	if (!address)
		return forget_greenlet(t, s, to);
	err = g ? run_greenlet(t, g, s, to) : -ENOMEM;
	if (!err && ends)
		err = end_greenlet(t, g, s, to);
	if (!t->early)
		stand_at(t, s);
	return err;
}

int thread_take_subject(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	enum subject what = marker_subject_what(s->payload);

	if (what == SUBJECT_GREENLET || what == SUBJECT_GREENLET_ENDED)
		return take_greenlet(t, s, what == SUBJECT_GREENLET_ENDED, to);
	if (what == SUBJECT_REQUEST_BEGUN || what == SUBJECT_REQUEST_ENDED)
		return t->early ? 0 : thread_take_request(t, s, what == SUBJECT_REQUEST_BEGUN, to);
	return subject_word(t, s, to);
}
