/* SPDX-License-Identifier: MIT */
/* scratch.c - see scratch.h. */
#include "scratch.h"

/* More than a slice of a benchmark or a calibration writes: its end is seldom reached. */
#define SCRATCH_RECORDS 4096

static struct {
	_Alignas(64) char ring[RING_HEADER + SCRATCH_RECORDS * sizeof(struct ring_record)];
	_Atomic uint64_t count; /* for words that go into the processor's trace */
	struct cursor before;
	enum lane_view view;
} scratch;

static struct ring *scratch_ring(void)
{
	return (struct ring *)scratch.ring;
}

static struct cursor cursor_into_ring(void)
{
	struct ring *r = scratch_ring();

	ring_init(r, SCRATCH_RECORDS);
	return (struct cursor){
		.head = &r->at,
		.limit = (uintptr_t)(ring_records(r) + SCRATCH_RECORDS),
	};
}

static struct cursor cursor_into_trace(void)
{
	atomic_init(&scratch.count, 0);
	return (struct cursor){ .head = &scratch.count, .limit = UINT64_MAX, .numbers = &lane_no_numbers };
}

void scratch_begin(uint64_t interpreter, enum lane_view view)
{
	bool software = lanes_backend() == BACKEND_SOFTWARE;

	scratch.before = lane_cursor[view];
	scratch.view = view;
	lane_cursor[view] = software ? cursor_into_ring() : cursor_into_trace();
	lane_cursor[view].interpreter = interpreter;
}

bool scratch_wrap(enum lane_view view)
{
	struct ring *r = scratch_ring();
	const struct cursor *c = &lane_cursor[view];

	if (c->head != &r->at || cursor_head(c) != c->limit)
		return false;
	ring_wrap(r);
	return true;
}

uint64_t scratch_end(void)
{
	struct ring *r = scratch_ring();
	bool software = lanes_backend() == BACKEND_SOFTWARE;

	lane_cursor[scratch.view] = scratch.before;
	return software ? ring_head(r, r->first, r->nrecords) : atomic_load(&scratch.count);
}
