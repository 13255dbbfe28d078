/* SPDX-License-Identifier: MIT */
/* test_real.c - every number is written as jansson writes it, whichever way is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/real.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define RANDOM	 200000

static void check(double n)
{
	json_t *v = json_real(n);
	char *as = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS)), text[REAL_ROOM + 1];

	*real_put(text, n) = '\0';
	assert_string_equal(text, as);
	free(as);
	json_decref(v);
}

/* Its neighbours, too, of both signs. */
static void check_around(double n)
{
	const double all[] = { n, nextafter(n, 0), nextafter(n, INFINITY) };

	for (size_t i = 0; i < COUNT(all); i++) {
		check(all[i]);
		check(-all[i]);
	}
}

/* Where digits are gained or lost, and ties of the ninth one. */
static void test_edges(void **state)
{
	static const double edges[] = { 0,
					1,
					1.5,
					12.0625,
					0.5,
					1e-7,
					1e300,
					1e308,
					DBL_MIN,
					DBL_TRUE_MIN,
					123456789,
					123456789.5,
					12345678.25,
					12345678.125,
					1234567.5625,
					999999999,
					999999998.5,
					999999999.5,
					0.000123456789,
					2.5,
					123456.03125,
					1e15,
					4294967296 };

	(void)state;
	for (size_t i = 0; i < COUNT(edges); i++)
		check_around(edges[i]);
	for (int power = -20; power <= 25; power++) {
		check_around(pow(10, power));
		check_around(9.999999995 * pow(10, power));
		check_around(1.234567895 * pow(10, power));
	}
}

static uint64_t next(uint64_t *seed)
{
	return *seed = *seed * 6364136223846793005u + 1442695040888963407u;
}

static void test_random(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < RANDOM; i++) {
		double n = next(&seed) >> 11;

		check(ldexp(n, -(int)(next(&seed) >> 57)));
		check((double)(next(&seed) >> 40) / (next(&seed) >> 40 | 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
