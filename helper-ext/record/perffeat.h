/* SPDX-License-Identifier: MIT */
/*
 * perffeat.h - the sections after the data of a perf.data: where it was recorded, and the event's name.
 *
 * perf does not need them, but says so (7.x: "missing HEADER_NRCPUS") and knows the event by number only. perf 7.2
 * takes a CPU whose number is not below the number of CPUs for CPU 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shared/perf_format.h"

#define PERFFEAT_MAX 2048

struct perffeat {
	uint64_t bits[PERF_FEATURE_BITS / 64]; /* for the header */
	size_t size;
	uint8_t bytes[PERFFEAT_MAX]; /* for the file, at the end of the data */
};

/* A file with one event and one id; this many CPUs, if this machine has no more (emulated ones). */
struct perffeat_of {
	const struct perf_attr *attr;
	uint64_t id;
	const char *event_name;
	uint32_t ncpus;
};

/* Builds the sections for a file whose data ends at `end`. */
void perffeat_build(struct perffeat *f, uint64_t end, const struct perffeat_of *of);
