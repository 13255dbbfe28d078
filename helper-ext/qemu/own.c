/* SPDX-License-Identifier: MIT */
/* own.c - see own.h. */
#include <stdlib.h>

#include "own.h"

static enum own_place place_of(const struct block *b)
{
	return b->tool ? OWN_TOOL : b->outside ? OWN_ELSEWHERE : OWN_EVALUATION;
}

static bool is_call(const struct block *b)
{
	return b && (b->kind == INSN_CALL || b->kind == INSN_CALL_IND);
}

static bool top_is_idle(const struct own *o)
{
	return o->n && o->calls[o->n - 1].idle;
}

static void push(struct own *o, const struct core *c, uint64_t back, bool idle)
{
	if (!o->calls)
		o->calls = calloc(OWN_DEEPEST, sizeof(*o->calls));
	if (!o->calls)
		return;
	if (o->n == OWN_DEEPEST)
		o->n = 0;
	o->calls[o->n++] = (struct own_call){ back, c->tsc, core_at(c), idle, o->handler };
}

/* The call returned to a handler that may have been counted as another. */
static void returned(struct own *o, struct core *c, const struct own_call *call)
{
	struct own_handler *h = &o->handler;

	*h = call->handler;
	if (call->idle || h->calls)
		return;
	h->calls = true;
	if (h->rule)
		core_run(c, handler_count_of_call(h->rule));
}

/* The evaluation function continues at `ip`: after a call that it made, or it begins. Some callees never return. */
static void come_back(struct own *o, struct core *c, const struct block *last, uint64_t ip)
{
	unsigned n = o->n;
	bool returns = last && last->kind == INSN_RET;

	while (n && o->calls[n - 1].back != ip && returns)
		n--;
	o->handler = (struct own_handler){ 0 };
	if (!n || o->calls[n - 1].back != ip)
		return;
	o->n = n - 1;
	returned(o, c, &o->calls[n - 1]);
}

/* --- handlers ---------------------------------------------------------------------------------------- */

static void begin_handler(struct own *o, struct core *c, struct handler *h)
{
	struct own_handler *now = &o->handler;

	if (now->learns)
		handler_took(now->learns, now->calls, now->learnt, o->late);
	*now = (struct own_handler){ .rule = h ? handlers_rule(&c->set->handlers, h, now->previous) : NULL };
	if (now->rule)
		core_run(c, handler_count(now->rule));
	else
		now->previous = now->learns = h;
}

/* Each handler is entered by an indirect jump, and only a handler. */
static void evaluate(struct own *o, struct core *c, const struct block *last, const struct block *next)
{
	if (last && last->kind == INSN_JUMP_IND)
		begin_handler(o, c, next->handler);
	o->handler.learnt += next->n;
	o->idle = o->handler.rule;
}

/* --- places ------------------------------------------------------------------------------------------ */

static void leave(struct own *o, struct core *c, const struct block *last)
{
	if (o->place == OWN_EVALUATION && is_call(last))
		push(o, c, last->end, false);
	else if (o->place == OWN_TOOL && last && last->kind != INSN_RET)
		push(o, c, 0, true);
	o->idle = top_is_idle(o);
}

static void begin_tool(struct own *o)
{
	if (o->n && !o->calls[o->n - 1].back)
		o->n--;
	o->idle = true;
}

void own_block(struct own *o, struct core *c, const struct block *last, const struct block *next)
{
	enum own_place place = place_of(next), before = o->place;

	if (place != before && before != OWN_ELSEWHERE)
		leave(o, c, last);
	if (place != before && place == OWN_EVALUATION)
		come_back(o, c, last, next->start);
	if (place != before && place == OWN_TOOL)
		begin_tool(o);
	if (place == OWN_EVALUATION)
		evaluate(o, c, place == before ? last : NULL, next);
	o->idle |= !o->late;
	o->place = place;
}

void own_word(struct own *o, struct core *c)
{
	struct own_call *call = o->n ? &o->calls[o->n - 1] : NULL;

	o->late = true;
	if (!call || call->idle || !call->back)
		return;
	if (core_at(c) == call->bytes)
		core_back(c, c->tsc - call->tsc);
	call->idle = true;
}

void own_free(struct own *o)
{
	free(o->calls);
}
