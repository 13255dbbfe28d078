/* SPDX-License-Identifier: MIT */
/* test_joined.c - rows of one place and key become one, of the first process; the others are zeroed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "report/joined.h"

struct row {
	const struct code *code;
	int key, n;
};

static int by_key(const void *left, const void *right)
{
	return ((const struct row *)left)->key - ((const struct row *)right)->key;
}

/* 99 cannot be added. */
static int add(void *to, void *more)
{
	struct row *one = to, *other = more;

	one->n += other->n;
	return other->n == 99 ? -ENOMEM : 0;
}

static const struct code *code_in(struct codes *codes, int32_t pid, const char *file, const char *name)
{
	const struct code *code = codes_intern(codes_process(codes, pid), file, name, 1);

	assert_non_null(code);
	return code;
}

static void test_joined(void **state)
{
	struct codes codes;

	(void)state;
	codes_init(&codes, NULL);
	const struct code *f7 = code_in(&codes, 7, "/a.py", "f"), *f8 = code_in(&codes, 8, "/a.py", "f");
	const struct code *g8 = code_in(&codes, 8, "/a.py", "g"), *b9 = code_in(&codes, 9, "/b.py", "f");
	struct row rows[] = { { f8, 1, 1 },  { b9, 1, 2 },    { f7, 1, 4 },  { f8, 2, 8 },
			      { g8, 1, 16 }, { NULL, 1, 32 }, { f7, 1, 64 }, { NULL, 1, 128 } };
	const struct row joined[] = { { NULL, 1, 160 }, { f7, 1, 69 }, { f8, 2, 8 }, { g8, 1, 16 },
				      { b9, 1, 2 },	{ 0 },	       { 0 },	     { 0 } };

	assert_int_equal(joined_rows(rows, 8, sizeof(*rows), &codes, by_key, add), 5);
	for (int i = 0; i < 8; i++) {
		assert_ptr_equal(rows[i].code, joined[i].code);
		assert_int_equal(rows[i].key, joined[i].key);
		assert_int_equal(rows[i].n, joined[i].n);
	}
	assert_int_equal(joined_rows(rows, 5, sizeof(*rows), &codes, NULL, add), 4);
	assert_int_equal(rows[1].n, 77);
	assert_int_equal(joined_rows(rows, 0, sizeof(*rows), &codes, NULL, add), 0);
	codes_free(&codes);
}

#define ALIKE 60

/* What is evaluated looks alike, whoever does it: of a library's and the program's own, each is a row. */
static void test_apart_by_origin(void **state)
{
	static char library[] = "/lib/python3/dist-packages/click/types.py";
	struct codes codes;
	struct row rows[ALIKE];

	(void)state;
	codes_init(&codes, NULL);
	for (int i = 0; i < ALIKE; i++) {
		struct code *code = codes_intern(codes_process(&codes, 7 + i), "<string>", "<module>", 1);

		code->owner = i % 3 ? library : NULL;
		rows[i] = (struct row){ code, 1, 1 };
	}
	assert_int_equal(joined_rows(rows, ALIKE, sizeof(*rows), &codes, by_key, add), 2);
	assert_true(rows[0].code->process->pid == 7 && rows[0].n == ALIKE / 3);
	assert_true(rows[1].code->process->pid == 8 && rows[1].n == ALIKE - ALIKE / 3);
	codes_free(&codes);
}

static void test_failure(void **state)
{
	struct codes codes;

	(void)state;
	codes_init(&codes, NULL);
	const struct code *f7 = code_in(&codes, 7, "/a.py", "f"), *f8 = code_in(&codes, 8, "/a.py", "f");
	struct row rows[] = { { f7, 1, 1 }, { f8, 1, 99 } };

	assert_int_equal(joined_rows(rows, 2, sizeof(*rows), &codes, by_key, add), -ENOMEM);
	assert_null(rows[1].code);
	codes_free(&codes);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_joined), cmocka_unit_test(test_apart_by_origin),
					    cmocka_unit_test(test_failure) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
