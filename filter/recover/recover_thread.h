/* SPDX-License-Identifier: MIT */
/*
 * recover_thread.h - one thread of a recovery: what it dispatched, its frames, and the samples it tells.
 *
 * recover_take.c makes instructions of dispatches, recover_run.c finds their places in the innermost
 * frame, recover_thread.c sends samples on in their order; recover.c applies markers to all of it.
 */
#ifndef OCULAR_RECOVER_THREAD_H
#define OCULAR_RECOVER_THREAD_H

#include "code/dispatch.h"
#include "recover_common.h"
#include "recover_frames.h"

#define RECOVER_PROLOGUE 64 /* instructions kept that ran before a RESUME; compilers write two or three */

/* A dispatch. */
struct held {
	bool valid;
	uint8_t opcode;
	uint8_t before; /* the form that was dispatched first, if there was another; 0 */
	bool passed;	/* and is the instruction's still */
	uint64_t time, cycles;
};

/* What has come since a gap. */
enum gap {
	GAP_NONE, /* what tells where we are, or there was none */
	GAP_NOTHING,
	GAP_RESUME, /* nothing but a RESUME */
};

/* An opcode's base, and what it may be besides (recover_quick.h): one number, as it is read for each dispatch. */
typedef uint16_t quick_opcode;

struct recover_thread {
	struct recover *r;
	int32_t pid, tid;
	const struct dispatch *dispatch; /* NULL: not recorded for this */
	struct recover_frames frames;
	struct held held;   /* the last instruction, not walked yet */
	struct held resume; /* a RESUME whose marker has not come yet */
	bool untraced;	    /* an interpreter that is not traced any more has not ended: what runs is its own */
	bool begun;	    /* a marker came: what ran before is not ours to tell */
	bool again;	    /* the next dispatch is the held instruction once more */
	enum gap behind_gap;
	bool followed; /* it was just now that an instruction which another may have followed ran */
	bool cleanup;  /* the next RETURN_VALUE is of no frame of the program's */
	uint32_t nprologue;
	struct held prologue[RECOVER_PROLOGUE];
	struct undecided undecided;
	quick_opcode quick[256];
	struct sample like; /* of instructions in recover_quick.c: what they have in common */
};

/* NULL: no memory. Its table `quick` and what samples have in common is for recover_quick.h to say. */
struct recover_thread *recover_thread_new(struct recover *r, int32_t pid, int32_t tid);

/* t may be NULL. */
void recover_thread_free(struct recover_thread *t);

/* --- samples: all return 0, -ENOMEM or what the feed returned --- */

/* A sample that nothing is in doubt of, after those that wait. */
int recover_emit_sample(struct recover_thread *t, const struct sample *s);

/* An event of the frame's code at one of its places. */
int recover_emit_at(struct recover_thread *t, const struct recover_frame *f, const struct held *h, unsigned op,
		    uint32_t place);

/* The frame's instruction, which is at its places; settled if that is one. */
int recover_record(struct recover_thread *t, struct recover_frame *f, const struct held *h);

/* What need not wait any more; all: and the rest is given up. */
int recover_flush(struct recover_thread *t, bool all);

/* --- instructions --- */

/* Walks the innermost frame on by the instruction. */
int recover_run(struct recover_thread *t, const struct held *h);

/* The frame's instruction, which is told, leaves it by a return or yield: that is told, too. */
int recover_leave(struct recover_thread *t, struct recover_frame *f, const struct held *h);

/* This opcode is dispatched next in the innermost frame: that tells whether the second of a pair ran there. */
int recover_second(struct recover_thread *t, uint8_t base);

/* It did not: an exception left the first. */
void recover_no_second(struct recover_thread *t, struct recover_frame *f);

/* An opcode was dispatched. */
int recover_take(struct recover_thread *t, const struct held *h);

/* Walks what is held: nothing that follows changes it. */
int recover_settle_held(struct recover_thread *t);

/* The same, and a RESUME that no marker followed. */
int recover_settle(struct recover_thread *t);

/* A held instruction that may have got another form is not told: what would say so is lost. */
void recover_drop_head(struct recover_thread *t);

/* A held POP_TOP is not told: no marker will say whose it is. */
void recover_drop_pop_top(struct recover_thread *t);

/* Keeps what ran before a RESUME that is still to come. */
void recover_add_prologue(struct recover_thread *t, const struct held *h);

/* What is kept of it is of no known code. */
void recover_drop_prologue(struct recover_thread *t);

#endif
