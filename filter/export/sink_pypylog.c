// SPDX-License-Identifier: MIT
/*
 * The log that PyPy's note on a JIT-aware profiler proposes (doc.pypy.org, discussion/jit-profiler): a
 * section each time a thread enters a loop, which leaves the one before it, or leaves the last one.
 * The form is that of all PYPYLOG sections (rpython/tool/logparser.py): "[TIME] {NAME", lines, "[TIME]
 * NAME}", the times in hexadecimal, here ns.
 *
 * A loop counts as entered at its first back-edge, and as left only when its function ends or an outer loop goes on.
 * The section then says how long it really lasted: until its last back-edge.
 */
#include "sink_pypylog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "model/paths.h"
#include "model/profile.h"
#include "model/sink_file.h"
#include "model/tstate.h"
#include "base/text.h"
#include "shared/array.h"

struct logged_loop {
	const struct loop *loop;
	uint32_t depth;	  /* of the trip (sink.h) */
	uint32_t frame;	  /* of its activation */
	uint64_t last_ns; /* its last back-edge */
};

struct log_stack {
	struct tstate tstate;
	struct logged_loop *open; /* outermost first */
	uint32_t nopen, size;
};

struct pypylog {
	struct sink_file file;
	struct tstates stacks;
	struct map numbers;	   /* struct loop -> number + 1 */
	const struct loop **loops; /* [number] */
	uint32_t nloops, size;
};

static struct log_stack *stack_of(struct pypylog *l, const struct activation *a)
{
	return tstate_of(&l->stacks, a->pid, a->tid, a->interpreter, sizeof(struct log_stack));
}

/* N of loopN, -1: no memory. */
static int64_t number_of(struct pypylog *l, const struct loop *loop)
{
	uintptr_t found = (uintptr_t)map_get(&l->numbers, (uintptr_t)loop);

	if (found)
		return found - 1;
	if (!ARRAY_ROOM(l->loops, l->nloops, l->size) ||
	    map_put(&l->numbers, (uintptr_t)loop, (void *)(uintptr_t)(l->nloops + 1)))
		return -1;
	l->loops[l->nloops] = loop;
	return l->nloops++;
}

#define ENTER  "jit-profile-enter"
#define EXIT   "jit-profile-exit"
#define LOOPS  "jit-profile-loops"
#define BRIDGE "jit-profile-bridge"

/* Maximum length of a section, of a bridge's, with a NUL; and of a line about a loop that was left. */
#define TIME   "ffffffffffffffff"
#define NUMBER "4294967295"
#define SECTION_ROOM \
	sizeof("[" TIME "] {" BRIDGE "\nloop" NUMBER "\nthread -2147483648\n" \
	       "way " NUMBER " since " TIME "\n[" TIME "] " BRIDGE "}\n")
#define LINE_ROOM sizeof("left loop" NUMBER " at " TIME "\n")

static char *put_loop(struct pypylog *l, char *to, const struct loop *loop)
{
	to = stpcpy(to, "loop");
	return out_dec(to, number_of(l, loop)); /* it has a number because it was entered */
}

/* It was in it before; it was, until its generator was suspended. */
#define AGAIN	"again\n"
#define RESUMED "resumed\n"

/*
 * A section for the loop that the thread is in now, or was in last. open[keep] and those above were left, innermost
 * last.
 */
static int section(struct pypylog *l, const char *name, const struct loop *loop, const char *again,
		   const struct log_stack *s, uint32_t keep, uint64_t ns)
{
	char *to = out_reserve(&l->file.out, SECTION_ROOM + LINE_ROOM * (s->nopen - keep));

	if (!to)
		return sink_file_status(&l->file.sink);
	*to++ = '[';
	to = out_hex(to, ns);
	to = stpcpy(stpcpy(to, "] {"), name);
	*to++ = '\n';
	to = put_loop(l, to, loop);
	to = stpcpy(to, "\nthread ");
	to += sprintf(to, "%" PRId32 "\n", s->tstate.tid);
	to = stpcpy(to, again);
	for (uint32_t i = s->nopen; i-- > keep;) {
		to = put_loop(l, stpcpy(to, "left "), s->open[i].loop);
		to = out_hex(stpcpy(to, " at "), s->open[i].last_ns);
		*to++ = '\n';
	}
	*to++ = '[';
	to = out_hex(to, ns);
	to = stpcpy(stpcpy(stpcpy(to, "] "), name), "}\n");
	out_commit(&l->file.out, to);
	return sink_file_status(&l->file.sink);
}

static int push(struct pypylog *l, struct log_stack *s, const struct trip *t)
{
	if (!ARRAY_ROOM(s->open, s->nopen, s->size))
		return sink_file_no_memory(&l->file.sink);
	s->open[s->nopen++] = (struct logged_loop){ t->loop, t->depth, t->in->depth, t->end_ns };
	return 0;
}

/* A trip on another path than the loop's first one: PyPy calls it an inner bridge. */
static int bridge(struct pypylog *l, const struct log_stack *s, const struct trip *t)
{
	const struct paths *p = t->loop->paths;
	char *to = p && p->last && p->last < PATHS_MAX ? out_reserve(&l->file.out, SECTION_ROOM) : NULL;

	if (!to)
		return sink_file_status(&l->file.sink);
	to += sprintf(to, "[%" PRIx64 "] {" BRIDGE "\nloop", t->end_ns);
	to = out_dec(to, number_of(l, t->loop));
	to += sprintf(to, "\nthread %" PRId32 "\nway %" PRIu32 " since %" PRIx64 "\n", s->tstate.tid, p->last,
		      t->end_ns - t->ns);
	to += sprintf(to, "[%" PRIx64 "] " BRIDGE "}\n", t->end_ns);
	out_commit(&l->file.out, to);
	return sink_file_status(&l->file.sink);
}

/* How many of the open loops are around one at that depth. A loop that was suspended is open again at its back-edge. */
static uint32_t around(const struct log_stack *s, uint32_t depth)
{
	uint32_t n = s->nopen;

	while (n && s->open[n - 1].depth >= depth)
		n--;
	return n;
}

static int pypylog_iterate(struct sink *sink, const struct trip *t)
{
	struct pypylog *l = (struct pypylog *)sink;
	struct log_stack *s = stack_of(l, t->in);
	uint32_t keep = s ? around(s, t->depth) : 0;
	bool open = s && t->number > 1 && keep < s->nopen && s->open[keep].depth == t->depth;
	int err = 0;

	if (!s || number_of(l, t->loop) < 0)
		return sink_file_no_memory(sink);
	keep += open;
	if (!open || keep < s->nopen)
		err = section(l, ENTER, t->loop, open ? AGAIN : t->number > 1 ? RESUMED : "", s, keep, t->end_ns);
	s->nopen = keep;
	if (!open)
		return err ? err : push(l, s, t);
	s->open[s->nopen - 1].last_ns = t->end_ns;
	return err ? err : bridge(l, s, t);
}

static int pypylog_leave(struct sink *sink, const struct activation *a, enum leave_how how, uint64_t end_ns,
			 uint64_t end_cycles)
{
	struct pypylog *l = (struct pypylog *)sink;
	struct log_stack *s = stack_of(l, a);
	uint32_t keep;
	int err = 0;

	(void)how;
	(void)end_cycles;
	if (!s)
		return sink_file_no_memory(sink);
	for (keep = s->nopen; keep && s->open[keep - 1].frame >= a->depth; keep--)
		;
	if (keep < s->nopen)
		err = section(l, keep ? ENTER : EXIT, s->open[keep ? keep - 1 : s->nopen - 1].loop, keep ? AGAIN : "",
			      s, keep, end_ns);
	s->nopen = keep;
	return err;
}

static void render_ways(FILE *f, uint32_t loop, const struct paths *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct way *w = &p->path[i].way;

		fprintf(f, "loop%" PRIu32 " way=%" PRIu32 " trips=%" PRIu64 " lines=", loop, i, p->path[i].trips);
		for (uint32_t j = 0; j < w->nlines && j < PATH_LINES; j++)
			fprintf(f, "%s%d", j ? "," : "", w->lines[j]);
		fputs(w->nlines > PATH_LINES ? ",...\n" : "\n", f);
	}
}

/* A line for each loop: its numbers, then where it is. */
static int render_loops(FILE *f, struct sink *s, const struct profile *p)
{
	struct pypylog *l = (struct pypylog *)s;

	fprintf(f, "[%" PRIx64 "] {" LOOPS "\n", p->end_ns);
	for (uint32_t i = 0; i < l->nloops; i++) {
		const struct loop *loop = l->loops[i];

		fprintf(f, "loop%" PRIu32 " share=%.9f own=%.9f trips=%" PRIu64 " entries=%" PRIu64, i,
			profile_share(p, loop), profile_own_share(p, loop), loop->iterations, loop->entries);
		fprintf(f, " pid=%d offset=%" PRId64 " line=%d ", loop->code->process->pid, loop->head, loop->line);
		text_plain(f, loop->code->file);
		fputc(' ', f);
		text_plain(f, loop->code->qualname);
		fputc('\n', f);
		if (loop->paths && paths_recorded(p->events))
			render_ways(f, i, loop->paths);
	}
	fprintf(f, "[%" PRIx64 "] " LOOPS "}\n", p->end_ns);
	return 0;
}

static void release(struct tstate *tstate)
{
	free(((struct log_stack *)tstate)->open);
}

static void pypylog_free(struct sink *sink)
{
	struct pypylog *l = (struct pypylog *)sink;

	tstates_free(&l->stacks, release);
	map_free(&l->numbers);
	free(l->loops);
	sink_file_free(sink);
}

static const struct sink_ops pypylog_ops = {
	.iterate = pypylog_iterate,
	.leave = pypylog_leave,
	.finish = sink_file_finish,
	.render = render_loops,
	.free = pypylog_free,
};

int sink_pypylog_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct pypylog), &pypylog_ops, o, error);
}
