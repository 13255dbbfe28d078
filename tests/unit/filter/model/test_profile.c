/* SPDX-License-Identifier: MIT */
/* test_profile.c - the order in which people want to read it, the same for equal traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/profile.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	int32_t pid;
	const char *file, *qualname;
	int64_t line;
	uint64_t self_ns;
	int64_t head; /* 0: no loop */
	uint64_t loop_ns, iterations;
} codes_in[] = {
	{ 7, "b.py", "late", 9, 50, 10, 5, 3 },	   { 7, "a.py", "hot", 5, 900, 10, 700, 1 },
	{ 7, "a.py", "same", 9, 50, 20, 5, 9 },	   { 7, "a.py", "also", 9, 50, 0, 0, 0 },
	{ 8, "a.py", "also", 9, 50, 10, 5, 3 },	   { 7, "a.py", "idle", 1, 0, 0, 0, 0 },
	{ 7, "a.py", "early", 2, 50, 10, 900, 1 },
};

static void make(struct codes *codes)
{
	codes_init(codes, NULL);
	for (size_t i = 0; i < COUNT(codes_in); i++) {
		struct code *code = codes_intern(codes_process(codes, codes_in[i].pid), codes_in[i].file,
						 codes_in[i].qualname, codes_in[i].line);

		function_of(code)->self_ns = codes_in[i].self_ns;
		if (!codes_in[i].head)
			continue;
		function_loop(code, codes_in[i].head)->time = codes_in[i].loop_ns;
		function_loop(code, codes_in[i].head)->iterations = codes_in[i].iterations;
	}
	codes_intern(codes_process(codes, 7), "a.py", "never ran", 1);
}

static void append(char *text, const struct code *code)
{
	sprintf(text + strlen(text), "%s%d ", code->qualname, code->process->pid);
}

static void test_functions(void **state)
{
	struct codes codes;
	struct profile p = { .codes = &codes };
	char text[256] = "";
	size_t n = 0;
	struct code **all;

	(void)state;
	make(&codes);
	all = profile_functions(&p, &n, RANK_TIME);
	for (size_t i = 0; i < n; i++)
		append(text, all[i]);
	assert_string_equal(text, "hot7 early7 also7 also8 same7 late7 idle7 ");
	free(all);
	codes_free(&codes);
}

static void test_loops(void **state)
{
	struct codes codes;
	struct profile p = { .codes = &codes };
	char text[256] = "";
	size_t n = 0;
	struct loop **all;

	(void)state;
	make(&codes);
	all = profile_loops(&p, &n, RANK_TIME);
	for (size_t i = 0; i < n; i++)
		append(text, all[i]->code);
	assert_string_equal(text, "early7 hot7 same7 also8 late7 ");
	free(all);
	codes_free(&codes);
}

static void test_nothing_ran(void **state)
{
	struct codes codes;
	struct profile p = { .codes = &codes };
	size_t functions = 1, loops = 1;
	void *f, *l;

	(void)state;
	codes_init(&codes, NULL);
	f = profile_functions(&p, &functions, RANK_TIME);
	l = profile_loops(&p, &loops, RANK_TIME);
	assert_non_null(f);
	assert_non_null(l);
	assert_int_equal(functions + loops, 0);
	free(f);
	free(l);
	codes_free(&codes);
}

/* The one that the others came from is first, whatever pids the system gave and whatever order tables were read in. */
static void test_processes(void **state)
{
	static const int32_t pids[] = { 40, 900, 12, 7, 30, 25, 900001 };
	struct codes codes;
	struct profile p = { .codes = &codes };
	char text[256] = "";
	size_t n = 0;
	const struct process **all;

	(void)state;
	codes_init(&codes, NULL);
	for (size_t i = 0; i < COUNT(pids); i++) {
		struct process *made = codes_process(&codes, pids[i]);

		made->found = pids[i] != 7; /* its table is missing, or says why it was not traced */
		made->parent = pids[i] == 30 || pids[i] == 900 || pids[i] == 7 ? -1 : 30;
	}
	all = profile_processes(&p, &n);
	for (size_t i = 0; i < n; i++)
		sprintf(text + strlen(text), "%d ", all[i]->pid);
	assert_string_equal(text, "30 7 12 25 40 900 900001 ");
	free(all);
	codes_free(&codes);
}

static void test_share(void **state)
{
	struct profile p = { .traced_ns = 400 }, empty = { 0 };
	struct loop loop = { .time = 100 };

	(void)state;
	assert_true(profile_share(&p, &loop) == 0.25);
	loop.own_time = 1;
	assert_true(profile_own_share(&p, &loop) * p.traced_ns == 1);
	assert_true(profile_own_share(&empty, &loop) == 0);
	assert_true(profile_share(&empty, &loop) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_loops), cmocka_unit_test(test_nothing_ran),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
