/* SPDX-License-Identifier: MIT */
/*
 * gil.h - who had a process's GIL while other threads waited for it.
 *
 * The trace does not say so. But a thread whose events of code come has it, until it waits for something or another's
 * events come; and a thread that has waited for it has got it, unless another has an event in that nanosecond. So of
 * each wait it is known whose it was meanwhile, but for the time in which nobody had it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct gil_apart;
struct thread;

/* A process's. */
struct gil {
	uint32_t waiting; /* threads that wait for it */
	uint64_t since_ns;
	struct thread *holder;	 /* NULL: not known */
	bool told;		 /* a thread said that it waits for it */
	struct gil_apart *apart; /* some of its threads are analysed elsewhere; NULL: all are here */
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

/*
 * Of a thread that is analysed elsewhere: a WAIT word, or one of an event of code, of which not all need be told (those
 * that are not are why gil_apart.h exists). It comes before what own threads do then. 0 or -ENOMEM.
 */
int gil_other_word(struct gil *g, int32_t tid, uint64_t word, uint64_t ns);

/* Of an event of code: who has it no longer, or has it already, takes it. */
bool gil_is_taken_by(uint64_t word);

/* Two threads' words have the same time: does it make a difference here which of them comes first? */
bool gil_order_matters(uint64_t one, uint64_t other);

/* No word comes any more; ns: the latest since_ns of all that are this process's. */
void gil_end(struct gil *g, uint64_t ns);

/* What the thread does is not known any more. */
void gil_lose(struct gil *g, struct thread *t);
