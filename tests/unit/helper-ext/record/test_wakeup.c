/* SPDX-License-Identifier: MIT */
/* test_wakeup.c - what a thread that wakes up has used before the kernel says so. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "switch_write.h"
#include "record/clock.h"
#include "record/wakeup.h"

/* With it, what is recorded is what the CPU clock says, of a thread that hardly does anything but wake up. */
static void test_a_thread_that_sleeps(void **state)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	struct wakeup w;
	int err = wakeup_open(&w);

	(void)state;
	if (err == -EACCES || err == -EPERM || err == -ENOSYS)
		skip(); /* nobody sees switches here */
	assert_int_equal(err, 0);
	assert_int_equal(w.ns, 0);
	for (int i = 0; i < 600; i++) {
		nanosleep(&nap, NULL);
		if (i % 50 == 0)
			wakeup_measure(&w);
	}
	wakeup_measure(&w);
	assert_in_range(w.n, 250, 600); /* halved once */
	assert_in_range(w.ns, 1, 50000);
	assert_null(switches_peek(&w.own));
	wakeup_close(&w);
}

/* Of records: only what it was off by its own will counts, and after a loss all begins anew. */
static void test_records(void **state)
{
	struct wakeup w = { .own = switch_buffer(), .since_ns = clock_monotonic_ns() };

	(void)state;
	for (uint64_t at = 1000; at < 21000; at += 1000) {
		switch_write(&w.own, at, false, 0);
		switch_write(&w.own, at + 300, true, 0);
		switch_record(&w.own, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | 1 << 14, 24, at + 400, 0);
		switch_write(&w.own, at + 500, true, 0);
	}
	wakeup_measure(&w);
	assert_int_equal(w.n, 20);
	assert_int_equal(w.off_ns, 20 * 400);
	switch_record(&w.own, PERF_RECORD_LOST, 0, 24, 1, 2);
	switch_write(&w.own, 30000, false, 0);
	wakeup_measure(&w);
	assert_int_equal(w.n, 0);
	assert_int_equal(w.off_ns, 0);
	wakeup_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_sleeps),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
