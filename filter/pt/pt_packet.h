/* SPDX-License-Identifier: MIT */
/*
 * pt_packet.h - one Intel PT packet: its kind, its size, its payload.
 *
 * Source: Intel SDM volume 3, "Intel Processor Trace", "Packet Definitions". The header of a packet is one byte, or 02
 * and a second one; packet_read() looks both up in tables. CYC and PTW, which make up a trace of PTWRITEs, are read
 * inline. tests/unit/filter/pt/test_pt_packet.c compares all of it with libipt.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum packet_kind {
	PKT_BAD,
	PKT_PAD,
	PKT_TNT, /* payload: the packet itself */
	PKT_TIP, /* this and the next three: payload is the compressed ip; size 1: it has none */
	PKT_TIP_PGE,
	PKT_TIP_PGD,
	PKT_FUP,
	PKT_TSC,
	PKT_MTC,
	PKT_TMA, /* payload: CTC in bits 15..0, fast counter in bits 32..24 */
	PKT_CYC,
	PKT_CBR,
	PKT_MODE,
	PKT_PSB,
	PKT_PSBEND,
	PKT_OVF,
	PKT_PIP,
	PKT_VMCS,
	PKT_STOP, /* TraceStop */
	PKT_MNT,
	PKT_PTW,
	PKT_PTW_IP, /* a FUP with the ip of the PTWRITE follows */
	PKT_EXSTOP,
	PKT_MWAIT,
	PKT_PWRE,
	PKT_PWRX,
	PKT_BBP, /* this and the next two: PEBS records and other blocks */
	PKT_BIP,
	PKT_BEP,
	PKT_CFE,
	PKT_EVD,
	PKT_KINDS
};

#define PSB_SIZE	16
#define PACKET_SIZE_MAX 16

struct packet {
	uint8_t kind;
	uint8_t size;
	uint64_t payload;
};

/* Inside a block (BBP .. BEP) a byte that would be a TNT begins an item of this many bytes; else 0. */
typedef uint8_t packet_block;

/*
 * Reads the packet at p < end. Returns its size; -EILSEQ: no packet begins like this; -ENODATA: the packet continues
 * behind `end`. *block is kept between packets, and is 0 before the first.
 */
int packet_read_any(const uint8_t *p, const uint8_t *end, packet_block *block, struct packet *pkt);

/* Does a TNT packet have a taken branch: a 1 below the highest one, which marks the end? */
static inline bool packet_takes_branch(const struct packet *pkt)
{
	uint64_t bits = pkt->size == 1 ? pkt->payload >> 1 : pkt->payload >> 16;

	return bits & (bits - 1);
}

/* Finds the first PSB in p..end, or NULL. */
const uint8_t *packet_find_psb(const uint8_t *p, const uint8_t *end);

/* CYC: 5 bits in the first byte, 7 in each further one; one bit in each says whether another follows. */
static inline int packet_read_cyc(const uint8_t *p, struct packet *pkt)
{
	uint64_t cycles = p[0] >> 3, more = p[0] & 4;
	unsigned size = 1;

	for (unsigned shift = 5; more; shift += 7) {
		if (size == 10)
			return -EILSEQ;
		cycles |= (uint64_t)(p[size] >> 1) << shift;
		more = p[size++] & 1;
	}
	*pkt = (struct packet){ PKT_CYC, size, cycles };
	return size;
}

static inline int packet_read(const uint8_t *p, const uint8_t *end, packet_block *block, struct packet *pkt)
{
	if (end - p < PACKET_SIZE_MAX || *block)
		return packet_read_any(p, end, block, pkt);
	if ((p[0] & 3) == 3)
		return packet_read_cyc(p, pkt);
	if (p[0] == 0x02 && p[1] == 0x32) {
		pkt->kind = PKT_PTW;
		pkt->size = 10;
		memcpy(&pkt->payload, p + 2, sizeof(pkt->payload));
		return 10;
	}
	return packet_read_any(p, end, block, pkt);
}
