/* SPDX-License-Identifier: MIT */
/* test_compiled.c - lines of two processes become rows of loops: each with the right loop, most time first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "code/codes.h"
#include "code/codes_read.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* `two` has loops of lines 3 and 5, `one` of line 3 with two back-edges; offset 2 is its RESUME, of line 1. */
static const struct instr instrs[] = {
	{ .offset = 2, .line = 1 },
	{ .offset = 10, .line = 4, .back_edge = true },
	{ .offset = 20, .line = 6, .back_edge = true },
};
static const struct back_edge two[] = { { 10, 4, 3 }, { 20, 14, 5 } }, one[] = { { 10, 4, 3 }, { 20, 4, 3 } };

static void add_code(struct process *p, uint32_t id, const char *name, const struct back_edge *back_edges)
{
	struct code *code = codes_add(p, id);

	assert_non_null(code);
	code->file = pool_print(&p->pool, "a.py");
	code->qualname = pool_print(&p->pool, "%s", name);
	code->firstlineno = id;
	code->instrs = pool_take(&p->pool, sizeof(instrs));
	memcpy(code->instrs, instrs, sizeof(instrs));
	code->ninstrs = COUNT(instrs);
	code->back_edges = pool_take(&p->pool, sizeof(two));
	memcpy(code->back_edges, back_edges, sizeof(two));
	code->nback_edges = COUNT(two);
	code->known = true;
}

static void check(struct codes *codes, const char *wanted)
{
	char text[256] = "";
	size_t n;
	struct compiled_row *rows = compiled_rows(codes, &n);

	assert_non_null(rows);
	for (size_t i = 0; i < n; i++)
		sprintf(text + strlen(text), "%s:%d %dx%d; ", rows[i].code->qualname, (int)rows[i].line, (int)rows[i].n,
			(int)rows[i].ns);
	free(rows);
	assert_string_equal(text, wanted);
}

static void test_rows(void **state)
{
	static const struct compiled_run runs[] = {
		{ 1, 0x1000, 1, 10 }, { 1, 0x2000, 2, 20 }, { 1, 0x1000, 1, 1 },   { 1, 0x9000, 1, 5 },
		{ 1, 0, 1, 6 },	      { 2, 0x9000, 1, 3 },  { 2, 0x3000, 1, 100 }, { 7, 0x1000, 1, 50 },
	};
	struct codes codes;
	struct process *p;

	(void)state;
	codes_init(&codes, NULL);
	p = codes_process(&codes, 1);
	check(&codes, "");
	add_code(p, 1, "two", two);
	add_code(p, 2, "one", one);
	assert_int_equal(compiled_add_executor(&p->compiled, 1, 10, 0x1000), 0);
	assert_int_equal(compiled_add_executor(&p->compiled, 1, 20, 0x2000), 0);
	assert_int_equal(compiled_add_executor(&p->compiled, 2, 2, 0x3000), 0);
	assert_int_equal(compiled_add_executor(&p->compiled, 2, 20, 0x1000), 0); /* another's address by then */
	for (size_t i = 0; i < COUNT(runs); i++)
		assert_int_equal(compiled_add_run(&p->compiled, runs[i]), 0);
	check(&codes, "one:1 1x100; two:5 2x20; two:0 2x11; two:3 2x11; one:3 1x3; ");
	assert_int_equal(compiled_ns_of(&codes), 195);
	codes_free(&codes);
}

/* A fork has its parent's code, and where it tells of no executors, those. A parent may be missing. */
static void test_forks(void **state)
{
	struct codes codes;
	struct process *p;

	(void)state;
	codes_init(&codes, NULL);
	p = codes_process(&codes, 1);
	add_code(p, 1, "two", two);
	assert_int_equal(compiled_add_executor(&p->compiled, 1, 20, 0x2000), 0);
	for (int pid = 2; pid < 40; pid++) {
		p = codes_process(&codes, pid);
		p->parent = pid == 2 ? 1 : 1000 + pid;
		p->first_id = 9;
		assert_int_equal(compiled_add_run(&p->compiled, (struct compiled_run){ 1, 0x2000, 1, 10 }), 0);
	}
	check(&codes, "two:5 1x10; ");
	codes_free(&codes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_forks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
