/* SPDX-License-Identifier: MIT */
/*
 * perf_sample.h - the thread and time of a kernel's record: the fields that attr.sample_type names, at the beginning of
 * a SAMPLE and at the end of every other record (perf_event.h, "struct sample_id").
 */
#pragma once

#include "perf_file.h"

struct perf_sample {
	uint64_t time; /* ns; 0: none */
	uint64_t id;
	int32_t pid, tid, cpu; /* -1: not given */
	uint64_t aux_size;     /* trace in a SAMPLE, and its offset in the record; 0: none */
	uint32_t aux_at;
};

/* False: the record is too short for its event's fields. */
bool perf_sample_read(const struct perf_file *f, const struct perf_record *rec, struct perf_sample *s);
