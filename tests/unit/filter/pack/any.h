/* SPDX-License-Identifier: MIT */
/* any.h - random numbers that are the same on every machine: xorshift (Marsaglia, 2003). */
#pragma once

#include <stdint.h>

/* From 0 to below - 1. */
static inline uint32_t any(uint32_t below)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}
