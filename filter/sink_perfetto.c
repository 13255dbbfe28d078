// SPDX-License-Identifier: MIT
/*
 * An event is a few constant pieces around a time. What depends on the code object, the loop or the
 * thread is rendered once and copied from then on, so an event costs a number in decimal and some
 * memcpy.
 *
 * What viewers ask for beyond the format's description:
 * - a plain array: cut short it still loads, an object does not;
 * - times in microseconds since the start of the trace (epoch times would fall on a 256 ns grid of
 *   doubles), never negative (dropped), never running backwards within a thread (they sort);
 * - B and E with one name and no args: catapult warns of an arg on both, speedscope of one on B
 * alone. Where a slice is from stands in its category; the rest of its code object is told once;
 * - no displayTimeUnit: older engines scale by it.
 */
#include "sink_perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "perfetto.h"
#include "piece.h"
#include "profile.h"
#include "sink_file.h"
#include "text.h"

struct track {
	int32_t pid, tid;
	uint64_t last_ns; /* of its last event, since the start of the trace */
	struct piece ids; /* pid and tid */
};

struct perfetto {
	struct sink_file file;
	uint64_t start_ns; /* time 0 of the timeline */
	bool started;
	bool any;	   /* an event was written: the next needs a comma */
	struct map tracks; /* (pid, tid) -> struct track */
	struct track *last;
	struct map codes, begins, ends; /* struct code -> struct piece */
	struct map trips;		/* struct loop -> struct piece */
};

/* Numbers and constant text of one event at most. */
#define EVENT_ROOM 256

static struct track *make_track(struct perfetto *v, int32_t pid, int32_t tid, uint64_t key)
{
	struct track *t = calloc(1, sizeof(*t));
	int length;

	if (!t || map_put(&v->tracks, key, t)) {
		free(t);
		return NULL;
	}
	t->pid = pid;
	t->tid = tid;
	/* Unknown ones are 0: Perfetto takes no negative ids. */
	length = asprintf(&t->ids.text, "\"pid\":%d,\"tid\":%d,", pid < 0 ? 0 : pid,
			  tid < 0 ? 0 : tid);
	t->ids.length = length > 0 ? length : 0;
	return length > 0 ? t : NULL;
}

static struct track *track_of(struct perfetto *v, int32_t pid, int32_t tid)
{
	uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;

	if (v->last && v->last->tid == tid && v->last->pid == pid)
		return v->last;
	v->last = map_get(&v->tracks, key);
	if (!v->last)
		v->last = make_track(v, pid, tid, key);
	return v->last;
}

static uint64_t timeline(struct perfetto *v, struct track *t, uint64_t ns)
{
	if (!v->started) {
		v->started = true;
		v->start_ns = ns;
	}
	ns = ns > v->start_ns ? ns - v->start_ns : 0;
	return t->last_ns = ns > t->last_ns ? ns : t->last_ns;
}

/* Opens an event with room for `more` bytes of pieces. NULL: no memory. */
static char *begin(struct perfetto *v, char phase, struct track *t, uint64_t ns, size_t more)
{
	char *to = t ? out_reserve(&v->file.out, EVENT_ROOM + t->ids.length + more) : NULL;

	if (!to)
		return NULL;
	if (v->any)
		*to++ = ',';
	v->any = true;
	to = stpcpy(to, "\n{\"ph\":\"");
	*to++ = phase;
	to = stpcpy(to, "\",\"ts\":");
	to = out_us(to, timeline(v, t, ns));
	*to++ = ',';
	return piece_put(to, &t->ids);
}

static int end(struct perfetto *v, char *to)
{
	*to++ = '}';
	out_commit(&v->file.out, to);
	return sink_file_status(&v->file.sink);
}

static int no_memory(struct perfetto *v)
{
	return sink_file_no_memory(&v->file.sink);
}

/* An event that is all piece. */
static int write_piece(struct perfetto *v, char phase, struct track *t, uint64_t ns,
		       const struct piece *piece)
{
	char *to = piece ? begin(v, phase, t, ns, piece->length) : NULL;

	return to ? end(v, piece_put(to, piece)) : no_memory(v);
}

/* What is known of a code object, where it is first seen. */
static int write_code(struct perfetto *v, struct track *t, uint64_t ns, const struct code *code)
{
	if (map_get(&v->codes, (uintptr_t)code))
		return 0;
	return write_piece(v, 'i', t, ns, piece_get(&v->codes, code, perfetto_code));
}

static int perfetto_enter(struct sink *s, const struct activation *a)
{
	struct perfetto *v = (struct perfetto *)s;
	struct track *t = track_of(v, a->pid, a->tid);
	int err = write_code(v, t, a->start_ns, a->code);

	if (err)
		return err;
	return write_piece(v, 'B', t, a->start_ns, piece_get(&v->begins, a->code, perfetto_begin));
}

static int write_unwind(struct perfetto *v, struct track *t, uint64_t ns)
{
	char *to = begin(v, 'i', t, ns, 0);

	if (!to)
		return no_memory(v);
	return end(v, stpcpy(to, "\"s\":\"t\",\"cat\":\"exception\",\"name\":\"PY_UNWIND\""));
}

static int perfetto_leave(struct sink *s, const struct activation *a, enum leave_how how,
			  uint64_t end_ns, uint64_t end_cycles)
{
	struct perfetto *v = (struct perfetto *)s;
	struct track *t = track_of(v, a->pid, a->tid);
	int err = how == LEAVE_UNWIND ? write_unwind(v, t, end_ns) : 0;

	(void)end_cycles;
	if (err)
		return err;
	return write_piece(v, 'E', t, end_ns, piece_get(&v->ends, a->code, perfetto_end));
}

static int perfetto_iterate(struct sink *s, const struct trip *t)
{
	struct perfetto *v = (struct perfetto *)s;
	const struct piece *trip;
	char *to;

	if (!t->timed)
		return 0;
	trip = piece_get(&v->trips, t->loop, perfetto_trip);
	to = trip ? begin(v, 'i', track_of(v, t->in->pid, t->in->tid), t->end_ns, trip->length)
		  : NULL;
	if (!to)
		return no_memory(v);
	to = piece_put(to, trip);
	if (t->uops) /* 0: the bytecode is not known */
		to = stpcpy(out_dec(stpcpy(to, "\"uOps\":"), t->uops), ",");
	to = out_dec(stpcpy(to, "\"Hardware Cycles\":"), t->cycles);
	to = out_dec(stpcpy(to, ",\"trip\":"), t->number);
	*to++ = '}';
	return end(v, to);
}

static int perfetto_gap(struct sink *s, const struct sample *gap)
{
	struct perfetto *v = (struct perfetto *)s;
	char *to = begin(v, 'i', track_of(v, gap->pid, gap->tid), gap->time, 0);

	if (!to)
		return no_memory(v);
	to = stpcpy(to, "\"s\":\"t\",\"cat\":\"loss\",\"name\":\"GAP\",\"args\":{\"count\":");
	to = out_dec(to, gap->count);
	*to++ = '}';
	return end(v, to);
}

static void render_name(FILE *f, struct perfetto *v, const struct track *t, const char *what,
			const char *name)
{
	if (v->any)
		fputc(',', f);
	v->any = true;
	perfetto_name(f, t->ids.text, what, name);
}

static void render_thread(FILE *f, struct perfetto *v, const struct track *t,
			  const struct process *p)
{
	const char *name = process_thread_name(p, t->tid);

	if (!name && t->tid == t->pid) /* Linux: the first thread's id is the process's */
		name = "MainThread";
	if (name)
		render_name(f, v, t, "thread_name", name);
}

/* A process is named once, on the first of its tracks. */
static int render_names(FILE *f, struct sink *sink, const struct profile *profile)
{
	struct perfetto *v = (struct perfetto *)sink;
	struct map named = { 0 };
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&v->tracks, s));) {
		struct track *t = s->value;
		const struct process *p = codes_process(profile->codes, t->pid);

		if (!p)
			continue;
		render_thread(f, v, t, p);
		if (p->argv && !map_get(&named, (uint32_t)t->pid))
			render_name(f, v, t, "process_name", p->argv);
		err = map_put(&named, (uint32_t)t->pid, t);
	}
	map_free(&named);
	return err;
}

static int perfetto_finish(struct sink *s, const struct profile *p)
{
	struct perfetto *v = (struct perfetto *)s;
	int err = sink_file_render(s, render_names, p);

	if (err)
		return err;
	out_put(&v->file.out, "\n]\n", 3);
	return sink_file_close(s);
}

static void perfetto_free(struct sink *s)
{
	struct perfetto *v = (struct perfetto *)s;

	for (struct map_slot *m = NULL; (m = map_next(&v->tracks, m));) {
		free(((struct track *)m->value)->ids.text);
		free(m->value);
	}
	map_free(&v->tracks);
	piece_free_all(&v->codes);
	piece_free_all(&v->begins);
	piece_free_all(&v->ends);
	piece_free_all(&v->trips);
	sink_file_free(s);
}

static const struct sink_ops perfetto_ops = {
	.enter = perfetto_enter,
	.leave = perfetto_leave,
	.iterate = perfetto_iterate,
	.gap = perfetto_gap,
	.finish = perfetto_finish,
	.free = perfetto_free,
};

int sink_perfetto_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_file_open(out, sizeof(struct perfetto), &perfetto_ops, o, error);

	if (!err)
		out_put(&((struct perfetto *)*out)->file.out, "[", 1);
	return err;
}
