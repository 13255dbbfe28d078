/* SPDX-License-Identifier: MIT */
/*
 * test_thread_quick.c - events without a sample of each have the totals, and tell sinks, what samples of them do.
 *
 * The words are a random walk of two threads through some functions: calls that return at once, also many in a row,
 * deep and recursive ones, loops, threads that wait for the GIL, events of what is not innermost, times that go
 * backwards, lost words, and runs that end anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/decode.h"
#include "model/trace.h"
#include "shared/marker.h"

#define PID	  7
#define FUNCTIONS 9 /* two of which have the same place in a row (thread_row.c) */
#define RUNS	  400
#define DEPTH_MAX 6

/* Each event of these has a number: of function f, EVENTS f + this. */
enum event { STARTS = 1, RETURNS, REPEATS_INNER, REPEATS_OUTER, GOES_ON, EVENTS = GOES_ON };
#define NUMBERS (EVENTS * FUNCTIONS)

static uint32_t below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % n;
}

/* A thread of the program, as it writes words. */
struct writer {
	int32_t tid;
	uint8_t seq;
	bool began, waits;
	unsigned depth, open[DEPTH_MAX];
};

struct script {
	struct words words;
	uint64_t seed, ns, cycles;
};

static void put(struct script *s, struct writer *w, uint64_t bits)
{
	struct words *to = &s->words;

	s->ns += below(&s->seed, 50) ? 1 + below(&s->seed, 90) : 0;
	s->cycles += below(&s->seed, 200);
	to->bits[to->n] = bits | (bits >> 32 ? (uint64_t)(w->seq & 127) << 52 : 0);
	to->ns[to->n] = s->ns - (below(&s->seed, 300) ? 0 : 40);
	to->cycles[to->n++] = s->cycles;
	w->seq++;
}

static uint64_t event(unsigned number)
{
	static const struct {
		enum marker_op op;
		unsigned offset;
		int distance;
	} events[EVENTS + 1] = {
		[STARTS] = { OP_PY_START, 0, 0 },      [RETURNS] = { OP_PY_RETURN, 30, 0 },
		[REPEATS_INNER] = { OP_JUMP, 20, -8 }, [REPEATS_OUTER] = { OP_JUMP, 24, -22 },
		[GOES_ON] = { OP_JUMP, 21, 2 },
	};
	unsigned what = (number - 1) % EVENTS + 1;

	return marker_event(events[what].op, 0, (number - 1) / EVENTS + 1, events[what].offset, events[what].distance);
}

static void begin(struct script *s, struct writer *w)
{
	put(s, w, marker_hello(0, 0));
	for (unsigned n = 1; n <= NUMBERS; n++) {
		put(s, w, marker_number_of(n, 0));
		put(s, w, event(n));
	}
	w->began = true;
}

static void put_number(struct script *s, struct writer *w, unsigned f, enum event event)
{
	put(s, w, marker_short_of(w->seq & 127, EVENTS * f + event));
}

static void call(struct script *s, struct writer *w)
{
	unsigned f = below(&s->seed, FUNCTIONS);

	put_number(s, w, f, STARTS);
	if (below(&s->seed, 2) && w->depth < DEPTH_MAX)
		w->open[w->depth++] = f;
	else
		put_number(s, w, f, RETURNS);
}

static void repeat(struct script *s, struct writer *w)
{
	unsigned which = below(&s->seed, 20);

	put_number(s, w, w->open[w->depth - 1], which > 2 ? REPEATS_INNER : which ? REPEATS_OUTER : GOES_ON);
}

/* A loop that calls what returns at once, one function or some. */
static void go_round(struct script *s, struct writer *w)
{
	unsigned some = 1 + below(&s->seed, FUNCTIONS), times = below(&s->seed, 8);

	for (unsigned i = 0; i < times; i++) {
		unsigned f = below(&s->seed, some);

		put_number(s, w, f, STARTS);
		put_number(s, w, f, RETURNS);
		if (w->depth && below(&s->seed, 2))
			repeat(s, w);
	}
}

static void step(struct script *s, struct writer *w)
{
	unsigned what = below(&s->seed, 110);

	if (what < 50 || !w->depth)
		call(s, w);
	else if (what < 75)
		repeat(s, w);
	else if (what < 97)
		put_number(s, w, w->open[--w->depth], RETURNS);
	else if (what < 98)
		put_number(s, w, below(&s->seed, FUNCTIONS), RETURNS);
	else if (what < 99)
		w->seq += 3;
	else if (what < 100)
		put(s, w, marker_wait(WAIT_FOR_GIL, w->waits = !w->waits));
	else
		go_round(s, w);
}

static int feed(struct decoder *d, struct script *s, struct writer *w)
{
	struct word_run run = { PID, w->tid, 0, RUN_WORDS };
	uint32_t n = 1 + below(&s->seed, 40);
	uint64_t in_ns = below(&s->seed, 2) ? 0 : 11ull << 30;

	s->words.n = 0;
	if (!w->began)
		begin(s, w);
	while (s->words.n < n)
		step(s, w);
	run.n = s->words.n;
	return decode_words(d, &run, &s->words, 0, in_ns);
}

/* --- what came of it */

struct told {
	struct sink sink;
	FILE *to;
	uint64_t until_ns;
	uint32_t together; /* calls that were told so */
	struct sums {
		uint64_t n, ns, cycles, depths;
	} sums[FUNCTIONS + 1];
};

static int enter(struct sink *s, const struct activation *a)
{
	fprintf(((struct told *)s)->to, "+%u/%u@%" PRIu64 ",%" PRIu64 "\n", a->code->id, a->depth, a->start_ns,
		a->start_cycles);
	return 0;
}

static int leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t ns, uint64_t cycles)
{
	fprintf(((struct told *)s)->to, "-%u/%u %d@%" PRIu64 ",%" PRIu64 " %" PRIu64 ",%" PRIu64 "\n", a->code->id,
		a->depth, how, ns, cycles, a->callee_ns, a->callee_cycles);
	return 0;
}

/* Of those that hear of sums. */
static void add(struct told *t, const struct activation *a, uint64_t n, uint64_t ns, uint64_t cycles)
{
	struct sums *sums = &t->sums[a->code->id];

	sums->n += n;
	sums->ns += ns;
	sums->cycles += cycles;
	sums->depths += n * a->depth;
}

static int leave_sum(struct sink *s, const struct activation *a, enum leave_how how, uint64_t ns, uint64_t cycles)
{
	(void)how;
	add((struct told *)s, a, 1, ns - a->start_ns, cycles - a->start_cycles);
	return 0;
}

static int add_calls(struct sink *s, const struct activation *first, const struct call_sums *sums)
{
	struct told *t = (struct told *)s;

	assert_true(sums->n && first->start_ns + sums->ns < t->until_ns);
	add(t, first, sums->n, sums->ns, sums->cycles);
	t->together += sums->n;
	return 0;
}

/* Now and then not at all. */
static uint64_t calls_until(struct sink *s, const struct activation *caller)
{
	struct told *t = (struct told *)s;

	t->until_ns = (caller->start_ns / 1024 + 2) * 1024;
	return t->until_ns % 5 ? t->until_ns : 0;
}

static void write_sums(const struct told *t)
{
	for (unsigned i = 0; i <= FUNCTIONS; i++)
		fprintf(t->to, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t->sums[i].n, t->sums[i].ns,
			t->sums[i].cycles, t->sums[i].depths);
}

static void free_told(struct sink *s)
{
	(void)s;
}

static void write_range(FILE *to, const struct stat_sum *s)
{
	fprintf(to, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, s->n, s->min, s->max, stat_quantile(s, 0.5));
}

static void write_loops(FILE *to, const struct function *f)
{
	for (uint32_t i = 0; i < f->nloops; i++)
		fprintf(to, " loop %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g", f->loops[i]->iterations,
			f->loops[i]->time, f->loops[i]->own_time, f->loops[i]->cycles.sum,
			spread_deviation(&f->loops[i]->cycles.spread));
	for (uint32_t i = 0; i < f->nloops; i++) {
		write_range(to, &f->loops[i]->cycles);
		write_range(to, &f->loops[i]->trips);
	}
}

static void write_function(FILE *to, const struct function *f)
{
	fprintf(to, "%" PRIu64 " %" PRIu64 " recursive, %" PRIu64 " unfinished; ns %" PRIu64 " %" PRIu64, f->calls,
		f->recursive_calls, f->unfinished, f->total_ns, f->self_ns);
	fprintf(to, " cycles %" PRIu64 " %" PRIu64 " %.17g gil %" PRIu64, f->total_cycles, f->self_cycles,
		spread_deviation(&f->self_spread), f->gil_held_ns);
	fprintf(to, " events %" PRIu64 " %" PRIu64 " %" PRIu64, f->events[OP_PY_START], f->events[OP_PY_RETURN],
		f->events[OP_JUMP]);
	write_loops(to, f);
	fputc('\n', to);
}

static void write_all(FILE *to, const struct trace *t, const struct process *p)
{
	for (unsigned id = 1; id <= FUNCTIONS; id++)
		write_function(to, codes_own(p, id)->function);
	fprintf(to, "%" PRIu64 " starts, %" PRIu64 " backwards, %" PRIu64 " missing, held",
		t->profile.events[OP_PY_START], t->profile.backwards, p->missing);
	for (uint32_t i = 0; i < t->profile.threads; i++)
		fprintf(to, " %" PRIu64, t->profile.thread_totals[i].gil_held_ns);
	fputc('\n', to);
}

/* What sinks have a use for that need only times. */
static void write_times(FILE *to, const struct trace *t, const struct process *p)
{
	for (unsigned id = 1; id <= FUNCTIONS; id++) {
		const struct function *f = codes_own(p, id)->function;

		fprintf(to, "%" PRIu64 " calls, %" PRIu64 " ns", f->calls, f->self_ns);
		for (uint32_t i = 0; i < f->nloops; i++)
			fprintf(to, " loop %" PRIu64 " %" PRIu64 " %" PRIu64, f->loops[i]->entries,
				f->loops[i]->iterations, f->loops[i]->own_time);
		fputc('\n', to);
	}
	for (unsigned op = 0; op <= OP_EVENT_LAST; op++)
		fprintf(to, " %" PRIu64, t->profile.events[op]);
	fprintf(to, " events, %" PRIu64 " missing\n", p->missing);
}

enum tells { TELLS_NOBODY, TELLS_EACH, TELLS_SUMS, TELLS_TIMES };

/* All that is told of the same words; free() it. *together: how many calls were told in sums. */
static char *run(uint64_t seed, const struct quick_feed *quick, enum tells tells, bool only_times, uint32_t *together)
{
	static const struct sink_ops ops[] = {
		[TELLS_EACH] = { .enter = enter, .leave = leave, .free = free_told },
		[TELLS_SUMS] = { .leave = leave_sum,
				 .calls = add_calls,
				 .calls_until = calls_until,
				 .free = free_told },
		[TELLS_TIMES] = { .only_times = true, .free = free_told },
	};
	struct writer writers[] = { { .tid = 7 }, { .tid = 8 } };
	struct script *s = calloc(1, sizeof(*s));
	struct told told = { .sink.ops = &ops[tells] };
	struct codes codes;
	struct decoder d;
	struct trace t;
	char *text;
	size_t size;

	assert_non_null(s);
	told.to = open_memstream(&text, &size);
	assert_int_equal(codes_init(&codes, NULL), 0);
	for (int64_t i = 0; i < FUNCTIONS; i++)
		codes_intern(codes_process(&codes, PID), "a.py", (char[]){ 'a' + i, 0 }, 10 * i + 1);
	trace_init(&t, &codes, tells ? &told.sink : NULL);
	decode_init(&d, &codes, trace_feed, quick, &t);
	s->seed = seed;
	s->ns = 1000;
	for (unsigned i = 0; i < RUNS; i++)
		assert_int_equal(feed(&d, s, &writers[below(&s->seed, 2)]), 0);
	assert_int_equal(decode_finish(&d), 0);
	assert_int_equal(trace_finish(&t, false), 0);
	(only_times ? write_times : write_all)(told.to, &t, codes_process(&codes, PID));
	write_sums(&told);
	fclose(told.to);
	*together += told.together;
	trace_free(&t);
	decode_free(&d);
	codes_free(&codes);
	free(s);
	return text;
}

static void test_as_with_samples(void **state)
{
	uint32_t none = 0, together = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		char *with = run(seed, NULL, seed % 3, false, &none),
		     *without = run(seed, &trace_quick_feed, seed % 3, false, &together);

		assert_string_equal(without, with);
		free(with);
		free(without);
	}
	assert_int_equal(none, 0);
	assert_true(together > 1000);
}

/* Where nothing else is asked for, these are what they are where all is. */
static void test_only_times(void **state)
{
	uint32_t none = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		char *all = run(seed, NULL, TELLS_NOBODY, true, &none),
		     *times = run(seed, &trace_quick_feed, TELLS_TIMES, true, &none);

		assert_string_equal(times, all);
		free(all);
		free(times);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_with_samples),
		cmocka_unit_test(test_only_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
