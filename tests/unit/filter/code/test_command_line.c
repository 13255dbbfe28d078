/* SPDX-License-Identifier: MIT */
/* test_command_line.c - what a command line starts, as people call it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "code/command_line.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	const char *argv, *name;
} lines[] = {
	{ "['python', '/srv/shop/app.py', '--data', '/srv/data']", "app.py" },
	{ "['/usr/bin/python3', '-m', 'uvicorn', 'shop.main:app']", "-m uvicorn" },
	{ "['python', '-Bmhttp.server', '8000']", "-m http.server" },
	{ "['python', '-X', 'dev', '-Wignore', '-OO', 'app.py']", "app.py" },
	{ "['python', '-BW', 'ignore', 'app.py']", "app.py" },
	{ "['python', '--check-hash-based-pycs', 'always', 'a/b.py']", "b.py" },
	{ "['python', '-c', 'import x/y']", "-c" },
	{ "['python', '-']", "-" },
	{ "['python', '-i', 'folder/']", "folder/" },
	{ "['/usr/bin/python3', '-q']", "python3" },
	{ "['/usr/bin/python3', '-W']", "python3" },
	{ "['python', '-m']", "-m" },
	{ "['app.py', '--fast']", "app.py" },
	{ "['python', 5, 'app.py']", "python" },
};

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		char *text = strdup(lines[i].argv), *name;
		json_t *argv;

		for (char *at = text; *at; at++)
			*at = *at == '\'' ? '"' : *at;
		argv = json_loads(text, 0, NULL);
		assert_non_null(argv);
		name = command_line_program(argv);
		assert_string_equal(name, lines[i].name);
		free(name);
		json_decref(argv);
		free(text);
	}
}

/* What is no list of words tells nothing. */
static void test_nothing(void **state)
{
	json_t *empty = json_array(), *number = json_integer(1);

	(void)state;
	assert_null(command_line_program(NULL));
	assert_null(command_line_program(empty));
	assert_null(command_line_program(number));
	json_decref(empty);
	json_decref(number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
