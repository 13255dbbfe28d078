/* SPDX-License-Identifier: MIT */
/* test_gather.c - words that are gathered mean what they mean one by one: in one thread, and through a pipe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gather.h"
#include "pipe.h"
#include "shared/marker.h"

#define WORDS	60000
#define THREADS 3

/* What a decoder finds: runs of one word and of many, gaps, a thread that comes to a CPU. */
struct found {
	struct word word;
	enum word_run_kind kind;
};

static const struct {
	int32_t pid, tid;
} threads[THREADS] = { { 7, 7 }, { 7, 8 }, { 9, 9 } };

static uint64_t bits_of(unsigned n)
{
	uint64_t seq = n & MARKER_SEQ_MASK;

	if (!n)
		return marker_hello(seq, 0);
	return marker_event(n % 2 ? OP_PY_START : OP_PY_RETURN, seq, 3 + n % 20 / 2, n % 2 ? 0 : 4, 0);
}

/* The n-th; counts: words of each thread so far. */
static struct found find(unsigned n, unsigned *counts)
{
	unsigned t = n / 50 % 7 < 4 ? n / 700 % THREADS : n % THREADS;
	struct found f = { { threads[t].pid, threads[t].tid, 1000 + n, 0, 0 }, RUN_WORDS };

	if (n % 997 == 500)
		f.kind = RUN_GAP;
	else if (n % 1009 == 600 && counts[t])
		f.kind = RUN_CPU;
	f.word.bits = f.kind == RUN_CPU ? 1ull << 47 : f.kind == RUN_WORDS ? bits_of(counts[t]++) : 0;
	return f;
}

static int feed_one(struct analysis *a, const struct found *f)
{
	if (f->kind == RUN_GAP)
		return decode_gap(&a->decoder, f->word.pid, f->word.tid);
	return f->kind == RUN_CPU ? decode_cpu(&a->decoder, &f->word) : decode_word(&a->decoder, &f->word);
}

static int gather_one(struct gather *g, const struct found *f)
{
	if (f->kind == RUN_GAP)
		return gather_run(g, f->word.pid, f->word.tid, 0, RUN_GAP);
	return gather_word(g, &f->word, f->kind);
}

/* g: NULL: one by one. */
static void find_all(struct analysis *a, struct gather *g)
{
	unsigned counts[THREADS] = { 0 };

	for (unsigned n = 0; n < WORDS; n++) {
		struct found f = find(n, counts);

		f.word.cycles = f.word.time; /* ticks of no known clock are nanoseconds */
		assert_int_equal(g ? gather_one(g, &f) : feed_one(a, &f), 0);
	}
}

static void alone(struct analysis *a)
{
	struct gather g = gather_new();

	g.analysis = a;
	g.room = calloc(1, sizeof(*g.room));
	find_all(a, &g);
	assert_int_equal(gather_pass_on(&g), 0);
	free(g.room);
}

static void *take_all(void *to)
{
	struct gather *g = to;

	g->err = gather_take_all(g);
	return NULL;
}

static void through_a_pipe(struct analysis *a)
{
	struct gather g = gather_new();
	pthread_t thread;

	g.analysis = a;
	g.pipe = calloc(1, sizeof(*g.pipe));
	assert_int_equal(pipe_init(g.pipe), 0);
	g.room = pipe_words(g.pipe);
	assert_int_equal(pthread_create(&thread, NULL, take_all, &g), 0);
	find_all(a, &g);
	pipe_end(g.pipe);
	pthread_join(thread, NULL);
	assert_int_equal(g.err, 0);
	pipe_free(g.pipe);
	free(g.pipe);
}

static void one_by_one(struct analysis *a)
{
	find_all(a, NULL);
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	assert_non_null(f);
	assert_true(getdelim(&text, &size, '\0', f) > 0);
	fclose(f);
	return text;
}

/* The events text, or a summary, which samples are not needed for. */
static char *output_of(void (*feed)(struct analysis *), const char *key)
{
	char path[] = "/tmp/ocular-test-gather-XXXXXX", word[64], error[OPTIONS_ERROR], *text;
	char *words[] = { "console=never", word };
	struct options o;
	struct analysis a;

	close(mkstemp(path));
	snprintf(word, sizeof(word), "%s=%s", key, path);
	assert_int_equal(options_parse(&o, 2, words, error), 0);
	assert_int_equal(analysis_open(&a, &o, NULL), 0);
	feed(&a);
	assert_int_equal(analysis_finish(&a, true), 0);
	analysis_close(&a);
	text = read_file(path);
	unlink(path);
	return text;
}

static void test_gathered_or_not(void **state)
{
	static const char *const keys[] = { "events", "summary" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *expected = output_of(one_by_one, keys[i]);
		char *by_one = output_of(alone, keys[i]), *by_two = output_of(through_a_pipe, keys[i]);

		assert_string_equal(by_one, expected);
		assert_string_equal(by_two, expected);
		free(expected);
		free(by_one);
		free(by_two);
	}
}

static int refuse(void *to, const struct sample *s)
{
	(void)to;
	return s->time > 2000 ? -ENOSPC : 0;
}

static void open_refusing(struct analysis *a)
{
	assert_int_equal(analysis_open_codes(a, NULL, false), 0);
	decode_init(&a->decoder, &a->codes, refuse, NULL, NULL);
}

static void close_refusing(struct analysis *a)
{
	decode_free(&a->decoder);
	codes_free(&a->codes);
}

/* How many are gathered until it is told. */
static unsigned gather_until_told(struct gather *g)
{
	unsigned counts[THREADS] = { 0 }, n = 0;
	int err = 0;

	for (; n < 100 * WORDS && !err; n++) {
		struct found f = find(n, counts);

		err = gather_one(g, &f);
	}
	assert_int_equal(err, -ECANCELED);
	return n;
}

/* The analysis fails: what gathers hears of it, and neither waits for the other. */
static void test_failure(void **state)
{
	struct analysis a;
	struct gather g = gather_new();
	pthread_t thread;

	(void)state;
	open_refusing(&a);
	g.analysis = &a;
	g.room = calloc(1, sizeof(*g.room));
	assert_true(gather_until_told(&g) <= 3 * WORDS_MAX);
	assert_int_equal(g.err, -ENOSPC);
	free(g.room);
	close_refusing(&a);

	open_refusing(&a);
	g = gather_new();
	g.analysis = &a;
	g.pipe = calloc(1, sizeof(*g.pipe));
	assert_int_equal(pipe_init(g.pipe), 0);
	g.room = pipe_words(g.pipe);
	assert_int_equal(pthread_create(&thread, NULL, take_all, &g), 0);
	gather_until_told(&g);
	pipe_end(g.pipe);
	pthread_join(thread, NULL);
	assert_int_equal(g.err, -ENOSPC);
	pipe_free(g.pipe);
	free(g.pipe);
	close_refusing(&a);
}

/* Other processes' words take no room. */
static void test_processes(void **state)
{
	struct gather g = gather_new();

	(void)state;
	g.room = calloc(1, sizeof(*g.room));
	g.processes = "9";
	for (int32_t pid = 7; pid <= 9; pid += 2)
		assert_int_equal(gather_word(&g, &(struct word){ .pid = pid, .tid = 1, .bits = pid }, RUN_WORDS), 0);
	assert_true(g.room->n == 1 && g.room->nruns == 1 && g.room->runs[0].pid == 9 && g.room->bits[0] == 9);
	free(g.room);
}

static void test_runs(void **state)
{
	static const enum word_run_kind kinds[] = {
		RUN_WORDS, RUN_WORDS, RUN_BRANCHES, RUN_BRANCHES, RUN_CPU, RUN_CPU
	};
	struct gather g = gather_new();

	(void)state;
	g.room = calloc(1, sizeof(*g.room));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(gather_word(&g, &(struct word){ .pid = 1, .tid = 1, .bits = i }, kinds[i]), 0);
	assert_int_equal(g.room->n, 6);
	assert_int_equal(g.room->nruns, 4); /* a CPU word is a run of its own */
	assert_true(g.room->runs[1].kind == RUN_BRANCHES && g.room->runs[1].n == 2);
	free(g.room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gathered_or_not),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
