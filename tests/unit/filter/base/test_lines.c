/* SPDX-License-Identifier: MIT */
/* test_lines.c - the lines of a file, whatever their lengths are and wherever a piece ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/lines.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static int file_of(const char *text, size_t length)
{
	char path[] = "/tmp/ocular-lines-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, length), length);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* The file's lines, one after another, are the file; each ends with its only newline, if it is not the last one. */
static size_t assert_lines(const char *text, size_t length)
{
	struct lines l = { .fd = file_of(text, length) };
	size_t n = 0, at = 0, more;

	for (const char *line; (line = lines_next(&l, &more)); n++) {
		assert_in_range(more, 1, length - at);
		assert_memory_equal(line, text + at, more);
		at += more;
		assert_true(line[more - 1] == '\n' || at == length);
		assert_true(!memchr(line, '\n', more - 1));
	}
	assert_int_equal(at, length);
	assert_null(lines_next(&l, &more));
	assert_false(l.failed);
	close(l.fd);
	lines_free(&l);
	return n;
}

static void test_small_files(void **state)
{
	static const struct {
		const char *text;
		size_t lines;
	} files[] = { { "", 0 }, { "\n", 1 }, { "a", 1 }, { "a\n", 1 }, { "a\n\nb", 3 }, { "\n\n", 2 } };

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++)
		assert_int_equal(assert_lines(files[i].text, strlen(files[i].text)), files[i].lines);
	assert_int_equal(assert_lines("a\0b\n\0", 5), 2);
}

/* Longer than a piece, as long, and many of each length. */
static void test_pieces(void **state)
{
	static const size_t lengths[] = { 1, 7, 4096, 65535, 65536, 65537, 131072, 300000 };
	const size_t size = 1 << 20;
	char *text = malloc(size);

	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		for (size_t at = 0; at < size; at++)
			text[at] = at % lengths[i] == lengths[i] - 1 ? '\n' : (char)('a' + at % 26);
		assert_int_equal(assert_lines(text, size), (size + lengths[i] - 1) / lengths[i]);
	}
	free(text);
}

/* What was added meanwhile is there, as with any file. */
static void test_from_a_position(void **state)
{
	struct lines l = { .fd = file_of("one\ntwo\n", 8) };
	size_t length;

	(void)state;
	assert_int_equal(lseek(l.fd, 4, SEEK_SET), 4);
	assert_memory_equal(lines_next(&l, &length), "two\n", 4);
	assert_null(lines_next(&l, &length));
	assert_int_equal(write(l.fd, "three", 5), 5);
	assert_int_equal(lseek(l.fd, 8, SEEK_SET), 8);
	assert_memory_equal(lines_next(&l, &length), "three", 5);
	assert_int_equal(length, 5);
	close(l.fd);
	lines_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_files),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_from_a_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
