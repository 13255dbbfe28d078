/* SPDX-License-Identifier: MIT */
/*
 * test_many.c - odd traces through the report and the summary: a hundred thousand code objects with
 * names that nobody would choose, gaps between all events, a clock that jumps, next to nothing at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "code/codes_read.h"

/* With a sanitizer all of them take a minute, and after a tenth tables have grown often enough. */
#ifdef __SANITIZE_ADDRESS__
#define MANY 10000
#else
#define MANY 100000
#endif

struct made {
	struct analysis a;
	char summary[40], console[40];
	uint64_t ns;
	int kept; /* standard output, which is the console's file meanwhile */
};

static void open_made(struct made *m, bool tables)
{
	char summary[64];
	char *words[] = { "console=always", "color=never", "counts=3", summary, "loops=5", "opcodes=time" };
	struct options o;
	char error[OPTIONS_ERROR];
	int file;

	strcpy(m->summary, "/tmp/ocular-test-XXXXXX");
	close(mkstemp(m->summary));
	strcpy(m->console, "/tmp/ocular-test-XXXXXX");
	fflush(stdout);
	m->kept = dup(STDOUT_FILENO);
	file = mkstemp(m->console);
	assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
	close(file);
	snprintf(summary, sizeof(summary), "summary=%s", m->summary);
	assert_int_equal(options_parse(&o, tables ? 6 : 5, words, error), 0);
	assert_int_equal(analysis_open(&m->a, &o, NULL), 0);
	m->ns = 1000;
}

static void feed(struct made *m, struct code *code, unsigned op, int64_t offset, int64_t target)
{
	struct sample s = {
		.op = op,
		.pid = 1,
		.tid = 1,
		.time = m->ns,
		.cycles = m->ns,
		.code = code,
		.offset = offset,
		.target = target,
		.count = 1,
	};

	assert_int_equal(trace_feed(&m->a.trace, &s), 0);
}

/* Ends it, and gives back what the summary says; the report is left in m->console. */
static json_t *finish(struct made *m)
{
	int err = analysis_finish(&m->a, false);
	json_t *summary;

	analysis_close(&m->a);
	dup2(m->kept, STDOUT_FILENO);
	close(m->kept);
	assert_int_equal(err, 0);
	summary = json_load_file(m->summary, 0, NULL);
	assert_non_null(summary);
	return summary;
}

static bool console_has(const struct made *m, const char *text)
{
	FILE *f = fopen(m->console, "r");
	char line[4096];
	bool found = false;

	while (fgets(line, sizeof(line), f))
		found |= strstr(line, text) != NULL;
	fclose(f);
	return found;
}

static void remove_made(const struct made *m)
{
	unlink(m->summary);
	unlink(m->console);
}

static json_int_t number(json_t *o, const char *object, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(o, object), key));
}

static struct code *make_code(struct process *p, uint32_t id)
{
	static const char *const odd[] = { "<script>alert(1)</script>", "\"\\\n\x01\x1b[31m", "\xff\xfe", "plain" };
	struct code *code = codes_add(p, id);

	assert_non_null(code);
	code->file = pool_text(&p->pool, "many.py", strlen("many.py"));
	code->known = true;
	code->firstlineno = id;
	if (id % 1000)
		code->qualname = pool_text(&p->pool, odd[id % 4], strlen(odd[id % 4]));
	else
		code->qualname = memset(pool_take(&p->pool, 10001), 'q', 10000);
	return code;
}

static void test_a_hundred_thousand_code_objects(void **state)
{
	struct made m;
	struct process *p;
	json_t *summary;

	(void)state;
	open_made(&m, false);
	p = codes_process(&m.a.codes, 1);
	for (uint32_t id = 1; id <= MANY; id++) {
		struct code *code = make_code(p, id);

		feed(&m, code, OP_PY_START, 0, -1);
		for (int trip = 0; trip < 3; trip++, m.ns += 10)
			feed(&m, code, OP_JUMP, 20, 10);
		feed(&m, code, OP_PY_RETURN, 30, -1);
	}
	summary = finish(&m);
	assert_int_equal(json_array_size(json_object_get(summary, "functions")), MANY);
	assert_int_equal(json_array_size(json_object_get(summary, "loops")), MANY);
	assert_int_equal(number(summary, "events", "JUMP"), 3 * MANY);
	assert_true(console_has(&m, "function, by self time"));
	assert_false(console_has(&m, "\x1b"));
	json_decref(summary);
	remove_made(&m);
}

static void test_gaps_everywhere(void **state)
{
	struct made m;
	struct code *code;
	json_t *summary, *loop;

	(void)state;
	open_made(&m, true);
	code = make_code(codes_process(&m.a.codes, 1), 3);
	for (int i = 0; i < 1000; i++, m.ns += 10) {
		feed(&m, code, i % 2 ? OP_JUMP : OP_PY_START, i % 2 ? 20 : 0, i % 2 ? 10 : -1);
		feed(&m, NULL, SAMPLE_GAP, 0, -1);
	}
	summary = finish(&m);
	loop = json_array_get(json_object_get(summary, "loops"), 0);
	assert_int_equal(number(summary, "losses", "gaps"), 1000);
	assert_int_equal(json_integer_value(json_object_get(loop, "iterations")), 500);
	assert_int_equal(json_integer_value(json_object_get(loop, "timed")), 0);
	assert_int_equal(number(summary, "trace", "outside_ns"), number(summary, "trace", "traced_ns"));
	assert_true(console_has(&m, "1000  gaps"));
	assert_true(console_has(&m, "500 of them were not seen to end"));
	json_decref(summary);
	remove_made(&m);
}

/* Back by a second, on by three hundred years: nothing is negative, nothing more than all there is. */
static void test_a_clock_that_jumps(void **state)
{
	struct made m;
	struct code *code;
	json_t *summary, *loop;

	(void)state;
	open_made(&m, true);
	m.ns = 5000000000;
	code = make_code(codes_process(&m.a.codes, 1), 3);
	feed(&m, code, OP_PY_START, 0, -1);
	for (int i = 0; i < 10; i++) {
		m.ns = i == 3 ? m.ns - 1000000000 : i == 6 ? UINT64_MAX / 2 : m.ns + 10;
		feed(&m, code, OP_JUMP, 20, 10);
	}
	feed(&m, code, OP_PY_RETURN, 30, -1);
	summary = finish(&m);
	loop = json_array_get(json_object_get(summary, "loops"), 0);
	assert_int_equal(number(summary, "losses", "backwards"), 3);
	assert_int_equal(json_integer_value(json_object_get(loop, "iterations")), 10);
	assert_true(json_real_value(json_object_get(loop, "share")) <= 1);
	assert_int_equal(number(loop, "cycles", "min"), 0);
	assert_int_equal(number(summary, "trace", "traced_ns"), UINT64_MAX / 2 + 30 - 5000000000);
	json_decref(summary);
	remove_made(&m);
}

static void test_one_event(void **state)
{
	struct made m;
	json_t *summary;

	(void)state;
	open_made(&m, true);
	feed(&m, make_code(codes_process(&m.a.codes, 1), 3), OP_INSTRUCTION, 0, -1);
	summary = finish(&m);
	assert_int_equal(number(summary, "events", "INSTRUCTION"), 1);
	assert_int_equal(number(summary, "opcodes", "unknown_count"), 1);
	assert_true(console_has(&m, "No opcode is known."));
	json_decref(summary);
	remove_made(&m);
}

static void test_no_event(void **state)
{
	struct made m;
	json_t *summary;

	(void)state;
	open_made(&m, true);
	summary = finish(&m);
	assert_int_equal(json_object_size(json_object_get(summary, "events")), 0);
	assert_int_equal(json_array_size(json_object_get(summary, "functions")), 0);
	assert_true(console_has(&m, "no event"));
	json_decref(summary);
	remove_made(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hundred_thousand_code_objects),
		cmocka_unit_test(test_gaps_everywhere),
		cmocka_unit_test(test_a_clock_that_jumps),
		cmocka_unit_test(test_one_event),
		cmocka_unit_test(test_no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
