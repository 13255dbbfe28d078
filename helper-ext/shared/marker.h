/* SPDX-License-Identifier: MIT */
/*
 * marker.h - the 64-bit word that a PTWRITE packet carries. docs/marker.md describes it in prose.
 *
 *   63..59 op         enum marker_op
 *   58..52 seq        words of this thread so far, modulo 128: makes every loss visible
 *   51..28 code       id of the code object in codes-PID.jsonl (1..2^24-1)
 *   27..8  offset     in code units (2 bytes); for LINE the line number itself
 *    7..0  arg        FAR_DEST events: destination minus offset, signed, in code units
 *
 * Words with another layout of the lower 52 bits:
 *   HELLO  code = MARKER_MAGIC, offset = interpreter id, arg = MARKER_VERSION
 *   LOST   52 bits: how many words the emitter dropped; seq jumps by as many (modulo 128)
 *   SCRATCH code = MARKER_MAGIC, the rest anything: written to measure what writing costs
 *   WIDE   51..28 = bits 43..20 of the offset, 27..0 = destination in code units;
 *          belongs to the next word, whose arg must then be ignored
 *   SNAPSHOT code = MARKER_MAGIC, offset = the snapshot's number, arg = 1: the segment ends here;
 *          0: it begins. Whatever the sequence was, it goes on from this word's
 *   EXTENSION 51..48 = enum marker_kind, never 0; 47..0 = payload, which docs/marker.md describes for each kind
 *   NUMBERED 51..20 = 0, 19..0 = a number that KIND_NUMBER gave to an event word of this thread: that word again,
 *          with this one's seq. As a payload of 32 bits (PTW with 4 bytes): 31..25 seq, 24..20 MARKER_SHORT,
 *          19..0 the number. All other words have an op, and so more than 32 bits
 *   FRAMES code = MARKER_MAGIC, offset = frames that the interpreter has open in this thread; arg = 1: it
 *          is traced from here on, 0: it is not
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

#define MARKER_MAGIC   0x4f434cu /* "OCL" */
#define MARKER_VERSION 2u

/* From this version on there are EXTENSION and NUMBERED words. In an older trace such a word is foreign. */
#define MARKER_EXTENSIONS 2u

#define MARKER_OP_SHIFT	    59
#define MARKER_SEQ_SHIFT    52
#define MARKER_CODE_SHIFT   28
#define MARKER_OFFSET_SHIFT 8

#define MARKER_SEQ_MASK	  0x7fu
#define MARKER_CODE_MAX	  0xffffffu
#define MARKER_OFFSET_MAX 0xfffffu
#define MARKER_DIST_MAX	  127 /* |destination - offset| that fits without WIDE */
#define MARKER_LOST_MAX	  ((1ull << 52) - 1)
#define MARKER_DEST_MAX	  0xfffffffu

#define MARKER_KIND_SHIFT  48
#define MARKER_KIND_MASK   0xfu
#define MARKER_PAYLOAD_MAX ((1ull << 48) - 1)

/* Payload of KIND_WAIT: 46..40 the kind. */
#define MARKER_WAIT_BEGINS (1ull << 47)
#define MARKER_WAIT_SHIFT  40
#define MARKER_WAIT_MASK   0x7fu
/* And where what it waits for was made: the code's id, and how many lines after its first one; all 0: not known. */
#define MARKER_PLACE_SHIFT 16
#define MARKER_PLACE_LINES 0xffffu
#define MARKER_PLACE_MAX   0xffffffffffull
/* Instead, of a wait for the GIL: the thread has not got it by this. */
#define MARKER_GIL_NOT_GOT 1ull

/* Payload of KIND_CPU; its other bits are 0, except for the number of the CPU. ENDS: from here on it is not known. */
#define MARKER_CPU_IN	     (1ull << 47)
#define MARKER_CPU_PREEMPTED (1ull << 46)
#define MARKER_CPU_LOST	     (1ull << 45)
#define MARKER_CPU_UNKNOWN   0xffffu
#define MARKER_CPU_ENDS	     (MARKER_CPU_LOST | MARKER_CPU_UNKNOWN)

/* Payload of KIND_COLLECTION: the generation, and at its end how many objects were collected. */
#define MARKER_COLLECTION_BEGINS (1ull << 47)
#define MARKER_GENERATION_SHIFT	 40
#define MARKER_GENERATION_MAX	 0x7fu
#define MARKER_COLLECTED_MAX	 0xffffffffffull

/* Payload of KIND_EXCEPTION: raised first here; which object, by bits of its address; id of its type. */
#define MARKER_EXCEPTION_FIRST	 (1ull << 47)
#define MARKER_EXCEPTION_SHIFT	 24
#define MARKER_EXCEPTION_MAX	 0x7fffffu
#define MARKER_EXCEPTION_ALIGNED 4 /* low bits of an address that are 0 */

/*
 * Payload of KIND_LABEL: what it is, id of its name, and of a counter the low bits of its value, a double, whose others
 * are in the VALUE word before it. Others say which of that name it is, and their data is in the VALUE words before
 * them.
 */
#define MARKER_LABEL_SHIFT    44
#define MARKER_LABEL_MASK     0xfu
#define MARKER_LABEL_ID_SHIFT 20
#define MARKER_LABEL_LOW      16

/*
 * Payload of KIND_VALUE, but for a counter's: what it is, and that. KEYS come last: how many words of values are before
 * it. A number takes two words if REST is not 0 (of a double), or its sign does not follow from the other (of an int).
 */
#define MARKER_VALUE_SHIFT	44
#define MARKER_VALUE_MAX	0xfffffffffffull
#define MARKER_VALUE_REST	20 /* bits: a number has 64 */
#define MARKER_KEYS_SHIFT	24
#define MARKER_TEXT_BYTES	5u /* in a word, the first lowest */
#define MARKER_TEXT_COUNT_SHIFT 40 /* how many of them */
#define MARKER_TEXT_COUNT_MASK	7u
#define MARKER_TEXT_CONTINUES	(1ull << 43) /* in the next word */
#define MARKER_VALUES_MAX	64u	     /* words before a LABEL */

/* Payload of KIND_SUBJECT: what it says, and of whom: a number, or an address / 16. */
#define MARKER_SUBJECT_SHIFT 43
#define MARKER_SUBJECT_MAX   0x7ffffffffffull
/* Of SUBJECT_TRACED: which piece it is in bits 34..32, and the piece. So many pieces are a trace id, and a span id. */
#define MARKER_TRACE_PIECES  4
#define MARKER_SPAN_PIECES   2
#define MARKER_PIECE_SHIFT   32
#define MARKER_NUMBERED_TASK (1ull << 42) /* of NAME: it is Task- and the number that the other bits are */

/* Payload of KIND_C_CALL: callee, caller, and from MARKER_C_OFFSET_MAX down the offset. */
#define MARKER_CALLEE_SHIFT 31
#define MARKER_CALLER_SHIFT 14
#define MARKER_C_CODE_MAX   0x1ffffu
#define MARKER_C_OFFSET_MAX 0x3fffu

#define MARKER_SHORT	       0x16u /* distinguishes our payloads of 32 bits from small numbers of other software */
#define MARKER_SHORT_SHIFT     20
#define MARKER_SHORT_MASK      0x1fu
#define MARKER_SHORT_SEQ_SHIFT 25
#define MARKER_NUMBER_MAX      0xfffffu /* the first is 1 */

/* Of NUMBER, above the number: what the CALL calls that gets it; 0: what a CALL calls is no part of it. */
#define MARKER_NUMBERED_CALLEE_SHIFT 20

/* Any word with these bits is a SCRATCH, whatever op it would be without. */
#define MARKER_SCRATCH ((uint64_t)OP_SCRATCH << MARKER_OP_SHIFT | (uint64_t)MARKER_MAGIC << MARKER_CODE_SHIFT)

/* The constant part of a thread's next word; seq may be any count, its low 7 bits are used. */
static inline uint64_t marker_head(enum marker_op op, uint64_t seq)
{
	return (uint64_t)op << MARKER_OP_SHIFT | (seq & MARKER_SEQ_MASK) << MARKER_SEQ_SHIFT;
}

static inline uint64_t marker_hello(uint64_t seq, uint32_t interpreter)
{
	return marker_head(OP_HELLO, seq) | (uint64_t)MARKER_MAGIC << MARKER_CODE_SHIFT |
	       (uint64_t)(interpreter & MARKER_OFFSET_MAX) << MARKER_OFFSET_SHIFT | MARKER_VERSION;
}

static inline uint64_t marker_lost(uint64_t seq, uint64_t count)
{
	return marker_head(OP_LOST, seq) | (count < MARKER_LOST_MAX ? count : MARKER_LOST_MAX);
}

static inline uint64_t marker_wide(uint64_t seq, uint64_t offset, uint32_t dest)
{
	return marker_head(OP_WIDE, seq) | (offset >> 20 & 0xffffff) << MARKER_CODE_SHIFT | (dest & MARKER_DEST_MAX);
}

static inline uint64_t marker_snapshot(uint64_t seq, uint32_t number, bool end)
{
	return marker_head(OP_SNAPSHOT, seq) | (uint64_t)MARKER_MAGIC << MARKER_CODE_SHIFT |
	       (uint64_t)(number & MARKER_OFFSET_MAX) << MARKER_OFFSET_SHIFT | end;
}

static inline uint64_t marker_frames(uint64_t seq, uint32_t open, bool traced)
{
	return marker_head(OP_FRAMES, seq) | (uint64_t)MARKER_MAGIC << MARKER_CODE_SHIFT |
	       (uint64_t)(open < MARKER_OFFSET_MAX ? open : MARKER_OFFSET_MAX) << MARKER_OFFSET_SHIFT | traced;
}

static inline uint64_t marker_extension(uint64_t seq, enum marker_kind kind, uint64_t payload)
{
	return marker_head(OP_EXTENSION, seq) | (uint64_t)kind << MARKER_KIND_SHIFT | (payload & MARKER_PAYLOAD_MAX);
}

/* The thread is switched in (it runs from here on) or out; preempted: although it could run. */
static inline uint64_t marker_cpu(bool in, bool preempted, bool lost, uint16_t cpu)
{
	return marker_extension(0, KIND_CPU,
				(in ? MARKER_CPU_IN : 0) | (preempted ? MARKER_CPU_PREEMPTED : 0) |
					(lost ? MARKER_CPU_LOST : 0) | cpu);
}

/* A wait begins, or ends. */
static inline uint64_t marker_wait(enum wait_kind kind, bool begins)
{
	return marker_extension(0, KIND_WAIT, (begins ? MARKER_WAIT_BEGINS : 0) | (uint64_t)kind << MARKER_WAIT_SHIFT);
}

/* A garbage collection begins, or ends. What does not fit is the most that does. */
static inline uint64_t marker_collection(bool begins, uint64_t generation, uint64_t collected)
{
	if (generation > MARKER_GENERATION_MAX)
		generation = MARKER_GENERATION_MAX;
	if (collected > MARKER_COLLECTED_MAX)
		collected = MARKER_COLLECTED_MAX;
	return marker_extension(0, KIND_COLLECTION,
				(begins ? MARKER_COLLECTION_BEGINS : 0) | generation << MARKER_GENERATION_SHIFT |
					collected);
}

/* type: 0 if it is not known. */
static inline uint64_t marker_exception(bool first, uint64_t address, uint32_t type)
{
	uint64_t object = address >> MARKER_EXCEPTION_ALIGNED & MARKER_EXCEPTION_MAX;

	return marker_extension(0, KIND_EXCEPTION,
				(first ? MARKER_EXCEPTION_FIRST : 0) | object << MARKER_EXCEPTION_SHIFT |
					(type & MARKER_CODE_MAX));
}

/* value: bits of a counter's; which one. */
static inline uint64_t marker_label(enum label_what what, uint32_t id, uint64_t value)
{
	return marker_extension(0, KIND_LABEL,
				(uint64_t)what << MARKER_LABEL_SHIFT | (uint64_t)id << MARKER_LABEL_ID_SHIFT |
					(value & ((1u << MARKER_LABEL_LOW) - 1)));
}

static inline uint64_t marker_value(enum value_what what, uint64_t value)
{
	return marker_extension(0, KIND_VALUE, (uint64_t)what << MARKER_VALUE_SHIFT | (value & MARKER_VALUE_MAX));
}

static inline enum value_what marker_value_what(uint64_t payload)
{
	return (enum value_what)(payload >> MARKER_VALUE_SHIFT);
}

/* The names of the values in so many words before it. */
static inline uint64_t marker_keys(uint32_t words, uint32_t id)
{
	return marker_value(VALUE_KEYS, (uint64_t)words << MARKER_KEYS_SHIFT | id);
}

static inline uint32_t marker_keys_words(uint64_t payload)
{
	return payload >> MARKER_KEYS_SHIFT & ((1u << MARKER_VALUE_REST) - 1);
}

static inline uint64_t marker_subject(enum subject what, uint64_t whom)
{
	return marker_extension(0, KIND_SUBJECT, (uint64_t)what << MARKER_SUBJECT_SHIFT | (whom & MARKER_SUBJECT_MAX));
}

static inline enum subject marker_subject_what(uint64_t payload)
{
	return (enum subject)(payload >> MARKER_SUBJECT_SHIFT);
}

/* Only of codes and an offset that fit. */
static inline uint64_t marker_c_call(uint64_t seq, uint32_t callee, uint32_t caller, uint32_t offset)
{
	return marker_extension(seq, KIND_C_CALL,
				(uint64_t)callee << MARKER_CALLEE_SHIFT | (uint64_t)caller << MARKER_CALLER_SHIFT |
					offset);
}

/* callee: of a CALL that calls it; 0: of any other event word. */
static inline uint64_t marker_number_of(uint32_t number, uint32_t callee)
{
	return marker_extension(0, KIND_NUMBER, (uint64_t)callee << MARKER_NUMBERED_CALLEE_SHIFT | number);
}

static inline uint64_t marker_numbered(uint64_t seq, uint32_t number)
{
	return marker_head(OP_NUMBERED, seq) | (number & MARKER_NUMBER_MAX);
}

static inline uint64_t marker_event(enum marker_op op, uint64_t seq, uint32_t code, uint32_t offset, int8_t dist)
{
	return marker_head(op, seq) | (uint64_t)code << MARKER_CODE_SHIFT |
	       (uint64_t)(offset & MARKER_OFFSET_MAX) << MARKER_OFFSET_SHIFT | (uint8_t)dist;
}

static inline enum marker_op marker_op(uint64_t word)
{
	return (enum marker_op)(word >> MARKER_OP_SHIFT);
}

static inline uint32_t marker_seq(uint64_t word)
{
	return word >> MARKER_SEQ_SHIFT & MARKER_SEQ_MASK;
}

static inline uint32_t marker_code(uint64_t word)
{
	return word >> MARKER_CODE_SHIFT & MARKER_CODE_MAX;
}

static inline uint32_t marker_offset(uint64_t word)
{
	return word >> MARKER_OFFSET_SHIFT & MARKER_OFFSET_MAX;
}

static inline int8_t marker_dist(uint64_t word)
{
	return (int8_t)(word & 0xff);
}

static inline uint64_t marker_lost_count(uint64_t word)
{
	return word & MARKER_LOST_MAX;
}

static inline uint64_t marker_wide_offset(uint64_t word)
{
	return (uint64_t)marker_code(word) << 20;
}

static inline uint32_t marker_wide_dest(uint64_t word)
{
	return word & MARKER_DEST_MAX;
}

static inline enum marker_kind marker_kind(uint64_t word)
{
	return (enum marker_kind)(word >> MARKER_KIND_SHIFT & MARKER_KIND_MASK);
}

static inline uint64_t marker_payload(uint64_t word)
{
	return word & MARKER_PAYLOAD_MAX;
}

static inline uint32_t marker_c_callee(uint64_t word)
{
	return word >> MARKER_CALLEE_SHIFT & MARKER_C_CODE_MAX;
}

static inline uint32_t marker_c_caller(uint64_t word)
{
	return word >> MARKER_CALLER_SHIFT & MARKER_C_CODE_MAX;
}

static inline uint32_t marker_c_offset(uint64_t word)
{
	return word & MARKER_C_OFFSET_MAX;
}

static inline bool marker_is_c_call(uint64_t word)
{
	return marker_op(word) == OP_EXTENSION && marker_kind(word) == KIND_C_CALL;
}

/* Of a C_CALL: the CALL that it is but for its callee. */
static inline uint64_t marker_c_call_event(uint64_t word)
{
	return marker_event(OP_CALL, 0, marker_c_caller(word), marker_c_offset(word), 0);
}

/* And back, without seq; 0: `word` is no CALL, or it and the callee do not fit into one. */
static inline uint64_t marker_c_call_of(uint64_t word, uint32_t callee)
{
	if (marker_op(word) != OP_CALL || !callee || callee > MARKER_C_CODE_MAX || !marker_code(word) ||
	    marker_code(word) > MARKER_C_CODE_MAX || marker_offset(word) > MARKER_C_OFFSET_MAX)
		return 0;
	return marker_c_call(0, callee, marker_code(word), marker_offset(word));
}

static inline uint32_t marker_number(uint64_t word)
{
	return word & MARKER_NUMBER_MAX;
}

static inline uint32_t marker_numbered_callee(uint64_t word)
{
	return marker_payload(word) >> MARKER_NUMBERED_CALLEE_SHIFT;
}

/* The 32 bits of a NUMBERED word in a trace, with the low 7 bits of any count; and back. */
static inline uint32_t marker_short_of(uint64_t seq, uint32_t number)
{
	return (uint32_t)seq << MARKER_SHORT_SEQ_SHIFT | MARKER_SHORT << MARKER_SHORT_SHIFT | number;
}

static inline uint32_t marker_short(uint64_t numbered)
{
	return marker_short_of(marker_seq(numbered), marker_number(numbered));
}

static inline bool marker_is_short(uint64_t word)
{
	return !(word >> 32) && (word >> MARKER_SHORT_SHIFT & MARKER_SHORT_MASK) == MARKER_SHORT && marker_number(word);
}

static inline uint64_t marker_of_short(uint64_t word)
{
	return marker_numbered(word >> MARKER_SHORT_SEQ_SHIFT, marker_number(word));
}

static inline bool marker_is_extension(uint64_t word)
{
	return marker_op(word) == OP_EXTENSION && marker_kind(word);
}

/* So many bits are fixed that it need not continue a sequence. */
static inline bool marker_is_cpu(uint64_t word)
{
	return marker_is_extension(word) && marker_kind(word) == KIND_CPU &&
	       !(marker_payload(word) & ~(MARKER_CPU_IN | MARKER_CPU_PREEMPTED | MARKER_CPU_LOST | MARKER_CPU_UNKNOWN));
}

static inline bool marker_is_numbered(uint64_t word)
{
	return marker_op(word) == OP_NUMBERED && marker_number(word) &&
	       !(word & ((1ull << MARKER_SEQ_SHIFT) - 1 - MARKER_NUMBER_MAX));
}

static inline bool marker_is_event(uint64_t word)
{
	return marker_op(word) >= OP_EVENT_FIRST && marker_op(word) <= OP_EVENT_LAST;
}

static inline bool marker_is_hello(uint64_t word)
{
	return marker_op(word) == OP_HELLO && marker_code(word) == MARKER_MAGIC;
}

static inline bool marker_is_frames(uint64_t word)
{
	return marker_op(word) == OP_FRAMES && marker_code(word) == MARKER_MAGIC && (word & 0xff) <= 1;
}

static inline bool marker_is_scratch(uint64_t word)
{
	return marker_op(word) == OP_SCRATCH && marker_code(word) == MARKER_MAGIC;
}

static inline bool marker_is_snapshot(uint64_t word)
{
	return marker_op(word) == OP_SNAPSHOT && marker_code(word) == MARKER_MAGIC && (word & 0xff) <= 1;
}
