/* SPDX-License-Identifier: MIT */
/* test_source.c - a line is shown only if it is certainly the one that ran, from a Python file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/source.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define LATER	 INT64_MAX

static char folder[] = "/tmp/ocular-source-XXXXXX";

static const struct {
	const char *name, *text;
	int64_t recorded;
	const char *why, *first; /* NULL: it has lines, and line 1 is `first` */
} files[] = {
	{ "app.py", "one\ntwo\n", LATER, NULL, "one" },
	{ "app.pyw", "one", LATER, NULL, "one" },
	{ "windows.py", "one\r\ntwo\r\n", LATER, NULL, "one" },
	{ "empty.py", "", LATER, NULL, "" },
	{ "script", "#!/usr/bin/env python3\nimport os\n", LATER, NULL, "#!/usr/bin/env python3" },
	{ "unknown-time.py", "one\n", 0, NULL, "one" },
	{ "changed.py", "one\n", 1, "the file was changed since", NULL },
	{ "secret", "root:x:0:0:\n", LATER, "the file does not look like Python", NULL },
	{ "other-script", "#!/bin/sh\necho python\n", LATER, "the file does not look like Python", NULL },
};

static void path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", folder, name);
}

static void test_files(void **state)
{
	struct sources s = { 0 };
	char path[200];

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		const struct source *source;
		FILE *f;

		path_of(path, sizeof(path), files[i].name);
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(files[i].text, f);
		fclose(f);
		source = sources_get(&s, path, files[i].recorded);
		assert_ptr_equal(sources_get(&s, path, files[i].recorded), source);
		unlink(path);
		if (files[i].why) {
			assert_string_equal(source->why, files[i].why);
			assert_null(source_line(source, 1));
		} else {
			assert_null(source->why);
			assert_string_equal(source_line(source, 1), files[i].first);
		}
	}
	sources_free(&s);
}

static void test_lines(void **state)
{
	struct sources s = { 0 };
	const struct source *source;
	char path[200];
	FILE *f;

	(void)state;
	path_of(path, sizeof(path), "lines.py");
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("one\n\nthree", f);
	fclose(f);
	source = sources_get(&s, path, 0);
	unlink(path);
	assert_string_equal(source_line(source, 1), "one");
	assert_string_equal(source_line(source, 2), "");
	assert_string_equal(source_line(source, 3), "three");
	assert_null(source_line(source, 0));
	assert_null(source_line(source, -1));
	assert_null(source_line(source, 4));
	assert_null(source_line(source, INT64_MAX));
	sources_free(&s);
}

static void test_what_is_no_file(void **state)
{
	static const char *const names[][2] = {
		{ "<string>", "its code is not from a file" },
		{ "<frozen importlib._bootstrap>", "its code is not from a file" },
		{ "relative.py", "the file's folder is not known" },
		{ "", "the file's folder is not known" },
		{ "/nonexistent/app.py", "the file is not here" },
		{ "/dev/zero", "it is not a regular file" },
		{ "/tmp", "it is not a regular file" },
	};
	struct sources s = { 0 };
	char path[200];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_string_equal(sources_get(&s, names[i][0], 0)->why, names[i][1]);
	path_of(path, sizeof(path), "pipe.py");
	assert_int_equal(mkfifo(path, 0600), 0); /* opened as others are, it would wait for a writer */
	assert_string_equal(sources_get(&s, path, 0)->why, "it is not a regular file");
	unlink(path);
	sources_free(&s);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* Each line is a file, and what it may not be is passed over: the file itself is asked then. */
static void test_what_came_with_the_recording(void **state)
{
	static const struct {
		const char *line, *file, *first; /* NULL: it has none */
	} kept[] = {
		{ "{\"file\": \"/no/where/app.py\", \"text\": \"kept\\ntwo\"}", "/no/where/app.py", "kept" },
		{ "{\"file\": \"/no/where/secret\", \"text\": \"root:x\"}", "/no/where/secret", NULL },
		{ "{\"file\": \"app.py\", \"text\": \"x\"}", "app.py", NULL },
		{ "{\"file\": \"/no/where/a.py\"}", "/no/where/a.py", NULL },
		{ "no JSON", "/no/where/b.py", NULL },
		{ "{\"file\": \"/no/where/c.py\", \"text\": \"last\"}", "/no/where/c.py", "last" },
	};
	struct sources s = { .dir = folder };
	char path[200];
	FILE *f;

	(void)state;
	path_of(path, sizeof(path), SOURCE_FILE);
	f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < COUNT(kept); i++)
		fprintf(f, "%s\n", kept[i].line);
	fclose(f);
	for (size_t i = 0; i < COUNT(kept); i++) {
		const struct source *source = sources_get(&s, kept[i].file, 1);
		const char *line = source_line(source, 1);

		assert_true(!line == !kept[i].first);
		if (line)
			assert_string_equal(line, kept[i].first);
	}
	sources_free(&s);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_what_is_no_file),
		cmocka_unit_test(test_what_came_with_the_recording),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
