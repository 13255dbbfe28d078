/* SPDX-License-Identifier: MIT */
/* cyc.h - where a CYC packet ends: bit 2 of its first byte, bit 0 of each further one says that another follows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of the CYC at p; 0: it does not end before `end`. */
static inline size_t cyc_size(const uint8_t *p, const uint8_t *end)
{
	uint8_t more = 4;

	for (size_t n = 1; n <= (size_t)(end - p); n++, more = 1)
		if (!(p[n - 1] & more))
			return n;
	return 0;
}
