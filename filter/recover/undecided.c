// SPDX-License-Identifier: MIT
/* A ring of steps, numbered from the thread's first. */
#include "undecided.h"

#include <stdlib.h>
#include <string.h>

static struct undecided_step *step_of(const struct undecided *d, uint64_t number)
{
	return &d->steps[number & (UNDECIDED_STEPS - 1)];
}

static bool is_open(const struct undecided *d, uint64_t number)
{
	return number != UNDECIDED_NONE && number >= d->head && step_of(d, number)->state == UNDECIDED_OPEN;
}

uint64_t undecided_add(struct undecided *d, const struct sample *s, enum undecided_state state, uint64_t before,
		       const struct undecided_place *places, unsigned n)
{
	struct undecided_step *step;

	if (!d->steps && !(d->steps = malloc(UNDECIDED_STEPS * sizeof(*d->steps))))
		return UNDECIDED_NONE;
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

void undecided_give_up(struct undecided *d, uint64_t last)
{
	for (; is_open(d, last); last = step_of(d, last)->before)
		step_of(d, last)->state = UNDECIDED_UNSURE;
}

void undecided_settle(struct undecided *d, uint64_t last, unsigned i)
{
	while (is_open(d, last) && i != UNDECIDED_MERGED) {
		struct undecided_step *step = step_of(d, last);

		place(&step->s, step->places[i].place);
		step->state = UNDECIDED_SETTLED;
		i = step->places[i].from;
		last = step->before;
	}
	undecided_give_up(d, last);
}

int undecided_flush(struct undecided *d, bool all, sample_fn feed, void *to)
{
	int err = 0;

	while (!err && undecided_waits(d)) {
		struct undecided_step *step = step_of(d, d->head);

		if (step->state == UNDECIDED_OPEN && !all)
			return 0;
		d->head++;
		if (step->state == UNDECIDED_SETTLED)
			err = feed(to, &step->s);
		else
			d->unsure++;
	}
	return err;
}

void undecided_free(struct undecided *d)
{
	free(d->steps);
	*d = (struct undecided){ 0 };
}
