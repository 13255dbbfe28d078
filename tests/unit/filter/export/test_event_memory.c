/* SPDX-License-Identifier: MIT */
/* test_event_memory.c - halves take turns; a half waits to be freed; a reader that is gone; bad numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/event_memory.h"

#define UNIT 2048 /* bytes of EVENT_MEMORY_ROWS */
#define SIZE (2 * UNIT)

static struct event_memory m;
static int file, freed[2];
static char numbers[32];

static int set_up(void **state)
{
	(void)state;
	file = memfd_create("test", 0);
	snprintf(numbers, sizeof(numbers), "%d,%d,128", file, pipe(freed) ? -1 : freed[0]);
	return file < 0;
}

static int tear_down(void **state)
{
	(void)state;
	event_memory_free(&m);
	close(file);
	close(freed[0]);
	close(freed[1]);
	return 0;
}

static void test_own(void **state)
{
	char *at;

	(void)state;
	assert_int_equal(event_memory_open(&m, 128, UNIT, NULL), 0);
	at = event_memory_take(&m);
	assert_non_null(at);
	assert_int_equal(at[SIZE - 1], 0);
	assert_ptr_equal(event_memory_take(&m), at);
}

static void test_halves(void **state)
{
	char read_back[5], *first, *second;
	struct stat st;

	(void)state;
	assert_int_equal(event_memory_open(&m, 64, UNIT, numbers), 0);
	assert_int_equal(fstat(file, &st), 0);
	assert_int_equal(st.st_size, 2 * SIZE);
	first = event_memory_take(&m);
	second = event_memory_take(&m); /* without waiting: the reader has had neither */
	assert_ptr_equal(second, first + SIZE);
	memcpy(second, "rows", 5);
	assert_int_equal(pread(file, read_back, 5, SIZE), 5);
	assert_string_equal(read_back, "rows");
	assert_int_equal(write(freed[1], "\0\0", 2), 2);
	assert_ptr_equal(event_memory_take(&m), first);
	assert_ptr_equal(event_memory_take(&m), second);
	assert_int_equal(m.filled, 4);
	assert_int_equal(m.rows, 128);
}

/* The byte is what it waits for, so none may be left. */
static void test_waits(void **state)
{
	char byte;

	(void)state;
	assert_int_equal(event_memory_open(&m, 64, UNIT, numbers), 0);
	event_memory_take(&m);
	event_memory_take(&m);
	assert_int_equal(write(freed[1], "\0", 1), 1);
	assert_non_null(event_memory_take(&m));
	close(freed[1]);
	assert_int_equal(read(freed[0], &byte, 1), 0);
	assert_null(event_memory_take(&m)); /* the reader is gone */
}

static void test_refused(void **state)
{
	static const char *const wrong[] = { "",	"3",	   "3,4",   "3,4,",   "a,b,64",	       "3,4,64x",
					     "-1,4,64", "3,-1,64", "3,4,0", "3,4,65", "3,4,4294967232" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(event_memory_open(&m, 64, UNIT, wrong[i]), -EINVAL);
	snprintf(numbers, sizeof(numbers), "%d,%d,64", freed[0], freed[0]); /* which has no size */
	assert_int_equal(event_memory_open(&m, 64, UNIT, numbers), -EINVAL);
	assert_int_equal(event_memory_open(&m, 64, UNIT, "1000000,0,64"), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_halves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
