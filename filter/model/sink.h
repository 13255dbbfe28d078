/* SPDX-License-Identifier: MIT */
/*
 * sink.h - where the results of the analysis go, as a table of functions.
 *
 * A sink embeds struct sink as its first member and fills in the callbacks it needs; NULL is not called. All arguments
 * belong to the analysis and are valid during the call only, except struct code, which lives as long as the analysis.
 * Times are ns and cycles as in struct sample.
 *
 * Order within a thread: enter and leave nest; an iterate belongs to the innermost frame at that time; a gap comes
 * after the leaves of all frames it closed. Threads interleave in time order. Every callback returns 0, or a negative
 * errno that ends the analysis. Where each sink that hears of single events has `part`, processes may be analysed in
 * several threads (profile_join.h).
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "code/codes.h"
#include "critical.h"
#include "function.h"
#include "sample.h"

struct opcodes_view;
struct raised;
struct profile;
struct sink;

/* How an activation came to its end. */
enum leave_how {
	LEAVE_RETURN, /* PY_RETURN */
	LEAVE_YIELD,  /* PY_YIELD: it may be resumed */
	LEAVE_UNWIND, /* PY_UNWIND: by an exception */
	LEAVE_GAP,    /* markers are missing: its end was not seen */
	LEAVE_END,    /* the trace, or the process, ended with it open */
	LEAVE_AWAY,   /* its greenlet was switched away; it goes on when that runs again */
};

/* One activation of a code object on one stack. */
struct activation {
	int32_t pid, tid;
	uint32_t interpreter;
	uint32_t depth;	   /* activations below it on its stack */
	uint64_t greenlet; /* its number (greenlets.h); 0: the thread's first, or not known */
	struct code *code;
	/*
	 * What it began with: OP_PY_START, OP_PY_RESUME or OP_PY_THROW; OP_EXTENSION: its greenlet is back; 0: it had
	 * begun before.
	 */
	uint8_t op;
	uint64_t start_ns, start_cycles;

	/* All that follows is 0 as it begins. */
	/* It was open where it began, if a sink is told of that; valid then (requests.h). NULL: none that is known. */
	const struct request *request;
	/* Likewise: the task that the thread worked for, a step of it (steps.h). */
	const struct step *task;
	struct object *object;		   /* of generator code: which one (objects.h); NULL: not known */
	uint64_t callee_ns, callee_cycles; /* spent in callees; complete at leave */
	struct off off;			   /* of its time, callees' too; complete at leave */
};

static inline void activation_clear(struct activation *a)
{
	memset(&a->request, 0, sizeof(*a) - offsetof(struct activation, request));
}

/* Calls of one function in a row, which may have been between others. */
struct call_sums {
	uint64_t n;
	uint64_t ns, cycles; /* of all of them */
};

/* One trip through a loop's body: a back-edge was taken. */
struct trip {
	struct loop *loop;
	const struct activation *in;
	uint32_t depth;	       /* loops open around it on its stack, callers' among them */
	uint64_t number;       /* 1: the first back-edge since the loop was entered */
	bool timed;	       /* false for number 1: when the body began is not known */
	uint64_t end_ns;       /* when the back-edge was taken */
	uint64_t ns, cycles;   /* length of the trip; 0 unless timed */
	uint64_t suspended_ns; /* beside these: its generator was suspended, */
	uint32_t suspensions;  /* so often */
	struct off off;	       /* of them */
	uint64_t own_ns;       /* of it, neither in callees nor in timed trips of loops inside it */
	uint64_t self_ns;      /* of it, not in timed trips of loops inside it, callees' either */
	struct off self_off;   /* of that */
	uint64_t uops;	       /* bytecodes of the trip: counted, or from head to back-edge (static) */
	bool counted;	       /* uops were counted (INSTRUCTION events), not read off the bytecode */
};

/* A thread was off its CPU until ns. That is no time of the thread if its event at last_ns was its last one. */
struct off_mark {
	int32_t pid, tid;
	uint64_t ns, last_ns;
	struct off off;
};

/* An exception was raised, or handled in Python, in the innermost frame. */
struct exception_mark {
	const struct activation *in;
	const struct raised *of; /* exceptions.h */
	uint64_t time_ns;
	int64_t line; /* 0: not known */
	bool handled;
	uint32_t frames; /* that it has left until then */
};

/* What the program said itself. Begins and ends of spans nest with enter and leave (nested.h). */
struct label_mark {
	int32_t pid, tid;
	uint32_t interpreter;
	uint64_t greenlet; /* as an activation's */
	enum label_what what;
	const struct code *name;
	const struct label_data *data; /* what goes with it, whole; NULL: nothing, or not all of it */
	double value;		       /* of a counter */
	uint64_t ns, cycles;
};

/* A span of a task's begins, or ends: as a whole, however often its coroutine is suspended meanwhile. */
struct span_mark {
	int32_t pid;
	uint64_t task;	      /* as in struct task_mark */
	struct called called; /* at its beginning, */
	int32_t tid;	      /* of the thread that then ran the task */
	bool begins;
	bool lost;	 /* it ends without an end: the trace of its thread is over, or its words are missing */
	uint64_t number; /* 1, 2, ..., of all spans */
	const struct code *name;
	const struct label_data *data; /* as a label's, at its beginning */
	uint64_t ns, cycles;
};

/* A task ran for this time, or could have, or waited. */
struct task_mark {
	int32_t pid;
	uint64_t task; /* its number in the recording: 1, 2, ... in order of appearance */
	struct called called;
	enum critical_kind kind;      /* RUNNING, READY or AWAITING */
	const struct code *coroutine; /* NULL: not known */
	const struct code *what;      /* its coroutine; AWAITING: where, NULL: not known */
	uint64_t from_ns, until_ns;
	int32_t tid;	   /* RUNNING: of the thread, */
	uint64_t ready_ns; /* when it was let begin; 0: not known, */
	int32_t by_tid;	   /* and by which thread; 0: not known */
};

struct sink_ops {
	/* Every sample, before the analysis acts on it. */
	int (*sample)(struct sink *s, const struct sample *sample);
	/*
	 * After a sample: the time before which the thread's next events need no sample, if they only change the stack
	 * (thread_quick.h); 0: the next one does. NULL: each needs one. With it the sink is told of them by `passed`.
	 */
	uint64_t (*quiet_until)(struct sink *s, int32_t pid, int32_t tid);
	/* Since the thread's last sample there were so many such events, the latest at ns: before its next one, and at
	 * its end. */
	int (*passed)(struct sink *s, int32_t pid, int32_t tid, uint64_t events, uint64_t ns);
	/*
	 * Each of such events, before `leave` of what it ends: a sink that has this needs no sample of one, however
	 * `sample` is told of all others. Here it has no interpreter and no cycles.
	 */
	int (*plain)(struct sink *s, const struct sample *sample);
	int (*enter)(struct sink *s, const struct activation *a);
	int (*leave)(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
		     uint64_t end_cycles);
	/* Instead of both, of one that began with OP_PY_START, called nothing, and returned. NULL: those are called. */
	int (*call)(struct sink *s, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);
	/*
	 * Instead of it, of several such calls of one function, which need not be next to each other: what they are
	 * called by does nothing else meanwhile but call functions, and repeat a loop. *first has what the first of
	 * them began with. NULL: each is told.
	 */
	int (*calls)(struct sink *s, const struct activation *first, const struct call_sums *sums);
	/* Until when calls by that activation may be told so, if there is `calls`; 0: none. */
	uint64_t (*calls_until)(struct sink *s, const struct activation *caller);
	/* One that awaits what was thrown into, and was entered for that, goes on itself: an OP_PY_THROW of its own. */
	int (*resume)(struct sink *s, const struct activation *a);
	int (*iterate)(struct sink *s, const struct trip *t);
	bool no_loops; /* it needs none, in the profile either: if that is so of all sinks, loops are not counted */
	/*
	 * It hears of no event, and needs no more of the profile's functions, loops and tasks than how often they
	 * began, and for how long they ran themselves. If that is so of all sinks, nothing else of them is right.
	 */
	bool only_times;
	int (*off)(struct sink *s, const struct off_mark *m);
	int (*exception)(struct sink *s, const struct exception_mark *m);
	int (*label)(struct sink *s, const struct label_mark *m);
	int (*span)(struct sink *s, const struct span_mark *m);
	int (*task)(struct sink *s, const struct task_mark *m);
	int (*gap)(struct sink *s, const struct sample *gap);
	/* A flight recorder's segment of the thread begins, or has ended: OP_SNAPSHOT. */
	int (*segment)(struct sink *s, const struct sample *edge);
	/* Only while a recording is followed: a second of its clock is over, up to ns. function.h has open_ns. */
	int (*second)(struct sink *s, const struct profile *p, uint64_t ns);
	/*
	 * Makes a sink that hears of some processes, in another thread, while `of` hears of others: it writes nothing.
	 * NULL: the sink has to hear of all events, if of any. 0 or a negative errno.
	 */
	int (*part)(struct sink **out, struct sink *of);
	/* The first one, and each part: its thread tells it no more, so nobody need wait for it. NULL: nobody does. */
	void (*heard)(struct sink *s);
	/* Adds what a part heard, and may take it away there. 0 or -ENOMEM; -EAGAIN: one has to hear of all. */
	int (*join)(struct sink *to, struct sink *part);
	/* The trace is over; everything open has been left. */
	int (*finish)(struct sink *s, const struct profile *p);
	/* For sink_file_finish(): prints what the file has. 0, or there is no memory. */
	int (*render)(FILE *f, struct sink *s, const struct profile *p);
	/* Frees the sink; before finish it must leave no output that looks complete. */
	void (*free)(struct sink *s);
};

#define SINK_ERROR 320

/* For each callback: the next sink that has it (subscribers.h). */
struct sink_links {
	struct sink *sample, *passed, *plain, *enter, *leave, *call, *calls, *resume, *iterate, *off, *exception,
		*label, *span, *task, *gap, *segment, *second;
};

struct sink {
	const struct sink_ops *ops;
	struct sink *next;
	struct sink *of; /* it is a part of that one; NULL: of none */
	bool by_process; /* its parts are of whole processes: what it keeps is in common to their threads */
	struct sink_links after;
	const struct profile *profile; /* grows while the trace is read; NULL: the sink is in no analysis */
	char error[SINK_ERROR];	       /* one line, set when a callback fails */
};

/* How trips of loops are shown on a timeline. */
enum iterations { ITERATIONS_INSTANTS, ITERATIONS_SLICES, ITERATIONS_NONE };

/* What functions are taken apart by. */
enum by { BY_NOTHING, BY_PROCESS, BY_THREAD, BY_TASK };

/* The hottest loop, if it is hot enough. */
#define LOOPS_AUTO UINT_MAX

/* The parameters of a new sink: it ignores those that it does not need. */
struct sink_options {
	const char *path;		    /* where it writes; "-": standard output */
	unsigned loops;			    /* console: how many loops to disassemble, or LOOPS_AUTO */
	enum by by;			    /* console */
	bool unfold;			    /* console: libraries as the program's own code */
	bool imports;			    /* console: their tree */
	const char *request;		    /* console: whose path; NULL: the slowest, shortened. Outlives the sink */
	bool color;			    /* console: escape sequences allowed */
	unsigned width;			    /* console: columns of the terminal; 0: not known */
	const struct opcodes_view *opcodes; /* console, summary: also tables for functions and loops */
	bool for_diff;			    /* summary: also what only ocular diff --html needs, */
	bool for_fleet;			    /* and ocular fleet */
	const char *event_memory;	    /* event_columns: shared with their reader, or NULL. Outlives the sink */
	unsigned events_by_code;	    /* console: how many rows of events by code object */
	bool whole;			    /* no time window cuts off the beginning */
	bool zoomed;			    /* there is a time window */
	enum iterations iterations;
	bool callers;		/* live: those of the function that standard input names */
	uint64_t min_ns;	/* timeline: leave out anything shorter */
	uint64_t max_size;	/* timeline: maximum bytes of the file; 0: any */
	const char *source_url; /* timeline: source_link.h; NULL: none. Outlives the sink */
};

/*
 * Every sink has one function of this type that makes it. 0 and *out, owned by the caller (ops->free); or a negative
 * errno and one line in error[SINK_ERROR].
 */
typedef int (*sink_maker)(struct sink **out, const struct sink_options *o, char *error);
