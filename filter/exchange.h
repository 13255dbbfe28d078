/* SPDX-License-Identifier: MIT */
/*
 * exchange.h - words that each of several workers has to know of all threads, before it analyses its own.
 *
 * Functions that return an int return 0 or a negative errno; -EAGAIN: a worker has failed, or it matters which of two
 * words of one time came first.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct exchange_word {
	uint64_t tick, bits; /* of the recording's clock */
	int32_t pid, tid;
};

struct exchange_words {
	struct exchange_word *all;
	uint32_t n, room;
};

struct exchange {
	pthread_mutex_t mutex;
	pthread_cond_t complete;
	struct exchange_words *said; /* by each member */
	unsigned n, silent;	     /* members; those that have not said theirs yet */
	bool failed;
};

int exchange_init(struct exchange *e, unsigned n);
void exchange_free(struct exchange *e);

/* One more of w. */
int exchange_add(struct exchange_words *w, const struct exchange_word *more);

/* All of this member's, in the order of time; they are the exchange's then. Once. */
void exchange_say(struct exchange *e, unsigned me, struct exchange_words *words);

/* Waits until all members have said theirs. Those of others, in the order of time, in *to, for free(). */
int exchange_hear(struct exchange *e, unsigned me, struct exchange_words *to);

/* Nobody needs to wait any more. */
void exchange_fail(struct exchange *e);
