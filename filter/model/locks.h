/* SPDX-License-Identifier: MIT */
/* locks.h - how long threads waited for which lock, by the line that made it. */
#pragma once

#include "base/map.h"
#include "code/code.h"
#include "waits.h"

struct lock {
	const struct code *code; /* where it was made */
	int64_t line;
	struct wait_total waited;
};

/* Zeroed: none. */
struct locks {
	struct map all; /* struct lock, by code and line */
};

/* A wait of ns for one that was made so many lines after the code's first one. 0 or -ENOMEM. */
int locks_add(struct locks *l, const struct code *code, uint32_t lines, uint64_t ns);

/* Those of another part of the recording (codes_part.h). Likewise. */
int locks_join(struct locks *to, const struct locks *more);

/* All of them, most time first: *n in an array for free(). NULL: no memory. */
const struct lock **locks_ranked(const struct locks *l, size_t *n);

void locks_free(struct locks *l);
