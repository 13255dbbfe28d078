/* SPDX-License-Identifier: MIT */
/* packets.c - see packets.h. */
#include "packets.h"

/* IPBytes, and the number of address bytes that follow (SDM, table "TIP, FUP, TIP.PGE, TIP.PGD"). */
enum ip_bytes { IP_16 = 1, IP_32 = 2, IP_SIGNED_48 = 3, IP_48 = 4, IP_64 = 6 };

static const uint8_t ip_size[] = {
	[IP_16] = 2, [IP_32] = 4, [IP_SIGNED_48] = 6, [IP_48] = 6, [IP_64] = 8,
};

static enum ip_bytes ip_bytes(uint64_t ip, uint64_t last)
{
	uint64_t changed = ip ^ last;

	if (!(changed >> 16))
		return IP_16;
	if (!(changed >> 32))
		return IP_32;
	if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip)
		return IP_SIGNED_48;
	return changed >> 48 ? IP_64 : IP_48;
}

uint8_t *packet_ip(uint8_t *p, enum packet_tip kind, uint64_t ip, uint64_t *last)
{
	enum ip_bytes bytes = ip_bytes(ip, *last);

	*last = ip;
	*p++ = kind | bytes << 5;
	memcpy(p, &ip, ip_size[bytes]);
	return p + ip_size[bytes];
}

/* A 1 above the oldest outcome marks where they begin. */
uint8_t *packet_tnt(uint8_t *p, uint64_t outcomes, unsigned n)
{
	outcomes |= 1ull << n;
	if (n <= PACKET_TNT_FEW) {
		*p++ = outcomes << 1;
		return p;
	}
	p[0] = 0x02;
	p[1] = 0xa3;
	memcpy(p + 2, &outcomes, 6);
	return p + 8;
}

uint8_t *packet_psb(uint8_t *p)
{
	for (int i = 0; i < 8; i++, p += 2)
		memcpy(p, "\x02\x82", 2);
	return p;
}

uint8_t *packet_tma(uint8_t *p, uint16_t ctc, uint16_t fast)
{
	const uint8_t bytes[] = { 0x02, 0x73, ctc, ctc >> 8, 0, fast, fast >> 8 & 1 };

	return memcpy(p, bytes, sizeof(bytes)) + sizeof(bytes);
}
