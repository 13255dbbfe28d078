/* SPDX-License-Identifier: MIT */
/* test_live_rows.c - what was told is not told again; the same place is one row; most first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report/live_rows.h"

static const struct live_names names = { { "calls", "ns" }, 1 };

static struct code f = { .file = "a.py", .qualname = "f", .firstlineno = 1 };
static struct code f_of_a_child = { .file = "a.py", .qualname = "f", .firstlineno = 1 };
static struct code g = { .file = "a.py", .qualname = "g", .firstlineno = 5 };

static int add(struct live_rows *r, struct map *told, const struct code *code, uint64_t calls, uint64_t ns)
{
	struct live_row row = { .code = code, .line = code->firstlineno, .numbers = { calls, ns } };

	return live_rows_add(r, told, (uintptr_t)code, row);
}

static void has(struct live_rows *r, const char *wanted)
{
	json_t *array = live_rows_json(r, &names);
	char *text = json_dumps(array, JSON_COMPACT);

	assert_string_equal(text, wanted);
	free(text);
	json_decref(array);
}

static void test_only_what_is_more_is_told(void **state)
{
	struct live_rows rows = { 0 };
	struct map told = { 0 };

	(void)state;
	assert_int_equal(add(&rows, &told, &f, 2, 100), 0);
	assert_int_equal(add(&rows, &told, &g, 1, 300), 0);
	has(&rows, "[{\"file\":\"a.py\",\"qualname\":\"g\",\"line\":5,\"calls\":1,\"ns\":300},"
		   "{\"file\":\"a.py\",\"qualname\":\"f\",\"line\":1,\"calls\":2,\"ns\":100}]");
	add(&rows, &told, &f, 3, 90); /* a gap took some of its time back */
	add(&rows, &told, &g, 1, 300);
	has(&rows, "[{\"file\":\"a.py\",\"qualname\":\"f\",\"line\":1,\"calls\":1,\"ns\":0}]");
	add(&rows, &told, &f, 3, 105);
	has(&rows, "[{\"file\":\"a.py\",\"qualname\":\"f\",\"line\":1,\"calls\":0,\"ns\":5}]");
	has(&rows, "[]");
	live_rows_free(&rows);
	map_free_all(&told);
}

static void test_the_same_place_is_one_row(void **state)
{
	struct live_rows rows = { 0 };
	struct map told = { 0 };

	(void)state;
	add(&rows, &told, &f, 2, 100);
	add(&rows, &told, &g, 7, 120);
	add(&rows, &told, &f_of_a_child, 5, 30);
	has(&rows, "[{\"file\":\"a.py\",\"qualname\":\"f\",\"line\":1,\"calls\":7,\"ns\":130},"
		   "{\"file\":\"a.py\",\"qualname\":\"g\",\"line\":5,\"calls\":7,\"ns\":120}]");
	live_rows_free(&rows);
	map_free_all(&told);
}

static void test_what_is_not_known_is_null(void **state)
{
	struct live_rows rows = { 0 };
	struct map told = { 0 };
	struct live_row row = { .code = &f_of_a_child, .line = 1, .numbers = { 3, 7 }, .unknown = 1 << 1 };

	(void)state;
	add(&rows, &told, &f, 2, 100);
	live_rows_add(&rows, &told, (uintptr_t)&f_of_a_child, row);
	has(&rows, "[{\"file\":\"a.py\",\"qualname\":\"f\",\"line\":1,\"calls\":5,\"ns\":null}]");
	live_rows_free(&rows);
	map_free_all(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_more_is_told),
		cmocka_unit_test(test_the_same_place_is_one_row),
		cmocka_unit_test(test_what_is_not_known_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
