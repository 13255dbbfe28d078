// SPDX-License-Identifier: MIT
/* What every file sink relies on: complete files, errors as text, nothing left behind. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/sink_file.h"

struct counter {
	struct sink_file file;
	int zero;
};

static char dir[] = "/tmp/sink_file.XXXXXX", path[64];

static int print(FILE *f, struct sink *s, const struct profile *p)
{
	(void)s;
	(void)p;
	fprintf(f, "text");
	return 0;
}

static int print_failing(FILE *f, struct sink *s, const struct profile *p)
{
	print(f, s, p);
	return -ENOMEM;
}

static const struct sink_ops whole = { .finish = sink_file_finish, .render = print, .free = sink_file_free };
static const struct sink_ops failing = { .finish = sink_file_finish, .render = print_failing, .free = sink_file_free };

static struct sink *open_at(const char *where, const struct sink_ops *ops)
{
	struct sink_options o = { .path = where };
	char error[SINK_ERROR];
	struct sink *s = NULL;

	assert_int_equal(sink_file_open(&s, sizeof(struct counter), ops, &o, error), 0);
	assert_int_equal(((struct counter *)s)->zero, 0);
	assert_ptr_equal(s->ops, ops);
	return s;
}

static void test_whole(void **state)
{
	char text[8] = "";
	struct sink *s = open_at(path, &whole);
	FILE *f;

	(void)state;
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(sink_file_finish(s, NULL), 0);
	s->ops->free(s);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, f), 4);
	assert_string_equal(text, "text");
	fclose(f);
	unlink(path);
}

static void test_unfinished(void **state)
{
	struct sink *s = open_at(path, &failing);

	(void)state;
	assert_int_equal(sink_file_finish(s, NULL), -ENOMEM);
	assert_non_null(strstr(s->error, "no memory for "));
	assert_non_null(strstr(s->error, path));
	s->ops->free(s);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void test_full(void **state)
{
	struct sink *s = open_at("/dev/full", &whole);

	(void)state;
	assert_int_equal(sink_file_status(s), 0);
	assert_int_equal(sink_file_finish(s, NULL), -ENOSPC);
	assert_string_equal(s->error, "cannot write /dev/full: No space left on device");
	s->ops->free(s);
}

/* It has no file, and its errors name that of the first. */
static void test_part(void **state)
{
	struct sink *s = open_at(path, &whole), *part = NULL;

	(void)state;
	assert_int_equal(sink_file_part(&part, sizeof(struct counter), s), 0);
	assert_int_equal(((struct counter *)part)->zero, 0);
	assert_ptr_equal(part->ops, &whole);
	assert_int_equal(sink_file_no_memory(part), -ENOMEM);
	assert_non_null(strstr(part->error, path));
	part->ops->free(part);
	assert_int_equal(sink_file_finish(s, NULL), 0);
	s->ops->free(s);
	assert_int_equal(unlink(path), 0);
}

static void test_no_place(void **state)
{
	struct sink_options o = { .path = "/nowhere/at/all" };
	char error[SINK_ERROR] = "";
	struct sink *s = NULL;

	(void)state;
	assert_int_equal(sink_file_open(&s, sizeof(struct counter), &whole, &o, error), -ENOENT);
	assert_null(s);
	assert_non_null(strstr(error, "/nowhere/at/all"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	 cmocka_unit_test(test_unfinished), cmocka_unit_test(test_full),
		cmocka_unit_test(test_no_place), cmocka_unit_test(test_part),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/out", dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
