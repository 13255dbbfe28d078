/* SPDX-License-Identifier: MIT */
/* pt_overlap.h - snapshots and AUX samples of one trace may repeat what the one before them had. */
#ifndef OCULAR_PT_OVERLAP_H
#define OCULAR_PT_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

struct pt_span {
	const uint8_t *p, *end;
};

/*
 * Where in `next` begins what is not in `before`; next.end if nothing does. *continues: it goes on where
 * `before` ended. Found by the TSC packets of PSB+, as perf does.
 */
const uint8_t *pt_overlap(struct pt_span before, struct pt_span next, bool *continues);

#endif
