/* SPDX-License-Identifier: MIT */
/* test_marshal.c - byte for byte the result of marshal.dumps(OBJECT, 2) in CPython 3.12. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "export/marshal.h"

static struct out out;

static int set_up(void **state)
{
	char error[256];

	(void)state;
	return out_open(&out, "/dev/null", error, sizeof(error));
}

static int tear_down(void **state)
{
	(void)state;
	out_discard(&out);
	return 0;
}

#define CHECK(bytes) check(bytes, sizeof(bytes) - 1)

static void check(const char *bytes, size_t size)
{
	assert_int_equal(out.err, 0);
	assert_int_equal(out.used, size);
	assert_memory_equal(out.buffer, bytes, size);
	out.used = 0;
}

static void test_numbers(void **state)
{
	(void)state;
	marshal_int(&out, 0);
	CHECK("i\0\0\0\0");
	marshal_int(&out, INT32_MAX);
	CHECK("i\xff\xff\xff\x7f");
	marshal_int(&out, 1ul << 31);
	CHECK("l\3\0\0\0\0\0\0\0\2\0");
	marshal_int(&out, UINT64_MAX);
	CHECK("l\5\0\0\0\xff\x7f\xff\x7f\xff\x7f\xff\x7f\x0f\0");
	marshal_float(&out, 0.5);
	CHECK("g\0\0\0\0\0\0\xe0\x3f");
}

static void test_texts(void **state)
{
	(void)state;
	marshal_str(&out, "");
	CHECK("u\0\0\0\0");
	marshal_str(&out, "\xc3\xa9");
	CHECK("u\2\0\0\0\xc3\xa9");
	marshal_str(&out, "a\xff");
	CHECK("u\4\0\0\0a\xef\xbf\xbd");
}

static void test_containers(void **state)
{
	(void)state;
	marshal_dict(&out);
	marshal_str(&out, "a");
	marshal_tuple(&out, 1);
	marshal_int(&out, 1);
	marshal_end_dict(&out);
	CHECK("{u\1\0\0\0a(\1\0\0\0i\1\0\0\0"
	      "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_containers, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
