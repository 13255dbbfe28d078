/* SPDX-License-Identifier: MIT */
/* test_diff_tree.c - two call trees as one: functions that moved, what is on one side only, what was cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "diff/diff_tree.h"

/* main calls f, which is a line lower in B; g is in A only, h in B only. Numbers: the second is wall time. */
#define FUNCTION(name, line) \
	"{\"file\": \"f.py\", \"qualname\": \"" name "\", \"firstlineno\": " line ", \"origin\": \"own\"}"
static const char tree_a[] = "{\"values\": [\"wall\", \"waiting\", \"preempted\", \"calls\", \"cycles\"], \"parts\": "
			     "20000, \"all_paths\": 4,"
			     "\"functions\": [" FUNCTION("main", "1") ", " FUNCTION("f", "5") ", " FUNCTION(
				     "g", "9") "],"
					       "\"paths\": [[0, 0, 7, 0, 0, 0, 0], [0, 0, 10, 0, 0, 1, 0], [1, 1, 20, "
					       "5, 0, 4, 0], [2, 2, 30, 0, 0, 2, 0]],"
					       "\"cut\": [[1, 3, 0, 0, 1, 0]]}";
static const char tree_b[] = "{\"values\": [\"wall\", \"calls\", \"cycles\"], \"parts\": 10000, \"all_paths\": 3,"
			     "\"functions\": [" FUNCTION("main", "1") ", " FUNCTION("f", "6") ", " FUNCTION(
				     "h", "9") "],"
					       "\"paths\": [[0, 0, 8, 0, 0, 0, 0], [0, 0, 11, 0, 0, 1, 0], [1, 1, 40, "
					       "0, 0, 4, 0], [1, 2, 50, 0, 0, 1, 0]], \"cut\": []}";

static struct diff_item item(const char *name, int line)
{
	return (struct diff_item){ .file = "f.py",
				   .qualname = name,
				   .firstlineno = line,
				   .line = line,
				   .n = 100,
				   .mean = 10,
				   .median = -1,
				   .p99 = -1 };
}

struct fixture {
	struct diff_item a[3], b[3];
	struct diff_side left, right;
	struct diff diff;
	struct diff_tree tree;
};

static struct diff_side side_of(struct diff_item *items, const char *tree)
{
	struct diff_side s = { .clock = "tsc", .json = json_object() };

	s.items[DIFF_FUNCTIONS] = items;
	s.n[DIFF_FUNCTIONS] = 3;
	if (tree)
		json_object_set_new(s.json, "call_tree", json_loads(tree, 0, NULL));
	return s;
}

/* Items are in the order of their places, as diff_read() leaves them. */
static int make(struct fixture *x, const char *a, const char *b)
{
	static const struct diff_rules any = { .fail_over = -1 };

	*x = (struct fixture){ .a = { item("f", 5), item("g", 9), item("main", 1) },
			       .b = { item("f", 6), item("h", 9), item("main", 1) } };
	x->left = side_of(x->a, a);
	x->right = side_of(x->b, b);
	assert_int_equal(diff_compare(&x->diff, &x->left, &x->right, 1, &any), 0);
	return diff_tree_make(&x->tree, &x->diff, &x->left, &x->right);
}

static void end(struct fixture *x)
{
	diff_tree_free(&x->tree);
	diff_free(&x->diff);
	json_decref(x->left.json);
	json_decref(x->right.json);
}

static const struct diff_path *path(const struct diff_tree *t, const char *name)
{
	for (uint32_t i = 1; i < t->npaths; i++)
		if (!strcmp(t->places[t->paths[i].place].qualname, name))
			return &t->paths[i];
	fail_msg("no path to %s", name);
	return NULL;
}

static void check(const struct diff_tree *t, const char *name, const char *caller, json_int_t a, json_int_t b)
{
	const struct diff_path *p = path(t, name);
	const struct diff_path *above = &t->paths[p->caller];

	assert_int_equal(p->own[0].of[0], a);
	assert_int_equal(p->own[1].of[0], b);
	assert_string_equal(p->caller ? t->places[above->place].qualname : "", caller);
}

static void test_joined(void **state)
{
	struct fixture x;

	(void)state;
	assert_int_equal(make(&x, tree_a, tree_b), 0);
	assert_int_equal(x.tree.npaths, 5);
	check(&x.tree, "main", "", 10, 11);
	check(&x.tree, "f", "main", 20, 40);
	check(&x.tree, "g", "f", 30, 0);
	check(&x.tree, "h", "main", 0, 50);
	assert_int_equal(x.tree.paths[0].own[1].of[0], 8);
	assert_int_equal(path(&x.tree, "main")->cut[0].of[0], 3);
	assert_int_equal(x.tree.places[path(&x.tree, "f")->place].firstlineno, 6); /* B's */
	assert_string_equal(x.tree.places[path(&x.tree, "f")->place].pair->how, "moved");
	end(&x);
}

/* What only one side knows is not compared; of the parts the coarser one holds for both. */
static void test_values(void **state)
{
	struct fixture x;

	(void)state;
	assert_int_equal(make(&x, tree_a, tree_b), 0);
	assert_true(x.tree.has[0] && x.tree.has[3] && !x.tree.has[1] && !x.tree.has[2]);
	assert_int_equal(x.tree.parts, 10000);
	end(&x);
}

static void test_none(void **state)
{
	struct fixture x;

	(void)state;
	assert_int_equal(make(&x, tree_a, NULL), -ENOENT);
	end(&x);
	assert_int_equal(make(&x, "{\"functions\": [1]}", tree_b), -EINVAL);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
