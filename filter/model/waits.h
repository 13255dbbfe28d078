/* SPDX-License-Identifier: MIT */
/*
 * waits.h - what was waited for, how often and how long.
 *
 * A thread tells when a call that may block began and ended (WAIT words, docs/marker.md). What is charged to the
 * innermost activation is how long the thread was off a CPU by its own will meanwhile, and nothing if it was not; where
 * its switches are not known, and of a wait for room in its ring, which yields first, the time of the call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/event.h"

struct wait_total {
	uint64_t n, ns, longest_ns;
};

/* By kind. */
struct waits {
	struct wait_total of[WAIT_KINDS];
};

/* A kind's name in the summary, "gil"; one that is not known is "other". */
const char *wait_name(enum wait_kind kind);

void wait_total_add(struct wait_total *t, uint64_t ns);
void wait_total_join(struct wait_total *t, const struct wait_total *more);
void waits_add(struct waits *w, enum wait_kind kind, uint64_t ns);
void waits_join(struct waits *w, const struct waits *more);

/* What is left of each kind without those; the longest may be one of those. */
struct waits waits_minus(const struct waits *from, const struct waits *less);

/* All kinds together, and the one with most time: 0, there is none. */
uint64_t waits_ns(const struct waits *w);
enum wait_kind waits_most(const struct waits *w);

/* The call that a thread is in; kind 0: none. */
struct wait {
	uint8_t kind;
	uint64_t since_ns;
	uint64_t waiting_ns; /* of the thread, until then */
	uint64_t place;	     /* where what it waits for was made (docs/marker.md); 0: not known */
};

struct wait_time {
	uint64_t ns;	     /* of the call */
	uint64_t waiting_ns; /* of that */
	uint64_t place;	     /* as in struct wait */
};

/* A WAIT word at ns; the thread waited for waiting_ns in all. Returns the kind of the wait that it ends; 0: none. */
enum wait_kind wait_word(struct wait *w, uint64_t payload, uint64_t ns, uint64_t waiting_ns, struct wait_time *t);
