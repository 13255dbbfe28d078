/* SPDX-License-Identifier: MIT */
/*
 * sink_calls.h - files written from a call tree: what each call path cost.
 *
 * They fill the tree in the same way and differ in how they write it, once, at the end.
 */
#pragma once

#include "model/calltree.h"
#include "model/sink_file.h"

struct sink_calls {
	struct sink_file file;
	struct calltree tree;
	bool profiled;	 /* without C functions that cProfile has no row for */
	bool with_spans; /* of the program's own, as frames */
	/* Writes the tree to file.out. 0 or -ENOMEM. */
	int (*write)(struct sink_calls *s, const struct profile *p);
};

/* Python's pstats: pstats.Stats(FILE), python -m pstats FILE, and everything that opens those. */
int sink_pstats_open(struct sink **out, const struct sink_options *o, char *error);

/* Folded stacks: flamegraph.pl, inferno, speedscope and others. */
int sink_collapsed_open(struct sink **out, const struct sink_options *o, char *error);

/* https://www.speedscope.app. */
int sink_speedscope_open(struct sink **out, const struct sink_options *o, char *error);

/* go tool pprof, and what else reads its format. */
int sink_pprof_open(struct sink **out, const struct sink_options *o, char *error);

/* For use in those makers. */
int sink_calls_open(struct sink **out, const struct sink_options *o, char *error,
		    int (*write)(struct sink_calls *s, const struct profile *p));

/* Prints "NAME (pid 1, tid 2)", with the interpreter if it is not the main one. */
void sink_calls_thread(FILE *f, const struct profile *p, const struct call_root *r);
