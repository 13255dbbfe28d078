/* SPDX-License-Identifier: MIT */
/*
 * test_trace.c - samples in, what sinks are told out: threads, stacks and loops together.
 *
 * Events are "[tTHREAD:][iINTERPRETER:]EVENT CODE [OFFSET [TARGET]]", 10 ns and 20 cycles apart.
 * What is told is written as  +f enter, -f leave (and how), f@HEAD#TRIP[=ns[/ns of its own]] iterate, gapxN
 * gap, unmatchedxN calls or returns without their other end; a line begins with the thread where that is not 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/trace.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	const char *name, *events, *told;
} rows[] = {
	{ "nothing", "", "" },
	{ "call and return", "PY_START m; PY_START f; PY_RETURN f; PY_RETURN m", "+m +f -f -m" },
	{ "unwinding", "PY_START m; PY_START f; PY_UNWIND f; PY_UNWIND m", "+m +f -f(unwind) -m(unwind)" },
	{ "a generator", "PY_START g; PY_YIELD g; PY_RESUME g; PY_YIELD g; PY_THROW g; PY_UNWIND g",
	  "+g -g(yield) +g -g(yield) +g -g(unwind)" },
	{ "delegation", "PY_START f; PY_START g; PY_YIELD g; PY_YIELD f; PY_RESUME f; PY_RESUME g",
	  "+f +g -g(yield) -f(yield) +f +g -g(end) -f(end)" },
	{ "recursion", "PY_START f; PY_START f; PY_RETURN f; PY_START f; PY_RETURN f; PY_RETURN f",
	  "+f +f -f +f -f -f" },
	{ "open at the end", "PY_START m; PY_START f", "+m +f -f(end) -m(end)" },

	/* what was open before the trace */
	{ "a return from before", "PY_RETURN f; PY_UNWIND m; PY_START g", "+g -g(end)" },
	{ "a call from before", "CALL f; PY_START g; PY_RETURN g; PY_RETURN f", "+f +g -g -f" },
	{ "a loop from before", "JUMP f 30 10; JUMP f 30 10; PY_RETURN f", "+f f@10#1 f@10#2=10 -f" },

	/* ends that do not come */
	{ "an end is missing", "PY_START m; PY_START f; PY_RETURN m", "+m +f -f(gap) unmatchedx1 -m" },
	{ "two ends are missing", "PY_START m; PY_START f; PY_START g; CALL m",
	  "+m +f +g -g(gap) -f(gap) unmatchedx2 -m(end)" },
	{ "an end of something else", "PY_START m; PY_START f; PY_RETURN g", "+m +f -f(gap) -m(gap) unmatchedx2" },
	{ "an event of something else", "PY_START m; CALL g; PY_RETURN g", "+m -m(gap) unmatchedx1 +g -g" },
	{ "the innermost of several", "PY_START f; PY_START f; PY_START g; PY_RETURN f; PY_RETURN f",
	  "+f +f +g -g(gap) unmatchedx1 -f -f" },

	/* gaps and restarts */
	{ "a gap closes all", "PY_START m; PY_START f; GAP 7; PY_START g; PY_RETURN g",
	  "+m +f -f(gap) -m(gap) gapx7 +g -g" },
	{ "a gap with nothing open", "GAP 7", "gapx7" },
	{ "a restart", "PY_START m; PY_START f; RESTART 1; PY_START m", "+m +f -f(end) -m(end) +m -m(end)" },
	{ "foreign words", "PY_START m; FOREIGN 3; PY_RETURN m", "+m -m" },

	/* loops */
	{ "a loop", "PY_START f; JUMP f 30 10; JUMP f 30 10; JUMP f 30 10; PY_RETURN f",
	  "+f f@10#1 f@10#2=10 f@10#3=10 -f" },
	{ "a jump forwards", "PY_START f; JUMP f 10 30; BRANCH f 30 10; PY_RETURN f", "+f -f" },
	{ "a jump to itself", "PY_START f; JUMP f 10 10; JUMP f 10 10; PY_RETURN f", "+f f@10#1 f@10#2=10 -f" },
	{ "two back-edges to one head", "PY_START f; JUMP f 30 10; JUMP f 20 10; JUMP f 30 10; PY_RETURN f",
	  "+f f@10#1 f@10#2=10 f@10#3=10 -f" },
	{ "nested",
	  "PY_START f; JUMP f 30 20; JUMP f 30 20; JUMP f 40 10; JUMP f 30 20; JUMP f 40 10; "
	  "PY_RETURN f",
	  "+f f@20#1 f@20#2=10 f@10#1 f@20#1 f@10#2=20 -f" },
	{ "left by break, entered again",
	  "PY_START f; JUMP f 40 10; JUMP f 30 20; JUMP f 40 10; JUMP f 30 20; PY_RETURN f",
	  "+f f@10#1 f@20#1 f@10#2=20 f@20#1 -f" },
	{ "one after the other", "PY_START f; JUMP f 30 10; JUMP f 60 40; JUMP f 60 40; PY_RETURN f",
	  "+f f@10#1 f@40#1 f@40#2=10 -f" },
	{ "calls within a trip",
	  "PY_START f; JUMP f 30 10; PY_START g; JUMP g 30 10; PY_RETURN g; JUMP f 30 10; "
	  "PY_RETURN f",
	  "+f f@10#1 +g g@10#1 -g f@10#2=40/20 -f" },
	{ "each activation its own",
	  "PY_START f; JUMP f 30 10; PY_START f; JUMP f 30 10; PY_RETURN f; JUMP f 30 10; "
	  "PY_RETURN f",
	  "+f f@10#1 +f f@10#1 -f f@10#2=40/20 -f" },
	{ "what inner trips and calls took",
	  "PY_START f; JUMP f 40 10; JUMP f 30 20; PY_START g; PY_RETURN g; JUMP f 30 20; JUMP f 40 10; "
	  "JUMP f 40 10; PY_RETURN f",
	  "+f f@10#1 f@20#1 +g -g f@20#2=30/20 f@10#2=50/20 f@10#3=10 -f" },
	{ "what an inner loop's inner loop took",
	  "PY_START f; JUMP f 60 10; JUMP f 40 30; JUMP f 40 30; JUMP f 50 20; JUMP f 60 10; PY_RETURN f",
	  "+f f@10#1 f@30#1 f@30#2=10 f@20#1 f@10#2=40/30 -f" },
	{ "a callee's loop is not the caller's",
	  "PY_START f; JUMP f 30 10; PY_START g; JUMP g 30 10; JUMP g 30 10; PY_RETURN g; JUMP f 30 10; "
	  "PY_RETURN f",
	  "+f f@10#1 +g g@10#1 g@10#2=10 -g f@10#2=50/20 -f" },
	{ "left with its frame", "PY_START f; JUMP f 30 10; PY_RETURN f; PY_START f; JUMP f 30 10; PY_RETURN f",
	  "+f f@10#1 -f +f f@10#1 -f" },
	{ "lost with a gap", "PY_START f; JUMP f 30 10; GAP 1; JUMP f 30 10; JUMP f 30 10",
	  "+f f@10#1 -f(gap) gapx1 +f f@10#1 f@10#2=10 -f(end)" },

	/* threads and interpreters */
	{ "two threads", "PY_START m; t2:PY_START f; PY_RETURN m; t2:PY_RETURN f", "+m 2+f -m 2-f" },
	{ "a gap in one thread", "PY_START m; t2:PY_START f; t2:GAP 2; PY_RETURN m", "+m 2+f 2-f(gap) 2gapx2 -m" },
	{ "an interpreter within another", "PY_START m; i1:PY_START g; i1:PY_RETURN g; PY_RETURN m", "+m +g -g -m" },
	{ "an interpreter keeps its frames", "PY_START f; i1:PY_START f; i1:PY_RETURN f; PY_RETURN f", "+f +f -f -f" },
	{ "a gap within the inner interpreter", "PY_START m; i1:PY_START g; i1:GAP 1; PY_START f",
	  "+m +g -g(gap) -m(gap) gapx1 +f -f(end)" },
};

struct teller {
	struct sink sink;
	FILE *f;
	int refuse; /* what every callback returns */
	bool finished;
};

static void write_thread(FILE *f, int32_t tid)
{
	fputs(ftell(f) ? " " : "", f);
	if (tid != 1)
		fprintf(f, "%d", tid);
}

static int tell_enter(struct sink *s, const struct activation *a)
{
	struct teller *t = (struct teller *)s;

	write_thread(t->f, a->tid);
	fprintf(t->f, "+%s", a->code->qualname);
	return t->refuse;
}

static int tell_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
		      uint64_t end_cycles)
{
	static const char *const hows[] = { "", "(yield)", "(unwind)", "(gap)", "(end)" };
	struct teller *t = (struct teller *)s;

	write_thread(t->f, a->tid);
	fprintf(t->f, "-%s%s", a->code->qualname, hows[how]);
	assert_int_equal((end_cycles - a->start_cycles), 2 * (end_ns - a->start_ns));
	return 0;
}

static int tell_iterate(struct sink *s, const struct trip *trip)
{
	struct teller *t = (struct teller *)s;

	write_thread(t->f, trip->in->tid);
	fprintf(t->f, "%s@%" PRId64 "#%" PRIu64, trip->loop->code->qualname, trip->loop->head, trip->number);
	if (trip->timed)
		fprintf(t->f, "=%" PRIu64, trip->ns);
	if (trip->own_ns != trip->ns)
		fprintf(t->f, "/%" PRIu64, trip->own_ns);
	assert_int_equal(trip->cycles, 2 * trip->ns);
	assert_ptr_equal(trip->in->code, trip->loop->code);
	return 0;
}

static int tell_gap(struct sink *s, const struct sample *gap)
{
	struct teller *t = (struct teller *)s;

	write_thread(t->f, gap->tid);
	fprintf(t->f, "%sx%" PRIu64, gap->op == SAMPLE_GAP ? "gap" : "unmatched", gap->count);
	return 0;
}

static int tell_finish(struct sink *s, const struct profile *p)
{
	(void)p;
	((struct teller *)s)->finished = true;
	return 0;
}

static void tell_free(struct sink *s)
{
	(void)s;
}

static const struct sink_ops teller_ops = {
	.enter = tell_enter,
	.leave = tell_leave,
	.iterate = tell_iterate,
	.gap = tell_gap,
	.finish = tell_finish,
	.free = tell_free,
};

/* One event of the notation above; at and time are set by the caller. */
static struct sample parse(struct codes *codes, const char *text, uint64_t ns)
{
	struct sample s = { .pid = 1, .tid = 1, .time = ns, .cycles = 2 * ns, .target = SAMPLE_NOWHERE };
	char event[32], what[32];
	int n = 0;

	if (sscanf(text, " t%d:%n", &s.tid, &n) == 1)
		text += n;
	if (sscanf(text, " i%u:%n", &s.interpreter, &n) == 1)
		text += n;
	assert_in_range(sscanf(text, "%31s %31s %" SCNd64 " %" SCNd64, event, what, &s.offset, &s.target), 2, 4);
	s.op = sample_op_by_name(event);
	assert_int_not_equal(s.op, 0);
	if (s.op >= SAMPLE_GAP)
		s.count = strtoull(what, NULL, 10);
	else
		s.code = codes_intern(codes_process(codes, 1), "a.py", what, 1);
	return s;
}

static int feed(struct trace *t, struct codes *codes, const char *events)
{
	uint64_t ns = 1000;
	int err = 0;

	for (; !err && *events; ns += 10) {
		char one[64];
		size_t length = strcspn(events, ";");
		struct sample s;

		snprintf(one, sizeof(one), "%.*s", (int)length, events);
		events += length + (events[length] == ';');
		events += strspn(events, " ");
		s = parse(codes, one, ns);
		err = trace_feed(t, &s);
	}
	return err;
}

/* Returns how many loops there were. */
static size_t check_row(const char *name, const char *events, const struct sink_ops *ops, const char *told)
{
	char text[512] = "";
	struct teller teller = { .sink.ops = ops };
	struct codes codes;
	struct trace t;
	size_t loops = 0;

	teller.f = fmemopen(text, sizeof(text), "w");
	codes_init(&codes, NULL);
	trace_init(&t, &codes, &teller.sink);
	assert_int_equal(feed(&t, &codes, events), 0);
	assert_int_equal(trace_finish(&t, false), 0);
	assert_true(teller.finished);
	free(profile_loops(&t.profile, &loops, RANK_TIME));
	trace_free(&t);
	codes_free(&codes);
	fclose(teller.f);
	if (strcmp(text, told))
		fail_msg("%s: got '%s', want '%s'", name, text, told);
	return loops;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t loops = check_row(rows[i].name, rows[i].events, &teller_ops, rows[i].told);

		assert_int_equal(loops > 0, strchr(rows[i].told, '@') != NULL);
	}
}

/* Without the words that have an @. */
static void leave_out_trips(const char *told, char *text)
{
	char all[512], *rest = all;

	strcpy(all, told);
	for (char *word; (word = strsep(&rest, " "));)
		if (!strchr(word, '@'))
			text += sprintf(text, "%s%s", word == all ? "" : " ", word);
}

/* All else is told as ever. */
static void test_rows_without_loops(void **state)
{
	static const struct sink_ops without = {
		.enter = tell_enter,
		.leave = tell_leave,
		.no_loops = true,
		.gap = tell_gap,
		.finish = tell_finish,
		.free = tell_free,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char told[512] = "";

		leave_out_trips(rows[i].told, told);
		assert_int_equal(check_row(rows[i].name, rows[i].events, &without, told), 0);
	}
}

/* Totals by cProfile's definitions; each event is 10 ns and 20 cycles after the one before. */
static const struct total {
	const char *name, *events, *code;
	uint64_t calls, recursive, resumes, unfinished, total_ns, self_ns;
} totals[] = {
	{ "a call", "PY_START m; PY_START f; CALL f; PY_RETURN f; PY_RETURN m", "f", 1, 0, 0, 0, 20, 20 },
	{ "its caller", "PY_START m; PY_START f; CALL f; PY_RETURN f; PY_RETURN m", "m", 1, 0, 0, 0, 40, 20 },
	{ "recursion", "PY_START f; PY_START f; PY_START f; PY_RETURN f; PY_RETURN f; PY_RETURN f", "f", 3, 2, 0, 0, 50,
	  50 },
	{ "recursion through another", "PY_START f; PY_START g; PY_START f; PY_RETURN f; PY_RETURN g; PY_RETURN f", "f",
	  2, 1, 0, 0, 50, 30 },
	{ "a generator", "PY_START g; PY_YIELD g; CALL m; PY_RESUME g; PY_YIELD g; PY_THROW g; PY_UNWIND g", "g", 1, 0,
	  2, 0, 30, 30 },
	{ "two threads are not recursion", "PY_START f; t2:PY_START f; PY_RETURN f; t2:PY_RETURN f", "f", 2, 0, 0, 0,
	  40, 40 },
	{ "cut off by a gap", "PY_START f; CALL f; GAP 3", "f", 1, 0, 0, 1, 10, 10 },
	{ "open at the end", "PY_START f; CALL f", "f", 1, 0, 0, 1, 10, 10 },
	{ "begun before the trace", "CALL f; PY_START g; PY_RETURN g; PY_RETURN f", "f", 0, 0, 0, 0, 30, 20 },
};

static void check_total(const struct total *row)
{
	struct teller teller = { .sink.ops = &teller_ops, .f = fopen("/dev/null", "w") };
	struct codes codes;
	struct trace t;
	const struct function *f;

	codes_init(&codes, NULL);
	trace_init(&t, &codes, &teller.sink);
	assert_int_equal(feed(&t, &codes, row->events), 0);
	assert_int_equal(trace_finish(&t, false), 0);
	f = codes_intern(codes_process(&codes, 1), "a.py", row->code, 1)->function;
	assert_non_null(f);
	if (f->calls != row->calls || f->recursive_calls != row->recursive || f->resumes != row->resumes ||
	    f->unfinished != row->unfinished || f->total_ns != row->total_ns || f->self_ns != row->self_ns)
		fail_msg("%s: calls %d, recursive %d, resumes %d, unfinished %d, total %d, self %d", row->name,
			 (int)f->calls, (int)f->recursive_calls, (int)f->resumes, (int)f->unfinished, (int)f->total_ns,
			 (int)f->self_ns);
	assert_int_equal(f->total_cycles, 2 * f->total_ns);
	assert_int_equal(f->self_cycles, 2 * f->self_ns);
	trace_free(&t);
	codes_free(&codes);
	fclose(teller.f);
}

static void test_totals(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(totals); i++)
		check_total(&totals[i]);
}

/*
 * Entries of the loop at 10 of f and their trips, as "TRIPS" in ascending order with "xN" where there
 * are N of them. An entry that a gap or the end of the trace cut off has no known number of trips.
 */
static const struct {
	const char *name, *events, *trips;
} entries[] = {
	{ "one", "PY_START f; JUMP f 30 10; JUMP f 30 10; PY_RETURN f", "2" },
	{ "two calls", "PY_START f; JUMP f 30 10; PY_RETURN f; PY_START f; JUMP f 30 10; PY_UNWIND f", "1x2" },
	{ "left for another loop", "PY_START f; JUMP f 30 10; JUMP f 60 40; JUMP f 30 10; JUMP f 30 10; PY_RETURN f",
	  "1 2" },
	{ "within another",
	  "PY_START f; JUMP f 30 10; JUMP f 30 10; JUMP f 40 0; JUMP f 30 10; JUMP f 40 0; PY_RETURN f", "1 2" },
	{ "recursion", "PY_START f; JUMP f 30 10; PY_START f; JUMP f 30 10; PY_RETURN f; JUMP f 30 10; PY_RETURN f",
	  "1 2" },
	{ "a generator's resumptions",
	  "PY_START f; JUMP f 30 10; PY_YIELD f; PY_RESUME f; "
	  "JUMP f 30 10; JUMP f 30 10; PY_YIELD f",
	  "1 2" },
	{ "cut off by a gap", "PY_START f; JUMP f 30 10; JUMP f 30 10; GAP 1", "" },
	{ "open at the end", "PY_START f; JUMP f 30 10; JUMP f 30 10", "" },
};

static void test_trips_of_entries(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(entries); i++) {
		struct codes codes;
		struct trace t;
		struct stat_range r;
		char text[64] = "";
		const struct loop *loop;

		codes_init(&codes, NULL);
		trace_init(&t, &codes, NULL);
		assert_int_equal(feed(&t, &codes, entries[i].events), 0);
		assert_int_equal(trace_finish(&t, false), 0);
		loop = function_loop(codes_intern(codes_process(&codes, 1), "a.py", "f", 1), 10);
		for (unsigned at = 0; (at = stat_next(&loop->trips, at, &r));) {
			sprintf(text + strlen(text), "%s%d", *text ? " " : "", (int)r.low);
			if (r.n > 1)
				sprintf(text + strlen(text), "x%d", (int)r.n);
		}
		if (strcmp(text, entries[i].trips))
			fail_msg("%s: got '%s', want '%s'", entries[i].name, text, entries[i].trips);
		trace_free(&t);
		codes_free(&codes);
	}
}

/* Whatever happens, self times and the time without a known activation are all of the traced time. */
static void test_all_time_is_somebodys(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows) + COUNT(totals); i++) {
		const char *events = i < COUNT(rows) ? rows[i].events : totals[i - COUNT(rows)].events;
		struct codes codes;
		struct trace t;
		uint64_t ns = 0, cycles = 0;
		size_t n = 0;
		struct code **all;

		codes_init(&codes, NULL);
		trace_init(&t, &codes, NULL);
		assert_int_equal(*events ? feed(&t, &codes, events) : 0, 0);
		assert_int_equal(trace_finish(&t, false), 0);
		all = profile_functions(&t.profile, &n, RANK_TIME);
		while (n--) {
			ns += all[n]->function->self_ns;
			cycles += all[n]->function->self_cycles;
		}
		if (ns + t.profile.outside_ns != t.profile.traced_ns ||
		    cycles + t.profile.outside_cycles != t.profile.traced_cycles)
			fail_msg("'%s': %d ns of functions and %d of nobody are not %d", events, (int)ns,
				 (int)t.profile.outside_ns, (int)t.profile.traced_ns);
		free(all);
		trace_free(&t);
		codes_free(&codes);
	}
}

static void test_events_of_a_code_object(void **state)
{
	struct codes codes;
	struct trace t;
	const uint64_t *f, *g;

	(void)state;
	codes_init(&codes, NULL);
	trace_init(&t, &codes, NULL);
	feed(&t, &codes, "LINE f; PY_START f; JUMP f 30 10; CALL f; LINE f; GAP 1; t2:PY_RETURN g");
	trace_finish(&t, false);
	f = codes_intern(codes_process(&codes, 1), "a.py", "f", 1)->function->events;
	g = codes_intern(codes_process(&codes, 1), "a.py", "g", 1)->function->events;
	assert_int_equal(f[OP_LINE], 2);
	assert_int_equal(f[OP_PY_START] + f[OP_JUMP] + f[OP_CALL], 3);
	assert_int_equal(f[OP_PY_RETURN], 0);
	assert_int_equal(g[OP_PY_RETURN], 1);
	trace_free(&t);
	codes_free(&codes);
}

/* f has lines 1 to 3 and nothing known of g; an event is 20 cycles after the one before. */
static const struct {
	const char *name, *events;
	uint64_t n[3], cycles[3];
} lines[] = {
	{ "line to line, and to the end",
	  "PY_START f; LINE f 1; LINE f 2; LINE f 1; LINE f 3; PY_RETURN f",
	  { 2, 1, 1 },
	  { 40, 20, 20 } },
	{ "before the first line nothing",
	  "PY_START f; CALL f; CALL f; LINE f 2; PY_RETURN f",
	  { 0, 1, 0 },
	  { 0, 20, 0 } },
	{ "without what was called",
	  "PY_START f; LINE f 1; PY_START g; LINE g 7; LINE g 8; PY_RETURN g; LINE f 2; PY_RETURN f",
	  { 1, 1, 0 },
	  { 40, 20, 0 } },
	{ "each activation has its own",
	  "PY_START f; LINE f 1; PY_START f; LINE f 2; PY_RETURN f; LINE f 3; PY_RETURN f",
	  { 1, 1, 1 },
	  { 40, 20, 20 } },
	{ "not while it waits",
	  "PY_START f; LINE f 1; PY_YIELD f; CALL m; CALL m; PY_RETURN m; PY_RESUME f; LINE f 2; PY_RETURN f",
	  { 1, 1, 0 },
	  { 20, 20, 0 } },
	{ "up to the last event before a gap",
	  "PY_START f; LINE f 1; GAP 1; LINE f 2; PY_START f; LINE f 3; PY_RETURN f",
	  { 1, 0, 1 },
	  { 0, 0, 20 } },
	{ "no line of its own", "PY_START f; LINE f 1; LINE f 9; LINE f 2; PY_RETURN f", { 1, 1, 0 }, { 20, 20, 0 } },
	{ "before its start", "LINE f 1; PY_START f; LINE f 2; PY_RETURN f", { 0, 1, 0 }, { 0, 20, 0 } },
};

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct codes codes;
		struct trace t;
		struct code *f;

		codes_init(&codes, NULL);
		trace_init(&t, &codes, NULL);
		f = codes_intern(codes_process(&codes, 1), "a.py", "f", 1);
		f->instrs = pool_take(&f->process->pool, 2 * sizeof(*f->instrs));
		assert_non_null(f->instrs);
		f->ninstrs = 2;
		f->instrs[0].line = 1;
		f->instrs[1] = (struct instr){ .offset = 2, .line = 3 };
		feed(&t, &codes, lines[i].events);
		assert_int_equal(trace_finish(&t, false), 0);
		for (int line = 1; line <= 3; line++) {
			const struct line_cost *cost = function_line(f, line);

			if (cost->n != lines[i].n[line - 1] || cost->cycles != lines[i].cycles[line - 1])
				fail_msg("%s: line %d ran %" PRIu64 " times, %" PRIu64 " cycles", lines[i].name, line,
					 cost->n, cost->cycles);
		}
		trace_free(&t);
		codes_free(&codes);
	}
}

static void test_profile(void **state)
{
	struct teller teller = { .sink.ops = &teller_ops, .f = fopen("/dev/null", "w") };
	struct codes codes;
	struct trace t;

	(void)state;
	codes_init(&codes, NULL);
	trace_init(&t, &codes, &teller.sink);
	feed(&t, &codes, "PY_START m; t2:PY_START f; FOREIGN 3; GAP 4; t2:PY_RETURN m; PY_START m");
	trace_finish(&t, false);
	assert_int_equal(t.profile.events[OP_PY_START], 3);
	assert_int_equal(t.profile.events[OP_PY_RETURN], 1);
	assert_int_equal(t.profile.foreign, 3);
	assert_int_equal(t.profile.gaps, 1);
	assert_int_equal(t.profile.lost_markers, 4);
	assert_int_equal(t.profile.unmatched, 1);
	assert_int_equal(t.profile.mismatches, 1);
	assert_int_equal(t.profile.threads, 2);
	assert_int_equal(t.profile.start_ns, 1000);
	assert_int_equal(t.profile.end_ns, 1050);
	assert_int_equal(t.profile.traced_ns, 50 + 30);
	assert_int_equal(t.profile.traced_cycles, 2 * (50 + 30));
	trace_free(&t);
	codes_free(&codes);
	fclose(teller.f);
}

/* What strikes at a RESUME: CPython 3.13 and later look at signals before they tell PY_START, 3.12 behind it. */
static const struct {
	const char *name;
	bool starts_late, generator;
	const char *events, *told;
} strikes[] = {
	{ "a call", true, false, "PY_START m; PY_UNWIND f 2; PY_RETURN m", "+m +f -f(unwind) -m" },
	{ "a call in recursion", true, false, "PY_START f 2; PY_START f 2; PY_UNWIND f 2; PY_UNWIND f 8; PY_RETURN f 8",
	  "+f +f +f -f(unwind) -f(unwind) -f" },
	{ "a call, raised where RAISE is told", true, false,
	  "PY_START m; RAISE f 2; PY_UNWIND f 2; RERAISE m 8; PY_RETURN m", "+m +f -f(unwind) -m" },
	{ "a call with nothing known around it", true, false, "PY_UNWIND f 2; PY_START m", "+f -f(unwind) +m -m(end)" },
	{ "a call of 3.12", false, false, "PY_START f 2; PY_START f 2; PY_UNWIND f 2; PY_UNWIND f 8",
	  "+f +f -f(unwind) -f(unwind)" },
	{ "a generator that goes on", true, true, "PY_START m; JUMP f 8 4; PY_YIELD f 6; PY_RETURN m",
	  "+m +f f@4#1 -f(yield) -m" },
	{ "a generator that ends", true, true, "PY_START m; PY_UNWIND f 8; PY_RETURN m", "+m +f -f(unwind) -m" },
	{ "no generator", true, false, "PY_START m; PY_UNWIND f 8; PY_RETURN m", "+m -m(gap) unmatchedx1" },
};

static void test_strikes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(strikes); i++) {
		char text[512] = "";
		struct teller teller = { .sink.ops = &teller_ops, .f = fmemopen(text, sizeof(text), "w") };
		struct codes codes;
		struct trace t;
		struct code *f;

		codes_init(&codes, NULL);
		trace_init(&t, &codes, &teller.sink);
		codes_process(&codes, 1)->starts_late = strikes[i].starts_late;
		f = codes_intern(codes_process(&codes, 1), "a.py", "f", 1);
		f->generator = strikes[i].generator;
		f->instrs = pool_take(&f->process->pool, 5 * sizeof(*f->instrs));
		assert_non_null(f->instrs);
		for (f->ninstrs = 0; f->ninstrs < 5; f->ninstrs++)
			f->instrs[f->ninstrs] = (struct instr){ .offset = 2 * f->ninstrs, .target = -1 };
		f->instrs[1].resume = true;
		assert_int_equal(feed(&t, &codes, strikes[i].events), 0);
		assert_int_equal(trace_finish(&t, false), 0);
		assert_int_equal(t.profile.gaps + t.profile.lost_markers, 0);
		trace_free(&t);
		codes_free(&codes);
		fclose(teller.f);
		if (strcmp(text, strikes[i].told))
			fail_msg("%s: got '%s', want '%s'", strikes[i].name, text, strikes[i].told);
	}
}

/* Between two lives of a thread, by exec or a second start, nobody traced it. */
static void test_time_before_a_restart_is_nobodys(void **state)
{
	struct codes codes;
	struct trace t;

	(void)state;
	codes_init(&codes, NULL);
	trace_init(&t, &codes, NULL);
	feed(&t, &codes,
	     "PY_START f; PY_RETURN f; t2:PY_START m; t2:PY_RETURN m; RESTART 1; PY_START f; "
	     "PY_RETURN f");
	trace_finish(&t, false);
	assert_int_equal(t.profile.traced_ns, 10 + 10 + 20);
	assert_int_equal(t.profile.traced_cycles, 2 * (10 + 10 + 20));
	assert_int_equal(t.profile.outside_ns, 10); /* from the restart to the call */
	assert_int_equal(t.profile.no_opcode.ns, t.profile.traced_ns);
	trace_free(&t);
	codes_free(&codes);
}

static void test_window(void **state)
{
	char text[256] = "";
	struct teller teller = { .sink.ops = &teller_ops, .f = fmemopen(text, sizeof(text), "w") };
	struct codes codes;
	struct trace t;

	(void)state;
	codes_init(&codes, NULL);
	trace_init(&t, &codes, &teller.sink);
	trace_window(&t, &(struct time_span){ .from = { TIME_CLOCK, 1010 }, .until = { TIME_CLOCK, 1040 } },
		     &(struct wall){ 0 });
	feed(&t, &codes, "PY_START m; PY_START f; PY_RETURN f; PY_START g; PY_RETURN g; PY_RETURN m");
	trace_finish(&t, false);
	fclose(teller.f);
	assert_string_equal(text, "+f -f +g -g(end)");
	assert_int_equal(t.profile.start_ns, 1010);
	assert_int_equal(t.profile.end_ns, 1030);
	trace_free(&t);
	codes_free(&codes);
}

/* Nothing in the window: what there is is told, and no sink finishes. */
static void test_empty_window(void **state)
{
	static const struct {
		const char *text, *events, *says;
	} cases[] = {
		{ "5,6", "PY_START m; PY_RETURN m",
		  "time=5,6; the recording has 0 to 0.000000 s, @0.000001 to @0.000001" },
		{ "@5,@6", "", "time=@5,@6; the recording has others, which perf skipped" },
		{ "14:03,", "PY_START m", "does not say what the wall clock was" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct time_span span;
		struct codes codes;
		struct trace t;
		int err;

		codes_init(&codes, NULL);
		trace_init(&t, &codes, NULL);
		assert_true(time_span_parse(&span, cases[i].text));
		trace_window(&t, &span, &(struct wall){ 0 });
		err = feed(&t, &codes, cases[i].events);
		err = err ? err : trace_finish(&t, false);
		assert_true(err < 0);
		if (!strstr(t.error, cases[i].says) || strchr(t.error, '\n'))
			fail_msg("'%s'", t.error);
		trace_free(&t);
		codes_free(&codes);
	}
}

static void test_a_sink_that_fails_ends_it(void **state)
{
	struct teller teller = { .sink.ops = &teller_ops, .f = fopen("/dev/null", "w"), .refuse = -ENOSPC };
	struct codes codes;
	struct trace t;

	(void)state;
	codes_init(&codes, NULL);
	trace_init(&t, &codes, &teller.sink);
	assert_int_equal(feed(&t, &codes, "GAP 1; PY_START m; PY_RETURN m"), -ENOSPC);
	trace_free(&t);
	codes_free(&codes);
	fclose(teller.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rows_without_loops),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_trips_of_entries),
		cmocka_unit_test(test_all_time_is_somebodys),
		cmocka_unit_test(test_events_of_a_code_object),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_strikes),
		cmocka_unit_test(test_time_before_a_restart_is_nobodys),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_empty_window),
		cmocka_unit_test(test_a_sink_that_fails_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
