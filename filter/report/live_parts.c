// SPDX-License-Identifier: MIT
#include "live_parts.h"

#include <stdlib.h>

#include "base/json.h"
#include "live_rows.h"

/* The part of it on a CPU. What it was off since the thread's last event is not in ns yet. */
static uint64_t on_cpu(uint64_t ns, struct off off)
{
	return ns > off.ns ? ns - off.ns : 0;
}

static json_t *functions(struct map *told, const struct profile *p)
{
	static const struct live_names names = { { "calls", "self_ns", "self_cpu_ns", "self_waiting_ns" }, 1 };
	struct live_rows rows = { 0 };
	size_t n = 0;
	struct code **all = profile_functions(p, &n, RANK_TIME);
	json_t *array = NULL;
	int err = !all;

	for (size_t i = 0; i < n && !err; i++) {
		const struct function *f = all[i]->function;
		uint64_t self_ns = f->self_ns + f->open_ns;
		struct live_row row = {
			.code = all[i],
			.line = all[i]->firstlineno,
			.numbers = { f->calls, self_ns, on_cpu(self_ns, f->self_off), f->self_off.waiting_ns },
			.unknown = f->cpu_unknown ? 1 << 2 | 1 << 3 : 0,
		};

		err = live_rows_add(&rows, told, (uintptr_t)all[i], row);
	}
	if (!err)
		array = live_rows_json(&rows, &names);
	free(all);
	live_rows_free(&rows);
	return array;
}

static json_t *loops(struct map *told, const struct profile *p)
{
	static const struct live_names names = { { "entries", "iterations", "own_ns", "own_cpu_ns" }, 2 };
	struct live_rows rows = { 0 };
	size_t n = 0;
	struct loop **all = profile_loops(p, &n, RANK_TIME);
	json_t *array = NULL;
	int err = !all;

	for (size_t i = 0; i < n && !err; i++) {
		const struct loop *l = all[i];
		struct live_row row = {
			.code = l->code,
			.line = l->line,
			.numbers = { l->entries, l->iterations, l->own_time, on_cpu(l->own_time, l->own_off) },
			.unknown = l->code->function->cpu_unknown ? 1 << 3 : 0,
		};

		err = live_rows_add(&rows, told, (uintptr_t)l, row);
	}
	if (!err)
		array = live_rows_json(&rows, &names);
	free(all);
	live_rows_free(&rows);
	return array;
}

static json_t *tasks(struct map *told, const struct profile *p)
{
	static const struct live_names names = { { "made", "ended", "resumptions", "running_ns" }, 3 };
	struct live_rows rows = { 0 };
	struct map totals = { 0 };
	json_t *array = NULL;
	int err = async_tasks_now(&p->tasks, &totals);

	for (struct map_slot *s = NULL; !err && (s = map_next(&totals, s));) {
		const struct task_total *t = s->value;
		struct live_row row = { .code = t->coroutine,
					.numbers = { t->n, t->n - t->unfinished, t->resumptions, t->running_ns } };

		row.line = t->coroutine ? t->coroutine->firstlineno : 0;
		err = t->coroutine ? live_rows_add(&rows, told, s->key, row) : 0;
	}
	if (!err)
		array = live_rows_json(&rows, &names);
	map_free_all(&totals);
	live_rows_free(&rows);
	return array;
}

static json_t *number_or_null(bool known, uint64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

/* clang-format off */
static json_t *thread(const struct process *process, const struct thread_total *t, const uint64_t more[LIVE_NUMBERS])
{
	const char *name = process ? map_get(&process->threads, (uint32_t)t->tid) : NULL;
	bool waits = process && process->waits;

	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o}",
			 "pid", t->pid,
			 "tid", t->tid,
			 "name", json_text(name),
			 "argv", json_text(process ? process->argv : NULL),
			 "cpu_ns", number_or_null(t->cpu_known || t->used_ns, more[0]),
			 "waiting_ns", number_or_null(t->cpu_known, more[1]),
			 "gil_ns", number_or_null(waits, more[2]));
}
/* clang-format on */

static int by_ids(const void *x, const void *y)
{
	const struct thread_total *a = x, *b = y;

	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid) : (a->tid > b->tid) - (a->tid < b->tid);
}

static json_t *threads(struct map *told, const struct profile *p)
{
	json_t *array = json_array();

	if (p->threads)
		qsort(p->thread_totals, p->threads, sizeof(*p->thread_totals), by_ids);
	for (uint64_t i = 0; i < p->threads; i++) {
		const struct thread_total *t = &p->thread_totals[i];
		uint64_t numbers[LIVE_NUMBERS] = { t->used_ns, t->off.waiting_ns, t->gil_ns, 1 /* that it is there */ };
		int more = live_more(told, map_pair(t->pid, t->tid), numbers);

		if (more < 0)
			json_decref(array);
		if (more < 0)
			return NULL;
		if (more)
			array = json_append(array, thread(map_get(&p->codes->processes, (uint32_t)t->pid), t, numbers));
	}
	return array;
}

/* null: no program says what it waits for. */
static json_t *waits(struct map *told, const struct profile *p)
{
	const struct waits *all = &p->all_waits, *idle = &p->idle_waits;
	json_t *array = profile_has_waits(p) ? json_array() : json_null();

	for (int kind = 0; json_is_array(array) && kind < WAIT_KINDS; kind++) {
		uint64_t numbers[LIVE_NUMBERS] = { all->of[kind].n, all->of[kind].ns, idle->of[kind].n,
						   idle->of[kind].ns };
		int more = live_more(told, kind, numbers);

		if (more > 0)
			array = json_append(
				array, json_pack("{s:s, s:I, s:I, s:I, s:I}", "kind", wait_name(kind), "count",
						 (json_int_t)numbers[0], "ns", (json_int_t)numbers[1], "idle_count",
						 (json_int_t)numbers[2], "idle_ns", (json_int_t)numbers[3]));
	}
	return array;
}

static json_t *collections(struct map *told, const struct profile *p)
{
	json_t *array = json_array();

	for (int i = 0; array && i < GENERATIONS; i++) {
		const struct collection_total *c = &p->collections.of[i];
		uint64_t numbers[LIVE_NUMBERS] = { c->n, c->ns, c->collected };
		int more = live_more(told, i, numbers);

		if (more > 0)
			array = json_append(array, json_pack("{s:i, s:I, s:I, s:I}", "generation", i, "count",
							     (json_int_t)numbers[0], "ns", (json_int_t)numbers[1],
							     "collected", (json_int_t)numbers[2]));
	}
	return array;
}

/* clang-format off */
json_t *live_parts(struct live_told *told, const struct profile *p)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",
			 "functions", functions(&told->functions, p),
			 "loops", loops(&told->loops, p),
			 "tasks", tasks(&told->tasks, p),
			 "threads", threads(&told->threads, p),
			 "waits", waits(&told->waits, p),
			 "gc", collections(&told->collections, p));
}
/* clang-format on */

void live_told_free(struct live_told *told)
{
	map_free_all(&told->functions);
	map_free_all(&told->loops);
	map_free_all(&told->tasks);
	map_free_all(&told->threads);
	map_free_all(&told->waits);
	map_free_all(&told->collections);
}
