/* SPDX-License-Identifier: MIT */
/* test_pftrace_names.c - one number and one text for each code object and loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "timeline/pftrace_names.h"

static void test_numbers_and_texts(void **state)
{
	struct code f = { .qualname = "f\xed\xa0\x80", .file = "a.py", .firstlineno = 7 };
	struct code g = { .qualname = "g", .file = "b.py", .firstlineno = 9 };
	struct loop loop = { .code = &g, .head = 4 };
	struct pftrace_names names = { .first = 10 };
	const struct pftrace_name *nf = pftrace_code_name(&names, &f), *ng = pftrace_code_name(&names, &g);
	const struct pftrace_name *nl = pftrace_loop_name(&names, &loop, NULL);

	(void)state;
	assert_int_equal(nf->number, 10);
	assert_int_equal(ng->number, 11);
	assert_int_equal(nl->number, 12);
	assert_ptr_equal(pftrace_code_name(&names, &f), nf);
	assert_ptr_equal(pftrace_loop_name(&names, &loop, NULL), nl);
	assert_string_equal(ng->name, "g");
	assert_string_equal(ng->category, "b.py:9");
	assert_string_equal(nl->name, "loop g+4");
	assert_null(nl->category);
	assert_string_equal(nf->name, "f\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate is no UTF-8 */
	pftrace_names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_and_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
