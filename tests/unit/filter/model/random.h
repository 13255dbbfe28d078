/* SPDX-License-Identifier: MIT */
/* random.h - random numbers that are the same on every machine: a linear congruential generator, Knuth's MMIX. */
#pragma once

#include <stdint.h>

/* A number from 0 to n - 1; changes the seed. */
static inline uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*seed >> 33) % n);
}
