/* SPDX-License-Identifier: MIT */
/*
 * thread_quick.h - events of code that change nothing but stack and totals, without a sample of each.
 *
 * Nearly all events are calls and returns, back-edges, and others of the innermost activation. What they do is the same
 * as thread_feed() does with their samples, by the same functions.
 */
#pragma once

#include <stdbool.h>

#include "thread.h"
#include "word_stream.h"

/* Can events of the interpreter on this thread be so, until its next sample? No sink may need samples of them. */
bool thread_is_quick(const struct thread *t, uint32_t interpreter, const struct subscribers *to);

/* What is done with an event that needs a sample: nothing. */
#define THREAD_SLOW 1

/*
 * Acts on events before that time, up to one that needs a sample: one from before the thread's last sample needs one.
 * 0, -ENOMEM, or what a sink returned.
 */
int thread_quick(struct thread *t, uint64_t until_ns, struct word_stream *l, struct word_part *p,
		 const struct subscribers *to);
