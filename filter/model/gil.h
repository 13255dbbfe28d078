/* SPDX-License-Identifier: MIT */
/*
 * gil.h - who had a process's GIL while other threads waited for it.
 *
 * The trace does not say so. But a thread whose events of code come has it, until it waits for something or another's
 * events come; and a thread that has waited for it has got it. So of each wait it is known whose it was meanwhile, but
 * for the time in which nobody had it.
 */
#pragma once

#include <stdint.h>

struct thread;

/* A process's. */
struct gil {
	uint32_t waiting; /* threads that wait for it */
	uint64_t since_ns;
	struct thread *holder; /* NULL: not known */
};

/* Up to ns the holder had it while others waited: added to its thread, and the function that it is in. */
void gil_until(struct gil *g, uint64_t ns);

/* The same where the thread and function that it is added to are at hand. */
static inline void gil_ran(struct gil *g, uint64_t ns, uint64_t *thread_ns, uint64_t *function_ns)
{
	uint64_t held = (ns - g->since_ns) * g->waiting;

	if (ns <= g->since_ns)
		return;
	*thread_ns += held;
	*function_ns += held;
	g->since_ns = ns;
}

/* An event of code of a thread that was not the holder. */
void gil_take(struct gil *g, struct thread *t, uint64_t ns);

/* A WAIT word of the thread. */
void gil_word(struct gil *g, struct thread *t, uint64_t payload, uint64_t ns);

/* What the thread does is not known any more. */
void gil_lose(struct gil *g, struct thread *t);
