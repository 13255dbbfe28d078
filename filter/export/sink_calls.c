// SPDX-License-Identifier: MIT
#include "sink_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/calltree_join.h"
#include "model/profile.h"
#include "shared/array.h"

static bool is_passed(const struct sink_calls *c, const struct code *code)
{
	return c->profiled && code->c && !code->profiled;
}

static bool is_named(const struct called *c)
{
	char text[CALLED_TEXT];

	return *called_text(c, text);
}

static bool has_room(const struct sink_calls *c, bool of_task)
{
	const struct call_groups *g = &c->groups;

	if (of_task)
		return g->ntasks < CALL_GROUPS_MOST && c->tree.nnodes < CALL_GROUPS_NODES / 2;
	return g->n - g->ntasks < CALL_GROUPS_MOST && c->tree.nnodes < CALL_GROUPS_NODES;
}

/* Under a key that is free; 0: there is no room. Or -ENOMEM. */
static int64_t new_group(struct sink_calls *c, uint64_t key, const struct call_group *group)
{
	struct call_groups *g = &c->groups;
	bool of_task = is_named(&group->task);

	if (!has_room(c, of_task))
		return 0;
	if (!ARRAY_ROOM(g->all, g->n, g->room))
		return -ENOMEM;
	g->all[g->n++] = *group;
	g->ntasks += of_task;
	return map_put(&g->numbers, key, (void *)(uintptr_t)g->n) ? -ENOMEM : (int64_t)g->n;
}

static uint64_t key_of(enum call_grouping by, const struct call_group *g)
{
	char request[CALLED_TEXT], task[CALLED_TEXT];

	if (by == CALLS_BY_SPAN)
		return map_pair(g->traced.pieces[MARKER_TRACE_PIECES], g->traced.pieces[MARKER_TRACE_PIECES + 1]);
	return hash_text(hash_text(HASH_START, called_text(&g->request, request)) + 1, called_text(&g->task, task));
}

static bool is_called_so(const struct called *a, const struct called *b)
{
	char one[CALLED_TEXT], other[CALLED_TEXT];

	return !strcmp(called_text(a, one), called_text(b, other));
}

static bool is_same(enum call_grouping by, const struct call_group *a, const struct call_group *b)
{
	return by == CALLS_BY_SPAN ? !memcmp(&a->traced, &b->traced, sizeof(a->traced))
				   : is_called_so(&a->request, &b->request) && is_called_so(&a->task, &b->task);
}

/* OpenTelemetry knows it; or something has a name. */
static bool is_known(enum call_grouping by, const struct call_group *g)
{
	char text[TRACED_TEXT];

	return by == CALLS_BY_SPAN ? traced_trace_id(&g->traced, text) && traced_span_id(&g->traced, text)
				   : is_named(&g->request) || is_named(&g->task);
}

/* 0: there is no room for it, or nothing is known. Or -ENOMEM. */
static int64_t find_group(struct sink_calls *c, const struct call_group *wanted)
{
	struct call_groups *g = &c->groups;
	uint64_t key;
	uint32_t group;

	if (!is_known(g->by, wanted))
		return 0;
	key = key_of(g->by, wanted);
	while ((group = (uintptr_t)map_get(&g->numbers, key)) && !is_same(g->by, &g->all[group - 1], wanted))
		key++;
	return group ? (int64_t)group : new_group(c, key, wanted);
}

static struct call_group wanted_by(enum call_grouping by, const struct activation *a)
{
	struct call_group wanted = { 0 };

	if (by == CALLS_BY_SPAN && a->request)
		wanted.traced = a->request->traced;
	if (by == CALLS_BY_NAMES && a->request)
		wanted.request = a->request->called;
	if (by == CALLS_BY_NAMES && a->task)
		wanted.task = a->task->called;
	return wanted;
}

/* Where there was no room for the whole. */
static int64_t without_task(struct sink_calls *c, struct call_group wanted)
{
	c->groups.other_tasks++;
	wanted.task = (struct called){ 0 };
	return find_group(c, &wanted);
}

/* In which the path of an activation is that a request or a task is known of. Or -ENOMEM. */
static __attribute__((noinline)) int64_t group_of(struct sink_calls *c, const struct activation *a)
{
	struct call_groups *g = &c->groups;
	struct call_group wanted = wanted_by(g->by, a);
	int64_t group;

	if (g->latest_number && !memcmp(&wanted, &g->latest, sizeof(wanted)))
		return g->latest_number;
	group = find_group(c, &wanted);
	if (group > 0) {
		g->latest = wanted;
		g->latest_number = group;
	}
	if (!group && is_named(&wanted.task))
		group = without_task(c, wanted);
	if (!group && (g->by == CALLS_BY_NAMES ? is_named(&wanted.request) : is_known(g->by, &wanted)))
		g->others++;
	return group;
}

/* Which is 0 if nothing is known. Or -ENOMEM. */
static inline int64_t group_at(struct sink_calls *c, const struct activation *a)
{
	return c->groups.by && (a->request || a->task) ? group_of(c, a) : 0;
}

static int calls_enter(struct sink *s, const struct activation *a)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int64_t group;

	if (is_passed(c, a->code))
		return 0;
	group = group_at(c, a);
	return group < 0 || calltree_enter_in(&c->tree, a, group) ? sink_file_no_memory(s) : 0;
}

static int calls_resume(struct sink *s, const struct activation *a)
{
	return calltree_resume(&((struct sink_calls *)s)->tree, a) ? sink_file_no_memory(s) : 0;
}

static int calls_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
		       uint64_t end_cycles)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = (is_passed(c, a->code) ? calltree_pass : calltree_leave)(&c->tree, a, end_ns, end_cycles);

	(void)how;
	return err ? sink_file_no_memory(s) : 0;
}

static int calls_call(struct sink *s, const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	struct sink_calls *c = (struct sink_calls *)s;
	struct call_root *r = calltree_root_of(&c->tree, a);
	int64_t group;

	if (is_passed(c, a->code))
		return calls_leave(s, a, LEAVE_RETURN, end_ns, end_cycles);
	group = group_at(c, a);
	return group < 0 || !r || calltree_call_on(&c->tree, r, a, group, end_ns, end_cycles) ? sink_file_no_memory(s)
											      : 0;
}

static int calls_calls(struct sink *s, const struct activation *first, const struct call_sums *sums)
{
	struct sink_calls *c = (struct sink_calls *)s;
	struct call_root *r = calltree_root_of(&c->tree, first);

	return !r || calltree_calls_on(&c->tree, r, first, 0, sums) ? sink_file_no_memory(s) : 0;
}

/* Which group each is in is looked up, and counted, one by one. */
static uint64_t calls_until(struct sink *s, const struct activation *caller)
{
	const struct sink_calls *c = (const struct sink_calls *)s;

	(void)caller;
	return c->groups.by && (s->profile->requests.begun || s->profile->tasks.told) ? 0 : UINT64_MAX;
}

/* Beside functions, in files that may have anything in a stack. */
static int calls_label(struct sink *s, const struct label_mark *m)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = 0;

	if (c->with_spans && m->what == LABEL_BEGIN)
		err = calltree_begin_span(&c->tree, m);
	else if (c->with_spans && m->what == LABEL_END)
		err = calltree_end_span(&c->tree, m);
	return err ? sink_file_no_memory(s) : 0;
}

static int calls_finish(struct sink *s, const struct profile *p)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = c->write(c, p);

	return err ? sink_file_no_memory(s) : sink_file_close(s);
}

static int calls_part(struct sink **out, struct sink *of)
{
	const struct sink_calls *whole = (const struct sink_calls *)of;
	struct sink_calls *c;
	int err = sink_file_part(out, sizeof(*c), of);

	if (err)
		return err;
	c = (struct sink_calls *)*out;
	c->tree.by_process = whole->tree.by_process;
	c->profiled = whole->profiled;
	c->with_spans = whole->with_spans;
	c->groups.by = whole->groups.by;
	return 0;
}

/* Groups are numbered in the order in which they appear in any process. */
static int calls_join(struct sink *to, struct sink *part)
{
	struct sink_calls *c = (struct sink_calls *)to, *more = (struct sink_calls *)part;
	uint32_t by;

	if (more->groups.n || more->groups.others || more->groups.other_tasks)
		return -EAGAIN;
	return calltree_join(&c->tree, &more->tree, &by);
}

static void calls_free(struct sink *s)
{
	struct sink_calls *c = (struct sink_calls *)s;

	calltree_free(&c->tree);
	map_free(&c->groups.numbers);
	free(c->groups.all);
	sink_file_free(s);
}

static const struct sink_ops calls_ops = {
	.enter = calls_enter,
	.resume = calls_resume,
	.leave = calls_leave,
	.call = calls_call,
	.calls = calls_calls,
	.calls_until = calls_until,
	.label = calls_label,
	.part = calls_part,
	.join = calls_join,
	.finish = calls_finish,
	.free = calls_free,
};

int sink_calls_open(struct sink **out, const struct sink_options *o, char *error,
		    int (*write)(struct sink_calls *s, const struct profile *p))
{
	int err = sink_file_open(out, sizeof(struct sink_calls), &calls_ops, o, error);

	if (!err)
		((struct sink_calls *)*out)->write = write;
	return err;
}

void sink_calls_thread(FILE *f, const struct profile *p, const struct call_root *r)
{
	const struct process *process = codes_process(p->codes, r->tstate.pid);
	const char *name = process ? process_thread_name(process, r->tstate.tid) : NULL;

	if (!name)
		name = r->tstate.pid == r->tstate.tid ? "main" : "thread";
	fprintf(f, "%s (pid %d, tid %d", name, r->tstate.pid, r->tstate.tid);
	if (r->tstate.interpreter)
		fprintf(f, ", interpreter %" PRIu32, r->tstate.interpreter);
	fputc(')', f);
}

char *sink_calls_thread_name(const struct profile *p, const struct call_root *r)
{
	char *name = NULL;
	size_t size;
	FILE *f = open_memstream(&name, &size);

	if (!f)
		return NULL;
	sink_calls_thread(f, p, r);
	if (!fclose(f))
		return name;
	free(name);
	return NULL;
}

void sink_calls_cost(const struct calltree *t, uint32_t node, uint64_t values[COSTS])
{
	const struct call_node *n = &t->nodes[node];
	struct off off = calltree_self_off(t, node);

	values[COST_CALLS] = n->calls;
	values[COST_WALL] = n->self_ns;
	values[COST_CPU] = n->self_ns > off.ns ? n->self_ns - off.ns : 0;
	values[COST_WAITING] = off.waiting_ns;
}

static int by_activity(const void *left, const void *right)
{
	const struct call_thread *a = left, *b = right;

	return (a->ns < b->ns) - (a->ns > b->ns) ?: (a->number > b->number) - (a->number < b->number);
}

/* How long it ran on a CPU, or at all. */
static uint64_t activity(const struct calltree *t, uint32_t root, bool by_cpu)
{
	uint64_t ns = 0, off = 0;

	for (uint32_t i = t->nodes[root].first; i; i = t->nodes[i].next) {
		ns += t->nodes[i].ns;
		off += by_cpu ? t->nodes[i].off.ns : 0;
	}
	return ns > off ? ns - off : 0;
}

struct call_thread *sink_calls_ranked(const struct calltree *t, size_t *n, bool by_cpu)
{
	const struct call_root **roots = calltree_roots(t, n);
	struct call_thread *threads = roots ? calloc(*n + 1, sizeof(*threads)) : NULL;

	for (size_t i = 0; threads && i < *n; i++)
		threads[i] = (struct call_thread){ roots[i], i, activity(t, roots[i]->root, by_cpu) };
	if (threads)
		qsort(threads, *n, sizeof(*threads), by_activity);
	free(roots);
	return threads;
}
