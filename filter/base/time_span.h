/* SPDX-License-Identifier: MIT */
/*
 * time_span.h - a span of time as people name it: FROM,TO. FROM or TO may be omitted.
 *
 *   2.5                        seconds since the first event of the recording: what Perfetto shows
 *   14:03, 14:03:02.5          wall clock, of the day on which the recording began, or the next one
 *   2026-11-23T14:03:02.5      wall clock with its date; both are local time (TZ)
 *   @8123.4                    seconds of the recording's own clock: perf script's, and that of an events text
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum time_point_kind {
	TIME_NONE,
	TIME_SINCE, /* ns since the first event */
	TIME_CLOCK, /* ns of the recording's clock */
	TIME_DAILY, /* ns since midnight */
	TIME_WALL,  /* ns since the epoch */
};

struct time_point {
	enum time_point_kind kind;
	uint64_t ns;
};

struct time_span {
	const char *text; /* as given; borrowed. NULL: there is none */
	struct time_point from, until;
};

/* The wall clock at a time of the recording's clock. */
struct wall {
	int64_t realtime_ns; /* since the epoch; 0: not known */
	uint64_t at_ns;	     /* 0: at the first event */
};

/* False: `text` is not a span. Its ends are compared only if both are of one kind. */
bool time_span_parse(struct time_span *w, const char *text);

/* Does it include everything? */
bool time_span_is_all(const struct time_span *w);

/*
 * The window in the recording's clock, whose first event is at `first`: [*from, *until), 0 and UINT64_MAX for an
 * omitted end. Returns 0; -ENODATA: it needs the wall clock, which is not known.
 */
int time_span_resolve(const struct time_span *w, uint64_t first, const struct wall *wall, uint64_t *from,
		      uint64_t *until);

/* Writes into text[size] from when to when a recording goes, in each of the notations above. */
void time_span_describe(char *text, size_t size, uint64_t first, uint64_t last, const struct wall *wall);
