/* SPDX-License-Identifier: MIT */
/* walk.c - see walk.h. */
#include "walk.h"

#define PAGE	 4096u
#define INSN_MAX 15u /* bytes; SDM volume 2, 2.3.11 */

/*
 * QEMU 7.2 reports an instruction that crosses the end of the page to the plugin although it ends the block before it
 * and begins the next block with it. It has only the bytes of it that it had read by then.
 */
static bool was_rolled_back(const struct block *b, uint64_t next)
{
	return b->n > 1 && next == b->last && b->last % PAGE > PAGE - INSN_MAX;
}

static void report_cond(struct walk *w, const struct block *b, uint64_t next)
{
	core_cond(w->core, b->target == b->end ? w->carry : next == b->target);
	if (next == b->target || next == b->end)
		return;
	w->surprises++;
	core_interrupt(w->core, b->end);
}

/* Control must be at `expected` now. If not, there was a signal that guest.c did not see. */
static void expect(struct walk *w, uint64_t expected, uint64_t next)
{
	if (next == expected)
		return;
	w->surprises++;
	core_interrupt(w->core, expected);
}

static void report(struct walk *w, const struct block *b, uint64_t next)
{
	switch (b->kind) {
	case INSN_COND:
		report_cond(w, b, next);
		return;
	case INSN_CALL:
		if (b->target != b->end) /* a CALL to the next instruction only finds out where it is */
			core_call(w->core, b->end);
		/* fall through */
	case INSN_JUMP:
		expect(w, b->target, next);
		return;
	case INSN_CALL_IND:
		core_indirect(w->core, next);
		core_call(w->core, b->end);
		return;
	case INSN_JUMP_IND:
		core_indirect(w->core, next);
		return;
	case INSN_RET:
		core_return(w->core, next);
		return;
	case INSN_FAR:
		core_disable(w->core);
		return;
	case INSN_REPEAT:
		if (next != b->last)
			expect(w, b->end, next);
		return;
	case INSN_PTWRITE: /* its own handler takes care of it */
	case INSN_NEXT:
		expect(w, b->end, next);
	}
}

/* Counts the open block's instructions. NULL if there is none, or it ended before its last one. */
static const struct block *close_block(struct walk *w, uint64_t next)
{
	const struct block *b = w->open;
	bool short_of_last = b && was_rolled_back(b, next);
	uint64_t n = b && w->n ? w->n - short_of_last : 0; /* 0: it does not count (own.h) */

	w->open = NULL;
	w->instructions += n;
	core_run(w->core, n);
	return short_of_last ? NULL : b;
}

/* Where the open block went; `leaves`: the code there is not traced. */
static void go(struct walk *w, uint64_t next, bool leaves)
{
	const struct block *b = close_block(w, next);

	if (!w->core->enabled)
		return;
	if (leaves)
		core_disable_to(w->core, next);
	else if (b)
		report(w, b, next);
}

/* An element of a REP is not an instruction of its own. */
static uint64_t counted(const struct walk *w, const struct block *b)
{
	const struct block *o = w->open;
	bool again = o && o->kind == INSN_REPEAT && o->last == b->start && !was_rolled_back(o, b->start);

	return b->n - again;
}

/* A packet outside the filter would keep time from going back (own.h). */
static bool may_psb(const struct walk *w)
{
	return !w->core->set->tool.ngiven || w->core->enabled;
}

void walk_block(struct walk *w, const struct block *b)
{
	uint64_t n = counted(w, b);
	const struct block *last = w->open;

	if (w->open || (b->outside && w->core->enabled))
		go(w, b->start, b->outside);
	if (w->core->set->tool.ngiven)
		own_block(&w->own, w->core, last, b);
	if (!w->core->enabled && !b->outside)
		core_enable(w->core, b->start);
	if (core_wants_psb(w->core) && may_psb(w))
		core_psb(w->core, b->start);
	w->open = b;
	w->n = w->own.idle ? 0 : n;
}

void walk_syscall(struct walk *w)
{
	if (!w->open)
		return;
	close_block(w, 0);
	core_disable(w->core);
}

void walk_leave(struct walk *w, uint64_t next)
{
	if (w->open)
		go(w, next, true);
}

/* The tool's: the filter admits this one instruction of it. */
static enum walk_word emit_word(struct walk *w, uint64_t word, uint64_t ip, unsigned bytes)
{
	bool told;

	own_word(&w->own, w->core);
	core_enable(w->core, ip);
	told = core_ptwrite(w->core, word, ip, bytes);
	core_disable(w->core);
	return told ? WORD_TRACED : WORD_LOST;
}

enum walk_word walk_ptwrite(struct walk *w, uint64_t word, uint64_t ip, unsigned bytes)
{
	close_block(w, 0);
	if (!w->core->enabled && w->own.place == OWN_TOOL)
		return emit_word(w, word, ip, bytes);
	if (!w->core->enabled)
		return WORD_UNTRACED;
	return core_ptwrite(w->core, word, ip, bytes) ? WORD_TRACED : WORD_LOST;
}

/* Where the open block goes if nothing comes in between, as far as known. */
static bool may_go_to(const struct block *b, uint64_t ip)
{
	return ip == b->end || ip == b->target || b->kind == INSN_JUMP_IND || b->kind == INSN_CALL_IND ||
	       b->kind == INSN_RET;
}

/* An instruction in the middle of the open block did not complete: a fault. */
static void fault(struct walk *w, uint64_t ip)
{
	uint32_t n = block_before(w->open, ip);

	w->open = NULL;
	w->instructions += n;
	core_run(w->core, n);
}

void walk_signal(struct walk *w, uint64_t ip)
{
	if (w->open && block_before(w->open, ip) < w->open->n && !may_go_to(w->open, ip))
		fault(w, ip);
	else if (w->open)
		go(w, ip, false);
	if (w->core->enabled)
		core_interrupt(w->core, ip);
}
