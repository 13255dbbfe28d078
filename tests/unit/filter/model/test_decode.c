/* SPDX-License-Identifier: MIT */
/*
 * test_decode.c - words in, samples out, both as rows of a table. Samples are written as
 * OP[:CODE[@OFFSET[>TARGET]]][xCOUNT], of a call of a C function CALL:CODE@OFFSET=CALLEE, and of an extension
 * EXTENSIONKIND[xPAYLOAD].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/decode.h"
#include "model/word_stream.h"
#include "shared/marker.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Codes 1 and 2 are in the table; 2 is 10 code units long. */
#define CODES 2
#define UNITS 10

#define HELLO(seq, interpreter) ((uint64_t)1 << 59 | (uint64_t)(seq) << 52 | 0x4f434cull << 28 | (interpreter) << 8 | 1)
#define EVENT(op, seq, code, offset, arg) \
	((uint64_t)(op) << 59 | (uint64_t)(seq) << 52 | (uint64_t)(code) << 28 | (uint64_t)(offset) << 8 | \
	 (uint8_t)(arg))
#define START(seq)	       EVENT(4, seq, 1, 0, 0)
#define RETURN(seq)	       EVENT(6, seq, 1, 8, 0)
#define JUMP(seq, at, far)     EVENT(15, seq, 1, at, far)
#define LOST(seq, count)       ((uint64_t)2 << 59 | (uint64_t)(seq) << 52 | (count))
#define SNAPSHOT(seq, n, end)  EVENT(23, seq, 0x4f434c, n, end)
#define FRAMES(seq, n, traced) EVENT(28, seq, 0x4f434c, n, traced)
#define WIDE(seq, high, dest)  ((uint64_t)3 << 59 | (uint64_t)(seq) << 52 | (uint64_t)(high) << 28 | (dest))
#define SCRATCH(seq, offset)   EVENT(31, seq, 0x4f434c, offset, 0)
#define HELLO2(seq)	       (HELLO(seq, 0) + 1)
#define EXTENSION(seq, kind, payload) \
	((uint64_t)29 << 59 | (uint64_t)(seq) << 52 | (uint64_t)(kind) << 48 | (uint64_t)(payload))
#define CPU(seq, in, n)	  EXTENSION(seq, 5, (uint64_t)(in) << 47 | (n))
#define NUMBER(seq, n)	  EXTENSION(seq, 1, n)
#define CALLEE(seq, code) EXTENSION(seq, 3, code)
#define OBJECT(seq, at)	  EXTENSION(seq, 2, at)
#define C_CALL(seq, callee, caller, at) \
	EXTENSION(seq, 9, (uint64_t)(callee) << 31 | (uint64_t)(caller) << 14 | (uint64_t)(at))
#define NUMBERED(seq, n) ((uint64_t)30 << 59 | (uint64_t)(seq) << 52 | (n))
#define SHORT(seq, n)	 ((uint64_t)(seq) << 25 | 0x16 << 20 | (n)) /* a payload of 32 bits */
#define OTHER(n)	 (0x123450000ull + (n))			    /* op 0: not ours */
#define TOLD		 UINT64_MAX				    /* not a word: the front end tells of a gap */

/* clang-format off */
static const struct {
	const char *name;
	uint64_t words[12];
	const char *samples;
	uint64_t received, missing;
} rows[] = {
	{ "in sequence", { HELLO(0, 0), START(1), RETURN(2) }, "PY_START:1@0 PY_RETURN:1@16", 3, 0 },
	{ "no hello, code known", { START(90), RETURN(91) }, "PY_START:1@0 PY_RETURN:1@16", 2, 0 },
	{ "near jumps", { HELLO(0, 0), JUMP(1, 200, -127), JUMP(2, 200, 127), JUMP(3, 0, 0) },
	  "JUMP:1@400>146 JUMP:1@400>654 JUMP:1@0>0", 4, 0 },
	{ "a branch has a target, a call has none",
	  { HELLO(0, 0), EVENT(16, 1, 1, 10, -3), EVENT(17, 2, 1, 10, 3), EVENT(18, 3, 1, 10, 1),
	    EVENT(10, 4, 1, 10, 5) },
	  "BRANCH:1@20>14 BRANCH_LEFT:1@20>26 BRANCH_RIGHT:1@20>22 CALL:1@20", 5, 0 },
	{ "a line is a line", { HELLO(0, 0), EVENT(13, 1, 1, 4711, 0) }, "LINE:1@4711", 2, 0 },
	{ "far jump", { HELLO(0, 0), WIDE(1, 0, 12), JUMP(2, 5000, 0) }, "JUMP:1@10000>24", 3, 0 },
	{ "far offset and destination", { HELLO(0, 0), WIDE(1, 3, 0x300010), JUMP(2, 5, 0) },
	  "JUMP:1@6291466>6291488", 3, 0 },
	{ "line beyond 2^20", { HELLO(0, 0), WIDE(1, 1, 0), EVENT(13, 2, 1, 7, 0) },
	  "LINE:1@1048583", 3, 0 },
	{ "a prefix serves one word", { HELLO(0, 0), WIDE(1, 1, 9), JUMP(2, 5, 0), JUMP(3, 5, -5) },
	  "JUMP:1@2097162>18 JUMP:1@10>0", 4, 0 },
	{ "sequence wraps", { HELLO(126, 0), START(127), RETURN(0), START(1) },
	  "PY_START:1@0 PY_RETURN:1@16 PY_START:1@0", 4, 0 },
	{ "gap", { HELLO(0, 0), START(1), START(5), RETURN(6) },
	  "PY_START:1@0 GAPx3 PY_START:1@0 PY_RETURN:1@16", 4, 3 },
	{ "gap over the wrap", { HELLO(0, 0), START(1), START(127), START(4), RETURN(5) },
	  "PY_START:1@0 GAPx125 PY_START:1@0 GAPx4 PY_START:1@0 PY_RETURN:1@16", 5, 129 },
	{ "gap before the last word", { HELLO(0, 0), START(1), RETURN(5) },
	  "PY_START:1@0 GAPx3 PY_RETURN:1@16", 3, 3 },
	{ "gap after gap", { HELLO(0, 0), START(1), START(5), START(9), RETURN(10) },
	  "PY_START:1@0 GAPx3 PY_START:1@0 GAPx3 PY_START:1@0 PY_RETURN:1@16", 5, 6 },
	{ "gap takes the prefix along", { HELLO(0, 0), WIDE(1, 0, 12), JUMP(4, 20, -2), START(5) },
	  "GAPx2 JUMP:1@40>36 PY_START:1@0", 4, 2 },
	{ "lost words, counted", { HELLO(0, 0), START(1), LOST(2, 5), RETURN(8) },
	  "PY_START:1@0 GAPx5 PY_RETURN:1@16", 4, 5 },
	{ "many lost words", { HELLO(0, 0), LOST(1, 1000003), RETURN((2 + 1000003) & 127) },
	  "GAPx1000003 PY_RETURN:1@16", 3, 1000003 },
	{ "foreign word", { HELLO(0, 0), START(1), OTHER(1), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "foreign words before the first of ours", { OTHER(1), OTHER(2), HELLO(0, 0), START(1) },
	  "FOREIGNx1 FOREIGNx1 PY_START:1@0", 2, 0 },
	{ "foreign word that looks like ours", { HELLO(0, 0), START(1), START(77), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "foreign word after a prefix", { HELLO(0, 0), WIDE(1, 0, 12), OTHER(1), JUMP(2, 20, 0) },
	  "FOREIGNx1 JUMP:1@40>24", 3, 0 },
	{ "ops that do not exist, in sequence",
	  { HELLO(0, 0), EVENT(0, 1, 1, 0, 0), EVENT(23, 1, 1, 0, 0), EVENT(31, 1, 1, 0, 0), START(1) },
	  "FOREIGNx1 FOREIGNx1 FOREIGNx1 PY_START:1@0", 2, 0 },
	{ "calibration, before and between",
	  { SCRATCH(0, 7), SCRATCH(1, 8), HELLO(0, 0), START(1), SCRATCH(2, 9), RETURN(2) },
	  "PY_START:1@0 PY_RETURN:1@16", 3, 0 },
	{ "code 0", { HELLO(0, 0), EVENT(4, 1, 0, 0, 0), START(1) }, "FOREIGNx1 PY_START:1@0", 2, 0 },
	{ "hello of somebody else", { (uint64_t)1 << 59 | 0x4f434dull << 28 | 1, HELLO(0, 0), START(1) },
	  "FOREIGNx1 PY_START:1@0", 2, 0 },
	{ "code unknown, in sequence", { HELLO(0, 0), EVENT(4, 1, 99, 0, 0) }, "PY_START:99@0", 2, 0 },
	{ "code unknown, out of sequence",
	  { HELLO(0, 0), START(1), EVENT(4, 9, 99, 0, 0), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "offset beyond the code, out of sequence",
	  { HELLO(0, 0), START(1), EVENT(10, 9, 2, UNITS, 0), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "offset at the end of the code, after a gap",
	  { HELLO(0, 0), START(1), EVENT(10, 9, 2, UNITS - 1, 0), RETURN(10) },
	  "PY_START:1@0 GAPx7 CALL:2@18 PY_RETURN:1@16", 4, 7 },
	{ "the front end tells of a gap", { HELLO(0, 0), START(1), TOLD, RETURN(5) },
	  "PY_START:1@0 GAPx3 PY_RETURN:1@16", 3, 3 },
	{ "a told gap of a multiple of 128", { HELLO(0, 0), START(1), TOLD, RETURN(2) },
	  "PY_START:1@0 GAPx1 PY_RETURN:1@16", 3, 1 },
	{ "a told gap ends the doubt about a word", { HELLO(0, 0), START(1), START(4), TOLD, RETURN(6) },
	  "PY_START:1@0 GAPx2 PY_START:1@0 GAPx1 PY_RETURN:1@16", 4, 3 },
	{ "segments: whatever the sequence was, it goes on from the word between them",
	  { HELLO(0, 0), START(1), SNAPSHOT(70, 1, 0), HELLO(71, 0), START(72), SNAPSHOT(73, 1, 1),
	    SNAPSHOT(9, 2, 0), HELLO(10, 0), RETURN(11), SNAPSHOT(12, 2, 1) },
	  "PY_START:1@0 SNAPSHOTx1 PY_START:1@0 SNAPSHOTx1 SNAPSHOTx2 PY_RETURN:1@16 SNAPSHOTx2", 10, 0 },
	{ "words missing inside a segment are missing",
	  { SNAPSHOT(70, 1, 0), HELLO(71, 0), START(75), RETURN(76), SNAPSHOT(77, 1, 1) },
	  "SNAPSHOTx1 GAPx3 PY_START:1@0 PY_RETURN:1@16 SNAPSHOTx1", 5, 3 },
	{ "begun again", { HELLO(0, 0), START(1), HELLO(0, 0), START(1) },
	  "PY_START:1@0 RESTARTx1 PY_START:1@0", 4, 0 },
	{ "frames are for recovery only",
	  { HELLO(0, 0), START(1), HELLO(2, 1), FRAMES(3, 9, 1), START(4), FRAMES(5, 9, 2), FRAMES(5, 1, 0),
	    RETURN(6) },
	  "PY_START:1@0 PY_START:1@0 FOREIGNx1 PY_RETURN:1@16", 7, 0 },
	{ "frames behind a gap", { HELLO(0, 0), START(1), FRAMES(4, 9, 1), START(5) },
	  "PY_START:1@0 GAPx2 PY_START:1@0", 4, 2 },
	{ "what version 2 has is not of version 1",
	  { HELLO(0, 0), START(1), EXTENSION(2, 9, 1), NUMBERED(2, 1), SHORT(2, 1), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 FOREIGNx1 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "kinds that are not known are told by themselves",
	  { HELLO2(0), START(1), EXTENSION(2, 14, 0xffffffffffff), EXTENSION(3, 13, 0), RETURN(4) },
	  "PY_START:1@0 EXTENSION14x281474976710655 EXTENSION13 PY_RETURN:1@16", 5, 0 },
	{ "an object is of all resumptions, yields and throws up to the next one",
	  { HELLO2(0), OBJECT(1, 0xffffffffffff), EVENT(5, 2, 1, 20, 0), EVENT(7, 3, 1, 21, 0), START(4),
	    OBJECT(5, 7), EXTENSION(6, 13, 5), EVENT(9, 7, 1, 20, 0), RETURN(8), OBJECT(9, 0), EVENT(7, 10, 1, 21, 0) },
	  "PY_RESUME:1@40x281474976710655 PY_YIELD:1@42x281474976710655 PY_START:1@0 EXTENSION13x5 PY_THROW:1@40x7 "
	  "PY_RETURN:1@16 PY_YIELD:1@42", 11, 0 },
	{ "a lost object, and ones before a gap, a loss, a segment",
	  { HELLO2(0), EVENT(5, 2, 1, 20, 0), OBJECT(3, 7), EVENT(7, 6, 1, 20, 0), OBJECT(7, 7), LOST(8, 1),
	    EVENT(5, 10, 1, 20, 0), OBJECT(11, 7), SNAPSHOT(12, 1, 0), EVENT(7, 13, 1, 20, 0) },
	  "GAPx1 PY_RESUME:1@40 GAPx2 PY_YIELD:1@40 GAPx1 PY_RESUME:1@40 SNAPSHOTx1 PY_YIELD:1@40", 10, 4 },
	{ "there is no kind 0", { HELLO2(0), START(1), EXTENSION(2, 0, 7), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "a lost extension is missing", { HELLO2(0), EXTENSION(1, 4, 5), EXTENSION(3, 4, 6), RETURN(4) },
	  "EXTENSION4x5 GAPx1 EXTENSION4x6 PY_RETURN:1@16", 4, 1 },
	{ "an extension out of sequence is somebody else's", { HELLO2(0), START(1), EXTENSION(70, 4, 5), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "an extension between a prefix and its event",
	  { HELLO2(0), WIDE(1, 0, 12), EXTENSION(2, 4, 5), JUMP(3, 20, 0) },
	  "EXTENSION4x5 JUMP:1@40>24", 4, 0 },
	{ "calls of C functions, in one word and in two",
	  { HELLO2(0), C_CALL(1, 2, 1, 0x3fff), EVENT(11, 2, 1, 0x3fff, 0), CALLEE(3, 2), EVENT(10, 4, 1, 20, 0),
	    EVENT(10, 5, 1, 20, 0) },
	  "CALL:1@32766=2 C_RETURN:1@32766 CALL:1@40=2 CALL:1@40", 6, 0 },
	{ "the largest codes of one word", { HELLO2(0), C_CALL(1, 0x1ffff, 0x1fffe, 0) },
	  "CALL:131070@0=131071", 2, 0 },
	{ "a callee is of a call alone, and of the next event",
	  { HELLO2(0), CALLEE(1, 2), START(2), EVENT(10, 3, 1, 20, 0), CALLEE(4, 2), WIDE(5, 1, 0),
	    EVENT(10, 6, 1, 20, 0) },
	  "PY_START:1@0 CALL:1@40 CALL:1@2097192=2", 7, 0 },
	{ "a lost callee, and one before a gap",
	  { HELLO2(0), EVENT(10, 2, 1, 20, 0), CALLEE(3, 2), EVENT(10, 6, 1, 20, 0), RETURN(7) },
	  "GAPx1 CALL:1@40 GAPx2 CALL:1@40 PY_RETURN:1@16", 5, 3 },
	{ "a call between no codes is told by itself", { HELLO2(0), C_CALL(1, 0, 1, 3), C_CALL(2, 1, 0, 3) },
	  "EXTENSION9x16387 EXTENSION9x2147483651", 3, 0 },
	{ "an event word by its number, as 32 bits and as 64",
	  { HELLO2(0), NUMBER(1, 5), JUMP(2, 20, -2), SHORT(3, 5), NUMBERED(4, 5), NUMBER(5, 0xfffff),
	    START(6), SHORT(7, 0xfffff), SHORT(8, 5) },
	  "JUMP:1@40>36 JUMP:1@40>36 JUMP:1@40>36 PY_START:1@0 PY_START:1@0 JUMP:1@40>36", 9, 0 },
	{ "the call of a C function by its number, which had the callee",
	  { HELLO2(0), NUMBER(1, 2 << 20 | 5), EVENT(10, 2, 1, 20, 0), SHORT(3, 5), NUMBERED(4, 5),
	    EVENT(10, 5, 1, 20, 0), NUMBER(6, 6), EVENT(10, 7, 1, 20, 0), SHORT(8, 6), SHORT(9, 5) },
	  "CALL:1@40=2 CALL:1@40=2 CALL:1@40=2 CALL:1@40 CALL:1@40 CALL:1@40 CALL:1@40=2", 10, 0 },
	{ "the largest codes with a number, and ones for which there is no room in it",
	  { HELLO2(0), NUMBER(1, 0x1ffffull << 20 | 5), EVENT(10, 2, 0x1fffe, 0x3fff, 0), SHORT(3, 5),
	    NUMBER(4, 0x20000ull << 20 | 6), EVENT(10, 5, 1, 20, 0), SHORT(6, 6), NUMBER(7, 2ull << 20 | 7),
	    EVENT(10, 8, 1, 0x4000, 0), SHORT(9, 7) },
	  "CALL:131070@32766=131071 CALL:131070@32766=131071 "
	  "CALL:1@40=131072 CALL:1@40 CALL:1@32768=2 CALL:1@32768", 10, 0 },
	{ "a callee of a number is of that call alone, and of calls alone",
	  { HELLO2(0), NUMBER(1, 2 << 20 | 5), START(2), SHORT(3, 5), NUMBER(4, 2 << 20 | 6), WIDE(5, 1, 0),
	    EVENT(10, 6, 1, 20, 0), SHORT(7, 6) },
	  "PY_START:1@0 PY_START:1@0 CALL:1@2097192=2 GAPx1", 7, 1 },
	{ "a callee before a number is no part of it",
	  { HELLO2(0), CALLEE(1, 2), NUMBER(2, 5), EVENT(10, 3, 1, 20, 0), SHORT(4, 5), CALLEE(5, 3), SHORT(6, 5) },
	  "CALL:1@40=2 CALL:1@40 CALL:1@40=3", 7, 0 },
	{ "a number that was told once more",
	  { HELLO2(0), NUMBER(1, 5), START(2), NUMBER(3, 5), START(4), SHORT(5, 5) },
	  "PY_START:1@0 PY_START:1@0 PY_START:1@0", 6, 0 },
	{ "numbered words are missing where words are", { HELLO2(0), NUMBER(1, 5), START(2), SHORT(6, 5), SHORT(7, 5) },
	  "PY_START:1@0 GAPx3 PY_START:1@0 PY_START:1@0", 5, 3 },
	{ "a number whose word was lost is as good as lost",
	  { HELLO2(0), START(1), SHORT(2, 5), RETURN(3), SHORT(6, 5), RETURN(7) },
	  "PY_START:1@0 GAPx1 PY_RETURN:1@16 GAPx2 GAPx1 PY_RETURN:1@16", 4, 4 },
	{ "a gap takes a number along", { HELLO2(0), NUMBER(1, 5), START(4), SHORT(5, 5), RETURN(6) },
	  "GAPx2 PY_START:1@0 GAPx1 PY_RETURN:1@16", 4, 3 },
	{ "far words have no number", { HELLO2(0), NUMBER(1, 5), WIDE(2, 0, 12), JUMP(3, 20, 0), SHORT(4, 5) },
	  "JUMP:1@40>24 GAPx1", 4, 1 },
	{ "32 bits of somebody else",
	  { HELLO2(0), START(1), (uint64_t)2 << 25 | 5, SHORT(2, 0), SHORT(70, 5), RETURN(2) },
	  "PY_START:1@0 FOREIGNx1 FOREIGNx1 FOREIGNx1 PY_RETURN:1@16", 3, 0 },
	{ "32 bits before the first of ours", { SHORT(2, 5), HELLO2(0), START(1) }, "FOREIGNx1 PY_START:1@0", 2, 0 },
	{ "numbers go on behind a segment's end and another interpreter",
	  { HELLO2(0), NUMBER(1, 5), START(2), SNAPSHOT(70, 1, 0), HELLO2(71), SHORT(72, 5), HELLO2(73) | 1 << 8,
	    SHORT(74, 5) },
	  "PY_START:1@0 SNAPSHOTx1 PY_START:1@0 PY_START:1@0", 8, 0 },
	{ "numbers end where the thread begins again",
	  { HELLO2(0), NUMBER(1, 5), START(2), HELLO2(0), SHORT(1, 5), RETURN(2) },
	  "PY_START:1@0 RESTARTx1 GAPx1 PY_RETURN:1@16", 5, 1 },
	{ "nothing but a hello", { HELLO(0, 0) }, "", 1, 0 },
};
/* clang-format on */

static void write_sample(FILE *f, const struct sample *s)
{
	fprintf(f, "%s%s", ftell(f) ? " " : "", sample_op_name(s->op));
	if (s->op == OP_EXTENSION)
		fprintf(f, "%u", s->kind);
	if (s->code)
		fprintf(f, ":%u@%" PRId64, s->code->id, s->offset);
	if (s->target != SAMPLE_NOWHERE)
		fprintf(f, ">%" PRId64, s->target);
	if (s->op == OP_CALL && s->callee)
		fprintf(f, "=%u", s->callee->id);
	else if (s->count)
		fprintf(f, "x%" PRIu64, s->count);
}

static int take(void *to, const struct sample *s)
{
	write_sample(to, s);
	return 0;
}

static void make_codes(struct codes *codes, int32_t pid)
{
	struct process *p;

	assert_int_equal(codes_init(codes, NULL), 0);
	p = codes_process(codes, pid);
	codes_intern(p, "a.py", "f", 1);
	codes_intern(p, "a.py", "g", 9)->units = UNITS;
}

/* Takes calls, returns and branches without a sample, but no jumps. */
static int take_event(void *to, const struct code_event *e, const struct words_ahead *w)
{
	bool branch = e->op >= OP_BRANCH && e->op <= OP_BRANCH_RIGHT;
	struct sample s = { .op = e->op, .code = e->code, .offset = word_offset(e), .callee = e->callee };

	(void)w;
	s.target = branch ? word_target(e) : SAMPLE_NOWHERE;
	return branch || e->op == OP_PY_START || e->op == OP_PY_RETURN || e->op == OP_CALL ? take(to, &s) : 1;
}

/* A WIDE word with the JUMP behind it, as two words without samples of their own. */
static int take_other(void *to, const struct word_stream *l, const struct word_part *p, size_t at, uint64_t bits)
{
	uint64_t jump = at + 1 < p->end ? p->w->bits[at + 1] : 0;
	struct code_event e = word_event(codes_own(l->process, marker_code(jump)), jump);
	struct sample s = { .op = OP_JUMP, .code = e.code };

	if (marker_op(bits) != OP_WIDE || e.op != OP_JUMP || !e.code ||
	    marker_seq(jump) != ((marker_seq(bits) + 1) & MARKER_SEQ_MASK))
		return 0;
	s.offset = (marker_offset(jump) | marker_wide_offset(bits)) * 2;
	s.target = (int64_t)marker_wide_dest(bits) * 2;
	take(to, &s);
	return 2;
}

static bool is_quick(void *to, int32_t pid, int32_t tid, uint32_t interpreter)
{
	(void)to;
	return pid == 7 && tid == 8 && !interpreter;
}

static int take_events(void *to, struct word_stream *l, struct word_part *p)
{
	return word_stream_events(l, p, to, take_event, take_other, false);
}

static const struct quick_feed quick = { .is = is_quick, .events = take_events };

static void feed_one_by_one(struct decoder *d, const uint64_t *words, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		struct word w = { .pid = 7, .tid = 8, .bits = words[k] };

		assert_int_equal(w.bits == TOLD ? decode_gap(d, 7, 8) : decode_word(d, &w), 0);
	}
}

static void feed_in_runs(struct decoder *d, const uint64_t *words, size_t n)
{
	static struct words all;
	size_t from = 0;

	memcpy(all.bits, words, n * sizeof(*words));
	for (size_t k = 0; k <= n; k++) {
		struct word_run run = { 7, 8, k - from, RUN_WORDS };

		if (k < n && words[k] != TOLD)
			continue;
		assert_int_equal(decode_words(d, &run, &all, from, 0), 0);
		if (k < n)
			assert_int_equal(decode_gap(d, 7, 8), 0);
		from = k + 1;
	}
}

/* Words come one by one, or in runs, whose events need not become samples: nothing else may come of them. */
static void run_row(size_t i, bool in_runs)
{
	struct codes codes;
	struct decoder d;
	char text[512] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct process *p;
	size_t n = 0;

	make_codes(&codes, 7);
	p = codes_process(&codes, 7);
	decode_init(&d, &codes, take, in_runs ? &quick : NULL, f);
	while (n < COUNT(rows[i].words) && rows[i].words[n])
		n++;
	(in_runs ? feed_in_runs : feed_one_by_one)(&d, rows[i].words, n);
	assert_int_equal(decode_finish(&d), 0);
	fclose(f);
	if (strcmp(text, rows[i].samples))
		fail_msg("%s: got '%s', want '%s'", rows[i].name, text, rows[i].samples);
	if (p->received != rows[i].received || p->missing != rows[i].missing)
		fail_msg("%s: received %" PRIu64 ", missing %" PRIu64, rows[i].name, p->received, p->missing);
	decode_free(&d);
	codes_free(&codes);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned in_runs = 0; in_runs < 2; in_runs++)
			run_row(i, in_runs);
}

/* What a marker says goes into its sample whole, with its own time, though it was held for a while.
 */
static int check_sample(void *to, const struct sample *s)
{
	unsigned *n = to;

	assert_int_equal(s->pid, 7);
	assert_int_equal(s->tid, 8);
	assert_int_equal(s->interpreter, *n < 2 ? 0 : 3);
	if (s->op != SAMPLE_GAP) {
		assert_int_equal(s->time, (uint64_t)s->offset / 2 * 1000);
		assert_int_equal(s->cycles, (uint64_t)s->offset / 2 * 2600);
	}
	++*n;
	return 0;
}

static void test_samples_are_complete(void **state)
{
	static const uint64_t words[] = { HELLO(0, 0),		EVENT(10, 1, 1, 1, 0), EVENT(10, 2, 1, 2, 0),
					  HELLO(3, 3),		EVENT(10, 4, 1, 4, 0), EVENT(10, 7, 1, 5, 0),
					  EVENT(10, 8, 1, 6, 0) };
	struct codes codes;
	struct decoder d;
	unsigned n = 0;

	(void)state;
	make_codes(&codes, 7);
	decode_init(&d, &codes, check_sample, NULL, &n);
	for (size_t i = 0; i < COUNT(words); i++) {
		struct word w = { 7, 8, i * 1000, i * 2600, words[i] };

		assert_int_equal(decode_word(&d, &w), 0);
	}
	assert_int_equal(n, 6); /* 5 calls and the gap */
	assert_int_equal(d.words, COUNT(words));
	decode_free(&d);
	codes_free(&codes);
}

/* Each thread has its own sequence, however they interleave; so has the same tid in another
 * process. */
static void test_threads_do_not_mix(void **state)
{
	static const struct {
		int32_t pid, tid;
	} threads[] = { { 7, 7 }, { 7, 8 }, { 9, 8 }, { -1, -1 } };
	struct codes codes;
	struct decoder d;
	char text[4096] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	make_codes(&codes, 7);
	decode_init(&d, &codes, take, NULL, f);
	for (unsigned seq = 0; seq < 4; seq++)
		for (size_t t = 0; t < COUNT(threads); t++) {
			unsigned own = seq + 30 * t;
			struct word w = { threads[t].pid, threads[t].tid, 0, 0, seq ? START(own) : HELLO(own, 0) };

			assert_int_equal(decode_word(&d, &w), 0);
		}
	assert_int_equal(decode_finish(&d), 0);
	fclose(f);
	assert_null(strstr(text, "GAP"));
	assert_null(strstr(text, "FOREIGN"));
	assert_int_equal(strlen(text), 12 * strlen("PY_START:1@0 ") - 1);
	decode_free(&d);
	codes_free(&codes);
}

static void test_newer_version_is_refused(void **state)
{
	struct word w = { 7, 8, 0, 0, HELLO2(0) + 1 };
	struct codes codes;
	struct decoder d;

	(void)state;
	make_codes(&codes, 7);
	decode_init(&d, &codes, take, NULL, NULL);
	assert_int_equal(decode_word(&d, &w), -EPROTO);
	assert_non_null(strstr(d.error, "version 3"));
	decode_free(&d);
	codes_free(&codes);
}

/* A trace that begins in the middle: the version is the code table's. CPU words and C calls may be the first. */
static const struct {
	unsigned version;
	uint64_t words[9];
	const char *samples;
} beginnings[] = {
	{ 1,
	  { EXTENSION(1, 4, 9), EXTENSION(2, 5, 1 << 16), CPU(4, 0, 2), START(5), EXTENSION(6, 4, 9), NUMBER(7, 5),
	    START(8), SHORT(9, 5) },
	  "FOREIGNx1 FOREIGNx1 FOREIGNx1 PY_START:1@0 FOREIGNx1 FOREIGNx1 GAPx2 PY_START:1@0 FOREIGNx1" },
	{ 2,
	  { EXTENSION(1, 4, 9), EXTENSION(2, 5, 1 << 16), CPU(4, 0, 2), START(5), EXTENSION(6, 4, 9), NUMBER(7, 5),
	    START(8), SHORT(9, 5) },
	  "FOREIGNx1 FOREIGNx1 EXTENSION5x2 PY_START:1@0 EXTENSION4x9 PY_START:1@0 PY_START:1@0" },
	{ 2, { C_CALL(9, 2, 1, 0), RETURN(10) }, "CALL:1@0=2 PY_RETURN:1@16" },
	{ 2, { C_CALL(9, 3, 1, 0), C_CALL(9, 1, 2, UNITS), RETURN(10) }, "FOREIGNx1 FOREIGNx1 PY_RETURN:1@16" },
	{ 1, { C_CALL(9, 2, 1, 0), RETURN(10) }, "FOREIGNx1 PY_RETURN:1@16" },
};

static void test_no_hello(void **state)
{
	(void)state;
	for (size_t row = 0; row < COUNT(beginnings); row++) {
		char text[512] = "";
		FILE *f = fmemopen(text, sizeof(text), "w");
		struct codes codes;
		struct decoder d;

		make_codes(&codes, 7);
		codes_process(&codes, 7)->markers = beginnings[row].version;
		decode_init(&d, &codes, take, NULL, f);
		for (const uint64_t *w = beginnings[row].words; *w; w++)
			assert_int_equal(decode_word(&d, &(struct word){ .pid = 7, .tid = 8, .bits = *w }), 0);
		assert_int_equal(decode_finish(&d), 0);
		fclose(f);
		assert_string_equal(text, beginnings[row].samples);
		decode_free(&d);
		codes_free(&codes);
	}
}

static int refuse(void *to, const struct sample *s)
{
	(void)to;
	(void)s;
	return -ENOSPC;
}

static void test_what_feed_returns_comes_back(void **state)
{
	struct word hello = { 7, 8, 0, 0, HELLO(0, 0) }, start = { 7, 8, 0, 0, START(1) };
	struct codes codes;
	struct decoder d;

	(void)state;
	make_codes(&codes, 7);
	decode_init(&d, &codes, refuse, NULL, NULL);
	assert_int_equal(decode_word(&d, &hello), 0);
	assert_int_equal(decode_word(&d, &start), -ENOSPC);
	decode_free(&d);
	codes_free(&codes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_samples_are_complete),
		cmocka_unit_test(test_threads_do_not_mix),
		cmocka_unit_test(test_newer_version_is_refused),
		cmocka_unit_test(test_no_hello),
		cmocka_unit_test(test_what_feed_returns_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
