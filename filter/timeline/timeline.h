/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - the trace as slices, instants, flows and counters: what is shown, and what is left out.
 *
 * The sink decides; a format (chrome.h, pftrace.h) puts it into bytes. Times are ns since the first event of the trace,
 * and never run backwards on a track.
 */
#pragma once

#include "base/map.h"
#include "model/sink_file.h"
#include "opening.h"
#include "track.h"
#include "resumption.h"

/* A process. */
struct timeline_process {
	int32_t pid;
	struct resumptions resumptions;
	bool named;
	bool begun, has_gil; /* there was an event; threads take turns, and tell what they wait for */
	struct holder holder;
	struct track *gil; /* NULL: none yet */
	struct map tasks;  /* number of a task -> struct track: rows of their own, the first TIMELINE_TASKS */
	uint32_t loops;	   /* threads whose event loops have run tasks */
	struct {
		const struct timeline_process *of; /* whose tasks it shows; NULL: it shows no tasks */
		int32_t tid;			   /* of the thread that runs them */
	} group;
};

/* Something at one point of a track. */
struct mark {
	const char *category, *name; /* ASCII without quotes, or of timeline_plain() */
	unsigned n;
	struct {
		const char *key;
		uint64_t value;
	} args[5];
	const char *text; /* one more, "data", as the name; NULL: none */
};

/* For the track of snapshots, which cover all threads and processes: larger than Linux's largest (PID_MAX_LIMIT). */
#define TIMELINE_NOBODY 4194304
#define TIMELINE_CPUS	(TIMELINE_NOBODY + 1) /* the same of CPUs; CPU n is thread TIMELINE_CPUS + n */

/*
 * Tasks of process P are threads of process TIMELINE_CPUS + 1 + P, from this one on; the rest is one row a thread. If
 * a second thread of P runs an event loop, its tasks are threads of process TIMELINE_MORE_LOOPS, of the next one the
 * one after it, and so on.
 */
#define TIMELINE_TASKS	   500
#define TIMELINE_TASK_ROWS (1 << 26)
/* So many threads for each: its own, and of its spans those that are in none, in one, in two ... of the others. */
#define TIMELINE_SPAN_ROWS 16

enum timeline_counter { TIMELINE_EVENTS, TIMELINE_DEPTH, TIMELINE_COUNTERS };

/*
 * Maximum number of instructions shown: a window of a few milliseconds. A browser can handle ten times as many slices,
 * but nobody reads them.
 */
#define TIMELINE_OPCODES 100000

/*
 * Loops whose trips are dense (dense.h) have tracks of their own, so many: of process P they are threads of process
 * TIMELINE_LOOPS_OF + P, behind those of tasks, which viewers can fold. Their tids are behind those of greenlets.
 */
#define TIMELINE_LOOP	    TIMELINE_LINE(9)
#define TIMELINE_LOOPS	    500
#define TIMELINE_LOOPS_OF   (2 * TIMELINE_NOBODY + 2)
#define TIMELINE_MORE_LOOPS (TIMELINE_LOOPS_OF + TIMELINE_NOBODY + 1)

/* With a tid, that of the thread's other line: larger than any of Linux (PID_MAX_LIMIT, include/linux/threads.h). */
#define TIMELINE_LINE(line) ((line) << 22)
/* With a pid, the tid of the line of the process's GIL. */
#define TIMELINE_GIL TIMELINE_LINE(TRACK_LINES)

/* The same of a greenlet, with its number: so many have tracks. */
#define TIMELINE_GREENLET  TIMELINE_LINE(8)
#define TIMELINE_GREENLETS 500

/* "thread TID" and these name a counter. */
extern const char *const timeline_counters[TIMELINE_COUNTERS][2];

struct left_out {
	uint64_t slices, trips, others;
};

struct timeline {
	struct sink_file file;
	const struct timeline_format *format;
	enum iterations iterations;
	uint64_t min_ns;   /* leave out shorter slices and trips */
	uint64_t max_size; /* bytes of the file; 0: any */
	const char *source_url;
	uint64_t floor_ns; /* what is shorter is left out so that what is longer has room; min_ns at first */
	unsigned halvings; /* so often half of the room that was left was used up */
	bool whole;	   /* no time window: processes are seen from their start */
	bool zoomed;	   /* a time window: instructions are shown, */
	uint64_t opcodes;  /* how many so far, */
	uint64_t unshown;  /* and how many beyond TIMELINE_OPCODES */
	bool started, full;
	uint64_t start_ns; /* time 0 */
	uint64_t reserved; /* bytes reserved for what must still be written */
	struct map tracks; /* (pid, tid) -> struct track */
	struct track *last;
	struct map processes; /* pid -> struct timeline_process */
	struct map drawn;     /* struct code -> struct drawn */
	struct map awaiting;  /* struct code -> what a slice is called while a task waits there */
	uint32_t task_rows;   /* so many */
	struct map groups;    /* (pid, tid) -> struct timeline_process: of the tasks that the thread runs */
	uint32_t more_loops;  /* groups that are not the first of their process */
	uint32_t loop_rows;
	struct map snapshots; /* numbers of the snapshots that were seen in it */
	uint64_t flows;
	int64_t offset; /* of the sample */
	struct {
		struct timeline_process *in;
		const struct code *code;
		int64_t offset;
	} yield; /* a PY_YIELD whose activation has not been left yet */
	struct left_out shorter, beyond;
	struct track *unshown_track;
	uint64_t unshown_ns;
	struct track *full_track;
	uint64_t full_ns;
	struct opening opening;
	void *own; /* of the format */
};

/* A function of a format returns this if the file is full: nothing was written. */
#define TIMELINE_FULL 1

/* Each writes one thing: 0, TIMELINE_FULL, or a negative errno, its text set. */
struct timeline_format {
	int (*open)(struct timeline *v);
	/* A slice begins at span->shown. It reserves span->reserved bytes for its end. */
	int (*begin)(struct timeline *v, struct track *t, struct span *span);
	int (*end)(struct timeline *v, struct track *t, const struct span *span, uint64_t ns, uint64_t cycles);
	int (*code)(struct timeline *v, struct track *t, uint64_t ns, const struct code *code);
	/* A trip from `from` to `ns`: a slice on the track of a loop, or with --iterations slices; else an instant
	 * at `ns`. */
	int (*trip)(struct timeline *v, struct track *t, const struct trip *trip, uint64_t from, uint64_t ns);
	/* An instruction ran on t->thread until `ns`. */
	int (*opcode)(struct timeline *v, struct track *t, const struct running *r, uint64_t ns, uint64_t cycles);
	int (*mark)(struct timeline *v, struct track *t, uint64_t ns, const struct mark *mark);
	/* A slice from `from` to `ns`. */
	int (*stretch)(struct timeline *v, struct track *t, const struct stretch *s, uint64_t from, uint64_t ns);
	/* span has begun, and continues span->from; it is flow number v->flows. */
	int (*flow)(struct timeline *v, struct track *t, const struct span *span);
	int (*counter)(struct timeline *v, struct track *t, enum timeline_counter which, uint64_t ns, uint64_t value);
	/* A counter of the program's own, of the thread. name: as a mark's. */
	int (*value)(struct timeline *v, struct track *t, uint64_t ns, const char *name, double value);
	/* A snapshot, a slice of the track from `from` to `ns`. */
	int (*snapshot)(struct timeline *v, struct track *t, const struct snapshot *s, uint64_t from, uint64_t ns);
	/* Each may be NULL. `command`: a process's whole command line, beside its name. */
	int (*name)(struct timeline *v, struct track *t, const char *thread, const char *process, const char *command);
	int (*finish)(struct timeline *v);
	void (*free)(struct timeline *v);
};

/* A sink_maker except for the format; uses path, iterations, min_ns, max_size, source_url, whole. */
int timeline_open(struct sink **out, const struct timeline_format *format, const struct sink_options *o, char *error);

/* As timeline_room, of a file with a --max-size, or whose buffer has less. */
char *timeline_make_room(struct timeline *v, size_t size, int *err);

/*
 * Room for `size` bytes of an event, for out_commit. NULL: *err says why, TIMELINE_FULL if the file
 * would become too large.
 */
static inline char *timeline_room(struct timeline *v, size_t size, int *err)
{
	const struct out *o = &v->file.out;

	if (v->max_size || o->size - o->used < size)
		return timeline_make_room(v, size, err);
	*err = 0;
	return o->buffer + o->used;
}
