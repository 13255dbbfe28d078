/* SPDX-License-Identifier: MIT */
/*
 * test_timeline.c - what a timeline leaves out, and that it says so; its content is read back as JSON.
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
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "model/profile.h"
#include "timeline/sink_perfetto.h"
#include "timeline/timeline.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char dir[] = "/tmp/ocular-test-timeline-XXXXXX";
static char path[sizeof(dir) + 32];
static struct codes codes;
static struct process *process;
static struct code *f, *g;
static struct loop loop;

static int setup(void **state)
{
	(void)state;
	codes_init(&codes, NULL);
	process = codes_process(&codes, 1);
	process->whole = true;
	f = codes_intern(process, "a.py", "f", 1);
	g = codes_intern(process, "a.py", "g", 2);
	loop = (struct loop){ .code = f, .head = 10 };
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	codes_free(&codes);
	return rmdir(dir);
}

static struct sink *open_sink(const char *name, struct sink_options o)
{
	struct sink *s = NULL;
	char error[SINK_ERROR];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	o.path = path;
	assert_int_equal(sink_perfetto_open(&s, &o, error), 0);
	return s;
}

static uint64_t close_sink(struct sink *s)
{
	struct profile p = { .codes = &codes };
	struct stat st;

	assert_int_equal(s->ops->finish(s, &p), 0);
	s->ops->free(s);
	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static json_t *read_events(void)
{
	static char text[4 << 20];
	gzFile in = gzopen(path, "r"); /* reads plain files, too */
	int n = gzread(in, text, sizeof(text) - 1);
	json_t *events;

	assert_true(n > 0 && n < (int)sizeof(text) - 1);
	gzclose(in);
	events = json_loadb(text, n, 0, NULL);
	assert_non_null(events);
	unlink(path);
	return events;
}

/* --- a thread ----------------------------------------------------------------------------------------- */

struct thread {
	struct sink *s;
	int32_t tid;
	struct activation stack[64];
	unsigned n;
};

static void sample(struct thread *t, unsigned op, struct code *code, int64_t offset, uint64_t ns)
{
	struct sample sample = { .op = op, .pid = 1, .tid = t->tid, .code = code, .offset = offset, .time = ns };

	assert_int_equal(t->s->ops->sample(t->s, &sample), 0);
}

static void enter_at(struct thread *t, unsigned op, struct code *code, int64_t offset, uint64_t ns)
{
	struct activation *a = &t->stack[t->n++];

	sample(t, op, code, offset, ns);
	*a = (struct activation){ .pid = 1, .tid = t->tid, .code = code, .op = op, .start_ns = ns, .start_cycles = ns };
	assert_int_equal(t->s->ops->enter(t->s, a), 0);
}

static void leave_at(struct thread *t, unsigned op, enum leave_how how, int64_t offset, uint64_t ns)
{
	struct activation *a = &t->stack[--t->n];

	sample(t, op, a->code, offset, ns);
	assert_int_equal(t->s->ops->leave(t->s, a, how, ns, ns), 0);
}

static void enter(struct thread *t, struct code *code, uint64_t ns)
{
	enter_at(t, OP_PY_START, code, 0, ns);
}

static void leave(struct thread *t, uint64_t ns)
{
	leave_at(t, OP_PY_RETURN, LEAVE_RETURN, 90, ns);
}

static void trip(struct thread *t, uint64_t number, uint64_t from, uint64_t to)
{
	struct trip trip = {
		.loop = &loop,
		.in = &t->stack[t->n - 1],
		.number = number,
		.timed = number > 1,
		.end_ns = to,
		.ns = number > 1 ? to - from : 0,
		.cycles = to - from,
	};

	sample(t, OP_JUMP, t->stack[t->n - 1].code, 50, to);
	assert_int_equal(t->s->ops->iterate(t->s, &trip), 0);
}

/* --- what is in the file ------------------------------------------------------------------------------ */

static const char *string(json_t *event, const char *key)
{
	const char *s = json_string_value(json_object_get(event, key));

	return s ? s : "";
}

static json_int_t argument(json_t *event, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(event, "args"), key));
}

/* Events of a phase, with a name if that is given. */
static unsigned count(json_t *events, const char *phase, const char *name)
{
	unsigned n = 0, i;
	json_t *event;

	json_array_foreach (events, i, event)
		n += !strcmp(string(event, "ph"), phase) && (!name || !strcmp(string(event, "name"), name));
	return n;
}

static json_t *find(json_t *events, const char *phase, const char *name)
{
	unsigned i;
	json_t *event;

	json_array_foreach (events, i, event)
		if (!strcmp(string(event, "ph"), phase) && !strcmp(string(event, "name"), name))
			return event;
	return NULL;
}

static uint64_t ns_of(json_t *event, const char *key)
{
	return json_number_value(json_object_get(event, key)) * 1000 + 0.4;
}

static void test_short_ones_are_left_out(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ .min_ns = 100 }), 2, { { 0 } }, 0 };
	json_t *events, *left_out;

	(void)state;
	enter(&t, f, 1000);
	enter(&t, g, 1010);
	leave(&t, 1050); /* 40 ns */
	trip(&t, 1, 1000, 1060);
	trip(&t, 2, 1060, 1100);
	enter(&t, g, 1110);
	enter(&t, g, 1115);
	leave(&t, 1220); /* 105, and so the one around it */
	leave(&t, 1221);
	trip(&t, 3, 1100, 1230);
	leave(&t, 1240);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(count(events, "B", "f"), 1);
	assert_int_equal(count(events, "B", "g"), 2);
	assert_int_equal(count(events, "E", NULL), 3);
	assert_int_equal(argument(find(events, "E", "f"), "calls"), 2); /* those left out, too */
	assert_int_equal(ns_of(find(events, "B", "g"), "ts"), 110);
	assert_int_equal(count(events, "i", "loop f+10"), 1);
	left_out = find(events, "i", "LEFT OUT: --min-duration");
	assert_non_null(left_out);
	assert_int_equal(argument(left_out, "slices"), 1);
	assert_int_equal(argument(left_out, "trips"), 1);
	assert_int_equal(argument(left_out, "ns"), 100);
	json_decref(events);
}

/* A gap is shown, and with it what it is in, whatever its length. */
static void test_a_gap_is_shown(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ .min_ns = 1000 }), 2, { { 0 } }, 0 };
	struct sample gap = { .op = SAMPLE_GAP, .pid = 1, .tid = 2, .time = 20, .count = 3 };
	json_t *events;

	(void)state;
	enter(&t, f, 10);
	assert_int_equal(t.s->ops->gap(t.s, &gap), 0);
	leave(&t, 30);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(count(events, "B", "f"), 1);
	assert_int_equal(ns_of(find(events, "B", "f"), "ts"), 0);
	assert_int_equal(argument(find(events, "i", "GAP: events lost"), "count"), 3);
	assert_null(find(events, "i", "LEFT OUT: --min-duration"));
	json_decref(events);
}

static void test_trips_as_slices(void **state)
{
	struct thread t = {
		open_sink("t.json", (struct sink_options){ .iterations = ITERATIONS_SLICES }), 2, { { 0 } }, 0
	};
	json_t *events, *x;

	(void)state;
	enter(&t, f, 1000);
	trip(&t, 1, 1000, 1100);
	enter(&t, g, 1100); /* the clock is coarse */
	leave(&t, 1100);
	trip(&t, 2, 1100, 1200);
	leave(&t, 1300);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(count(events, "X", NULL), 1);
	x = find(events, "X", "loop f+10");
	assert_int_equal(ns_of(x, "ts"), 100);
	assert_int_equal(ns_of(x, "dur"), 100);
	assert_int_equal(ns_of(find(events, "B", "g"), "ts"), 101);
	json_decref(events);
}

static void test_no_trips(void **state)
{
	struct thread t = {
		open_sink("t.json", (struct sink_options){ .iterations = ITERATIONS_NONE }), 2, { { 0 } }, 0
	};
	json_t *events;

	(void)state;
	enter(&t, f, 1000);
	trip(&t, 1, 1000, 1100);
	trip(&t, 2, 1100, 1200);
	leave(&t, 1300);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(count(events, "X", NULL) + count(events, "i", "loop f+10"), 0);
	json_decref(events);
}

/* --- resumptions -------------------------------------------------------------------------------------- */

/* A generator that yields twice, between other calls; returns how many arrows there are. */
static unsigned arrows(bool whole, bool lose)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ .whole = whole }), 2, { { 0 } }, 0 };
	struct sample gap = { .op = SAMPLE_GAP, .pid = 1, .tid = 2, .time = 20, .count = 3 };
	json_t *events, *from, *to;
	unsigned n;

	enter(&t, f, 10);
	enter(&t, g, 12);
	leave_at(&t, OP_PY_YIELD, LEAVE_YIELD, 36, 15);
	if (lose)
		assert_int_equal(t.s->ops->sample(t.s, &gap), 0);
	enter_at(&t, OP_PY_RESUME, g, 38, 30);
	leave_at(&t, OP_PY_YIELD, LEAVE_YIELD, 36, 31);
	enter_at(&t, OP_PY_THROW, g, 38, 40);
	leave(&t, 41);
	leave(&t, 50);
	close_sink(t.s);
	events = read_events();
	n = count(events, "s", "resume");
	assert_int_equal(count(events, "f", "resume"), n);
	from = find(events, "s", "resume");
	to = find(events, "f", "resume");
	if (n) {
		assert_int_equal(ns_of(from, "ts"), 2); /* in the slice that yielded */
		assert_int_equal(ns_of(to, "ts"), 20);
		assert_true(json_equal(json_object_get(from, "id"), json_object_get(to, "id")));
	}
	json_decref(events);
	return n;
}

static void test_resumptions(void **state)
{
	(void)state;
	assert_int_equal(arrows(true, false), 2);
	assert_int_equal(arrows(true, true), 0);
	assert_int_equal(arrows(false, false), 0);
	process->whole = false;
	assert_int_equal(arrows(true, false), 0);
	process->whole = true;
}

/* A yield of an activation that was never seen: another one is suspended there, too. */
static void test_unseen_activations_count(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ .whole = true }), 2, { { 0 } }, 0 };
	json_t *events;

	(void)state;
	sample(&t, OP_PY_YIELD, g, 36, 5);
	enter(&t, f, 10);
	enter(&t, g, 12);
	leave_at(&t, OP_PY_YIELD, LEAVE_YIELD, 36, 15);
	enter_at(&t, OP_PY_RESUME, g, 38, 30);
	leave(&t, 41);
	leave(&t, 50);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(count(events, "s", NULL), 0);
	json_decref(events);
}

/* --- size --------------------------------------------------------------------------------------------- */

/* Slices of all depths on two threads; returns how many. */
static unsigned fill(struct sink *s, struct thread *threads, unsigned steps)
{
	unsigned slices = 0;

	srand(7);
	for (unsigned i = 0; i < steps; i++) {
		struct thread *t = &threads[rand() % 2];

		if (t->n < 30 && (!t->n || rand() % 2)) {
			enter(t, rand() % 2 ? f : g, 1000 + 10 * i);
			slices++;
		} else {
			leave(t, 1000 + 10 * i);
		}
	}
	for (unsigned i = 0; i < 2; i++)
		while (threads[i].n)
			leave(&threads[i], 1000 + 10 * steps + threads[i].n);
	(void)s;
	return slices;
}

static void keeps_within(const char *name, uint64_t most, bool read)
{
	struct sink *s = open_sink(name, (struct sink_options){ .max_size = most });
	struct thread threads[2] = { { s, 2, { { 0 } }, 0 }, { s, 3, { { 0 } }, 0 } };
	unsigned slices = fill(s, threads, 20000);
	uint64_t size = close_sink(s);
	json_t *events, *left_out;

	if (size > most)
		fail_msg("%s: %lu bytes of %lu", name, (unsigned long)size, (unsigned long)most);
	if (size <= most / 3) /* and it is used */
		fail_msg("%s: only %lu bytes of %lu", name, (unsigned long)size, (unsigned long)most);
	if (!read) {
		unlink(path);
		return;
	}
	events = read_events();
	left_out = find(events, "i", "LEFT OUT: --max-size");
	assert_non_null(left_out);
	assert_int_equal(count(events, "B", NULL), count(events, "E", NULL));
	assert_int_equal(count(events, "B", NULL) + argument(left_out, "slices"), slices);
	assert_int_equal(argument(left_out, "bytes"), most);
	json_decref(events);
}

static void test_size_is_kept(void **state)
{
	(void)state;
	for (uint64_t most = 16384; most < 700000; most += most / 2 + 77)
		keeps_within("t.json", most, true);
	keeps_within("t.json.gz", 16384, true);
	keeps_within("t.json.gz", 50001, true);
	keeps_within("t.pftrace", 16384, false);
	keeps_within("t.pftrace", 30001, false);
	keeps_within("t.pftrace.gz", 20000, false);
}

/* 20,000 short calls fill ten such files; a long one behind them is there, and what is not is told. */
static void test_the_longest_are_kept(void **state)
{
	struct sink *s = open_sink("t.json", (struct sink_options){ .max_size = 200000 });
	struct thread t = { s, 2, { { 0 } }, 0 };
	json_t *events, *left_out;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		enter(&t, g, 1000 + 200 * i);
		leave(&t, 1100 + 200 * i);
	}
	enter(&t, f, 5000000);
	leave(&t, 9000000);
	assert_true(close_sink(s) <= 200000);
	events = read_events();
	left_out = find(events, "i", "LEFT OUT: --max-size");
	assert_non_null(find(events, "B", "f"));
	assert_non_null(find(events, "E", "f"));
	assert_int_equal(argument(left_out, "slices") + count(events, "B", NULL), 20001);
	assert_int_equal(argument(left_out, "shorter_than_ns"), 1000);
	json_decref(events);
}

static void test_nothing_is_left_out_where_all_fits(void **state)
{
	struct sink *s = open_sink("t.json", (struct sink_options){ .max_size = 64 << 20 });
	struct thread threads[2] = { { s, 2, { { 0 } }, 0 }, { s, 3, { { 0 } }, 0 } };
	unsigned slices = fill(s, threads, 2000);
	json_t *events;

	(void)state;
	close_sink(s);
	events = read_events();
	assert_int_equal(count(events, "B", NULL), slices);
	assert_null(find(events, "i", "LEFT OUT: --max-size"));
	json_decref(events);
}

/* --- instructions of a window -------------------------------------------------------------------------- */

static struct instr instrs[] = { { .offset = 0, .line = 5 }, { .offset = 2, .line = 6 } };

static void run_instructions(struct sink *s, uint64_t n)
{
	struct sample one = { .op = OP_INSTRUCTION, .opcode = 7, .pid = 1, .tid = 2, .code = f, .time = 1000 };

	f->instrs = instrs;
	f->ninstrs = COUNT(instrs);
	process->opnames[7] = "LOAD_\"7\"";
	for (uint64_t i = 0; i < n; i++) {
		one.offset = 2 * (i & 1);
		one.time = one.cycles = 1000 + 3 * i;
		assert_int_equal(s->ops->sample(s, &one), 0);
	}
}

static void forget_instructions(void)
{
	process->opnames[7] = NULL;
	f->instrs = NULL;
	f->ninstrs = 0;
}

/* Each until the next begins, on a line of its own; the last one's end is not known. */
static void test_instructions_of_a_window(void **state)
{
	struct sink *s = open_sink("t.json", (struct sink_options){ .zoomed = true });
	json_t *events, *slice;

	(void)state;
	run_instructions(s, 4);
	close_sink(s);
	events = read_events();
	assert_int_equal(count(events, "X", NULL), 3);
	slice = find(events, "X", "LOAD_\"7\"");
	assert_int_equal(ns_of(slice, "ts"), 0);
	assert_int_equal(argument(slice, "cycles"), 3);
	assert_int_equal(argument(slice, "line"), 5);
	assert_int_equal(json_integer_value(json_object_get(slice, "tid")), 2 | TIMELINE_LINE(LINE_OPCODES));
	json_decref(events);
	s = open_sink("t.json", (struct sink_options){ .whole = true });
	run_instructions(s, 4);
	close_sink(s);
	events = read_events();
	assert_int_equal(count(events, "X", NULL), 0);
	json_decref(events);
	forget_instructions();
}

/* What ran when words went missing did not run until the next instruction. */
static void test_a_gap_ends_an_instruction(void **state)
{
	struct sink *s = open_sink("t.json", (struct sink_options){ .zoomed = true });
	struct sample gap = { .op = SAMPLE_GAP, .pid = 1, .tid = 2, .time = 1008, .count = 1 };
	json_t *events;

	(void)state;
	run_instructions(s, 2);
	assert_int_equal(s->ops->sample(s, &gap), 0);
	run_instructions(s, 1);
	close_sink(s);
	events = read_events();
	assert_int_equal(count(events, "X", NULL), 1);
	json_decref(events);
	forget_instructions();
}

/* A window that is too long shows its beginning, and says how many are missing. */
static void test_too_many_instructions(void **state)
{
	struct sink *s = open_sink("t.json", (struct sink_options){ .zoomed = true });
	unsigned slices = 0, told = 0;
	char line[1024];
	FILE *in;

	(void)state;
	run_instructions(s, TIMELINE_OPCODES + 12);
	close_sink(s);
	in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		slices += !!strstr(line, "\"cat\":\"opcode\"");
		told += strstr(line, "LEFT OUT: opcodes") && strstr(line, "{\"limit\":100000,\"opcodes\":11}");
	}
	fclose(in);
	unlink(path);
	assert_int_equal(slices, TIMELINE_OPCODES);
	assert_int_equal(told, 1);
	forget_instructions();
}

static void edge(struct thread *t, uint64_t number, bool end, unsigned kind, uint64_t ns)
{
	struct sample s = {
		.op = OP_SNAPSHOT, .pid = 1, .tid = t->tid, .ends = end, .number = number, .window = kind, .time = ns
	};

	assert_int_equal(t->s->ops->segment(t->s, &s), 0);
}

/* Those of which there is something; one that was asked for earlier than the one before it takes no time. */
static void test_snapshots(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ 0 }), 2, { { 0 } }, 0 };
	struct snapshot all[] = {
		{ .number = 1, .from_ns = 900, .at_ns = 1100, .label = "a", .trigger = "signal" },
		{ .number = 2,
		  .from_ns = 1050,
		  .at_ns = 1060,
		  .label = "b \"",
		  .trigger = "call",
		  .data = "{\"x\": 7}" },
		{ .number = 3, .from_ns = 1100, .at_ns = 1200, .label = "elsewhere" },
		{ .number = 4, .from_ns = 1200, .at_ns = 1300 },
	};
	json_t *events, *data;

	(void)state;
	edge(&t, 1, false, 0, 1000);
	enter(&t, f, 1000);
	leave(&t, 1100);
	edge(&t, 1, true, 0, 1100);
	edge(&t, 2, false, 0, 1110);
	edge(&t, 3, false, 1, 1110); /* a window of a duty cycle */
	edge(&t, 4, true, 0, 1110);
	codes.snapshots = all;
	codes.nsnapshots = COUNT(all);
	close_sink(t.s);
	codes.snapshots = NULL;
	codes.nsnapshots = 0;
	events = read_events();
	assert_int_equal(ns_of(find(events, "B", "a"), "ts"), 0);
	assert_int_equal(ns_of(find(events, "E", "a"), "ts"), 100);
	assert_int_equal(ns_of(find(events, "B", "b \""), "ts"), 100);
	assert_int_equal(ns_of(find(events, "E", "b \""), "ts"), 100);
	assert_int_equal(argument(find(events, "E", "b \""), "number"), 2);
	data = json_object_get(json_object_get(find(events, "E", "b \""), "args"), "data");
	assert_int_equal(json_integer_value(json_object_get(data, "x")), 7);
	assert_null(find(events, "B", "elsewhere"));
	assert_int_equal(ns_of(find(events, "E", "?"), "ts"), 300);
	assert_non_null(find(events, "M", "thread_name"));
	json_decref(events);
}

/* --- spans of tasks ----------------------------------------------------------------------------------- */

static void span(struct sink *s, uint64_t task, uint64_t number, bool begins, struct code *name, uint64_t ns)
{
	/* "spans of" it is cut; no half of a character is left. */
	static struct code called = {
		.qualname = (char *)"a task of a long name, so xxxxxxxxxxxxxxxxxxxxxxx and ééééééééééééééééé"
	};
	const struct span_mark m = { .pid = 1,
				     .task = task,
				     .called = { &called, 0 },
				     .begins = begins,
				     .lost = ns == 999,
				     .number = number,
				     .name = name,
				     .ns = ns };

	assert_int_equal(s->ops->span(s, &m), 0);
}

static void task(struct sink *s, uint64_t number, int32_t tid, uint64_t from_ns, uint64_t until_ns)
{
	const struct task_mark m = {
		.pid = 1, .task = number, .kind = CRITICAL_RUNNING, .from_ns = from_ns, .until_ns = until_ns, .tid = tid
	};

	assert_int_equal(s->ops->task(s, &m), 0);
}

static const char *text_of(const json_t *event)
{
	return json_string_value(json_object_get(json_object_get(event, "args"), "name"));
}

static json_int_t pid_of(const json_t *event)
{
	return json_integer_value(json_object_get(event, "pid"));
}

/* Of the process whose name that is; 0: there is none, or more than one. */
static json_int_t process_named(const json_t *events, const char *name)
{
	json_int_t pid = 0;
	unsigned found = 0;
	const json_t *event;
	size_t i;

	json_array_foreach (events, i, event)
		if (!strcmp(json_string_value(json_object_get(event, "name")), "process_name") &&
		    !strcmp(text_of(event), name)) {
			pid = pid_of(event);
			found++;
		}
	return found == 1 ? pid : 0;
}

/* Slices of tasks in the group of that name. */
static unsigned slices_in(const json_t *events, const char *group)
{
	json_int_t pid = process_named(events, group);
	unsigned n = 0;
	const json_t *event;
	size_t i;

	json_array_foreach (events, i, event)
		n += pid && pid_of(event) == pid && !strcmp(json_string_value(json_object_get(event, "ph")), "B");
	return n;
}

static void test_tasks_are_grouped_by_their_loop(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ 0 }), 2, { { 0 } }, 0 };
	json_t *events;

	(void)state;
	sample(&t, OP_PY_START, f, 0, 10);
	task(t.s, 1, 2, 20, 30);
	task(t.s, 2, 3, 25, 35);
	task(t.s, 3, 2, 40, 50);
	task(t.s, 4, 4, 41, 51);
	task(t.s, 1, 2, 60, 70);
	task(t.s, TIMELINE_TASKS + 1, 3, 80, 90);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(slices_in(events, "tasks of thread 2 of process 1"), 3);
	assert_int_equal(slices_in(events, "tasks of thread 3 of process 1"), 2);
	assert_int_equal(slices_in(events, "tasks of thread 4 of process 1"), 1);
	assert_int_equal(process_named(events, "tasks of process 1"), 0);
	json_decref(events);
}

static void test_tasks_of_one_loop_are_the_process_s(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ 0 }), 2, { { 0 } }, 0 };
	json_t *events;

	(void)state;
	sample(&t, OP_PY_START, f, 0, 10);
	task(t.s, 1, 3, 20, 30);
	task(t.s, 2, 3, 40, 50);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(slices_in(events, "tasks of process 1"), 2);
	json_decref(events);
}

static int64_t row_of(const json_t *event)
{
	return json_integer_value(json_object_get(event, "tid")) - TIMELINE_TASK_ROWS;
}

/* f is over before g, which is in it; then one more takes its row. No row, or task 501: not shown. */
static void test_spans_of_tasks(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ 0 }), 2, { { 0 } }, 0 };
	struct code h = { .qualname = (char *)"h", .file = (char *)"", .label = true };
	struct code many = { .qualname = (char *)"m", .file = (char *)"", .label = true };
	json_t *events;

	(void)state;
	sample(&t, OP_PY_START, f, 0, 10);
	span(t.s, 1, 1, true, f, 20);
	span(t.s, 1, 2, true, g, 30);
	span(t.s, 1, 1, false, f, 40);
	span(t.s, 1, 3, true, &h, 50);
	span(t.s, 1, 2, false, g, 60);
	span(t.s, 1, 3, false, &h, 999);
	for (unsigned n = 0; n < 2 * TIMELINE_SPAN_ROWS; n++)
		span(t.s, 1, 10 + n, true, &many, 1000 + n);
	for (unsigned n = 0; n < 2 * TIMELINE_SPAN_ROWS; n++)
		span(t.s, 1, 10 + n, false, &many, 2000 + n);
	span(t.s, TIMELINE_TASKS + 1, 100, true, f, 3000);
	span(t.s, TIMELINE_TASKS + 1, 100, false, f, 3001);
	close_sink(t.s);
	events = read_events();
	assert_int_equal(row_of(find(events, "B", "f")), 1);
	assert_int_equal(ns_of(find(events, "B", "f"), "ts"), 10);
	assert_int_equal(ns_of(find(events, "E", "f"), "ts"), 30);
	assert_int_equal(row_of(find(events, "B", "g")), 2);
	assert_int_equal(ns_of(find(events, "E", "g"), "ts"), 50);
	assert_int_equal(row_of(find(events, "B", "h")), 1);
	assert_int_equal(ns_of(find(events, "E", "h"), "ts"), 989);
	assert_int_equal(row_of(find(events, "i", "NO END")), 1);
	assert_int_equal(count(events, "i", "NO END"), 1);
	assert_int_equal(count(events, "B", "f"), 1);
	assert_int_equal(count(events, "B", "m"), TIMELINE_SPAN_ROWS - 1);
	assert_int_equal(count(events, "E", "m"), TIMELINE_SPAN_ROWS - 1);
	assert_int_equal(count(events, "M", "thread_name"), TIMELINE_SPAN_ROWS - 1);
	json_decref(events);
}

static void test_short_spans_are_left_out(void **state)
{
	struct thread t = { open_sink("t.json", (struct sink_options){ .min_ns = 10 }), 2, { { 0 } }, 0 };
	json_t *events;

	(void)state;
	sample(&t, OP_PY_START, f, 0, 10);
	span(t.s, 1, 1, true, f, 20);
	span(t.s, 1, 2, true, g, 21);
	span(t.s, 1, 2, false, g, 30);
	span(t.s, 1, 1, false, f, 31);
	close_sink(t.s);
	events = read_events();
	assert_non_null(find(events, "E", "f"));
	assert_null(find(events, "B", "g"));
	assert_int_equal(argument(find(events, "i", "LEFT OUT: --min-duration"), "slices"), 1);
	json_decref(events);
}

/* --- calls that return at once ------------------------------------------------------------------------------- */

/* As one event, or as a beginning and an end. */
static void call(struct thread *t, bool whole, struct code *code, uint64_t from, uint64_t to)
{
	struct activation a = {
		.pid = 1, .tid = t->tid, .code = code, .op = OP_PY_START, .start_ns = from, .start_cycles = from
	};

	sample(t, OP_PY_START, code, 0, from);
	if (whole) {
		assert_int_equal(t->s->ops->call(t->s, &a, to, to), 0);
		return;
	}
	assert_int_equal(t->s->ops->enter(t->s, &a), 0);
	assert_int_equal(t->s->ops->leave(t->s, &a, LEAVE_RETURN, to, to), 0);
}

/* Calls of what is new, known, an import, and a span; in a caller and in none; of no time, and of 2 ms. */
static char *file_of_calls(const char *name, struct sink_options o, bool whole, size_t *size)
{
	struct code *codes_of[] = { f, codes_intern(process, "b.py", "_find_and_load", 5),
				    codes_intern(process, CODE_SUBJECT_FILE, "a span", 0), g };
	struct thread t = { .s = open_sink(name, o), .tid = 1 };
	char *bytes = malloc(1 << 20);
	FILE *in;

	codes_of[2]->label = true;
	call(&t, whole, f, 1000, 1100);
	enter(&t, g, 2000);
	call(&t, whole, f, 2000, 2000);
	trip(&t, 1, 2000, 2100);
	for (uint64_t i = 0; i < 400; i++)
		call(&t, whole, codes_of[i % COUNT(codes_of)], 3000 + i * 10000, 3000 + i * 10000 + i * i % 9000);
	trip(&t, 2, 2100, 4003000);
	call(&t, whole, f, 4004000, 6004000);
	leave(&t, 6005000);
	close_sink(t.s);
	in = fopen(path, "r");
	*size = fread(bytes, 1, 1 << 20, in);
	fclose(in);
	unlink(path);
	return bytes;
}

static void test_calls_at_once_are_as_others(void **state)
{
	static const struct sink_options options[] = {
		{ .iterations = ITERATIONS_INSTANTS, .whole = true },
		{ .iterations = ITERATIONS_SLICES, .whole = true, .min_ns = 700 },
		{ .iterations = ITERATIONS_INSTANTS, .whole = true, .max_size = 16384 },
	};
	static const char *const names[] = { "t.json", "t.pftrace" };

	(void)state;
	for (size_t i = 0; i < COUNT(options) * COUNT(names); i++) {
		const char *name = names[i % COUNT(names)];
		size_t size, wanted;
		char *got = file_of_calls(name, options[i / COUNT(names)], true, &size);
		char *other = file_of_calls(name, options[i / COUNT(names)], false, &wanted);

		assert_int_equal(size, wanted);
		assert_memory_equal(got, other, size);
		free(got);
		free(other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_ones_are_left_out),
		cmocka_unit_test(test_a_gap_is_shown),
		cmocka_unit_test(test_trips_as_slices),
		cmocka_unit_test(test_no_trips),
		cmocka_unit_test(test_resumptions),
		cmocka_unit_test(test_unseen_activations_count),
		cmocka_unit_test(test_calls_at_once_are_as_others),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_tasks_are_grouped_by_their_loop),
		cmocka_unit_test(test_tasks_of_one_loop_are_the_process_s),
		cmocka_unit_test(test_spans_of_tasks),
		cmocka_unit_test(test_short_spans_are_left_out),
		cmocka_unit_test(test_size_is_kept),
		cmocka_unit_test(test_instructions_of_a_window),
		cmocka_unit_test(test_a_gap_ends_an_instruction),
		cmocka_unit_test(test_too_many_instructions),
		cmocka_unit_test(test_the_longest_are_kept),
		cmocka_unit_test(test_nothing_is_left_out_where_all_fits),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
