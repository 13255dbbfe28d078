/* SPDX-License-Identifier: MIT */
/*
 * timeline_parts.h - what the files of the timeline's sink share, timeline_*.c; no other file needs it.
 *
 * In the order of the files: each calls those before it. Functions that return an int return 0 or a negative errno, its
 * text set in the sink. Tracks belong to the timeline and live as long. Times are ns as in samples, unless it says
 * "on the timeline": ns since its start.
 */
#pragma once

#include "base/cold.h"
#include "timeline.h"

/* --- timeline_room.c: what the file has room for --------------------------------------------------------- */

/* The result of a format: a full file is not an error, but `what` was left out. */
COLD int timeline_fail(struct timeline *v, struct track *t, int err, uint64_t *what);
static inline int timeline_settle(struct timeline *v, struct track *t, int err, uint64_t *what)
{
	return err || v->file.out.err ? timeline_fail(v, t, err, what) : 0;
}

/* Has the format write it, unless the file is full; what it has no room for is counted in `what`. */
#define WRITE(v, t, what, kind, ...) \
	((v)->full ? ((what)++, 0) : timeline_settle(v, t, (v)->format->kind(v, t, ##__VA_ARGS__), &(what)))

/* Has a file with a --max-size less and less room? Then v->floor_ns rises. t: where a slice begins. */
COLD void timeline_raise_it(struct timeline *v, struct track *t);
static inline void timeline_raise_floor(struct timeline *v, struct track *t)
{
	if (v->max_size)
		timeline_raise_it(v, t);
}

/* The trace itself says what is missing, in the bytes reserved for that. */
int timeline_report_limits(struct timeline *v);

/* --- timeline_tracks.c: processes, threads, and what is neither; a track is NULL if there is no memory ---- */

struct timeline_process *timeline_process_of(struct timeline *v, int32_t pid);

/* A thread's, which is v->last from now on. timeline_other_track: if it is not already. */
struct track *timeline_other_track(struct timeline *v, int32_t pid, int32_t tid);
static inline struct track *timeline_track_of(struct timeline *v, int32_t pid, int32_t tid)
{
	struct track *last = v->last;

	return last && last->tid == tid && last->pid == pid ? last : timeline_other_track(v, pid, tid);
}

/* A thread's, which it has; v->last stays what it is. NULL: it has none. */
struct track *timeline_known_track(const struct timeline *v, int32_t pid, int32_t tid);

/* The track of that number, which is no thread's; v->last stays what it is. `what`: a format for the number. */
struct track *timeline_titled(struct timeline *v, int32_t pid, int32_t tid, const char *what, int32_t number);

/* Where a greenlet's slices are: on a track of its own, if there are not too many, or on its thread's. */
struct track *timeline_greenlet_track(struct timeline *v, int32_t pid, int32_t tid, uint64_t number);

/* That of the activation's greenlet, whose title then also says what it runs. timeline_called_track: if it has one. */
struct track *timeline_called_track(struct timeline *v, const struct activation *a);
static inline struct track *timeline_activation_track(struct timeline *v, const struct activation *a)
{
	return a->greenlet ? timeline_called_track(v, a) : timeline_track_of(v, a->pid, a->tid);
}

/* A thread's other line. NULL also where the thread is not known. */
struct track *timeline_line_of(struct timeline *v, struct track *t, enum track_line line);

/* ns since the first event of the trace, even if a window leaves it out: times are the same in all windows. */
void timeline_start(struct timeline *v, uint64_t ns);
static inline uint64_t timeline_since_start(struct timeline *v, uint64_t ns)
{
	if (!v->started)
		timeline_start(v, ns);
	return ns > v->start_ns ? ns - v->start_ns : 0;
}

/* Tasks of that process's first event loop are threads of this one. */
#define TASKS_OF(pid) (TIMELINE_CPUS + 1 + (pid))

/* At the end: a thread's track has its thread's name, any other its title. A process is named on its first track. */
int timeline_write_name(struct timeline *v, struct track *t, const struct process *p);
int timeline_write_title(struct timeline *v, struct track *t);

/* --- timeline_slices.c: activations ----------------------------------------------------------------------- */

/* Of the sink (model/sink.h). */
int timeline_enter(struct sink *s, const struct activation *a);
int timeline_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
		   uint64_t end_cycles);
int timeline_call(struct sink *s, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);

/* Beginnings that were held back, as far as the file has room. */
int timeline_write_begins(struct timeline *v, struct track *t);

/* After the beginnings of the slices that it is in. */
int timeline_write_mark(struct timeline *v, struct track *t, uint64_t ns, const struct mark *mark);

/* From the slice that yielded to the one that has begun. */
int timeline_write_flow(struct timeline *v, struct track *t, const struct span *span);

/* Ends a slice, wherever on the track it is. o: what is suspended, if it yields and that is known. */
int timeline_leave_span(struct timeline *v, struct track *t, struct span *span, const struct object *o,
			enum leave_how how, uint64_t end_ns, uint64_t end_cycles);

/* The IMPORT word of the import that has just begun on the thread. */
int timeline_name_import(struct timeline *v, const struct sample *s);

/* A yield whose activation was not known: one more is suspended there. */
int timeline_suspend(struct timeline *v);
static inline int timeline_settle_yield(struct timeline *v)
{
	return v->yield.code ? timeline_suspend(v) : 0;
}

/* --- timeline_trips.c: loops ------------------------------------------------------------------------------ */

int timeline_iterate(struct sink *s, const struct trip *trip);

/* --- timeline_marks.c: losses, exceptions, labels --------------------------------------------------------- */

/* Bytes of a name of the program's in the name of a mark. */
#define MARK_NAME 96

/* verb and name: what a string of JSON may have as it is, and no more than fits. */
void timeline_plain(char to[MARK_NAME], const char *verb, const char *name);

int timeline_gap(struct sink *s, const struct sample *gap);
int timeline_exception(struct sink *s, const struct exception_mark *m);
int timeline_label(struct sink *s, const struct label_mark *m);

/* A mark of the label's name, with its data. */
int timeline_mark_label(struct timeline *v, struct track *t, const struct label_mark *m);

/* --- timeline_states.c: threads, CPUs, the GIL ------------------------------------------------------------ */

/* If it is not too short to be shown. */
int timeline_write_stretch(struct timeline *v, struct track *t, const struct stretch *s);

/* What a thread does, from its CPU and WAIT words; who waits does not have the GIL. */
int timeline_show_state(struct timeline *v, const struct sample *s);

/* An event of code: its thread has the GIL. */
int timeline_show_holder(struct timeline *v, struct timeline_process *l, const struct sample *s);

/* The thread's tracing ends with its last event. */
int timeline_end_state(struct timeline *v, struct track *t);

/* What is still going on at the end of the trace, on all tracks. */
int timeline_end_states(struct timeline *v);

/* --- timeline_opcodes.c: instructions --------------------------------------------------------------------- */

/* An INSTRUCTION: it runs on the line of this thread's opcodes, and the one before it has ended. */
int timeline_show_opcode(struct timeline *v, struct track *thread, const struct sample *s);

/* How many there were beyond TIMELINE_OPCODES. */
int timeline_report_unshown(struct timeline *v);

/* --- timeline_tasks.c: tasks and their spans ---------------------------------------------------------------- */

int timeline_task(struct sink *s, const struct task_mark *m);
int timeline_span(struct sink *s, const struct span_mark *m);

/* --- timeline_snapshots.c: flight recordings ---------------------------------------------------------------- */

int timeline_segment(struct sink *s, const struct sample *edge);

/* Those that were seen, as the code tables describe them: at the end. */
int timeline_write_snapshots(struct timeline *v, const struct codes *codes);
