/* SPDX-License-Identifier: MIT */
/*
 * perfdata.h - writes a genuine perf.data with an Intel PT stream for each thread.
 *
 * The file is readable at any moment: the header's data.size grows only after the bytes it will cover are in the file,
 * and only by complete records. Otherwise perf loops or dies of SIGBUS.
 *
 * Every function returns 0 or a negative errno. A failed write resets the file to its last complete record and is
 * remembered: later writes return the same error and change nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/perf_format.h"

/* ns = zero + tsc * mult >> shift, as in perf's mmap page (mult fits 32 bits). */
struct time_conv {
	uint16_t shift;
	uint32_t mult;
	uint64_t zero;
};

#define PERFDATA_FILTER_MAX 4096u

/* The one event of a file. */
struct perfdata_event {
	const char *name;	      /* as for perf record */
	uint64_t config;	      /* PT_CONFIG_* */
	uint64_t flags;		      /* PERF_ATTR_*, besides those of all our events */
	uint64_t priv[PT_INFO_COUNT]; /* of AUXTRACE_INFO, except the time (perfdata_clock) */
	const char *filter;	      /* of addresses, as perf writes it; NULL: none */
};

struct perfdata {
	int fd;
	int error;
	uint64_t data; /* where the records begin */
	uint64_t end;  /* of the last complete record in the file */
	struct perf_attr attr;
	const char *event_name;
	uint32_t ncpus; /* minimum number of CPUs, according to the records */
};

/* Part of one thread's trace. All parts with one idx make one queue and must be in order. */
struct aux_chunk {
	uint32_t idx, tid;
	uint64_t offset;    /* of the piece in its queue */
	uint64_t reference; /* TSC near its beginning, not 0 */
	const void *bytes;  /* complete packets, from a PSB on */
	size_t size;	    /* a multiple of 8 */
	bool of_cpu;	    /* the queue is a CPU's, not a thread's: tid is -1 */
	uint32_t cpu;
};

/* Was this file made by perfdata_create(), or is it still empty? perf lays its files out differently. */
bool perfdata_is_ours(int fd);

/* Creates `name` in the folder; it must not exist. ratio: for CBR packets (ptframe.h). */
int perfdata_create(struct perfdata *pd, int dirfd, const char *name, uint8_t ratio);

/* The same for another event than the software emitter's. ev's strings remain the caller's. */
int perfdata_create_event(struct perfdata *pd, int dirfd, const char *name, const struct perfdata_event *ev);

/* How TSC becomes CLOCK_MONOTONIC; may be called again when it is known better. */
int perfdata_clock(struct perfdata *pd, const struct time_conv *conv);

/* Tells perf the pid and the name of a thread; without it perf shows neither. */
int perfdata_comm(struct perfdata *pd, uint32_t pid, uint32_t tid, const char *comm);

/* Appends complete records made by the caller, each ending with perfdata_id(). */
int perfdata_records(struct perfdata *pd, const void *records, size_t size);

/* The end of a record of the kernel's kind. cpu may be -1. */
struct perf_sample_id perfdata_id(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t ns);

int perfdata_aux(struct perfdata *pd, const struct aux_chunk *chunk);

/*
 * Drops the oldest trace, so that the records take at most `bytes`, or as little more as possible; the file has a hole
 * in its place. Returns 1 if something was dropped, 0 if not. If the file system has no holes (-EOPNOTSUPP) the file is
 * correct, but no smaller.
 */
int perfdata_keep(struct perfdata *pd, uint64_t bytes);

/* Ends the file and closes it. Returns the first error. */
int perfdata_close(struct perfdata *pd);

/* Bytes in the file up to the end of its data, without holes. */
uint64_t perfdata_size(const struct perfdata *pd);
