/* SPDX-License-Identifier: MIT */
/*
 * pt_losses.h - up to when all switches of threads are in a perf.data.
 *
 * When a buffer is full the kernel drops records, and says so with the next one that has room there (LOST): what is
 * missing is later than the buffer's last record before that. At the end of a file that was cut, buffers that were read
 * before the cut have later records than others (perf_order.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct pt_losses {
	bool lost;	    /* some are missing, */
	uint64_t until;	    /* later than this: ns, 0: even the first */
	uint64_t latest;    /* of all records so far, */
	uint64_t limit;	    /* and up to the last round */
	uint64_t complete;  /* all records up to here are there */
	struct map buffers; /* a CPU or thread -> the time of the last record in its buffer, as a pointer */
};

/* A record, or a LOST, in a buffer; ns may be 0, and buffer -1: not known. In the order of the file. 0 or -ENOMEM. */
int pt_losses_record(struct pt_losses *s, int32_t buffer, uint64_t ns);
void pt_losses_add(struct pt_losses *s, int32_t buffer);

/* perf read all buffers; the file is cut off here. */
void pt_losses_round(struct pt_losses *s);
void pt_losses_cut(struct pt_losses *s);

void pt_losses_free(struct pt_losses *s);
