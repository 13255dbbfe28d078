/* SPDX-License-Identifier: MIT */
/*
 * away.h - a stack whose greenlet does not run: its activations stand still.
 *
 * What they took until then is theirs; for sinks they end there, and begin again when the greenlet is back. Time away
 * is in none of their times. Loops stay open, in the middle of their trips.
 */
#pragma once

#include "stack.h"
#include "subscribers.h"

/* Its greenlet was switched away. 0, -ENOMEM, or what a sink returned. */
int stack_away(struct stack *s, uint64_t ns, uint64_t cycles, const struct subscribers *to);

/* It runs again, after so long. Likewise. */
int stack_back(struct stack *s, uint64_t ns, uint64_t cycles, uint64_t away_ns, uint64_t away_cycles,
	       const struct subscribers *to);
