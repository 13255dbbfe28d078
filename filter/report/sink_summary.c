// SPDX-License-Identifier: MIT
/*
 * Written piece by piece at the end, a line for each function and loop: a program may have a hundred
 * thousand of them, and all of them as one tree would take ten times the memory of the file.
 */
#include "sink_summary.h"

#include <errno.h>
#include "base/cpus.h"
#include "base/ordered.h"
#include "base/value.h"
#include <stdlib.h>
#include <string.h>

#include "model/calltree_join.h"
#include "model/opcodes_view.h"
#include "model/profile.h"
#include "model/sink_file.h"
#include "base/cpus.h"
#include "base/ordered.h"
#include "base/value.h"
#include "summary_diff.h"
#include "summary_fleet.h"
#include "summary_forms.h"
#include "summary_objects.h"
#include "summary_opcodes.h"

struct summary {
	struct sink_file file;
	bool tables;	      /* also for each function and loop its opcodes */
	bool for_diff;	      /* also what summary_diff.h has, */
	bool for_fleet;	      /* and summary_fleet.h: */
	struct calltree tree; /* both */
	struct sources sources;
	unsigned nsources;
	struct durations durations;
};

static void put(struct summary *m, const char *text)
{
	out_put(&m->file.out, text, strlen(text));
}

/* Takes the value. */
static int put_value(struct summary *m, struct value *value)
{
	return value_put(value, &m->file.out) ?: m->file.out.err;
}

/* One more object of an array that has so many already. 0 or -ENOMEM. */
static int put_row(struct summary *m, size_t rows, struct value *object)
{
	put(m, rows ? ",\n  " : "\n  ");
	return put_value(m, object);
}

/* What it also has if that was asked for. Takes the object. */
static struct value *with_more(struct summary *m, const struct profile *p, const struct code *code,
			       struct value *object)
{
	if (m->for_diff)
		object = value_join(object, summary_source(&m->sources, p, code, &m->nsources));
	return m->for_fleet ? value_join(object, summary_fleet_function(&m->durations, code)) : object;
}

/* --- rows that are made by other threads, if there are CPUs for them -------------------------------------------- */

#define BATCH 16 /* rows: enough to be worth waking a thread, few enough to share out the last ones */

/* Rows of one kind. */
struct made {
	struct summary *m;
	const struct profile *p;
	void **all; /* [n] functions or loops */
	size_t n;
	struct value *(*make)(struct summary *m, const struct profile *p, const void *of);
};

struct batch {
	size_t first, n;
	struct value *rows[BATCH];
};

static void make_batch(void *made, void *job, unsigned thread)
{
	const struct made *r = made;
	struct batch *b = job;

	(void)thread;
	for (size_t i = 0; i < b->n; i++)
		b->rows[i] = r->make(r->m, r->p, r->all[b->first + i]);
}

/* Gives as many as there is room for. */
static void give(struct ordered *o, const struct made *r, size_t *given)
{
	for (struct batch *b; *given < r->n && (b = ordered_room(o)); ordered_give(o)) {
		b->first = *given;
		b->n = r->n - *given < BATCH ? r->n - *given : BATCH;
		*given += b->n;
	}
}

/* Takes the rows. */
static int put_batch(struct summary *m, const struct batch *b, int err)
{
	for (size_t i = 0; i < b->n; i++)
		if (err)
			value_free(b->rows[i]);
		else
			err = put_row(m, b->first + i, b->rows[i]);
	return err;
}

/* Lines of source, of which there are only so many, are found in the order of the rows. */
static unsigned makers(const struct made *r)
{
	unsigned others = cpus() - 1;

	if (r->m->for_diff || r->n <= BATCH)
		return 0;
	return others < ORDERED_THREADS ? others : ORDERED_THREADS;
}

static int put_made(struct made *r)
{
	struct batch jobs[ORDERED_THREADS + 1];
	struct ordered *o = ordered_open(make_batch, r, jobs, sizeof(*jobs), makers(r));
	const struct batch *b;
	size_t given = 0;
	int err = 0;

	if (!o)
		return -ENOMEM;
	for (give(o, r, &given); (b = ordered_take(o, true)); give(o, r, &given))
		err = put_batch(r->m, b, err);
	ordered_close(o);
	return err;
}

/* Takes the list; NULL: there was no memory for it. */
static int put_all(struct made *r, void **all)
{
	int err;

	r->all = all;
	err = all ? put_made(r) : -ENOMEM;
	free(all);
	return err;
}

static struct value *function_object(struct summary *m, const struct profile *p, const void *code)
{
	return with_more(m, p, code, summary_function(p, code, m->tables));
}

static struct value *c_function_object(struct summary *m, const struct profile *p, const void *code)
{
	return with_more(m, p, code, summary_c_function(code));
}

static struct value *loop_object(struct summary *m, const struct profile *p, const void *loop)
{
	struct value *o = summary_loop(p, loop, m->tables);

	o = m->for_diff ? value_join(o, summary_cycles(loop)) : o;
	return m->for_fleet ? value_join(o, summary_fleet_loop(loop)) : o;
}

static int put_functions(struct summary *m, const struct profile *p)
{
	struct made r = { .m = m, .p = p, .make = function_object };
	struct code **all = profile_functions(p, &r.n, RANK_TIME);

	return put_all(&r, (void **)all);
}

static int put_c_functions(struct summary *m, const struct profile *p)
{
	struct made r = { .m = m, .p = p, .make = c_function_object };
	struct code **all = profile_c_functions(p, &r.n, RANK_TIME);

	return put_all(&r, (void **)all);
}

/* Of those generations that were collected. */
static int put_collections(struct summary *m, const struct profile *p)
{
	int err = 0, rows = 0;

	for (unsigned i = 0; i < GENERATIONS && !err; i++) {
		if (!p->collections.of[i].n)
			continue;
		err = put_row(m, rows++, summary_collection(p, i));
	}
	return err;
}

static int put_imports(struct summary *m, const struct profile *p)
{
	int err = 0, rows = 0;

	for (const struct import *i = NULL; !err && (i = imports_next(&p->imports, i));)
		err = put_row(m, rows++, summary_import(i));
	return err;
}

static int put_exceptions(struct summary *m, const struct profile *p)
{
	int err = 0;

	for (size_t i = 0; i < p->exceptions.n && !err; i++)
		err = put_row(m, i, summary_exception(p->exceptions.in_order[i]));
	return err;
}

static int put_locks(struct summary *m, const struct profile *p)
{
	size_t n = 0;
	const struct lock **all = locks_ranked(&p->locks, &n);
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = put_row(m, i, summary_lock(all[i]));
	free(all);
	return err;
}

static int put_spans(struct summary *m, const struct profile *p)
{
	size_t n = 0;
	const struct span_total **all = spans_ranked(&p->spans, &n);
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = put_row(m, i, summary_span(all[i]));
	free(all);
	return err;
}

static int put_tasks(struct summary *m, const struct profile *p)
{
	int err = 0;

	for (size_t i = 0; i < p->tasks.n && !err; i++)
		err = put_row(m, i, summary_task(p, p->tasks.rows[i]));
	return err;
}

static int put_task_groups(struct summary *m, const struct profile *p)
{
	size_t n = 0;
	const struct task_total **all = async_tasks_ranked(&p->tasks, &n);
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = put_row(m, i, summary_task_group(all[i]));
	free(all);
	return err;
}

static int put_requests(struct summary *m, const struct profile *p)
{
	int err = 0;

	for (size_t i = 0; i < p->requests.n && !err; i++)
		err = put_row(m, i, summary_request(p->requests.slowest[i]));
	return err;
}

static bool has_requests(const struct profile *p)
{
	return p->requests.names.used != 0;
}

static int put_request_groups(struct summary *m, const struct profile *p)
{
	size_t n;
	const struct request_total **all = requests_ranked(&p->requests, &n);
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = put_row(m, i, summary_request_group(all[i]));
	free(all);
	return err;
}

static int put_greenlets(struct summary *m, const struct profile *p)
{
	const struct greenlet_totals *g = &p->greenlets;
	int err = 0;

	for (size_t i = 0; i < g->n && !err; i++)
		err = put_row(m, i, summary_greenlet(&g->rows[i]));
	if (!err && g->others.count)
		err = put_row(m, g->n, summary_greenlet(&g->others));
	return err;
}

static int put_loops(struct summary *m, const struct profile *p)
{
	struct made r = { .m = m, .p = p, .make = loop_object };
	struct loop **all = profile_loops(p, &r.n, RANK_TIME);

	return put_all(&r, (void **)all);
}

/* Those of one function; rows were put before. */
static int put_waits_of(struct summary *m, const struct code *code, const struct waits *w, size_t *rows)
{
	int err = 0;

	for (int kind = 1; kind < WAIT_KINDS && !err; kind++) {
		if (!w->of[kind].n)
			continue;
		err = put_row(m, (*rows)++, summary_wait(code, (enum wait_kind)kind, &w->of[kind]));
	}
	return err;
}

static int put_waits(struct summary *m, const struct profile *p)
{
	size_t n = 0, rows = 0;
	struct code **all = profile_all_functions(p, &n, RANK_WAITS);
	int err = all ? put_waits_of(m, NULL, &p->outside_waits, &rows) : -ENOMEM;

	for (size_t i = 0; i < n && !err && all[i]->function->waits; i++)
		err = put_waits_of(m, all[i], all[i]->function->waits, &rows);
	free(all);
	return err;
}

static bool has_idle_waits(const struct profile *p)
{
	return profile_has_waits(p) && waits_ns(&p->idle_waits);
}

/* Of all of them, those of a pool's workers for their next job. */
static int put_idle_waits(struct summary *m, const struct profile *p)
{
	size_t rows = 0;

	return put_waits_of(m, NULL, &p->idle_waits, &rows);
}

static int put_native_of(struct summary *m, const struct profile *p, const struct code *code, size_t *rows)
{
	size_t n = 0;
	struct sampled_row *all = sampled_rows(code->function->sampled, &p->codes->natives, &n);
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = put_row(m, (*rows)++, summary_native(code, &all[i]));
	free(all);
	return err;
}

static int put_native(struct summary *m, const struct profile *p)
{
	size_t n = 0, rows = 0;
	struct code **all = sampled_functions(p, &n);
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = put_native_of(m, p, all[i], &rows);
	free(all);
	return err;
}

static bool any_unmatched(const struct profile *p)
{
	return codes_unmatched(p->codes, NULL);
}

/* One of object and array; wanted NULL: always. */
static const struct {
	const char *key;
	bool (*wanted)(const struct profile *p);
	struct value *(*object)(const struct profile *p);
	int (*array)(struct summary *m, const struct profile *p);
} members[] = {
	{ "clock", .object = summary_clock },
	{ "trace", .object = summary_trace },
	{ "duty", .object = summary_duty },
	{ "snapshots", .object = summary_snapshots },
	{ "processes", .object = summary_processes },
	{ "threads", .object = summary_threads },
	{ "events", .object = summary_events },
	{ "event_rates", .object = summary_event_rates },
	{ "opcodes", .object = summary_opcodes },
	{ "forms", .object = summary_forms },
	{ "functions", .array = put_functions },
	{ "c_functions", .array = put_c_functions },
	{ "collections", .array = put_collections },
	{ "imports", .array = put_imports },
	{ "exceptions", .array = put_exceptions },
	{ "spans", .array = put_spans },
	{ "tasks", .array = put_tasks },
	{ "task_groups", .array = put_task_groups },
	{ "requests", .array = put_requests },
	{ "request_groups", has_requests, .array = put_request_groups },
	{ "greenlets", .array = put_greenlets },
	{ "loops", .array = put_loops },
	{ "waits", profile_has_waits, .array = put_waits },
	{ "idle_waits", has_idle_waits, .array = put_idle_waits },
	{ "locks", profile_has_waits, .array = put_locks },
	{ "sampling", profile_is_sampled, .object = summary_sampling },
	{ "native", profile_is_sampled, .array = put_native },
	{ "losses", .object = summary_losses },
	{ "compiled", profile_jit, .object = summary_compiled },
	{ "matched_nothing", any_unmatched, .object = summary_unmatched },
};

static int put_member(struct summary *m, const struct profile *p, size_t i)
{
	int err;

	put(m, ",\n \"");
	put(m, members[i].key);
	put(m, "\": ");
	if (members[i].object)
		return put_value(m, members[i].object(p));
	put(m, "[");
	err = members[i].array(m, p);
	put(m, "]");
	return err;
}

/* 0 or an error. */
static int put_trees(struct summary *m, const struct profile *p)
{
	int err = 0;

	if (m->for_diff) {
		put(m, ",\n \"call_tree\": ");
		err = put_value(m, summary_call_tree(p, &m->tree));
	}
	if (m->for_fleet && !err) {
		put(m, ",\n \"edges\": ");
		err = put_value(m, summary_edges(&m->tree));
	}
	return err;
}

static int summary_finish(struct sink *s, const struct profile *p)
{
	struct summary *m = (struct summary *)s;
	char head[64];
	int err = 0;

	snprintf(head, sizeof(head), "{\"schema\": %d, \"revision\": %d", SUMMARY_SCHEMA, SUMMARY_REVISION);
	put(m, head);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !err; i++)
		if (!members[i].wanted || members[i].wanted(p))
			err = put_member(m, p, i);
	err = err ?: put_trees(m, p);
	put(m, "}\n");
	if (err == -ENOMEM)
		return sink_file_no_memory(s);
	return sink_file_close(s);
}

static void summary_free(struct sink *s)
{
	struct summary *m = (struct summary *)s;

	calltree_free(&m->tree);
	durations_free(&m->durations);
	sources_free(&m->sources);
	sink_file_free(s);
}

static int enter(struct sink *s, const struct activation *a)
{
	return calltree_enter(&((struct summary *)s)->tree, a) ? sink_file_no_memory(s) : 0;
}

static int leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns, uint64_t end_cycles)
{
	struct summary *m = (struct summary *)s;
	int err = calltree_leave(&m->tree, a, end_ns, end_cycles);

	if (m->for_fleet && !err)
		err = durations_add(&m->durations, a, how, end_ns);
	return err ? sink_file_no_memory(s) : 0;
}

static int resume(struct sink *s, const struct activation *a)
{
	return calltree_resume(&((struct summary *)s)->tree, a) ? sink_file_no_memory(s) : 0;
}

static const struct sink_ops summary_ops = {
	.finish = summary_finish,
	.free = summary_free,
};

static int part(struct sink **out, struct sink *of)
{
	int err = sink_file_part(out, sizeof(struct summary), of);

	if (!err)
		((struct summary *)*out)->for_fleet = ((const struct summary *)of)->for_fleet;
	return err;
}

static int join(struct sink *to, struct sink *of)
{
	struct summary *m = (struct summary *)to, *more = (struct summary *)of;
	uint32_t by;

	return calltree_join(&m->tree, &more->tree, &by) ?: durations_join(&m->durations, &more->durations);
}

/* Without a call tree the analysis need not call it for each activation. */
static const struct sink_ops tree_ops = {
	.enter = enter,
	.leave = leave,
	.resume = resume,
	.part = part,
	.join = join,
	.finish = summary_finish,
	.free = summary_free,
};

int sink_summary_open(struct sink **out, const struct sink_options *o, char *error)
{
	const struct sink_ops *ops = o->for_diff || o->for_fleet ? &tree_ops : &summary_ops;
	int err = sink_file_open(out, sizeof(struct summary), ops, o, error);

	if (err)
		return err;
	((struct summary *)*out)->tables = o->opcodes && o->opcodes->wanted;
	((struct summary *)*out)->for_diff = o->for_diff;
	((struct summary *)*out)->for_fleet = o->for_fleet;
	return 0;
}
