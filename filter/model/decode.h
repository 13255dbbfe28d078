/* SPDX-License-Identifier: MIT */
/*
 * decode.h - marker words of all threads -> samples.
 *
 * Words come in time order within a thread; threads may interleave in any way. The sequence number distinguishes a lost
 * word from a foreign one (docs/marker.md): a word out of sequence is held until the next one of its thread says which
 * it was.
 */
#pragma once

#include "code/codes.h"
#include "base/map.h"
#include "base/words.h"
#include "sample.h"

/* Where samples go. A negative return ends the analysis. */
typedef int (*sample_fn)(void *to, const struct sample *s);

struct word_part; /* word_stream.h */
struct word_stream;

/*
 * Events for which no sample need be made: whether a thread's may come so, until the next sample; and such events, up
 * to the first that needs one. 0, or a negative number, as above.
 */
struct quick_feed {
	bool (*is)(void *to, int32_t pid, int32_t tid, uint32_t interpreter);
	int (*events)(void *to, struct word_stream *l, struct word_part *p);
};

struct decoder {
	struct codes *codes;
	sample_fn feed;
	void *to;
	const struct quick_feed *quick; /* NULL: samples only */
	struct sample made;
	struct map streams;	  /* (pid, tid) -> struct word_stream */
	struct word_stream *last; /* markers of one thread come in runs: they need no look-up */
	uint64_t last_key;
	uint64_t words;	  /* all, foreign ones too */
	uint32_t holding; /* threads with a word that waits for the next one */
	char error[256];  /* why decode_word returned a negative number */
};

struct word {
	int32_t pid, tid; /* -1: perf does not know */
	uint64_t time;	  /* ns */
	uint64_t cycles;  /* absolute, of this thread */
	uint64_t bits;	  /* marker.h */
};

/* quick: to the same; NULL: all become samples. */
void decode_init(struct decoder *d, struct codes *codes, sample_fn feed, const struct quick_feed *quick, void *to);

/* 0; -ENOMEM; -EPROTO: marker or table of a newer version (d->error); or what feed returned. */
int decode_word(struct decoder *d, const struct word *w);

/*
 * A run of words, from the index `from` of w on; the same. in_ns: their cycles are ticks of a clock, that many in a
 * nanosecond (32 fractional bits); 0: w has them.
 */
int decode_words(struct decoder *d, const struct word_run *run, const struct words *w, uint32_t from, uint64_t in_ns);

/*
 * Words are missing at this point of the thread for a reason the front end knows (overflow, truncated
 * data). How many is seen from the next word's sequence number.
 */
int decode_gap(struct decoder *d, int32_t pid, int32_t tid);

/* Something other than a word comes on this thread: a waiting word counts as ours, after a gap. */
int decode_settle(struct decoder *d, int32_t pid, int32_t tid);

/* The thread comes to a CPU or leaves it: w->bits is a payload of KIND_CPU. Returns what decode_word does. */
int decode_cpu(struct decoder *d, const struct word *w);

/* The end of the trace: settles words still held. */
int decode_finish(struct decoder *d);

void decode_free(struct decoder *d);
