/* SPDX-License-Identifier: MIT */
/*
 * rows.h - words and branches of one thread's trace, which the decoder passes on in batches.
 */
#pragma once

#include <stdbool.h>

#include "tsc.h"

#define ROWS_MAX 512

enum row_kind {
	ROW_WORD = 1, /* a PTWRITE */
	ROW_BRANCH,   /* an indirect branch */
	ROW_ENTER,    /* tracing begins */
};

struct row {
	uint64_t ip;	 /* target; or the word */
	uint64_t cycles; /* since the base of the clock, which is linear over all rows */
	uint64_t core;	 /* cycles of the core: sum of CYC packets */
	uint8_t kind;	 /* enum row_kind */
};

struct rows {
	const struct tsc_conv *conv;
	double base, ratio;	 /* of the clock: ticks when cycles are 0, and ticks a cycle */
	uint64_t since, first;	 /* no row is earlier than this time, which it was at that many cycles */
	uint64_t thread, counts; /* the thread's cycles at a row: thread + (core & counts) */
	uint32_t n;
	struct row at[ROWS_MAX];
};

static inline uint64_t rows_ns(const struct rows *r, const struct row *row)
{
	int64_t time = r->base + (int64_t)row->cycles * r->ratio; /* as in pt_time_at() */
	bool moved = row->cycles != r->first && time > (int64_t)r->since;

	return tsc_ns(r->conv, moved ? time : (int64_t)r->since);
}

static inline uint64_t rows_cycles(const struct rows *r, const struct row *row)
{
	return r->thread + (row->core & r->counts);
}
