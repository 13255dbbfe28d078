/* SPDX-License-Identifier: MIT */
/* test_names.c - names of a table, cut to fit, and never alike for different places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/text.h"
#include "report/names.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define MOST	 4 /* names of a case */
#define SITE	 "/opt/py/lib/python3.13/site-packages/"
#define LONG	 "a_function_with_quite_a_long_name_that_begins_and_ends"
#define GENEXPR	 "search.<locals>.<genexpr>"
#define TWIN(n)	 "abcdefghijk_" n "_lmnopqrstuvwxyz"

static const struct process process = { .program = { .folder = (char *)"/home/me/shop" } };

/* clang-format off */
static const struct {
	size_t most;
	struct {
		const char *file, *qualname;
		int64_t line, offset;
		const char *text;
	} names[MOST];
} cases[] = {
	{ 40, { { "/home/me/shop/app.py", "search", 12, -1, "search, app.py:12" },
		{ "/home/me/shop/web/views.py", "index", 3, -1, "index, web/views.py:3" },
		{ SITE "flask/app.py", "Flask.wsgi_app", 1473, -1, "Flask.wsgi_app, flask/app.py:1473" },
		{ "/srv/other.py", "f", 0, 20, "f, other.py, offset 20" } } },
	/* In a wide column, whole: where it fits. */
	{ 100, { { "/home/me/shop/web/views.py", "index", 3, -1, "index, /home/me/shop/web/views.py:3" },
		 { "<frozen importlib._bootstrap>", "_find_spec", 1240, -1,
		   "_find_spec, <frozen importlib._bootstrap>:1240" },
		 { SITE "pkg/core/deep/down/module.py", LONG, 7, -1,
		   LONG ", pkg/core/deep/down/module.py:7" } } },
	{ 99, { { "/home/me/shop/web/views.py", "index", 3, -1, "index, web/views.py:3" } } },
	/* The middle of the path, then all folders, then the middle of the qualname. */
	{ 35, { { SITE "pkg/core/deep/down/module.py", "work", 7, -1, "work, pkg/.../module.py:7" } } },
	{ 24, { { SITE "pkg/core/deep/down/module.py", "work", 7, -1, "work, module.py:7" } } },
	{ 40, { { "/home/me/shop/app.py", LONG, 12, -1, "a_function_wi...gins_and_ends, app.py:12" } } },
	{ 40, { { "/home/me/shop/app.py", GENEXPR, 12, -1, GENEXPR ", app.py:12" } } },
	{ 30, { { "/home/me/shop/app.py", GENEXPR, 12, -1, "search.<genexpr>, app.py:12" } } },
	{ 26, { { "/home/me/shop/app.py", GENEXPR, 12, -1, "search...nexpr>, app.py:12" } } },
	{ 30, { { SITE "pkg/core/deep/down/__init__.py", "work", 7, -1, "work, down/__init__.py:7" },
		{ "/opt/work/__main__.py", "main", 7, -1, "main, work/__main__.py:7" } } },
	{ 26, { { "<frozen importlib._bootstrap>", "_call_with_frames_removed", 480, -1,
		  "_call_with_...otstrap>:480" } } },
	{ 30, { { CODE_C_FILE, "zlib.compress", 0, -1, "zlib.compress" },
		{ CODE_C_FILE, "_ssl._SSLContext.set_default_verify_paths", 0, -1,
		  "_ssl._SSLCont...t_verify_paths" } } },
	/* Alike: as many folders as it takes, though it may not fit. */
	{ 30, { { "/srv/one/util.py", "f", 3, -1, "f, /srv/one/util.py:3" },
		{ "/srv/two/util.py", "f", 3, -1, "f, /srv/two/util.py:3" },
		{ "/srv/two/util.py", "g", 3, -1, "g, util.py:3" } } },
	{ 30, { { SITE "x/one/deep/down/util.py", "f", 3, -1, "f, x/one/deep/down/util.py:3" },
		{ SITE "x/two/deep/down/util.py", "f", 3, -1, "f, x/two/deep/down/util.py:3" } } },
	{ 20, { { SITE "x/one/deep/down/util.py", "f", 3, -1, "f, .../one/deep/down/util.py:3" },
		{ SITE "x/two/deep/down/util.py", "f", 3, -1, "f, .../two/deep/down/util.py:3" } } },
	{ 26, { { "/srv/app.py", TWIN("1"), 3, -1, TWIN("1") ", .../srv/app.py:3" },
		{ "/srv/app.py", TWIN("2"), 3, -1, TWIN("2") ", .../srv/app.py:3" } } },
	/* Two loops of one line; the same place twice. */
	{ 40, { { "/srv/app.py", "f", 3, 20, "f, app.py:3, offset 20" },
		{ "/srv/app.py", "f", 3, 48, "f, app.py:3, offset 48" },
		{ "/srv/app.py", "f", 4, 60, "f, app.py:4" }, { "/srv/app.py", "f", 4, 60, "f, app.py:4" } } },
};
/* clang-format on */

static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct code codes[MOST];
		struct name names[MOST];
		size_t n = 0;

		for (; n < MOST && cases[i].names[n].file; n++) {
			codes[n] = (struct code){ .file = (char *)cases[i].names[n].file,
						  .qualname = (char *)cases[i].names[n].qualname,
						  .process = &process,
						  .c = !strcmp(cases[i].names[n].file, CODE_C_FILE) };
			names[n] = (struct name){ .code = &codes[n],
						  .line = cases[i].names[n].line,
						  .offset = cases[i].names[n].offset };
		}
		assert_int_equal(names_make(names, n, cases[i].most), 0);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(names[k].text, cases[i].names[k].text);
		names_free(names, n);
	}
}

/* Row by row the first keeps its short name; the same place twice is one. */
static void test_one_by_one(void **state)
{
	struct code codes[] = {
		{ .file = (char *)"/srv/one/util.py", .qualname = (char *)"f", .process = &process },
		{ .file = (char *)"/srv/two/util.py", .qualname = (char *)"f", .process = &process },
	};
	struct names_seen seen = { 0 };

	(void)state;
	for (int table = 0; table < 2; table++) {
		for (int i = 0; i < 2; i++) {
			assert_string_equal(names_next(&seen, &(struct name){ .code = &codes[0], .line = 3 }, 30),
					    "f, util.py:3");
			assert_string_equal(names_next(&seen, &(struct name){ .code = &codes[1], .line = 3 }, 30),
					    "f, /srv/two/util.py:3");
		}
		assert_string_equal(names_next(&seen, &(struct name){ .code = &codes[1], .line = 3, .offset = 8 }, 30),
				    "f, .../two/util.py:3, offset 8");
		names_forget(&seen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cut), cmocka_unit_test(test_one_by_one) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
