// SPDX-License-Identifier: MIT
/* Each decodes as far ahead as there is room, so whoever has the earliest word in a full ring can always go on. */
#include "lookahead.h"

#include <errno.h>
#include <stdlib.h>

#include "gather.h"
#include "model/gil_apart.h"
#include "shared/marker.h"

int lookahead_init(struct lookahead *l, struct exchange *e, const struct codes_parts *parts, unsigned me)
{
	*l = (struct lookahead){ .exchange = e, .parts = parts, .me = me, .pid = -1 };
	l->rooms = calloc(LOOKAHEAD_ROOMS, sizeof(*l->rooms));
	return l->rooms ? 0 : -ENOMEM;
}

void lookahead_free(struct lookahead *l)
{
	free(l->rooms);
	map_free_all(&l->threads);
	free(l->own.all);
	free(l->heard.all);
}

struct words *lookahead_room(struct lookahead *l)
{
	struct words *w = &l->rooms[(l->first + l->n) % LOOKAHEAD_ROOMS];

	w->n = w->nruns = 0;
	return w;
}

/* --- what is said --------------------------------------------------------------------------------------------- */

/* Without a GIL a thread can be analysed whatever others wait for: they need not hear of it. */
static void ask_process(struct lookahead *l, const struct codes *c, int32_t pid)
{
	const struct process *p = pid < 0 ? NULL : map_get(&c->processes, (uint32_t)pid);

	if (pid != l->pid)
		l->is_apart = l->parts->several(l->parts->to, pid) && !(p && p->free_threaded);
	l->pid = pid;
}

/* Has it taken the GIL since it waited, and when was its last event? Words that only belong to one are none. */
struct lookahead_thread {
	bool took;
	uint64_t last_ns;
};

static struct lookahead_thread *thread_of(struct lookahead *l, int32_t tid)
{
	struct lookahead_thread *t = map_get(&l->threads, (uint32_t)tid);

	return t ? t : map_add(&l->threads, (uint32_t)tid, sizeof(*t));
}

/* Nearly every word is an event by its number, soon after another one: these only change when the last event was. */
static uint32_t pass_plain(struct lookahead_thread *t, const struct words *w, uint32_t i, uint32_t end)
{
	uint64_t last = t->last_ns;

	if (!t->took)
		return i;
	for (; i < end && !(w->bits[i] >> 32) && w->ns[i] - last <= LOOKAHEAD_QUIET_NS; i++)
		last = w->ns[i];
	t->last_ns = last;
	return i;
}

/* After a wait the first event of code is said, too, and after a time in which a C function may let others run. */
static int look_at(struct lookahead *l, struct lookahead_thread *t, const struct exchange_word *w)
{
	bool waits = marker_is_extension(w->bits) && marker_kind(w->bits) == KIND_WAIT;
	bool takes = !waits && gil_is_taken_by(w->bits);
	bool says = waits || (takes && (!t->took || w->ns - t->last_ns > LOOKAHEAD_QUIET_NS));

	if (waits)
		l->sum += gil_apart_sum(w->tid, marker_payload(w->bits), w->ns);
	t->took = (t->took || takes) && !waits;
	t->last_ns = waits || takes ? w->ns : t->last_ns;
	return says && l->is_apart ? exchange_add(&l->own, w) : 0;
}

/* A run's words. */
static int look_at_words(struct lookahead *l, const struct word_run *run, const struct words *w, uint32_t i)
{
	struct lookahead_thread *t = thread_of(l, run->tid);
	uint32_t end = i + run->n;
	int err = t ? 0 : -ENOMEM;

	while (!err && (i = pass_plain(t, w, i, end)) < end) {
		err = look_at(l, t, &(struct exchange_word){ w->ns[i], w->bits[i], run->pid, run->tid });
		i++;
	}
	return err;
}

/* The time must not go back. */
static bool goes_on(struct lookahead *l, const struct words *w)
{
	uint64_t last = l->last_ns;
	bool back = false;

	for (uint32_t i = 0; i < w->n; i++) {
		back |= w->ns[i] < last;
		last = w->ns[i];
	}
	l->last_ns = last;
	return !back;
}

static int say(struct lookahead *l, const struct codes *c, const struct words *w)
{
	int err = goes_on(l, w) ? 0 : -EAGAIN;
	uint32_t at = 0;

	l->own.n = 0;
	for (uint32_t i = 0; i < w->nruns && !err; at += w->runs[i++].n) {
		ask_process(l, c, w->runs[i].pid);
		err = w->runs[i].kind == RUN_WORDS ? look_at_words(l, &w->runs[i], w, at) : 0;
	}
	return err ?: exchange_say(l->exchange, l->me, &l->own, l->last_ns);
}

/* --- what is heard, and taken --------------------------------------------------------------------------------- */

/* Those that were taken are of no more use. */
static int hear(struct lookahead *l, uint64_t ns)
{
	uint32_t n = 0;

	for (uint32_t i = l->at; i < l->heard.n; i++)
		l->heard.all[n++] = l->heard.all[i];
	l->heard.n = n;
	l->at = 0;
	return exchange_hear(l->exchange, l->me, ns, &l->heard);
}

/* The first n; waiting for others once. */
static int take(struct gather *g, uint32_t n)
{
	struct lookahead *l = g->ahead;
	int err = n ? hear(l, l->until_ns[(l->first + n - 1) % LOOKAHEAD_ROOMS]) : 0;

	for (; n && !err; n--) {
		err = gather_take(g, &l->rooms[l->first]);
		l->first = (l->first + 1) % LOOKAHEAD_ROOMS;
		l->n--;
	}
	return err;
}

int lookahead_turn(struct gather *g)
{
	struct lookahead *l = g->ahead;
	int err = say(l, &g->analysis->codes, g->room);

	l->until_ns[(l->first + l->n++) % LOOKAHEAD_ROOMS] = l->last_ns;
	if (l->n == LOOKAHEAD_ROOMS)
		err = err ?: take(g, LOOKAHEAD_ROOMS / 2);
	g->room = lookahead_room(l);
	return err;
}

static struct exchange_word *next(const struct lookahead *l)
{
	return l->at < l->heard.n ? &l->heard.all[l->at] : NULL;
}

static int tell(struct gather *g, const struct exchange_word *w)
{
	const struct codes_parts *p = g->ahead->parts;

	g->ahead->at++;
	if (!p->has(p->to, w->pid, g->ahead->me))
		return 0;
	return trace_other_word(&g->analysis->trace, w->pid, w->tid, w->bits, w->ns);
}

/*
 * Of all threads the sums of what was said and of what was acted on are the same, and no word was another software's,
 * of which others may have heard.
 */
static int compare(const struct gather *g)
{
	uint64_t sum = 0;

	for (struct map_slot *s = NULL; (s = map_next(&g->analysis->trace.gils, s));)
		sum += ((const struct gil *)s->value)->apart->words;
	return sum == g->ahead->sum && !g->analysis->trace.profile.foreign ? 0 : -EAGAIN;
}

int lookahead_end(struct gather *g)
{
	struct lookahead *l = g->ahead;
	int err;

	l->own.n = 0;
	err = exchange_say(l->exchange, l->me, &l->own, UINT64_MAX);
	err = err ?: take(g, l->n);
	err = err ?: hear(l, UINT64_MAX);
	while (next(l) && !err)
		err = tell(g, next(l));
	return err ?: compare(g);
}

/* Does it matter which is first, the other's or own words of that time, from there on? */
static bool is_unsure(const struct exchange_word *other, const struct words *w, uint32_t from, uint32_t end)
{
	bool unsure = false;

	for (uint32_t i = from; i < end && w->ns[i] == other->ns; i++)
		unsure |= gil_order_matters(other->bits, w->bits[i]);
	return unsure;
}

/* The first word from there on that comes at ns or after it. */
static uint32_t first_at(const struct words *w, uint32_t from, uint32_t end, uint64_t ns)
{
	while (from < end) {
		uint32_t middle = (from + end) / 2;

		if (w->ns[middle] < ns)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

int lookahead_reach(struct gather *g, const struct words *w, uint32_t from, uint32_t end, uint32_t *n)
{
	const struct exchange_word *other;
	int err = 0;

	while (from < end && (other = next(g->ahead)) && other->ns <= w->ns[from] && !err)
		err = is_unsure(other, w, from, end) ? -EAGAIN : tell(g, other);
	other = next(g->ahead);
	*n = (other ? first_at(w, from, end, other->ns) : end) - from;
	return err;
}
