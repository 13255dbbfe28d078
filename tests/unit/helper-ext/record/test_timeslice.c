/* SPDX-License-Identifier: MIT */
/* Whether a stretch of work ends with a nap; how long either takes is not tested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/clock.h"
#include "record/timeslice.h"

#define HOUR 3600000000000ull

static void test_a_stretch_goes_on(void **state)
{
	uint64_t began = clock_monotonic_ns() + HOUR;
	struct timeslice s = { began };

	(void)state;
	timeslice_check(&s);
	assert_int_equal(s.began_ns, began);
}

static void test_a_nap_begins_another(void **state)
{
	struct timeslice s;
	uint64_t before;

	(void)state;
	timeslice_begin(&s);
	before = s.began_ns;
	s.began_ns -= HOUR < before ? HOUR : before;
	timeslice_check(&s);
	assert_true(s.began_ns > before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stretch_goes_on),
		cmocka_unit_test(test_a_nap_begins_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
