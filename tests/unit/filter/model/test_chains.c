/* SPDX-License-Identifier: MIT */
/* test_chains.c - opcodes in, chains out: what follows what, and what a full table leaves out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/chains.h"

enum { A = 1, B, C, A_INT };

static struct process process = { .opnames = { [A] = "A", [B] = "B", [C] = "C", [A_INT] = "A_INT" } };
static struct process other = { .opnames = { [A] = "B", [B] = "A" } }; /* other numbers, the same names */

static void feed(struct chains *c, struct chain_end *end, const struct process *p, const char *opcodes)
{
	for (; *opcodes; opcodes++) {
		bool special = *opcodes == 'i';

		assert_int_equal(
			chains_next(c, end, p, special ? A : *opcodes - 'A' + A, special ? A_INT : *opcodes - 'A' + A),
			0);
	}
}

/* "A,B,C 2; ..." the most frequent first. */
static void check(const struct chains *c, const char *wanted)
{
	const struct chain **sorted = chains_sorted(c);
	char text[256] = "", *at = text;
	uint64_t counted = 0;

	assert_non_null(sorted);
	for (uint32_t i = 0; i < c->n; i++) {
		for (unsigned k = 0; k < c->length; k++)
			at += sprintf(at, "%s%s", k ? "," : "", c->forms.rows[sorted[i]->forms[k]].specialized);
		at += sprintf(at, " %d; ", (int)sorted[i]->n);
		counted += sorted[i]->n;
	}
	free(sorted);
	assert_string_equal(text, wanted);
	assert_int_equal(counted, c->counted);
	assert_int_equal(c->left_out, 0);
}

static void test_overlap(void **state)
{
	struct chains c = { .length = 3 };
	struct chain_end end = { .n = 0 };

	(void)state;
	feed(&c, &end, &process, "AB");
	check(&c, "");
	feed(&c, &end, &process, "CABC");
	check(&c, "A,B,C 2; B,C,A 1; C,A,B 1; ");
	chains_free(&c);
}

static void test_longest(void **state)
{
	struct chains c = { .length = CHAINS_LONGEST };
	struct chain_end end = { .n = 0 };

	(void)state;
	feed(&c, &end, &process, "AAAAAAABA");
	check(&c, "A,A,A,A,A,A,A,B 1; A,A,A,A,A,A,B,A 1; ");
	chains_free(&c);
}

/* Threads take turns; one of them breaks off, and nothing that follows reaches across. */
static void test_threads_and_breaks(void **state)
{
	struct chains c = { .length = 3 };
	struct chain_end one = { .n = 0 }, two = { .n = 0 };

	(void)state;
	feed(&c, &one, &process, "AB");
	feed(&c, &two, &process, "CC");
	feed(&c, &one, &process, "C");
	chains_break(&two);
	feed(&c, &two, &process, "AA");
	feed(&c, &two, &process, "A");
	check(&c, "A,A,A 1; A,B,C 1; ");
	chains_free(&c);
}

/* Forms are apart; interpreters that number opcodes otherwise are one. */
static void test_names(void **state)
{
	struct chains c = { .length = 3 };
	struct chain_end end = { .n = 0 };
	struct opcode_row rows[] = { { .base = "A", .specialized = "A_INT" }, { .base = "A", .specialized = "A" } };
	struct opcodes table = { .rows = rows, .nrows = 2 };
	uint32_t *at;

	(void)state;
	feed(&c, &end, &process, "AAiB");
	chains_break(&end);
	feed(&c, &end, &other, "BBA"); /* A, A, B */
	check(&c, "A,A,A_INT 1; A,A,B 1; A,A_INT,B 1; ");
	at = chains_rows(&c, &table);
	for (uint32_t i = 0; i < c.forms.nrows; i++)
		assert_int_equal(at[i], !strcmp(c.forms.rows[i].specialized, "A")	? 1
					: !strcmp(c.forms.rows[i].specialized, "A_INT") ? 0
											: OPCODES_NONE);
	free(at);
	chains_free(&c);
}

#define NAMES 65 /* to the third power: more chains than the table takes */

static void feed_all(struct chains *c, const struct process *p)
{
	for (unsigned i = 0; i < NAMES * NAMES * NAMES; i++) {
		const uint8_t opcodes[] = { i / NAMES / NAMES, i / NAMES % NAMES, i % NAMES };
		struct chain_end end = { .n = 0 };

		for (int k = 0; k < 3; k++)
			assert_int_equal(chains_next(c, &end, p, opcodes[k], opcodes[k]), 0);
	}
}

/* What is in the table is counted to the last one, and all else is told as left out. */
static void test_full(void **state)
{
	struct chains c = { .length = 3 };
	struct process many = { .pid = 1 };
	char names[NAMES][4];

	(void)state;
	for (int i = 0; i < NAMES; i++) {
		snprintf(names[i], sizeof(names[i]), "%d", i);
		many.opnames[i] = names[i];
	}
	feed_all(&c, &many);
	feed_all(&c, &many);
	assert_int_equal(c.n, CHAINS_MOST);
	assert_int_equal(c.counted, 2 * CHAINS_MOST);
	assert_int_equal(c.left_out, 2 * (NAMES * NAMES * NAMES - CHAINS_MOST));
	for (uint32_t i = 0; i < c.n; i++)
		assert_int_equal(c.all[i].n, 2);
	chains_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_threads_and_breaks),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
