/* SPDX-License-Identifier: MIT */
/*
 * waits.h - what was waited for, how often and how long.
 *
 * A thread tells when a call that blocks began and ended (WAIT words, docs/marker.md). It is charged to the innermost
 * activation. Times are those of the call, which may have been on a CPU for some of it, or preempted.
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

void waits_add(struct waits *w, enum wait_kind kind, uint64_t ns);
void waits_join(struct waits *to, const struct waits *more);

/* All kinds together, and the one with most time: 0, there is none. */
uint64_t waits_ns(const struct waits *w);
enum wait_kind waits_most(const struct waits *w);

/* The call that a thread is in; kind 0: none. */
struct wait {
	uint8_t kind;
	uint64_t since_ns;
};

/* A WAIT word at ns. Returns the kind of the wait that it ends, which took *took; 0: none. */
enum wait_kind wait_word(struct wait *w, uint64_t payload, uint64_t ns, uint64_t *took);
