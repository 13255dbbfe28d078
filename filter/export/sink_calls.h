/* SPDX-License-Identifier: MIT */
/*
 * sink_calls.h - files written from a call tree: what each call path cost.
 *
 * They fill the tree in the same way and differ in how they write it, once, at the end.
 */
#pragma once

#include "model/calltree.h"
#include "model/requests.h"
#include "model/sink_file.h"

/*
 * So many groups of tasks are told apart, and so many others, while the tree has no more nodes than that: of tasks,
 * than half of it, because those that are only numbered would leave no room for requests.
 */
#define CALL_GROUPS_MOST  4096
#define CALL_GROUPS_NODES (1u << 19)

/* What makes paths differ beside their functions: nothing; OpenTelemetry's span, or task and request, they are in. */
enum call_grouping { CALLS_TOGETHER, CALLS_BY_SPAN, CALLS_BY_NAMES };

struct call_group {
	struct traced traced;	     /* by span */
	struct called request, task; /* by names, which several have; "": none */
};

/* Zeroed: none. */
struct call_groups {
	enum call_grouping by;
	struct call_group *all;	  /* [n]; group g is all[g - 1] */
	uint32_t n, room, ntasks; /* of n: of tasks */
	struct map numbers;	  /* span id, or hash of the names, or the next free number -> group */
	struct call_group latest; /* that was looked for and is there, */
	uint32_t latest_number;	  /* and which one it is */
	uint64_t others;	  /* activations of further ones */
	uint64_t other_tasks;	  /* of further tasks: with their request, if that has room */
};

struct sink_calls {
	struct sink_file file;
	struct calltree tree;
	bool profiled;	 /* without C functions that cProfile has no row for */
	bool with_spans; /* of the program's own, as frames */
	struct call_groups groups;
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

/* https://profiler.firefox.com. */
int sink_firefox_open(struct sink **out, const struct sink_options *o, char *error);

/* OpenTelemetry's profiles. */
int sink_otlp_open(struct sink **out, const struct sink_options *o, char *error);

/* For use in those makers. */
int sink_calls_open(struct sink **out, const struct sink_options *o, char *error,
		    int (*write)(struct sink_calls *s, const struct profile *p));

/* Prints "NAME (pid 1, tid 2)", with the interpreter if it is not the main one. */
void sink_calls_thread(FILE *f, const struct profile *p, const struct call_root *r);

/* The same as a text, which the caller frees. NULL: no memory. */
char *sink_calls_thread_name(const struct profile *p, const struct call_root *r);

/* What a call path's last function cost there: how often it was called, and ns; the last two if profile_has_cpu(). */
enum call_cost { COST_CALLS, COST_WALL, COST_CPU, COST_WAITING, COSTS };
void sink_calls_cost(const struct calltree *t, uint32_t node, uint64_t values[COSTS]);

struct call_thread {
	const struct call_root *root;
	size_t number; /* by pid and tid */
	uint64_t ns;   /* on a CPU, or in all */
};

/* All threads, the most active first: by their time on a CPU, or by all. *n of them, for free(). NULL: no memory. */
struct call_thread *sink_calls_ranked(const struct calltree *t, size_t *n, bool by_cpu);
