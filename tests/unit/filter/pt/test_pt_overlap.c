// SPDX-License-Identifier: MIT
/* test_pt_overlap.c - what a snapshot repeats of the previous one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pt/pt_overlap.h"

#define PSB	"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PLUS(c) PSB "\x19" c "\0\0\0\0\0\0\x02\x23" /* PSB+ at TSC c */
#define A	PLUS("A") "\x03\x0b\x13"
#define B	PLUS("B") "\x1b\x23\x2b"
#define C	PLUS("C") "\x33\x3b\x43"
#define BARE	PSB "\x02\x23" /* PSB+ without a TSC */

static const struct {
	const char *before, *next;
	size_t nbefore, nnext;
	size_t at; /* of what is new in next */
	bool continues;
} cases[] = {
#define SIZE(bytes) (sizeof(bytes) - 1)
#define CASE(b, n, at, continues) \
	{ \
		b, n, SIZE(b), SIZE(n), at, continues \
	}
	CASE(A, B, 0, false),
	CASE(A, "\x03\x03" B, 2, false),	/* up to its first PSB */
	CASE(A B, B C, SIZE(B), true),		/* one PSB+ is in both */
	CASE(A B "\0\0\0", B C, SIZE(B), true), /* after padding */
	CASE(A B, A B C, SIZE(A B), true),
	CASE(A B, A B, SIZE(A B), true), /* nothing is new */
	CASE(A C, B, SIZE(B), false),	 /* older than what was read */
	CASE(A C, B C "\x4b", SIZE(B C), true),
	CASE(A B PSB "\x19", B C, SIZE(B), true), /* ends in a PSB+ that was cut off */
	CASE(A, "\x03\x03", 2, false),		  /* no PSB: nothing can be read */
	CASE("\x03\x03", B, 0, false),
	CASE(BARE, B, 0, false),
	CASE(A B, BARE B C, SIZE(BARE B), true),
#undef CASE
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *before = (const uint8_t *)cases[i].before;
		const uint8_t *next = (const uint8_t *)cases[i].next;
		bool continues;
		const uint8_t *p = pt_overlap((struct pt_span){ before, before + cases[i].nbefore },
					      (struct pt_span){ next, next + cases[i].nnext }, &continues);

		if (p - next != (ptrdiff_t)cases[i].at)
			print_message("case %zu\n", i);
		assert_int_equal(p - next, cases[i].at);
		assert_int_equal(continues, cases[i].continues);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
