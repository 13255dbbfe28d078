/* SPDX-License-Identifier: MIT */
/* test_out.c - files are whole or not there; errors stick and name the file; numbers are right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "out.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char dir[] = "/tmp/ocular-test-out-XXXXXX";
static char path[sizeof(dir) + 32], temporary[sizeof(path) + 4];

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static const char *file(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(temporary, sizeof(temporary), "%s.tmp", path);
	return path;
}

static void assert_content(const char *name, const char *expected)
{
	char text[64] = "";
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(text, expected);
}

static void test_named_when_closed(void **state)
{
	struct out o;
	char error[256] = "";

	(void)state;
	assert_int_equal(out_open(&o, file("whole"), error, sizeof(error)), 0);
	out_put(&o, "all of it", 9);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(access(temporary, F_OK), 0);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_content(path, "all of it");
	assert_int_not_equal(access(temporary, F_OK), 0);
	out_discard(&o); /* harmless now */
	assert_content(path, "all of it");
	unlink(path);
}

static void test_discarded_leaves_nothing(void **state)
{
	struct out o;
	char error[256];

	(void)state;
	assert_int_equal(out_open(&o, file("torn"), error, sizeof(error)), 0);
	out_put(&o, "half", 4);
	out_discard(&o);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_not_equal(access(temporary, F_OK), 0);
}

static void test_discarded_keeps_the_older_one(void **state)
{
	struct out o;
	char error[256];

	(void)state;
	assert_int_equal(out_open(&o, file("older"), error, sizeof(error)), 0);
	out_put(&o, "older", 5);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(out_open(&o, path, error, sizeof(error)), 0);
	out_put(&o, "newer, torn", 11);
	out_discard(&o);
	assert_content(path, "older");
	unlink(path);
}

static void test_symbolic_link_stays_one(void **state)
{
	struct out o;
	char error[256], link[sizeof(path)];
	struct stat st;

	(void)state;
	strcpy(link, file("link"));
	close(open(file("target"), O_CREAT | O_WRONLY, 0600));
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(out_open(&o, link, error, sizeof(error)), 0);
	out_put(&o, "through", 7);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content(path, "through");
	unlink(link);
	unlink(path);
}

static void test_devices_are_written_directly(void **state)
{
	struct out o;
	char error[256];
	struct stat st;

	(void)state;
	assert_int_equal(out_open(&o, "/dev/null", error, sizeof(error)), 0);
	out_put(&o, "gone", 4);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void test_errors_name_the_file(void **state)
{
	struct out o;
	char error[256] = "", expected[256];

	(void)state;
	assert_int_equal(out_open(&o, file("no/such/folder"), error, sizeof(error)), -ENOENT);
	snprintf(expected, sizeof(expected), "cannot write %s: No such file or directory", path);
	assert_string_equal(error, expected);
	assert_int_equal(out_open(&o, dir, error, sizeof(error)), -EISDIR);
}

static void test_a_full_disk_sticks(void **state)
{
	struct out o;
	char error[256] = "";

	(void)state;
	assert_int_equal(out_open(&o, "/dev/full", error, sizeof(error)), 0);
	for (int i = 0; i < 3; i++) { /* more than the buffer holds */
		char *to = out_reserve(&o, 1 << 20);

		assert_non_null(to);
		memset(to, 'x', 1 << 20);
		out_commit(&o, to + (1 << 20));
	}
	assert_int_equal(o.err, -ENOSPC);
	assert_int_equal(out_tell(&o, error, sizeof(error)), -ENOSPC);
	assert_string_equal(error, "cannot write /dev/full: No space left on device");
	assert_int_equal(out_close(&o, error, sizeof(error)), -ENOSPC);
}

/* Pieces around and beyond the size of the buffer come out in order and complete. */
static void test_pieces_of_all_sizes(void **state)
{
	static const size_t sizes[] = { 1, 100, (1 << 20) - 101, 1, 1 << 20, 3 << 20, 0, 7 };
	struct out o;
	char error[256], c = 'a';
	FILE *f;

	(void)state;
	assert_int_equal(out_open(&o, file("pieces"), error, sizeof(error)), 0);
	for (size_t i = 0; i < COUNT(sizes); i++, c++) {
		char *to = out_reserve(&o, sizes[i]);

		assert_non_null(to);
		memset(to, c, sizes[i]);
		out_commit(&o, to + sizes[i]);
	}
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	c = 'a';
	for (size_t i = 0; i < COUNT(sizes); i++, c++)
		for (size_t k = 0; k < sizes[i]; k++)
			if (fgetc(f) != c)
				fail_msg("piece %zu, byte %zu", i, k);
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
	unlink(path);
}

/* What does not compress and what does, read back by zlib; out_fits promises are kept by the file. */
static void compressed_holds(const char *name, uint64_t most, unsigned noise)
{
	struct out o;
	char error[256], line[1000], back[1000];
	unsigned long lines = 0;
	struct stat st;
	gzFile f;

	assert_int_equal(out_open(&o, file(name), error, sizeof(error)), 0);
	for (srand(1); lines < 5000 && out_fits(&o, sizeof(line), most); lines++) {
		for (size_t i = 0; i < sizeof(line); i++)
			line[i] = 'a' + rand() % noise;
		out_put(&o, line, sizeof(line));
	}
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true((uint64_t)st.st_size <= most);
	if (lines < 5000) /* it was stopped by the limit, and not long before it */
		assert_true((uint64_t)st.st_size > most - most / 10 - 2 * sizeof(line));
	f = gzopen(path, "r");
	srand(1);
	for (unsigned long n = 0; n < lines; n++) {
		for (size_t i = 0; i < sizeof(line); i++)
			line[i] = 'a' + rand() % noise;
		assert_int_equal(gzread(f, back, sizeof(back)), sizeof(back));
		assert_memory_equal(back, line, sizeof(line));
	}
	assert_int_equal(gzread(f, back, 1), 0);
	gzclose(f);
	unlink(path);
}

static void test_compressed(void **state)
{
	(void)state;
	compressed_holds("noise.gz", UINT64_MAX / 2, 256);
	compressed_holds("noise.gz", 100000, 256);
	compressed_holds("noise.gz", 2000000, 256);
	compressed_holds("plain.gz", 5000000, 2);
	compressed_holds("plain.gz", 20000, 2);
	compressed_holds("plain", 20000, 256);
}

static void test_numbers(void **state)
{
	static const uint64_t numbers[] = { 0,
					    1,
					    9,
					    10,
					    99,
					    100,
					    999,
					    1000,
					    1001,
					    1010,
					    1000000,
					    123456789,
					    ~0ull,
					    1ull << 63,
					    1ull << 32,
					    999999,
					    1700000000000000000 };
	char got[32], expected[32];

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		*out_dec(got, numbers[i]) = '\0';
		snprintf(expected, sizeof(expected), "%" PRIu64, numbers[i]);
		assert_string_equal(got, expected);
		*out_us(got, numbers[i]) = '\0';
		snprintf(expected, sizeof(expected), "%" PRIu64 ".%03u", numbers[i] / 1000,
			 (unsigned)(numbers[i] % 1000));
		assert_string_equal(got, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named_when_closed),
		cmocka_unit_test(test_discarded_leaves_nothing),
		cmocka_unit_test(test_discarded_keeps_the_older_one),
		cmocka_unit_test(test_symbolic_link_stays_one),
		cmocka_unit_test(test_devices_are_written_directly),
		cmocka_unit_test(test_errors_name_the_file),
		cmocka_unit_test(test_a_full_disk_sticks),
		cmocka_unit_test(test_pieces_of_all_sizes),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
