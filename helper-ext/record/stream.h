/* SPDX-License-Identifier: MIT */
/*
 * stream.h - the trace of one thread on its way into perf.data.
 *
 * Packets are collected into a chunk that is written as one AUXTRACE record. A chunk begins with PSB+, so whatever
 * chunks survive can be decoded. Each stream is a queue (idx) of its own in perf, which merges queues by time: a tid
 * that returns, after exec or for a later thread, simply opens another stream.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/marker.h"
#include "shared/numbers.h"
#include "perfdata.h"
#include "ptframe.h"

#define STREAM_CHUNK (256u << 10)

/* What a marker takes at most: itself, and a NUMBER before it, which has the cycles that went by. */
#define STREAM_MARKER_MAX (PTFRAME_MARKER_MAX + PTFRAME_SAME_TIME_MAX)

/* What all streams of a recording share. */
struct trace_out {
	struct perfdata file;
	uint32_t streams;   /* opened so far in this file: the next idx */
	uint32_t threads;   /* seen */
	uint64_t before;    /* bytes of files before this one */
	uint64_t markers;   /* written */
	uint64_t added;	    /* of these, CPU words, samples and NUMBERs: the threads did not write them */
	uint64_t lost;	    /* dropped by the traced threads, as they report */
	uint64_t discarded; /* not written, because the file has an error: by the recorder or, later, by the threads */
	uint64_t discarded_added; /* of these, the recorder's own words */
};

struct stream {
	struct trace_out *out;
	uint32_t idx, pid, tid;
	uint64_t clock;	    /* TSC of the last packet */
	uint64_t words;	    /* of the thread so far, including dropped ones: the next one's seq */
	uint64_t written;   /* bytes of this stream in the file */
	uint64_t reference; /* clock at the beginning of the chunk */
	uint64_t cpu;	    /* the last CPU word; 0: not known. A later chunk begins with it: it may become the first */
	uint32_t markers;   /* in the chunk */
	uint32_t added;	    /* of these, the recorder's own words */
	uint32_t used;	    /* bytes of the chunk */
	bool wide;	    /* the next event word belongs to a WIDE: no number stands for it */
	struct numbers numbers;
	uint8_t chunk[STREAM_CHUNK];
};

/*
 * Opens a stream, which was zeroed before its first use, for a thread and tells perf the thread's name. Errors of the
 * file are in out->file.error; the stream continues and discards.
 */
void stream_open(struct stream *s, struct trace_out *out, uint32_t pid, uint32_t tid, const char *comm);

/* Begins a chunk with the time of the next marker. */
void stream_begin(struct stream *s, uint64_t tsc);

/*
 * Moves the clock to the TSC of the next packet and returns the cycles in between. It never goes back, and stays while
 * TSC is behind it or out of range: perf could not follow.
 */
static inline uint64_t stream_advance(struct stream *s, uint64_t tsc)
{
	uint64_t cycles = tsc - s->clock;

	if (cycles > PTFRAME_CYC_MAX)
		cycles = 0;
	s->clock += cycles;
	return cycles;
}

/* How many markers fit into the chunk; 8 bytes are reserved for padding. */
static inline uint32_t stream_room(const struct stream *s)
{
	uint32_t used = s->used ? s->used : PTFRAME_PSB_MAX + PTFRAME_MARKER_MAX;

	return (STREAM_CHUNK - 8 - used) / STREAM_MARKER_MAX;
}

/* A word in full. */
static inline void stream_append(struct stream *s, uint64_t tsc, uint64_t word)
{
	word |= marker_head(0, s->words++);
	s->used = ptframe_marker(s->chunk + s->used, stream_advance(s, tsc), word) - s->chunk;
	s->markers++;
}

/* An event word by its number. */
static inline void stream_append_short(struct stream *s, uint64_t tsc, uint32_t number)
{
	uint8_t *p = ptput_cyc(s->chunk + s->used, stream_advance(s, tsc));

	s->used = ptput_ptw_short(p, marker_short_of(s->words++, number)) - s->chunk;
	s->markers++;
}

/* Any other word than an event that has a number. */
void stream_append_other(struct stream *s, uint64_t tsc, uint64_t word);

/* Appends a marker, whose seq is still 0 (docs/marker.md); there must be room. */
static inline void stream_put(struct stream *s, uint64_t tsc, uint64_t word)
{
	const struct numbered *slot;

	if (!s->used)
		stream_begin(s, tsc);
	slot = numbers_slot(&s->numbers, word);
	if (numbers_knows(slot, word, s->numbers.chunk) && !s->wide)
		stream_append_short(s, tsc, slot->number);
	else
		stream_append_other(s, tsc, word);
}

/* Writes the chunk, if there is one. */
void stream_flush(struct stream *s);

/* Appends a word of the recorder's own, after a HELLO. */
void stream_added(struct stream *s, uint64_t tsc, uint64_t word);

/* Likewise a CPU word (marker_cpu()). */
void stream_cpu(struct stream *s, uint64_t tsc, uint64_t word);

/*
 * Appends a LOST marker for words that the thread dropped at this point, and counts them; if the file has an error, it
 * only counts them, as discarded.
 */
void stream_lost(struct stream *s, uint64_t tsc, uint64_t count);
