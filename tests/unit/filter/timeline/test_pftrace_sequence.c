/* SPDX-License-Identifier: MIT */
/* test_pftrace_sequence.c - which numbers a sequence has defined, in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "timeline/pftrace_sequence.h"

static void test_bits_stay_as_it_grows(void **state)
{
	static const uint64_t numbers[] = { 3, 64, 63, 1000, 999, 100000 };
	struct pftrace_sequence *s = pftrace_sequence_new(200);

	(void)state;
	assert_non_null(s);
	assert_int_equal(s->id_length, 3);
	assert_memory_equal(s->id, "\x50\xc8\x01", 3); /* trusted_packet_sequence_id */
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		uint64_t bit = 1ull << numbers[i] % 64, *word = pftrace_sequence_word(s, numbers[i]);

		assert_non_null(word);
		assert_false(*word & bit);
		*word |= bit;
	}
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		assert_true(*pftrace_sequence_word(s, numbers[i]) & 1ull << numbers[i] % 64);
	assert_int_equal(*pftrace_sequence_word(s, 65), 1);
	assert_int_equal(*pftrace_sequence_word(s, 200), 0);
	pftrace_sequence_free(s);
	pftrace_sequence_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_stay_as_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
