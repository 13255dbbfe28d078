/* SPDX-License-Identifier: MIT */
/* test_dense.c - from which trip on a loop has a track of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "timeline/dense.h"

/* So many trips are not dense, at that distance. */
static unsigned before(uint64_t distance, unsigned most)
{
	struct dense d = { 0 };
	unsigned n = 0;

	while (n < most && !dense_trip(&d, 5 + n * distance))
		n++;
	return n;
}

static void test_rule(void **state)
{
	(void)state;
	assert_int_equal(before(0, 1000), DENSE_TRIPS);
	assert_int_equal(before(DENSE_NS / DENSE_TRIPS, 1000), DENSE_TRIPS);
	assert_int_equal(before(DENSE_NS / DENSE_TRIPS + 1, 1000), 1000);
}

static void test_once_is_always(void **state)
{
	struct dense d = { 0 };

	(void)state;
	for (unsigned i = 0; i < DENSE_TRIPS; i++)
		assert_false(dense_trip(&d, i));
	assert_true(dense_trip(&d, DENSE_TRIPS));
	assert_true(dense_trip(&d, 1000ull * DENSE_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rule), cmocka_unit_test(test_once_is_always) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
