/* SPDX-License-Identifier: MIT */
/*
 * test_opcodes.c - events in, opcodes and pairs out: of a program, a function, a loop.
 *
 * The code is `f`: 0 NOP, 2 FOR_ITER, 6 STORE_FAST, 8 CALL (-> CALL_LEN), 16 JUMP_BACKWARD to 2,
 * 20 RETURN_VALUE. `i OFFSET` is an INSTRUCTION of it, `g OFFSET` one of another code object of the
 * same bytecode, `?` one of code without bytecode, `i OFFSET=OPCODE` one that says what ran; each event is 10 ns and
 * 20 cycles after the one before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/opcodes.h"
#include "model/trace.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define CALLBACK 7 /* cycles, as calibrated */

enum { NOP = 1, FOR_ITER, STORE_FAST, CALL, JUMP_BACKWARD, RETURN_VALUE, CALL_LEN };

static const char *const names[] = { NULL,   "NOP",	      "FOR_ITER",     "STORE_FAST",
				     "CALL", "JUMP_BACKWARD", "RETURN_VALUE", "CALL_LEN" };

static const struct instr bytecode[] = {
	{ 0, 1, -1, NOP, NOP, false, false, NOP },
	{ 2, 1, 20, FOR_ITER, FOR_ITER, false, false, FOR_ITER },
	{ 6, 1, -1, STORE_FAST, STORE_FAST, false, false, STORE_FAST },
	{ 8, 2, -1, CALL, CALL_LEN, false, false, CALL },
	{ 16, 2, 2, JUMP_BACKWARD, JUMP_BACKWARD, true, false, JUMP_BACKWARD },
	{ 20, 3, -1, RETURN_VALUE, RETURN_VALUE, false, false, RETURN_VALUE },
};

struct world {
	struct codes codes;
	struct trace trace;
	struct code *f, *g, *unknown;
};

static struct code *make_code(struct process *p, const char *name, bool known)
{
	struct code *code = codes_intern(p, "a.py", name, 1);

	if (known) {
		code->instrs = pool_take(&p->pool, sizeof(bytecode));
		memcpy(code->instrs, bytecode, sizeof(bytecode));
		code->ninstrs = COUNT(bytecode);
	}
	return code;
}

static void feed(struct world *w, const char *events)
{
	char *text = strdup(events), *rest = text;
	struct sample s = { .pid = 1, .tid = 1, .time = 1000, .cycles = 2000, .target = -1 };

	for (char *event; (event = strsep(&rest, " "));) {
		char what = *event, *end;

		s.code = what == 'g' ? w->g : what == '?' ? w->unknown : w->f;
		s.op = what == 'S'   ? OP_PY_START
		       : what == 'R' ? OP_PY_RETURN
		       : what == 'J' ? OP_JUMP
		       : what == 'G' ? SAMPLE_GAP
		       : what == 'X' ? SAMPLE_RESTART
				     : OP_INSTRUCTION;
		s.offset = what == 'J' ? 16 : strtol(event + 1, &end, 10);
		s.opcode = what != 'J' && *end == '=' ? strtol(end + 1, NULL, 10) : 0;
		s.target = what == 'J' ? 2 : -1;
		s.count = 1;
		if (s.op == SAMPLE_GAP || s.op == SAMPLE_RESTART)
			s.code = NULL;
		assert_int_equal(trace_feed(&w->trace, &s), 0);
		s.time += 10;
		s.cycles += 20;
	}
	free(text);
	assert_int_equal(trace_finish(&w->trace, false), 0);
}

static void open_world(struct world *w, const char *events)
{
	struct process *p;

	codes_init(&w->codes, NULL);
	p = codes_process(&w->codes, 1);
	for (size_t i = 1; i < COUNT(names); i++)
		p->opnames[i] = strdup(names[i]);
	p->callbacks[OP_INSTRUCTION] = (struct callback){ CALLBACK, 2 * CALLBACK };
	w->f = make_code(p, "f", true);
	w->g = make_code(p, "g", true);
	w->unknown = make_code(p, "unknown", false);
	trace_init(&w->trace, &w->codes, NULL);
	feed(w, events);
}

static void close_world(struct world *w)
{
	trace_free(&w->trace);
	codes_free(&w->codes);
}

/* "NOP 2x30 CALL>CALL_LEN 1x10; NOP-CALL 2": count and cycles of one each, then pairs. */
static void write_table(FILE *f, const struct opcodes *o)
{
	for (uint32_t i = 0; i < o->nrows; i++) {
		const struct opcode_row *r = &o->rows[i];

		fprintf(f, "%s%s", i ? " " : "", r->base);
		if (r->specialized != r->base)
			fprintf(f, ">%s", r->specialized);
		fprintf(f, " %dx%.0f", (int)r->n, opcode_per_call(r));
	}
	fputs(";", f);
	for (uint32_t i = 0; i < o->npairs; i++)
		fprintf(f, " %s-%s %d", o->rows[o->pairs[i].from].base, o->rows[o->pairs[i].to].base,
			(int)o->pairs[i].n);
}

enum scope { PROGRAM, FUNCTION_F, FUNCTION_G, LOOP };

static const struct {
	const char *name, *events;
	enum scope scope;
	enum opcodes_order order;
	const char *table;
} rows[] = {
	{ "nothing", "S R", PROGRAM, OPCODES_BY_TIME, ";" },
	{ "one, up to the end of its thread", "S i0 R", PROGRAM, OPCODES_BY_TIME, "NOP 1x20;" },
	{ "two", "S i0 i2 R", PROGRAM, OPCODES_BY_TIME, "FOR_ITER 1x20 NOP 1x20; NOP-FOR_ITER 1" },
	{ "through a call", "S i0 i8 S R i2", PROGRAM, OPCODES_BY_TIME,
	  "CALL>CALL_LEN 1x60 NOP 1x20 FOR_ITER 1x0; CALL-FOR_ITER 1 NOP-CALL 1" },
	{ "by count", "S i0 i2 i6 i2 i6 S R S R i6", PROGRAM, OPCODES_BY_COUNT,
	  "STORE_FAST 3x40 FOR_ITER 2x20 NOP 1x20; "
	  "FOR_ITER-STORE_FAST 2 NOP-FOR_ITER 1 STORE_FAST-FOR_ITER 1 STORE_FAST-STORE_FAST 1" },
	{ "by the time of one", "S i2 i0 S i2 i2 i2 R", PROGRAM, OPCODES_BY_PER_CALL,
	  "NOP 1x40 FOR_ITER 4x20; FOR_ITER-FOR_ITER 2 FOR_ITER-NOP 1 NOP-FOR_ITER 1" },
	{ "by name", "S i2 i0 i8 R", PROGRAM, OPCODES_BY_NAME,
	  "CALL>CALL_LEN 1x20 FOR_ITER 1x20 NOP 1x20; FOR_ITER-NOP 1 NOP-CALL 1" },
	{ "a gap ends no instruction and makes no pair", "S i0 G i2 i6", PROGRAM, OPCODES_BY_NAME,
	  "FOR_ITER 1x20 NOP 1x0 STORE_FAST 1x0; FOR_ITER-STORE_FAST 1" },
	{ "a restart makes no pair", "S i0 X i2 R", PROGRAM, OPCODES_BY_NAME, "FOR_ITER 1x20 NOP 1x0;" },
	{ "code without bytecode", "S i0 ?4 i2 R", PROGRAM, OPCODES_BY_NAME, "FOR_ITER 1x20 NOP 1x20;" },
	{ "of one function, pairs by their first", "S i0 g2 i6 R", FUNCTION_F, OPCODES_BY_NAME,
	  "FOR_ITER 0x0 NOP 1x20 STORE_FAST 1x20; NOP-FOR_ITER 1" },
	{ "of the other", "S i0 g2 i6 R", FUNCTION_G, OPCODES_BY_NAME,
	  "FOR_ITER 1x20 STORE_FAST 0x0; FOR_ITER-STORE_FAST 1" },
	{ "of a loop", "S i0 i2 i6 i16 i2 i20 R", LOOP, OPCODES_BY_NAME,
	  "FOR_ITER 2x20 JUMP_BACKWARD 1x20 RETURN_VALUE 0x0 STORE_FAST 1x20; "
	  "FOR_ITER-RETURN_VALUE 1 FOR_ITER-STORE_FAST 1 JUMP_BACKWARD-FOR_ITER 1 "
	  "STORE_FAST-JUMP_BACKWARD 1" },

	/* 7 is CALL_LEN, 4 CALL: what ran counts, not what the table has at the end */
	{ "in two forms", "S i8=4 i2=2 i8=4 i8=7 R", PROGRAM, OPCODES_BY_NAME,
	  "CALL 2x20 CALL>CALL_LEN 1x20 FOR_ITER 1x20; "
	  "CALL-CALL 1 CALL-FOR_ITER 1 FOR_ITER-CALL 1" },
	{ "said of some", "S i8 i8=4 i8 R", PROGRAM, OPCODES_BY_NAME,
	  "CALL 1x20 CALL>CALL_LEN 2x20; CALL-CALL 1 CALL-CALL 1" },

	/* two calls, of which one took the back-edge twice and the other three times */
	{ "derived", "S J J R S J J J R", PROGRAM, OPCODES_BY_COUNT,
	  "CALL>CALL_LEN 5x0 FOR_ITER 5x0 JUMP_BACKWARD 5x0 STORE_FAST 5x0 NOP 2x0 RETURN_VALUE 2x0; "
	  "CALL-JUMP_BACKWARD 5 FOR_ITER-STORE_FAST 5 JUMP_BACKWARD-FOR_ITER 5 STORE_FAST-CALL 5" },
	{ "derived, of the loop", "S J J R", LOOP, OPCODES_BY_COUNT,
	  "CALL>CALL_LEN 2x0 FOR_ITER 2x0 JUMP_BACKWARD 2x0 STORE_FAST 2x0; "
	  "CALL-JUMP_BACKWARD 2 FOR_ITER-STORE_FAST 2 JUMP_BACKWARD-FOR_ITER 2 STORE_FAST-CALL 2" },
};

static int add(struct opcodes *o, const struct world *w, enum scope scope)
{
	switch (scope) {
	case FUNCTION_F:
		return opcodes_add_function(o, w->f);
	case FUNCTION_G:
		return opcodes_add_function(o, w->g);
	case LOOP:
		return opcodes_add_loop(o, w->f->function->loops[0]);
	default:
		return opcodes_add_program(o, &w->trace.profile);
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;
		struct opcodes o = { 0 };
		char text[512] = "";
		FILE *f = fmemopen(text, sizeof(text), "w");

		open_world(&w, rows[i].events);
		o.source = opcodes_source(&w.trace.profile);
		assert_int_equal(add(&o, &w, rows[i].scope), 0);
		opcodes_sort(&o, rows[i].order);
		write_table(f, &o);
		fclose(f);
		if (strcmp(text, rows[i].table))
			fail_msg("%s: got '%s', want '%s'", rows[i].name, text, rows[i].table);
		opcodes_free(&o);
		close_world(&w);
	}
}

/* All opcodes, what ran before the first and beside gaps, and what has no name are all of the time. */
static void test_sums(void **state)
{
	static const char *const traces[] = {
		"S i0 i2 i6 R", "S R", "i0 S i2 G i6 R S i0 i2", "S i0 X i2 ?3 R", "S i0 g2 g6 ?1 ?2 G", "G G i0 G R",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(traces); i++) {
		struct world w;
		struct opcodes o = { .source = OPCODES_MEASURED };
		const struct profile *p = &w.trace.profile;

		open_world(&w, traces[i]);
		assert_int_equal(opcodes_add_program(&o, p), 0);
		assert_int_equal(o.ns + p->no_opcode.ns + p->unknown_opcode.ns, p->traced_ns);
		assert_int_equal(o.cycles + p->no_opcode.cycles + p->unknown_opcode.cycles, p->traced_cycles);
		assert_int_equal(o.n + p->unknown_opcode.n, p->events[OP_INSTRUCTION]);
		assert_int_equal(o.callbacks.least, CALLBACK * o.n);
		assert_int_equal(o.callbacks.most, 2 * CALLBACK * o.n);
		opcodes_free(&o);
		close_world(&w);
	}
}

static void test_two_interpreters(void **state)
{
	struct world w;
	struct process *other;
	struct opcodes o = { .source = OPCODES_MEASURED };

	(void)state;
	open_world(&w, "S i0 i2 R");
	other = codes_process(&w.codes, 2);
	other->opnames[FOR_ITER] = strdup("NOP"); /* the same name under another number */
	w.g->process = other;
	function_cost(w.g, 2)->n = 5;
	opcodes_add_program(&o, &w.trace.profile);
	opcodes_sort(&o, OPCODES_BY_COUNT);
	assert_int_equal(o.nrows, 2);
	assert_string_equal(o.rows[0].base, "NOP");
	assert_int_equal(o.rows[0].n, 6);
	opcodes_free(&o);
	close_world(&w);
}

static void test_calls_alone_tell_nothing(void **state)
{
	struct world w;
	struct opcodes o = { 0 };

	(void)state;
	open_world(&w, "S R");
	o.source = opcodes_source(&w.trace.profile);
	assert_int_equal(o.source, OPCODES_UNKNOWN);
	assert_int_equal(opcodes_add_program(&o, &w.trace.profile), 0);
	assert_int_equal(o.nrows, 0);
	w.trace.profile.mode = "adaptive"; /* a program without a loop */
	assert_int_equal(opcodes_source(&w.trace.profile), OPCODES_DERIVED);
	opcodes_free(&o);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_two_interpreters),
		cmocka_unit_test(test_calls_alone_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
