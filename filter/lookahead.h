/* SPDX-License-Identifier: MIT */
/*
 * lookahead.h - words that are decoded before they can be analysed: what threads of other workers wait for meanwhile
 * has to be known first (exchange.h). A ring of rooms of words, between gather.c's two halves.
 *
 * Functions that return an int return 0 or a negative errno; -EAGAIN: the parts cannot be analysed apart.
 */
#pragma once

#include "base/map.h"
#include "base/words.h"
#include "exchange.h"

struct codes;
struct codes_parts;
struct gather;

/*
 * 3.7 MB. In the 5 ms after which CPython makes a thread give the GIL away it makes 50 to 100 of them full: with less,
 * threads that come after it could not be analysed at the same time.
 */
#define LOOKAHEAD_ROOMS 128

/* A C function that lets others run takes longer than that, as does giving the GIL away, and getting it. */
#define LOOKAHEAD_QUIET_NS 5000

struct lookahead {
	struct exchange *exchange;
	const struct codes_parts *parts;
	unsigned me;
	struct words *rooms;		    /* LOOKAHEAD_ROOMS */
	uint64_t until_ns[LOOKAHEAD_ROOMS]; /* the last word of each */
	uint32_t first, n;		    /* full ones, and after them gather's */
	uint64_t last_ns;		    /* of the last word */
	uint64_t sum;			    /* of all own WAIT words (gil_apart_sum()) */
	int32_t pid;			    /* the last process that words were of, */
	bool is_apart;			    /* and whether others have threads of it */
	struct map threads;		    /* tid -> struct lookahead_thread */
	struct exchange_words own, heard;
	uint32_t at; /* of those that were heard, the next one */
};

/* Zeroed before. */
int lookahead_init(struct lookahead *l, struct exchange *e, const struct codes_parts *parts, unsigned me);
void lookahead_free(struct lookahead *l);

/* Where gather begins. */
struct words *lookahead_room(struct lookahead *l);

/* gather's room is full, or it was the last one: what is in it is said, and taken sooner or later. */
int lookahead_turn(struct gather *g);

/* No more comes: takes all. */
int lookahead_end(struct gather *g);

/* What others said up to the word at `from` is the analysis's. *n: so many more come before their next one. */
int lookahead_reach(struct gather *g, const struct words *w, uint32_t from, uint32_t end, uint32_t *n);
