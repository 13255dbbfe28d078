/* SPDX-License-Identifier: MIT */
/*
 * diff_tree.h - the call trees of both sides as one: a path that is in both is there once, with what each side has of
 * its own there.
 *
 * Functions are the same one where diff.h matched them; their verdict is its, too. Each side's tree was cut where a
 * path is too small a part of that side's run (filter/report/flame.h): the sums are there, below the path's caller.
 */
#pragma once

#include "base/map.h"
#include "diff.h"

#define DIFF_SIDES  2
#define DIFF_VALUES 5

/* As a summary names them. */
extern const char *const diff_value_names[DIFF_VALUES];

struct diff_values {
	json_int_t of[DIFF_VALUES];
};

struct diff_place {
	const char *file, *qualname, *origin; /* B's, if it is in B. Strings are the JSON's */
	json_int_t firstlineno;
	const struct diff_pair *pair; /* NULL: it is not among the functions */
};

/* Its caller's number is lower; number 0 is the whole run. */
struct diff_path {
	uint32_t caller, place;
	struct diff_values own[DIFF_SIDES], cut[DIFF_SIDES];
};

struct diff_tree {
	struct diff_place *places;
	struct diff_path *paths;
	uint32_t nplaces, places_room, npaths, paths_room;
	bool has[DIFF_VALUES]; /* both sides know it */
	json_int_t parts;      /* what is cut is less than one of so many */
	json_int_t all_paths[DIFF_SIDES];
	struct map by_place, by_path;
};

/* 0; -ENOENT: a side has no call tree; -EINVAL: it has one, but not Ocular's; -ENOMEM. diff_tree_free() either way. */
int diff_tree_make(struct diff_tree *t, const struct diff *d, const struct diff_side *a, const struct diff_side *b);
void diff_tree_free(struct diff_tree *t);

/* Has any value there? */
bool diff_values_any(const struct diff_values *v);

/* The place of a function, + 1; 0: none of its paths is there. */
uint32_t diff_tree_place(const struct diff_tree *t, const struct diff_pair *pair);
