/* SPDX-License-Identifier: MIT */
/* test_ptframe.c - our packets are libipt's, byte for byte, and libipt's decoder reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <intel-pt.h>

#include "record/ptframe.h"

/* Cycle counts around each length that a CYC packet can have, and markers' words. */
static const uint64_t cycles[] = {
	0,
	1,
	0x1f,
	0x20,
	0xfff,
	0x1000,
	0x7ffff,
	0x80000,
	0x3ffffff,
	0x4000000,
	0x1ffffffffull,
	0x200000000ull,
	1ull << 40,
	(1ull << 47) - 1,
	1ull << 47,
	1ull << 54,
	PTFRAME_CYC_MAX,
};
static const uint64_t words[] = { 0, 1, 0x0123456789abcdefull, UINT64_MAX };

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct pt_config config_of(uint8_t *begin, size_t size)
{
	struct pt_config config;

	pt_config_init(&config);
	config.begin = begin;
	config.end = begin + size;
	return config;
}

/* CYC + PTW by libipt. Returns the size. */
static int encode(uint8_t *p, size_t size, uint64_t cyc, uint64_t word)
{
	const struct pt_packet packets[] = {
		{ .type = ppt_cyc, .payload.cyc.value = cyc },
		{ .type = ppt_ptw, .payload.ptw = { .payload = word, .plc = 1 } },
	};
	struct pt_config config = config_of(p, size);
	struct pt_encoder *enc = pt_alloc_encoder(&config);
	int sum = 0;

	assert_non_null(enc);
	for (size_t i = 0; i < COUNT(packets); i++) {
		int n = pt_enc_next(enc, &packets[i]);

		assert_true(n > 0);
		sum += n;
	}
	pt_free_encoder(enc);
	return sum;
}

static void test_marker_is_what_libipt_encodes(void **state)
{
	uint8_t ours[PTFRAME_MARKER_MAX], theirs[64];

	(void)state;
	for (size_t i = 0; i < COUNT(cycles); i++)
		for (size_t j = 0; j < COUNT(words); j++) {
			size_t n = ptframe_marker(ours, cycles[i], words[j]) - ours;

			assert_in_range(n, 1, PTFRAME_MARKER_MAX);
			assert_int_equal(n, encode(theirs, sizeof(theirs), cycles[i], words[j]));
			assert_memory_equal(ours, theirs, n);
		}
}

/* A short one, with the same CYC. */
static void test_short_marker_is_what_libipt_encodes(void **state)
{
	static const uint32_t shorts[] = { 0, 1, 0x01234567, UINT32_MAX };
	const struct pt_packet packet = { .type = ppt_ptw };
	uint8_t ours[8], theirs[64];

	(void)state;
	for (size_t i = 0; i < COUNT(shorts); i++) {
		struct pt_config config = config_of(theirs, sizeof(theirs));
		struct pt_encoder *enc = pt_alloc_encoder(&config);
		struct pt_packet p = packet;
		size_t n = ptput_ptw_short(ours, shorts[i]) - ours;

		p.payload.ptw.payload = shorts[i];
		assert_int_equal(pt_enc_next(enc, &p), n);
		assert_memory_equal(ours, theirs, n);
		pt_free_encoder(enc);
	}
}

static struct pt_packet next(struct pt_packet_decoder *dec, enum pt_packet_type type)
{
	struct pt_packet packet;

	assert_true(pt_pkt_next(dec, &packet, sizeof(packet)) > 0);
	assert_int_equal(packet.type, type);
	return packet;
}

static void test_stretch_is_what_libipt_decodes(void **state)
{
	const uint64_t tsc = 0xfe123456789abcull, before = 12345;
	uint8_t buf[PTFRAME_PSB_MAX + COUNT(cycles) * PTFRAME_MARKER_MAX], *p = buf;
	struct pt_config config;
	struct pt_packet_decoder *dec;

	(void)state;
	p += ptframe_psb(p, tsc, before);
	for (size_t i = 0; i < COUNT(cycles); i++)
		p = ptframe_marker(p, cycles[i], ~cycles[i]);

	config = config_of(buf, p - buf);
	dec = pt_pkt_alloc_decoder(&config);
	assert_non_null(dec);
	assert_int_equal(pt_pkt_sync_forward(dec), 0);
	next(dec, ppt_psb);
	assert_int_equal(next(dec, ppt_cyc).payload.cyc.value, before);
	assert_int_equal(next(dec, ppt_tsc).payload.tsc.tsc, tsc);
	assert_int_equal(next(dec, ppt_cbr).payload.cbr.ratio, PTFRAME_RATIO);
	next(dec, ppt_psbend);
	for (size_t i = 0; i < COUNT(cycles); i++) {
		struct pt_packet_ptw ptw;

		assert_int_equal(next(dec, ppt_cyc).payload.cyc.value, cycles[i]);
		ptw = next(dec, ppt_ptw).payload.ptw;
		assert_int_equal(ptw.payload, ~cycles[i]);
		assert_int_equal(pt_ptw_size(ptw.plc), 8);
		assert_int_equal(ptw.ip, 0);
	}
	pt_pkt_free_decoder(dec);
}

static void test_psb_fits_its_bound(void **state)
{
	uint8_t buf[PTFRAME_PSB_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(cycles); i++)
		assert_in_range(ptframe_psb(buf, UINT64_MAX, cycles[i]), 1, PTFRAME_PSB_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marker_is_what_libipt_encodes),
		cmocka_unit_test(test_short_marker_is_what_libipt_encodes),
		cmocka_unit_test(test_stretch_is_what_libipt_decodes),
		cmocka_unit_test(test_psb_fits_its_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
