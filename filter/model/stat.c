// SPDX-License-Identifier: MIT
/*
 * Log-linear buckets: the leading bit chooses the power of two, the STAT_SUB_BITS bits below it the bucket in it.
 * Values under 2^(STAT_SUB_BITS+1) have a bucket each.
 */
#include "stat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cold.h"

static struct stat_range range_of(unsigned bucket)
{
	unsigned shift;
	uint64_t low;

	if (bucket < STAT_SUB)
		return (struct stat_range){ bucket, bucket, 0 };
	shift = (bucket >> STAT_SUB_BITS) - 1;
	low = (uint64_t)(STAT_SUB + (bucket & (STAT_SUB - 1))) << shift;
	return (struct stat_range){ low, low + ((1ull << shift) - 1), 0 };
}

/* Distances from another origin: each is larger by the same. */
void spread_join(struct spread *to, const struct spread *more)
{
	int64_t further;

	if (!to->n)
		to->origin = more->origin;
	further = more->origin - to->origin;
	to->n += more->n;
	to->squares += more->squares + (double)further * (2 * (double)more->sum + (double)further * more->n);
	to->sum += more->sum + further * (int64_t)more->n;
}

double spread_deviation(const struct spread *s)
{
	double sum = s->sum, mean = s->n ? sum / s->n : 0, squares = s->squares - mean * sum;

	return s->n > 1 && squares > 0 ? sqrt(squares / (s->n - 1)) : 0;
}

/* There are too many different values to keep each. */
static COLD int make_buckets(struct stat_sum *s)
{
	s->buckets = calloc(STAT_BUCKETS, sizeof(*s->buckets));
	if (!s->buckets)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nfew; i++)
		s->buckets[stat_bucket(s->few[i].value)] += s->few[i].n;
	return 0;
}

/* Is it one of the few, or can it become one? */
static bool add_to_few(struct stat_sum *s, uint64_t value, uint64_t n)
{
	struct stat_value *v = s->few, *end = s->few + s->nfew;

	while (v < end && v->value < value)
		v++;
	if (v == end || v->value != value) {
		if (s->nfew == STAT_FEW)
			return false;
		memmove(v + 1, v, (end - v) * sizeof(*v));
		*v = (struct stat_value){ value, 0 };
		s->nfew++;
	}
	v->n += n;
	return true;
}

int stat_add_few(struct stat_sum *s, uint64_t value)
{
	if (!add_to_few(s, value, 1)) {
		if (make_buckets(s))
			return -ENOMEM;
		s->buckets[stat_bucket(value)]++;
	}
	stat_count(s, value);
	return 0;
}

int stat_join(struct stat_sum *to, const struct stat_sum *more)
{
	if (more->buckets && !to->buckets && make_buckets(to))
		return -ENOMEM;
	for (uint32_t i = 0; i < more->nfew && !more->buckets; i++) {
		uint64_t value = more->few[i].value, n = more->few[i].n;

		if (!to->buckets && !add_to_few(to, value, n) && make_buckets(to))
			return -ENOMEM;
		if (to->buckets)
			to->buckets[stat_bucket(value)] += n;
	}
	for (unsigned i = 0; i < STAT_BUCKETS && more->buckets; i++)
		to->buckets[i] += more->buckets[i];
	if (more->n && (!to->n || more->min < to->min))
		to->min = more->min;
	if (more->max > to->max)
		to->max = more->max;
	to->n += more->n;
	to->sum += more->sum;
	spread_join(&to->spread, &more->spread);
	return 0;
}

void stat_free(struct stat_sum *s)
{
	free(s->buckets);
	*s = (struct stat_sum){ 0 };
}

double stat_mean(const struct stat_sum *s)
{
	return s->n ? (double)s->sum / s->n : 0;
}

/* Rounding of share * n must not ask for one value too many: the slack is less than one in 2^40. */
static uint64_t rank_of(const struct stat_sum *s, double share)
{
	uint64_t rank = ceil(share * s->n * (1 - 0x1p-40));

	return rank ? rank : 1;
}

uint64_t stat_quantile(const struct stat_sum *s, double share)
{
	uint64_t seen = 0, rank = rank_of(s, share), value;
	struct stat_range r;

	for (unsigned at = 0; s->n && (at = stat_next(s, at, &r));) {
		seen += r.n;
		if (seen < rank)
			continue;
		value = r.low + (r.high - r.low) / 2;
		return value < s->min ? s->min : value > s->max ? s->max : value;
	}
	return s->max;
}

static unsigned next_value(const struct stat_sum *s, unsigned from, struct stat_range *r)
{
	if (from >= s->nfew)
		return 0;
	*r = (struct stat_range){ s->few[from].value, s->few[from].value, s->few[from].n };
	return from + 1;
}

unsigned stat_next(const struct stat_sum *s, unsigned from, struct stat_range *r)
{
	if (!s->buckets)
		return next_value(s, from, r);
	while (from < STAT_BUCKETS && !s->buckets[from])
		from++;
	if (from >= STAT_BUCKETS)
		return 0;
	*r = range_of(from);
	r->n = s->buckets[from];
	return from + 1;
}

unsigned stat_next_bucket(const struct stat_sum *s, unsigned from, struct stat_range *r)
{
	if (s->buckets || from >= s->nfew)
		return stat_next(s, from, r);
	*r = range_of(stat_bucket(s->few[from].value));
	while (from < s->nfew && s->few[from].value <= r->high)
		r->n += s->few[from++].n;
	return from;
}
