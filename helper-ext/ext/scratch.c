/* SPDX-License-Identifier: MIT */
/* scratch.c - see scratch.h. */
#include "scratch.h"

#define SCRATCH_RECORDS 256

static struct ring_record records[SCRATCH_RECORDS];
static _Atomic uint64_t published;
static struct lane scratch;
static struct lane *before;
static enum lane_view scratched;

void scratch_begin(uint64_t interpreter, enum lane_view view)
{
	scratch = (struct lane){
		.limit = UINT64_MAX,
		.mask = SCRATCH_RECORDS - 1,
		.records = records,
		.published = &published,
		.interpreter = interpreter,
	};
	before = lane_of[view];
	lane_of[view] = &scratch;
	scratched = view;
}

uint64_t scratch_end(void)
{
	lane_of[scratched] = before;
	return scratch.head;
}
