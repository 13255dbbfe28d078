/* SPDX-License-Identifier: MIT */
/*
 * audience.h - the sinks of an analysis, by what they want to hear of.
 *
 * Most sinks listen to little, and most markers concern nobody: those that do not listen are not asked.
 */
#ifndef OCULAR_AUDIENCE_H
#define OCULAR_AUDIENCE_H

#include "sink.h"

/* Who listens, and where totals go. */
struct audience {
	struct sink *sinks; /* all of them */
	struct profile *profile;
	struct hearing first; /* of each callback: who hears it first */
};

/* Calls a function of every sink that has it; stops at the first that fails. */
#define AUDIENCE_TELL(to, fn, ...) \
	({ \
		int tell_err = 0; \
		for (struct sink *k = (to)->first.fn; k && !tell_err; k = k->after.fn) \
			tell_err = k->ops->fn(k, ##__VA_ARGS__); \
		tell_err; \
	})

/* Sinks are told in the order in which they are linked. */
struct audience audience_of(struct sink *sinks, struct profile *profile);

#endif
