/* SPDX-License-Identifier: MIT */
/* test_window.c - the newest records of a ring: none half overwritten, none twice, each with its thread. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "ring_write.h"
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

/* Times asked for, and what of a ring after 1000 records is had. */
static void test_times(void **state)
{
	static const struct {
		uint64_t from, until, first, n;
		bool cut;
	} rows[] = {
		{ 0, UINT64_MAX, 745, 255, true }, /* the oldest one may be being overwritten */
		{ 1900, UINT64_MAX, 900, 100, false }, { 1900, 1909, 900, 10, false },
		{ 1745, 1999, 745, 255, true }, /* who knows what was before the first */
		{ 1746, 1999, 746, 254, false },       { 1000, 1500, 745, 0, true },
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
	window_write(&w, &f->rings, f->map, 1, UINT64_MAX, &timeslice);
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
	while (taken < 1000000) {
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
		cmocka_unit_test_setup_teardown(test_nothing_is_taken_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_segment_names_its_interpreter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_prefix_is_not_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_that_share_a_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_window_in_two, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_writer_at_full_speed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
