/* SPDX-License-Identifier: MIT */
/* test_collections.c - words of collections, and their sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/collections.h"
#include "shared/marker.h"

static void test_words(void **state)
{
	struct collection c = collection_of(marker_payload(marker_collection(true, 1, 0)));

	(void)state;
	assert_true(c.begins);
	assert_int_equal(c.generation, 1);
	c = collection_of(marker_payload(marker_collection(false, 0, 123456789012)));
	assert_false(c.begins);
	assert_int_equal(c.generation, 0);
	assert_int_equal(c.collected, 123456789012);
	c = collection_of(marker_payload(marker_collection(false, UINT64_MAX, UINT64_MAX)));
	assert_false(c.begins);
	assert_int_equal(c.generation, GENERATIONS - 1);
	assert_int_equal(c.collected, MARKER_COLLECTED_MAX);
}

static void test_sums(void **state)
{
	struct collections c = { 0 };

	(void)state;
	assert_int_equal(collections_all(&c).n, 0);
	collections_add(&c, &(struct collection){ .generation = 2, .collected = 7 }, 100);
	collections_add(&c, &(struct collection){ .generation = 2 }, 50);
	collections_add(&c, &(struct collection){ .generation = 0, .collected = 1 }, 30);
	assert_int_equal(c.of[2].n, 2);
	assert_int_equal(c.of[2].ns, 150);
	assert_int_equal(c.of[2].longest_ns, 100);
	assert_int_equal(c.of[2].collected, 7);
	assert_int_equal(collections_all(&c).n, 3);
	assert_int_equal(collections_all(&c).ns, 180);
	assert_int_equal(collections_all(&c).longest_ns, 100);
	assert_int_equal(collections_all(&c).collected, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
