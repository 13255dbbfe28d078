/* SPDX-License-Identifier: MIT */
/* test_perfetto.c - what slices are called: modules by where their files lie, imports by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "code/codes.h"
#include "timeline/perfetto.h"

static const struct {
	const char *file, *qualname, *title;
} cases[] = {
	{ "/usr/lib/python3.13/asyncio/events.py", "<module>", "asyncio.events" },
	{ "/usr/lib/python3.13/asyncio/__init__.py", "<module>", "asyncio" },
	{ "/venv/lib/python3.13/site-packages/six.py", "<module>", "six" },
	{ "/home/me/app/shop/web.py", "<module>", "shop.web" },
	{ "/home/me/app/__init__.py", "<module>", "__init__" },
	{ "/elsewhere/shop/web.py", "<module>", "web.py" },
	{ "/elsewhere/shop/__init__.py", "<module>", "shop/__init__.py" },
	{ "/__init__.py", "<module>", "/__init__.py" },
	{ "<string>", "<module>", "<module>" },
	{ "<frozen zipimport>", "<module>", "<module>" },
	{ "/home/me/app/shop/web.py", "Shop.open", "Shop.open" },
	{ CODE_IMPORT_FILE, "asyncio.events", "import asyncio.events" },
	{ CODE_IMPORT_FILE, "<module>", "import <module>" },
};

static void test_titles(void **state)
{
	struct codes codes;
	struct process *p;

	(void)state;
	codes_init(&codes, NULL);
	p = codes_process(&codes, 1);
	p->program.folder = strdup("/home/me/app");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *title = perfetto_title(codes_intern(p, cases[i].file, cases[i].qualname, 1));

		assert_string_equal(title, cases[i].title);
		free(title);
	}
	codes_free(&codes);
}

/* Only a processor's own cycles are called hardware's. */
static void test_cycles(void **state)
{
	static const struct {
		const char *clock;
		uint64_t tsc_hz;
		const char *key;
	} clocks[] = {
		{ "core", 2400000000, "Hardware Cycles" },
		{ "emulated", 1000000000, "Emulated Cycles" },
		{ "tsc", 2400000000, "TSC Cycles" },
		{ NULL, 2400000000, "TSC Cycles" }, /* not known before the end */
		{ "ns", 0, "Cycles of 1 ns" },
		{ NULL, 0, "Cycles of 1 ns" },
	};
	struct process process = { 0 };
	struct code code = { .process = &process };
	struct loop loop = { .code = &code };

	(void)state;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		struct profile p = { .clock = clocks[i].clock };

		process.tsc_hz = clocks[i].tsc_hz;
		assert_string_equal(perfetto_cycles[perfetto_cycles_of(&p, &loop)], clocks[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_titles), cmocka_unit_test(test_cycles) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
