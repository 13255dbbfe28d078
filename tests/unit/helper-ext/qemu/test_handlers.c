/* SPDX-License-Identifier: MIT */
/* test_handlers.c - rules are read or refused; which one holds; as how many instructions a handler counts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "qemu/handlers.h"

static int add(struct handlers *h, const char *text)
{
	return handlers_add(h, text, strlen(text));
}

static void test_words(void **state)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{ "10/20@/proc/self/exe", 0 },
		{ "10/20/30@/proc/self/exe", 0 },
		{ "10/0@/proc/self/exe", 0 },
		{ "10@/proc/self/exe", -EINVAL },
		{ "10/20/30/40@/proc/self/exe", -EINVAL },
		{ "10/@/proc/self/exe", -EINVAL },
		{ "-10/20@/proc/self/exe", -EINVAL },
		{ "10/20", -EINVAL },
		{ "10/20@/nowhere", -ENOENT },
		{ "10/20@/proc/self", -EINVAL }, /* of another file */
	};
	struct handlers h = { .n = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(add(&h, rows[i].text), rows[i].err);
	assert_int_equal(h.nrules, 3);
	assert_int_equal(h.n, 3); /* 10, 20 and 30, once each */
	while (h.nrules < RULES_MAX)
		assert_int_equal(add(&h, rows[0].text), 0);
	assert_int_equal(add(&h, rows[0].text), -ENOSPC);
}

/* AT counts as AS; AS behind AFTER as what both together take more than AFTER. */
static void test_rules(void **state)
{
	struct handlers h = { .n = 0 };
	struct handler *at, *as, *after;

	(void)state;
	assert_int_equal(add(&h, "110/120@/proc/self/exe"), 0);
	assert_int_equal(add(&h, "130/140/150@/proc/self/exe"), 0);
	assert_null(handlers_find(&h, 0x5010));
	handlers_map(&h, 0x5000, 0x100, 0x100, h.file);
	handlers_map(&h, 0x9000, 0x100, 0x100, "/another");
	at = handlers_find(&h, 0x5010);
	as = handlers_find(&h, 0x5020);
	assert_non_null(at);
	assert_non_null(as);
	assert_null(handlers_rule(&h, at, NULL)); /* not known yet what it takes */
	handler_took(as, false, 7, false);
	handler_took(as, false, 9, false);
	handler_took(as, false, 7, false);
	handler_took(as, true, 12, false);
	assert_non_null(handlers_rule(&h, at, NULL));
	assert_int_equal(handler_count(handlers_rule(&h, at, NULL)), 7);
	assert_int_equal(handler_count_of_call(handlers_rule(&h, at, NULL)), 5);
	handler_took(as, false, 30, true); /* too late */
	assert_int_equal(handler_count(handlers_rule(&h, at, NULL)), 7);
	at = handlers_find(&h, 0x5030);
	after = handlers_find(&h, 0x5050);
	handler_took(handlers_find(&h, 0x5040), false, 10, false);
	handler_took(after, false, 6, false);
	assert_null(handlers_rule(&h, at, NULL));
	assert_int_equal(handler_count(handlers_rule(&h, at, after)), 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
