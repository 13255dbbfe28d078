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

#include "shared/perf_format.h"
#include "stream_read.h"

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
	assert_int_equal(stream_read(&f->stream, tsc, word, COUNT(times)), COUNT(times));
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
		assert_int_equal(stream_read(&f->stream, &tsc, &word, 1), 1);
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

	f->stream.cpu = marker_cpu(true, false, false, 0); /* the chunk begins with it */
	/* The longest CYC each time: nothing may be larger. */
	while ((room = stream_room(&f->stream))) {
		for (uint64_t i = 0; i < room; i++, n++)
			stream_put(&f->stream, tsc += PTFRAME_CYC_MAX,
				   n % 4 < 2 ? n : marker_event(OP_LINE, 0, 1, n / 8, 0));
		assert_in_range(f->stream.used, 1, STREAM_CHUNK - 8);
	}
	stream_flush(&f->stream);
	assert_int_equal(f->out.markers - f->out.added, n);
	assert_in_range(f->out.added, 2, n); /* the CPU, and numbers */
	assert_in_range(f->stream.written, STREAM_CHUNK - 64, STREAM_CHUNK);
}

#define WORD(op, low)	((uint64_t)(op) << MARKER_OP_SHIFT | (low))
#define KIND(kind, low) WORD(OP_EXTENSION, (uint64_t)(kind) << MARKER_KIND_SHIFT | (low))
#define JUMP(offset)	WORD(OP_JUMP, 7ull << MARKER_CODE_SHIFT | (offset) << MARKER_OFFSET_SHIFT | 0xfe)
#define WIDE		WORD(OP_WIDE, 12)
#define CALLEE		KIND(KIND_CALLEE, 3)
#define NUMBER(n)	KIND(KIND_NUMBER, n)
#define SHORT(n)	WORD(OP_NUMBERED, n) /* of 32 bits */
#define CALL_OF_C	KIND(KIND_C_CALL, 5ull << MARKER_CALLEE_SHIFT | 6 << MARKER_CALLER_SHIFT | 7)
#define CALL_EVENT	WORD(OP_CALL, 6ull << MARKER_CODE_SHIFT | 7 << MARKER_OFFSET_SHIFT)
#define OBJECT		KIND(KIND_OBJECT, 9)
#define HELLO		WORD(OP_HELLO, (uint64_t)MARKER_MAGIC << MARKER_CODE_SHIFT | MARKER_VERSION)
#define NEXT_CHUNK	~0ull

/* What a thread writes, and what comes of it: seqs are added, a chunk that begins is marked. */
static const struct {
	const char *name;
	uint64_t puts[12], comes[16];
} numbered[] = {
	{ "the second time gives a number, which stands for the word from then on",
	  { JUMP(1), JUMP(2), JUMP(1), JUMP(1), JUMP(2), JUMP(2), JUMP(1) },
	  { JUMP(1), JUMP(2), NUMBER(1), JUMP(1), SHORT(1), NUMBER(2), JUMP(2), SHORT(2), SHORT(1) } },
	{ "each chunk tells its numbers, and they are the same",
	  { JUMP(1), JUMP(1), JUMP(1), NEXT_CHUNK, JUMP(1), JUMP(2), JUMP(2), JUMP(1), JUMP(1), JUMP(2) },
	  { JUMP(1), NUMBER(1), JUMP(1), SHORT(1), NEXT_CHUNK, JUMP(1), JUMP(2), NUMBER(2), JUMP(2), NUMBER(1), JUMP(1),
	    SHORT(1), SHORT(2) } },
	{ "what a WIDE belongs to is whole, though the word has a number, or comes often",
	  { JUMP(1), JUMP(1), WIDE, JUMP(1), JUMP(1), WIDE, JUMP(2), WIDE, JUMP(2), JUMP(2) },
	  { JUMP(1), NUMBER(1), JUMP(1), WIDE, JUMP(1), SHORT(1), WIDE, JUMP(2), WIDE, JUMP(2), JUMP(2) } },
	{ "also with another prefix between them",
	  { JUMP(1), JUMP(1), WIDE, CALLEE, JUMP(1), JUMP(1) },
	  { JUMP(1), NUMBER(1), JUMP(1), WIDE, CALLEE, JUMP(1), SHORT(1) } },
	{ "the call of a C function gets its number as a CALL, with the callee",
	  { CALL_OF_C, CALL_OF_C, CALL_OF_C, NEXT_CHUNK, CALL_OF_C, JUMP(1), CALL_OF_C, CALL_OF_C },
	  { CALL_OF_C, NUMBER(5 << 20 | 1), CALL_EVENT, SHORT(1), NEXT_CHUNK, CALL_OF_C, JUMP(1), NUMBER(5 << 20 | 1),
	    CALL_EVENT, SHORT(1) } },
	{ "other words have none",
	  { OBJECT, OBJECT, OBJECT, HELLO, HELLO, HELLO },
	  { OBJECT, OBJECT, OBJECT, HELLO, HELLO, HELLO } },
};

/* The next words of the chunk are these. Of a word of 32 bits the 64 that it stands for. */
static size_t check_chunk(const struct stream *s, const uint64_t *comes, uint64_t *seq)
{
	uint64_t tsc[16], word[16];
	size_t n = stream_read(s, tsc, word, COUNT(word));

	for (size_t i = 0; i < n; i++) {
		uint64_t got = marker_is_short(word[i]) ? marker_of_short(word[i]) : word[i];

		assert_int_equal(got, comes[i] | marker_head(0, (*seq)++));
		assert_int_equal(marker_is_short(word[i]), marker_is_numbered(comes[i]));
		assert_int_equal(tsc[i], 1000);
	}
	return n;
}

static void test_words_that_come_again_have_numbers(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(numbered); i++) {
		uint64_t seq = 0;
		size_t at = 0;

		f->stream.numbers = (struct numbers){ 0 };
		stream_open(&f->stream, &f->out, 10, 11, "thread");
		for (size_t k = 0; k < COUNT(numbered[i].puts) && numbered[i].puts[k]; k++) {
			if (numbered[i].puts[k] != NEXT_CHUNK) {
				stream_put(&f->stream, 1000, numbered[i].puts[k]);
				continue;
			}
			at += check_chunk(&f->stream, numbered[i].comes + at, &seq);
			assert_true(numbered[i].comes[at++] == NEXT_CHUNK);
			stream_flush(&f->stream);
		}
		at += check_chunk(&f->stream, numbered[i].comes + at, &seq);
		if (at < COUNT(numbered[i].comes) && numbered[i].comes[at])
			fail_msg("%s: word %zu is missing", numbered[i].name, at);
		stream_flush(&f->stream);
	}
	assert_int_equal(f->out.added, 9); /* NUMBERs */
}

/* Any chunk may become the first that is kept: it says by itself whether the thread is on a CPU. */
static void test_a_later_chunk_begins_with_the_cpu(void **state)
{
	const uint64_t out = marker_cpu(false, true, true, 3);
	struct fixture *f = *state;
	uint64_t tsc[4], word[4];

	stream_put(&f->stream, 1000, marker_hello(0, 0));
	stream_cpu(&f->stream, 1000, marker_cpu(true, false, false, MARKER_CPU_UNKNOWN));
	stream_cpu(&f->stream, 2000, out);
	assert_int_equal(stream_read(&f->stream, tsc, word, COUNT(word)), 3);
	assert_int_equal(word[1], 0xe815800000000000 | MARKER_CPU_UNKNOWN);
	assert_int_equal(word[2], out | marker_head(0, 2));
	stream_flush(&f->stream);
	stream_cpu(&f->stream, 3000, marker_cpu(true, false, false, 4));
	assert_int_equal(stream_read(&f->stream, tsc, word, COUNT(word)), 2);
	assert_int_equal(word[0], marker_cpu(false, true, false, 3) | marker_head(0, 3)); /* lost ones are lost once */
	assert_int_equal(word[1], marker_cpu(true, false, false, 4) | marker_head(0, 4));
	assert_int_equal(tsc[0], 3000);
	assert_int_equal(tsc[1], 3000);
	stream_open(&f->stream, &f->out, 10, 12, "another"); /* nothing is known of it */
	stream_put(&f->stream, 4000, marker_hello(0, 0));
	stream_flush(&f->stream);
	stream_put(&f->stream, 5000, 1);
	assert_int_equal(stream_read(&f->stream, tsc, word, COUNT(word)), 1);
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
			stream_put(&f->stream, 1, marker_event(OP_LINE, 0, 1, k, 0));
		stream_lost(&f->stream, 1, losses[i].lost);
		stream_put(&f->stream, 1, marker_event(OP_LINE, 0, 1, n, 0));
		assert_int_equal(stream_read(&f->stream, tsc, word, COUNT(word)), n + 2);
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
	stream_lost(&f->stream, 3, 1000); /* by the thread, which the recorder does not read any more */
	assert_int_equal(f->out.discarded, 1007);
	assert_int_equal(f->out.lost, 0);
	assert_int_equal(f->stream.used, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_clock_never_goes_back),
		TEST(test_each_chunk_has_its_time),
		TEST(test_chunk_takes_what_room_says),
		TEST(test_a_later_chunk_begins_with_the_cpu),
		TEST(test_words_that_come_again_have_numbers),
		TEST(test_lost_continues_the_sequence),
		TEST(test_markers_that_cannot_be_written_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
