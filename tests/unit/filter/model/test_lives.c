/* SPDX-License-Identifier: MIT */
/*
 * test_lives.c - objects of threads that are analysed apart are those that they are together, or are said not to be
 * known: random threads whose objects go on, end, or are destroyed without an event, and whose addresses come again.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "code/codes.h"
#include "model/function.h"
#include "model/objects.h"
#include "random.h"

#define ADDRESSES 3
#define THREADS	  3
#define EVENTS	  40
#define PLAYS	  40000

enum what { BEGINS, GOES_ON, ENDS };

struct event {
	uint64_t ns, address;
	unsigned thread;
	struct code *code;
	enum what what;
};

struct play {
	struct event events[EVENTS];
	unsigned n;
	uint64_t seed, ns;
	bool ties, moves; /* several events at one time; objects go on in another thread, now and then */
};

static struct codes codes;
static struct code *code[2];

static unsigned below(struct play *p, unsigned n)
{
	return random_below(&p->seed, n);
}

/* What happens at the address next: *at is what is there, and code NULL if nothing is. */
static void play_at(struct play *p, uint64_t address, struct event *at)
{
	bool lives = at->code;

	if (lives && !below(p, 4)) {
		at->code = NULL; /* destroyed */
		return;
	}
	if (!lives)
		*at = (struct event){ 0, address, below(p, THREADS), code[below(p, 2)], BEGINS };
	else
		at->what = below(p, 3) ? GOES_ON : ENDS;
	if (lives && p->moves && !below(p, 20))
		at->thread = below(p, THREADS);
	p->ns += !p->ties + below(p, 3);
	at->ns = p->ns;
	p->events[p->n++] = *at;
	if (at->what == ENDS)
		at->code = NULL;
}

static struct play random_play(uint64_t seed)
{
	struct play p = { .seed = seed, .ns = 100, .ties = seed % 4 == 1, .moves = seed % 4 >= 2 };
	struct event at[ADDRESSES] = { 0 };

	while (p.n < EVENTS) {
		unsigned i = below(&p, ADDRESSES);

		play_at(&p, 70 + i, &at[i]);
	}
	return p;
}

/* --- together, and apart -------------------------------------------------------------------------------------- */

/* What an analysis makes of it: of which object each event was, by its beginning; trips of loops that are over. */
struct outcome {
	uint64_t begun[EVENTS];
	struct loop loop;
	bool adopted;
};

static void hold(struct object *o, struct loop *loop, uint64_t ns)
{
	struct open_loop *open = calloc(1, sizeof(*open));

	assert_non_null(open);
	open->loop = loop;
	open->trips = ns;
	o->held.outermost = open;
}

static void act(struct objects *all, const struct event *e, struct outcome *out, unsigned i)
{
	struct object *o = e->what == BEGINS ? objects_begin(all, e->code, e->ns)
					     : objects_at(all, e->code, e->address, e->ns);

	assert_non_null(o);
	out->adopted |= o->older;
	out->begun[i] = o->begun_ns;
	if (e->what == BEGINS)
		assert_int_equal(objects_tell(all, o, e->address), 0);
	free(o->held.outermost);
	o->held.outermost = NULL;
	o->suspended = true;
	o->since_ns = e->ns;
	o->epoch = all->epoch;
	if (e->what == ENDS)
		objects_end(all, o, e->ns, true);
	else
		hold(o, &out->loop, e->ns);
}

static struct outcome play_together(const struct play *p)
{
	struct objects all = { 0 };
	struct outcome out = { 0 };

	for (unsigned i = 0; i < p->n; i++)
		act(&all, &p->events[i], &out, i);
	objects_free(&all);
	return out;
}

static int play_apart(const struct play *p, struct outcome *out)
{
	struct objects all[THREADS] = { 0 }, *of[THREADS];
	int err;

	for (unsigned i = 0; i < THREADS; i++) {
		of[i] = &all[i];
		all[i].lives = calloc(1, sizeof(*all[i].lives));
		assert_non_null(all[i].lives);
	}
	for (unsigned i = 0; i < p->n; i++)
		act(&all[p->events[i].thread], &p->events[i], out, i);
	err = out->adopted ? -EAGAIN : lives_settle(of, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		objects_free(&all[i]);
	return err;
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

static int begin(void **state)
{
	(void)state;
	assert_int_equal(codes_init(&codes, NULL), 0);
	code[0] = codes_intern(codes_process(&codes, 7), "a.py", "f", 1);
	code[1] = codes_intern(codes_process(&codes, 7), "a.py", "g", 9);
	return 0;
}

static int end(void **state)
{
	(void)state;
	codes_free(&codes);
	return 0;
}

static void test_apart_is_together_or_not_known(void **state)
{
	unsigned known[4] = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < PLAYS; seed++) {
		struct play p = random_play(seed);
		struct outcome together = play_together(&p), apart = { 0 };
		int err = play_apart(&p, &apart);

		assert_true(!err || err == -EAGAIN);
		if (!err) {
			known[seed % 4]++;
			assert_memory_equal(apart.begun, together.begun, sizeof(apart.begun));
			assert_int_equal(apart.loop.trips.n, together.loop.trips.n);
			assert_int_equal(apart.loop.trips.sum, together.loop.trips.sum);
		}
		stat_free(&together.loop.trips);
		stat_free(&apart.loop.trips);
	}
	assert_int_equal(known[0], PLAYS / 4); /* no ties, and nothing moves: always */
	assert_true(known[1] > PLAYS / 40);
	assert_true(known[2] > PLAYS / 40);
}

/* One that was suspended while as many ended as are kept. */
static void test_forgotten(void **state)
{
	for (unsigned shared = 0; shared < 2; shared++) {
		struct objects all[2] = { 0 }, *of[] = { &all[0], &all[1] };
		struct outcome out = { 0 };

		(void)state;
		for (unsigned i = 0; i < 2; i++)
			all[i].lives = calloc(1, sizeof(*all[i].lives));
		act(&all[0], &(struct event){ 5, 70, 0, code[0], BEGINS }, &out, 0);
		act(&all[1], &(struct event){ 6, shared ? 70 : 71, 1, code[0], BEGINS }, &out, 0);
		act(&all[1], &(struct event){ 7, shared ? 70 : 71, 1, code[0], ENDS }, &out, 0);
		for (uint64_t ns = 10; ns < 10 + LIVES_MOST; ns++) {
			act(&all[1], &(struct event){ ns, 72, 1, code[0], BEGINS }, &out, 0);
			act(&all[1], &(struct event){ ns, 72, 1, code[0], ENDS }, &out, 0);
		}
		assert_in_range(all[1].lives->n, 1, LIVES_MOST - 1);
		assert_int_equal(lives_settle(of, 2), shared ? -EAGAIN : 0);
		objects_free(&all[0]);
		objects_free(&all[1]);
		stat_free(&out.loop.trips);
	}
}

/* Too many of which no end was seen. */
static void test_too_many(void **state)
{
	struct objects all = { 0 }, *of[] = { &all };
	struct outcome out = { 0 };

	(void)state;
	all.lives = calloc(1, sizeof(*all.lives));
	for (uint64_t ns = 10; ns < 12 + LIVES_MOST; ns++)
		act(&all, &(struct event){ ns, 72, 1, code[0], BEGINS }, &out, 0);
	assert_int_equal(lives_settle(of, 1), -EAGAIN);
	objects_free(&all);
	stat_free(&out.loop.trips);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apart_is_together_or_not_known),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
