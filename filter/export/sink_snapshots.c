// SPDX-License-Identifier: MIT
/*
 * A window is a thread's part of a snapshot while the trace is read. At the end the windows of one snapshot become one:
 * the trigger's thread's, or else all of them, because a thread that waits for the slow one shows the same excess.
 * Memory grows with the number of snapshots, which the recorder bounds, and of threads and functions in them.
 */
#include "sink_snapshots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"
#include "model/sink_file.h"
#include "base/text.h"
#include "shared/array.h"

#define SHOWN  8 /* snapshots compared in the report, the largest excess first */
#define ROWS   5 /* functions and loops of each */
#define FRAMES 3 /* lines of the stack at the trigger */

/* A function or a loop, in one window. */
struct cost {
	const struct code *code;
	int64_t head; /* -1: the function, else the loop's head */
	int64_t line;
	uint64_t ns, count; /* calls, or trips */
};

struct window {
	uint32_t number;
	int32_t pid, tid;
	uint64_t begun, ns; /* of the window; added up over threads */
	struct map costs;   /* struct code or struct loop -> struct cost */
	double worst;	    /* the largest excess, ns */
	bool usual;	    /* a baseline: only to compare with */
};

struct snapshots {
	struct sink_file file;
	struct window *windows;
	size_t n, room;
	struct map current; /* thread -> index of its window, + 1 */
};

/* With what calls and loops take, from the first snapshot on. */
static const struct sink_ops of_snapshots;

/* Opens a thread's window and makes it its current one. NULL: no memory. */
static struct window *open_window(struct snapshots *v, const struct sample *edge)
{
	if (!ARRAY_ROOM(v->windows, v->n, v->room) ||
	    map_put(&v->current, map_pair(edge->pid, edge->tid), (void *)(uintptr_t)(v->n + 1)))
		return NULL;
	v->windows[v->n] = (struct window){
		.number = edge->number,
		.pid = edge->pid,
		.tid = edge->tid,
		.begun = edge->time,
	};
	return &v->windows[v->n++];
}

static struct window *window_of(const struct snapshots *v, int32_t pid, int32_t tid)
{
	uintptr_t i = v->n ? (uintptr_t)map_get(&v->current, map_pair(pid, tid)) : 0;

	return i ? &v->windows[i - 1] : NULL;
}

static int segment(struct sink *s, const struct sample *edge)
{
	struct snapshots *v = (struct snapshots *)s;
	struct window *w = window_of(v, edge->pid, edge->tid);

	if (edge->window) /* there may be any number of them, all of normal moments */
		return 0;
	s->ops = &of_snapshots;
	if (!edge->ends)
		return open_window(v, edge) ? 0 : sink_file_no_memory(s);
	if (w && w->number == edge->number)
		w->ns = edge->time - w->begun;
	return 0;
}

static struct cost *cost_of(struct window *w, const void *what)
{
	struct cost *c = map_get(&w->costs, (uintptr_t)what);

	return c ? c : map_add(&w->costs, (uintptr_t)what, sizeof(*c));
}

static int leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns, uint64_t end_cycles)
{
	struct snapshots *v = (struct snapshots *)s;
	struct window *w = window_of(v, a->pid, a->tid);
	struct cost *c = w ? cost_of(w, a->code) : NULL;

	(void)how;
	(void)end_cycles;
	if (!w)
		return 0;
	if (!c)
		return sink_file_no_memory(s);
	c->code = a->code;
	c->head = -1;
	c->line = a->code->firstlineno;
	c->ns += end_ns - a->start_ns - a->callee_ns;
	c->count += a->op == OP_PY_START;
	return 0;
}

static int iterate(struct sink *s, const struct trip *t)
{
	struct snapshots *v = (struct snapshots *)s;
	struct window *w = window_of(v, t->in->pid, t->in->tid);
	struct cost *c = w ? cost_of(w, t->loop) : NULL;

	if (!w)
		return 0;
	if (!c)
		return sink_file_no_memory(s);
	c->code = t->loop->code;
	c->head = t->loop->head;
	c->line = t->loop->line ? t->loop->line : -1;
	c->ns += t->own_ns;
	c->count++;
	return 0;
}

static int merge(struct window *into, const struct window *w)
{
	into->ns += w->ns;
	for (struct map_slot *m = NULL; (m = map_next(&w->costs, m));) {
		const struct cost *from = m->value;
		struct cost *c = cost_of(into, (const void *)(uintptr_t)m->key);

		if (!c)
			return -ENOMEM;
		*c = (struct cost){ from->code, from->head, from->line, c->ns + from->ns, c->count + from->count };
	}
	return 0;
}

/* Is it the thread of the snapshot's trigger? */
static bool is_focus(const struct window *w, const struct codes *codes)
{
	const struct snapshot *s = codes_snapshot(codes, w->number);

	return s && s->tid && s->tid == w->tid && s->pid == w->pid;
}

/* One window for each snapshot. */
static int gather(struct snapshots *v, const struct codes *codes)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		struct window w = v->windows[i], *have = NULL;
		int err = 0;

		for (size_t k = 0; k < n && !have; k++)
			have = v->windows[k].number == w.number ? &v->windows[k] : NULL;
		if (!have) {
			v->windows[n++] = w;
			continue;
		}
		if (is_focus(have, codes) || is_focus(&w, codes)) {
			struct window other = is_focus(have, codes) ? w : *have;

			*have = is_focus(have, codes) ? *have : w;
			w = other;
		} else {
			err = merge(have, &w);
		}
		map_free_all(&w.costs);
		if (err) {
			while (++i < v->n)
				map_free_all(&v->windows[i].costs);
			v->n = n;
			return err;
		}
	}
	v->n = n;
	return 0;
}

/* What the other windows spent on it, scaled to this window's length. */
static void usual(const struct snapshots *v, const struct window *w, const void *what, double *ns, double *count)
{
	double others = 0, spent = 0, times = 0;

	for (size_t i = 0; i < v->n; i++) {
		const struct cost *c = map_get(&v->windows[i].costs, (uintptr_t)what);

		if (&v->windows[i] == w)
			continue;
		others += v->windows[i].ns;
		spent += c ? c->ns : 0;
		times += c ? c->count : 0;
	}
	*ns = others ? spent / others * w->ns : 0;
	*count = others ? times / others * w->ns : 0;
}

struct row {
	const struct cost *cost;
	double excess, ns, count; /* the latter two: normally */
};

static int by_excess(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	/* A function and its loop: the loop is more specific. */
	int order = (a->cost->head < b->cost->head) - (a->cost->head > b->cost->head);

	if (a->excess != b->excess)
		return a->excess < b->excess ? 1 : -1;
	return order ?: code_order(a->cost->code, b->cost->code);
}

/* The rows of a window, most excess first; *n of them. NULL: no memory. */
static struct row *compare(const struct snapshots *v, const struct window *w, size_t *n)
{
	struct row *rows;

	*n = 0;
	for (struct map_slot *m = NULL; (m = map_next(&w->costs, m));)
		++*n;
	rows = calloc(*n + 1, sizeof(*rows));
	*n = 0;
	for (struct map_slot *m = NULL; rows && (m = map_next(&w->costs, m));) {
		struct row *r = &rows[(*n)++];

		r->cost = m->value;
		usual(v, w, (const void *)(uintptr_t)m->key, &r->ns, &r->count);
		r->excess = r->cost->ns - r->ns;
	}
	if (rows)
		qsort(rows, *n, sizeof(*rows), by_excess);
	return rows;
}

static void write_row(FILE *f, const struct row *r)
{
	const char *slash = strrchr(r->cost->code->file, '/');

	fprintf(f, "  %+9.3f %9.3f %9.3f %8" PRIu64 " %8.0f  %s", r->excess / 1e6, r->cost->ns / 1e6, r->ns / 1e6,
		r->cost->count, r->count, r->cost->head < 0 ? "" : "loop in ");
	text_plain(f, r->cost->code->qualname);
	fputs(", ", f);
	text_plain(f, slash ? slash + 1 : r->cost->code->file);
	fprintf(f, ":%" PRId64 "\n", r->cost->line);
}

static void write_title(FILE *f, const struct snapshot *s, const struct window *w, uint64_t start_ns)
{
	fprintf(f, "Snapshot %u", w->number);
	if (s) {
		fprintf(f, ", at %.3f s, of %.3f ms: ", s->at_ns > start_ns ? (s->at_ns - start_ns) / 1e9 : 0.0,
			(s->at_ns - s->from_ns) / 1e6);
		text_plain(f, s->label ? s->label : "?");
		fputs(" (", f);
		text_plain(f, s->trigger ? s->trigger : "?");
		fputc(')', f);
	}
	fputc('\n', f);
	if (s && s->data && strcmp(s->data, "{}")) {
		fputs("  ", f);
		text_plain(f, s->data);
		fputc('\n', f);
	}
	for (int i = 0; s && s->stack && s->stack[i] && i < FRAMES; i++) {
		fputs(i ? "  from " : "  in ", f);
		text_plain(f, s->stack[i]);
		fputc('\n', f);
	}
	if (s && s->cut)
		fprintf(f, "  the rings of %u of %u threads did not reach back that far\n", s->cut, s->threads);
}

static int write_window(FILE *f, const struct snapshots *v, const struct window *w, const struct profile *p)
{
	size_t n;
	struct row *rows = compare(v, w, &n);

	if (!rows)
		return -ENOMEM;
	write_title(f, codes_snapshot(p->codes, w->number), w, p->start_ns);
	if (n)
		fprintf(f, "  %9s %9s %9s %8s %8s\n", v->n > 1 ? "excess ms" : "ms", "here", "usually", "times",
			"usually");
	for (size_t i = 0; i < n && i < ROWS && (!i || rows[i].excess > 0); i++)
		write_row(f, &rows[i]);
	free(rows);
	return 0;
}

static bool is_baseline(const struct snapshot *s)
{
	return s && s->trigger && !strcmp(s->trigger, "baseline");
}

static int find_worst(struct snapshots *v, const struct codes *codes)
{
	for (size_t i = 0; i < v->n; i++) {
		size_t n;
		struct row *rows = compare(v, &v->windows[i], &n);

		if (!rows)
			return -ENOMEM;
		v->windows[i].worst = n ? rows[0].excess : 0;
		v->windows[i].usual = is_baseline(codes_snapshot(codes, v->windows[i].number));
		free(rows);
	}
	return 0;
}

static int by_worst(const void *left, const void *right)
{
	const struct window *a = left, *b = right;

	if (a->usual != b->usual)
		return a->usual - b->usual;
	if (a->worst != b->worst)
		return a->worst < b->worst ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

static int render(FILE *f, struct sink *s, const struct profile *p)
{
	struct snapshots *v = (struct snapshots *)s;
	int err = gather(v, p->codes);
	size_t n = 0;

	err = err ?: find_worst(v, p->codes);
	if (err || !v->n)
		return err;
	qsort(v->windows, v->n, sizeof(*v->windows), by_worst);
	while (n < v->n && !v->windows[n].usual)
		n++;
	fprintf(f, "%zu snapshot%s%s%s; times are those of the trigger's thread if known, else of all\n\n", n,
		n == 1 ? "" : "s", v->n > 1 ? ", each compared with the others" : ": nothing to compare it with",
		v->n > n && n ? " and a baseline, largest differences first"
		: v->n > 1    ? ", largest differences first"
			      : "");
	for (size_t i = 0; i < n && i < SHOWN && !err; i++) {
		err = write_window(f, v, &v->windows[i], p);
		fputc('\n', f);
	}
	if (n > SHOWN)
		fprintf(f, "%zu more are in the recording\n\n", n - SHOWN);
	return err;
}

static void free_snapshots(struct sink *s)
{
	struct snapshots *v = (struct snapshots *)s;

	for (size_t i = 0; i < v->n; i++)
		map_free_all(&v->windows[i].costs);
	free(v->windows);
	map_free(&v->current);
	sink_file_free(s);
}

static const struct sink_ops no_snapshot = {
	.segment = segment,
	.finish = sink_file_finish,
	.render = render,
	.free = free_snapshots,
};

static const struct sink_ops of_snapshots = {
	.segment = segment,
	.leave = leave,
	.iterate = iterate,
	.finish = sink_file_finish,
	.render = render,
	.free = free_snapshots,
};

int sink_snapshots_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct snapshots), &no_snapshot, o, error);
}
