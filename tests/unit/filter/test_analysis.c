/* SPDX-License-Identifier: MIT */
/*
 * test_analysis.c - processes that are analysed apart and added up give what they give together: words as a random
 * program's, of a process, its fork and another one; and what cannot be added up is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "shared/marker.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

#define HEADER(pid, first, more) \
	"{\"kind\":\"header\",\"ocular\":1,\"pid\":" #pid ",\"first_id\":" #first ",\"backend\":\"software\"" more "}" \
	"\n"
#define CODE(id, name) \
	"{\"kind\":\"code\",\"id\":" #id ",\"file\":\"a.py\",\"qualname\":\"" name "\",\"line\":" #id "}\n"
#define NAMES \
	"{\"kind\":\"import\",\"id\":7,\"name\":\"json\"}\n{\"kind\":\"import\",\"id\":8,\"name\":\"re\"}\n" \
	"{\"kind\":\"exception\",\"id\":9,\"qualname\":\"KeyError\"}\n"
#define CODES CODE(1, "f") CODE(2, "g") CODE(3, "h") CODE(4, "_find_and_load") CODE(5, "<module>")

enum { FIND = 4, MODULE = 5, IMPORTED = 7, TYPE = 9, OWN = 20 };

static const struct {
	int pid;
	const char *table;
} tables[] = {
	{ 7, HEADER(7, 1, "") CODES NAMES },
	{ 8, HEADER(8, 20, ",\"parent\":7") CODE(20, "own") },
	{ 9, HEADER(9, 1, "") CODES NAMES },
	{ 10, HEADER(10, 30, ",\"parent\":8") },
};

static char dir[] = "/tmp/ocular-test-analysis-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[sizeof(dir) + 32];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static const char *table_path(int pid)
{
	char name[32];

	snprintf(name, sizeof(name), "codes-%d.jsonl", pid);
	return in_dir(name);
}

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 0; i < COUNT(tables); i++) {
		FILE *f = fopen(table_path(tables[i].pid), "w");

		if (!f || fputs(tables[i].table, f) < 0 || fclose(f))
			return -1;
	}
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++)
		unlink(table_path(tables[i].pid));
	return rmdir(dir);
}

/* --- a random program ---------------------------------------------------------------------------------------- */

static uint32_t next_number(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

struct player {
	int32_t pid, tid;
	uint8_t seq;
	bool greeted, waits, out;
	uint32_t stack[32], depth;
};

struct play {
	struct analysis *of[32]; /* by tid */
	bool no_gil;
	uint32_t seed;
	uint64_t ns;
};

static void put(struct play *p, struct player *t, uint64_t bits)
{
	struct word w = { t->pid, t->tid, p->ns, 2 * p->ns, bits | (uint64_t)(t->seq++ & 0x7f) << MARKER_SEQ_SHIFT };

	p->ns += 1 + next_number(&p->seed, 50);
	assert_int_equal(decode_word(&p->of[t->tid < 32 ? t->tid : t->pid]->decoder, &w), 0);
}

static uint32_t top(const struct player *t)
{
	return t->stack[t->depth - 1];
}

static void event(struct play *p, struct player *t, enum marker_op op, int64_t offset, int64_t dist)
{
	put(p, t, marker_event(op, 0, top(t), offset, dist));
}

static void call(struct play *p, struct player *t, uint32_t code)
{
	t->stack[t->depth++] = code;
	event(p, t, OP_PY_START, 0, 0);
}

static void leave(struct play *p, struct player *t, enum marker_op op)
{
	if (op == OP_PY_UNWIND)
		put(p, t, marker_exception(true, (uint64_t)t->tid << 16, TYPE));
	if (op == OP_PY_UNWIND)
		event(p, t, OP_RAISE, 20, 0);
	event(p, t, op, 30, 0);
	t->depth--;
	if (op == OP_PY_UNWIND && t->depth)
		event(p, t, OP_EXCEPTION_HANDLED, 10 + 2 * next_number(&p->seed, 3), 0);
}

static void import(struct play *p, struct player *t)
{
	call(p, t, FIND);
	put(p, t, marker_extension(0, KIND_IMPORT, IMPORTED + next_number(&p->seed, 2)));
	call(p, t, MODULE);
}

static void wait(struct play *p, struct player *t)
{
	uint64_t place = (uint64_t)1 << MARKER_PLACE_SHIFT | 3;

	bool is_gil = next_number(&p->seed, 2);

	t->waits = !t->waits;
	put(p, t, marker_wait(is_gil && !p->no_gil ? WAIT_FOR_GIL : WAIT_FOR_LOCK, t->waits) | (t->waits ? 0 : place));
}

static void step(struct play *p, struct player *t)
{
	uint32_t what = next_number(&p->seed, 12);

	if (!t->greeted)
		put(p, t, marker_hello(0, 0));
	t->greeted = true;
	if (!t->depth || (what < 4 && t->depth < 30))
		call(p, t, t->pid == 8 && what == 1 ? OWN : 1 + next_number(&p->seed, 3));
	else if (what < 6)
		leave(p, t, OP_PY_RETURN);
	else if (what == 6)
		leave(p, t, OP_PY_UNWIND);
	else if (what == 7 && t->depth < 28)
		import(p, t);
	else if (what == 8)
		wait(p, t);
	else if (what == 9)
		event(p, t, OP_LINE, top(t) + 1, 0);
	else if (what == 10 && next_number(&p->seed, 20) == 0)
		t->seq++; /* a word is lost */
	else
		event(p, t, OP_JUMP, 20, -5 * (1 + (int64_t)next_number(&p->seed, 2)));
}

static const int32_t ids[][2] = { { 7, 7 }, { 7, 17 }, { 8, 8 }, { 8, 18 }, { 9, 9 }, { 10, 10 } };

static void play(struct play *p, unsigned steps)
{
	struct player threads[COUNT(ids)];

	for (size_t i = 0; i < COUNT(ids); i++)
		threads[i] = (struct player){ .pid = ids[i][0], .tid = ids[i][1] };
	for (unsigned i = 0; i < steps; i++)
		step(p, &threads[next_number(&p->seed, COUNT(threads))]);
}

/* --- together and apart -------------------------------------------------------------------------------------- */

static unsigned part_of(const void *parts, int32_t pid)
{
	return pid >= 0 && pid < 32 ? ((const unsigned *)parts)[pid] : 0;
}

static bool part_has(const void *parts, int32_t pid, unsigned number)
{
	bool has = part_of(parts, pid) == number;

	for (size_t i = 0; i < COUNT(ids); i++)
		has |= ids[i][0] == pid && part_of(parts, ids[i][1]) == number;
	return has;
}

static bool parts_are_several(const void *parts, int32_t pid)
{
	unsigned n = 0;

	for (unsigned number = 0; number < 4; number++)
		n += part_has(parts, pid, number);
	return n > 1;
}

/* The summary of the program, read in so many parts, which threads are of. NULL: they could not be joined. */
static char *summary(struct play p, const unsigned part[32], unsigned parts, void (*more)(struct play *p))
{
	const struct codes_parts of = { part_of, part_has, parts_are_several, part };
	char word[sizeof(dir) + 64], error[OPTIONS_ERROR], *words[] = { word }, *text = NULL;
	struct analysis a, *each[4] = { &a };
	struct options o;
	size_t size = 0;
	FILE *f;
	int err;

	snprintf(word, sizeof(word), "summary=%s", in_dir("summary.json"));
	assert_int_equal(options_parse(&o, 1, words, error), 0);
	assert_int_equal(analysis_open(&a, &o, dir), 0);
	for (unsigned i = 1; i < parts; i++)
		assert_int_equal(analysis_open_part(&each[i], &a, &o, &of, i), 0);
	p.ns = 1000;
	for (int tid = 0; tid < 32; tid++)
		p.of[tid] = each[part[tid]];
	play(&p, 4000);
	if (more)
		more(&p);
	err = analysis_finish(&a, true);
	analysis_close(&a);
	assert_true(!err || err == -EAGAIN);
	if (err)
		return NULL;
	f = fopen(in_dir("summary.json"), "r");
	assert_non_null(f);
	assert_true(getdelim(&text, &size, 0, f) > 1000);
	fclose(f);
	unlink(in_dir("summary.json"));
	return text;
}

static const unsigned together[32];
static const unsigned apart[][32] = {
	{ [8] = 1, [18] = 1, [10] = 1 },
	{ [9] = 1 },
	{ [7] = 1, [17] = 1, [8] = 2, [18] = 2, [9] = 1, [10] = 3 },
	{ [7] = 3, [17] = 3, [10] = 3, [8] = 1, [18] = 1, [9] = 2 },
};
static const unsigned threads_apart[][32] = {
	{ [17] = 1 },
	{ [7] = 1, [8] = 1, [10] = 1 },
	{ [7] = 1, [17] = 2, [8] = 2, [18] = 3, [9] = 1, [10] = 3 },
	{ [7] = 3, [17] = 1, [10] = 3, [8] = 1, [18] = 2, [9] = 2 },
};

static void assert_add_up(bool no_gil, const unsigned parts[][32], size_t n)
{
	for (uint32_t seed = 0; seed < 8; seed++) {
		const struct play p = { .seed = seed, .no_gil = no_gil };
		char *whole = summary(p, together, 1, NULL);

		for (size_t i = 0; i < n; i++) {
			char *joined = summary(p, parts[i], 4, NULL);

			assert_non_null(joined);
			assert_string_equal(joined, whole);
			free(joined);
		}
		free(whole);
	}
}

static void test_parts_add_up(void **state)
{
	(void)state;
	assert_add_up(false, apart, COUNT(apart));
}

static void test_threads_without_a_gil_add_up(void **state)
{
	(void)state;
	assert_add_up(true, threads_apart, COUNT(threads_apart));
}

/* Who had it while others waited is in the order of time. */
static void test_threads_with_a_gil_do_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(threads_apart); i++)
		assert_null(summary((struct play){ .seed = 1 }, threads_apart[i], 4, NULL));
}

/* A word of a new thread. */
static void put_new(struct play *p, uint64_t bits)
{
	struct player t = { .pid = 9, .tid = 99 };

	put(p, &t, marker_hello(0, 0));
	put(p, &t, marker_event(OP_PY_START, 0, 1, 0, 0));
	put(p, &t, bits);
}

static void put_instruction(struct play *p)
{
	put_new(p, marker_event(OP_INSTRUCTION, 0, 1, 0, 0));
}

static void put_task(struct play *p)
{
	put_new(p, marker_subject(SUBJECT_TASK_MADE, 64));
}

static void put_request(struct play *p)
{
	put_new(p, marker_subject(SUBJECT_REQUEST_BEGUN, 64));
}

static void put_snapshot(struct play *p)
{
	put_new(p, marker_snapshot(0, 1, false));
}

/* Of a code object that is in no table: the fork's parent may have made it. */
static void put_unknown(struct play *p)
{
	put_new(p, marker_event(OP_PY_START, 0, 77, 0, 0));
}

static void put_backwards(struct play *p)
{
	put_new(p, marker_event(OP_PY_START, 0, 1, 0, 0));
	p->ns = 10;
	put(p, &(struct player){ .pid = 9, .tid = 99, .seq = 3 }, marker_event(OP_PY_RETURN, 0, 1, 0, 0));
}

static void test_what_cannot_be_added(void **state)
{
	static void (*const more[])(struct play * p) = { put_instruction, put_task,    put_request,
							 put_snapshot,	  put_unknown, put_backwards };

	(void)state;
	for (size_t i = 0; i < COUNT(more); i++)
		assert_null(summary((struct play){ .seed = 1 }, apart[2], 4, more[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_add_up),
		cmocka_unit_test(test_threads_without_a_gil_add_up),
		cmocka_unit_test(test_threads_with_a_gil_do_not),
		cmocka_unit_test(test_what_cannot_be_added),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
