// SPDX-License-Identifier: MIT
/*
 * A dispatch is held until its thread's next event: that may show that it was dispatched again (just specialised), or
 * that a POP_TOP was a generator's first instruction and not its caller's next. So `held` is always the last
 * instruction, not walked yet.
 */
#include <errno.h>

#include "recover_thread.h"

int recover_settle_held(struct recover_thread *t)
{
	struct held h = t->held;

	t->held.valid = false;
	return h.valid ? recover_run(t, &h) : 0;
}

void recover_drop_prologue(struct recover_thread *t)
{
	t->r->counts.dispatched += t->begun * t->nprologue;
	t->r->counts.lost += t->begun * t->nprologue;
	t->nprologue = 0;
}

static bool fits(struct recover_thread *t, uint8_t base)
{
	struct undecided_place places[UNDECIDED_PLACES];
	struct recover_frame *f = recover_frames_top(&t->frames);

	return f && f->n && recover_frame_reach(f, base, places);
}

void recover_drop_head(struct recover_thread *t)
{
	const struct dispatch *d = t->dispatch;

	if (!t->held.valid || !d->head[t->held.opcode])
		return;
	t->held.valid = false;
	t->r->counts.dispatched += t->begun;
	t->r->counts.unsure += t->begun;
}

/* Of a frame that continues or of a generator that begins: only a marker would say which. */
void recover_drop_pop_top(struct recover_thread *t)
{
	const struct dispatch *d = t->dispatch;
	bool mine;

	if (!t->held.valid || d->base[t->held.opcode] != d->pop_top)
		return;
	t->held.valid = false;
	mine = fits(t, d->pop_top);
	t->r->counts.dispatched += t->begun;
	t->r->counts.unsure += t->begun && mine;
	t->r->counts.lost += t->begun && !mine;
	if (mine)
		recover_frame_lose(recover_frames_top(&t->frames), &t->undecided);
}

/* A RESUME without a marker: a frame of unknown code. Before all markers its end is not seen, either. */
int recover_settle(struct recover_thread *t)
{
	int err;

	if (t->resume.valid)
		recover_drop_pop_top(t);
	err = recover_settle_held(t);
	if (err || !t->resume.valid)
		return err;
	t->resume.valid = false;
	recover_drop_prologue(t);
	if (!t->begun)
		return 0;
	t->r->counts.dispatched++;
	t->r->counts.lost++;
	return recover_frames_push(&t->frames, NULL) ? 0 : -ENOMEM;
}

void recover_add_prologue(struct recover_thread *t, const struct held *h)
{
	if (t->nprologue == RECOVER_PROLOGUE)
		recover_drop_prologue(t);
	t->prologue[t->nprologue++] = *h;
}

/* The first one behind a gap may have been dispatched before it, in another form: it is not reported. */
static int drop_resume(struct recover_thread *t)
{
	if (t->behind_gap == GAP_RESUME)
		return 0;
	t->behind_gap = GAP_RESUME;
	t->r->counts.dispatched += t->begun;
	t->r->counts.lost += t->begun;
	t->r->counts.repeats += t->begun;
	return 0;
}

/* Where a frame begins or continues: a POP_TOP before it may be the generator's. */
static int take_resume(struct recover_thread *t, const struct held *h)
{
	const struct dispatch *d = t->dispatch;
	int err = t->held.valid && d->base[t->held.opcode] == d->pop_top ? 0 : recover_settle_held(t);

	if (!t->resume.valid)
		t->resume = *h;
	return err;
}

/* What runs next is not dispatched: compiled code. */
static int take_unknown(struct recover_thread *t)
{
	int err = recover_settle(t);
	struct recover_frame *f = recover_frames_top(&t->frames);

	if (f)
		recover_frame_lose(f, &t->undecided);
	return err;
}

/*
 * It and what ran before it belong to unknown code. A generator expression of 3.15 has already run RESUME, LOAD_FAST
 * and GET_ITER, and no marker named that frame.
 */
static int take_generator(struct recover_thread *t)
{
	int err = recover_settle(t);
	struct recover_frame *f = recover_frames_top(&t->frames);

	if (f && !f->code && f->ran == 2 && f->last && f->last == t->dispatch->iterates)
		recover_frames_pop(&t->frames);
	t->r->counts.dispatched += t->begun * (t->nprologue + 1);
	t->r->counts.makers += t->begun * (t->nprologue + 1);
	t->nprologue = 0;
	return err;
}

static int take_prologue(struct recover_thread *t, const struct held *h, uint8_t base)
{
	int err = recover_settle(t);

	if (err || fits(t, base))
		t->held = *h;
	else
		recover_add_prologue(t, h);
	return err;
}

static int take_next(struct recover_thread *t, const struct held *h, enum flow flow)
{
	int err;

	t->followed = false;
	err = recover_settle(t);
	if (t->cleanup && flow == FLOW_RETURN) {
		t->cleanup = false;
		return err;
	}
	t->held = *h;
	return err ? err : recover_second(t, t->dispatch->base[h->opcode]);
}

/*
 * Was the held instruction dispatched once more? The return from the specialiser shows it. Compilers inline small
 * specialisers, and 3.15 gives GET_ITER_VIRTUAL up by a dispatch: then it is the same if its code has no such
 * instruction behind it.
 */
static bool is_again(struct recover_thread *t, uint8_t base, bool returned)
{
	const struct dispatch *d = t->dispatch;
	const struct recover_frame *f = recover_frames_top(&t->frames);

	if (!t->held.valid || d->base[t->held.opcode] != base)
		return false;
	if (returned || !d->head[base])
		return returned;
	if (f && f->n && t->held.opcode != d->twice)
		return !recover_frame_repeats(f, base, d->pair[t->held.opcode]);
	if (t->held.opcode == d->twice || base == d->iterates)
		return true;
	t->r->counts.repeats += t->begun; /* no code to ask: two instructions, or one */
	return false;
}

/* The form it was dispatched in: its new form, but not the common one if it was given up on the way. */
static int take_again(struct recover_thread *t, uint8_t opcode, bool returned)
{
	t->held.before = t->held.before ? t->held.before : t->held.opcode;
	if (returned || t->dispatch->base[opcode] != opcode)
		t->held.opcode = opcode;
	else
		t->held.passed = true;
	return 0;
}

/*
 * The specialiser's return may have left no packet, and the code has two of the family in a row: one dispatched twice,
 * or both. Neither is reported, and the place behind them is not known.
 */
static bool is_either(const struct recover_thread *t, uint8_t base)
{
	const struct recover_frame *f = recover_frames_top(&t->frames);

	return t->r->compressed && t->held.valid && t->dispatch->base[t->held.opcode] == base &&
	       t->dispatch->head[base] && f && f->n;
}

static int take_either(struct recover_thread *t)
{
	t->held.valid = false;
	t->r->counts.dispatched += 2 * t->begun;
	t->r->counts.unsure += 2 * t->begun;
	recover_frame_lose(recover_frames_top(&t->frames), &t->undecided);
	return 0;
}

int recover_take(struct recover_thread *t, const struct held *h)
{
	const struct dispatch *d = t->dispatch;
	uint8_t base = d->base[h->opcode];
	bool returned = t->again;
	int err;

	t->again = false;
	if (d->flow[base] == FLOW_PREFIX)
		return 0;
	if (t->behind_gap && d->flow[base] == FLOW_RESUME)
		return drop_resume(t);
	t->behind_gap = GAP_NONE;
	if (is_again(t, base, returned))
		return take_again(t, h->opcode, returned);
	if (is_either(t, base))
		return take_either(t);
	switch ((enum flow)d->flow[base]) {
	case FLOW_NOWHERE:
		return 0;
	case FLOW_RESUME:
		return take_resume(t, h);
	case FLOW_CLEANUP:
		err = recover_settle(t);
		t->cleanup = true;
		return err;
	case FLOW_UNKNOWN:
		return take_unknown(t);
	case FLOW_GENERATOR:
		return take_generator(t);
	case FLOW_PROLOGUE:
		return take_prologue(t, h, base);
	default:
		return take_next(t, h, d->flow[base]);
	}
}
