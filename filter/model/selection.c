// SPDX-License-Identifier: MIT
#include "selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/origin.h"
#include "shared/marker.h"

/* What of those that were asked for is open on a stack. */
struct selected_stack {
	bool task;	  /* the outermost coroutine is one that was asked for */
	uint32_t depth;	  /* activations of functions that were */
	uint32_t resumed; /* activations of coroutines */
};

/* A thread; its stacks that are not the running greenlet's. */
struct selected_thread {
	bool wanted;
	bool begun; /* a sample was taken, */
	bool left;  /* and what was asked for has ended since */
	struct selected_stack on;
	uint64_t greenlet; /* 0: not known */
	struct map away;   /* greenlet -> struct selected_stack */
	size_t open;	   /* of these, so many have what was asked for */
};

/* What is known of a code object, in code->selected. */
enum {
	KNOWN = 1,
	WANTED = 2,
	FUNCTION = 4,
	TASK = 8,
};

/* Calls fits for each of the patterns until one does. */
static bool any(const char *patterns, bool (*fits)(const char *pattern, const void *to), const void *to)
{
	char *copy = strdup(patterns), *rest = copy;
	bool found = false;

	for (char *one; copy && !found && (one = strsep(&rest, ":"));)
		found = *one && fits(one, to);
	free(copy);
	return found;
}

static bool is_glob(const char *pattern)
{
	size_t n = strlen(pattern);

	return strchr(pattern, '/') || (n > 3 && !strcmp(pattern + n - 3, ".py"));
}

static bool glob_fits(const char *pattern, const char *file)
{
	for (; file; file = strchr(file, '/'), file = file ? file + 1 : NULL)
		if (!fnmatch(pattern, file, 0))
			return true;
	return false;
}

/* Does the path begin with the module, or a package of that name? Dots of either are slashes. */
static bool begins_with(const char *path, const char *module)
{
	for (; *module; module++, path++)
		if ((*path == '.' ? '/' : *path) != (*module == '.' ? '/' : *module))
			return false;
	return *path == '/' || *path == '.' || *path == '>';
}

/* Own files may lie in a folder of sources: src/shop/web.py is shop.web. */
static bool module_fits(const char *module, const struct code *code)
{
	const char *path = origin_path(code);

	if (!strncmp(path, "<frozen ", 8))
		return begins_with(path + 8, module);
	if (*path == '/')
		path = strrchr(path, '/') + 1;
	while (!begins_with(path, module)) {
		path = origin_is_library(code) ? NULL : strchr(path, '/');
		if (!path++)
			return false;
	}
	return true;
}

static bool place_fits(const char *pattern, const void *code)
{
	const struct code *c = code;

	return is_glob(pattern) ? glob_fits(pattern, c->file) : module_fits(pattern, c);
}

/* "[WHERE:]NAME". */
static bool function_fits(const char *pattern, const struct code *code)
{
	const char *colon = strrchr(pattern, ':');
	char *where = colon ? strndup(pattern, colon - pattern) : NULL;
	bool fits = !fnmatch(colon ? colon + 1 : pattern, code->qualname, 0) && (!where || place_fits(where, code));

	free(where);
	return fits;
}

static uint8_t verdict(const struct select *by, const struct code *code)
{
	uint8_t v = KNOWN;

	if ((!by->include || any(by->include, place_fits, code)) &&
	    !(by->exclude && any(by->exclude, place_fits, code)))
		v |= WANTED;
	if (by->function && function_fits(by->function, code))
		v |= FUNCTION;
	if (by->task && code->coroutine && function_fits(by->task, code))
		v |= TASK;
	return v;
}

struct named {
	int32_t tid;
	const char *name;
};

static bool thread_fits(const char *pattern, const void *thread)
{
	const struct named *t = thread;
	char *end;
	long tid = strtol(pattern, &end, 10);

	return (*pattern && !*end && tid == t->tid) || (t->name && !fnmatch(pattern, t->name, 0));
}

static struct selected_thread *thread_of(struct selection *s, const struct sample *sample)
{
	uint64_t key = map_pair(sample->pid, sample->tid);
	struct selected_thread *t = map_get(&s->threads, key);
	struct process *p;

	if (t || !(t = map_add(&s->threads, key, sizeof(*t))))
		return t;
	p = s->by.thread ? codes_process(s->codes, sample->pid) : NULL;
	t->wanted = !s->by.thread ||
		    any(s->by.thread, thread_fits,
			&(struct named){ sample->tid, p ? process_thread_name(p, sample->tid) : NULL });
	return t;
}

static bool is_in(const struct selection *s, const struct selected_stack *t)
{
	return (!s->by.function || t->depth) && (!s->by.task || t->task);
}

static void push(struct selected_stack *t, const struct code *code)
{
	t->depth += !!(code->selected & FUNCTION);
	if (code->coroutine && !t->resumed++)
		t->task = code->selected & TASK;
}

static void pop(struct selected_stack *t, const struct code *code)
{
	t->depth -= t->depth && code->selected & FUNCTION;
	t->resumed -= t->resumed && code->coroutine;
	t->task &= t->resumed > 0;
}

/* An event of a code object. An activation that was open before the trace began shows when it first does something. */
static bool take_event(struct selection *s, struct selected_stack *t, const struct sample *sample)
{
	struct code *code = sample->code;
	enum stack_effect effect = sample_op_effect(sample->op);
	bool in;

	if (!code->selected)
		code->selected = verdict(&s->by, code);
	if (effect == STACK_PUSH || (!t->depth && effect == STACK_KEEP && code->selected & FUNCTION))
		push(t, code);
	in = is_in(s, t) && code->selected & WANTED;
	if (effect == STACK_POP)
		pop(t, code);
	return in;
}

/* All that was open is closed. */
static void forget(struct selected_thread *t)
{
	t->on = (struct selected_stack){ 0 };
	t->greenlet = t->open = 0;
	map_free_all(&t->away);
}

/* Another greenlet runs from here on; the first one that is told of has run until then. 0 or -ENOMEM. */
static int run_greenlet(const struct selection *s, struct selected_thread *t, uint64_t to)
{
	struct selected_stack *from, *back;

	if (t->greenlet && t->greenlet != to) {
		from = map_get(&t->away, t->greenlet);
		from = from ? from : map_add(&t->away, t->greenlet, sizeof(*from));
		if (!from)
			return -ENOMEM;
		*from = t->on;
		t->open += is_in(s, from);
		back = map_get(&t->away, to);
		t->on = back ? *back : (struct selected_stack){ 0 };
		t->open -= is_in(s, &t->on) && t->open;
	}
	t->greenlet = to;
	return 0;
}

/* A word about greenlets; what has ended has nothing open, and its address may be another's. */
static int hear(const struct selection *s, struct selected_thread *t, const struct sample *sample)
{
	enum subject what = sample->kind == KIND_SUBJECT ? marker_subject_what(sample->payload) : 0;
	uint64_t whom = sample->payload & MARKER_SUBJECT_MAX;

	if (what != SUBJECT_GREENLET && what != SUBJECT_GREENLET_ENDED)
		return 0;
	if (!whom)
		forget(t);
	return whom ? run_greenlet(s, t, whom) : 0;
}

int selection_take(struct selection *s, const struct sample *sample)
{
	struct selected_thread *t = thread_of(s, sample);
	bool taken, left;

	if (!t)
		return -ENOMEM;
	if (!t->wanted)
		return SELECTED_NOT;
	if (sample->op == OP_EXTENSION && hear(s, t, sample))
		return -ENOMEM;
	if (sample->op == OP_EXTENSION) /* whether it is on a CPU must be known when it comes back */
		return sample->kind != KIND_WAIT || is_in(s, &t->on) ? SELECTED : SELECTED_NOT;
	taken = sample->code ? take_event(s, &t->on, sample) : is_in(s, &t->on);
	if (!sample->code)
		forget(t);
	left = taken && t->left;
	t->left &= !taken;
	t->begun |= taken && sample->code;
	t->left |= t->begun && !t->open && !is_in(s, &t->on);
	return left ? SELECTED_ANEW : taken ? SELECTED : SELECTED_NOT;
}

void selection_init(struct selection *s, const struct select *by, struct codes *codes)
{
	*s = (struct selection){ .by = *by, .codes = codes };
}

void selection_free(struct selection *s)
{
	for (struct map_slot *m = NULL; (m = map_next(&s->threads, m));)
		map_free_all(&((struct selected_thread *)m->value)->away);
	map_free_all(&s->threads);
}

void selection_describe(const struct select *by, char *text, size_t size)
{
	const struct {
		const char *name, *value;
	} rows[] = { { "include", by->include },
		     { "exclude", by->exclude },
		     { "thread", by->thread },
		     { "function", by->function },
		     { "task", by->task } };
	size_t used = 0;

	*text = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].value && used < size)
			used += snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", rows[i].name,
					 rows[i].value);
}
