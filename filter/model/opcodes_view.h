/* SPDX-License-Identifier: MIT */
/*
 * opcodes_view.h - "[chains:N:]SORT[:RESTRICT]...", which rows of an opcode table to show and in what order, as
 * pstats.Stats.sort_stats and print_stats take it; and whether to count chains (chains.h).
 */
#pragma once

#include "opcodes.h"

#define OPCODES_VIEW_SIZE 128 /* of the restrictions, with a NUL */

struct opcodes_view {
	bool wanted;	 /* false while nothing was parsed */
	unsigned chains; /* of how many opcodes; 0: none are wanted */
	enum opcodes_order order;
	char limits[OPCODES_VIEW_SIZE]; /* separated by ':' */
};

/*
 * "chains:N" alone is "chains:N:time"; N is CHAINS_SHORTEST to CHAINS_LONGEST. SORT is time or tottime, calls or
 * ncalls, percall, name or stdname. RESTRICT is a whole number (that many rows), a fraction with a point (0.25: that
 * share of the rows), or an extended regular expression that a base or specialised name has to contain; one after
 * another. False: it is not valid.
 */
bool opcodes_view_parse(struct opcodes_view *v, const char *text);

/*
 * Which rows of a sorted table are left, in rows[o->nrows]. How many; without a restriction, at most
 * `most`.
 */
uint32_t opcodes_view_rows(const struct opcodes_view *v, const struct opcodes *o, uint32_t most, uint32_t *rows);
