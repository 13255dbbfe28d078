// SPDX-License-Identifier: MIT
#include "away.h"

#include "imports.h"
#include "loop.h"
#include "nested.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The running line has had what is the activation's own until then. */
static void pause_line(struct frame *f, uint64_t cycles)
{
	if (f->line)
		f->line->cycles += cycles - f->a.callee_cycles - f->line_cycles;
	f->line_cycles = 0;
}

/* `in`: the innermost import that the frame is in. */
static int pause_import(const struct frame *f, struct import **in, uint64_t ns)
{
	int err = *in ? import_ran(*in, f->a.code, ns - f->a.callee_ns) : 0;

	if (f->import) {
		f->import->total_ns += ns;
		*in = f->import->parent;
	}
	return err;
}

/* Of what its spans are told at these times. */
static struct label_mark mark_in(const struct frame *f, uint64_t ns, uint64_t cycles)
{
	return (struct label_mark){ .pid = f->a.pid,
				    .tid = f->a.tid,
				    .interpreter = f->a.interpreter,
				    .greenlet = f->a.greenlet,
				    .ns = ns,
				    .cycles = cycles };
}

static int pause_spans(const struct frame *f, uint64_t ns, uint64_t cycles, const struct subscribers *to)
{
	struct label_mark m = mark_in(f, ns, cycles);

	return f->spans ? nested_suspend(f->spans, &m, to) : 0;
}

static int resume_spans(struct frame *f, const struct subscribers *to)
{
	struct label_mark m = mark_in(f, f->a.start_ns, f->a.start_cycles);

	return f->spans ? nested_resume(&f->spans, &m, to) : 0;
}

/* An activation that was open before its caller is known is charged to that from there on: charge_caller() likewise. */
static void pause_caller(struct frame *caller, const struct frame *f, uint64_t ns, uint64_t cycles)
{
	caller->a.callee_ns += ns - later(f->a.start_ns, caller->a.start_ns);
	caller->a.callee_cycles += cycles - later(f->a.start_cycles, caller->a.start_cycles);
}

int stack_away(struct stack *s, uint64_t ns, uint64_t cycles, const struct subscribers *to)
{
	struct import *in = s->import;
	int err = 0;

	for (uint32_t i = s->nframes; i-- && !err;) {
		struct frame *f = &s->frames[i];
		uint64_t took_ns = ns - f->a.start_ns, took_cycles = cycles - f->a.start_cycles;

		pause_line(f, took_cycles);
		err = pause_import(f, &in, took_ns);
		function_ran(f->a.code->function, took_ns, took_cycles, f->a.callee_ns, f->a.callee_cycles,
			     f->recursive);
		if (i)
			pause_caller(f - 1, f, ns, cycles);
		err = err ?: pause_spans(f, ns, cycles, to);
		err = err ?: SUBSCRIBERS_CALL(to, leave, &f->a, LEAVE_AWAY, ns, cycles);
	}
	return err;
}

/* Loops' times count from when their last back-edge would have been without the time away. */
static void shift_loop(struct open_loop *o, const struct frame *f, uint64_t away_ns, uint64_t away_cycles)
{
	o->last_ns += away_ns;
	o->last_cycles += away_cycles;
	o->callee_ns -= f->a.callee_ns;
	o->suspended_ns += away_ns;
	o->suspensions++;
	o->plain = false;
}

static void resume_frame(struct frame *f, const struct stack *s, uint64_t ns, uint64_t cycles)
{
	f->a.op = OP_EXTENSION;
	f->a.greenlet = s->greenlet;
	f->a.start_ns = ns;
	f->a.start_cycles = cycles;
	f->a.callee_ns = f->a.callee_cycles = 0;
	f->a.off = (struct off){ 0 };
}

int stack_back(struct stack *s, uint64_t ns, uint64_t cycles, uint64_t away_ns, uint64_t away_cycles,
	       const struct subscribers *to)
{
	uint32_t loop = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->nframes && !err; i++) {
		struct frame *f = &s->frames[i];
		uint32_t end = i + 1 < s->nframes ? f[1].loops : s->nloops;

		for (; loop < end; loop++)
			shift_loop(s->loops[loop], f, away_ns, away_cycles);
		if (!f->recursive)
			f->a.code->function->suspended_ns += away_ns;
		resume_frame(f, s, ns, cycles);
		f->a.request = NULL;
		f->a.task = NULL;
		err = SUBSCRIBERS_CALL(to, enter, &f->a) ?: resume_spans(f, to);
	}
	return err;
}
