/* SPDX-License-Identifier: MIT */
/* test_diff.c - which places are matched, and which differences exceed the noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <errno.h>

#include "diff/diff_out.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A side that has these loops only. */
static struct diff_side side_of(struct diff_item *items, size_t n)
{
	struct diff_side s = { .clock = "tsc" };

	s.items[DIFF_LOOPS] = items;
	s.n[DIFF_LOOPS] = n;
	return s;
}

static const struct diff_rules any = { .fail_over = -1 };

/* --- matching: by names, lines and head; both sides have one item but where rows say more --- */

#define ITEM(file, name, first, line, head) \
	{ \
		file, name, first, line, head, .n = 100, .mean = 10, .median = -1, .p99 = -1 \
	}

static const struct {
	const char *what;
	struct diff_item a[3], b[3];
	const char *how[3]; /* of the pair whose A is a[i]; NULL: it has no B */
} matches[] = {
	{ "the same place", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/x/f.py", "f", 1, 3, 8) }, { "" } },
	{ "other bytecode", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/x/f.py", "f", 1, 3, 30) }, { "" } },
	{ "moved", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/x/f.py", "f", 11, 13, 8) }, { "moved" } },
	{ "moved within", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/x/f.py", "f", 1, 4, 8) }, { "moved" } },
	{ "other folder", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/y/f.py", "f", 1, 3, 9) }, { "other folder" } },
	{ "both", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/y/f.py", "f", 5, 9, 9) }, { "other folder, moved" } },
	{ "another name", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/x/f.py", "g", 1, 3, 8) }, { NULL } },
	{ "another file", { ITEM("/x/f.py", "f", 1, 3, 8) }, { ITEM("/x/g.py", "f", 1, 3, 8) }, { NULL } },
	{ "two in order",
	  { ITEM("/x/f.py", "f", 1, 3, 8), ITEM("/x/f.py", "f", 1, 5, 20) },
	  { ITEM("/x/f.py", "f", 1, 4, 8), ITEM("/x/f.py", "f", 1, 7, 20) },
	  { "moved", "moved" } },
	{ "one of two is enough to know the other",
	  { ITEM("/x/f.py", "f", 1, 3, 8), ITEM("/x/f.py", "f", 1, 5, 20) },
	  { ITEM("/x/f.py", "f", 1, 3, 8), ITEM("/x/f.py", "f", 1, 9, 20) },
	  { "", "moved" } },
	{ "nobody knows which",
	  { ITEM("/x/f.py", "f", 1, 3, 8) },
	  { ITEM("/x/f.py", "f", 1, 5, 8), ITEM("/x/f.py", "f", 1, 7, 20) },
	  { NULL } },
	{ "the nearer one",
	  { ITEM("/x/f.py", "f", 1, 3, 8) },
	  { ITEM("/y/f.py", "f", 1, 3, 8), ITEM("/x/f.py", "f", 1, 9, 20) },
	  { "moved" } },
};

static size_t used(const struct diff_item *items)
{
	size_t n = 0;

	while (n < 3 && items[n].file)
		n++;
	return n;
}

static const struct diff_pair *pair_of(const struct diff *d, const struct diff_item *a)
{
	for (size_t i = 0; i < d->n[DIFF_LOOPS]; i++)
		if (d->pairs[DIFF_LOOPS][i].a == a)
			return &d->pairs[DIFF_LOOPS][i];
	fail_msg("an item is in no pair");
	return NULL;
}

static void test_matching(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(matches); i++) {
		struct diff_item a[3], b[3];
		struct diff_side left, right;
		struct diff d;

		memcpy(a, matches[i].a, sizeof(a));
		memcpy(b, matches[i].b, sizeof(b));
		left = side_of(a, used(a));
		right = side_of(b, used(b));
		assert_int_equal(diff_compare(&d, &left, &right, 1, &any), 0);
		for (size_t k = 0; k < used(a); k++) {
			const struct diff_pair *p = pair_of(&d, &a[k]);

			if (!matches[i].how[k] != !p->b || (p->b && strcmp(p->how, matches[i].how[k])))
				fail_msg("%s: item %zu matched '%s'", matches[i].what, k, p->b ? p->how : "none");
			assert_int_equal(p->verdict, p->b ? DIFF_SAME : DIFF_GONE);
		}
		diff_free(&d);
	}
}

/* --- judging: standard errors are 1 where n is 100 and the deviation 10 --- */

static const struct {
	const char *what;
	double n, mean_a, mean_b, deviation, share;
	bool exact;
	enum diff_verdict verdict;
	bool over; /* more than 2 % is not allowed, with 1 % of the time or more */
} judged[] = {
	{ "no difference", 100, 100, 100, 10, 0.5, false, DIFF_SAME, false },
	{ "less than 4 * sqrt(1 + 1)", 100, 100, 105.6, 10, 0.5, false, DIFF_NOISE, false },
	{ "more than that", 100, 100, 105.7, 10, 0.5, false, DIFF_SLOWER, true },
	{ "faster, less", 100, 100, 94.4, 10, 0.5, false, DIFF_NOISE, false },
	{ "faster, more", 100, 100, 94.3, 10, 0.5, false, DIFF_FASTER, false },
	{ "allowed", 1e6, 100, 101.9, 10, 0.5, false, DIFF_SLOWER, false },
	{ "not allowed", 1e6, 100, 102.1, 10, 0.5, false, DIFF_SLOWER, true },
	{ "too small to matter", 1e6, 100, 150, 10, 0.009, false, DIFF_SLOWER, false },
	{ "no spread: any difference is one", 100, 100, 102.1, 0, 0.5, false, DIFF_SLOWER, true },
	{ "too few to judge", 9, 100, 500, 0, 0.5, false, DIFF_FEW, false },
	{ "but for a clock that is exact", 1, 100, 103, 0, 0.5, true, DIFF_SLOWER, true },
	{ "whose spread is no noise", 100, 100, 103, 50, 0.5, true, DIFF_SLOWER, true },
	{ "never timed", 0, 0, 0, 0, 0.5, true, DIFF_FEW, false },
	{ "from nothing", 100, 0, 50, 1, 0.5, false, DIFF_SLOWER, true },
	{ "from nothing, within the noise", 100, 0, 5.6, 10, 0.5, false, DIFF_NOISE, false },
	{ "from nothing, just not", 100, 0, 5.7, 10, 0.5, false, DIFF_SLOWER, true },
	{ "to nothing, within the noise", 100, 5.6, 0, 10, 0.5, false, DIFF_NOISE, false },
};

static struct diff_item item_of(size_t i, double mean)
{
	return (struct diff_item){ .file = "/f.py",
				   .qualname = "f",
				   .times = judged[i].n,
				   .n = judged[i].n,
				   .mean = mean,
				   .deviation = judged[i].deviation,
				   .share = judged[i].share };
}

/* Half of A's time was waiting and three quarters of B's; where one side does not know, nothing is changed. */
static void test_cpu(void **state)
{
	struct diff_item one = { .mean = 100, .deviation = 10, .n = 50, .cpu_ns = 50, .wall_ns = 100, .p99 = 150 };
	struct diff_item other = { .mean = 200, .deviation = 20, .n = 50, .cpu_ns = 50, .wall_ns = 200, .p99 = 250 };
	struct diff_side a = side_of(&one, 1), b = side_of(&other, 1);

	(void)state;
	a.cpu_ns = b.cpu_ns = 500;
	other.cpu_ns = -1;
	assert_false(diff_to_cpu(&a, &b));
	assert_true(one.mean == 100 && other.mean == 200);
	other.cpu_ns = 50;
	b.cpu_ns = -1;
	assert_false(diff_to_cpu(&a, &b));
	b.cpu_ns = 500;
	assert_true(diff_to_cpu(&a, &b));
	assert_true(one.mean == 50 && other.mean == 50);
	assert_true(one.deviation == 5 && other.deviation == 5);
	assert_true(one.wall_mean == 100 && other.wall_mean == 200);
	assert_true(one.p99 < 0 && other.p99 < 0);
	assert_true(one.share == 0.1 && other.share == 0.1);
}

/* Core cycles leave waiting out by themselves. */
static void test_cpu_of_core(void **state)
{
	struct diff_item one = { .mean = 100, .deviation = 10, .n = 50, .cpu_ns = 50, .wall_ns = 100, .p99 = 150 };
	struct diff_item other = one;
	struct diff_side a = side_of(&one, 1), b = side_of(&other, 1);

	(void)state;
	a.cpu_ns = b.cpu_ns = 500;
	a.clock = b.clock = "core";
	assert_true(diff_to_cpu(&a, &b));
	assert_true(one.mean == 100 && one.wall_mean == 100 && one.deviation == 10 && one.p99 == 150);
	assert_true(one.share == 0.1 && other.share == 0.1);
}

static void test_judging(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(judged); i++) {
		struct diff_item a = item_of(i, judged[i].mean_a), b = item_of(i, judged[i].mean_b);
		struct diff_side left = side_of(&a, 1), right = side_of(&b, 1);
		const struct diff_rules rules = { 0.02, 0.01, judged[i].exact };
		const struct diff_pair *p;
		struct diff d;

		assert_int_equal(diff_compare(&d, &left, &right, 1, &rules), 0);
		p = pair_of(&d, &a);
		if (p->verdict != judged[i].verdict || p->over != judged[i].over)
			fail_msg("%s: %s, over %d", judged[i].what, diff_verdict_names[p->verdict], p->over);
		assert_int_equal(d.over, judged[i].over);
		diff_free(&d);
	}
}

static void test_another_frequency(void **state)
{
	struct diff_item a = item_of(2, 100), b = item_of(2, 50);
	struct diff_side left = side_of(&a, 1), right = side_of(&b, 1);
	struct diff d;

	(void)state;
	b.deviation = 5;
	assert_int_equal(diff_compare(&d, &left, &right, 2, &any), 0);
	assert_int_equal(d.pairs[DIFF_LOOPS]->verdict, DIFF_SAME);
	assert_true(b.deviation == 10);
	diff_free(&d);
}

/* --- reading --- */

static int read_text(struct diff_side *s, const char *text, char *error)
{
	char path[] = "/tmp/ocular-diff-XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	err = diff_read(s, path, "it", error);
	unlink(path);
	return err;
}

#define FUNCTION(n, sum, deviation) \
	"{\"file\": \"f\", \"qualname\": \"q\", \"firstlineno\": 1, \"activations\": " #n ", \"self_cycles\": " #sum \
	", \"self_ns\": 10, \"self_cycles_deviation\": " #deviation "}"
#define SUMMARY(functions) \
	"{\"schema\": 1, \"loops\": [], \"trace\": {\"traced_ns\": 100}, \"losses\": {\"a\": 2, \"b\": 3}," \
	" \"clock\": {\"cycles\": \"tsc\", \"hz\": 5}, \"functions\": [" functions "]}"

/* 2, 4, 6 in one process and 10, 12 in another: together their deviation is sqrt(17.2). */
static void test_processes_are_added_up(void **state)
{
	char error[DIFF_ERROR];
	struct diff_side s;
	const struct diff_item *item;

	(void)state;
	assert_int_equal(read_text(&s, SUMMARY(FUNCTION(3, 12, 2) "," FUNCTION(2, 22, 1.4142135623730951)), error), 0);
	assert_int_equal(s.n[DIFF_FUNCTIONS], 1);
	assert_int_equal(s.n[DIFF_LOOPS], 0);
	assert_int_equal(s.losses, 5);
	item = s.items[DIFF_FUNCTIONS];
	assert_true(item->n == 5 && item->times == 5);
	assert_float_equal(item->mean, 6.8, 1e-9);
	assert_float_equal(item->deviation * item->deviation, 17.2, 1e-9);
	assert_float_equal(item->share, 0.2, 1e-9);
	diff_side_free(&s);
}

/* Among the functions, in a file of their own. */
static void test_c_functions(void **state)
{
	char error[DIFF_ERROR];
	struct diff_side s;

	(void)state;
	assert_int_equal(read_text(&s, SUMMARY(FUNCTION(3, 12, 2)), error), 0);
	assert_false(s.c_functions);
	diff_side_free(&s);
	assert_int_equal(
		read_text(&s,
			  "{\"schema\": 1, \"loops\": [], \"trace\": {\"traced_ns\": 100}, \"functions\": [" FUNCTION(
				  3, 12, 2) "], \"c_functions\": [{\"name\": \"{x}\", \"qualname\": \"zlib.crc32\","
					    " \"activations\": 4, \"self_cycles\": 20, \"self_ns\": 30,"
					    " \"self_cycles_deviation\": 1}]}",
			  error),
		0);
	assert_true(s.c_functions);
	assert_int_equal(s.n[DIFF_FUNCTIONS], 2);
	assert_string_equal(s.items[DIFF_FUNCTIONS][1].qualname, "zlib.crc32");
	assert_string_equal(s.items[DIFF_FUNCTIONS][1].file, DIFF_C_FILE);
	assert_true(s.items[DIFF_FUNCTIONS][1].n == 4);
	assert_float_equal(s.items[DIFF_FUNCTIONS][1].mean, 5, 1e-9);
	diff_side_free(&s);
}

#define PROCESSES(list) "{\"schema\": 1, \"loops\": [], \"functions\": [], \"processes\": [" list "]}"
#define UNTRACED	"{\"pid\": 8, \"argv\": null, \"python\": \"3.11\", \"mode\": null}"
#define TRACED		"{\"pid\": 9, \"argv\": \"app.py\", \"python\": \"3.13\", \"mode\": \"calls\"}"

static const struct {
	const char *text, *mode, *python, *argv;
} heads[] = {
	{ PROCESSES(""), "?", "?", "?" },
	{ PROCESSES(UNTRACED), "?", "3.11", "?" },
	{ PROCESSES(TRACED "," UNTRACED), "calls", "3.13", "app.py" },
	{ PROCESSES(UNTRACED "," UNTRACED "," TRACED), "calls", "3.13", "app.py" },
};

/* Children that could not be traced say nothing of the recording, wherever they stand. */
static void test_head_is_of_a_traced_process(void **state)
{
	char error[DIFF_ERROR];
	struct diff_side s;

	(void)state;
	for (size_t i = 0; i < COUNT(heads); i++) {
		assert_int_equal(read_text(&s, heads[i].text, error), 0);
		assert_string_equal(s.mode, heads[i].mode);
		assert_string_equal(s.python, heads[i].python);
		assert_string_equal(s.argv, heads[i].argv);
		diff_side_free(&s);
	}
}

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "cannot read it as a summary: " },
	{ "[]", "it is not a summary" },
	{ "{}", "it is not a summary" },
	{ "{\"schema\": 1}", "it is not a summary" },
	{ "{\"schema\": 2, \"loops\": [], \"functions\": []}", "schema 2" },
	{ "{\"schema\": 1, \"loops\": [1], \"functions\": []}", "no \"iterations\"" },
	{ "{\"schema\": 1, \"loops\": [], \"functions\": [{}]}", "no \"activations\"" },
	{ SUMMARY(FUNCTION(-1, 12, 2)), "no \"activations\"" },
	{ SUMMARY(FUNCTION(10, 1e300, 2)), "it is damaged: it has a number that no recording can have" },
	{ SUMMARY(FUNCTION(10, 12, 1e-300)), "it is damaged" },
	{ "{\"schema\": 1, \"loops\": [], \"functions\": [], \"losses\": {\"lost\": -9223372036854775808}}",
	  "it is damaged" },
};

static void test_bad_input(void **state)
{
	char error[DIFF_ERROR];
	struct diff_side s;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_true(read_text(&s, bad[i].text, error) < 0);
		if (!strstr(error, bad[i].says))
			fail_msg("'%s' instead of '%s'", error, bad[i].says);
		assert_null(s.json);
	}
	assert_true(diff_read(&s, "/nonexistent.json", "nowhere", error) < 0);
	assert_non_null(strstr(error, "nowhere"));
}

/* --- telling --- */

/* Writes what is told of a loop that was a and is b. What diff_json returned; 0 for text. */
static int tell(FILE *f, struct diff_item a, struct diff_item b, const char *name, bool json)
{
	struct diff_side left = side_of(&a, 1), right = side_of(&b, 1);
	struct diff_report r = { .a = &left, .b = &right, .rules = any, .scale = 1, .rows = 20 };
	struct diff_count count = { "ADD", "ADD_INT", 4503599627370497, 1 };
	struct diff d;
	int err = 0;

	left.name = name;
	left.argv = left.python = left.mode = "A";
	left.traced_ns = 9007199254740991;
	right.name = right.argv = right.python = right.mode = "B";
	assert_int_equal(diff_compare(&d, &left, &right, 1, &any), 0);
	r.diff = &d;
	r.counts = &count;
	r.ncounts = 1;
	r.totals[0] = (struct diff_total){
		.key = "calls", .name = "calls", .known = true, .a = 1234567890123, .b = 1, .change = -1
	};
	if (json)
		err = diff_json(f, &r);
	else
		diff_text(f, &r);
	diff_free(&d);
	return err;
}

/* The caller frees it. */
static char *told(struct diff_item a, struct diff_item b, const char *name, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(tell(f, a, b, name, json), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* As much of a path as there is room for; bodies of modules never lose the folder that tells them apart. */
static void test_places(void **state)
{
	static const struct {
		const char *file, *qualname;
		size_t most;
		const char *place;
	} places[] = {
		{ "/srv/app/shop.py", "search", 32, "search, app/shop.py:5" },
		{ "/srv/app/shop.py", "search", 100, "search, /srv/app/shop.py:5" },
		{ "/srv/app/shop.py", "search", 20, "search, shop.py:5" },
		{ "/lib/asyncio/__init__.py", "<module>", 20, "<module>, asyncio/__init__.py:5" },
		{ "shop.py", "search", 32, "search, shop.py:5" },
		{ "~", "sorted", 32, "sorted:5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct diff_item item = { .file = places[i].file, .qualname = places[i].qualname, .line = 5 };
		char *place = diff_place(&item, places[i].most);

		assert_string_equal(place, places[i].place);
		free(place);
	}
}

/* Of how many per cent more than nothing it is, nobody can say. */
static void test_new_is_no_percentage(void **state)
{
	char *text = told(item_of(0, 0), item_of(0, 500), "A", false);

	(void)state;
	assert_non_null(strstr(text, "\n   new              0     500     100     100   f, /f.py"));
	assert_null(strstr(text, "+0.0%"));
	free(text);
	text = told(item_of(0, 250), item_of(0, 500), "A", false);
	assert_non_null(strstr(text, "\n +100%   0.6%     250     500     100     100   f, /f.py"));
	free(text);
}

/* What was counted is told to the last one, whatever it is held in; any name is. */
static void test_json(void **state)
{
	struct diff_item a = item_of(0, 100);
	char *text;

	(void)state;
	a.times = 1234567890123;
	a.n = 1234567890121;
	a.mean = 1. / 3;
	text = told(a, item_of(0, 500), "odd \xff", true);
	assert_non_null(strstr(text, "\"times\": 1234567890123,"));
	assert_non_null(strstr(text, "\"timed\": 1234567890121,"));
	assert_non_null(strstr(text, "\"a\": 4503599627370497,"));
	assert_non_null(strstr(text, "\"a\": 1234567890123,"));
	assert_non_null(strstr(text, "\"traced_ns\": 9007199254740991,"));
	assert_non_null(strstr(text, "\"mean\": 0.333333333,"));
	assert_non_null(strstr(text, "\"name\": \"odd \\uFFFD\""));
	free(text);
}

static void test_full_disk(void **state)
{
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(f);
	setbuf(f, NULL);
	assert_int_equal(tell(f, item_of(0, 1), item_of(0, 2), "A", true), -EIO);
	fclose(f);
}

/* --- the whole --- */

#define WHOLE(cycles, source, count, rows) \
	"{\"trace\": {\"traced_cycles\": " #cycles "}, \"events\": {\"PY_START\": 5}," \
	" \"opcodes\": {\"source\": \"" source "\", \"count\": " #count ", \"rows\": [" rows "]}}"
#define ROW(base, specialized, count) \
	"{\"opcode\": \"" base "\", \"specialized\": \"" specialized "\", \"count\": " #count "}"

static const struct {
	const char *what, *a, *b;
	bool exact;
	unsigned over;		     /* of 2 % allowed */
	double cycles, instructions; /* their changes; -1: not known */
} wholes[] = {
	{ "as many", WHOLE(100, "measured", 1000, ""), WHOLE(100, "measured", 1000, ""), false, 0, 0, 0 },
	{ "allowed", WHOLE(100, "measured", 1000, ""), WHOLE(100, "measured", 1020, ""), false, 0, 0, 0.02 },
	{ "too many bytecodes", WHOLE(100, "measured", 1000, ""), WHOLE(100, "measured", 1021, ""), false, 1, 0,
	  0.021 },
	{ "times are not judged", WHOLE(100, "measured", 1000, ""), WHOLE(200, "measured", 1000, ""), false, 0, 1, 0 },
	{ "but where they are counts", WHOLE(100, "measured", 1000, ""), WHOLE(200, "measured", 1000, ""), true, 1, 1,
	  0 },
	{ "derived ones are none", WHOLE(100, "derived", 1000, ""), WHOLE(100, "derived", 2000, ""), false, 0, 0, -1 },
	{ "nor are two kinds", WHOLE(100, "derived", 1000, ""), WHOLE(100, "measured", 2000, ""), false, 0, 0, -1 },
	{ "nothing is known", "{}", "{}", true, 0, -1, -1 },
};

static struct diff_side whole(const char *text)
{
	return (struct diff_side){ .json = json_loads(text, 0, NULL) };
}

static void assert_total(const struct diff_total *t, double change, const char *what)
{
	if (t->known != (change >= 0) || (t->known && (t->change < change - 1e-9 || t->change > change + 1e-9)))
		fail_msg("%s: %s changed by %g", what, t->name, t->change);
}

static void test_totals(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wholes); i++) {
		struct diff_side a = whole(wholes[i].a), b = whole(wholes[i].b);
		const struct diff_rules rules = { 0.02, 0.01, wholes[i].exact };
		struct diff_total rows[DIFF_TOTALS];

		assert_non_null(a.json);
		assert_non_null(b.json);
		if (diff_totals(&a, &b, 1, &rules, rows) != wholes[i].over)
			fail_msg("%s: not %u are over", wholes[i].what, wholes[i].over);
		assert_string_equal(rows[0].key, "traced_cycles");
		assert_total(&rows[0], wholes[i].cycles, wholes[i].what);
		assert_string_equal(rows[1].key, "instructions");
		assert_total(&rows[1], wholes[i].instructions, wholes[i].what);
		diff_side_free(&a);
		diff_side_free(&b);
	}
}

static void test_counts(void **state)
{
	struct diff_side a = whole(
		WHOLE(1, "derived", 9, ROW("ADD", "ADD", 5) "," ROW("ADD", "ADD_INT", 100) "," ROW("POP", "POP", 7)));
	struct diff_side b = whole(
		WHOLE(1, "derived", 9, ROW("ADD", "ADD_INT", 3) "," ROW("ADD", "ADD", 60) "," ROW("POP", "POP", 7)));
	struct diff_side other = whole(WHOLE(1, "measured", 9, ROW("POP", "POP", 7)));
	struct diff_count *rows;
	size_t n;

	(void)state;
	rows = diff_counts(&a, &b, &n);
	assert_int_equal(n, 3);
	assert_string_equal(rows[0].specialized, "ADD_INT");
	assert_true(rows[0].a == 100 && rows[0].b == 3);
	assert_string_equal(rows[1].specialized, "ADD");
	assert_true(rows[1].a == 5 && rows[1].b == 60);
	assert_true(rows[2].a == 7 && rows[2].b == 7);
	free(rows);
	free(diff_counts(&a, &other, &n));
	assert_int_equal(n, 0);
	assert_null(diff_counts_source(&a, &other));
	diff_side_free(&a);
	diff_side_free(&b);
	diff_side_free(&other);
}

static const struct {
	const char *a, *b;
	bool otherwise;
} specializations[] = {
	{ "{\"instructions\": 9, \"specialized\": 4, \"base\": 1}",
	  "{\"instructions\": 9, \"specialized\": 4, \"base\": 1}", false },
	{ "{\"instructions\": 9, \"specialized\": 4, \"base\": 1}",
	  "{\"instructions\": 9, \"specialized\": 2, \"base\": 3}", true },
	{ "{\"instructions\": 9, \"specialized\": 4, \"base\": null}",
	  "{\"instructions\": 9, \"specialized\": 2, \"base\": null}", true },
	{ "{\"instructions\": 9, \"specialized\": 4}", "{\"instructions\": 8, \"specialized\": 2}", false },
	{ "{\"instructions\": 9, \"specialized\": null}", "{\"instructions\": 9, \"specialized\": 2}", false },
	{ "null", "{\"instructions\": 9, \"specialized\": 2}", false },
};

static void test_specialized(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(specializations); i++) {
		struct diff_item a = { .specialization = json_loads(specializations[i].a, JSON_DECODE_ANY, NULL) };
		struct diff_item b = { .specialization = json_loads(specializations[i].b, JSON_DECODE_ANY, NULL) };
		struct diff_pair p = { .a = &a, .b = &b }, alone = { .b = &b };
		struct diff_specialized s;

		assert_int_equal(diff_specialized(&p, &s), specializations[i].otherwise);
		assert_false(diff_specialized(&alone, &s));
		json_decref(a.specialization);
		json_decref(b.specialization);
	}
}

/* --- opcodes --- */

static void take(const struct diff_opcode *o, void *to)
{
	*(struct diff_opcode *)to = *o;
}

static void test_opcodes(void **state)
{
	json_t *a = json_loads("[{\"offset\": 2, \"line\": 1, \"opcode\": \"X\", \"specialized\": \"X_INT\"},"
			       " {\"offset\": 4, \"line\": 2, \"opcode\": \"Y\", \"specialized\": \"Y\"}]",
			       0, NULL);
	json_t *b = json_loads("[{\"offset\": 2, \"line\": 1, \"opcode\": \"X\", \"specialized\": \"X\"},"
			       " {\"offset\": 4, \"line\": 2, \"opcode\": \"Y\", \"specialized\": \"Y\"}]",
			       0, NULL);
	struct diff_item left = { .instructions = a }, right = { .instructions = b };
	struct diff_pair p = { .a = &left, .b = &right }, same = { .a = &left, .b = &left };
	struct diff_pair alone = { .a = &left };
	struct diff_opcode o = { 0 };

	(void)state;
	assert_int_equal(diff_opcodes(&p, take, &o), 1);
	assert_true(o.offset == 2 && o.line == 1);
	assert_string_equal(o.a, "X_INT");
	assert_string_equal(o.b, "X");
	assert_int_equal(diff_opcodes(&same, take, &o), 0);
	assert_int_equal(diff_opcodes(&alone, take, &o), -1);
	json_object_set_new(json_array_get(b, 1), "opcode", json_string("Z"));
	assert_int_equal(diff_opcodes(&p, take, &o), -1);
	json_decref(a);
	json_decref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matching),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_cpu_of_core),
		cmocka_unit_test(test_judging),
		cmocka_unit_test(test_another_frequency),
		cmocka_unit_test(test_processes_are_added_up),
		cmocka_unit_test(test_c_functions),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_new_is_no_percentage),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_head_is_of_a_traced_process),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_specialized),
		cmocka_unit_test(test_opcodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
