/* SPDX-License-Identifier: MIT */
/*
 * emit_ptwrite.c - callbacks that end in PTWRITE, where those for rings read the time and store twice: of 32 bits, if
 * the word has a number.
 */
#include "emit_path.h"

static __attribute__((noinline, cold)) PyObject *put_unnumbered(const struct cursor *c, uint64_t head, uint64_t word)
{
	lane_put_unnumbered(c, head, word);
	return Py_None;
}

static inline PyObject *put_ptwrite(const struct cursor *c, uint64_t head, uint64_t word, PyObject *none)
{
	const struct numbered *slot = numbers_slot(c->numbers, word);

	if (unlikely(!numbers_knows(slot, word, lane_chunk(head))))
		return put_unnumbered(c, head, word);
	lane_put_number(c, head, slot->number);
	return none;
}

static inline PyObject *put_ptwrite_pair(const struct cursor *c, uint64_t head, uint64_t first, uint64_t second,
					 PyObject *none)
{
	lane_put_whole(c, head, first);
	return put_ptwrite(c, head + 1, second, none);
}

EMITTER(plain_offset, EMIT_OFFSET, true, put_ptwrite)
EMITTER(plain_dest, EMIT_DEST, true, put_ptwrite)
EMITTER(plain_backward, EMIT_BACKWARD, true, put_ptwrite)
EMITTERS(emitters_ptwrite, plain_offset, plain_dest, plain_backward, plain_offset, put_ptwrite);
