// SPDX-License-Identifier: MIT
/*
 * test_pt_packet.c - every kind of packet by a table, cut at every byte; and whatever random bytes make,
 * against libipt's reading of the same bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <intel-pt.h>

#include "pt/pt_packet.h"

#define PSB2  "\x02\x82\x02\x82"
#define PSB16 PSB2 PSB2 PSB2 PSB2

/* Cases of the SDM's packet formats; libipt: what libipt calls it, 0 where 2.0 does not know it. */
static const struct {
	const char *bytes;
	unsigned size;
	enum packet_kind kind;
	uint64_t payload;
	enum pt_packet_type libipt;
} cases[] = {
	{ "\x00", 1, PKT_PAD, 0, ppt_pad },
	{ "\x04", 1, PKT_TNT, 0x04, ppt_tnt_8 },
	{ "\x06", 1, PKT_TNT, 0x06, ppt_tnt_8 },
	{ "\x80", 1, PKT_TNT, 0x80, ppt_tnt_8 },
	{ "\xfe", 1, PKT_TNT, 0xfe, ppt_tnt_8 },
	{ "\x02\xa3\x02\0\0\0\0\0", 8, PKT_TNT, 0x2a302, ppt_tnt_64 },
	{ "\x02\xa3\1\2\3\4\5\x80", 8, PKT_TNT, 0x800504030201a302, ppt_tnt_64 },
	{ "\x0d", 1, PKT_TIP, 0, ppt_tip },
	{ "\x2d\x01\x02", 3, PKT_TIP, 0x0201, ppt_tip },
	{ "\x4d\1\2\3\4", 5, PKT_TIP, 0x04030201, ppt_tip },
	{ "\x6d\1\2\3\4\5\6", 7, PKT_TIP, 0x060504030201, ppt_tip },
	{ "\x8d\1\2\3\4\5\6", 7, PKT_TIP, 0x060504030201, ppt_tip },
	{ "\xcd\1\2\3\4\5\6\7\x8", 9, PKT_TIP, 0x0807060504030201, ppt_tip },
	{ "\x11", 1, PKT_TIP_PGE, 0, ppt_tip_pge },
	{ "\x31\1\2", 3, PKT_TIP_PGE, 0x0201, ppt_tip_pge },
	{ "\xd1\1\2\3\4\5\6\7\x8", 9, PKT_TIP_PGE, 0x0807060504030201, ppt_tip_pge },
	{ "\x01", 1, PKT_TIP_PGD, 0, ppt_tip_pgd },
	{ "\x41\1\2\3\4", 5, PKT_TIP_PGD, 0x04030201, ppt_tip_pgd },
	{ "\x1d", 1, PKT_FUP, 0, ppt_fup },
	{ "\x7d\1\2\3\4\5\6", 7, PKT_FUP, 0x060504030201, ppt_fup },
	{ "\xdd\1\2\3\4\5\6\7\x8", 9, PKT_FUP, 0x0807060504030201, ppt_fup },
	{ "\x02\x43\2\4\6\x8\xa\xc", 8, PKT_PIP, 0x0c0a08060402, ppt_pip },
	{ "\x99\x00", 2, PKT_MODE, 0x00, ppt_mode },
	{ "\x99\x01", 2, PKT_MODE, 0x01, ppt_mode },
	{ "\x99\x02", 2, PKT_MODE, 0x02, ppt_mode },
	{ "\x99\x20", 2, PKT_MODE, 0x20, ppt_mode },
	{ "\x99\x22", 2, PKT_MODE, 0x22, ppt_mode },
	{ "\x02\x83", 2, PKT_STOP, 0, ppt_stop },
	{ "\x02\x03\x12\0", 4, PKT_CBR, 0x12, ppt_cbr },
	{ "\x19\1\2\3\4\5\6\7", 8, PKT_TSC, 0x07060504030201, ppt_tsc },
	{ "\x59\x7f", 2, PKT_MTC, 0x7f, ppt_mtc },
	{ "\x02\x73\1\2\0\xff\1", 7, PKT_TMA, 0x01ff000201, ppt_tma },
	{ "\x03", 1, PKT_CYC, 0, ppt_cyc },
	{ "\x0b", 1, PKT_CYC, 1, ppt_cyc },
	{ "\xfb", 1, PKT_CYC, 0x1f, ppt_cyc },
	{ "\x07\x02", 2, PKT_CYC, 0x20, ppt_cyc },
	{ "\xff\xfe", 2, PKT_CYC, 0xfff, ppt_cyc },
	{ "\x07\x01\x02", 3, PKT_CYC, 0x1000, ppt_cyc },
	{ "\xff\xff\xfe", 3, PKT_CYC, 0x7ffff, ppt_cyc },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\x7e", 9, PKT_CYC, 0xfffffffffffffff, ppt_cyc },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, PKT_CYC, 0x3fffffffffffffff, 0 },
	{ "\x02\xc8\1\2\3\4\5", 7, PKT_VMCS, 0x0504030201, ppt_vmcs },
	{ "\x02\xf3", 2, PKT_OVF, 0, ppt_ovf },
	{ PSB16, 16, PKT_PSB, 0, ppt_psb },
	{ "\x02\x23", 2, PKT_PSBEND, 0, ppt_psbend },
	{ "\x02\xc3\x88\1\2\3\4\5\6\7\x8", 11, PKT_MNT, 0x0807060504030201, ppt_mnt },
	{ "\x02\x12\1\2\3\4", 6, PKT_PTW, 0x04030201, ppt_ptw },
	{ "\x02\x32\1\2\3\4\5\6\7\x8", 10, PKT_PTW, 0x0807060504030201, ppt_ptw },
	{ "\x02\x92\1\2\3\4", 6, PKT_PTW_IP, 0x04030201, ppt_ptw },
	{ "\x02\xb2\1\2\3\4\5\6\7\x8", 10, PKT_PTW_IP, 0x0807060504030201, ppt_ptw },
	{ "\x02\x62", 2, PKT_EXSTOP, 0, ppt_exstop },
	{ "\x02\xe2", 2, PKT_EXSTOP, 0, ppt_exstop },
	{ "\x02\xc2\1\0\0\0\3\0\0\0", 10, PKT_MWAIT, 0x0300000001, ppt_mwait },
	{ "\x02\x22\x80\x34", 4, PKT_PWRE, 0x3480, ppt_pwre },
	{ "\x02\xa2\x25\1\0\0\0", 7, PKT_PWRX, 0x125, ppt_pwrx },
	{ "\x02\x63\x04", 3, PKT_BBP, 0x04, 0 },
	{ "\x02\x33", 2, PKT_BEP, 0, 0 },
	{ "\x02\xb3", 2, PKT_BEP, 0, 0 },
	{ "\x02\x13\x03\x21", 4, PKT_CFE, 0x2103, 0 },
	{ "\x02\x53\x09\1\2\3\4\5\6\7\x8", 11, PKT_EVD, 0x0807060504030201, 0 },
	/* What perf's own test of its packet decoder has besides: each width of each. */
	{ "\x51\1\2\3\4", 5, PKT_TIP_PGE, 0x04030201, ppt_tip_pge },
	{ "\x71\1\2\3\4\5\6", 7, PKT_TIP_PGE, 0x060504030201, ppt_tip_pge },
	{ "\x91\1\2\3\4\5\6", 7, PKT_TIP_PGE, 0x060504030201, ppt_tip_pge },
	{ "\x21\1\2", 3, PKT_TIP_PGD, 0x0201, ppt_tip_pgd },
	{ "\x61\1\2\3\4\5\6", 7, PKT_TIP_PGD, 0x060504030201, ppt_tip_pgd },
	{ "\x81\1\2\3\4\5\6", 7, PKT_TIP_PGD, 0x060504030201, ppt_tip_pgd },
	{ "\xc1\1\2\3\4\5\6\7\x8", 9, PKT_TIP_PGD, 0x0807060504030201, ppt_tip_pgd },
	{ "\x3d\1\2", 3, PKT_FUP, 0x0201, ppt_fup },
	{ "\x5d\1\2\3\4", 5, PKT_FUP, 0x04030201, ppt_fup },
	{ "\x9d\1\2\3\4\5\6", 7, PKT_FUP, 0x060504030201, ppt_fup },
	{ "\x02\xa3\0\0\0\0\0\x80", 8, PKT_TNT, 0x800000000000a302, ppt_tnt_64 },
	{ "\x02\xa3\xff\xff\xff\xff\xff\xff", 8, PKT_TNT, 0xffffffffffffa302, ppt_tnt_64 },
	{ "\x02\x43\3\4\6\x8\xa\xc", 8, PKT_PIP, 0x0c0a08060403, ppt_pip },
	{ "\x99\x21", 2, PKT_MODE, 0x21, ppt_mode },
	{ "\x02\x73\0\0\0\0\0", 7, PKT_TMA, 0, ppt_tma },
	{ "\x02\x73\x80\xc0\0\xff\1", 7, PKT_TMA, 0x01ff00c080, ppt_tma },
	{ "\x07\1\1\2", 4, PKT_CYC, 0x80000, ppt_cyc },
	{ "\xff\xff\xff\xfe", 4, PKT_CYC, 0x3ffffff, ppt_cyc },
	{ "\x07\1\1\1\2", 5, PKT_CYC, 0x4000000, ppt_cyc },
	{ "\xff\xff\xff\xff\xfe", 5, PKT_CYC, 0x1ffffffff, ppt_cyc },
	{ "\x07\1\1\1\1\2", 6, PKT_CYC, 0x200000000, ppt_cyc },
	{ "\xff\xff\xff\xff\xff\xfe", 6, PKT_CYC, 0xffffffffff, ppt_cyc },
	{ "\x07\1\1\1\1\1\2", 7, PKT_CYC, 0x10000000000, ppt_cyc },
	{ "\xff\xff\xff\xff\xff\xff\xfe", 7, PKT_CYC, 0x7fffffffffff, ppt_cyc },
	{ "\x07\1\1\1\1\1\1\2", 8, PKT_CYC, 0x800000000000, ppt_cyc },
	{ "\xff\xff\xff\xff\xff\xff\xff\xfe", 8, PKT_CYC, 0x3fffffffffffff, ppt_cyc },
	{ "\x07\1\1\1\1\1\1\1\2", 9, PKT_CYC, 0x40000000000000, ppt_cyc },
	{ "\x07\1\1\1\1\1\1\1\1\2", 10, PKT_CYC, 0x2000000000000000, 0 },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xe", 10, PKT_CYC, 0xffffffffffffffff, 0 },
	{ "\x02\x22\0\x56", 4, PKT_PWRE, 0x5600, ppt_pwre },
	{ "\x02\xa2\0\0\0\0\0", 7, PKT_PWRX, 0, ppt_pwrx },
	{ "\x02\x63\x9f", 3, PKT_BBP, 0x9f, 0 },
	{ "\x02\x13\x9f\xff", 4, PKT_CFE, 0xff9f, 0 },
	{ "\x02\x53\x3f\2\3\4\5\6\7\x8\x9", 11, PKT_EVD, 0x0908070605040302, 0 },
};

#define NCASES (sizeof(cases) / sizeof(cases[0]))

static const uint8_t *at(const char *bytes)
{
	return (const uint8_t *)bytes;
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++) {
		const uint8_t *p = at(cases[i].bytes);
		packet_block block = 0;
		struct packet pkt;

		assert_int_equal(packet_read(p, p + cases[i].size, &block, &pkt), cases[i].size);
		assert_int_equal(pkt.size, cases[i].size);
		assert_int_equal(pkt.kind, cases[i].kind);
		assert_int_equal(pkt.payload, cases[i].payload);
	}
}

/* The same packet deep inside a buffer, where the inline path reads it. */
static void test_inline(void **state)
{
	uint8_t bytes[2 * PACKET_SIZE_MAX];

	(void)state;
	for (size_t i = 0; i < NCASES; i++) {
		packet_block block = 0;
		struct packet pkt;

		memset(bytes, 0xa5, sizeof(bytes));
		memcpy(bytes, cases[i].bytes, cases[i].size);
		assert_int_equal(packet_read(bytes, bytes + sizeof(bytes), &block, &pkt), cases[i].size);
		assert_int_equal(pkt.kind, cases[i].kind);
		assert_int_equal(pkt.payload, cases[i].payload);
	}
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++)
		for (unsigned size = 1; size < cases[i].size; size++) {
			packet_block block = 0;
			struct packet pkt;
			const uint8_t *p = at(cases[i].bytes);

			assert_int_equal(packet_read(p, p + size, &block, &pkt), -ENODATA);
		}
}

static void test_none(void **state)
{
	static const char bad[][PACKET_SIZE_MAX] = {
		"\xad", /* ip compression 5 */
		"\xfd", /* and 7 */
		"\x09",
		"\x15",
		"\x39",
		"\x79",
		"\xb9",
		"\xd9",
		"\xf9",
		"\x99\x40", /* no such mode */
		"\x02\x00",
		"\x02\x52",
		"\x02\x72",
		"\x02\xd2",
		"\x02\xff",
		"\x02\x82\x02\x83",
		"\x02\xc3\x87",
		"\x02\x73\1\1\1\1\1",
		"\x02\x73\1\1\0\1\2",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", /* CYC without end */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t bytes[PACKET_SIZE_MAX] = { 0 };
		packet_block block = 0;
		struct packet pkt;

		memcpy(bytes, bad[i], sizeof(bad[i]));
		assert_int_equal(packet_read(bytes, bytes + sizeof(bytes), &block, &pkt), -EILSEQ);
	}
}

/* Items of a block: 4 or 8 bytes by BBP's size bit, until a packet that ends the block. */
static void test_block(void **state)
{
	static const uint8_t bytes[] = { 0x02, 0x63, 0x84, 0x0c, 1, 2, 3, 4, 0x00, 0x0c, 1, 2, 3, 4, 0x02, 0x33, 0x0c };
	static const uint8_t kinds[] = { PKT_BBP, PKT_BIP, PKT_PAD, PKT_BIP, PKT_BEP, PKT_TNT };
	const uint8_t *p = bytes, *end = bytes + sizeof(bytes);
	packet_block block = 0;
	struct packet pkt;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds); i++) {
		assert_true(packet_read(p, end, &block, &pkt) > 0);
		assert_int_equal(pkt.kind, kinds[i]);
		p += pkt.size;
	}
	assert_ptr_equal(p, end);
}

/* --- libipt's reading of the same bytes ------------------------------------------------------------ */

static const enum packet_kind kind_of[] = {
	[ppt_pad] = PKT_PAD,	   [ppt_psb] = PKT_PSB,		[ppt_psbend] = PKT_PSBEND,   [ppt_fup] = PKT_FUP,
	[ppt_tip] = PKT_TIP,	   [ppt_tip_pge] = PKT_TIP_PGE, [ppt_tip_pgd] = PKT_TIP_PGD, [ppt_tnt_8] = PKT_TNT,
	[ppt_tnt_64] = PKT_TNT,	   [ppt_mode] = PKT_MODE,	[ppt_pip] = PKT_PIP,	     [ppt_vmcs] = PKT_VMCS,
	[ppt_cbr] = PKT_CBR,	   [ppt_tsc] = PKT_TSC,		[ppt_tma] = PKT_TMA,	     [ppt_mtc] = PKT_MTC,
	[ppt_cyc] = PKT_CYC,	   [ppt_stop] = PKT_STOP,	[ppt_ovf] = PKT_OVF,	     [ppt_mnt] = PKT_MNT,
	[ppt_exstop] = PKT_EXSTOP, [ppt_mwait] = PKT_MWAIT,	[ppt_pwre] = PKT_PWRE,	     [ppt_pwrx] = PKT_PWRX,
	[ppt_ptw] = PKT_PTW,
};

static int libipt_read(const uint8_t *p, const uint8_t *end, struct pt_packet *pkt)
{
	struct pt_packet_decoder *d;
	struct pt_config config;
	int size;

	pt_config_init(&config);
	config.begin = (uint8_t *)p;
	config.end = (uint8_t *)end;
	d = pt_pkt_alloc_decoder(&config);
	assert_non_null(d);
	assert_int_equal(pt_pkt_sync_set(d, 0), 0);
	size = pt_pkt_next(d, pkt, sizeof(*pkt));
	pt_pkt_free_decoder(d);
	return size;
}

/* The payload that libipt tells, where it is one number. */
static bool payload_of(const struct pt_packet *pkt, uint64_t *payload)
{
	switch (pkt->type) {
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
	case ppt_fup:
		*payload = pkt->payload.ip.ip;
		return true;
	case ppt_tsc:
		*payload = pkt->payload.tsc.tsc;
		return true;
	case ppt_mtc:
		*payload = pkt->payload.mtc.ctc;
		return true;
	case ppt_cyc:
		*payload = pkt->payload.cyc.value;
		return true;
	case ppt_cbr:
		*payload = pkt->payload.cbr.ratio;
		return true;
	case ppt_ptw:
		*payload = pkt->payload.ptw.payload;
		return true;
	default:
		return false;
	}
}

/* Blocks and events; and CYC of ten bytes, which perf takes and no counter reaches. */
static bool unknown_to_libipt(const uint8_t *p, const uint8_t *end)
{
	static const uint8_t second[] = { 0x63, 0x33, 0xb3, 0x13, 0x53 };
	int i = 1;

	if (p[0] == 0x02 && end - p > 1)
		return memchr(second, p[1], sizeof(second));
	if ((p[0] & 7) != 7)
		return false;
	while (i < 9 && i < end - p && p[i] & 1)
		i++;
	return i == 9;
}

static void compare(const uint8_t *p, const uint8_t *end)
{
	struct packet mine;
	struct pt_packet theirs;
	packet_block block = 0;
	int size = packet_read(p, end, &block, &mine), libipt = libipt_read(p, end, &theirs);
	uint64_t payload;

	if (unknown_to_libipt(p, end))
		return;
	if (size < 0) {
		assert_true(libipt < 0);
		return;
	}
	assert_int_equal(size, libipt);
	assert_int_equal(mine.kind == PKT_PTW_IP ? PKT_PTW : mine.kind, kind_of[theirs.type]);
	if (payload_of(&theirs, &payload))
		assert_int_equal(mine.payload, payload);
	if (theirs.type == ppt_tma) {
		assert_int_equal(mine.payload & 0xffff, theirs.payload.tma.ctc);
		assert_int_equal(mine.payload >> 24 & 0x1ff, theirs.payload.tma.fc);
	}
	if (theirs.type == ppt_ptw)
		assert_int_equal(mine.kind == PKT_PTW_IP, theirs.payload.ptw.ip);
}

static void test_libipt_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++) {
		struct pt_packet pkt;
		const uint8_t *p = at(cases[i].bytes);

		if (!cases[i].libipt)
			continue;
		assert_int_equal(libipt_read(p, p + cases[i].size, &pkt), cases[i].size);
		assert_int_equal(pkt.type, cases[i].libipt);
		for (unsigned size = 1; size <= cases[i].size; size++)
			compare(p, p + size);
	}
}

/* Each header of one and two bytes, followed by noise, whole and cut. */
static void test_libipt_headers(void **state)
{
	uint8_t bytes[24];
	unsigned seed = 1;

	(void)state;
	for (unsigned head = 0; head < 0x10000; head++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = rand_r(&seed) >> 8;
		bytes[0] = head >> 8;
		bytes[1] = head;
		for (size_t size = 1; size <= sizeof(bytes); size += size < 12 ? 1 : 12)
			compare(bytes, bytes + size);
	}
}

/* Real packets, one bit of which is wrong. */
static void test_libipt_flips(void **state)
{
	uint8_t bytes[2 * PACKET_SIZE_MAX];

	(void)state;
	for (size_t i = 0; i < NCASES; i++)
		for (unsigned bit = 0; bit < cases[i].size * 8; bit++) {
			memset(bytes, 0, sizeof(bytes));
			memcpy(bytes, cases[i].bytes, cases[i].size);
			bytes[bit / 8] ^= 1 << bit % 8;
			compare(bytes, bytes + sizeof(bytes));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_inline),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_block),
		cmocka_unit_test(test_libipt_table),
		cmocka_unit_test(test_libipt_headers),
		cmocka_unit_test(test_libipt_flips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
