// SPDX-License-Identifier: MIT
/*
 * Log-linear buckets: the leading bit chooses the power of two, the STAT_SUB_BITS bits below it the
 * bucket in it. Values under 2^(STAT_SUB_BITS+1) fall into a bucket of their own.
 */
#include "stat.h"

#include <math.h>

#define SUB (1u << STAT_SUB_BITS)

static unsigned bucket_of(uint64_t value)
{
	unsigned exponent;

	if (value < SUB)
		return value;
	exponent = 63 - __builtin_clzll(value);
	return ((exponent - STAT_SUB_BITS + 1) << STAT_SUB_BITS) +
	       (value >> (exponent - STAT_SUB_BITS) & (SUB - 1));
}

static struct stat_range range_of(unsigned bucket)
{
	unsigned shift;
	uint64_t low;

	if (bucket < SUB)
		return (struct stat_range){ bucket, bucket, 0 };
	shift = (bucket >> STAT_SUB_BITS) - 1;
	low = (uint64_t)(SUB + (bucket & (SUB - 1))) << shift;
	return (struct stat_range){ low, low + ((1ull << shift) - 1), 0 };
}

static uint64_t bucket_middle(unsigned bucket)
{
	struct stat_range r = range_of(bucket);

	return r.low + (r.high - r.low) / 2;
}

void spread_add(struct spread *s, uint64_t value)
{
	double distance;

	if (!s->n++)
		s->origin = value;
	distance = (int64_t)(value - s->origin);
	s->sum += distance;
	s->squares += distance * distance;
}

double spread_deviation(const struct spread *s)
{
	double mean = s->n ? s->sum / s->n : 0, squares = s->squares - mean * s->sum;

	return s->n > 1 && squares > 0 ? sqrt(squares / (s->n - 1)) : 0;
}

void stat_add(struct stat_sum *s, uint64_t value)
{
	uint32_t *bucket = &s->bucket[bucket_of(value)];

	if (!s->n || value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
	s->n++;
	s->sum += value;
	spread_add(&s->spread, value);
	*bucket += *bucket != UINT32_MAX;
}

double stat_mean(const struct stat_sum *s)
{
	return s->n ? (double)s->sum / s->n : 0;
}

uint64_t stat_quantile(const struct stat_sum *s, double share)
{
	uint64_t seen = 0, wanted = share * s->n, value;

	for (unsigned b = 0; b < STAT_BUCKETS; b++) {
		seen += s->bucket[b];
		if (!seen || seen < wanted)
			continue;
		value = bucket_middle(b);
		return value < s->min ? s->min : value > s->max ? s->max : value;
	}
	return s->max;
}

unsigned stat_next(const struct stat_sum *s, unsigned from, struct stat_range *r)
{
	while (from < STAT_BUCKETS && !s->bucket[from])
		from++;
	if (from >= STAT_BUCKETS)
		return 0;
	*r = range_of(from);
	r->n = s->bucket[from];
	return from + 1;
}
