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
	uint64_t begun; /* so many have */
};

/* Those of a thread that are open. Zeroed: none. */
struct open_spans {
	struct open_span {
		const struct code *name;
		uint32_t which; /* of those of that name */
		uint64_t since_ns;
		uint64_t number; /* of all that have begun: 1, 2, ... */
		uint64_t task;	 /* whose it is (sink.h); 0: no task's */
	} * all;
	size_t n;
};

/* 0 or -ENOMEM. */
int spans_begin(struct open_spans *o, const struct open_span *span);

/* The newest of that name and `which`; valid until one begins or ends. NULL: none, it began before the trace. */
struct open_span *spans_find(const struct open_spans *o, const struct code *name, uint32_t which);

/* It ends. 0 or -ENOMEM. */
int spans_end(struct open_spans *o, struct spans *all, struct open_span *span, uint64_t ns);

/* The thread's trace has ended, or its words are missing. 0 or -ENOMEM. */
int spans_lose(struct open_spans *o, struct spans *all);

/* Those of another part of the recording (codes_part.h). 0 or -ENOMEM. */
int spans_join(struct spans *to, const struct spans *more);

/* All of them, most time first: *n in an array for free(). NULL: no memory. */
const struct span_total **spans_ranked(const struct spans *s, size_t *n);

void open_spans_free(struct open_spans *o);
void spans_free(struct spans *s);
