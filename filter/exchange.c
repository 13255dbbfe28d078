// SPDX-License-Identifier: MIT
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>

#include "model/gil.h"
#include "shared/array.h"

int exchange_init(struct exchange *e, unsigned n)
{
	int err = -pthread_mutex_init(&e->mutex, NULL);

	err = err ?: -pthread_cond_init(&e->complete, NULL);
	e->failed = false;
	e->n = e->silent = n;
	e->said = calloc(n, sizeof(*e->said));
	return err ?: e->said ? 0 : -ENOMEM;
}

void exchange_free(struct exchange *e)
{
	for (unsigned i = 0; e->said && i < e->n; i++)
		free(e->said[i].all);
	free(e->said);
	pthread_cond_destroy(&e->complete);
	pthread_mutex_destroy(&e->mutex);
}

int exchange_add(struct exchange_words *w, const struct exchange_word *more)
{
	if (!ARRAY_ROOM(w->all, w->n, w->room))
		return -ENOMEM;
	w->all[w->n++] = *more;
	return 0;
}

void exchange_say(struct exchange *e, unsigned me, struct exchange_words *words)
{
	pthread_mutex_lock(&e->mutex);
	e->said[me] = *words;
	*words = (struct exchange_words){ 0 };
	if (!--e->silent)
		pthread_cond_broadcast(&e->complete);
	pthread_mutex_unlock(&e->mutex);
}

/* --- hearing. Nothing changes any more once all have said theirs. -------------------------------------------- */

/* Whose word is next, of those that are not mine: at[i] of each were heard. n: nobody's. */
static unsigned first_of(const struct exchange *e, unsigned me, const uint32_t *at)
{
	const struct exchange_word *first = NULL;
	unsigned of = e->n;

	for (unsigned i = 0; i < e->n; i++) {
		const struct exchange_word *w = e->said[i].all + at[i];

		if (i == me || at[i] == e->said[i].n || (first && first->tick <= w->tick))
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

	for (uint32_t i = heard->n; i-- && heard->all[i].tick == w->tick;)
		unsure |= heard->all[i].pid == w->pid && heard->all[i].tid != w->tid &&
			  gil_order_matters(heard->all[i].bits, w->bits);
	return unsure;
}

static int merge(const struct exchange *e, unsigned me, uint32_t *at, struct exchange_words *to)
{
	unsigned of;
	int err = 0;

	while (!err && (of = first_of(e, me, at)) < e->n) {
		const struct exchange_word *w = &e->said[of].all[at[of]++];

		err = is_unsure(to, w) ? -EAGAIN : exchange_add(to, w);
	}
	return err;
}

int exchange_hear(struct exchange *e, unsigned me, struct exchange_words *to)
{
	uint32_t *at = calloc(e->n, sizeof(*at));
	int err = at ? 0 : -ENOMEM;

	pthread_mutex_lock(&e->mutex);
	while (!err && !e->failed && e->silent)
		pthread_cond_wait(&e->complete, &e->mutex);
	err = e->failed ? -EAGAIN : err;
	pthread_mutex_unlock(&e->mutex);
	err = err ?: merge(e, me, at, to);
	free(at);
	return err;
}

void exchange_fail(struct exchange *e)
{
	pthread_mutex_lock(&e->mutex);
	e->failed = true;
	pthread_cond_broadcast(&e->complete);
	pthread_mutex_unlock(&e->mutex);
}
