/* SPDX-License-Identifier: MIT */
/* test_spans.c - spans that nest, overlap, recur, end alone or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/spans.h"

static struct code a = { .qualname = (char *)"a", .label = true }, b = { .qualname = (char *)"b", .label = true };
/* The same name in another process. */
static struct code other = { .qualname = (char *)"a", .label = true };

static void begin(struct open_spans *o, const struct code *name, uint32_t which, uint64_t ns)
{
	assert_int_equal(spans_begin(o, &(struct open_span){ name, which, ns, .task = ns }), 0);
}

static void end(struct open_spans *o, struct spans *all, const struct code *name, uint32_t which, uint64_t ns,
		uint64_t began)
{
	struct open_span *span = spans_find(o, name, which);

	assert_non_null(span);
	assert_int_equal(span->task, began);
	assert_int_equal(spans_end(o, all, span, ns), 0);
}

static void test_spans(void **state)
{
	struct open_spans o = { 0 };
	struct spans all = { 0 };
	const struct span_total **ranked;
	size_t n;

	(void)state;
	assert_null(spans_find(&o, &a, 1)); /* began before the trace */
	begin(&o, &a, 1, 10);
	begin(&o, &b, 2, 20);
	begin(&o, &a, 3, 30);
	end(&o, &all, &a, 1, 110, 10); /* not the newest: 100 */
	end(&o, &all, &a, 3, 40, 30);
	begin(&o, &a, 1, 50);
	begin(&o, &a, 1, 60); /* recurs */
	end(&o, &all, &a, 1, 61, 60);
	end(&o, &all, &a, 1, 70, 50);
	begin(&o, &other, 1, 200);
	end(&o, &all, &other, 1, 205, 200);
	assert_int_equal(o.n, 1);
	assert_int_equal(spans_lose(&o, &all), 0);
	assert_int_equal(o.n, 0);
	ranked = spans_ranked(&all, &n);
	assert_non_null(ranked);
	assert_int_equal(n, 2);
	assert_string_equal(ranked[0]->name->qualname, "a");
	assert_int_equal(ranked[0]->n, 5);
	assert_int_equal(ranked[0]->ns, 100 + 10 + 1 + 20 + 5);
	assert_int_equal(ranked[0]->longest_ns, 100);
	assert_int_equal(ranked[0]->unfinished, 0);
	assert_int_equal(ranked[1]->n, 0);
	assert_int_equal(ranked[1]->unfinished, 1);
	free(ranked);
	open_spans_free(&o);
	spans_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_spans) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
