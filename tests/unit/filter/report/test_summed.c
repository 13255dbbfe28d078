/* SPDX-License-Identifier: MIT */
/* test_summed.c - one place in several processes is one row; own code first, what is hot in libraries next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "report/summed.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define LIB	 "/lib/python3.13/"
#define SITE	 LIB "site-packages/"

static const struct {
	int32_t pid;
	const char *file, *qualname;
	int64_t line;
	uint64_t self_ns, off_ns;
	int64_t head; /* 0: no loop */
	uint64_t trip;
} codes_in[] = {
	{ 7, "/a.py", "f", 5, 100, 20, 10, 3 },
	{ 8, "/a.py", "f", 5, 300, 0, 10, 5 },
	{ 9, "/a.py", "f", 5, 50, 0, 20, 7 },
	{ 7, "/a.py", "f", 6, 10, 0, 0, 0 },
	{ 7, "/b.py", "f", 5, 20, 0, 0, 0 },
	{ 7, LIB "json/decoder.py", "scan", 1, 200, 0, 10, 1 },
	{ 7, LIB "re/_parser.py", "parse", 1, 60, 0, 0, 0 },
	{ 8, SITE "x.py", "x", 1, 200, 199, 0, 0 },
	{ 8, SITE "x.py", "<module>", 1, 60, 0, 0, 0 },
};

static void make(struct codes *codes, struct profile *p)
{
	codes_init(codes, NULL);
	for (size_t i = 0; i < COUNT(codes_in); i++) {
		struct code *code = codes_intern(codes_process(codes, codes_in[i].pid), codes_in[i].file,
						 codes_in[i].qualname, codes_in[i].line);
		struct function *f = function_of(code);

		f->self_ns = f->total_ns = codes_in[i].self_ns;
		f->self_off.ns = f->total_off.ns = codes_in[i].off_ns;
		f->calls = 1;
		assert_int_equal(pids_add(&f->pids, codes_in[i].pid), 0);
		p->traced_ns += f->self_ns;
		p->traced_off.ns += codes_in[i].off_ns;
		if (!codes_in[i].head)
			continue;
		function_loop(code, codes_in[i].head)->own_time = codes_in[i].self_ns;
		function_loop(code, codes_in[i].head)->iterations = 2;
		stat_add(&function_loop(code, codes_in[i].head)->cycles, codes_in[i].trip);
	}
	p->threads = 1;
	p->codes = codes;
}

static void describe(char *text, const struct summed *all, size_t n)
{
	*text = 0;
	for (size_t i = 0; i < n; i++)
		sprintf(text + strlen(text), "%s:%d %s*%u=%d%s ", strrchr(all[i].code->file, '/') + 1,
			(int)all[i].code->firstlineno, origin_key(all[i].origin), all[i].pids.n,
			(int)(all[i].own_ns - all[i].own_off.ns), all[i].first ? "" : "-");
}

/* 779 are on a CPU in all: 78 are a tenth of it. */
static void test_functions(void **state)
{
	struct codes codes;
	struct profile p = { 0 };
	struct summed *all;
	char text[512];
	size_t n;

	(void)state;
	make(&codes, &p);
	all = summed_functions(&p, &n, true);
	describe(text, all, n);
	assert_string_equal(text, "a.py:5 own*3=430 b.py:5 own*1=20 a.py:6 own*1=10 decoder.py:1 stdlib*1=200 "
				  "_parser.py:1 stdlib*1=60- x.py:1 imports*1=60- x.py:1 site*1=1- ");
	assert_int_equal(all[0].code->process->pid, 8);
	assert_int_equal(all[0].n, 3);
	assert_int_equal(all[0].ns, 450);
	summed_free(all, n);
	all = summed_functions(&p, &n, false);
	describe(text, all, n);
	assert_string_equal(text, "a.py:5 own*3=430 decoder.py:1 stdlib*1=200 _parser.py:1 stdlib*1=60 "
				  "x.py:1 imports*1=60 b.py:5 own*1=20 a.py:6 own*1=10 x.py:1 site*1=1 ");
	summed_free(all, n);
	codes_free(&codes);
}

/* Where the program has next to nothing itself, libraries have rows, not imports: three at most, of 1 % and more. */
static void test_few_own(void **state)
{
	static const struct {
		const char *file, *qualname;
		uint64_t self_ns;
	} few[] = { { "/a.py", "f", 1 },      { SITE "b.py", "f", 900 }, { SITE "g.py", "<module>", 80 },
		    { SITE "c.py", "f", 71 }, { LIB "d.py", "f", 40 },	 { SITE "e.py", "f", 39 },
		    { LIB "f.py", "f", 9 } };
	struct codes codes;
	struct profile p = { .codes = &codes, .threads = 1 };
	struct summed *all;
	char text[512];
	size_t n;

	(void)state;
	codes_init(&codes, NULL);
	for (size_t i = 0; i < COUNT(few); i++) {
		function_of(codes_intern(codes_process(&codes, 7), few[i].file, few[i].qualname, 1))->self_ns =
			few[i].self_ns;
		p.traced_ns += few[i].self_ns;
	}
	all = summed_functions(&p, &n, true);
	describe(text, all, n);
	assert_string_equal(text, "b.py:1 site*0=900 c.py:1 site*0=71 d.py:1 stdlib*0=40 g.py:1 imports*0=80- "
				  "e.py:1 site*0=39- f.py:1 stdlib*0=9- a.py:1 own*0=1- ");
	summed_free(all, n);
	codes_free(&codes);
}

/* C functions are apart, and one place, whatever the process. */
static void test_c_functions(void **state)
{
	struct codes codes;
	struct profile p = { 0 };
	struct summed *all;
	size_t before, n;

	(void)state;
	make(&codes, &p);
	all = summed_functions(&p, &before, true);
	summed_free(all, before);
	for (int32_t pid = 7; pid < 9; pid++) {
		struct code *code = codes_intern(codes_process(&codes, pid), CODE_C_FILE, "zlib.compress", 0);

		code->c = true;
		assert_int_equal(pids_add(&function_of(code)->pids, pid), 0);
		function_of(code)->self_ns = function_of(code)->total_ns = 10 * pid;
		function_of(code)->calls = 1;
	}
	all = summed_functions(&p, &n, true);
	assert_int_equal(n, before);
	summed_free(all, n);
	all = summed_c_functions(&p, &n);
	assert_int_equal(n, 1);
	assert_true(all[0].pids.n == 2 && all[0].n == 2 && all[0].own_ns == 150);
	summed_free(all, n);
	codes_free(&codes);
}

static void test_loops(void **state)
{
	struct codes codes;
	struct profile p = { 0 };
	struct summed *all;
	size_t n;

	(void)state;
	make(&codes, &p);
	all = summed_loops(&p, &n, true);
	assert_int_equal(n, 3);
	assert_int_equal(all[0].pids.n, 2);
	assert_int_equal(all[0].loop->head, 10);
	assert_int_equal(all[0].n, 4);
	assert_int_equal(all[0].cycles.n, 2);
	assert_int_equal(all[0].cycles.sum, 8);
	assert_int_equal(all[0].cycles.max, 5);
	assert_int_equal(all[1].loop->head, 20);
	assert_int_equal(all[2].origin, ORIGIN_STDLIB);
	summed_free(all, n);
	codes_free(&codes);
}

/* Where nobody says when threads were on a CPU, waits are what the program tells; without these, all time counts. */
static void test_ranked_by(void **state)
{
	struct codes codes = { 0 };
	struct profile p = { .codes = &codes, .threads = 1 };
	const struct off off = { 30, 20 };

	(void)state;
	assert_int_equal(summed_busy(&p, 100, off, 25), 70);
	p.unseen = 1;
	assert_int_equal(summed_busy(&p, 100, off, 25), 75);
	assert_int_equal(summed_busy(&p, 100, off, 0), 100);
	assert_int_equal(summed_busy(&p, 100, off, 101), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_few_own),   cmocka_unit_test(test_c_functions),
		cmocka_unit_test(test_loops),	  cmocka_unit_test(test_ranked_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
