// SPDX-License-Identifier: MIT
/* A ring of steps, numbered from the thread's first. */
#include "doubt.h"

#include <stdlib.h>
#include <string.h>

static struct doubt_step *step_of(const struct doubt *d, uint64_t number)
{
	return &d->steps[number & (DOUBT_STEPS - 1)];
}

static bool is_open(const struct doubt *d, uint64_t number)
{
	return number != DOUBT_NONE && number >= d->head && step_of(d, number)->state == DOUBT_OPEN;
}

uint64_t doubt_add(struct doubt *d, const struct sample *s, enum doubt_state state, uint64_t before,
		   const struct doubt_place *places, unsigned n)
{
	struct doubt_step *step;

	if (!d->steps && !(d->steps = malloc(DOUBT_STEPS * sizeof(*d->steps))))
		return DOUBT_NONE;
	step = step_of(d, d->tail);
	step->s = *s;
	step->before = before;
	step->state = state;
	if (n)
		memcpy(step->places, places, n * sizeof(*places));
	return d->tail++;
}

static void place(struct sample *s, uint32_t i)
{
	const struct instr *in = &s->code->instrs[i];

	s->offset = in->offset;
	if (!s->opcode)
		s->opcode = in->base;
}

void doubt_give_up(struct doubt *d, uint64_t last)
{
	for (; is_open(d, last); last = step_of(d, last)->before)
		step_of(d, last)->state = DOUBT_UNSURE;
}

void doubt_settle(struct doubt *d, uint64_t last, unsigned i)
{
	while (is_open(d, last) && i != DOUBT_MERGED) {
		struct doubt_step *step = step_of(d, last);

		place(&step->s, step->places[i].place);
		step->state = DOUBT_SETTLED;
		i = step->places[i].from;
		last = step->before;
	}
	doubt_give_up(d, last);
}

int doubt_flush(struct doubt *d, bool all, sample_fn feed, void *to)
{
	int err = 0;

	while (!err && doubt_waits(d)) {
		struct doubt_step *step = step_of(d, d->head);

		if (step->state == DOUBT_OPEN && !all)
			return 0;
		d->head++;
		if (step->state == DOUBT_SETTLED)
			err = feed(to, &step->s);
		else
			d->unsure++;
	}
	return err;
}

void doubt_free(struct doubt *d)
{
	free(d->steps);
	*d = (struct doubt){ 0 };
}
