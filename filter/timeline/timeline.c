// SPDX-License-Identifier: MIT
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

/* For the events at the end: two marks, the readings of meters, brackets. */
#define CLOSING 4096

const char *const timeline_counters[TIMELINE_COUNTERS][2] = {
	[TIMELINE_EVENTS] = { "events", "per second" },
	[TIMELINE_DEPTH] = { "live", "depth" },
};

char *timeline_room(struct timeline *v, size_t size, int *err)
{
	char *to;

	if (v->max_size && !out_fits(&v->file.out, size + v->reserved, v->max_size)) {
		*err = TIMELINE_FULL;
		return NULL;
	}
	to = out_reserve(&v->file.out, size);
	*err = to ? 0 : sink_file_no_memory(&v->file.sink);
	return to;
}

/* The result of a format: a full file is not an error, but `what` was left out. */
static int settle(struct timeline *v, struct track *t, int err, uint64_t *what)
{
	if (err != TIMELINE_FULL)
		return err ? err : sink_file_status(&v->file.sink);
	++*what;
	if (!v->full) {
		v->full_track = t;
		v->full_ns = t->last_ns;
	}
	v->full = true;
	return 0;
}

/* --- tracks ------------------------------------------------------------------------------------------ */

static struct timeline_process *process_of(struct timeline *v, int32_t pid)
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
	struct timeline_process *l = process_of(v, pid);
	struct track *t = l ? map_add(&v->tracks, key, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->pid = pid;
	t->tid = tid;
	t->process = l;
	t->number = v->tracks.used;
	return t;
}

static struct track *track_of(struct timeline *v, int32_t pid, int32_t tid)
{
	uint64_t key = map_pair(pid, tid);

	if (v->last && v->last->tid == tid && v->last->pid == pid)
		return v->last;
	v->last = map_get(&v->tracks, key);
	if (!v->last)
		v->last = make_track(v, pid, tid, key);
	return v->last;
}

/* ns since the first event of the trace, even if a window leaves it out: times are the same in all windows. */
static uint64_t since_start(struct timeline *v, uint64_t ns)
{
	if (!v->started) {
		v->started = true;
		v->start_ns = v->file.sink.profile ? v->file.sink.profile->first_ns : ns;
	}
	return ns > v->start_ns ? ns - v->start_ns : 0;
}

/* Has the format write it, unless the file is full; what it has no room for is counted in `what`. */
#define WRITE(v, t, what, kind, ...) \
	((v)->full ? ((what)++, 0) : settle(v, t, (v)->format->kind(v, t, ##__VA_ARGS__), &(what)))

/* --- slices ------------------------------------------------------------------------------------------ */

/* Describes a code object when it is first seen. Of a C function there is nothing to say but its name. */
static int describe_code(struct timeline *v, struct track *t, uint64_t ns, const struct code *code)
{
	if (code->c || code->label || map_get(&v->described, (uintptr_t)code))
		return 0;
	if (map_put(&v->described, (uintptr_t)code, (void *)code))
		return sink_file_no_memory(&v->file.sink);
	return settle(v, t, v->format->code(v, t, ns, code), &v->beyond.others);
}

/* From the slice that yielded to the one that has begun. */
static int write_flow(struct timeline *v, struct track *t, const struct span *span)
{
	v->flows++;
	return settle(v, t, v->format->flow(v, t, span), &v->beyond.others);
}

static int write_begin(struct timeline *v, struct track *t, struct span *span)
{
	uint64_t none = 0;
	int err;

	err = describe_code(v, t, span->shown, span->code);
	if (!err && !v->full)
		err = settle(v, t, v->format->begin(v, t, span), &none);
	if (err || v->full)
		return err;
	v->reserved += span->reserved;
	t->nwritten++;
	return span->from ? write_flow(v, t, span) : 0;
}

/* Beginnings that were held back, as far as the file has room. */
static int write_begins(struct timeline *v, struct track *t)
{
	int err = 0;

	while (!err && !v->full && t->nwritten < t->nspans)
		err = write_begin(v, t, &t->spans[t->nwritten]);
	return err;
}

static int write_mark(struct timeline *v, struct track *t, uint64_t ns, const struct mark *mark)
{
	int err = write_begins(v, t);

	return err ?: WRITE(v, t, v->beyond.others, mark, track_at(t, since_start(v, ns)), mark);
}

static int write_unwind(struct timeline *v, struct track *t, uint64_t ns)
{
	static const struct mark unwind = { .category = "exception", .name = "PY_UNWIND" };

	return write_mark(v, t, ns, &unwind);
}

/* Where this activation continues from, if that is certain. */
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

static int timeline_enter(struct sink *s, const struct activation *a)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = track_of(v, a->pid, a->tid);
	struct span *span = t ? track_push(t, a, track_at(t, since_start(v, a->start_ns))) : NULL;

	if (!span)
		return sink_file_no_memory(s);
	meter_depth(&t->meter, t->nspans);
	if (a->op == OP_PY_RESUME || a->op == OP_PY_THROW)
		resume(v, t, span, a);
	return v->min_ns ? 0 : write_begins(v, t);
}

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
	err = v->format->end(v, t, span, track_at(t, since_start(v, ns)), cycles - span->start_cycles);
	return err ? err : sink_file_status(&v->file.sink);
}

static int yielded(struct timeline *v, struct track *t, const struct span *span, bool shown)
{
	int err = resumptions_yield(&t->process->resumptions, span->code, v->offset, shown && !span->tied ? t : NULL,
				    span->shown);

	v->yield.code = NULL;
	return err ? sink_file_no_memory(&v->file.sink) : 0;
}

static int leave_span(struct timeline *v, struct track *t, struct span *span, enum leave_how how, uint64_t end_ns,
		      uint64_t end_cycles)
{
	bool written;
	int err = 0;

	if (end_ns - span->start_ns >= v->min_ns)
		err = write_begins(v, t);
	written = track_is_written(t, span);
	if (!err && written)
		err = leave_written(v, t, span, how, end_ns, end_cycles);
	else if (!err)
		err = leave_unwritten(v, end_ns - span->start_ns);
	if (!err && how == LEAVE_YIELD)
		err = yielded(v, t, span, written);
	track_take(t, span);
	meter_depth(&t->meter, t->nspans);
	return err;
}

static struct span *innermost(const struct track *t)
{
	return t->nspans ? &t->spans[t->nspans - 1] : NULL;
}

/* Spans of the program's own that are over, where nothing inside them is open any more. */
static int leave_over(struct timeline *v, struct track *t, uint64_t ns, uint64_t cycles)
{
	int err = 0;

	while (!err && innermost(t) && innermost(t)->over)
		err = leave_span(v, t, innermost(t), LEAVE_RETURN, ns, cycles);
	return err;
}

/* A span of the program's own is shown until the activation that it is in ends, or is suspended. */
static int leave_labels(struct timeline *v, struct track *t, const struct span *in, uint64_t ns, uint64_t cycles)
{
	int err = 0;

	while (!err && innermost(t) > in && innermost(t)->code->label)
		err = leave_span(v, t, innermost(t), LEAVE_RETURN, ns, cycles);
	return err;
}

static int timeline_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
			  uint64_t end_cycles)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = track_of(v, a->pid, a->tid);
	struct span *span = t ? track_find(t, a->code) : NULL;
	int err = span ? leave_labels(v, t, span, end_ns, end_cycles) : 0;

	if (err || !span)
		return err;
	return leave_span(v, t, span, how, end_ns, end_cycles) ?: leave_over(v, t, end_ns, end_cycles);
}

/* --- loops, gaps -------------------------------------------------------------------------------------- */

static int write_trip(struct timeline *v, struct track *t, const struct trip *trip, uint64_t from, uint64_t ns)
{
	if (trip->ns < v->min_ns) {
		v->shorter.trips++;
		return 0;
	}
	return WRITE(v, t, v->beyond.trips, trip, trip, from, ns);
}

/* A trip is not longer than its activation: if the trip is shown, so is the activation. */
static int timeline_iterate(struct sink *s, const struct trip *trip)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = track_of(v, trip->in->pid, trip->in->tid);
	uint64_t ns, before;
	int err = 0;

	if (!t)
		return sink_file_no_memory(s);
	if (v->iterations == ITERATIONS_NONE || (v->iterations == ITERATIONS_INSTANTS && !trip->timed))
		return 0;
	if (trip->timed && trip->ns >= v->min_ns)
		err = write_begins(v, t);
	if (err)
		return err;
	ns = track_at(t, since_start(v, trip->end_ns));
	if (v->iterations == ITERATIONS_INSTANTS)
		return write_trip(v, t, trip, ns, ns);
	before = track_edge(t, trip->loop, ns, &err);
	if (err)
		return sink_file_no_memory(s);
	return trip->timed && before != UINT64_MAX ? write_trip(v, t, trip, before, ns) : 0;
}

static int timeline_gap(struct sink *s, const struct sample *gap)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = track_of(v, gap->pid, gap->tid);
	const char *name = gap->op == SAMPLE_GAP ? "GAP" : "UNMATCHED";
	struct mark mark = { .category = "loss", .name = name, .n = 1, .args = { { "count", gap->count } } };

	return t ? write_mark(v, t, gap->time, &mark) : sink_file_no_memory(s);
}

/* Bytes of a name of the program's in the name of a mark. */
#define MARK_NAME 96

/* What a string of JSON may have as it is, and no more than fits. */
static void put_plain(char to[MARK_NAME], const char *verb, const char *name)
{
	size_t n = snprintf(to, MARK_NAME, "%s%s", verb, name);

	for (char *c = to; *c; c++)
		if (*c == '"')
			*c = '\'';
		else if (*c == '\\' || (unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (n >= MARK_NAME) /* no half of a character */
		for (char *c = to + MARK_NAME - 2; c > to && (*c & 0x80); *c-- = 0)
			if ((*c & 0xc0) == 0xc0) {
				*c = 0;
				break;
			}
}

static int timeline_exception(struct sink *s, const struct exception_mark *m)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = track_of(v, m->in->pid, m->in->tid);
	char name[MARK_NAME];
	struct mark mark = { .category = "exception",
			     .name = name,
			     .n = 1 + m->handled,
			     .args = { { "line", m->line }, { "frames", m->frames } } };

	put_plain(name, m->handled ? "caught " : "raised ", m->of->type ? m->of->type->qualname : "an exception");
	return t ? write_mark(v, t, m->time_ns, &mark) : sink_file_no_memory(s);
}

static int mark_label(struct timeline *v, struct track *t, const struct label_mark *m)
{
	char name[MARK_NAME], data[MARK_NAME];
	struct mark mark = { .category = "label", .name = name, .text = m->data ? data : NULL };

	put_plain(name, "", m->name->qualname);
	if (m->data)
		put_plain(data, "", m->data->qualname);
	return write_mark(v, t, m->ns, &mark);
}

static int begin_label(struct timeline *v, struct track *t, const struct label_mark *m)
{
	const struct activation a = { .pid = m->pid,
				      .tid = m->tid,
				      .code = (struct code *)m->name,
				      .op = OP_PY_START,
				      .start_ns = m->ns,
				      .start_cycles = m->cycles };
	int err = timeline_enter(&v->file.sink, &a);

	return err || !m->data ? err : mark_label(v, t, m);
}

static int count_label(struct timeline *v, struct track *t, const struct label_mark *m)
{
	char name[MARK_NAME];

	put_plain(name, "", m->name->qualname);
	return WRITE(v, t, v->beyond.others, value, track_at(t, since_start(v, m->ns)), name, m->value);
}

static int timeline_label(struct sink *s, const struct label_mark *m)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = track_of(v, m->pid, m->tid);
	struct span *span;

	if (!t)
		return sink_file_no_memory(s);
	switch (m->what) {
	case LABEL_BEGIN:
		return begin_label(v, t, m);
	case LABEL_END:
		span = track_find(t, m->name);
		if (span)
			span->over = true;
		return leave_over(v, t, m->ns, m->cycles);
	case LABEL_COUNTER:
		return count_label(v, t, m);
	case LABEL_INSTANT:
		break;
	}
	return mark_label(v, t, m);
}

/* --- counters ----------------------------------------------------------------------------------------- */

static int write_readings(struct timeline *v, struct track *t, const struct reading *readings, unsigned n)
{
	int err = 0;

	for (unsigned i = 0; i < n && !err && !v->full; i++) {
		err = settle(v, t, v->format->counter(v, t, TIMELINE_EVENTS, readings[i].ns, readings[i].rate),
			     &v->beyond.others);
		if (!err && !v->full)
			err = settle(v, t, v->format->counter(v, t, TIMELINE_DEPTH, readings[i].ns, readings[i].depth),
				     &v->beyond.others);
	}
	return err;
}

/* A yield whose activation was not known: one more is suspended there. */
static int settle_yield(struct timeline *v)
{
	int err = 0;

	if (v->yield.code)
		err = resumptions_yield(&v->yield.in->resumptions, v->yield.code, v->yield.offset, NULL, 0);
	v->yield.code = NULL;
	return err ? sink_file_no_memory(&v->file.sink) : 0;
}

/* After lost markers, and in a program that exec'ed another one, no resumption is certain. */
static int lose(struct timeline *v, const struct sample *sample)
{
	struct timeline_process *l = process_of(v, sample->pid);
	struct track *t;

	if (!l)
		return sink_file_no_memory(&v->file.sink);
	l->resumptions.lost |= sample->op == SAMPLE_GAP || sample->op == SAMPLE_RESTART;
	if (!v->zoomed || sample->op == SAMPLE_FOREIGN || sample->op == OP_EXTENSION)
		return 0;
	t = track_of(v, sample->pid, sample->tid);
	if (t && t->lines[LINE_OPCODES]) /* when the activations there ended was not seen */
		t->lines[LINE_OPCODES]->running.code = NULL;
	return 0;
}

/* --- other lines ---------------------------------------------------------------------------------------- */

/* The track of that number, which is no thread's; v->last stays what it is. NULL: no memory. */
static struct track *titled(struct timeline *v, int32_t pid, int32_t tid, const char *what, int32_t number)
{
	struct track *last = v->last, *t = track_of(v, pid, tid);

	v->last = last;
	if (t && !*t->title)
		snprintf(t->title, sizeof(t->title), what, number);
	return t;
}

static struct track *line_of(struct timeline *v, struct track *t, enum track_line line)
{
	static const char *const titles[TRACK_LINES] = {
		[LINE_OPCODES] = "opcodes of thread %d",
		[LINE_STATE] = "state of thread %d",
	};

	if (!t->lines[line] && t->tid >= 0)
		t->lines[line] = titled(v, t->pid, t->tid | TIMELINE_LINE(line), titles[line], t->tid);
	return t->lines[line];
}

/* --- states of threads, CPUs and the GIL ------------------------------------------------------------------ */

static int write_stretch(struct timeline *v, struct track *t, const struct stretch *s)
{
	uint64_t from, ns = since_start(v, s->until);

	if (s->until - s->from < v->min_ns) {
		v->shorter.others++;
		return 0;
	}
	from = track_at(t, since_start(v, s->from));
	return WRITE(v, t, v->beyond.others, stretch, s, from, track_at(t, ns));
}

/* The CPU on which the thread ran then. */
static int write_cpu(struct timeline *v, int32_t tid, struct stretch s)
{
	struct track *t = titled(v, TIMELINE_CPUS, TIMELINE_CPUS + s.cpu, "CPU %d", s.cpu);

	s.name = NULL;
	s.tid = tid;
	return t ? write_stretch(v, t, &s) : sink_file_no_memory(&v->file.sink);
}

static int write_state(struct timeline *v, struct track *thread, const struct stretch *s)
{
	struct track *t = line_of(v, thread, LINE_STATE);
	int err = t ? write_stretch(v, t, s) : sink_file_no_memory(&v->file.sink);

	return err || s->cpu == STATES_NO_CPU ? err : write_cpu(v, thread->tid, *s);
}

static int write_holder(struct timeline *v, struct timeline_process *l, const struct stretch *s)
{
	if (!l->gil)
		l->gil = titled(v, l->pid, l->pid | TIMELINE_GIL, "GIL of process %d", l->pid);
	return l->gil ? write_stretch(v, l->gil, s) : sink_file_no_memory(&v->file.sink);
}

/* The thread's tracing ends with its last event. */
static int end_state(struct timeline *v, struct track *t)
{
	struct stretch done;

	return states_end(&t->states, t->seen_ns, &done) ? write_state(v, t, &done) : 0;
}

/* What a thread does, from its CPU and WAIT words; who waits does not have the GIL. */
static int show_state(struct timeline *v, const struct sample *s)
{
	struct track *t = track_of(v, s->pid, s->tid);
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

/* No event of code. */
static int show_other(struct timeline *v, const struct sample *s)
{
	bool ends = s->op == SAMPLE_RESTART || (s->op == OP_SNAPSHOT && s->ends);
	struct track *t;
	int err;

	if (s->tid < 0)
		return 0;
	if (s->op == OP_EXTENSION)
		return s->kind == KIND_CPU || s->kind == KIND_WAIT ? show_state(v, s) : 0;
	t = ends ? track_of(v, s->pid, s->tid) : NULL;
	err = t ? end_state(v, t) : 0;
	if (t)
		t->seen_ns = 0;
	return err;
}

/* Threads that have no GIL, or do not tell when they let it go, say nothing about who has it. */
static int show_holder(struct timeline *v, struct timeline_process *l, const struct sample *s)
{
	const struct process *p = s->code->process;
	struct stretch done;

	if (!l->begun)
		l->has_gil = p && p->waits && p->python && !strstr(p->python, "free-threading build");
	l->begun = true;
	return l->has_gil && holder_event(&l->holder, s->tid, s->time, &done) ? write_holder(v, l, &done) : 0;
}

/* --- instructions ------------------------------------------------------------------------------------- */

/* The running instruction has ended. */
static int write_opcode(struct timeline *v, struct track *t, uint64_t ns, uint64_t cycles)
{
	struct running *r = &t->running;

	if (!r->code || ns < r->shown || cycles < r->cycles)
		return 0;
	if (ns - r->shown < v->min_ns) {
		v->shorter.others++;
		return 0;
	}
	if (v->full) {
		v->beyond.others++;
		return 0;
	}
	if (v->opcodes == TIMELINE_OPCODES) {
		if (!v->unshown++) {
			v->unshown_track = t;
			v->unshown_ns = t->last_ns;
		}
		return 0;
	}
	v->opcodes++;
	t->last_ns = ns;
	return settle(v, t, v->format->opcode(v, t, r, ns, cycles - r->cycles), &v->beyond.others);
}

static int show_opcode(struct timeline *v, struct track *thread, const struct sample *s)
{
	struct track *t = line_of(v, thread, LINE_OPCODES);
	uint64_t ns = since_start(v, s->time);
	uint32_t i = code_index(s->code, s->offset);
	int err;

	if (!t)
		return thread->tid < 0 ? 0 : sink_file_no_memory(&v->file.sink);
	err = write_opcode(v, t, ns, s->cycles);
	t->running = (struct running){ .opcode = s->opcode, .shown = ns, .cycles = s->cycles };
	if (i < s->code->ninstrs) {
		t->running.code = s->code;
		t->running.instr = &s->code->instrs[i];
	}
	return err;
}

static int timeline_sample(struct sink *s, const struct sample *sample)
{
	struct timeline *v = (struct timeline *)s;
	struct reading readings[2];
	struct track *t;
	int err = settle_yield(v);

	if (!err && !sample->code)
		err = show_other(v, sample);
	if (err || !sample->code)
		return err ? err : lose(v, sample);
	t = track_of(v, sample->pid, sample->tid);
	if (!t)
		return sink_file_no_memory(s);
	if (!t->seen_ns)
		states_begin(&t->states, sample->time);
	t->seen_ns = sample->time;
	err = show_holder(v, t->process, sample);
	if (!err && v->zoomed && sample->op == OP_INSTRUCTION && sample->opcode)
		err = show_opcode(v, t, sample);
	if (err)
		return err;
	v->offset = sample->offset;
	if (sample->op == OP_PY_YIELD) {
		v->yield.in = t->process;
		v->yield.code = sample->code;
		v->yield.offset = sample->offset;
	}
	return write_readings(v, t, readings, meter_event(&t->meter, since_start(v, sample->time), readings));
}

/* --- snapshots ---------------------------------------------------------------------------------------- */

/* The values of their triggers are in the code tables, which are complete at the end. */
static int timeline_segment(struct sink *s, const struct sample *edge)
{
	struct timeline *v = (struct timeline *)s;

	if (edge->window)
		return 0;
	return map_put(&v->snapshots, edge->number, v) ? sink_file_no_memory(s) : 0;
}

/* Each begins where the previous one ended, or later. */
static int write_snapshot(struct timeline *v, struct track *t, const struct snapshot *s)
{
	uint64_t from = track_at(t, since_start(v, s->from_ns));
	uint64_t until = track_at(t, since_start(v, s->at_ns));

	return WRITE(v, t, v->beyond.others, snapshot, s, from, until);
}

static int write_snapshots(struct timeline *v, const struct codes *codes)
{
	struct track *t = NULL;
	uint64_t none = 0;
	int err = 0;

	for (size_t i = 0; i < codes->nsnapshots && !err; i++) {
		if (!map_get(&v->snapshots, codes->snapshots[i].number))
			continue;
		t = track_of(v, TIMELINE_NOBODY, TIMELINE_NOBODY);
		if (!t)
			return sink_file_no_memory(&v->file.sink);
		err = write_snapshot(v, t, &codes->snapshots[i]);
	}
	if (t && !err && !v->full)
		err = settle(v, t, v->format->name(v, t, "snapshots", "snapshots"), &none);
	return err;
}

/* --- the end ------------------------------------------------------------------------------------------ */

/* A process is named once, on the first of its tracks. */
static int write_name(struct timeline *v, struct track *t, const struct process *p)
{
	const char *thread = process_thread_name(p, t->tid), *process = NULL;
	uint64_t none = 0;

	if (!thread && t->tid == t->pid) /* Linux: the first thread's id is the process's */
		thread = "MainThread";
	if (!t->process->named)
		process = p->argv;
	t->process->named = true;
	if (!thread && !process)
		return 0;
	return settle(v, t, v->format->name(v, t, thread, process), &none);
}

static int write_title(struct timeline *v, struct track *t)
{
	const char *process = t->pid == TIMELINE_CPUS && !t->process->named ? "CPUs" : NULL;
	uint64_t none = 0;

	t->process->named |= process != NULL;
	return t->last_ns ? settle(v, t, v->format->name(v, t, t->title, process), &none) : 0;
}

static int finish_track(struct timeline *v, struct track *t, struct codes *codes)
{
	const struct process *p = *t->title ? NULL : codes_process(codes, t->pid);
	struct reading readings[2];
	int err;

	if (*t->title)
		return write_title(v, t);
	err = write_readings(v, t, readings, meter_finish(&t->meter, t->last_ns, readings));

	return err || !p ? err : write_name(v, t, p);
}

/* What is still going on. Lines may be new: they must not be added to what is walked. */
static int end_states(struct timeline *v)
{
	struct track **all = calloc(v->tracks.used + 1, sizeof(*all));
	struct stretch done;
	size_t n = 0;
	int err = all ? 0 : sink_file_no_memory(&v->file.sink);

	for (struct map_slot *s = NULL; all && (s = map_next(&v->tracks, s));)
		all[n++] = s->value;
	for (size_t i = 0; i < n && !err; i++)
		err = end_state(v, all[i]);
	for (size_t i = 0; i < n && !err; i++)
		if (all[i]->seen_ns && holder_waits(&all[i]->process->holder, all[i]->tid, all[i]->seen_ns, &done))
			err = write_holder(v, all[i]->process, &done);
	free(all);
	return err;
}

static int finish_tracks(struct timeline *v, struct codes *codes)
{
	int err = settle_yield(v);

	err = err ?: end_states(v);
	for (struct map_slot *s = NULL; !err && (s = map_next(&v->tracks, s));)
		err = finish_track(v, s->value, codes);
	return err;
}

static int report_left_out(struct timeline *v, struct track *t, uint64_t ns, const char *name, const struct left_out *l,
			   const char *why, uint64_t limit)
{
	struct mark mark = {
		.category = "limit",
		.name = name,
		.n = 4,
		.args = { { why, limit }, { "slices", l->slices }, { "trips", l->trips }, { "others", l->others } },
	};
	int err;

	if (!t || !(l->slices | l->trips | l->others))
		return 0;
	err = v->format->mark(v, t, ns, &mark);
	return err == TIMELINE_FULL ? 0 : err;
}

/* The trace itself says what is missing, in the bytes reserved for that. */
static int report_limits(struct timeline *v)
{
	int err;

	v->reserved = 0;
	if (!v->last)
		return 0;
	err = report_left_out(v, v->full_track, v->full_ns, "LEFT OUT: --max-size", &v->beyond, "bytes", v->max_size);
	if (!err)
		err = report_left_out(v, v->last, v->last->last_ns, "LEFT OUT: --min-duration", &v->shorter, "ns",
				      v->min_ns);
	return err;
}

static int report_unshown(struct timeline *v)
{
	struct mark mark = { .category = "limit",
			     .name = "LEFT OUT: opcodes",
			     .n = 2,
			     .args = { { "limit", TIMELINE_OPCODES }, { "opcodes", v->unshown } } };
	int err = v->unshown ? v->format->mark(v, v->unshown_track, v->unshown_ns, &mark) : 0;

	return err == TIMELINE_FULL ? 0 : err;
}

static int timeline_finish(struct sink *s, const struct profile *p)
{
	struct timeline *v = (struct timeline *)s;
	struct track *last = v->last;
	int err = finish_tracks(v, p->codes);

	err = err ?: write_snapshots(v, p->codes);
	v->last = last;
	err = err ?: report_limits(v);
	err = err ?: report_unshown(v);
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
		free(m->value);
	}
	map_free(&v->tracks);
	map_free(&v->processes);
	map_free(&v->described);
	map_free(&v->snapshots);
	sink_file_free(s);
}

static const struct sink_ops timeline_ops = {
	.sample = timeline_sample,
	.enter = timeline_enter,
	.leave = timeline_leave,
	.iterate = timeline_iterate,
	.exception = timeline_exception,
	.label = timeline_label,
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
	v->min_ns = o->min_ns;
	v->max_size = o->max_size;
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
