/* SPDX-License-Identifier: MIT */
/* test_origin.c - whose code a file is: by the header's folders, or by the folders' names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "code/origin.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* clang-format off */
static const struct row {
	const char *file, *qualname;
	enum origin told, guessed; /* with the header's folders, without */
	const char *path;	   /* with them */
} rows[] = {
	{ "/home/me/shop/app.py", "search", ORIGIN_OWN, ORIGIN_OWN, "app.py" },
	{ "/home/me/shop/web/views.py", "<module>", ORIGIN_OWN, ORIGIN_OWN, "web/views.py" },
	{ "/home/me/shopping/app.py", "f", ORIGIN_OWN, ORIGIN_OWN, "/home/me/shopping/app.py" },
	{ "/opt/other/app.py", "f", ORIGIN_OWN, ORIGIN_OWN, "/opt/other/app.py" },
	{ "<string>", "f", ORIGIN_OWN, ORIGIN_OWN, "<string>" },
	{ "?", "code 7", ORIGIN_OWN, ORIGIN_OWN, "?" },
	/* A virtual environment may lie in the program's own folder. */
	{ "/home/me/shop/.venv/lib/python3.13/site-packages/flask/app.py", "Flask.wsgi_app", ORIGIN_SITE, ORIGIN_SITE,
	  "flask/app.py" },
	{ "/home/me/shop/.venv/lib/python3.13/site-packages/flask/app.py", "<module>", ORIGIN_IMPORTS, ORIGIN_IMPORTS,
	  "flask/app.py" },
	{ "/usr/lib/python3/dist-packages/yaml/reader.py", "Reader.peek", ORIGIN_SITE, ORIGIN_SITE, "yaml/reader.py" },
	{ "/opt/py/lib/python3.13/site-packages/six.py", "b", ORIGIN_SITE, ORIGIN_SITE, "six.py" },
	{ "/opt/py/lib/python3.13/json/decoder.py", "JSONDecoder.decode", ORIGIN_STDLIB, ORIGIN_STDLIB,
	  "json/decoder.py" },
	{ "/opt/py/lib/python3.13/json/decoder.py", "<module>", ORIGIN_IMPORTS, ORIGIN_IMPORTS, "json/decoder.py" },
	{ "/opt/py/lib/python3.13/importlib/__init__.py", "import_module", ORIGIN_IMPORTS, ORIGIN_IMPORTS,
	  "importlib/__init__.py" },
	/* Further standard libraries: of other processes, zipped, in a folder that looks like nothing. */
	{ "/else/lib64/python3.14t/re/_parser.py", "parse", ORIGIN_STDLIB, ORIGIN_STDLIB, "re/_parser.py" },
	{ "/else/python313.zip/re/_parser.py", "parse", ORIGIN_STDLIB, ORIGIN_STDLIB, "re/_parser.py" },
	{ "/srv/std/re.py", "f", ORIGIN_STDLIB, ORIGIN_OWN, "re.py" },
	{ "/srv/python3/app.py", "f", ORIGIN_OWN, ORIGIN_OWN, "/srv/python3/app.py" },
	{ "<frozen importlib._bootstrap>", "_find_and_load", ORIGIN_IMPORTS, ORIGIN_IMPORTS,
	  "<frozen importlib._bootstrap>" },
	{ "<frozen zipimport>", "f", ORIGIN_IMPORTS, ORIGIN_IMPORTS, "<frozen zipimport>" },
	{ "<frozen os>", "walk", ORIGIN_STDLIB, ORIGIN_STDLIB, "<frozen os>" },
	/* What the command line started, and what came with it. */
	{ "/opt/py/lib/python3.13/site-packages/black/__init__.py", "main", ORIGIN_OWN, ORIGIN_OWN,
	  "black/__init__.py" },
	{ "/opt/py/lib/python3.13/site-packages/black/__init__.py", "<module>", ORIGIN_OWN, ORIGIN_OWN,
	  "black/__init__.py" },
	{ "/opt/py/lib/python3.13/site-packages/blackd/__init__.py", "main", ORIGIN_SITE, ORIGIN_SITE,
	  "blackd/__init__.py" },
	{ "/opt/py/lib/python3.13/site-packages/blib2to3/pgen2/driver.py", "f", ORIGIN_OWN, ORIGIN_OWN,
	  "blib2to3/pgen2/driver.py" },
	{ "/opt/py/lib/python3.13/http/server.py", "f", ORIGIN_OWN, ORIGIN_OWN, "http/server.py" },
};
/* clang-format on */

/* Of a library, of what the command line started there, of neither. */
static void test_rank(void **state)
{
	struct process process = { 0 };
	struct codes codes = { 0 };
	struct code site = { .file = (char *)"/x/site-packages/six.py", .qualname = (char *)"f", .process = &process };
	struct code started = { .file = (char *)"/x/site-packages/b.py", .qualname = (char *)"f", .process = &process };
	struct code own = { .file = (char *)"/x/app.py", .qualname = (char *)"f", .process = &process };
	char *started_packages[] = { "b" };

	(void)state;
	codes.packages = started_packages;
	codes.npackages = 1;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(origin_rank(&codes, &site), 0);
		assert_int_equal(origin_rank(&codes, &started), 1);
		assert_int_equal(origin_rank(&codes, &own), 2);
		codes.npackages = 0; /* it is asked once */
	}
}

/* Code in no file is of the file that its line of the table names; what `exec` runs is no import. */
static void test_made(void **state)
{
	static const struct {
		const char *owner, *qualname;
		enum origin origin;
	} made[] = {
		{ "/home/me/shop/app.py", "__create_fn__.<locals>.__init__", ORIGIN_OWN },
		{ "/x/site-packages/six.py", "__create_fn__.<locals>.__init__", ORIGIN_SITE },
		{ "/x/site-packages/six.py", "<module>", ORIGIN_SITE },
		{ "/x/site-packages/black/mode.py", "__create_fn__.<locals>.__init__", ORIGIN_OWN },
		{ "/x/lib/python3.13/ast.py", "<lambda>", ORIGIN_STDLIB },
		{ "<frozen os>", "<lambda>", ORIGIN_STDLIB },
		{ NULL, "f", ORIGIN_OWN },
	};
	char *started[] = { "black" };
	const struct codes codes = { .packages = started, .npackages = 1 };
	struct process process = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(made); i++) {
		struct code code = { .file = (char *)"<string>",
				     .owner = (char *)made[i].owner,
				     .qualname = (char *)made[i].qualname,
				     .process = &process };

		assert_int_equal(origin_of(&codes, &code), made[i].origin);
		assert_string_equal(origin_path(&code), "<string>");
	}
}

static char *packages[] = { "black", "blib2to3", "http" };

static void test_whose(void **state)
{
	const struct codes codes = { .packages = packages, .npackages = COUNT(packages) };
	const struct process told = { .program = { "/home/me/shop", "/srv/std" } }, guessed = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct code code = { .file = (char *)rows[i].file, .qualname = (char *)rows[i].qualname };

		code.process = &told;
		assert_string_equal(origin_key(origin_of(&codes, &code)), origin_key(rows[i].told));
		assert_string_equal(origin_path(&code), rows[i].path);
		code.process = &guessed;
		assert_string_equal(origin_key(origin_of(&codes, &code)), origin_key(rows[i].guessed));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
