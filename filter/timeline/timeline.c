// SPDX-License-Identifier: MIT
/*
 * The sink: opens, hands each event to the file that shows it, and ends. timeline_parts.h has those files in their
 * order: each calls the ones before it, and none calls this one.
 */
#include "timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"
#include "timeline_parts.h"

/* For the events at the end: two marks, the readings of meters, brackets. */
#define CLOSING 4096

const char *const timeline_counters[TIMELINE_COUNTERS][2] = {
	[TIMELINE_EVENTS] = { "events", "per second" },
	[TIMELINE_DEPTH] = { "stack", "depth" },
};

static int write_readings(struct timeline *v, struct track *t, const struct reading *readings, unsigned n)
{
	int err = 0;

	for (unsigned i = 0; i < n && !err && !v->full; i++) {
		err = WRITE(v, t, v->beyond.others, counter, TIMELINE_EVENTS, readings[i].ns, readings[i].rate);
		if (!err && !v->full)
			err = WRITE(v, t, v->beyond.others, counter, TIMELINE_DEPTH, readings[i].ns, readings[i].depth);
	}
	return err;
}

/* --- samples ------------------------------------------------------------------------------------------------- */

/* After lost markers, and in a program that exec'ed another one, no resumption is certain. */
static int lose(struct timeline *v, const struct sample *sample)
{
	struct timeline_process *l = timeline_process_of(v, sample->pid);
	struct track *t;

	if (!l)
		return sink_file_no_memory(&v->file.sink);
	l->resumptions.lost |= sample->op == SAMPLE_GAP || sample->op == SAMPLE_RESTART;
	if (!v->zoomed || sample->op == SAMPLE_FOREIGN || sample->op == OP_EXTENSION)
		return 0;
	t = timeline_track_of(v, sample->pid, sample->tid);
	if (t && t->lines[LINE_OPCODES]) /* when the activations there ended was not seen */
		t->lines[LINE_OPCODES]->running.code = NULL;
	return 0;
}

/* No event of code. */
static int show_other(struct timeline *v, const struct sample *s)
{
	bool ends = s->op == SAMPLE_RESTART || (s->op == OP_SNAPSHOT && s->ends);
	struct track *t;
	int err;

	if (s->tid < 0)
		return 0;
	if (s->op == OP_EXTENSION && s->kind == KIND_IMPORT)
		return timeline_name_import(v, s);
	if (s->op == OP_EXTENSION)
		return s->kind == KIND_CPU || s->kind == KIND_WAIT ? timeline_show_state(v, s) : 0;
	t = ends ? timeline_track_of(v, s->pid, s->tid) : NULL;
	err = t ? timeline_end_state(v, t) : 0;
	if (t)
		t->seen_ns = 0;
	return err;
}

static int timeline_sample(struct sink *s, const struct sample *sample)
{
	struct timeline *v = (struct timeline *)s;
	struct reading readings[2];
	struct track *t;
	uint64_t ns;
	int err = timeline_settle_yield(v);

	if (!err && !sample->code)
		err = show_other(v, sample);
	if (err || !sample->code)
		return err ? err : lose(v, sample);
	t = timeline_track_of(v, sample->pid, sample->tid);
	if (!t)
		return sink_file_no_memory(s);
	if (!t->seen_ns)
		states_begin(&t->states, sample->time);
	t->seen_ns = sample->time;
	err = timeline_show_holder(v, t->process, sample);
	if (!err && v->zoomed && sample->op == OP_INSTRUCTION && sample->opcode)
		err = timeline_show_opcode(v, t, sample);
	if (err)
		return err;
	v->offset = sample->offset;
	if (sample->op == OP_PY_YIELD) {
		v->yield.in = t->process;
		v->yield.code = sample->code;
		v->yield.offset = sample->offset;
	}
	ns = timeline_since_start(v, sample->time);
	if (meter_goes_on(&t->meter, ns))
		return 0;
	return write_readings(v, t, readings, meter_event(&t->meter, ns, readings));
}

/* The first event of code after another thread's, or after a wait, shows who has the GIL. */
static bool holds(const struct timeline_process *l, int32_t tid)
{
	return l->begun && (!l->has_gil || (l->holder.held && l->holder.tid == tid));
}

/* Until the thread's millisecond is over. */
static uint64_t timeline_quiet_until(struct sink *s, int32_t pid, int32_t tid)
{
	const struct timeline *v = (struct timeline *)s;
	const struct track *t = timeline_known_track(v, pid, tid);

	return t && t->seen_ns && holds(t->process, tid) ? v->start_ns + meter_end(&t->meter) : 0;
}

static int timeline_passed(struct sink *s, int32_t pid, int32_t tid, uint64_t events, uint64_t ns)
{
	struct track *t = timeline_known_track((struct timeline *)s, pid, tid);

	t->seen_ns = ns;
	meter_passed(&t->meter, events);
	return 0;
}

/* --- the end ------------------------------------------------------------------------------------------ */

static int finish_track(struct timeline *v, struct track *t, struct codes *codes)
{
	const struct process *p = *t->title ? NULL : codes_process(codes, t->pid);
	struct reading readings[2];
	int err;

	if (*t->title)
		return timeline_write_title(v, t);
	err = write_readings(v, t, readings, meter_finish(&t->meter, t->last_ns, readings));

	return err || !p ? err : timeline_write_name(v, t, p);
}

static int finish_tracks(struct timeline *v, struct codes *codes)
{
	int err = timeline_settle_yield(v);

	err = err ?: timeline_end_states(v);
	for (struct map_slot *s = NULL; !err && (s = map_next(&v->tracks, s));)
		err = finish_track(v, s->value, codes);
	return err;
}

static int timeline_finish(struct sink *s, const struct profile *p)
{
	struct timeline *v = (struct timeline *)s;
	struct track *last = v->last;
	int err = finish_tracks(v, p->codes);

	err = err ?: timeline_write_snapshots(v, p->codes);
	v->last = last;
	err = err ?: timeline_report_limits(v);
	err = err ?: timeline_report_unshown(v);
	err = err ?: v->format->finish(v);
	return err ? err : sink_file_close(s);
}

static void timeline_free(struct sink *s)
{
	struct timeline *v = (struct timeline *)s;

	v->format->free(v);
	for (struct map_slot *m = NULL; (m = map_next(&v->tracks, m));)
		track_free(m->value);
	for (struct map_slot *m = NULL; (m = map_next(&v->processes, m));) {
		resumptions_free(&((struct timeline_process *)m->value)->resumptions);
		map_free(&((struct timeline_process *)m->value)->tasks);
		free(m->value);
	}
	map_free(&v->tracks);
	map_free(&v->processes);
	map_free_all(&v->drawn);
	map_free(&v->snapshots);
	map_free(&v->groups);
	map_free_all(&v->awaiting);
	sink_file_free(s);
}

static const struct sink_ops timeline_ops = {
	.sample = timeline_sample,
	.quiet_until = timeline_quiet_until,
	.passed = timeline_passed,
	.enter = timeline_enter,
	.leave = timeline_leave,
	.call = timeline_call,
	.iterate = timeline_iterate,
	.exception = timeline_exception,
	.label = timeline_label,
	.span = timeline_span,
	.task = timeline_task,
	.gap = timeline_gap,
	.segment = timeline_segment,
	.finish = timeline_finish,
	.free = timeline_free,
};

int timeline_open(struct sink **out, const struct timeline_format *format, const struct sink_options *o, char *error)
{
	int err = sink_file_open(out, sizeof(struct timeline), &timeline_ops, o, error);
	struct timeline *v;

	if (err)
		return err;
	v = (struct timeline *)*out;
	v->format = format;
	v->iterations = o->iterations;
	v->min_ns = v->floor_ns = o->min_ns;
	v->max_size = o->max_size;
	v->source_url = o->source_url;
	v->whole = o->whole;
	v->zoomed = o->zoomed;
	v->reserved = CLOSING;
	err = format->open(v);
	if (err) {
		snprintf(error, SINK_ERROR, "%s", v->file.sink.error);
		timeline_free(*out);
	}
	return err;
}
