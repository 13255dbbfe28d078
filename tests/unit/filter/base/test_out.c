/* SPDX-License-Identifier: MIT */
/* test_out.c - files are complete or absent; errors stick and name the file; numbers are right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/out.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char dir[] = "/tmp/ocular-test-out-XXXXXX";
static char path[sizeof(dir) + 32], temporary[sizeof(path) + 32];

/* A file system without O_TMPFILE, instead of the C library's open(2). */
static bool has_names;

int open64(const char *name, int flags, ...)
{
	va_list rest;
	int mode;

	va_start(rest, flags);
	mode = va_arg(rest, int);
	va_end(rest);
	if (has_names && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

int open(const char *name, int flags, ...) __attribute__((alias("open64")));

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int with_names(void **state)
{
	(void)state;
	has_names = true;
	return 0;
}

static int without_names(void **state)
{
	(void)state;
	has_names = false;
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static const char *file(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
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

static void open_file(struct out *o, const char *name)
{
	char error[256];

	if (out_open(o, file(name), error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(o->nameless, !has_names);
	snprintf(temporary, sizeof(temporary), "%s", o->temporary ?: "/nowhere");
}

static void test_named_when_closed(void **state)
{
	struct out o;
	char error[256] = "";

	(void)state;
	open_file(&o, "whole");
	out_put(&o, "all of it", 9);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(access(temporary, F_OK), has_names ? 0 : -1);
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

	(void)state;
	open_file(&o, "torn");
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

/* Two at once: each is whole, and the last one stays. */
static void test_two_of_one_name(void **state)
{
	struct out a, b;
	char error[256];

	(void)state;
	open_file(&a, "both");
	open_file(&b, "both");
	if (has_names)
		assert_string_not_equal(a.temporary, b.temporary);
	out_put(&a, "the longer one", 14);
	out_put(&b, "shorter", 7);
	assert_int_equal(out_close(&b, error, sizeof(error)), 0);
	assert_content(path, "shorter");
	assert_int_equal(out_close(&a, error, sizeof(error)), 0);
	assert_content(path, "the longer one");
	unlink(path);
}

/* Nothing that is there is ours, whatever it is called. */
static void test_files_of_others(void **state)
{
	struct out o, next;
	char error[256], other[sizeof(path)], taken[sizeof(temporary)];
	FILE *f;

	(void)state;
	strcpy(other, file("keep.tmp"));
	f = fopen(other, "w");
	fputs("mine", f);
	fclose(f);
	open_file(&o, "keep");
	strcpy(taken, temporary);
	open_file(&next, "keep");
	out_discard(&next);
	assert_int_equal(access(taken, F_OK), has_names ? 0 : -1);
	out_put(&o, "new", 3);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_content(path, "new");
	assert_content(other, "mine");
	unlink(other);
	unlink(path);
}

/* However its process ends: `rmdir` at the end fails, too, if there is anything. */
static void test_killed_leaves_nothing(void **state)
{
	pid_t child = fork();
	struct out o;
	int status;

	(void)state;
	if (!child) {
		open_file(&o, "killed");
		out_put(&o, "half", 4);
		out_flush(&o);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
}

static void test_mode(void **state)
{
	mode_t before = umask(027);
	struct out o;
	char error[256];
	struct stat st;

	(void)state;
	open_file(&o, "mode");
	umask(before);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	unlink(path);
}

static void assert_link_stays(const char *link)
{
	struct out o;
	char error[256];
	struct stat st;

	assert_int_equal(out_open(&o, link, error, sizeof(error)), 0);
	assert_null(o.temporary);
	out_put(&o, "through", 7);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content(link, "through");
	unlink(link);
}

/* As /dev/stdout may be: to a file that was deleted; and one that leads nowhere. */
static void test_links_without_a_name(void **state)
{
	char link[sizeof(path)], to[64];
	int fd;

	(void)state;
	strcpy(link, file("link"));
	fd = open(file("deleted"), O_CREAT | O_RDWR, 0600);
	unlink(path);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", fd);
	assert_int_equal(symlink(to, link), 0);
	assert_link_stays(link);
	close(fd);
	assert_int_equal(symlink(file("target"), link), 0);
	assert_link_stays(link);
	assert_content(path, "through");
	unlink(path);
}

static void test_pipes_are_written_directly(void **state)
{
	struct out o;
	char error[256], back[8] = "";
	int fd;

	(void)state;
	assert_int_equal(mkfifo(file("pipe"), 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(out_open(&o, path, error, sizeof(error)), 0);
	assert_null(o.temporary);
	out_put(&o, "flows", 5);
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(read(fd, back, sizeof(back)), 5);
	assert_string_equal(back, "flows");
	close(fd);
	unlink(path);
}

/* Files, and a path to the other one of each pair by another way. */
static void test_same(void **state)
{
	char other[sizeof(path) + 8], link[sizeof(path)];

	(void)state;
	strcpy(link, file("link"));
	file("there");
	snprintf(other, sizeof(other), "%s/./there", dir);
	assert_true(out_same(path, path)); /* not there yet */
	assert_true(out_same(path, other));
	assert_false(out_same(path, dir));
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(symlink(path, link), 0);
	assert_true(out_same(path, other));
	assert_true(out_same(path, link));
	unlink(link);
	assert_false(out_same(path, link));
	assert_true(out_same("-", "-"));
	assert_false(out_same("-", path));
	assert_false(out_same("/dev/null", "/dev/null"));
	assert_false(out_same("/no/such/folder/a", "/no/such/folder/a")); /* opening it tells why */
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
	assert_int_equal(out_position(&o, error, sizeof(error)), -ENOSPC);
	assert_string_equal(error, "cannot write /dev/full: No space left on device");
	assert_int_equal(out_close(&o, error, sizeof(error)), -ENOSPC);
}

/* Pieces around and beyond the size of the buffer come out in order and complete. */
static void test_pieces_of_all_sizes(void **state)
{
	static const size_t sizes[] = { 1, 100, (1 << 18) - 101, 1, 1 << 18, 3 << 18, 0, 7 };
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

static int all_cpus = 2;

/* Instead of the C library's: what is compressed by others is to be tested on any machine. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	memset(set, 0, size);
	for (int i = 0; i < all_cpus; i++)
		CPU_SET(i, set);
	return 0;
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

static char *framed(char *to, size_t size)
{
	return mempcpy(to, &size, sizeof(size));
}

/* In blocks or as one stream, with or without a limit: the contents of the file, which the caller frees. */
static char *made_on(int n, bool frames, uint64_t most, size_t *size)
{
	struct out o;
	char error[256], line[4000], *bytes;
	struct stat st;
	FILE *f;

	all_cpus = n;
	assert_int_equal(out_open(&o, file(frames ? "frames" : "stream.gz"), error, sizeof(error)), 0);
	assert_int_equal(frames ? out_frames(&o, framed) : 0, 0);
	srand(1);
	for (int i = 0; i < 2500 && out_fits(&o, sizeof(line), most); i++) {
		for (size_t k = 0; k < sizeof(line); k++)
			line[k] = i % 3 ? 'a' + rand() % 8 : 'z';
		out_put(&o, line, sizeof(line));
		if (i == 1000)
			out_flush(&o);
	}
	assert_int_equal(out_close(&o, error, sizeof(error)), 0);
	assert_int_equal(stat(path, &st), 0);
	bytes = malloc(st.st_size);
	f = fopen(path, "r");
	*size = fread(bytes, 1, st.st_size, f);
	fclose(f);
	unlink(path);
	return bytes;
}

/* With as many threads as there are CPUs for. */
static void test_same_bytes_on_any_machine(void **state)
{
	static const uint64_t limits[] = { UINT64_MAX / 2, 2000000, 100000 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		size_t size, other;
		char *alone = made_on(1, i % 2, limits[i / 2], &size);

		assert_in_range(size, limits[i / 2] < 2500000 ? limits[i / 2] * 9 / 10 : 2200000, limits[i / 2]);
		for (int n = 2; n < 7; n += 2) {
			char *bytes = made_on(n, i % 2, limits[i / 2], &other);

			assert_int_equal(other, size);
			assert_memory_equal(bytes, alone, size);
			free(bytes);
		}
		free(alone);
	}
	all_cpus = 2;
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
					    100000,
					    100,
					    105,
					    9999999999,
					    9999999999999999999u,
					    10000000000000000000u,
					    1700000000000000000 };
	char got[32], expected[32];

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		*out_dec(got, numbers[i]) = '\0';
		snprintf(expected, sizeof(expected), "%" PRIu64, numbers[i]);
		assert_string_equal(got, expected);
		*out_hex(got, numbers[i]) = '\0';
		snprintf(expected, sizeof(expected), "%" PRIx64, numbers[i]);
		assert_string_equal(got, expected);
		*out_us(got, numbers[i]) = '\0';
		snprintf(expected, sizeof(expected), "%" PRIu64 ".%03u", numbers[i] / 1000,
			 (unsigned)(numbers[i] % 1000));
		assert_string_equal(got, expected);
	}
	for (unsigned n = 0; n < 1000000; n += n < 2000 || n > 998000 ? 1 : 997) {
		*out_six(got, n) = '\0';
		snprintf(expected, sizeof(expected), "%03u.%03u", n / 1000, n % 1000);
		assert_string_equal(got, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_named_when_closed, with_names),
		cmocka_unit_test_setup(test_named_when_closed, without_names),
		cmocka_unit_test_setup(test_discarded_leaves_nothing, with_names),
		cmocka_unit_test_setup(test_discarded_leaves_nothing, without_names),
		cmocka_unit_test_setup(test_discarded_keeps_the_older_one, with_names),
		cmocka_unit_test_setup(test_discarded_keeps_the_older_one, without_names),
		cmocka_unit_test_setup(test_two_of_one_name, with_names),
		cmocka_unit_test_setup(test_two_of_one_name, without_names),
		cmocka_unit_test_setup(test_files_of_others, with_names),
		cmocka_unit_test_setup(test_files_of_others, without_names),
		cmocka_unit_test_setup(test_mode, with_names),
		cmocka_unit_test_setup(test_mode, without_names),
		cmocka_unit_test(test_links_without_a_name),
		cmocka_unit_test(test_pipes_are_written_directly),
		cmocka_unit_test(test_same),
		cmocka_unit_test_setup(test_symbolic_link_stays_one, with_names),
		cmocka_unit_test_setup(test_symbolic_link_stays_one, without_names),
		cmocka_unit_test(test_devices_are_written_directly),
		cmocka_unit_test_setup(test_errors_name_the_file, with_names),
		cmocka_unit_test_setup(test_errors_name_the_file, without_names),
		cmocka_unit_test_setup(test_a_full_disk_sticks, with_names),
		cmocka_unit_test_setup(test_a_full_disk_sticks, without_names),
		cmocka_unit_test(test_pieces_of_all_sizes),
		cmocka_unit_test_setup(test_compressed, with_names),
		cmocka_unit_test_setup(test_compressed, without_names),
		cmocka_unit_test(test_same_bytes_on_any_machine),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test_setup(test_killed_leaves_nothing, without_names),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
