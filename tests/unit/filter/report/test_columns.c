/* SPDX-License-Identifier: MIT */
/* test_columns.c - what columns hold is what was put in, however wide they became; there are never too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "report/columns.h"

#define NODES 50

static uint64_t cell(const struct columns *c, uint32_t row, uint32_t column, uint32_t node)
{
	const struct column_cell *cell = column_cells_find(&c->cells, columns_key(row, column, node));

	return cell ? cell->ns : 0;
}

/* Two threads, times that are whole columns of the first width. */
static void test_narrow(void **state)
{
	struct columns c = { 0 };
	struct columns_row *a = columns_row(&c, 1, 1), *b = columns_row(&c, 1, 2);

	(void)state;
	assert_int_equal(columns_go(&c, a, 5000, 7), 0);
	assert_int_equal(columns_go(&c, b, 5000 + 100, 9), 0);
	assert_int_equal(columns_go(&c, a, 5000 + 1024 + 24, 8), 0); /* 1048 ns of 7 */
	assert_int_equal(columns_go(&c, a, 5000 + 2 * 1024, 0), 0);  /* 1000 ns of 8 */
	assert_int_equal(columns_go(&c, a, 5000 + 3 * 1024, 7), 0);  /* in no function */
	assert_int_equal(columns_go(&c, a, 5000 + 3 * 1024 + 1, 0), 0);
	assert_int_equal(columns_go(&c, b, 5000 + 3 * 1024 + 50, 0), 0);
	assert_int_equal(columns_finish(&c), 0);
	assert_int_equal(cell(&c, 0, 0, 7), 1024);
	assert_int_equal(cell(&c, 0, 1, 7), 24);
	assert_int_equal(cell(&c, 0, 1, 8), 1000);
	assert_int_equal(cell(&c, 0, 3, 7), 1);
	assert_int_equal(cell(&c, 1, 0, 9), 1024 - 100);
	assert_int_equal(cell(&c, 1, 2, 9), 1024);
	assert_int_equal(cell(&c, 1, 3, 9), 50);
	assert_int_equal(c.cells.timed, 8);
	columns_free(&c);
}

/* What is before the first event of all threads, or goes back, is not negative. */
static void test_backwards(void **state)
{
	struct columns c = { 0 };
	struct columns_row *a = columns_row(&c, 1, 1), *b = columns_row(&c, 1, 2);

	(void)state;
	assert_int_equal(columns_go(&c, a, 5000, 7), 0);
	assert_int_equal(columns_go(&c, b, 4000, 9), 0);
	assert_int_equal(columns_go(&c, b, 4500, 9), 0);
	assert_int_equal(columns_go(&c, b, 5010, 0), 0);
	assert_int_equal(columns_go(&c, a, 5100, 8), 0);
	assert_int_equal(columns_go(&c, a, 5050, 0), 0);
	assert_int_equal(columns_finish(&c), 0);
	assert_int_equal(cell(&c, 1, 0, 9), 10);
	assert_int_equal(cell(&c, 0, 0, 7), 100);
	assert_int_equal(c.cells.timed, 2);
	columns_free(&c);
}

/* The sums of nodes over all columns, and the last column. */
static uint32_t add_up(const struct columns *c, uint64_t sums[NODES])
{
	uint32_t last = 0;

	memset(sums, 0, NODES * sizeof(*sums));
	for (uint32_t i = 0; i < c->cells.n; i++) {
		uint64_t key = c->cells.all[i].key;

		sums[columns_node(key)] += c->cells.all[i].ns;
		last = columns_column(key) > last ? columns_column(key) : last;
	}
	return last;
}

/* A long trace: columns widen, nothing is lost, and the table is no larger than for a tenth of it. */
static void test_long(void **state)
{
	struct columns c = { 0 };
	struct columns_row *row = columns_row(&c, 1, 1);
	uint64_t wanted[NODES] = { 0 }, sums[NODES], now = 77;
	size_t early = 0;
	uint32_t node = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 1000000; i++) {
		uint64_t ns = i % 1000 ? (uint64_t)rand() % 5000 : 3000000;
		uint32_t next = rand() % NODES;

		wanted[node] += i && node ? ns : 0;
		now += i ? ns : 0;
		assert_int_equal(columns_go(&c, row, now, next), 0);
		node = next;
		if (i == 100000)
			early = c.cells.room;
	}
	assert_int_equal(columns_finish(&c), 0);
	assert_true(add_up(&c, sums) < COLUMNS_MOST);
	assert_memory_equal(sums, wanted, sizeof(sums));
	assert_true((now - 77) / c.width_ns >= COLUMNS_MOST / 2 - 1);
	assert_true(c.cells.room <= 2 * early);
	columns_free(&c);
}

/* More nodes in columns than there is room for: columns widen before the trace outgrows them. */
static void test_many_nodes(void **state)
{
	struct columns c = { 0 };
	struct columns_row *row = columns_row(&c, 1, 1);
	uint64_t sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 3 * COLUMNS_CELLS; i++)
		assert_int_equal(columns_go(&c, row, i, i % 5000 + 1), 0);
	assert_int_equal(columns_go(&c, row, (uint64_t)3 * COLUMNS_CELLS, 0), 0);
	assert_int_equal(columns_finish(&c), 0);
	for (uint32_t i = 0; i < c.cells.n; i++)
		sum += c.cells.all[i].ns;
	assert_int_equal(sum, 3 * COLUMNS_CELLS);
	assert_true(c.cells.timed <= COLUMNS_CELLS + COLUMNS_RECENT);
	columns_free(&c);
}

/* The last of all times: no column ends behind it. */
static void test_far(void **state)
{
	struct columns c = { 0 };
	struct columns_row *row = columns_row(&c, 1, 1);
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(columns_go(&c, row, 0, 7), 0);
	assert_int_equal(columns_go(&c, row, UINT64_MAX, 0), 0);
	assert_int_equal(columns_finish(&c), 0);
	for (uint32_t i = 0; i < COLUMNS_MOST; i++)
		sum += columns_sum(&c, row, 7, i, 1);
	assert_true(sum == UINT64_MAX);
	columns_free(&c);
}

/* A group: times that overlap, in any order, over columns; no thread's row is one. */
static void test_group(void **state)
{
	struct columns c = { 0 };
	struct columns_row *a = columns_row(&c, 1, 1), *group = columns_group(&c, 1, 0);

	(void)state;
	assert_int_equal(columns_go(&c, a, 5000, 7), 0);
	assert_int_equal(columns_add(&c, group, 2, 5000 + 1024, 5000 + 3 * 1024), 0);
	assert_int_equal(columns_add(&c, group, 2, 4000, 5000 + 2 * 1024), 0); /* before the first column */
	assert_int_equal(columns_add(&c, group, 3, 5010, 5010), 0);
	assert_int_equal(columns_go(&c, a, 5010, 0), 0);
	assert_int_equal(columns_finish(&c), 0);
	assert_ptr_equal(columns_find_group(&c, 1, 0), group);
	assert_null(columns_find_group(&c, 1, 1));
	assert_int_equal(cell(&c, group->number, 0, 2), 1024);
	assert_int_equal(cell(&c, group->number, 1, 2), 2 * 1024);
	assert_int_equal(cell(&c, group->number, 2, 2), 1024);
	assert_int_equal(cell(&c, a->number, 0, 7), 10);
	assert_int_equal(c.cells.timed, 4);
	assert_int_equal(columns_sum(&c, group, 2, 0, 2), 3 * 1024);
	assert_int_equal(columns_sum(&c, group, 2, 1, 4), 3 * 1024);
	assert_int_equal(columns_sum(&c, group, 1, 0, 4), 0);
	assert_int_equal(columns_sum(&c, group, 2, 2, UINT32_MAX / 2), 1024);
	columns_free(&c);
}

static uint64_t more(const struct columns *c, enum columns_more kind, uint32_t column, uint32_t node)
{
	const struct column_cell *cell = column_cells_find(&c->cells, columns_key(0, column, node));

	return cell ? cell->more[kind] : 0;
}

/* Calls are where they began, also one that took no time; they stay when columns widen. */
static void test_calls(void **state)
{
	struct columns c = { 0 };
	struct columns_row *a = columns_row(&c, 1, 1);

	(void)state;
	assert_int_equal(columns_go(&c, a, 5000, 7), 0);
	assert_int_equal(columns_call(&c, a, 5000, 7), 0);
	assert_int_equal(columns_go(&c, a, 5000 + 1024, 8), 0);
	assert_int_equal(columns_call(&c, a, 5000 + 1024, 8), 0);
	assert_int_equal(columns_call(&c, a, 5000 + 1024, 8), 0);
	assert_int_equal(columns_go(&c, a, 5000 + 1024, 9), 0);
	assert_int_equal(columns_call(&c, a, 5000 + 1024, 9), 0);
	assert_int_equal(columns_go(&c, a, 5000 + 1024, 7), 0);
	assert_int_equal(columns_go(&c, a, 5000 + 1024 * COLUMNS_MOST + 1, 0), 0); /* twice as wide */
	assert_int_equal(columns_finish(&c), 0);
	assert_int_equal(c.width_ns, 2048);
	assert_int_equal(more(&c, COLUMNS_CALLS, 0, 7), 1);
	assert_int_equal(more(&c, COLUMNS_CALLS, 0, 8), 2);
	assert_int_equal(more(&c, COLUMNS_CALLS, 0, 9), 1);
	assert_int_equal(cell(&c, 0, 0, 8), 0);
	columns_free(&c);
}

/* What a thread is off counts when its next event comes, in the columns where it was; the last time never does. */
static void test_off(void **state)
{
	struct columns c = { 0 };
	struct columns_row *a = columns_row(&c, 1, 1);

	(void)state;
	assert_int_equal(columns_go(&c, a, 5000, 7), 0);
	assert_int_equal(columns_off(&c, a, 5000 + 1024 + 100, 5000, (struct off){ 200, 200 }), 0);
	assert_int_equal(columns_off(&c, a, 5000 + 1024 + 400, 5000, (struct off){ 50, 0 }), 0);
	assert_int_equal(more(&c, COLUMNS_WAITING, 0, 7), 0);
	assert_int_equal(columns_go(&c, a, 5000 + 2048, 8), 0);
	assert_int_equal(columns_off(&c, a, 5000 + 2048 + 100, 5000 + 2048, (struct off){ 60, 60 }), 0);
	assert_int_equal(columns_end(&c, a, 5000 + 2048), 0);
	assert_int_equal(columns_go(&c, a, 5000 + 2048, 0), 0);
	assert_int_equal(columns_off(&c, a, 5000 + 4096, 5000 + 2048, (struct off){ 60, 60 }), 0); /* in no function */
	assert_int_equal(columns_go(&c, a, 5000 + 4096, 0), 0);
	assert_int_equal(columns_finish(&c), 0);
	assert_int_equal(more(&c, COLUMNS_WAITING, 0, 7), 100);
	assert_int_equal(more(&c, COLUMNS_WAITING, 1, 7), 100);
	assert_int_equal(more(&c, COLUMNS_PREEMPTED, 1, 7), 50);
	assert_int_equal(c.cells.has[COLUMNS_WAITING], 2);
	assert_int_equal(c.cells.has[COLUMNS_PREEMPTED], 1);
	columns_free(&c);
}

/* Events that change no function, as loops have: seen by a later time of the last one. */
static void test_off_between(void **state)
{
	struct columns c = { 0 };
	struct columns_row *a = columns_row(&c, 1, 1);

	(void)state;
	assert_int_equal(columns_go(&c, a, 5000, 7), 0);
	assert_int_equal(columns_off(&c, a, 5100, 5000, (struct off){ 20, 20 }), 0);
	assert_int_equal(columns_off(&c, a, 5300, 5200, (struct off){ 30, 30 }), 0);
	assert_int_equal(more(&c, COLUMNS_WAITING, 0, 7), 20);
	assert_int_equal(columns_end(&c, a, 5400), 0);
	assert_int_equal(columns_off(&c, a, 5500, 5400, (struct off){ 40, 40 }), 0);
	assert_int_equal(columns_end(&c, a, 5400), 0);
	assert_int_equal(more(&c, COLUMNS_WAITING, 0, 7), 50);
	columns_free(&c);
}

static void check_cells(const struct column_cells *a, const struct column_cells *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct column_cell *cell = &a->all[i], *same = column_cells_find(b, cell->key);

		assert_non_null(same);
		assert_memory_equal(cell, same, sizeof(*cell));
	}
}

/* In one step or in two, from narrow columns to wide ones. */
static void test_went(void **state)
{
	struct columns one = { 0 }, two = { 0 };
	struct columns_row *a = columns_row(&one, 1, 1), *b = columns_row(&two, 1, 1);
	uint64_t now = 5000;

	(void)state;
	srand(1);
	for (int i = 0; i < 300000; i++) {
		uint32_t node = rand() % 4 ? rand() % 4 : rand() % (2 * COLUMNS_RECENT);
		bool called = node && rand() % 2;

		now += rand() % 100 ? rand() % 30 : rand() % 20 ? 1024 : -(rand() % 50);
		assert_int_equal(columns_went(&one, a, now, node, called), 0);
		assert_int_equal(columns_go(&two, b, now, node), 0);
		if (called)
			assert_int_equal(columns_call(&two, b, now, node), 0);
	}
	assert_int_equal(columns_finish(&one), 0);
	assert_int_equal(columns_finish(&two), 0);
	assert_true(one.width_ns > COLUMNS_WIDTH);
	check_cells(&one.cells, &two.cells);
	assert_int_equal(a->ns, b->ns);
	columns_free(&one);
	columns_free(&two);
}

/* Calls by node 7 that are told one by one, or by their sums while they are of one column. */
static void test_were_called(void **state)
{
	struct columns one = { 0 }, sums = { 0 };
	struct columns_row *a = columns_row(&one, 1, 1), *b = columns_row(&sums, 1, 1);
	uint64_t now = 5000, ns[3 * COLUMNS_RECENT] = { 0 }, calls[3 * COLUMNS_RECENT] = { 0 };

	(void)state;
	srand(2);
	assert_int_equal(columns_went(&one, a, now, 7, true), 0);
	assert_int_equal(columns_went(&sums, b, now, 7, true), 0);
	for (int i = 0; i < 300000; i++) {
		uint32_t node = 8 + rand() % (3 * COLUMNS_RECENT - 8);
		uint64_t begins = now + rand() % 3, ends = begins + (i % 1000 ? rand() % 40 : 3000);
		bool told = columns_calls_until(b, 7) <= ends;

		now = ends;
		assert_int_equal(columns_called(&one, a, begins, node, ends, 7), 0);
		calls[node] += !told;
		ns[node] += told ? 0 : ends - begins;
		for (uint32_t k = 0; k < 3 * COLUMNS_RECENT && (told || i % 50 == 0); k++)
			if (calls[k]) {
				assert_int_equal(columns_were_called(&sums, b, k, calls[k], ns[k]), 0);
				calls[k] = ns[k] = 0;
			}
		if (told)
			assert_int_equal(columns_called(&sums, b, begins, node, ends, 7), 0);
	}
	for (uint32_t k = 0; k < 3 * COLUMNS_RECENT; k++)
		if (calls[k])
			assert_int_equal(columns_were_called(&sums, b, k, calls[k], ns[k]), 0);
	assert_int_equal(columns_calls_until(b, 8), 0);
	assert_int_equal(columns_go(&one, a, now + 5, 0), 0);
	assert_int_equal(columns_go(&sums, b, now + 5, 0), 0);
	assert_int_equal(columns_calls_until(b, 0), 0);
	assert_int_equal(columns_finish(&one), 0);
	assert_int_equal(columns_finish(&sums), 0);
	check_cells(&one.cells, &sums.cells);
	assert_int_equal(a->ns, b->ns);
	columns_free(&one);
	columns_free(&sums);
}

/* --- columns of processes that were analysed apart */

#define PIDS 3

/* Process 1 is the first to do something. */
static void feed(struct columns *c, int32_t first, int32_t last, int events, uint32_t by)
{
	uint64_t now = 4000;

	srand(2);
	for (int i = 0; i < events; i++) {
		int32_t pid = i ? 1 + rand() % PIDS : 1;
		uint32_t node = rand() % 4 ? 100 * pid + rand() % 50 : 0;
		uint64_t waited = rand() % 30;
		bool called = rand() % 2;

		now += rand() % 100 ? rand() % 300 : rand() % 40000;
		if (pid < first || pid > last)
			continue;
		node -= node ? by : 0;
		assert_int_equal(columns_went(c, columns_row(c, pid, pid), now, node, called && node), 0);
		if (node && waited > 20) {
			struct columns_row *group = columns_group(c, pid, 7);

			columns_row(c, pid, pid)->waits = group;
			assert_int_equal(columns_add(c, group, 1, now - waited, now), 0);
		}
	}
}

/* The same whatever the rows' numbers are. */
static void check_same(const struct columns *a, const struct columns *b)
{
	assert_int_equal(a->cells.timed, b->cells.timed);
	assert_int_equal(a->cells.has[COLUMNS_CALLS], b->cells.has[COLUMNS_CALLS]);
	assert_int_equal(a->origin_ns, b->origin_ns);
	assert_int_equal(a->width_ns, b->width_ns);
	assert_int_equal(a->nrows, b->nrows);
	for (const struct tstate *s = a->rows.all; s; s = s->next) {
		const struct columns_row *one = (const struct columns_row *)s,
					 *other = (const struct columns_row *)tstate_find(&b->rows, s->pid, s->tid, 0);

		assert_int_equal(one->ns, other->ns);
		assert_int_equal(one->group, other->group);
		assert_true(!one->waits == !other->waits);
		if (one->waits)
			assert_ptr_equal(other->waits, columns_find_group(b, s->pid, 7));
		for (uint32_t node = 0; node < 100 * (PIDS + 1); node++)
			for (uint32_t i = columns_sum(a, one, node, 0, COLUMNS_MOST) ? 0 : COLUMNS_MOST;
			     i < COLUMNS_MOST; i++)
				assert_int_equal(cell(a, one->number, i, node), cell(b, other->number, i, node));
	}
}

static void test_joined(void **state)
{
	static const int events[] = { 20, 3000, 60000 }; /* of narrow columns, and wider ones */

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		struct columns all = { 0 }, parts[PIDS] = { 0 };
		uint64_t first_ns = 0;

		feed(&all, 1, PIDS, events[i], 0);
		for (int k = 0; k < PIDS; k++) {
			struct columns_row *row = columns_row(&parts[k], k + 1, k + 1);

			first_ns = k ? first_ns : all.origin_ns;
			assert_int_equal(columns_go(&parts[k], row, first_ns, 0), 0); /* as if they had agreed */
			feed(&parts[k], k + 1, k + 1, events[i], k ? 50 * k : 0);
		}
		for (int k = 1; k < PIDS; k++)
			assert_int_equal(columns_join(&parts[0], &parts[k], 50 * k), 0);
		assert_null(parts[1].cells.all); /* its memory is not needed any more */
		assert_int_equal(columns_finish(&all), 0);
		assert_int_equal(columns_finish(&parts[0]), 0);
		check_same(&all, &parts[0]);
		columns_free(&parts[0]);
		columns_free(&all);
	}
}

/* Too many only together: the columns widen, as those of all did. Each node is in two neighbours. */
static void test_joined_many_nodes(void **state)
{
	struct columns all = { 0 }, parts[2] = { 0 };
	const uint32_t of_one = COLUMNS_CELLS * 2 / 3 / COLUMNS_MOST, most = of_one * COLUMNS_MOST;

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct columns_row *row = columns_row(&parts[k], k, 1), *same = columns_row(&all, k, 1);

		for (uint32_t i = 0; i < most; i++) {
			uint64_t ns = (uint64_t)i * COLUMNS_MOST * COLUMNS_WIDTH / most;
			uint32_t node = 1 + i % of_one + i / (2 * of_one) * of_one;

			assert_int_equal(columns_go(&parts[k], row, ns, node), 0);
			assert_int_equal(columns_go(&all, same, ns, node), 0);
		}
		assert_int_equal(parts[k].width_ns, COLUMNS_WIDTH);
	}
	assert_int_equal(columns_finish(&all), 0);
	assert_int_equal(columns_join(&parts[0], &parts[1], 0), 0);
	assert_int_equal(columns_finish(&parts[0]), 0);
	assert_true(all.width_ns > COLUMNS_WIDTH);
	assert_int_equal(all.width_ns, parts[0].width_ns);
	assert_int_equal(all.cells.timed, parts[0].cells.timed);
	columns_free(&parts[0]);
	columns_free(&all);
}

static void test_unjoinable(void **state)
{
	struct columns one = { 0 }, other = { 0 }, same = { 0 }, none = { 0 };

	(void)state;
	assert_int_equal(columns_go(&one, columns_row(&one, 1, 1), 5000, 7), 0);
	assert_int_equal(columns_go(&other, columns_row(&other, 2, 1), 5001, 7), 0);
	assert_int_equal(columns_go(&same, columns_row(&same, 1, 1), 5000, 7), 0);
	assert_int_equal(columns_join(&one, &none, 1), 0);
	assert_int_equal(columns_join(&one, &other, 1), -EAGAIN);
	assert_int_equal(columns_join(&one, &same, 1), -EAGAIN);
	assert_int_equal(columns_join(&none, &one, 1), 0);
	assert_int_equal(none.origin_ns, 5000);
	columns_free(&none);
}

struct agreeing {
	pthread_t thread;
	struct columns columns;
	uint64_t ns; /* 0: it hears of nothing */
};

static void *begin(void *of)
{
	struct agreeing *a = of;

	if (a->ns)
		columns_go(&a->columns, columns_row(&a->columns, (int32_t)a->ns, 1), a->ns, 1);
	columns_heard(&a->columns);
	return NULL;
}

static void test_agreed(void **state)
{
	struct agreeing all[] = { { .ns = 7000 }, { .ns = 0 }, { .ns = 6000 }, { .ns = 6500 } };
	struct columns_shared shared;

	(void)state;
	columns_shared_init(&shared);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		columns_share(&all[i].columns, &shared);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_int_equal(pthread_create(&all[i].thread, NULL, begin, &all[i]), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		pthread_join(all[i].thread, NULL);
		assert_int_equal(all[i].columns.origin_ns, all[i].ns ? 6000 : 0);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		columns_free(&all[i].columns);
	columns_shared_destroy(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow),	    cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_long),	    cmocka_unit_test(test_many_nodes),
		cmocka_unit_test(test_group),	    cmocka_unit_test(test_far),
		cmocka_unit_test(test_calls),	    cmocka_unit_test(test_off),
		cmocka_unit_test(test_off_between), cmocka_unit_test(test_went),
		cmocka_unit_test(test_were_called), cmocka_unit_test(test_joined),
		cmocka_unit_test(test_unjoinable),  cmocka_unit_test(test_joined_many_nodes),
		cmocka_unit_test(test_agreed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
