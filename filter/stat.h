/* SPDX-License-Identifier: MIT */
/*
 * stat.h - n, sum, min, max and percentiles of cycle counts, in 2 KiB whatever n is.
 *
 * Percentiles come from a histogram with logarithmic buckets, 8 to each power of two: a value read
 * back is wrong by at most 1/16 of itself, and never outside min..max. Values below 16 are exact.
 */
#ifndef OCULAR_STAT_H
#define OCULAR_STAT_H

#include <stdint.h>

#define STAT_SUB_BITS 3 /* 8 buckets a power of two */
#define STAT_BUCKETS  ((64 - STAT_SUB_BITS + 1) << STAT_SUB_BITS)

/*
 * How far values lie from each other, in 32 bytes. Kept as distances from the first value: those of
 * values that are alike are small, so that their squares do not drown in rounding.
 */
struct spread {
	uint64_t n;
	uint64_t origin; /* the first value */
	double sum, squares;
};

void spread_add(struct spread *s, uint64_t value);

/* The standard deviation of a sample (n - 1); 0 while n is less than 2. */
double spread_deviation(const struct spread *s);

struct stat_sum {
	uint64_t n;
	uint64_t sum;
	uint64_t min; /* 0 while n is 0 */
	uint64_t max;
	struct spread spread;
	uint32_t bucket[STAT_BUCKETS]; /* saturates at UINT32_MAX */
};

void stat_add(struct stat_sum *s, uint64_t value);

/* 0 while n is 0. */
double stat_mean(const struct stat_sum *s);

/* A range of values and how many fell into it. */
struct stat_range {
	uint64_t low, high; /* both included */
	uint64_t n;
};

/*
 * The first range at or above bucket `from` that is not empty, and in *r what it is. Returns the bucket
 * to go on from, 0 when there is none.
 */
unsigned stat_next(const struct stat_sum *s, unsigned from, struct stat_range *r);

/* The value that `share` (0..1) of all values do not exceed; 0 while n is 0. */
uint64_t stat_quantile(const struct stat_sum *s, double share);

#endif
