/* SPDX-License-Identifier: MIT */
/* clock.c - bracketed readings, and a line through two points in integers. */
#include <time.h>

#include "clock.h"
#include "shared/ticks.h"

#define NSEC_PER_SEC 1000000000ull
#define APART_MIN_NS 10000000ull
#define TRIES	     16

uint64_t clock_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* TSC before and after reading the other clock; the tightest of some tries was not interrupted. */
static struct clock_pair read_pair(void)
{
	struct clock_pair best = { 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = ticks_now(), ns = clock_monotonic_ns(), after = ticks_now();

		if (after - before < width) {
			width = after - before;
			best = (struct clock_pair){ before + width / 2, ns };
		}
	}
	return best;
}

void clock_start(struct clock *c)
{
	c->first = c->last = read_pair();
}

void clock_update(struct clock *c)
{
	uint64_t due = c->first.ns + APART_MIN_NS;
	const struct timespec ts = { due / NSEC_PER_SEC, due % NSEC_PER_SEC };

	while (clock_monotonic_ns() < due)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	c->last = read_pair();
}

uint64_t clock_ns(const struct time_conv *conv, uint64_t tsc)
{
	uint64_t quot = tsc >> conv->shift, rem = tsc & ((1ull << conv->shift) - 1);

	return conv->zero + quot * conv->mult + (rem * conv->mult >> conv->shift);
}

static unsigned __int128 rounded_mult(uint64_t ns, uint64_t ticks, unsigned int shift)
{
	return (((unsigned __int128)ns << shift) + ticks / 2) / ticks;
}

/* The largest shift for which mult fits 32 bits, so that rem * mult fits 64. */
struct time_conv clock_conv(const struct clock *c)
{
	const uint64_t ticks = c->last.tsc - c->first.tsc, ns = c->last.ns - c->first.ns;
	struct time_conv conv = { .shift = 32 };

	while (conv.shift && rounded_mult(ns, ticks, conv.shift) > UINT32_MAX)
		conv.shift--;
	conv.mult = rounded_mult(ns, ticks, conv.shift);
	conv.zero = c->first.ns - clock_ns(&conv, c->first.tsc);
	return conv;
}

uint64_t clock_hz(const struct clock *c)
{
	return (unsigned __int128)(c->last.tsc - c->first.tsc) * NSEC_PER_SEC / (c->last.ns - c->first.ns);
}

uint64_t clock_tsc(const struct clock *c, uint64_t ns)
{
	const uint64_t ticks = c->last.tsc - c->first.tsc, span = c->last.ns - c->first.ns;

	return c->first.tsc + (__int128)(int64_t)(ns - c->first.ns) * ticks / span;
}
