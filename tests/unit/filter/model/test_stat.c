/* SPDX-License-Identifier: MIT */
/* test_stat.c - sums are exact; so are quantiles of few values; those of many are within 1/16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/stat.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_empty(void **state)
{
	struct stat_sum s = { 0 };

	(void)state;
	assert_true(stat_mean(&s) == 0);
	assert_int_equal(stat_quantile(&s, 0.5), 0);
	assert_int_equal(stat_quantile(&s, 1), 0);
}

/* Every power of two, its neighbours, and the ends of the range: alone, each is its own median. */
static void test_one_value_is_exact(void **state)
{
	(void)state;
	for (int bit = 0; bit < 64; bit++)
		for (int d = -1; d <= 1; d++) {
			struct stat_sum s = { 0 };
			uint64_t v = (1ull << bit) + d;

			stat_add(&s, v);
			assert_int_equal(s.n, 1);
			assert_int_equal(s.sum, v);
			assert_int_equal(s.min, v);
			assert_int_equal(s.max, v);
			assert_int_equal(stat_quantile(&s, 0.5), v);
			assert_int_equal(stat_quantile(&s, 0.99), v);
		}
}

static const struct {
	const char *name;
	uint64_t first, step;
	unsigned n;
} series[] = {
	{ "small, exact", 1, 1, 15 },
	{ "hundreds", 100, 3, 500 },
	{ "a wide range", 1, 1000003, 10000 },
	{ "around 2^40", 1ull << 40, 12345, 5000 },
	{ "all the same", 777, 0, 100 },
	{ "as many as are kept", 1000, 999, STAT_FEW },
	{ "one more", 1000, 999, STAT_FEW + 1 },
};

static void test_quantiles_are_near(void **state)
{
	static const double shares[] = { 0.01, 0.25, 0.5, 0.9, 0.99, 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(series); i++) {
		struct stat_sum s = { 0 };
		uint64_t sum = 0;

		for (unsigned k = 0; k < series[i].n; k++) {
			stat_add(&s, series[i].first + k * series[i].step);
			sum += series[i].first + k * series[i].step;
		}
		assert_int_equal(s.sum, sum);
		assert_true(stat_mean(&s) == (double)sum / series[i].n);
		assert_int_equal(stat_exact(&s), series[i].n <= STAT_FEW || !series[i].step);
		for (size_t q = 0; q < COUNT(shares); q++) {
			uint64_t rank = (shares[q] * 100 * series[i].n + 99) / 100;
			uint64_t exact = series[i].first + (rank - 1) * series[i].step;
			uint64_t got = stat_quantile(&s, shares[q]);

			assert_in_range(got, exact - exact / 16, exact + exact / 16);
			assert_in_range(got, s.min, s.max);
			if (stat_exact(&s))
				assert_int_equal(got, exact);
		}
		stat_free(&s);
	}
}

/* By nearest rank: of 100 values the 99th is the one that 99 % do not exceed, of 8 it is the last. */
static void test_nearest_rank(void **state)
{
	struct stat_sum s = { 0 };

	(void)state;
	for (unsigned i = 0; i < 99; i++)
		stat_add(&s, 1000);
	stat_add(&s, 1001);
	assert_int_equal(stat_quantile(&s, 0.99), 1000);
	assert_int_equal(stat_quantile(&s, 0.995), 1001);
	s = (struct stat_sum){ 0 };
	for (unsigned i = 0; i < 7; i++)
		stat_add(&s, 1000);
	stat_add(&s, 1001);
	assert_int_equal(stat_quantile(&s, 0.5), 1000);
	assert_int_equal(stat_quantile(&s, 0.99), 1001);
}

/* Values come in any order, and again after others: what was kept moves into the buckets whole. */
static void test_few_become_many(void **state)
{
	struct stat_sum s = { 0 };
	struct stat_range r;
	uint64_t n = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		stat_add(&s, 5000 + 100 * (i * 7 % STAT_FEW));
	assert_true(stat_exact(&s));
	assert_int_equal(stat_quantile(&s, 0.5), 5000 + 100 * (STAT_FEW / 2 - 1));
	stat_add(&s, 1);
	assert_false(stat_exact(&s));
	for (unsigned at = 0; (at = stat_next(&s, at, &r));)
		n += r.n;
	assert_int_equal(n, 1001);
	assert_int_equal(s.n, 1001);
	assert_int_equal(s.min, 1);
	stat_free(&s);
	assert_int_equal(s.n, 0);
}

/* A quarter of an hour of trips of 100 ns: 2^33 of one value, put there without adding each, then many values. */
static void test_more_of_a_value_than_32_bits_hold(void **state)
{
	struct stat_sum s = { 0 };
	struct stat_range r;

	(void)state;
	for (unsigned i = 0; i < STAT_FEW; i++)
		stat_add(&s, 100 + 64 * i);
	s.few[0].n += 1ull << 33;
	s.n += 1ull << 33;
	stat_add(&s, 1000000);
	assert_false(stat_exact(&s));
	stat_add(&s, 100);
	assert_in_range(stat_quantile(&s, 0.5), 100, 107);
	assert_in_range(stat_quantile(&s, 0.99), 100, 107);
	assert_int_equal(stat_next(&s, 0, &r), stat_bucket(100) + 1);
	assert_int_equal(r.n, (1ull << 33) + 2);
	stat_free(&s);
}

static void test_small_values_are_exact(void **state)
{
	struct stat_sum s = { 0 };

	(void)state;
	for (unsigned v = 0; v < 16; v++)
		stat_add(&s, v);
	for (unsigned v = 0; v < 16; v++)
		assert_int_equal(stat_quantile(&s, (v + 1) / 16.0), v);
}

static void test_an_outlier_moves_the_mean_alone(void **state)
{
	struct stat_sum s = { 0 };

	(void)state;
	for (int i = 0; i < 999; i++)
		stat_add(&s, 10);
	stat_add(&s, 1000000);
	assert_int_equal(stat_quantile(&s, 0.5), 10);
	assert_int_equal(stat_quantile(&s, 0.99), 10);
	assert_int_equal(s.max, 1000000);
	assert_true(stat_mean(&s) > 1000);
}

/* Far from zero the squares of the values themselves would be nothing but rounding. */
static void test_deviation_is_of_a_sample(void **state)
{
	static const uint64_t offsets[] = { 0, 1ull << 40, 1ull << 60 };

	(void)state;
	for (size_t i = 0; i < COUNT(offsets); i++) {
		struct spread s = { 0 };

		assert_true(spread_deviation(&s) == 0);
		spread_add(&s, offsets[i] + 6);
		assert_true(spread_deviation(&s) == 0);
		spread_add(&s, offsets[i] + 2);
		spread_add(&s, offsets[i] + 4);
		assert_true(spread_deviation(&s) == 2);
	}
}

static void test_ranges_hold_all_values(void **state)
{
	struct stat_sum s = { 0 };
	struct stat_range r, last = { 0 };
	uint64_t n = 0;

	(void)state;
	assert_int_equal(stat_next(&s, 0, &r), 0);
	for (uint64_t v = 0; v < 100; v++)
		stat_add(&s, v * v);
	for (unsigned b = 0; (b = stat_next(&s, b, &r)); n += r.n, last = r) {
		uint64_t inside = 0;

		for (uint64_t v = 0; v < 100; v++)
			inside += r.low <= v * v && v * v <= r.high;
		assert_int_equal(r.n, inside);
		assert_true(r.low > last.high || !n);
	}
	assert_int_equal(n, 100);
	stat_free(&s);
}

/* Adds the sum's buckets to n; each begins where its first value has the bucket's number. */
static void add_buckets(const struct stat_sum *s, int64_t n[STAT_BUCKETS], int64_t sign)
{
	struct stat_range r;

	for (unsigned at = 0; (at = stat_next_bucket(s, at, &r));) {
		assert_true(!r.low || stat_bucket(r.low - 1) < stat_bucket(r.low));
		n[stat_bucket(r.low)] += sign * (int64_t)r.n;
	}
}

/* Few and few, few and many, many and few, nothing and anything: as if all had been added to one. */
static void test_joined(void **state)
{
	static const unsigned sizes[] = { 0, 1, 20, 30, 1000 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes) * COUNT(sizes); i++) {
		unsigned a = sizes[i / COUNT(sizes)], b = sizes[i % COUNT(sizes)];
		struct stat_sum one = { 0 }, two = { 0 }, all = { 0 };
		int64_t buckets[STAT_BUCKETS] = { 0 };

		for (uint64_t v = 0; v < a + b; v++) {
			assert_int_equal(stat_add(v < a ? &one : &two, 1000 + v * v), 0);
			assert_int_equal(stat_add(&all, 1000 + v * v), 0);
		}
		add_buckets(&one, buckets, 1);
		add_buckets(&two, buckets, 1);
		add_buckets(&all, buckets, -1);
		for (unsigned at = 0; at < STAT_BUCKETS; at++)
			assert_int_equal(buckets[at], 0);
		assert_int_equal(stat_join(&one, &two), 0);
		assert_int_equal(one.n, all.n);
		assert_int_equal(one.sum, all.sum);
		assert_int_equal(one.min, all.min);
		assert_int_equal(one.max, all.max);
		for (double share = 0; share <= 1; share += 0.125)
			assert_int_equal(stat_quantile(&one, share), stat_quantile(&all, share));
		assert_memory_equal(&one.spread, &all.spread, sizeof(one.spread));
		assert_true(spread_deviation(&one.spread) == spread_deviation(&all.spread));
		stat_free(&one);
		stat_free(&two);
		stat_free(&all);
	}
}

/* Values that come in a row have what each alone would. */
static void test_row(void **state)
{
	struct stat_sum alone = { 0 }, row = { 0 };
	__uint128_t squares = 0;
	uint64_t sum = 0, min, max;

	(void)state;
	for (uint64_t v = 100; v <= 100 + STAT_FEW; v++) {
		stat_add(&alone, v);
		stat_add(&row, v);
	}
	min = row.min;
	max = row.max;
	for (uint64_t v = 7; v < 1u << 20; v = v * 3 - 11) {
		stat_add(&alone, v);
		stat_add_bucket(&row, v, &squares, &min, &max);
		sum += v;
	}
	stat_add_row(&row, alone.n - row.n, sum, squares, min, max);
	assert_int_equal(row.n, alone.n);
	assert_int_equal(row.sum, alone.sum);
	assert_int_equal(row.min, 7);
	assert_int_equal(row.max, alone.max);
	assert_memory_equal(&row.spread, &alone.spread, sizeof(row.spread));
	assert_memory_equal(row.buckets, alone.buckets, STAT_BUCKETS * sizeof(*row.buckets));
	stat_free(&alone);
	stat_free(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_one_value_is_exact),
		cmocka_unit_test(test_quantiles_are_near),
		cmocka_unit_test(test_nearest_rank),
		cmocka_unit_test(test_few_become_many),
		cmocka_unit_test(test_more_of_a_value_than_32_bits_hold),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_deviation_is_of_a_sample),
		cmocka_unit_test(test_ranges_hold_all_values),
		cmocka_unit_test(test_an_outlier_moves_the_mean_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
