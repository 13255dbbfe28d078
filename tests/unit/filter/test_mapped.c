/* SPDX-License-Identifier: MIT */
/* test_mapped.c - pages of a file are given back and come again; what is written in memory alone stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mapped.h"

#define SIZE (1u << 20)

static char path[] = "/tmp/ocular-test-mapped-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);
	char *bytes = malloc(SIZE);

	*state = NULL;
	memset(bytes, 'f', SIZE);
	if (fd < 0 || write(fd, bytes, SIZE) != SIZE)
		return -1;
	free(bytes);
	return close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static char *map(int prot, int flags)
{
	int fd = open(path, O_RDWR);
	char *at = mmap(NULL, SIZE, prot, flags, fd, 0);

	assert_true(at != MAP_FAILED);
	close(fd);
	return at;
}

/* Pages that this process has of a mapping, by proc_pid_smaps(5): mincore() tells of the file's. */
static size_t kept(const char *at)
{
	size_t kb = 0, size = 0;
	bool found = false;
	char *line = NULL;
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long begin;

	assert_non_null(f);
	while (getline(&line, &size, f) > 0) {
		if (sscanf(line, "%lx-%*x %*s", &begin) == 1 && strchr(line, '-') &&
		    strchr(line, '-') < strchr(line, ' '))
			found = begin == (unsigned long)at;
		if (found)
			(void)sscanf(line, "Rss: %zu kB", &kb);
	}
	free(line);
	fclose(f);
	return kb;
}

static void read_all(const char *at)
{
	for (unsigned i = 0; i < SIZE; i += 4096)
		assert_int_equal(((const volatile char *)at)[i], 'f');
}

static void test_given_back(void **state)
{
	char *at = map(PROT_READ, MAP_SHARED);
	struct mapped m = { .path = path }, other = { .path = "/tmp/ocular-test-mapped" }, part = { .path = path + 1 };
	struct mapped unknown = { 0 };

	(void)state;
	read_all(at);
	assert_int_equal(kept(at), SIZE / 1024);
	assert_true(mapped_give_back(&m));
	assert_int_equal(kept(at), 0);
	read_all(at);
	assert_false(mapped_give_back(&other));
	assert_false(mapped_give_back(&part));
	assert_false(mapped_give_back(&unknown));
	assert_int_equal(kept(at), SIZE / 1024);
	munmap(at, SIZE);
}

static void test_found_once(void **state)
{
	char *at = map(PROT_READ, MAP_SHARED);
	struct mapped m = { .path = path };

	(void)state;
	for (int i = 0; i < 3; i++) {
		read_all(at);
		assert_true(mapped_give_back(&m));
		assert_int_equal(kept(at), 0);
		assert_int_equal(m.begin, (unsigned long)at);
	}
	munmap(at, SIZE);
}

/* In its place there is memory that no file has; then the file is mapped again, elsewhere. */
static void test_mapping_ends(void **state)
{
	char *at = map(PROT_READ, MAP_SHARED), *again;
	struct mapped m = { .path = path };

	(void)state;
	assert_true(mapped_give_back(&m));
	assert_ptr_equal(mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), at);
	memset(at, 'x', SIZE);
	assert_false(mapped_give_back(&m));
	assert_true(at[0] == 'x' && at[SIZE - 1] == 'x');
	again = map(PROT_READ, MAP_SHARED);
	read_all(again);
	mapped_give_back(&m);
	assert_int_equal(kept(again), 0);
	munmap(again, SIZE);
	munmap(at, SIZE);
}

/* The caller then asks less often. */
static void test_moves(void **state)
{
	char *at, *before = map(PROT_READ, MAP_SHARED);
	struct mapped m = { .path = path };

	(void)state;
	assert_true(mapped_give_back(&m));
	at = map(PROT_READ, MAP_SHARED);
	munmap(before, SIZE);
	assert_false(mapped_give_back(&m));
	assert_true(mapped_give_back(&m));
	munmap(at, SIZE);
}

static void test_what_is_written_stays(void **state)
{
	char *own = map(PROT_READ | PROT_WRITE, MAP_PRIVATE), *once = map(PROT_READ | PROT_WRITE, MAP_PRIVATE);

	(void)state;
	own[7] = once[7] = 'x';
	mprotect(once, SIZE, PROT_READ); /* cannot be written any more, but is not the file's */
	mapped_give_back(&(struct mapped){ .path = path });
	assert_true(own[7] == 'x' && once[7] == 'x');
	munmap(own, SIZE);
	munmap(once, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_back),
		cmocka_unit_test(test_found_once),
		cmocka_unit_test(test_mapping_ends),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_what_is_written_stays),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
