/* SPDX-License-Identifier: MIT */
/*
 * mutator.h - what the changes of fuzzers share: numbers at random, other values of a field, records that are dropped
 * or come twice. What a record is, a fuzzer's own hook says (LLVMFuzzerCustomMutator: llvm.org/docs/LibFuzzer.html).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RECORDS_MAX 512

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

struct mutated {
	uint8_t *bytes;
	size_t size, max;
	unsigned nrecords;
	size_t records[RECORDS_MAX + 1]; /* where each begins; the last one: where they end */
	uint32_t state;
};

/* A linear congruential generator: its upper bits are the better ones. */
static inline uint32_t mutator_draw(struct mutated *m, uint32_t below)
{
	m->state = m->state * 1664525u + 1013904223u;
	return (uint64_t)(m->state >> 8) * below >> 24;
}

/* Near what was there, at an edge, of another field, or anything. */
static inline uint64_t mutator_value(struct mutated *m, uint64_t was)
{
	static const uint64_t edges[] = { 0,	     1, 7, 8, 63, 64, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX - 7,
					  UINT64_MAX };
	uint64_t other = 0;

	switch (mutator_draw(m, 6)) {
	case 0:
		return was + 8 * mutator_draw(m, 5) - 16;
	case 1:
		return edges[mutator_draw(m, sizeof(edges) / sizeof(edges[0]))];
	case 2:
		if (m->size >= sizeof(other))
			memcpy(&other, m->bytes + 8 * mutator_draw(m, m->size / 8), sizeof(other));
		return other;
	case 3:
		return was ^ 1ull << mutator_draw(m, 64);
	case 4:
		return mutator_draw(m, m->size + 9);
	default:
		return mutator_draw(m, 256);
	}
}

/* A field of four bytes or eight, between two places. */
static inline void mutator_change_field(struct mutated *m, size_t from, size_t to)
{
	size_t size = mutator_draw(m, 2) ? 4 : 8, at;
	uint64_t v = 0;

	if (from > m->size || to > m->size || from + size > to)
		return;
	at = from + mutator_draw(m, (to - from) / size) * size;
	memcpy(&v, m->bytes + at, size);
	v = mutator_value(m, v);
	memcpy(m->bytes + at, &v, size);
}

static inline void mutator_drop(struct mutated *m, unsigned i)
{
	size_t at = m->records[i], n = m->records[i + 1] - at;

	memmove(m->bytes + at, m->bytes + at + n, m->size - at - n);
	m->size -= n;
}

static inline void mutator_repeat(struct mutated *m, unsigned i)
{
	size_t from = m->records[i], n = m->records[i + 1] - from, to = m->records[mutator_draw(m, m->nrecords + 1)];

	if (n > m->max - m->size)
		return;
	memmove(m->bytes + to + n, m->bytes + to, m->size - to);
	memmove(m->bytes + to, m->bytes + from + (from >= to ? n : 0), n);
	m->size += n;
}

/* Other bytes, which are none of m->bytes, from `at` to `end`. */
static inline void mutator_replace(struct mutated *m, size_t at, size_t end, const void *bytes, size_t n)
{
	if (n > end - at && n - (end - at) > m->max - m->size)
		return;
	memmove(m->bytes + at + n, m->bytes + end, m->size - end);
	memcpy(m->bytes + at, bytes, n);
	m->size += n - (end - at);
}
