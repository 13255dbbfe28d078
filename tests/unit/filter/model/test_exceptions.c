/* SPDX-License-Identifier: MIT */
/* test_exceptions.c - journeys of exceptions: steps, and what is known of them afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/exceptions.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct process process;
static struct code type = { .file = (char *)"<exception>", .qualname = (char *)"E", .id = 1, .process = &process };
/* Another one of that name, as of a class that a function makes. */
static struct code again = { .file = (char *)"<exception>", .qualname = (char *)"E", .id = 2, .process = &process };
static struct code code = { .file = (char *)"a.py", .qualname = (char *)"f", .id = 3, .process = &process };
static struct code in_c = {
	.file = (char *)"~", .qualname = (char *)"sorted", .id = 4, .process = &process, .c = true
};
static struct code import = {
	.file = (char *)"<frozen importlib._bootstrap>", .qualname = (char *)"g", .id = 5, .process = &process
};
static struct code zip = {
	.file = (char *)"<frozen zipimport>", .qualname = (char *)"h", .id = 6, .process = &process
};

enum what { END, FIRST, RAISE, RERAISE, HANDLE, UNWIND, UNWIND_C, UNWIND_IMPORT, UNWIND_ZIP, RETURN, LOSE, OTHER_TYPE };

struct step {
	enum what what;
	uint32_t depth;
	int line_or_object; /* of a RAISE the object; its line is 1 */
};

/* One journey in a case if `rows` is 1. */
static const struct {
	const char *name;
	struct step steps[12];
	size_t rows;
	uint64_t n, handled, dropped, left, frames, most;
	int64_t handler; /* line of most; 0: none */
} cases[] = {
	{ "handled where it is raised", { { FIRST, 3, 7 }, { HANDLE, 3, 5 } }, 1, 1, 1, 0, 0, 0, 0, 5 },
	{ "through two frames",
	  { { FIRST, 3, 7 }, { UNWIND, 3, 0 }, { RAISE, 2, 7 }, { UNWIND, 2, 0 }, { RAISE, 1, 7 }, { HANDLE, 1, 5 } },
	  1,
	  1,
	  1,
	  0,
	  0,
	  2,
	  2,
	  5 },
	{ "finally raises it again",
	  { { FIRST, 2, 7 }, { HANDLE, 2, 4 }, { RAISE, 2, 7 }, { UNWIND, 2, 0 }, { RAISE, 1, 7 }, { HANDLE, 1, 5 } },
	  1,
	  1,
	  1,
	  0,
	  0,
	  1,
	  1,
	  5 },
	{ "a loop that handles it twice",
	  { { FIRST, 2, 7 }, { HANDLE, 2, 5 }, { FIRST, 2, 7 }, { HANDLE, 2, 5 } },
	  1,
	  2,
	  2,
	  0,
	  0,
	  0,
	  0,
	  5 },
	{ "a C function drops it, and then comes one of the same address",
	  { { FIRST, 3, 7 }, { UNWIND, 3, 0 }, { FIRST, 2, 7 }, { HANDLE, 2, 5 } },
	  1,
	  2,
	  1,
	  1,
	  0,
	  1,
	  1,
	  5 },
	{ "a C function drops it, and the caller returns",
	  { { FIRST, 3, 7 }, { UNWIND, 3, 0 }, { RETURN, 2, 0 } },
	  1,
	  1,
	  0,
	  1,
	  0,
	  1,
	  1,
	  0 },
	{ "through a C function, which is not counted",
	  { { FIRST, 3, 7 }, { UNWIND, 3, 0 }, { UNWIND_C, 2, 0 }, { RAISE, 1, 7 }, { HANDLE, 1, 5 } },
	  1,
	  1,
	  1,
	  0,
	  0,
	  1,
	  1,
	  5 },
	{ "nobody handles it",
	  { { FIRST, 2, 7 }, { UNWIND, 2, 0 }, { RAISE, 1, 7 }, { UNWIND, 1, 0 } },
	  1,
	  1,
	  0,
	  0,
	  1,
	  2,
	  2,
	  0 },
	{ "into a frame that began before the trace",
	  { { FIRST, 1, 7 }, { UNWIND, 1, 0 }, { RAISE, 1, 7 }, { HANDLE, 1, 5 } },
	  1,
	  1,
	  1,
	  0,
	  0,
	  1,
	  1,
	  5 },
	{ "an import cuts off its traceback",
	  { { FIRST, 3, 7 }, { UNWIND_IMPORT, 3, 0 }, { FIRST, 2, 7 }, { HANDLE, 2, 5 } },
	  1,
	  1,
	  1,
	  0,
	  0,
	  1,
	  1,
	  5 },
	{ "C asks for an importer, at the start of a script",
	  { { FIRST, 1, 7 }, { UNWIND_IMPORT, 1, 0 } },
	  1,
	  1,
	  0,
	  1,
	  0,
	  1,
	  1,
	  0 },
	{ "a zip file's, too",
	  { { FIRST, 2, 7 }, { UNWIND_ZIP, 2, 0 }, { RAISE, 1, 7 }, { UNWIND_ZIP, 1, 0 } },
	  1,
	  1,
	  0,
	  1,
	  0,
	  2,
	  2,
	  0 },
	{ "an import that leaves the program",
	  { { FIRST, 2, 7 }, { UNWIND_IMPORT, 2, 0 }, { RAISE, 1, 7 }, { UNWIND, 1, 0 } },
	  1,
	  1,
	  0,
	  0,
	  1,
	  2,
	  2,
	  0 },
	{ "another one inside its handler, then it again",
	  { { FIRST, 2, 7 }, { HANDLE, 2, 4 }, { FIRST, 3, 8 }, { HANDLE, 3, 6 }, { RAISE, 2, 7 }, { HANDLE, 2, 5 } },
	  1,
	  2,
	  2,
	  0,
	  0,
	  0,
	  0,
	  6 },
	{ "__del__ raises on the way",
	  { { FIRST, 3, 7 },
	    { UNWIND, 3, 0 },
	    { FIRST, 3, 8 },
	    { HANDLE, 3, 6 },
	    { RETURN, 3, 0 },
	    { RAISE, 2, 7 },
	    { HANDLE, 2, 6 } },
	  1,
	  2,
	  2,
	  0,
	  0,
	  1,
	  1,
	  6 },
	{ "except* raises what is left of a group",
	  { { FIRST, 2, 7 }, { HANDLE, 2, 4 }, { RERAISE, 2, 9 }, { UNWIND, 2, 0 }, { RAISE, 1, 9 }, { HANDLE, 1, 5 } },
	  1,
	  1,
	  1,
	  0,
	  0,
	  1,
	  1,
	  5 },
	{ "its end is not seen", { { FIRST, 2, 7 }, { LOSE, 2, 0 } }, 1, 1, 0, 0, 0, 0, 0, 0 },
	{ "raised elsewhere, long ago", { { RAISE, 2, 7 }, { HANDLE, 2, 5 } }, 1, 1, 1, 0, 0, 0, 0, 5 },
	{ "types of one name",
	  { { FIRST, 2, 7 }, { HANDLE, 2, 5 }, { OTHER_TYPE, 2, 7 }, { HANDLE, 2, 5 } },
	  1,
	  2,
	  2,
	  0,
	  0,
	  0,
	  0,
	  5 },
};

static int take(struct flights *f, struct exceptions *all, const struct step *s)
{
	struct raise at = { .first = s->what == FIRST || s->what == OTHER_TYPE,
			    .again = s->what == RERAISE,
			    .object = s->line_or_object,
			    .type = &type,
			    .code = &code,
			    .line = 1,
			    .depth = s->depth };
	struct flight ended;
	bool begun;

	switch (s->what) {
	case OTHER_TYPE:
		at.type = &again;
		return flights_raise(f, all, &at, &begun);
	case FIRST:
	case RAISE:
	case RERAISE:
		return flights_raise(f, all, &at, &begun);
	case HANDLE:
		return flights_handle(f, &code, s->line_or_object, s->depth, 0, &ended);
	case UNWIND:
		flights_unwind(f, s->depth, &code);
		return 0;
	case UNWIND_C:
		flights_unwind(f, s->depth, &in_c);
		return 0;
	case UNWIND_IMPORT:
		flights_unwind(f, s->depth, &import);
		return 0;
	case UNWIND_ZIP:
		flights_unwind(f, s->depth, &zip);
		return 0;
	case RETURN:
		flights_return(f, s->depth);
		return 0;
	default:
		flights_lose(f, s->depth);
		return 0;
	}
}

static void test_journeys(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct flights *f = calloc(1, sizeof(*f));
		struct exceptions all = { 0 };
		const struct raised *r;
		const struct handler *h;

		for (const struct step *s = cases[i].steps; s->what; s++)
			assert_int_equal(take(f, &all, s), 0);
		flights_end(f);
		exceptions_rank(&all);
		print_message("%s\n", cases[i].name);
		assert_int_equal(all.n, cases[i].rows);
		assert_int_equal(exceptions_count(&all), cases[i].n);
		r = all.in_order[0];
		assert_int_equal(r->handled, cases[i].handled);
		assert_int_equal(r->dropped, cases[i].dropped);
		assert_int_equal(r->left, cases[i].left);
		assert_int_equal(r->frames, cases[i].frames);
		assert_int_equal(r->frames_most, cases[i].most);
		h = raised_handler(r);
		assert_int_equal(h ? h->line : 0, cases[i].handler);
		flights_free(f);
		exceptions_free(&all);
	}
}

/* What was handled is remembered as long as its frame lasts, and not for ever. */
static void test_kept(void **state)
{
	struct flights *f = calloc(1, sizeof(*f));
	struct exceptions all = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		take(f, &all, &(struct step){ FIRST, 1, i });
		take(f, &all, &(struct step){ HANDLE, 1, i });
	}
	assert_int_equal(f->nkept, FLIGHTS_KEPT);
	take(f, &all, &(struct step){ RAISE, 1, 999 });
	assert_int_equal(all.in_order[0]->handled, 999);
	assert_int_equal(all.in_order[0]->n, 1000);
	flights_return(f, 1);
	assert_int_equal(f->nkept, 0);
	flights_free(f);
	exceptions_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journeys),
		cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
