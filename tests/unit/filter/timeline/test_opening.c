/* SPDX-License-Identifier: MIT */
/* test_opening.c - what of a trace is seen at first, of programs that import, call a main function, or have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "timeline/opening.h"

static struct codes codes;
static struct opening opening;

static const struct {
	const char *file, *qualname;
} places[] = {
	['r'] = { "/usr/lib/python3.12/runpy.py", "_run_code" },
	['i'] = { "<frozen importlib._bootstrap>", "_find_and_load" },
	['p'] = { "/src/shop/__init__.py", "<module>" },
	['m'] = { "/src/app.py", "<module>" },
	['f'] = { "/src/app.py", "main" },
	['g'] = { "/src/app.py", "g" },
};

/* A letter begins a call, its capital ends it, a point is 10 ns. */
static void run(const char *what, int32_t tid)
{
	struct activation open[8];
	uint64_t ns = 100;
	uint32_t n = 0;

	for (const char *at = what; *at; at++) {
		if (*at == '.') {
			ns += 10;
		} else if (*at >= 'a') {
			struct code *code = codes_intern(codes_process(&codes, 7), places[(int)*at].file,
							 places[(int)*at].qualname, 1);

			open[n] = (struct activation){ .pid = 7, .tid = tid, .code = code, .depth = n, .start_ns = ns };
			opening_enter(&opening, &codes, &open[n++]);
		} else {
			opening_leave(&opening, &codes, &open[--n], ns);
		}
	}
}

static void expect(const char *what, uint64_t from, uint64_t until)
{
	uint64_t got_from = 0, got_until = 0;

	opening = (struct opening){ 0 };
	run(what, 7);
	assert_int_equal(opening_span(&opening, &got_from, &got_until), from < until);
	if (from < until) {
		assert_int_equal(got_from, from);
		assert_int_equal(got_until, until);
	}
}

static int set_up(void **state)
{
	(void)state;
	codes_init(&codes, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	codes_free(&codes);
	return 0;
}

static void test_programs(void **state)
{
	(void)state;
	expect("m.i...p...PI.f.....F.M", 180, 230);	/* main() after imports */
	expect("m.i....I.g.G.g.G.g.G.g.G.M", 150, 240); /* no call is half of what comes after the imports */
	expect("m....M", 100, 140);			/* neither imports nor calls */
	expect("m.f.....F.i.IM", 110, 160);		/* an import at the end is no part of it */
	expect("ri..p.P.Im.f..FMR", 150, 170);		/* python -m: the module further out, not that of its package */
	expect("f..F", 0, 0);				/* no module */
	expect("m.f...", 0, 0);				/* it never ended */
}

/* Modules that other threads import are none of it. */
static void test_other_thread(void **state)
{
	uint64_t from, until;

	(void)state;
	opening = (struct opening){ 0 };
	run("ip...PI", 8);
	assert_false(opening_span(&opening, &from, &until));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_programs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_thread, set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
