/* SPDX-License-Identifier: MIT */
/*
 * recover_quick.h - the commonest dispatches, one after another: the frame is at one place, and the next is the
 * only one behind it by this opcode.
 *
 * What recover_take() does with them, without asking for anything that cannot be there. It is inline, as it is
 * run for each opcode of a trace, and what changes is held in registers from dispatch to dispatch.
 */
#ifndef OCULAR_RECOVER_QUICK_H
#define OCULAR_RECOVER_QUICK_H

#include "recover_thread.h"

/* What an opcode may be here. */
enum quick_may {
	QUICK_NEW = 1,	 /* dispatched: it is held, whatever the frame is */
	QUICK_HELD = 2,	 /* held: one instruction that leaves no frame */
	QUICK_TWICE = 4, /* dispatched again as another form of itself */
};

/* A thread where that may go on; its frame is NULL: not now. */
struct quick {
	struct recover_thread *thread;
	struct recover_frame *frame;
	const struct walk_node *nodes, *node; /* of the frame's code, and its place there */
	const struct quick_opcode *held;      /* that thread->held is */
	uint64_t told;
};

void recover_quick_init(struct recover_thread *t);

/* Is there one place where the frame is, and no doubt of any other frame's? */
static inline bool recover_is_sure(const struct recover_thread *t, const struct recover_frame *f)
{
	return f && f->n == 1 && !f->follows && !f->arrives && f->side == SIDE_BOTH && !doubt_waits(&t->doubt);
}

static inline struct quick quick_begin(struct recover_thread *t)
{
	struct recover_frame *f = recover_frames_top(&t->frames);
	struct quick q = { .thread = t };

	if (t->again | t->cleanup | t->resume.valid | !t->held.valid || !recover_is_sure(t, f))
		return q;
	q.frame = f;
	q.nodes = f->walk->nodes;
	q.node = &q.nodes[f->at[0].place];
	q.held = &t->quick[t->held.opcode];
	return q;
}

static inline void quick_end(const struct quick *q)
{
	struct recover_counts *counts = &q->thread->r->counts;

	if (!q->frame)
		return;
	q->frame->at[0].place = q->node - q->nodes;
	counts->dispatched += q->told;
	counts->placed += q->told;
}

/* Where the held instruction is, if `next` is not the same once more. NULL: neither is sure. */
static inline const struct walk_node *quick_place(const struct quick *q, const struct quick_opcode *next)
{
	const struct walk_node *to;
	uint32_t place;

	if (!(next->may & QUICK_NEW) || !(q->held->may & QUICK_HELD))
		return NULL;
	place = walk_to(q->node, q->held->base);
	if (place == WALK_NOWHERE)
		return NULL;
	to = &q->nodes[place];
	if (next->base == q->held->base && next->may & QUICK_TWICE &&
	    (q->thread->r->compressed || walk_to(to, next->base) == WALK_NOWHERE))
		return NULL;
	return to;
}

static inline int quick_tell(struct quick *q)
{
	const struct recover_thread *t = q->thread;
	struct recover *r = t->r;

	*r->room = (struct sample){ .op = OP_INSTRUCTION,
				    .opcode = t->held.opcode,
				    .before = t->held.before,
				    .passed = t->held.passed,
				    .pid = t->pid,
				    .tid = t->tid,
				    .interpreter = t->interpreter,
				    .time = t->held.time,
				    .cycles = t->held.cycles,
				    .code = q->frame->code,
				    .offset = q->node->offset,
				    .target = SAMPLE_NOWHERE };
	q->told++;
	return r->made(r->to, r->room);
}

/* Field by field: copied as a whole it would be read back before it is written. */
static inline void quick_hold(struct recover_thread *t, const struct held *h)
{
	t->held.valid = true;
	t->held.opcode = h->opcode;
	t->held.before = 0;
	t->held.passed = false;
	t->held.time = h->time;
	t->held.cycles = h->cycles;
}

/* The first behind what told the frame's place: there is nothing to tell yet. False: nothing was done. */
static inline bool quick_begins(struct recover_thread *t, const struct held *h)
{
	if (t->held.valid | t->again | t->cleanup | t->resume.valid || !(t->quick[h->opcode].may & QUICK_NEW) ||
	    !recover_is_sure(t, recover_frames_top(&t->frames)))
		return false;
	quick_hold(t, h);
	return true;
}

/* An opcode was dispatched. 0, -ENOMEM, or what the feed returned. */
static inline int quick_take(struct quick *q, const struct held *h)
{
	struct recover_thread *t = q->thread;
	const struct quick_opcode *next = &t->quick[h->opcode];
	const struct walk_node *to = q->frame ? quick_place(q, next) : NULL;
	int err;

	if (!to) {
		quick_end(q);
		err = quick_begins(t, h) ? 0 : recover_take(t, h);
		*q = quick_begin(t);
		return err;
	}
	q->node = to;
	err = quick_tell(q);
	q->held = next;
	quick_hold(t, h);
	return err;
}

/*
 * A branch to `address`: is it a dispatch, of h->opcode? Not if tracing begins there, as in recover_enter(). If what
 * is dispatched next is the held instruction once more, that is noted.
 */
static inline bool quick_hears(struct quick *q, uint64_t address, bool enters, struct held *h)
{
	switch (dispatch_at(q->thread->dispatch, address, &h->opcode)) {
	case DISPATCH_OP:
		return !enters;
	case DISPATCH_AGAIN:
		quick_end(q);
		q->frame = NULL;
		q->thread->again = true;
		return false;
	default:
		return false;
	}
}

#endif
