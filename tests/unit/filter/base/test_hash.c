/* SPDX-License-Identifier: MIT */
/* test_hash.c - the published values of FNV-1a. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/hash.h"

/* draft-eastlake-fnv, test vectors of 64 bits. */
static void test_values(void **state)
{
	(void)state;
	assert_true(hash_text(HASH_START, "") == 0xcbf29ce484222325u);
	assert_true(hash_text(HASH_START, "a") == 0xaf63dc4c8601ec8cu);
	assert_true(hash_text(HASH_START, "foobar") == 0x85944171f73967e8u);
	assert_true(hash_text(hash_text(HASH_START, "foo"), "bar") == 0x85944171f73967e8u);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_values) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
