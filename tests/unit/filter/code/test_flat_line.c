/* SPDX-License-Identifier: MIT */
/* test_flat_line.c - members that are texts and numbers: what is read, and that nothing else is than jansson has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "code/flat_line.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* In a line of its own size: a sanitizer sees what is behind it. */
static bool add(struct flat_line *l, char *line)
{
	return flat_line_add(l, line, strlen(line) - 1);
}

static void test_members(void **state)
{
	static char line[] =
		"\"id\":7,\"file\":\"/a/\xc3\xa9.py\",\"excluded\":true,\"x\":false,\"y\":null,\"n\":-3,\"e\":\"\","
		"\"address\":\"0x7fc2aa\"\n";
	struct flat_line l = { 0 };
	const char *file;
	size_t length;

	(void)state;
	assert_true(add(&l, line));
	file = flat_line_text(&l, "file", &length);
	assert_int_equal(length, strlen("/a/\xc3\xa9.py"));
	assert_memory_equal(file, "/a/\xc3\xa9.py\"", length + 1);
	assert_non_null(flat_line_text(&l, "e", &length));
	assert_int_equal(length, 0);
	assert_null(flat_line_text(&l, "id", &length));
	assert_null(flat_line_text(&l, "fil", &length));
	assert_int_equal(flat_line_address(&l, "address"), 0x7fc2aa);
	assert_int_equal(flat_line_address(&l, "file"), 0);
	assert_int_equal(flat_line_address(&l, "id"), 0);
	assert_int_equal(flat_line_number(&l, "id", 1), 7);
	assert_int_equal(flat_line_number(&l, "n", 1), -3);
	assert_int_equal(flat_line_number(&l, "file", 1), 1);
	assert_int_equal(flat_line_number(&l, "none", 1), 1);
	assert_true(flat_line_is_true(&l, "excluded") && !flat_line_is_true(&l, "x") && !flat_line_is_true(&l, "id"));
	assert_true(flat_line_has(&l, "y") && !flat_line_has(&l, "z"));
	assert_true(flat_line_is(&l, "file", "/a/\xc3\xa9.py") && !flat_line_is(&l, "file", "/a/"));
}

static void test_the_last_one_counts(void **state)
{
	struct flat_line l = { 0 };

	(void)state;
	assert_true(add(&l, (char[]){ "\"a\":1,\"a\":2\n" }));
	assert_int_equal(flat_line_number(&l, "a", 0), 2);
	assert_true(add(&l, (char[]){ "\"a\":3\n" })); /* from the line's other end */
	assert_int_equal(flat_line_number(&l, "a", 0), 3);
	flat_line_begin(&l);
	assert_true(!flat_line_has(&l, "a") && add(&l, (char[]){ "\"ax\":1,\"eh\":5,\"ay\":2\n" })); /* of one hash */
	assert_int_equal(flat_line_number(&l, "ax", 0), 1);
	assert_int_equal(flat_line_number(&l, "ay", 0), 2);
	assert_int_equal(flat_line_number(&l, "az", 0), 0);
}

/* Each byte of a line becomes each of the ASCII characters and some others: what is read, jansson has too. */
static void test_as_jansson(void **state)
{
	static const char text[] = "{\"id\":70,\"file\":\"a\xc3\xa9.py\",\"excluded\":true,\"n\":-3}";
	char line[sizeof(text) + 1];
	unsigned read = 0;

	(void)state;
	for (size_t i = 1; i + 2 < sizeof(text); i++) {
		for (int byte = 1; byte < 256; byte++) {
			struct flat_line l = { 0 };
			json_t *o;

			strcpy(line, text);
			line[i] = (char)byte;
			if (!flat_line_add(&l, line + 1, strlen(text) - 2))
				continue;
			read++;
			o = json_loads(line, 0, NULL);
			if (!o)
				fail_msg("read, though jansson does not: %s", line);
			for (unsigned m = 0; m < l.n; m++) {
				char *key = strndup(l.all[m].key, l.all[m].key_length);
				size_t mine_length, its_length;
				const char *mine = flat_line_text(&l, key, &mine_length);
				const struct flat_line other = { .object = o };
				const char *its = flat_line_text(&other, key, &its_length);

				assert_true(flat_line_has(&other, key));
				assert_true(!mine == !its &&
					    (!mine || (mine_length == its_length && !memcmp(mine, its, its_length))));
				assert_true(flat_line_address(&l, key) == flat_line_address(&other, key));
				assert_true(flat_line_number(&l, key, 5) == flat_line_number(&other, key, 5));
				assert_true(flat_line_is_true(&l, key) == flat_line_is_true(&other, key));
				assert_true(!its || (flat_line_is(&l, key, its) && flat_line_is(&other, key, its)));
				free(key);
			}
			json_decref(o);
		}
	}
	assert_true(read > sizeof(text)); /* letters of keys and texts, digits */
}

static char *const refused[] = {
	"\n",
	"\"a\":1,\n",
	"\"a\"\n",
	"\"a\":\n",
	"\"a\": 1\n",
	"\"a\":1.5\n",
	"\"a\":1e3\n",
	"\"a\":[1]\n",
	"\"a\":{}\n",
	"\"a\":\"\\n\"\n",
	"\"a\":\"\x01\"\n",
	"\"a\":\"\xff\"\n",
	"\"a\":\"\n",
	"\"\\u0061\":1\n",
	"\"a\":truE\n",
	"\"a\":\"\xc3\"\n",
	"\"a\":12345678901\n",
	"a:1\n",
	"\"a\":1\"b\":2\n",
	"\"a\":1,,\"b\":2\n",
};

static void test_what_is_left_to_jansson(void **state)
{
	struct flat_line many = { 0 };
	char *line;

	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct flat_line l = { 0 };

		line = strdup(refused[i]);
		if (add(&l, line))
			fail_msg("%s", line);
		free(line);
	}
	for (int i = 0; i < FLAT_MOST; i++)
		assert_true(add(&many, (char[]){ "\"a\":1\n" }));
	assert_false(add(&many, (char[]){ "\"a\":1\n" }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_the_last_one_counts),
		cmocka_unit_test(test_as_jansson),
		cmocka_unit_test(test_what_is_left_to_jansson),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
