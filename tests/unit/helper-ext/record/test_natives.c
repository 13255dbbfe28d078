/* SPDX-License-Identifier: MIT */
/* test_natives.c - samples of this very thread: where it was, how often, and what the tables say of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/natives.h"

#define HZ 5000u

struct lines {
	size_t functions, stacks, spins;
};

static void take_line(void *to, uint32_t pid, const char *line, size_t length)
{
	struct lines *l = to;

	assert_int_equal(pid, getpid());
	assert_int_equal(line[0], '{');
	assert_memory_equal(line + length - 2, "}\n", 2);
	assert_ptr_equal(memchr(line, '\n', length), line + length - 1);
	l->functions += !strncmp(line, "{\"kind\":\"native_function\",\"id\":", 31);
	l->stacks += !strncmp(line, "{\"kind\":\"native_stack\",\"id\":", 28);
	l->spins += strstr(line, "\"name\":\"spin_here\",\"object\":\"/") != NULL;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noipa)) void spin_here(uint64_t ns)
{
	for (uint64_t from = cpu_ns(); cpu_ns() - from < ns;)
		for (volatile int i = 0; i < 100000; i++)
			;
}

static uint64_t take_all(struct natives *n, struct switches *s)
{
	uint64_t samples = 0;

	for (const struct switched *sw; (sw = switches_peek(s)); switches_take(s))
		samples += sw->sample && natives_take(n, (uint32_t)getpid(), s);
	return samples;
}

/* Each period of CPU time has one; the kernel's part of it has none, and a busy machine's may be large. */
static void test_this_thread(void **state)
{
	struct lines lines = { 0 };
	struct natives n = { .hz = HZ, .write = take_line, .to = &lines };
	struct switches s;
	int err = switches_open_sampled(&s, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid), HZ, true);
	uint64_t samples = 0, from;

	(void)state;
	if (err == -EACCES || err == -EPERM || err == -ENOSYS)
		skip(); /* nobody sees samples here */
	assert_int_equal(err, 0);
	assert_true(s.samples);
	from = cpu_ns();
	for (int i = 0; i < 40; i++) {
		spin_here(2000000);
		samples += take_all(&n, &s);
	}
	assert_in_range(samples + s.dropped, 100, (cpu_ns() - from) * HZ / 1000000000 + 2);
	assert_int_equal(samples, n.samples);
	assert_int_equal(lines.spins, 1);
	assert_int_equal(lines.functions, n.places.n);
	assert_int_equal(lines.stacks, n.stacks.n);
	assert_true(n.stacks.n < samples);
	natives_free(&n);
	switches_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
