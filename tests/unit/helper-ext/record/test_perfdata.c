/* SPDX-License-Identifier: MIT */
/* test_perfdata.c - the file is intact after every single write, and after one that fails. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "shared/perf_format.h"
#include "shared/perfcheck.h"
#include "record/perfdata.h"

static char name[32];
static uint8_t payload[4096];

static void create(struct perfdata *pd)
{
	int fd;

	strcpy(name, "/tmp/test_perfdata.XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
	unlink(name);
	assert_int_equal(perfdata_create(pd, AT_FDCWD, name, 1), 0);
}

static struct perfcheck check(void)
{
	int fd = open(name, O_RDONLY);
	struct perfcheck c;

	assert_true(fd >= 0);
	assert_int_equal(perfcheck_file(&c, fd), 0);
	close(fd);
	return c;
}

static void assert_whole(uint64_t records, uint64_t trace_size)
{
	struct perfcheck c = check();

	assert_string_equal(c.finding, "");
	assert_int_equal(c.verdict, PERF_WHOLE);
	assert_int_equal(c.records, records);
	assert_int_equal(c.trace_size, trace_size);
}

static int write_chunk(struct perfdata *pd, uint64_t offset)
{
	const struct aux_chunk chunk = {
		.tid = 1,
		.offset = offset,
		.reference = 1,
		.bytes = payload,
		.size = sizeof(payload),
	};

	return perfdata_aux(pd, &chunk);
}

static void test_whole_after_every_write(void **state)
{
	const struct time_conv conv = { 32, 0x80000000, 5 };
	struct perfdata pd;
	struct stat st;

	(void)state;
	create(&pd);
	assert_whole(1, 0);
	assert_int_equal(perfdata_clock(&pd, &conv), 0);
	assert_whole(1, 0);
	assert_int_equal(perfdata_comm(&pd, 1, 1, "a name longer than comm is"), 0);
	assert_whole(2, 0);
	assert_int_equal(write_chunk(&pd, 0), 0);
	assert_whole(3, sizeof(payload));
	assert_int_equal(write_chunk(&pd, sizeof(payload)), 0);
	assert_int_equal(perfdata_close(&pd), 0);
	assert_whole(5, 2 * sizeof(payload));
	assert_int_equal(stat(name, &st), 0);
	assert_true(st.st_size > (off_t)perfdata_size(&pd)); /* the features */
	assert_int_equal(st.st_mode & 0777, 0600);
	unlink(name);
}

/* What a file's feature of two numbers says; features stand in the order of their bits. */
static void read_feature(enum perf_feature feature, uint32_t numbers[2])
{
	struct perf_header h;
	struct perf_section section;
	int fd = open(name, O_RDONLY), nth = 0;

	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	for (int bit = 0; bit < (int)feature; bit++)
		nth += h.features[bit / 64] >> bit % 64 & 1;
	assert_int_equal(pread(fd, &section, sizeof(section), h.data.offset + h.data.size + nth * sizeof(section)),
			 sizeof(section));
	assert_int_equal(section.size, 2 * sizeof(numbers[0]));
	assert_int_equal(pread(fd, numbers, section.size, section.offset), section.size);
	close(fd);
}

/* perf 7.2 takes each other CPU for CPU 0. */
static void test_cpus(void **state)
{
	static const struct {
		bool of_cpu;
		uint32_t cpu;
	} cases[] = { { false, 5000 }, { true, 0 }, { true, 4095 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aux_chunk chunk = { .reference = 1,
					   .bytes = payload,
					   .size = sizeof(payload),
					   .of_cpu = cases[i].of_cpu,
					   .cpu = cases[i].cpu };
		uint32_t here = sysconf(_SC_NPROCESSORS_CONF), cpus[2];
		struct perfdata pd;

		create(&pd);
		assert_int_equal(perfdata_aux(&pd, &chunk), 0);
		assert_int_equal(perfdata_close(&pd), 0);
		read_feature(PERF_FEAT_NRCPUS, cpus);
		assert_int_equal(cpus[0], cases[i].cpu == 4095 && here < 4096 ? 4096 : here);
		assert_true(cpus[1] <= cpus[0] && cpus[1] >= (cases[i].cpu == 4095 ? 4096 : 1));
		unlink(name);
	}
}

static void test_clock_is_where_perf_reads_it(void **state)
{
	const struct time_conv conv = { 31, 0x12345678, 0xfedcba9876543210ull };
	struct perf_header h;
	struct perf_auxtrace_info info;
	struct perfdata pd;

	(void)state;
	create(&pd);
	perfdata_clock(&pd, &conv);
	assert_int_equal(pread(pd.fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(pread(pd.fd, &info, sizeof(info), h.data.offset), sizeof(info));
	assert_int_equal(info.header.type, PERF_AUXTRACE_INFO);
	assert_int_equal(info.priv[PT_TIME_SHIFT], conv.shift);
	assert_int_equal(info.priv[PT_TIME_MULT], conv.mult);
	assert_int_equal(info.priv[PT_TIME_ZERO], conv.zero);
	perfdata_close(&pd);
	unlink(name);
}

/* A limit that the third chunk crosses in its middle stands for a full disk. */
static void test_failed_write_leaves_what_was_whole(void **state)
{
	struct rlimit old, limit;
	struct perfdata pd;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	create(&pd);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){ perfdata_size(&pd) + 5 * sizeof(payload) / 2, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(write_chunk(&pd, 0), 0);
	assert_int_equal(write_chunk(&pd, sizeof(payload)), 0);
	assert_int_equal(write_chunk(&pd, 2 * sizeof(payload)), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(write_chunk(&pd, 2 * sizeof(payload)), -EFBIG);
	assert_int_equal(perfdata_close(&pd), -EFBIG);
	assert_whole(3, 2 * sizeof(payload));
	unlink(name);
}

static void test_existing_file_is_left_alone(void **state)
{
	struct perfdata pd, second;

	(void)state;
	create(&pd);
	assert_int_equal(perfdata_create(&second, AT_FDCWD, name, 1), -EEXIST);
	assert_int_equal(perfdata_comm(&second, 1, 1, "x"), -EEXIST);
	perfdata_close(&pd);
	unlink(name);
}

/* The header names a beginning from which all records are whole, after each letting go; what goes is a hole. */
static void test_only_the_end_is_kept(void **state)
{
	const struct time_conv conv = { 32, 0x80000000, 5 };
	struct perfdata pd;
	struct stat st;
	int went = 0;

	(void)state;
	create(&pd);
	assert_int_equal(perfdata_keep(&pd, 8 * sizeof(payload)), 0);
	for (uint64_t i = 0; i < 200; i++) {
		if (i % 50 == 0)
			assert_int_equal(perfdata_comm(&pd, 1, 1 + (uint32_t)i, "thread"), 0);
		assert_int_equal(write_chunk(&pd, i * sizeof(payload)), 0);
		went += perfdata_keep(&pd, 8 * sizeof(payload));
		assert_int_equal(perfdata_clock(&pd, &conv), 0);
		assert_int_equal(check().verdict, PERF_WHOLE);
		assert_true(check().data_size <= 8 * sizeof(payload));
	}
	assert_true(went > 100);
	/* AUXTRACE_INFO, four names, and seven chunks with their records' heads. */
	assert_whole(1 + 4 + 7, 7 * sizeof(payload));
	assert_int_equal(perfdata_close(&pd), 0);
	assert_int_equal(stat(name, &st), 0);
	assert_true(st.st_size > 190 * (off_t)sizeof(payload));
	assert_true(st.st_blocks * 512 < 20 * (off_t)sizeof(payload));
	unlink(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_after_every_write),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_clock_is_where_perf_reads_it),
		cmocka_unit_test(test_failed_write_leaves_what_was_whole),
		cmocka_unit_test(test_existing_file_is_left_alone),
		cmocka_unit_test(test_only_the_end_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
