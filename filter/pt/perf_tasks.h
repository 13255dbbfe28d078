/* SPDX-License-Identifier: MIT */
/*
 * perf_tasks.h - tid -> process, CPU -> running thread.
 *
 * Follows perf's rules (tools/perf/util/machine.c): a thread's process is the first that a record named, until a FORK
 * says that the tid is a new thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct task {
	int32_t pid; /* -1: unknown */
	int32_t tid;
	int32_t cpu;	    /* where it was last seen running, -1: unknown */
	uint64_t cycles;    /* core cycles of its trace so far */
	bool followed;	    /* a word of it came (pt_merge.h) */
	struct task *older; /* all that were ever made */
};

struct tasks {
	struct map by_tid;
	struct task *newest;
	int32_t *running; /* [cpu]: tid, -1: unknown */
	uint32_t ncpus;
};

/* 0 or -ENOMEM. Tasks live until tasks_free. */
int tasks_init(struct tasks *t);
void tasks_free(struct tasks *t);

/* NULL if no record named the tid. */
struct task *tasks_find(const struct tasks *t, int32_t tid);

/* The same, made if need be; a pid of -1 is ignored. NULL: no memory. */
struct task *tasks_name(struct tasks *t, int32_t pid, int32_t tid);

/* A new thread. 0 or -ENOMEM. */
int tasks_fork(struct tasks *t, int32_t pid, int32_t tid, int32_t ppid, int32_t ptid);

/* From now on tid runs on cpu. 0; -ENOMEM; -EINVAL: no such CPU. */
int tasks_run(struct tasks *t, int32_t cpu, int32_t pid, int32_t tid);

/* The tid that runs on cpu, -1 if unknown. */
int32_t tasks_running(const struct tasks *t, int32_t cpu);
