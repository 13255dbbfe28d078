/* SPDX-License-Identifier: MIT */
/* varint.h - numbers below 2^28 in LEB128: 7 bits a byte, the lowest first; the highest bit: another follows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define VARINT_MOST 4 /* bytes */

/* Returns the end. */
static inline uint8_t *varint_put(uint8_t *p, uint32_t n)
{
	for (; n > 0x7f; n >>= 7)
		*p++ = n | 0x80;
	*p++ = n;
	return p;
}

/* Moves *p behind the number. False: it does not end before `end`, or is too large. */
static inline bool varint_get(const uint8_t **p, const uint8_t *end, uint32_t *n)
{
	*n = 0;
	for (unsigned shift = 0; *p < end && shift < 28; shift += 7) {
		*n |= (uint32_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return true;
	}
	return false;
}
