/* SPDX-License-Identifier: MIT */
/* test_source_link.c - what is in the program's folder, and no library, has a link; nothing in a path is an address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "timeline/source_link.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define WEB	 "https://example.com/shop/blob/v1.4/"

static void test_links(void **state)
{
	static const struct {
		const char *pattern, *file, *link;
	} rows[] = {
		{ NULL, "/home/me/shop/app.py", "/home/me/shop/app.py" },
		{ WEB "{file}#L{line}", "/home/me/shop/app.py", WEB "app.py#L7" },
		{ WEB "{file}#L{line}", "/home/me/shop/a b/c#d?%.py", WEB "a%20b/c%23d%3F%25.py#L7" },
		{ WEB "{file}#L{line}", "/home/me/shop/\xc3\xa9.py", WEB "%C3%A9.py#L7" },
		{ "http://127.0.0.1:8000/?at={line}&file={file}", "/home/me/shop/app.py",
		  "http://127.0.0.1:8000/?at=7&file=app.py" },
		{ WEB "{file}", "/home/me/shopping/app.py", "/home/me/shopping/app.py" },
		{ WEB "{file}", "/home/me/shop/.venv/lib/python3.13/site-packages/six.py",
		  "/home/me/shop/.venv/lib/python3.13/site-packages/six.py" },
		{ WEB "{file}", "<string>", "<string>" },
	};
	struct process process = { .program = { .folder = (char *)"/home/me/shop" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct code code = { .file = (char *)rows[i].file, .firstlineno = 7, .process = &process };
		char *link = source_link(rows[i].pattern, &code);

		assert_string_equal(link, rows[i].link);
		free(link);
	}
}

static void test_valid(void **state)
{
	static const char *const good[] = { "http://h/{file}", "https://h/{file}?l={line}", "https://h/{line}/{file}" };
	static const char *const bad[] = { "",
					   "h/{file}",
					   "file:///{file}",
					   "https://h/",
					   "https://h/{line}",
					   "https://h/{file}{x}",
					   "https://h/{file}{",
					   "https://h/}{file}" };

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(source_link_is_valid(good[i]));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(source_link_is_valid(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_links), cmocka_unit_test(test_valid) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
