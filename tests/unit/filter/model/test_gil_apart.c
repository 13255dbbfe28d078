/* SPDX-License-Identifier: MIT */
/*
 * test_gil_apart.c - the GIL of threads that are analysed apart is what it is together, or is said not to be known:
 * random words of random threads, and words of threads that take turns as CPython's do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "model/gil.h"
#include "model/gil_apart.h"
#include "model/thread.h"
#include "shared/marker.h"
#include "random.h"

#define THREADS 4
#define WORKERS 3
#define WORDS	40
#define PLAYS	200000

/* What a thread does at a time: an event of code, or a WAIT word. */
struct word {
	uint64_t ns, payload;
	int thread;
	bool code;
};

struct play {
	struct word words[WORDS];
	int n;
	uint64_t seed, ns;
	bool ties; /* several words may be at one time */
};

static uint32_t below(struct play *p, uint32_t n)
{
	return random_below(&p->seed, n);
}

static void put(struct play *p, int thread, bool code, uint64_t payload)
{
	p->ns += !p->ties + below(p, 9);
	if (p->n < WORDS)
		p->words[p->n++] = (struct word){ p->ns, payload, thread, code };
}

static void say(struct play *p, int thread, enum wait_kind kind, bool begins, bool in_vain)
{
	put(p, thread, false, marker_payload(marker_wait(kind, begins)) | (in_vain ? MARKER_GIL_NOT_GOT : 0));
}

/* --- together, and apart -------------------------------------------------------------------------------------- */

static void act(struct gil *g, struct thread *t, const struct word *w)
{
	if (!w->code)
		gil_word(g, t, w->payload, w->ns);
	else if (!t->holds_gil)
		gil_take(g, t, w->ns);
	else
		gil_until(g, w->ns);
	t->last_ns = w->ns;
}

static void play_together(const struct play *p, struct thread *threads)
{
	struct gil g = { 0 };

	for (int i = 0; i < p->n; i++)
		act(&g, &threads[p->words[i].thread], &p->words[i]);
}

static uint64_t bits_of(const struct word *w)
{
	return w->code ? marker_event(OP_PY_START, 0, 1, 0, 0) : marker_extension(0, KIND_WAIT, w->payload);
}

/* One worker: has its threads' words, and of others' their waits, and events of code after these. */
static struct gil play_part(const struct play *p, struct thread *threads, int worker, int workers)
{
	struct gil g = { .apart = calloc(1, sizeof(*g.apart)) };
	bool took[THREADS] = { 0 };

	assert_non_null(g.apart);
	for (int i = 0; i < p->n; i++) {
		const struct word *w = &p->words[i];

		if (w->thread % workers == worker)
			act(&g, &threads[w->thread], w);
		else if (!w->code || !took[w->thread])
			assert_int_equal(gil_other_word(&g, w->thread + 1, bits_of(w), w->ns), 0);
		took[w->thread] = w->code;
	}
	return g;
}

static void end(struct gil *gils, int n, struct gil_apart **all)
{
	uint64_t latest = 0;

	for (int i = 0; i < n; i++)
		latest = gils[i].since_ns > latest ? gils[i].since_ns : latest;
	for (int i = 0; i < n; i++) {
		gil_end(&gils[i], latest);
		all[i] = gils[i].apart;
	}
}

/* Two threads' words of one time, of which it matters which comes first, are not analysed apart. */
static bool has_ties(const struct play *p)
{
	bool tie = false;

	for (int i = 0; i < p->n; i++)
		for (int k = i + 1; k < p->n && p->words[k].ns == p->words[i].ns; k++)
			tie |= p->words[k].thread != p->words[i].thread &&
			       gil_order_matters(bits_of(&p->words[i]), bits_of(&p->words[k]));
	return tie;
}

/* Is it known? Then it is the same. */
static bool compare(const struct play *p, int workers)
{
	struct thread together[THREADS] = { 0 }, apart[THREADS] = { 0 };
	struct gil gils[WORKERS];
	struct gil_apart *all[WORKERS];
	bool known;

	if (has_ties(p))
		return false;
	play_together(p, together);
	for (int i = 0; i < workers; i++)
		gils[i] = play_part(p, apart, i, workers);
	end(gils, workers, all);
	known = gil_apart_settle(all, (unsigned)workers);
	for (int i = 0; known && i < THREADS; i++)
		assert_int_equal(apart[i].gil_held_ns, together[i].gil_held_ns);
	for (int i = 0; i < workers; i++)
		gil_apart_free(gils[i].apart);
	return known;
}

/* --- what they do --------------------------------------------------------------------------------------------- */

static void do_anything(struct play *p)
{
	static const enum wait_kind kinds[] = { WAIT_FOR_GIL, WAIT_FOR_GIL, WAIT_FOR_SLEEP, WAIT_FOR_RING };
	int thread = (int)below(p, THREADS);

	if (below(p, 2))
		put(p, thread, true, 0);
	else
		say(p, thread, kinds[below(p, 4)], below(p, 2), !below(p, 4));
}

/* None of it is true of CPython, and it is the same all the same where it is known. */
static void test_any_words(void **state)
{
	int known = 0;

	(void)state;
	for (int i = 0; i < PLAYS; i++) {
		struct play p = { .seed = (uint64_t)i, .ties = i % 5 };

		for (int words = 4 + (int)below(&p, WORDS - 4); p.n < words;)
			do_anything(&p);
		known += compare(&p, 2 + i % 2);
	}
	assert_in_range(known, PLAYS / 50, PLAYS);
}

/* The holder runs, and either all others want it, until one gets it, or it sleeps. */
static void take_turns(struct play *p)
{
	int holder = (int)below(p, THREADS);

	while (p->n < WORDS - 2 * THREADS - 4) {
		int next = (holder + 1 + (int)below(p, THREADS - 1)) % THREADS;
		bool sleeps = below(p, 2);

		put(p, holder, true, 0);
		if (sleeps)
			say(p, holder, WAIT_FOR_SLEEP, true, false);
		say(p, next, WAIT_FOR_GIL, true, false);
		if (!sleeps)
			put(p, holder, true, 0);
		say(p, next, WAIT_FOR_GIL, false, false);
		put(p, next, true, 0);
		if (sleeps)
			say(p, holder, WAIT_FOR_SLEEP, false, false);
		say(p, holder, WAIT_FOR_GIL, true, false);
		put(p, next, true, 0);
		say(p, holder, WAIT_FOR_GIL, false, false);
	}
}

static void test_turns(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < PLAYS / 10; i++) {
		struct play p = { .seed = i };

		take_turns(&p);
		assert_true(compare(&p, 2 + (int)(i % 2)));
	}
}

/* A word of another's that comes after a later own one, a gap, and too many holds: nothing is known. */
static void test_not_followed(void **state)
{
	struct thread t = { .tid = 1 };

	(void)state;
	for (int what = 0; what < 3; what++) {
		struct gil g = { .apart = calloc(1, sizeof(*g.apart)) };
		struct gil other = { .apart = calloc(1, sizeof(*g.apart)) };

		gil_take(&g, &t, 10);
		assert_int_equal(gil_other_word(&g, 2, marker_wait(WAIT_FOR_GIL, true), 20), 0);
		if (what == 0)
			gil_word(&g, &t, marker_payload(marker_wait(WAIT_FOR_GIL, true)), 15);
		if (what == 1)
			gil_lose(&g, &t);
		for (uint32_t i = 0; what == 2 && i <= GIL_HOLDS_MOST; i++) {
			gil_word(&g, &t, marker_payload(marker_wait(WAIT_FOR_SLEEP, true)), 30 + i);
			gil_take(&g, &t, 30 + i);
		}
		assert_false(gil_apart_settle((struct gil_apart *[]){ g.apart, other.apart }, 2));
		gil_apart_free(g.apart);
		gil_apart_free(other.apart);
		t.holds_gil = t.wants_gil = false;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_words),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
