/* SPDX-License-Identifier: MIT */
/*
 * switches.h - when the kernel takes a thread off its CPU, and puts it on one again.
 *
 * A dummy event of perf_event_open(2) with context_switch records each switch of one thread, and nothing else: a thread
 * that does not switch pays nothing, one that does some 1 us. The kernel appends the records to a buffer that is
 * shared with us. They are in order, and each is there before the thread runs on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct switched {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint16_t cpu;
	bool in;	/* it runs from here on; else it does not */
	bool preempted; /* it does not, although it could */
	bool woken;	/* it runs, and had not by its own will */
	bool lost;	/* before this one others were dropped */
};

/* The switches of a thread that were not taken yet. Zeroed: none are known. */
struct switches {
	struct perf_event_mmap_page *page; /* NULL: not known */
	bool lost;			   /* some were dropped, for lack of room, before the next one */
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

/* Is there hardly any room for more? */
bool switches_crowded(const struct switches *s);

void switches_close(struct switches *s);
