// SPDX-License-Identifier: MIT
/*
 * Exceptions that are raised and handled in the innermost activation. An EXCEPTION word comes before the RAISE that
 * it tells of; what becomes of exceptions on their way is in exceptions.c.
 */
#include "thread_parts.h"

#include <stdlib.h>

#define RAISES	 (1ull << 63) /* no payload has it */
#define LINELESS 4	      /* instructions at the beginning of a handler that may have no line */

/*
 * From CPython 3.13 on RESUME checks pending signals before it reports PY_START or PY_RESUME. An exception that strikes
 * there is a PY_UNWIND at the RESUME, of an activation without any earlier event.
 */
bool thread_is_struck(const struct sample *s)
{
	uint32_t i = code_index(s->code, s->offset);

	return s->code->process->starts_late && i < s->code->ninstrs && s->code->instrs[i].resume &&
	       s->code->instrs[i].offset == s->offset;
}

/* Of the instruction there, in whose inline cache the offset may be; a handler's first one has no line. */
static int64_t line_at(const struct code *code, int64_t offset)
{
	uint32_t i = code_index(code, offset);

	if (offset >= 2 * (int64_t)code->units)
		return 0;
	for (uint32_t k = i; k < code->ninstrs && k < i + LINELESS; k++)
		if (code->instrs[k].line > 0)
			return code->instrs[k].line;
	return 0;
}

static int mark_exception(const struct stack *st, const struct sample *s, struct flight x, bool handled,
			  const struct subscribers *to)
{
	const struct exception_mark m = { .in = &stack_top(st)->a,
					  .of = x.row,
					  .time_ns = s->time,
					  .line = line_at(s->code, s->offset),
					  .handled = handled,
					  .frames = x.frames };

	return SUBSCRIBERS_CALL(to, exception, &m);
}

void thread_take_exception(struct thread *t, const struct sample *s)
{
	t->raises = s->payload | RAISES;
	t->raised_type = s->named;
}

int thread_raise_here(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct raise at = { .first = s->op == OP_RAISE && t->raises & MARKER_EXCEPTION_FIRST,
			    .again = s->op == OP_RERAISE,
			    .object = t->raises >> MARKER_EXCEPTION_SHIFT & MARKER_EXCEPTION_MAX,
			    .type = t->raised_type,
			    .code = s->code,
			    .line = line_at(s->code, s->offset),
			    .depth = st->nframes };
	bool begun;

	t->raises = 0;
	st->flights = st->flights ?: calloc(1, sizeof(*st->flights));
	if (!st->flights || flights_raise(st->flights, &to->profile->exceptions, &at, &begun))
		return -ENOMEM;
	return begun ? mark_exception(st, s, st->flights->on_way[st->flights->n - 1], false, to) : 0;
}

int thread_handle_here(struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct flight ended;

	if (flights_handle(st->flights, s->code, line_at(s->code, s->offset), st->nframes, s->time, &ended))
		return -ENOMEM;
	return ended.row ? mark_exception(st, s, ended, true, to) : 0;
}
