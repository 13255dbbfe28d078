/* SPDX-License-Identifier: MIT */
/* flight.c - see flight.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flight.h"
#include "shared/own_file.h"
#include "shared/ticks.h"
#include "window.h"

/* Rings of ended threads are kept at least this long: the end of a program takes a while. */
#define KEEP_NS 2000000000ull

/*
 * Memory for copies is allocated in advance: getting it from the kernel, page by page, takes ten times as long as
 * copying. Threads that share a GIL together fill one ring within the window, and a baseline takes as much again.
 * More than RESERVE, as threads without a GIL may fill, is allocated when needed, and freed.
 */
#define RESERVE (8u << 20)
#define PAGE	4096u

static void reserve(struct timeslice *timeslice, size_t bytes)
{
	volatile char *p;

	mallopt(M_MMAP_THRESHOLD, RESERVE + 1);
	mallopt(M_TRIM_THRESHOLD, 2 * RESERVE);
	p = malloc(bytes < RESERVE ? bytes : RESERVE);
	for (size_t at = 0; p && at < bytes && at < RESERVE; at += PAGE) {
		p[at] = 0;
		timeslice_check(timeslice);
	}
	free((void *)p);
}

static void prepare(struct recorder *r, struct ring_map *m)
{
	if (m->prepared)
		return;
	timeslice_check(&r->flight.timeslice);
	window_prepare(m);
	if (!r->flight.reserved)
		reserve(&r->flight.timeslice, 2 * ring_size(m->nrecords));
	r->flight.reserved = true;
}

static uint64_t ticks(const struct recorder *r, uint64_t ns)
{
	return (unsigned __int128)ns * clock_hz(&r->clock) / 1000000000u;
}

static bool flight_is_full(const struct flight *f)
{
	return f->taken - f->based >= f->most;
}

/* The copies, in the order of the rings. */
struct copies {
	struct window *windows;
	size_t n;
	uint64_t records;
	uint32_t threads, cut;
};

static size_t count_rings(const struct recorder *r)
{
	size_t n = 0;

	for (const struct ring_map *m = r->rings.first; m; m = m->next)
		n++;
	return n;
}

static int copy_all(struct copies *c, struct recorder *r, uint64_t from, uint64_t until)
{
	*c = (struct copies){ .windows = calloc(count_rings(r) + 1, sizeof(*c->windows)) };
	if (!c->windows)
		return -ENOMEM;
	for (struct ring_map *m = r->rings.first; m; m = m->next, c->n++) {
		struct window *w = &c->windows[c->n];
		int err = window_copy(w, m, from, until);

		if (err == -ENOMEM)
			return err;
		r->rings.damaged += err != 0;
		c->records += w->n;
		c->threads += w->n != 0;
		c->cut += w->cut && w->n;
	}
	return 0;
}

/*
 * Copying is done in one go; writing whenever there is time, because whoever asked for the snapshot may need this core.
 */
static void write_all(struct copies *c, const struct histories *h, struct recorder *r, uint64_t until)
{
	size_t i = 0;

	for (struct ring_map *m = r->rings.first; m; m = m->next, i++)
		window_write(&c->windows[i], &r->rings, m, h, r->flight.taken, until, &r->flight.timeslice);
}

/* What is older than `from` goes into `older`. */
static int split_all(struct copies *c, struct recorder *r, struct copies *older, uint64_t from)
{
	int err = 0;

	*older = (struct copies){ .windows = calloc(c->n + 1, sizeof(*older->windows)) };
	if (!older->windows)
		return -ENOMEM;
	c->records = c->threads = c->cut = 0;
	for (; !err && older->n < c->n; older->n++) {
		struct window *w = &c->windows[older->n], *o = &older->windows[older->n];

		timeslice_check(&r->flight.timeslice);
		err = window_split(w, o, from);
		older->records += o->n;
		older->threads += o->n != 0;
		older->cut += o->cut && o->n;
		c->records += w->n;
		c->threads += w->n != 0;
		c->cut += w->cut && w->n;
	}
	return err;
}

static void free_all(struct copies *c)
{
	for (size_t i = 0; i < c->n; i++)
		window_free(&c->windows[i]);
	free(c->windows);
}

/* The first time of a word that is written from any copy, and no later than `until`. */
static uint64_t first_tsc(const struct copies *c, uint64_t until)
{
	for (size_t i = 0; i < c->n; i++) {
		uint64_t tsc = window_first_tsc(&c->windows[i]);

		until = tsc < until ? tsc : until;
	}
	return until;
}

void flight_append(const struct recorder *r, uint32_t pid, const char *line, size_t length)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "codes-%u.jsonl", pid);
	fd = own_file(r->folder.fd, name, O_WRONLY | O_APPEND);
	if (fd < 0)
		return;
	(void)!write(fd, line, length);
	close(fd);
}

/* Of all threads, including those that a full disk kept out. */
static uint64_t words_of(const struct trace_out *out)
{
	return out->markers + out->discarded;
}

static void report(const struct recorder *r, const struct trigger *t, const struct copies *c, uint64_t until,
		   const struct trace_out *before)
{
	struct time_conv conv = clock_conv(&r->clock);
	uint32_t written = 0;
	char *line;
	int n = asprintf(
		&line,
		"{\"kind\":\"snapshot\",\"number\":%u,\"from_ns\":%" PRIu64 ",\"at_ns\":%" PRIu64
		",\"pid\":%u,\"tid\":%u,\"threads\":%u,\"cut\":%u,\"words\":%" PRIu64 ",\"lost\":%" PRIu64 ",%s}\n",
		r->flight.taken, clock_ns(&conv, first_tsc(c, until)), clock_ns(&conv, until), t->pid, t->tid,
		c->threads, c->cut, words_of(&r->out) - words_of(before), r->out.lost - before->lost, t->members);

	/* Rings of a process are usually neighbours, and a repeated line is read once. */
	for (const struct ring_map *m = r->rings.first; n > 0 && m; m = m->next) {
		if (m->stream.pid != written)
			flight_append(r, m->stream.pid, line, n);
		written = m->stream.pid;
	}
	if (n > 0)
		free(line);
}

static bool wants_baseline(const struct recorder *r)
{
	return !r->flight.based && r->flight.window_ns;
}

static void keep(struct recorder *r, struct copies *c, const struct histories *h, const struct trigger *t,
		 uint64_t until)
{
	const struct trace_out before = r->out;

	r->flight.taken++;
	r->flight.holding |= c->records != 0;
	write_all(c, h, r, until);
	report(r, t, c, until, &before);
}

/*
 * Separates the time before `from` from the copies, and saves it if there is any. If the trigger knows its thread, only
 * that thread's part will be compared.
 */
static int keep_baseline(struct recorder *r, struct copies *c, const struct histories *h, const struct trigger *t,
			 uint64_t from)
{
	const struct trigger baseline = {
		.members = "\"trigger\":\"baseline\",\"label\":\"before the first one\"",
		.pid = t->pid,
		.tid = t->tid,
	};
	struct copies older;
	int err = split_all(c, r, &older, from);

	if (!err && older.records) { /* what is written from it comes before what is written from *c */
		keep(r, &older, h, &baseline, from - 1);
		r->flight.based = true;
	}
	free_all(&older);
	return err;
}

int flight_take(struct recorder *r, const struct trigger *t)
{
	uint64_t now = ticks_now(), until = t->tsc && t->tsc < now ? t->tsc : now, from = 0, back;
	uint64_t began = clock_monotonic_ns(), took;
	struct histories h;
	struct copies c;
	int err;

	if (!r->rings.first)
		return -ENODATA;
	if (flight_is_full(&r->flight)) {
		r->flight.refused++;
		return -EDQUOT;
	}
	timeslice_begin(&r->flight.timeslice);
	recorder_update_clock(r);
	back = ticks(r, r->flight.window_ns);
	if (r->flight.window_ns && back < until)
		from = until - back;
	back = wants_baseline(r) && back < from ? back : 0;
	err = copy_all(&c, r, from - back, until);
	err = histories_copy(&h, r->rings.met) ?: err;
	took = clock_monotonic_ns() - began;
	if (took > r->flight.stall_ns)
		r->flight.stall_ns = took;
	if (!err && back)
		err = keep_baseline(r, &c, &h, t, from);
	if (!err)
		keep(r, &c, &h, t, until);
	histories_free(&h);
	free_all(&c);
	return err;
}

static uint64_t newest(const struct recorder *r, uint32_t pid)
{
	uint64_t last = 0;

	for (const struct ring_map *m = r->rings.first; m; m = m->next)
		if ((!pid || m->stream.pid == pid) && window_last_tsc(m) > last)
			last = window_last_tsc(m);
	return last;
}

static bool is_finished(const struct ring_map *m)
{
	return atomic_load_explicit(&m->shared->finished, memory_order_acquire);
}

void flight_process_ended(struct recorder *r, uint32_t pid)
{
	struct trigger t = {
		.members = "\"trigger\":\"death\",\"label\":\"the process died\"",
		.pid = pid,
		.tsc = newest(r, pid),
	};
	bool in_order = true;

	breakpoints_drop(&r->breakpoints, pid);
	for (const struct ring_map *m = r->rings.first; m; m = m->next)
		if (m->stream.pid == pid)
			in_order = in_order && is_finished(m);
	if (in_order)
		return;
	if (t.tsc)
		flight_take(r, &t);
	rings_drop(&r->rings, pid);
}

void flight_order(struct recorder *r)
{
	char label[CONTROL_LABEL + 1], members[CONTROL_LABEL + 64];
	const struct trigger t = { .members = members };
	enum order order;

	while ((order = control_next(&r->control, label)) != ORDER_NONE) {
		if (order == ORDER_STOP)
			r->interrupts += 2; /* as if interrupted twice: the file is completed, the target lives */
		if (order != ORDER_SNAPSHOT)
			continue;
		snprintf(members, sizeof(members), "\"trigger\":\"control\",\"label\":\"%s\"",
			 *label ? label : "asked for");
		flight_take(r, &t);
	}
}

/* `what` came from a command line: it must not end a JSON string. */
static void report_hit(struct recorder *r, const struct breakpoint *bp, const struct hit *hit)
{
	char members[512], name[128], arguments[256] = "";
	const struct trigger t = {
		.members = members,
		.pid = hit->pid,
		.tid = hit->tid,
		.tsc = clock_tsc(&r->clock, hit->ns),
	};
	size_t i, n = 0;

	for (i = 0; bp->what[i] && i < sizeof(name) - 1; i++)
		name[i] = bp->what[i] < ' ' || strchr("\"\\", bp->what[i]) ? '?' : bp->what[i];
	name[i] = '\0';
	for (int arg = 0; arg < hit->nargs; arg++)
		n += snprintf(arguments + n, sizeof(arguments) - n, "%s\"0x%" PRIx64 "\"", arg ? "," : "",
			      hit->args[arg]);
	snprintf(members, sizeof(members), "\"trigger\":\"symbol\",\"label\":\"%s\"%s%s%s", name,
		 n ? ",\"data\":{\"arguments\":[" : "", arguments, n ? "]}" : "");
	flight_take(r, &t);
}

void flight_breakpoint(struct recorder *r, int fd)
{
	struct breakpoint *bp;
	struct hit hit;
	int n = 0;

	for (; (bp = breakpoints_hit(&r->breakpoints, fd, &hit)); n++)
		report_hit(r, bp, &hit);
	if (!n)
		breakpoints_end(&r->breakpoints, fd);
	if (flight_is_full(&r->flight)) /* hits would cost the program time for nothing */
		breakpoints_drop(&r->breakpoints, 0);
}

static void watch(void *to, int fd)
{
	recorder_watch(to, FROM_BREAKPOINT, fd, fd);
}

static void set_breakpoints(struct recorder *r, uint32_t pid)
{
	for (int i = 0; i < OPTIONS_SYMBOLS && r->options->symbols[i]; i++)
		if (breakpoints_set(&r->breakpoints, pid, r->options->symbols[i], watch, r))
			r->flight.symbols |= 1u << i;
}

void flight_meet(struct recorder *r, uint32_t pid)
{
	if (!flight_is_full(&r->flight))
		set_breakpoints(r, pid);
}

static void set_all_breakpoints(struct recorder *r)
{
	if (!r->options->symbols[0] || flight_is_full(&r->flight))
		return;
	for (const struct process *p = r->processes.first; p; p = p->next)
		set_breakpoints(r, p->pid);
}

static void report_symbols(const struct recorder *r)
{
	if (r->breakpoints.error)
		fprintf(stderr, "ocular-record: no breakpoint could be set: %s\n", strerror(-r->breakpoints.error));
	for (int i = 0; i < OPTIONS_SYMBOLS && r->options->symbols[i]; i++)
		if (!(r->flight.symbols >> i & 1) && !r->breakpoints.error)
			fprintf(stderr, "ocular-record: no traced process had a function %s\n", r->options->symbols[i]);
}

/* How long what has ended is of interest for a later snapshot. */
static uint64_t keep_ns(const struct recorder *r)
{
	return r->flight.window_ns > KEEP_NS ? r->flight.window_ns : KEEP_NS;
}

static void forget_threads(struct recorder *r)
{
	uint64_t now = clock_monotonic_ns();

	met_forget(&r->rings.met, now, now - keep_ns(r));
}

void flight_round(struct recorder *r)
{
	uint64_t now = ticks_now(), keep;
	struct ring_map *next;

	set_all_breakpoints(r);
	if (!r->rings.first) /* there may be no clock either */
		return;
	keep = ticks(r, keep_ns(r));
	forget_threads(r);
	if (r->rings.wakeup)
		wakeup_measure(r->rings.wakeup);
	timeslice_begin(&r->flight.timeslice);
	for (struct ring_map *m = r->rings.first; m; m = next) {
		next = m->next;
		prepare(r, m);
		if (is_finished(m) && window_last_tsc(m) + keep < now)
			rings_let_go(&r->rings, m);
	}
}

void flight_end(struct recorder *r)
{
	struct trigger t = {
		.members = "\"trigger\":\"end\",\"label\":\"the end\"",
		.tsc = newest(r, 0),
	};

	if (!r->flight.holding && t.tsc) /* a single snapshot without any event is useless */
		flight_take(r, &t);
	breakpoints_drop(&r->breakpoints, 0);
	report_symbols(r);
	rings_close(&r->rings, RING_ENDED);
	rings_drop(&r->rings, 0);
}
