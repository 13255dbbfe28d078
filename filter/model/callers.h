/* SPDX-License-Identifier: MIT */
/*
 * callers.h - a call tree added up: each function, and each function by caller.
 *
 * Definitions are cProfile's (CPython Modules/_lsprof.c): a call is an entry of any kind, so resuming a generator is
 * one too; it is recursive while the same function, or the same call of one function by another, is open on the stack;
 * total time counts what is not recursive. Unlike in cProfile, frames that were open before the trace add time but no
 * call.
 */
#pragma once

#include "calltree.h"

struct call_sum {
	uint64_t calls, recursive; /* all, and the recursive ones among them */
	uint64_t self_ns, total_ns;
	uint64_t self_cycles, total_cycles;
	uint32_t open;	    /* used while adding up: of this */
	uint32_t same_open; /* of all that are the same as this, in the first of them */
};

struct call_edge {
	uint32_t caller, callee; /* index into callers.functions */
	struct call_sum sum;
};

struct call_function {
	struct code *code;
	struct call_sum sum;
	struct call_sum uncalled; /* the part of it that no function called: there is no edge for it */
};

struct callers {
	struct call_function *functions;
	struct call_edge *edges;
	uint32_t nfunctions, nedges;
};

/*
 * Adds up the tree, in order of appearance. same: code -> the first code object that is the same function: total time
 * leaves out what is inside another of them; NULL: each is a function of its own. 0, or -ENOMEM; free it in either
 * case.
 */
int callers_sum(struct callers *c, const struct calltree *t, const struct map *same);

/* Adds the counts and times of `from`. */
void call_sum_add(struct call_sum *to, const struct call_sum *from);

void callers_free(struct callers *c);
