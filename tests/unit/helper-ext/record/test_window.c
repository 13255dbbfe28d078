/* SPDX-License-Identifier: MIT */
/* test_window.c - the newest records of a ring: none half overwritten, none twice, each with its thread. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "ring_write.h"
#include "stream_read.h"
#include "record/window.h"

#define N 256u

struct fixture {
	struct trace_out out;
	struct rings rings;
	struct ring *ring;
	struct ring_map *map;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char name[] = "/tmp/test_window.XXXXXX";
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	close(mkstemp(name));
	unlink(name);
	if (perfdata_create(&f->out.file, AT_FDCWD, name, PTFRAME_RATIO) < 0)
		return -1;
	unlink(name);
	assert_int_equal(ftruncate(fd, ring_size(N)), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	f->ring = mmap(NULL, ring_size(N), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ring_init(f->ring, N);
	f->ring->tid = 11;
	f->rings.out = &f->out;
	assert_int_equal(rings_add(&f->rings, fd, getpid(), 11), 0);
	f->map = f->rings.first;
	close(fd);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rings_drop(&f->rings, 0);
	perfdata_close(&f->out.file);
	munmap(f->ring, ring_size(N));
	free(f);
	return 0;
}

/* A record's time is 1000 + its position. */
static void put(struct fixture *f, uint64_t word)
{
	ring_write(f->ring, 1000 + ring_written(f->ring), word);
}

static void put_hello(struct fixture *f, uint32_t interpreter)
{
	f->ring->hello = ring_hello(ring_written(f->ring), interpreter);
	put(f, marker_hello(0, interpreter));
}

static void put_lines(struct fixture *f, unsigned n)
{
	for (; n; n--)
		put(f, marker_event(OP_LINE, 0, 1, ring_written(f->ring), 0));
}

static void put_coarse(struct fixture *f, unsigned n)
{
	for (uint64_t at; n; n--) {
		at = ring_written(f->ring);
		ring_write(f->ring, at % RING_COARSE ? RING_NO_TIME : 1000 + at, marker_event(OP_LINE, 0, 1, at, 0));
	}
}

static void put_thread(struct fixture *f, uint32_t tid)
{
	put(f, marker_head(OP_RING_THREAD, 0) | (uint64_t)f->ring->tid << 32 | tid);
	f->ring->tid = tid;
}

/* Each record is in one of the two, a prefix with its word, and each knows whose its newest are. */
static void test_a_window_in_two(void **state)
{
	struct fixture *f = *state;
	struct window w, older;

	put_hello(f, 0);
	put_lines(f, 8);
	put(f, marker_wide(0, 1 << 20, 0)); /* at 1009 */
	put_lines(f, 5);
	put_thread(f, 12);
	put_lines(f, 3);
	assert_int_equal(window_copy(&w, f->map, 0, UINT64_MAX), 0);
	assert_int_equal(window_split(&w, &older, 1010), 0);
	assert_int_equal(older.from, 0);
	assert_int_equal(older.n, 9);
	assert_int_equal(older.tid, 11);
	assert_int_equal(w.from, 9);
	assert_int_equal(w.n, 10);
	assert_int_equal(w.tid, 12);
	assert_int_equal(marker_op(w.records[0].word), OP_WIDE);
	assert_true(w.follows);
	assert_false(older.follows);
	window_free(&older);
	assert_int_equal(window_split(&w, &older, 1000), 0); /* nothing is older */
	assert_int_equal(older.n, 0);
	assert_int_equal(w.n, 10);
	window_free(&older);
	window_free(&w);
}

/* A word that may lack its prefix is not written, and a RING_THREAD is none: they are not when a window begins. */
static void test_when_it_begins(void **state)
{
	struct fixture *f = *state;
	struct window w;

	put_thread(f, 12);
	put_hello(f, 0); /* at 1001 */
	put_lines(f, 4);
	put(f, marker_wide(0, 1 << 20, 0)); /* at 1006 */
	put_lines(f, 1);
	put_thread(f, 13);
	put_hello(f, 0); /* at 1009 */
	const struct {
		uint64_t from, until, first;
	} rows[] = {
		{ 0, 1002, 1001 },
		{ 1003, 1005, 1004 },
		{ 1006, 1012, 1009 },
		{ 1011, 1012, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(window_copy(&w, f->map, rows[i].from, rows[i].until), 0);
		assert_int_equal(window_first_tsc(&w), rows[i].first);
		window_free(&w);
	}
}

/* What window_write() wrote of a window that fits a chunk: S snapshot, H hello, W wide, L line, > in, < out, CPU. */
static void assert_written(struct fixture *f, const struct histories *h, const char *expected)
{
	struct timeslice timeslice;
	struct window w;
	uint64_t tsc[64], word[64];
	char text[256] = "", *to = text;
	size_t n;

	timeslice_begin(&timeslice);
	f->map->tail = 0;
	f->map->stream.written = 0;
	assert_int_equal(window_copy(&w, f->map, 0, UINT64_MAX), 0);
	window_write(&w, &f->rings, f->map, h, 1, 1060, &timeslice);
	window_free(&w);
	assert_int_equal(f->map->stream.used, 0);
	f->map->stream.used = (uint32_t)f->map->stream.written; /* the bytes are still there */
	n = stream_read(&f->map->stream, tsc, word, 64);
	f->map->stream.used = 0;
	for (size_t i = 0; i < n; i++) {
		static const char letters[OP_COUNT] = {
			[OP_SNAPSHOT] = 'S', [OP_HELLO] = 'H', [OP_WIDE] = 'W', [OP_LINE] = 'L'
		};

		if (marker_is_cpu(word[i]))
			to += sprintf(to, "%c%lu", word[i] & MARKER_CPU_IN ? '>' : '<', word[i] & 0xffff);
		else
			*to++ = letters[marker_op(word[i])];
	}
	assert_string_equal(text, expected);
}

/* A history that begins before the window, one that is whole, one that is not; one of another thread; none. */
static void test_switches_in_a_window(void **state)
{
	struct switched list[] = {
		{ .ns = 980, .cpu = 1, .in = false, .preempted = false },
		{ .ns = 990, .cpu = 2, .in = true, .preempted = false },
		{ .ns = 1012, .cpu = 3, .in = false, .preempted = false },
		{ .ns = 1018, .cpu = 4, .in = true, .preempted = false },
		{ .ns = 1032, .cpu = 5, .in = false, .preempted = true },
		{ .ns = 1034, .cpu = 6, .in = true, .preempted = false },
		{ .ns = 1050, .cpu = 7, .in = false, .preempted = false },
		{ .ns = 1061, .cpu = 8, .in = true, .preempted = false },
	};
	struct fixture *f = *state;
	struct history history = { (uint32_t)getpid(), 11, false, 8, list };
	struct histories h = { &history, 1 };
	struct clock clock = { .last = { 1000000000, 1000000000 } };
	struct wakeup wakeup = { 0 };

	f->rings.clock = &clock;
	f->rings.wakeup = &wakeup;
	f->ring->hello = ring_hello(0, 0);
	ring_write(f->ring, 1000, marker_hello(0, 0));
	ring_write(f->ring, 1010, marker_event(OP_LINE, 0, 1, 1, 0));
	ring_write(f->ring, 1020, marker_event(OP_LINE, 0, 1, 2, 0));
	ring_write(f->ring, 1030, marker_wide(0, 1 << 20, 0));
	ring_write(f->ring, 1040, marker_event(OP_LINE, 0, 1, 3, 0));
	assert_written(f, &h, "SH>2HL<3>4L<5>6WL<7S");
	history.list += 2;
	history.n = 1; /* the end of the wait is missing */
	assert_written(f, &h, "SHHL<3LWLS");
	history.n = 5;
	history.whole = true;
	assert_written(f, &h, "SH>65535HL<3>4L<5>6WL<7S");
	history.n = 0;
	assert_written(f, &h, "SH>65535HLLWLS");
	history.tid = 12;
	assert_written(f, &h, "SHHLLWLS");
	assert_written(f, NULL, "SHHLLWLS");
}

/* Times asked for, and what of a ring after 1000 records is had. */
static void test_times(void **state)
{
	static const struct {
		uint64_t from, until, first, n;
		bool cut;
	} rows[] = {
		{ 0, UINT64_MAX, 746, 254, true }, /* the two oldest ones may be being overwritten */
		{ 1900, UINT64_MAX, 900, 100, false }, { 1900, 1909, 900, 10, false },
		{ 1746, 1999, 746, 254, true }, /* who knows what was before the first */
		{ 1747, 1999, 747, 253, false },       { 1000, 1500, 746, 0, true },
		{ 3000, UINT64_MAX, 1000, 0, false },
	};
	struct fixture *f = *state;

	put_lines(f, 1000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct window w;

		f->map->tail = 0;
		assert_int_equal(window_copy(&w, f->map, rows[i].from, rows[i].until), 0);
		if (w.from != rows[i].first || w.n != rows[i].n || w.cut != rows[i].cut)
			fail_msg("row %zu: %u from %lu, cut %d", i, w.n, w.from, w.cut);
		for (uint32_t k = 0; k < w.n; k++)
			assert_int_equal(w.records[k].tsc, 1000 + w.from + k);
		window_free(&w);
	}
}

/* The same where one time of 16 was read. What is before the first one that is left has the time of that. */
static void test_times_of_a_coarse_clock(void **state)
{
	static const struct {
		uint64_t tail, from, until, first, n;
		bool cut;
	} rows[] = {
		{ 0, 0, UINT64_MAX, 746, 254, true },	 { 0, 1900, UINT64_MAX, 900, 100, false },
		{ 0, 1900, 1909, 900, 10, false },	 { 0, 1903, 1904, 903, 2, false },
		{ 0, 1752, 1999, 746, 254, true },	 { 0, 1753, 1999, 753, 247, false },
		{ 0, 1000, 1500, 746, 0, true },	 { 0, 3000, UINT64_MAX, 1000, 0, false },
		{ 0, 1990, 1996, 990, 7, false },	 { 901, 0, UINT64_MAX, 901, 99, false },
		{ 1000, 0, UINT64_MAX, 1000, 0, false }, { 995, 0, UINT64_MAX, 995, 5, false },
	};
	struct fixture *f = *state;

	f->map->coarse = true;
	put_coarse(f, 1000);
	assert_int_equal(window_last_tsc(f->map), 1999);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct window w;

		f->map->tail = rows[i].tail;
		assert_int_equal(window_copy(&w, f->map, rows[i].from, rows[i].until), 0);
		if (w.from != rows[i].first || w.n != rows[i].n || w.cut != rows[i].cut)
			fail_msg("row %zu: %u from %lu, cut %d", i, w.n, w.from, w.cut);
		assert_int_equal(f->map->tail, w.from + w.n);
		for (uint32_t k = 0; k < w.n; k++)
			assert_int_equal(w.records[k].tsc, 1000 + (w.from + k < 752 ? 752 : w.from + k));
		window_free(&w);
	}
}

static void test_nothing_is_taken_twice(void **state)
{
	struct fixture *f = *state;
	struct window w;

	put_lines(f, 100);
	assert_int_equal(window_copy(&w, f->map, 0, 1059), 0);
	assert_int_equal(w.n, 60);
	window_free(&w);
	put_lines(f, 10);
	assert_int_equal(window_copy(&w, f->map, 0, UINT64_MAX), 0);
	assert_int_equal(w.from, 60);
	assert_int_equal(w.n, 50);
	assert_false(w.cut); /* nothing was overwritten */
	window_free(&w);
	assert_int_equal(window_last_tsc(f->map), 0);
	f->ring->at = f->ring->first + sizeof(struct ring_record); /* the program has damaged it */
	assert_int_equal(window_copy(&w, f->map, 0, UINT64_MAX), -EINVAL);
	window_free(&w);
}

/* The number of markers that window_write() made of what is in the ring. */
static uint64_t written(struct fixture *f, uint64_t from)
{
	uint64_t before = f->out.markers;
	struct timeslice timeslice;
	struct window w;

	assert_int_equal(window_copy(&w, f->map, from, UINT64_MAX), 0);
	timeslice_begin(&timeslice);
	window_write(&w, &f->rings, f->map, NULL, 1, UINT64_MAX, &timeslice);
	window_free(&w);
	return f->out.markers - before;
}

#define EDGES 3 /* SNAPSHOT and HELLO before a thread's words, SNAPSHOT behind */

static void test_a_segment_names_its_interpreter(void **state)
{
	struct fixture *f = *state;

	put_hello(f, 0);
	put_lines(f, 500);
	/* The first word is left out: its prefix may be missing. */
	assert_int_equal(written(f, 1400), EDGES + 100);
	put_lines(f, 100);
	put_hello(f, 1);
	put_lines(f, 10);
	/* Inside, the last HELLO is not the one in force at the beginning: from there on only. */
	assert_int_equal(written(f, 0), EDGES + 11);
}

static void test_a_prefix_is_not_left_alone(void **state)
{
	struct fixture *f = *state;

	put_hello(f, 0);
	put_lines(f, 300);
	put(f, marker_wide(0, 1 << 20, 0));
	put_lines(f, 10);
	assert_int_equal(written(f, 1301), EDGES + 9);
}

static void test_threads_that_share_a_ring(void **state)
{
	struct fixture *f = *state;

	put_hello(f, 0);
	put_lines(f, 9);
	put_thread(f, 22);
	put_hello(f, 0);
	put_lines(f, 19);
	put_thread(f, 33);
	put_hello(f, 0);
	put_lines(f, 29);
	assert_int_equal(written(f, 0), 3 * EDGES + 10 + 20 + 30);
	assert_int_equal(f->out.streams, 3);
	assert_int_equal(f->map->stream.tid, 33);
	put_lines(f, 5);
	put_thread(f, 44);
	assert_int_equal(written(f, 0), EDGES + 4); /* of 33, the second time */
	assert_int_equal(f->map->stream.tid, 44);
}

/* Records that are taken. Under a sanitizer they come ten times slower, and what is looked for there is no torn one. */
#ifdef __SANITIZE_ADDRESS__
#define TAKEN 100000
#else
#define TAKEN 1000000
#endif

/* A producer at full speed, and a reader that takes what it can: nothing it takes is torn. */
static void *produce(void *arg)
{
	struct fixture *f = arg;

	for (uint64_t head = 0; !atomic_load(&f->ring->closed); head++)
		ring_write(f->ring, 1000 + head, marker_event(OP_LINE, 0, 1, head & MARKER_OFFSET_MAX, 0));
	return NULL;
}

static void test_a_writer_at_full_speed(void **state)
{
	struct fixture *f = *state;
	uint64_t taken = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, produce, f);
	while (taken < TAKEN) {
		struct window w;

		assert_int_equal(window_copy(&w, f->map, 0, UINT64_MAX), 0);
		for (uint32_t i = 0; i < w.n; i++) {
			assert_int_equal(w.records[i].tsc, 1000 + w.from + i);
			assert_int_equal(marker_offset(w.records[i].word), (w.from + i) & MARKER_OFFSET_MAX);
		}
		taken += w.n;
		window_free(&w);
	}
	atomic_store(&f->ring->closed, 1);
	pthread_join(thread, NULL);
	f->map->tail = ring_written(f->ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times_of_a_coarse_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_taken_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_segment_names_its_interpreter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_prefix_is_not_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_that_share_a_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_window_in_two, setup, teardown),
		cmocka_unit_test_setup_teardown(test_when_it_begins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_switches_in_a_window, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_writer_at_full_speed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
