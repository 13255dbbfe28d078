// SPDX-License-Identifier: MIT
/* The maps' values are never removed: where a task has ended there is `dead`. */
#include "async_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

static struct async_task dead;

static uint64_t key_of(int32_t pid, uint64_t address)
{
	return address ^ (uint64_t)(uint32_t)pid << 43; /* above its 43 bits */
}

struct async_task *async_tasks_find(const struct async_tasks *t, int32_t pid, uint64_t address)
{
	struct async_task *task = map_get(&t->by_coroutine, key_of(pid, address));

	return task == &dead ? NULL : task;
}

struct async_task *async_tasks_find_again(struct async_tasks *t, int32_t pid, uint64_t address)
{
	uint64_t key = key_of(pid, address);
	struct async_task *task = t->last.key == key ? t->last.task : NULL;

	if (task)
		return task;
	task = async_tasks_find(t, pid, address);
	if (task) {
		t->last.key = key;
		t->last.task = task;
	}
	return task;
}

/* What lives at a coroutine's address is something else from here on. 0 or -ENOMEM. */
static int put(struct async_tasks *t, int32_t pid, uint64_t address, struct async_task *task)
{
	t->last.task = NULL;
	return map_put(&t->by_coroutine, key_of(pid, address), task);
}

struct job *async_tasks_known_job(const struct async_tasks *t, int32_t pid, uint64_t address)
{
	return map_get(&t->jobs, key_of(pid, address));
}

struct job *async_tasks_job(struct async_tasks *t, int32_t pid, uint64_t address)
{
	struct job *j = async_tasks_known_job(t, pid, address);

	return j ? j : map_add(&t->jobs, key_of(pid, address), sizeof(*j));
}

static struct task_total *total_in(struct map *totals, const struct code *coroutine)
{
	struct task_total *total = map_get(totals, (uintptr_t)coroutine);

	if (!total && (total = map_add(totals, (uintptr_t)coroutine, sizeof(*total))))
		total->coroutine = coroutine;
	return total;
}

static struct task_total *total_of(struct async_tasks *t, const struct code *coroutine)
{
	return total_in(&t->totals, coroutine);
}

static void add_total(struct task_total *to, const struct async_task *task, uint64_t ns)
{
	uint64_t wall = (task->ended_ns ? task->ended_ns : ns) - task->made_ns;

	to->n++;
	to->unfinished += !task->ended_ns;
	to->wall_ns += wall;
	to->running_ns += task->running_ns;
	to->resumptions += task->resumptions;
	to->ready_ns += task->ready_total_ns;
	if (wall < to->longest_ns)
		return;
	to->longest_ns = wall;
	to->longest = task->called;
}

/* A task becomes a row, or is only added up. */
static int put_away(struct async_tasks *t, struct async_task *task, uint64_t ns)
{
	struct task_total *total = total_of(t, task->coroutine);

	if (!total)
		return -ENOMEM;
	add_total(total, task, ns);
	if (t->n == TASKS_KEPT) {
		free(task);
		return 0;
	}
	if (!ARRAY_ROOM(t->rows, t->n, t->room))
		return -ENOMEM;
	t->rows[t->n++] = task;
	total->rows++;
	return 0;
}

static void rename_to(struct async_task *task, const struct called *called)
{
	task->called = *called;
}

/* A new task at an address takes the place of one that never ended: that has not begun, or its end was not seen. */
int async_tasks_tell(struct async_tasks *t, const struct async_task *task, uint64_t address)
{
	struct async_task *there = async_tasks_find(t, task->pid, address), *made;

	if (there && task->older) {
		rename_to(there, &task->called);
		return 0;
	}
	made = malloc(sizeof(*made));
	if (!made)
		return -ENOMEM;
	*made = *task;
	made->number = ++t->told;
	if (put(t, task->pid, address, made)) {
		free(made);
		return -ENOMEM;
	}
	return there ? put_away(t, there, task->made_ns) : 0;
}

void async_tasks_begun(struct async_task *task, uint64_t ns)
{
	if (!task->older)
		return;
	task->older = false;
	task->made_ns = ns;
}

int async_tasks_run(struct async_tasks *t, struct async_task *task, uint64_t step, uint64_t ns)
{
	uint64_t since = task->suspended_ns ? task->suspended_ns : task->made_ns;
	uint64_t ready = task->ready_ns > since && task->ready_ns < ns ? task->ready_ns : ns;
	struct task_total *total = task->coroutine ? total_of(t, task->coroutine) : NULL;

	if (task->coroutine && !total)
		return -ENOMEM;
	task->resumptions += task->suspended_ns != 0;
	if (total && task->suspended_ns && ready > since)
		waited_add(&total->waits, task->where, ready - since);
	*(total ? &total->ready_ns : &task->ready_total_ns) += task->suspended_ns ? ns - ready : ns - since;
	task->step = step;
	task->ready_ns = task->ready_by = 0;
	return 0;
}

void async_tasks_suspend(struct async_task *task, uint64_t ran_ns, uint64_t ns, const struct code *where,
			 const struct code *by)
{
	task->running_ns += ran_ns;
	task->suspended_ns = ns;
	task->where = where;
	task->awaited_by = by;
}

int async_tasks_end(struct async_tasks *t, struct async_task *task, uint64_t address, uint64_t ran_ns, uint64_t ns)
{
	task->running_ns += ran_ns;
	task->ended_ns = ns;
	put(t, task->pid, address, &dead); /* there already: needs no memory */
	return put_away(t, task, ns);
}

static int by_beginning(const void *left, const void *right)
{
	const struct async_task *a = *(struct async_task *const *)left, *b = *(struct async_task *const *)right;

	return a->made_ns != b->made_ns ? (a->made_ns > b->made_ns) - (a->made_ns < b->made_ns)
					: (a->called.number > b->called.number) - (a->called.number < b->called.number);
}

int async_tasks_finish(struct async_tasks *t, uint64_t ns)
{
	int err = 0;

	t->last.task = NULL;
	for (struct map_slot *s = NULL; !err && (s = map_next(&t->by_coroutine, s));) {
		struct async_task *task = s->value;

		if (task == &dead)
			continue;
		s->value = &dead;
		err = put_away(t, task, ns > task->made_ns ? ns : task->made_ns);
	}
	if (t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), by_beginning);
	return err;
}

/* Two processes' coroutines may have run for as long: the order must not depend on where these are in memory. */
static int by_coroutine(const struct code *a, const struct code *b)
{
	return a && b ? code_order(a, b) : !a - !b;
}

static int by_running(const void *left, const void *right)
{
	const struct task_total *a = *(const struct task_total *const *)left;
	const struct task_total *b = *(const struct task_total *const *)right;
	int order = (a->running_ns < b->running_ns) - (a->running_ns > b->running_ns);

	return order ? order : by_coroutine(a->coroutine, b->coroutine);
}

const struct task_total **async_tasks_ranked(const struct async_tasks *t, size_t *n)
{
	const struct task_total **all = calloc(t->totals.used + 1, sizeof(*all));

	*n = 0;
	for (struct map_slot *m = NULL; all && (m = map_next(&t->totals, m));)
		all[(*n)++] = m->value;
	if (all)
		qsort(all, *n, sizeof(*all), by_running);
	return all;
}

int async_tasks_now(const struct async_tasks *t, struct map *totals)
{
	for (struct map_slot *s = NULL; (s = map_next(&t->totals, s));) {
		struct task_total *total = map_add(totals, s->key, sizeof(*total));

		if (!total)
			return -ENOMEM;
		*total = *(const struct task_total *)s->value;
	}
	for (struct map_slot *s = NULL; (s = map_next(&t->by_coroutine, s));) {
		const struct async_task *task = s->value;
		struct task_total *total = task->coroutine ? total_in(totals, task->coroutine) : NULL;

		if (total)
			add_total(total, task, task->made_ns);
		else if (task->coroutine)
			return -ENOMEM;
	}
	return 0;
}

void async_tasks_free(struct async_tasks *t)
{
	for (struct map_slot *s = NULL; (s = map_next(&t->by_coroutine, s));)
		if (s->value != &dead)
			free(s->value);
	for (size_t i = 0; i < t->n; i++)
		free(t->rows[i]);
	free(t->rows);
	map_free(&t->by_coroutine);
	map_free_all(&t->jobs);
	map_free_all(&t->totals);
	*t = (struct async_tasks){ 0 };
}
