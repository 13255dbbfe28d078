/* SPDX-License-Identifier: MIT */
/*
 * async_tasks.h - tasks of asyncio and trio: what each is, when it ran, what it waited in. And pieces of work that are
 * handed over.
 *
 * A task is known by its coroutine, whose address markers tell. TASKS_KEPT have a row of their own, from the first one
 * made on; all are in the totals of their coroutine.
 */
#pragma once

#include <stdbool.h>

#include "base/map.h"
#include "steps.h"
#include "waited.h"

#define TASKS_KEPT 10000

struct object;

struct async_task {
	struct called called;
	struct called by;	      /* the task that made it */
	struct object *object;	      /* that its coroutine was (objects.h), and may be something else now; or NULL */
	uint64_t ready_total_ns;      /* that it was ready before its coroutine was known */
	uint64_t outer_step;	      /* of its thread, while it runs and its own coroutine is left out */
	bool hidden;		      /* its own coroutine is left out */
	const struct code *coroutine; /* NULL: it has not begun */
	uint64_t number;	      /* 1, 2, ... in order of appearance */
	int32_t pid;
	bool older; /* than the trace: made_ns is when it was seen first */
	uint64_t made_ns;
	uint64_t ended_ns; /* 0: it has not */
	uint64_t running_ns, resumptions;
	uint64_t ready_ns, ready_by;   /* since when it can go on, and by which step; 0: it cannot, or not known */
	uint64_t step;		       /* its last one (steps.h); 0: none */
	uint64_t begun_ns;	       /* when that began, if it is not kept */
	uint64_t around;	       /* what its thread worked for around that; 0: nobody */
	struct request_ref request;    /* that what made it worked for, until it has a step */
	uint64_t suspended_ns;	       /* when that ended; 0: it has not */
	const struct code *where;      /* and in which coroutine, */
	const struct code *awaited_by; /* by which of the program's own (steps.h) */
};

/* All tasks of one coroutine. */
struct task_total {
	const struct code *coroutine; /* NULL: they have not begun */
	uint64_t n, unfinished;
	uint64_t rows;	  /* of n: have rows of their own, */
	uint64_t wall_ns; /* of all: from when they were made to their end, or that of the trace */
	uint64_t running_ns, ready_ns, resumptions;
	uint64_t longest_ns;
	struct called longest;
	struct waited waits; /* until they were ready */
};

/* Something handed over: since when, by which step; and when it was done, likewise. 0: not yet, or not known. */
struct job {
	uint64_t ready_ns, ready_by;
	struct request_ref request; /* that what handed it over worked for */
	uint64_t done_ns, done_by;
	bool awaited; /* since then, or before it was done: else nobody needs to know */
};

/* Of all processes. Zeroed: none. */
struct async_tasks {
	struct map by_coroutine;  /* struct async_task, by pid and address */
	struct map jobs;	  /* struct job, likewise */
	struct map totals;	  /* struct task_total, by coroutine */
	struct async_task **rows; /* that have ended; then all, in order of their beginnings */
	size_t n, room;
	uint64_t told; /* so many have appeared */
	struct {
		uint64_t key;
		struct async_task *task; /* NULL: none */
	} last;				 /* that was found by async_tasks_find_again() */
};

/* A task of the coroutine at this address is made, or is older, or has another name now. 0 or -ENOMEM. */
int async_tasks_tell(struct async_tasks *t, const struct async_task *task, uint64_t address);

/* The task of that coroutine, unless it has ended; NULL: none. */
struct async_task *async_tasks_find(const struct async_tasks *t, int32_t pid, uint64_t address);

/* The same, of one that is mostly the one of the call before. */
struct async_task *async_tasks_find_again(struct async_tasks *t, int32_t pid, uint64_t address);

/* Its coroutine was seen to begin, then: so it is not older than the trace, whatever was told of it. */
void async_tasks_begun(struct async_task *task, uint64_t ns);

/* It begins, or goes on, with the step of this number. Likewise. */
int async_tasks_run(struct async_tasks *t, struct async_task *task, uint64_t step, uint64_t ns);

/* The same, of a step that is not kept, where nobody asks what the task waited for. */
static inline void async_tasks_run_unseen(struct async_task *task, uint64_t step, uint64_t ns)
{
	task->resumptions += task->suspended_ns != 0;
	task->step = step;
	task->begun_ns = ns;
}

/* That ends: it is suspended in this coroutine, which that one of the program's own awaits. */
void async_tasks_suspend(struct async_task *task, uint64_t ran_ns, uint64_t ns, const struct code *where,
			 const struct code *by);

/* It ends for good. Frees it, if it has no row. 0 or -ENOMEM. */
int async_tasks_end(struct async_tasks *t, struct async_task *task, uint64_t address, uint64_t ran_ns, uint64_t ns);

/* NULL: no memory. */
struct job *async_tasks_job(struct async_tasks *t, int32_t pid, uint64_t address);

/* NULL: nothing has been told of it. */
struct job *async_tasks_known_job(const struct async_tasks *t, int32_t pid, uint64_t address);

/* The trace is over, at this time. Likewise. */
int async_tasks_finish(struct async_tasks *t, uint64_t ns);

/* All totals, most running time first: *n in an array for free(). NULL: no memory. */
const struct task_total **async_tasks_ranked(const struct async_tasks *t, size_t *n);

/*
 * The totals until now, with those of tasks that have not ended, in a map for map_free_all(): struct task_total, by
 * coroutine. Of tasks that have not begun: once they have ended. 0 or -ENOMEM.
 */
int async_tasks_now(const struct async_tasks *t, struct map *totals);

void async_tasks_free(struct async_tasks *t);
