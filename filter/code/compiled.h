/* SPDX-License-Identifier: MIT */
/*
 * compiled.h - how long loops ran as machine code of CPython's JIT: the lines `executor` and `compiled` of a code table
 * (docs/marker.md). The emulated processor writes the latter; of other recordings nothing is known.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct code;
struct codes;
struct process;

/* So many times, and so long, an executor was run. */
struct compiled_run {
	uint32_t id;	/* of the code object that it was entered from */
	uint64_t entry; /* its address; 0: not known */
	uint64_t n, ns;
};

/* Of a process. Zeroed: nothing is known. */
struct compiled {
	struct compiled_run *runs;
	uint32_t nruns, room;
	struct map executors; /* address and code id -> offset + 1 */
};

/* Both: 0 or -ENOMEM. The executor is entered at this offset of the bytecode. */
int compiled_add_executor(struct compiled *c, uint32_t id, int64_t offset, uint64_t entry);
int compiled_add_run(struct compiled *c, struct compiled_run run);

void compiled_free(struct compiled *c);

/* Of a loop, or of all loops of a code object for which it is not known which. */
struct compiled_row {
	const struct code *code;
	int32_t line; /* 0: not known */
	uint64_t n, ns;
};

/* Of all processes together. */
uint64_t compiled_ns_of(const struct codes *codes);

/* Of all processes, most time first: *n of them in one malloc'ed array. NULL: no memory. */
struct compiled_row *compiled_rows(struct codes *codes, size_t *n);
