// SPDX-License-Identifier: MIT
/* A reused tid gets a new task; the old one stays valid. */
#include "perf_tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

#define CPUS_MAX (1 << 20)

int tasks_init(struct tasks *t)
{
	*t = (struct tasks){ 0 };
	return tasks_name(t, 0, 0) ? 0 : -ENOMEM; /* idle */
}

void tasks_free(struct tasks *t)
{
	for (struct task *k = t->newest, *older; k; k = older) {
		older = k->older;
		free(k);
	}
	map_free(&t->by_tid);
	free(t->running);
}

struct task *tasks_find(const struct tasks *t, int32_t tid)
{
	return map_get(&t->by_tid, (uint32_t)tid);
}

static struct task *make(struct tasks *t, int32_t pid, int32_t tid)
{
	struct task *k = map_add(&t->by_tid, (uint32_t)tid, sizeof(*k));

	if (!k)
		return NULL;
	*k = (struct task){ .pid = pid, .tid = tid, .cpu = -1, .older = t->newest };
	return t->newest = k;
}

struct task *tasks_name(struct tasks *t, int32_t pid, int32_t tid)
{
	struct task *k = tasks_find(t, tid);

	if (!k)
		return make(t, pid, tid);
	if (k->pid == -1)
		k->pid = pid;
	return k;
}

/* The counted cycles of a tid continue, so that no measured time runs backwards. */
static struct task *replace(struct tasks *t, const struct task *old, int32_t pid, int32_t tid)
{
	struct task *k = make(t, pid, tid);

	if (k && old)
		k->cycles = old->cycles;
	return k;
}

int tasks_fork(struct tasks *t, int32_t pid, int32_t tid, int32_t ppid, int32_t ptid)
{
	struct task *parent = tasks_name(t, ppid, ptid);

	if (parent && parent->pid != ppid)
		parent = replace(t, parent, ppid, ptid);
	if (!parent || !replace(t, tasks_find(t, tid), pid, tid))
		return -ENOMEM;
	return 0;
}

static int make_room(struct tasks *t, uint32_t ncpus)
{
	if (!ARRAY_RESIZE(t->running, ncpus))
		return -ENOMEM;
	while (t->ncpus < ncpus)
		t->running[t->ncpus++] = -1;
	return 0;
}

int tasks_run(struct tasks *t, int32_t cpu, int32_t pid, int32_t tid)
{
	struct task *k;

	if (cpu < 0 || cpu >= CPUS_MAX)
		return -EINVAL;
	if ((uint32_t)cpu >= t->ncpus && make_room(t, cpu + 1))
		return -ENOMEM;
	t->running[cpu] = tid;
	k = tasks_name(t, pid, tid);
	if (k)
		k->cpu = cpu;
	return k ? 0 : -ENOMEM;
}

int32_t tasks_running(const struct tasks *t, int32_t cpu)
{
	return cpu < 0 || (uint32_t)cpu >= t->ncpus ? -1 : t->running[cpu];
}
