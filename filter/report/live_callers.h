/* SPDX-License-Identifier: MIT */
/*
 * live_callers.h - who calls one function, or what one thread or process runs, while a recording is followed; asked for
 * on standard input.
 *
 * A line there is a JSON object with "file", "qualname" and "line", as in a line's functions[]; or with "pid", and
 * "tid" for one thread of it. Another one takes its place; {} ends it. What is counted are calls that end from then on.
 */
#pragma once

#include <jansson.h>

#include "base/map.h"
#include "model/sink.h"
#include "live_rows.h"

#define LIVE_QUESTION 16384 /* bytes of a line; a longer one is none */

struct live_callers {
	char *file, *qualname; /* NULL: of no function */
	int64_t line;
	int32_t pid, tid; /* 0: of no process; of all its threads */
	struct map calls; /* of its callers, or of functions there: struct code -> struct live_calls; */
	struct map told;  /* and what was told of them */
	char text[LIVE_QUESTION];
	size_t length; /* of text: the beginning of a line */
	bool over;     /* there are no more lines */
};

/* Takes the lines that there are. 0 or -ENOMEM. */
int live_callers_hear(struct live_callers *c);

/* Of each activation that ends. Likewise. */
int live_callers_leave(struct live_callers *c, const struct activation *a, uint64_t end_ns);

/*
 * An object: "callers_of", as asked for, and "callers", ranked by total_ns; both null: of no function. Likewise "only"
 * and "only_functions": of no thread or process. NULL: no memory.
 */
json_t *live_callers_json(struct live_callers *c);

void live_callers_free(struct live_callers *c);
