/* SPDX-License-Identifier: MIT */
/* pt_common.h - the packets that make up nearly all of a trace, by their first byte. */
#pragma once

#include <stdint.h>

enum pt_common {
	COMMON_OTHER,
	COMMON_PAD,
	COMMON_CYC,	 /* of one byte */
	COMMON_CYC_LONG, /* and of several */
	COMMON_TNT,	 /* of one byte, with a taken branch */
	COMMON_TNT_NONE, /* and with none */
	COMMON_LONG,	 /* 02: a PTW, a long TNT, or something else */
	COMMON_TIP_2,	 /* with the lower 2 bytes of an ip, as within one function */
	COMMON_TIP,	 /* with more bytes that need no sign extension, like the next one */
	COMMON_PGE,
	COMMON_PGD, /* the same, or without an ip */
};

extern const uint8_t pt_commons[256]; /* enum pt_common */
extern const uint8_t pt_tnts[256];    /* 1: a TNT of one byte */

/*
 * By the upper three bits of an ip packet's first byte: which bits of the last ip it keeps, all if it has none, and its
 * size.
 */
extern const struct pt_ip_form {
	uint64_t kept;
	uint8_t size;
} pt_ip_forms[8];

#define PT_IP_SIGNED 3 /* the form that sign-extends the ip */
