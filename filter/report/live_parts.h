/* SPDX-License-Identifier: MIT */
/* live_parts.h - the arrays of a line of sink_live.c: what each function, loop, thread ... has more than was told. */
#pragma once

#include <jansson.h>

#include "base/map.h"
#include "model/profile.h"

/* What was told until now. Zeroed: nothing. */
struct live_told {
	struct map functions, loops, tasks, threads, waits, collections;
};

/* An object with one array for each of these. NULL: no memory. */
json_t *live_parts(struct live_told *told, const struct profile *p);

void live_told_free(struct live_told *told);
