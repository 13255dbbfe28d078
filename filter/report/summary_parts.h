/* SPDX-License-Identifier: MIT */
/* summary_parts.h - what several objects of the summary have: docs/summary.md. All: NULL, no memory. */
#pragma once

#include <stdbool.h>

#include "base/value.h"
#include "model/profile.h"

/* "file" and "qualname". */
struct value *summary_place(const struct code *code);

/* "origin": whose code it is. */
struct value *summary_origin(const struct profile *p, const struct code *code);

/* [[LOW, HIGH, N], ...] */
struct value *summary_ranges(const struct stat_sum *s);

/* By the events' names, those that there were. */
struct value *summary_counts(const uint64_t counts[OP_COUNT]);

/* Likewise, per second of traced time. */
struct value *summary_rates(const struct profile *p, const uint64_t counts[OP_COUNT]);

/* null: not known. */
struct value *summary_number_or_null(bool known, uint64_t n);

/* PREFIXcpu_ns and PREFIXwaiting_ns of a whole; null where threads did not say when they were on a CPU. */
struct value *summary_cpu_times(bool known, const char *prefix, uint64_t ns, struct off off);

/* The same for "self_" and "total_". */
struct value *summary_own_and_total(bool known, uint64_t own_ns, struct off own, uint64_t ns, struct off off);

/* "specialization"; numbers in it are null if the code table does not say. */
struct value *summary_specialization(const struct code *code);
