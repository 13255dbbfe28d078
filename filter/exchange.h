/* SPDX-License-Identifier: MIT */
/*
 * exchange.h - WAIT words, which each of several workers that analyse threads of one process has to know of all of them
 * (model/gil_apart.h).
 *
 * A worker says the words of its threads as soon as they are decoded, and up to when these are all. Those of others it
 * hears in the order of time. Functions that return an int return 0 or a negative errno: -EAGAIN if one of the workers
 * has failed, or if it matters which of two words of one time came first.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct exchange_word {
	uint64_t ns, bits;
	int32_t pid, tid;
};

struct exchange_words {
	struct exchange_word *all;
	uint32_t n, room;
};

struct exchange_member {
	struct exchange_words said; /* what not all have heard */
	uint32_t *heard;	    /* of each other's: so many of those */
	uint64_t until_ns;	    /* before that it has said all */
	bool waits;		    /* for `more`: until all others have said all up to: */
	uint64_t wanted_ns;
	pthread_cond_t more;
};

struct exchange {
	pthread_mutex_t mutex;
	struct exchange_member *members;
	unsigned n;
	bool failed;
};

int exchange_init(struct exchange *e, unsigned n);
void exchange_free(struct exchange *e);

/* One more of w. */
int exchange_add(struct exchange_words *w, const struct exchange_word *more);

/* These, in the order of time, and before until_ns no more of this member's. UINT64_MAX: that was the last. */
int exchange_say(struct exchange *e, unsigned me, const struct exchange_words *words, uint64_t until_ns);

/* Waits until all others have said all up to ns, that included, and adds it to `to`, in the order of time. */
int exchange_hear(struct exchange *e, unsigned me, uint64_t ns, struct exchange_words *to);

/* Nobody needs to wait any more. */
void exchange_fail(struct exchange *e);
