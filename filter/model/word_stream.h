/* SPDX-License-Identifier: MIT */
/*
 * word_stream.h - one thread's stream of words, and those of its events that need no sample.
 *
 * decode.c owns it. Who takes such events includes this, so that what is done with each is one loop.
 */
#pragma once

#include "decode.h"
#include "shared/marker.h"

struct word_stream {
	struct process *process;
	uint32_t interpreter;
	union {
		struct {
			bool open;     /* the sequence is known: `next` counts */
			bool holding;  /* `held` waits for the next word */
			bool prefixed; /* `wide`, `callee` or `number` belong to the next event word */
			bool gap;      /* the front end reported a gap: the next word is after it */
		};
		uint32_t state; /* all four, to test at once */
	};
	bool greeted;	    /* there was a HELLO */
	uint8_t version;    /* of the markers: from the HELLO; until then from the code table */
	uint8_t next;	    /* sequence number of the next word */
	uint64_t wide;	    /* the word, 0: none */
	uint32_t callee;    /* what the next CALL calls, 0: not known */
	uint64_t object;    /* what PY_RESUME, PY_YIELD and PY_THROW are about from here on, 0: not known */
	uint32_t number;    /* for the next event word, 0: none */
	struct map numbers; /* -> the event word with that number, as a pointer */
	struct word held;
};

/* An event that continues the sequence, with nothing pending: nearly every word. */
static inline bool word_is_plain(const struct word_stream *l, uint64_t bits)
{
	static const struct word_stream plain = { .open = true };

	return l->state == plain.state && marker_seq(bits) == l->next && marker_is_event(bits);
}

/* Words of one thread, from `at` on. */
struct word_part {
	const struct words *w;
	uint32_t at, end;
	uint64_t in_ns; /* as decode_words() has it */
};

static inline uint64_t word_cycles(const struct word_part *p, uint32_t at)
{
	return p->in_ns ? (__uint128_t)p->w->ns[at] * p->in_ns >> 32 : p->w->cycles[at];
}

/*
 * Takes events of codes that are in the process's own table, up to one that needs a sample: `event` returns more than 0
 * for it and does nothing. 0, or less than 0, as `event` returned.
 */
static inline __attribute__((always_inline)) int
word_stream_events(struct word_stream *l, struct word_part *part, void *to, int (*event)(void *, const struct code_event *))
{
	const struct word_part p = *part;
	struct code_event e;
	uint32_t at = p.at;
	int err = 0;

	for (; at < p.end; at++) {
		uint64_t bits = p.w->bits[at];

		e.code = word_is_plain(l, bits) ? codes_own(l->process, marker_code(bits)) : NULL;
		if (!e.code)
			break;
		e.op = marker_op(bits);
		e.time = p.w->ns[at];
		e.cycles = word_cycles(&p, at);
		e.offset = (int64_t)marker_offset(bits) * 2;
		e.target = e.offset + marker_dist(bits) * 2;
		err = event(to, &e);
		if (err)
			break;
		l->next = (l->next + 1) & MARKER_SEQ_MASK;
	}
	part->at = at;
	return err < 0 ? err : 0;
}
