// SPDX-License-Identifier: MIT
/*
 * Written at the end, from the profile, like the console report; and from the call tree, which grows with the number of
 * different call paths while the trace is read.
 */
#include "sink_html.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cold.h"
#include "base/cpus.h"
#include "base/ordered.h"
#include "html_frame.h"
#include "html_page.h"
#include "model/calltree_join.h"
#include "model/sink_file.h"

/* A thread in one interpreter: what is looked up together. */
struct html_thread {
	struct tstate tstate;
	struct call_root *root;
	struct columns_row *row; /* the thread's */
};

struct sink_html {
	struct sink_file file;
	struct tstates threads; /* struct html_thread */
	struct calltree tree;
	struct columns columns;
	struct columns_shared shared; /* of all parts, */
	bool has_parts;		      /* if there are some */
	struct task_trees tasks;
};

/* The sections behind the timeline, in memory. */
struct rest {
	struct page *page;
	char *text;
	size_t size;
	int err;
};

static int write_rest(struct page *page)
{
	static int (*const sections[])(struct page * page) = {
		page_flame,	  page_functions, page_loops,	       page_spans,	page_tasks,
		page_requests,	  page_greenlets, page_waits,	       page_locks,	page_gil,
		page_c_functions, page_native,	  page_compiled,       page_exceptions, page_imports,
		page_sources,	  page_opcodes,	  page_specialization, page_events,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && !err; i++)
		err = sections[i](page);
	return err;
}

static void run_rest(void *context, void *job, unsigned thread)
{
	struct rest *rest = job;

	(void)context, (void)thread;
	rest->page->f = open_memstream(&rest->text, &rest->size);
	rest->err = rest->page->f ? write_rest(rest->page) : -ENOMEM;
	if (rest->page->f && fclose(rest->page->f))
		rest->err = -ENOMEM;
}

/* The timeline takes as long as all others, which another thread makes meanwhile, if there is a CPU for it. */
static int write_sections(struct page *page)
{
	struct page timeline = *page;
	struct rest jobs[2] = { { 0 } }, *rest;
	struct ordered *o = ordered_open(run_rest, NULL, jobs, sizeof(*jobs), cpus() > 1);
	int err;

	if (!o)
		return -ENOMEM;
	rest = ordered_room(o);
	rest->page = page;
	ordered_give(o);
	err = page_timeline(&timeline);
	rest = ordered_take(o, true);
	ordered_close(o);
	err = err ?: rest->err;
	page->f = timeline.f;
	if (!err)
		fwrite(rest->text, 1, rest->size, page->f);
	free(rest->text);
	return err;
}

static int render(FILE *f, struct sink *s, const struct profile *p)
{
	struct sink_html *html = (struct sink_html *)s;
	struct page page = {
		.f = f, .p = p, .columns = &html->columns, .task_trees = &html->tasks, .sources.dir = p->codes->dir
	};
	int err;

	calltree_complete(&html->tree);
	err = flame_make(&page.flame, &html->tree) ?: columns_finish(&html->columns);

	task_trees_sort(&html->tasks);
	html_begin(f);
	page_head(&page);
	err = err ?: page_lists(&page) ?: page_first(&page);
	page_facts(&page);
	err = err ?: write_sections(&page);
	html_end(f);
	sources_free(&page.sources);
	flame_free(&page.flame);
	page_lists_free(&page);
	return err;
}

/* NULL: no memory. */
static struct columns_row *row_of(struct sink_html *h, int32_t pid, int32_t tid, uint64_t ns)
{
	struct columns_row *row = columns_row(&h->columns, pid, tid);

	if (row && !row->born_ns)
		row->born_ns = ns;
	return row;
}

static COLD struct html_thread *make_thread(struct sink_html *h, struct html_thread *t, uint64_t ns)
{
	if (!t)
		return NULL;
	t->root = calltree_root(&h->tree, t->tstate.pid, t->tstate.tid, t->tstate.interpreter);
	t->row = row_of(h, t->tstate.pid, t->tstate.tid, ns);
	return t->root && t->row ? t : NULL;
}

/* NULL: no memory. */
static inline struct html_thread *thread_of(struct sink_html *h, const struct activation *a)
{
	struct html_thread *t = tstate_of(&h->threads, a->pid, a->tid, a->interpreter, sizeof(*t));

	return t && t->row ? t : make_thread(h, t, a->start_ns);
}

/* The thread went to another function at ns, which the tree knows already: it began there, or goes on. */
static inline int went(struct sink_html *h, const struct html_thread *t, uint64_t ns, bool called)
{
	return columns_went(&h->columns, t->row, ns, calltree_at_on(t->root), called);
}

static int enter(struct sink *s, const struct activation *a)
{
	struct sink_html *h = (struct sink_html *)s;
	struct html_thread *t = thread_of(h, a);

	return !t || calltree_enter_on(&h->tree, t->root, a, 0) ||
			       (task_trees_begin(&h->tasks, a) && task_trees_enter(&h->tasks, a)) ||
			       went(h, t, a->start_ns, a->op == OP_PY_START)
		       ? sink_file_no_memory(s)
		       : 0;
}

/* Of tasks; apart, so that what comes most often has the registers. */
static __attribute__((noinline)) int leave_task(struct sink_html *h, const struct html_thread *t,
						const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	return task_trees_leave(&h->tasks, &h->tree, a, calltree_at_on(t->root), end_ns, end_cycles);
}

static int leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns, uint64_t end_cycles)
{
	struct sink_html *h = (struct sink_html *)s;
	struct html_thread *t = thread_of(h, a);

	if (!t || ((how == LEAVE_END || how == LEAVE_GAP) && columns_end(&h->columns, t->row, end_ns)))
		return sink_file_no_memory(s);
	if (task_trees_begin(&h->tasks, a) && leave_task(h, t, a, end_ns, end_cycles))
		return sink_file_no_memory(s);
	calltree_leave_on(&h->tree, t->root, a, end_ns, end_cycles);
	return went(h, t, end_ns, false) ? sink_file_no_memory(s) : 0;
}

static int call(struct sink *s, const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	struct sink_html *h = (struct sink_html *)s;
	struct html_thread *t = thread_of(h, a);
	uint32_t caller;

	if (!t)
		return sink_file_no_memory(s);
	if (task_trees_begin(&h->tasks, a))
		return enter(s, a) ?: leave(s, a, LEAVE_RETURN, end_ns, end_cycles);
	caller = calltree_at_on(t->root);
	return calltree_call_on(&h->tree, t->root, a, 0, end_ns, end_cycles) ||
			       columns_called(&h->columns, t->row, a->start_ns, calltree_last_on(&h->tree, t->root),
					      end_ns, caller)
		       ? sink_file_no_memory(s)
		       : 0;
}

static int calls(struct sink *s, const struct activation *first, const struct call_sums *sums)
{
	struct sink_html *h = (struct sink_html *)s;
	struct html_thread *t = thread_of(h, first);

	return !t || calltree_calls_on(&h->tree, t->root, first, 0, sums) ||
			       columns_were_called(&h->columns, t->row, calltree_last_on(&h->tree, t->root), sums->n,
						   sums->ns)
		       ? sink_file_no_memory(s)
		       : 0;
}

/* What is of one column. */
static uint64_t calls_until(struct sink *s, const struct activation *caller)
{
	struct sink_html *h = (struct sink_html *)s;
	struct html_thread *t = thread_of(h, caller);

	return !t || task_trees_begin(&h->tasks, caller) ? 0 : columns_calls_until(t->row, calltree_at_on(t->root));
}

/* Groups that are no coroutine's, whose ids have 24 bits (marker.h): what each thread waited. */
#define WAITS_OF(tid) (0x40000000u | (uint32_t)(tid))

/* What the thread was off its CPU by its own will, in functions. */
static int add_wait(struct sink_html *h, struct columns_row *row, const struct off_mark *m)
{
	struct columns_row *waits = columns_group(&h->columns, m->pid, WAITS_OF(m->tid));

	row->waits = waits;
	return waits ? columns_add(&h->columns, waits, 1, m->ns - m->off.waiting_ns, m->ns) : -1;
}

static int off(struct sink *s, const struct off_mark *m)
{
	struct sink_html *h = (struct sink_html *)s;
	struct columns_row *row = row_of(h, m->pid, m->tid, m->ns);
	int err = row ? 0 : -1;

	if (row && row->node)
		err = columns_off(&h->columns, row, m->ns, m->last_ns, m->off);
	if (row && row->node && !err && m->off.waiting_ns)
		err = add_wait(h, row, m);
	return err ? sink_file_no_memory(s) : 0;
}

/* Tasks of one coroutine are a row of the timeline; single ones have a flame graph. */
static int task(struct sink *s, const struct task_mark *m)
{
	struct sink_html *h = (struct sink_html *)s;
	struct columns *c = &h->columns;
	struct columns_row *row = m->coroutine ? columns_group(c, m->coroutine->process->pid, m->coroutine->id) : NULL;

	task_trees_mark(&h->tasks, m);
	if (!m->coroutine)
		return 0;
	return !row || columns_add(c, row, m->kind + 1, m->from_ns, m->until_ns) ? sink_file_no_memory(s) : 0;
}

/* With the first part, the first one becomes one of several, too. */
static int part(struct sink **out, struct sink *of)
{
	struct sink_html *h = (struct sink_html *)of;
	int err = sink_file_part(out, sizeof(*h), of);

	if (err)
		return err;
	if (!h->has_parts) {
		columns_shared_init(&h->shared);
		columns_share(&h->columns, &h->shared);
	}
	h->has_parts = true;
	columns_share(&((struct sink_html *)*out)->columns, &h->shared);
	return 0;
}

static void heard(struct sink *s)
{
	columns_heard(&((struct sink_html *)s)->columns);
}

/* Tasks are numbered in the order in which they appear in any process. */
static int join(struct sink *to, struct sink *of)
{
	struct sink_html *h = (struct sink_html *)to, *more = (struct sink_html *)of;
	uint32_t by;

	if (h->tasks.n || more->tasks.n)
		return -EAGAIN;
	return calltree_join(&h->tree, &more->tree, &by) ?: columns_join(&h->columns, &more->columns, by);
}

static void free_html(struct sink *s)
{
	if (((struct sink_html *)s)->has_parts)
		columns_shared_destroy(&((struct sink_html *)s)->shared);
	tstates_free(&((struct sink_html *)s)->threads, NULL);
	calltree_free(&((struct sink_html *)s)->tree);
	columns_free(&((struct sink_html *)s)->columns);
	task_trees_free(&((struct sink_html *)s)->tasks);
	sink_file_free(s);
}

static const struct sink_ops html_ops = {
	.off = off,
	.enter = enter,
	.leave = leave,
	.call = call,
	.calls = calls,
	.calls_until = calls_until,
	.task = task,
	.part = part,
	.heard = heard,
	.join = join,
	.finish = sink_file_finish,
	.render = render,
	.free = free_html,
};

int sink_html_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct sink_html), &html_ops, o, error);
}
