/* SPDX-License-Identifier: MIT */
/* test_numbering.c - numbers by the time at which threads began, in records, in code tables and in their names. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "qemu/numbering.h"
#include "shared/perf_format.h"

/* Process 700 with a thread 2, and its child 1, in this order: names that are numbers of others. */
static struct numbering three(void)
{
	static const struct spool_head heads[] = {
		{ .pid = 700, .tid = 2, .tsc = 20 },
		{ .pid = 1, .tid = 1, .tsc = 30 },
		{ .pid = 700, .tid = 700, .tsc = 10 },
	};
	struct numbering g = { 0 };

	for (int i = 0; i < 3; i++)
		assert_int_equal(numbering_add(&g, &heads[i]), 0);
	numbering_sort(&g);
	return g;
}

static void test_order(void **state)
{
	struct numbering g = three(), none = { 0 };

	(void)state;
	assert_int_equal(numbering_of(&g, 700), 1);
	assert_int_equal(numbering_of(&g, 2), 2);
	assert_int_equal(numbering_of(&g, 1), 3);
	assert_int_equal(numbering_of(&g, 99), 99);
	numbering_sort(&none);
	assert_int_equal(numbering_of(&none, 700), 700);
	numbering_free(&g);
}

static void test_records(void **state)
{
	struct {
		struct perf_task fork;
		struct perf_comm comm;
		struct perf_switch out;
	} r = {
		.fork = { .header = { PERF_FORK, 0, sizeof(r.fork) }, 1, 700, 1, 700, .id = { .pid = 1, .tid = 1 } },
		.comm = { .header = { PERF_COMM, 0, sizeof(r.comm) }, 700, 2, "\1", .id = { .pid = 700, .tid = 2 } },
		.out = { .header = { PERF_SWITCH, 0, sizeof(r.out) }, .id = { .pid = 700, .tid = 2 } },
	};
	struct numbering g = three();

	(void)state;
	numbering_side(&g, (uint8_t *)&r, sizeof(r));
	assert_int_equal(r.fork.pid, 3);
	assert_int_equal(r.fork.ppid, 1);
	assert_int_equal(r.fork.tid, 3);
	assert_int_equal(r.fork.ptid, 1);
	assert_int_equal(r.fork.id.pid, 3);
	assert_int_equal(r.comm.pid, 1);
	assert_int_equal(r.comm.tid, 2);
	assert_string_equal(r.comm.comm, "\1");
	assert_int_equal(r.comm.id.tid, 2);
	assert_int_equal(r.out.id.pid, 1);
	numbering_free(&g);
}

static void put(int folder, const char *name, const char *text)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void has(int folder, const char *name, const char *text)
{
	char found[512] = "";
	int fd = openat(folder, name, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, found, sizeof(found) - 1) >= 0);
	assert_string_equal(found, text);
	close(fd);
	unlinkat(folder, name, 0);
}

static void test_tables(void **state)
{
	char dir[] = "/tmp/ocular-numbering-XXXXXX";
	struct numbering g = three();
	int folder = open(mkdtemp(dir), O_RDONLY | O_DIRECTORY);

	(void)state;
	put(folder, "codes-700.jsonl",
	    "{\"kind\":\"header\",\"pid\":700}\n{\"kind\":\"thread\",\"tid\":2,\"name\":\"\xc3\xa9\"}\n"
	    "{\"kind\":\"stop\",\"markers\":[[700,5],[2,7]],\"lost\":2}\nhalf a li");
	put(folder, "codes-1.jsonl", "{\"kind\":\"header\",\"pid\":1,\"parent\":700,\"tsc_hz\":700}\n");
	assert_int_equal(numbering_tables(&g, folder), 0);
	has(folder, "codes-1.jsonl",
	    "{\"kind\":\"header\",\"pid\":1}\n{\"kind\":\"thread\",\"tid\":2,\"name\":\"\xc3\xa9\"}\n"
	    "{\"kind\":\"stop\",\"markers\":[[1,5],[2,7]],\"lost\":2}\nhalf a li");
	has(folder, "codes-3.jsonl", "{\"kind\":\"header\",\"pid\":3,\"parent\":1,\"tsc_hz\":700}\n");
	close(folder);
	assert_int_equal(rmdir(dir), 0); /* nothing else is left */
	numbering_free(&g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
