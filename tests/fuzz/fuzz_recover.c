// SPDX-License-Identifier: MIT
/*
 * fuzz_recover.c - any program, run in any way: what is recovered of it is what ran, or nothing.
 *
 * The input's bytes write the bodies of some code objects, then decide how a small interpreter runs
 * them: branches, calls into Python and C, generators, exceptions, specialised forms, and stretches
 * that the trace lost. Some code no marker tells of; no exception goes through that (docs/opcodes.md). It knows what
 * ran at each moment. Of each instruction told, place and opcode must be those; all dispatches must be accounted for.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/filter/code/small_code.h"
#include "../unit/filter/recover/recover_gather.h"
#include "recover/recover.h"

#define CODES 5
#define ROWS  24
#define DEPTH 12
#define STEPS 2000
#define PID   7
#define ROOM  (2 * STEPS)

struct input {
	const uint8_t *at, *end;
};

struct body {
	struct code_row rows[ROWS + 1];
	uint8_t handler; /* index of PUSH_EXC_INFO */
	uint8_t resume;	 /* index of the RESUME that begins it */
	bool generator;
	bool hidden; /* no marker tells of it */
};

struct running {
	uint8_t code, at; /* `at`: what runs next */
};

struct machine {
	struct input in;
	struct codes codes;
	struct recover r, many; /* `many`: dispatches are told many at once */
	uint64_t sum, many_sum; /* of all that either tells */
	struct body bodies[CODES + 1];
	struct running stack[DEPTH], waiting[DEPTH];
	unsigned depth, nwaiting;
	struct gather gather;
	bool lost; /* the trace loses what runs now */
	uint64_t now;
	struct {
		uint8_t code, at, opcode;
		bool two; /* and the instruction behind it */
	} ran[ROOM];	  /* by time; code 0: nothing that may be told */
	uint64_t told;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned draw(struct machine *m, unsigned below)
{
	return m->in.at < m->in.end ? *m->in.at++ % below : 0;
}

static bool one_in(struct machine *m, unsigned n)
{
	return m->in.at < m->in.end && *m->in.at++ % n == 0;
}

/* --- bodies ------------------------------------------------------------------------------------------ */

static uint8_t begin_body(struct machine *m, struct body *b)
{
	uint8_t n = 0;

	b->hidden = b != &m->bodies[1] && one_in(m, 6);
	b->generator = one_in(m, 3);
	if (b->generator) {
		b->rows[n++] = (struct code_row){ RETURN_GENERATOR, 0 };
		b->rows[n++] = (struct code_row){ POP_TOP, 0 };
	} else if (one_in(m, 3)) {
		b->rows[n++] = (struct code_row){ COPY_FREE_VARS, 0 };
	}
	b->resume = n;
	b->rows[n++] = (struct code_row){ RESUME, 0 };
	return n;
}

/* Jumps lead anywhere between the first RESUME and the last row, which returns. */
static void write_body(struct machine *m, struct body *b)
{
	static const uint8_t ops[] = { LOAD,	     LOAD,	    STORE,	POP_TOP,	  POP_TOP,
				       CALL,	     CALL,	    FOR_ITER,	POP_JUMP_IF_TRUE, JUMP_BACKWARD,
				       RETURN_VALUE, RAISE_VARARGS, YIELD_VALUE };
	uint8_t first = begin_body(m, b), last = ROWS - 1;

	b->handler = first + draw(m, last - first - 1);
	for (uint8_t i = first; i < last; i++) {
		struct code_row *row = &b->rows[i];

		row->op = i == b->handler ? PUSH_EXC_INFO : ops[draw(m, sizeof(ops))];
		if (b->hidden && (row->op == CALL || row->op == RAISE_VARARGS))
			row->op = LOAD;
		if (row->op == YIELD_VALUE && (!b->generator || i + 1 >= b->handler))
			row->op = LOAD;
		if (row->op == FOR_ITER || row->op == POP_JUMP_IF_TRUE)
			row->to = i + 1 + draw(m, last - i);
		if (row->op == JUMP_BACKWARD)
			row->to = first + draw(m, i - first + 1);
		if (i > first && b->rows[i - 1].op == YIELD_VALUE)
			*row = (struct code_row){ RESUME, 0 };
	}
	/* Only a caller leads to a RESUME, and the compiler makes no jump to a jump. */
	for (uint8_t i = first; i < last; i++) {
		uint8_t there = b->rows[b->rows[i].to].op;

		if (b->rows[i].op == JUMP_BACKWARD && (there == RESUME || there == JUMP_BACKWARD))
			b->rows[i] = (struct code_row){ LOAD, 0 };
		else if (b->rows[i].to && there == RESUME)
			b->rows[i].to = last;
	}
	b->rows[last] = (struct code_row){ RETURN_VALUE, 0 };
	b->rows[ROWS] = (struct code_row){ CACHE, 0 };
}

/* --- what the trace gets ------------------------------------------------------------------------------ */

static void check(bool held)
{
	if (!held)
		abort();
}

static void dispatch(struct machine *m, uint8_t op, uint8_t code, uint8_t at)
{
	struct word w = { PID, PID, ++m->now, m->now, HANDLER(op) };

	check(m->now < ROOM);
	m->ran[m->now].code = m->bodies[code].hidden ? 0 : code;
	m->ran[m->now].at = at;
	m->ran[m->now].opcode = op;
	if (m->lost)
		return;
	check(!recover_branch(&m->r, &w));
	check(!gather_branch(&m->gather, &m->many, &w, ROW_BRANCH));
}

/* Goes on at a handler, as behind an interrupt: nothing is dispatched. */
static void interrupt(struct machine *m, uint8_t op)
{
	struct word w = { PID, PID, m->now, m->now, HANDLER(op) };

	if (m->lost)
		return;
	check(!recover_enter(&m->r, &w));
	check(!gather_branch(&m->gather, &m->many, &w, ROW_ENTER));
}

static void marker(struct machine *m, int op, uint8_t code, uint8_t at)
{
	struct sample s = {
		.op = op, .pid = PID, .tid = PID, .time = m->now, .offset = 2 * at, .target = SAMPLE_NOWHERE
	};

	s.code = codes_find(&m->codes, codes_process(&m->codes, PID), code);
	check(!gather_end(&m->gather));
	if (m->lost || m->bodies[code].hidden)
		return;
	check(!recover_sample(&m->r, &s));
	check(!recover_sample(&m->many, &s));
}

static int tell(void *to, const struct sample *s)
{
	struct machine *m = to;
	unsigned at = s->offset / 2;

	gather_sum(&m->sum, s);
	if (s->op != OP_INSTRUCTION)
		return 0;
	m->told++;
	if (m->ran[s->time].two && at == m->ran[s->time].at + 1u)
		at--;
	check(s->code->id == m->ran[s->time].code && at == m->ran[s->time].at);
	return 0;
}

static int tell_many(void *to, const struct sample *s)
{
	struct machine *m = to;

	gather_sum(&m->many_sum, s);
	return 0;
}

/* --- the interpreter ---------------------------------------------------------------------------------- */

static void pop(struct machine *m)
{
	m->depth--;
}

static void call(struct machine *m)
{
	uint8_t code = 1 + draw(m, CODES);
	const struct body *b = &m->bodies[code];

	if (m->depth == DEPTH)
		return;
	if (b->generator) {
		dispatch(m, RETURN_GENERATOR, 0, 0);
		if (m->nwaiting < DEPTH)
			m->waiting[m->nwaiting++] = (struct running){ code, 1 };
		return;
	}
	m->stack[m->depth++] = (struct running){ code, 0 };
}

static void resume_one(struct machine *m)
{
	unsigned which;

	if (!m->nwaiting || m->depth == DEPTH)
		return;
	which = draw(m, m->nwaiting);
	m->stack[m->depth++] = m->waiting[which];
	m->waiting[which] = m->waiting[--m->nwaiting];
}

static void raise_from(struct machine *m)
{
	struct running *f = &m->stack[m->depth - 1];

	marker(m, OP_RAISE, f->code, f->at);
	while (m->depth > 1 && !one_in(m, 2)) {
		marker(m, OP_PY_UNWIND, f->code, f->at);
		pop(m);
		f = &m->stack[m->depth - 1];
		if (f->at)
			f->at--; /* the instruction that called */
	}
	f->at = m->bodies[f->code].handler;
	marker(m, OP_EXCEPTION_HANDLED, f->code, f->at);
}

static void resumed(struct machine *m, const struct running *f)
{
	bool begins = f->at == m->bodies[f->code].resume;

	marker(m, begins ? OP_PY_START : OP_PY_RESUME, f->code, f->at);
}

static bool may_raise(const struct machine *m, const struct running *f, uint8_t op)
{
	return !m->bodies[f->code].hidden && op != RESUME && op != RETURN_VALUE && op != YIELD_VALUE &&
	       f->at > m->bodies[f->code].resume;
}

/* What an instruction does once it is dispatched. f->at is still its own place. */
static void run(struct machine *m, uint8_t op, uint8_t to)
{
	struct running *f = &m->stack[m->depth - 1];

	if (op == RAISE_VARARGS || (may_raise(m, f, op) && one_in(m, 40))) {
		raise_from(m);
		return;
	}
	if (op == RESUME)
		resumed(m, f);
	f->at = op == JUMP_BACKWARD || ((op == FOR_ITER || op == POP_JUMP_IF_TRUE) && one_in(m, 2)) ? to : f->at + 1;
	if (op == YIELD_VALUE) {
		if (m->nwaiting < DEPTH)
			m->waiting[m->nwaiting++] = *f;
		pop(m);
	} else if (op == RETURN_VALUE) {
		pop(m);
	} else if (op == CALL && one_in(m, 2)) {
		call(m);
	} else if (op == CALL) {
		resume_one(m);
	}
}

static uint8_t specialised(struct machine *m, const struct code_row *row)
{
	if (row[0].op == LOAD && row[1].op == LOAD && one_in(m, 2))
		return LOAD_FAST_PAIR;
	if (row->op == FOR_ITER && one_in(m, 2))
		return FOR_ITER_RANGE;
	if (row[0].op == CALL && row[1].op == POP_TOP && one_in(m, 2))
		return CALL_APPEND;
	if (row->op == CALL && one_in(m, 2))
		return CALL_PY;
	if (row->op == RESUME && one_in(m, 2))
		return INSTRUMENTED_RESUME;
	return row->op;
}

static void step(struct machine *m)
{
	struct running *f = &m->stack[m->depth - 1];
	const struct code_row *row = &m->bodies[f->code].rows[f->at];
	uint8_t op = specialised(m, row);

	if (one_in(m, 100)) {
		check(!gather_end(&m->gather));
		if (!m->lost)
			check(!recover_gap(&m->r, PID, PID) && !recover_gap(&m->many, PID, PID));
		m->lost = !m->lost;
	}
	if (one_in(m, 50))
		interrupt(m, op);
	dispatch(m, op, f->code, f->at);
	m->ran[m->now].two = op == LOAD_FAST_PAIR || (op == CALL_APPEND && one_in(m, 2));
	if (m->ran[m->now].two)
		f->at += 2;
	else
		run(m, row->op, row->to);
}

static void settle(struct machine *m)
{
	const struct recover_counts *c = &m->r.counts;

	check(!gather_end(&m->gather));
	check(!recover_finish(&m->r) && !recover_finish(&m->many));
	check(m->sum == m->many_sum && !memcmp(c, &m->many.counts, sizeof(*c)));
	check(m->told == c->placed);
	check(c->dispatched == c->placed + c->makers + c->unsure + c->lost);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct machine m;
	struct process *p;

	m = (struct machine){ .in = { data, data + size } };
	check(!codes_init(&m.codes, NULL));
	p = codes_process(&m.codes, PID);
	p->dispatch = make_dispatch();
	for (unsigned id = 1; id <= CODES; id++) {
		write_body(&m, &m.bodies[id]);
		fill_code(&p->pool, codes_find_or_make(&m.codes, p, id), m.bodies[id].rows);
	}
	recover_init(&m.r, &m.codes, tell, &m);
	recover_init(&m.many, &m.codes, tell_many, &m);
	m.stack[m.depth++] = (struct running){ 1, m.bodies[1].resume };
	for (unsigned i = 0; i < STEPS && m.depth && m.in.at < m.in.end; i++)
		step(&m);
	settle(&m);
	recover_free(&m.r);
	recover_free(&m.many);
	codes_free(&m.codes);
	return 0;
}
