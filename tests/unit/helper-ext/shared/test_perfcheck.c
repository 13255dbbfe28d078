/* SPDX-License-Identifier: MIT */
/* test_perfcheck.c - a recording cut anywhere, damaged, or not one at all. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "shared/perf_format.h"
#include "shared/perfcheck.h"
#include "record/perfdata.h"

#define CHUNKS 9
#define CHUNK  5000u
#define NOTE   (offsetof(struct perf_header, features) + 24) /* its bits from 192 on */
#define HEAD   408u /* header, id, attribute, AUXTRACE_INFO: nothing to repair before its end */

/* A recording of CHUNKS chunks; `ends` gets the size of the file after each record. */
static int record(uint64_t ends[CHUNKS + 1])
{
	static const uint8_t payload[CHUNK];
	struct perfdata pd;
	char name[] = "/tmp/test_perfcheck.XXXXXX";
	int fd = mkstemp(name);

	close(fd);
	unlink(name);
	assert_int_equal(perfdata_create(&pd, AT_FDCWD, name, 1), 0);
	fd = open(name, O_RDWR);
	unlink(name);
	ends[0] = perfdata_size(&pd);
	assert_int_equal(ends[0], HEAD);
	for (int i = 0; i < CHUNKS; i++) {
		const struct aux_chunk chunk = {
			.tid = 1,
			.reference = 1,
			.bytes = payload,
			.size = CHUNK,
		};

		perfdata_aux(&pd, &chunk);
		ends[i + 1] = perfdata_size(&pd);
	}
	perfdata_close(&pd);
	return fd;
}

static struct perfcheck check(int fd)
{
	struct perfcheck c;

	assert_int_equal(perfcheck_file(&c, fd), 0);
	assert_int_equal(c.verdict == PERF_WHOLE, c.finding[0] == '\0');
	return c;
}

static uint64_t get_u64(int fd, off_t at)
{
	uint64_t value = 0;

	assert_int_equal(pread(fd, &value, sizeof(value), at), sizeof(value));
	return value;
}

static void put_u64(int fd, off_t at, uint64_t value)
{
	assert_int_equal(pwrite(fd, &value, sizeof(value), at), sizeof(value));
}

/* From the end to the beginning, so that one file serves for all cuts. */
static void test_cut_at_every_byte(void **state)
{
	uint64_t ends[CHUNKS + 1];
	int fd = record(ends), whole = CHUNKS;
	const uint64_t full = get_u64(fd, offsetof(struct perf_header, data.size));
	const uint64_t features = get_u64(fd, offsetof(struct perf_header, features));
	struct perfcheck c;

	(void)state;
	assert_int_equal(check(fd).verdict, PERF_WHOLE);
	for (uint64_t size = lseek(fd, 0, SEEK_END); size--;) {
		assert_int_equal(ftruncate(fd, size), 0);
		while (whole >= 0 && ends[whole] > size)
			whole--;
		c = check(fd);
		if (whole < 0) {
			assert_int_equal(c.verdict, PERF_UNUSABLE);
			continue;
		}
		assert_int_equal(c.verdict, PERF_REPAIRABLE);
		assert_int_equal(c.trace_size, whole * CHUNK);
		assert_int_equal(c.cut, size < ends[CHUNKS]); /* behind that is a record without contents */
		if (size % 512)
			continue;
		assert_int_equal(perfcheck_repair(&c, fd), 0);
		assert_int_equal(check(fd).verdict, PERF_WHOLE);
		assert_int_equal(check(fd).cut, c.cut);
		put_u64(fd, offsetof(struct perf_header, data.size), full);
		put_u64(fd, offsetof(struct perf_header, features), features);
		put_u64(fd, NOTE, 0);
	}
	close(fd);
}

/* However it is cut again, behind what is whole by then. */
static void test_note_stays(void **state)
{
	uint64_t ends[CHUNKS + 1];
	int fd = record(ends);
	struct perfcheck c;

	(void)state;
	assert_int_equal(ftruncate(fd, ends[4] - 1), 0);
	c = check(fd);
	assert_int_equal(c.end, ends[3]);
	assert_int_equal(perfcheck_repair(&c, fd), 0);
	assert_int_equal(get_u64(fd, NOTE), 1ull << 63);
	for (uint64_t size = lseek(fd, 0, SEEK_END); size-- > ends[3];) {
		assert_int_equal(ftruncate(fd, size), 0);
		c = check(fd);
		assert_true(c.cut);
		if (c.verdict == PERF_WHOLE)
			continue;
		assert_int_equal(perfcheck_repair(&c, fd), 0);
		c = check(fd);
		assert_true(c.cut && c.verdict == PERF_WHOLE && c.end == ends[3]);
	}
	close(fd);
}

/* Somebody writes it: what was not whole has become so, or will. */
static void test_what_grows_is_not_repaired(void **state)
{
	uint64_t ends[CHUNKS + 1], full;
	int fd = record(ends);
	struct perfcheck c;

	(void)state;
	full = get_u64(fd, offsetof(struct perf_header, data.size));
	assert_int_equal(ftruncate(fd, ends[CHUNKS] - 1), 0);
	c = check(fd);
	assert_int_equal(c.verdict, PERF_REPAIRABLE);
	assert_int_equal(ftruncate(fd, ends[CHUNKS]), 0);
	assert_int_equal(perfcheck_repair(&c, fd), -EBUSY);
	assert_int_equal(get_u64(fd, offsetof(struct perf_header, data.size)), full);
	close(fd);
}

#define AT(field) offsetof(struct perf_header, field)

/* One 64-bit value of a whole recording is changed. */
static const struct {
	const char *name;
	uint64_t at, value;
	enum perf_verdict verdict;
	const char *words;
} changes[] = {
	{ "other endianness", 0, PERF_MAGIC_SWAPPED, PERF_UNUSABLE, "endianness" },
	{ "no magic", 0, 0x1234, PERF_UNUSABLE, "not a perf.data" },
	{ "pipe", AT(size), PERF_PIPE_HEADER, PERF_UNUSABLE, "pipe" },
	{ "longer header", AT(size), 112, PERF_UNUSABLE, "newer" },
	{ "attribute of no size", AT(attr_size), 0, PERF_UNUSABLE, "damaged" },
	{ "attributes outside", AT(attrs.offset), 1ull << 63, PERF_UNUSABLE, "ends before" },
	{ "attributes inside the header", AT(attrs.offset), AT(features), PERF_UNUSABLE, "damaged header" },
	{ "attributes inside the data", AT(attrs.offset), HEAD, PERF_UNUSABLE, "damaged header" },
	{ "data inside the header", AT(data.offset), 96, PERF_UNUSABLE, "damaged header" },
	{ "data inside the attributes", AT(data.offset), 248, PERF_UNUSABLE, "damaged header" },
	{ "data outside", AT(data.offset), UINT64_MAX, PERF_UNUSABLE, "ends before" },
	{ "never closed", AT(data.size), 0, PERF_REPAIRABLE, "not closed" },
	{ "claims more", AT(data.size), UINT64_MAX, PERF_REPAIRABLE, "was cut" },
	{ "features outside", AT(features), UINT64_MAX, PERF_REPAIRABLE, "after its data" },
	{ "no trace info", 256, 0x0098000000000000ull | 9, PERF_UNUSABLE, "no Intel PT" },
	{ "other trace", 264, 2, PERF_UNUSABLE, "no Intel PT" },
	{ "other event", 112, 4, PERF_UNUSABLE, "intel_pt event" },
	{ "record of no size", HEAD, PERF_AUXTRACE, PERF_REPAIRABLE, "damaged" },
	{ "endless payload", HEAD + 8, UINT64_MAX, PERF_REPAIRABLE, "damaged" },
};

static void test_damage_is_named(void **state)
{
	uint64_t ends[CHUNKS + 1];
	int fd = record(ends);

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		uint64_t old = get_u64(fd, changes[i].at);
		struct perfcheck c;

		put_u64(fd, changes[i].at, changes[i].value);
		c = check(fd);
		if (c.verdict != changes[i].verdict || !strstr(c.finding, changes[i].words))
			fail_msg("%s: verdict %d, '%s'", changes[i].name, c.verdict, c.finding);
		put_u64(fd, changes[i].at, old);
	}
	assert_int_equal(check(fd).verdict, PERF_WHOLE);
	close(fd);
}

/*
 * As `perf inject` writes what came through a pipe: attributes and their ids behind the data. Bytes that are no record
 * end the data here; a repair's note takes 16 bytes from where they begin, and what is behind them must stay.
 */
static void test_attributes_behind_data(void **state)
{
	for (uint64_t bad = 0; bad < 24; bad++) {
		uint64_t ends[CHUNKS + 1], end;
		struct perf_attr_entry entry, after;
		int fd = record(ends);
		struct perfcheck c;

		end = get_u64(fd, AT(data.offset)) + get_u64(fd, AT(data.size)) + bad;
		assert_int_equal(pread(fd, &entry, sizeof(entry), get_u64(fd, AT(attrs.offset))), sizeof(entry));
		for (uint64_t at = end - bad; at < end; at++)
			assert_int_equal(pwrite(fd, "", 1, at), 1);
		put_u64(fd, AT(features), 0);
		put_u64(fd, AT(data.size), end - get_u64(fd, AT(data.offset)));
		put_u64(fd, AT(attrs.offset), end + 8);
		entry.ids.offset = end;
		put_u64(fd, end, 1); /* the id */
		assert_int_equal(pwrite(fd, &entry, sizeof(entry), end + 8), sizeof(entry));

		c = check(fd);
		if (bad > 8 && bad < 16) {
			assert_int_equal(c.verdict, PERF_UNUSABLE);
			assert_non_null(strstr(c.finding, "note"));
		} else if (bad) {
			assert_int_equal(c.verdict, PERF_REPAIRABLE);
			assert_int_equal(perfcheck_repair(&c, fd), 0);
			c = check(fd);
			assert_true(c.verdict == PERF_WHOLE && c.cut == (bad > 8));
		}
		assert_int_equal(c.verdict == PERF_WHOLE, bad <= 8 || bad >= 16);
		assert_int_equal(get_u64(fd, end), 1);
		assert_int_equal(pread(fd, &after, sizeof(after), end + 8), sizeof(after));
		assert_memory_equal(&after, &entry, sizeof(after));
		close(fd);
	}
	(void)state;
}

static void test_not_a_file(void **state)
{
	int fd = open("/tmp", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(check(fd).verdict, PERF_UNUSABLE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),	   cmocka_unit_test(test_note_stays),
		cmocka_unit_test(test_what_grows_is_not_repaired), cmocka_unit_test(test_damage_is_named),
		cmocka_unit_test(test_attributes_behind_data),	   cmocka_unit_test(test_not_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
