/* SPDX-License-Identifier: MIT */
/*
 * switches.h - when the kernel takes a thread off its CPU, and puts it on one again.
 *
 * A dummy event of perf_event_open(2) with context_switch records each switch of one thread, and nothing else: a thread
 * that does not switch pays nothing, one that does some 1 us. The kernel appends the records to a buffer that is
 * shared with us. They are in order, and each is there before the thread runs on.
 *
 * A clock that runs while the thread is on a CPU may take its place: it records the switches too, and between them, so
 * many times a second, the registers and the end of the stack.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "native/cfi.h"

struct perf_event_mmap_page;

struct switched {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint16_t cpu;
	bool in;	/* it runs from here on; else it does not */
	bool preempted; /* it does not, although it could */
	bool woken;	/* it runs, and had not by its own will */
	bool lost;	/* before this one others were dropped */
	bool sample;	/* no switch: it runs, and switches_sample() says where */
	bool mapped;	/* before this one it mapped a file to run code of */
};

#define SWITCHES_STACK 8192u /* bytes of a sample's stack, as perf record takes them */

/* Where a thread was in code of its own. */
struct switches_sample {
	struct registers registers; /* of x86-64; on other processors only where it ran */
	struct stack_copy stack;
	uint8_t bytes[SWITCHES_STACK];
};

/* The switches of a thread that were not taken yet. Zeroed: none are known. */
struct switches {
	struct perf_event_mmap_page *page; /* NULL: not known */
	bool lost;			   /* some were dropped, for lack of room, before the next one */
	bool mapped;			   /* likewise: something was mapped */
	bool samples;			   /* it has samples */
	uint64_t dropped;		   /* so many in all */
	bool waits;			   /* the last one that was taken: out, by its own will */
	bool peeked;			   /* `next` is the oldest record, */
	uint32_t size;			   /* of so many bytes */
	struct switched next;
};

/*
 * From here on those of a thread of process pid. 0 or a negative errno: -EACCES, -EPERM not allowed, or too many of
 * them (perf_event_mlock_kb); -ESRCH it has ended, or is no thread of that process.
 */
int switches_open(struct switches *s, uint32_t pid, uint32_t tid);

/* With so many samples a second of its CPU time, and room for 31 of them, else 7. */
int switches_open_sampled(struct switches *s, uint32_t pid, uint32_t tid, uint32_t hz, bool roomy);

/* Likewise, but nobody takes them: newer ones overwrite the oldest. */
int switches_open_overwritten(struct switches *s, uint32_t pid, uint32_t tid);

/*
 * Of these, of a thread that has some, what is there now, oldest first, in *list, to be freed. *whole: nothing was
 * overwritten. Returns how many, or -ENOMEM.
 */
int switches_copy(const struct switches *s, struct switched **list, bool *whole);

/* The oldest that was not taken, valid until it is taken; NULL: there is none yet. */
const struct switched *switches_peek(struct switches *s);
void switches_take(struct switches *s);

/* Of the one that was peeked at, which is a sample. False: the kernel had no registers. */
bool switches_sample(const struct switches *s, struct switches_sample *sample);

/* Is there hardly any room for more? */
bool switches_crowded(const struct switches *s);

void switches_close(struct switches *s);
