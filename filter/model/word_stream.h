/* SPDX-License-Identifier: MIT */
/*
 * word_stream.h - one thread's stream of words, and those of its events that need no sample.
 *
 * decode.c owns it. thread_quick.c includes it, too, so that reading a word and acting on its event is one loop.
 */
#pragma once

#include "decode.h"
#include "shared/marker.h"

/* Event words by their numbers. Numbers are given from 1 on, so an array has few holes. */
struct numbers {
	struct numbered {
		uint64_t word;	   /* without seq, of an event or a C_CALL; 0: not known */
		struct code *code; /* its code, if it is in the process's own table; else NULL */
		uint32_t op;	   /* the word's */
	} * all;
	uint32_t n; /* of them: up to MARKER_NUMBER_MAX + 1 */
};

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
	bool greeted;		  /* there was a HELLO */
	uint8_t version;	  /* of the markers: from the HELLO; until then from the code table */
	uint8_t next;		  /* sequence number of the next word */
	uint64_t wide;		  /* the word, 0: none */
	uint32_t callee;	  /* what the next CALL calls, 0: not known */
	uint64_t object;	  /* what PY_RESUME, PY_YIELD and PY_THROW are about from here on, 0: not known */
	uint32_t number;	  /* for the next event word, 0: none */
	uint32_t numbered_callee; /* what that is a call of, and its number stands for, too; 0: of nothing */
	struct numbers numbers;
	struct word held;
};

/* What a 32-bit or NUMBERED word stands for; op 0: it is not known. Before version 2 there are no numbers. */
static inline uint64_t numbers_word(const struct numbers *n, uint32_t number, uint64_t seq)
{
	return number < n->n ? n->all[number].word | seq << MARKER_SEQ_SHIFT : 0;
}

/* The event word of 32 bits, if they are ours; op 0: it is not known; any other word as it is. */
static inline uint64_t word_whole(const struct numbers *n, uint64_t bits)
{
	/* Of other software's it is larger than any number. */
	uint32_t number = ((uint32_t)bits ^ MARKER_SHORT << MARKER_SHORT_SHIFT) & ((1u << MARKER_SHORT_SEQ_SHIFT) - 1);

	return bits >> 32 ? bits : numbers_word(n, number, bits >> MARKER_SHORT_SEQ_SHIFT);
}

/* Nothing is pending: an event that continues the sequence is just that. */
static inline bool word_stream_is_plain(const struct word_stream *l)
{
	static const struct word_stream plain = { .open = true };

	return l->state == plain.state;
}

/* An event that continues the sequence, with nothing pending: nearly every word. */
static inline bool word_is_plain(const struct word_stream *l, uint64_t bits)
{
	return word_stream_is_plain(l) && marker_seq(bits) == l->next && marker_is_event(bits);
}

/* Words of one thread, from `at` on. */
struct word_part {
	const struct words *w;
	size_t at, end;
	uint64_t in_ns; /* as decode_words() has it */
};

/* Of a clock that ticks so often, at that time: the later, the more. */
static inline uint64_t word_ticks(uint64_t in_ns, uint64_t ns)
{
	return (__uint128_t)ns * in_ns >> 32;
}

static inline uint64_t word_cycles(const struct word_part *p, size_t at)
{
	return p->in_ns ? word_ticks(p->in_ns, p->w->ns[at]) : p->w->cycles[at];
}

/* Are the cycles of these words a clock's, of which these, at that time, are, too? */
static inline bool word_are_ticks(const struct word_part *p, uint64_t ns, uint64_t cycles)
{
	return p->in_ns && cycles <= word_ticks(p->in_ns, ns);
}

static inline struct code_event word_event(struct code *code, uint64_t bits)
{
	return (struct code_event){ .code = code, .bits = bits, .op = marker_op(bits) };
}

/* Where it is, and where a JUMP goes, in bytes. */
static inline int64_t word_offset(const struct code_event *e)
{
	return (int64_t)marker_offset(e->bits) * 2;
}
static inline int64_t word_target(const struct code_event *e)
{
	return word_offset(e) + marker_dist(e->bits) * 2;
}

/* The same of a CALL and its callee in one word: its bits are those of a CALL. */
static inline struct code_event word_c_call(const struct process *p, uint64_t bits)
{
	struct code *callee = codes_own(p, marker_c_callee(bits));

	return (struct code_event){
		.code = callee ? codes_own(p, marker_c_caller(bits)) : NULL,
		.callee = callee,
		.bits = marker_event(OP_CALL, 0, 0, marker_c_offset(bits), 0),
		.op = OP_CALL,
	};
}

static inline bool word_is_c_call(const struct word_stream *l, uint64_t bits)
{
	return marker_is_c_call(bits) && l->version >= MARKER_EXTENSIONS && marker_c_caller(bits) &&
	       marker_c_callee(bits);
}

/* The kind of an EXTENSION with this seq, from MARKER_EXTENSIONS on. Of any other word: more than that can be. */
static inline uint32_t word_kind(uint64_t bits, uint32_t seq)
{
	return bits >> MARKER_KIND_SHIFT ^ marker_head(OP_EXTENSION, seq) >> MARKER_KIND_SHIFT;
}

/* For whom the thread works. */
static inline bool word_is_subject(const struct word_stream *l, uint64_t bits)
{
	return marker_op(bits) == OP_EXTENSION && marker_kind(bits) == KIND_SUBJECT && l->version >= MARKER_EXTENSIONS;
}

/* How a 32-bit word of ours with this seq begins: what it is more than that is its number. */
static inline uint32_t word_short_head(uint32_t seq)
{
	return marker_short_of(seq, 0);
}

/* The event of a word that has this seq. No code: none that is in the process's own table; bits are 0: another seq. */
static inline struct code_event word_other_event(const struct word_stream *l, uint64_t bits, uint32_t seq)
{
	bits = word_whole(&l->numbers, bits);
	if (marker_seq(bits) != seq)
		return (struct code_event){ 0 };
	if (word_is_c_call(l, bits))
		return word_c_call(l->process, bits);
	return word_event(marker_is_event(bits) ? codes_own(l->process, marker_code(bits)) : NULL, bits);
}

/* The words behind an event, for who takes more than one at once. */
struct words_ahead {
	const struct word_part *part; /* `at` is the event's */
	const struct numbers *numbers;
	uint32_t head; /* of a 32-bit word in the event's place */
};

/* The same of the word behind that. */
static inline uint32_t word_next_head(uint32_t head)
{
	return head + (word_short_head(1) - word_short_head(0));
}

/* Is the next word, by its number, that op of the code? */
static inline bool word_ahead_is(const struct words_ahead *w, enum marker_op op, const struct code *code)
{
	const struct word_part *p = w->part;
	uint64_t number = p->at + 1 < p->end ? p->w->bits[p->at + 1] - word_next_head(w->head) : UINT64_MAX;

	return number < w->numbers->n && w->numbers->all[number].code == code && w->numbers->all[number].op == op;
}

/* What `take` returns that took the next word, too. */
#define WORDS_TWO 2

/* Takes an event. 1: it needs a sample, and nothing was done. WORDS_TWO or more: so many words. 0, or less than 0. */
typedef int (*word_taker)(void *to, const struct code_event *e, const struct words_ahead *w);

/* Gets where in the part something else may begin, with its first word as a whole: how many words it took. */
typedef int (*word_other_taker)(void *to, const struct word_stream *l, const struct word_part *p, size_t at,
				uint64_t bits);

/* Which cycles events have: those of a clock, which they are known to be; or 0, because nobody asks. */
enum word_cycles_of { CYCLES_ANY, CYCLES_TICKS, CYCLES_NONE };

static inline uint64_t word_cycles_as(const struct word_part *p, size_t at, uint64_t ns, enum word_cycles_of of)
{
	if (of == CYCLES_ANY)
		return word_cycles(p, at);
	return of == CYCLES_TICKS ? word_ticks(p->in_ns, ns) : 0;
}

/*
 * Takes events of codes that are in the process's own table, up to one that needs a sample. What `other` does not take
 * (0) does, too. 0, or less than 0, as they returned.
 */
static inline __attribute__((always_inline)) int word_stream_events(struct word_stream *l, struct word_part *part,
								    void *to, word_taker take, word_other_taker other,
								    enum word_cycles_of cycles)
{
	const uint32_t one = word_short_head(1) - word_short_head(0);
	const struct numbers numbers = l->numbers;
	struct word_part p = *part;
	uint32_t head = word_short_head(l->next);
	int err = 0;

	if (!word_stream_is_plain(l))
		return 0;
	for (; p.at < p.end; p.at++, head += one) {
		uint64_t bits = p.w->bits[p.at], number = bits - head;
		uint32_t kind;
		struct code_event e;

		if (number < numbers.n && numbers.all[number].code) {
			e = (struct code_event){ .code = numbers.all[number].code,
						 .bits = numbers.all[number].word,
						 .op = numbers.all[number].op };
		} else if (kind = word_kind(bits, head >> MARKER_SHORT_SEQ_SHIFT),
			   kind == KIND_OBJECT && l->version >= MARKER_EXTENSIONS) {
			l->object = marker_payload(bits);
			continue;
		} else if (kind == KIND_SUBJECT) {
			e = (struct code_event){ .bits = bits };
		} else {
			e = word_other_event(l, bits, head >> MARKER_SHORT_SEQ_SHIFT);
		}
		if (!e.code) {
			err = other(to, l, part, p.at, e.bits);
			if (err <= 0)
				break;
			p.at += err - 1;
			head += (err - 1) * one;
			err = 0;
			continue;
		}
		e.object = &l->object;
		e.time = p.w->ns[p.at];
		e.cycles = word_cycles_as(&p, p.at, e.time, cycles);
		err = take(to, &e, &(struct words_ahead){ &p, &numbers, head });
		if (err && err < WORDS_TWO)
			break;
		if (err) {
			p.at += err - 1;
			head += (err - 1) * one;
			err = 0;
		}
	}
	l->next = head >> MARKER_SHORT_SEQ_SHIFT;
	part->at = p.at;
	return err < 0 ? err : 0;
}
