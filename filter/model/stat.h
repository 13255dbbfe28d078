/* SPDX-License-Identifier: MIT */
/*
 * stat.h - n, sum, min, max and percentiles of counts, in at most 5 KiB, whatever n is.
 *
 * Up to STAT_FEW distinct values are kept as they are, so percentiles are exact. With more, all go into a histogram
 * with logarithmic buckets, 8 to each power of two: a value read back is wrong by at most 1/16 of itself, and never
 * outside min..max; values below 16 stay exact.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STAT_SUB_BITS 3 /* 8 buckets a power of two */
#define STAT_SUB      (1u << STAT_SUB_BITS)
#define STAT_BUCKETS  ((64 - STAT_SUB_BITS + 1) << STAT_SUB_BITS)
#define STAT_FEW      32

/*
 * How far values are spread, in 32 bytes. Sums of integers, so that those of several threads add up to the same in any
 * order. Exact while the sum of the values is less than 2^63; the squares may go around, their distance from the mean's
 * does not.
 */
struct spread {
	uint64_t n;
	int64_t sum;
	__uint128_t squares;
};

static inline __uint128_t spread_square(uint64_t value)
{
	return (__uint128_t)((__int128_t)(int64_t)value * (int64_t)value);
}

static inline void spread_add(struct spread *s, uint64_t value)
{
	s->n++;
	s->sum = (int64_t)((uint64_t)s->sum + value);
	s->squares += spread_square(value);
}

static inline void spread_join(struct spread *to, const struct spread *more)
{
	to->n += more->n;
	to->sum = (int64_t)((uint64_t)to->sum + (uint64_t)more->sum);
	to->squares += more->squares;
}

/* The standard deviation of a sample (n - 1); 0 while n is less than 2. */
double spread_deviation(const struct spread *s);

struct stat_sum {
	uint64_t n;
	uint64_t sum;
	uint64_t min; /* 0 while n is 0 */
	uint64_t max;
	struct spread spread;
	struct stat_value {
		uint64_t value, n;
	} few[STAT_FEW]; /* ascending; unused when there are buckets */
	uint32_t nfew;
	uint64_t *buckets; /* [STAT_BUCKETS]; NULL: few values */
};

/* The logarithmic bucket of a value, less than STAT_BUCKETS. */
static inline unsigned stat_bucket(uint64_t value)
{
	unsigned exponent;

	if (value < STAT_SUB)
		return value;
	exponent = 63 - __builtin_clzll(value);
	return (exponent - STAT_SUB_BITS) * STAT_SUB + (value >> (exponent - STAT_SUB_BITS));
}

/* What is kept of a value beside how often it came. */
static inline void stat_count(struct stat_sum *s, uint64_t value)
{
	spread_add(&s->spread, value);
	s->n++;
	s->sum += value;
	if (value > s->max)
		s->max = value;
	if (s->n == 1 || value < s->min)
		s->min = value;
}

/* stat_add() without buckets. */
int stat_add_few(struct stat_sum *s, uint64_t value);

/* 0 or -ENOMEM. Inline: there is one for each trip of a loop. */
static inline int stat_add(struct stat_sum *s, uint64_t value)
{
	if (!s->buckets)
		return stat_add_few(s, value);
	s->buckets[stat_bucket(value)]++;
	stat_count(s, value);
	return 0;
}

/*
 * stat_add() of a value that is one of many, where there are buckets: what is kept of all of them is gathered by the
 * caller, who adds it at last. min and max: of all values so far.
 */
static inline void stat_add_bucket(struct stat_sum *s, uint64_t value, __uint128_t *squares, uint64_t *min,
				   uint64_t *max)
{
	s->buckets[stat_bucket(value)]++;
	*squares += spread_square(value);
	*max = value > *max ? value : *max;
	*min = value < *min ? value : *min;
}

/* n of them, with that sum. */
static inline void stat_add_row(struct stat_sum *s, uint64_t n, uint64_t sum, __uint128_t squares, uint64_t min,
				uint64_t max)
{
	spread_join(&s->spread, &(struct spread){ .n = n, .sum = (int64_t)sum, .squares = squares });
	s->n += n;
	s->sum += sum;
	s->min = min;
	s->max = max;
}

/* Adds all values of another one. 0 or -ENOMEM. */
int stat_join(struct stat_sum *to, const struct stat_sum *more);

/* Frees what is in it. */
void stat_free(struct stat_sum *s);

/* Are percentiles exact? */
static inline bool stat_exact(const struct stat_sum *s)
{
	return !s->buckets;
}

/* 0 while n is 0. */
double stat_mean(const struct stat_sum *s);

/* A range of values and how many fell into it. */
struct stat_range {
	uint64_t low, high; /* both included */
	uint64_t n;
};

/*
 * Walks the ranges upwards: the first one at or after `from` (0 at first), in *r. Returns where to go
 * on from, 0 when there is none. Exact values are ranges of one.
 */
unsigned stat_next(const struct stat_sum *s, unsigned from, struct stat_range *r);

/* The same by buckets, also of exact values: what merges with that of any other, by `low`. */
unsigned stat_next_bucket(const struct stat_sum *s, unsigned from, struct stat_range *r);

/* The smallest value that at least `share` (0..1) of all do not exceed (nearest rank); 0 if n is 0. */
uint64_t stat_quantile(const struct stat_sum *s, double share);
