/* SPDX-License-Identifier: MIT */
/*
 * perffeat.h - what stands behind the data of a perf.data: where it was recorded, and the event's
 * name.
 *
 * perf can do without, but says so (7.x: "missing HEADER_NRCPUS") and knows the event by number
 * only.
 */
#ifndef OCULAR_PERFFEAT_H
#define OCULAR_PERFFEAT_H

#include <stddef.h>
#include <stdint.h>

#include "perf_format.h"

#define PERFFEAT_MAX 2048

struct perffeat {
	uint64_t bits[PERF_FEATURE_BITS / 64]; /* for the header */
	size_t size;
	uint8_t bytes[PERFFEAT_MAX]; /* for the file, at the end of the data */
};

/* Builds the sections for a file whose data ends at `end` and whose one event has one id. */
void perffeat_build(struct perffeat *f, uint64_t end, const struct perf_attr *attr, uint64_t id,
		    const char *event_name);

#endif
