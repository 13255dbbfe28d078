/* SPDX-License-Identifier: MIT */
/* test_symbols.c - the functions of a shared library, against those that the loader finds there. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "native/symbols.h"

static void test_exported_functions(void **state)
{
	static const char *const names[] = { "getppid", "lfind", "hcreate", "insque", "l64a" };
	struct link_map *map;
	struct symbols s;
	struct elf_file e;
	Dl_info info;

	(void)state;
	assert_int_not_equal(dladdr1((void *)(uintptr_t)getppid, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
	assert_int_equal(elf_open(&e, info.dli_fname), 0);
	symbols_read(&s, &e);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t start = (uintptr_t)dlsym(RTLD_DEFAULT, names[i]) - map->l_addr;
		const struct symbol *first = symbols_find(&s, start), *inside = symbols_find(&s, start + 1);

		assert_non_null(first);
		assert_int_equal(first->start, start);
		assert_ptr_equal(first, inside);
		assert_true(first->end > start);
		assert_ptr_not_equal(symbols_find(&s, first->end), first);
	}
	assert_null(symbols_find(&s, 0));
	assert_null(symbols_find(&s, UINT64_MAX));
	symbols_free(&s);
	elf_close(&e);
}

static void test_no_elf_files(void **state)
{
	char name[] = "/tmp/test_symbols.XXXXXX";
	int fd = mkstemp(name);
	struct elf_file e;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(elf_open(&e, name), -ENOEXEC); /* empty */
	assert_int_equal(write(fd, "\177ELF and nothing else", 21), 21);
	assert_int_equal(elf_open(&e, name), -ENOEXEC);
	assert_int_equal(elf_open(&e, "/"), -ENOEXEC);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(elf_open(&e, name), -ENOENT);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exported_functions),
		cmocka_unit_test(test_no_elf_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
