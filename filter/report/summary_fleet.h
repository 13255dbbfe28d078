/* SPDX-License-Identifier: MIT */
/*
 * summary_fleet.h - what a summary has with for_fleet=yes only, for `ocular fleet add`: docs/summary.md.
 *
 * Distributions are of buckets that are the same in every recording (stat.h), so that those of many recordings add up.
 */
#pragma once

#include "base/value.h"
#include "model/calltree.h"
#include "model/profile.h"

/* Of each code object, how long its activations took; zeroed: of none. */
struct durations {
	struct map of; /* code -> struct stat_sum, in ns */
};

/* One that has ended: it counts if its beginning and its end were seen. 0 or -ENOMEM. */
int durations_add(struct durations *d, const struct activation *a, enum leave_how how, uint64_t end_ns);

/* Adds those of other processes, whose codes were given back (codes_part.h). 0 or -ENOMEM. */
int durations_join(struct durations *to, const struct durations *more);

void durations_free(struct durations *d);

/* What a function, or a C function, and a loop have beside the rest. NULL: no memory. */
struct value *summary_fleet_function(const struct durations *d, const struct code *code);
struct value *summary_fleet_loop(const struct loop *loop);

/* "edges": an array. NULL: no memory. */
struct value *summary_edges(const struct calltree *tree);
