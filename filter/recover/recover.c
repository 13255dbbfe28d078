// SPDX-License-Identifier: MIT
/* Markers set the places of their thread's frames; dispatches go to recover_take.c. */
#include "recover.h"

#include <errno.h>

#include "recover_quick.h"
#include "recover_thread.h"

void recover_init(struct recover *r, struct codes *codes, sample_fn feed, void *to)
{
	*r = (struct recover){ .codes = codes };
	recover_redirect(r, feed, to);
}

static int feed_own(struct recover *r)
{
	r->room = &r->own;
	return r->feed(r->to, &r->own);
}

void recover_redirect(struct recover *r, sample_fn feed, void *to)
{
	r->feed = feed;
	r->to = to;
	recover_give_room(r, &r->own, &r->own + 1, feed_own);
}

void recover_give_room(struct recover *r, struct sample *room, struct sample *end, int (*full)(struct recover *r))
{
	r->room = room;
	r->end = end;
	r->full = full;
}

static struct recover_thread *make_thread(struct recover *r, int32_t pid, int32_t tid, uint64_t key)
{
	struct recover_thread *t = recover_thread_new(r, pid, tid);

	if (!t || map_put(&r->threads, key, t)) {
		recover_thread_free(t);
		return NULL;
	}
	recover_quick_init(t);
	return t;
}

struct recover_thread *recover_thread_at(struct recover *r, int32_t pid, int32_t tid)
{
	uint64_t key = map_pair(pid, tid);

	if (r->last && r->last_key == key)
		return r->last;
	r->last_key = key;
	r->last = map_get(&r->threads, key);
	if (!r->last)
		r->last = make_thread(r, pid, tid, key);
	return r->last;
}

int recover_branch(struct recover *r, const struct word *w)
{
	struct recover_thread *t = recover_thread_at(r, w->pid, w->tid);
	struct held h = { .valid = true, .time = w->time, .cycles = w->cycles };

	if (!t)
		return -ENOMEM;
	if (!t->dispatch)
		return 0;
	switch (dispatch_at(t->dispatch, w->bits, &h.opcode)) {
	case DISPATCH_OP:
		return recover_take(t, &h);
	case DISPATCH_AGAIN:
		t->again = true;
		return 0;
	default:
		return 0;
	}
}

/* Never a dispatch: an interrupt may come at a handler's first instruction, which was already reported. */
int recover_enter(struct recover *r, const struct word *w)
{
	struct recover_thread *t = recover_thread_at(r, w->pid, w->tid);
	uint8_t opcode;

	if (!t)
		return -ENOMEM;
	if (t->dispatch && dispatch_at(t->dispatch, w->bits, &opcode) == DISPATCH_AGAIN)
		t->again = true;
	return 0;
}

static int break_off(struct recover_thread *t)
{
	recover_drop_pop_top(t);
	return recover_settle(t);
}

int recover_gap(struct recover *r, int32_t pid, int32_t tid)
{
	struct recover_thread *t = recover_thread_at(r, pid, tid);
	int err;

	if (!t)
		return -ENOMEM;
	if (!t->dispatch)
		return 0;
	recover_drop_head(t);
	err = break_off(t);
	recover_frames_lose(&t->frames);
	t->frames.n = 0;
	t->untraced = false;
	recover_drop_prologue(t);
	t->again = t->cleanup = false;
	t->behind_gap = GAP_NOTHING;
	return err ? err : recover_flush(t, false);
}

/* --- markers ------------------------------------------------------------------------------------------- */

/* What ran before the RESUME of a code object that is known only now. */
static int report_prologue(struct recover_thread *t, struct recover_frame *f, uint32_t resume)
{
	uint32_t n = 0;
	int err = 0;

	while (n < t->nprologue && n < resume &&
	       f->walk->nodes[resume - 1 - n].base == t->dispatch->base[t->prologue[t->nprologue - 1 - n].opcode])
		n++;
	for (uint32_t i = n; i && !err; i--)
		err = recover_emit_at(t, f, &t->prologue[t->nprologue - i], OP_INSTRUCTION, resume - i);
	t->r->counts.dispatched += n;
	t->nprologue -= n;
	return err;
}

/* The first POP_TOP of a generator was taken for its caller's. */
static void take_pop_top(struct recover_thread *t, const struct sample *s)
{
	const struct dispatch *d = t->dispatch;
	uint32_t i;

	if (s->op != OP_PY_START || !t->held.valid || !t->resume.valid || d->base[t->held.opcode] != d->pop_top)
		return;
	i = code_index(s->code, s->offset);
	if (!i || i >= s->code->ninstrs || s->code->instrs[i - 1].base != d->pop_top)
		return;
	recover_add_prologue(t, &t->held);
	t->held.valid = false;
}

static int begin(struct recover_thread *t, const struct sample *s)
{
	struct held resume = t->resume;
	struct recover_frame *f;
	int err;

	take_pop_top(t, s);
	t->resume.valid = false;
	err = recover_settle_held(t);
	if (err)
		return err;
	f = recover_frames_push(&t->frames, s->code);
	if (!f)
		return -ENOMEM;
	recover_frame_put(f, &t->undecided, recover_frame_place(f, s->offset));
	if (s->op == OP_PY_START && f->n)
		err = report_prologue(t, f, f->at[0].place);
	recover_drop_prologue(t);
	if (!err && resume.valid && s->op != OP_PY_THROW) {
		t->r->counts.dispatched++;
		t->r->counts.lost += !f->n;
		err = f->n ? recover_emit_at(t, f, &resume, OP_INSTRUCTION, f->at[0].place) : 0;
	}
	return err ? err : recover_emit_sample(t, s);
}

static int at_marker(struct recover_thread *t, const struct sample *s)
{
	struct recover_frame *f = recover_frames_align(&t->frames, s->code, true);

	if (!f)
		return -ENOMEM;
	if (s->op >= OP_BRANCH && s->op <= OP_BRANCH_RIGHT) {
		recover_frame_branch(f, &t->undecided, s);
		return recover_flush(t, false);
	}
	recover_no_second(t, f);
	recover_frame_put(f, &t->undecided, recover_frame_place(f, s->offset));
	f->arrives = s->op == OP_EXCEPTION_HANDLED;
	return recover_emit_sample(t, s);
}

static int unwind(struct recover_thread *t, const struct sample *s)
{
	struct recover_frame *f = recover_frames_align(&t->frames, s->code, false);

	if (f) {
		recover_no_second(t, f);
		recover_frame_put(f, &t->undecided, recover_frame_place(f, s->offset));
		recover_frames_pop(&t->frames);
	}
	return recover_emit_sample(t, s);
}

/* It begins to be traced, or ends; what it ran before, or while it was not traced, is over. */
static int set_frames(struct recover_thread *t, const struct sample *s)
{
	int err = recover_settle(t);

	recover_drop_prologue(t);
	t->untraced = !s->traced && s->open;
	return err ? err : recover_frames_set(&t->frames, s->interpreter, s->open, s->traced);
}

/* Another interpreter continues, and the untraced one has not reported its end: any frame may have run. */
static void forget(struct recover_thread *t)
{
	t->untraced = false;
	recover_frames_lose(&t->frames);
	t->frames.n = 0;
}

int recover_sample(void *recover, const struct sample *s)
{
	struct recover *r = recover;
	struct recover_thread *t = recover_thread_at(r, s->pid, s->tid);
	int err;

	if (!t)
		return -ENOMEM;
	if (s->op == SAMPLE_TIP)
		return recover_branch(r, &(struct word){ s->pid, s->tid, s->time, s->cycles, s->address });
	if (!t->dispatch)
		return r->feed(r->to, s);
	t->begun = true;
	if (s->op == OP_FRAMES)
		return set_frames(t, s);
	if (t->untraced)
		forget(t);
	t->frames.interpreter = s->interpreter;
	switch (s->op) {
	case OP_PY_START:
	case OP_PY_RESUME:
	case OP_PY_THROW:
		t->behind_gap = GAP_NONE;
		return begin(t, s);
	case SAMPLE_GAP:
	case SAMPLE_RESTART:
		err = recover_gap(r, s->pid, s->tid);
		return err ? err : recover_emit_sample(t, s);
	}
	t->behind_gap = GAP_NONE;
	err = recover_settle(t);
	if (err || !s->code) /* moves no frame: a snapshot, a foreign word */
		return err ? err : recover_emit_sample(t, s);
	return s->op == OP_PY_UNWIND ? unwind(t, s) : at_marker(t, s);
}

int recover_finish(struct recover *r)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&r->threads, s));) {
		struct recover_thread *t = s->value;

		err = t->dispatch ? break_off(t) : 0;
		err = err ? err : recover_flush(t, true);
	}
	return err;
}

void recover_free(struct recover *r)
{
	for (struct map_slot *s = NULL; (s = map_next(&r->threads, s));)
		recover_thread_free(s->value);
	map_free(&r->threads);
}
