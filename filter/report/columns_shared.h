/* SPDX-License-Identifier: MIT */
/*
 * columns_shared.h - what columns of several threads have in common: their first event, and how many cells there are.
 *
 * In the end all are joined, so wide that there are no more than COLUMNS_CELLS of them. Each member tells how many it
 * has; where those of one width are too many together already, they will be wider, and become so at once. So
 * several take no more memory than one, and the width does not depend on how many there were.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/agreement.h"
#include "column_cells.h"

#define COLUMNS_CELLS  (1u << 19)
#define COLUMNS_WIDEST 62   /* shift: a column of 2^62 ns has all */
#define COLUMNS_TELL   4096 /* cells more: then it is worth a mutex to tell so */

struct columns;

/* Of a member; what others read is guarded by the mutex. */
struct columns_told {
	struct columns *other;		   /* member */
	unsigned shift;			   /* its columns', */
	uint32_t timed, has[COLUMNS_MORE]; /* when it had so many cells of each kind */
	bool ended;			   /* its cells are guarded by the mutex, too */
	uint32_t next;			   /* its own: when it has so many cells it tells again */
};

struct columns_shared {
	struct agreement origin;
	pthread_mutex_t mutex;
	struct columns *members;
	atomic_uint shift; /* of all columns in the end, or more */
};

void columns_shared_init(struct columns_shared *s);
void columns_shared_destroy(struct columns_shared *s);

/* There is one more member. All are there before any of them is filled. */
void columns_shared_enter(struct columns_shared *s, struct columns *c);

/* It must become wider. */
bool columns_shared_full(struct columns *c);

/* It is filled no more. */
void columns_shared_end(struct columns_shared *s, struct columns *c);

/* Without others. */
bool columns_too_many(const struct column_cells *c);
