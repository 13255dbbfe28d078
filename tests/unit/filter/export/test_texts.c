/* SPDX-License-Identifier: MIT */
/* test_texts.c - each text has one number, however many there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "export/texts.h"

static void test_once(void **state)
{
	struct texts t = { 0 };
	char again[] = "b";

	(void)state;
	assert_int_equal(texts_find(&t, "a"), -1);
	assert_int_equal(texts_number(&t, "a"), 0);
	assert_int_equal(texts_number(&t, "b"), 1);
	assert_int_equal(texts_number(&t, ""), 2);
	assert_int_equal(texts_number(&t, again), 1);
	assert_int_equal(texts_find(&t, again), 1);
	assert_int_equal(texts_find(&t, "c"), -1);
	assert_int_equal(t.n, 3);
	assert_string_equal(t.of[0], "a");
	texts_free(&t);
	assert_int_equal(t.n, 0);
}

/* Another text has the hash of this one: it has the next key, and a number of its own. */
static void test_collision(void **state)
{
	struct texts t = { 0 };

	(void)state;
	texts_number(&t, "other");
	map_put(&t.numbers, hash_text(HASH_START, "text"), (void *)(uintptr_t)1);
	assert_int_equal(texts_find(&t, "text"), -1);
	assert_int_equal(texts_number(&t, "text"), 1);
	assert_int_equal(texts_number(&t, "text"), 1);
	texts_free(&t);
}

static void test_many(void **state)
{
	enum { MANY = 5000 };
	struct texts t = { 0 };
	char *text[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		assert_true(asprintf(&text[i], "text %d", i) > 0);
		assert_int_equal(texts_number(&t, text[i]), i);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(texts_number(&t, text[i]), i);
		assert_string_equal(t.of[i], text[i]);
	}
	texts_free(&t);
	for (int i = 0; i < MANY; i++)
		free(text[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_collision),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
