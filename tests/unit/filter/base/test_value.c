/* SPDX-License-Identifier: MIT */
/* test_value.c - values are written as jansson writes a tree of the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/value.h"

#define MANY 5000

/* Takes both. */
static void check(struct value *v, json_t *like)
{
	char *text = json_dumps(like, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
	struct out out = { .fd = -1, .size = 1u << 20, .buffer = malloc(1u << 20) };

	assert_non_null(out.buffer);
	assert_int_equal(value_put(v, &out), 0);
	assert_int_equal(out.used, strlen(text));
	assert_memory_equal(out.buffer, text, out.used);
	free(out.buffer);
	free(text);
	json_decref(like);
}

static void test_single(void **state)
{
	(void)state;
	check(value_object(), json_object());
	check(value_array(), json_array());
	check(value_null(), json_null());
	check(value_bool(true), json_true());
	check(value_bool(false), json_false());
	check(value_integer(INT64_MIN), json_integer(INT64_MIN));
	check(value_real(-0.25), json_real(-0.25));
	check(value_text("a \"b\" [ {\n\xc3\xa9\xf0\x9f\x98\x80\x7f"),
	      json_string("a \"b\" [ {\n\xc3\xa9\xf0\x9f\x98\x80\x7f"));
	check(value_text("[1"), json_string("[1"));
	check(value_text("\xff"), json_string("\xef\xbf\xbd"));
	check(value_text(NULL), json_null());
	check(value_json("{\"a\": [1, {}]}"), json_pack("{s:[i, {}]}", "a", 1));
	check(value_json("{}"), json_object());
	check(value_json("7"), json_integer(7));
}

static void test_members(void **state)
{
	const struct value_number numbers[] = { { "x", 1 }, { "y", -2 } };
	struct value *o = value_join(value_object(), value_object());

	(void)state;
	o = value_join(o, VALUE_NUMBERS(numbers));
	o = value_join(o, value_object());
	o = value_set(o, "z", value_append(value_append(value_array(), value_object()), value_text("t")));
	o = value_join(o, value_numbers(numbers, 0));
	o = value_set(o, "\"\n", value_null());
	check(o, json_pack("{s:i, s:i, s:[{}, s], s:n}", "x", 1, "y", -2, "z", "t", "\"\n"));
}

static void test_pack(void **state)
{
	(void)state;
	check(value_pack("{s:o, s:o*, s:o*, s:s, s:s, s:i, s:I, s:f, s:b, s:n}", "a", value_array(), "b", NULL, "c",
			 value_null(), "d", "t", "e", NULL, "f", -1, "g", (int64_t)1 << 40, "h", 1.5, "i", 7, "j"),
	      json_pack("{s:[], s:o*, s:n, s:s, s:n, s:i, s:I, s:f, s:b, s:n}", "a", "b", NULL, "c", "d", "t", "e", "f",
			-1, "g", (json_int_t)1 << 40, "h", 1.5, "i", 1, "j"));
	check(value_pack("{s:{s:s}}", "a", "b", "c"), json_pack("{s:{s:s}}", "a", "b", "c"));
	check(value_pack("{s:{s:[i, i], s:{}}, s:i}", "a", "b", 1, 2, "c", "d", 3),
	      json_pack("{s:{s:[i, i], s:{}}, s:i}", "a", "b", 1, 2, "c", "d", 3));
	check(value_pack("[I, I]", (int64_t)1, (int64_t)2), json_pack("[i, i]", 1, 2));
	check(value_pack("[]"), json_array());
	check(value_pack("{}"), json_object());
}

/* As it grows, it moves. */
static void test_many(void **state)
{
	struct value *array = value_array();
	json_t *like = json_array();

	(void)state;
	for (int i = 0; i < MANY; i++) {
		array = value_append(array, value_pack("{s:i, s:s}", "number", i, "text", "some text"));
		json_array_append_new(like, json_pack("{s:i, s:s}", "number", i, "text", "some text"));
	}
	check(array, like);
}

/* What is taken is freed: the sanitizer looks. */
static void test_missing(void **state)
{
	struct out out = { .fd = -1 };

	(void)state;
	assert_null(value_append(value_array(), NULL));
	assert_null(value_append(NULL, value_null()));
	assert_null(value_set(NULL, "a", value_null()));
	assert_null(value_set(value_object(), "a", NULL));
	assert_null(value_join(value_object(), NULL));
	assert_null(value_join(NULL, value_object()));
	assert_null(
		value_pack("{s:o, s:o, s:{s:o}, s:i}", "a", value_null(), "b", NULL, "c", "d", value_array(), "e", 1));
	assert_null(value_real(NAN));
	assert_null(value_pack("{s:o, s:f}", "a", value_array(), "b", INFINITY));
	assert_int_equal(value_put(NULL, &out), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single), cmocka_unit_test(test_members), cmocka_unit_test(test_pack),
		cmocka_unit_test(test_many),   cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
