/* SPDX-License-Identifier: MIT */
/*
 * spans.h - spans of the program's own (ocular.span): how often, and how long.
 *
 * A span lasts from its beginning to its end on one thread, whatever else runs there meanwhile: spans of tasks that
 * take turns overlap.
 */
#pragma once

#include "base/map.h"
#include "code/code.h"

struct span_total {
	const struct code *name;
	uint64_t n, ns, longest_ns;
	uint64_t unfinished; /* began, and did not end in the trace; not in n */
};

/* Zeroed: none. */
struct spans {
	struct map all; /* struct span_total, by the text of the name */
};

/* Those of a thread that are open. Zeroed: none. */
struct open_spans {
	struct open_span {
		const struct code *name;
		uint32_t which; /* of those of that name */
		uint64_t since_ns;
	} * all;
	size_t n;
};

/* 0 or -ENOMEM. */
int spans_begin(struct open_spans *o, const struct code *name, uint32_t which, uint64_t ns);

/* The newest of that name and `which` ends; one that began before the trace is none. 0 or -ENOMEM. */
int spans_end(struct open_spans *o, struct spans *all, const struct code *name, uint32_t which, uint64_t ns);

/* The thread's trace has ended, or its words are missing. 0 or -ENOMEM. */
int spans_lose(struct open_spans *o, struct spans *all);

/* All of them, most time first: *n in an array for free(). NULL: no memory. */
const struct span_total **spans_ranked(const struct spans *s, size_t *n);

void open_spans_free(struct open_spans *o);
void spans_free(struct spans *s);
