/* SPDX-License-Identifier: MIT */
/*
 * others.h - what threads of a process that other workers analyse do with its GIL (model/gil_apart.h).
 *
 * All words are read twice: first each worker looks through its own for those that others have to know of, which skips
 * most, then, when it knows theirs, it analyses its own. To keep them in memory instead would take longer.
 * Times are ticks of the clock, told as cycles (pt_trace_tell_ticks()): one nanosecond has several, and it may matter
 * what comes first.
 * Functions that return an int return 0 or a negative errno; -EAGAIN: the parts cannot be analysed apart.
 */
#pragma once

#include "base/map.h"
#include "base/tsc.h"
#include "base/words.h"
#include "exchange.h"

struct codes;
struct codes_parts;
struct gather;

/* A C function that lets others run takes longer than that, as does giving the GIL away, and getting it. */
#define OTHERS_QUIET_NS 5000

/* Of more words one analysis looks at all threads. 12 MB in each worker. */
#define OTHERS_MOST (1u << 19)

struct others {
	struct exchange *exchange;
	const struct codes_parts *parts;
	unsigned me;
	bool looks; /* as yet words are only looked through */
	const struct tsc_conv *conv;
	uint64_t quiet;	    /* OTHERS_QUIET_NS, in ticks */
	uint64_t last;	    /* tick of the last word */
	uint64_t sum;	    /* of all own WAIT words (gil_apart_sum()) */
	int32_t pid;	    /* the last process that words were of, */
	bool is_apart;	    /* and whether others have threads of it */
	struct map threads; /* tid -> struct others_thread */
	struct exchange_words own, heard;
	uint32_t at; /* of those that were heard, the next one */
};

/* conv: of the recording's clock; it outlives this. */
void others_init(struct others *o, struct exchange *e, const struct codes_parts *parts, const struct tsc_conv *conv,
		 unsigned me);
void others_free(struct others *o);

/* The first time: looks through a room of words; then tells the others, and hears of theirs. */
int others_look(struct others *o, const struct codes *c, const struct words *w);
int others_meet(struct others *o);

/* The second time: what others did up to the word at `from` is told. *n: so many more come before their next one. */
int others_reach(struct gather *g, const struct words *w, uint32_t from, uint32_t end, uint32_t *n);

/* After the last word. */
int others_end(struct gather *g);
