/* SPDX-License-Identifier: MIT */
/* test_switches.c - what the kernel tells of a thread that sleeps, and records that it would not write. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "switch_write.h"
#include "record/clock.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define NAPS	 20

struct sleeper {
	sem_t ready, go;
	uint32_t tid;
	struct {
		uint64_t from, until;
	} naps[NAPS];
};

static void *sleep_often(void *arg)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	struct sleeper *s = arg;

	s->tid = (uint32_t)syscall(SYS_gettid);
	sem_post(&s->ready);
	sem_wait(&s->go);
	for (int i = 0; i < NAPS; i++) {
		s->naps[i].from = clock_monotonic_ns();
		nanosleep(&nap, NULL);
		s->naps[i].until = clock_monotonic_ns();
	}
	return NULL;
}

/* Takes them up to the end of a nap: how long it was off by its own will. */
static uint64_t waited(struct switches *s, uint64_t from, uint64_t until)
{
	const struct switched *sw;
	uint64_t ns = 0, out = 0;

	for (; (sw = switches_peek(s)) && sw->ns <= until; switches_take(s)) {
		assert_false(sw->lost);
		assert_false(sw->in && sw->preempted);
		if (sw->in && out > from)
			ns += sw->ns - out;
		out = sw->in || sw->preempted ? 0 : sw->ns;
	}
	return ns;
}

/* Each nap is one time off, and is inside what the thread itself measured. */
static void test_a_thread_that_sleeps(void **state)
{
	struct sleeper s = { 0 };
	struct switches sw;
	pthread_t thread;
	int err;

	(void)state;
	sem_init(&s.ready, 0, 0);
	sem_init(&s.go, 0, 0);
	pthread_create(&thread, NULL, sleep_often, &s);
	sem_wait(&s.ready);
	err = switches_open(&sw, (uint32_t)getpid(), s.tid);
	sem_post(&s.go);
	pthread_join(thread, NULL);
	if (err == -EACCES || err == -EPERM || err == -ENOSYS)
		skip(); /* nobody sees switches here */
	assert_int_equal(err, 0);
	for (int i = 0; i < NAPS; i++)
		assert_in_range(waited(&sw, s.naps[i].from, s.naps[i].until), 2000000,
				s.naps[i].until - s.naps[i].from);
	switches_close(&sw);
	assert_null(sw.page);
}

/* How often the kernel took this thread from its processor; a nap that is over before it begins takes it from none. */
static long switches_of_mine(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* The same, by an observer who comes when all is over. */
static void test_what_is_left_of_overwritten_ones(void **state)
{
	const struct timespec nap = { .tv_nsec = 10000 };
	struct switches s;
	struct switched *list;
	bool whole;
	long earlier = switches_of_mine();
	int n, err = switches_open_overwritten(&s, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid));
	long before = switches_of_mine(), least, most;

	(void)state;
	if (err == -EACCES || err == -EPERM || err == -ENOSYS)
		skip();
	assert_int_equal(err, 0);
	for (int naps = 5; naps <= 5000; naps = naps == 5 ? 50 : 100 * naps) {
		uint64_t from = clock_monotonic_ns();

		for (int i = 0; i < naps; i++)
			nanosleep(&nap, NULL);
		least = 2 * (switches_of_mine() - before);
		n = switches_copy(&s, &list, &whole);
		most = 2 * (switches_of_mine() - earlier);
		assert_int_equal(whole, naps <= 50);
		if (whole)
			assert_in_range(n, least, most);
		else
			assert_in_range(n, 8 * 4096 / 24 - 4, 8 * 4096 / 24);
		for (int i = 1; i < n; i++) {
			assert_true(list[i].ns >= list[i - 1].ns);
			assert_true(list[i].in != list[i - 1].in);
		}
		assert_in_range(list[n - 1].ns, from, clock_monotonic_ns());
		assert_true(list[n - 1].in);
		free(list);
	}
	switches_close(&s);
}

static void test_threads_that_are_not_there(void **state)
{
	struct switches sw;

	(void)state;
	assert_int_equal(switches_open(&sw, (uint32_t)getpid(), (uint32_t)getppid()), -ESRCH);
	assert_null(sw.page);
	assert_null(switches_peek(&sw));
	switches_close(&sw);
}

/* What stands before a switch, and what is read; 170 records fill the buffer, so that it wraps. */
static void test_records(void **state)
{
	static const struct {
		uint32_t type;
		uint16_t misc;
		bool in, preempted;
	} rows[] = {
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, false, false },
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | 1 << 14, false, true },
		{ PERF_RECORD_SWITCH, 0, true, false },
	};
	struct switches s = switch_buffer();

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		size_t row = i % COUNT(rows);
		const struct switched *sw;

		if (i % 7 == 0)
			switch_record(&s, PERF_RECORD_LOST, 0, 24, 1, 2);
		if (i % 5 == 0)
			switch_record(&s, PERF_RECORD_THROTTLE, 0, 24, 1, 2);
		switch_record(&s, rows[row].type, rows[row].misc, 24, i, i % 4);
		sw = switches_peek(&s);
		assert_non_null(sw);
		assert_ptr_equal(switches_peek(&s), sw);
		assert_int_equal(sw->ns, i);
		assert_int_equal(sw->cpu, i % 4);
		assert_int_equal(sw->in, rows[row].in);
		assert_int_equal(sw->preempted, rows[row].preempted);
		assert_int_equal(sw->lost, i % 7 == 0);
		switches_take(&s);
		assert_null(switches_peek(&s));
		assert_int_equal(s.page->data_tail, s.page->data_head);
	}
	switches_close(&s);
}

/* Sizes that no record has end the reading; a switch of another size is none. */
static void test_damage(void **state)
{
	static const struct {
		uint16_t size;
		uint64_t taken;
	} rows[] = { { 0, 0 }, { 7, 0 }, { 25, 0 }, { 0xffff, 0 }, { 8, 8 }, { 16, 16 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct switches s = switch_buffer();

		switch_record(&s, PERF_RECORD_SWITCH, 0, rows[i].size, 0, 0);
		assert_null(switches_peek(&s));
		assert_int_equal(s.page->data_tail, rows[i].taken);
		switches_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_sleeps),
		cmocka_unit_test(test_what_is_left_of_overwritten_ones),
		cmocka_unit_test(test_threads_that_are_not_there),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
