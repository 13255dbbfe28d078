/* SPDX-License-Identifier: MIT */
/* test_selection.c - which samples are of what was asked for, and where time in between counts for nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/selection.h"
#include "shared/marker.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define LIB	 "/opt/lib/python3.13/"

static struct process process = { .pid = 1, .program = { (char *)"/home/me/shop", NULL } };

#define CODE(path, name, gen) \
	{ \
		.file = (char *)(path), .qualname = (char *)(name), .coroutine = gen, .process = &process \
	}

static const struct code codes_in[] = {
	['m'] = CODE("/home/me/shop/app.py", "main", false),
	['f'] = CODE("/home/me/shop/src/web/views.py", "View.find", false),
	['g'] = CODE("/elsewhere/other.py", "helper", false),
	['j'] = CODE(LIB "json/decoder.py", "scan", false),
	['i'] = CODE("<frozen importlib._bootstrap>", "_find", false),
	['a'] = CODE("/home/me/shop/app.py", "task_a", true),
	['b'] = CODE("/home/me/shop/app.py", "task_b", true),
};

/*
 * Events: "+f" begins f, "-f" ends it, ".f" is something that it does, "GAP" markers are missing; a digit before is the
 * thread. What becomes of each: "y" it is taken, "n" not, "R" taken after a restart.
 */
static const struct {
	struct select by;
	const char *events, *taken;
} cases[] = {
	{ { .include = "app" }, "+m +f .f -f -m", "y n n n y" },
	{ { .include = "web" }, "+m +f .f -f -m", "n y y y n" },
	{ { .include = "web.views:app" }, "+m +f +j -j -f -m", "y y n n y y" },
	{ { .include = "src/*" }, "+m +f -f", "n y y" },
	{ { .include = "views.py" }, "+m +f -f", "n y y" },
	{ { .include = "json" }, "+f +j -j", "n y y" },
	{ { .include = "js" }, "+j -j", "n n" },
	{ { .include = "decoder" }, "+j -j", "n n" },
	{ { .include = "other" }, "+g -g", "y y" },
	{ { .exclude = "json.decoder:importlib" }, "+m +j -j +i -i -m", "y n n n n y" },
	{ { .include = "app", .exclude = "*/app.py" }, "+m -m", "n n" },
	{ { .function = "View.*" }, "+m .m +f +g -g -f .m +f -f -m", "n n y y y y n R y n" },
	{ { .function = "main" }, "+m +m -m .m -m +f -f +m", "y y y y y n n R" },
	{ { .function = "main" }, ".m +f -f -m", "y y y y" },
	{ { .function = "web.views:View.find" }, "+f -f", "y y" },
	{ { .function = "app:View.find" }, "+f -f", "n n" },
	{ { .function = "main" }, "+m GAP +f -f +m", "y y n n R" },
	{ { .function = "main", .exclude = "app" }, "+m +g -g -m +g -g +m +g", "n y y n n n n R" },
	{ { .task = "task_a" }, "+m +a +g -g -a +b +a -a -b +a -m", "n y y y y n n n n R y" },
	{ { .task = "main" }, "+m +a -a -m", "n n n n" },
	{ { .thread = "worker*" }, "1+m 2+m 1-m 2-m", "n y n y" },
	{ { .thread = "1" }, "1+m 2+m 1-m 2-m", "y n y n" },
	{ { .thread = "3:worker-2" }, "1+m 2+m 3-m", "n y y" },
	{ { .function = "View.find" }, "1+f 2+m 2+f 1-f 2-f 2-m 1+f", "y n y y y n R" },
	/* Greenlets: what others run while a call is away is no part of it. */
	{ { .function = "View.find" }, "G1 +f +m G1 G2 +m -m G2 G1 -m -f +m", "y y y y y n n y y y y n" },
	{ { .function = "View.find" }, "+m G1 G2 +f G2 G1 -m +m G1 G2 -f", "n y y y y y n n y y y" },
	{ { .function = "View.find" }, "G1 +f G0 +m G1 +m", "y y y n y n" },
};

static struct sample parse(const char *word, struct code *codes)
{
	struct sample s = { .pid = 1, .tid = *word >= '1' && *word <= '9' ? *word++ - '0' : 1 };

	if (!strncmp(word, "GAP", 3)) {
		s.op = SAMPLE_GAP;
		return s;
	}
	if (*word == 'G') {
		s.op = OP_EXTENSION;
		s.kind = KIND_SUBJECT;
		s.payload = marker_subject(SUBJECT_GREENLET, word[1] - '0') & MARKER_PAYLOAD_MAX;
		return s;
	}
	s.op = *word == '+' ? OP_PY_START : *word == '-' ? OP_PY_RETURN : OP_JUMP;
	s.code = &codes[(uint8_t)word[1]];
	return s;
}

static void test_taken(void **state)
{
	static const char letters[] = { [SELECTED_NOT] = 'n', [SELECTED] = 'y', [SELECTED_ANEW] = 'R' };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct code codes[COUNT(codes_in)];
		struct codes tables;
		struct selection s;
		char events[128], found[128] = "", *rest = events;

		assert_int_equal(codes_init(&tables, NULL), 0);
		map_put(&codes_process(&tables, 1)->threads, 2, strdup("worker-2"));
		memcpy(codes, codes_in, sizeof(codes));
		selection_init(&s, &cases[i].by, &tables);
		strcpy(events, cases[i].events);
		for (char *word; (word = strsep(&rest, " "));) {
			struct sample sample = parse(word, codes);

			sprintf(found + strlen(found), "%s%c", *found ? " " : "", letters[selection_take(&s, &sample)]);
		}
		if (strcmp(found, cases[i].taken))
			print_message("%s\n", cases[i].events);
		assert_string_equal(found, cases[i].taken);
		selection_free(&s);
		codes_free(&tables);
	}
}

/* Words about the processor pass, so that it is known when the thread comes back; waits are of what waits. */
static void test_extensions(void **state)
{
	const struct select by = { .function = "main" };
	struct code codes[COUNT(codes_in)];
	struct selection s;
	struct sample cpu = { .op = OP_EXTENSION, .kind = KIND_CPU, .pid = 1, .tid = 1 }, wait = cpu, start;

	(void)state;
	memcpy(codes, codes_in, sizeof(codes));
	start = parse("+m", codes);
	wait.kind = KIND_WAIT;
	selection_init(&s, &by, NULL);
	assert_int_equal(selection_take(&s, &cpu), SELECTED);
	assert_int_equal(selection_take(&s, &wait), SELECTED_NOT);
	assert_int_equal(selection_take(&s, &start), SELECTED);
	assert_int_equal(selection_take(&s, &wait), SELECTED);
	selection_free(&s);
}

static void test_described(void **state)
{
	char text[64];

	(void)state;
	selection_describe(&(struct select){ .exclude = "a", .task = "b" }, text, sizeof(text));
	assert_string_equal(text, "exclude=a task=b");
	selection_describe(&(struct select){ .exclude = "a", .task = "b" }, text, 10);
	assert_string_equal(text, "exclude=a");
	assert_true(select_all(&(struct select){ 0 }));
	assert_false(select_all(&(struct select){ .thread = "1" }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
