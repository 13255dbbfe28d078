// SPDX-License-Identifier: MIT
/* test_only_perf.c - each reason to leave a recording to perf, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pt/only_perf.h"

static const struct only_perf_codes plain;

/* perf record -a -e intel_pt// by root: all that a recording can have, and ocular-pt reads. */
static struct pt_config whole(void)
{
	return (struct pt_config){ .timed = true,
				   .converts = true,
				   .per_cpu = true,
				   .branches = true,
				   .switches = SWITCHES_WIDE,
				   .ptwrite = true };
}

static void test_none(void **state)
{
	struct pt_config c = whole();

	(void)state;
	assert_null(only_perf(&c, NULL));
	assert_null(only_perf(&c, &plain));
	c.packed = true;
	assert_null(only_perf(&c, &plain));
	c.packed = false;
	c.sampled = true;
	assert_null(only_perf(&c, &plain));
}

/* Whatever the code tables say. */
static void test_cannot_read(void **state)
{
	static const struct {
		struct pt_config c;
		const char *why;
	} cases[] = {
		{ { .converts = true }, "was recorded without times: ask perf record for intel_pt/tsc/" },
		{ { .timed = true }, "does not say how to read its times" },
		{ { .timed = true, .converts = true, .clocks.conv.shift = 64 }, "names an impossible clock" },
		{ { .timed = true, .converts = true, .clocks.mtc_shift = 16 }, "names an impossible clock" },
		{ { .timed = true, .converts = true, .switches = SWITCHES_TRACEPOINT },
		  "has thread switches as sched:sched_switch events" },
		{ { .timed = true, .converts = true, .sampled = true, .packed = true },
		  "has its traces in compressed samples" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(only_perf(&cases[i].c, NULL), cases[i].why);
		assert_string_equal(only_perf(&cases[i].c, &plain), cases[i].why);
	}
}

static void test_emulated_words(void **state)
{
	const struct only_perf_codes codes = { .emulated = true };
	struct pt_config c = whole();

	(void)state;
	assert_string_equal(only_perf(&c, &codes), "has its markers as branches (backend emulated)");
	assert_null(only_perf(&c, NULL));
}

/* Only with all that perf needs for it; and not where it would lose more than it wins. */
static void test_kernel_switches(void **state)
{
	const struct only_perf_codes opcodes = { .opcodes = true };
	struct pt_config c = whole();

	(void)state;
	c.kernel = true;
	assert_string_equal(only_perf(&c, &plain), "has the kernel's branches, which tell when a CPU changes threads");
	assert_null(only_perf(&c, NULL));
	assert_null(only_perf(&c, &opcodes));
	c.branches = false;
	assert_null(only_perf(&c, &plain));
	c = whole();
	c.kernel = true;
	c.per_cpu = false;
	assert_null(only_perf(&c, &plain));
	c = whole();
	c.kernel = true;
	c.switches = SWITCHES_IN;
	assert_null(only_perf(&c, &plain));
	c = whole();
	c.kernel = c.sampled = true;
	assert_null(only_perf(&c, &plain));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_cannot_read),
		cmocka_unit_test(test_emulated_words),
		cmocka_unit_test(test_kernel_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
