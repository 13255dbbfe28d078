// SPDX-License-Identifier: MIT
/* The caller of an activation that has ended is what is innermost then, on the stack that it was on. */
#include "live_callers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/map.h"
#include "model/function.h"
#include "model/stack.h"

/* The numbers of a row; total_ns of recursive calls is in that of the outermost one. */
enum { CALLS, TOTAL_NS, SELF_NS };

struct live_calls {
	const struct code *code; /* the caller, or the function itself */
	uint64_t numbers[LIVE_NUMBERS];
};

static void forget(struct live_callers *c)
{
	free(c->file);
	free(c->qualname);
	c->file = c->qualname = NULL;
	c->pid = c->tid = 0;
	map_free_all(&c->calls);
	map_free_all(&c->told);
	c->calls = c->told = (struct map){ 0 };
}

/* A line that is not as it should be asks for nothing. */
static int ask(struct live_callers *c, const char *line)
{
	json_t *asked = json_loads(line, 0, NULL);
	const char *file = json_string_value(json_object_get(asked, "file"));
	const char *qualname = json_string_value(json_object_get(asked, "qualname"));
	int err = 0;

	forget(c);
	if (file && qualname) {
		c->file = strdup(file);
		c->qualname = strdup(qualname);
		c->line = json_integer_value(json_object_get(asked, "line"));
		err = c->file && c->qualname ? 0 : -ENOMEM;
	} else {
		c->pid = json_integer_value(json_object_get(asked, "pid"));
		c->tid = json_integer_value(json_object_get(asked, "tid"));
	}
	json_decref(asked);
	return err;
}

/* Asks by each line that is complete; the rest of the text waits for its end. */
static int take_lines(struct live_callers *c)
{
	char *from = c->text, *end;
	int err = 0;

	while (!err && (end = memchr(from, '\n', c->text + c->length - from))) {
		*end = '\0';
		err = ask(c, from);
		from = end + 1;
	}
	c->length -= from - c->text;
	memmove(c->text, from, c->length);
	if (c->length == sizeof(c->text))
		c->length = 0;
	return err;
}

static bool is_ready(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

int live_callers_hear(struct live_callers *c)
{
	int err = 0;

	while (!err && !c->over && is_ready()) {
		ssize_t n = read(STDIN_FILENO, c->text + c->length, sizeof(c->text) - c->length);

		c->over = n <= 0;
		c->length += n > 0 ? n : 0;
		err = take_lines(c);
	}
	return err;
}

static bool is_it(const struct live_callers *c, const struct code *code)
{
	return code->firstlineno == c->line && !strcmp(code->qualname, c->qualname) && !strcmp(code->file, c->file);
}

/* Does it count, of whatever was asked for? */
static bool is_asked(const struct live_callers *c, const struct activation *a)
{
	if (c->pid)
		return a->pid == c->pid && (!c->tid || a->tid == c->tid);
	return c->qualname && is_it(c, a->code);
}

static struct live_calls *calls_of(struct live_callers *c, const struct code *code)
{
	struct live_calls *calls = map_get(&c->calls, (uintptr_t)code);

	if (!calls && (calls = map_add(&c->calls, (uintptr_t)code, sizeof(*calls))))
		calls->code = code;
	return calls;
}

int live_callers_leave(struct live_callers *c, const struct activation *a, uint64_t end_ns)
{
	const struct stack *stack = a->code->function->stack;
	const struct frame *caller;
	struct live_calls *calls;
	uint64_t ns = end_ns - a->start_ns;

	if (!is_asked(c, a) || !stack)
		return 0;
	caller = stack_top(stack);
	calls = calls_of(c, c->pid ? a->code : caller ? caller->a.code : NULL);
	if (!calls)
		return -ENOMEM;
	calls->numbers[CALLS] += a->op == OP_PY_START;
	calls->numbers[SELF_NS] += ns - a->callee_ns;
	if (!stack_has(stack, a->code))
		calls->numbers[TOTAL_NS] += ns;
	return 0;
}

static json_t *rows_of(struct live_callers *c)
{
	static const struct live_names names = { { "calls", "total_ns", "self_ns" }, TOTAL_NS };
	static const struct code nobody = { .file = "", .qualname = "" };
	struct live_rows rows = { 0 };
	json_t *array;
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&c->calls, s));) {
		const struct live_calls *calls = s->value;
		const struct code *code = calls->code ? calls->code : &nobody;
		struct live_row row = { .code = code, .line = code->firstlineno };

		memcpy(row.numbers, calls->numbers, sizeof(row.numbers));
		err = live_rows_add(&rows, &c->told, s->key, row);
	}
	array = err ? NULL : live_rows_json(&rows, &names);
	live_rows_free(&rows);
	return array;
}

json_t *live_callers_json(struct live_callers *c)
{
	json_t *of = json_null(), *only = json_null();

	if (c->qualname)
		of = json_pack("{s:o, s:o, s:I}", "file", json_text(c->file), "qualname", json_text(c->qualname),
			       "line", (json_int_t)c->line);
	if (c->pid)
		only = json_pack("{s:i, s:o}", "pid", c->pid, "tid", c->tid ? json_integer(c->tid) : json_null());
	return json_pack("{s:o, s:o, s:o, s:o}", "callers_of", of, "callers", c->qualname ? rows_of(c) : json_null(),
			 "only", only, "only_functions", c->pid ? rows_of(c) : json_null());
}

void live_callers_free(struct live_callers *c)
{
	forget(c);
}
