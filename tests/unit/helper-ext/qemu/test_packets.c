/* SPDX-License-Identifier: MIT */
/* test_qemu_packets.c - libipt's decoder reads out of our packets what we put in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <intel-pt.h>

#include "qemu/packets.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* PSB, then what the test wrote up to `end`; returns the packet behind the PSB. */
struct trace {
	uint8_t bytes[512];
	uint8_t *p;
};

static void begin(struct trace *t)
{
	t->p = packet_psb(t->bytes);
}

static struct pt_packet_decoder *decoder(struct trace *t)
{
	struct pt_packet_decoder *dec;
	struct pt_config config;

	pt_config_init(&config);
	config.begin = t->bytes;
	config.end = t->p;
	dec = pt_pkt_alloc_decoder(&config);
	assert_non_null(dec);
	assert_int_equal(pt_pkt_sync_forward(dec), 0);
	return dec;
}

static struct pt_packet next(struct pt_packet_decoder *dec)
{
	struct pt_packet packet;

	assert_true(pt_pkt_next(dec, &packet, sizeof(packet)) > 0);
	return packet;
}

/* The address, by the SDM's rule for IPBytes, as a decoder keeps it. */
static uint64_t update_ip(const struct pt_packet_ip *ip, uint64_t last)
{
	switch (ip->ipc) {
	case pt_ipc_update_16:
		return (last & ~0xffffull) | ip->ip;
	case pt_ipc_update_32:
		return (last & ~0xffffffffull) | ip->ip;
	case pt_ipc_sext_48:
		return (uint64_t)((int64_t)(ip->ip << 16) >> 16);
	case pt_ipc_update_48:
		return (last & ~0xffffffffffffull) | ip->ip;
	case pt_ipc_full:
		return ip->ip;
	default:
		fail_msg("no address");
		return 0;
	}
}

static void test_addresses(void **state)
{
	static const uint64_t ips[] = {
		0x4002801000,
		0x4002801234,
		0x4002809999,
		0x4012801234,
		0x0,
		0xffff,
		0x10000,
		0x7fffffffffff,
		0xffff800000000000,
		0xffffffffff600000,
		0x1234567812345678,
		0x1234567812345679,
		0x1234000012345679,
		0x400000,
	};
	static const enum packet_tip kinds[] = { PACKET_TIP, PACKET_TIP_PGE, PACKET_TIP_PGD, PACKET_FUP };
	static const enum pt_packet_type types[] = { ppt_tip, ppt_tip_pge, ppt_tip_pgd, ppt_fup };
	struct pt_packet_decoder *dec;
	uint64_t last = 0, seen = 0;
	struct trace t;

	(void)state;
	begin(&t);
	for (size_t i = 0; i < COUNT(ips); i++)
		t.p = packet_ip(t.p, kinds[i % 4], ips[i], &last);
	dec = decoder(&t);
	assert_int_equal(next(dec).type, ppt_psb);
	for (size_t i = 0; i < COUNT(ips); i++) {
		struct pt_packet packet = next(dec);

		assert_int_equal(packet.type, types[i % 4]);
		seen = update_ip(&packet.payload.ip, seen);
		assert_true(seen == ips[i]);
	}
	pt_pkt_free_decoder(dec);
}

/* Near addresses are short: that is what compression is for. */
static void test_addresses_are_short(void **state)
{
	uint64_t last = 0;
	uint8_t p[PACKET_MAX];

	(void)state;
	assert_int_equal(packet_ip(p, PACKET_TIP, 0x4002801000, &last) - p, 7);
	assert_int_equal(packet_ip(p, PACKET_TIP, 0x4002801fff, &last) - p, 3);
	assert_int_equal(packet_ip(p, PACKET_TIP, 0x4003801fff, &last) - p, 5);
}

static void test_outcomes(void **state)
{
	struct pt_packet_decoder *dec;
	struct trace t;

	(void)state;
	for (unsigned n = 1; n <= PACKET_TNT_MAX; n++) {
		uint64_t outcomes = 0x5a5a5a5a5a5aull & ((1ull << n) - 1);
		struct pt_packet packet;

		begin(&t);
		t.p = packet_tnt(t.p, outcomes, n);
		assert_int_equal(t.p - t.bytes - 16, n <= PACKET_TNT_FEW ? 1 : 8);
		dec = decoder(&t);
		next(dec);
		packet = next(dec);
		assert_int_equal(packet.type, n <= PACKET_TNT_FEW ? ppt_tnt_8 : ppt_tnt_64);
		assert_int_equal(packet.payload.tnt.bit_size, n);
		assert_true(packet.payload.tnt.payload == outcomes);
		pt_pkt_free_decoder(dec);
	}
}

static void test_times(void **state)
{
	struct pt_packet_decoder *dec;
	struct pt_packet packet;
	struct trace t;

	(void)state;
	begin(&t);
	t.p = packet_tsc(t.p, 0xab123456789abcdeull);
	t.p = packet_tma(t.p, 0xfedc, 0x1ab);
	t.p = packet_mtc(t.p, 0x77);
	t.p = packet_cbr(t.p, 42);
	dec = decoder(&t);
	next(dec);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_tsc);
	assert_true(packet.payload.tsc.tsc == 0x123456789abcdeull);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_tma);
	assert_int_equal(packet.payload.tma.ctc, 0xfedc);
	assert_int_equal(packet.payload.tma.fc, 0x1ab);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_mtc);
	assert_int_equal(packet.payload.mtc.ctc, 0x77);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_cbr);
	assert_int_equal(packet.payload.cbr.ratio, 42);
	pt_pkt_free_decoder(dec);
}

static void test_the_rest(void **state)
{
	struct pt_packet_decoder *dec;
	struct pt_packet packet;
	struct trace t;

	(void)state;
	begin(&t);
	t.p = packet_mode_64(t.p);
	t.p = packet_psbend(t.p);
	t.p = packet_ovf(t.p);
	t.p = packet_no_ip(t.p, PACKET_TIP_PGD);
	t.p = packet_ptw(t.p, 0x0123456789abcdefull, 8, false);
	t.p = packet_ptw(t.p, 5, 8, true);
	t.p = packet_ptw(t.p, 0x89abcdef, 4, true);
	dec = decoder(&t);
	next(dec);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_mode);
	assert_int_equal(packet.payload.mode.leaf, pt_mol_exec);
	assert_int_equal(pt_get_exec_mode(&packet.payload.mode.bits.exec), ptem_64bit);
	assert_int_equal(next(dec).type, ppt_psbend);
	assert_int_equal(next(dec).type, ppt_ovf);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_tip_pgd);
	assert_int_equal(packet.payload.ip.ipc, pt_ipc_suppressed);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_ptw);
	assert_true(packet.payload.ptw.payload == 0x0123456789abcdefull);
	assert_int_equal(packet.payload.ptw.ip, 0);
	packet = next(dec);
	assert_int_equal(packet.payload.ptw.ip, 1);
	packet = next(dec);
	assert_int_equal(packet.type, ppt_ptw);
	assert_int_equal(packet.size, 6);
	assert_true(packet.payload.ptw.payload == 0x89abcdef);
	assert_int_equal(packet.payload.ptw.ip, 1);
	pt_pkt_free_decoder(dec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_addresses_are_short),
		cmocka_unit_test(test_outcomes),  cmocka_unit_test(test_times),
		cmocka_unit_test(test_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
