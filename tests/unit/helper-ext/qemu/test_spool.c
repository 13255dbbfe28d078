/* SPDX-License-Identifier: MIT */
/* test_qemu_spool.c - what was put into a spool is in the file, window after window, whoever dies. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "qemu/spool.h"

static const struct spool_head head = { .pid = 7, .tid = 8, .cpu = UINT32_MAX, .tsc = 9 };

static void test_windows(void **state)
{
	static uint8_t file[SPOOL_HEAD + 3 * SPOOL_WINDOW];
	struct spool_head told;
	char path[64];
	struct spool s;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_qemu_spool.%d", (int)getpid());
	unlink(path);
	assert_int_equal(spool_open(&s, path, &head), 0);
	assert_int_equal(spool_open(&(struct spool){ .at = 0 }, path, &head), -EEXIST);
	memset(s.window, 'a', SPOOL_WINDOW - 5);
	assert_int_equal(spool_next(&s), 0);
	memset(s.window, 'b', SPOOL_WINDOW);
	assert_int_equal(spool_next(&s), 0);
	memset(s.window, 'c', 3);
	spool_commit(&s, s.window + 3);
	/* Without closing it: as if the process had been killed. */
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(file, 1, sizeof(file), f), sizeof(file));
	fclose(f);
	memcpy(&told, file, sizeof(told));
	assert_int_equal(told.tid, 8);
	assert_int_equal(told.used, 2 * SPOOL_WINDOW + 3);
	assert_int_equal(file[SPOOL_HEAD], 'a');
	assert_int_equal(file[SPOOL_HEAD + SPOOL_WINDOW - 5], 0); /* PAD */
	assert_int_equal(file[SPOOL_HEAD + SPOOL_WINDOW], 'b');
	assert_int_equal(file[SPOOL_HEAD + 2 * SPOOL_WINDOW + 2], 'c');
	spool_close(&s);
	unlink(path);
}

/* When the file cannot grow any more, what is told to be in it stays what it was. */
static void test_no_room(void **state)
{
	char path[64];
	struct spool s;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_qemu_spool.%d", (int)getpid());
	unlink(path);
	assert_int_equal(spool_open(&s, path, &head), 0);
	spool_commit(&s, s.window + 100);
	unlink(path);
	assert_int_equal(spool_next(&s), -ENOENT);
	spool_commit(&s, s.window + 50);
	assert_int_equal(s.head->used, 100);
	assert_int_equal(s.head->lost, 1);
	spool_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
