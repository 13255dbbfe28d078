/* SPDX-License-Identifier: MIT */
/* test_rings.c - what comes out of a ring, and what is not accepted as one. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "switch_write.h" /* first: shared/perf_format.h has macros of the kernel's names */

#include "ring_write.h"
#include "stream_read.h"
#include "record/rings.h"

#define N 256u

struct fixture {
	struct trace_out out;
	struct rings rings;
	struct clock clock;
	struct wakeup wakeup;
	uint64_t base_ns; /* of times in the tests of switches: a while ago */
	struct ring *ring;
	int fd;
};

static int make_ring(size_t size, int seals, struct ring **ring)
{
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	*ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(*ring, MAP_FAILED);
	ring_init(*ring, N);
	return fd;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char name[] = "/tmp/test_rings.XXXXXX";

	close(mkstemp(name));
	unlink(name);
	if (perfdata_create(&f->out.file, AT_FDCWD, name, PTFRAME_RATIO) < 0)
		return -1;
	unlink(name);
	f->rings.out = &f->out;
	f->fd = make_ring(ring_size(N), F_SEAL_SHRINK, &f->ring);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rings_finish(&f->rings);
	perfdata_close(&f->out.file);
	munmap(f->ring, ring_size(N));
	close(f->fd);
	free(f);
	return 0;
}

static void put(struct fixture *f, uint64_t word)
{
	ring_write(f->ring, 1000 + ring_written(f->ring), word);
}

static void add(struct fixture *f)
{
	assert_int_equal(rings_add(&f->rings, f->fd, getpid(), getpid()), 0);
}

static void test_every_record_is_taken_once(void **state)
{
	struct fixture *f = *state;
	uint64_t n = 0;

	add(f);
	/* Fill by fill, so that it wraps at every place. */
	for (uint32_t fill = 0; fill <= N; fill++) {
		for (uint32_t i = 0; i < fill; i++, n++)
			put(f, marker_event(OP_LINE, n, 1, n, 0));
		assert_int_equal(rings_drain(&f->rings), fill * 100 / N);
		assert_int_equal(f->ring->tail, n);
	}
	rings_flush(&f->rings);
	assert_int_equal(f->out.markers, n);
}

static void test_a_ring_goes_to_another_thread(void **state)
{
	struct fixture *f = *state;

	add(f);
	put(f, marker_hello(0, 0));
	put(f, marker_head(OP_RING_THREAD, 0) | 4242);
	put(f, marker_hello(0, 0));
	rings_drain(&f->rings);
	assert_int_equal(f->rings.first->stream.tid, 4242);
	assert_int_equal(f->rings.first->stream.idx, 1);
	rings_flush(&f->rings);
	assert_int_equal(f->out.markers, 2); /* RING_THREAD is none */
	assert_int_equal(f->out.streams, 2);
}

static void test_a_finished_ring_is_let_go_when_empty(void **state)
{
	struct fixture *f = *state;

	add(f);
	put(f, marker_hello(0, 0));
	f->ring->finished = 1;
	rings_drain(&f->rings);
	assert_null(f->rings.first);
	assert_int_equal(f->out.markers, 1);
}

static void test_losses_are_added_up(void **state)
{
	struct fixture *f = *state;

	add(f);
	put(f, marker_hello(0, 0));
	put(f, marker_lost(1, 100));
	f->ring->lost = 11; /* never told by the thread, which is dead now */
	rings_end_process(&f->rings, getpid());
	assert_null(f->rings.first);
	assert_int_equal(f->out.lost, 111);
	assert_int_equal(f->out.markers, 3);
}

static void test_only_the_dead_process_is_ended(void **state)
{
	struct fixture *f = *state;

	add(f);
	rings_end_process(&f->rings, getpid() + 1);
	assert_non_null(f->rings.first);
}

static void end_by_damage(struct fixture *f, int64_t how)
{
	add(f);
	put(f, marker_hello(0, 0));
	rings_drain(&f->rings);
	f->ring->at += how * sizeof(struct ring_record);
	rings_drain(&f->rings);
	assert_null(f->rings.first);
	assert_int_equal(f->ring->closed, 1);
	assert_int_equal(f->rings.damaged, 1);
	assert_int_equal(f->out.markers, 1);
}

static void test_head_behind_the_ring_ends_it(void **state)
{
	end_by_damage(*state, N + 1);
}

static void test_head_before_the_ring_ends_it(void **state)
{
	end_by_damage(*state, -2);
}

/* Wherever the producer is killed on its way back to the first record. */
static void test_a_producer_dies_at_the_ring_s_end(void **state)
{
	struct fixture *f = *state;

	add(f);
	for (uint32_t i = 0; i < N; i++)
		put(f, marker_event(OP_LINE, 0, 1, i, 0));
	assert_int_equal(ring_written(f->ring), N);
	f->ring->laps++;
	assert_int_equal(ring_written(f->ring), N);
	f->ring->at = f->ring->first;
	assert_int_equal(ring_written(f->ring), N);
	rings_drain(&f->rings);
	assert_int_equal(f->ring->tail, N);
	f->ring->laps++;
	assert_int_equal(ring_written(f->ring), N);
	assert_int_equal(rings_drain(&f->rings), 0);
	put(f, marker_event(OP_LINE, 0, 1, N, 0));
	assert_int_equal(ring_written(f->ring), N + 1);
	rings_end_process(&f->rings, getpid());
	assert_int_equal(f->out.markers, N + 1);
}

static void test_finish_closes_and_takes_the_rest(void **state)
{
	struct fixture *f = *state;

	add(f);
	put(f, marker_hello(0, 0));
	rings_finish(&f->rings);
	assert_int_equal(f->ring->closed, 1);
	assert_int_equal(f->out.markers, 1);
}

/* A piece with nothing but what its threads' streams begin with is empty: it stays the newest. */
static void test_a_seam_s_hello_is_no_marker(void **state)
{
	struct fixture *f = *state;

	add(f);
	put(f, marker_hello(0, 3));
	f->ring->hello = ring_hello(0, 3);
	put(f, marker_event(OP_LINE, 0, 1, 1, 0));
	rings_drain(&f->rings);
	rings_flush(&f->rings);
	assert_int_equal(f->out.markers, 2);
	rings_reopen(&f->rings, true);
	assert_int_equal(f->rings.first->stream.words, 1);
	rings_flush(&f->rings);
	assert_int_equal(f->out.markers, 2);
	put(f, marker_event(OP_LINE, 0, 1, 2, 0));
	rings_drain(&f->rings);
	rings_flush(&f->rings);
	assert_int_equal(f->out.markers, 3);
}

/* A WIDE and the word that it belongs to are taken in one go: no seam comes between them. */
static void test_a_wide_waits_for_its_word(void **state)
{
	struct fixture *f = *state;

	add(f);
	put(f, marker_hello(0, 0));
	put(f, marker_wide(0, 1 << 20, 0));
	rings_drain(&f->rings);
	assert_int_equal(f->ring->tail, 1);
	rings_drain(&f->rings);
	assert_int_equal(f->ring->tail, 1);
	put(f, marker_event(OP_LINE, 0, 1, 0, 0));
	rings_drain(&f->rings);
	assert_int_equal(f->ring->tail, 3);
	put(f, marker_wide(0, 1 << 20, 0)); /* the thread died between them: the word is nobody's */
	f->ring->finished = 1;
	rings_drain(&f->rings);
	assert_null(f->rings.first);
	assert_int_equal(f->out.markers, 3);
}

/* From here on switches are read, from a buffer of our own. Times are in units of 10 us, more than clocks differ by. */
static void add_switches(struct fixture *f)
{
	clock_start(&f->clock);
	clock_update(&f->clock);
	f->base_ns = f->clock.first.ns;
	add(f);
	f->rings.clock = &f->clock;
	f->rings.wakeup = &f->wakeup;
	f->rings.first->switches = switch_buffer();
}

static void put_at(struct fixture *f, uint64_t time, uint64_t word)
{
	ring_write(f->ring, clock_tsc(&f->clock, f->base_ns + time * 10000), word);
}

static void put_line(struct fixture *f, uint64_t time)
{
	put_at(f, time, marker_event(OP_LINE, 0, 1, (uint32_t)time, 0));
}

static void put_switch(struct fixture *f, uint64_t time, bool in)
{
	switch_write(&f->rings.first->switches, f->base_ns + time * 10000, in, time % 8);
}

/* The words of the open chunk: H, S, time of a line, < time and > time of a switch out and in, W; "*": it just runs. */
static void assert_words(struct fixture *f, const char *expected)
{
	uint64_t tsc[64], word[64];
	char text[512] = "", *to = text;
	size_t n = stream_read(&f->rings.first->stream, tsc, word, 64);

	for (size_t i = 0; i < n; i++) {
		uint64_t ns = (tsc[i] - f->clock.first.tsc) * 1000000000 / clock_hz(&f->clock);

		if (marker_is_hello(word[i]))
			to += sprintf(to, " H");
		else if (marker_is_snapshot(word[i]))
			to += sprintf(to, " S");
		else if (marker_op(word[i]) == OP_WIDE)
			to += sprintf(to, " W");
		else if (!marker_is_cpu(word[i]))
			to += sprintf(to, " %u", marker_offset(word[i]));
		else if ((word[i] & 0xffff) == MARKER_CPU_UNKNOWN)
			to += sprintf(to, " *");
		else
			to += sprintf(to, " %c%lu", word[i] & MARKER_CPU_IN ? '>' : '<', (ns + 5000) / 10000);
		if (i)
			assert_true(tsc[i] >= tsc[i - 1]);
		assert_int_equal(marker_seq(word[i]), i);
	}
	assert_string_equal(text, expected);
}

static void test_switches_come_in_order_of_time(void **state)
{
	struct fixture *f = *state;

	add_switches(f);
	put_switch(f, 1, false); /* before the thread's first word */
	put_switch(f, 2, true);
	put_at(f, 3, marker_hello(0, 0));
	put_line(f, 3);
	put_switch(f, 4, false);
	put_switch(f, 6, true);
	put_line(f, 7);
	put_line(f, 8);
	put_switch(f, 9, false);
	put_switch(f, 10, true);
	put_switch(f, 11, false);
	put_switch(f, 12, true);
	put_line(f, 13);
	rings_drain(&f->rings);
	assert_words(f, " H * 3 <4 >6 7 8 <9 >10 <11 >12 13");
	put_switch(f, 15, false); /* the thread may still tell of earlier times */
	rings_drain(&f->rings);
	assert_words(f, " H * 3 <4 >6 7 8 <9 >10 <11 >12 13");
	put_line(f, 14);
	put_switch(f, 16, true);
	put_line(f, 17);
	put_switch(f, 18, false);
	rings_drain(&f->rings);
	assert_words(f, " H * 3 <4 >6 7 8 <9 >10 <11 >12 13 14 <15 >16 17");
}

/* What a thread wrote while its switches were lost is not as late as the next one. */
static void test_lost_switches(void **state)
{
	struct fixture *f = *state;
	uint64_t end;

	add_switches(f);
	put_at(f, 1, marker_hello(0, 0));
	put_switch(f, 4, false);
	switch_record(&f->rings.first->switches, PERF_RECORD_LOST, 0, 24, 0, 2);
	put_line(f, 5);
	put_line(f, 6);
	put_switch(f, 8, true);
	end = clock_tsc(&f->clock, f->base_ns + 90000);
	put_line(f, 9);
	rings_drain(&f->rings);
	assert_words(f, " H * <4 5 6 >8 9");
	assert_int_equal(f->rings.first->stream.clock, end);
}

/* Two of these are so many switches that there is hardly any room for more; then each drain makes room for one. */
#define CROWD 60ull

static void put_crowd(struct fixture *f, uint64_t from)
{
	for (uint64_t time = from; time < from + CROWD; time++)
		put_switch(f, time, time % 2);
}

/* Without records they wait, where there is room, however many: the thread may still tell of earlier times. */
static void test_many_switches(void **state)
{
	struct fixture *f = *state;
	uint64_t tsc[4], word[4];

	add_switches(f);
	put_at(f, 1, marker_hello(0, 0));
	for (uint64_t n = 0; n < 10; n++) {
		put_crowd(f, 4 + n * CROWD);
		assert_int_equal(switches_crowded(&f->rings.first->switches), n > 0);
		rings_drain(&f->rings);
		assert_false(switches_crowded(&f->rings.first->switches));
		assert_words(f, " H *");
	}
	put_at(f, 3, marker_wait(WAIT_FOR_GIL, true));
	rings_drain(&f->rings);
	assert_int_equal(stream_read(&f->rings.first->stream, tsc, word, 4), 3);
	assert_int_equal(f->rings.first->stream.words, 3);
	assert_in_range(tsc[2], clock_tsc(&f->clock, f->base_ns + 20000), clock_tsc(&f->clock, f->base_ns + 40000));
	put_line(f, 4 + 10 * CROWD);
	rings_drain(&f->rings);
	assert_int_equal(f->rings.first->stream.words, 4 + 10 * CROWD);
	assert_null(f->rings.first->kept.all);
}

/* There is an end: the oldest are taken then. Nothing follows a dead thread's, so they do not wait. */
static void test_too_many_switches(void **state)
{
	struct fixture *f = *state;
	uint64_t time = 2;

	add_switches(f);
	put_at(f, 1, marker_hello(0, 0));
	for (; f->rings.first->stream.added < 2; rings_drain(&f->rings))
		put_crowd(f, time), time += CROWD;
	assert_int_equal(f->rings.first->kept.n - f->rings.first->kept.first, KEPT_MOST);
	assert_in_range(time - 2, KEPT_MOST, KEPT_MOST + 3 * CROWD);
	rings_end_process(&f->rings, getpid());
	assert_in_range(f->out.added, KEPT_MOST, time);
}

/* What happens when the recorder, which knows the ring's head by then, reads the first record. */
static struct {
	struct fixture *f;
	void (*happens)(struct fixture *);
} meanwhile;

static void first_read(int signal)
{
	(void)signal;
	mprotect(ring_records(meanwhile.f->rings.first->shared), N * sizeof(struct ring_record),
		 PROT_READ | PROT_WRITE);
	meanwhile.happens(meanwhile.f);
}

static void drain_and_meanwhile(struct fixture *f, void (*happens)(struct fixture *))
{
	const struct sigaction ours = { .sa_handler = first_read };
	struct sigaction before;

	meanwhile.f = f;
	meanwhile.happens = happens;
	sigaction(SIGSEGV, &ours, &before);
	mprotect(ring_records(f->rings.first->shared), N * sizeof(struct ring_record), PROT_NONE);
	rings_drain(&f->rings);
	sigaction(SIGSEGV, &before, NULL);
}

static void line_and_switches(struct fixture *f)
{
	put_line(f, 6);
	for (uint64_t time = 7; time < 107; time++)
		put_switch(f, time, time % 2 == 0);
}

/* A recorder that was kept waiting finds many switches: they come after what the thread wrote before them. */
static void test_switches_do_not_overtake(void **state)
{
	struct fixture *f = *state;

	add_switches(f);
	put_at(f, 1, marker_hello(0, 0));
	put_line(f, 3);
	put_switch(f, 4, false);
	put_switch(f, 5, true);
	drain_and_meanwhile(f, line_and_switches);
	assert_words(f, " H * 3");
	rings_drain(&f->rings);
	assert_words(f, " H * 3 <4 >5 6");
}

/* A thread that is out writes nothing, whatever two clocks say; a prefix stays with its word. */
static void test_nothing_comes_between(void **state)
{
	struct fixture *f = *state;

	add_switches(f);
	put_at(f, 1, marker_hello(0, 0));
	put_switch(f, 2, false);
	put_switch(f, 5, true);
	put_line(f, 4);
	put_at(f, 6, marker_wide(0, 1 << 20, 0));
	put_switch(f, 7, false);
	put_switch(f, 8, true);
	put_line(f, 9);
	rings_drain(&f->rings);
	assert_words(f, " H * <2 >5 4 <7 >8 W 9");
}

/* All hellos are followed by whether the thread runs: a piece, and a chunk, may begin there. */
static void test_every_seam_says_who_runs(void **state)
{
	struct fixture *f = *state;

	add_switches(f);
	put_at(f, 1, marker_hello(0, 0));
	put_at(f, 2, marker_hello(0, 1));
	put_switch(f, 3, true);
	put_line(f, 4);
	f->ring->hello = ring_hello(1, 1);
	rings_drain(&f->rings);
	assert_words(f, " H * H * >3 4");
	rings_reopen(&f->rings, true);
	assert_words(f, " H >4");
	rings_flush(&f->rings);
	assert_int_equal(f->out.markers, 0);
}

/* A hand-over ends what is known: of the next thread it is what was seen since it was met. */
static void test_switches_of_the_next_thread(void **state)
{
	struct fixture *f = *state;
	struct met *m = calloc(1, sizeof(*m));

	add_switches(f);
	put_at(f, 1, marker_hello(0, 0));
	put_switch(f, 2, false);
	m->pid = (uint32_t)getpid();
	m->tid = 4242;
	m->switches = switch_buffer();
	f->rings.met = m;
	switch_write(&m->switches, f->base_ns + 40000, false, 1);
	switch_write(&m->switches, f->base_ns + 60000, true, 1);
	put_at(f, 3, marker_head(OP_RING_THREAD, 0) | 4242);
	put_at(f, 5, marker_hello(0, 0));
	put_line(f, 7);
	switch_write(&m->switches, f->base_ns + 80000, false, 1);
	put_line(f, 9);
	rings_drain(&f->rings);
	assert_null(f->rings.met);
	assert_words(f, " H * >6 7 <8 9");
	put_at(f, 10, marker_head(OP_RING_THREAD, 0) | 4243); /* never met */
	put_at(f, 10, marker_hello(0, 0));
	rings_drain(&f->rings);
	assert_words(f, " H");
}

/* Between windows of a duty cycle the thread is not traced. */
static void test_no_switches_between_windows(void **state)
{
	struct fixture *f = *state;
	uint64_t end;

	add_switches(f);
	f->rings.windows = true;
	put_at(f, 1, marker_hello(0, 0));
	put_at(f, 1, marker_snapshot(0, 1, false));
	put_at(f, 1, marker_hello(0, 1));
	put_switch(f, 2, false);
	put_switch(f, 3, true);
	put_at(f, 4, marker_snapshot(0, 1, true));
	put_switch(f, 5, false);
	put_switch(f, 6, true);
	put_at(f, 7, marker_snapshot(0, 2, false));
	put_line(f, 8);
	put_switch(f, 9, false);
	put_switch(f, 11, true);
	rings_drain(&f->rings);
	assert_words(f, " H S * H <2 >3 S S * 8");
	end = clock_tsc(&f->clock, f->base_ns + 100000); /* the next drain may correct the clock */
	put_at(f, 10, marker_snapshot(0, 2, true));	 /* when the thread woke up */
	rings_drain(&f->rings);
	assert_words(f, " H S * H <2 >3 S S * 8 <9 S");
	assert_int_equal(f->rings.first->stream.clock, end);
}

static void test_a_thread_is_in_one_ring(void **state)
{
	struct fixture *f = *state;
	struct ring_map *old;

	add_switches(f);
	old = f->rings.first;
	add(f);
	assert_ptr_not_equal(f->rings.first, old);
	assert_null(old->switches.page);
}

/* A record whose time was read if that can be divided by 16, as of a thread with a coarse clock. */
static void put_coarse(struct fixture *f, uint64_t n)
{
	for (uint64_t at; n; n--) {
		at = ring_written(f->ring);
		ring_write(f->ring, at % RING_COARSE ? RING_NO_TIME : 1000 + 10 * at,
			   marker_event(OP_LINE, 0, 1, at, 0));
	}
}

static void add_coarse(struct fixture *f)
{
	f->rings.coarse = true;
	add(f);
}

/* What is taken, and when it was, in units of 10 ticks from 1000. */
static void expect_lines(struct fixture *f, uint64_t n)
{
	uint64_t tsc[N], word[N], lines = 0;
	size_t all = stream_read(&f->rings.first->stream, tsc, word, N);

	for (size_t i = 0; i < all; i++) {
		if (marker_op(word[i]) != OP_LINE)
			continue;
		assert_int_equal(marker_offset(word[i]), lines);
		assert_int_equal(tsc[i], 1000 + 10 * lines++);
	}
	assert_int_equal(lines, n);
}

/* Records without a time wait for one that has one: what follows may be the beginning of a wait. */
static void test_a_coarse_clock(void **state)
{
	struct fixture *f = *state;

	add_coarse(f);
	put_coarse(f, 40);
	assert_int_equal(rings_drain(&f->rings), 40 * 100 / N);
	assert_int_equal(f->ring->tail, 33);
	expect_lines(f, 33);
	rings_drain(&f->rings);
	assert_int_equal(f->ring->tail, 33);
	ring_write(f->ring, 1000 + 10 * 40, marker_event(OP_LINE, 0, 1, 40, 0)); /* the slow path reads it */
	rings_drain(&f->rings);
	assert_int_equal(f->ring->tail, 41);
	expect_lines(f, 41);
}

/* A thread that is gone wrote at the same pace to the end; all of it is there. */
static void test_a_coarse_clock_s_end(void **state)
{
	struct fixture *f = *state;

	add_coarse(f);
	put_coarse(f, 40);
	rings_end_process(&f->rings, getpid() + 1);
	expect_lines(f, 33);
	assert_int_equal(f->ring->tail, 33);
	rings_end_process(&f->rings, getpid());
	assert_null(f->rings.first);
	assert_int_equal(f->out.markers, 40);
	assert_int_equal(f->out.lost, 0);
}

static void test_a_coarse_clock_finishes(void **state)
{
	struct fixture *f = *state;

	add_coarse(f);
	put_coarse(f, 40);
	rings_finish(&f->rings);
	assert_int_equal(f->out.markers, 40);
}

static const struct {
	const char *name;
	size_t size;
	int seals;
	uint32_t magic, version, nrecords;
	int err;
} strangers[] = {
	{ "may shrink", RING_HEADER + N * 16, 0, RING_MAGIC, RING_VERSION, N, -EPERM },
	{ "other magic", RING_HEADER + N * 16, F_SEAL_SHRINK, 1, RING_VERSION, N, -EINVAL },
	{ "newer", RING_HEADER + N * 16, F_SEAL_SHRINK, RING_MAGIC, RING_VERSION + 1, N, -EINVAL },
	{ "says more", RING_HEADER + N * 16, F_SEAL_SHRINK, RING_MAGIC, RING_VERSION, 2 * N, -EINVAL },
	{ "says less", RING_HEADER + N * 32, F_SEAL_SHRINK, RING_MAGIC, RING_VERSION, N, -EINVAL },
	{ "no power", RING_HEADER + 300 * 16, F_SEAL_SHRINK, RING_MAGIC, RING_VERSION, 300, -EINVAL },
	{ "too small", RING_HEADER + 16 * 16, F_SEAL_SHRINK, RING_MAGIC, RING_VERSION, 16, -EINVAL },
	{ "none", RING_HEADER + N * 16, F_SEAL_SHRINK, RING_MAGIC, RING_VERSION, 0, -EINVAL },
};

static void test_strangers_are_refused(void **state)
{
	struct fixture *f = *state;
	int pipes[2];

	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++) {
		struct ring *ring;
		int fd = make_ring(strangers[i].size, strangers[i].seals, &ring);

		ring->magic = strangers[i].magic;
		ring->version = strangers[i].version;
		ring->nrecords = strangers[i].nrecords;
		if (rings_add(&f->rings, fd, 1, 1) != strangers[i].err)
			fail_msg("%s was not refused as it should be", strangers[i].name);
		munmap(ring, strangers[i].size);
		close(fd);
	}
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(rings_add(&f->rings, pipes[0], 1, 1), -EINVAL);
	assert_int_equal(rings_add(&f->rings, -1, 1, 1), -EINVAL);
	assert_null(f->rings.first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_record_is_taken_once),
		TEST(test_a_ring_goes_to_another_thread),
		TEST(test_a_finished_ring_is_let_go_when_empty),
		TEST(test_losses_are_added_up),
		TEST(test_only_the_dead_process_is_ended),
		TEST(test_head_behind_the_ring_ends_it),
		TEST(test_head_before_the_ring_ends_it),
		TEST(test_a_producer_dies_at_the_ring_s_end),
		TEST(test_finish_closes_and_takes_the_rest),
		TEST(test_a_seam_s_hello_is_no_marker),
		TEST(test_a_wide_waits_for_its_word),
		TEST(test_switches_come_in_order_of_time),
		TEST(test_lost_switches),
		TEST(test_many_switches),
		TEST(test_too_many_switches),
		TEST(test_switches_do_not_overtake),
		TEST(test_nothing_comes_between),
		TEST(test_every_seam_says_who_runs),
		TEST(test_switches_of_the_next_thread),
		TEST(test_no_switches_between_windows),
		TEST(test_a_thread_is_in_one_ring),
		TEST(test_a_coarse_clock),
		TEST(test_a_coarse_clock_s_end),
		TEST(test_a_coarse_clock_finishes),
		TEST(test_strangers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
