/* SPDX-License-Identifier: MIT */
/* test_async_tasks.c - tasks that run, wait, end, are renamed, never begin; coroutines whose addresses recur. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/async_tasks.h"

static struct code f = { .qualname = (char *)"f" }, sleeps = { .qualname = (char *)"s" },
		   locks = { .qualname = (char *)"l" };

static struct async_task *make(struct async_tasks *t, uint64_t address, uint64_t number, uint64_t ns)
{
	const struct async_task task = { .called.number = number, .pid = 1, .made_ns = ns, .ready_ns = ns };
	struct async_task *made;

	assert_int_equal(async_tasks_tell(t, &task, address), 0);
	made = async_tasks_find(t, 1, address);
	assert_non_null(made);
	return made;
}

/* It is remembered, but not beyond its end, and not where another one takes its place. */
static void test_found_again(void **state)
{
	struct async_tasks t = { 0 };
	struct async_task *a = make(&t, 5, 1, 100), *b = make(&t, 6, 2, 100);

	(void)state;
	assert_ptr_equal(async_tasks_find_again(&t, 1, 5), a);
	assert_ptr_equal(async_tasks_find_again(&t, 1, 5), a);
	assert_ptr_equal(async_tasks_find_again(&t, 1, 6), b);
	assert_null(async_tasks_find_again(&t, 2, 6));
	assert_null(async_tasks_find_again(&t, 1, 7));
	assert_ptr_equal(async_tasks_find_again(&t, 1, 6), b);
	assert_int_equal(async_tasks_end(&t, b, 6, 0, 120), 0);
	assert_null(async_tasks_find_again(&t, 1, 6));
	assert_ptr_equal(async_tasks_find_again(&t, 1, 5), a);
	b = make(&t, 5, 3, 130); /* the first one's end was not seen */
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(async_tasks_find_again(&t, 1, 5), b);
	assert_int_equal(async_tasks_finish(&t, 200), 0);
	assert_null(async_tasks_find_again(&t, 1, 5));
	async_tasks_free(&t);
}

static void test_life(void **state)
{
	struct async_tasks t = { 0 };
	const struct task_total **all;
	struct async_task *task = make(&t, 5, 1, 100);
	const struct async_task other = { .called.number = 9, .pid = 1, .older = true, .made_ns = 140 };
	size_t n;

	(void)state;
	assert_null(async_tasks_find(&t, 2, 5));
	task->coroutine = &f;
	assert_int_equal(async_tasks_run(&t, task, 3, 110), 0); /* 10 ready */
	assert_int_equal(task->ready_ns, 0);
	async_tasks_suspend(task, 20, 130, &sleeps, NULL);
	task->ready_ns = 170;
	assert_int_equal(async_tasks_tell(&t, &other, 5), 0);	/* another name */
	assert_int_equal(async_tasks_run(&t, task, 4, 175), 0); /* 40 in s, 5 ready */
	async_tasks_suspend(task, 1, 176, &locks, NULL);
	assert_int_equal(async_tasks_run(&t, task, 5, 180), 0); /* 4 in l: when it was ready is not known */
	assert_int_equal(async_tasks_end(&t, task, 5, 7, 190), 0);
	assert_null(async_tasks_find(&t, 1, 5));
	make(&t, 5, 2, 300); /* at the same address */
	make(&t, 5, 3, 310); /* that one never began */
	assert_int_equal(async_tasks_finish(&t, 400), 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.rows[0]->called.number, 9);
	assert_int_equal(t.rows[0]->running_ns, 20 + 1 + 7);
	assert_int_equal(t.rows[0]->resumptions, 2);
	assert_int_equal(t.rows[0]->ended_ns, 190);
	assert_int_equal(t.rows[2]->ended_ns, 0);
	all = async_tasks_ranked(&t, &n);
	assert_int_equal(n, 2);
	assert_ptr_equal(all[0]->coroutine, &f);
	assert_int_equal(all[0]->wall_ns, 90);
	assert_int_equal(all[0]->ready_ns, 10 + 5);
	assert_ptr_equal(all[0]->waits.places[0].where, &sleeps);
	assert_int_equal(all[0]->waits.places[0].ns, 40);
	assert_ptr_equal(all[0]->waits.places[1].where, &locks);
	assert_int_equal(all[0]->waits.places[1].ns, 4);
	assert_int_equal(all[1]->n, 2);
	assert_int_equal(all[1]->unfinished, 2);
	assert_int_equal(all[1]->wall_ns, 10 + 90);
	free(all);
	async_tasks_free(&t);
}

/* Those that have no row are still added up. */
static void test_many(void **state)
{
	struct async_tasks t = { 0 };
	const struct task_total **all;
	size_t n;

	(void)state;
	for (unsigned int i = 0; i < TASKS_KEPT + 500; i++) {
		struct async_task *task = make(&t, 5, i, i);

		task->coroutine = &f;
		assert_int_equal(async_tasks_run(&t, task, 1, i), 0);
		assert_int_equal(async_tasks_end(&t, task, 5, 2, i + 2), 0);
	}
	assert_int_equal(async_tasks_finish(&t, 0), 0);
	assert_int_equal(t.n, TASKS_KEPT);
	all = async_tasks_ranked(&t, &n);
	assert_int_equal(n, 1);
	assert_int_equal(all[0]->n, TASKS_KEPT + 500);
	assert_int_equal(all[0]->rows, TASKS_KEPT);
	assert_int_equal(all[0]->running_ns, 2 * (TASKS_KEPT + 500));
	free(all);
	async_tasks_free(&t);
}

/* More places than there is room for: the rest is in the last one. */
static void test_waits(void **state)
{
	static struct code places[WAITED + 5];
	struct async_tasks t = { 0 };
	const struct task_total **all;
	struct async_task *task = make(&t, 5, 1, 0);
	uint64_t sum = 0;
	size_t n;

	(void)state;
	task->coroutine = &f;
	for (uint64_t i = 0; i < WAITED + 5; i++) {
		async_tasks_suspend(task, 0, 100 * i + 1, &places[i], NULL);
		assert_int_equal(async_tasks_run(&t, task, 1, 100 * i + 51), 0);
	}
	assert_int_equal(async_tasks_finish(&t, 9999), 0);
	all = async_tasks_ranked(&t, &n);
	for (size_t i = 0; i < WAITED; i++)
		sum += all[0]->waits.places[i].ns;
	assert_int_equal(sum, 50 * (WAITED + 5));
	assert_null(all[0]->waits.places[WAITED - 1].where);
	assert_int_equal(all[0]->waits.places[WAITED - 1].ns, 50 * 6);
	free(all);
	async_tasks_free(&t);
}

/* Those that ran for as long are in an order that is not that of memory. */
static void test_equal(void **state)
{
	enum { N = 16 };
	static struct code codes[N];
	struct process processes[N];
	struct async_tasks t = { 0 };
	const struct task_total **all;
	size_t n;

	(void)state;
	for (int i = 0; i < N; i++) {
		struct async_task *task = make(&t, i, i, 0);

		processes[i] = (struct process){ .pid = i * 7 % N };
		codes[i] = (struct code){ .file = (char *)"f", .qualname = (char *)"q", .process = &processes[i] };
		task->coroutine = &codes[i];
		assert_int_equal(async_tasks_run(&t, task, 1, 0), 0);
		assert_int_equal(async_tasks_end(&t, task, i, 5, 5), 0);
	}
	assert_int_equal(async_tasks_finish(&t, 9), 0);
	all = async_tasks_ranked(&t, &n);
	assert_int_equal(n, N);
	for (int i = 0; i < N; i++)
		assert_int_equal(all[i]->coroutine->process->pid, i);
	free(all);
	async_tasks_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_life), cmocka_unit_test(test_found_again),
					    cmocka_unit_test(test_many), cmocka_unit_test(test_waits),
					    cmocka_unit_test(test_equal) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
