/* SPDX-License-Identifier: MIT */
/*
 * thread.h - one thread: its stacks (one for each interpreter it runs in) and its span of time.
 *
 * thread_feed turns one sample into changes of the stack and calls the sinks. Faults of the trace are resolved here: an
 * end without a beginning, an event of code that is not innermost, a gap.
 */
#pragma once

#include "base/cold.h"
#include "charge.h"
#include "greenlets.h"
#include "label_data.h"
#include "profile.h"
#include "stack.h"
#include "subjects.h"
#include "subscribers.h"

struct thread {
	int32_t pid, tid;
	bool early;    /* there were only extensions, which are no events: its time has not begun */
	bool no_loops; /* of its stacks */
	uint64_t first_ns, last_ns;
	uint64_t passed;   /* events since its last sample, of which none was made, */
	uint64_t quiet_ns; /* because sinks did without until then (sink.h) */
	uint64_t first_cycles, last_cycles;
	struct stack *stacks;		 /* one for each interpreter, in order of appearance */
	struct stack *stack;		 /* the one with the last event */
	uint32_t depth;			 /* activations on all its stacks */
	uint64_t empty_ns, empty_cycles; /* if 0, since when */
	struct charged charged;		 /* the running instruction */
	struct cpu cpu;
	uint64_t wall_ns; /* before first_ns, without what was not traced */
	struct off off;	  /* of all its time */
	struct used used;
	struct wait wait;
	struct open_spans spans;
	struct nested *outside_spans; /* in no activation that is known */
	struct greenlets greenlets;
	struct label_data data;
	uint64_t raises;		/* the last EXCEPTION word's payload and RAISES, until its RAISE; else 0 */
	const struct code *raised_type; /* that it names, or NULL */
	uint64_t gil_ns;		/* waiting for the GIL */
	struct gil *gil;		/* the process's, owned by the trace; */
	struct objects *objects;	/* likewise */
	bool holds_gil, wants_gil;	/* of gil.c; */
	uint32_t left_gil;		/* number of what gil_apart.c has of a wait that ended, 0: none */
	struct doing doing;
	uint64_t gil_held_ns; /* it had it while others waited; for each of them */
};

/* It had the GIL for that time, while others waited: so had its innermost function that is written in Python. */
void thread_held_gil(struct thread *t, uint64_t ns);

/* That function, or NULL. */
struct function *thread_gil_function(const struct thread *t);

/* Its stack of that interpreter, made if there is none yet. NULL: no memory. */
COLD struct stack *thread_stack(struct thread *t, uint32_t interpreter);

/* The stack whose innermost activation began last: interpreters on one thread nest. NULL: all empty. */
struct stack *thread_innermost_stack(const struct thread *t);

/* Its time begins with this sample. */
void thread_begin(struct thread *t, const struct sample *s);

/* 0, -ENOMEM, or what a sink returned. */
int thread_feed(struct thread *t, const struct sample *s, const struct subscribers *to);

/* Closes what is open, at the time of the thread's last sample. */
int thread_finish(struct thread *t, const struct subscribers *to);

/* The trace is over, and it has not ended: it began in this thread. Likewise. */
int thread_lose_request(const struct thread *t, const struct request *q, const struct subscribers *to);

/* Frees the thread itself, too. */
void thread_free(struct thread *t);
