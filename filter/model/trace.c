// SPDX-License-Identifier: MIT
/* Finds the thread of each sample, keeps the totals of the whole, and ends it all in order. */
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cold.h"
#include "apart.h"
#include "gil_apart.h"
#include "base/pid_list.h"
#include "objects.h"
#include "profile_join.h"

void trace_init(struct trace *t, struct codes *codes, struct sink *sinks)
{
	*t = (struct trace){ .from_ns = UINT64_MAX };
	t->profile.codes = codes;
	t->to = subscribers_of(sinks, &t->profile);
}

void trace_window(struct trace *t, const struct time_span *window, const struct wall *wall)
{
	t->window = *window;
	t->profile.zoomed = !time_span_is_all(window);
	t->wall = *wall;
}

void trace_select(struct trace *t, const struct select *by)
{
	t->selects = !select_all(by);
	selection_init(&t->selection, by, t->profile.codes);
}

void trace_processes(struct trace *t, const char *only)
{
	t->only = only;
}

/* Of a process; made on first use. NULL: no memory. */
static void *of_process(struct map *m, int32_t pid, size_t size)
{
	void *found = map_get(m, (uint32_t)pid);

	return found ? found : map_add(m, (uint32_t)pid, size);
}

static struct gil *gil_of(struct trace *t, int32_t pid)
{
	struct gil *g = of_process(&t->gils, pid, sizeof(*g));

	if (g && t->exchanges && !g->apart)
		g->apart = calloc(1, sizeof(*g->apart));
	return g && (!t->exchanges || g->apart) ? g : NULL;
}

static struct objects *objects_of(struct trace *t, int32_t pid)
{
	struct objects *o = of_process(&t->objects, pid, sizeof(*o));

	if (o && t->apart && !o->lives)
		o->lives = calloc(1, sizeof(*o->lives));
	return o && (!t->apart || o->lives) ? o : NULL;
}

int trace_other_word(struct trace *t, int32_t pid, int32_t tid, uint64_t word, uint64_t ns)
{
	struct gil *g = gil_of(t, pid);

	return g ? gil_other_word(g, tid, word, ns) : -ENOMEM;
}

static struct thread *make_thread(struct trace *t, struct map *threads, const struct sample *s, uint64_t key)
{
	struct gil *gil = gil_of(t, s->pid);
	struct objects *objects = objects_of(t, s->pid);
	struct thread *th = gil && objects ? map_add(threads, key, sizeof(*th)) : NULL;

	if (!th)
		return NULL;
	th->pid = s->pid;
	th->tid = s->tid;
	th->gil = gil;
	th->objects = objects;
	th->no_loops = t->to.no_loops;
	thread_begin(th, s);
	return th;
}

/* It stays in t->early, too, but is not early any more. */
static struct thread *begin_thread(struct trace *t, const struct sample *s, uint64_t key)
{
	struct thread *th = map_get(&t->early, key);

	if (!th)
		return make_thread(t, &t->threads, s, key);
	if (map_put(&t->threads, key, th))
		return NULL;
	thread_begin(th, s);
	return th;
}

static struct thread *early_thread(struct trace *t, const struct sample *s, uint64_t key)
{
	struct thread *th = map_get(&t->early, key);

	th = th ? th : make_thread(t, &t->early, s, key);
	if (th)
		th->early = true;
	return th;
}

static COLD struct thread *find_thread(struct trace *t, const struct sample *s)
{
	uint64_t key = map_pair(s->pid, s->tid);
	struct thread *th = map_get(&t->threads, key);

	if (!th && s->op == OP_EXTENSION && s->kind != KIND_LABEL) /* which the program says itself */
		return early_thread(t, s, key);
	return t->last = th ? th : begin_thread(t, s, key);
}

static inline struct thread *thread_of(struct trace *t, const struct sample *s)
{
	struct thread *last = t->last;

	return last && last->tid == s->tid && last->pid == s->pid ? last : find_thread(t, s);
}

/* The first sample says where the window is. */
static int begin(struct trace *t, uint64_t ns)
{
	int err = time_span_resolve(&t->window, ns, &t->wall, &t->from_ns, &t->until_ns);

	t->begun = true;
	t->profile.first_ns = ns;
	if (err)
		snprintf(t->error, sizeof(t->error),
			 "time=%s: this recording does not say what the wall clock was; give seconds since it began",
			 t->window.text);
	return err;
}

/* Whether a thread is on a CPU when the window begins is said before it. 1, or -ENOMEM. */
static int hear_outside(struct trace *t, const struct sample *s)
{
	struct thread *th = s->time < t->from_ns ? early_thread(t, s, map_pair(s->pid, s->tid)) : NULL;

	if (th && s->kind == KIND_CPU)
		cpu_word(&th->cpu, s->payload, s->time, 0);
	return s->time < t->from_ns && !th ? -ENOMEM : 1;
}

/* For a sample outside the window as far as it was known: 1: leave it out; 0: take it; or a negative errno. */
static COLD int look_outside(struct trace *t, const struct sample *s)
{
	int err;

	if (s->op == OP_EXTENSION)
		return t->begun || t->profile.zoomed ? hear_outside(t, s) : 0;
	err = t->begun ? 0 : begin(t, s->time);
	if (s->time > t->last_ns)
		t->last_ns = s->time;
	return err ? err : s->time < t->from_ns || s->time >= t->until_ns;
}

/* 1: leave it out; 0: take it; or a negative errno. */
static COLD int select_sample(struct trace *t, const struct sample *s)
{
	int selected = selection_take(&t->selection, s);
	struct sample anew = *s;

	if (selected != SELECTED_ANEW)
		return selected < 0 ? selected : selected == SELECTED_NOT;
	anew.op = SAMPLE_RESTART;
	anew.code = NULL;
	return thread_feed(thread_of(t, s), &anew, &t->to);
}

/* What it says of the GIL, before the thread's stack changes. */
static inline void follow_gil(struct thread *th, const struct sample *s)
{
	if (s->code && !th->holds_gil)
		gil_take(th->gil, th, s->time);
	else if (th->gil->waiting)
		gil_until(th->gil, s->time);
	if (s->op <= OP_EVENT_LAST)
		return;
	if (s->op == OP_EXTENSION && s->kind == KIND_WAIT && !th->early)
		gil_word(th->gil, th, s->payload, s->time);
	if (s->op == SAMPLE_GAP || s->op == SAMPLE_RESTART)
		gil_lose(th->gil, th);
}

int trace_feed(void *trace, const struct sample *s)
{
	struct trace *t = trace;
	struct profile *p = &t->profile;
	struct thread *th;
	int err;

	if (s->time < t->from_ns || s->time >= t->until_ns) {
		int out = look_outside(t, s);

		if (out)
			return out < 0 ? out : 0;
	}
	if (t->selects) {
		int out = select_sample(t, s);

		if (out)
			return out < 0 ? out : 0;
	}
	th = thread_of(t, s);
	if (!th)
		return -ENOMEM;
	if (!t->started && !th->early) {
		t->started = true;
		p->start_ns = s->time;
	}
	if (s->time > p->end_ns && s->op != OP_EXTENSION)
		p->end_ns = s->time;
	p->events[s->op]++;
	follow_gil(th, s);
	err = thread_feed(th, s, &t->to);
	if (th->last_ns > p->end_ns && !th->early) /* a garbage collection, whose end is an EXTENSION */
		p->end_ns = th->last_ns;
	if (s->op == OP_SNAPSHOT) /* of which sinks may want to know more from there on */
		t->to = subscribers_of(t->to.sinks, p);
	return err;
}

static bool is_quick(void *trace, int32_t pid, int32_t tid, uint32_t interpreter)
{
	const struct trace *t = trace;
	const struct thread *th = t->last;

	return th && th->tid == tid && th->pid == pid && t->started && !t->selects &&
	       thread_is_quick(th, interpreter, &t->to);
}

static int quick_events(void *trace, struct word_stream *l, struct word_part *p)
{
	struct trace *t = trace;
	struct thread *th = t->last;
	int err = thread_quick(th, t->until_ns, l, p, &t->to);

	t->profile.end_ns = th->last_ns > t->profile.end_ns ? th->last_ns : t->profile.end_ns;
	return err;
}

const struct quick_feed trace_quick_feed = { .is = is_quick, .events = quick_events };

/* What its functions have of their own up to its last sample, beside self_ns: all that is open is still theirs. */
static void add_open(const struct thread *th, bool add)
{
	for (const struct stack *st = th->stacks; st; st = st->next) {
		uint64_t end = th->last_ns;

		for (uint32_t i = st->nframes; i--;) {
			const struct activation *a = &st->frames[i].a;
			uint64_t ns = end > a->start_ns ? end - a->start_ns : 0;

			if (add && ns > a->callee_ns)
				a->code->function->open_ns += ns - a->callee_ns;
			else if (!add)
				a->code->function->open_ns = 0;
			end = a->start_ns;
		}
	}
}

static void set_open(struct trace *t, bool add)
{
	for (struct map_slot *s = NULL; (s = map_next(&t->threads, s));)
		add_open(s->value, add);
}

/* Where the process was analysed. */
static struct trace *trace_of(struct trace *t, int32_t pid)
{
	struct trace *x = t;

	while (x && !map_get(&x->gils, (uint32_t)pid))
		x = x->next;
	return x ? x : t;
}

/* Fewer than the process's `made` words have arrived or are known to be missing. */
static int add_gap(struct trace *t, struct process *p, uint64_t made, uint64_t seen)
{
	struct trace *of = trace_of(t, p->pid);
	const struct thread *main = map_get(&of->threads, map_pair(p->pid, p->pid));
	struct sample gap = {
		.op = SAMPLE_GAP,
		.pid = p->pid,
		.tid = p->pid,
		.time = main ? main->last_ns : t->profile.end_ns,
		.cycles = main ? main->last_cycles : 0,
		.target = SAMPLE_NOWHERE,
		.count = made - seen,
	};

	if (made <= seen)
		return 0;
	if (apart_is(t, p->pid)) /* its threads lose what is suspended in any of them */
		return -EAGAIN;
	p->missing += gap.count;
	return trace_feed(of, &gap);
}

/*
 * A process that stopped in order says how many words it wrote and dropped. What neither arrived nor is in a gap was
 * lost where the sequence cannot show it: at the end of a stream, or all of it.
 */
static int lost_at_end(struct trace *t, struct process *p)
{
	const struct codes *c = t->profile.codes;

	if (!p->stopped || p->flight || c->switched || c->limited || c->trimmed)
		return 0; /* `stop` counts more than this recording has, on purpose */
	return add_gap(t, p, p->emitted + p->lost, p->received - p->added + p->missing);
}

/*
 * For processes that did not stop in order, or wrote more than was to be recorded: the recorder knows what went into
 * the file, but not from whom.
 */
static int lost_of_file(struct trace *t)
{
	const struct codes *c = t->profile.codes;
	struct process *first = NULL;
	uint64_t seen = 0;

	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));) {
		struct process *p = s->value;

		seen += p->received + p->missing;
		if (!first || p->pid < first->pid)
			first = p;
	}
	return first && !c->trimmed ? add_gap(t, first, codes_words(c, t->profile.file), seen) : 0;
}

/* The time inside windows before `ns`. */
static uint64_t duty_until(const struct duty *d, uint64_t ns)
{
	uint64_t whole = ns > d->start_ns ? (ns - d->start_ns) / d->period_ns : 0;
	uint64_t rest = ns > d->start_ns ? (ns - d->start_ns) % d->period_ns : 0;

	return whole * d->window_ns + (rest < d->window_ns ? rest : d->window_ns);
}

/*
 * By the schedule: in a window in which a process did not run it did nothing. Processes live together or after one
 * another, so the share is that of all their lives.
 */
static void add_duty(struct profile *to, const struct duty *d)
{
	uint64_t traced, windows;

	if (!d->period_ns || d->window_ns > d->period_ns || d->ended_ns < d->begun_ns)
		return;
	traced = duty_until(d, d->ended_ns) - duty_until(d, d->begun_ns);
	windows = (traced + d->window_ns - 1) / (d->window_ns ? d->window_ns : 1);
	to->duty.window_ns = d->window_ns;
	to->duty.period_ns = d->period_ns;
	to->duty.windows = windows > to->duty.windows ? windows : to->duty.windows;
	to->duty.traced_ns += traced;
	to->duty.lived_ns += d->ended_ns - d->begun_ns;
}

static void describe(struct profile *to, const struct process *p)
{
	add_duty(to, &p->duty);
	to->processes++;
	if (!to->mode)
		to->mode = p->mode;
	if (p->coarse > to->coarse)
		to->coarse = p->coarse;
	if (p->tsc_hz && !to->clock) {
		to->clock_hz = p->tsc_hz;
		to->clock = "tsc";
	}
}

static int finish_processes(struct trace *t, bool counted)
{
	int err = codes_read_all(t->profile.codes);

	for (struct map_slot *s = NULL; !err && (s = map_next(&t->profile.codes->processes, s));) {
		struct process *p = s->value;

		describe(&t->profile, p);
		if (counted && pid_list_has(t->only, p->pid))
			err = lost_at_end(t, p);
	}
	return err || !counted || t->only ? err : lost_of_file(t);
}

static int compare_threads(const void *one, const void *other)
{
	const struct thread_total *a = one, *b = other;

	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid) : (a->tid > b->tid) - (a->tid < b->tid);
}

static struct thread_total total_of(const struct thread *th, uint64_t wall_ns, struct off off)
{
	uint64_t used = th->used.ns < wall_ns ? th->used.ns : wall_ns;

	if (th->cpu.known)
		used = wall_ns - off.ns;
	return (struct thread_total){
		th->pid, th->tid, wall_ns, off, th->cpu.known, used, th->gil_ns, th->gil_held_ns
	};
}

static void add_total(struct profile *p, const struct thread_total *t)
{
	p->cpu_ns += t->used_ns;
	p->unseen += !t->cpu_known;
	p->untold += !t->cpu_known && !t->used_ns;
}

static int finish_threads(struct trace *t)
{
	struct profile *p = &t->profile;
	const struct thread *th;
	int err = 0;

	p->thread_totals = calloc(t->threads.used + 1, sizeof(*p->thread_totals));
	if (!p->thread_totals)
		return -ENOMEM;
	for (struct map_slot *s = NULL; !err && (s = map_next(&t->threads, s));) {
		err = thread_finish(s->value, &t->to);
		th = s->value;
		p->thread_totals[p->threads] = total_of(th, th->wall_ns, th->off);
		add_total(p, &p->thread_totals[p->threads++]);
	}
	for (struct map_slot *s = NULL; (s = map_next(&t->objects, s));)
		objects_free(s->value);
	return err;
}

static int join(struct trace *t, const struct trace *more)
{
	struct profile *p = &t->profile;

	if (more->begun && (!t->begun || more->profile.first_ns < p->first_ns))
		p->first_ns = more->profile.first_ns;
	if (more->started && (!t->started || more->profile.start_ns < p->start_ns))
		p->start_ns = more->profile.start_ns;
	t->begun |= more->begun;
	t->started |= more->started;
	return profile_join(p, &more->profile) ?: subscribers_join(&more->to);
}

static int finish_all_threads(struct trace *t)
{
	struct profile *p = &t->profile;
	int err = apart_check(t);

	for (struct trace *x = t; x && !err; x = x->next)
		err = finish_threads(x);
	for (const struct trace *x = t->next; x && !err; x = x->next)
		err = join(t, x);
	if (!err)
		qsort(p->thread_totals, p->threads, sizeof(*p->thread_totals), compare_threads);
	return err;
}

/* The last event of all is each trace's, as though it were the only one. */
static void share_end(struct trace *t)
{
	uint64_t end_ns = 0;

	for (struct trace *x = t; x; x = x->next)
		end_ns = x->profile.end_ns > end_ns ? x->profile.end_ns : end_ns;
	for (struct trace *x = t; x; x = x->next)
		x->profile.end_ns = end_ns;
}

/* Requests that have not ended. */
static int lose_requests(struct trace *t)
{
	struct requests *all = &t->profile.requests;
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&all->open, s));) {
		const struct request *q = s->value;
		const struct thread *th = map_get(&t->threads, map_pair(q->pid, q->tid));

		err = q->begun_ns && th ? thread_lose_request(th, q, &t->to) : 0;
	}
	return err ?: requests_finish(all);
}

/* The threads, up to the last event of each. 0 or -ENOMEM. */
static int sum_threads(struct trace *t)
{
	struct profile *p = &t->profile;

	p->thread_totals = calloc(t->threads.used + 1, sizeof(*p->thread_totals));
	for (struct map_slot *s = NULL; p->thread_totals && (s = map_next(&t->threads, s));) {
		const struct thread *th = s->value;

		p->thread_totals[p->threads++] = total_of(th, th->wall_ns + th->last_ns - th->first_ns,
							  off_minus(th->off, cpu_tail(&th->cpu, th->last_ns)));
	}
	return p->thread_totals ? 0 : -ENOMEM;
}

int trace_second(struct trace *t, uint64_t ns)
{
	int err = sum_threads(t);

	set_open(t, true);
	err = err ?: SUBSCRIBERS_CALL(&t->to, second, &t->profile, ns);
	set_open(t, false);
	free(t->profile.thread_totals);
	t->profile.thread_totals = NULL;
	t->profile.threads = 0;
	return err;
}

/* An empty report would look like that of a program that did nothing. */
static int fail_empty(struct trace *t)
{
	char span[TRACE_ERROR / 2] = "others, which perf skipped; without @ the error says when they are";

	if (t->begun)
		time_span_describe(span, sizeof(span), t->profile.first_ns, t->last_ns, &t->wall);
	snprintf(t->error, sizeof(t->error), "no event in time=%s; the recording has %s", t->window.text, span);
	return -ERANGE;
}

static int fail_selected(struct trace *t)
{
	char by[TRACE_ERROR / 2];

	selection_describe(&t->selection.by, by, sizeof(by));
	snprintf(t->error, sizeof(t->error),
		 "nothing in this recording fits %s: see the names in a report of all of it", by);
	return -ERANGE;
}

int trace_finish(struct trace *t, bool counted)
{
	bool whole = time_span_is_all(&t->window);
	int err;

	share_end(t);
	err = whole || t->started ? finish_processes(t, counted && whole) : fail_empty(t);

	if (!err && t->selects && !t->started)
		err = fail_selected(t);
	if (!t->profile.clock)
		t->profile.clock = "ns";
	err = err ?: finish_all_threads(t);
	exceptions_rank(&t->profile.exceptions);
	err = err ?: async_tasks_finish(&t->profile.tasks, t->profile.end_ns);
	err = err ?: lose_requests(t);
	greenlets_rank(&t->profile.greenlets);
	for (struct sink *k = t->to.sinks; k; k = k->next)
		if (!err && k->ops->finish)
			err = k->ops->finish(k, &t->profile);
	return err;
}

void trace_free(struct trace *t)
{
	for (struct sink *k = t->to.sinks, *next; k; k = next) {
		next = k->next;
		k->ops->free(k);
	}
	for (struct map_slot *s = NULL; (s = map_next(&t->objects, s));)
		objects_free(s->value);
	for (struct map_slot *s = NULL; (s = map_next(&t->early, s));)
		if (((struct thread *)s->value)->early)
			thread_free(s->value);
	for (struct map_slot *s = NULL; (s = map_next(&t->threads, s));)
		thread_free(s->value);
	for (struct map_slot *s = NULL; (s = map_next(&t->gils, s));)
		gil_apart_free(((struct gil *)s->value)->apart);
	map_free_all(&t->objects);
	map_free_all(&t->gils);
	map_free(&t->threads);
	map_free(&t->early);
	free(t->profile.thread_totals);
	imports_free(&t->profile.imports);
	exceptions_free(&t->profile.exceptions);
	locks_free(&t->profile.locks);
	spans_free(&t->profile.spans);
	steps_free(&t->profile.steps);
	async_tasks_free(&t->profile.tasks);
	requests_free(&t->profile.requests);
	free(t->profile.greenlets.rows);
	selection_free(&t->selection);
}
