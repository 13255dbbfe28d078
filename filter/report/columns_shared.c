// SPDX-License-Identifier: MIT
#include "columns_shared.h"

#include "columns.h"

void columns_shared_init(struct columns_shared *s)
{
	*s = (struct columns_shared){ 0 };
	agreement_init(&s->origin);
	pthread_mutex_init(&s->mutex, NULL);
}

void columns_shared_destroy(struct columns_shared *s)
{
	agreement_destroy(&s->origin);
	pthread_mutex_destroy(&s->mutex);
}

void columns_shared_enter(struct columns_shared *s, struct columns *c)
{
	agreement_enter(&s->origin);
	c->told = (struct columns_told){ .other = s->members };
	s->members = c;
}

bool columns_too_many(const struct column_cells *c)
{
	uint32_t most = c->timed;

	for (int i = 0; i < COLUMNS_MORE; i++)
		most = c->has[i] > most ? c->has[i] : most;
	return most > COLUMNS_CELLS;
}

/* The mutex is held, here and below. */
static void tell(struct columns *c)
{
	c->told.shift = c->shift;
	c->told.timed = c->cells.timed;
	for (int i = 0; i < COLUMNS_MORE; i++)
		c->told.has[i] = c->cells.has[i];
}

/* Of that width: a member that has become wider had no fewer, and one that is narrower is left out. */
static bool too_many(const struct columns_shared *s, unsigned shift)
{
	struct column_cells sum = { 0 };

	for (const struct columns *c = s->members; c; c = c->told.other) {
		if (c->told.shift != shift)
			continue;
		sum.timed += c->told.timed;
		for (int i = 0; i < COLUMNS_MORE; i++)
			sum.has[i] += c->told.has[i];
	}
	return columns_too_many(&sum);
}

/* Others do so when they are next filled. */
static void widen_ended(struct columns_shared *s, unsigned shift)
{
	for (struct columns *c = s->members; c; c = c->told.other) {
		if (!c->told.ended || !c->begun)
			continue;
		while (c->shift < shift)
			columns_widen(c);
		tell(c);
	}
}

static void compare(struct columns_shared *s, const struct columns *c)
{
	unsigned shift = s->shift > c->shift ? s->shift : c->shift;

	widen_ended(s, shift);
	while (too_many(s, shift) && shift < COLUMNS_WIDEST)
		widen_ended(s, ++shift);
	s->shift = shift;
}

bool columns_shared_full(struct columns *c)
{
	struct columns_shared *s = c->shared;

	if (c->cells.n >= c->told.next) {
		pthread_mutex_lock(&s->mutex);
		tell(c);
		compare(s, c);
		pthread_mutex_unlock(&s->mutex);
		c->told.next = c->cells.n + COLUMNS_TELL;
	}
	return c->shift < atomic_load_explicit(&s->shift, memory_order_relaxed);
}

void columns_shared_end(struct columns_shared *s, struct columns *c)
{
	pthread_mutex_lock(&s->mutex);
	tell(c);
	c->told.ended = true;
	compare(s, c);
	pthread_mutex_unlock(&s->mutex);
}
