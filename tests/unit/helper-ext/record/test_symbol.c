/* SPDX-License-Identifier: MIT */
/* test_symbol.c - addresses equal those of the dynamic linker and the compiler; files that are not ELF. */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/symbol.h"

static __attribute__((noinline)) int local_function(int x)
{
	return x + 1;
}

static void test_as_the_linker_knows_them(void **state)
{
	static const char *const names[] = { "getppid", "write", "fsync", "malloc" };
	/* libc's own, not what a sanitizer puts before them. */
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	(void)state;
	assert_non_null(libc);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t address = (uintptr_t)dlsym(libc, names[i]);

		assert_int_not_equal(address, 0);
		assert_int_equal(symbol_find(getpid(), "libc.so.6", names[i]), address);
		assert_int_equal(symbol_find(getpid(), "libc", names[i]), address);
	}
	assert_int_equal(symbol_find(getpid(), NULL, "local_function"), (uintptr_t)local_function);
	assert_int_equal(local_function(1), 2);
	dlclose(libc);
}

static void test_what_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(symbol_find(getpid(), "libc", "no_such_function"), 0);
	assert_int_equal(symbol_find(getpid(), "lib", "getppid"), 0);
	assert_int_equal(symbol_find(getpid(), "libcmocka", "getppid"), 0); /* undefined there */
	assert_int_equal(symbol_find(getpid(), "libc", "environ"), 0);	    /* no function */
	assert_int_equal(symbol_find(0x7fffffff, NULL, "main"), 0);
}

/* Every byte of the headers changed, and the file cut at any place: no crash (make sanitize). */
static void test_damaged_files(void **state)
{
	char name[] = "/tmp/test_symbol.XXXXXX", self[] = "/proc/self/exe";
	int in = open(self, O_RDONLY), fd = mkstemp(name);
	ssize_t size = lseek(in, 0, SEEK_END);
	uint8_t *bytes = malloc(size);

	(void)state;
	assert_int_equal(pread(in, bytes, size, 0), size);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	assert_int_not_equal(symbol_offset(name, "main"), 0);
	for (int at = 0; at < 256; at++) {
		uint8_t byte = bytes[at] ^ 0xff;

		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		symbol_offset(name, "main");
		assert_int_equal(pwrite(fd, &bytes[at], 1, at), 1);
	}
	for (ssize_t left = size; left; left /= 2) {
		assert_int_equal(ftruncate(fd, left), 0);
		symbol_offset(name, "main");
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(symbol_offset(name, "main"), 0);
	assert_int_equal(symbol_offset("/tmp", "main"), 0);
	unlink(name);
	close(fd);
	close(in);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_linker_knows_them),
		cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
