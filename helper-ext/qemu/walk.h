/* SPDX-License-Identifier: MIT */
/*
 * walk.h - from one block to the next: what a processor would have recorded in between.
 *
 * What the last instruction of a block did is known when the next block begins; until then the block is open. A system
 * call, the end of an emulated PTWRITE or a signal may come in between.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "core.h"
#include "own.h"

struct walk {
	struct core *core;
	const struct block *open; /* ran, and its end is not reported yet */
	uint64_t n;		  /* instructions of it that count */
	uint64_t instructions;	  /* ran, in all */
	uint64_t surprises;	  /* how often control went somewhere unexpected */
	struct own own;		  /* if settings.tool is given */
	bool carry;		  /* when a block begins: the carry flag, if the open one is blind (below) */
};

/*
 * A conditional jump to the next instruction: where control went does not say whether it was taken. Emulated PTWRITE as
 * in perf's manual page of intel-pt is 64 of these: SHL, JC, of a register.
 */
static inline bool walk_is_blind(const struct walk *w)
{
	return w->open && w->open->kind == INSN_COND && w->open->target == w->open->end;
}

/* A block begins to run. */
void walk_block(struct walk *w, const struct block *b);

/* The open block ended in a system call. */
void walk_syscall(struct walk *w);

/* The open block's last instruction went to `next`, which is code of the emulator. */
void walk_leave(struct walk *w, uint64_t next);

/* The result of a PTWRITE: not traced, a packet, or lost. */
enum walk_word { WORD_UNTRACED, WORD_TRACED, WORD_LOST };

/* The open block ended in a PTWRITE at ip, which is done now. */
enum walk_word walk_ptwrite(struct walk *w, uint64_t word, uint64_t ip, unsigned bytes);

/* A signal came when the next instruction was the one at ip. */
void walk_signal(struct walk *w, uint64_t ip);
