// SPDX-License-Identifier: MIT
/* test_pt_losses.c - after which time switches are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <cmocka.h>

#include "pt/pt_losses.h"

/* Records in the order of the file: BUFFER:NS, BUFFER:lost, round, cut. */
static const struct {
	const char *name, *records;
	int until; /* -1: nothing is missing */
} rows[] = {
	{ "nothing", "", -1 },
	{ "all are there", "0:10 1:20 round 0:30 1:15 round", -1 },
	{ "after the last one of its buffer", "0:10 1:50 0:20 1:60 0:lost 0:90", 20 },
	{ "a buffer that was idle since", "0:10 round 1:50 round 1:60 round 0:lost 0:90", 10 },
	{ "a buffer without any", "0:10 1:lost", 0 },
	{ "it is not known which", "0:10 -1:20 -1:lost", 0 },
	{ "the earlier one of two buffers", "0:10 1:20 0:30 1:lost 0:lost", 20 },
	{ "the first one of a buffer", "0:10 0:lost 0:40 0:lost", 10 },
	{ "records without a time", "0:10 0:0 0:lost", 10 },
	{ "cut in the first round", "0:10 1:20 cut", 0 },
	{ "cut in the second round", "0:10 1:20 round 0:30 cut", 0 },
	{ "cut in the third round", "0:10 1:20 round 0:15 1:40 round 0:50 cut", 20 },
	{ "a loss before the cut", "0:10 0:lost 1:20 round 0:15 1:40 round 0:50 cut", 10 },
};

static void take(struct pt_losses *l, const char *word)
{
	int32_t buffer;
	uint64_t ns;

	if (word[0] == 'r')
		pt_losses_round(l);
	else if (word[0] == 'c')
		pt_losses_cut(l);
	else if (sscanf(word, "%" SCNd32 ":%" SCNu64, &buffer, &ns) == 2)
		assert_int_equal(pt_losses_record(l, buffer, ns), 0);
	else
		pt_losses_add(l, buffer);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pt_losses l = { 0 };
		char word[16];
		int n;

		for (const char *at = rows[i].records; sscanf(at, "%15s%n", word, &n) == 1; at += n)
			take(&l, word);
		if ((l.lost ? (int)l.until : -1) != rows[i].until)
			fail_msg("%s: %d", rows[i].name, l.lost ? (int)l.until : -1);
		pt_losses_free(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
