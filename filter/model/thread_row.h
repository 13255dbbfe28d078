/* SPDX-License-Identifier: MIT */
/*
 * thread_row.h - calls in a row: what an innermost activation calls, and returns at once, while it does nothing else
 * but repeat its innermost loop.
 *
 * thread_quick.c takes each of them as one step. Where several have come in a row, what they have in common is looked
 * at once here, and what they add up to is added once.
 */
#pragma once

#include "loop.h"
#include "thread.h"
#include "word_stream.h"

/* Where a part's events go. */
struct quick {
	struct thread *thread;
	uint64_t until_ns;
	bool waited_for; /* others wait for the GIL: that does not change meanwhile */
	const struct subscribers *to;
	uint64_t *events; /* of all functions, by op */
	uint32_t in_row;  /* the latest so many calls returned at once, with nothing but trips of loops between them */
};

/* So many are a row: looking for more of them costs about as much as taking one alone. */
#define ROW_BEGINS 3

/* No other stack can be the innermost. */
static inline bool row_is_only_stack(const struct thread *t)
{
	return t->stack == t->stacks && !t->stack->next;
}

/*
 * Takes events from this one on, a call that returns at once, as long as they are such calls and trips. How many words
 * that were, which may be none, or less than 0, as a sink returned.
 */
int thread_row(const struct quick *q, const struct words_ahead *w);
