/* SPDX-License-Identifier: MIT */
/*
 * side.h - the records that a kernel gives perf beside a trace: every traced process appends them to one file, which
 * becomes a part of perf.data.
 */
#pragma once

#include <stdint.h>

#define SIDE_FILE "side"

/* The thread and time of a record. cpu may be -1. */
struct side {
	const char *spools; /* folder */
	uint32_t pid, tid, cpu;
	uint64_t tsc;
};

/* A thread has this name. */
void side_comm(const struct side *s, const char *comm);

/* An executable mapping of a file. */
void side_mmap(const struct side *s, uint64_t start, uint64_t size, uint64_t offset, const char *file);

/* This process is a fork of `parent`, and has its mappings. */
void side_fork(const struct side *s, uint32_t parent);

/* A thread's trace begins. */
void side_start(const struct side *s);

/* PERF_RECORD_AUX: that many bytes of trace came into the buffer. */
#define SIDE_AUX_TRUNCATED 1u /* it was full */
#define SIDE_AUX_OVERWRITE 2u /* what was there before is overwritten: a snapshot */
void side_aux(const struct side *s, uint64_t offset, uint64_t size, uint64_t flags);

/* A thread comes to the CPU or leaves it. */
void side_switch(const struct side *s, int out);
