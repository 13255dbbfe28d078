/* SPDX-License-Identifier: MIT */
/* test_number_rows.c - rows of numbers in a line, as the extension writes them and in any other way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "code/number_rows.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	const char *line;
	size_t n; /* rows */
	bool cut;
} lines[] = {
	{ "{\"a\":1,\"instructions\":[[0,1,2,-1],[2,1,151,40]]}\n", 2, true },
	{ "{\"a\":1,\"instructions\":[]}\n", 0, true },
	{ "{\"a\":1,\"instructions\":[[0,1,2,-1]],\"b\":3}\n", 1, true },
	{ "{\"a\":1,\"opcodes\":[[0,1],[999999999,-999999999]]}\n", 2, true },
	{ "{\"a\":1,\"opcodes\":[[-0,0]]}\n", 1, true },
	{ "{\"a\":1,\"opcodes\":[[0,1000000000]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,11111111111111111111111111111111111]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,01]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,-]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1.5]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1,2]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1],]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1] ,[2,3]]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1]}\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1]]\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1]]", 0, false },
	{ "{\"a\":1,\"opcodes\":[[0,1\n", 0, false },
	{ "{\"a\":1,\"opcodes\":[\n", 0, false },
	{ "{\"opcodes\":[[0,1]]}\n", 0, false }, /* no line has nothing else */
	{ "{\"a\":1}\n", 0, false },
	{ "", 0, false },
};

static void test_what_is_cut(void **state)
{
	struct number_rows r = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		size_t length = strlen(lines[i].line);
		char *exact = strdup(lines[i].line); /* a sanitizer sees what is behind it */
		struct cut_line rest;
		bool cut = number_rows_cut(&r, exact, length, &rest);

		if (cut != lines[i].cut || (cut && r.n != lines[i].n))
			fail_msg("%s: %d, %d rows", exact, cut, (int)r.n);
		assert_true(!cut || (rest.head == exact && rest.head_length == strlen("{\"a\":1")));
		assert_true(!cut || rest.tail + rest.tail_length == exact + length);
		assert_int_equal(r.member != NULL, cut);
		free(exact);
	}
	number_rows_free(&r);
}

static void test_numbers(void **state)
{
	static const char line[] = "{\"a\":1,\"instructions\":[[0,-1,2,-12],[345,6789,12345,999999999]]}\n";
	static const int32_t expected[] = { 0, -1, 2, -12, 345, 6789, 12345, 999999999 };
	struct number_rows r = { 0 };
	struct cut_line rest;

	(void)state;
	assert_true(number_rows_cut(&r, line, strlen(line), &rest));
	assert_string_equal(r.member, "instructions");
	assert_memory_equal(r.all, expected, sizeof(expected));
	number_rows_free(&r);
}

/* Far from the end of the line, where numbers may be those of the row before: the same is refused as near it. */
static void test_rows_that_repeat(void **state)
{
	static const struct {
		const char *row;
		bool cut;
	} others[] = {
		{ "[4,12345678,100,-1]", true }, { "[4,123456789,100,-123456789]", true },
		{ "[4,-1,0,-1]", true },	 { "[4,1,100,-1]", true },
		{ "[4,10,100,-1]", true },	 { "[4,1234567890,100,-1]", false },
		{ "[4,1,100,-1,0]", false },	 { "[4,1,100]", false },
		{ "[4,01,100,-1]", false },	 { "[4,1,100,-1 ]", false },
		{ "[4,1,100,-]", false },	 { "[4,1,100,-1", false },
		{ "[4,,100,-1]", false },	 { "", false },
		{ "[4,1,100,-1}", false },
	};
	struct number_rows r = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(others); i++) {
		char line[1024];
		struct cut_line rest;
		int length = sprintf(line, "{\"a\":1,\"instructions\":[[0,1,100,-1],[2,1,100,-1],%s", others[i].row);

		for (int k = 0; k < 20; k++)
			length += sprintf(line + length, ",[%d,1,100,-1]", 6 + 2 * k);
		length += sprintf(line + length, "]}\n");
		if (number_rows_cut(&r, line, length, &rest) != others[i].cut)
			fail_msg("%s", others[i].row);
		if (!others[i].cut)
			continue;
		assert_int_equal(r.n, 23);
		assert_memory_equal(r.all + 88, ((const int32_t[]){ 44, 1, 100, -1 }), 4 * sizeof(int32_t));
		assert_int_equal(r.all[9], strtol(strchr(others[i].row, ',') + 1, NULL, 10));
		assert_int_equal(r.all[11], strtol(strrchr(others[i].row, ',') + 1, NULL, 10));
	}
	number_rows_free(&r);
}

#define ROWS 2000

/* Of many ends of rows some are kept in one place, and some are too long for that: none is taken for another. */
static void test_ends_of_rows(void **state)
{
	static const int targets[] = { -1, 0, 7, 40, 1234, 99999, -123, 12345678 };
	struct number_rows r = { 0 };
	struct cut_line rest;
	int32_t expected[ROWS][4];
	char *line = malloc(ROWS * 40 + 64), *end = line;

	(void)state;
	srand(1);
	end += sprintf(end, "{\"a\":1,\"instructions\":[");
	for (int i = 0; i < ROWS; i++) {
		int lineno = i / 5 % 3 ? i / 5 : -1, opcode = rand() % 256, target = targets[rand() % COUNT(targets)];

		memcpy(expected[i], ((int32_t[]){ i, lineno, opcode, target }), sizeof(expected[i]));
		end += sprintf(end, "%s[%d,%d,%d,%d]", i ? "," : "", i, lineno, opcode, target);
	}
	end += sprintf(end, "]}\n");
	for (int again = 0; again < 2; again++) {
		assert_true(number_rows_cut(&r, line, end - line, &rest));
		assert_int_equal(r.n, ROWS);
		assert_memory_equal(r.all, expected, sizeof(expected));
	}
	free(line);
	number_rows_free(&r);
}

#define MANY 5000

/* Room grows; what a longer line left there is not of the next one. */
static void test_many_rows(void **state)
{
	struct number_rows r = { 0 };
	struct cut_line rest;
	char *line = malloc(MANY * 16 + 64), *end = line;

	(void)state;
	end += sprintf(end, "{\"a\":1,\"opcodes\":[");
	for (int i = 0; i < MANY; i++)
		end += sprintf(end, "%s[%d,%d]", i ? "," : "", i, -i);
	end += sprintf(end, "]}\n");
	assert_true(number_rows_cut(&r, line, end - line, &rest));
	assert_int_equal(r.n, MANY);
	for (int i = 0; i < MANY; i++)
		assert_true(r.all[2 * i] == i && r.all[2 * i + 1] == -i);
	strcpy(line, "{\"a\":1,\"opcodes\":[[7,8]]}\n");
	assert_true(number_rows_cut(&r, line, strlen(line), &rest));
	assert_int_equal(r.n, 1);
	free(line);
	number_rows_free(&r);
}

static const struct {
	const char *array;
	size_t n;
	bool damaged;
} arrays[] = {
	{ "[[1,2],[3,4,5]]", 2, false }, /* a later version may have more */
	{ "[[1,2],[3],[4,5]]", 1, true },
	{ "[[1,2],[3,\"x\"]]", 1, true },
	{ "[[1,2],{}]", 1, true },
	{ "[[1,2147483647],[-2147483648,2],[1,2147483648]]", 2, true }, /* which 32 bits hold */
	{ "[]", 0, false },
	{ "{}", 0, false },
	{ "[7]", 0, true },
};

static void test_any_notation(void **state)
{
	struct number_rows r = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(arrays); i++) {
		json_t *array = json_loads(arrays[i].array, 0, NULL);

		assert_int_equal(number_rows_read(&r, array, 2), 0);
		if (r.n != arrays[i].n || r.damaged != arrays[i].damaged)
			fail_msg("%s: %d rows", arrays[i].array, (int)r.n);
		json_decref(array);
	}
	assert_int_equal(number_rows_read(&r, NULL, 2), 0);
	assert_true(!r.n && !r.damaged);
	assert_int_equal(number_rows_width("instructions"), 4);
	assert_int_equal(number_rows_width("opcodes"), 2);
	assert_int_equal(number_rows_width("kind"), 0);
	number_rows_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_cut),	 cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_rows_that_repeat), cmocka_unit_test(test_ends_of_rows),
		cmocka_unit_test(test_many_rows),	 cmocka_unit_test(test_any_notation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
