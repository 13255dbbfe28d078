// SPDX-License-Identifier: MIT
#include "others.h"

#include <errno.h>

#include "gather.h"
#include "model/gil_apart.h"
#include "shared/marker.h"

void others_init(struct others *o, struct exchange *e, const struct codes_parts *parts, const struct tsc_conv *conv,
		 unsigned me)
{
	*o = (struct others){ .exchange = e, .parts = parts, .me = me, .looks = true, .conv = conv, .pid = -1 };
	o->quiet = tsc_of_ns(conv, conv->zero + OTHERS_QUIET_NS);
}

void others_free(struct others *o)
{
	map_free_all(&o->threads);
	free(o->own.all);
	free(o->heard.all);
}

/* --- what is said --------------------------------------------------------------------------------------------- */

/* Without a GIL a thread can be analysed whatever others wait for: they need not hear of it. */
static void ask_process(struct others *o, const struct codes *c, int32_t pid)
{
	const struct process *p = pid < 0 ? NULL : map_get(&c->processes, (uint32_t)pid);

	if (pid != o->pid)
		o->is_apart = o->parts->several(o->parts->to, pid) && !(p && p->free_threaded);
	o->pid = pid;
}

/* Has it taken the GIL since it waited, and when was its last event? Words that only belong to one are none. */
struct others_thread {
	bool took;
	uint64_t last;
};

static struct others_thread *thread_of(struct others *o, int32_t tid)
{
	struct others_thread *t = map_get(&o->threads, (uint32_t)tid);

	return t ? t : map_add(&o->threads, (uint32_t)tid, sizeof(*t));
}

/* An event by its number, soon after another one. */
static inline bool is_plain(const struct words *w, uint32_t i, uint64_t last, uint64_t quiet)
{
	uint64_t kind = w->bits[i] >> 32;

	return kind == WORDS_PASSED >> 32 || (!kind && w->cycles[i] - last <= quiet);
}

/* Nearly every word is that: these only change when the last event was. */
static uint32_t pass_plain(struct others_thread *t, const struct words *w, uint64_t quiet, uint32_t i, uint32_t end)
{
	uint64_t last = t->last;

	if (!t->took)
		return i;
	for (; i < end && is_plain(w, i, last, quiet); i++)
		last = w->cycles[i];
	t->last = last;
	return i;
}

/* After a wait the first event of code is said, too, and after a time in which a C function may let others run. */
static int look_at(struct others *o, struct others_thread *t, const struct exchange_word *w)
{
	bool waits = marker_is_extension(w->bits) && marker_kind(w->bits) == KIND_WAIT;
	bool takes = !waits && gil_is_taken_by(w->bits);
	bool says = waits || (takes && (!t->took || w->tick - t->last > o->quiet));

	if (waits)
		o->sum += gil_apart_sum(w->tid, marker_payload(w->bits), tsc_ns(o->conv, w->tick));
	t->took = (t->took || takes) && !waits;
	t->last = waits || takes ? w->tick : t->last;
	return says && o->is_apart ? exchange_add(&o->own, w) : 0;
}

/* A run's words. */
static int look_at_words(struct others *o, const struct word_run *run, const struct words *w, uint32_t i)
{
	struct others_thread *t = thread_of(o, run->tid);
	uint32_t end = i + run->n;
	int err = t ? 0 : -ENOMEM;

	while (!err && (i = pass_plain(t, w, o->quiet, i, end)) < end) {
		err = look_at(o, t, &(struct exchange_word){ w->cycles[i], w->bits[i], run->pid, run->tid });
		i++;
	}
	return err;
}

/* The time must not go back. */
static bool goes_on(struct others *o, const struct words *w)
{
	uint64_t last = o->last;
	bool back = false;

	for (uint32_t i = 0; i < w->n; i++) {
		back |= w->cycles[i] < last;
		last = w->cycles[i];
	}
	o->last = last;
	return !back;
}

int others_look(struct others *o, const struct codes *c, const struct words *w)
{
	int err = goes_on(o, w) ? 0 : -EAGAIN;
	uint32_t at = 0;

	for (uint32_t i = 0; i < w->nruns && !err; at += w->runs[i++].n) {
		ask_process(o, c, w->runs[i].pid);
		err = w->runs[i].kind == RUN_WORDS ? look_at_words(o, &w->runs[i], w, at) : 0;
	}
	return err ?: o->own.n > OTHERS_MOST ? -EAGAIN : 0;
}

int others_meet(struct others *o)
{
	o->looks = false;
	exchange_say(o->exchange, o->me, &o->own);
	return exchange_hear(o->exchange, o->me, &o->heard);
}

/* --- what is heard -------------------------------------------------------------------------------------------- */

static const struct exchange_word *next(const struct others *o)
{
	return o->at < o->heard.n ? &o->heard.all[o->at] : NULL;
}

static int tell(struct gather *g, const struct exchange_word *w)
{
	const struct codes_parts *p = g->others->parts;

	g->others->at++;
	if (!p->has(p->to, w->pid, g->others->me))
		return 0;
	return trace_other_word(&g->analysis->trace, w->pid, w->tid, w->bits, tsc_ns(g->others->conv, w->tick));
}

/*
 * Of all threads the sums of what was seen and of what was acted on are the same, and no word was another software's,
 * of which others may have heard.
 */
static int compare(const struct gather *g)
{
	uint64_t sum = 0;

	for (struct map_slot *s = NULL; (s = map_next(&g->analysis->trace.gils, s));)
		sum += ((const struct gil *)s->value)->apart->words;
	return sum == g->others->sum && !g->analysis->trace.profile.foreign ? 0 : -EAGAIN;
}

int others_end(struct gather *g)
{
	const struct exchange_word *other;
	int err = 0;

	while (!err && (other = next(g->others)))
		err = tell(g, other);
	return err ?: compare(g);
}

/* Does it matter which is first, the other's or own words of that time, from there on? */
static bool is_unsure(const struct exchange_word *other, const struct words *w, uint32_t from, uint32_t end)
{
	bool unsure = false;

	for (uint32_t i = from; i < end && w->cycles[i] == other->tick; i++)
		unsure |= gil_order_matters(other->bits, w->bits[i]);
	return unsure;
}

/* The first word from there on that comes at that tick or after it. */
static uint32_t first_at(const struct words *w, uint32_t from, uint32_t end, uint64_t tick)
{
	while (from < end) {
		uint32_t middle = (from + end) / 2;

		if (w->cycles[middle] < tick)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

int others_reach(struct gather *g, const struct words *w, uint32_t from, uint32_t end, uint32_t *n)
{
	const struct exchange_word *other;
	int err = 0;

	while (from < end && (other = next(g->others)) && other->tick <= w->cycles[from] && !err)
		err = is_unsure(other, w, from, end) ? -EAGAIN : tell(g, other);
	other = next(g->others);
	*n = (other ? first_at(w, from, end, other->tick) : end) - from;
	return err;
}
