// SPDX-License-Identifier: MIT
#include "gil_apart.h"

#include <stdlib.h>

#include "function.h"
#include "shared/array.h"
#include "thread.h"

/* --- while it is analysed ------------------------------------------------------------------------------------- */

void gil_apart_waited(struct gil_apart *a, uint32_t waiting, uint64_t ns)
{
	if (ns <= a->waited_until)
		return;
	a->waited_ns += (ns - a->waited_until) * waiting;
	a->waited_until = ns;
}

void gil_apart_take(struct gil_apart *a, bool maybe, uint64_t ns)
{
	a->lost |= a->n >= GIL_HOLDS_MOST || !ARRAY_ROOM(a->holds, a->n, a->room);
	if (!a->lost)
		a->holds[a->n++] = (struct gil_hold){ .from = ns,
						      .waited_from = a->waited_ns,
						      .maybe = maybe,
						      .unsure = UINT64_MAX,
						      .wrong = UINT64_MAX };
}

void gil_apart_leave(struct gil_apart *a, struct thread *t, uint64_t ns)
{
	struct gil_hold *h = a->holds + a->n - 1;

	if (a->lost)
		return;
	/* So short with an event cannot be compared with what others did then. */
	a->lost = ns == h->from && t->last_ns >= ns && !h->maybe;
	h->to = h->end = ns;
	h->last = t->last_ns;
	h->waited_to = a->waited_ns;
	h->thread = t;
	h->function = thread_gil_function(t);
}

void gil_apart_go_on(struct gil_apart *a, struct thread *t, uint64_t ns)
{
	gil_apart_leave(a, t, ns);
	gil_apart_take(a, false, ns);
	if (!a->lost)
		a->holds[a->n - 1].again = true;
}

uint32_t gil_apart_left(struct gil_apart *a, uint64_t ns)
{
	a->lost |= a->nleft >= GIL_HOLDS_MOST || !ARRAY_ROOM(a->left, a->nleft, a->left_room);
	if (a->lost)
		return 0;
	a->left[a->nleft++] = (struct gil_left){ ns, a->waited_ns, UINT64_MAX };
	return a->nleft;
}

void gil_apart_left_until(struct gil_apart *a, uint32_t number)
{
	a->left[number - 1].waited_to = a->waited_ns;
}

void gil_apart_free(struct gil_apart *a)
{
	if (!a)
		return;
	map_free(&a->wanting);
	free(a->holds);
	free(a->left);
	free(a);
}

/* --- at the end ----------------------------------------------------------------------------------------------- */

static void wrong_from(struct gil_hold *h, uint64_t waited)
{
	h->wrong = waited < h->wrong ? waited : h->wrong;
}

/* From then on; does somebody wait until both are over? */
static bool is_unsure(struct gil_hold *first, struct gil_hold *then)
{
	uint64_t waited = then->to > first->to ? then->waited_to : first->waited_to;

	first->unsure = then->from < first->unsure ? then->from : first->unsure;
	then->unsure = then->from;
	return waited > then->waited_from;
}

/* What begins later is true, and ends the other, unless that has had events since: then now this one, now that is. */
static bool compare(struct gil_hold *first, struct gil_hold *then)
{
	if (first->maybe || then->maybe)
		return false;
	if (first->last >= then->from)
		return is_unsure(first, then);
	first->end = then->from < first->end ? then->from : first->end;
	wrong_from(first, then->waited_from);
	return false;
}

/* Who only may have it has not, if another has, or as soon as another takes it. */
static bool compare_maybe(struct gil_hold *first, struct gil_hold *then)
{
	if (first->maybe && then->maybe)
		return is_unsure(first, then);
	if (first->maybe)
		wrong_from(first, then->waited_from);
	if (!then->maybe || first->end <= then->from)
		return false;
	if (first->unsure <= then->from)
		return then->waited_to > then->waited_from;
	wrong_from(then, then->waited_from);
	return false;
}

/* At one time: who got it and did nothing more, since the other one's event shows that it has it. */
static bool is_first(const struct gil_hold *x, const struct gil_hold *y)
{
	return x->from != y->from ? x->from < y->from : x->last < x->from;
}

/* Each pair of holds that were at one time, the one that began earlier first. Until one is true. */
static bool each_pair(struct gil_apart *one, struct gil_apart *other,
		      bool (*of)(struct gil_hold *first, struct gil_hold *then))
{
	bool found = one->lost || other->lost;

	for (uint32_t i = 0, k = 0; i < one->n && k < other->n && !found;) {
		struct gil_hold *x = &one->holds[i], *y = &other->holds[k];

		if (x->from < y->to && y->from < x->to)
			found = is_first(x, y) ? of(x, y) : of(y, x);
		if (x->to <= y->to)
			i++;
		else
			k++;
	}
	return found;
}

/* All pairs. */
static bool is_clear(struct gil_apart *const *all, unsigned n,
		     bool (*of)(struct gil_hold *first, struct gil_hold *then))
{
	bool found = n && all[0]->lost;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n && !found; k++)
			found = each_pair(all[i], all[k], of);
	return !found;
}

/* The hold at that time, or NULL. */
static const struct gil_hold *hold_at(const struct gil_apart *a, uint64_t ns)
{
	uint32_t from = 0, to = a->n;

	while (from < to) {
		uint32_t middle = (from + to) / 2;

		if (a->holds[middle].to <= ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from < a->n && a->holds[from].from <= ns && ns < a->holds[from].end ? &a->holds[from] : NULL;
}

/* Somebody had it at that time, certainly. */
static bool was_held(uint64_t ns, struct gil_apart *const *all, unsigned n)
{
	bool held = false, unsure = false;

	for (unsigned i = 0; i < n; i++) {
		const struct gil_hold *h = hold_at(all[i], ns);

		held |= h != NULL;
		unsure |= h && (h->unsure <= ns || (h->maybe && h->wrong != UINT64_MAX));
	}
	return held && !unsure;
}

/* Was it certainly held whenever a wait of one of its threads ended, and others waited? */
static bool are_left_clear(const struct gil_apart *one, struct gil_apart *const *all, unsigned n)
{
	bool held = true;

	for (uint32_t i = 0; i < one->nleft && held; i++) {
		const struct gil_left *l = &one->left[i];

		held = l->waited_to == l->waited_from || was_held(l->ns, all, n);
	}
	return held;
}

/* What goes on was certainly there: who got it in vain would have got it, else. */
static bool go_on_clear(const struct gil_apart *a)
{
	bool clear = true;

	for (uint32_t i = 1; i < a->n && clear; i++) {
		const struct gil_hold *before = &a->holds[i - 1];

		clear = !a->holds[i].again || (before->end == before->to && before->unsure == UINT64_MAX);
	}
	return clear;
}

static void correct(struct gil_apart *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct gil_hold *h = &a->holds[i];

		if (h->wrong >= h->waited_to)
			continue;
		h->thread->gil_held_ns -= h->waited_to - h->wrong;
		if (h->function)
			h->function->gil_held_ns -= h->waited_to - h->wrong;
	}
}

bool gil_apart_settle(struct gil_apart *const *all, unsigned n)
{
	bool clear = is_clear(all, n, compare) && is_clear(all, n, compare_maybe);

	for (unsigned i = 0; i < n && clear; i++)
		clear = are_left_clear(all[i], all, n) && go_on_clear(all[i]);
	for (unsigned i = 0; i < n && clear; i++)
		correct(all[i]);
	return clear;
}
