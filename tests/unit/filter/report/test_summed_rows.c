/* SPDX-License-Identifier: MIT */
/* test_summed_rows.c - who waits, locks, the GIL, exceptions, specialization: one row a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "report/summed_rows.h"

struct fixture {
	struct codes codes;
	struct profile p;
	struct code *f[2], *g; /* f in both processes */
	struct waits waits[2], idle;
};

static int set_up(void **state)
{
	static struct fixture x;

	x = (struct fixture){ .p = { .codes = &x.codes } };
	codes_init(&x.codes, NULL);
	for (int i = 0; i < 2; i++) {
		x.f[i] = codes_intern(codes_process(&x.codes, 7 + i), "/a.py", "f", 5);
		function_of(x.f[i])->calls = 10 + i;
	}
	x.g = codes_intern(codes_process(&x.codes, 8), "/a.py", "g", 9);
	function_of(x.g)->calls = 1;
	*state = &x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	for (int i = 0; i < 2; i++)
		x->f[i]->function->waits = x->f[i]->function->idle = NULL;
	locks_free(&x->p.locks);
	exceptions_free(&x->p.exceptions);
	codes_free(&x->codes);
	return 0;
}

/* Where the kernel's times are not known, by what the program tells. */
static void test_waiting(void **state)
{
	struct fixture *x = *state;
	struct waiting *rows;
	size_t n;

	waits_add(&x->waits[0], WAIT_FOR_LOCK, 100);
	waits_add(&x->waits[1], WAIT_FOR_LOCK, 30);
	waits_add(&x->waits[1], WAIT_FOR_SLEEP, 20);
	waits_add(&x->idle, WAIT_FOR_LOCK, 30);
	for (int i = 0; i < 2; i++)
		x->f[i]->function->waits = &x->waits[i];
	x->f[1]->function->idle = &x->idle;
	rows = summed_waiting(&x->p, &n);
	assert_int_equal(n, 1);
	assert_ptr_equal(rows[0].at.code, x->f[0]);
	assert_int_equal(rows[0].at.most, 150);
	assert_int_equal(rows[0].calls, 21);
	assert_int_equal(rows[0].told.of[WAIT_FOR_LOCK].ns, 130);
	assert_int_equal(rows[0].told.of[WAIT_FOR_LOCK].n, 2);
	assert_int_equal(rows[0].told.of[WAIT_FOR_LOCK].longest_ns, 100);
	assert_int_equal(waits_ns(&rows[0].idle), 30);
	free(rows);
}

static void test_locks(void **state)
{
	struct fixture *x = *state;
	struct summed_lock *rows;
	size_t n;

	assert_int_equal(locks_add(&x->p.locks, x->f[0], 1, 50), 0);
	assert_int_equal(locks_add(&x->p.locks, x->f[1], 1, 60), 0);
	assert_int_equal(locks_add(&x->p.locks, x->f[1], 2, 109), 0);
	rows = summed_locks(&x->p, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].line, 6);
	assert_int_equal(rows[0].at.most, 110);
	assert_int_equal(rows[0].waited.n, 2);
	assert_int_equal(rows[0].waited.longest_ns, 60);
	assert_int_equal(rows[1].line, 7);
	free(rows);
}

/* Together those of one place may come before what is more than each. */
static void test_holders(void **state)
{
	struct fixture *x = *state;
	struct holder *rows;
	size_t n;

	x->f[0]->function->gil_held_ns = x->f[1]->function->gil_held_ns = 40;
	x->g->function->gil_held_ns = 70;
	rows = summed_holders(&x->p, &n);
	assert_int_equal(n, 2);
	assert_ptr_equal(rows[0].at.code, x->f[0]);
	assert_int_equal(rows[0].at.most, 80);
	assert_int_equal(rows[0].calls, 21);
	assert_ptr_equal(rows[1].at.code, x->g);
	free(rows);
}

/* Of a process that says which opcodes can be specialized, and stopped in order. */
static void test_specialization(void **state)
{
	struct fixture *x = *state;
	struct specialized_row *rows;
	struct instr able = { .base = 1, .first = 1, .adaptive = 2 };
	size_t n;

	for (int i = 0; i < 2; i++) {
		struct process *process = codes_process(&x->codes, 7 + i);

		process->ables = process->able[1] = true;
		process->stopped = !i;
		x->f[i]->instrs = &able;
		x->f[i]->ninstrs = 1;
	}
	rows = summed_specialization(&x->p, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].of.able, 1);
	free(rows);
	codes_process(&x->codes, 8)->stopped = true;
	rows = summed_specialization(&x->p, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].of.able, 2);
	assert_int_equal(rows[0].of.gained, 2);
	free(rows);
	for (int i = 0; i < 2; i++) {
		x->f[i]->instrs = NULL;
		x->f[i]->ninstrs = 0;
	}
}

static void raise_in(struct fixture *x, const struct code *code, const struct code *type, int64_t line)
{
	struct flights f = { 0 };
	const struct raise at = { .first = true, .object = 1, .type = type, .code = code, .line = line, .depth = 1 };
	struct flight ended;
	bool begun;

	assert_int_equal(flights_raise(&f, &x->p.exceptions, &at, &begun), 0);
	assert_int_equal(flights_handle(&f, code, 11, 1, 0, &ended), 0);
	flights_end(&f);
	free(f.on_way);
}

static void test_raised(void **state)
{
	struct fixture *x = *state;
	struct raised_row *rows;
	size_t n;

	for (int i = 0; i < 2; i++) {
		const struct code *type = codes_intern(codes_process(&x->codes, 7 + i), "builtins", "ValueError", 0);

		raise_in(x, x->f[i], type, 6);
		raise_in(x, x->f[i], NULL, 6);
	}
	raise_in(x, x->f[1], NULL, 7);
	rows = summed_raised(&x->p, &n);
	assert_int_equal(n, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rows[i].of.n, 2);
		assert_int_equal(rows[i].of.handled, 2);
		assert_int_equal(rows[i].of.nhandlers, 1);
		assert_int_equal(raised_handler(&rows[i].of)->n, 2);
	}
	assert_int_equal(rows[2].of.line, 7);
	summed_raised_free(rows, n);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_waiting), TEST(test_locks), TEST(test_holders), TEST(test_specialization), TEST(test_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
