/* SPDX-License-Identifier: MIT */
/* test_breakpoint.c - threads that end while breakpoints are being set. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/breakpoint.h"

static void watch(void *to, int fd)
{
	(void)to;
	(void)fd;
}

/* It is still there, as a zombie, but there is nobody to trace. */
static void test_a_thread_that_has_ended_is_no_error(void **state)
{
	pid_t pid = fork();
	struct breakpoint other = { .fd = -1, .pid = pid, .address = (uintptr_t)getppid, .what = "getppid" };
	struct breakpoints b = { .first = &other };

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_int_equal(breakpoints_set(&b, pid, other.what, watch, NULL), 0);
	waitpid(pid, NULL, 0);
	if (b.error == -EACCES || b.error == -EPERM || b.error == -ENOSYS)
		skip(); /* nobody has breakpoints here */
	assert_int_equal(b.error, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_has_ended_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
