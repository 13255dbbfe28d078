// SPDX-License-Identifier: MIT
/* Two tables, and code for the few packets that a table cannot describe. */
#include "pt_packet.h"

struct row {
	uint8_t kind, size, at, bytes; /* of the payload: where in the packet, and how long */
};

/* ip packets: the upper three bits say how much of the ip is there (SDM, "IP Compression"). */
#define IP(op, kind) \
	[op] = { kind, 1, 0, 0 }, [op | 0x20] = { kind, 3, 1, 2 }, [op | 0x40] = { kind, 5, 1, 4 }, \
	[op | 0x60] = { kind, 7, 1, 6 }, [op | 0x80] = { kind, 7, 1, 6 }, [op | 0xc0] = { kind, 9, 1, 8 }

/* By the first byte. Even ones other than 0 and 2 are TNT, those that end in 11 are CYC. */
static const struct row first[256] = {
	[0x00] = { PKT_PAD, 1, 0, 0 },
	[0x19] = { PKT_TSC, 8, 1, 7 },
	[0x59] = { PKT_MTC, 2, 1, 1 },
	[0x99] = { PKT_MODE, 2, 1, 1 },
	IP(0x0d, PKT_TIP),
	IP(0x11, PKT_TIP_PGE),
	IP(0x01, PKT_TIP_PGD),
	IP(0x1d, PKT_FUP),
};

/* By the second byte, after 02. */
static const struct row second[256] = {
	[0x82] = { PKT_PSB, PSB_SIZE, 0, 0 }, [0x23] = { PKT_PSBEND, 2, 0, 0 },	 [0xf3] = { PKT_OVF, 2, 0, 0 },
	[0x03] = { PKT_CBR, 4, 2, 1 },	      [0x73] = { PKT_TMA, 7, 2, 5 },	 [0xa3] = { PKT_TNT, 8, 0, 8 },
	[0x43] = { PKT_PIP, 8, 2, 6 },	      [0xc8] = { PKT_VMCS, 7, 2, 5 },	 [0x83] = { PKT_STOP, 2, 0, 0 },
	[0xc3] = { PKT_MNT, 11, 3, 8 },	      [0x12] = { PKT_PTW, 6, 2, 4 },	 [0x32] = { PKT_PTW, 10, 2, 8 },
	[0x92] = { PKT_PTW_IP, 6, 2, 4 },     [0xb2] = { PKT_PTW_IP, 10, 2, 8 }, [0x62] = { PKT_EXSTOP, 2, 0, 0 },
	[0xe2] = { PKT_EXSTOP, 2, 0, 0 },     [0xc2] = { PKT_MWAIT, 10, 2, 8 },	 [0x22] = { PKT_PWRE, 4, 2, 2 },
	[0xa2] = { PKT_PWRX, 7, 2, 5 },	      [0x63] = { PKT_BBP, 3, 2, 1 },	 [0x33] = { PKT_BEP, 2, 0, 0 },
	[0xb3] = { PKT_BEP, 2, 0, 0 },	      [0x13] = { PKT_CFE, 4, 2, 2 },	 [0x53] = { PKT_EVD, 11, 3, 8 },
};

static const uint8_t psb[PSB_SIZE] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
				       0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

/* Packets that may stand inside a block without ending it. */
static const bool in_block[PKT_KINDS] = {
	[PKT_PAD] = true, [PKT_TSC] = true, [PKT_TMA] = true, [PKT_MTC] = true,	 [PKT_FUP] = true,    [PKT_CYC] = true,
	[PKT_CBR] = true, [PKT_MNT] = true, [PKT_BIP] = true, [PKT_PWRE] = true, [PKT_EXSTOP] = true, [PKT_PWRX] = true,
};

const uint8_t *packet_find_psb(const uint8_t *p, const uint8_t *end)
{
	return memmem(p, end - p, psb, sizeof(psb));
}

/* CYC near the end: read from a copy followed by zeros, so that the packet ends there at the latest. */
static int cyc_near_end(const uint8_t *p, size_t left, struct packet *pkt)
{
	uint8_t copy[PACKET_SIZE_MAX] = { 0 };
	int size;

	memcpy(copy, p, left < sizeof(copy) ? left : sizeof(copy));
	size = packet_read_cyc(copy, pkt);
	return size > 0 && (size_t)size > left ? -ENODATA : size;
}

static struct row row_of(const uint8_t *p, size_t left, packet_block block)
{
	if (block && (p[0] & 7) == 4)
		return (struct row){ PKT_BIP, 1 + block, 1, block };
	if (p[0] == 0x02)
		return left > 1 ? second[p[1]] : (struct row){ PKT_PAD, 2, 0, 0 };
	if (p[0] & 1 || !p[0])
		return first[p[0]];
	return (struct row){ PKT_TNT, 1, 0, 1 };
}

/* What the header does not decide, for a packet that is complete. */
static bool is_valid(const struct row *r, const uint8_t *p)
{
	static const uint8_t no_stop_bit[6];

	switch (r->kind) {
	case PKT_TNT:
		return r->size == 1 || memcmp(p + 2, no_stop_bit, sizeof(no_stop_bit));
	case PKT_PSB:
		return !memcmp(p, psb, sizeof(psb));
	case PKT_MNT:
		return p[2] == 0x88;
	case PKT_MODE:
		return p[1] >> 5 <= 1; /* Exec, TSX */
	case PKT_TMA:
		return !p[4] && p[6] <= 1; /* reserved bits */
	default:
		return true;
	}
}

int packet_read_any(const uint8_t *p, const uint8_t *end, packet_block *block, struct packet *pkt)
{
	size_t left = end - p;
	struct row r;

	*pkt = (struct packet){ PKT_BAD, 0, 0 };
	if ((p[0] & 3) == 3)
		return cyc_near_end(p, left, pkt);
	r = row_of(p, left, *block);
	if (r.kind != PKT_BAD && left < r.size)
		return -ENODATA;
	if (r.kind == PKT_BAD || !is_valid(&r, p))
		return -EILSEQ;
	pkt->kind = r.kind;
	pkt->size = r.size;
	memcpy(&pkt->payload, p + r.at, r.bytes);
	if (r.kind == PKT_BBP)
		*block = p[2] & 0x80 ? 4 : 8;
	else if (!in_block[r.kind])
		*block = 0;
	return r.size;
}
