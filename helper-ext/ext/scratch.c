/* SPDX-License-Identifier: MIT */
/* scratch.c - see scratch.h. */
#include "scratch.h"

#define SCRATCH_RECORDS 256

static _Alignas(64) char ring[RING_HEADER + SCRATCH_RECORDS * sizeof(struct ring_record)];
static struct cursor before;
static enum lane_view scratched;

void scratch_begin(uint64_t interpreter, enum lane_view view)
{
	struct ring *r = (struct ring *)ring;

	atomic_store_explicit(&r->head, 0, memory_order_relaxed);
	before = lane_cursor[view];
	lane_cursor[view] = (struct cursor){
		.head = &r->head,
		.limit = UINT64_MAX,
		.mask = SCRATCH_RECORDS - 1,
		.interpreter = interpreter,
	};
	scratched = view;
}

uint64_t scratch_end(void)
{
	uint64_t words = cursor_head(&lane_cursor[scratched]);

	lane_cursor[scratched] = before;
	return words;
}
