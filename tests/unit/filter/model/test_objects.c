/* SPDX-License-Identifier: MIT */
/* test_objects.c - which object is at an address, when addresses are used again and markers are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "code/codes.h"
#include "model/function.h"
#include "model/objects.h"

static struct codes codes;
static struct code *f, *g;
static struct objects all;

static int begin(void **state)
{
	(void)state;
	assert_int_equal(codes_init(&codes, NULL), 0);
	f = codes_intern(codes_process(&codes, 7), "a.py", "f", 1);
	g = codes_intern(codes_process(&codes, 7), "a.py", "g", 9);
	all = (struct objects){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	objects_free(&all);
	codes_free(&codes);
	return 0;
}

/* It begins, yields and so tells its address. */
static struct object *suspended(struct code *code, uint64_t address)
{
	struct object *o = objects_begin(&all, code, 10);

	assert_int_equal(objects_tell(&all, o, address), 0);
	o->suspended = true;
	o->epoch = all.epoch;
	return o;
}

static void test_each_has_its_address(void **state)
{
	struct object *a = suspended(f, 70), *b = suspended(f, 71);

	(void)state;
	assert_ptr_equal(objects_at(&all, f, 71, 20), b);
	assert_ptr_equal(objects_at(&all, f, 70, 20), a);
	assert_int_equal(a->serial, 1);
	assert_int_equal(b->serial, 2);
	assert_int_equal(f->function->objects, 2);
	assert_int_equal(f->function->older_objects, 0);
}

/* What was suspended there has been destroyed, and its loops ended as they were. */
static void test_an_address_again(void **state)
{
	struct object *a = suspended(f, 70), *b;
	struct loop *loop = function_loop(f, 4);

	(void)state;
	a->held.outermost = malloc(sizeof(*a->held.outermost));
	*a->held.outermost = (struct open_loop){ .loop = loop, .trips = 5, .nested = { .ns = 30 } };
	b = suspended(f, 70);
	assert_ptr_equal(objects_at(&all, f, 70, 20), b);
	assert_int_equal(b->serial, 2);
	assert_int_equal(loop->trips.n, 1);
	assert_int_equal(loop->time, 30);
}

static void test_after_its_end(void **state)
{
	struct object *a = suspended(f, 70), *b;

	(void)state;
	objects_end(&all, a, 35, true);
	assert_int_equal(f->function->ended_objects, 1);
	assert_int_equal(f->function->lifetime_ns, 25);
	b = objects_at(&all, f, 70, 40); /* its beginning was not seen */
	assert_int_equal(b->serial, 2);
	assert_true(b->older);
	assert_int_equal(f->function->older_objects, 1);
	objects_end(&all, b, 50, true);
	assert_int_equal(f->function->ended_objects, 1);
}

/* Its memory serves the next one, which is found at its own address alone. */
static void test_a_new_one_in_its_place(void **state)
{
	struct object *a = suspended(f, 70), *b;

	(void)state;
	objects_end(&all, a, 35, true);
	assert_null(objects_find(&all, 70));
	b = objects_begin(&all, g, 40);
	assert_ptr_equal(b, a);
	assert_null(objects_find(&all, 70));
	assert_int_equal(objects_tell(&all, b, 71), 0);
	assert_null(objects_find(&all, 70));
	assert_ptr_equal(objects_find(&all, 71), b);
	assert_false(b->suspended);
	assert_null(b->held.outermost);
	a = suspended(f, 70);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(objects_find(&all, 70), a);
	assert_ptr_equal(objects_find(&all, 71), b);
}

static void test_other_code(void **state)
{
	(void)state;
	suspended(f, 70);
	assert_true(objects_at(&all, g, 70, 20)->older);
	assert_int_equal(g->function->objects, 1);
}

static void test_markers_are_missing(void **state)
{
	struct object *a = suspended(f, 70), *b;

	(void)state;
	objects_lose(&all);
	b = objects_at(&all, f, 70, 20);
	assert_int_equal(b->serial, 2);
	assert_true(b->older);
	(void)a;
}

/* A frame has it still: that it ended was not seen. The frame ends it. */
static void test_a_running_one_is_its_frames(void **state)
{
	struct object *a = suspended(f, 70), *b;

	(void)state;
	a->suspended = false;
	a->running = true;
	b = suspended(f, 70);
	assert_int_equal(a->address, 0);
	objects_end(&all, a, 50, false);
	assert_ptr_equal(objects_at(&all, f, 70, 60), b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_has_its_address, begin, end),
		cmocka_unit_test_setup_teardown(test_an_address_again, begin, end),
		cmocka_unit_test_setup_teardown(test_after_its_end, begin, end),
		cmocka_unit_test_setup_teardown(test_a_new_one_in_its_place, begin, end),
		cmocka_unit_test_setup_teardown(test_other_code, begin, end),
		cmocka_unit_test_setup_teardown(test_markers_are_missing, begin, end),
		cmocka_unit_test_setup_teardown(test_a_running_one_is_its_frames, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
