/* SPDX-License-Identifier: MIT */
/* test_costs.c - every ns at the place where it was spent, calls where they were made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/costs.h"

static struct codes codes;
static struct costs costs;
static struct code *code[2]; /* a, b: the first line is 1, the RESUME at 4 is of line 1, too */

static int set_up(void **state)
{
	static struct instr instrs[2];

	(void)state;
	codes_init(&codes, NULL);
	costs = (struct costs){ 0 };
	instrs[0] = (struct instr){ .offset = 4, .line = 1 };
	instrs[1] = (struct instr){ .offset = 6, .line = 2 };
	for (int i = 0; i < 2; i++) {
		code[i] = codes_intern(codes_process(&codes, 7), "m.py", i ? "b" : "a", 1);
		code[i]->entry = 4;
		code[i]->ninstrs = 2;
		code[i]->instrs = pool_take(&code[i]->process->pool, sizeof(instrs));
		memcpy(code[i]->instrs, instrs, sizeof(instrs));
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	costs_free(&costs);
	codes_free(&codes);
	return 0;
}

#define AWAY OP_HELLO /* the greenlet is switched away; OP_EXTENSION: back */

struct event {
	uint8_t op;
	int code;
	uint64_t ns;
	int64_t at;	/* LINE, INSTRUCTION */
	uint64_t start; /* PY_RETURN: when the activation began */
	int32_t tid;
	uint32_t interpreter;
	uint32_t greenlet, depth;
};

/* Cycles are twice the ns. */
static void feed(const struct event *e, size_t n)
{
	for (size_t i = 0; i < n; i++, e++) {
		struct activation a = { .pid = 7,
					.tid = e->tid,
					.interpreter = e->interpreter,
					.greenlet = e->greenlet,
					.depth = e->depth,
					.code = code[e->code],
					.op = e->op,
					.start_ns = e->op == OP_PY_RETURN || e->op == AWAY ? e->start : e->ns };
		struct sample s = { .op = e->op,
				    .pid = 7,
				    .tid = e->tid,
				    .interpreter = e->interpreter,
				    .time = e->ns,
				    .cycles = 2 * e->ns,
				    .code = code[e->code],
				    .offset = e->at };

		a.start_cycles = 2 * a.start_ns;
		assert_int_equal(costs_sample(&costs, &s), 0);
		if (e->op == OP_PY_RETURN)
			assert_int_equal(costs_leave(&costs, &a, LEAVE_RETURN, e->ns, 2 * e->ns), 0);
		else if (e->op == AWAY)
			assert_int_equal(costs_leave(&costs, &a, LEAVE_AWAY, e->ns, 2 * e->ns), 0);
		else if (e->op != OP_LINE && e->op != OP_INSTRUCTION)
			assert_int_equal(costs_enter(&costs, &a), 0);
	}
}

#define FEED(events) feed(events, sizeof(events) / sizeof(*(events)))

static void check(const char *wanted)
{
	static const char kinds[] = "*LI";
	char text[512] = "";

	for (uint32_t i = 0; i < costs.nplaces; i++) {
		const struct place *p = &costs.places[i];

		assert_int_equal(p->cycles, 2 * p->ns);
		sprintf(text + strlen(text), "%s%c%d:%d/%d ", p->code->qualname, kinds[p->kind], (int)p->at, (int)p->ns,
			(int)p->instructions);
	}
	for (uint32_t i = 0; i < costs.ncalls; i++) {
		const struct place_calls *c = &costs.calls[i];
		const struct place *from = &costs.places[c->from];

		assert_int_equal(c->cycles, 2 * c->ns);
		sprintf(text + strlen(text), "%s%c%d>%s*%d:%d/%d ", from->code->qualname, kinds[from->kind],
			(int)from->at, c->callee->qualname, (int)c->calls, (int)c->ns, (int)c->instructions);
	}
	assert_string_equal(text, wanted);
}

static void test_whole(void **state)
{
	static const struct event events[] = {
		{ OP_PY_START, 0, 100, .tid = 1 },
		{ OP_PY_START, 1, 110, .tid = 1 },
		{ OP_PY_RETURN, 1, 140, .start = 110, .tid = 1 },
		{ OP_PY_RESUME, 1, 145, .tid = 1 },
		{ OP_PY_RETURN, 1, 146, .start = 145, .tid = 1 },
		{ OP_PY_RETURN, 0, 200, .start = 100, .tid = 1 },
		{ OP_JUMP, 1, 300, .tid = 1 }, /* adopted: nobody called it */
		{ OP_PY_RETURN, 1, 303, .start = 300, .tid = 1 },
	};

	(void)state;
	FEED(events);
	check("a*0:69/0 b*0:34/0 a*0>b*2:31/0 ");
	assert_false(costs.stepped);
}

/* The LINE of a callee's def comes before its PY_START and moves nobody, same code or not. */
static void test_lines(void **state)
{
	static const struct event events[] = {
		{ OP_LINE, 0, 99, 1, .tid = 1 },
		{ OP_PY_START, 0, 100, .tid = 1 },
		{ OP_LINE, 0, 103, 2, .tid = 1 },
		{ OP_LINE, 0, 105, 1, .tid = 1 },
		{ OP_PY_START, 0, 106, .tid = 1 },
		{ OP_LINE, 0, 107, 3, .tid = 1 },
		{ OP_PY_RETURN, 0, 110, .start = 106, .tid = 1 },
		{ OP_LINE, 1, 111, 1, .tid = 1 },
		{ OP_PY_START, 1, 112, .tid = 1 },
		{ OP_PY_RETURN, 1, 120, .start = 112, .tid = 1 },
		{ OP_LINE, 0, 121, 3, .tid = 1 },
		{ OP_LINE, 0, 115, 2, .tid = 1 }, /* a clock that was set back: nothing is negative */
		{ OP_PY_RETURN, 0, 125, .start = 100, .tid = 1 },
	};

	(void)state;
	FEED(events);
	check("a*0:4/0 aL2:10/0 aL1:0/0 aL3:3/0 b*0:8/0 aL2>a*1:0/0 aL2>b*1:8/0 ");
}

/* Back in its first line: from there it calls another one, itself, and goes on with itself as a generator. */
static void test_back_in_the_first_line(void **state)
{
	static const struct event events[] = {
		{ OP_LINE, 0, 99, 1, .tid = 1 },
		{ OP_PY_START, 0, 100, .tid = 1 },
		{ OP_LINE, 0, 102, 2, .tid = 1 },
		{ OP_LINE, 0, 110, 1, .tid = 1 }, /* its own */
		{ OP_LINE, 1, 115, 1, .tid = 1 },
		{ OP_PY_START, 1, 116, .tid = 1 },
		{ OP_PY_RETURN, 1, 120, .start = 116, .tid = 1 },
		{ OP_LINE, 0, 122, 1, .tid = 1 }, /* its callee's */
		{ OP_PY_START, 0, 123, .tid = 1 },
		{ OP_PY_RETURN, 0, 130, .start = 123, .tid = 1 },
		{ OP_LINE, 0, 150, 3, .tid = 1 },
		{ OP_LINE, 0, 160, 1, .tid = 1 }, /* its own */
		{ OP_PY_RESUME, 0, 161, .tid = 1 },
		{ OP_PY_RETURN, 0, 163, .start = 161, .tid = 1 },
		{ OP_PY_RETURN, 0, 170, .start = 100, .tid = 1 },
	};

	(void)state;
	FEED(events);
	check("a*0:11/0 aL2:8/0 aL1:37/0 b*0:4/0 aL3:10/0 aL1>b*1:4/0 aL1>a*2:0/0 ");
}

static void test_instructions(void **state)
{
	static const struct event events[] = {
		{ OP_INSTRUCTION, 0, 99, 4, .tid = 1 },
		{ OP_PY_START, 0, 100, .tid = 1 },
		{ OP_INSTRUCTION, 0, 101, 6, .tid = 1 },
		{ OP_LINE, 0, 102, 2, .tid = 1 }, /* says less than the instruction */
		{ OP_INSTRUCTION, 1, 104, 4, .tid = 1 },
		{ OP_PY_START, 1, 106, .tid = 1 },
		{ OP_INSTRUCTION, 1, 107, 6, .tid = 1 },
		{ OP_PY_RETURN, 1, 110, .start = 106, .tid = 1 },
		{ OP_INSTRUCTION, 0, 112, 8, .tid = 1 },
		{ OP_PY_RETURN, 0, 115, .start = 100, .tid = 1 },
	};

	(void)state;
	FEED(events);
	assert_true(costs.stepped);
	check("aI4:0/1 a*0:1/0 aI6:7/1 bI4:0/1 b*0:1/0 bI6:3/1 aI8:3/1 aI6>b*1:4/1 ");
}

static void test_stacks(void **state)
{
	static const struct event events[] = {
		{ OP_PY_START, 0, 100, .tid = 1 },
		{ OP_PY_START, 0, 102, .tid = 2 },
		{ OP_PY_START, 1, 105, .tid = 1, .interpreter = 2 },
		{ OP_PY_RETURN, 0, 107, .start = 102, .tid = 2 },
		{ OP_PY_RETURN, 1, 109, .start = 105, .tid = 1, .interpreter = 2 },
		{ OP_PY_START, 1, 110, .tid = 1 },
		{ OP_PY_RETURN, 1, 112, .start = 110, .tid = 1 },
		{ OP_PY_RETURN, 0, 120, .start = 100, .tid = 1 },
	};

	(void)state;
	FEED(events);
	check("a*0:19/0 b*0:6/0 a*0>b*1:2/0 "); /* interpreters nest, but do not call */
}

/* A greenlet goes on in its lines, in the call that it was in; another one's frames are its own. */
static void test_away(void **state)
{
	static const struct event events[] = {
		{ OP_PY_START, 0, 0, .greenlet = 1 },
		{ OP_LINE, 0, 0, 2, .greenlet = 1 },
		{ OP_PY_START, 1, 10, .greenlet = 1, .depth = 1 },
		{ OP_LINE, 1, 10, 2, .greenlet = 1, .depth = 1 },
		{ AWAY, 1, 15, .start = 10, .greenlet = 1, .depth = 1 },
		{ AWAY, 0, 15, .start = 0, .greenlet = 1 },
		{ OP_PY_START, 1, 20, .greenlet = 2 },
		{ OP_PY_RETURN, 1, 50, .start = 20, .greenlet = 2 },
		{ OP_EXTENSION, 0, 60, .greenlet = 1 },
		{ OP_EXTENSION, 1, 60, .greenlet = 1, .depth = 1 },
		{ OP_PY_RETURN, 1, 67, .start = 60, .greenlet = 1, .depth = 1 },
		{ OP_PY_RETURN, 0, 70, .start = 60, .greenlet = 1 },
	};

	(void)state;
	FEED(events);
	check("a*0:0/0 aL2:13/0 b*0:30/0 bL2:12/0 aL2>b*1:12/0 ");
}

/* Of two processes: what they ran of the same code adds up, the calls from a place, too. */
static void test_joined(void **state)
{
	static const struct event events[] = {
		{ OP_PY_START, 0, 0, .tid = 1 },
		{ OP_LINE, 0, 0, 2, .tid = 1 },
		{ OP_PY_START, 1, 10, .tid = 1 },
		{ OP_LINE, 1, 10, 2, .tid = 1 },
		{ OP_PY_RETURN, 1, 15, .start = 10, .tid = 1 },
		{ OP_PY_RETURN, 0, 20, .start = 0, .tid = 1 },
	};
	static const struct event others[] = {
		{ OP_PY_START, 1, 0, .tid = 2 },
		{ OP_PY_RETURN, 1, 4, .start = 0, .tid = 2 },
		{ OP_PY_START, 0, 5, .tid = 2 },
		{ OP_LINE, 0, 5, 2, .tid = 2 },
		{ OP_PY_START, 1, 6, .tid = 2 },
		{ OP_PY_RETURN, 1, 9, .start = 6, .tid = 2 },
		{ OP_PY_RETURN, 0, 9, .start = 5, .tid = 2 },
	};
	struct costs other;

	(void)state;
	FEED(others);
	other = costs;
	costs = (struct costs){ 0 };
	FEED(events);
	assert_int_equal(costs_join(&costs, &other), 0);
	costs_free(&other);
	check("a*0:0/0 aL2:16/0 b*0:7/0 bL2:5/0 aL2>b*2:8/0 ");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_whole),	 TEST(test_lines),  TEST(test_back_in_the_first_line),
		TEST(test_instructions), TEST(test_stacks), TEST(test_away),
		TEST(test_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
