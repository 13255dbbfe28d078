/* SPDX-License-Identifier: MIT */
/*
 * marker.h - the 64-bit word that a PTWRITE packet carries. docs/marker.md tells it in prose.
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
 *   FRAMES code = MARKER_MAGIC, offset = frames that the interpreter has open in this thread; arg = 1: it
 *          is traced from here on, 0: it is not
 */
#ifndef OCULAR_MARKER_H
#define OCULAR_MARKER_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

#define MARKER_MAGIC   0x4f434cu /* "OCL" */
#define MARKER_VERSION 1u

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

/* Any word with these bits is a SCRATCH, whatever op it would be without. */
#define MARKER_SCRATCH ((uint64_t)OP_SCRATCH << MARKER_OP_SHIFT | (uint64_t)MARKER_MAGIC << MARKER_CODE_SHIFT)

/* The constant part of a thread's next word; seq may be any count, its low 7 bits are taken. */
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

#endif
