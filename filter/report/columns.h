/* SPDX-License-Identifier: MIT */
/*
 * columns.h - which node of a call tree a thread was in, over time: the time of each in each column, how much of it was
 * not on a CPU, and how often it was called there.
 *
 * All threads have the same columns. When the trace outgrows COLUMNS_MOST of them, each becomes twice as wide and
 * neighbours merge; the same when there are more than COLUMNS_CELLS nodes in columns. So memory does not grow with the
 * length of the trace, and sums stay exact.
 */
#pragma once

#include <stdbool.h>

#include "column_cells.h"
#include "columns_shared.h"
#include "model/cpu.h"
#include "model/tstate.h"

#define COLUMNS_MOST   2048
#define COLUMNS_SHIFT  10
#define COLUMNS_WIDTH  (1u << COLUMNS_SHIFT) /* ns: of the first ones */
#define COLUMNS_RECENT 32
#define COLUMNS_AWAY   8

/* Of one thread. */
struct columns_row {
	struct tstate tstate; /* of interpreter 0, whichever it runs */
	bool numbered;
	uint32_t number;  /* 0, 1, 2, ... */
	uint64_t born_ns; /* when it was first heard of, as who made it says */
	uint32_t node;	  /* where it is; 0: in no function */
	uint64_t since_ns;
	uint64_t ns;			 /* in functions, in all */
	bool group;			 /* no thread: what was added by columns_add() */
	const struct columns_row *waits; /* a group: when it waited; NULL: it never did, or that is not known */
	/*
	 * What has not been added yet, all of one column, which ends then; 0: that is not known. A node has one place
	 * where it can be; node 0: it is free.
	 */
	uint32_t column;
	uint64_t column_end_ns;
	struct columns_recent {
		uint32_t node, calls;
		uint64_t ns;
	} recent[COLUMNS_RECENT];
	/* When it was off its CPU since its last event, at away_ns: no time of it if that was the last of all. */
	uint64_t away_ns;
	uint32_t naway;
	struct {
		uint32_t node;
		enum columns_more kind;
		uint64_t from, until;
	} away[COLUMNS_AWAY];
};

/* Zeroed: nothing was seen. */
struct columns {
	struct tstates rows; /* struct columns_row */
	uint32_t nrows;
	bool begun;
	struct columns_shared *shared; /* with those of other processes, while they are filled; NULL: there are none */
	struct columns_told told;      /* to those */
	uint64_t origin_ns;	       /* of column 0 */
	uint64_t width_ns;	       /* 1 << shift */
	unsigned shift;
	struct column_cells cells;
};

/* The row of a thread. NULL: no memory. */
struct columns_row *columns_row(struct columns *c, int32_t pid, int32_t tid);

/* Until ns it was where it was; from then on in `node`. 0 or -ENOMEM. */
int columns_go(struct columns *c, struct columns_row *row, uint64_t ns, uint32_t node);

/* The node was called at ns, once. 0 or -ENOMEM. */
int columns_call(struct columns *c, struct columns_row *row, uint64_t ns, uint32_t node);

/* Both. Inline, because nearly all of what happens is in the column of what was before it, and where that was. */
static inline int columns_went(struct columns *c, struct columns_row *row, uint64_t ns, uint32_t node, bool called)
{
	struct columns_recent *was = &row->recent[row->node % COLUMNS_RECENT];
	struct columns_recent *is = &row->recent[node % COLUMNS_RECENT];
	int err;

	if (row->node && was->node == row->node && (is->node == node || !called) && !row->naway &&
	    ns >= row->since_ns && ns < row->column_end_ns) {
		was->ns += ns - row->since_ns;
		row->ns += ns - row->since_ns;
		is->calls += called;
		row->node = node;
		row->since_ns = ns;
		return 0;
	}
	err = columns_go(c, row, ns, node);
	return err || !called ? err : columns_call(c, row, ns, node);
}

/* Called from where it is, the node ran until end_ns. */
static inline int columns_called(struct columns *c, struct columns_row *row, uint64_t ns, uint32_t node,
				 uint64_t end_ns, uint32_t caller)
{
	struct columns_recent *was = &row->recent[caller % COLUMNS_RECENT];
	struct columns_recent *is = &row->recent[node % COLUMNS_RECENT];

	if (row->node != caller || !caller || was->node != caller || is->node != node || row->naway ||
	    ns < row->since_ns || end_ns >= row->column_end_ns)
		return columns_went(c, row, ns, node, true) ?: columns_went(c, row, end_ns, caller, false);
	was->ns += ns - row->since_ns;
	is->ns += end_ns - ns;
	is->calls++;
	row->ns += end_ns - row->since_ns;
	row->since_ns = end_ns;
	return 0;
}

/*
 * Until when calls from where it is can be told of by columns_were_called(): all of the column that it is in. 0: they
 * cannot. caller: where that is.
 */
static inline uint64_t columns_calls_until(const struct columns_row *row, uint32_t caller)
{
	return caller && row->node == caller && !row->naway ? row->column_end_ns : 0;
}

/*
 * Called from where it is, the node ran so often, and so long in all. What is left of the time until now is that of
 * where it is, wherever in the column it was. 0 or -ENOMEM.
 */
int columns_were_called(struct columns *c, struct columns_row *row, uint32_t node, uint64_t calls, uint64_t ns);

/*
 * It was off its CPU where it is, for so long until ns, after its event at last_ns. It counts when the thread's next
 * event comes, or never: where markers are missing, or its time ends, and its last event was at end_ns. 0 or -ENOMEM.
 */
int columns_off(struct columns *c, struct columns_row *row, uint64_t ns, uint64_t last_ns, struct off off);
int columns_end(struct columns *c, struct columns_row *row, uint64_t end_ns);

/*
 * A row of another kind, whose nodes mean something else: of what happens at once in a process, number `of` of it.
 * NULL: no memory. And time of it, in any order.
 */
struct columns_row *columns_group(struct columns *c, int32_t pid, uint32_t of);
int columns_add(struct columns *c, struct columns_row *row, uint32_t node, uint64_t from, uint64_t until);

/* The group, or NULL: there is none. */
const struct columns_row *columns_find_group(const struct columns *c, int32_t pid, uint32_t of);

/* What is in so many columns of a row, from one on, of a node. After columns_finish(). */
uint64_t columns_sum(const struct columns *c, const struct columns_row *row, uint32_t node, uint32_t column,
		     uint32_t n);

/*
 * Columns of several groups of processes, each filled by a thread of its own, begin at one time, for which each waits
 * at its first event, and have no more cells together than one has. What is filled no more says so: nobody waits for
 * its first event then. After that, another thread may make its columns wider, until all are heard.
 */
void columns_share(struct columns *c, struct columns_shared *shared);
void columns_heard(struct columns *c);

/* For columns_shared.c alone: they become twice as wide. */
void columns_widen(struct columns *c);

/*
 * Adds the columns of other processes, and frees them; their nodes are `nodes` higher from then on (calltree_join()).
 * 0 or -ENOMEM; -EAGAIN: they have rows in common, or did not agree.
 */
int columns_join(struct columns *to, struct columns *more, uint32_t nodes);

/* Everything is in `cells` after that. 0 or -ENOMEM. */
int columns_finish(struct columns *c);

void columns_free(struct columns *c);
