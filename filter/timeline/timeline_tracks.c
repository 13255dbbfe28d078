// SPDX-License-Identifier: MIT
/*
 * Which tracks there are, what they are called, and where their time begins.
 *
 * A viewer knows processes and threads only. What is neither, a greenlet or a CPU, has a number that none of Linux's
 * can be (timeline.h) and a title; a thread has its name, which is not known before the end.
 */
#include "timeline_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

struct timeline_process *timeline_process_of(struct timeline *v, int32_t pid)
{
	struct timeline_process *l = map_get(&v->processes, (uint32_t)pid);

	if (l)
		return l;
	l = map_add(&v->processes, (uint32_t)pid, sizeof(*l));
	if (!l)
		return NULL;
	l->pid = pid;
	l->resumptions.lost = !v->whole;
	return l;
}

static struct track *make_track(struct timeline *v, int32_t pid, int32_t tid, uint64_t key)
{
	struct timeline_process *l = timeline_process_of(v, pid);
	struct track *t = l ? map_add(&v->tracks, key, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->pid = pid;
	t->tid = tid;
	t->process = l;
	t->number = v->tracks.used;
	return t;
}

struct track *timeline_other_track(struct timeline *v, int32_t pid, int32_t tid)
{
	uint64_t key = map_pair(pid, tid);

	v->last = map_get(&v->tracks, key);
	if (!v->last)
		v->last = make_track(v, pid, tid, key);
	return v->last;
}

struct track *timeline_known_track(const struct timeline *v, int32_t pid, int32_t tid)
{
	struct track *last = v->last;

	return last && last->tid == tid && last->pid == pid ? last : map_get(&v->tracks, map_pair(pid, tid));
}

struct track *timeline_titled(struct timeline *v, int32_t pid, int32_t tid, const char *what, int32_t number)
{
	struct track *last = v->last, *t = timeline_track_of(v, pid, tid);

	v->last = last;
	if (t && !*t->title)
		snprintf(t->title, sizeof(t->title), what, number);
	return t;
}

struct track *timeline_greenlet_track(struct timeline *v, int32_t pid, int32_t tid, uint64_t number)
{
	if (!number || number > TIMELINE_GREENLETS)
		return timeline_track_of(v, pid, tid);
	return timeline_titled(v, pid, TIMELINE_GREENLET + (int32_t)number, "greenlet %d", (int32_t)number);
}

struct track *timeline_called_track(struct timeline *v, const struct activation *a)
{
	struct track *t = timeline_greenlet_track(v, a->pid, a->tid, a->greenlet);

	if (t && *t->title && !a->depth && !strchr(t->title, ':'))
		snprintf(t->title + strlen(t->title), sizeof(t->title) - strlen(t->title), ": %s", a->code->qualname);
	return t;
}

struct track *timeline_line_of(struct timeline *v, struct track *t, enum track_line line)
{
	static const char *const titles[TRACK_LINES] = {
		[LINE_OPCODES] = "opcodes of thread %d",
		[LINE_STATE] = "state of thread %d",
	};

	if (!t->lines[line] && t->tid >= 0)
		t->lines[line] = timeline_titled(v, t->pid, t->tid | TIMELINE_LINE(line), titles[line], t->tid);
	return t->lines[line];
}

void timeline_start(struct timeline *v, uint64_t ns)
{
	v->started = true;
	v->start_ns = v->file.sink.profile ? v->file.sink.profile->first_ns : ns;
}

/* --- names, at the end ----------------------------------------------------------------------------------- */

/* The command line, and behind it what must be known of the times. */
static char *label_of(const struct process *p)
{
	char *label = NULL;

	if (p->argv && p->coarse &&
	    asprintf(&label, "%s (the clock was read for one marker of %" PRIu32 ": times between are interpolated)",
		     p->argv, p->coarse) < 0)
		label = NULL;
	return label;
}

int timeline_write_name(struct timeline *v, struct track *t, const struct process *p)
{
	const char *thread = process_thread_name(p, t->tid), *process = NULL, *command = NULL;
	char *label = t->process->named ? NULL : label_of(p);
	uint64_t none = 0;
	int err = 0;

	if (!thread && t->tid == t->pid) /* Linux: the first thread's id is the process's */
		thread = "MainThread";
	if (!t->process->named) { /* viewers cut names at their last slash */
		process = p->program.name;
		command = label ? label : p->argv;
	}
	t->process->named = true;
	if (thread || process)
		err = timeline_settle(v, t, v->format->name(v, t, thread, process, command), &none);
	free(label);
	return err;
}

/* Of the tracks of no process; NULL: it is one's. */
static const char *process_title(const struct timeline_process *l, char title[TRACK_TITLE])
{
	const struct timeline_process *of = l->group.of;

	if (l->pid < TIMELINE_CPUS)
		return NULL;
	if (l->pid == TIMELINE_CPUS)
		return "CPUs";
	if (!of)
		snprintf(title, TRACK_TITLE, "loops of process %d", l->pid - TIMELINE_LOOPS_OF);
	else if (of->loops > 1)
		snprintf(title, TRACK_TITLE, "tasks of thread %d of process %d", l->group.tid, of->pid);
	else
		snprintf(title, TRACK_TITLE, "tasks of process %d", of->pid);
	return title;
}

int timeline_write_title(struct timeline *v, struct track *t)
{
	char title[TRACK_TITLE];
	const char *process = t->process->named ? NULL : process_title(t->process, title);
	uint64_t none = 0;

	t->process->named |= process != NULL;
	return t->last_ns ? timeline_settle(v, t, v->format->name(v, t, t->title, process, NULL), &none) : 0;
}
