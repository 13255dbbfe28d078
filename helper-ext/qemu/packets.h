/* SPDX-License-Identifier: MIT */
/*
 * packets.h - the packets of Intel Processor Trace that ptframe.h does not use, one function each.
 *
 * Bytes according to the Intel SDM (volume 3, "Intel Processor Trace", "Trace Packets and Data Types"). Every function
 * writes at p, which has room for PACKET_MAX bytes, and returns the end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "record/ptframe.h"

#define PACKET_MAX	16u /* PSB */
#define PACKET_TNT_MAX	47u /* outcomes in a long TNT */
#define PACKET_TNT_FEW	6u  /* outcomes in a short one */
#define PACKET_TSC_MASK ((1ull << 56) - 1)

/* Packets with an address; the value is the low five bits of the first byte. */
enum packet_tip {
	PACKET_TIP_PGD = 0x01,
	PACKET_TIP = 0x0d,
	PACKET_TIP_PGE = 0x11,
	PACKET_FUP = 0x1d,
};

/* The address without the part that *last, the previous address, shares ("IP Compression"). Updates *last. */
uint8_t *packet_ip(uint8_t *p, enum packet_tip kind, uint64_t ip, uint64_t *last);

/* outcomes: the oldest of n in the highest bit; 1 <= n <= PACKET_TNT_MAX. */
uint8_t *packet_tnt(uint8_t *p, uint64_t outcomes, unsigned n);

uint8_t *packet_psb(uint8_t *p);

/* The crystal clock at the last TSC; fast: TSC ticks since its last tick, 9 bits. */
uint8_t *packet_tma(uint8_t *p, uint16_t ctc, uint16_t fast);

/* The same without an address: tracing ends at a place that is not reported. */
static inline uint8_t *packet_no_ip(uint8_t *p, enum packet_tip kind)
{
	*p++ = kind;
	return p;
}

static inline uint8_t *packet_psbend(uint8_t *p)
{
	return memcpy(p, "\x02\x23", 2) + 2;
}

static inline uint8_t *packet_ovf(uint8_t *p)
{
	return memcpy(p, "\x02\xf3", 2) + 2;
}

static inline uint8_t *packet_tsc(uint8_t *p, uint64_t tsc)
{
	tsc = (tsc & PACKET_TSC_MASK) << 8 | 0x19;
	return memcpy(p, &tsc, sizeof(tsc)) + sizeof(tsc);
}

static inline uint8_t *packet_mtc(uint8_t *p, uint8_t ctc)
{
	p[0] = 0x59;
	p[1] = ctc;
	return p + 2;
}

static inline uint8_t *packet_cbr(uint8_t *p, uint8_t ratio)
{
	return memcpy(p, (const uint8_t[]){ 0x02, 0x03, ratio, 0 }, 4) + 4;
}

/* MODE.Exec: 64-bit code. */
static inline uint8_t *packet_mode_64(uint8_t *p)
{
	return memcpy(p, "\x99\x01", 2) + 2;
}

/* PTW of 4 or 8 bytes; with_ip: a FUP with the PTWRITE's address follows. */
static inline uint8_t *packet_ptw(uint8_t *p, uint64_t word, unsigned bytes, bool with_ip)
{
	uint8_t *end = bytes == 4 ? ptput_ptw_short(p, (uint32_t)word) : ptput_ptw(p, word);

	p[1] |= with_ip << 7;
	return end;
}
