// SPDX-License-Identifier: MIT
#include "sink_calls.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/profile.h"

static bool is_passed(const struct sink_calls *c, const struct code *code)
{
	return c->profiled && code->c && !code->profiled;
}

static int calls_enter(struct sink *s, const struct activation *a)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = is_passed(c, a->code) ? 0 : calltree_enter(&c->tree, a);

	return err ? sink_file_no_memory(s) : 0;
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

static void calls_free(struct sink *s)
{
	calltree_free(&((struct sink_calls *)s)->tree);
	sink_file_free(s);
}

static const struct sink_ops calls_ops = {
	.enter = calls_enter,
	.resume = calls_resume,
	.leave = calls_leave,
	.label = calls_label,
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
