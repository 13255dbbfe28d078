// SPDX-License-Identifier: MIT
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/gil.h"
#include "shared/array.h"

static int init_member(struct exchange_member *m, unsigned n)
{
	int err = -pthread_cond_init(&m->more, NULL);

	m->heard = calloc(n, sizeof(*m->heard));
	return err ?: m->heard ? 0 : -ENOMEM;
}

int exchange_init(struct exchange *e, unsigned n)
{
	int err = -pthread_mutex_init(&e->mutex, NULL);

	e->failed = false;
	e->n = n;
	e->members = calloc(n, sizeof(*e->members));
	for (unsigned i = 0; e->members && i < n; i++)
		err = init_member(&e->members[i], n) ?: err;
	return err ?: e->members ? 0 : -ENOMEM;
}

void exchange_free(struct exchange *e)
{
	for (unsigned i = 0; e->members && i < e->n; i++) {
		pthread_cond_destroy(&e->members[i].more);
		free(e->members[i].said.all);
		free(e->members[i].heard);
	}
	free(e->members);
	pthread_mutex_destroy(&e->mutex);
}

int exchange_add(struct exchange_words *w, const struct exchange_word *more)
{
	if (!ARRAY_ROOM(w->all, w->n, w->room))
		return -ENOMEM;
	w->all[w->n++] = *more;
	return 0;
}

/* --- saying. The mutex is held from here on, in functions that are static. ---------------------------------- */

static bool is_said(const struct exchange *e, unsigned me, uint64_t ns)
{
	bool said = true;

	for (unsigned i = 0; i < e->n; i++)
		said &= i == me || e->members[i].until_ns > ns || e->members[i].until_ns == UINT64_MAX;
	return said;
}

/* Who has waited for what is said now. */
static void wake(struct exchange *e)
{
	for (unsigned i = 0; i < e->n; i++) {
		struct exchange_member *m = &e->members[i];

		if (m->waits && (e->failed || is_said(e, i, m->wanted_ns)))
			pthread_cond_signal(&m->more);
	}
}

static uint32_t heard_by_all(const struct exchange *e, unsigned of)
{
	uint32_t least = e->members[of].said.n;

	for (unsigned i = 0; i < e->n; i++)
		if (i != of && e->members[i].heard[of] < least)
			least = e->members[i].heard[of];
	return least;
}

/* Once half of them are of no more use. */
static void forget(struct exchange *e, unsigned of)
{
	struct exchange_words *w = &e->members[of].said;
	uint32_t heard = heard_by_all(e, of);

	if (heard < w->n / 2 || !heard)
		return;
	memmove(w->all, w->all + heard, (w->n - heard) * sizeof(*w->all));
	w->n -= heard;
	for (unsigned i = 0; i < e->n; i++)
		if (i != of)
			e->members[i].heard[of] -= heard;
}

static int say(struct exchange *e, unsigned me, const struct exchange_words *words, uint64_t until_ns)
{
	int err = e->failed ? -EAGAIN : 0;

	forget(e, me);
	for (uint32_t i = 0; i < words->n && !err; i++)
		err = exchange_add(&e->members[me].said, &words->all[i]);
	e->members[me].until_ns = until_ns;
	wake(e);
	return err;
}

int exchange_say(struct exchange *e, unsigned me, const struct exchange_words *words, uint64_t until_ns)
{
	int err;

	pthread_mutex_lock(&e->mutex);
	err = say(e, me, words, until_ns);
	pthread_mutex_unlock(&e->mutex);
	return err;
}

/* --- hearing -------------------------------------------------------------------------------------------------- */

static const struct exchange_word *next_of(const struct exchange *e, unsigned me, unsigned of)
{
	const struct exchange_words *w = &e->members[of].said;
	uint32_t at = e->members[me].heard[of];

	return of != me && at < w->n ? &w->all[at] : NULL;
}

/* Whose word is next, of those that are not mine; e->n: nobody's. */
static unsigned first_of(const struct exchange *e, unsigned me)
{
	const struct exchange_word *first = NULL;
	unsigned of = e->n;

	for (unsigned i = 0; i < e->n; i++) {
		const struct exchange_word *w = next_of(e, me, i);

		if (!w || (first && first->ns <= w->ns))
			continue;
		first = w;
		of = i;
	}
	return of;
}

/* Of two at one time, of one process, it may matter which comes first. */
static bool is_unsure(const struct exchange_words *heard, const struct exchange_word *w)
{
	bool unsure = false;

	for (uint32_t i = heard->n; i-- && heard->all[i].ns == w->ns;)
		unsure |= heard->all[i].pid == w->pid && heard->all[i].tid != w->tid &&
			  gil_order_matters(heard->all[i].bits, w->bits);
	return unsure;
}

static int hear(struct exchange *e, unsigned me, uint64_t ns, struct exchange_words *to)
{
	unsigned of;
	int err = 0;

	while ((of = first_of(e, me)) < e->n && next_of(e, me, of)->ns <= ns && !err) {
		const struct exchange_word *w = next_of(e, me, of);

		err = is_unsure(to, w) ? -EAGAIN : exchange_add(to, w);
		e->members[me].heard[of]++;
	}
	return err;
}

int exchange_hear(struct exchange *e, unsigned me, uint64_t ns, struct exchange_words *to)
{
	int err;

	pthread_mutex_lock(&e->mutex);
	e->members[me].wanted_ns = ns;
	while (!e->failed && !is_said(e, me, ns)) {
		e->members[me].waits = true;
		pthread_cond_wait(&e->members[me].more, &e->mutex);
	}
	e->members[me].waits = false;
	err = e->failed ? -EAGAIN : hear(e, me, ns, to);
	pthread_mutex_unlock(&e->mutex);
	return err;
}

void exchange_fail(struct exchange *e)
{
	pthread_mutex_lock(&e->mutex);
	e->failed = true;
	wake(e);
	pthread_mutex_unlock(&e->mutex);
}
