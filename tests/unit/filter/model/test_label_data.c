/* SPDX-License-Identifier: MIT */
/* test_label_data.c - what VALUE words say, exactly; and that nothing is said of words that do not belong together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "model/label_data.h"
#include "shared/marker.h"

static const struct code keys = { .file = (char *)CODE_KEYS_FILE, .qualname = (char *)"[\"a\",\"b\"]" };
static const struct code text = { .file = (char *)CODE_TEXT_FILE, .qualname = (char *)"long \"one\"" };
static const struct code whole = { .file = (char *)CODE_DATA_FILE, .qualname = (char *)"{\"x\":[1]}" };
static struct label_data d;

static void add(enum value_what what, uint64_t value, const struct code *named)
{
	assert_int_equal(label_data_add(&d, marker_payload(marker_value(what, value)), named), 0);
}

static void end(uint32_t words)
{
	assert_int_equal(label_data_add(&d, marker_payload(marker_keys(words, 9)), &keys), 0);
}

static void shows(const char *expected)
{
	char *shown;

	assert_true(label_data_is_whole(&d));
	shown = label_data_text(&d);
	assert_string_equal(shown, expected);
	free(shown);
	label_data_forget(&d);
}

static void shows_nothing(void)
{
	assert_false(label_data_is_whole(&d));
	label_data_forget(&d);
}

static void test_numbers(void **state)
{
	uint64_t high = (uint64_t)INT64_MIN >> MARKER_VALUE_SHIFT, bits;
	double number = 0.1;

	(void)state;
	add(VALUE_INT, (uint64_t)-1, NULL);
	add(VALUE_INT, (1ull << 43) - 1, NULL);
	end(2);
	shows("{\"a\":-1,\"b\":8796093022207}");
	add(VALUE_REST, high, NULL);
	add(VALUE_INT, 0, NULL);
	add(VALUE_REST, 0, NULL);
	add(VALUE_INT, 1ull << 43, NULL);
	end(4);
	shows("{\"a\":-9223372036854775808,\"b\":8796093022208}");
	memcpy(&bits, &number, sizeof(bits));
	add(VALUE_REST, bits & 0xfffff, NULL);
	add(VALUE_FLOAT, bits >> MARKER_VALUE_REST, NULL);
	add(VALUE_FLOAT, 0xc000000000000000 >> MARKER_VALUE_REST, NULL);
	end(3);
	assert_true(label_data_is_whole(&d));
	/* jansson may write either */
	char *shown = label_data_text(&d);
	assert_true(!strcmp(shown, "{\"a\":0.1,\"b\":-2.0}") ||
		    !strcmp(shown, "{\"a\":0.10000000000000001,\"b\":-2.0}"));
	free(shown);
	label_data_forget(&d);
	number = NAN;
	memcpy(&bits, &number, sizeof(bits));
	add(VALUE_FLOAT, bits >> MARKER_VALUE_REST, NULL);
	add(VALUE_CONSTANT, CONSTANT_TRUE, NULL);
	end(2);
	shows("{\"a\":null,\"b\":true}");
}

static void test_texts(void **state)
{
	(void)state;
	add(VALUE_TEXT, MARKER_TEXT_CONTINUES | 5ull << MARKER_TEXT_COUNT_SHIFT | 0x6f6c6c6568, NULL);
	add(VALUE_TEXT, 2ull << MARKER_TEXT_COUNT_SHIFT | 0x2221, NULL);
	add(VALUE_TEXT, 0, NULL);
	end(3);
	shows("{\"a\":\"hello!\\\"\",\"b\":\"\"}");
	add(VALUE_NAMED, 7, &text);
	add(VALUE_NAMED, 7, NULL);
	end(2);
	shows("{\"a\":\"long \\\"one\\\"\",\"b\":\"\xe2\x80\xa6\"}");
	add(VALUE_CONSTANT, CONSTANT_UNTOLD, NULL);
	add(VALUE_CONSTANT, CONSTANT_NONE, NULL);
	end(2);
	shows("{\"a\":\"\xe2\x80\xa6\",\"b\":null}");
	add(VALUE_DATA, 8, &whole);
	shows("{\"x\":[1]}");
}

static void test_containers(void **state)
{
	(void)state;
	add(VALUE_LIST, 2, NULL);
	add(VALUE_INT, 1, NULL);
	add(VALUE_MAP, 1, NULL);
	add(VALUE_TEXT, 1ull << MARKER_TEXT_COUNT_SHIFT | 'k', NULL);
	add(VALUE_LIST, 0, NULL);
	add(VALUE_MAP, 0, NULL);
	end(6);
	shows("{\"a\":[1,{\"k\":[]}],\"b\":{}}");
	add(VALUE_MAP, 1, NULL);
	add(VALUE_NAMED, 7, NULL);
	add(VALUE_REST, 0, NULL);
	add(VALUE_INT, 1ull << 43, NULL);
	add(VALUE_CONSTANT, CONSTANT_NONE, NULL);
	end(5);
	shows("{\"a\":{\"\xe2\x80\xa6\":8796093022208},\"b\":null}");
}

/* The beginning is missing, or the keys are, or what is named is something else. */
static void test_incomplete(void **state)
{
	(void)state;
	shows_nothing();
	add(VALUE_INT, 1, NULL);
	end(2);
	shows_nothing();
	add(VALUE_INT, 1, NULL);
	add(VALUE_INT, 2, NULL);
	shows_nothing();
	add(VALUE_INT, 1, NULL);
	add(VALUE_INT, 2, NULL);
	add(VALUE_INT, 3, NULL);
	end(2);
	shows_nothing();
	add(VALUE_DATA, 8, &text);
	shows_nothing();
	add(VALUE_INT, 1, NULL);
	add(VALUE_DATA, 8, &whole);
	shows_nothing();
	for (unsigned i = 0; i < 2 * MARKER_VALUES_MAX; i++)
		add(VALUE_INT, 1, NULL);
	end(2 * MARKER_VALUES_MAX);
	shows_nothing();
}

/* Words that a damaged trace may have: some object, and no more words than there are. */
static void test_damage(void **state)
{
	(void)state;
	add(VALUE_REST, 1, NULL);
	end(1);
	shows("{\"a\":null}");
	add(VALUE_TEXT, MARKER_TEXT_CONTINUES | 7ull << MARKER_TEXT_COUNT_SHIFT | 0x6161616161, NULL);
	end(1);
	shows("{\"a\":\"aaaaa\"}");
	add(VALUE_TEXT, 1ull << MARKER_TEXT_COUNT_SHIFT | 0xff, NULL);
	add(15, 3, NULL);
	end(2);
	shows("{\"a\":null,\"b\":null}");
	add(VALUE_INT, 1, NULL);
	add(VALUE_INT, 2, NULL);
	add(VALUE_INT, 3, NULL);
	end(3);
	shows("{\"a\":1,\"b\":2}");
	add(VALUE_LIST, MARKER_VALUE_MAX, NULL);
	add(VALUE_MAP, MARKER_VALUE_MAX, NULL);
	add(VALUE_INT, 1, NULL);
	add(VALUE_INT, 2, NULL);
	add(VALUE_INT, 3, NULL);
	end(5);
	shows("{\"a\":[{\"\xe2\x80\xa6\":2},3]}");
}

static void test_counter(void **state)
{
	double number = 1 / 3.0;
	uint64_t bits;

	(void)state;
	memcpy(&bits, &number, sizeof(bits));
	assert_int_equal(label_data_add(&d, bits >> MARKER_LABEL_LOW, NULL), 0);
	assert_true(label_data_number(&d, marker_label(LABEL_COUNTER, 5, bits)) == number);
	label_data_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers),    cmocka_unit_test(test_texts),
					    cmocka_unit_test(test_containers), cmocka_unit_test(test_incomplete),
					    cmocka_unit_test(test_damage),     cmocka_unit_test(test_counter) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
