/* SPDX-License-Identifier: MIT */
/* test_stream.c - chunks that can each be decoded alone, and a clock that never goes back. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <intel-pt.h>

#include "shared/perf_format.h"
#include "record/stream.h"

struct fixture {
	struct trace_out out;
	struct stream stream;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char name[] = "/tmp/test_stream.XXXXXX";

	close(mkstemp(name));
	unlink(name);
	if (perfdata_create(&f->out.file, AT_FDCWD, name, PTFRAME_RATIO) < 0)
		return -1;
	unlink(name);
	stream_open(&f->stream, &f->out, 10, 11, "thread");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	perfdata_close(&f->out.file);
	free(f);
	return 0;
}

/* Decodes what is in the chunk now: the TSC of each PTW, by PSB+'s TSC and the cycles since. */
static size_t decode(const struct stream *s, uint64_t *tsc, uint64_t *word, size_t max)
{
	struct pt_config config;
	struct pt_packet_decoder *dec;
	struct pt_packet p;
	uint64_t clock = 0;
	size_t n = 0;

	pt_config_init(&config);
	config.begin = (uint8_t *)s->chunk;
	config.end = (uint8_t *)s->chunk + s->used;
	dec = pt_pkt_alloc_decoder(&config);
	assert_int_equal(pt_pkt_sync_forward(dec), 0);
	while (pt_pkt_next(dec, &p, sizeof(p)) > 0) {
		if (p.type == ppt_tsc)
			clock = p.payload.tsc.tsc;
		else if (p.type == ppt_cyc)
			clock += p.payload.cyc.value;
		else if (p.type == ppt_ptw && n < max)
			tsc[n] = clock, word[n++] = p.payload.ptw.payload;
	}
	pt_pkt_free_decoder(dec);
	return n;
}

static const struct {
	uint64_t tsc, clock;
} times[] = {
	{ 1000, 1000 },
	{ 1001, 1001 },
	{ 1001, 1001 },
	{ 900, 1001 },
	{ 1002, 1002 },
	{ 1ull << 40, 1ull << 40 },
	{ UINT64_MAX, 1ull << 40 },
	{ 0, 1ull << 40 },
	{ (1ull << 40) + 5, (1ull << 40) + 5 },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_clock_never_goes_back(void **state)
{
	struct fixture *f = *state;
	uint64_t tsc[COUNT(times)], word[COUNT(times)];

	for (size_t i = 0; i < COUNT(times); i++)
		stream_put(&f->stream, times[i].tsc, i + 1);
	assert_int_equal(decode(&f->stream, tsc, word, COUNT(times)), COUNT(times));
	for (size_t i = 0; i < COUNT(times); i++) {
		assert_int_equal(tsc[i], times[i].clock);
		assert_int_equal(word[i], marker_head(0, i) | (i + 1));
	}
}

static void test_each_chunk_has_its_time(void **state)
{
	struct fixture *f = *state;
	uint64_t tsc, word;

	for (uint64_t i = 0; i < 3; i++) {
		stream_put(&f->stream, 5000 + i * 100, i);
		assert_int_equal(decode(&f->stream, &tsc, &word, 1), 1);
		assert_int_equal(tsc, 5000 + i * 100);
		assert_int_equal(f->stream.reference, tsc);
		stream_flush(&f->stream);
		assert_int_equal(f->stream.written % 8, 0);
	}
	assert_int_equal(f->out.markers, 3);
}

static void test_chunk_takes_what_room_says(void **state)
{
	struct fixture *f = *state;
	uint64_t tsc = 1, room, n = 0;

	/* The longest CYC each time: nothing may be larger. */
	while ((room = stream_room(&f->stream))) {
		for (uint64_t i = 0; i < room; i++, n++)
			stream_put(&f->stream, tsc += PTFRAME_CYC_MAX, n);
		assert_in_range(f->stream.used, 1, STREAM_CHUNK - 8);
	}
	stream_flush(&f->stream);
	assert_int_equal(f->out.markers, n);
	assert_in_range(f->stream.written, STREAM_CHUNK - 64, STREAM_CHUNK);
}

/* How many words go before a loss, how many are lost, and the seq of LOST and of the word behind it. */
static const struct {
	uint64_t before, lost, seq, next;
} losses[] = {
	{ 0, 1, 0, 2 }, /* nothing was ever emitted */
	{ 6, 9, 6, 16 }, { 128, 9, 0, 10 }, { 5, 128, 5, 6 }, { 3, 1000, 3, (3 + 1 + 1000) & 127 },
};

static void test_lost_continues_the_sequence(void **state)
{
	struct fixture *f = *state;
	uint64_t tsc[200], word[200], lost = 0;

	for (size_t i = 0; i < COUNT(losses); i++) {
		uint64_t n = losses[i].before;

		stream_flush(&f->stream);
		f->stream.words = 0;
		for (uint64_t k = 0; k < n; k++)
			stream_put(&f->stream, 1, marker_head(OP_LINE, 0));
		stream_lost(&f->stream, 1, losses[i].lost);
		stream_put(&f->stream, 1, marker_head(OP_LINE, 0));
		assert_int_equal(decode(&f->stream, tsc, word, COUNT(word)), n + 2);
		assert_int_equal(word[n], marker_lost(losses[i].seq, losses[i].lost));
		assert_int_equal(marker_seq(word[n + 1]), losses[i].next);
		lost += losses[i].lost;
	}
	assert_int_equal(f->out.lost, lost);
}

static void test_markers_that_cannot_be_written_are_counted(void **state)
{
	struct fixture *f = *state;

	stream_put(&f->stream, 1, 1);
	stream_flush(&f->stream);
	f->out.file.error = -28;
	for (int i = 0; i < 7; i++)
		stream_put(&f->stream, 2, 2);
	stream_flush(&f->stream);
	assert_int_equal(f->out.markers, 1);
	assert_int_equal(f->out.discarded, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_clock_never_goes_back),
		TEST(test_each_chunk_has_its_time),
		TEST(test_chunk_takes_what_room_says),
		TEST(test_lost_continues_the_sequence),
		TEST(test_markers_that_cannot_be_written_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
