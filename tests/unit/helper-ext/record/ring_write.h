/* SPDX-License-Identifier: MIT */
/* ring_write.h - a record into a ring, as the extension does it (lane.c), for tests. */
#pragma once

#include "shared/ring.h"

/* Records ever written. */
static inline uint64_t ring_written(const struct ring *r)
{
	return ring_head(r, r->first, r->nrecords);
}

/* The caller knows that there is room. */
static inline void ring_write(struct ring *r, uint64_t tsc, uint64_t word)
{
	uint64_t at = atomic_load_explicit(&r->at, memory_order_relaxed);
	struct ring_record *rec;

	if (at == r->first + r->nrecords * sizeof(*rec))
		ring_wrap(r);
	rec = (struct ring_record *)atomic_load_explicit(&r->at, memory_order_relaxed);
	__atomic_store_n(&rec->tsc, tsc, __ATOMIC_RELAXED);
	__atomic_store_n(&rec->word, word, __ATOMIC_RELAXED);
	atomic_store_explicit(&r->at, (uintptr_t)(rec + 1), memory_order_release);
}
