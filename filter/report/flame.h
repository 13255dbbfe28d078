/* SPDX-License-Identifier: MIT */
/*
 * flame.h - the call tree of all threads as one flame graph, small enough for a page.
 *
 * Paths that are the same in several threads and processes are one. What is narrower than 1/FLAME_PARTS of the whole by
 * every value is cut: it is added up below the path that it was called from. Values are each path's own, so that
 * they add up to those of the summary, cut ones included.
 */
#pragma once

#include "model/calltree.h"
#include "model/profile.h"

#define FLAME_PARTS 20000 /* on a screen of 3840 pixels, a fifth of one */
#define FLAME_NODES 12000 /* more, and the parts are made larger: a page is to stay below 3 MB */

enum flame_value { FLAME_WALL, FLAME_WAITING, FLAME_PREEMPTED, FLAME_CALLS, FLAME_CYCLES, FLAME_VALUES };

struct flame_values {
	uint64_t of[FLAME_VALUES];
};

void flame_add(struct flame_values *to, const struct flame_values *more);

/* A function, in whatever process: the same file, qualname and first line. */
struct flame_place {
	const struct code *code; /* the first that was seen */
	uint32_t next;		 /* of the same hash, + 1 */
	uint32_t shown;		 /* its number on the page + 1; 0: all of its paths were cut */
};

/* A path. Its parent's number is lower, on the page, too. */
struct flame_node {
	uint32_t parent, place;
	int32_t of; /* its number on the page; cut: ~ that of the nearest caller that is there */
};

struct flame {
	const struct calltree *tree;
	struct flame_node *nodes; /* [nnodes]; number 0: the whole run */
	uint32_t nnodes, nodes_size;
	struct flame_place *places;
	uint32_t nplaces, places_size;
	uint32_t *node_of; /* [tree->nnodes] */
	uint32_t *shown;   /* [nshown] nodes that are shown, ascending */
	uint32_t nshown;
	uint32_t *shown_places; /* [nshown_places] */
	uint32_t nshown_places;
	uint32_t parts; /* what is cut is narrower than one of so many */
	struct map names, children;
};

/* The values of what is shown: each path's own, and those of what was cut below it. */
struct flame_view {
	struct flame_values *own, *cut; /* [nshown] */
};

/* 0 or -ENOMEM; flame_free() either way. The tree must outlive it. */
int flame_make(struct flame *f, const struct calltree *tree);
void flame_free(struct flame *f);

/* Zeroed. 0 or -ENOMEM; flame_view_free() either way. */
int flame_view_make(struct flame_view *v, const struct flame *f);
void flame_view_free(struct flame_view *v);

/* Adds the paths of one thread in one interpreter. */
int flame_view_add(struct flame_view *v, const struct flame *f, uint32_t root);

/* Adds values of one node of the call tree: to its path, or to what was cut. */
void flame_view_put(struct flame_view *v, const struct flame *f, uint32_t node, const struct flame_values *own);

/* The rest of `all` is outside of functions: the own value of the first path. */
void flame_view_outside(struct flame_view *v, const struct flame *f, const struct flame_values *all);

/* The number on the page of a function, or -1: it is not there. */
int64_t flame_place_shown(const struct flame *f, const struct code *code);

/* All of the run, and of one thread. */
struct flame_values flame_all(const struct profile *p);
struct flame_values flame_thread(const struct thread_total *t);
