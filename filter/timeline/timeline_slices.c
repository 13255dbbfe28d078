// SPDX-License-Identifier: MIT
/*
 * The slices of activations: when their beginnings are written, their ends, and the flows between those that yield and
 * those that go on.
 *
 * A beginning waits on its track (track.h) until its slice is long enough to be shown. Who goes on where another
 * yielded is resumption.h's to say.
 */
#include "timeline_parts.h"

#include "base/cold.h"
#include "model/imports.h"
#include "model/profile.h"

/* NULL: no memory. */
static inline struct drawn *drawn_of(struct timeline *v, const struct code *code)
{
	struct drawn *d = map_get(&v->drawn, (uintptr_t)code);

	return d ? d : map_add(&v->drawn, (uintptr_t)code, sizeof(*d));
}

/* Describes a code object when it is first seen. Of a C function there is nothing to say but its name. */
static COLD int describe_code(struct timeline *v, struct track *t, const struct span *span)
{
	span->drawn->described = true;
	span->drawn->whole = !span->code->label && !import_is_of(span->code);
	if (span->code->c || span->code->label)
		return 0;
	return timeline_settle(v, t, v->format->code(v, t, span->shown, span->code), &v->beyond.others);
}

int timeline_write_flow(struct timeline *v, struct track *t, const struct span *span)
{
	v->flows++;
	return timeline_settle(v, t, v->format->flow(v, t, span), &v->beyond.others);
}

static int write_begin(struct timeline *v, struct track *t, struct span *span)
{
	uint64_t none = 0;
	int err = 0;

	span->drawn = drawn_of(v, span->code);
	if (span->drawn && !span->drawn->described)
		err = describe_code(v, t, span);
	if (span->drawn && span->import)
		span->drawn = drawn_of(v, span->import);
	if (!span->drawn)
		return sink_file_no_memory(&v->file.sink);
	if (!err && !v->full)
		err = timeline_settle(v, t, v->format->begin(v, t, span), &none);
	if (err || v->full)
		return err;
	v->reserved += span->reserved;
	t->nwritten++;
	return span->from ? timeline_write_flow(v, t, span) : 0;
}

int timeline_write_begins(struct timeline *v, struct track *t)
{
	int err = 0;

	while (!err && !v->full && t->nwritten < t->nspans)
		err = write_begin(v, t, &t->spans[t->nwritten]);
	return err;
}

int timeline_write_mark(struct timeline *v, struct track *t, uint64_t ns, const struct mark *mark)
{
	int err = timeline_write_begins(v, t);

	return err ?: WRITE(v, t, v->beyond.others, mark, track_at(t, timeline_since_start(v, ns)), mark);
}

static int write_unwind(struct timeline *v, struct track *t, uint64_t ns)
{
	static const struct mark unwind = { .category = "exception", .name = "ended by an exception" };

	return timeline_write_mark(v, t, ns, &unwind);
}

/* --- enter --------------------------------------------------------------------------------------------------- */

/* Where this activation continues from. */
static void resume_object(struct track *t, struct span *span, const struct object *o)
{
	const struct resumption *from = resumptions_resume_object(&t->process->resumptions, o);

	if (from) {
		span->from = from->track;
		span->from_shown = from->shown;
	}
}

/* The same where its object is not known, if it is certain. */
static void resume(struct timeline *v, struct track *t, struct span *span, const struct activation *a)
{
	const struct process *p = a->code->process;
	struct resumption from;
	bool sure = resumptions_resume(&t->process->resumptions, a->code, v->offset, &from);

	if (sure && p && p->whole && p->pid == a->pid) {
		span->from = from.track;
		span->from_shown = from.shown;
	}
}

/* What an import is of is told right after its beginning, which waits for that. */
static int hold_import(struct timeline *v, struct track *t, const struct activation *a)
{
	struct track *thread = timeline_track_of(v, a->pid, a->tid);

	if (!thread)
		return sink_file_no_memory(&v->file.sink);
	thread->importing = t;
	return 0;
}

int timeline_name_import(struct timeline *v, const struct sample *s)
{
	struct track *thread = timeline_track_of(v, s->pid, s->tid);
	struct track *t = thread ? thread->importing : NULL;
	struct span *span = t && t->nspans ? &t->spans[t->nspans - 1] : NULL;

	if (!thread)
		return sink_file_no_memory(&v->file.sink);
	thread->importing = NULL;
	if (!span || track_is_written(t, span) || !import_is_of(span->code))
		return 0;
	span->import = s->named;
	return v->floor_ns ? 0 : timeline_write_begins(v, t);
}

int timeline_enter(struct sink *s, const struct activation *a)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = timeline_activation_track(v, a);
	uint64_t ns = timeline_since_start(v, a->start_ns);
	struct span *span = t ? track_push(t, a, (a->code->label ? track_inside : track_at)(t, ns)) : NULL;

	if (s->profile)
		opening_enter(&v->opening, s->profile->codes, a);
	if (!span)
		return sink_file_no_memory(s);
	meter_depth(&t->meter, t->nspans);
	if (a->object && a->op != OP_EXTENSION)
		resume_object(t, span, a->object);
	else if (a->op == OP_PY_RESUME || a->op == OP_PY_THROW)
		resume(v, t, span, a);
	if (a->op == OP_PY_START && import_is_of(a->code))
		return hold_import(v, t, a);
	timeline_raise_floor(v, t);
	return v->floor_ns ? 0 : timeline_write_begins(v, t);
}

/* --- leave --------------------------------------------------------------------------------------------------- */

static int leave_unwritten(struct timeline *v, uint64_t ns)
{
	if (ns < v->min_ns)
		v->shorter.slices++;
	else
		v->beyond.slices++;
	return 0;
}

static int leave_written(struct timeline *v, struct track *t, struct span *span, enum leave_how how, uint64_t ns,
			 uint64_t cycles)
{
	int err = how == LEAVE_UNWIND ? write_unwind(v, t, ns) : 0;

	if (err)
		return err;
	v->reserved -= span->reserved;
	err = v->format->end(v, t, span, track_at(t, timeline_since_start(v, ns)), cycles - span->start_cycles);
	return err ? err : sink_file_status(&v->file.sink);
}

static int yielded(struct timeline *v, struct track *t, const struct span *span, bool shown, const struct object *o)
{
	struct resumptions *w = &t->process->resumptions;
	const struct track *on = shown && !span->tied ? t : NULL;
	int err = o ? resumptions_yield_object(w, o, on, span->shown)
		    : resumptions_yield(w, span->code, v->offset, on, span->shown);

	v->yield.code = NULL;
	return err ? sink_file_no_memory(&v->file.sink) : 0;
}

int timeline_leave_span(struct timeline *v, struct track *t, struct span *span, const struct object *o,
			enum leave_how how, uint64_t end_ns, uint64_t end_cycles)
{
	bool written;
	int err = 0;

	if (t->nwritten < t->nspans && end_ns - span->start_ns >= v->floor_ns)
		err = timeline_write_begins(v, t);
	written = track_is_written(t, span);
	if (!err && written)
		err = leave_written(v, t, span, how, end_ns, end_cycles);
	else if (!err)
		err = leave_unwritten(v, end_ns - span->start_ns);
	if (!err && how == LEAVE_YIELD)
		err = yielded(v, t, span, written, o);
	track_take(t, span);
	meter_depth(&t->meter, t->nspans);
	return err;
}

int timeline_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns, uint64_t end_cycles)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = timeline_activation_track(v, a);
	struct span *span = t ? track_find(t, a->code) : NULL;

	if (s->profile)
		opening_leave(&v->opening, s->profile->codes, a, end_ns);
	if (!span)
		return 0;
	span->off = a->off;
	return timeline_leave_span(v, t, span, a->object, how, end_ns, end_cycles);
}

/* --- both ------------------------------------------------------------------------------------------------------ */

/* All slices are shown, those around it have begun, and its code has been described. */
static inline bool is_whole(const struct timeline *v, const struct track *t, const struct drawn *d,
			    const struct activation *a)
{
	return d && d->whole && t->nwritten == t->nspans && !a->object && !v->floor_ns && !v->max_size;
}

/* As timeline_enter() and timeline_leave(), without a place among the track's slices. */
static int write_whole(struct timeline *v, struct track *t, struct span *span, uint64_t end_ns, uint64_t end_cycles)
{
	uint64_t none = 0;
	size_t depth = t->nspans;
	int err;

	if (depth)
		t->spans[depth - 1].calls++;
	meter_depth(&t->meter, depth + 1);
	meter_depth(&t->meter, depth);
	err = timeline_settle(v, t, v->format->begin(v, t, span), &none);
	if (err)
		return err;
	err = v->format->end(v, t, span, track_at(t, timeline_since_start(v, end_ns)), end_cycles - span->start_cycles);
	return err ? err : sink_file_status(&v->file.sink);
}

/* Half of all activations or more: they call nothing that is traced. */
int timeline_call(struct sink *s, const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = timeline_activation_track(v, a);
	struct drawn *d = map_get(&v->drawn, (uintptr_t)a->code);
	struct span span;

	if (!t || !is_whole(v, t, d, a))
		return timeline_enter(s, a) ?: timeline_leave(s, a, LEAVE_RETURN, end_ns, end_cycles);
	span_begin(&span, a, track_at(t, timeline_since_start(v, a->start_ns)));
	span.drawn = d;
	span.off = a->off;
	if (s->profile) {
		opening_enter(&v->opening, s->profile->codes, a);
		opening_leave(&v->opening, s->profile->codes, a, end_ns);
	}
	return write_whole(v, t, &span, end_ns, end_cycles);
}

int timeline_suspend(struct timeline *v)
{
	int err = resumptions_yield(&v->yield.in->resumptions, v->yield.code, v->yield.offset, NULL, 0);

	v->yield.code = NULL;
	return err ? sink_file_no_memory(&v->file.sink) : 0;
}
