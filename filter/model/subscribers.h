/* SPDX-License-Identifier: MIT */
/*
 * subscribers.h - the sinks of an analysis, in a list for each callback.
 *
 * A sink subscribes to a callback by having one. Most sinks have few, so most samples call nobody.
 */
#pragma once

#include "sink.h"

/* The sinks, and where totals go. */
struct subscribers {
	struct sink *sinks; /* all of them */
	struct profile *profile;
	struct sink_links first; /* of each callback: the first sink that has it */
	bool only_plain;	 /* all that have `sample` have `plain`, too */
	bool no_loops;		 /* none has a use for loops, */
	bool only_times;	 /* or for more of functions, loops and tasks than some times (sink.h) */
	bool apart;		 /* one has to hear of each activation, or of each trip of a loop */
};

/* Calls a function of every sink that has it; stops at the first that fails. */
#define SUBSCRIBERS_CALL(to, fn, ...) \
	({ \
		int call_err = 0; \
		for (struct sink *k = (to)->first.fn; k && !call_err; k = k->after.fn) \
			call_err = k->ops->fn(k, ##__VA_ARGS__); \
		call_err; \
	})

/* Sinks are called in the order in which they were added. */
struct subscribers subscribers_of(struct sink *sinks, struct profile *profile);

/* Does one of them have to hear of all events, in the order of time? (Of a flight recorder's segments all do.) */
bool subscribers_need_all(const struct subscribers *to);

/* Do some add up what threads of a process have in common, as they hear of it? */
bool subscribers_by_process(const struct subscribers *to);

/* Parts of those that have some (sink.h), in a list: of what was made even after an error. 0 or a negative errno. */
int subscribers_parts(const struct subscribers *of, struct sink **parts);

/* All of them, or all parts: they hear of no more events. */
void subscribers_heard(const struct subscribers *to);

/* Adds all parts to what they are parts of. 0 or what one returned. */
int subscribers_join(const struct subscribers *parts);

/* Tells those that hear of either of an activation that begins and, as the next event of its thread, returns. */
int subscribers_call(const struct subscribers *to, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);

/* Until when calls by this activation may be told together; 0: each has to be told. */
static inline uint64_t subscribers_calls_until(const struct subscribers *to, const struct activation *caller)
{
	uint64_t until = to->apart ? 0 : UINT64_MAX;

	for (struct sink *k = to->first.calls; k && until; k = k->after.calls) {
		uint64_t ns = k->ops->calls_until(k, caller);

		until = ns < until ? ns : until;
	}
	return until;
}

/* The time before which none of them needs samples of the thread's events that only change the stack. */
uint64_t subscribers_quiet_until(const struct subscribers *to, int32_t pid, int32_t tid);
