/* SPDX-License-Identifier: MIT */
/*
 * states.h - what a thread does when: it runs, could run, or waits for something; and which thread has the GIL.
 *
 * Each word may end a stretch of time, which is then complete. Times are ns as in samples.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STATES_NO_CPU 0xffffu

struct stretch {
	const char *name; /* a constant; NULL: it is of a thread */
	uint64_t from, until;
	uint16_t cpu; /* it ran there; STATES_NO_CPU: it did not run, or that is not known */
	int32_t tid;  /* of the thread, where it has no name */
};

/* A thread's; zeroed: nothing is known yet. */
struct states {
	bool known, in, preempted; /* of its newest CPU word */
	uint16_t cpu;
	uint8_t wait; /* it is in such a call; 0: in none */
	uint64_t since_ns, wait_ns;
};

/* Its first event: what it did before that is of no interest. */
static inline void states_begin(struct states *s, uint64_t ns)
{
	s->since_ns = s->wait_ns = ns;
}

/* Its CPU or WAIT word (docs/marker.md) at ns. True: *done is over. */
bool states_cpu(struct states *s, uint64_t payload, uint64_t ns, struct stretch *done);
bool states_wait(struct states *s, uint64_t payload, uint64_t ns, struct stretch *done);

/* Does a thread that begins to wait so let its GIL go? */
bool states_lets_go(uint64_t payload);

/* What it does ends at ns, as far as it is known; nothing is known any more. */
bool states_end(struct states *s, uint64_t ns, struct stretch *done);

/*
 * Who has a process's GIL: the thread whose events come, until it waits for something, or another's come. Zeroed: not
 * known. As long as there is one thread only, it is of no interest.
 */
struct holder {
	bool held, many;
	int32_t first, tid;
	uint64_t from_ns;
};

/* An event of code of the thread, or the beginning of a call that may wait. True: *done is over. */
bool holder_event(struct holder *h, int32_t tid, uint64_t ns, struct stretch *done);
bool holder_waits(struct holder *h, int32_t tid, uint64_t ns, struct stretch *done);
