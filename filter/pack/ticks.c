// SPDX-License-Identifier: MIT
#include "ticks.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cyc.h"
#include "shared/ptput.h"
#include "varint.h"

/* Steps that are looked for, in eighths of a cycle: those of a clock of 100 MHz and a counter of 0.4 to 6.4 GHz. */
#define STEP_LEAST (4u * 8)
#define STEP_MOST  (64u * 8)
#define LOOKED_AT  1024u /* CYC packets */
#define WHOLE_BITS 16	 /* what a CYC costs that stays whole: its escape, and a number like no other */

struct cyc {
	size_t size;
	uint32_t cycles;
	bool few;   /* packets of up to 4 bytes; cycles is 0 of others */
	bool plain; /* with no more bytes than the cycles need */
};

struct ticks {
	uint32_t step;
	uint32_t phase; /* eighths of a cycle of which the time is beyond what the CYC packets add up to */
};

/* The one at p, which is whole. */
static struct cyc read_cyc(const uint8_t *p, const uint8_t *end)
{
	size_t size = cyc_size(p, end);
	struct cyc cyc = { .size = size, .few = size <= 4, .plain = size == 1 || p[size - 1] >> 1 };

	if (cyc.few)
		cyc.cycles = p[0] >> 3;
	for (size_t at = 1; at < size && cyc.few; at++)
		cyc.cycles |= (uint32_t)(p[at] >> 1) << (7 * at - 2);
	return cyc;
}

/* --- the step ---------------------------------------------------------------------------------------------- */

static uint32_t steps_in(uint32_t step, uint32_t cycles)
{
	return (8 * cycles + step / 2) / step;
}

/* Could so many cycles be between two steps, whatever the phase? */
static bool is_hit(uint32_t step, uint32_t cycles)
{
	int32_t beyond = 8 * cycles - steps_in(step, cycles) * step;

	return beyond > -8 && beyond < 8;
}

/*
 * Bits that this step saves, roughly: of a hit, which of the cycles between two steps it is. log2() is of glibc 2.29,
 * which is newer than that of the wheels.
 */
static double bits_saved(uint32_t step, const uint32_t *cycles, size_t n)
{
	double bits = log10(step / 8.0) / log10(2);
	size_t hits = 0;

	for (size_t i = 0; i < n; i++)
		hits += is_hit(step, cycles[i]);
	return hits * bits - (double)(n - hits) * WHOLE_BITS;
}

/* Some of the packets, from everywhere. Returns how many. */
static size_t look_at(const uint8_t *cycles, size_t n, uint32_t seen[LOOKED_AT])
{
	size_t nseen = 0, apart = n / LOOKED_AT + 1, next = 0;

	for (size_t at = 0; at < n && nseen < LOOKED_AT;) {
		struct cyc cyc = read_cyc(cycles + at, cycles + n);

		if (at >= next && cyc.few) {
			seen[nseen++] = cyc.cycles;
			next = at + apart;
		}
		at += cyc.size;
	}
	return nseen;
}

uint32_t ticks_step(const uint8_t *cycles, size_t n)
{
	uint32_t seen[LOOKED_AT], best = 0;
	size_t nseen = look_at(cycles, n, seen);
	double most = nseen; /* less than a bit each is not worth it */

	for (uint32_t step = STEP_LEAST; step <= STEP_MOST; step++) {
		double saved = bits_saved(step, seen, nseen);

		if (saved > most) {
			most = saved;
			best = step;
		}
	}
	return best;
}

/* --- both ways --------------------------------------------------------------------------------------------- */

/* The time is so many steps later. Returns the cycles of these. */
static uint64_t go_on(struct ticks *t, uint64_t steps)
{
	uint64_t eighths = steps * t->step + t->phase;

	t->phase = eighths % 8;
	return eighths / 8;
}

/* A CYC stays whole: the phase is the nearest one with which its cycles would have followed, if there is one. */
static void see_whole(struct ticks *t, const struct cyc *cyc)
{
	uint32_t steps = steps_in(t->step, cyc->cycles);
	int32_t least = 8 * cyc->cycles - steps * t->step, phase = t->phase;

	if (!cyc->few || least < -7 || least > 7)
		return;
	phase = phase < least ? least : phase > least + 7 ? least + 7 : phase;
	t->phase = (steps * t->step + phase) % 8;
}

/* The steps of a CYC, plus 1; 0: it stays whole. */
static uint32_t number_of(struct ticks *t, const struct cyc *cyc)
{
	struct ticks then = *t;
	uint32_t steps = steps_in(t->step, cyc->cycles);

	if (!cyc->few || !cyc->plain || go_on(&then, steps) != cyc->cycles) {
		see_whole(t, cyc);
		return 0;
	}
	*t = then;
	return steps + 1;
}

size_t ticks_put(uint32_t step, const uint8_t *cycles, size_t n, uint8_t *to)
{
	struct ticks t = { .step = step };
	uint8_t *p = to;

	for (size_t at = 0; at < n;) {
		struct cyc cyc = read_cyc(cycles + at, cycles + n);
		uint32_t number = number_of(&t, &cyc);

		if ((size_t)(p - to) + VARINT_MOST + cyc.size > n)
			return 0;
		p = varint_put(p, number);
		if (!number)
			p = (uint8_t *)memcpy(p, cycles + at, cyc.size) + cyc.size;
		at += cyc.size;
	}
	return p - to;
}

static uint8_t *take_whole(struct ticks *t, const uint8_t **from, const uint8_t *end, uint8_t *p, size_t room)
{
	size_t size = cyc_size(*from, end);
	struct cyc cyc;

	if (!size || size > room)
		return NULL;
	cyc = read_cyc(*from, end);
	see_whole(t, &cyc);
	memcpy(p, *from, size);
	*from += size;
	return p + size;
}

int64_t ticks_get(uint32_t step, const uint8_t *from, size_t n, uint8_t *to, size_t most)
{
	struct ticks t = { .step = step };
	const uint8_t *end = from + n;
	uint8_t *p = to;
	uint32_t number;

	if (step > STEP_MOST)
		return -EBADMSG;
	while (p && from < end) {
		size_t room = most - (p - to);

		if (!varint_get(&from, end, &number) || room < PTPUT_CYC_MOST)
			return -EBADMSG;
		p = number ? ptput_cyc(p, go_on(&t, number - 1)) : take_whole(&t, &from, end, p, room);
	}
	return p ? p - to : -EBADMSG;
}
