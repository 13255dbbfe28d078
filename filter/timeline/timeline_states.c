// SPDX-License-Identifier: MIT
/*
 * What each thread does, which one each CPU runs, and who has a process's GIL: lines of stretches, each written when it
 * is over. When that is, states.h says.
 */
#include "timeline_parts.h"

#include <stdlib.h>
#include <string.h>

int timeline_write_stretch(struct timeline *v, struct track *t, const struct stretch *s)
{
	uint64_t from, ns = timeline_since_start(v, s->until);

	if (s->until - s->from < v->min_ns) {
		v->shorter.others++;
		return 0;
	}
	from = track_at(t, timeline_since_start(v, s->from));
	return WRITE(v, t, v->beyond.others, stretch, s, from, track_at(t, ns));
}

/* The CPU on which the thread ran then. */
static int write_cpu(struct timeline *v, int32_t tid, struct stretch s)
{
	struct track *t = timeline_titled(v, TIMELINE_CPUS, TIMELINE_CPUS + s.cpu, "CPU %d", s.cpu);

	s.name = NULL;
	s.tid = tid;
	return t ? timeline_write_stretch(v, t, &s) : sink_file_no_memory(&v->file.sink);
}

static int write_state(struct timeline *v, struct track *thread, const struct stretch *s)
{
	struct track *t = timeline_line_of(v, thread, LINE_STATE);
	int err = t ? timeline_write_stretch(v, t, s) : sink_file_no_memory(&v->file.sink);

	return err || s->cpu == STATES_NO_CPU ? err : write_cpu(v, thread->tid, *s);
}

static int write_holder(struct timeline *v, struct timeline_process *l, const struct stretch *s)
{
	if (!l->gil)
		l->gil = timeline_titled(v, l->pid, l->pid | TIMELINE_GIL, "GIL of process %d", l->pid);
	return l->gil ? timeline_write_stretch(v, l->gil, s) : sink_file_no_memory(&v->file.sink);
}

int timeline_end_state(struct timeline *v, struct track *t)
{
	struct stretch done;

	return states_end(&t->states, t->seen_ns, &done) ? write_state(v, t, &done) : 0;
}

int timeline_show_state(struct timeline *v, const struct sample *s)
{
	struct track *t = timeline_track_of(v, s->pid, s->tid);
	struct stretch done;
	bool over;
	int err;

	if (!t)
		return sink_file_no_memory(&v->file.sink);
	over = (s->kind == KIND_CPU ? states_cpu : states_wait)(&t->states, s->payload, s->time, &done);
	err = over && t->seen_ns ? write_state(v, t, &done) : 0;
	if (!err && s->kind == KIND_WAIT && states_lets_go(s->payload) &&
	    holder_waits(&t->process->holder, s->tid, s->time, &done))
		err = write_holder(v, t->process, &done);
	return err;
}

/* Threads that have no GIL, or do not tell when they let it go, say nothing about who has it. */
int timeline_show_holder(struct timeline *v, struct timeline_process *l, const struct sample *s)
{
	const struct process *p = s->code->process;
	struct stretch done;

	if (!l->begun)
		l->has_gil = p && p->waits && p->python && !strstr(p->python, "free-threading build");
	l->begun = true;
	return l->has_gil && holder_event(&l->holder, s->tid, s->time, &done) ? write_holder(v, l, &done) : 0;
}

/* Lines may be new: they must not be added to what is walked. */
int timeline_end_states(struct timeline *v)
{
	struct track **all = calloc(v->tracks.used + 1, sizeof(*all));
	struct stretch done;
	size_t n = 0;
	int err = all ? 0 : sink_file_no_memory(&v->file.sink);

	for (struct map_slot *s = NULL; all && (s = map_next(&v->tracks, s));)
		all[n++] = s->value;
	for (size_t i = 0; i < n && !err; i++)
		err = timeline_end_state(v, all[i]);
	for (size_t i = 0; i < n && !err; i++)
		if (all[i]->seen_ns && holder_waits(&all[i]->process->holder, all[i]->tid, all[i]->seen_ns, &done))
			err = write_holder(v, all[i]->process, &done);
	free(all);
	return err;
}
