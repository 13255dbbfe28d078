// SPDX-License-Identifier: MIT
/* test_perf_sample.c - the fields of records by their event's sample_type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pt/perf_sample.h"

/* Words behind a record's header. */
struct made {
	struct perf_record header;
	uint64_t words[40];
};

static struct made make(uint32_t type, unsigned n, const uint64_t *words)
{
	struct made m = { { type, 0, 8 + 8 * n }, { 0 } };

	for (unsigned i = 0; i < n; i++)
		m.words[i] = words[i];
	return m;
}

#define MAKE(type, ...) make(type, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, (uint64_t[]){ __VA_ARGS__ })
#define TASK(pid, tid)	((uint64_t)(tid) << 32 | (pid))

#define BASE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static struct perf_attr attrs[] = {
	{ .sample_type = BASE | PERF_SAMPLE_CPU, .flags = PERF_ATTR_SAMPLE_ID },
	{ .sample_type = BASE, .flags = PERF_ATTR_SAMPLE_ID },
	{ .sample_type = BASE | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_REGS_INTR |
			 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX,
	  .read_format = PERF_READ_GROUP | PERF_READ_ID | PERF_READ_TIMES,
	  .flags = PERF_ATTR_SAMPLE_ID,
	  .rest = { [3] = PERF_BRANCH_HW_INDEX, [4] = 7, [6] = 3, [8] = 64 } },
};

static struct perf_file file = { .attrs = attrs, .nattrs = 3 };

static int number_attrs(void **state)
{
	(void)state;
	return map_put(&file.ids, 11, &attrs[0]) || map_put(&file.ids, 12, &attrs[1]) ||
	       map_put(&file.ids, 13, &attrs[2]);
}

static int free_ids(void **state)
{
	(void)state;
	map_free(&file.ids);
	return 0;
}

static void test_trailer(void **state)
{
	struct made m = MAKE(PERF_SWITCH, TASK(5, 7), 123, 3, 11);
	struct perf_sample s;

	(void)state;
	assert_true(perf_sample_read(&file, &m.header, &s));
	assert_int_equal(s.pid, 5);
	assert_int_equal(s.tid, 7);
	assert_int_equal(s.time, 123);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.id, 11);
	m = MAKE(PERF_COMM, 99, 98, TASK(5, 7), 123, 12); /* an event without CPU */
	assert_true(perf_sample_read(&file, &m.header, &s));
	assert_int_equal(s.tid, 7);
	assert_int_equal(s.cpu, -1);
	m = MAKE(PERF_SWITCH, 123, 3, 11);
	assert_false(perf_sample_read(&file, &m.header, &s));
}

static void test_sample(void **state)
{
	struct made m = MAKE(PERF_SAMPLE, 11, 0x401000, TASK(5, 7), 123, 3);
	struct perf_sample s;

	(void)state;
	assert_true(perf_sample_read(&file, &m.header, &s));
	assert_int_equal(s.id, 11);
	assert_int_equal(s.tid, 7);
	assert_int_equal(s.time, 123);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.aux_size, 0);
}

static void test_aux(void **state)
{
	struct made m = MAKE(PERF_SAMPLE, 13, 0x401000, TASK(5, 7), 123, 2, 8, 9, 1, 1, 2,
			     2,			       /* READ: 2 of a group, two times */
			     2, 0xa, 0xb,	       /* CALLCHAIN */
			     (uint64_t)0x55 << 32 | 4, /* RAW: 4 bytes */
			     1, 0, 1, 2, 3,	       /* BRANCH_STACK: hw_idx, one entry */
			     2, 1, 2, 3,	       /* REGS_USER */
			     8, 0, 8,		       /* STACK_USER */
			     1,			       /* WEIGHT */
			     0,			       /* REGS_INTR: none */
			     0x1000,		       /* PHYS_ADDR */
			     16, 0x1111, 0x2222);      /* AUX */
	struct perf_sample s;

	(void)state;
	assert_true(perf_sample_read(&file, &m.header, &s));
	assert_int_equal(s.aux_size, 16);
	assert_int_equal(s.aux_at, m.header.size - 16);
	for (m.header.size -= 8; m.header.size > 8; m.header.size -= 8)
		assert_false(perf_sample_read(&file, &m.header, &s));
}

static void test_endless(void **state)
{
	struct made m = MAKE(PERF_SAMPLE, 13, 0x401000, TASK(5, 7), 123, UINT64_MAX / 16, 8, 9, 1);
	struct perf_sample s;

	(void)state;
	assert_false(perf_sample_read(&file, &m.header, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trailer),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_aux),
		cmocka_unit_test(test_endless),
	};

	return cmocka_run_group_tests(tests, number_attrs, free_ids);
}
