/* SPDX-License-Identifier: MIT */
/*
 * ptput.h - the two Intel PT packets of a marker, written: CYC and PTW (Intel SDM volume 3, "Intel Processor Trace",
 * packet definitions). Each function returns the end of what it wrote at p.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define PTPUT_CYC_MOST 10 /* bytes */

/* CYC: 5 payload bits in the first byte, then 7 a byte; an Exp bit says that another byte follows. */
static inline uint8_t *ptput_cyc(uint8_t *p, uint64_t cycles)
{
	*p++ = 3 | (cycles > 0x1f) << 2 | cycles << 3;
	for (cycles >>= 5; cycles; cycles >>= 7)
		*p++ = (cycles > 0x7f) | cycles << 1;
	return p;
}

/* PTW with 8 bytes of payload and no FUP behind it. */
static inline uint8_t *ptput_ptw(uint8_t *p, uint64_t word)
{
	p[0] = 0x02;
	p[1] = 0x32;
	memcpy(p + 2, &word, sizeof(word));
	return p + 2 + sizeof(word);
}

/* PTW with 4 bytes, likewise. */
static inline uint8_t *ptput_ptw_short(uint8_t *p, uint32_t word)
{
	p[0] = 0x02;
	p[1] = 0x12;
	memcpy(p + 2, &word, sizeof(word));
	return p + 2 + sizeof(word);
}
