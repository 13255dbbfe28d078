/* SPDX-License-Identifier: MIT */
/* test_charge.c - a thread's time, divided over what it runs: every ns and cycle goes to one place, the right one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/charge.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { LOAD = 1, ADD, ADD_INT };

static struct process process = { .opnames = { [LOAD] = "LOAD", [ADD] = "ADD", [ADD_INT] = "ADD_INT" } };
static struct instr instrs[] = { { .offset = 0, .base = LOAD, .adaptive = LOAD },
				 { .offset = 2, .base = ADD, .adaptive = ADD_INT } };

static struct code make_code(uint32_t n)
{
	return (struct code){ .process = &process, .instrs = instrs, .ninstrs = n };
}

static void next(struct charged *c, struct code *code, int64_t offset, uint8_t opcode, uint64_t ns, struct profile *p)
{
	struct sample s = {
		.op = OP_INSTRUCTION, .opcode = opcode, .code = code, .offset = offset, .time = ns, .cycles = 3 * ns
	};

	assert_non_null(function_of(code));
	assert_int_equal(charge_next(c, &s, p), 0);
}

static void assert_cost(const struct instr_cost *cost, uint64_t n, uint64_t timed, uint64_t ns)
{
	assert_int_equal(cost->n, n);
	assert_int_equal(cost->timed, timed);
	assert_int_equal(cost->ns, ns);
	assert_int_equal(cost->cycles, 3 * ns);
}

/* The time up to the next one is the instruction's, in whosever code that is. */
static void test_instructions(void **state)
{
	struct code code = make_code(COUNT(instrs)), callee = make_code(COUNT(instrs));
	struct charged c = { .ns = 100, .cycles = 300 };
	struct profile p = { 0 };

	(void)state;
	next(&c, &code, 0, 0, 110, &p);
	next(&c, &code, 2, 0, 111, &p);
	next(&c, &callee, 0, 0, 115, &p);
	next(&c, &code, 0, 0, 130, &p);
	charge_last(&c, 137, 3 * 137, &p);
	assert_null(c.instr);
	assert_cost(&p.no_opcode, 0, 1, 10);
	assert_cost(&code.function->costs[0], 2, 2, 1 + 7);
	assert_cost(&code.function->costs[1], 1, 1, 4);
	assert_cost(&callee.function->costs[0], 1, 1, 15);
	function_free(&code);
	function_free(&callee);
}

/* A pair is what ran of the first and of the second; none leads out of code that is not known, nor over an end. */
static void test_pairs(void **state)
{
	struct code code = make_code(COUNT(instrs)), unknown = make_code(0);
	const struct follower *pair;
	struct charged c = { 0 };
	struct profile p = { 0 };

	(void)state;
	next(&c, &code, 2, 0, 1, &p);
	next(&c, &code, 0, 0, 2, &p);
	next(&c, &unknown, 0, 0, 3, &p);
	next(&c, &code, 0, 0, 4, &p);
	charge_last(&c, 5, 15, &p);
	next(&c, &code, 2, 0, 6, &p);
	assert_int_equal(code.function->costs[1].nfollowers, 1);
	pair = code.function->costs[1].followers;
	assert_int_equal(pair->from, ADD_INT);
	assert_int_equal(pair->base, LOAD);
	assert_int_equal(pair->adaptive, LOAD);
	assert_int_equal(pair->n, 1);
	assert_int_equal(pair->ns, 1); /* until the one that is not known */
	assert_int_equal(code.function->costs[0].nfollowers, 0);
	assert_cost(&p.unknown_opcode, 1, 1, 1);
	assert_int_equal(p.unknown_opcode.nfollowers, 0);
	assert_cost(&p.no_opcode, 0, 2, 1 + 1);
	function_free(&code);
	function_free(&unknown);
}

/* Where the sample says what ran, that form is charged beside the instruction. */
static void test_forms(void **state)
{
	struct code code = make_code(COUNT(instrs)), unknown = make_code(0);
	struct charged c = { 0 };
	struct profile p = { 0 };
	const struct instr_cost *cost;

	(void)state;
	next(&c, &code, 2, ADD, 10, &p);
	next(&c, &code, 2, ADD_INT, 14, &p);
	next(&c, &code, 2, ADD_INT, 15, &p);
	next(&c, &unknown, 0, 0, 17, &p);
	charge_last(&c, 18, 54, &p);
	assert_int_equal(p.unknown_opcode.nforms, 0);
	cost = &code.function->costs[1];
	assert_cost(cost, 3, 3, 7);
	assert_int_equal(cost->nforms, 2);
	assert_int_equal(cost->forms[0].opcode, ADD);
	assert_int_equal(cost->forms[0].ns, 4);
	assert_int_equal(cost->forms[1].opcode, ADD_INT);
	assert_int_equal(cost->forms[1].n, 2);
	assert_int_equal(cost->forms[1].timed, 2);
	assert_int_equal(cost->forms[1].cycles, 3 * 3);
	function_free(&code);
	function_free(&unknown);
}

/* Without what the activation called meanwhile. */
static void test_lines(void **state)
{
	struct frame f = { .a = { .start_cycles = 1000 } };
	struct line_cost first = { 0 }, second = { 0 };

	(void)state;
	charge_line(&f, 1010, &first); /* the ten before the first LINE are no line's */
	f.a.callee_cycles = 500;
	charge_line(&f, 1530, &second);
	charge_line(&f, 1533, &first);
	charge_line(&f, 1534, NULL);
	charge_line(&f, 1999, NULL);
	assert_int_equal(first.n, 2);
	assert_int_equal(first.cycles, 20 + 1);
	assert_int_equal(second.n, 1);
	assert_int_equal(second.cycles, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
