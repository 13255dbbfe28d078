/* SPDX-License-Identifier: MIT */
/*
 * requests.h - requests of the program's own (ocular.request): how many, how long, and of the slowest where their time
 * went.
 */
#pragma once

#include "base/map.h"
#include "critical.h"
#include "shared/marker.h"
#include "waited.h"

#define REQUESTS_KEPT 100 /* with their paths: the slowest */

/* By which OpenTelemetry knows it. Zeroed: it does not, or the trace does not tell. */
struct traced {
	uint32_t pieces[MARKER_TRACE_PIECES + MARKER_SPAN_PIECES]; /* trace id, span id; high bits first */
};

/* Its trace id or its span id, in hexadecimal digits; NULL: there is none. It is in `text`. */
#define TRACED_TEXT 33
const char *traced_trace_id(const struct traced *t, char text[TRACED_TEXT]);
const char *traced_span_id(const struct traced *t, char text[TRACED_TEXT]);

struct request {
	struct called called;
	struct traced traced;
	int32_t pid;
	uint64_t number; /* in order of their beginnings: 1, 2, ... */
	uint64_t begun_ns, ended_ns;
	uint64_t task, span; /* on whose row it is shown, and as which span (sink.h); 0: on none */
	int32_t tid;	     /* then, of the thread in which it began */
	struct critical path;
	struct request_ref outer; /* which was open where it began */
	uint64_t epoch;		  /* of requests, then */
};

/* Of a name. */
struct request_total {
	struct called called;
	uint64_t n, ns, longest_ns;
	uint64_t longest;		       /* its number */
	uint64_t by_kind[CRITICAL_KIND_COUNT]; /* of ns, by their paths */
	struct waited waits;		       /* AWAITING and BLOCKED of that */
	uint64_t unfinished;		       /* not in n */
};

/* Of all processes. Zeroed: none. */
struct requests {
	/* Which one is asked for: a number, a name, or a trace id. NULL: none. Set before the first one begins. */
	const char *wanted;
	struct map open;			/* struct request, by pid and object; an ended one has no beginning */
	struct map names;			/* struct request_total, by the text of the name */
	struct request *slowest[REQUESTS_KEPT]; /* slowest first */
	size_t n;
	/* The wanted one: of those of a name or trace id the slowest, with its path; NULL: none has ended. */
	struct request *found;
	uint64_t begun;
	uint64_t epoch; /* counts gaps */
};

/* 0 or -ENOMEM. */
int requests_begin(struct requests *r, int32_t pid, uint64_t object, const struct called *called, uint64_t ns);

/* The one that is open there; valid until the next one begins. NULL: there is none. */
struct request *requests_open(const struct requests *r, int32_t pid, uint64_t object);

/* Markers are missing: of those that are open, the end may not have been seen. */
static inline void requests_lose(struct requests *r)
{
	r->epoch++;
}

/*
 * What is worked for where this request began: that one, or the one around it if it has ended. NULL: none that is
 * known to be open. Valid until the next one begins.
 */
const struct request *requests_current(const struct requests *r, struct request_ref of);

/* It ends in this step; one that began before the trace is none. Likewise. */
int requests_end(struct requests *r, int32_t pid, uint64_t object, uint64_t ns, const struct steps *steps,
		 uint64_t step);

/* The trace is over: what is open has not ended. Likewise. */
int requests_finish(struct requests *r);

/* Of all names, most time first: *n in an array for free(). NULL: no memory. */
const struct request_total **requests_ranked(const struct requests *r, size_t *n);

void requests_free(struct requests *r);
