// SPDX-License-Identifier: MIT
/* What samples of C functions add up to. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/sampled.h"

static int read_line(struct natives *n, const char *text)
{
	static const struct {
		const char *kind;
		int (*read)(struct natives *n, json_t *line);
	} readers[] = {
		{ "f", natives_read_function },
		{ "s", natives_read_stack },
		{ "t", natives_read_totals },
	};
	json_t *line = json_loads(text, 0, NULL);
	const char *kind = json_string_value(json_object_get(line, "k"));
	int err = -EPROTO;

	for (size_t i = 0; i < 3; i++)
		if (!strcmp(readers[i].kind, kind))
			err = readers[i].read(n, line);
	json_decref(line);
	return err;
}

static struct natives names(void)
{
	static const char *const lines[] = {
		"{\"k\":\"f\",\"id\":1,\"name\":\"leaf\",\"object\":\"a.so\"}",
		"{\"k\":\"f\",\"id\":2,\"name\":\"outer\",\"object\":\"a.so\"}",
		"{\"k\":\"f\",\"id\":3,\"name\":\"_PyEval_EvalFrameDefault\",\"object\":\"p.so\"}",
		"{\"k\":\"s\",\"id\":1,\"functions\":[1,2,3]}",
		"{\"k\":\"s\",\"id\":2,\"functions\":[2,2,2,3]}",
		"{\"k\":\"s\",\"id\":3,\"functions\":[3]}",
	};
	struct natives n = { 0 };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(read_line(&n, lines[i]), 0);
	return n;
}

static void test_rows(void **state)
{
	static const struct {
		const char *name; /* NULL: no table has it */
		uint64_t n, self;
	} expected[] = { { "outer", 7, 4 }, { "leaf", 3, 3 }, { "_PyEval_EvalFrameDefault", 2, 2 }, { NULL, 1, 1 } };
	static const uint32_t samples[] = { 1, 2, 1, 2, 3, 2, 77, 2, 3, 1 };
	struct natives n = names();
	struct sampled s = { 0 };
	struct sampled_row *rows;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		assert_int_equal(sampled_add(&s, samples[i]), 0);
	rows = sampled_rows(&s, &n, &count);
	assert_non_null(rows);
	assert_int_equal(s.n, 10);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].n, expected[i].n);
		assert_int_equal(rows[i].self, expected[i].self);
		if (expected[i].name)
			assert_string_equal(rows[i].function->name, expected[i].name);
		else
			assert_null(rows[i].function);
	}
	free(rows);
	sampled_free(&s);
	natives_free(&n);
}

/* Of a fair coin thrown 100 times, the share of heads is 0.5 with a standard deviation of 0.05. */
static void test_error(void **state)
{
	(void)state;
	assert_true(fabs(sampled_error(50, 100) - 0.05) < 1e-12);
	assert_true(sampled_error(100, 100) == 0);
	assert_true(sampled_error(0, 0) == 0);
}

static void test_damaged_lines(void **state)
{
	static const char *const damaged[] = {
		"{\"k\":\"f\",\"name\":\"leaf\"}",
		"{\"k\":\"f\",\"id\":9}",
		"{\"k\":\"f\",\"id\":-1,\"name\":\"x\"}",
		"{\"k\":\"s\",\"id\":9,\"functions\":[]}",
		"{\"k\":\"s\",\"id\":9}",
		"{\"k\":\"s\",\"functions\":[1]}",
		"{\"k\":\"s\",\"id\":8,\"functions\":[1,1234]}",
	};
	struct natives n = names();

	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		assert_int_equal(read_line(&n, damaged[i]), -EINVAL);
	assert_null(natives_stack(&n, 9));
	natives_free(&n);
}

static void test_totals(void **state)
{
	struct natives n = { 0 };

	(void)state;
	assert_int_equal(read_line(&n, "{\"k\":\"t\",\"hz\":99,\"lost\":3,\"threads_without\":2,\"error\":\"\"}"), 0);
	assert_true(n.asked);
	assert_int_equal(n.hz, 99);
	assert_int_equal(n.lost, 3);
	assert_int_equal(n.threads_without, 2);
	assert_null(n.error);
	assert_int_equal(read_line(&n, "{\"k\":\"t\",\"hz\":99,\"error\":\"no\"}"), 0);
	assert_string_equal(n.error, "no");
	natives_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_damaged_lines),
		cmocka_unit_test(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
