/* SPDX-License-Identifier: MIT */
/*
 * recover_quick.h - many branches of a thread at once, with a fast path for the most common dispatches.
 *
 * The result is that of recover_branch() and recover_enter() called for each. For most dispatches the frame has one
 * place, and this opcode leads to one place behind it: checks for other cases are skipped there.
 */
#pragma once

#include "base/rows.h"
#include "recover_thread.h"

/* What an opcode may be; its base is in the byte below. */
enum quick_may {
	QUICK_NEW = 0x100,     /* dispatched: it is held, whatever the frame */
	QUICK_HELD = 0x200,    /* held: one instruction that leaves no frame */
	QUICK_TWICE = 0x400,   /* dispatched again as another form of itself */
	QUICK_LEAVES = 0x800,  /* held: one instruction that leaves its frame */
	QUICK_RESUME = 0x1000, /* dispatched: where a frame begins or continues */
};

void recover_quick_init(struct recover_thread *t);

/*
 * From *from up to a word, at which it is then, or to the end. The thread has handlers. 0, -ENOMEM, or what the feed
 * returned.
 */
int recover_rows(struct recover_thread *t, const struct rows *rows, const struct row **from);
