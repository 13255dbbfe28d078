/* SPDX-License-Identifier: MIT */
/*
 * recover_thread.h - one thread of a recovery: its dispatches, its frames, and its samples.
 *
 * recover_take.c turns dispatches into instructions, recover_run.c finds their places in the innermost frame,
 * recover_thread.c passes samples on in order; recover.c applies markers to all of this.
 */
#pragma once

#include "code/dispatch.h"
#include "recover_common.h"
#include "recover_frames.h"

#define RECOVER_PROLOGUE 64 /* instructions kept from before a RESUME; compilers write two or three */

/* A dispatch. */
struct held {
	bool valid;
	uint8_t opcode;
	uint8_t before; /* the form that was dispatched first, if there was another; 0 */
	bool passed;	/* the instruction still has it */
	uint64_t time, cycles;
};

/* What came since a gap. */
enum gap {
	GAP_NONE, /* a marker with our place, or there was no gap */
	GAP_NOTHING,
	GAP_RESUME, /* nothing but a RESUME */
};

/* An opcode's base, and what else it may be (recover_quick.h): one number, since it is read for each dispatch. */
typedef uint16_t quick_opcode;

struct recover_thread {
	struct recover *r;
	int32_t pid, tid;
	const struct dispatch *dispatch; /* NULL: not recorded for this */
	struct recover_frames frames;
	struct held held;   /* the last instruction, not walked yet */
	struct held resume; /* a RESUME whose marker has not come yet */
	bool untraced;	    /* an untraced interpreter has not ended yet: what runs is its own */
	bool begun;	    /* a marker came: what ran before is not ours to report */
	bool again;	    /* the next dispatch is the held instruction once more */
	enum gap behind_gap;
	bool followed; /* an instruction ran just now that another may have followed */
	bool cleanup;  /* the next RETURN_VALUE is not of the program's frames */
	uint32_t nprologue;
	struct held prologue[RECOVER_PROLOGUE];
	struct undecided undecided;
	quick_opcode quick[256];
	struct sample like; /* what the instructions in recover_quick.c have in common */
};

/* NULL: no memory. recover_quick.h sets its table `quick` and what samples have in common. */
struct recover_thread *recover_thread_new(struct recover *r, int32_t pid, int32_t tid);

/* t may be NULL. */
void recover_thread_free(struct recover_thread *t);

/* --- samples: all return 0, -ENOMEM or what the feed returned --- */

/* A sample that is decided, after those that wait. */
int recover_emit_sample(struct recover_thread *t, const struct sample *s);

/* An event of the frame's code at one of its places. */
int recover_emit_at(struct recover_thread *t, const struct recover_frame *f, const struct held *h, unsigned op,
		    uint32_t place);

/* The frame's instruction, which is at its places; decides the steps before it if there is one place. */
int recover_record(struct recover_thread *t, struct recover_frame *f, const struct held *h);

/* Feeds what need not wait any more; all: and gives up the rest. */
int recover_flush(struct recover_thread *t, bool all);

/* --- instructions --- */

/* Moves the innermost frame on by the instruction. */
int recover_run(struct recover_thread *t, const struct held *h);

/* The frame's instruction, which is reported, leaves it by a return or yield: that is reported, too. */
int recover_leave(struct recover_thread *t, struct recover_frame *f, const struct held *h);

/* This opcode is dispatched next in the innermost frame, which shows whether the second of a pair ran there. */
int recover_second(struct recover_thread *t, uint8_t base);

/* It did not: an exception left the first. */
void recover_no_second(struct recover_thread *t, struct recover_frame *f);

/* An opcode was dispatched. */
int recover_take(struct recover_thread *t, const struct held *h);

/* Walks what is held: nothing later changes it. */
int recover_settle_held(struct recover_thread *t);

/* The same, and also a RESUME that no marker followed. */
int recover_settle(struct recover_thread *t);

/* A held instruction that may have got another form is not reported: what would show it is lost. */
void recover_drop_head(struct recover_thread *t);

/* A held POP_TOP is not reported: no marker will say whose it is. */
void recover_drop_pop_top(struct recover_thread *t);

/* Keeps what ran before a RESUME that is still to come. */
void recover_add_prologue(struct recover_thread *t, const struct held *h);

/* What is kept from before it belongs to unknown code. */
void recover_drop_prologue(struct recover_thread *t);
