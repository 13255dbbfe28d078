// SPDX-License-Identifier: MIT
/*
 * Tasks, one row each: when it ran, what it awaited, what let it go on; and below it the spans that the program began
 * in it. A task moves between threads, and its spans overlap: neither can be on a thread's track.
 */
#include "timeline_parts.h"

#include <stdio.h>
#include <string.h>

/* What viewers show as the process of the tasks that this thread runs, in its event loop. NULL: no memory. */
static struct timeline_process *group_of(struct timeline *v, struct timeline_process *of, int32_t tid)
{
	uint64_t key = map_pair(of->pid, tid);
	struct timeline_process *group = map_get(&v->groups, key);

	if (group)
		return group;
	group = timeline_process_of(v, of->loops ? TIMELINE_MORE_LOOPS + (int32_t)v->more_loops++ : TASKS_OF(of->pid));
	if (!group || map_put(&v->groups, key, group))
		return NULL;
	of->loops++;
	group->group.of = of;
	group->group.tid = tid;
	return group;
}

/* A new row, of the tasks of that process. NULL: no memory. */
static struct track *new_row(struct timeline *v, struct timeline_process *of, int32_t by_tid, uint64_t key)
{
	struct timeline_process *group = group_of(v, of, by_tid);
	int32_t tid = TIMELINE_TASK_ROWS + (int32_t)(TIMELINE_SPAN_ROWS * v->task_rows++);
	struct track *t = group ? timeline_titled(v, group->pid, tid, "task row %d", 0) : NULL;

	return t && !map_put(&of->tasks, key, t) ? t : NULL;
}

/* No half of a character. */
static void cut_title(struct track *t, const char *title)
{
	size_t n = strlen(title);

	if (n >= sizeof(t->title))
		for (n = sizeof(t->title) - 1; n && (title[n] & 0xc0) == 0x80;)
			n--;
	snprintf(t->title, sizeof(t->title), "%.*s", (int)n, title);
}

static void set_title(struct track *t, const struct task_mark *m)
{
	char text[CALLED_TEXT], title[MARK_NAME];
	const char *name = called_text(&m->called, text);

	timeline_plain(title, *name ? name : "task", "");
	cut_title(t, title);
}

/* The row of a task, or, once there are too many, that of the others on its thread. NULL: no memory. */
static struct track *row_of(struct timeline *v, const struct task_mark *m)
{
	struct timeline_process *l = timeline_process_of(v, m->pid);
	uint64_t key = m->task <= TIMELINE_TASKS ? m->task : TIMELINE_TASKS + 1 + (uint64_t)(uint32_t)m->tid;
	struct track *t = l ? map_get(&l->tasks, key) : NULL;

	if (!l || t)
		return t;
	t = new_row(v, l, m->tid, key);
	if (t && m->task <= TIMELINE_TASKS)
		set_title(t, m);
	else if (t)
		snprintf(t->title, sizeof(t->title), "other tasks on thread %d", m->tid);
	return t;
}

/* "awaiting sleep"; it lives as long as the timeline. NULL: no memory. */
static const char *awaiting(struct timeline *v, const struct code *where)
{
	char *name = map_get(&v->awaiting, (uintptr_t)where);

	if (!name && (name = map_add(&v->awaiting, (uintptr_t)where, MARK_NAME)))
		timeline_plain(name, "awaiting ", where->qualname);
	return name;
}

static const char *task_name(struct timeline *v, const struct task_mark *m)
{
	if (m->kind == CRITICAL_AWAITING)
		return m->what ? awaiting(v, m->what) : "awaiting";
	return critical_kind_name(m->kind);
}

/* From the function that let it go on. */
static int write_wake(struct timeline *v, struct track *t, const struct task_mark *m, uint64_t shown)
{
	const struct track *from = m->by_tid ? map_get(&v->tracks, map_pair(m->pid, m->by_tid)) : NULL;
	const struct span span = { .shown = shown, .from = from, .from_shown = timeline_since_start(v, m->ready_ns) };

	return from && m->ready_ns && !v->full ? timeline_write_flow(v, t, &span) : 0;
}

int timeline_task(struct sink *s, const struct task_mark *m)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = row_of(v, m);
	bool own = m->task <= TIMELINE_TASKS;
	struct stretch st = { .from = m->from_ns, .until = m->until_ns, .cpu = STATES_NO_CPU };
	uint64_t shown;
	int err;

	if (!t)
		return sink_file_no_memory(s);
	if (!own && m->kind != CRITICAL_RUNNING) /* they would overlap */
		return 0;
	st.name = task_name(v, m);
	if (!st.name)
		return sink_file_no_memory(s);
	shown = timeline_since_start(v, m->from_ns);
	shown = shown < t->last_ns ? t->last_ns : shown;
	err = timeline_write_stretch(v, t, &st);
	return err || m->kind != CRITICAL_RUNNING || !own || m->until_ns - m->from_ns < v->min_ns
		       ? err
		       : write_wake(v, t, m, shown);
}

/* --- spans of tasks -------------------------------------------------------------------------------------- */

/* The first row of the task's on which this span is open, or, 0, none is. 0: there is none. */
static int32_t find_span_row(const struct timeline *v, const struct track *row, uint64_t number)
{
	for (int32_t n = 1; n < TIMELINE_SPAN_ROWS; n++) {
		const struct track *t = map_get(&v->tracks, map_pair(row->pid, row->tid + n));

		if (!t)
			return number ? 0 : n;
		if ((t->nspans ? t->spans->number : 0) == number)
			return n;
	}
	return 0;
}

/* NULL: no memory. */
static struct track *span_row(struct timeline *v, const struct track *row, int32_t n)
{
	struct track *last = v->last, *t = timeline_track_of(v, row->pid, row->tid + n);
	char title[TRACK_TITLE + 24];

	v->last = last;
	if (!t || *t->title)
		return t;
	if (n > 1)
		snprintf(title, sizeof(title), "spans %d of %.*s", n, TRACK_TITLE, row->title);
	else
		snprintf(title, sizeof(title), "spans of %.*s", TRACK_TITLE, row->title);
	cut_title(t, title);
	return t;
}

static int begin_whole(struct timeline *v, struct track *t, const struct span_mark *m)
{
	const struct activation a = { .code = (struct code *)m->name, .start_ns = m->ns, .start_cycles = m->cycles };
	const struct label_mark data = { .name = m->name, .data = m->data, .ns = m->ns };
	struct span *span = track_push(t, &a, track_at(t, timeline_since_start(v, m->ns)));

	if (!span)
		return sink_file_no_memory(&v->file.sink);
	span->number = m->number;
	if (m->data)
		return timeline_mark_label(v, t, &data);
	return v->floor_ns ? 0 : timeline_write_begins(v, t);
}

static int end_whole(struct timeline *v, struct track *t, const struct span_mark *m)
{
	static const struct mark lost = { .category = "loss", .name = "NO END" };
	int err = m->lost ? timeline_write_mark(v, t, m->ns, &lost) : 0;

	return err ?: timeline_leave_span(v, t, t->spans, NULL, LEAVE_RETURN, m->ns, m->cycles);
}

/* Each row has one at a time, so that the next one may end before or after it. */
int timeline_span(struct sink *s, const struct span_mark *m)
{
	struct timeline *v = (struct timeline *)s;
	const struct task_mark of = { .pid = m->pid, .task = m->task, .called = m->called, .tid = m->tid };
	struct track *row, *t;
	int32_t n;

	if (m->task > TIMELINE_TASKS)
		return 0;
	row = row_of(v, &of);
	n = row ? find_span_row(v, row, m->begins ? 0 : m->number) : 0;
	t = n ? span_row(v, row, n) : NULL;
	if (!row || (n && !t))
		return sink_file_no_memory(s);
	return !n ? 0 : m->begins ? begin_whole(v, t, m) : end_whole(v, t, m);
}
