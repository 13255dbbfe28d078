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
						      .shared = UINT64_MAX,
						      .wrong = UINT64_MAX };
}

void gil_apart_leave(struct gil_apart *a, struct thread *t, uint64_t ns)
{
	struct gil_hold *h = a->holds + a->n - 1;

	if (a->lost)
		return;
	h->to = ns;
	h->last = t->last_ns;
	h->waited_to = a->waited_ns;
	h->thread = t;
	h->function = thread_gil_function(t);
}

void gil_apart_left(struct gil_apart *a, uint64_t ns)
{
	a->lost |= a->nleft >= GIL_HOLDS_MOST || !ARRAY_ROOM(a->left, a->nleft, a->left_room);
	if (!a->lost)
		a->left[a->nleft++] = ns;
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

/* A wait ended, and before anything else came the thread waits again, mostly for the GIL: it did not take it. */
static bool was_nothing(const struct gil_hold *h)
{
	return h->maybe && h->last < h->from;
}

/*
 * The one that began later has it while both seem to, unless the other has had events since: then now this one, now
 * that. Where one of them only seemed to take it, it is not even known which of the two did.
 */
static bool is_unsure(const struct gil_hold *first, const struct gil_hold *then)
{
	bool unsure = first->maybe || then->maybe || first->last >= then->from;
	uint64_t waited = then->to > first->to ? then->waited_to : first->waited_to;

	return unsure && !was_nothing(first) && !was_nothing(then) && waited > then->waited_from;
}

/* Whose it was not, though it was added to its function. */
static void mark(struct gil_hold *first, struct gil_hold *then)
{
	struct gil_hold *wrong = was_nothing(then) ? then : first;

	if (then->waited_from < wrong->wrong)
		wrong->wrong = then->waited_from;
}

static bool overlap(const struct gil_hold *x, const struct gil_hold *y)
{
	return x->from < y->to && y->from < x->to;
}

static void share(struct gil_hold *h, const struct gil_hold *with)
{
	uint64_t from = h->from > with->from ? h->from : with->from;

	if (!was_nothing(with) && from < h->shared)
		h->shared = from;
}

bool gil_apart_clash(struct gil_apart *one, struct gil_apart *other)
{
	uint32_t i = 0, k = 0;
	bool clash = one->lost || other->lost;

	while (i < one->n && k < other->n && !clash) {
		struct gil_hold *x = &one->holds[i], *y = &other->holds[k];

		if (overlap(x, y)) {
			share(x, y);
			share(y, x);
			clash = x->from <= y->from ? is_unsure(x, y) : is_unsure(y, x);
			mark(x->from <= y->from ? x : y, x->from <= y->from ? y : x);
		}
		if (x->to <= y->to)
			i++;
		else
			k++;
	}
	return clash;
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
	return from < a->n && a->holds[from].from <= ns ? &a->holds[from] : NULL;
}

/* Somebody had it at that time, and nobody else did. */
static bool was_held(uint64_t ns, const struct gil_apart *const *all, unsigned n)
{
	bool held = false, shared = false;

	for (unsigned i = 0; i < n; i++) {
		const struct gil_hold *h = hold_at(all[i], ns);

		held |= h != NULL;
		shared |= h && h->shared <= ns;
	}
	return held && !shared;
}

bool gil_apart_unsure(const struct gil_apart *one, const struct gil_apart *const *all, unsigned n)
{
	bool held = true;

	for (uint32_t i = 0; i < one->nleft && held; i++)
		held = was_held(one->left[i], all, n);
	return !held;
}

void gil_apart_correct(struct gil_apart *a)
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
