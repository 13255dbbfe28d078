/* SPDX-License-Identifier: MIT */
/* pt_overlap.h - snapshots and AUX samples of one trace may repeat what the previous one had. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pt_span {
	const uint8_t *p, *end;
};

/*
 * Where in `next` new bytes begin that are not in `before`; next.end if there are none. *continues: they follow the end
 * of `before`. Found by the TSC packets of PSB+, as perf does.
 */
const uint8_t *pt_overlap(struct pt_span before, struct pt_span next, bool *continues);
