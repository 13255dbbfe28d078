// SPDX-License-Identifier: MIT
/* An instruction's place follows that of the frame's last one, by the control flow in walk.h. */
#include "recover_thread.h"

/* Leaves by a return or yield; with its place if that is known. */
static int leave(struct recover_thread *t, struct recover_frame *f, const struct held *h, unsigned op)
{
	struct recover_frame left = *f;

	recover_frames_pop(&t->frames);
	if (!left.code)
		return 0;
	return recover_emit_at(t, &left, h, op, left.n == 1 ? left.at[0].place : WALK_NOWHERE);
}

int recover_leave(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	enum flow flow = t->dispatch->flow[t->dispatch->base[h->opcode]];

	if (flow == FLOW_RETURN)
		return leave(t, f, h, OP_PY_RETURN);
	return flow == FLOW_YIELD ? leave(t, f, h, OP_PY_YIELD) : 0;
}

static int run_lost(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	t->r->counts.lost++;
	if (!f || f->kind == FRAME_UNTRACED)
		return 0;
	f->last = t->dispatch->base[h->opcode];
	f->ran++;
	return recover_leave(t, f, h);
}

static int arrive(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	f->arrives = false;
	f->side = SIDE_BOTH;
	if (f->n == 1 && f->step == UNDECIDED_NONE)
		return recover_emit_at(t, f, h, OP_INSTRUCTION, f->at[0].place);
	return recover_record(t, f, h);
}

/* The second instruction of a pair: behind each of the places. */
static int second(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	struct held next = { .valid = true, .time = h->time, .cycles = h->cycles };

	if (!recover_frame_next(f, &t->undecided))
		return 0;
	t->r->counts.dispatched++;
	next.opcode = f->n == 1 ? f->walk->nodes[f->at[0].place].base : 0;
	return arrive(t, f, &next);
}

/*
 * A form whose operands do not fit falls back to the common one, by a direct jump without a packet, and that runs no
 * second. Until it is known, the second counts as run and uncertain.
 */
static int may_be_second(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	f->follows = t->followed = true;
	f->time = h->time;
	f->cycles = h->cycles;
	t->r->counts.dispatched++;
	t->r->counts.unsure++;
	return 0;
}

void recover_no_second(struct recover_thread *t, struct recover_frame *f)
{
	t->r->counts.dispatched -= f->follows;
	t->r->counts.unsure -= f->follows;
	f->follows = false;
}

/* It is only reported in its turn: after a call in between it stays uncertain. */
static int did_run(struct recover_thread *t, struct recover_frame *f)
{
	struct held h = { .time = f->time, .cycles = f->cycles };

	if (!t->followed) {
		f->follows = false;
		recover_frame_next(f, &t->undecided);
		return 0;
	}
	recover_no_second(t, f);
	return second(t, f, &h);
}

int recover_second(struct recover_thread *t, uint8_t base)
{
	struct recover_frame *f = recover_frames_top(&t->frames);

	if (!f || !f->follows)
		return 0;
	if (!recover_frame_has(f, 1, base))
		return did_run(t, f);
	if (!recover_frame_has(f, 2, base)) {
		recover_no_second(t, f);
		return 0;
	}
	if (f->n > 1) {
		recover_frame_lose(f, &t->undecided);
		return 0;
	}
	f->follows = false;
	f->at[1] = (struct undecided_place){ f->at[0].place + 1, 0 };
	f->n = 2;
	return 0;
}

static int mismatch(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	t->r->counts.mismatches++;
	recover_frames_lose(&t->frames);
	return run_lost(t, f, h);
}

static int run_undecided(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	struct undecided_place places[UNDECIDED_PLACES];
	unsigned n = recover_frame_reach(f, t->dispatch->base[h->opcode], places);

	if (!n || n > UNDECIDED_PLACES)
		return mismatch(t, f, h);
	f->n = n;
	for (unsigned i = 0; i < n; i++)
		f->at[i] = places[i];
	return arrive(t, f, h);
}

int recover_run(struct recover_thread *t, const struct held *h)
{
	struct recover_frame *f = recover_frames_top(&t->frames);
	uint8_t base = t->dispatch->base[h->opcode];
	const struct walk_node *node;
	int err;

	if (!t->begun)
		return 0;
	t->r->counts.dispatched++;
	if (!f || !f->n)
		return run_lost(t, f, h);
	node = &f->walk->nodes[f->at[0].place];
	if (f->n == 1 && node->ways && !f->arrives && node[1].base == base) {
		f->at[0].place++;
		err = arrive(t, f, h);
	} else {
		err = run_undecided(t, f, h);
		if (!f->n || f != recover_frames_top(&t->frames)) /* a mismatch */
			return err;
	}
	if (!err && t->dispatch->pair[h->opcode])
		err = t->dispatch->gives_up[h->opcode] ? may_be_second(t, f, h) : second(t, f, h);
	return err ? err : recover_leave(t, f, h);
}
