/* SPDX-License-Identifier: MIT */
/* test_message.c - bytes as protobuf's documentation has them, also of messages whose length takes several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/message.h"

static void check(const struct message *m, const char *bytes, size_t n)
{
	assert_false(m->no_memory);
	assert_int_equal(m->n, n);
	assert_memory_equal(m->bytes, bytes, n);
}

#define CHECK(m, text) check(m, text, sizeof(text) - 1)

static void test_fields(void **state)
{
	struct message m = { 0 };
	size_t outer, inner;

	(void)state;
	message_number(&m, 1, 150);
	CHECK(&m, "\x08\x96\x01");
	message_text(&m, 2, "testing");
	CHECK(&m, "\x08\x96\x01\x12\x07testing");
	message_free(&m);

	outer = message_open(&m, 3);
	inner = message_open(&m, 4);
	message_element(&m, 3);
	message_element(&m, 270);
	message_close(&m, inner);
	message_close(&m, outer);
	message_close(&m, message_open(&m, 1)); /* nothing in it */
	CHECK(&m, "\x1a\x05\x22\x03\x03\x8e\x02\x0a\x00");
	message_free(&m);

	message_fixed64(&m, 3, 0x0102030405060708);
	CHECK(&m, "\x19\x08\x07\x06\x05\x04\x03\x02\x01");
	message_free(&m);
}

/* A message of 70,000 bytes in another one: their lengths take three bytes each. */
static void test_long(void **state)
{
	struct message m = { 0 };
	size_t outer = message_open(&m, 1), inner = message_open(&m, 2);

	(void)state;
	for (int i = 0; i < 70000; i++)
		message_element(&m, i & 0x7f);
	message_close(&m, inner);
	message_close(&m, outer);
	assert_int_equal(m.n, 70000 + 2 * 4);
	assert_memory_equal(m.bytes, "\x0a\xf4\xa2\x04\x12\xf0\xa2\x04\x00\x01\x02", 11);
	for (int i = 0; i < 70000; i++)
		assert_int_equal(m.bytes[8 + i], i & 0x7f);
	message_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fields), cmocka_unit_test(test_long) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
