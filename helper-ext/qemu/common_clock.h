/* SPDX-License-Identifier: MIT */
/*
 * common_clock.h - shared by all emulated processes of a recording: the time, and numbers for their traces.
 *
 * A thread's time advances with its instructions. When it comes out of the kernel it is never earlier than any thread
 * that went in before, so a waiting thread is later than what it waited for. A program of one thread sees nothing of
 * this, and its times are the same in every run.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define CLOCK_FILE "clock"

struct clock_page {
	_Atomic uint64_t tsc;
	_Atomic uint32_t traces;
};

/* Maps the page in this folder, or makes it. NULL: errno says why. */
struct clock_page *clock_map(const char *folder);
struct clock_page *clock_make(const char *folder, uint64_t tsc);

static inline uint64_t clock_now(const struct clock_page *c)
{
	return atomic_load(&c->tsc);
}

/* A thread has reached `tsc`. */
static inline void clock_reach(struct clock_page *c, uint64_t tsc)
{
	uint64_t now = atomic_load(&c->tsc);

	while (now < tsc && !atomic_compare_exchange_weak(&c->tsc, &now, tsc))
		;
}

/* A new number at each call. */
static inline unsigned clock_ticket(struct clock_page *c)
{
	return atomic_fetch_add(&c->traces, 1);
}
