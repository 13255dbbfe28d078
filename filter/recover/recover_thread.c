// SPDX-License-Identifier: MIT
/* Samples go out in the order in which they came: behind an undecided one all wait (undecided.h). */
#include "recover_thread.h"

#include <errno.h>
#include <stdlib.h>

struct recover_thread *recover_thread_new(struct recover *r, int32_t pid, int32_t tid)
{
	struct process *p = codes_process(r->codes, pid);
	struct recover_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->r = r;
	t->pid = pid;
	t->tid = tid;
	t->dispatch = p ? p->dispatch : NULL;
	t->frames.dispatch = t->dispatch;
	t->frames.undecided = &t->undecided;
	return t;
}

void recover_thread_free(struct recover_thread *t)
{
	if (!t)
		return;
	undecided_free(&t->undecided);
	recover_frames_free(&t->frames);
	free(t);
}

/* Excluded code was needed to get here; it goes no further, and counts neither as run nor as recovered. */
static int pass_on(void *recover, const struct sample *s)
{
	struct recover *r = recover;

	if (!s->code || !s->code->excluded)
		return r->feed(r->to, s);
	r->counts.placed -= s->op == OP_INSTRUCTION;
	r->counts.dispatched -= s->op == OP_INSTRUCTION;
	r->counts.excluded += s->op == OP_INSTRUCTION;
	return 0;
}

int recover_flush(struct recover_thread *t, bool all)
{
	uint64_t unsure = t->undecided.unsure;
	int err = undecided_flush(&t->undecided, all, pass_on, t->r);

	unsure = t->undecided.unsure - unsure;
	t->r->counts.unsure += unsure;
	t->r->counts.placed -= unsure;
	return err;
}

/* Room for one more step; the oldest undecided ones are given up. */
static int make_room(struct recover_thread *t)
{
	return t->undecided.tail - t->undecided.head == UNDECIDED_STEPS ? recover_flush(t, true) : 0;
}

int recover_emit_sample(struct recover_thread *t, const struct sample *s)
{
	int err;

	if (!undecided_waits(&t->undecided))
		return pass_on(t->r, s);
	err = make_room(t);
	if (err || !undecided_waits(&t->undecided))
		return err ? err : pass_on(t->r, s);
	return undecided_add(&t->undecided, s, UNDECIDED_SETTLED, UNDECIDED_NONE, NULL, 0) == UNDECIDED_NONE ? -ENOMEM
													     : 0;
}

static inline struct sample sample_of(const struct recover_thread *t, const struct recover_frame *f,
				      const struct held *h, unsigned op)
{
	return (struct sample){ .op = op,
				.pid = t->pid,
				.tid = t->tid,
				.interpreter = f->interpreter,
				.time = h->time,
				.cycles = h->cycles,
				.code = f->code,
				.offset = SAMPLE_NOWHERE,
				.target = SAMPLE_NOWHERE };
}

static void put_form(struct sample *s, const struct held *h)
{
	s->opcode = h->opcode;
	s->before = h->before;
	s->passed = h->passed;
}

int recover_emit_at(struct recover_thread *t, const struct recover_frame *f, const struct held *h, unsigned op,
		    uint32_t place)
{
	struct recover *r = t->r;
	bool plain = !undecided_waits(&t->undecided) && !f->code->excluded;
	struct sample other, *s = plain ? r->room : &other;

	*s = sample_of(t, f, h, op);
	if (place != WALK_NOWHERE)
		s->offset = f->walk->nodes[place].offset;
	if (op == OP_INSTRUCTION) {
		put_form(s, h);
		r->counts.placed++;
	}
	return plain ? recover_made(r) : recover_emit_sample(t, s);
}

int recover_record(struct recover_thread *t, struct recover_frame *f, const struct held *h)
{
	struct sample s = sample_of(t, f, h, OP_INSTRUCTION);
	int err = make_room(t);

	if (err)
		return err;
	put_form(&s, h);
	f->step = undecided_add(&t->undecided, &s, UNDECIDED_OPEN, f->step, f->at, f->n);
	if (f->step == UNDECIDED_NONE)
		return -ENOMEM;
	t->r->counts.placed++; /* for now: recover_flush() subtracts what is given up */
	if (f->n > 1)
		return 0;
	undecided_settle(&t->undecided, f->step, 0);
	f->step = UNDECIDED_NONE;
	return recover_flush(t, false);
}
