// SPDX-License-Identifier: MIT
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "shared/array.h"

const char *called_text(const struct called *c, char text[CALLED_TEXT])
{
	snprintf(text, CALLED_TEXT, c->number ? "Task-%llu" : "", (unsigned long long)c->number);
	return c->name ? c->name->qualname : text;
}

uint64_t steps_add(struct steps *s, const struct step *step)
{
	if (s->last < STEPS_KEPT && !ARRAY_ROOM(s->all, s->last, s->room))
		return 0;
	s->all[s->last % STEPS_KEPT] = *step;
	s->last++;
	__builtin_prefetch(&s->all[(s->last + 1) % STEPS_KEPT], 1); /* nothing has been there for long */
	return s->last;
}

struct step *steps_get(const struct steps *s, uint64_t number)
{
	if (!number || number > s->last || s->last - number >= STEPS_KEPT)
		return NULL;
	return &s->all[(number - 1) % STEPS_KEPT];
}

void steps_free(struct steps *s)
{
	free(s->all);
	stalls_free(&s->stalls);
	*s = (struct steps){ 0 };
}
