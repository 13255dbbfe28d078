/* SPDX-License-Identifier: MIT */
/* test_forms.c - an instruction in one form after another: the name and the time of each change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/forms.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { PLAIN = 1, ABLE, ABLE_INT, ABLE_STR, ABLE_INSTRUMENTED };

static struct process process = {
	.ables = true,
	.able = { [ABLE] = true },
	.opnames = { [PLAIN] = "PLAIN",
		     [ABLE] = "ABLE",
		     [ABLE_INT] = "ABLE_INT",
		     [ABLE_STR] = "ABLE_STR",
		     [ABLE_INSTRUMENTED] = "INSTRUMENTED_ABLE" },
};
static struct instr able = { .base = ABLE }, plain = { .base = PLAIN };
static struct code code = { .process = &process };

static void run(struct forms *f, struct instr *instr, struct instr_cost *cost, struct sample s)
{
	struct instr_form *form = instr_cost_form(cost, s.opcode);

	assert_non_null(form);
	s.code = &code;
	form->n++;
	form->kind = form_kind(&code, instr, s.opcode);
	assert_int_equal(forms_ran(f, instr, cost, form, &s), 0);
}

static void forget(struct instr_cost *cost)
{
	free(cost->forms);
	free(cost->changes);
	*cost = (struct instr_cost){ 0 };
}

static void assert_counts(const struct form_counts *c, const uint64_t wanted[FORMS_COUNTS])
{
	for (int i = 0; i < FORMS_COUNTS; i++)
		assert_int_equal(c->n[i], wanted[i]);
}

static void test_turns(void **state)
{
	/* {before, opcode, passed} of three runs at most; specialized, base, gained, changed, lost, failed, missed */
	static const struct {
		uint8_t runs[3][3];
		uint64_t wanted[FORMS_COUNTS];
	} rows[] = {
		{ { { 0, ABLE, 0 }, { 0, ABLE, 0 } }, { 0, 2, 0, 0, 0, 0, 0 } },
		{ { { 0, ABLE_INT, 0 }, { 0, ABLE_INT, 0 } }, { 2, 0, 0, 0, 0, 0, 0 } },
		{ { { 0, ABLE, 0 }, { ABLE, ABLE_INT, 0 } }, { 1, 1, 1, 0, 0, 0, 0 } },
		{ { { ABLE, ABLE, 0 } }, { 0, 1, 0, 0, 0, 1, 0 } },
		{ { { 0, ABLE_INT, 0 }, { ABLE_INT, ABLE_STR, 0 } }, { 2, 0, 0, 1, 0, 0, 1 } },
		{ { { 0, ABLE_INT, 0 }, { ABLE_INT, ABLE_INT, 0 } }, { 2, 0, 0, 1, 0, 0, 1 } }, /* the same one anew */
		{ { { 0, ABLE_INT, 0 }, { ABLE_INT, ABLE, 0 } }, { 1, 1, 0, 0, 1, 0, 1 } },
		{ { { 0, ABLE_INT, 0 }, { ABLE_INT, ABLE_INT, 1 } },
		  { 2, 0, 0, 0, 0, 0, 1 } }, /* given up in passing */
		/* What came between was not seen, or another thread did it. */
		{ { { 0, ABLE_INT, 0 }, { 0, ABLE, 0 } }, { 1, 1, 0, 0, 1, 0, 0 } },
		{ { { 0, ABLE_INT, 0 }, { 0, ABLE_STR, 0 } }, { 2, 0, 0, 1, 0, 0, 0 } },
		{ { { 0, ABLE_INT, 0 }, { ABLE, ABLE_INT, 0 } }, { 2, 0, 1, 0, 1, 0, 0 } },
		/* Instrumented it is neither, and what it was before still counts. */
		{ { { 0, ABLE_INT, 0 }, { 0, ABLE_INSTRUMENTED, 0 }, { 0, ABLE_INT, 0 } }, { 2, 0, 0, 0, 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forms f = { 0 };
		struct instr_cost cost = { 0 };
		struct form_counts own, all;

		for (int k = 0; k < 3 && rows[i].runs[k][1]; k++)
			run(&f, &able, &cost,
			    (struct sample){ .before = rows[i].runs[k][0],
					     .opcode = rows[i].runs[k][1],
					     .passed = rows[i].runs[k][2] });
		own = forms_of(&cost);
		all = forms_sum(&f);
		assert_counts(&own, rows[i].wanted);
		assert_counts(&all, rows[i].wanted);
		forget(&cost);
	}
}

static void test_what_cannot_be_specialised(void **state)
{
	struct forms f = { 0 };
	struct instr_cost cost = { 0 };

	(void)state;
	run(&f, &plain, &cost, (struct sample){ .opcode = PLAIN });
	assert_false(f.known);
	assert_null(cost.changes);
	forget(&cost);
}

/* However long it is: the number of buckets stays, and none of what is in them is lost or moves. */
static void test_time(void **state)
{
	struct forms f = { 0 };
	struct instr_cost cost = { 0 };
	uint64_t ns = 5000, n = 0, before = 0;

	(void)state;
	for (; ns < 1ull << 42; ns += ns / 8, n++)
		run(&f, &able, &cost, (struct sample){ .time = ns, .opcode = ABLE });
	assert_int_equal(f.start_ns, 5000);
	assert_int_equal(forms_sum(&f).n[FORMS_BASE], n);
	assert_in_range(f.used, FORMS_BUCKETS / 2, FORMS_BUCKETS);
	for (unsigned i = 0; i < f.used; i++) {
		uint64_t end = 5000 + ((uint64_t)(i + 1) << f.shift), until = 0;

		for (uint64_t at = 5000; at < end && until < n; at += at / 8)
			until++;
		assert_int_equal(f.buckets[i].n[FORMS_BASE], until - before);
		before = until;
	}
	run(&f, &able, &cost, (struct sample){ .time = 1, .opcode = ABLE }); /* another thread's, a little earlier */
	assert_int_equal(forms_sum(&f).n[FORMS_BASE], n + 1);
	forget(&cost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_what_cannot_be_specialised),
		cmocka_unit_test(test_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
