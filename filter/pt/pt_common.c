// SPDX-License-Identifier: MIT
/* Intel SDM volume 3, "Packet Definitions". */
#include "pt_common.h"

#define CYC8(b)	      [b] = COMMON_CYC, [(b) + 4] = COMMON_CYC_LONG
#define CYC32(b)      CYC8(b), CYC8((b) + 8), CYC8((b) + 16), CYC8((b) + 24)
#define TNT4(b)	      [(b) + 2] = COMMON_TNT, [(b) + 4] = COMMON_TNT
#define TNT8(b)	      TNT4(b), [(b) + 6] = COMMON_TNT
#define TNT16(b)      TNT8(b), [(b) + 8] = COMMON_TNT, TNT8((b) + 8)
#define TNT32(b)      TNT16(b), [(b) + 16] = COMMON_TNT, TNT16((b) + 16)
#define TNT64(b)      TNT32(b), [(b) + 32] = COMMON_TNT, TNT32((b) + 32)
#define IPS(op, kind) [op | 0x20] = kind, [op | 0x40] = kind, [op | 0x80] = kind, [op | 0xc0] = kind

/*
 * CYC: those that end in 11; [3], of zero cycles, is uncommon, and the time is recomputed there. TNT: even ones, the
 * highest bit marks the end; a power of two has no other.
 */
const uint8_t pt_commons[256] = {
	[0] = COMMON_PAD,
	[2] = COMMON_LONG,
	[3 + 4] = COMMON_CYC_LONG,
	CYC8(11),
	CYC8(19),
	CYC8(27),
	CYC32(35),
	CYC32(67),
	CYC32(99),
	CYC32(131),
	CYC32(163),
	CYC32(195),
	CYC32(227),
	[4] = COMMON_TNT_NONE,
	[6] = COMMON_TNT,
	[8] = COMMON_TNT_NONE,
	TNT8(8),
	[16] = COMMON_TNT_NONE,
	TNT16(16),
	[32] = COMMON_TNT_NONE,
	TNT32(32),
	[64] = COMMON_TNT_NONE,
	TNT64(64),
	[128] = COMMON_TNT_NONE,
	TNT64(128),
	[192] = COMMON_TNT,
	TNT64(192),
	[0x2d] = COMMON_TIP_2,
	[0x4d] = COMMON_TIP,
	[0x8d] = COMMON_TIP,
	[0xcd] = COMMON_TIP,
	IPS(0x11, COMMON_PGE),
	IPS(0x01, COMMON_PGD),
	[0x01] = COMMON_PGD,
};

#define EVEN8(b)   [b] = 1, [(b) + 2] = 1, [(b) + 4] = 1, [(b) + 6] = 1
#define EVEN16(b)  EVEN8(b), EVEN8((b) + 8)
#define EVEN32(b)  EVEN16(b), EVEN16((b) + 16)
#define EVEN64(b)  EVEN32(b), EVEN32((b) + 32)
#define EVEN128(b) EVEN64(b), EVEN64((b) + 64)

const uint8_t pt_tnts[256] = { [4] = 1, [6] = 1, EVEN8(8), EVEN16(16), EVEN32(32), EVEN64(64), EVEN128(128) };

/* PT_IP_SIGNED keeps nothing: the sign is written there instead. */
const struct pt_ip_form pt_ip_forms[8] = {
	{ ~0ull, 1 },	    { ~0ull << 16, 3 }, { ~0ull << 32, 5 }, { 0, 7 },
	{ ~0ull << 48, 7 }, { ~0ull, 0 },	{ 0, 9 },	    { ~0ull, 0 },
};
