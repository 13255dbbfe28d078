/* SPDX-License-Identifier: MIT */
/*
 * steps.h - what worked when: each step of a task, each job, and threads; and what let it begin.
 *
 * A step is a time in which one thread works for one task, job, or nobody else, without a pause. The newest STEPS_KEPT
 * are there, whatever the length of the trace.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "code/code.h"
#include "stalls.h"

#define STEPS_KEPT (1u << 18) /* a power of two; some 31 MB */

/* What a task or a request is called: by a line of the table, or Task- and a number. Zeroed: it has no name. */
struct called {
	const struct code *name;
	uint64_t number;
};

/* Number of all those of tasks that are not kept, because no sink has a use for them. */
#define STEP_NOT_KEPT (UINT64_MAX - 1)

#define CALLED_TEXT 32 /* Task-N */

/* Its name, of any length; "" if it has none. It may be in `text`. */
const char *called_text(const struct called *c, char text[CALLED_TEXT]);

/* A request (requests.h) that may have ended meanwhile: requests_current() knows. Zeroed: none. */
struct request;
struct request_ref {
	struct request *at;
	uint64_t number;
};

enum step_kind { STEP_THREAD, STEP_TASK, STEP_JOB };

struct step {
	enum step_kind kind;
	int32_t pid, tid;
	struct called called; /* of a task, */
	uint64_t task;	      /* and its number */
	struct code *what;    /* a coroutine of a task (subjects.c), or the function of a job; NULL: not known */
	uint64_t begun_ns;
	uint64_t ready_ns;	    /* since when it could begin; 0: not known */
	uint64_t ready_by;	    /* the step that let it; 0: none, or not known */
	uint64_t before;	    /* the task's step before; 0: it is the first, or that is not known */
	uint64_t suspended_ns;	    /* when that ended; 0: likewise */
	const struct code *where;   /* and in which coroutine it was suspended then; NULL: not known */
	const struct code *by;	    /* and the program's own one that awaited that; NULL: none, or it is `where` */
	struct request_ref request; /* that it works for: the one that began last */
};

/* Zeroed: none. */
struct steps {
	struct step *all;
	size_t room;
	uint64_t last;	      /* number of the newest: 1, 2, ... */
	struct stalls stalls; /* in which threads waited meanwhile */
};

/* Its number, or 0: no memory. */
uint64_t steps_add(struct steps *s, const struct step *step);

/* NULL: there is none of that number any more. Valid until the next one is added. */
struct step *steps_get(const struct steps *s, uint64_t number);

void steps_free(struct steps *s);
